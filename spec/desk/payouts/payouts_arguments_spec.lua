-- SPDX-License-Identifier: MIT
-- A queue that is asked by mistake gives an error, and never an answer that looks right.

local history_check = require "purser.desk.payouts.history_check"
local own = require "own_journal"
local purser = require "purser"
local simulated = require "simulated"

describe("payouts", function()
  local payouts

  setup(function()
    local sim = purser.sim.new { seed = 1 }
    local account = sim:account { role = "main", balances = { USDT = "100" } }
    local journal = own.begin()
    local client = simulated.client(sim, account, { journal = journal, account = "treasury" })
    payouts = assert(purser.payouts.new { client = client, journal = journal })
  end)
  teardown(own.finish)

  local payment = { key = "a", operation = "wallet.withdraw", params = { coin = "USDT", address = "T", amount = "20" } }

  it("takes no single payment in place of a list, and no list with a gap", function()
    for _, list in ipairs { payment, { key = "a" }, { payment, [3] = payment },
      { payment, nil, payment }, { nil, payment }, { payment, extra = payment } } do
      local counts, err = payouts:add_all(list)
      assert.is_nil(counts)
      assert.equal("argument", err.kind)
      assert.matches("the payments are no list; give a list without gaps", tostring(err))
    end
    assert.equal(0, assert(payouts:report()).total)
    assert.same({ added = 0, repeated = 0 }, payouts:add_all {})
    assert.same({ added = 1, repeated = 0 }, payouts:add_all { payment, n = 1 })
  end)

  it("has these options unless others are given, and says which payment of a list is none", function()
    local kept = {}
    for _, name in ipairs { "queue", "concurrency", "lease_ms", "attempts", "retry_ms", "idle_ms", "progress_ms",
      "look_back_days", "history_check" } do kept[name] = payouts[name] end
    assert.same({ queue = "default", concurrency = 16, lease_ms = 60000, attempts = 20, retry_ms = 250, idle_ms = 100,
      progress_ms = 500, look_back_days = 90, history_check = "unless_newest" }, kept)
  end)

  it("runs no plan with problems, and raises what its own functions raise", function()
    for bad, parameter in pairs { [0] = "none", [1] = "plan" } do
      local report, err = payouts:run { send = {}, bad = bad }
      assert.same({ nil, parameter }, { report, err.parameter or "none" })
    end
    local begin = history_check.begin
    history_check.begin = function() error("a fault", 0) end -- luacheck: ignore 122
    local went, raised = pcall(payouts.run, payouts)
    history_check.begin = begin -- luacheck: ignore 122
    assert.same({ false, "a fault" }, { went, raised })
  end)

  it("lists no state that does not exist", function()
    for given, hint in pairs { undecidd = 'is "undecidd"; it must be one of waiting, taken, sent, done, failed',
      [1] = "is a number" } do
      local list, err = payouts:list(given)
      assert.is_nil(list)
      assert.equal("state", err.option)
      assert.is_truthy(tostring(err):find(hint, 1, true), tostring(err))
    end
    assert.equal(1, #assert(payouts:list "waiting"))
    assert.equal(1, #assert(payouts:list()))
  end)
end)
