-- SPDX-License-Identifier: MIT
-- A copy of a table of fields, with others in their place or beside them, or without those that are false.

--- Returns the copy.
---@param fields table
---@param more table|nil
return function(fields, more)
  local copy = {}
  for name, value in pairs(fields) do copy[name] = value end
  for name, value in pairs(more or {}) do copy[name] = value or nil end
  return copy
end
