-- SPDX-License-Identifier: MIT
-- A call is permitted by facts of what was sent to this service, and a repeat by a plan that names a person's word.

local own_journal = require "own_journal"
local payouts_module = require "purser.desk.payouts"
local plan_text = require "purser.desk.approvals.plan_text"
local planned = require "purser.write.planned"
local setting = require "approvals_setting"
local ssh_keys = require "ssh_keys"

local HOUR = 3600000

after_each(setting.finish)
teardown(ssh_keys.remove)

local function all(extra)
  return { { name = "all", effect = "allow", approvals = { { group = "treasury", count = 2 } } }, extra }
end

local function add(rows, head)
  local text = setting.plan(rows, head)
  setting.add(text, { setting.sign(text, "alice"), setting.sign(text, "bob") })
end

local function refused(code, value, err)
  assert.is_nil(value)
  assert.equal("approval." .. code, err.details.code, err.message)
end

describe("a word that a call was not executed", function()
  before_each(function() setting.begin { rules = all() } end)

  local function row(word)
    local one = setting.row("a", "10", { withdrawOrderId = "a" })
    one.word = word
    return one
  end

  -- Sends the call without an answer, an hour later says that it was not made, and returns the id of that word.
  local function lost_and_disowned()
    local client = assert(setting.client { transport = { send = function() return nil, "lost", "unknown" end } })
    assert.equal("unknown", select(2, setting.send(row(), client)).outcome)
    setting.now = setting.now + HOUR
    local id = assert(setting.journal:entries())[1].intent.id
    assert(setting.journal:settle(id, { outcome = "not_done", by = "alice", now = setting.now }))
    return assert(own_journal.within(function(tx) return planned.standing_word(tx, id) end))
  end

  -- Adds a plan by a clock that is so many hours away from what it is.
  local function add_by_clock(hours, ...)
    setting.now = setting.now + hours * HOUR
    add(...)
    setting.now = setting.now - hours * HOUR
  end

  it("lets only a plan that names it send the call again, whatever the clocks that added plans", function()
    add { row() }
    add_by_clock(5, { row() }, { maker = "erin" })
    local word = lost_and_disowned()
    refused("repeated", setting.send(row()))
    add_by_clock(5, { row() }, { maker = "dave" })
    add { row(("x"):rep(#word)) }
    refused("repeated", setting.send(row()))
    assert.equal(0, #setting.sent)
    add_by_clock(-5, { row(word) })
    assert(setting.send(row()))
    assert.equal(1, #setting.sent)
  end)

  it("is no older word", function()
    add { row() }
    local first = lost_and_disowned()
    add { row(first) }
    local second = lost_and_disowned()
    add_by_clock(5, { row(first) }, { maker = "dave" })
    refused("repeated", setting.send(row()))
    add_by_clock(-9, { row(second) })
    assert(setting.send(row()))
  end)

  it("stands until a person says another, so what was rejected meanwhile is sent again by it", function()
    add { row() }
    add { row(lost_and_disowned()) }
    setting.answer = '{"code":10101,"msg":"Insufficient balance %d"}'
    assert.equal("rejected", select(2, setting.send(row())).outcome)
    setting.answer = nil
    assert(setting.send(row()))
    assert.equal(2, #setting.sent)
  end)

  it("is named by the plan in the error", function()
    add { row() }
    local word = lost_and_disowned()
    local _, err = setting.send(row())
    assert.equal(word, assert(plan_text.read(err.details.plan)).rows[1].word)
    assert.equal(word, err.details.word)
    setting.add(err.details.plan, { setting.sign(err.details.plan, "alice"), setting.sign(err.details.plan, "bob") })
    assert(setting.send(row()))
  end)

  it("of a journal alone is of no use to a plan of another payment", function()
    add { setting.row("b", "10") }
    local named = setting.row("b", "10")
    named.word = "w"
    setting.now = setting.NOW + HOUR
    add({ named }, { maker = "erin" })
    assert(setting.send(named)) -- by the plan without a word
    named = setting.row("c", "10")
    named.word = "w"
    add { named }
    refused("repeated", setting.send(named))
  end)

  it("releases no limit of a day", function()
    setting.finish()
    setting.begin { rules = all { name = "day", effect = "forbid", when = { coin = "USDT",
      sum_over = { amount = "15", hours = 24, per = "account" } } } }
    local one = setting.row("a", "10", { withdrawOrderId = "a" })
    add { one }
    add { setting.row("b", "10") }
    local client = assert(setting.client { transport = { send = function() return nil, "lost", "unknown" end } })
    assert.equal("unknown", select(2, setting.send(one, client)).outcome)
    setting.now = setting.NOW + HOUR
    local id = assert(setting.journal:entries())[1].intent.id
    assert(setting.journal:settle(id, { outcome = "not_done", by = "alice", now = setting.now }))
    refused("rule", setting.send(setting.row("b", "10")))
  end)
end)

describe("a fact that permits", function()
  local function with_known()
    setting.begin { rules = { { name = "known", effect = "allow", approvals = {}, when = { known_days = 0 } },
      { name = "all", effect = "allow", approvals = { { group = "treasury", count = 2 } } } } }
    add { setting.row("a", "10") }
    assert(setting.send(setting.row("a", "10")))
    setting.now = setting.NOW + HOUR
  end

  it("is no time of a call that was rejected", function()
    with_known()
    assert(setting.journal.db:rows(("UPDATE purser_calls SET sent_at = '%d'"):format(setting.now + 2 * HOUR)))
    add { setting.row("b", "10") }
    refused("clock", setting.send(setting.row("b", "10")))
    assert(setting.journal.db:rows "UPDATE purser_calls SET state = 'rejected'")
    assert(setting.send(setting.row("b", "10")))
  end)
end)

describe("a payment that a look after a restore finds", function()
  it("is in the sums", function()
    setting.begin { rules = all { name = "day", effect = "forbid", when = { coin = "USDT",
      sum_over = { amount = "15", hours = 24, per = "account" } } } }
    local client = assert(setting.client())
    add({ setting.row("a", "10"), setting.row("b", "10") }, { queue = "q" })
    local queue = assert(payouts_module.new { client = client, journal = setting.journal, queue = "q", worker = "w" })
    for _, key in ipairs { "a", "b" } do assert(queue:add(key, "wallet.withdraw", setting.row(key, "10").params)) end
    local found = assert(queue:find "a")
    assert(setting.journal:reconciled({ id = found.id, operation = found.operation, params = found.params, attempt = 0,
      sent_at = setting.now, account = "treasury" }, { outcome = "done",
      record = { id = "r", withdrawOrderId = "a", applyTime = setting.now - HOUR } }))
    assert.equal("done", assert(queue:find "a").state)
    assert.same({ { amount = "10" } }, (setting.journal.db:rows "SELECT amount FROM purser_sums WHERE place = ''"))
  end)
end)
