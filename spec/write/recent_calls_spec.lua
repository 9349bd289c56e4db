-- SPDX-License-Identifier: MIT
-- What a client remembers of its own calls: whose a record is, and which equal calls could have made it as well.

local core = require "purser.core"
local intents = require "purser.write.intent"
local operations = require "purser.api.operations"
local recent_calls = require "purser.write.recent_calls"

local NOW, HOUR = 1700000000000, 3600000
local WINDOW = 5000

local move = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }

local function changed(params, fields)
  local copy = {}
  for name, value in pairs(params) do copy[name] = value end
  for name, value in pairs(fields) do copy[name] = value end
  return copy
end

local function intent_of(fields)
  return changed({ operation = "wallet.transfer", params = move, sent_at = NOW, recv_window = WINDOW }, fields or {})
end

local known

before_each(function() known = recent_calls.new() end)

local function note(intent, id, over)
  return recent_calls.note(known, operations.by_name[intent.operation], intent, id, over)
end

local function of(intent, first, later)
  return recent_calls.of(known, operations.by_name[intent.operation], intent, first or NOW, later or 0)
end

local function is_others(intent, id)
  return recent_calls.is_others(known, operations.by_name[intent.operation], intent, id)
end

describe("two intents", function()
  -- Whether they are noted as one call; their times differ.
  local function are_one(one, other)
    known = recent_calls.new()
    local first, second = intent_of(one), intent_of(other)
    second.sent_at = NOW + 1
    return note(first) == note(second)
  end

  it("are of one call where they have one name, or one id in the journal", function()
    assert.is_true(are_one({ call_id = "a", id = "1" }, { call_id = "a", id = "2" }))
    assert.is_false(are_one({ call_id = "a", id = "1" }, { call_id = "b", id = "1" }))
    assert.is_true(are_one({ call_id = "a", id = "1" }, { id = "1" }))
    assert.is_false(are_one({ call_id = "a", id = "1" }, { id = "2" }))
    assert.is_false(are_one({}, {}))
    assert.is_false(are_one({ call_id = "a" }, { id = "1" }))
  end)

  it("are of one call where they are one table, whatever became of its time", function()
    local intent = intent_of {}
    local entry = note(intent)
    intent.sent_at = NOW + 1
    assert.equal(entry, note(intent))
  end)
end)

describe("names of calls", function()
  it("are all different, also those of two clients", function()
    local seen, other = {}, recent_calls.new()
    for _, client in ipairs { known, known, other, other } do
      local name = assert(recent_calls.name_call(client))
      assert.matches("^%w+%-%d+$", name)
      assert.is_nil(seen[name])
      seen[name] = true
    end
  end)
end)

describe("a call", function()
  it("gets no name where no random text can be made", function()
    local random_token = core.random_token
    core.random_token = function() return nil, "no entropy" end
    finally(function() core.random_token = random_token end)
    assert.same({ nil, "no entropy" }, { recent_calls.name_call(known) })
  end)

  it("has no known end, and no record, when it is noted first", function()
    local entry = recent_calls.note(known, operations.by_name["wallet.transfer"], intent_of())
    assert.same({ false, false }, { entry.id, entry.over })
  end)

  it("is one entry, however often it is noted", function()
    local one = intent_of { call_id = "one" }
    local entry = note(one)
    assert.equal(entry, note(changed(one, {}), "r1"))
    assert.equal("r1", entry.id)
    assert.are_not.equal(entry, note(intent_of { call_id = "two" }))
    assert.are_not.equal(entry, note(intent_of { call_id = "one", params = changed(move, { amount = "3" }) }))
  end)

  it("without a name is that of its time, the first where there are two", function()
    local first, second = note(intent_of { call_id = "one" }), note(intent_of { call_id = "two" })
    assert.equal(first, note(intent_of {}))
    assert.are_not.equal(first, note(intent_of { sent_at = NOW + 1 }))
    assert.equal(second, note(intent_of { call_id = "two" }))
  end)
end)

describe("equal calls", function()
  local own = intent_of { call_id = "own" }

  it("are open while their end is not known; the call itself is none of them", function()
    note(own)
    assert.same({ {}, 0 }, { of(own) })
    local other = note(intent_of { call_id = "other" })
    assert.same({ {}, 1 }, { of(own) })
    note(intent_of { call_id = "third", params = changed(move, { amount = "2.0", asset = "usdt" }) })
    assert.same({ {}, 2 }, { of(own) })
    note(intent_of { call_id = "fourth", params = changed(move, { amount = "2.1" }) })
    assert.same({ {}, 2 }, { of(own) })
    recent_calls.close(known, other, "r1")
    assert.same({ { r1 = NOW }, 1 }, { of(own) })
    recent_calls.close(known, other, nil, true)
    assert.same({ {}, 1 }, { of(own) })
  end)

  it("that can have made no record so late do not matter", function()
    note(intent_of { call_id = "other" })
    assert.equal(1, select(2, of(own, NOW + WINDOW)))
    assert.equal(0, select(2, of(own, NOW + WINDOW + 1)))
    assert.equal(1, select(2, of(own, NOW + WINDOW + 1, 1)))
  end)
end)

describe("a record", function()
  local own = intent_of { call_id = "own" }

  it("is another call's where that made it, and not where this one did or nothing is known", function()
    note(own)
    assert.is_false(is_others(own, "r1"))
    assert.is_false(is_others(own, nil))
    note(intent_of { call_id = "other", params = changed(move, { amount = "3" }) }, "r1")
    assert.is_true(is_others(own, "r1"))
    note(own, "r2")
    assert.is_false(is_others(own, "r2"))
  end)

  it("is no other call's for carrying the name that the other changed", function()
    note(intent_of { call_id = "cancel", operation = "wallet.cancel_withdrawal", params = { id = "w1" } }, "w1")
    assert.is_false(is_others(own, "w1"))
  end)

  it("may be that of two calls with one id by which the service distinguishes calls", function()
    local params = { withdrawOrderId = "order-1", coin = "USDT", address = "T", amount = "2" }
    local function withdrawal(call_id, id)
      return intent_of { operation = "wallet.withdraw", call_id = call_id,
        params = changed(params, { withdrawOrderId = id }) }
    end
    note(withdrawal("one", "order-1"), "w1")
    assert.is_false(is_others(withdrawal("two", "order-1"), "w1"))
    assert.is_true(is_others(withdrawal("two", "order-2"), "w1"))
    local nameless = { coin = "USDT", address = "T", amount = "2" }
    local second = intent_of { operation = "wallet.withdraw", call_id = "two", params = nameless }
    assert.is_true(is_others(second, "w1"))
    note(intent_of { operation = "wallet.withdraw", call_id = "three", params = nameless }, "w2")
    assert.is_true(is_others(second, "w2")) -- neither carries an id
  end)

  it("is known to all clients of one transport and origin, and to no others", function()
    local transport = {}
    known = recent_calls.new(transport, "https://a")
    note(own, "r1")
    for _, case in ipairs { { transport, "https://a", true }, { transport, "https://b", false },
      { {}, "https://a", false }, { nil, nil, false } } do
      known = recent_calls.new(case[1], case[2])
      assert.equal(case[3], is_others(own, "r1"))
    end
    collectgarbage()
  end)
end)

describe("when the call was sent that made a record", function()
  local row = operations.by_name["wallet.transfer"]

  local function sent_at(case)
    known = recent_calls.new()
    local entry = note(intent_of { call_id = "own", recv_window = case.window }, case.id or "k")
    if case.equal then note(intent_of { call_id = "other" }) end
    entry.by_content = case.by_content
    return recent_calls.sent_at(known, "k", case.operation or row.full_name, WINDOW)
  end

  it("is certain only where nothing else can have made it", function()
    assert.equal(NOW, sent_at {})
    for words, case in pairs { ["it was found by its content"] = { by_content = true },
      ["an equal call may have made it"] = { equal = true }, ["another operation"] = { operation = "wallet.withdraw" },
      ["another record"] = { id = "other" }, ["its window covers several attempts"] = { window = WINDOW + 1 } } do
      assert.is_nil(sent_at(case), words)
    end
    assert.equal(NOW, sent_at { window = WINDOW })
  end)
end)

describe("calls of an hour ago", function()
  -- Notes a call of `before`, and then one of now, at which older ones are forgotten.
  local function note_later(before)
    note(intent_of { sent_at = NOW - before, call_id = "early " .. before })
    note(intent_of { sent_at = NOW - 5, call_id = "late", params = changed(move, { amount = "9" }) })
    known.pruned_at = NOW - HOUR
    note(intent_of { call_id = "now", params = changed(move, { amount = "8" }) })
  end

  local function open() return select(2, of(intent_of { call_id = "own" }, NOW - 10 * HOUR)) end

  it("are forgotten, and from when on is known", function()
    note_later(HOUR)
    assert.equal(0, open())
    assert.equal(NOW, known.pruned_at)
    local ends = NOW - HOUR + intents.MAX_WINDOW_MS
    assert.is_true(recent_calls.has_forgotten(known, ends, 0))
    assert.is_false(recent_calls.has_forgotten(known, ends + 1, 0))
    assert.is_true(recent_calls.has_forgotten(known, ends + 1, 1))
  end)

  it("that are a little younger are remembered, and the others with them", function()
    note_later(HOUR - 1)
    assert.equal(1, open())
    assert.is_false(recent_calls.has_forgotten(known, 0, 0))
    note_later(HOUR)
    assert.equal(1, open()) -- the younger one of two
    assert.is_true(recent_calls.has_forgotten(known, 0, 0))
    assert.is_nil(recent_calls.sent_at(known, "none", "wallet.transfer", WINDOW))
  end)

  it("are looked through once an hour, not at every call", function()
    note(intent_of { sent_at = NOW - HOUR, call_id = "early" })
    known.pruned_at = NOW - HOUR + 1
    note(intent_of { call_id = "now", params = changed(move, { amount = "8" }) })
    assert.equal(1, open())
  end)

  it("no longer count as equals of the younger one", function()
    note(intent_of { sent_at = NOW - HOUR, call_id = "early" })
    note(intent_of { sent_at = NOW - 5, call_id = "late" }, "r1")
    assert.is_nil(recent_calls.sent_at(known, "r1", "wallet.transfer", WINDOW))
    known.pruned_at = 0
    note(intent_of { call_id = "now", params = changed(move, { amount = "8" }) })
    assert.equal(NOW - 5, recent_calls.sent_at(known, "r1", "wallet.transfer", WINDOW))
  end)
end)

describe("other calls of a history", function()
  local own = intent_of { call_id = "own" }
  local names = { ["wallet.transfer"] = true }

  local function others(first, last, later)
    local found = recent_calls.others(known, operations.by_name[own.operation], own, names, first or NOW,
      last or NOW + 1000, later or 0)
    for i, other in ipairs(found) do found[i] = { other.intent.call_id, other.id, other.is_certain } end
    return found
  end

  it("are those of its operations that are not equal and may have been executed", function()
    local three = changed(move, { amount = "3" })
    note(own)
    note(intent_of { call_id = "equal" })
    note(intent_of { call_id = "rejected", params = three }, nil, true)
    note(intent_of { call_id = "elsewhere", operation = "wallet.convert", params = { asset = "BTC" } })
    assert.same({}, others())
    local entry = note(intent_of { call_id = "other", params = three })
    assert.same({ { "other", nil, true } }, others())
    recent_calls.close(known, entry, "r1")
    assert.same({ { "other", "r1", true } }, others())
    entry.by_content = true
    assert.same({ { "other", "r1", false } }, others())
  end)

  it("can have made a record between the two times", function()
    note(intent_of { call_id = "other", params = changed(move, { amount = "3" }) })
    for _, case in ipairs { { NOW + WINDOW, NOW + 9000, 0, 1 }, { NOW + WINDOW + 1, NOW + 9000, 0, 0 },
      { NOW + WINDOW + 1, NOW + 9000, 1, 1 }, { NOW - 9000, NOW, 0, 1 }, { NOW - 9000, NOW - 1, 0, 0 } } do
      assert.equal(case[4], #others(case[1], case[2], case[3]))
    end
  end)
end)

describe("what a client knows of its calls", function()
  it("is bounded: of too many it forgets the older half, and says until when", function()
    local kept = recent_calls.MAX_CALLS
    finally(function() recent_calls.MAX_CALLS = kept end)
    recent_calls.MAX_CALLS = 10
    local row, own = operations.by_name["wallet.transfer"], recent_calls.new()
    local function held()
      local number = 0
      for _, list in pairs(own.by_digest) do number = number + #list end
      return number
    end
    for i = 1, 100 do
      recent_calls.note(own, row, { operation = row.full_name, params = { amount = tostring(i) }, sent_at = NOW + i,
        call_id = "c" .. i })
      assert.is_true(held() <= 10)
    end
    assert.is_true(held() >= 5)
    assert.is_true(own.forgotten_to >= NOW + 90 and own.forgotten_to < NOW + 100)
    assert.is_true(recent_calls.has_forgotten(own, NOW, 0))
  end)
end)
