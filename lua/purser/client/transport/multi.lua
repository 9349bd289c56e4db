-- SPDX-License-Identifier: MIT
--- The transport for many requests at once. In a task, or in a coroutine of a host with `wait` and `wake`, `send` waits
-- while others go on. Without coroutines: `submit`, `step`, `take`. A loop of the program turns the transport, or
-- `attach` in a loop with callbacks, or the waiting coroutines (`self_stepping`).

local core = require "purser.core"
local heap = require "purser.client.util.heap"
local libcurl = require "purser.client.util.libcurl"
local schedule = require "purser.schedule"
local option_schema = require "purser.client.util.option_schema"

---@class purser.transport.multi: purser.Transport
---@field multi userdata
---@field private calls table<integer, table> by id: whether it is done, and how; the task that waits for it
---@field private host table|nil  `wait`, `wake`; the sleepers, a heap; who steps for all, until when
---@field private outside_tasks "block"|"reject"
local methods = {}
local meta = { __name = "purser.transport.multi", __index = methods }
local isyieldable = rawget(coroutine, "isyieldable")

function meta:__tostring()
  return (tostring(self.multi):gsub("^purser%.http_multi", meta.__name))
end

local function closed()
  return { kind = "closed", outcome = "not_sent", message = "the transport is closed", sends = 0 }
end

-- Makes an answer's place before the request is sent: later there may be no memory.
local function submit(self, request)
  if self.closed then return nil, closed() end
  local call = { done = false, response = false, failure = false, task = false, hosted = false }
  local id, message = self.multi:submit(request)
  if not id then return nil, { kind = "transport", outcome = "not_sent", message = message, sends = 0 } end
  self.calls[id] = call
  return id, call
end

--- Takes a request on, and sends it in its turn.
---@param request purser.transport.request
---@return integer|nil id
---@return purser.transport.failure|nil
function methods:submit(request)
  local id, failure = submit(self, request)
  return id, not id and failure or nil
end

-- Wakes a waiting coroutine of the host. The step's end raises what the host raises.
local function wake_hosted(host, waiter)
  if not waiter.waits then return end
  waiter.waits = false
  local ok, problem = pcall(host.wake, waiter)
  if not ok then host.problem = host.problem or { problem } end
end

-- Ends a call for its task or coroutine.
local function wake(self, id, call)
  self.calls[id] = nil
  if not call.task then return wake_hosted(self.host, call) end
  schedule.watch(self, -1)
  schedule.wake(call.task)
end

local NO_MEMORY = { kind = "transport", outcome = "unknown", phase = "receive", sends = 1,
  message = "there is not enough memory to take the answer" }

-- Hands out answers until the time `ends_us`.
local function distribute(self, ends_us)
  local id, response, failure = self.multi:next()
  while id do
    local call = self.calls[id]
    if call then
      call.done, call.response, call.failure = true, response, failure or not response and NO_MEMORY or nil
      if call.task or call.hosted then wake(self, id, call) end
    end
    if ends_us and core.monotonic_us() >= ends_us then return end
    id, response, failure = self.multi:next()
  end
end

-- Wakes the host's sleepers in the order of their times. Returns how many still sleep.
local function wake_sleepers(host)
  local now = core.monotonic_ms()
  while host.sleepers[1] and host.sleepers[1].at <= now do
    local sleeper = heap.pop(host.sleepers)
    sleeper.done = true
    wake_hosted(host, sleeper)
  end
  return #host.sleepers
end

--- Does what needs no waiting. Returns how many requests and sleepers are unfinished. Raises at the end what the host's
-- `wake` raised. Watch the descriptors of `fds` anew after each step: the next step closes a descriptor that `fds`
-- lists no more.
---@param budget_us? number  what is not done after so many microseconds waits for the next step
---@return integer
function methods:step(budget_us)
  if self.closed then return 0 end
  local ends_us = budget_us and math.floor(core.monotonic_us() + budget_us)
  distribute(self, ends_us) -- what the last step left; the memory of a long answer takes half a millisecond
  local unfinished = self.multi:step(ends_us)
  if not ends_us or core.monotonic_us() < ends_us then distribute(self, ends_us) end
  local host = self.host
  if not host then return unfinished end
  local sleeping = host.sleepers[1] and wake_sleepers(host) or 0
  local problem = host.problem
  host.problem = nil
  if problem then error(problem[1], 0) end
  return unfinished + sleeping
end

--- Waits until something can be done, at most `ms` milliseconds, and does it.
---@param ms integer
---@return integer unfinished
function methods:wait(ms)
  if self.closed then return 0 end
  self.multi:wait(ms)
  return self:step()
end

--- Returns the answer of a request, once: whether it came, and response or nil and failure.
---@param id integer
---@return boolean done
---@return purser.transport.response|nil
---@return purser.transport.failure|nil
function methods:take(id)
  local call = self.calls[id]
  if not call or not call.done then return false end
  self.calls[id] = nil
  return true, call.response, call.failure
end

--- Ends a request. The failure says whether the request was sent; nil if its answer came already.
---@param id integer
---@return purser.transport.failure|nil
function methods:cancel(id)
  if self.closed then return nil end
  local failure = self.multi:cancel(id)
  local call = failure and self.calls[id]
  if not call then return failure end
  call.done, call.response, call.failure = true, nil, failure
  if call.task or call.hosted then wake(self, id, call) else self.calls[id] = nil end
  return failure
end

local TURN_US = 1000 -- what is left follows in the next turn, after what else the loop has to do
local MAX_WAIT_MS = 1000 -- where nothing is due before a descriptor is ready

local function not_sent(message)
  return { kind = "argument", outcome = "not_sent", message = message, sends = 0 }
end

local CANNOT_WAIT = "the %s cannot wait here: Lua suspends none inside a callback of a function in C"

local function is_in_coroutine()
  local co, is_main = coroutine.running()
  return co ~= nil and not is_main
end

-- Returns the caller's way to wait: its task, "host" or "block"; or nil and a failure, before anything is sent.
local function way_to_wait(self)
  local task = schedule.current()
  if task then
    if schedule.can_wait() then return task end
    return nil, not_sent(CANNOT_WAIT:format "task" .. ", and Lua 5.1 none inside pcall; call outside of it, or by "
      .. "purser.schedule's `protect`")
  end
  if self.host and is_in_coroutine() then
    if not isyieldable or isyieldable() then return "host" end
    return nil, not_sent(CANNOT_WAIT:format "coroutine")
  end
  if self.outside_tasks == "block" then return "block" end
  return nil, not_sent(("the call was made outside of %s, where it would block; use purser.spawn or purser.run, or "
    .. 'make the transport with outside_tasks = "block"'):format(self.host and "a coroutine" or "a task"))
end

-- Hands the steps over from a coroutine to another one that waits.
local function hand_over(self)
  local host = self.host
  host.stepper = nil
  if self.closed then return self.multi:close() end -- the host watches none of its descriptors now
  for _, waiters in ipairs { self.calls, host.sleepers } do
    for _, waiter in pairs(waiters) do
      if waiter.waits then return wake_hosted(host, waiter) end
    end
  end
end

-- A host may end the stepping coroutine. After this time without a step another one steps.
local LEASE_MS = 250

-- Waits as the host's coroutines do; the first one steps for all.
local function wait_hosted(self, waiter)
  local host = self.host
  if host.stepper then wake_hosted(host, host.stepper) end -- there is more to step
  while not waiter.done and not self.closed do
    local ms, transport
    if host.self_stepping then
      ms = LEASE_MS
      if not host.stepper or host.stepper == waiter or core.monotonic_ms() >= host.lease_ends_ms then
        host.stepper = waiter
        pcall(self.step, self, TURN_US) -- what another call's `wake` raises is not an error of this call
        ms, transport = math.min(self:timeout() or MAX_WAIT_MS, MAX_WAIT_MS), self
        host.lease_ends_ms = core.monotonic_ms() + ms + LEASE_MS
      end
    end
    if not waiter.done then
      waiter.waits = true
      host.wait(waiter, ms, transport)
      waiter.waits = false
    end
  end
  if host.stepper == waiter then hand_over(self) end
end

--- Sends one request and returns its answer. Other tasks, or coroutines of the host, go on.
---@param request purser.transport.request
---@return purser.transport.response|nil
---@return purser.transport.failure|nil
function methods:send(request)
  local way, failure = way_to_wait(self)
  if not way then return nil, failure end
  local id, call = submit(self, request)
  if not id then return nil, call end
  if way == "host" then
    call.hosted = true
    wait_hosted(self, call)
    self.calls[id] = nil
    return call.response, call.failure
  elseif way ~= "block" then
    schedule.watch(self, 1)
    call.task = way -- it is woken only when it surely waits
    way.transport, way.request = self, id -- for schedule.cancel
    schedule.suspend()
    way.transport = false
    return call.response, call.failure
  end
  while not call.done do self:wait(1000) end
  self.calls[id] = nil
  return call.response, call.failure
end

--- Sends no later request on the connection of an answer that was not believed.
---@param response purser.transport.response
function methods:discard(response)
  if response.connection then self.multi:discard(response.connection) end
end

--- Returns the descriptors for a host's loop, `{ fd =, read =, write =, events = "r"|"w"|"rw" }` each, and a number
-- that changes with them. When one is ready, or after `timeout()` milliseconds, call `step`, or `schedule.step` with
-- tasks.
---@return table
---@return integer
function methods:fds()
  if self.closed then return {}, 0 end
  return self.multi:fds()
end

---@return integer|nil milliseconds nil: no need to step before a descriptor is ready
function methods:timeout()
  if self.closed then return nil end
  local ms, sleeper = self.multi:timeout(), self.host and self.host.sleepers[1]
  local left = sleeper and math.max(0, sleeper.at - core.monotonic_ms())
  return ms and left and math.min(ms, left) or ms or left
end

--- Turns Purser's tasks in an event loop with callbacks. Returns the turn: the loop calls it for a ready descriptor or
-- the alarm, the program once after it spawned a task from outside of one.
---@param host purser.EventLoop
---@param on_error? fun(problem: any)  gets what a task raised; without it `turn` raises that at its end
---@return fun() turn
function methods:attach(host, on_error)
  local watches, seen = {}, nil
  local function turn()
    local ok, problem = pcall(schedule.step, TURN_US)
    local list, version = self:fds()
    if version ~= seen then
      while watches[1] do host.unwatch(table.remove(watches)) end
      for i, one in ipairs(list) do watches[i] = host.watch(one.fd, one.events, turn) end
      seen = version
    end
    host.alarm(schedule.timeout(), turn)
    if not ok then (on_error or error)(problem, 0) end
  end
  return turn
end

local slept = 0 -- orders those whose time is the same

--- Sleeps for `ms` milliseconds, as between attempts. Other tasks, or coroutines of the host, go on.
---@param ms number
function methods:sleep(ms)
  ms = math.ceil(ms)
  if not self.host or schedule.current() or not is_in_coroutine() then return schedule.sleep(ms) end
  slept = slept + 1
  local sleeper = { at = core.monotonic_ms() + ms, order = slept, done = false, waits = false }
  heap.push(self.host.sleepers, sleeper)
  wait_hosted(self, sleeper)
end

-- Needs a finaliser that closes the transport while it hands out an answer.
local UNFINISHED = { kind = "closed", outcome = "unknown", phase = "receive", sends = 1,
  message = "the transport was closed: the request may have been executed" }

local function unfinished_calls(self)
  local ids = {}
  for id, call in pairs(self.calls) do
    if not call.done then ids[#ids + 1] = id end
  end
  return ids
end

--- Ends everything. A waiting call gets its answer, or a failure: of unknown outcome if the request was sent.
function methods:close()
  if self.closed then return end
  distribute(self)
  for _, id in ipairs(unfinished_calls(self)) do self:cancel(id) end
  distribute(self) -- what ended meanwhile
  for _, id in ipairs(unfinished_calls(self)) do
    local call = self.calls[id]
    call.done, call.failure = true, UNFINISHED
    if call.task or call.hosted then wake(self, id, call) end
  end
  self.closed = true
  local host = self.host or {}
  for _, sleeper in ipairs(host.sleepers or {}) do wake_hosted(host, sleeper) end
  if not host.stepper then self.multi:close() end -- else whoever steps closes it, once the host watches no descriptor
end

meta.__close = methods.close

---@class purser.MultiOptions: purser.CurlOptions
---@field max_in_flight integer|nil  default 64
---@field outside_tasks "block"|"reject"|nil  what a call outside of a task does. Default: "block"
---@field wait (fun(call: table, ms: integer|nil, transport: table|nil))|nil  suspends the running coroutine of the host
--- until `wake(call)`, or sooner; where there are `ms`, until they have passed at the latest; where there is
--- `transport`, until one of its descriptors is ready at the latest, or for a short while where the host watches none
---@field wake (fun(call: table))|nil  with `wait`; the host may add members to `call`
---@field self_stepping boolean|nil  `wait` heeds `ms` and `transport`: the coroutines that wait step the transport.
--- Default: false, the program steps

---@class purser.EventLoop
---@field watch fun(fd: integer, events: "r"|"w"|"rw", turn: fun()): any  calls `turn` whenever `fd` is ready
---@field unwatch fun(watch: any)  ends what `watch` returned
---@field alarm fun(ms: integer|nil, turn: fun())  calls `turn` once in `ms`, in place of the alarm before; nil: never

local M = {}

local host_rules = { wait = "function", wake = "function", self_stepping = "boolean",
  outside_tasks = { "block", "reject" } }

-- Returns the options of libcurl and of the host; or nil and a message.
local function split_options(options)
  local of_libcurl, of_host = {}, {}
  for name, value in pairs(options) do
    local part = host_rules[name] and of_host or of_libcurl
    part[name] = value
  end
  local message = option_schema.text(of_host, host_rules, "transport option")
  if not message and (not of_host.wait ~= not of_host.wake or of_host.self_stepping and not of_host.wait) then
    message = 'transport options "wait" and "wake" belong together, "self_stepping" needs both, and one is missing'
  end
  if message then return nil, message end
  return of_libcurl, of_host
end

-- Without `http_version` reads go over HTTP/2 with TLS, where libcurl and the service have it, on one connection.
-- Returns nil and a message for an option that libcurl rejects.
local function new_handle(options)
  if options.http_version ~= nil then return libcurl.multi(options) end
  options.http_version = "auto"
  local multi, message = libcurl.multi(options)
  if multi then return multi end
  options.http_version = "1.1"
  multi = libcurl.multi(options)
  return multi, not multi and message or nil
end

--- Makes the transport for many requests at once.
---@param options? purser.MultiOptions
---@return purser.transport.multi|nil
---@return string|nil message
function M.new(options)
  if type(options or {}) ~= "table" then return nil, ("the options are a %s; give a table"):format(type(options)) end
  local of_libcurl, of_host = split_options(options or {})
  if not of_libcurl then return nil, of_host end
  local multi, message = new_handle(of_libcurl)
  if not multi then return nil, (message:gsub("there are ", "%0outside_tasks, self_stepping, wait, wake, ")) end
  local host = of_host.wait and { wait = of_host.wait, wake = of_host.wake, self_stepping = of_host.self_stepping,
    sleepers = {}, problem = nil, stepper = nil, lease_ends_ms = 0 } or nil
  return setmetatable({ multi = multi, calls = {}, closed = false, host = host,
    outside_tasks = of_host.outside_tasks or "block" }, meta)
end

return M
