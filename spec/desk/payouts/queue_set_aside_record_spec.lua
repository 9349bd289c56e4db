-- SPDX-License-Identifier: MIT
-- A corrected payment that counts, and whose last attempt the service kept as FAILED: its row has a record's id.

local at = require "payouts_setting"
local planned = require "purser.write.planned"
local queue = require "purser.desk.payouts.queue"

local TRANSFER, DAY = at.TRANSFER, 86400000
local payouts

before_each(function()
  at.begin { balance = "1000", clock = "real" }
  at.client = at.client_with { recv_window = 500, visibility_delay_ms = 0,
    guard = { spending_limit = { USDT = "8" } } }
  payouts = at.payouts_with { history_check = "never" }
end)
after_each(at.finish)

it("a content that is set aside keeps a row, where an index has its record's id, too", function()
  at.sim:fault { kind = "reject", operation = TRANSFER, code = "700002" }
  assert(payouts:add("a", TRANSFER, at.move "5"))
  assert.equal(1, assert(payouts:run()).failed)
  at.set "state = 'undecided', stage = 'undecided'"
  local row = assert(at.journal.db:rows "SELECT * FROM purser_calls")[1]
  assert(at.journal.db:transaction(function(tx)
    require("purser.write.guard.spending").charge_found(tx, row, require("purser.core").decode(row.params),
      tonumber(row.sent_at))
    return true
  end))
  assert.is_true(payouts:retry("a", { force = true, by = "alice" }))
  at.set("state = 'not_done', record_id = 'r1', sent_at = $1", at.ahead(-2 * DAY)) -- as an attempt kept as FAILED
  local made = assert(require("purser.desk.payouts.add").prepare(payouts, "a", TRANSFER, at.move "6"))
  assert(at.journal.db:transaction(function(tx)
    return queue.replace(tx, payouts, queue.find(tx, payouts, "a"), planned.columns(TRANSFER, made.params, made.id))
  end))
  local charge = assert(at.journal.db:rows "SELECT call FROM purser_charges")
  assert.equal(1, #charge)
  assert.equal("5", assert(at.journal:entries { state = "not_done" })[1].intent.params.amount)
  assert.equal(charge[1].call, assert(at.journal:entries { state = "not_done" })[1].intent.id)
end)
