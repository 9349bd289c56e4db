-- SPDX-License-Identifier: MIT
--- The transport for many requests at once. `send` waits: in a task of purser.schedule it lets the others go on.
-- A host with its own loop uses `submit`, `step` and `take`.

local libcurl = require "purser.libcurl"
local schedule = require "purser.schedule"

---@class purser.transport.multi
---@field multi userdata
---@field private calls table<integer, table> by id: whether it is done, and how; the task that waits for it
local methods = {}
local meta = { __name = "purser.transport.multi", __index = methods }

function meta:__tostring()
  return (tostring(self.multi):gsub("^purser%.http_multi", meta.__name))
end

local function closed()
  return { kind = "closed", outcome = "not_sent", message = "the transport is closed", sends = 0 }
end

-- The place of an answer is made before its request is sent: there may be no memory for it later.
local function submit(self, request)
  if self.closed then return nil, closed() end
  local call = { done = false, response = false, failure = false, task = false }
  local id, message = self.multi:submit(request)
  if not id then return nil, { kind = "transport", outcome = "not_sent", message = message, sends = 0 } end
  self.calls[id] = call
  return id, call
end

--- Takes a request on; it is sent when it is its turn.
---@param request purser.transport.request
---@return integer|nil id
---@return purser.transport.failure|nil
function methods:submit(request)
  local id, failure = submit(self, request)
  return id, not id and failure or nil
end

-- Ends a call that a task waits for.
local function wake(self, id, call)
  self.calls[id] = nil
  schedule.watch(self, -1)
  schedule.wake(call.task)
end

local NO_MEMORY = { kind = "transport", outcome = "unknown", phase = "receive", sends = 1,
  message = "there is not enough memory to take the answer" }

-- Puts every answer that has come where `take` or its task finds it.
local function distribute(self, id, response, failure)
  while id do
    local call = self.calls[id]
    if call then
      call.done, call.response, call.failure = true, response, failure or not response and NO_MEMORY or nil
      if call.task then wake(self, id, call) end
    end
    id, response, failure = self.multi:next()
  end
end

--- Does what can be done without waiting, and returns how many requests are unfinished.
---@return integer
function methods:step()
  if self.closed then return 0 end
  local unfinished = self.multi:step()
  distribute(self, self.multi:next())
  return unfinished
end

--- Waits until something can be done, at most `ms` milliseconds, and does it.
---@param ms integer
---@return integer unfinished
function methods:wait(ms)
  if self.closed then return 0 end
  self.multi:wait(ms)
  return self:step()
end

--- The answer to the request `id`, once: whether it has come, then response or nil and failure.
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

--- Ends a request. The failure says whether it had been sent; nil when its answer has come already.
---@param id integer
---@return purser.transport.failure|nil
function methods:cancel(id)
  if self.closed then return nil end
  local failure = self.multi:cancel(id)
  local call = failure and self.calls[id]
  if not call then return failure end
  call.done, call.response, call.failure = true, nil, failure
  if call.task then wake(self, id, call) else self.calls[id] = nil end
  return failure
end

--- Sends one request and returns its answer. In a task the others go on meanwhile.
---@param request purser.transport.request
---@return purser.transport.response|nil
---@return purser.transport.failure|nil
function methods:send(request)
  local id, call = submit(self, request)
  if not id then return nil, call end
  local task = schedule.current()
  if task then
    schedule.watch(self, 1)
    call.task = task -- it is woken only when it surely waits
    schedule.suspend()
    return call.response, call.failure
  end
  while not call.done do self:wait(1000) end
  self.calls[id] = nil
  return call.response, call.failure
end

--- The answer was not believed: no later request goes out on its connection.
---@param response purser.transport.response
function methods:discard(response)
  if response.connection then self.multi:discard(response.connection) end
end

--- What a foreign loop has to watch: a list of `{ fd =, read =, write = }`, and a number that changes with it. When
-- one is ready, or `timeout()` milliseconds have passed, call `step`, or `schedule.step` where there are tasks.
---@return table
---@return integer
function methods:fds()
  if self.closed then return {}, 0 end
  return self.multi:fds()
end

---@return integer|nil milliseconds nil: no need to step before a descriptor is ready
function methods:timeout()
  if self.closed then return nil end
  return self.multi:timeout()
end

--- Sleeps for `ms` milliseconds; in a task the others go on. The pipeline sleeps this way between attempts.
---@param ms number
function methods:sleep(ms) -- luacheck: ignore self
  schedule.sleep(math.ceil(ms))
end

-- Cannot be met unless a finaliser closes the transport while it hands out an answer.
local UNFINISHED = { kind = "closed", outcome = "unknown", phase = "receive", sends = 1,
  message = "the transport was closed: the request may have been executed" }

local function unfinished_calls(self)
  local ids = {}
  for id, call in pairs(self.calls) do
    if not call.done then ids[#ids + 1] = id end
  end
  return ids
end

--- Ends everything. Whoever waits gets the answer that has come, or a failure; its outcome is unknown if the request
-- had been sent.
function methods:close()
  if self.closed then return end
  distribute(self, self.multi:next())
  for _, id in ipairs(unfinished_calls(self)) do self:cancel(id) end
  distribute(self, self.multi:next()) -- what ended meanwhile
  for _, id in ipairs(unfinished_calls(self)) do
    local call = self.calls[id]
    call.done, call.failure = true, UNFINISHED
    if call.task then wake(self, id, call) end
  end
  self.closed = true
  self.multi:close()
end

meta.__close = methods.close

local M = {}

--- Makes a transport. Options: those of purser.transport.curl and `max_in_flight` (64). `http_version` is "2" unless
-- given: over TLS requests then share a connection where the service knows HTTP/2.
---@param options? table
---@return purser.transport.multi|nil
---@return string|nil message
function M.new(options)
  local given = { http_version = "2" }
  for name, value in pairs(options or {}) do given[name] = value end
  local multi, message = libcurl.multi(given)
  if not multi then return nil, message end
  return setmetatable({ multi = multi, calls = {}, closed = false }, meta)
end

return M
