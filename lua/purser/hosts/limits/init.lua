-- SPDX-License-Identifier: MIT
-- The rate limit's stores for several processes: their names and options. A store's modules load at its first use.

local lazy = require "purser.client.util.lazy"
local option_schema = require "purser.client.util.option_schema"
local database_store = lazy "purser.hosts.limits.database_store"
local postgresql = lazy "purser.client.util.database.postgresql"
local redis = lazy "purser.hosts.limits.redis"
local shared_dict = lazy "purser.hosts.limits.shared_dict"

local M = {}

---@class purser.StoreOptions  one of the first four
---@field sqlite string|nil                       a path: the scripts of one machine
---@field redis purser.RedisOptions|nil           many machines, and nginx
---@field postgresql purser.PostgresqlOptions|nil many machines
---@field shared_dict string|nil                  the name of nginx's dictionary: all workers of one nginx
---@field namespace string|nil                    keeps two addresses apart that share a server
---@field timeout_ms integer|nil                  for one question to the store

local rules = {
  redis = "table", sqlite = "string", postgresql = "table", shared_dict = "string", namespace = "string",
  timeout_ms = { 1, 3600000 },
}
local kinds = { "redis", "sqlite", "postgresql", "shared_dict" }
local one = "rate_limit option \"store\" names one of redis = {...}, sqlite = path, postgresql = {...} and "
  .. "shared_dict = name"

-- Returns the kind of store, or nil and a message.
local function kind_of(options)
  local problem = option_schema.text(options, rules, "rate_limit store option")
  if problem then return nil, problem end
  local found
  for _, kind in ipairs(kinds) do
    if options[kind] ~= nil then
      if found then return nil, one end
      found = kind
    end
  end
  if not found then return nil, one end
  if options.namespace and not options.namespace:find "^[%w_.:-]+$" then
    return nil, 'rate_limit store option "namespace" is made of letters, digits and _.:-'
  end
  return found
end

--- Makes the named store, which connects at its first use; or returns nil and a message.
---@param options table
---@return table|nil store, string|nil problem
function M.open(options)
  local kind, problem = kind_of(options)
  if not kind then return nil, problem end
  if kind == "redis" then return redis.new(options) end
  if kind == "shared_dict" then return shared_dict.new(options) end
  if kind == "postgresql" then
    problem = option_schema.text(options.postgresql, postgresql.rules, "rate_limit postgresql option")
      or postgresql.message(options.postgresql)
    if problem then return nil, problem end
  end
  return database_store.new(options)
end

return M
