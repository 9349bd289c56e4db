-- SPDX-License-Identifier: MIT
-- Each content of a payment counts in limits at its own time, and once: also where a list corrected it, and where it
-- may have been made without the journal's knowledge.

local at = require "payouts_setting"
local core = require "purser.core"
local queue = require "purser.desk.payouts.queue"
local spending = require "purser.write.guard.spending"

local TRANSFER, OWN, DAY = at.TRANSFER, "wallet.transfer", 86400000
local payouts

before_each(function()
  at.begin { balance = "1000", clock = "real" }
  at.client = at.client_with { recv_window = 500, visibility_delay_ms = 0,
    guard = { spending_limit = { USDT = "8" } } }
  payouts = at.payouts_with { history_check = "never" }
end)
after_each(at.finish)

-- Gives the payment "a" another content, as a corrected list does.
local function replace(amount)
  local made = assert(require("purser.desk.payouts.add").prepare(payouts, "a", TRANSFER, at.move(amount)))
  assert(at.journal.db:transaction(function(tx)
    local columns = require("purser.write.planned").columns(TRANSFER, made.params, made.id)
    return queue.replace(tx, payouts, queue.find(tx, payouts, "a"), columns)
  end))
end

local function charges()
  local list = {}
  for _, row in ipairs(assert(at.journal.db:rows "SELECT amount, at FROM purser_charges ORDER BY amount, at")) do
    list[#list + 1] = row.amount .. (tonumber(row.at) < core.now_ms() - DAY and " of long ago" or "")
  end
  return list
end

local function id_of_a() return assert(payouts:find "a").id end

-- A payment of 5 that the service rejected long ago.
local function leave_rejected()
  at.sim:fault { kind = "reject", operation = TRANSFER, code = "700002" }
  assert(payouts:add("a", TRANSFER, at.move "5"))
  assert.equal(1, assert(payouts:run()).failed)
  at.set("sent_at = $1", at.ahead(-2 * DAY))
end

-- A payment of 5 whose end nobody knows, until a person says that it was not made.
local function leave_disowned()
  leave_rejected()
  at.set "state = 'undecided', stage = 'undecided'"
  local id = id_of_a()
  assert(at.journal.db:transaction(function(tx)
    local row = require("purser.write.planned").locked(tx, id)
    require("purser.write.guard.spending").charge_found(tx, row, core.decode(row.params), tonumber(row.sent_at))
    return true
  end))
  assert.is_true(payouts:retry("a", { force = true, by = "alice" }))
end

describe("a payment that was corrected", function()
  it("is no call that a person could settle, until it was sent", function()
    leave_rejected()
    replace "6"
    local _, err = at.journal:settle(id_of_a(), { outcome = "done", by = "alice" })
    assert.matches("it was never sent", err.message)
    assert.same({}, charges())
    local earlier = assert(at.journal:entries { payment = "a" })[1].earlier
    assert.same({ 1, "not_done", 1, "rejected" }, { earlier[1].number, earlier[1].state, earlier[2].number,
      earlier[2].state }) -- what it was sent as
  end)

  it("counts from now on where a person says that it was made", function()
    leave_rejected()
    replace "6"
    assert.is_true(payouts:drop "a")
    assert(at.journal:settle(id_of_a(), { outcome = "done", by = "alice" }))
    assert.same({ "6" }, charges())
  end)

  it("leaves what a person disowned as a call of its own, which counts on", function()
    leave_disowned()
    replace "6"
    assert.same({ "5 of long ago" }, charges())
    local call = assert(at.journal:entries { state = "not_done" })[1]
    assert.same({ "5", true, nil }, { call.intent.params.amount, call.is_counted, call.queue })
    assert.matches('alice said .*; it was payment "a" of the queue "default"', call.message)
    replace "5"
    at.sim:fault { kind = "reject", operation = TRANSFER, code = "700002" }
    assert.equal(1, assert(payouts:run()).failed)
    assert.same({ "5 of long ago" }, charges())
    assert(at.journal:settle(call.intent.id, { outcome = "done", by = "alice", record_id = "r" }))
    assert.same({ "5 of long ago" }, charges())
  end)

  it("keeps a row also where the service kept the last attempt as FAILED, and an index has the record", function()
    leave_rejected()
    at.set "state = 'undecided', stage = 'undecided'"
    local row = assert(at.journal.db:rows "SELECT * FROM purser_calls")[1]
    assert(at.journal.db:transaction(function(tx)
      spending.charge_found(tx, row, core.decode(row.params), tonumber(row.sent_at))
      return true
    end))
    assert.is_true(payouts:retry("a", { force = true, by = "alice" }))
    at.set("state = 'not_done', record_id = 'r1', sent_at = $1", at.ahead(-2 * DAY))
    replace "6"
    local charge = assert(at.journal.db:rows "SELECT call FROM purser_charges")
    assert.equal(1, #charge)
    local kept = assert(at.journal:entries { state = "not_done" })[1].intent
    assert.same({ "5", charge[1].call }, { kept.params.amount, kept.id })
  end)
end)

describe("a payment of a journal that lost it", function()
  it("counts while nobody knows which record is its own, and when none of the run's others takes its room", function()
    assert(payouts:add("lost", OWN, at.own "5"))
    assert.equal(1, assert(payouts:run()).done)
    at.lose_journal()
    at.client = at.client_with { recv_window = 500, visibility_delay_ms = 0,
      guard = { spending_limit = { USDT = "8" } } }
    payouts = at.payouts_with { concurrency = 1 }
    assert(payouts:add("lost", OWN, at.own "5"))
    assert(payouts:add("next", OWN, at.own "6"))
    at.set "due_at = '9' WHERE payment = 'next'" -- the other one goes first
    local report = assert(payouts:run())
    assert.same({ 1, 1, 1 }, { report.undecided, report.blocked, at.counted(OWN, "applied") })
    assert.same({ "5" }, charges())
    -- put back, it counts until it is sent again
    assert.is_true(payouts:retry "lost")
    assert.same({ "5" }, charges())
    payouts = at.payouts_with { history_check = "never", concurrency = 1 }
    report = assert(payouts:run())
    assert.same({ 1, 1, 2 }, { report.done, report.blocked, at.counted(OWN, "applied") })
    assert.same({ "5" }, charges())
  end)
end)
