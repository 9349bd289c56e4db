-- SPDX-License-Identifier: MIT
-- Payments to users, whose records carry no id, with a journal that lacks what was sent: see history_check_spec.lua.

local at = require "payouts_setting"

before_each(at.begin)
after_each(at.finish)

-- Adds two users to whom payments without an id go.
local function add_users()
  for _, name in ipairs { "payee", "other" } do
    assert(at.sim:account { name = name, role = "main", email = name .. "@mail.example" })
  end
end

local function to_payee(amount, name)
  return { toAccountType = "EMAIL", toAccount = (name or "payee") .. "@mail.example", asset = "USDT", amount = amount }
end

describe("payments to users that the journal does not know to be made,", function()
  it("do not wait for an equal call of long ago, of which nothing is known", function()
    add_users()
    local other = at.client_with { journal = false, account = false }
    for _ = 1, 2 do assert(other.wallet:internal_transfer(to_payee "10")) end
    at.sim:fault { kind = "lost_answer", operation = "wallet.internal_transfer" }
    local _, err = at.client.wallet:internal_transfer(to_payee "10")
    assert.equal("undecided", assert(at.client:reconcile(err)).outcome)
    at.sim:advance(600000)
    local payouts, reports = nil, 0
    payouts = at.payouts_with { progress_ms = 20, progress = function()
      reports = reports + 1
      if reports > 100 then payouts:stop() end
    end }
    assert(payouts:add("near", "wallet.internal_transfer", to_payee "12"))
    assert.equal(1, assert(payouts:run()).undecided)
  end)

  it("are made after another, whose record shows payees and amounts as they are sent", function()
    add_users()
    assert(at.client.wallet:internal_transfer(to_payee "10"))
    at.lose_journal()
    local payouts = at.payouts_with()
    assert(payouts:add("near", "wallet.internal_transfer", to_payee "12")) -- less a fee it could be the first
    assert(payouts:add("other", "wallet.internal_transfer", to_payee("12", "other")))
    assert.equal(2, assert(payouts:run()).undecided) -- no other is answered
    assert(payouts:add("witness", "wallet.internal_transfer", to_payee "50"))
    assert(payouts:add("equal", "wallet.internal_transfer", to_payee "10"))
    assert.is_true(payouts:retry "near")
    assert.is_true(payouts:retry "other")
    local report = assert(payouts:run())
    -- a fee may have ended before the journal was lost: one difference from a later witness proves nothing
    assert.same({ 2, 2 }, { report.done, report.undecided })
    for _, payment in ipairs(report.undecided_payments) do assert.not_equal("other", payment.key) end
    assert.equal(3, at.counted("wallet.internal_transfer", "applied"))
  end)

  it("are made where an earlier run has left a witness that its reading of the history lacks", function()
    add_users()
    local function pay(key, amount, payee)
      local payouts = at.payouts_with { witness = at.path .. ".witness" }
      assert(payouts:add(key, "wallet.internal_transfer", to_payee(amount, payee)))
      local report = assert(payouts:run())
      payouts.witness_db:close()
      return report.undecided
    end
    assert(at.client.wallet:internal_transfer { toAccountType = "EMAIL", toAccount = "payee@mail.example",
      asset = "USDT", amount = "10" })
    at.lose_journal()
    assert.equal(0, pay("witness", "50", "payee"))
    at.sim:advance(60000)
    assert.equal(0, pay("near", "12", "other"))
  end)
end)

it("a journal that may lack commits looks for all before one is sent, and counts what is found in limits", function()
  for _, concurrency in ipairs { 1, 16 } do
    local function pay(keys)
      local client = at.client_with { guard = { spending_limit = { USDT = "15" } } }
      local payouts = at.payouts_with { client = client, concurrency = concurrency }
      for _, key in ipairs(keys) do
        assert(payouts:add(key .. concurrency, at.TRANSFER, at.move(key == "made" and "10" or "10.5")))
      end
      return assert(payouts:run())
    end
    at.client = at.client_with { guard = { spending_limit = { USDT = "15" } } }
    assert.equal(1, pay({ "made" }).done)
    at.lose_journal()
    local report = pay { "waiting", "made" }
    assert.same({ 1, 1, 1 }, { report.done, report.waiting, at.counted(at.TRANSFER, "applied") })
    at.finish()
    at.begin()
  end
end)
