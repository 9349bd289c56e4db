-- SPDX-License-Identifier: MIT
--- Starts Debian's redis-server with a folder of its own, on a free loopback port and a socket.

local eventually = require "eventually"
local files = require "files"
local free_port = require "free_port"
local socket = require "socket"

local methods = {}
local meta = { __index = methods }

local M = {}

local function is_up(server)
  local connection = socket.connect("127.0.0.1", server.port)
  if not connection then return false end
  if server.password then connection:send(("AUTH %s\r\n"):format(server.password)) connection:receive "*l" end
  connection:send "PING\r\n"
  local line = connection:receive "*l"
  connection:close()
  return line == "+PONG"
end

local function launch(server)
  local folder = server.folder
  local command = ("redis-server %s/redis.conf >>%s/log 2>&1 & echo $!"):format(folder, folder)
  server.pid = files.output_of(command):match "%d+"
  local ok, message = pcall(eventually, function() return is_up(server) end, nil, "redis-server answers")
  if not ok then error(message .. ": " .. files.read(folder .. "/log"), 0) end
end

--- Starts a server. `more` is further text of its configuration.
---@param options { password: string|nil, more: string|nil }|nil
function M.start(options)
  options = options or {}
  local folder = files.folder()
  local server = setmetatable({ folder = folder, port = free_port(), password = options.password,
    socket = folder .. "/socket" }, meta)
  files.write(folder .. "/redis.conf", ("bind 127.0.0.1\nport %d\nunixsocket %s\nunixsocketperm 700\ndir %s\n"
    .. "save \"\"\n"
    .. "appendonly no\n%s%s"):format(server.port, server.socket, folder,
    options.password and "requirepass " .. options.password .. "\n" or "", options.more or ""))
  launch(server)
  return server
end

--- Ends the server as a crash would, and waits until it is gone.
function methods:kill()
  if not self.pid then return end
  os.execute("kill -9 " .. self.pid)
  eventually(function() return not socket.connect("127.0.0.1", self.port) end, nil, "redis-server ends")
  self.pid = nil
end

--- Starts it once more, in the same place.
function methods:start()
  launch(self)
end

function methods:stop()
  self:kill()
  files.remove(self.folder)
end

return M
