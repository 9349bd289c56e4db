-- SPDX-License-Identifier: MIT
-- Remembers values that follow from a table that never changes, such as an operation's row.

--- Returns a function that calls `make` once for each table, and returns the same value from then on.
---@param make fun(of: table): any  never nil
---@return fun(of: table): any
return function(make)
  local made = setmetatable({}, { __mode = "k" })
  return function(of)
    local value = made[of]
    if value == nil then
      value = make(of)
      made[of] = value
    end
    return value
  end
end
