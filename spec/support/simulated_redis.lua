-- SPDX-License-Identifier: MIT
--- A Redis server on a clock of the test's own, in place of purser.limits.resp: it runs the store's script itself on
--- one hash. It can be restarted from an older state, lose everything, and break a connection before or after it ran
--- what was asked.

local core = require "purser.core"
local resp = require "purser.hosts.limits.resp"

local M = {}

local Connection = {}
Connection.__index = Connection

local function copy_of(list)
  local copy = {}
  for name, value in pairs(list) do copy[name] = value end
  return copy
end

local function commands_of(server)
  local commands = {}
  function commands.TIME()
    local us = (server.clock() * 1000) % 1000000
    return { ("%d"):format(server.clock() / 1000 - us / 1000000), ("%d"):format(us) }
  end
  function commands.HGET(_, field) return server.hash[field] or false end
  function commands.HMGET(_, ...)
    local list = {}
    for i, field in ipairs { ... } do list[i] = server.hash[field] or false end
    return list
  end
  function commands.HSET(_, ...)
    local words = { ... }
    assert(#words % 2 == 0, "wrong number of arguments for 'hset' command")
    for i = 1, #words, 2 do server.hash[words[i]] = tostring(words[i + 1]) end
    server.before = server.hash_before
    server.hash_before = copy_of(server.hash)
  end
  return commands
end

-- Runs a script as Redis does, with what a script there has. A false of a list is nothing for a client.
local function evaluate(server, script, keys, arguments)
  local commands = commands_of(server)
  local environment = { KEYS = keys, ARGV = arguments, tonumber = tonumber, math = math,
    unpack = table.unpack or unpack, -- luacheck: ignore
    redis = { call = function(name, ...) return commands[name](...) end } }
  local run
  if setfenv then -- luacheck: ignore
    run = setfenv(assert(loadstring(script)), environment) -- luacheck: ignore
  else
    run = assert(load(script, "=script", "t", environment))
  end
  local reply = run()
  if type(reply[4]) == "table" then
    for i, text in pairs(reply[4]) do reply[4][i] = text or nil end
  end
  if reply[2] then reply[2] = math.floor(reply[2]) end
  return reply
end

function Connection:ask(...)
  local words, server = { ... }, self.server
  if self.run ~= server.run then return nil, "closed", true end
  if words[1] == "INFO" then return ("run_id:%x\r\n"):format(server.run) end
  if words[1] == "SCRIPT" then
    server.script = words[3]
    return "sha"
  end
  assert(words[1] == "EVALSHA", words[1])
  if not server.script then return nil, "NOSCRIPT No matching script" end
  local fate = server.fate and server.fate()
  if fate == "before" then return nil, "closed", true end
  local arguments = {}
  for i = 5, #words do arguments[i - 4] = tostring(words[i]) end
  local reply = evaluate(server, server.script, { words[4] }, arguments)
  if fate == "after" then return nil, "closed", true end
  return reply
end

function Connection.close() end
function Connection.rest() end
function Connection.is_used() return false end

--- Makes a server; every connection that is made until `stop()` leads to it.
---@param clock fun(): integer  its time, ms
function M.start(clock)
  local server = { clock = clock, hash = {}, run = 1 }
  local connect = resp.connect
  function resp.connect() return setmetatable({ server = server, run = server.run }, Connection) end
  local sleep_ms = core.sleep_ms
  core.sleep_ms = function() end
  --- As after a crash: what was written last is lost.
  function server.restart()
    server.run, server.script, server.hash = server.run + 1, nil, copy_of(server.before or {})
  end
  function server.lose() server.hash = {} end
  function server.forget_script() server.script = nil end
  function server.stop() resp.connect, core.sleep_ms = connect, sleep_ms end
  return server
end

return M
