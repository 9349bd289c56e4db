-- SPDX-License-Identifier: MIT
-- A rule by `known_days` counts payments that were seen to be sent: a small payment that failed, or was cancelled,
-- opens no large ones.

local agent_world = require "agent_world"
local ssh_keys = require "ssh_keys"

local ADDRESS, DAY = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm", 86400000

describe("a destination that a small payment was tried with", function()
  local world, client

  before_each(function()
    world = agent_world.new {
      { name = "pay", effect = "allow", when = { operation = "withdrawals" }, approvals = {} },
      { name = "undo", effect = "allow", when = { operation = "wallet.cancel_withdrawal" }, approvals = {} },
      { name = "try-first", effect = "forbid", when = { coin = "USDT", amount_over = "50" },
        unless = { { known_days = 0 } } },
      { name = "wait", effect = "forbid", when = { coin = "USDT", amount_over = "200" },
        unless = { { known_days = 7 } } } }
    client = world.server().client
  end)

  after_each(function() world.close() end)
  teardown(ssh_keys.remove)

  local function pay(key, amount)
    local made, err = client.wallet:withdraw({ coin = "USDT", netWork = "TRX", address = ADDRESS, amount = amount },
      { key = key })
    return made and made.id, err and err.details and err.details.rules and table.concat(err.details.rules, " ")
  end

  local function reads() return (world.sim:counts()["wallet.withdrawal_history"] or { received = 0 }).received end

  it("is known once that is seen to be sent, which the payer looks for at most once a minute", function()
    assert.same({ nil, "try-first" }, { pay("a", "100") })
    local id = assert(pay("b", "20"))
    assert.same({ nil, "try-first" }, { pay("a", "100") }) -- accepted is not sent
    assert(world.sim:set_withdrawal(id, 7))
    local before = reads()
    assert.same({ nil, "try-first" }, { pay("a", "100") })
    assert.equal(before, reads())
    world.sim:advance(60000)
    assert.truthy(pay("a", "100"))
    before = reads()
    assert.same({ nil, "wait" }, { pay("c", "300") })
    world.sim:advance(7 * DAY)
    assert.truthy(pay("c", "300"))
    assert.equal(before, reads()) -- an end is read once
  end)

  for state, word in pairs { [8] = "failed", [9] = "cancelled" } do
    it("stays unknown where that " .. word .. ", until another arrives", function()
      local id = assert(pay("a", "20"))
      assert(world.sim:set_withdrawal(id, state))
      world.sim:advance(60000)
      assert.same({ nil, "try-first" }, { pay("b", "100") })
      world.sim:advance(DAY)
      assert.same({ nil, "try-first" }, { pay("b", "100") })
      id = assert(pay("c", "21"))
      assert(world.sim:set_withdrawal(id, 7))
      world.sim:advance(60000)
      assert.truthy(pay("b", "100"))
    end)
  end

  it("stays unknown where the history cannot be read", function()
    local id = assert(pay("a", "20"))
    assert(world.sim:set_withdrawal(id, 7))
    world.sim:fault { kind = "reject", code = "700", operation = "wallet.withdrawal_history", times = 1 }
    world.sim:advance(60000)
    assert.same({ nil, "try-first" }, { pay("b", "100") })
    world.sim:advance(60000)
    assert.truthy(pay("b", "100"))
  end)

  it("is known by the newest of many, where all before failed", function()
    for i = 1, 8 do
      local id = assert(pay("a" .. i, tostring(20 + i)))
      assert(world.sim:set_withdrawal(id, i == 8 and 7 or 8))
    end
    local before, tries = reads(), 0
    repeat -- few are read at a time, in turn
      tries = tries + 1
      world.sim:advance(60000)
    until pay("b", "100") or tries == 4
    assert.is_true(tries < 4)
    assert.is_true(reads() - before <= 3 * tries)
  end)
end)
