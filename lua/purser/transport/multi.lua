--- The transport for many requests at once. `send` waits: in a task of purser.schedule it lets the others go on.
-- A host with its own loop uses `submit`, `step` and `take`.

local core = require "purser.core"
local schedule = require "purser.schedule"

---@class purser.transport.multi
---@field multi userdata
---@field private waiting table<integer, purser.task>
---@field private finished table<integer, table>
local methods = {}
local meta = { __name = "purser.transport.multi", __index = methods }

function meta:__tostring()
  return (tostring(self.multi):gsub("^purser%.http_multi", meta.__name))
end

local function closed()
  return { kind = "closed", outcome = "not_sent", message = "the transport is closed", sends = 0 }
end

--- Takes a request on; it is sent when it is its turn.
---@param request purser.transport.request
---@return integer|nil id
---@return purser.transport.failure|nil
function methods:submit(request)
  if self.closed then return nil, closed() end
  local id, message = self.multi:submit(request)
  if id then return id end
  return nil, { kind = "transport", outcome = "not_sent", message = message, sends = 0 }
end

-- Hands every answer that has come to its task, or keeps it for `take`.
local function distribute(self, id, response, failure)
  while id do
    local task = self.waiting[id]
    if task then
      self.waiting[id] = nil
      schedule.watch(self, -1)
      schedule.wake(task, response, failure)
    else
      self.finished[id] = { response, failure }
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
  core.wait(ms, self.multi)
  return self:step()
end

--- The answer to the request `id`, once: whether it has come, then response or nil and failure.
---@param id integer
---@return boolean done
---@return purser.transport.response|nil
---@return purser.transport.failure|nil
function methods:take(id)
  local result = self.finished[id]
  if not result then return false end
  self.finished[id] = nil
  return true, result[1], result[2]
end

--- Ends a request. The failure says whether it had been sent; nil when its answer has come already.
---@param id integer
---@return purser.transport.failure|nil
function methods:cancel(id)
  if self.closed then return nil end
  local failure = self.multi:cancel(id)
  local task = failure and self.waiting[id]
  if task then
    self.waiting[id] = nil
    schedule.watch(self, -1)
    schedule.wake(task, nil, failure)
  end
  return failure
end

--- Sends one request and returns its answer. In a task the others go on meanwhile.
---@param request purser.transport.request
---@return purser.transport.response|nil
---@return purser.transport.failure|nil
function methods:send(request)
  local id, failure = self:submit(request)
  if not id then return nil, failure end
  local task = schedule.current()
  if task then
    self.waiting[id] = task
    schedule.watch(self, 1)
    return schedule.suspend()
  end
  local done, response
  repeat
    self:wait(1000)
    done, response, failure = self:take(id)
  until done
  return response, failure
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

--- Rests for `ms` milliseconds; in a task the others go on. The pipeline rests this way between attempts.
---@param ms number
function methods:sleep(ms) -- luacheck: ignore self
  schedule.sleep(math.ceil(ms))
end

--- Ends everything. A task that waits gets a failure; its outcome is unknown if its request had been sent.
function methods:close()
  if self.closed then return end
  local ids = {}
  for id in pairs(self.waiting) do ids[#ids + 1] = id end
  for _, id in ipairs(ids) do self:cancel(id) end
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
  local multi, message = core.http_multi(given)
  if not multi then return nil, message end
  return setmetatable({ multi = multi, waiting = {}, finished = {}, closed = false }, meta)
end

return M
