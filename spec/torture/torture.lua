-- SPDX-License-Identifier: MIT
--- The torture: workers make payments at a simulator that answers badly, and are killed with SIGKILL while they do.
--
--     local result = torture.run { payments = 300, workers = 1, kill_every = 40, seed = 1, seconds = 60 }
--
-- At the end the service's ledger and the journal have to agree (reckoning.lua); `result.problems` lists what does not
-- hold. Which payments there are, which faults happen and after how many requests a worker is killed come from the
-- seed; in which order requests arrive, and so which of them meets a fault, is up to the machine. rehearsal.lua is the
-- same without a machine: there one seed is one run.

local Reckoning = dofile "spec/torture/reckoning.lua"
local core = require "purser.core"
local prng = require "purser.testing.sim.prng"
local purser = require "purser"
local service = require "service"
local world = dofile "spec/torture/world.lua"

local M = {}

--------------------------------------------------------------------------------------------------------- processes

local function lines_of(path)
  local file, lines = io.open(path, "r"), {}
  if not file then return lines end
  for line in file:lines() do lines[#lines + 1] = line end
  file:close()
  return lines
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

local function literal(value)
  if type(value) ~= "table" then return type(value) == "string" and ("%q"):format(value) or tostring(value) end
  local parts = {}
  for name, member in pairs(value) do parts[#parts + 1] = ("[%s] = %s"):format(literal(name), literal(member)) end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

local function start_worker(worker)
  os.remove(worker.log)
  local pipe = assert(io.popen(("sh -c '%s spec/torture/worker.lua %s >%s 2>&1 & echo $!'"):format(
    os.getenv "LUA" or "lua5.4", worker.config, worker.log)))
  worker.pid = tonumber(pipe:read "*l")
  pipe:close()
end

-- Returns true if a process is there. One that has ended and was not waited for (Z) is not.
local function is_alive(pid)
  local file = io.open(("/proc/%d/stat"):format(pid), "r")
  if not file then return false end
  local state = (file:read "*l" or ""):match "%) (%a)"
  file:close()
  return state ~= nil and state ~= "Z" and state ~= "X"
end

local function kill(worker)
  os.execute(("kill -KILL %d 2>/dev/null"):format(worker.pid))
  while is_alive(worker.pid) do core.sleep_ms(1) end
end

local function has_ended_well(worker)
  local lines = lines_of(worker.log)
  return lines[#lines] == "done"
end

-------------------------------------------------------------------------------------------------------- the run

-- Counts the requests that arrived, of all operations and of each.
local function received(simulator)
  local total, each = 0, {}
  for operation, count in pairs(assert(simulator:counts())) do
    total, each[operation] = total + count.received, count.received
  end
  return total, each
end

-- Lets the workers work until all have ended well, and kills one of them now and then. Returns whether they did in
-- time.
local function let_work(state, workers, started)
  for _, worker in ipairs(workers) do
    start_worker(worker)
    worker.over = false
  end
  local function after_now(now)
    return state.kill_every > 0 and now + state.roll:roll(2 * state.kill_every) or math.huge
  end
  local next_kill = after_now(received(state.simulator))
  local left = #workers
  while left > 0 do
    if core.monotonic_ms() - started > state.seconds * 1000 then return false end
    core.sleep_ms(20)
    for _, worker in ipairs(workers) do
      if not worker.over and not is_alive(worker.pid) then
        if has_ended_well(worker) then
          worker.over, left = true, left - 1
        else
          state.deaths[#state.deaths + 1] = table.concat(lines_of(worker.log), " ")
          if #state.deaths > 20 then return false end
          start_worker(worker)
        end
      end
    end
    local now = left > 0 and state.kill_every > 0 and received(state.simulator) or 0
    if now >= next_kill then
      next_kill = after_now(now)
      local victim = workers[state.roll:roll(#workers)]
      if not victim.over then
        kill(victim)
        state.kills = state.kills + 1
        start_worker(victim)
      end
    end
  end
  return true
end

local function client_for(state, journal)
  return assert(purser.new { base_url = state.url, api_key = state.payer.api_key, secret_key = state.payer.secret_key,
    rate_limit = false, journal = journal, account = "torture", policy = state.policy,
    retry = { attempts = 6, base_ms = 5, max_ms = 100 } })
end

--------------------------------------------------------------------------------------------------------------- all

-- Runs the queue again and again until the service's rejections, which are faults here, have been overcome.
local function work_off(state, workers, payouts, reckoning)
  local started = core.monotonic_ms()
  for _ = 1, 8 do
    if not let_work(state, workers, started) then return false end
    local failed = assert(payouts:list "failed")
    if #failed == 0 then return true end
    if state.tell then state.tell(("%d payments were rejected; they are put back"):format(#failed)) end
    state.show_records()
    reckoning:failed(failed)
    reckoning:put_back(failed)
  end
  return false
end

-- The keys that all workers kept.
local function kept_keys(workers)
  local kept = {}
  for _, worker in ipairs(workers) do
    for _, line in ipairs(lines_of(worker.keys_file)) do
      local note, api_key = line:match "^(%S+) (%S+)$"
      kept[note or ""] = api_key
    end
  end
  return kept
end

local function make_workers(state)
  local workers = {}
  for i = 1, state.workers do
    local base = ("%s/worker-%d"):format(state.folder, i)
    workers[i] = { config = base .. ".conf", log = base .. ".log", keys_file = base .. ".keys" }
    write(workers[i].keys_file, "")
    write(workers[i].config, "return " .. literal {
      url = state.url, api_key = state.payer.api_key, secret_key = state.payer.secret_key, journal = state.journal,
      writes_late = state.writes_late, worker = "worker-" .. i, recv_window = 1000,
      concurrency = math.max(1, math.floor(state.concurrency / state.workers)), -- more than it can do spoils the rest
      timeout_ms = 500, visibility_delay_ms = 200,
      policy = state.policy, lease_ms = 5000,
      keys_file = workers[i].keys_file, keys = world.keys_of(i, state.workers, state.keys),
    })
  end
  return workers
end

-- For the report alone: the faults of a long run are too many for one answer.
local function faults_by_kind(simulator)
  local kinds = {}
  for _, fault in ipairs(simulator:faults() or {}) do kinds[fault.kind] = (kinds[fault.kind] or 0) + 1 end
  return kinds
end

---@class torture.Options
---@field payments integer
---@field workers integer
---@field journal table       options of purser.journal.open
---@field folder string       for configurations and logs
---@field seed integer
---@field kill_every integer  requests, on the average; 0: never
---@field seconds integer     the most it may take
---@field share number|nil    of requests that meet a fault (0.3)
---@field keys integer|nil     API keys that are to be made beside the payments (0)
---@field concurrency integer|nil payments in flight, by all workers (32)
---@field policy string|nil   a folder: the payer is under it
---@field approve fun(client: purser.Client, journal: purser.Journal, payments: table[])|nil  adds them as a signed
--- plan, and again those that are put back by force
---@field writes_late boolean|nil without the record before the request
---@field tell fun(line: string)|nil

--- Runs it. Returns { problems, done, undecided, causes, kills, requests, requests_by_operation, faults, seconds }.
---@param options torture.Options
function M.run(options)
  local state = { kills = 0, deaths = {}, concurrency = 32, keys = 0, started = core.now_ms() }
  for name, value in pairs(options) do state[name] = value end
  state.roll = prng.new(state.seed, "torture")
  local process = service.start { "--seed", tostring(state.seed), "--clock", "real" }
  state.simulator, state.url, state.show_records = process.world, process.url, process.show_records
  local workers = {}
  local ok, result = pcall(function()
    state.payer = world.open_accounts(state.simulator)
    world.save_address(state.simulator, state.payer)
    local journal = assert(purser.journal.open(state.journal))
    local client = client_for(state, journal)
    local payouts = assert(purser.payouts.new { client = client, journal = journal })
    local list = world.payments(state.payments, state.roll)
    if state.approve then state.approve(client, journal, list) else assert(payouts:add_all(list)) end
    if state.share ~= 0 then world.arm(state.simulator, state.share or 0.3) end
    workers = make_workers(state)
    local before = core.monotonic_ms()
    local reckoning = Reckoning.new { simulator = state.simulator, client = client, payouts = payouts,
      journal = journal, started = state.started,
      approve = state.approve and function(payments) state.approve(client, journal, payments) end }
    local finished = work_off(state, workers, payouts, reckoning)
    local took = core.monotonic_ms() - before
    local requests, by_operation = received(state.simulator)
    for _, worker in ipairs(workers) do kill(worker) end
    assert(state.simulator:disarm())
    if not finished then reckoning:problem "the workers did not end in time, or not well" end
    for _, death in ipairs(state.deaths) do reckoning:problem("a worker died by itself: %s", death) end
    state.show_records()
    local done, undecided, causes = reckoning:all()
    reckoning:keys(world.keys_of(1, 1, state.keys), kept_keys(workers))
    client:close()
    journal:close()
    return { problems = reckoning.problems, done = done, undecided = undecided, causes = causes, kills = state.kills,
      requests = requests, requests_by_operation = by_operation, faults = faults_by_kind(state.simulator),
      seconds = math.ceil(took / 1000) }
  end)
  for _, worker in ipairs(workers) do
    if worker.pid then kill(worker) end
  end
  process.stop()
  if not ok then error(result, 0) end
  return result
end

return M
