-- SPDX-License-Identifier: MIT
-- purser: the account-management side of a trading platform, for Lua.
--
--   local purser = require "purser"
--   local client = assert(purser.new { profile = "mexc", api_key = "...", secret_key = "..." })
--   local deposits, err = client.wallet:deposit_history { coin = "USDT" }

-- Everything here needs the C core, and what `require` says of one that is missing, or was built for another Lua, is
-- long and names no cure.
local found, core = pcall(require, "purser.core")
if not found then
  local lua = rawget(_G, "jit") and "luajit" or "lua" .. _VERSION:match "%d%.%d"
  local problem = tostring(core)
  local other = problem:find("undefined symbol: lua", 1, true) or problem:find("version mismatch", 1, true)
    or problem:find("incompatible", 1, true)
  local missing = problem:find("module 'purser.core' not found", 1, true)
  error(("purser: the C module purser.core %s; run `make LUA=%s` in the clone, or correct package.cpath (LUA_CPATH)%s")
    :format(other and "was built for another Lua than this one, " .. lua or missing and "is not on package.cpath"
      or "cannot be loaded", lua, (other or missing) and "" or ": " .. problem), 0)
end

require "purser.util.archive" -- before the others
local lazy = require "purser.util.lazy"
local version = require "purser.version"
local clients = lazy "purser.client"
local frozen = lazy "purser.util.frozen"
local harmless = lazy "purser.recording.harmless"
local limits = lazy "purser.limits"
local operations = lazy "purser.api.operations"
local rate_limit = lazy "purser.call.rate_limit"
local restricted = lazy "purser.client.restricted"
local sandbox = lazy "purser.client.sandbox"
local schedule = lazy "purser.schedule"
local suggest = lazy "purser.util.suggest"
local workflow = lazy "purser.workflow"

---@class purser
---@field _VERSION string
---@field operations purser.Row[]           the rows of all operations, also by full name; a copy each time it is read
---@field profiles table<string, table>     the conventions by profile name; read-only
---@field decimal purser.modules.decimal    exact amounts; `purser.decimal(text)` makes one
---@field secrets purser.modules.secrets    secret keys that no Lua string holds
---@field vault purser.modules.vault        keys in files that only this user can read
---@field states purser.modules.states      states of deposits and withdrawals by number and name
---@field utc purser.modules.utc            UTC times to and from epoch milliseconds
---@field codes purser.modules.codes        the service's codes: what each means, and what cures it
---@field csv purser.modules.csv            lines of CSV that a spreadsheet does not run
---@field json purser.modules.json          JSON with exact numbers and members in order
---@field sim purser.modules.sim            the simulator
---@field journal purser.modules.journal    journals of what is sent
---@field payouts purser.modules.payouts    queues of payments
---@field monitor purser.modules.monitor    alerts and numbers for who keeps watch
---@field fleet purser.modules.fleet        sub-accounts and keys as they are declared
---@field transport purser.Transports       what makes transports, by name
local M = { _VERSION = version }

-- Makes a store of the rate limit that is named.
local function open_store(options)
  return limits.open(options)
end

--- Makes a client. Returns it, or nil and an error of kind "config".
---@param options purser.Options
---@return purser.Client|nil client, purser.Error|nil err
function M.new(options)
  return clients.new(options, open_store, workflow)
end

--- A client of these operations alone, for scripts that are not trusted: see docs/sandboxes.md.
---@param client purser.Client
---@param names string[]  full names; a name with `*` stands for reads
---@return purser.RestrictedClient|nil restricted, purser.Error|nil err
function M.restricted(client, names)
  return restricted.new(client, names)
end

--- Makes the environment of a script that is not trusted: the restricted client as `client`, copies of the functions of
--- Lua that reach nothing of the host, and of what `extras` names. See docs/sandboxes.md.
---@param client purser.RestrictedClient
---@param extras? table<string, any>  further names; functions are given as they are
---@return table|nil environment, purser.Error|nil err
function M.sandbox(client, extras)
  return sandbox.new(client, extras)
end

--- A fresh clientTranId: 32 random letters and digits; or nil and a message when OpenSSL has no random bytes.
---@return string|nil id, string|nil message
function M.client_id()
  return core.random_token(32)
end

local function new_rate_limit(options)
  return rate_limit.new(options, open_store)
end

-- The modules that make transports, by public name.
local transport_modules = {
  curl = "purser.transport.curl", multi = "purser.transport.multi",
  openresty = "purser.nginx.openresty", cosocket = "purser.nginx.cosocket",
  record = "purser.recording.record", replay = "purser.recording.replay",
}
local transports = { "curl", "multi", "openresty", "cosocket", "record", "replay" }

-- Returns what makes a transport. Those of recordings get the list of what may stay in one.
local function transport_of(name)
  local make = require(transport_modules[name]).new
  if name ~= "record" and name ~= "replay" then return make end
  return function(first, options) return make(first, options, harmless) end
end

local function no_transport(name)
  error(('purser.transport has no "%s"%s; there are %s, and an object of your own is given as it is'):format(
    tostring(name), suggest.hint(tostring(name), transports), table.concat(transports, ", ")), 3)
end

local profiles = "purser.api.profiles"

-- Members that are loaded or made at their first use: the name of a module, or a function that makes the member.
local members = {
  decimal = "purser.decimal", secrets = "purser.util.secrets", fleet = "purser.fleet", sim = "purser.sim",
  vault = "purser.fleet.vault", states = "purser.api.states", utc = "purser.util.utc", codes = "purser.codes",
  csv = "purser.util.csv", json = "purser.json",
  journal = "purser.write.journal", payouts = "purser.payouts",
  monitor = "purser.monitor",
  profiles = function() return frozen(require(profiles)) end,
  rate_limit = function() return new_rate_limit end,
  run = function() return schedule.run end,
  spawn = function() return schedule.spawn end,
  join = function() return schedule.join end,
  all = function() return schedule.all end,
  sleep = function() return schedule.sleep end,
  transport = function()
    return setmetatable({}, { __index = function(made, requested)
      for _, name in ipairs(transports) do
        if name == requested then
          made[name] = transport_of(name)
          return made[name]
        end
      end
      no_transport(requested)
    end })
  end,
}

return setmetatable(M, {
  __index = function(module, name)
    if name == "operations" then return operations.public() end -- each reader has its own copy
    local how = members[name]
    if not how then return nil end
    local value = type(how) == "string" and require(how) or how()
    module[name] = value
    return value
  end,
})
