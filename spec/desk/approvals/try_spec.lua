-- SPDX-License-Identifier: MIT
-- A policy over what was really paid: what it would have asked, held back and refused.

local approval_rows = require "purser.desk.approvals.approval_rows"
local own = require "own_journal"
local policies = require "policies"
local purser = require "purser"
local try = require "purser.desk.approvals.try"

local HOUR, DAY, NOON = 3600000, 86400000, 1795348800000 -- a Sunday

before_each(function() own.begin(approval_rows.TABLES) end)
after_each(own.finish)

local function pay(tx, id, at, amount, more)
  more = more or {}
  own.write(tx, id, at, { operation = "wallet.withdraw", history = "", queue = more.queue or "", payment = id,
    state = more.state or "done", disowned = more.disowned or "",
    params = ('{"address":"%s","amount":"%s","coin":"%s","netWork":"TRX"}'):format(more.address or "TPayee", amount,
      more.coin or "USDT") })
  if not more.state then own.arrived(tx, id, more.arrival or "sent") end
end

local function run(rules, more)
  local options = { journal = own.journal, account = "treasury",
    policy = policies.text(policies.given { rules = rules }) }
  for name, value in pairs(more or {}) do options[name] = value end
  return purser.approvals.try(options)
end

local finance1 = { { group = "finance", count = 1 } }

describe("a policy that is tried", function()
  it("says what it would have asked and refused", function()
    own.within(function(tx)
      pay(tx, "a", NOON - 20 * DAY, "5")
      pay(tx, "b", NOON - 10 * DAY, "100")
      pay(tx, "c", NOON, "100")
      pay(tx, "d", NOON + HOUR, "100")
      pay(tx, "e", NOON + 2 * HOUR, "5", { address = "TOther" })
      pay(tx, "f", NOON + 2 * HOUR, "5", { coin = "BTC" })
      pay(tx, "g", NOON + 2 * HOUR, "5", { state = "rejected" })
      return true
    end)
    local trial = assert(run({
      { name = "small", effect = "allow", when = { coin = "USDT", amount_up_to = "10" }, approvals = {} },
      { name = "known", effect = "allow", when = { known_days = 7 }, approvals = finance1 },
      { name = "daily", effect = "forbid", when = { coin = "USDT",
        sum_over = { amount = "150", hours = 24, per = "destination" } } } }, { since = NOON - 15 * DAY }))
    assert.same({ payments = 5, first = NOON - 10 * DAY, last = NOON + 2 * HOUR, unasked = 1, asked = { finance = 3 },
      busiest = { day = "2026-11-22", asked = 2 }, waited = 0, refused = 1, refused_by = { daily = 1 },
      not_judged = 0 }, trial)
  end)

  it("counts what a person disowned, as the payer's sums do, and no plan", function()
    local daily = { { name = "any", effect = "allow", approvals = {} }, { name = "daily", effect = "forbid",
      when = { coin = "USDT", sum_over = { amount = "150", hours = 24, per = "account" } } } }
    own.within(function(tx)
      pay(tx, "a", NOON, "100", { state = "not_done", disowned = "yes" })
      pay(tx, "b", NOON + 1, "100", { state = "not_done", disowned = "other" })
      pay(tx, "c", NOON + 2, "100", { state = "planned" })
      pay(tx, "d", NOON + 3, "100")
      return true
    end)
    local trial = assert(run(daily))
    assert.same({ 2, 1, { daily = 1 } }, { trial.payments, trial.unasked, trial.refused_by })
    local sums = own.within(function(tx)
      approval_rows.install(tx, { latest = { version = 1, asks_sums = true },
        versions = { { digest = ("d"):rep(64) } } })
      return tx:rows "SELECT amount FROM purser_sums WHERE place = ''"
    end, NOON + 4)
    assert.same({ { amount = "200" } }, sums)
  end)

  it("knows no address where all that was paid came back", function()
    own.within(function(tx)
      for i, state in ipairs { "failed", "cancelled", "accepted", "sent", "sent" } do
        pay(tx, "i" .. i, NOON + i * DAY, "5", { arrival = state })
      end
      return true
    end)
    local trial = assert(run { { name = "known", effect = "allow", when = { known_days = 0 }, approvals = {} } })
    assert.same({ 1, 4 }, { trial.unasked, trial.refused })
  end)

  it("knows an address where that was paid, and at no other service", function()
    own.within(function(tx)
      for i, host in ipairs { "sim", "live", "live" } do
        pay(tx, "i" .. i, NOON + i * DAY, "5")
        tx:rows("UPDATE purser_calls SET host = $1 WHERE id = $2", host, "i" .. i)
      end
      return true
    end)
    local trial = assert(run { { name = "known", effect = "allow", when = { known_days = 0 }, approvals = {} } })
    assert.same({ 3, 1, 2 }, { trial.payments, trial.unasked, trial.refused })
  end)

  it("counts what nobody wrote down as not judged", function()
    own.within(function(tx)
      for i = 1, 4 do pay(tx, "i" .. i, NOON + i, "5", { queue = i > 2 and "june" or "" }) end
      return true
    end)
    local trial = assert(run { { name = "robot", effect = "allow", when = { made_by = "finance" }, approvals = {} },
      { name = "june", effect = "allow", when = { queue = "june" }, approvals = finance1 },
      { name = "rest", effect = "require", when = { queue = "june" }, wait_hours = 2 } })
    assert.same({ 4, 4, 2, 2, { [""] = 2 } }, { trial.payments, trial.not_judged, trial.refused, trial.waited,
      trial.refused_by })
    assert.same({ finance = 2 }, trial.asked)
  end)

  it("does not judge what asks for the service's book of then", function()
    own.within(function(tx)
      pay(tx, "a", NOON, "5")
      return true
    end)
    local trial = assert(run { { name = "all", effect = "allow", approvals = {} },
      { name = "saved-only", effect = "forbid", when = { operation = "withdrawals" }, unless = { { saved = true } } } })
    assert.same({ 1, 1, { ["saved-only"] = 1 } }, { trial.payments, trial.not_judged, trial.refused_by })
  end)

  it("counts a payment whose parameters were pruned as not judged", function()
    own.within(function(tx)
      pay(tx, "a", NOON, "5")
      pay(tx, "b", NOON + 1, "5")
      tx:rows "UPDATE purser_calls SET params = '{}' WHERE id = 'b'"
      return true
    end)
    local trial = assert(run { { name = "all", effect = "allow", approvals = {} } })
    assert.same({ 1, 1 }, { trial.payments, trial.not_judged })
  end)

  it("needs a policy that can be read", function()
    local trial, err = try.run { journal = own.journal, account = "treasury", policy = "{}" }
    assert.is_nil(trial)
    assert.matches("cannot be read", err.message)
    assert.is_nil((run({ { name = "all", effect = "allow", approvals = {} } }, { days = 30 })))
    assert.equal(0, assert(run { { name = "all", effect = "allow", approvals = {} } }).payments)
  end)
end)
