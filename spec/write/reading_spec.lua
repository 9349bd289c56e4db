-- SPDX-License-Identifier: MIT
-- Readings of a history that several looks share: which may serve which look, and what each asks for.

local core = require "purser.core"
local errors = require "purser.client.call.errors"
local operations = require "purser.client.operations"
local reading = require "purser.write.reading"
local own_calls = require "own_calls"
local purser = require "purser"
local reconcile = require "purser.write.reconcile"
local schedule = require "purser.schedule"

local NOW, HOUR, DAY = 1700000000000, 3600000, 86400000
local ID = ("Ab3"):rep(10) .. "Zz"
local TRANSFER = "sub_account.transfer"
local HISTORY = operations.by_name["sub_account.transfer_history"]
local HISTORY_OF_OWN = "wallet.transfer_history"
local transfer = { clientTranId = ID, fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "2" }

describe("a reading", function()
  local SENT, DEADLINE = NOW, NOW + 9000
  local monotonic_ms, now, machine, correction, asked, answer, shared = core.monotonic_ms

  before_each(function()
    now, machine, correction, asked, shared = NOW + 60000, 0, nil, {}, reading.share()
    answer = function() return {} end
    core.monotonic_ms = function() return machine end
  end)

  after_each(function() core.monotonic_ms = monotonic_ms end)

  local function look_of(fields)
    local look = { seen = { late = true, spelled = {} }, next = { newer_than = 0 }, poll_ms = 1000, deadline = DEADLINE,
      visible_ms = 9000, skew_ms = 5000, before = 6000,
      intent = { sent_at = SENT, params = {} }, earliest = function() return 0 end,
      reconcile = { time_member = "timestamp", lookup = HISTORY.full_name },
      service = { now = function() return now end, correction = function() return correction end,
        read = function(_, _, params)
          if params.page == 1 then -- a walk asks for a second more at either end
            asked[#asked + 1] = { params.startTime + 1000 - NOW, params.endTime - 1000 - NOW }
          end
          return answer(params)
        end } }
    for name, value in pairs(fields or {}) do look[name] = value end
    return look
  end

  -- Reads for a question of the call's own window, unless `first` and `last` say another.
  local function all(fields, first, last, wide)
    local question = look_of(fields)
    question.service.readings, question.first = shared, SENT - 6000
    local how = wide and "again" or question.seen.late and "wide" or "early"
    local shown, err = reading.of(question, how, first or SENT - 6000, last or DEADLINE + 5000)
    return shown and shown.records, err, shown and shown.incomplete
  end

  -- Returns how often the history is read for a second look, after `change`.
  local function read_again(change, fields, first, last)
    asked, shared, now, machine, correction = {}, reading.share(), NOW + 60000, 0, nil
    all()
    change()
    all(fields, first, last)
    return #asked - 1
  end

  local function pass(ms)
    return function() now, machine = now + ms, machine + ms end
  end

  it("has its records' times in milliseconds, where seconds are shown, and no time of another unit", function()
    for shown, expected in pairs { [1e9] = 1e12, [NOW / 1000] = NOW, [1e10 - 1] = 1e13 - 1000, [NOW] = NOW } do
      shared, answer = reading.share(), function() return { { tranId = "1", timestamp = shown } } end
      assert.equal(expected, all()[1].timestamp)
    end
    for _, shown in ipairs { 1e9 - 1, 1e10, NOW * 1000 } do
      shared, answer = reading.share(), function() return { { tranId = "1", timestamp = shown } } end
      assert.matches("make no sense", select(2, all()).message)
    end
  end)

  it("is searched by a call's id in any letters' case, and by the record's own id as it is", function()
    local one = { id = "r1", withdrawOrderId = "Pay-1" }
    local shown = { records = { one }, by_id = {} }
    assert.equal(one, reading.with_id(shown, "withdrawOrderId", "pay-1")[1])
    assert.same({}, reading.with_id(shown, "withdrawOrderId", "pay-2"))
    assert.equal(one, reading.with_id(shown, "record_id", "r1")[1])
    assert.same({}, reading.with_id(shown, "record_id", "R1"))
  end)

  it("serves a late look that asks for what it covers", function()
    assert.equal(0, read_again(pass(0)))
    assert.equal(0, read_again(pass(DAY)))
  end)

  it("serves no look for an earlier window", function()
    assert.equal(0, read_again(pass(0), nil, SENT - 66000)) -- each asks for a minute more
    assert.equal(1, read_again(pass(0), nil, SENT - 66001))
  end)

  it("serves no look at a record that had not to be visible when it began", function()
    assert.equal(0, read_again(pass(1), { deadline = NOW + 60000 }))
    assert.equal(1, read_again(pass(1), { deadline = NOW + 60001 }))
  end)

  it("serves no look after the clock was set right, or was set back", function()
    assert.equal(1, read_again(function() correction = 5 end))
    assert.equal(0, read_again(function() machine = machine + 1000 end))
    assert.equal(1, read_again(function() machine = machine + 1001 end))
  end)

  it("serves an early look only a moment after it began", function()
    for ms, again in pairs { [999] = 0, [1000] = 1 } do
      asked, shared, machine, now = {}, reading.share(), 0, NOW + 60000
      all { seen = { late = false, spelled = {} }, deadline = NOW + DAY }
      pass(ms)()
      all { seen = { late = false, spelled = {} }, deadline = NOW + DAY }
      assert.equal(again, #asked - 1)
    end
  end)

  it("that failed is made again", function()
    local failure = errors.new { kind = "transport", outcome = "unknown", message = "lost" }
    answer = function() return nil, failure end
    local records, err = all()
    assert.same({ nil, failure }, { records, err })
    answer = function(params) return params.page == 1 and { { tranId = "1", timestamp = NOW } } or {} end
    assert.equal(1, #all())
  end)

  it("that is not shown to be complete is shared only when three in a row were not", function()
    local page = {}
    for i = 1, 10 do page[i] = { tranId = tostring(i), timestamp = NOW } end
    answer = function() return page end -- it turns no pages
    for _ = 1, 3 do
      asked = {}
      assert.matches("turn its pages", select(3, all()))
      assert.is_true(#asked > 0)
    end
    asked = {}
    assert.matches("turn its pages", select(3, all()))
    assert.same({}, asked)
  end)

  it("is one for each question, narrow or wide", function()
    all()
    all(nil, nil, nil, true)
    all { reconcile = { time_member = "timestamp", lookup = HISTORY.full_name, copy_params = { "toAccount" } },
      intent = { sent_at = SENT, params = { toAccount = "Desk" } } }
    assert.equal(3, #asked)
    all()
    all(nil, nil, nil, true)
    assert.equal(3, #asked)
  end)

  it("asks for what was lost a while before and since, and for the hours to come where it is up to date", function()
    all()
    assert.same({ -66000 - 38 * HOUR, 60000 + 5000 + 38 * HOUR }, asked[1])
    now, shared, asked = NOW + 3 * HOUR, reading.share(), {}
    all()
    assert.same({ -66000 - 38 * HOUR, 14000 + 600000 + 5000 + 38 * HOUR }, asked[1])
    shared, asked = reading.share(), {}
    all { seen = { late = false, spelled = {} } }
    assert.same({ -66000, 14000 + 600000 + 5000 }, asked[1])
    shared, asked = reading.share(), {}
    all { visible_ms = 90000 }
    assert.same({ -96000 - 38 * HOUR, 14000 + 600000 + 5000 + 38 * HOUR }, asked[1])
  end)

  it("covers all calls that are expected, up to the time that they are looked for", function()
    shared = reading.share(NOW + 30000)
    shared:expect(NOW - HOUR)
    shared:expect(NOW)
    all()
    assert.same({ -HOUR - 66000 - 38 * HOUR, 30000 + 5000 + 38 * HOUR }, asked[1])
    all({ intent = { sent_at = NOW - HOUR, params = {} } }, NOW - HOUR - 6000, NOW - HOUR + 14000)
    assert.equal(1, #asked)
    all(nil, nil, nil, true)
    assert.same({ -HOUR - 66000 - 38 * HOUR, 30000 + 5000 + 38 * HOUR }, asked[2])
  end)

  it("asks for nothing before the history begins, unless the look itself does", function()
    all { earliest = function() return NOW - 50000 end }
    assert.equal(-50000, asked[1][1])
    shared, asked = reading.share(), {}
    all { earliest = function() return NOW - 1000 end }
    assert.equal(-6000, asked[1][1])
  end)

  it("reaches no farther than its question where farther takes too many requests", function()
    local number = 0
    answer = function(params)
      local list = {}
      for i = 1, params.startTime < NOW - 90 * HOUR and 100 or 0 do
        number = number + 1
        list[i] = { tranId = "t" .. number, clientTranId = "c" .. number, timestamp = params.startTime + number % 1000 }
      end
      return list
    end
    shared.signer = "of a client"
    assert.same({}, (all()))
    local records, err, incomplete = all(nil, SENT - 40 * HOUR, SENT - 39 * HOUR)
    assert.same({ {} }, { records, err, incomplete })
    assert.is_true(number > 10000)
  end)

  it("of a list without windows asks for none", function()
    local params = {}
    answer = function(given)
      params = given
      return {}
    end
    all({ reconcile = { time_member = "createTime", lookup = "broker.list_api_keys", copy_params = { "subAccount" } },
      intent = { sent_at = SENT, params = { subAccount = "Desk" } } }, 0, 0)
    assert.same({ subAccount = "Desk" }, params)
  end)

  it("is raised to the look whose read raised, and leaves no other waiting", function()
    answer = function() error("no memory", 0) end
    local ok, raised = pcall(all)
    assert.same({ false, "no memory" }, { ok, raised })
    answer = function() return {} end
    assert.same({}, (all()))
  end)
end)

describe("the spelling of a sub-account", function()
  it("is relied on for a minute", function()
    local shared, machine, monotonic_ms = reading.share(), 5, core.monotonic_ms
    core.monotonic_ms = function() return machine end
    finally(function() core.monotonic_ms = monotonic_ms end)
    local asked = 0
    local function spelling(name)
      return reading.spelling_of(function()
        asked = asked + 1
        return { { subAccount = "Desk" } }
      end, "sub_account.list_sub_accounts", name, shared)
    end
    for at, count in pairs { [5 + 59999] = 0, [5 + 60000] = 1 } do
      machine, shared.spelled = 5, {}
      assert.equal("Desk", spelling "Desk")
      machine, asked = at, 0
      assert.equal("Desk", spelling "Desk")
      assert.equal(count, math.min(asked, 1))
    end
    assert.equal("Desk", spelling "desk") -- in another case it is asked for
    assert.is_nil(shared.spelled.desk)
  end)
end)

describe("readings that many calls share", function()
  local now, records, turns_pages

  local function add(amount)
    local id = ("%032d"):format(#records)
    table.insert(records, 1, { tranId = id, clientTranId = "other" .. id, amount = amount or "7", asset = "USDT",
      fromAccountType = "SPOT", toAccountType = "SPOT", timestamp = now })
  end

  -- A service whose list gets one record more before its second page is shown, when `grows` says so.
  local function service_that(grows)
    now, records, turns_pages = NOW, {}, true
    add()
    now = now + HOUR
    return { now = function() return now end, correction = function() end, pause = function(_, ms) now = now + ms end,
      visibility_delay_ms = 3000, recv_window = 5000, journal = own_calls.new(), readings = reading.share(),
      read = function(_, _, asked)
        now = now + 50
        if asked.page == 2 and grows() then add "2" end
        local inside, page = {}, {}
        for _, record in ipairs(records) do
          if record.timestamp >= asked.startTime and record.timestamp <= asked.endTime then
            inside[#inside + 1] = record
          end
        end
        local from = turns_pages and (asked.page - 1) * asked.limit or 0
        for i = from + 1, math.min(#inside, from + asked.limit) do page[#page + 1] = inside[i] end
        return page
      end }
  end

  local function reconciled(service)
    return assert(reconcile.reconcile(service, { operation = TRANSFER, params = transfer, sent_at = now,
      recv_window = 5000 }))
  end

  it("decide by no list that grew while its pages were turned, however often it was read before", function()
    local grows = false
    local service = service_that(function()
      local was = grows
      grows = false
      return was
    end)
    own_calls.note(service.journal, operations.by_name[TRANSFER], { sent_at = NOW, recv_window = 5000, id = "known",
      params = { clientTranId = records[1].clientTranId, fromAccountType = "SPOT", toAccountType = "SPOT",
        asset = "USDT", amount = "7" } }, records[1].tranId)
    for _ = 1, 4 do assert.equal("not_done", reconciled(service).outcome) end
    grows = true
    local answer = reconciled(service)
    assert.equal("undecided", answer.outcome) -- by a record that no known call made; the reading is whole
    assert.matches("^similar: ", answer.reason)
    assert.equal(2, #records)
  end)

  it("are waited for without polling: a wait takes one turn of a task, and one reading serves all", function()
    local service, reads, pauses = service_that(function() return false end), 0, 0
    own_calls.note(service.journal, operations.by_name[TRANSFER], { sent_at = NOW, recv_window = 5000, id = "known",
      params = { clientTranId = records[1].clientTranId, fromAccountType = "SPOT", toAccountType = "SPOT",
        asset = "USDT", amount = "7" } }, records[1].tranId)
    local inner = service.read
    function service.read(...)
      reads = reads + 1
      schedule.sleep(2)
      return inner(...)
    end
    function service.pause() pauses = pauses + 1 end
    local sent_at, outcomes = now - 60000, {}
    local function look(number)
      return function()
        local params = { clientTranId = ID:sub(1, -3) .. "y" .. number, fromAccountType = "SPOT",
          toAccountType = "SPOT", asset = "USDT", amount = "2" }
        outcomes[number] = assert(reconcile.reconcile(service, { operation = TRANSFER, params = params,
          sent_at = sent_at - number, recv_window = 5000 })).outcome
      end
    end
    schedule.run(look(1))
    local reads_of_one = reads
    service.readings, reads = reading.share(), 0
    schedule.run(function() schedule.all { look(1), look(2), look(3), look(4) } end)
    assert.same({ "not_done", "not_done", "not_done", "not_done" }, outcomes)
    assert.equal(reads_of_one, reads)
    assert.equal(0, pauses)
  end)

  it("leave a call undecided when the list turns no pages", function()
    local service = service_that(function() return false end)
    turns_pages = false
    local answer = reconciled(service)
    assert.equal("undecided", answer.outcome)
    assert.matches("turn its pages", answer.reason)
  end)
end)

describe("a client's questions that follow one another", function()
  local sim, client, lost, keys, reads

  -- Loses the answer of a transfer, some time before the next.
  local function lose(apart_ms)
    sim:fault { kind = "lost_answer", operation = "wallet.transfer" }
    lost[#lost + 1] = select(2, client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES",
      asset = "USDT", amount = "1" })
    sim:advance(apart_ms or 600000)
  end

  before_each(function()
    sim, lost, reads = purser.sim.new { seed = 3, start_time = NOW }, {}, 0
    local account = assert(sim:account { role = "main", balances = { USDT = "1000" } })
    keys = { account.api_key, account.secret_key }
    client = assert(purser.new { base_url = "http://localhost", transport = sim:transport(), account = "treasury",
      clock = function() return sim:now() end, retry = false, rate_limit = false,
      credentials = function() return keys[1], keys[2] end,
      hooks = { before = function(event)
        reads = reads + (event.operation == HISTORY_OF_OWN and 1 or 0)
      end } })
    for _ = 1, 4 do lose() end
  end)

  local function reads_for(number)
    reads = 0
    assert.equal("done", assert(client:reconcile(lost[number])).outcome)
    return reads
  end

  it("are answered by the same two readings, which reach farther from the second question on", function()
    assert.same({ 2, 2, 0, 0 }, { reads_for(3), reads_for(2), reads_for(1), reads_for(4) })
  end)

  it("are answered by new readings where one is about a call that was asked about before, or lost since", function()
    assert.equal(2, reads_for(1))
    assert.equal(2, reads_for(1))
    lose(1)
    assert.equal(2, reads_for(5)) -- when its record must be visible
  end)

  it("are answered by new readings a minute later, and by those of another API key", function()
    assert.equal(2, reads_for(1))
    sim:advance(60001)
    assert.equal(2, reads_for(2))
    local other = assert(sim:account { role = "main" })
    keys = { other.api_key, other.secret_key }
    client.wallet:transfer(lost[1].intent.params, { key = "takes the new key" })
    reads = 0
    assert.equal("undecided", assert(client:reconcile(lost[3])).outcome)
    assert.equal(2, reads)
  end)
end)
