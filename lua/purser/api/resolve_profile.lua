-- SPDX-License-Identifier: MIT
-- From a profile as a user names it, or gives it as a table of conventions, to a complete one. Tables are checked by
-- profile_overrides.lua, which is loaded with the first one.

local lazy = require "purser.util.lazy"
local profiles = require "purser.api.profiles"
local profile_overrides = lazy "purser.api.profile_overrides"

--- The profile asked for, complete: a name, or a table that overrides single conventions.
---@return table|nil profile, string|nil message
local function resolve(requested)
  if requested == nil or requested == "default" then return profiles.default end
  if requested ~= "mexc" then return profile_overrides.resolve(requested, resolve) end
  local profile = {}
  for name, value in pairs(profiles.default) do profile[name] = value end
  for name, value in pairs(profiles.mexc) do profile[name] = value end
  profile.base = nil
  return profile
end

return resolve
