-- SPDX-License-Identifier: MIT
-- One look at a call: when a record must be visible, which windows are asked for, and what a reading proves.

local errors = require "purser.call.errors"
local listing_service = require "listing_service"
local looks = require "purser.write.reconcile.look"
local operations = require "purser.api.operations"
local readings = require "purser.write.reconcile.readings"
local recent_calls = require "purser.write.reconcile.recent_calls"

local NOW, HOUR, DAY = 1700000000000, 3600000, 86400000
local ASKED = 38 * HOUR
local move = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }
local transfer = { clientTranId = ("a"):rep(32), fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
  amount = "2" }

local asked

before_each(function() asked = {} end)

-- A look at a call of NOW; the list shows `records`. What is asked for is kept, without the second more at either end.
local function look_at(operation, params, records, fields, options)
  local service = listing_service(function(row, params_asked)
    if params_asked.startTime and (params_asked.page or 1) == 1 then
      asked[#asked + 1] = { params_asked.startTime + 1000 - NOW, params_asked.endTime - 1000 - NOW }
    end
    local shown = (params_asked.page or 1) == 1 and records or {}
    return row.result.rows and { rows = shown, total = #shown } or row.result.page and { data = shown } or shown
  end, fields)
  local look = looks.new(service, operations.by_name[operation], { operation = operation, params = params,
    sent_at = NOW, recv_window = 5000 }, options or {})
  look:begin()
  return look, service
end

-- A record of a known call that was sent at NOW + `sent`, shown at NOW + `shown`.
local function known_record(service, sent, shown)
  local other, id = {}, ("k%d"):format(sent)
  for name, value in pairs(move) do other[name] = value end
  other.amount = ("77.%07d"):format(sent + 1000000) -- no two are equal
  recent_calls.note(service.recent_calls, operations.by_name["wallet.transfer"], { operation = "wallet.transfer",
    params = other, sent_at = NOW + sent, recv_window = 5000 }, id)
  return { tranId = id, amount = other.amount, timestamp = NOW + shown }
end

describe("the window of a call", function()
  it("begins before it was stamped, and ends when its record must be visible", function()
    local look = look_at("wallet.transfer", move)
    assert.same({ -6000, 14000, 9000, 9000, 9000 }, { look.first - NOW, look.last - NOW, look.deadline - NOW,
      look.visible_ms, look.later })
    look = look_at("wallet.transfer", move, nil, nil, { skew_ms = 100, visibility_delay_ms = 0, poll_ms = 0 })
    assert.same({ -1100, 6100, 6000, 1 }, { look.first - NOW, look.last - NOW, look.deadline - NOW, look.poll_ms })
  end)

  it("is late from the moment on when its record must be visible", function()
    assert.is_false(look_at("wallet.transfer", move, nil, { now = NOW + 8999 }).late)
    assert.is_true(look_at("wallet.transfer", move, nil, { now = NOW + 9000 }).late)
  end)
end)

describe("an answer that leaves the call undecided", function()
  it("since a reading does not show all there is says so of the look, until the next begins", function()
    local look = look_at("wallet.transfer", move)
    local candidates = { {} }
    assert.same({ outcome = "undecided", candidates = candidates, reason = "why" },
      look:doubt({ incomplete = "why" }, candidates))
    look.plain = true
    assert.is_true(look.doubted)
    look:begin()
    assert.same({ false, false }, { look.doubted, look.plain })
  end)
end)

describe("a list", function()
  it("is read once for looks that share their readings", function()
    local fields = { readings = readings.new() }
    local reading = look_at("wallet.transfer", move, { { tranId = "t1", timestamp = NOW } }, fields):list(NOW, NOW)
    local second = look_at("wallet.transfer", move, {}, fields):list(NOW, NOW)
    assert.equal(1, #asked)
    assert.equal(reading.records, second.records)
    assert.equal(reading.shared, second.shared)
    assert.same({ asked[1][1], asked[1][2] }, { second.first - NOW, second.last - NOW })
  end)

  it("is asked for the call's window by an early look and a narrow question", function()
    look_at("wallet.transfer", move, {}, { now = NOW + 10 }):list(NOW - 6000, NOW + 14000)
    look_at("wallet.transfer", move, {}):list(NOW - 6000, NOW + 14000, true)
    assert.same({ { -6000, 14000 }, { -6000, 14000 } }, asked)
  end)

  it("is asked for as many hours more as it may be shifted by, by a late and broad one", function()
    look_at("wallet.transfer", move, {}):list(NOW - 6000, NOW + 14000)
    assert.same({ { -6000 - ASKED, 14000 + ASKED } }, asked)
  end)

  it("is asked for a minute before and ten after, and for the hours to come, by a plain one", function()
    local look = look_at("wallet.transfer", move, {}, { now = NOW + 14000 + 600000 })
    look.plain = true
    look:list(NOW - 6000, NOW + 14000)
    look = look_at("wallet.transfer", move, {}, { now = NOW + 14000 + 600001 })
    look.plain = true
    look:list(NOW - 6000, NOW + 14000)
    assert.same({ { -66000, 14000 + ASKED }, { -66000, 614000 } }, asked)
  end)

  it("is asked for nothing before it begins, unless the call itself was made then", function()
    look_at("wallet.withdraw", {}, {}, { now = NOW + 89 * DAY }):list(NOW - 6000, NOW + 14000)
    look_at("wallet.withdraw", {}, {}, { now = NOW + 91 * DAY }):list(NOW - 6000, NOW + 14000)
    local first = NOW
    for _, window in ipairs(asked) do first = math.min(first, NOW + window[1]) end
    assert.is_true(first >= NOW - DAY + 60000 - 1000, first - NOW)
    assert.equal(NOW - 90 * DAY + 60000, look_at("wallet.withdraw", {}, {}, { now = NOW }):earliest())
    assert.equal(0, look_at("broker.create_api_key", {}):earliest())
    assert.is_true(first <= NOW - 6000)
  end)
end)

describe("the questions of a look", function()
  -- Which questions are asked where each way gives these answers: narrow, plain, broad.
  local function questions(operation, params, answers, fields)
    local words = {}
    local look, service = look_at(operation, params, {}, fields)
    look.reading = { records = {}, first = NOW - HOUR, last = NOW + HOUR }
    for name, value in pairs(fields and fields.reading and fields.reading(service) or {}) do
      look.reading[name] = value
    end
    local answer, err = look:narrow_then_broad(function(_, narrow)
      local word = narrow and "narrow" or look.plain and "plain" or "broad"
      words[#words + 1] = word
      local given = answers[word]
      if errors.is(given) then return nil, given end
      if given == "doubt" then look.doubted = true end
      return given == nil and looks.NOTHING_YET or { outcome = given == "doubt" and "undecided" or given }
    end)
    return table.concat(words, " "), answer and answer.outcome or err and err.message, look.doubted
  end

  local EARLY = { now = NOW + 10 }

  it("end with the first that finds the record", function()
    for _, case in ipairs { { { narrow = "done" }, "narrow" }, { { plain = "done" }, "narrow plain" },
      { { broad = "done" }, "narrow plain broad" } } do
      assert.equal(case[2], (questions("sub_account.transfer", transfer, case[1])))
    end
  end)

  it("are one, the narrow one, for an early look", function()
    assert.equal("narrow", (questions("sub_account.transfer", transfer, {}, EARLY)))
    assert.equal("narrow", (questions("sub_account.transfer", transfer, { narrow = "undecided" }, EARLY)))
    assert.equal("broad", (questions("broker.create_api_key", { subAccount = "Desk" }, {}, EARLY)))
  end)

  it("never end with the narrow one where that leaves it undecided, or says not_done of a history", function()
    for _, outcome in ipairs { "undecided", "not_done", "doubt" } do
      local words, answer, doubted = questions("sub_account.transfer", transfer, { narrow = outcome, broad = "done" })
      assert.same({ "narrow plain broad", "done", false }, { words, answer, doubted }, outcome)
    end
    local name = { subAccount = "Desk0001" }
    assert.equal("narrow", (questions("broker.create_sub_account", name, { narrow = "not_done" })))
    assert.same({ "narrow broad", "done", false }, { questions("broker.create_sub_account", name,
      { narrow = "doubt", broad = "done" }) })
  end)

  it("do not end with the plain one but for what is done, unless nothing can be hidden", function()
    for _, outcome in ipairs { "undecided", "not_done", "doubt" } do
      local words, answer, doubted = questions("sub_account.transfer", transfer, { plain = outcome, broad = "done" })
      assert.same({ "narrow plain broad", "done", false }, { words, answer, doubted }, outcome)
    end
  end)

  -- The questions of a call that the plain one does not show, where these known calls are shown at their time.
  local function after_plain(known, last, incomplete)
    return (questions("wallet.transfer", move, { plain = "not_done" }, { reading = function(service)
      local records = {}
      for i, sent in ipairs(known) do records[i] = known_record(service, sent, sent) end
      return { records = records, last = NOW + (last or HOUR), incomplete = incomplete }
    end }))
  end

  it("end with the plain one where known calls before and after the call are shown", function()
    assert.equal("narrow plain", after_plain { -6000, 14000 })
    for _, known in ipairs { { -5999, 14000 }, { -6000, 13999 }, { -6000 }, { 14000 }, {} } do
      assert.equal("narrow plain broad", after_plain(known))
    end
    assert.equal("narrow plain broad", after_plain({ -6000, 14000 }, HOUR, "it turns no pages"))
  end)

  it("end with the plain one where one before is shown, and nothing after the call can be hidden", function()
    assert.equal("narrow plain", after_plain({ -6000 }, 14000 + ASKED))
    assert.equal("narrow plain broad", after_plain({ -6000 }, 14000 + ASKED - 1))
  end)

  it("are two for a list that has no time, and one where a reading is shared, early", function()
    assert.equal("narrow broad", (questions("broker.create_sub_account", { subAccount = "Desk0001" }, {})))
    local shared = { readings = readings.new() }
    assert.equal("plain broad", (questions("wallet.transfer", move, {}, shared)))
    shared.now = NOW + 10
    assert.equal("broad", (questions("wallet.transfer", move, {}, shared)))
  end)

  it("end with an error", function()
    local failure = errors.new { kind = "transport", outcome = "unknown", message = "lost" }
    assert.same({ "narrow", "lost", false }, { questions("sub_account.transfer", transfer, { narrow = failure }) })
    assert.same({ "narrow plain", "lost", false }, { questions("sub_account.transfer", transfer, { plain = failure }) })
  end)
end)

describe("what a reading proves", function()
  -- Whether a record some hours away may be the call's, where these known calls are shown; each { sent, shown }.
  local function shift_of(known, fields, incomplete)
    local look, service = look_at("wallet.transfer", move, {}, fields)
    local reading = { records = {}, first = NOW - HOUR, last = NOW + HOUR, incomplete = incomplete }
    for i, case in ipairs(known) do reading.records[i] = known_record(service, case[1], case[2]) end
    for name, value in pairs(fields and fields.reading or {}) do reading[name] = value end
    look.reading = reading
    return look:shift_of({ timestamp = NOW - 8 * HOUR }, reading, {}), look
  end

  it("is nothing where it shows no known call", function()
    assert.equal(-8 * HOUR, shift_of {})
    assert.is_nil(shift_of { { -30000, -30000 } }) -- one that is shown at its time
  end)

  it("is that a record cannot be elsewhere, where known calls are shown before and after", function()
    local _, look = shift_of { { -20000, -20000 }, { 20000, 20000 } }
    assert.is_nil(look:misplaced())
    assert.is_nil((shift_of({ { -20000, -20000 }, { 20000, 20000 } })))
  end)

  it("is that times are shown wrong, where a known call is shown at another", function()
    local _, look = shift_of { { -20000, -20000 + 30000 } }
    assert.equal("k-20000", look:misplaced().tranId)
    _, look = shift_of { { -20000, -20000 - 6000 } }
    assert.is_nil(look:misplaced())
    _, look = shift_of { { -20000, -20000 - 6001 } }
    assert.equal("k-20000", look:misplaced().tranId)
    _, look = shift_of { { -20000, -20000 + 11000 } }
    assert.is_nil(look:misplaced())
    _, look = shift_of { { -20000, -20000 + 11001 } }
    assert.equal("k-20000", look:misplaced().tranId)
  end)
end)

describe("a record some hours from the call", function()
  -- By how much the history is shifted if the record is the call's, where another is shown at `newest`.
  local function shift_of(at, newest, claimed)
    local look = look_at("wallet.transfer", move)
    local reading = { records = { { tranId = "k", timestamp = newest } }, first = NOW - DAY, last = NOW + DAY }
    look.reading = reading
    return (look:shift_of({ timestamp = at }, reading, claimed or {}))
  end

  it("may be the call's where nothing would then be of the future, by any clock", function()
    local newest = NOW + 60000 + 6000 - 8 * HOUR
    assert.equal(-8 * HOUR, shift_of(NOW - 8 * HOUR, newest))
    assert.is_nil(shift_of(NOW - 8 * HOUR, newest + 1))
  end)

  it("is not the call's where a record of an equal call is shown at its time", function()
    assert.equal(8 * HOUR, shift_of(NOW + 8 * HOUR, NOW - 30000))
    assert.is_nil(shift_of(NOW + 8 * HOUR, NOW - 30000, { k = NOW - 30000 }))
    local look, service = look_at("wallet.transfer", move)
    local reading = { records = { known_record(service, -30000, -30000) }, first = NOW - DAY, last = NOW + DAY }
    look.reading = reading
    assert.is_nil((look:shift_of({ timestamp = NOW + 8 * HOUR }, reading, {})))
  end)

  it("shows nothing of other calls where only a state counts", function()
    assert.is_nil(look_at("wallet.cancel_withdrawal", { id = "w1" }):misplaced())
  end)
end)

describe("how long ago a call may have been made", function()
  local function is_out(operation, days, hours)
    local look = look_at(operation, {}, {}, { now = NOW + days * DAY + (hours or 0) * HOUR })
    return look:is_out_of_reach()
  end

  it("is what its history shows, less the hours by which it may be shifted", function()
    for operation, days in pairs { ["wallet.withdraw"] = 90, ["wallet.transfer"] = 180, ["broker.transfer"] = 7 } do
      assert.is_false(is_out(operation, days, -39), operation)
      assert.is_true(is_out(operation, days, -38.99), operation)
    end
  end)

  it("is without an end where a list has no time, or where only a state counts", function()
    for _, operation in ipairs { "broker.create_api_key", "wallet.cancel_withdrawal", "broker.enable_futures",
      "broker.create_sub_account" } do
      assert.is_false(is_out(operation, 9999), operation)
    end
  end)
end)

describe("other calls", function()
  it("are those of all operations whose records are in one history", function()
    local known = recent_calls.new()
    for _, operation in ipairs { "wallet.withdraw_legacy", "broker.withdraw", "wallet.convert" } do
      recent_calls.note(known, operations.by_name[operation], { operation = operation, sent_at = NOW,
        recv_window = 5000, params = { coin = "USDT", asset = "USDT", address = "T", amount = "2" } })
    end
    local look, names = look_at("wallet.withdraw", {}, {}, { recent_calls = known }), {}
    for _, other in ipairs(assert(look:other_calls())) do names[other.intent.operation] = true end
    assert.same({ ["wallet.withdraw_legacy"] = true, ["broker.withdraw"] = true }, names)
  end)

  it("are an error where the journal cannot be read, and so are equal ones", function()
    local function fails() return nil, "disk I/O error" end
    local look = look_at("wallet.transfer", move, {}, { journal = { equal_calls = fails, other_calls = fails,
      known_records = fails } })
    look.intent.id = "i"
    look.reading = { records = {}, first = NOW, last = NOW }
    for _, name in ipairs { "equal_calls", "other_calls", "misplaced" } do
      local found, err = look[name](look)
      assert.is_nil(found)
      assert.same({ "config", "journal", "unknown" }, { err.kind, err.phase, err.outcome })
      assert.matches("disk I/O error", err.message)
    end
    look.plain = true
    assert.is_false(look:has_forgotten_calls())
  end)

  it("may have been forgotten by a client, and by no journal that has the call", function()
    local known = recent_calls.new()
    known.forgotten_to = NOW
    assert.is_true(look_at("wallet.transfer", move, {}, { recent_calls = known }):has_forgotten_calls())
    local look = look_at("wallet.transfer", move, {}, { recent_calls = known, journal = {} })
    assert.is_true(look:has_forgotten_calls()) -- it is none of the journal's
    look.intent.id = "i"
    assert.is_false(look:has_forgotten_calls())
  end)
end)
