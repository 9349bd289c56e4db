-- SPDX-License-Identifier: MIT
-- A look-alike of an earlier payee, whose ends alone agree, is told where a payment is planned, alone or in a list. An
-- agent's is in desk/agent/tools_pays_spec.lua.

local own = require "own_journal"
local payees = require "purser.write.payees"
local purser = require "purser"
local simulated = require "simulated"

-- Ethereum's addresses in one case: an account, one with its ends, and one with other ends.
local PAID = "0x9f8a" .. ("12"):rep(16) .. "c3d4"
local ALIKE = "0x9f8a" .. ("34"):rep(16) .. "c3d4"
local OTHER = "0x9f8b" .. ("34"):rep(16) .. "c3d4"
local TRON = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"

describe("a look-alike of an earlier payee", function()
  local sim, client, journal, account

  before_each(function()
    journal = own.begin()
    sim = purser.sim.new { seed = 59 }
    account = assert(sim:account { role = "main", balances = { USDT = "1000", ETH = "5" } })
    client = simulated.client(sim, account, { journal = journal, account = "treasury", retry = false })
  end)

  after_each(own.finish)

  local function pay(address, key)
    return assert(client.wallet:withdraw({ coin = "USDT", netWork = address:find "^0x" and "ETH" or "TRX",
      address = address, amount = "30" }, { key = key }))
  end

  local function payee_in(texts) return texts[1] and texts[1]:match "those of (%S+), which was paid before" end

  local function look(address) return payee_in((assert(payees.of(journal, client:now())))(address)) end

  it("is found by its ends, and no payee is, nor another address", function()
    assert.is_nil(look(ALIKE))
    pay(PAID, "one")
    pay(TRON, "two")
    assert.is_nil(look(7)) -- a plan says that it is no text
    assert.equal(PAID, look(ALIKE))
    for _, address in ipairs { PAID, PAID:upper():gsub("^0X", "0x"), OTHER, TRON, "short", "" } do
      assert.is_nil(look(address), address)
    end
    pay(ALIKE, "three")
    assert.is_nil(look(ALIKE))
    assert.is_nil(look(PAID))
  end)

  it("is none of a payee of a failed payment, of one that was not made, or of one half a year ago", function()
    local made = pay(PAID, "one")
    assert.equal(PAID, look(ALIKE))
    assert.same({}, (assert(payees.of(journal, client:now() + 185 * 86400000)))(ALIKE))
    for state, expected in pairs { failed = false, cancelled = false, sent = PAID } do
      own.arrived(journal.db, assert(journal.db:rows("SELECT id FROM purser_calls WHERE record_id = $1",
        made.id))[1].id, state)
      assert.equal(expected, look(ALIKE) or false, state)
    end
    assert(journal.db:rows "DELETE FROM purser_arrivals")
    assert(journal.db:rows "UPDATE purser_calls SET state = 'rejected'")
    assert.is_nil(look(ALIKE))
  end)

  it("is a warning of a plan and of a list", function()
    pay(PAID, "one")
    local given = { coin = "USDT", network = "ETH", address = ALIKE, amount = "30" }
    local said = "only the ends of the address are those of " .. PAID .. ", which was paid before"
    local plan = assert(client.wallet:plan_withdraw(given))
    assert.is_true(plan.ok)
    assert.matches(said, plan.warnings[1], 1, true)
    given.address = PAID
    assert.same({}, assert(client.wallet:plan_withdraw(given)).warnings)
    local list = {}
    for i, address in ipairs { ALIKE, OTHER, PAID } do
      list[i] = { key = "k" .. i, operation = "wallet.withdraw", params = { coin = "USDT", netWork = "ETH",
        address = address, amount = "3" .. i } }
    end
    assert(purser.payouts.plan(client, list))
    assert.matches(PAID .. ", which is in the plan", list[1].odd[1], 1, true)
    assert.matches(said, list[1].odd[2], 1, true)
    assert.same({ {}, ALIKE }, { list[2].odd, list[3].odd[1]:match "0x%x+" })
  end)

  it("is told of a queue's payments, however they came, and is odd until a person has seen the payment", function()
    pay(PAID, "one")
    local queue = assert(purser.payouts.new { client = client, journal = journal })
    local list = {}
    for i, address in ipairs { ALIKE, OTHER } do
      list[i] = { key = "k" .. i, operation = "wallet.withdraw", params = { coin = "USDT", netWork = "ETH",
        address = address, amount = "3" .. i } }
      assert(queue:add(list[i].key, list[i].operation, list[i].params))
    end
    local said = "only the ends of the address are those of " .. PAID .. ", which was paid before"
    local function told()
      local of = {}
      for _, payments in ipairs { false, list } do
        local plan = assert(queue:plan { payments = payments or nil })
        for _, payment in ipairs(plan.payments) do
          local texts = table.concat({ table.concat(payment.odd, "\n"), table.concat(payment.warnings, "\n") }, "\n")
          of[#of + 1] = texts:find(said, 1, true) and (payment.odd[1] and "odd" or "warning") or "nothing"
        end
        of[#of + 1] = plan.odd
      end
      return of
    end
    assert.same({ "odd", "nothing", 1, "odd", "nothing", 1 }, told())
    assert(journal.db:rows [[INSERT INTO purser_run_rows (of_queue, of_payment, run)
      SELECT queue, payment, '1' FROM purser_calls WHERE queue <> '']]) -- as a confirmed run leaves them
    assert.same({ "warning", "nothing", 0, "warning", "nothing", 0 }, told())
  end)

  it("is not told of a payment that is made, but of what is paid beside", function()
    local queue = assert(purser.payouts.new { client = client, journal = journal, history_check = "never" })
    local list = {}
    for i, address in ipairs { ALIKE, PAID } do
      list[i] = { key = "k" .. i, operation = "wallet.withdraw", params = { coin = "USDT", netWork = "ETH",
        address = address, amount = "3" .. i } }
    end
    assert(queue:add(list[1].key, list[1].operation, list[1].params))
    assert.equal(1, assert(queue:run()).done)
    local plan = assert(queue:plan { payments = list })
    assert.same({ {}, {} }, { plan.payments[1].odd, plan.payments[1].warnings })
    assert.equal(2, #plan.payments[2].odd)
    assert.matches(ALIKE .. ", which is in the plan", plan.payments[2].odd[1], 1, true)
    assert.matches(ALIKE .. ", which was paid before", plan.payments[2].odd[2], 1, true)
  end)

  it("is not passed over where the journal cannot be read", function()
    pay(PAID, "one")
    assert(journal.db:rows "ALTER TABLE purser_arrivals RENAME TO hidden")
    local plan = assert(client.wallet:plan_withdraw { coin = "USDT", network = "ETH", address = ALIKE, amount = "30" })
    assert.matches("a look-alike of an earlier payee is not told, as the journal cannot be read", plan.warnings[1], 1,
      true)
    local _, err = purser.payouts.plan(client, { { key = "k", operation = "wallet.withdraw", params = { coin = "USDT",
      netWork = "ETH", address = ALIKE, amount = "30" } } }, { journal = journal })
    assert.equal("config", err.kind)
    assert.matches("purser_arrivals", err.message, 1, true)
    assert(journal.db:rows "ALTER TABLE hidden RENAME TO purser_arrivals")
  end)
end)
