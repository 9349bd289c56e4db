-- SPDX-License-Identifier: MIT
-- The cassettes under spec/cassettes: answers as the vendor's pages and public reports show them, each replayed to a
-- client. Every value in them is invented.

local purser = require "purser"

local ADDRESS = "TSampLeAddressThatNobodyHarzyqGjJi"
local HASH = ("5f"):rep(31) .. "0a"

local replay, client

local function open(name)
  replay = assert(purser.transport.replay("spec/cassettes/" .. name .. ".jsonl"))
  client = assert(purser.new { profile = "mexc", api_key = "mx0sample", secret_key = "sample", transport = replay,
    clock = function() return replay:now() end, retry = false, generate_ids = false, rate_limit = false })
end

describe("a cassette of public samples:", function()
  after_each(function() assert.equal(0, replay:left()) end)

  it("histories of transfers, counted, bare and in an array", function()
    open "transfer-histories"
    local types = { fromAccountType = "SPOT", toAccountType = "SPOT" }
    local list = assert(client.broker:transfer_history(types))
    assert.equal("11945860693", list[1].tranId)
    list = assert(client.sub_account:transfer_history(types))
    assert.equal("11945860694", list[1].tranId)
    assert.equal("0.10", list[1].amount)
    local page = assert(client.wallet:transfer_history { fromAccountType = "SPOT", toAccountType = "FUTURES" })
    assert.equal("0a1b2c3d4e5f60718293a4b5c6d7e8f9", page.rows[1].tranId)
    assert.equal(1, page.total)
  end)

  it("deposits with padded amounts, a suffix of the hash and the chain's own hash", function()
    open "deposits"
    local deposit = assert(client.wallet:deposit_history { coin = "USDT" })[1]
    assert.equal("42.000000000000000000", deposit.amount)
    assert.equal(HASH .. ":0", deposit.txId)
    assert.equal(HASH, deposit.transHash)
    assert.equal(1717160000000, deposit.insertTime)
    deposit = assert(client.broker:all_deposit_history { coin = "BTC" })[1]
    assert.equal("0.003567050000000000000000000000", deposit.amount)
    assert.equal(5, deposit.status)
    assert.equal(1717160000001, deposit.insertTime)
  end)

  it("withdrawals, one without an id of its own, one made, one cancelled", function()
    open "withdrawals"
    local list = assert(client.wallet:withdrawal_history { coin = "USDT" })
    assert.is_nil(list[1].withdrawOrderId)
    assert.is_nil(list[1].txId)
    assert.equal(7, list[2].status)
    assert.equal(HASH, list[2].transHash)
    local made = assert(client.wallet:withdraw { coin = "USDT", withdrawOrderId = "invoice-18", netWork = "TRX",
      address = ADDRESS, amount = "20.5" })
    assert.equal("bb17a2d452684f00a523c015d512a343", made.id)
    assert.equal(made.id, assert(client.wallet:cancel_withdrawal { id = made.id }).id)
  end)

  it("deposit addresses with the memo apart and after a colon, and one that exists", function()
    open "deposit-addresses"
    assert.equal("104448", assert(client.wallet:deposit_addresses { coin = "KAVA" })[1].memo)
    local address = assert(client.broker:deposit_addresses { coin = "TON" })[1]
    assert.equal("100003", address.memo)
    assert.equal("UQASampleAddressThatNobodyHas0123456789abcdefoNa", address.address)
    local params = { coin = "USDT", network = "Tron(TRC20)" }
    assert.equal("TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7", assert(client.wallet:create_deposit_address(params)).address)
    local _, err = client.wallet:create_deposit_address(params)
    assert.equal("152073", err.code)
    assert.matches("deposit_addresses", require("purser.codes").get(err.code).cure)
  end)

  it("the coins, with 30 digits and other spellings", function()
    open "coins"
    local coins = assert(client.wallet:coins())
    assert.equal("Tether", coins[1].name)
    local network = coins[1].networkList[1]
    assert.equal("900000000000000000000000000000", network.withdrawMax)
    assert.is_true(network.withdrawEnable)
    assert.equal("TRX", network.netWork)
  end)

  it("rejections: by HTTP 400 and 200, with a text as code, and one that proves nothing", function()
    open "rejections"
    local _, err = client.wallet:withdrawal_history {}
    assert.equal("700002", err.code)
    _, err = client.sub_account:create_sub_account { subAccount = "sampledesk1", note = "desk" }
    assert.equal("730601 rejected", err.code .. " " .. err.outcome)
    _, err = client.wallet:withdraw { coin = "USDT", withdrawOrderId = "invoice-19", netWork = "TRX", address = ADDRESS,
      amount = "5" }
    assert.equal("10265 rejected", err.code .. " " .. err.outcome)
    _, err = client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = "5" }
    assert.equal("10200 unknown", err.code .. " " .. err.outcome)
    _, err = client.wallet:deposit_history {}
    assert.equal("400", err.code)
    assert.matches("key is missing", require("purser.codes").get(err.code).meaning)
  end)

  it("the firewall's page, and an empty answer", function()
    open "firewall"
    local _, err = client.wallet:coins()
    assert.equal("throttled rejected", err.kind .. " " .. err.outcome)
    _, err = client.wallet:withdraw { coin = "USDT", withdrawOrderId = "invoice-20", netWork = "TRX", address = ADDRESS,
      amount = "5" }
    assert.equal("throttled unknown", err.kind .. " " .. err.outcome)
    _, err = client.wallet:coins()
    assert.equal("decode unknown", err.kind .. " " .. err.outcome)
  end)

  it("too many requests, by status and by code", function()
    open "too-often"
    local _, err = client.wallet:coins()
    assert.equal("throttled 120", err.kind .. " " .. err.retry_after)
    _, err = client.wallet:deposit_history {}
    assert.equal("throttled 259200", err.kind .. " " .. err.retry_after)
    _, err = client.wallet:withdrawal_history {}
    assert.equal("throttled 429", err.kind .. " " .. err.code)
  end)

  it("transfers with ids of 32 hexadecimal digits and a bare number", function()
    open "transfers"
    assert.equal("0a1b2c3d4e5f60718293a4b5c6d7e8f9", assert(client.wallet:transfer { fromAccountType = "SPOT",
      toAccountType = "FUTURES", asset = "USDT", amount = "10" }).tranId)
    assert.equal("11945860693", assert(client.sub_account:transfer { clientTranId = "SampleTransfer000000000000000001",
      toAccount = "sampledesk01", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "BTC",
      amount = "0.1" }).tranId)
    assert.equal("0a1b2c3d4e5f60718293a4b5c6d7e8fa", assert(client.wallet:internal_transfer { toAccountType = "EMAIL",
      toAccount = "sample@mail.example", asset = "USDT", amount = "3" }).tranId)
  end)

  it("sub-accounts and their keys, in an envelope and in a member", function()
    open "sub-accounts"
    local list = assert(client.sub_account:list_sub_accounts {})
    assert.is_true(list[2].isFreeze)
    assert.equal("68576428", list[2].uid)
    assert.equal(1700000000001, list[2].createTime)
    assert.equal("sampledesk01", assert(client.broker:list_sub_accounts {})[1].subAccount)
    local key = assert(client.sub_account:list_api_keys { subAccount = "sampledesk01" })[1]
    assert.equal(1700000000002, key.createTime)
    assert.equal("mx0vglSampleOfNobody", key.apiKey)
  end)

  it("conversions, with the platform token in a name and codes that are data", function()
    open "conversions"
    local balance = assert(client.wallet:convertible_balances())[1]
    assert.equal("0.000009", balance.convertPlatformToken)
    assert.equal("30021", balance.code)
    assert.equal("30005", assert(client.wallet:convert { asset = "ALGO,OMG,FIL" }).failedList[1].code)
    assert.equal("1377", assert(client.wallet:conversion_history {}).data[1].convertDetails[1].id)
  end)
end)
