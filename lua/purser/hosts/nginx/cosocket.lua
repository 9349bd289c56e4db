-- SPDX-License-Identifier: MIT
--- The transport on nginx's own sockets: a call waits by nginx's events, without a pump and without libcurl.
--
-- HTTP/1.1. A write call has a connection of its own, which has no late answer of another call, and which the service
-- cannot have given up. Read calls share kept connections. Each exchange runs in a light thread; the caller waits on a
-- semaphore, whose time-out ends names, connection, TLS, request and answer.
--
-- nginx.conf gives `resolver` for names, and for https `lua_ssl_trusted_certificate` and `lua_ssl_verify_depth`.

local core = require "purser.core"
local http1 = require "purser.client.transport.http1"
local loopback = require "purser.client.util.loopback"
local option_schema = require "purser.client.util.option_schema"
local phases = require "purser.hosts.nginx.phases"

---@class purser.nginx.cosocket: purser.Transport
---@field private options table
---@field private pool string
---@field private generation integer
---@field private calls table<table, boolean>  those that wait
---@field private kept table<string, boolean>  pools that have, or had, a kept connection
---@field private look table|nil  the one that nginx is asked for
---@field private closed boolean
local methods = {}
local meta = { __name = "purser.nginx.cosocket", __index = methods }

local LOOK_S = 0.2 -- longer than nginx takes; nginx may have dropped the timer without a word

function meta:__tostring()
  return ("%s (%s)"):format(meta.__name, self.closed and "closed" or "open")
end

local function failure_of(call, message, kind)
  local sent = call.sends > 0
  return { kind = kind or "transport", outcome = sent and "unknown" or "not_sent", phase = call.phase,
    message = message, sends = call.sends }
end

local function left_ms(call)
  return math.max(1, call.ends_ms - core.monotonic_ms())
end

-- Adds the cure to nginx's message about a missing setting.
local function with_cure(message)
  message = tostring(message)
  if message:find("no resolver", 1, true) then return message .. "; nginx.conf needs a `resolver`" end
  if message:find("host mismatch", 1, true) then
    return message .. "; the server's certificate is of another name than `base_url` has"
  end
  if message:find("certificate", 1, true) or message:find("handshake failed", 1, true) then
    return message .. "; `lua_ssl_trusted_certificate` and `lua_ssl_verify_depth` in nginx.conf say which are trusted"
  end
  return message
end

local NOT_ACCEPTED = "the certificate is not accepted: it is of another name than base_url has, or of an authority "
  .. "that is not trusted"

-- Lets nginx look at its events: nginx closes a kept connection on which bytes wait. A timer of no time ends before
-- the look where it is set among nginx's timers, as after a sleep; a timer that a woken semaphore sets ends after the
-- look. Calls share a look that has not ended. Returns false in a worker that ends, and where nginx ran no timer.
local function let_nginx_look(self)
  local look, semaphores = self.look, require "ngx.semaphore"
  if not look then
    look = { semaphore = semaphores.new(0), waiting = 0, done = false }
    local function looked(premature)
      if self.look == look then self.look = nil end
      look.done = not premature
      look.semaphore:post(look.waiting)
    end
    local function begin()
      local after_timers = semaphores.new(0)
      ngx.thread.spawn(function()
        after_timers:wait(LOOK_S)
        if not ngx.timer.at(0, looked) then looked(true) end
      end)
      after_timers:post(1)
    end
    if not ngx.timer.at(0, begin) then return false end
    self.look = look
  end
  look.waiting = look.waiting + 1
  look.semaphore:wait(LOOK_S)
  if self.look == look then self.look = nil end -- nobody waits for what may never run
  return look.done
end

local fresh_count = 0

-- A connection, and whether it was kept; nil and a message.
local function connect(call, fresh)
  local self, url = call.transport, call.url
  call.phase, call.generation = "connect", self.generation
  local pool = self.pool .. call.generation .. " " .. call.request.base_url
  if not fresh and self.kept[pool] then fresh = not let_nginx_look(self) or call.generation ~= self.generation end
  call.fresh = fresh
  if fresh then
    fresh_count = fresh_count + 1
    pool = ("%s fresh %d"):format(pool, fresh_count) -- a name that no kept connection has
  end
  local socket = ngx.socket.tcp()
  call.socket = socket
  local left = left_ms(call)
  socket:settimeouts(math.min(self.options.connect_timeout_ms, left), left + 1000, left + 1000)
  local host = call.address or url.host
  if host:find(":", 1, true) then host = "[" .. host .. "]" end
  local ok, message = socket:connect(host, url.port, { pool = pool, pool_size = self.options.max_idle })
  if not ok then return nil, message end
  call.pool = pool
  if (socket:getreusedtimes() or 0) > 0 then return socket, true end
  if url.secure then
    call.phase = "tls"
    local called -- some versions of lua-resty-core raise for a certificate of another name
    called, ok, message = pcall(socket.sslhandshake, socket, false, url.host, true)
    if not called then ok, message = nil, "the certificate is not accepted: " .. tostring(ok) end
    if not ok then return nil, message end
    -- Some versions of nginx's module return true for a certificate that is not accepted, and closed the connection.
    if not socket:getreusedtimes() then return nil, NOT_ACCEPTED end
  end
  return socket, false
end

-- Reads the answer. Returns its reader when it is whole; else nil, a message and the reader.
local function receive(call, socket)
  call.phase = "receive"
  local max_body = call.transport.options.max_response_bytes
  local reader = http1.reader { max_body = max_body }
  call.reader = reader
  while true do
    local text, message = socket:receiveany(65536)
    local whole
    if text then
      call.last_bytes = #text
      whole, message = reader:feed(text)
    elseif message == "closed" then
      whole, message = reader:finish()
    end
    if whole then return reader end
    if message then return nil, message, reader end
  end
end

-- Over TLS nginx does not see bytes beyond a buffer of some KiB: a last read of whole KiB filled that buffer.
local function may_keep(call, reader)
  return reader.reusable and not call.fresh and call.generation == call.transport.generation
    and not (call.url.secure and call.last_bytes % 1024 == 0)
end

local function finish(call, socket, reader, reused)
  local self = call.transport
  if may_keep(call, reader) then
    self.kept[call.pool] = socket:setkeepalive(self.options.idle_ms, self.options.max_idle) and true or nil
  else
    socket:close()
  end
  local response = reader:response()
  response.reused, response.sends = reused, call.sends
  if not call.fresh then response.connection = call.generation end
  response.total_us = (core.monotonic_ms() - call.began_ms) * 1000
  return response
end

-- Makes an exchange. A read whose kept connection ended before the first byte of an answer is sent once more.
local function exchange(call, fresh)
  local socket, reused = connect(call, fresh)
  if not socket then return nil, failure_of(call, with_cure(reused)) end
  call.phase, call.sends = "send", call.sends + 1
  local sent, message = socket:send(call.bytes)
  local reader, seen
  if sent then reader, message, seen = receive(call, socket) end
  if reader then return finish(call, socket, reader, reused) end
  pcall(socket.close, socket)
  local too_large = seen and seen.too_large
  if reused and not (seen and seen.began) and not call.request.at_most_once then return exchange(call, true) end
  return nil, failure_of(call, tostring(message), too_large and "decode" or nil)
end

local function run(call)
  local ok, response, failure = pcall(exchange, call, call.request.at_most_once and true or false)
  if ok then
    call.response, call.failure = response, failure
  else
    pcall(call.socket and call.socket.close, call.socket)
    call.failure = failure_of(call, "the exchange raised an error: " .. tostring(response))
  end
  call.done = true
  call.semaphore:post(1)
end

-- Waits for the exchange, and ends the exchange when the time is over.
local function await(call, thread)
  if not call.done then call.semaphore:wait(left_ms(call) / 1000) end
  if call.done then
    ngx.thread.wait(thread)
    return call.response, call.failure
  end
  ngx.thread.kill(thread)
  if call.socket then pcall(call.socket.close, call.socket) end
  if call.closed then
    return nil, failure_of(call, call.sends > 0 and "the transport was closed: the request may have been executed"
      or "the transport was closed before the request was sent", "closed")
  end
  local failure = failure_of(call, ("the time ran out (%d ms)"):format(call.timeout_ms))
  failure.status = call.reader and call.reader.status
  return nil, failure
end

-- Returns what a call needs; nil and a failure when nothing may be sent.
local function prepare(self, request)
  local call = { transport = self, request = request, sends = 0, done = false, last_bytes = 0,
    timeout_ms = request.timeout_ms or self.options.timeout_ms, began_ms = core.monotonic_ms() }
  if self.closed then return nil, failure_of(call, "the transport is closed", "closed") end
  local message = phases.no_wait()
  if message then return nil, failure_of(call, message, "argument") end
  call.url, message = http1.url(request.base_url)
  if call.url then call.bytes, message = http1.request(request, not request.at_most_once, call.url) end
  if not call.bytes then return nil, failure_of(call, message, "argument") end
  if call.url.secure and (call.url.host:find(":", 1, true) or call.url.host:find "^[%d.]+$") then
    return nil, failure_of(call, "nginx compares certificates with names only, and base_url has an address; "
      .. "use purser.transport.openresty", "argument")
  end
  call.address = loopback.address(call.url.host)
  if not (call.url.secure or self.options.allow_insecure or call.address) then
    return nil, failure_of(call, "plain HTTP would show the request to the network; use https://, or allow_insecure = "
      .. "true if you must", "argument")
  end
  call.ends_ms = call.began_ms + call.timeout_ms
  call.semaphore = require("ngx.semaphore").new(0)
  return call
end

--- Sends a request and returns the answer; the worker does further work meanwhile.
---@param request purser.transport.request
---@return purser.transport.response|nil
---@return purser.transport.failure|nil
function methods:send(request)
  local call, failure = prepare(self, request)
  if not call then return nil, failure end
  ngx.update_time() -- nginx counts a time-out from the time it last looked
  self.calls[call] = true
  local response
  response, failure = await(call, ngx.thread.spawn(run, call))
  self.calls[call] = nil
  return response, failure
end

--- Sleeps between two attempts.
---@param ms integer
function methods:sleep(ms) -- luacheck: ignore self
  ngx.sleep(ms / 1000)
end

--- The answer was not believed: no later request goes out on its connection, nor on any that was kept till now.
---@param response purser.transport.response
function methods:discard(response)
  if response.connection == self.generation then
    self.generation, self.kept = self.generation + 1, {}
  end
end

--- Ends everything; calls that wait get a failure. May be called again.
function methods:close()
  if self.closed then return end
  self.closed = true
  self.generation, self.kept = self.generation + 1, {}
  for call in pairs(self.calls) do
    if not call.done then
      call.closed = true
      call.semaphore:post(1)
    end
  end
end

meta.__close = methods.close

---@class purser.CosocketOptions
---@field timeout_ms integer|nil          default 10000
---@field connect_timeout_ms integer|nil  default 3000
---@field max_response_bytes integer|nil  default 16 MiB
---@field idle_ms integer|nil   how long a connection is kept. Default: 60000
---@field max_idle integer|nil  how many are kept. Default: 64
---@field allow_insecure boolean|nil  http:// to another machine. Default: false

local M = {}

local DAY_MS = 86400000
local rules = { timeout_ms = { 1, DAY_MS }, connect_timeout_ms = { 1, DAY_MS }, max_response_bytes = { 1, 2 ^ 40 },
  idle_ms = { 1, DAY_MS }, max_idle = { 1, 10000 }, allow_insecure = "boolean" }
local of_libcurl = { "proxy", "ca_file", "ca_path", "ca_pem", "pinned_key", "http_version", "interface", "compressed" }
local defaults = { timeout_ms = 10000, connect_timeout_ms = 3000, max_response_bytes = 16 * 1024 * 1024,
  idle_ms = 60000, max_idle = 64, allow_insecure = false }

local made = 0

--- Makes a transport on nginx's own sockets.
---@param options? purser.CosocketOptions
---@return purser.nginx.cosocket|nil
---@return string|nil message
function M.new(options)
  local message = phases.no_worker()
  if message then return nil, message end
  options = options or {}
  for _, name in ipairs(of_libcurl) do
    if type(options) == "table" and options[name] ~= nil then
      return nil, ('transport option "%s" is not supported on nginx\'s sockets; use purser.transport.openresty')
        :format(name)
    end
  end
  message = option_schema.text(options, rules, "transport option")
  if message then return nil, message end
  local chosen = {}
  for name, value in pairs(defaults) do chosen[name] = options[name] or value end
  made = made + 1
  -- Where nginx ends the coroutine of a call, no code runs to take the call out of `calls`.
  return setmetatable({ options = chosen, pool = ("purser %d "):format(made), generation = 1, kept = {},
    calls = setmetatable({}, { __mode = "k" }), closed = false }, meta)
end

return M
