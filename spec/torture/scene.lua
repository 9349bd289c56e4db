-- SPDX-License-Identifier: MIT
-- The scene of a rehearsal (rehearsal.lua), from the first event to the reckoning: workers on their virtual machine,
-- where they die, and where they stand still. It changes modules of purser's for its purpose, so it wants its own.

local Reckoning = dofile "spec/torture/reckoning.lua"
local prng = require "purser.testing.sim.prng"
local key_maker = dofile("spec/torture/keys.lua").maker
local late_journal = dofile "spec/support/late_journal.lua"
local Noise = dofile "spec/torture/noise.lua"
local purser = require "purser"
local schedule = require "purser.schedule"
local virtual = dofile "spec/torture/virtual.lua"
local world = dofile "spec/torture/world.lua"

local LEASE_MS = 3000
local LAG_MS = 200
local LAST_LIE = 60 -- a run has seldom fewer reads
local MAIN, OTHER = "rehearsal", "other" -- the accounts that share a journal

------------------------------------------------------------------------------------------------ who does what

-- Every task belongs to the worker that started it.
local owners = setmetatable({}, { __mode = "k" })

local function owner() return owners[coroutine.running() or false] end

local spawn = schedule.spawn

function schedule.spawn(fn, ...) -- luacheck: ignore 122
  local task = spawn(fn, ...)
  owners[task.co] = owner()
  return task
end

local wake = schedule.wake

-- No task of a dead worker gets a turn again.
function schedule.wake(task, ...) -- luacheck: ignore 122
  local worker = owners[task.co]
  if not worker or not worker.dead then wake(task, ...) end
end

-- The end of a task whose worker has died. It may be within a transaction, out of which Lua 5.1 cannot yield: rehearse
-- on a later one, or on LuaJIT.
local function never_go_on()
  while true do coroutine.yield() end
end

-- Where a worker may die, or stand still: before and after whatever others can see.
local function point(what, may_sleep)
  local worker = owner()
  if not worker then return end
  local machine, roll = worker.machine, worker.machine.roll
  if worker.dead then never_go_on() end
  if what then machine:note(worker.name .. " " .. what) end
  if roll:roll(worker.dies_once_in) == 1 then
    machine:note(worker.name .. " dies")
    worker:die()
    never_go_on()
  end
  if roll:roll(worker.state.jumps_once_in) == 1 then -- somebody sets the clock of the workers' machine
    machine.wrong_by = roll:roll(4) == 1 and 0 or roll:roll(40000) - 20000
    machine:note("the clock is wrong by " .. machine.wrong_by)
  end
  if not may_sleep then return end
  if roll:roll(150) == 1 then worker.sleeps_until = machine.now + roll:roll(2 * LEASE_MS) end
  while worker.sleeps_until > machine.now do
    schedule.sleep(worker.sleeps_until - machine.now)
    if worker.dead then never_go_on() end
  end
end

-- The journal's statements are such points. Now and then one fails, and a commit may say so when it did not.
local function watch_statements(db)
  local Database = getmetatable(db).__index
  if Database.watched then return end
  local rows, transaction = Database.rows, Database.transaction
  Database.watched = true
  function Database:transaction(fn) -- within it no other task of the worker runs
    point(nil, true)
    return transaction(self, fn)
  end
  function Database:rows(sql, ...)
    local worker = owner()
    if not worker then return rows(self, sql, ...) end
    worker.databases[self] = true
    local roll, word = worker.machine.roll, sql:match "^%s*(%a+)"
    point(word, false)
    local fails = worker.lived and word ~= "ROLLBACK" and roll:roll(worker.state.fails_once_in) == 1
    if fails then worker.machine:note(worker.name .. " FAILS " .. word) end
    if fails and (word ~= "COMMIT" or roll:roll(2) == 1) then return nil, "the disk is rehearsed to be full" end
    local result, second = rows(self, sql, ...)
    point(nil, false)
    if fails then return nil, "the connection is rehearsed to be lost" end
    return result, second
  end
end

------------------------------------------------------------------------------------------------------- a worker

local Worker = {}
Worker.__index = Worker

function Worker:die()
  self.dead = true
  self.state.deaths = self.state.deaths + 1
  for db in pairs(self.databases) do -- as the kernel would: nothing is committed
    for _, statement in pairs(db.statements) do pcall(statement.close, statement) end
    pcall(db.handle.close, db.handle)
  end
  self.state.start(self.number, self.machine.roll:roll(2000))
end

-- Now and then what is no read gets the answer of an earlier call once more: of one that succeeded, since a rejection
-- names nothing that it could be known by.
function Worker:mix_up(request, response)
  if request.method == "GET" or not response then return response end
  local earlier = self.answered
  self.answered = response.status == 200 and response or nil
  if not earlier or self.machine.roll:roll(self.state.mixes_once_in) > 1 then return response end
  self.machine:note(self.name .. " gets another answer to " .. request.operation)
  self.answered = nil
  return earlier
end

-- One read of the run, wherever it comes, gets the answer of an earlier read of its worker, of any operation.
function Worker:mix_up_read(request, response)
  local state = self.state
  if not state.lies_at or request.method ~= "GET" or not response or response.status ~= 200 then return response end
  local earlier = self.read
  self.read, state.reads = response, state.reads + 1
  if not earlier or state.reads < state.lies_at then return response end
  state.lies_at = nil
  self.machine:note(self.name .. " gets the answer of an earlier read to " .. request.operation)
  return earlier
end

-- The transport of one life: the machine's network.
function Worker:transport()
  local worker = self
  return {
    sleep = function(_, ms)
      schedule.sleep(ms)
      point(nil, true)
    end,
    send = function(_, request)
      point("sends " .. request.operation, true)
      local task = schedule.current()
      worker.machine:send(worker.state.ask, request, function(response, failure)
        if not worker.dead then schedule.wake(task, response, failure) end
      end)
      local response, failure = schedule.suspend()
      point("hears of " .. request.operation, true)
      return worker:mix_up_read(request, worker:mix_up(request, response)), failure
    end,
    close = function() end,
  }
end

function Worker:live()
  local state = self.state
  local payer = state.payers[self.account]
  local journal = assert(purser.journal.open(state.journal))
  if state.writes_late then late_journal.make(journal) end
  local client = assert(purser.new {
    base_url = "http://127.0.0.1", api_key = payer.api_key, secret_key = payer.secret_key,
    journal = journal, account = self.account, transport = self:transport(), rate_limit = false, recv_window = 1000,
    timeout_ms = 500, visibility_delay_ms = LAG_MS, retry = { attempts = 6, base_ms = 5, max_ms = 100 },
  })
  local payouts = assert(purser.payouts.new {
    client = client, journal = journal, worker = self.name, concurrency = 4, lease_ms = LEASE_MS, retry_ms = 5,
    idle_ms = 50, history_check = state.check and "unless_newest" or "never",
  })
  self.lived = true
  local function make_keys()
    local alone = state.payers[OTHER] ~= nil -- then the first worker makes all keys
    if alone and self.number > 1 then return end
    repeat local reconciled = journal:recover(client) until reconciled
    local make = key_maker(client, function(note) return state.kept[note] ~= nil end, function(note, api_key)
      point("keeps a key", false)
      state.kept[note] = api_key
    end)
    local makers = alone and 1 or state.workers
    for _, key in ipairs(world.keys_of(self.number, makers, state.keys)) do make(key[1], key[2]) end
  end
  local report, err
  schedule.all { function() report, err = payouts:run() end, make_keys }
  if self.dead then never_go_on() end -- killed while it waited: its next life has been arranged
  journal:close()
  if report then
    state.lives[self.number] = nil
    state.working = state.working - 1
  elseif err.phase == "journal" or err.code == "payouts.history" then
    state.start(self.number, 0) -- the journal could not be written, or a history not be read; begin again
  else
    error(tostring(err), 0)
  end
end

-------------------------------------------------------------------------------------------------------- the run

local function let_work(state)
  state.working = state.workers
  for number = 1, state.workers do state.start(number, state.machine.roll:roll(500)) end
  local ends = state.machine.now + 3600000
  while state.working > 0 do
    schedule.step()
    schedule.wait(1000)
    if state.machine.now > ends then return false end
  end
  state.machine:pass(10000) -- what is still under way arrives
  return true
end

-- The queue of the account that the workers of one number work for.
local function account_of(state, number)
  return number % 2 == 0 and state.payers[OTHER] and OTHER or MAIN
end

-- Opens the journal for who only looks on. It is opened once more when a copy was put in its place.
local function open_books(state, account)
  local journal = assert(purser.journal.open(state.journal))
  watch_statements(journal.db)
  local client = assert(purser.new { base_url = "http://127.0.0.1", api_key = state.payers[account].api_key,
    secret_key = state.payers[account].secret_key, rate_limit = false, journal = journal, account = account,
    clock = function() return state.simulator:now() end, transport = state.simulator:transport() })
  return journal, client, assert(purser.payouts.new { client = client, journal = journal })
end

-- Adds each account's payments.
local function add_payments(state, payouts)
  assert(payouts:add_all(state.lists[MAIN]))
  if not state.lists[OTHER] then return end
  local journal, _, other = open_books(state, OTHER)
  assert(other:add_all(state.lists[OTHER]))
  journal:close()
end

-- The machine of all workers is lost, with what the journal had noted since a copy of it was made; or with the whole
-- journal, and then the payments are added to a new one.
local function put_back_copy(state, reckoning, copy)
  state.machine:note(state.empties and "the journal is lost" or "an older copy of the journal is put back")
  for number = 1, state.workers do
    local worker = state.lives[number]
    if not worker then -- it had finished
      state.working = state.working + 1
      state.start(number, 1000)
    elseif not worker.dead then
      worker:die()
    end
  end
  reckoning.journal:close()
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(state.journal.sqlite .. suffix) end
  if not state.empties then assert(os.rename(copy, state.journal.sqlite)) end
  reckoning.journal, reckoning.client, reckoning.payouts = open_books(state, MAIN)
  if state.empties then add_payments(state, reckoning.payouts) end
  reckoning.lacks = true
end

-- Makes a copy of the journal while it is in use, and puts it back some time later.
local function lose_journal(state, reckoning)
  local machine, roll, copy = state.machine, state.machine.roll, state.journal.sqlite .. "-copy"
  machine:at(3000 + roll:roll(5000), function()
    assert(os.execute(("umask 077 && : > '%s'"):format(copy)))
    assert(reckoning.journal.db:rows(("VACUUM INTO '%s'"):format(copy)))
    machine:at(roll:roll(6000), function()
      if state.working > 0 then put_back_copy(state, reckoning, copy) end
    end)
  end)
end

local function work_off(state, reckoning)
  for _ = 1, 12 do
    if not let_work(state) then return false end
    local failed = assert(reckoning.payouts:list "failed")
    if #failed == 0 then return true end
    for _, payment in ipairs(failed) do state.machine:note(payment.key .. " is put back: " .. payment.message) end
    reckoning:failed(failed)
    if #reckoning.problems > 0 then return true end
    reckoning:put_back(failed)
  end
  return false
end

-- Returns N: a worker dies once in N events. A check of a long history takes many requests, and a worker that dies
-- again and again ends none; so after ten minutes of the run they die half as often, after twenty a third.
local function dies_once_in(state)
  return state.dies_once_in * (1 + math.floor((state.machine.now - state.started) / 600000))
end

-- A life begins after a while.
local function starter(state)
  return function(number, ms)
    local worker = setmetatable({ state = state, machine = state.machine, number = number,
      name = "worker-" .. number,
      account = account_of(state, number), databases = {}, sleeps_until = 0,
      dies_once_in = dies_once_in(state) }, Worker)
    state.machine:at(ms, function()
      state.lives[number] = worker
      local task = schedule.spawn(worker.live, worker)
      owners[task.co] = worker
    end)
  end
end

-- The service, its accounts and the queue, made from the seed.
local function prepare(state)
  local machine, roll = state.machine, state.machine.roll
  state.started = machine.now
  state.journal = { sqlite = ("%s/journal-%d"):format(state.folder, state.seed) }
  state.simulator = purser.sim.new { seed = state.seed, clock = "real",
    start_time = state.started + roll:roll(1600) - 800, visibility_delay_ms = roll:roll(LAG_MS) - 1,
    repeated_ids = state.repeated_ids, fee = state.fee, saved_addresses_only = true }
  state.noise = Noise.new { roll = roll, nonsense_in = state.nonsense_in, unsure_in = state.unsure_in,
    blanks = state.blanks }
  state.ask = function(request) return state.noise:ask(state.simulator, request) end
  state.payers = { [MAIN] = world.open_accounts(state.simulator) }
  world.save_address(state.simulator, state.payers[MAIN])
  local journal, client, payouts = open_books(state, MAIN)
  state.lists = { [MAIN] = world.payments(state.payments, roll, state.twin_in, state.identified) }
  if state.accounts == 2 and state.workers > 1 then
    state.payers[OTHER] = world.open_other(state.simulator)
    state.lists[OTHER] = world.other_payments(state.payments, roll)
  end
  add_payments(state, payouts)
  state.reads, state.lies_at = 0, state.lies and roll:roll(LAST_LIE)
  if state.share > 0 then world.arm(state.simulator, state.share) end
  return Reckoning.new { simulator = state.simulator, client = client, payouts = payouts, journal = journal,
    started = state.started, noise = state.noise }
end

local function perform(state)
  state.start = starter(state)
  local reckoning = prepare(state)
  if state.puts_back then lose_journal(state, reckoning) end
  if not work_off(state, reckoning) then reckoning:problem "the workers did not end" end
  state.simulator:disarm()
  local done, undecided, causes = reckoning:all()
  if state.payers[OTHER] then
    local journal, client, payouts = open_books(state, OTHER)
    reckoning:other(client, payouts, state.payments)
    journal:close()
  end
  reckoning:keys(world.keys_of(1, 1, state.keys), state.kept)
  reckoning.journal:close()
  return { problems = reckoning.problems, done = done, undecided = undecided, causes = causes, deaths = state.deaths,
    events = state.machine.traced, trace = state.machine:trace_of_all(), ms = state.machine.now - state.started }
end

--- Plays it with `state`, the options of the rehearsal.
return function(state)
  state.deaths, state.kept, state.lives = 0, {}, {}
  state.machine = virtual.new(prng.new(state.seed, "rehearsal"))
  state.machine.tell, state.machine.wrong_by = state.tell, 0
  state.machine.clock_of = function() return owner() and state.machine.wrong_by or 0 end
  local ok, result = pcall(perform, state)
  state.machine:leave()
  if not ok then error(result, 0) end
  return result
end
