-- SPDX-License-Identifier: MIT
-- Mistakes with addresses, memos and columns that people report in public, each as the rooms see it: a repetition, a
-- policy, crediting, a column, and the check before a payment.

local address = require "purser.address"
local columns = require "purser.client.operations.columns"
local digests = require "purser.write.digests"
local made_address = require "made_address"
local operations = require "purser.client.operations"
local readers = require "purser.desk.receive.reader"
local rules = require "purser.desk.approvals.rules"

local UQ, EQ = "UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI", "EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N"
local URL = "EQDtFpEwcFAEcRe5mLVh2N6C0x-_hJEM7W61_JLnSF74p4q2"
local TRON, RIPPLE = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf"
local USDT = "0xdAC17F958D2ee523a2206206994597C13D831ec7"

local function payment(text, memo)
  return digests.likeness(operations.by_name["wallet.withdraw"], { coin = "X", netWork = "N", amount = "33",
    address = text, memo = memo })
end

local function transfer(uid)
  return digests.likeness(operations.by_name["wallet.internal_transfer"], { toAccountType = "UID", toAccount = uid,
    asset = "USDT", amount = "1" })
end

local function state(network, text, memo, coin)
  return address.check({ network = network, address = text, memo = memo, coin = coin }).state
end

describe("a mistake that people reported", function()
  it("pays one payee twice no more: spellings of a payment are one", function()
    assert.equal(payment(UQ), payment(EQ))
    assert.equal(payment(URL), payment((URL:gsub("%-", "+"):gsub("_", "/"))))
    assert.equal(payment(RIPPLE, "7"), payment(RIPPLE, "007"))
    assert.equal(payment(USDT), payment(USDT:lower()))
    assert.equal(transfer "12345678", transfer "012345678")
    assert.not_equal(payment(UQ), payment(URL))
    assert.not_equal(payment(RIPPLE, "7"), payment(RIPPLE, "70"))
  end)

  it("passes no policy, and is credited, in another spelling", function()
    local params = { coin = "TON", netWork = "TONCOIN", address = EQ, amount = "5" }
    local call = assert(rules.call("wallet.withdraw", params))
    local rule = { when = { to = { cold = true } }, unless = {} }
    assert.is_true(rules.matches(rule, call, { addresses = { cold = { { address = UQ } } } }))
    assert.not_equal(true, rules.matches(rule, call, { addresses = { cold = { { address = URL } } } }))
    assert.equal((readers.place(UQ)), (readers.place(EQ)))
  end)

  it("sends to no other network, and to no address with a wrong character", function()
    for _, text in ipairs { TRON, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "LaMT348PWRnrqeeWArpwQPbuanpXDZGEUz",
      made_address("sol", 1) .. "1" } do
      assert.equal("refused", state("SOL", text), text)
    end
    for network, text in pairs { BTC = "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd",
      TONCOIN = UQ:gsub("I$", "J"), TRX = TRON:gsub("t$", "u") } do
      assert.equal("refused", state(network, text), text)
    end
    assert.equal("refused", state("TONCOIN", "kQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqKYH"))
    assert.equal("good", state("BTC", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4"))
    assert.equal("good", state("LTC", ("ltc1qg42tkwuuxefutzxezdkdel39gfstuap288mfea"):upper()))
    assert.equal("doubtful", state({ netWork = "NEW", network = "N", contract = USDT }, TRON))
  end)

  it("sends nothing to a contract or to nobody without a word, and no memo that cannot be", function()
    assert.equal("doubtful", state("TRX", TRON, nil, { coin = "USDT", networkList = { { contract = TRON } } }))
    assert.equal("doubtful", state("ETH", "0x" .. ("0"):rep(40)))
    for _, memo in ipairs { "4294967296", "tag:12345", "12345.0", "nan", "-1", "1.2E+4" } do
      assert.equal("refused", state("XRP", RIPPLE, memo), memo)
    end
  end)

  it("is seen in a column: a program's word, a date, quotes, and what is no UID and no e-mail", function()
    for _, memo in ipairs { "nan", "<NA>", "2-Jan", "01/02/2026", "TRUE", "104448.0" } do
      assert.not_equal("good", (columns.judge("memo", memo, { network = "XLM" })), memo)
    end
    for _, key in ipairs { "1-Mar", "nan", "\226\128\156i1\226\128\157" } do
      assert.not_equal("good", (columns.judge("key", key)), key)
    end
    assert.equal("refused", (columns.judge("uid", "1.23457E+07")))
    assert.equal("refused", (columns.judge("email", "12345678")))
  end)
end)
