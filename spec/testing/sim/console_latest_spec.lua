-- SPDX-License-Identifier: MIT
-- The latest records of all accounts, as the simulator's page lists them.

local console = require "purser.testing.sim.console"
local purser = require "purser"
local simulated = require "simulated"

describe("the latest records", function()
  local sim, account

  before_each(function()
    sim = purser.sim.new { seed = 5 }
    account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "1000" } })
  end)

  local function client_of(who)
    return simulated.client(sim, who)
  end

  it("are deposits, withdrawals, transfers of each kind and keys, the newest first", function()
    local payee = assert(sim:account { name = "Payee", role = "user", email = "p@acme.example" })
    local client = client_of(account)
    assert(sim:deposit { account = account.uid, coin = "USDT", network = "Tron(TRC20)", amount = "99" })
    sim:advance(1000)
    assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" })
    sim:advance(1000)
    assert(client.broker:create_sub_account { subAccount = "longEnough1", note = "a" })
    assert(client.broker:transfer { toAccount = "longEnough1", fromAccountType = "SPOT", toAccountType = "SPOT",
      asset = "USDT", amount = "2", clientTranId = ("m"):rep(32) })
    sim:advance(1000)
    assert(client.wallet:internal_transfer { toAccountType = "UID", toAccount = payee.uid, asset = "USDT",
      amount = "0.5" })
    sim:advance(86400000)
    local id = assert(client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "10", withdrawOrderId = "w1",
      address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm" }).id
    local records = console.latest(sim, 50)
    assert.equal("5 SUCCESS", records.deposits[1].status)
    assert.equal("99", records.deposits[1].amount)
    assert.same({ "Payee SPOT", "longEnough1 SPOT", "Acme FUTURES" },
      { records.transfers[1].to, records.transfers[2].to, records.transfers[3].to })
    assert.equal(("m"):rep(32), records.transfers[2].client_id)
    assert.same({ id, "1 APPLY", true, "w1" }, { records.withdrawals[1].id, records.withdrawals[1].status,
      records.withdrawals[1].can_fail, records.withdrawals[1].order_id })
    assert.equal(2, #records.keys)
    assert(sim:set_withdrawal(id, "FAILED"))
    local failed = console.latest(sim, 50).withdrawals[1]
    assert.same({ "8 FAILED", false }, { failed.status, failed.can_fail })
  end)

  it("are as many of a kind as are asked for", function()
    for i = 1, 60 do
      assert(sim:deposit { account = account.uid, coin = "USDT", network = "Tron(TRC20)", amount = tostring(100 + i) })
    end
    local deposits = console.latest(sim, 50).deposits
    assert.same({ 50, "160", "111" }, { #deposits, deposits[1].amount, deposits[50].amount })
  end)

  it("of keys show no secret, the ends of the key alone, and the days it has left", function()
    local bound = assert(sim:account { name = "Bound", ip = "127.0.0.1", permissions = { "SPOT_DEAL_READ" } })
    sim:advance(86400000)
    local keys = console.latest(sim, 50).keys
    assert.same({ "Bound", "Acme" }, { keys[1].account, keys[2].account })
    assert.same({ "SPOT_DEAL_READ", "127.0.0.1", "first key" }, { keys[1].permissions, keys[1].ip, keys[1].note })
    assert.same({ nil, 89 }, { keys[1].days_left, keys[2].days_left })
    for _, who in ipairs { bound, account } do
      for _, key in ipairs(keys) do
        for _, value in pairs(key) do
          assert.is_nil(tostring(value):find(who.secret_key, 1, true))
          assert.is_nil(tostring(value):find(who.api_key, 1, true))
        end
      end
    end
    assert.equal(1, #console.latest(sim, 1).keys)
  end)

  it("of transfers are the latest of all kinds together", function()
    local client = client_of(account)
    local friend = assert(sim:account { role = "user", email = "f@acme.example" })
    for i = 1, 3 do
      sim:advance(1000)
      assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
        amount = tostring(i) })
      sim:advance(1000)
      assert(client.wallet:internal_transfer { toAccountType = "UID", toAccount = friend.uid, asset = "USDT",
        amount = "0." .. i })
    end
    local amounts = {}
    for i, transfer in ipairs(console.latest(sim, 4).transfers) do amounts[i] = transfer.amount end
    assert.equal("0.3 3 0.2 2", table.concat(amounts, " "))
  end)
end)
