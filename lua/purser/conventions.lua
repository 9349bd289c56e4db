-- The conventions of a profile that a user gives as a table, checked one by one; purser.profiles lists them.

local nearest = require "purser.nearest"
local options_ = require "purser.options"
local profiles = require "purser.profiles"

local M = {}

local profile_words = { base = true, base_url = true }
for name in pairs(profiles.default) do profile_words[name] = true end

-- The conventions that take one of a few values.
local profile_choices = {
  algorithm = { "hmac-sha256", "hmac-sha512", "ed25519", "rsa-sha256" },
  encoding = { "hex", "base64" }, order = { "sent", "sorted" },
  object_body = { "object", "query" }, array_body = { "array", "object", "query" },
}

-- A set of codes as texts, which is how they are looked up: a list or a number would turn each success into a refusal.
local function is_code_set(value)
  for code, is_success in pairs(value) do
    if type(code) ~= "string" or type(is_success) ~= "boolean" then return false end
  end
  return true
end

local function check_convention(name, value)
  if not profile_words[name] then
    return ('profile convention "%s" is not known%s'):format(tostring(name),
      nearest.among(name, profile_words))
  end
  local default, choices = profiles.default[name], profile_choices[name]
  local wanted = default == nil and "string" or type(default) -- base_url and base have no default
  if type(value) ~= wanted then
    return ('profile convention "%s" is a %s; it must be a %s'):format(name, type(value), wanted)
  end
  if value == "" then return ('profile convention "%s" is empty'):format(name) end
  if wanted == "number" and not options_.is_whole(value, 1, 2 ^ 53) then
    return ('profile convention "%s" must be a whole number from 1'):format(name)
  end
  if name == "success_codes" and not is_code_set(value) then
    return 'profile convention "success_codes" is a table by code as text, such as { ["0"] = true, ["200"] = true }'
  end
  if type(value) == "string" and value:find("%c") then
    return ('profile convention "%s" holds a control character'):format(name)
  end
  for _, choice in ipairs(choices or {}) do
    if choice == value then return nil end
  end
  return choices and ('profile convention "%s" is "%s"; it must be %s'):format(name, value,
    table.concat(choices, " or "))
end

-- What travels with every request needs a name of its own.
local function check_names(profile)
  local time, window, signature = profile.timestamp_name, profile.recv_window_name, profile.signature_name
  if time == window or time == signature or window == signature then
    return 'profile conventions "timestamp_name", "recv_window_name" and "signature_name" must differ'
  end
end

--- A profile that is none of Purser's own: complete, of a table of overrides, or of the name of one that was added to
--- purser.profiles.
---@return table|nil profile, string|nil complaint
function M.resolve(wanted)
  if type(wanted) == "string" then
    if not profiles[wanted] then
      return nil, ('profile "%s" is not known%s; there are %s, and a table of conventions'):format(wanted,
        nearest.among(wanted, profiles), table.concat(nearest.names_of(profiles), ", "))
    end
    wanted = profiles[wanted]
  end
  if type(wanted) ~= "table" then return nil, "option \"profile\" is a name or a table" end
  local base, complaint = wanted.base, wanted.base ~= nil and check_convention("base", wanted.base)
  if complaint then return nil, complaint end
  base, complaint = options_.resolve_profile(base)
  if not base then return nil, complaint end
  local profile = {}
  for name, value in pairs(base) do profile[name] = value end
  for name, value in pairs(wanted) do
    complaint = check_convention(name, value)
    if complaint then return nil, complaint end
    profile[name] = value
  end
  profile.base = nil
  complaint = check_names(profile)
  if complaint then return nil, complaint end
  return profile
end

return M
