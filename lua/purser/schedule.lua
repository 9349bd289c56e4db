--- Tasks: coroutines that wait for answers and times together, while each still reads from top to bottom.
--
--     schedule.run(function()
--       local results = schedule.all {
--         function() return client.wallet:coins() end,
--         function() return client.wallet:deposit_history() end,
--       }
--     end)
--
-- A host with a loop of its own spawns tasks and calls `schedule.step()` now and then, once a frame say; it never
-- waits. Only a transport that can wait for many answers (purser.transport.multi) lets other tasks go on meanwhile.
-- On Lua 5.1 a task cannot wait inside pcall: that Lua does not yield across it.

local core = require "purser.core"

local M = {}

---@class purser.task
---@field done boolean
---@field results table what its function returned, with `n`
---@field problem any what its function raised, if it did

local tasks = {} -- coroutine -> task, while it is unfinished
local ready, ready_first, ready_last = {}, 1, 0 -- a queue
local sleepers = {} -- a heap: the one to wake first is at 1
local transports = {} -- transport -> how many tasks wait for it
local alive = 0
local unheard -- a task that raised while nobody waited for it

local unpack = rawget(table, "unpack") or rawget(_G, "unpack")

local function pack(...)
  return { n = select("#", ...), ... }
end

--- The running task, or nil outside of one. A coroutine that a task made itself is not a task.
---@return purser.task|nil
function M.current()
  local co = coroutine.running()
  return co and tasks[co]
end

--- Lets a task go on at the next turn; `...` is what its wait returns.
---@param task purser.task
function M.wake(task, ...)
  task.values = pack(...)
  ready[ready_last + 1] = task -- may raise for want of memory: counted only then
  ready_last = ready_last + 1
end

--- Suspends the running task until it is woken.
function M.suspend()
  return coroutine.yield()
end

local function finish(task, ok, ...)
  if coroutine.status(task.co) ~= "dead" then return end
  tasks[task.co] = nil
  task.done = true
  alive = alive - 1
  if ok then
    task.results = pack(...)
  else
    task.results, task.problem, task.failed = { n = 0 }, ..., true
    if not task.heard then unheard = task end
  end
  for _, waiter in ipairs(task.waiters) do M.wake(waiter) end
end

local function resume(task)
  local values = task.values
  task.values = nil
  finish(task, coroutine.resume(task.co, unpack(values, 1, values.n)))
end

--- Starts `fn(...)` as a task; it first runs at the next turn. What it raises is raised by `join`, or by the turn of
-- the loop itself when nobody waits for it.
---@param fn function
---@return purser.task
function M.spawn(fn, ...)
  local co = coroutine.create(fn)
  local task = { co = co, done = false, waiters = {} }
  tasks[co] = task
  M.wake(task, ...)
  alive = alive + 1
  return task
end

local function earlier(a, b)
  return a.at < b.at or (a.at == b.at and a.order < b.order)
end

local function push_sleeper(sleeper)
  local i = #sleepers + 1
  sleepers[i] = sleeper
  while i > 1 do
    local parent = (i - i % 2) / 2
    if not earlier(sleepers[i], sleepers[parent]) then break end
    sleepers[i], sleepers[parent] = sleepers[parent], sleepers[i]
    i = parent
  end
end

local function pop_sleeper()
  local first, last = sleepers[1], #sleepers
  sleepers[1] = sleepers[last]
  sleepers[last] = nil
  local i = 1
  while true do
    local least = i
    for child = 2 * i, 2 * i + 1 do
      if sleepers[child] and earlier(sleepers[child], sleepers[least]) then least = child end
    end
    if least == i then return first end
    sleepers[i], sleepers[least] = sleepers[least], sleepers[i]
    i = least
  end
end

local order = 0

--- Rests for `ms` milliseconds: the running task, or outside of one the whole thread.
---@param ms integer
function M.sleep(ms)
  local task = M.current()
  if not task then return core.wait(ms) end
  order = order + 1
  push_sleeper { at = core.monotonic_ms() + ms, order = order, task = task }
  M.suspend()
end

--- A transport tells that a task waits for it (+1), or does no more (-1).
function M.watch(transport, change)
  local count = (transports[transport] or 0) + change
  transports[transport] = count > 0 and count or nil
end

--- Does what can be done without waiting, and returns how many tasks are unfinished. With a budget, no further task is
-- woken once so many microseconds have passed; the others go on in the next step.
---@param budget_us? integer
---@return integer
function M.step(budget_us)
  local ends = budget_us and core.monotonic_us() + budget_us
  local stepping = {}
  for transport in pairs(transports) do stepping[#stepping + 1] = transport end
  for _, transport in ipairs(stepping) do transport:step() end
  if sleepers[1] then
    local now = core.monotonic_ms()
    while sleepers[1] and sleepers[1].at <= now do M.wake(pop_sleeper().task) end
  end
  -- Those that become ready by this belong to the next step, so that a step ends.
  local last = ready_last
  while ready_first <= last do
    local task = ready[ready_first]
    ready[ready_first] = nil
    ready_first = ready_first + 1
    resume(task)
    if ends and core.monotonic_us() >= ends then break end
  end
  local task = unheard
  unheard = nil
  if task then error(task.problem, 0) end
  return alive
end

--- How long nothing has to be done unless a descriptor becomes ready: for loops of others, which watch the transport's
-- `fds()` beside it.
---@return integer|nil ms nil: for ever
function M.timeout()
  if ready_first <= ready_last then return 0 end
  local ms = sleepers[1] and math.max(0, sleepers[1].at - core.monotonic_ms())
  for transport in pairs(transports) do
    local own = transport:timeout()
    if own and (not ms or own < ms) then ms = own end
  end
  return ms
end

--- Waits until a task can go on, `ms` milliseconds at most.
---@param ms integer
function M.wait(ms)
  if ready_first <= ready_last then return end
  if sleepers[1] then
    local left = sleepers[1].at - core.monotonic_ms()
    if left < ms then ms = left > 0 and left or 0 end
  end
  local multis = {}
  for transport in pairs(transports) do multis[#multis + 1] = transport.multi end
  core.wait(ms, unpack(multis))
end

local FOREVER_MS = 2147483647

local function drive(task)
  while not task.done do
    M.step()
    if task.done then break end
    if ready_first > ready_last and not sleepers[1] and not next(transports) then
      error("purser.schedule: the task waits for something that nobody will do", 3)
    end
    M.wait(FOREVER_MS)
  end
end

-- Waits for a task to end, and raises nothing of it. (A pcall around a wait would not do on Lua 5.1.)
local function await(task)
  local current = M.current()
  task.heard = true
  if not current then
    drive(task)
  elseif not task.done then
    task.waiters[#task.waiters + 1] = current
    M.suspend()
  end
end

--- Waits for a task to end and returns what its function returned; raises what it raised.
---@param task purser.task
function M.join(task)
  await(task)
  if task.failed then error(task.problem, 0) end
  return unpack(task.results, 1, task.results.n)
end

--- Runs `fn(...)` as a task and returns what it returns. Outside of a task it turns the loop until then.
---@param fn function
function M.run(fn, ...)
  return M.join(M.spawn(fn, ...))
end

--- Runs the functions side by side and waits for all. `results[i]` is the first value the i-th returned, `errors[i]`
-- the second. If one raised, that is raised when all have ended.
---@param list function[]
---@return table results
---@return table errors
function M.all(list)
  local started, results, errors = {}, {}, {}
  for i, fn in ipairs(list) do
    started[i] = M.spawn(fn)
    started[i].heard = true
  end
  for _, task in ipairs(started) do await(task) end
  for i, task in ipairs(started) do
    if task.failed then error(task.problem, 0) end
    results[i], errors[i] = task.results[1], task.results[2]
  end
  return results, errors
end

return M
