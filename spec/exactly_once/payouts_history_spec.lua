-- SPDX-License-Identifier: MIT
-- Payouts with a journal that lacks what was sent: nothing is paid twice, because the service is asked first.

local json = require "purser.json"
local private = require "purser.util.private"
local purser = require "purser"
local queue = require "purser.exactly_once.payouts.queue"
local schedule = require "purser.schedule"

local sim, account, path, journal, client

local TRANSFER = "sub_account.transfer"

local function move(amount, fields)
  local params = { toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = amount }
  for name, value in pairs(fields or {}) do params[name] = value end
  return params
end

local function own(amount)
  return { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = amount }
end

local function client_with(options)
  local all = { base_url = "http://localhost", api_key = account.api_key, secret_key = account.secret_key,
    transport = sim:transport(), clock = function() return sim:now() end, rate_limit = false, journal = journal,
    retry = { attempts = 5, base_ms = 1 }, account = "treasury" }
  for name, value in pairs(options or {}) do all[name] = value end
  return assert(purser.new(all))
end

local function payouts_with(options)
  local all = { client = client, journal = journal, retry_ms = 1, idle_ms = 1, worker = "one" }
  for name, value in pairs(options or {}) do all[name] = value end
  return assert(purser.payouts.new(all))
end

local suffixes = { "", "-wal", "-shm" }

local function remove(name)
  for _, suffix in ipairs(suffixes) do os.remove(name .. suffix) end
end

local function open()
  journal = assert(purser.journal.open { sqlite = path })
  client = client_with()
end

local function lose_journal()
  journal:close()
  remove(path)
  open()
end

-- A copy of the journal's file, as it is when nobody has it open.
local function copy(from, to)
  remove(to)
  local source = assert(io.open(from, "rb"))
  assert(os.execute(("umask 077 && : > '%s'"):format(to)))
  local target = assert(io.open(to, "wb"))
  target:write(source:read "*a")
  source:close()
  target:close()
end

local function counted(operation, word)
  local count = sim:counts()[operation]
  return count and count[word] or 0
end

before_each(function()
  path = os.tmpname()
  os.remove(path)
  -- an id that was used before is executed once more, so the service prevents nothing
  sim = purser.sim.new { seed = 5, repeated_ids = "execute" }
  account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "100000" },
    futures_balances = { USDT = "10" } })
  assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
  open()
end)

after_each(function()
  journal:close()
  for _, name in ipairs { path, path .. ".copy", path .. ".witness", path .. ".witness-copy" } do remove(name) end
  os.execute(("rm -f '%s'.witness-worker-*"):format(path))
end)

local function add(payouts, first, last)
  local list = {}
  for i = first, last do
    list[#list + 1] = { key = "invoice-" .. i, operation = TRANSFER, params = move(tostring(i)) }
  end
  assert(payouts:add_all(list))
end

describe("a history that counts its bounds in whole days", function()
  local DAY = 86400000

  -- A client whose sub_account.transfer_history leaves out what it so hides.
  local function client_by_days()
    local inner = sim:transport()
    return client_with { transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
      local answer, err = inner:send(request)
      if request.operation == "sub_account.transfer_history" then
        local first = math.ceil(tonumber(request.target:match "startTime=(%d+)") / DAY) * DAY
        local last = math.floor(tonumber(request.target:match "endTime=(%d+)") / DAY) * DAY
        local shown = {}
        for record in answer.body:gmatch "%b{}" do
          local at = tonumber(record:match '"timestamp":(%d+)')
          if at >= first and at <= last then shown[#shown + 1] = record end
        end
        answer.body = "[" .. table.concat(shown, ",") .. "]"
      end
      return answer, err
    end } }
  end

  for _, days in ipairs { 0, 28, 29, 30, 31, 32, 33, 59, 60, 61, 62 } do
    it(("hides no payment that was made %d days ago"):format(days), function()
      sim:advance(DAY - sim:now() % DAY + 3600000)
      add(payouts_with(), 1, 1)
      assert.equal(1, assert(payouts_with():run()).done)
      lose_journal()
      if days > 0 then sim:advance(days * DAY) end
      client = client_by_days()
      local payouts = payouts_with()
      add(payouts, 1, 1)
      assert(payouts:run())
      assert.equal(1, counted(TRANSFER, "applied"))
    end)
  end
end)

describe("two records with the id of one payment", function()
  it("are no reason to pay it again, where the later one failed", function()
    add(payouts_with(), 1, 1)
    assert.equal(1, assert(payouts_with():run()).done)
    local id = assert(payouts_with():find "invoice-1").params.clientTranId
    lose_journal()
    sim:advance(30 * 3600000)
    local at, inner = sim:now() - 3600000, sim:transport()
    local failed = ('{"tranId":"99","clientTranId":"%s","asset":"USDT","amount":"1","status":"FAILED","timestamp":%d}')
      :format(id, at)
    client = client_with { transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
      local answer, err = inner:send(request)
      local first = tonumber(request.target:match "startTime=(%d+)")
      local last = tonumber(request.target:match "endTime=(%d+)")
      if request.operation == "sub_account.transfer_history" and at >= first and at <= last then
        assert.matches("^%[", answer.body)
        local rest = request.target:find "page=1&" and answer.body:sub(2) or "]"
        if request.target:find "page=1&" then answer.body = "[" .. failed .. (rest == "]" and "" or ",") .. rest end
      end
      return answer, err
    end } }
    local payouts = payouts_with()
    add(payouts, 1, 1)
    assert.equal(1, assert(payouts:run()).done)
    assert.equal(1, counted(TRANSFER, "applied"))
  end)
end)

describe("the id of a payment", function()
  it("comes from account, queue and key, whatever the content and the journal", function()
    local function id_of(options, key, amount)
      client = client_with { account = options.account or "treasury" }
      local payouts = payouts_with { queue = options.queue }
      assert(payouts:add(key, TRANSFER, move(amount)))
      for _, payment in ipairs(assert(payouts:list())) do
        if payment.key == key then return payment.params.clientTranId end
      end
    end
    local id = id_of({}, "a", "1")
    assert.matches("^%w+$", id)
    assert.equal(32, #id)
    local others = { id_of({}, "b", "1"), id_of({ queue = "june" }, "a", "1"), id_of({ account = "second" }, "a", "1") }
    local seen = { [id] = true }
    for _, other in ipairs(others) do
      assert.is_nil(seen[other])
      seen[other] = true
    end
    lose_journal()
    assert.equal(id, id_of({}, "a", "2"))
  end)

  it("is not mistaken by names that run together", function()
    local function id_of(name, key)
      local payouts = payouts_with { queue = name }
      assert(payouts:add(key, TRANSFER, move "1"))
      return assert(payouts:list())[1].params.clientTranId
    end
    assert.are_not.equal(id_of("a", "1:bc"), id_of("a1:b", "c"))
  end)
end)

describe("payments that the journal does not know to be made", function()
  it("are found and not sent again when the journal was lost", function()
    local payouts = payouts_with()
    add(payouts, 1, 10)
    assert.equal(10, assert(payouts:run()).done)
    lose_journal()
    payouts = payouts_with()
    add(payouts, 1, 12)
    local report = assert(payouts:run())
    assert.same({ 12, 0 }, { report.done, report.undecided })
    assert.equal(12, counted(TRANSFER, "applied"))
    assert.is_not_nil(assert(payouts:list "done")[1].record_id)
  end)

  it("are found when an older copy of the journal was put back, those added again as well", function()
    local payouts = payouts_with()
    add(payouts, 1, 4)
    journal:close()
    copy(path, path .. ".copy")
    open()
    payouts = payouts_with()
    add(payouts, 5, 8)
    assert.equal(8, assert(payouts:run()).done)
    journal:close()
    copy(path .. ".copy", path)
    open()
    payouts = payouts_with()
    add(payouts, 1, 8)
    assert.equal(8, assert(payouts:run()).done)
    assert.equal(8, counted(TRANSFER, "applied"))
  end)

  it("are found when they are added while the program goes on", function()
    local payouts = payouts_with()
    add(payouts, 1, 3)
    assert.equal(3, assert(payouts:run()).done)
    lose_journal()
    payouts = payouts_with()
    add(payouts, 4, 4)
    assert.equal(1, assert(payouts:run()).done)
    add(payouts, 1, 3)
    assert.equal(4, assert(payouts:run()).done)
    assert.equal(4, counted(TRANSFER, "applied"))
  end)

  it("are undecided when the history shows their ids in another spelling, and never sent again", function()
    local spellings = { function(id) return id:upper() end, function(id) return " " .. id .. " " end,
      function(id) return id:sub(1, 20) end }
    add(payouts_with(), 1, 3)
    assert.equal(3, assert(payouts_with():run()).done)
    for _, spell in ipairs(spellings) do
      lose_journal()
      local inner = sim:transport()
      client = client_with { transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
        local response, failure = inner:send(request)
        if response and request.operation == "sub_account.transfer_history" then
          response.body = response.body:gsub('("clientTranId":%s*)"([^"]*)"', function(name, id)
            return name .. '"' .. spell(id) .. '"'
          end)
        end
        return response, failure
      end } }
      local payouts = payouts_with()
      add(payouts, 1, 3)
      assert.equal(3, assert(payouts:run()).undecided)
      assert.equal(3, counted(TRANSFER, "applied"))
    end
  end)

  it("are found when the history filters by the clock of another zone", function()
    add(payouts_with(), 1, 3)
    assert.equal(3, assert(payouts_with():run()).done)
    local made = assert(client.sub_account:transfer_history { fromAccountType = "SPOT", toAccountType = "SPOT",
      toAccount = "tradingdesk1" })
    assert.equal(3, #made)
    for _, hours in ipairs { -12, -8, 8, 14 } do
      lose_journal()
      local inner, by = sim:transport(), hours * 3600000
      client = client_with { transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
        local response, failure = inner:send(request)
        if response and request.operation == "sub_account.transfer_history" then
          local first = tonumber(request.target:match "startTime=(%d+)") + by
          local last = tonumber(request.target:match "endTime=(%d+)") + by
          local kept = {}
          for _, record in ipairs(request.target:find("&page=1&", 1, true) and made or {}) do
            if record.timestamp >= first and record.timestamp <= last then kept[#kept + 1] = record end
          end
          response.body = json.encode(json.list(kept))
        end
        return response, failure
      end } }
      local payouts = payouts_with()
      add(payouts, 1, 3)
      assert.equal(3, assert(payouts:run()).done, hours)
      assert.equal(3, counted(TRANSFER, "applied"), hours)
    end
  end)

  it("are undecided when the record of their id shows other content", function()
    local payouts = payouts_with()
    add(payouts, 1, 1)
    assert.equal(1, assert(payouts:run()).done)
    lose_journal()
    payouts = payouts_with()
    assert(payouts:add("invoice-1", TRANSFER, move "77"))
    local report = assert(payouts:run())
    assert.equal(1, report.undecided)
    assert.matches("carries its id", report.undecided_payments[1].message)
    assert.equal(1, counted(TRANSFER, "applied"))
  end)

  it("are waited for as long as a request sent just before may need to be visible", function()
    local payouts = payouts_with()
    add(payouts, 1, 1)
    local inner, held = sim:transport()
    private.states[client]._transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
      if request.operation ~= TRANSFER then return inner:send(request) end
      held = request -- it is under way when the program is killed
      journal:close()
      error "killed"
    end }
    assert.is_nil(payouts:run())
    remove(path)
    open()
    payouts = payouts_with()
    add(payouts, 1, 1)
    local slow = sim:transport()
    private.states[client]._transport = { send = function(_, request) return slow:send(request) end,
      sleep = function(_, ms)
        slow:sleep(ms)
        if held and ms > 100 then
          inner:send(held)
          held = nil
        end
      end }
    assert.equal(1, assert(payouts:run()).done)
    assert.equal(1, counted(TRANSFER, "applied"))
  end)

  it("without ids are undecided when a record is equal that no known call has made, and paid when a person says so",
    function()
      local payouts = payouts_with()
      assert(payouts:add("c", "wallet.transfer", own "5"))
      assert(payouts:add("d", "wallet.transfer", own "6"))
      assert.equal(2, assert(payouts:run()).done)
      assert(payouts:add("e", "wallet.transfer", own "5"))
      assert.equal(3, assert(payouts:run()).done) -- both records are those of known payments
      lose_journal()
      payouts = payouts_with()
      assert(payouts:add("d", "wallet.transfer", own "6"))
      assert(payouts:add("new", "wallet.transfer", own "7"))
      local report = assert(payouts:run())
      assert.same({ 1, 1 }, { report.done, report.undecided })
      assert.matches("equal content", report.undecided_payments[1].message)
      assert.equal(4, counted("wallet.transfer", "applied"))
      assert.is_true(payouts:retry "d")
      assert.equal(1, assert(payouts:run()).undecided) -- looked for once more
      assert.is_true(payouts:retry("d", { force = true }))
      assert.equal(2, assert(payouts:run()).done)
      assert.equal(5, counted("wallet.transfer", "applied"))
    end)

  it("without ids are undecided when a record may be theirs, however its amount or its asset is shown", function()
    assert(payouts_with():add("c", "wallet.transfer", own "9.999"))
    assert.equal(1, assert(payouts_with():run()).done)
    for _, shown in ipairs { { '"9.999"', '"10.00"' }, { '"9.999"', '"9"' }, { '"9.999"', "null" },
      { '"USDT"', "null" }, { '"USDT"', '"usdt"' } } do
      lose_journal()
      local inner, changes = sim:transport(), 0
      client = client_with { transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
        local response, failure = inner:send(request)
        if response and request.operation == "wallet.transfer_history" then
          local count
          response.body, count = response.body:gsub(shown[1], shown[2])
          changes = changes + count
        end
        return response, failure
      end } }
      assert(payouts_with():add("c", "wallet.transfer", own "9.999"))
      assert.equal(1, assert(payouts_with():run()).undecided, shown[2])
      assert.is_true(changes > 0)
      assert.equal(1, counted("wallet.transfer", "applied"))
    end
  end)

  it("without ids are not undecided by a record whose call ends while the worker looks", function()
    local payouts = payouts_with { worker = "two", concurrency = 1 }
    assert(payouts:add("c", "wallet.transfer", own "5"))
    assert(payouts:add("d", "wallet.transfer", own "5"))
    local inner = sim:transport()
    private.states[client]._transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
      local response = inner:send(request)
      if request.operation ~= "wallet.transfer" then return response end
      journal:close()
      error "killed"
    end }
    assert.is_nil(payouts:run())
    open()
    local history = assert(client.wallet:transfer_history { fromAccountType = "SPOT", toAccountType = "FUTURES" })
    local record = history.rows[1]
    local db, unclaimed, is_looked_at, is_over = journal.db, queue.unclaimed, false, false
    local transaction = db.transaction
    function queue.unclaimed(...)
      is_looked_at = true
      return unclaimed(...)
    end
    finally(function() queue.unclaimed = unclaimed end)
    local function end_first(result, second)
      if is_looked_at and not is_over then
        is_over = true
        assert(db:rows("UPDATE purser_intents SET state = 'done', record_id = $1", record.tranId))
        assert(db:rows("UPDATE purser_payments SET state = 'done', record_id = $1 WHERE state = 'sent'", record.tranId))
      end
      return result, second
    end
    function db.transaction(...) return end_first(transaction(...)) end
    local report = assert(payouts_with { worker = "one" }:run())
    assert.is_true(is_over)
    assert.same({ 2, 0 }, { report.done, report.undecided })
    assert.equal(2, counted("wallet.transfer", "applied"))
  end)

  it("without ids are paid where the user says that equal records are of no matter", function()
    assert(client.wallet:transfer(own "5"))
    lose_journal()
    local payouts = payouts_with { unidentified = "pay" }
    assert(payouts:add("c", "wallet.transfer", own "5"))
    assert.equal(1, assert(payouts:run()).done)
  end)

  it("are undecided when the service does not know the account that their history is asked for", function()
    local payouts = payouts_with()
    assert(payouts:add("a", TRANSFER, move("1", { toAccount = "nobody01" })))
    add(payouts, 1, 2)
    local report = assert(payouts:run())
    assert.same({ 2, 1 }, { report.done, report.undecided })
    assert.matches("nobody01", report.undecided_payments[1].message)
    assert(sim:account { name = "nobody01", role = "sub", parent = account.uid })
    assert.is_true(payouts:retry "a")
    assert.equal(3, assert(payouts:run()).done)
  end)

  it("are not sent while the history cannot be read, and the run says so", function()
    local payouts = payouts_with()
    add(payouts, 1, 3)
    sim:fault { kind = "reject", operation = "sub_account.transfer_history", times = 1000 }
    local report, err = payouts:run()
    assert.is_nil(report)
    assert.equal("payouts.history", err.code)
    assert.matches("history_check", err.hint, 1, true)
    assert.equal(0, counted(TRANSFER, "received"))
    sim:disarm()
    assert.equal(3, assert(payouts:run()).done)
  end)

  it("are paid twice where the check is switched off", function()
    local payouts = payouts_with()
    add(payouts, 1, 2)
    assert.equal(2, assert(payouts:run()).done)
    lose_journal()
    payouts = payouts_with { history_check = "never" }
    add(payouts, 1, 2)
    assert.equal(2, assert(payouts:run()).done)
    assert.equal(4, counted(TRANSFER, "applied"))
  end)
end)

describe("the check of the histories", function()
  local function looks() return counted("sub_account.transfer_history", "received") end

  it("is one walk for many payments, and none for a run that has nothing to do", function()
    local payouts = payouts_with()
    assert(payouts:run())
    assert.equal(0, looks())
    add(payouts, 1, 50)
    assert.equal(50, assert(payouts:run()).done)
    local first = looks()
    assert.is_true(first < 20, first .. " reads")
    add(payouts, 51, 60)
    assert.equal(60, assert(payouts:run()).done)
    assert.equal(first, looks()) -- this process has had the journal open all the time
  end)

  it("is made again when the connection to the journal was opened again", function()
    local payouts = payouts_with()
    add(payouts, 1, 2)
    assert(payouts:run())
    local first = looks()
    for _, statement in pairs(journal.db.statements) do statement:close() end -- SQLite closes no connection before them
    journal.db.handle:close()
    journal.db.handle, journal.db.statements = nil, {}
    add(payouts, 3, 3)
    assert(payouts:run())
    assert.is_true(looks() > first)
  end)
end)

describe("a witness file", function()
  local function witnessed(options)
    local all = { witness = path .. ".witness" }
    for name, value in pairs(options or {}) do all[name] = value end
    return payouts_with(all)
  end

  local function looks() return counted("sub_account.transfer_history", "received") end

  local function reopen()
    journal:close()
    open()
  end

  it("shows that the journal is the newest, and the next run neither walks nor rests", function()
    local payouts = witnessed()
    add(payouts, 1, 2)
    assert(payouts:run())
    local first = looks()
    assert.is_true(first > 0)
    reopen()
    payouts = witnessed()
    add(payouts, 3, 4)
    local before = sim:now()
    assert.equal(4, assert(payouts:run()).done)
    assert.equal(first, looks())
    assert.equal(before, sim:now())
  end)

  it("does not speak for a journal that was put back", function()
    local payouts = witnessed()
    add(payouts, 1, 2)
    assert(payouts:run())
    journal:close()
    copy(path, path .. ".copy")
    open()
    payouts = witnessed()
    add(payouts, 3, 5)
    assert(payouts:run())
    journal:close()
    copy(path .. ".copy", path)
    open()
    payouts = witnessed()
    add(payouts, 3, 5)
    assert.equal(5, assert(payouts:run()).done)
    assert.equal(5, counted(TRANSFER, "applied"))
    reopen() -- from then on it is the newest again
    local first = looks()
    payouts = witnessed()
    add(payouts, 6, 6)
    assert.equal(6, assert(payouts:run()).done)
    assert.equal(first, looks())
  end)

  it("keeps what the histories held for what is added later to a new journal", function()
    local payouts = witnessed()
    add(payouts, 1, 3)
    assert(payouts:run())
    lose_journal()
    payouts = witnessed()
    add(payouts, 4, 4)
    assert.equal(1, assert(payouts:run()).done)
    reopen()
    payouts = witnessed()
    add(payouts, 1, 3)
    assert.equal(4, assert(payouts:run()).done)
    assert.equal(4, counted(TRANSFER, "applied"))
  end)

  it("keeps no reading that began before the connection was opened again", function()
    local payouts = witnessed { concurrency = 2 }
    add(payouts, 1, 2)
    local inner, is_held, seen = sim:transport(), false, 0
    local other = assert(purser.new { base_url = "http://localhost", api_key = account.api_key,
      secret_key = account.secret_key, transport = sim:transport(), clock = function() return sim:now() end })
    local function kept()
      local rows = assert(payouts.witness_db:rows "SELECT content FROM purser_histories")
      return rows[1] and rows[1].content or ""
    end
    local function hold()
      is_held = true
      for _, statement in pairs(journal.db.statements) do statement:close() end
      journal.db.handle:close()
      journal.db.handle, journal.db.statements = nil, {}
      assert(journal.db:rows "SELECT 1")
      assert(other.sub_account:transfer(move("9", { clientTranId = ("somebody"):rep(4) })))
      while not kept():find("somebody", 1, true) and seen < 10000 do
        seen = seen + 1
        schedule.sleep(1)
      end
    end
    private.states[client]._transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
      local response, failure = inner:send(request)
      local is_last = tonumber(request.target:match "endTime=(%d+)" or 0) > sim:now()
      if request.operation == "sub_account.transfer_history" and is_last and not is_held then hold() end
      return response, failure
    end }
    assert.equal(2, assert(payouts:run()).done)
    assert.is_true(is_held and seen < 10000)
    assert.matches("somebody", kept(), 1, true)
  end)

  it("says nothing for a run that was killed, or while another worker runs", function()
    local payouts = witnessed { lease_ms = 200 }
    add(payouts, 1, 1)
    assert(payouts:run())
    local inner = sim:transport()
    private.states[client]._transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function()
      journal:close()
      error "killed"
    end }
    add(payouts, 2, 2)
    assert.is_nil(payouts:run())
    open()
    local first = looks()
    payouts = witnessed { worker = "two", lease_ms = 200 }
    add(payouts, 3, 3)
    assert(payouts:run())
    assert.is_true(looks() > first)
    assert.equal(3, assert(witnessed():run()).done)
    assert.equal(3, counted(TRANSFER, "applied"))
  end)

  -- Runs payment 2 and keeps its answer back while another run of the same worker begins, and `path`.copy is made. Then
  -- payment 3 is added and sent, and the run is killed. Returns what the other run returned.
  local function overlap()
    local payouts, inner, is_held, is_over = witnessed { concurrency = 1 }, sim:transport(), false, false
    add(payouts, 1, 1)
    assert(payouts:run())
    add(payouts, 2, 2)
    private.states[client]._transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
      local response, failure = inner:send(request)
      if is_over and request.operation == TRANSFER then
        journal:close()
        error "killed"
      end
      is_held = true
      while not is_over do schedule.sleep(1) end
      return response, failure
    end }
    local other_journal = assert(purser.journal.open { sqlite = path })
    local other = witnessed { client = client_with { journal = other_journal }, journal = other_journal }
    local report, err
    schedule.run(function()
      local killed = schedule.spawn(function() return payouts:run() end)
      while not is_held do schedule.sleep(1) end
      report, err = other:run()
      remove(path .. ".copy")
      assert(other_journal.db:rows(("VACUUM INTO '%s.copy'"):format(path)))
      add(other, 3, 3)
      is_over = true
      schedule.join(killed)
    end)
    other_journal:close()
    return report, err
  end

  it("does not speak for a copy that was made while two runs of one worker overlapped", function()
    local report, err = overlap()
    copy(path .. ".copy", path)
    open()
    local payouts = witnessed()
    add(payouts, 2, 3)
    assert.equal(3, assert(payouts:run()).done)
    assert.equal(3, counted(TRANSFER, "applied"))
    assert.is_nil(report)
    assert.equal("payouts.worker", err.code)
    assert.matches('another run of worker "one" is under way', err.message, 1, true)
  end)

  it("does not speak for a copy that was made before a run that did not look", function()
    local payouts = witnessed()
    add(payouts, 1, 1)
    assert(payouts:run())
    assert(journal.db:rows(("VACUUM INTO '%s.copy'"):format(path)))
    payouts = witnessed { history_check = "never" }
    add(payouts, 2, 2)
    assert(payouts:run())
    journal:close()
    copy(path .. ".copy", path)
    open()
    payouts = witnessed()
    add(payouts, 2, 2)
    assert.equal(2, assert(payouts:run()).done)
    assert.equal(2, counted(TRANSFER, "applied"))
  end)

  it("does not speak for a journal that was new in a run that did not look", function()
    local payouts = witnessed()
    add(payouts, 1, 2)
    assert(payouts:run())
    lose_journal()
    payouts = witnessed { history_check = "never" }
    assert(payouts:run())
    reopen()
    payouts = witnessed()
    add(payouts, 1, 2)
    assert.equal(2, assert(payouts:run()).done)
    assert.equal(2, counted(TRANSFER, "applied"))
  end)

  it("needs a worker with a name, and a place where it can be", function()
    local payouts, err = purser.payouts.new { client = client, journal = journal, witness = path .. ".witness" }
    assert.is_nil(payouts)
    assert.matches("name that stays", err.message)
    payouts, err = purser.payouts.new { client = client, journal = journal, worker = "one", witness = "/nowhere/w" }
    assert.is_nil(payouts)
    assert.equal("config", err.kind)
    assert.matches("witness file", err.message)
  end)
end)
