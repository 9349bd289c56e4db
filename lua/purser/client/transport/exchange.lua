-- SPDX-License-Identifier: MIT
--- One HTTP/1.1 exchange over a socket of a host: what a transport's `send` returns. The host connects; order, time,
-- bounds and outcome are here (docs/client/transports.md).
--
--     function transport:send(request)
--       return exchange.run(request, { connect = function(url, left_ms) ... return socket end })
--     end

local core = require "purser.core"
local http1 = require "purser.client.transport.http1"
local loopback = require "purser.client.util.loopback"
local schedule = require "purser.schedule"

---@class purser.HostSocket  what LuaSocket's have, and most others
---@field send fun(socket: any, bytes: string): any, string|nil  sends all; else false, nil or how many, and why
---@field receive fun(socket: any, max: integer): string|nil, string|nil, string|nil  what has come, at most `max`
--- bytes; else nil, "timeout" or why the connection ended, and what came before
---@field close fun(socket: any)

---@class purser.HostSockets
---@field connect fun(url: purser.transport.http1.url, left_ms: integer): purser.HostSocket|false|nil, string|nil  a
--- connected socket; else false or nil, and why: nothing was sent. For http:// to this machine `url.host` is an address
---@field limit (fun(socket: any, left_ms: integer))|nil  called before each `send` and `receive`, which take no longer
---@field secure boolean|nil  for https://, `connect` verifies the certificate and its name. Default: false
---@field allow_insecure boolean|nil  permits http:// to another machine. Default: false

---@class purser.modules.exchange
local M = {}

local CHUNK, TIMEOUT_MS = 16384, 10000
local TIME_RAN_OUT = "the time ran out (%d ms)"

-- Returns the URL for the host to connect to, over plain HTTP with an address of this machine; or nil and a fault.
local function place_of(host, url)
  if url.secure and not host.secure then
    return nil, "this transport has no TLS; use a proxy on this machine, which verifies certificates"
  end
  if url.secure then return url end -- the certificate has the name
  local address = loopback.address(url.host)
  if not (address or host.allow_insecure) then
    return nil, "plain HTTP would show the request to the network; use https://, or allow_insecure = true if you must"
  end
  url.host = address or url.host
  return url
end

local function left_ms(call)
  return call.ends_ms - core.monotonic_ms()
end

-- Calls a method of the socket within the time left; nil and why without time.
local function within(call, host, name, argument)
  local left = left_ms(call)
  if left <= 0 then return nil, TIME_RAN_OUT:format(call.timeout_ms) end
  if host.limit then host.limit(call.socket, left) end
  return call.socket[name](call.socket, argument)
end

-- Returns the reader of a whole answer; or nil and why.
local function receive(call, host)
  local reader, whole, message = http1.reader(), false, nil
  repeat
    local text, why, part = within(call, host, "receive", reader:needs(CHUNK))
    local is_over = not text and why ~= "timeout" or text == ""
    text = text or part or ""
    if text ~= "" then whole, message = reader:feed(text) end
    if whole == false and left_ms(call) <= 0 then break end -- an end that the time made ends no answer
    if whole == false and is_over then whole, message = reader:finish() end
  until whole ~= false
  if whole then return reader end
  return nil, message or TIME_RAN_OUT:format(call.timeout_ms)
end

local function run(call, host)
  local socket, message = host.connect(call.url, call.timeout_ms)
  if not socket then return nil, message or "no connection" end
  call.socket = socket
  if left_ms(call) <= 0 then return nil, TIME_RAN_OUT:format(call.timeout_ms) end
  call.sends = 1
  local ok
  ok, message = within(call, host, "send", call.bytes)
  if not ok or type(ok) == "number" and ok < #call.bytes then
    return nil, message or "the connection ended before the request was sent"
  end
  return receive(call, host)
end

local function failed(call, message)
  return nil, { kind = "transport", outcome = call.sends > 0 and "unknown" or "not_sent", message = tostring(message),
    sends = call.sends }
end

--- Sends one request with `Connection: close`. Returns a response, or nil and a failure.
---@param request purser.transport.request
---@param host purser.HostSockets
---@return purser.transport.response|nil
---@return purser.transport.failure|nil
function M.run(request, host)
  local timeout_ms = request.timeout_ms or TIMEOUT_MS
  local call = { timeout_ms = timeout_ms, sends = 0, ends_ms = core.monotonic_ms() + timeout_ms }
  local message
  call.bytes, message = http1.request(request)
  if call.bytes then call.url, message = place_of(host, http1.url(request.base_url)) end
  if message then return failed(call, message) end
  local ok, reader, why = schedule.protect(run, call, host)
  if call.socket then pcall(call.socket.close, call.socket) end
  if not ok then return failed(call, reader) end
  if not reader then return failed(call, why) end
  local response = reader:response()
  response.sends = 1
  return response
end

return M
