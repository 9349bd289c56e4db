-- SPDX-License-Identifier: MIT
-- Payouts with a journal that lacks what was sent: nothing is paid twice, because the service is asked first.

local at = require "payouts_setting"
local files = require "files"
local history_check = require "purser.desk.payouts.history_check"
local json = require "purser.json"
local private = require "purser.client.util.private"
local schedule = require "purser.schedule"

before_each(at.begin)
after_each(at.finish)

local HISTORY = "sub_account.transfer_history"

-- The first and the last moment that a request asks for.
local function bounds(request)
  return tonumber(request.target:match "startTime=(%d+)"), tonumber(request.target:match "endTime=(%d+)")
end

-- A client whose answers to an operation are changed by `change(response, request)`.
local function client_shown(operation, change)
  return at.client_with { transport = at.transport(function(request, inner)
    local response, failure = inner:send(request)
    if response and request.operation == operation then change(response, request) end
    return response, failure
  end) }
end

local function applied(operation) return at.counted(operation or at.TRANSFER, "applied") end

describe("a history that counts its bounds in whole days", function()
  local DAY = 86400000

  -- Leaves out of an answer what such a history hides.
  local function hide(answer, request)
    local first, last = bounds(request)
    first, last = math.ceil(first / DAY) * DAY, math.floor(last / DAY) * DAY
    local shown = {}
    for record in answer.body:gmatch "%b{}" do
      local made = tonumber(record:match '"timestamp":(%d+)')
      if made >= first and made <= last then shown[#shown + 1] = record end
    end
    answer.body = "[" .. table.concat(shown, ",") .. "]"
  end

  for _, days in ipairs { 0, 28, 29, 30, 31, 32, 33, 59, 60, 61, 62 } do
    it(("hides no payment that was made %d days ago"):format(days), function()
      at.sim:advance(DAY - at.sim:now() % DAY + 3600000)
      assert.equal(1, at.pay(1, 1).done)
      at.lose_journal()
      if days > 0 then at.sim:advance(days * DAY) end
      at.client = client_shown(HISTORY, hide)
      at.pay(1, 1)
      assert.equal(1, applied())
    end)
  end
end)

describe("a wait by a client's clock", function()
  it("lets other tasks go on while the transport blocks, and ends with the run", function()
    local turns, run = 0, { slept = 0 }
    run.client = { sleep = function(_, ms) run.slept = run.slept + ms end }
    schedule.run(function()
      local wait = schedule.spawn(history_check.sleep, run, 5500)
      repeat
        turns = turns + 1
        schedule.sleep(0)
      until wait.done
    end)
    assert.same({ 5500, true }, { run.slept, turns > 5 })
    for _, name in ipairs { "stopping", "problem" } do
      history_check.sleep({ client = run.client, [name] = true }, 1000)
    end
    assert.equal(5500, run.slept)
  end)
end)

describe("two records with the id of one payment", function()
  it("are no reason to pay it again, where the later one failed", function()
    assert.equal(1, at.pay(1, 1).done)
    local id = assert(at.payouts_with():find "invoice-1").params.clientTranId
    at.lose_journal()
    at.sim:advance(100 * 3600000) -- so long that a look at the time of the later one does not show the first
    local made = at.sim:now() - 3600000
    local failed = ('{"tranId":"99","clientTranId":"%s","asset":"USDT","amount":"1","status":"FAILED","timestamp":%d}')
      :format(id, made)
    at.client = client_shown(HISTORY, function(answer, request)
      local first, last = bounds(request)
      if made < first or made > last then return end
      assert.matches("^%[", answer.body)
      local rest = request.target:find "page=1&" and answer.body:sub(2) or "]"
      if request.target:find "page=1&" then answer.body = "[" .. failed .. (rest == "]" and "" or ",") .. rest end
    end)
    assert.equal(1, at.pay(1, 1).done)
    assert.equal(1, applied())
  end)
end)

describe("payments that the journal does not know to be made", function()
  it("are found and not sent again when the journal was lost", function()
    assert.equal(10, at.pay(1, 10).done)
    at.lose_journal()
    local report = at.pay(1, 12)
    assert.same({ 12, 0 }, { report.done, report.undecided })
    assert.equal(12, applied())
    assert.is_not_nil(assert(at.payouts_with():list "done")[1].record_id)
  end)

  it("are found when an older copy of the journal was put back, those added again as well", function()
    at.add(at.payouts_with(), 1, 4)
    at.keep_copy()
    assert.equal(8, at.pay(5, 8).done)
    at.put_back()
    assert.equal(8, at.pay(1, 8).done)
    assert.equal(8, applied())
  end)

  it("count in a spending limit at the time of their records", function()
    local DAY = 86400000
    local function run(first, last)
      at.client = at.client_with { guard = { spending_limit = { USDT = { amount = "3", period_ms = DAY } } } }
      at.pay(first, last)
      return assert(at.payouts_with():find("invoice-" .. last)).state
    end
    at.sim:advance(DAY - at.sim:now() % DAY)
    assert.equal("done", run(2, 2))
    at.lose_journal()
    at.sim:advance(3600000)
    assert.equal("done", run(2, 2))
    assert.equal("waiting", run(3, 3)) -- for the next period
    at.lose_journal()
    at.sim:advance(DAY)
    assert.equal("done", run(2, 3))
  end)

  it("are found when they are added while the program goes on", function()
    assert.equal(3, at.pay(1, 3).done)
    at.lose_journal()
    local payouts = at.payouts_with()
    at.add(payouts, 4, 4)
    assert.equal(1, assert(payouts:run()).done)
    at.add(payouts, 1, 3)
    assert.equal(4, assert(payouts:run()).done)
    assert.equal(4, applied())
  end)

  it("are never sent again when the history shows their ids otherwise: done in capitals, else undecided", function()
    local spellings = { { string.upper, "done" }, { function(id) return " " .. id .. " " end, "undecided" },
      { function(id) return id:sub(1, 20) end, "undecided" } }
    assert.equal(3, at.pay(1, 3).done)
    for _, case in ipairs(spellings) do
      local spell, word = case[1], case[2]
      at.lose_journal()
      at.client = client_shown(HISTORY, function(response)
        response.body = response.body:gsub('("clientTranId":%s*)"([^"]*)"', function(name, id)
          return name .. '"' .. spell(id) .. '"'
        end)
      end)
      assert.equal(3, at.pay(1, 3)[word])
      assert.equal(3, applied())
    end
  end)

  it("are found when the history filters by the clock of another zone", function()
    assert.equal(3, at.pay(1, 3).done)
    local made = assert(at.client.sub_account:transfer_history { fromAccountType = "SPOT", toAccountType = "SPOT",
      toAccount = "tradingdesk1" })
    assert.equal(3, #made)
    for _, hours in ipairs { -12, -8, 8, 14 } do
      at.lose_journal()
      local by = hours * 3600000
      at.client = client_shown(HISTORY, function(response, request)
        local first, last = bounds(request)
        local kept = {}
        for _, record in ipairs(request.target:find("&page=1&", 1, true) and made or {}) do
          if record.timestamp >= first + by and record.timestamp <= last + by then kept[#kept + 1] = record end
        end
        response.body = json.encode(json.list(kept))
      end)
      assert.equal(3, at.pay(1, 3).done, hours)
      assert.equal(3, applied(), hours)
    end
  end)

  it("are undecided when the record of their id shows other content", function()
    assert.equal(1, at.pay(1, 1).done)
    at.lose_journal()
    local payouts = at.payouts_with()
    assert(payouts:add("invoice-1", at.TRANSFER, at.move "77"))
    local report = assert(payouts:run())
    assert.equal(1, report.undecided)
    assert.matches("carries its id", report.undecided_payments[1].message)
    assert.equal(1, applied())
  end)

  it("are waited for as long as a request sent just before may need to be visible", function()
    local payouts = at.payouts_with()
    at.add(payouts, 1, 1)
    local held
    private.states[at.client]._transport = at.transport(function(request, inner)
      if request.operation ~= at.TRANSFER then return inner:send(request) end
      held = request -- it is under way when the program is killed
      at.journal:close()
      error "killed"
    end)
    assert.is_nil(payouts:run())
    files.remove_database(at.path)
    at.open()
    payouts = at.payouts_with()
    at.add(payouts, 1, 1)
    local slow = at.sim:transport()
    private.states[at.client]._transport = { send = function(_, request) return slow:send(request) end,
      sleep = function(_, ms)
        slow:sleep(ms)
        if held and ms > 100 then
          slow:send(held)
          held = nil
        end
      end }
    assert.equal(1, assert(payouts:run()).done)
    assert.equal(1, applied())
  end)

  it("without ids are undecided when a record is equal that no known call has made, and paid when a person says so",
    function()
      local payouts = at.payouts_with()
      assert(payouts:add("c", "wallet.transfer", at.own "5"))
      assert(payouts:add("d", "wallet.transfer", at.own "6"))
      assert.equal(2, assert(payouts:run()).done)
      assert(payouts:add("e", "wallet.transfer", at.own "5"))
      assert.equal(3, assert(payouts:run()).done) -- both records are those of known payments
      at.lose_journal()
      payouts = at.payouts_with()
      assert(payouts:add("d", "wallet.transfer", at.own "6"))
      assert(payouts:add("new", "wallet.transfer", at.own "7"))
      local report = assert(payouts:run())
      assert.same({ 1, 1 }, { report.done, report.undecided })
      assert.matches("^similar: .*: .- shows %S+ of %d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d+Z",
        report.undecided_payments[1].message)
      assert.equal(4, applied "wallet.transfer")
      assert.is_true(payouts:retry "d")
      assert.equal(1, assert(payouts:run()).undecided) -- looked for once more
      assert.is_true(payouts:retry("d", { force = true }))
      assert.equal(2, assert(payouts:run()).done)
      assert.equal(5, applied "wallet.transfer")
    end)

  it("name three of the records that may be theirs, and the number of the others", function()
    local other = at.client_with { journal = false }
    for _ = 1, 5 do assert(other:call("wallet.transfer", at.own "8")) end
    local payouts = at.payouts_with()
    assert(payouts:add("a", "wallet.transfer", at.own "8"))
    local message = assert(payouts:run()).undecided_payments[1].message
    assert.equal(3, select(2, message:gsub("%S+ of %d%d%d%d%-%d%d", "")))
    assert.matches(" and 2 more$", message)
  end)

  it("without ids are undecided when a record may be theirs, however its amount or its asset is shown", function()
    assert(at.payouts_with():add("c", "wallet.transfer", at.own "9.999"))
    assert.equal(1, assert(at.payouts_with():run()).done)
    for _, shown in ipairs { { '"9.999"', '"10.00"' }, { '"9.999"', '"9"' }, { '"9.999"', "null" },
      { '"USDT"', "null" }, { '"USDT"', '"usdt"' } } do
      at.lose_journal()
      local changes = 0
      at.client = client_shown("wallet.transfer_history", function(response)
        local count
        response.body, count = response.body:gsub(shown[1], shown[2])
        changes = changes + count
      end)
      assert(at.payouts_with():add("c", "wallet.transfer", at.own "9.999"))
      assert.equal(1, assert(at.payouts_with():run()).undecided, shown[2])
      assert.is_true(changes > 0)
      assert.equal(1, applied "wallet.transfer")
    end
  end)

  it("without ids are not undecided by a record whose call ends while the worker looks", function()
    local payouts = at.payouts_with { worker = "two", concurrency = 1 }
    assert(payouts:add("c", "wallet.transfer", at.own "5"))
    assert(payouts:add("d", "wallet.transfer", at.own "5"))
    private.states[at.client]._transport = at.transport(function(request, inner)
      local response = inner:send(request)
      if request.operation ~= "wallet.transfer" then return response end
      at.journal:close()
      error "killed"
    end)
    assert.is_nil(payouts:run())
    at.open()
    local history = assert(at.client.wallet:transfer_history { fromAccountType = "SPOT", toAccountType = "FUTURES" })
    local record = history.rows[1]
    local db, owners, is_over = at.journal.db, at.journal.owners, false
    function at.journal.owners(...)
      local found, message = owners(...)
      if not is_over then
        is_over = true
        assert(db:rows("UPDATE purser_calls SET state = 'done', stage = 'done', record_id = $1 WHERE stage = 'sent'",
          record.tranId))
      end
      return found, message
    end
    local report = assert(at.payouts_with { worker = "one" }:run())
    assert.is_true(is_over)
    assert.same({ 2, 0 }, { report.done, report.undecided })
    assert.equal(2, applied "wallet.transfer")
  end)

  it("without ids stay undecided as many as there are records of equal ones, and no more", function()
    local function pay(first, last)
      local payouts = at.payouts_with { concurrency = 1 }
      for i = first, last do assert(payouts:add("rent-" .. i, "wallet.transfer", at.own "7")) end
      return assert(payouts:run())
    end
    assert.equal(0, pay(1, 2).undecided)
    at.lose_journal()
    local report = pay(1, 5)
    assert.same({ 3, 2 }, { report.done, report.undecided })
    assert.equal(5, applied "wallet.transfer")
    for _, payment in ipairs(report.undecided_payments) do assert.is_true(at.payouts_with():retry(payment.key)) end
    report = pay(6, 5)
    assert.same({ 3, 2 }, { report.done, report.undecided })
    assert.equal(5, applied "wallet.transfer")
  end)

  it("are blocked when the service does not know the account that their history is asked for", function()
    local payouts = at.payouts_with { concurrency = 1 }
    assert(payouts:add("a", at.TRANSFER, at.move("1", { toAccount = "nobody01" })))
    at.add(payouts, 1, 2)
    local report = assert(payouts:run())
    assert.same({ 2, 1 }, { report.done, report.blocked })
    assert.matches("nobody01", report.blocked_payments[1].message)
    assert(at.sim:account { name = "nobody01", role = "sub", parent = at.account.uid })
    assert.equal(3, assert(payouts:run()).done)
  end)

  it("are not sent where the history shows fewer records than it counts, and the run ends", function()
    assert(at.client.wallet:transfer(at.own "7"))
    at.client = client_shown("wallet.transfer_history", function(answer)
      answer.body = answer.body:gsub('"total":1', '"total":9')
    end)
    local payouts, looks = nil, 0
    payouts = at.payouts_with { progress_ms = 1, progress = function()
      looks = looks + 1
      if looks == 500 then payouts:stop() end
    end }
    assert(payouts:add("a", "wallet.transfer", at.own "5"))
    local report, err = payouts:run()
    assert.is_nil(report)
    assert.same({ "payouts.history", "not_sent" }, { err.code, err.outcome })
    assert.same({ 1, "taken" }, { at.counted("wallet.transfer", "received"), assert(payouts:find "a").state })
  end)

  it("are not sent while the history cannot be read, and are blocked", function()
    local payouts = at.payouts_with()
    at.add(payouts, 1, 3)
    at.sim:fault { kind = "reject", operation = HISTORY, times = 1000 }
    local report = assert(payouts:run())
    assert.equal(3, report.blocked)
    assert.matches("; compare the values .*; make the history readable", report.blocked_payments[1].message)
    assert.equal(0, at.counted(at.TRANSFER, "received"))
    at.sim:disarm()
    assert.equal(3, assert(payouts:run()).done)
  end)

  it("are looked for again after a read that failed; ten rejections in a row block them", function()
    for times, is_paid in pairs { [9] = true, [10] = false } do
      local payouts = at.payouts_with { queue = "q" .. times }
      at.add(payouts, 1, 1)
      at.sim:fault { kind = "reject", operation = HISTORY, times = times }
      local report, err = payouts:run()
      at.sim:disarm()
      assert.equal(is_paid, report ~= nil and report.done == 1, tostring(err))
      at.lose_journal()
    end
    local failures, payouts = 0, at.payouts_with { queue = "third" }
    private.states[at.client]._transport = at.transport(function(request, inner)
      if request.method == "GET" and failures < 60 then -- a read is made five times before it fails
        failures = failures + 1
        return nil, { kind = "transport", outcome = "unknown", message = "lost" }
      end
      return inner:send(request)
    end)
    -- of another amount: of the one that nobody knows any more the history shows an id, which no witness proves another
    assert(payouts:add("other", at.TRANSFER, at.move "70"))
    assert.equal(1, assert(payouts:run()).done)
    assert.equal(60, failures)
  end)

  it("are paid twice where the check is switched off", function()
    assert.equal(2, at.pay(1, 2).done)
    at.lose_journal()
    assert.equal(2, at.pay(1, 2, { history_check = "never" }).done)
    assert.equal(4, applied())
  end)
end)

describe("the clock of a host", function()
  for name, ms in pairs { ["an hour ahead"] = 3600000, ["an hour behind"] = -3600000 } do
    it(name .. " does not make the wait for earlier calls longer", function()
      at.client = at.client_with { clock = function() return at.sim:now() + ms end }
      local began = at.sim:now()
      assert.equal(2, at.pay(1, 2).done)
      assert.is_true(at.sim:now() - began < 120000, at.sim:now() - began)
    end)
  end
end)
