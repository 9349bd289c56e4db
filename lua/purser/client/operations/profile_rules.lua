-- SPDX-License-Identifier: MIT
-- Profiles as users give them: a name, or a table of conventions. profiles.lua lists the conventions.

local lazy = require "purser.client.util.lazy"
local option_schema = require "purser.client.util.option_schema"
local profiles = require "purser.client.operations.profiles"
local names_of = lazy "purser.client.util.names_of"
local suggest = lazy "purser.client.util.suggest"

local M = {}

-- Names that no profile changes: another name could take the place of what a call moves.
local fixed = { key_header = true, timestamp_name = true, recv_window_name = true, signature_name = true }

-- The values of a convention: of the default's type, or one of a few.
local rules = { base = "string", base_url = "string" }
for name, default in pairs(profiles.default) do
  if not fixed[name] then
    rules[name] = type(default) == "number" and { 1, option_schema.EXACT } or type(default)
  end
end
rules.object_body, rules.array_body = { "object", "query" }, { "array", "object", "query" }

--- The options of a pool.
M.pool_rules = { capacity = { 1, 2 ^ 31 }, window_ms = { 1, 86400000 }, scope = { "ip", "account" },
  counts = { "weight", "requests" } }

local function is_pool(name, pool)
  return type(name) == "string" and name:find "^%w[%w_]*$" and option_schema.check(pool, M.pool_rules,
    "pool option") == nil
    and pool.capacity and pool.window_ms
end

local function is_flag(name, value) return type(name) == "string" and type(value) == "boolean" end

-- The conventions that are tables: a member's type and an example. A list, or a number as code, rejects each success.
local tables = {
  hosts = { is_flag, 'by host, such as { ["api.mexc.com"] = true }' },
  success_codes = { is_flag, 'by code as text, such as { ["0"] = true, ["200"] = true }' },
  unknown_codes = { is_flag, 'by code as text, such as { ["504"] = true }' },
  pools = { is_pool, "by name, such as { ip = { capacity = 300, window_ms = 10000 } }" },
  weights = { function(name, weight)
    return type(name) == "string" and option_schema.matches(weight, { 0, 2 ^ 31 })
  end, 'by operation, such as { ["wallet.transfer"] = 50 }' },
}

local function check_convention(name, value)
  if value == "" then return ('profile convention "%s" is empty'):format(name), "leave it out" end
  for member, set in pairs(tables[name] and value or {}) do
    if not tables[name][1](member, set) then
      return ('profile convention "%s" has a wrong member'):format(name), "give a table " .. tables[name][2]
    end
  end
  if type(value) == "string" and value:find("%c") then
    return ('profile convention "%s" holds a control character'):format(name), "remove it"
  end
end

-- The client's codes are its own, whatever becomes of the user's table.
local function copy(codes)
  local own = {}
  for code, meaning in pairs(codes) do own[code] = type(meaning) == "table" and copy(meaning) or meaning end
  return own
end

-- Returns a table's changes; or nil, a message and a hint.
local function changed(requested)
  local message, _, hint = option_schema.check(requested, rules, "profile convention")
  if message then return nil, message, hint end
  local base
  base, message, hint = M.resolve(requested.base)
  if not base then return nil, message, hint end
  local profile = {}
  for name, value in pairs(base) do profile[name] = value end
  for name, value in pairs(requested) do
    message, hint = check_convention(name, value)
    if message then return nil, message, hint end
    profile[name] = type(value) == "table" and copy(value) or value
  end
  profile.base = nil
  return profile
end

--- Returns the complete profile of a name or table.
function M.resolve(requested)
  if requested == nil or requested == "default" then return profiles.default end
  if type(requested) ~= "string" then return changed(requested) end
  if profiles[requested] then return changed(profiles[requested]) end
  return nil, ('profile "%s" is not known%s'):format(requested, suggest.among(requested, profiles)),
    ("there are %s, and a table of conventions"):format(table.concat(names_of(profiles), ", "))
end

return M
