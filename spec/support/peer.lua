-- SPDX-License-Identifier: MIT
--- Starts the peer of peer.c and talks to its control port.

local eventually = require "eventually"
local socket = require "socket"

local methods = {}
local meta = { __index = methods }

local M = {}

local build = os.getenv("BUILD") or "build/" .. (os.getenv("LUA") or "lua5.4")

--- A peer that answers every request with 200 and `{}` until it gets another script.
function M.start()
  local pipe = assert(io.popen(build .. "/spec/peer", "r"))
  local line = pipe:read("*l")
  assert(line, "the peer did not start; `make c-tests` builds it")
  local port, control_port = line:match("^(%d+) (%d+)$")
  local control = assert(socket.connect("127.0.0.1", tonumber(control_port)))
  return setmetatable({ pipe = pipe, control = control, port = tonumber(port) }, meta)
end

function methods:command(line)
  assert(self.control:send(line .. "\n"))
  return assert(self.control:receive("*l"))
end

function methods:script(steps)
  assert(self:command("script " .. steps) == "ok")
end

function methods:tls(certificate, key, version)
  local answer = self:command("tls " .. certificate .. " " .. key .. (version and " " .. version or ""))
  assert(answer == "ok", answer)
end

function methods:plain()
  assert(self:command("plain") == "ok")
end

local counts = { "connections", "requests", "wholes", "ended", "marks" }

--- Counts the connections, requests, wholly read requests, ended connections and steps `mark` since the count
--- `mark`, or ever.
function methods:count(mark)
  local now, i = {}, 0
  for number in self:command("count"):gmatch("%d+") do
    i = i + 1
    now[counts[i]] = tonumber(number) - (mark and mark[counts[i]] or 0)
  end
  return now
end

--- Waits until every connection there ever was has ended, and returns the counts then.
function methods:await_ends()
  return eventually(function()
    local now = self:count()
    return now.ended == now.connections and now
  end, nil, "all connections end")
end

--- Waits until the peer has read all that closed connections had sent: no later count counts their requests. The peer
--- accepts in order and ends a connection without a byte, so the end of one shows that all before were accepted.
function methods:settle()
  local last = assert(socket.connect("127.0.0.1", self.port))
  last:shutdown "send"
  last:settimeout(60)
  repeat local _, err = last:receive(1) until err
  last:close()
  self:await_ends()
end

--- Waits until the step `mark` has been reached `times` times since `mark`: what was sent before it has arrived.
function methods:await_marks(times, mark)
  eventually(function() return self:count(mark).marks >= times end, nil, "the peer comes to its mark")
end

--- The last request that was read whole, byte for byte.
function methods:last()
  return (self:command("last"):gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

function methods:url(scheme, host)
  return (scheme or "http") .. "://" .. (host or "127.0.0.1") .. ":" .. self.port
end

--- A step that sends `text`, whatever bytes it holds.
function M.send(text, step)
  return (step or "send") .. "=" .. text:gsub("[^%w]", function(c) return ("%%%02X"):format(c:byte()) end)
end

function methods:stop()
  self.control:close()
  self.pipe:close()
end

return M
