-- SPDX-License-Identifier: MIT
-- The hostile service of transport_check, a program of its own on loopback. It needs LuaSocket (Debian:
-- lua-socket), and the command `openssl` for what is checked of TLS.
--
--   lua -e 'require("transport_check.service").main()'
--
-- It prints lines `name value` and then `ready`; it ends at the request `/stop/now`, or after ten minutes. The first
-- word of a request's path is how it answers (behaviours.lua); `/count/ID` says what came for an ID.

local behaviours = require "transport_check.behaviours"
local socket = require "socket"

local M = {}

local LIFE_S = 600

local states = {} -- what came, by the second word of the path
local connections = {} -- socket -> connection
local connection_count = 0

local methods = {}
methods.__index = methods

--- Waits for bytes. Returns them, or raises when the client has gone.
function methods:receive()
  while true do
    local text, message, part = self.socket:receive(65536)
    text = text or part
    if text and text ~= "" then return text end
    if message ~= "timeout" then error("gone", 0) end
    coroutine.yield "read"
  end
end

function methods:send(text)
  local at = 1
  while at <= #text do
    local last, message, part = self.socket:send(text, at)
    at = (last or part) + 1
    if not last then
      if message ~= "timeout" then error("gone", 0) end
      coroutine.yield "write"
    end
  end
end

function methods:sleep(seconds)
  self.wake_at = socket.gettime() + seconds
  coroutine.yield "sleep"
end

--- Reads until the client has gone, which is raised.
function methods:wait_for_end()
  while true do self:receive() end
end

--- Ends the connection so that the client gets a reset.
function methods:reset()
  self.socket:setoption("linger", { on = true, timeout = 0 })
  error("gone", 0)
end

-- One request: its text, and what stands in its first line.
local function read_request(connection)
  local text = connection.rest
  local head
  repeat
    head = text:match "^.-\r\n\r\n"
    if not head then text = text .. connection:receive() end
  until head
  local whole = #head + (tonumber(head:lower():match "\r\ncontent%-length: *(%d+)") or 0)
  while #text < whole do text = text .. connection:receive() end
  connection.rest = text:sub(whole + 1)
  return { raw = text:sub(1, whole), name = head:match "^%u+ /([%w_]+)", id = head:match "^%u+ /[%w_]+/([%w_]+)" }
end

local function count(connection, id)
  connection:sleep(0.02) -- what has arrived at other connections is read before
  local state = states[id] or { received = 0, sent = 0 }
  local raw = (state.raw or ""):gsub(".", function(byte) return ("%02x"):format(byte:byte()) end)
  local ended = state.ended and "ended" or "open"
  local body = ("%d %d %d %s %s"):format(state.received, state.connection or 0, state.sent, ended, raw)
  connection:send(behaviours.answer(body))
end

local function serve(connection)
  while true do
    local request = read_request(connection)
    if request.name == "count" then
      count(connection, request.id)
    elseif request.name == "stop" then
      states.stop = true
      connection:send(behaviours.answer "")
      return
    else
      local state = states[request.id] or { received = 0, sent = 0 }
      states[request.id] = state
      state.received, state.raw, state.id = state.received + 1, request.raw, request.id
      state.connection = connection.id
      local answer = behaviours.list[request.name]
      if not answer or answer(connection, state) == "close" then return end
    end
  end
end

local function advance(connection)
  local ok, waits = coroutine.resume(connection.thread)
  if ok and coroutine.status(connection.thread) ~= "dead" then
    connection.waits = waits
    return
  end
  if not ok and waits ~= "gone" then io.stderr:write("check: ", tostring(waits), "\n") end
  connections[connection.socket] = nil
  connection.socket:close()
end

local function accept(server)
  local client = server:accept()
  if not client then return end
  client:settimeout(0)
  client:setoption("tcp-nodelay", true)
  connection_count = connection_count + 1
  local connection = setmetatable({ socket = client, id = connection_count, rest = "" }, methods)
  connection.thread = coroutine.create(function() serve(connection) end)
  connections[client] = connection
  advance(connection)
end

-- One turn: whoever can go on does.
local function turn(server, names)
  local readers, writers, timeout = { server, names }, {}, 1
  local now = socket.gettime()
  for client, connection in pairs(connections) do
    if connection.waits == "read" then readers[#readers + 1] = client end
    if connection.waits == "write" then writers[#writers + 1] = client end
    if connection.waits == "sleep" then timeout = math.min(timeout, math.max(0, connection.wake_at - now)) end
  end
  local readable, writable = socket.select(readers, writers, timeout)
  if readable[server] then accept(server) end
  if readable[names] then behaviours.answer_name(names) end
  now = socket.gettime()
  local ready = {}
  for client, connection in pairs(connections) do
    local waits = connection.waits
    if waits == "sleep" and connection.wake_at <= now or waits == "read" and readable[client]
      or waits == "write" and writable[client] then
      ready[#ready + 1] = connection
    end
  end
  for _, connection in ipairs(ready) do advance(connection) end
end

--- Listens, prints where, and answers until the time is over.
function M.main()
  local server = assert(socket.bind("127.0.0.1", 0, 128))
  server:settimeout(0)
  local names = assert(socket.udp())
  assert(names:setsockname("127.0.0.1", 0))
  names:settimeout(0)
  local _, port = server:getsockname()
  local _, name_port = names:getsockname()
  print(("url http://127.0.0.1:%d"):format(port))
  print("names " .. name_port)
  print "ready"
  io.stdout:flush()
  local ends = socket.gettime() + LIFE_S
  while socket.gettime() < ends and not states.stop do turn(server, names) end
end

return M
