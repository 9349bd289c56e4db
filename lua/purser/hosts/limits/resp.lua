-- SPDX-License-Identifier: MIT
-- A connection to Redis (RESP2) over a socket of LuaSocket or of nginx: what the rate limit needs, on every Lua.
-- Debian's lua-redis knows none after 5.3.

local core = require "purser.core"
local loopback = require "purser.client.util.loopback"

local Connection = {}
Connection.__index = Connection

local M = {}

--- Returns the bytes of a command, a list of words.
---@param words table
---@return string
function M.command(words)
  local parts = { "*" .. #words .. "\r\n" }
  for i, word in ipairs(words) do
    word = tostring(word)
    parts[i + 1] = "$" .. #word .. "\r\n" .. word .. "\r\n"
  end
  return table.concat(parts)
end

local MAX_DEPTH, MAX_SIZE = 4, 1000000 -- no reply to the rate limit comes near

-- Reads one reply: a text, an integer, a list or nil; nil and a message of a rejection; nil, a message and true where
-- the connection is lost.
local function read_reply(socket, depth)
  local line, why = socket:receive "*l"
  if not line then return nil, why, true end
  local kind, rest = line:sub(1, 1), line:sub(2)
  if kind == "+" then return rest end
  if kind == "-" then return nil, rest end
  local size = tonumber(rest:match "^%-?%d+$")
  if kind == ":" then return size end
  if size and size > MAX_SIZE or depth > MAX_DEPTH then return nil, "the server's reply is too long", true end
  if kind == "$" and size then
    if size < 0 then return nil end
    local text
    text, why = socket:receive(size + 2)
    if not text then return nil, why, true end
    return text:sub(1, size)
  end
  if kind ~= "*" or not size then return nil, "the server does not use Redis's protocol", true end
  local list = {}
  for i = 1, size do
    local lost
    list[i], why, lost = read_reply(socket, depth + 1)
    if lost then return nil, why, true end
  end
  return list
end

--- Sends a command, which is a list of words, and reads its reply.
function Connection:ask(...)
  local ok, why = self.socket:send(M.command { ... })
  if not ok then return nil, why, true end
  return read_reply(self.socket, 1)
end

function Connection:close()
  self.socket:close()
end

--- Gives the connection to nginx's pool, or keeps it open elsewhere.
function Connection:rest()
  if self.in_nginx then self.socket:setkeepalive(60000, 32) end
end

--- Tells whether nginx had kept the connection.
function Connection:is_used()
  return self.in_nginx and self.socket:getreusedtimes() > 0
end

-- Connects a socket; `unix` stands before a path. Returns the socket; or nil and a message.
local function join(socket, options, unix, ...)
  local ok, why
  local host = options.host and (loopback.address(options.host) or options.host) or "127.0.0.1"
  if unix ~= "" and host:find(":", 1, true) then host = "[" .. host .. "]" end -- nginx wants brackets
  if options.path then ok, why = socket:connect(unix .. options.path, ...)
  else ok, why = socket:connect(host, options.port or 6379, ...) end
  if ok then return socket end
  socket:close()
  local place = options.path or ("%s:%d"):format(options.host or "127.0.0.1", options.port or 6379)
  return nil, ("no connection to %s: %s"):format(place, tostring(why))
end

local function nginx_socket(options, timeout_ms, pool)
  local socket = ngx.socket.tcp()
  socket:settimeout(timeout_ms)
  return join(socket, options, "unix:", { pool = pool }) -- the pool's connections have been greeted
end

local function plain_socket(options, timeout_ms)
  local found, library = pcall(require, options.path and "socket.unix" or "socket")
  if not found then return nil, "LuaSocket is missing; install it (Debian: lua-socket)" end
  local made = options.path and (type(library) == "table" and library.stream or library)() or library.tcp()
  made:settimeout(timeout_ms / 1000)
  local socket, why = join(made, options, "")
  if socket then core.close_on_exec(socket:getfd()) end -- a child could go on asking without a password
  if socket and not options.path then socket:setoption("tcp-nodelay", true) end
  return socket, why
end

-- Tells whether cosockets can be used here.
local function in_nginx()
  local phase = ngx and ngx.socket and ngx.get_phase()
  return phase == "rewrite" or phase == "access" or phase == "content" or phase == "timer"
end

--- Connects. Returns nil and why not.
---@param options { host: string|nil, port: integer|nil, path: string|nil }
---@param timeout_ms integer
---@param pool string  the name of the connections that nginx keeps for one user of them
function M.connect(options, timeout_ms, pool)
  local nginx = in_nginx()
  local socket, why = (nginx and nginx_socket or plain_socket)(options, timeout_ms, pool)
  if not socket then return nil, why end
  return setmetatable({ socket = socket, in_nginx = nginx }, Connection)
end

return M
