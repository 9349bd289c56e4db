-- SPDX-License-Identifier: MIT
--- The transport for nginx with its Lua module (OpenResty): every client call waits without holding up the worker.
--
-- One multi handle of libcurl for the worker. A call submits its request and waits on a semaphore; one timer steps the
-- handle for all of them while there are any. Its pauses grow with the time in which nothing came (a sixteenth of it, 1
-- to 10 ms), so that many calls that wait long cost little and short ones are answered soon.
--
-- Works where nginx can wait: rewrite, access, content, timers (and the phases of TLS). Make it in a worker, not in
-- init_by_lua: workers must not share connections.

local handle = require("purser.client.transport.multi").handle

---@class purser.nginx.openresty: purser.Transport
---@field private multi userdata
---@field private waiting table<integer, table>
---@field private pumping boolean
---@field private closed boolean
local methods = {}
local meta = { __name = "purser.nginx.openresty", __index = methods }

local MIN_S, MAX_S = 0.001, 0.010
local GRACE_S = 5 -- beyond a request's own time-out, after which something must be wrong with the timer

local waiting_phases = { rewrite = true, access = true, content = true, timer = true, ssl_cert = true,
  ssl_session_fetch = true, ssl_client_hello = true, preread = true, server_rewrite = true }

function meta:__tostring()
  return (tostring(self.multi):gsub("^purser%.http_multi", meta.__name))
end

local function not_sent(kind, message)
  return { kind = kind, outcome = "not_sent", message = message, sends = 0 }
end

local NO_MEMORY = { kind = "transport", outcome = "unknown", phase = "receive", sends = 1,
  message = "there is not enough memory to take the answer" }

local LOST = { kind = "transport", outcome = "unknown", phase = "receive", sends = 1, message = "the answer was lost" }

-- Hands every answer that has come to the call that waits for it. Returns whether there was one.
local function distribute(self, id, response, failure)
  if not id then return false end
  while id do
    local call = self.waiting[id]
    self.waiting[id] = nil
    if call then
      call.done, call.response, call.failure = true, response, failure or not response and NO_MEMORY or nil
      call.semaphore:post(1)
    end
    id, response, failure = self.multi:next()
  end
  return true
end

-- Steps the handle until nothing is unfinished. A worker that shuts down lets its calls end, too.
local function turn(self)
  local last = ngx.now()
  while not self.closed do
    local unfinished = self.multi:step()
    if distribute(self, self.multi:next()) then
      last = ngx.now()
    elseif unfinished == 0 then
      break
    end
    local pause = (ngx.now() - last) / 16
    ngx.sleep(pause < MIN_S and MIN_S or pause > MAX_S and MAX_S or pause)
  end
end

-- Whatever is raised, for want of memory, must not leave the calls waiting.
local function pump(_, self)
  while not pcall(turn, self) do ngx.sleep(MAX_S) end
  self.pumping = false
end

-- Sees to it that the pump runs. It begins when the call that starts it waits.
local function start_pump(self)
  if self.pumping then return true end
  local ok, message = ngx.timer.at(0, pump, self)
  if not ok then return nil, ("nginx could not start a timer (%s)"):format(tostring(message)) end
  self.pumping = true
  return true
end

--- Sends one request and returns its answer; the worker does other work meanwhile.
---@param request purser.transport.request
---@return purser.transport.response|nil
---@return purser.transport.failure|nil
function methods:send(request)
  if self.closed then return nil, not_sent("closed", "the transport is closed") end
  local phase = ngx.get_phase()
  if not waiting_phases[phase] then
    return nil, not_sent("argument", ("nginx cannot wait in the phase %s; make the call in a timer (ngx.timer.at)")
      :format(phase))
  end
  local call = { semaphore = require("ngx.semaphore").new(0), done = false, response = false, failure = false }
  local ok, message = start_pump(self)
  if not ok then return nil, not_sent("transport", message) end
  local id
  id, message = self.multi:submit(request)
  if not id then return nil, not_sent("transport", message) end
  self.waiting[id] = call
  call.semaphore:wait((request.timeout_ms or self.timeout_ms) / 1000 + GRACE_S)
  if not call.done then
    self.waiting[id] = nil
    return nil, self.multi:cancel(id) or LOST
  end
  return call.response, call.failure
end

--- Sleeps between two attempts.
---@param ms integer
function methods:sleep(ms) -- luacheck: ignore self
  ngx.sleep(ms / 1000)
end

--- The answer was not believed: no later request goes out on its connection.
---@param response purser.transport.response
function methods:discard(response)
  if response.connection then self.multi:discard(response.connection) end
end

--- Ends everything; calls that wait get the answer that has come, or a failure. May be called again.
function methods:close()
  if self.closed then return end
  self.closed = true
  distribute(self, self.multi:next())
  local failures = {}
  for id in pairs(self.waiting) do failures[id] = self.multi:cancel(id) or false end
  distribute(self, self.multi:next()) -- what ended meanwhile
  for id, call in pairs(self.waiting) do
    call.done, call.failure = true, failures[id] or LOST
    call.semaphore:post(1)
  end
  self.waiting = {}
  self.multi:close()
end

local M = {}

--- Makes a transport. Options: those of purser.transport.curl and `max_in_flight` (256); further calls wait for their
-- turn. `http_version` is "2" unless given.
---@param options? purser.MultiOptions
---@return purser.nginx.openresty|nil
---@return string|nil message
function M.new(options)
  if not ngx then return nil, "this host is not nginx" end
  if ngx.get_phase() == "init" then
    return nil, "make the transport in a worker (init_worker_by_lua, or at its first use), not in init_by_lua"
  end
  if type(options or {}) ~= "table" then return nil, ("the options are a %s; give a table"):format(type(options)) end
  local given = { max_in_flight = 256 }
  for name, value in pairs(options or {}) do given[name] = value end
  local multi, message = handle(given)
  if not multi then return nil, message end
  return setmetatable({ multi = multi, waiting = {}, timeout_ms = given.timeout_ms or 10000, pumping = false,
    closed = false }, meta)
end

return M
