-- SPDX-License-Identifier: MIT
-- The conventions of a profile that a user gives as a table, checked one by one; profiles.lua lists them.

local allowed = require "purser.util.option_schema"
local nearest = require "purser.util.suggest"
local profiles = require "purser.api.profiles"

local M = {}

-- What a convention may be: what its default is, or one of a few values.
local rules = { base = "string", base_url = "string" }
for name, default in pairs(profiles.default) do
  rules[name] = type(default) == "number" and { 1, allowed.EXACT } or type(default)
end
rules.algorithm = { "hmac-sha256", "hmac-sha512", "ed25519", "rsa-sha256" }
rules.encoding, rules.order = { "hex", "base64" }, { "sent", "sorted" }
rules.object_body, rules.array_body = { "object", "query" }, { "array", "object", "query" }

-- The conventions that are sets of texts, which is how they are looked up, with an example of each. A list or a number
-- as code would turn each success into a refusal.
local sets = {
  hosts = 'by host, such as { ["api.mexc.com"] = true }',
  success_codes = 'by code as text, such as { ["0"] = true, ["200"] = true }',
  unknown_codes = 'by code as text, such as { ["504"] = true }',
  null_lists = 'by operation, such as { ["wallet.deposit_history"] = true }',
}

local function is_set(value)
  for member, is_in in pairs(value) do
    if type(member) ~= "string" or type(is_in) ~= "boolean" then return false end
  end
  return true
end

local function check_convention(name, value)
  if value == "" then return ('profile convention "%s" is empty'):format(name) end
  if sets[name] and not is_set(value) then
    return ('profile convention "%s" is a table %s'):format(name, sets[name])
  end
  if type(value) == "string" and value:find("%c") then
    return ('profile convention "%s" holds a control character'):format(name)
  end
end

-- What travels with every request needs a name of its own.
local function check_names(profile)
  local time, window, signature = profile.timestamp_name, profile.recv_window_name, profile.signature_name
  if time == window or time == signature or window == signature then
    return 'profile conventions "timestamp_name", "recv_window_name" and "signature_name" must differ'
  end
end

-- Codes by code: what the client reads is its own, whatever becomes of the user's table.
local function copy(codes)
  local own = {}
  for code, is_success in pairs(codes) do own[code] = is_success end
  return own
end

--- A profile that is none of Purser's own: complete, of a table of overrides.
---@param resolve fun(wanted: any): table|nil, string|nil  resolve_profile.lua, for its base
---@return table|nil profile, string|nil complaint
function M.resolve(wanted, resolve)
  if type(wanted) == "string" then
    if not profiles[wanted] then
      return nil, ('profile "%s" is not known%s; there are %s, and a table of conventions'):format(wanted,
        nearest.among(wanted, profiles), table.concat(nearest.names_of(profiles), ", "))
    end
    wanted = profiles[wanted]
  end
  local complaint = allowed.check(wanted, rules, "profile convention")
  if complaint then return nil, complaint end
  local base
  base, complaint = resolve(wanted.base)
  if not base then return nil, complaint end
  local profile = {}
  for name, value in pairs(base) do profile[name] = value end
  for name, value in pairs(wanted) do
    complaint = check_convention(name, value)
    if complaint then return nil, complaint end
    profile[name] = type(value) == "table" and copy(value) or value
  end
  profile.base = nil
  complaint = check_names(profile)
  if complaint then return nil, complaint end
  return profile
end

return M
