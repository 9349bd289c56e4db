-- SPDX-License-Identifier: MIT
-- A person's word ends an attempt, is kept, and proves nothing.

local own = require "own_journal"
local planned = require "purser.write.planned"
local simulated = require "simulated"

local sim, account, journal, client

before_each(function()
  sim, account = simulated.broker(nil, { balances = { USDT = "100000" } })
  journal = own.begin()
  client = simulated.client(sim, account, { retry = false, rate_limit = false, journal = journal, account = "treasury",
    guard = { spending_limit = { USDT = "12" } } })
end)
after_each(own.finish)

local function move(amount, key)
  return client.sub_account:transfer(simulated.transfer(amount), { key = key })
end

-- Makes a call whose answer is lost. Returns the id of its entry.
local function lose(key)
  sim:fault { kind = "lost_answer", operation = "transfer" }
  assert.equal("unknown", select(2, move("10", key)).outcome)
  return assert(journal:entries { key = key })[1].intent.id
end

local function settle(id, outcome, more)
  local word = { outcome = outcome, by = "alice", now = sim:now() + 60000 }
  for name, value in pairs(more or {}) do word[name] = value end
  return journal:settle(id, word)
end

describe("a person's word", function()
  it("ends a call, and is kept with who said so", function()
    local id = lose "inv-1"
    assert.is_true(settle(id, "done", { record_id = "r-1" }))
    local entry = assert(journal:entries { id = id })[1]
    assert.same({ "done", "alice said that it was executed" }, { entry.state, entry.message })
    local kept = assert(journal.db:rows "SELECT * FROM purser_words")
    assert.same({ 1, id, "done", "alice", "r-1" }, { #kept, kept[1].call, kept[1].word, kept[1].person,
      kept[1].record_id })
    assert.equal(id, assert(journal:owners("record_id", "treasury", { "r-1" }))["r-1"].id)
    assert.is_true(settle(id, "not_done")) -- the person was wrong, and says so: both words stay
    assert.equal(2, #assert(journal.db:rows "SELECT * FROM purser_words"))
  end)

  it("releases no limit of others, and a repeat takes its charge over", function()
    assert.is_true(settle(lose "inv-1", "not_done"))
    sim:advance(60000)
    assert.equal("guard.spending_limit", select(2, move("3", "inv-2")).code)
    assert(move("10", "inv-1"))
    assert(move("2", "inv-3"))
    assert.equal("guard.spending_limit", select(2, move("1", "inv-4")).code)
  end)

  it("keeps the charge where the repeat was proved not to be executed", function()
    assert.is_true(settle(lose "inv-1", "not_done"))
    sim:advance(60000)
    sim:fault { kind = "reject", code = "730002", message = "no", operation = "transfer", times = 1 }
    assert.equal("rejected", select(2, move("10", "inv-1")).outcome)
    assert.equal("guard.spending_limit", select(2, move("3", "inv-2")).code)
  end)

  it("stands by its id while it is the newest and says that the call was not made, whatever the clock says", function()
    local id, core, real = lose "inv-1", require "purser.core", require("purser.core").now_ms
    local function standing()
      return journal.db:transaction(function(tx) return { planned.standing_word(tx, id) } end)[1]
    end
    local now = real()
    core.now_ms = function() return now end
    finally(function() core.now_ms = real end)
    assert.is_nil(standing())
    local seen = {}
    for i, outcome in ipairs { "not_done", "not_done", "done", "not_done" } do
      assert.is_true(settle(id, outcome))
      local word = standing()
      assert.equal(outcome == "not_done", word ~= nil)
      assert.is_nil(seen[word or {}], "a plan of an earlier word names no later one")
      seen[word or i], now = true, now - 1000 -- set back
    end
  end)

  it("is refused while the service may take the request, against an answer, and of what was never sent", function()
    local id = lose "inv-1"
    assert.matches("may take the request yet", select(2, settle(id, "not_done", { now = sim:now() })).message)
    assert(move("2", "inv-2"))
    local answered = assert(journal:entries { key = "inv-2" })[1].intent.id
    assert.matches("its answer or its id", select(2, settle(answered, "not_done")).message)
    assert.matches("no such entry", select(2, settle("nothing", "done")).message)
    for _, word in ipairs { {}, { outcome = "done" }, { outcome = "perhaps", by = "alice" }, { by = "alice" } } do
      assert.equal("argument", select(2, journal:settle(id, word)).kind)
    end
    assert.same({}, (journal.db:rows "SELECT * FROM purser_words"))
  end)
end)
