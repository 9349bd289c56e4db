-- SPDX-License-Identifier: MIT
-- purser: the account-management side of a trading platform, for Lua.
--
--   local purser = require "purser"
--   local client = assert(purser.new { profile = "mexc", api_key = "...", secret_key = "..." })
--   local deposits, err = client.wallet:deposit_history { coin = "USDT" }

-- Everything here needs the C core, and what `require` says of one that is missing, or was built for another Lua, is
-- long and names no cure.
local found, problem = pcall(require, "purser.core")
if not found then
  local lua = rawget(_G, "jit") and "luajit" or "lua" .. _VERSION:match "%d%.%d"
  problem = tostring(problem)
  local other = problem:find("undefined symbol: lua", 1, true) or problem:find("version mismatch", 1, true)
    or problem:find("incompatible", 1, true)
  local missing = problem:find("module 'purser.core' not found", 1, true)
  error(("purser: the C module purser.core %s; run `make LUA=%s` in the clone, or correct package.cpath (LUA_CPATH)%s")
    :format(other and "was built for another Lua than this one, " .. lua or missing and "is not on package.cpath"
      or "cannot be loaded", lua, (other or missing) and "" or ": " .. problem), 0)
end

---@class purser
---@field operations table[]   the rows of all operations, also by full name; a copy each time it is read
---@field profiles table       the conventions by profile name; read-only
---@field rate_limit fun(options: purser.RateLimitOptions?): table  a request-weight budget, for purser.new
---@field decimal fun(value: any): purser.decimal?, string?   an exact amount
---@field secrets table        secret keys that no Lua string holds
---@field sim table            the simulator
---@field transport table<string, fun(options: table?): purser.Transport>  transports by name
local M = { _VERSION = require "purser.version" }

--- Makes a client. Returns it, or nil and an error of kind "config".
---@param options purser.Options
---@return purser.Client|nil client, purser.Error|nil err
function M.new(options)
  return require("purser.client").new(options)
end

--- A client of these operations alone, for scripts that are not trusted: see docs/sandboxes.md.
---@param client purser.Client
---@param operations string[]  full names; a name with `*` stands for reads
---@return table|nil restricted, purser.Error|nil err
function M.restricted(client, operations)
  return require("purser.client.restricted").new(client, operations)
end

--- A fresh clientTranId: 32 random letters and digits; or nil and a message when OpenSSL has no random bytes.
---@return string|nil id, string|nil message
function M.client_id()
  return require("purser.core").random_token(32)
end

local transports = { "curl", "multi", "openresty", "record", "replay" }

-- What makes a transport. Those of recordings get the list of what may stay in one.
local function transport_of(name)
  local make = require("purser.transport." .. name).new
  if name ~= "record" and name ~= "replay" then return make end
  return function(first, options) return make(first, options, require "purser.api.harmless") end
end

local function no_transport(name)
  error(('purser.transport has no "%s"%s; there are %s, and an object of your own is given as it is'):format(
    tostring(name), require("purser.util.suggest").hint(tostring(name), transports), table.concat(transports, ", ")), 3)
end

-- What is loaded when it is first used.
local lazy = {
  profiles = function() return require "purser.util.frozen"(require "purser.api.profiles") end,
  rate_limit = function() return require("purser.call.rate_limit").new end,
  decimal = function() return require "purser.decimal" end,
  run = function() return require("purser.schedule").run end,
  spawn = function() return require("purser.schedule").spawn end,
  join = function() return require("purser.schedule").join end,
  all = function() return require("purser.schedule").all end,
  sleep = function() return require("purser.schedule").sleep end,
  secrets = function() return require "purser.secrets" end,
  fleet = function() return require "purser.workflow.fleet" end,
  sim = function() return require "purser.sim" end,
  journal = function() return require "purser.exactly_once.journal" end,
  payouts = function() return require "purser.exactly_once.payouts" end,
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
    if name == "operations" then return require("purser.api.operations").public() end -- each reader has its own copy
    local load = lazy[name]
    if not load then
      local hint = require("purser.util.renamed")[name] and require("purser.util.suggest").among(name, lazy) or ""
      if hint ~= "" then error(('purser has no "%s"%s'):format(name, hint), 2) end
      return nil
    end
    local value = load()
    module[name] = value
    return value
  end,
})
