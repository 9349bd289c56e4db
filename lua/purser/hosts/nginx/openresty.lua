-- SPDX-License-Identifier: MIT
--- The transport for nginx with its Lua module (OpenResty): every client call waits without holding up the worker.
--
-- The multi transport, with one handle of libcurl for the worker. Calls wait on semaphores; the first call steps the
-- handle for all, and hands the steps over when it is answered. A pause between steps is a sixteenth of the time in
-- which nothing came, 1 to 10 ms. No timer is needed: nginx drops timers beyond `lua_max_running_timers` in silence.
--
-- Works where nginx can wait: rewrite, access, content, timers, TLS. Workers must not share connections, so init_by_lua
-- cannot make the transport.

local core = require "purser.core"
local multi = require "purser.client.transport.multi"
local phases = require "purser.hosts.nginx.phases"

---@class purser.nginx.openresty: purser.Transport
---@field private transport purser.transport.multi
local methods = {}
local meta = { __name = "purser.nginx.openresty", __index = methods }

local MIN_MS, MAX_MS = 1, 10

function meta:__tostring()
  return (tostring(self.transport):gsub("^[%w_.]+", meta.__name))
end

-- Returns how a call of one transport waits, and how it is woken.
local function new_host()
  local came_ms = 0 -- when an answer or a call came last
  local function bell(call)
    call.bell = call.bell or require("ngx.semaphore").new(0)
    return call.bell
  end
  local function wait(call, ms, steps)
    local pause = (core.monotonic_ms() - came_ms) / 16
    if steps then ms = math.min(ms, MAX_MS, pause) end
    bell(call):wait(math.max(ms, MIN_MS) / 1000)
  end
  local function wake(call)
    came_ms = core.monotonic_ms()
    bell(call):post(1)
  end
  return wait, wake
end

--- Sends one request and returns its answer; the worker does other work meanwhile.
---@param request purser.transport.request
---@return purser.transport.response|nil
---@return purser.transport.failure|nil
function methods:send(request)
  local message = not self.transport.closed and phases.no_wait()
  if message then return nil, { kind = "argument", outcome = "not_sent", message = message, sends = 0 } end
  return self.transport:send(request)
end

--- Sleeps between two attempts.
---@param ms integer
function methods:sleep(ms) -- luacheck: ignore self
  ngx.sleep(ms / 1000)
end

--- The answer was not believed: no later request goes out on its connection.
---@param response purser.transport.response
function methods:discard(response)
  self.transport:discard(response)
end

--- Ends everything; calls that wait get the answer that has come, or a failure. May be called again.
function methods:close()
  self.transport:close()
end

meta.__close = methods.close

local M = {}

--- Makes a transport. Options: those of purser.transport.curl and `max_in_flight` (256); further calls wait for their
-- turn. `http_version` is "auto" unless given.
---@param options? purser.MultiOptions
---@return purser.nginx.openresty|nil
---@return string|nil message
function M.new(options)
  local message = phases.no_worker()
  if message then return nil, message end
  if type(options or {}) ~= "table" then return nil, ("the options are a %s; give a table"):format(type(options)) end
  local given = { max_in_flight = 256 }
  for name, value in pairs(options or {}) do given[name] = value end
  given.wait, given.wake = new_host()
  given.self_stepping, given.outside_tasks = true, "reject"
  local transport
  transport, message = multi.new(given)
  if not transport then return nil, message end
  return setmetatable({ transport = transport }, meta)
end

return M
