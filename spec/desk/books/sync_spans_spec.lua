-- SPDX-License-Identifier: MIT
-- Spans that a list is asked for, from a client that only writes down what it is asked; and when an owner is due.

local books_world = require "books_world"
local files = require "files"
local sync = require "purser.desk.books.sync"

local MINUTE, HOUR, DAY = 60000, 3600000, 86400000
local WEEK = math.floor(6.9 * DAY)
local START = 1700006400000 -- a midnight

describe("A list of the books", function()
  local books, now, asked, answers, list, owner

  -- Returns a client at `now` that shows `answers`: records of a walk, or what one call answers.
  local function client()
    return { now = function() return now end,
      each = function(_, operation, params)
        asked[#asked + 1] = { operation, params.from and params.from - now, params.to and params.to - now }
        local at = 0
        return { next = function()
          at = at + 1
          if answers.err then return nil, answers.err end
          return answers[at]
        end }
      end,
      call = function(_, operation, params)
        asked[#asked + 1] = { "call " .. operation, params.startTime and params.startTime - now,
          params.endTime and params.endTime - now, params.limit }
        if answers.err then return nil, answers.err end
        return answers
      end }
  end

  before_each(function()
    books, now, asked, answers = books_world.open(books_world.new { subs = 0 }), START, {}, {}
    books.problems, books.unreached = {}, 0
    owner = { name = "Main", is_main = true }
    list = { list = "deposit", entity = "deposit", operation = "walk", reach = 90 * DAY, back = WEEK,
      client = client() }
  end)
  after_each(function()
    books:close()
    files.remove_kept()
  end)

  -- Reads the list after so long. Returns whether it could, and what was asked: operation, from and to by now.
  local function read(after)
    now, asked = now + (after or 0), {}
    local result = { changes = 0 }
    return sync.read_list(books, owner, list, result), asked, result
  end

  local function deposit(time, status)
    return { coin = "USDT", network = "TRX", address = "T1", amount = "5", insertTime = time, status = status or 5,
      txId = ("%d"):format(time) }
  end

  local function source()
    return books.store:rows "SELECT owner, list, read_to, read_from FROM purser_books_source"[1]
  end

  local function gaps()
    local texts = {}
    for i, row in ipairs(books.store:rows "SELECT starts, ends, why, closed_rev FROM purser_books_gap ORDER BY rev") do
      texts[i] = ("%s-%s %s%s"):format(row.starts ~= "" and tonumber(row.starts) - now or "",
        row.ends ~= "" and tonumber(row.ends) - now or "", row.why, row.closed_rev ~= "" and " closed" or "")
    end
    return texts
  end

  it("is read first as far back as the service shows, or the user says, then what was young before", function()
    assert.same({ true, { { "walk", -90 * DAY + 5 * MINUTE, 0 } }, { changes = 0, is_read = true } }, { read() })
    assert.same({ owner = "Main", list = "deposit", read_to = ("%d"):format(START),
      read_from = ("%d"):format(START - 90 * DAY + 5 * MINUTE) }, source())
    assert.same({ { "walk", -WEEK, 0 } }, select(2, read(MINUTE)))
    list.list, list.back, books.since = "other", DAY, 3 * DAY
    assert.same({ { "walk", -3 * DAY, 0 } }, select(2, read()))
    assert.same({ { "walk", -DAY, 0 } }, select(2, read(MINUTE)))
    assert.same({ { "walk", -WEEK, 0 } }, select(2, read(3 * HOUR))) -- once in three hours
    assert.same({ { "walk", -DAY, 0 } }, select(2, read(MINUTE)))
    assert.same({ { "walk", -DAY, 0 } }, select(2, read(2 * HOUR + 56 * MINUTE))) -- a minute before the next time
    assert.same({ { "walk", -10 * DAY - WEEK + 6 * HOUR, 0 } }, select(2, read(10 * DAY))) -- what was young then
    list.list, list.reach, books.since = "third", nil, 1e15
    assert.same({ { "walk", -now, 0 } }, select(2, read()))
  end)

  it("is read once more around each older record that may still change, once in three hours", function()
    answers = { deposit(START - 20 * DAY, 4), deposit(START - 20 * DAY + HOUR, 4), deposit(START - 9 * DAY, 4),
      deposit(START - 8 * DAY, 5) }
    local _, _, result = read()
    assert.same({ 4, true }, { result.changes, result.is_open })
    assert.same({ { "walk", -WEEK, 0 } }, select(2, read(MINUTE)))
    assert.same({ { "walk", -20 * DAY - 3 * HOUR, -20 * DAY - 3 * HOUR + WEEK }, { "walk", -9 * DAY - 3 * HOUR,
      -WEEK - 1 }, { "walk", -WEEK, 0 } }, (function()
      answers = {}
      return select(2, read(3 * HOUR - MINUTE))
    end)())
  end)

  it("is read no further than the clock says behind the answer, whatever it said before", function()
    answers = setmetatable({ deposit(START - HOUR, 4) }, { __index = function(_, at)
      if at == 2 then now = now - 20 * HOUR end -- the service said what time it is
    end })
    assert.is_true((read(20 * HOUR)))
    assert.equal(START, now)
    assert.equal(("%d"):format(START), source().read_to)
    assert.equal(("%d"):format(START), books.store:rows "SELECT seen FROM purser_books_record"[1].seen)
    answers = { deposit(START - HOUR, 5) }
    assert.equal(1, select(3, read(MINUTE)).changes)
  end)

  it("has a gap where the service shows less than was missed; what leaves its reach is out of sight", function()
    answers = { deposit(START - DAY, 4) }
    read()
    answers = {}
    assert.same({ { "walk", -90 * DAY + 5 * MINUTE, 0 } }, select(2, read(100 * DAY)))
    assert.same({ ("%d-%d older than the service shows"):format(-100 * DAY, -90 * DAY + 5 * MINUTE) }, gaps())
    assert.equal("lost_sight", books.store:rows "SELECT class FROM purser_books_record"[1].class)
  end)

  it("keeps why it could not be read, once, and until it is read", function()
    answers = { err = { kind = "api", outcome = "rejected", message = "no" } }
    assert.is_false((read()))
    assert.is_false((read(MINUTE)))
    assert.same({ { owner = "Main", list = "deposit", message = "no", is_rejected = true }, 2 }, { books.problems[1],
      #books.problems })
    assert.same({ ("%d- no"):format(-90 * DAY + 4 * MINUTE) }, gaps())
    answers = {}
    assert.is_true((read(MINUTE)))
    assert.matches(" no closed$", gaps()[1])
    assert.equal(1, #gaps())
    answers = { err = { kind = "transport", message = "gone" } }
    for i = 1, 3 do
      local went, calls = read(MINUTE)
      assert.same({ false, 1, i }, { went, #calls, books.unreached })
    end
    assert.equal(0, #select(2, read(MINUTE))) -- nobody answers: it is asked no more
    assert.is_nil(books.problems[3].is_rejected or nil)
    books.unreached, answers = 0, {}
    read(MINUTE)
    assert.equal(0, books.unreached)
  end)

  it("of a state is asked without a span, and no more often than it says", function()
    list.is_state, list.every, list.entity, list.reach = true, DAY, "sub_account", nil
    assert.same({ { "walk" } }, select(2, read()))
    assert.same({}, select(2, read(DAY - 1)))
    assert.same({ { "walk" } }, select(2, read(1)))
    list.records, list.every, list.list = function() return { { subAccount = "a" } } end, nil, "own"
    local went, calls, result = read()
    assert.same({ true, 0, 1 }, { went, #calls, result.changes })
  end)

  it("of days alone is asked from a whole day", function()
    list.shows_days, list.entity, list.back, list.reach, books.since = true, "rebate", 2 * DAY, nil, 5 * DAY + HOUR
    assert.same({ { "walk", -7 * DAY, 0 } }, select(2, read()))
  end)

  it("is asked by the operation that a key may use", function()
    list.instead, list.is_one_answer = "other", true
    answers = { err = { kind = "api", outcome = "rejected", message = "no" } }
    local calls = select(2, read())
    assert.same({ { "call walk" }, { "call other" } }, calls)
    assert.same({ "other" }, { list.operation, list.instead })
    answers, list.is_lone, list.entity, list.is_state = { status = "1" }, true, "status", true
    local _, _, result = read()
    assert.equal(1, result.changes)
  end)

  it("is written a batch at a time, with how far it was read", function()
    answers = {}
    for i = 1, 4002 do answers[i] = deposit(START - 50 * DAY + i) end
    answers[4003] = deposit(START - 40 * DAY)
    local writes, inner = {}, books.store.apply
    books.store.apply = function(self, tx, batch, rev)
      writes[#writes + 1] = { #batch.rows, batch.from and tonumber(batch.from) - now, tonumber(batch.to) - now }
      return inner(self, tx, batch, rev)
    end
    read()
    assert.same({ { 0, -90 * DAY + 5 * MINUTE, -50 * DAY },
      { 4000, -50 * DAY + 1, -50 * DAY + 4000 }, { 2, -50 * DAY + 4001,
      -40 * DAY - 1 }, { 1, -40 * DAY, 0 } }, writes)
  end)
end)

describe("An owner of the books", function()
  after_each(files.remove_kept)

  it("is due soon while something is new, else after twice as long each time, and six hours at most", function()
    local world = books_world.new { subs = 0 }
    local books = books_world.open(world)
    local function next_after(ms)
      world.sim:advance(ms)
      local began = world.sim:now()
      assert(books:sync())
      local row = books.store:rows "SELECT due, every, hot_until FROM purser_books_owner"[1]
      assert.equal(began + tonumber(row.every), tonumber(row.due))
      return tonumber(row.every), tonumber(row.hot_until) > began
    end
    assert.same({ MINUTE, false }, { next_after(0) })
    local every, is_hot = next_after(DAY)
    assert.same({ 2 * MINUTE, false }, { every, is_hot })
    for _, expected in ipairs { 4, 8, 16, 32, 64, 128, 256, 360, 360 } do
      assert.equal(expected * MINUTE, (next_after(0)))
    end
    assert(world.sim:trade { account = "Acme", changes = { USDT = "-5" } })
    assert.same({ MINUTE, true }, { next_after(0) }) -- its balance moved
    books:close()
  end)

  it("has its balance kept where it moved, where records came, and once a day", function()
    local world = books_world.new { subs = 0 }
    local books = books_world.open(world)
    local function readings(ms)
      world.sim:advance(ms)
      assert(books:sync())
      return #books.store:rows "SELECT at FROM purser_books_reading"
    end
    assert.equal(1, readings(0))
    assert.equal(1, readings(MINUTE))
    assert(world.sim:trade { account = "Acme", changes = { USDT = "-5" } })
    assert.equal(2, readings(MINUTE))
    assert(world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = "5" })
    assert.equal(3, readings(0))
    assert.equal(4, readings(30 * MINUTE)) -- credited
    assert.equal(5, readings(DAY))
    local last = books.store:rows "SELECT owner, began, at, body FROM purser_books_reading ORDER BY at DESC LIMIT 1"[1]
    assert.same({ "Main", '{"BTC":["1","0"],"USDT":["1000","0"]}', true }, { last.owner, last.body,
      last.began <= last.at })
    books:close()
  end)
end)
