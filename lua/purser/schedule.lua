-- SPDX-License-Identifier: MIT
--- Tasks: coroutines that wait for answers and times together, while each still reads from top to bottom.
--
--     schedule.run(function()
--       local results = schedule.all {
--         function() return client.wallet:coins() end,
--         function() return client.wallet:deposit_history() end,
--       }
--     end)
--
-- A host's loop spawns tasks and calls `schedule.step()`, once a frame say; a step never waits. Tasks go on meanwhile
-- with a transport for many answers alone (purser.transport.multi). Lua 5.1 does not yield across pcall: no task waits
-- inside it.

local core = require "purser.core"
local heap = require "purser.client.util.heap"

---@class purser.modules.schedule
local M = {}

---@class purser.task
---@field done boolean
---@field results table what its function returned, with `n`
---@field problem any what its function raised, if it did

local tasks = {} -- coroutine -> task, while it is unfinished
local ready_first, ready_last -- a queue: each task knows the next
local sleepers = {} -- a heap: the one to wake first is at 1
local transports = {} -- transport -> how many tasks wait for it; and these in a list, next to their handles
local watched, handles = {}, {}
local alive = 0
local first_unjoined, last_unjoined -- tasks that raised while none waited for them: each knows the next
local PROBE = {} -- what a task yields that only asks whether it can

local unpack = rawget(table, "unpack") or rawget(_G, "unpack")

local function pack(...)
  return { n = select("#", ...), ... }
end

--- Returns the running task, or nil. A coroutine of a task is no task.
---@return purser.task|nil
function M.current()
  local co = coroutine.running()
  return co and tasks[co]
end

--- Lets a task continue at the next turn; the wait returns two values at most. Takes no memory: no task is lost.
---@param task purser.task
---@param first any
---@param second any
function M.wake(task, first, second)
  if task.next or task == ready_last then return end -- it will already
  task.given[1], task.given[2] = first, second
  if ready_last then ready_last.next = task else ready_first = task end
  ready_last = task
end

local function take_ready()
  local task = ready_first
  ready_first, task.next = task.next, false
  if not ready_first then ready_first, ready_last = nil, nil end
  return task
end

--- Suspends the running task. Returns the values of `wake`.
---@return any ...
function M.suspend()
  return coroutine.yield()
end

-- Keeps the words of coroutine.status: making them needs memory.
local states = { suspended = "suspended", dead = "dead" }

local function finish(task, ok, ...)
  if coroutine.status(task.co) ~= states.dead then
    if ... == PROBE then M.wake(task) end
    return
  end
  local results, n = task.results, select("#", ...)
  if not ok then
    task.problem, task.failed, n = ..., true, 0
    if not task.joined then -- a next step raises the error, without memory
      if last_unjoined then last_unjoined.next_unjoined = task else first_unjoined = task end
      last_unjoined = task
    end
  elseif n > 2 then
    task.results = pack(...)
  else
    results[1], results[2] = ...
  end
  task.results.n = n
  tasks[task.co] = nil
  task.done = true
  alive = alive - 1
  for _, waiter in ipairs(task.waiters) do M.wake(waiter) end
end

-- A tail call: depth beyond the task's turn would take memory.
local function resume(task)
  local given = task.given
  local first, second = given[1], given[2]
  given[1], given[2] = nil, nil
  if first == nil and second == nil then return finish(task, coroutine.resume(task.co)) end
  return finish(task, coroutine.resume(task.co, first, second))
end

local waits_in_pcall = _VERSION ~= "Lua 5.1" or rawget(_G, "jit") ~= nil
local isyieldable = rawget(coroutine, "isyieldable")
local outers = setmetatable({}, { __mode = "k" }) -- a coroutine of M.protect -> the one it stands for

-- Lua 5.1: tells if a function in C stands between the caller and the task's start; Lua 5.1 yields across none.
local function is_inside_c(co, level)
  local getinfo = debug.getinfo
  while co do
    local info = getinfo(co, level, "Sf")
    while info do
      if info.what == "C" and info.func ~= coroutine.resume then return true end
      level = level + 1
      info = getinfo(co, level, "Sf")
    end
    co, level = outers[co], 0
  end
  return false
end

--- Tells if the running task can wait: Lua suspends none inside a callback of C, and Lua 5.1 none inside pcall, an
-- iterator of `for` or a metamethod (the last two raise Lua's own error here). A transport asks before it sends.
---@return boolean
function M.can_wait()
  if isyieldable then return isyieldable() end
  if waits_in_pcall then return (pcall(coroutine.yield, PROBE)) end
  if is_inside_c(coroutine.running(), 1) then return false end
  coroutine.yield(PROBE)
  return true
end

local function relay(co, ok, ...)
  if not ok or coroutine.status(co) == states.dead then
    tasks[co] = nil
    return ok, ...
  end
  return relay(co, coroutine.resume(co, coroutine.yield(...)))
end

--- pcall that may wait. In a task on Lua 5.1 `fn` runs in its own coroutine, which counts as the task; in another
-- coroutine `fn` is called, and may raise.
---@param fn function
---@param ... any  its arguments
---@return boolean ok, any ...
function M.protect(fn, ...)
  local outer = not waits_in_pcall and coroutine.running()
  if not outer then return pcall(fn, ...) end
  if not tasks[outer] then return true, fn(...) end
  local co = coroutine.create(function(...) return fn(...) end) -- Lua 5.1 takes no C function
  tasks[co], outers[co] = tasks[outer], outer
  return relay(co, coroutine.resume(co, ...))
end

--- Ends a task's request. Its call returns an error at once, whose outcome says whether the request was sent, and is
-- not retried. False where the task waits for no answer.
---@param task purser.task
---@return boolean
function M.cancel(task)
  return task.transport and task.transport:cancel(task.request) ~= nil
end

local function expect(kind, value, name)
  if type(value) == kind then return end
  error(("purser.%s: the argument is a %s; give a %s"):format(name, type(value), kind), 3)
end

--- Starts `fn(...)` as a task, which first runs at the next turn. `join` raises its error, or else the loop's turn.
---@param fn function
---@param ... any  its arguments
---@return purser.task
function M.spawn(fn, ...)
  expect("function", fn, "spawn")
  local body = fn
  if select("#", ...) > 0 then
    local arguments = pack(...)
    function body() return fn(unpack(arguments, 1, arguments.n)) end
  end
  local co = coroutine.create(body)
  -- the end needs this memory: no outcome of a call may be lost for want of it
  local task = { co = co, done = false, waiters = {}, next = false, joined = false, failed = false, problem = false,
    next_unjoined = false, transport = false, request = false, given = { false, false },
    results = { false, false, n = 0 } }
  tasks[co] = task
  M.wake(task)
  alive = alive + 1
  return task
end

local order = 0
local step_ends -- of the step that runs, in microseconds; nil without a budget
local FOREVER_MS = 2147483647

--- Tells if the running task can wait in a step with a budget: then long work is done in parts.
---@return boolean
function M.has_budget()
  return step_ends ~= nil and M.current() ~= nil and M.can_wait()
end

--- Continues in the next step once the budget is used up.
function M.breathe()
  if not step_ends or core.monotonic_us() < step_ends then return end
  M.wake(M.current())
  M.suspend()
end

--- Sleeps for `ms` milliseconds: the running task, or outside of one the thread.
---@param ms integer
function M.sleep(ms)
  if type(ms) ~= "number" or not (ms >= 0 and ms <= FOREVER_MS) then
    error(("purser.sleep: the time is %s; give milliseconds from 0 to %d"):format(
      type(ms) == "number" and ("%.14g"):format(ms) or "a " .. type(ms), FOREVER_MS), 2)
  end
  ms = math.ceil(ms)
  local task = M.current()
  if not task then return core.sleep_ms(ms) end
  if ms == 0 then
    M.wake(task)
  else
    order = order + 1
    heap.push(sleepers, { at = core.monotonic_ms() + ms, order = order, task = task })
  end
  M.suspend()
end

local function remove(list, value)
  for i = #list, 1, -1 do
    if list[i] == value then return table.remove(list, i) end
  end
end

--- Counts a task that begins (+1) or ends (-1) to wait for a transport. The end takes no memory.
---@param transport table  has multi, step and timeout
---@param change 1|-1
function M.watch(transport, change)
  local before = transports[transport] or 0
  local count = before + change
  if before == 0 and count > 0 then
    watched[#watched + 1] = transport
    handles[#handles + 1] = transport.multi
  elseif count <= 0 then
    remove(watched, transport)
    remove(handles, transport.multi)
  end
  transports[transport] = count > 0 and count or nil
end

--- Does all work without waiting. Returns the number of unfinished tasks. After a budget of microseconds no task is
-- woken; transports have half of it; a long answer is decoded in parts. Raises an unjoined task's error, one a step.
---@param budget_us? integer
---@return integer
function M.step(budget_us)
  local ends = budget_us and core.monotonic_us() + budget_us
  step_ends = ends
  for i = #watched, 1, -1 do
    if watched[i] then watched[i]:step(budget_us and budget_us / 2) end -- a step may end the watch of others
  end
  if sleepers[1] then
    local now = core.monotonic_ms()
    while sleepers[1] and sleepers[1].at <= now do
      local task = heap.pop(sleepers).task
      if task then M.wake(task) end
    end
  end
  -- tasks that become ready meanwhile belong to the next step: a step ends
  local last, task = ready_last, nil
  while ready_first and task ~= last do
    task = take_ready()
    resume(task)
    if ends and core.monotonic_us() >= ends then break end
  end
  repeat
    task = first_unjoined
    if not task then return alive end
    first_unjoined, task.next_unjoined = task.next_unjoined or nil, false
    if not first_unjoined then last_unjoined = nil end
  until not task.joined -- by a join meanwhile
  error(task.problem, 0)
end

--- Returns for how long nothing is due before a descriptor is ready: for loops that watch the transport's `fds()`.
---@return integer|nil ms nil: for ever
function M.timeout()
  if ready_first or first_unjoined then return 0 end
  local ms = sleepers[1] and math.max(0, sleepers[1].at - core.monotonic_ms())
  for _, transport in ipairs(watched) do
    local own = transport:timeout()
    if own and (not ms or own < ms) then ms = own end
  end
  return ms
end

--- Waits until a task can continue, at most `ms` milliseconds.
---@param ms integer
function M.wait(ms)
  if ready_first or first_unjoined then return end
  if sleepers[1] then
    local left = sleepers[1].at - core.monotonic_ms()
    if left < ms then ms = left > 0 and left or 0 end
  end
  if not handles[1] then return core.sleep_ms(ms) end
  handles[1]:wait(ms, unpack(handles, 2))
end

local function drive(task)
  while not task.done do
    M.step()
    if task.done then break end
    if not ready_first and not sleepers[1] and not watched[1] then
      error("purser.schedule: deadlock: nothing can wake this task", 3)
    end
    M.wait(FOREVER_MS)
  end
end

-- Waits for a task's end, and raises nothing. (Lua 5.1 waits in no pcall.)
local function await(task)
  local current = M.current()
  task.joined = true
  if not current then
    drive(task)
  elseif not task.done then
    task.waiters[#task.waiters + 1] = current
    M.suspend()
  end
end

--- Waits for a task. Returns the results, or raises the error.
---@param task purser.task
---@return any ...
function M.join(task)
  if type(task) ~= "table" or not task.waiters then
    error(("purser.join: the argument is a %s and no task; give what purser.spawn returned"):format(type(task)), 2)
  end
  await(task)
  if task.failed then error(task.problem, 0) end
  return unpack(task.results, 1, task.results.n)
end

--- Waits in a task until one of the tasks ends, at most `ms` milliseconds.
---@private
---@param list purser.task[]  what they raise is raised by `join`
---@param ms integer
function M.await_any(list, ms)
  local current = M.current()
  for _, task in ipairs(list) do
    if task.done then return end
  end
  order = order + 1
  local sleeper = { at = core.monotonic_ms() + ms, order = order, task = current }
  heap.push(sleepers, sleeper)
  for _, task in ipairs(list) do task.waiters[#task.waiters + 1] = current end
  M.suspend()
  sleeper.task = false
  for _, task in ipairs(list) do remove(task.waiters, current) end
end

--- Runs `fn(...)` as a task and returns the results. Outside of a task the loop turns meanwhile.
---@param fn function
---@param ... any  its arguments
---@return any ...
function M.run(fn, ...)
  expect("function", fn, "run")
  return M.join(M.spawn(fn, ...))
end

--- Runs functions side by side. `results[i]` is the i-th one's first value, `errors[i]` the second. Raises at the end.
---@param list function[]
---@return any[] results
---@return any[] errors
function M.all(list)
  expect("table", list, "all")
  for _, fn in ipairs(list) do expect("function", fn, "all") end
  local started, results, errors = {}, {}, {}
  for i, fn in ipairs(list) do
    started[i] = M.spawn(fn)
    started[i].joined = true
  end
  for _, task in ipairs(started) do await(task) end
  for i, task in ipairs(started) do
    if task.failed then error(task.problem, 0) end
    results[i], errors[i] = task.results[1], task.results[2]
  end
  return results, errors
end

return M
