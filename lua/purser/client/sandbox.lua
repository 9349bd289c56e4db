-- SPDX-License-Identifier: MIT
--- The environment of a script that is not trusted: a restricted client, and copies of harmless functions of Lua.
--
--     local limited = assert(purser.restricted(client, { "wallet.deposit_history" }))
--     local environment = assert(purser.sandbox(limited, { print = print, since = client:now() - 3600000 }))
--     local chunk = assert(load(script, "=script", "t", environment))     -- Lua 5.1: loadstring and setfenv
--
-- A table of the host is copied: its holder could put a function into it. getmetatable is absent, as it answers for any
-- text with the host's `string`; so are newproxy, coroutine (`running` is the host's), and shared state (math.random).

local errors = require "purser.client.call.errors"
local restricted = require "purser.client.restricted"

local M = {}

local find, format, gmatch = string.find, string.format, string.gmatch
local setmetatable, getmetatable, rawget = setmetatable, getmetatable, rawget

local BASE = "_VERSION assert error ipairs next pairs pcall rawequal rawget rawlen select tonumber tostring type "
  .. "unpack xpcall"

local LIBRARIES = {
  bit = "arshift band bnot bor bswap bxor lshift rol ror rshift tobit tohex",
  bit32 = "arshift band bnot bor btest bxor extract lrotate lshift replace rrotate rshift",
  math = "abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10 max maxinteger min "
    .. "mininteger modf pi pow rad sin sinh sqrt tan tanh tointeger type ult",
  os = "clock date difftime time",
  string = "byte char find format gmatch gsub len lower match pack packsize rep reverse sub unpack upper",
  table = "concat insert move pack remove sort unpack",
  utf8 = "char charpattern codepoint codes len offset",
}

-- Makes no finaliser, which would run inside the host's code.
local function set_metatable(object, metatable)
  local finalises = type(metatable) == "table" and rawget(metatable, "__gc") ~= nil
  if finalises then error("a script has no finalisers (__gc)", 2) end
  return setmetatable(object, metatable)
end

-- Adds members of a library, and never a table, which others may hold.
local function add(to, library, names)
  for name in gmatch(names, "%S+") do
    local value = rawget(library, name)
    if type(value) ~= "table" then to[name] = value end
  end
  return to
end

-- Paths to the host from a script, under any name; of some libraries all.
local OPENING = { coroutine = "all", debug = "all", io = "all", package = "all", string = "dump",
  os = "execute exit getenv remove rename setlocale tmpname",
  _G = "collectgarbage dofile getfenv getmetatable load loadfile loadstring module newproxy rawset require setfenv "
    .. "setmetatable" }

local function opens_the_host(value)
  for library, names in pairs(OPENING) do
    for name, member in next, rawget(_G, library) or {} do
      if member == value and (names == "all" or find(names, "%f[%w]" .. name .. "%f[%W]")) then return true end
    end
  end
end

local plain = { string = true, number = true, boolean = true, ["function"] = true }

-- Returns a copy of data and functions, also of tables in circles; or nil and the fault: an object's metatable is the
-- host's, and most show it (`__index`).
local function copy(value, name, copies)
  if type(value) == "function" and opens_the_host(value) then return nil, name .. " leads to the host" end
  if plain[type(value)] or restricted.is(value) then return value end
  if type(value) ~= "table" or getmetatable(value) ~= nil then
    return nil, format("%s is an object and no plain data", name)
  end
  if copies[value] then return copies[value] end
  local made = {}
  copies[value] = made
  for key, member in next, value do
    if not plain[type(key)] then return nil, format("%s has a member named by a %s", name, type(key)) end
    local problem
    made[key], problem = copy(member, format("%s.%s", name, tostring(key)), copies)
    if problem then return nil, problem end
  end
  return made
end

--- Makes a script's environment: `client`, functions of Lua, and copies of `extras`. A function of the extras is given
--- as it is: the host judges what it lets through.
---@param client purser.RestrictedClient
---@param extras? table<string, any>  further names; they take the place of equal ones
---@return table|nil environment, purser.Error|nil err
function M.new(client, extras)
  if not restricted.is(client) then
    return nil, errors.config("purser.sandbox: the first argument is no restricted client",
      "make one with purser.restricted(client, names)")
  end
  if extras ~= nil and type(extras) ~= "table" then
    return nil, errors.config(format("purser.sandbox: the extras are a %s", type(extras)), "give a table")
  end
  local environment = add({ client = client, setmetatable = set_metatable }, _G, BASE)
  environment._G = environment
  for library, names in pairs(LIBRARIES) do
    local own = rawget(_G, library)
    if type(own) == "table" then environment[library] = add({}, own, names) end
  end
  local copies = {}
  for name, value in next, extras or {} do
    if type(name) ~= "string" or not find(name, "^[%a_][%w_]*$") then
      return nil, errors.config("purser.sandbox: an extra has no name that a script could use", "name it by a word")
    end
    local given, problem = copy(value, name, copies)
    if problem then return nil, errors.config("purser.sandbox: " .. problem, "give functions that use it") end
    environment[name] = given
  end
  return environment
end

return M
