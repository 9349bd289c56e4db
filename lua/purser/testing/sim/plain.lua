-- SPDX-License-Identifier: MIT
-- Plain tables: copies of them, and on their way to JSON.

local json = require "purser.json"

local M = {}

--- Returns a copy of plain data. Whole numbers are integers in it, as JSON wants them, also where they came as floats.
function M.copy(value)
  if type(value) == "number" and value % 1 == 0 then return math.floor(value) end
  if type(value) ~= "table" then return value end
  local result = {}
  for name, member in pairs(value) do result[name] = M.copy(member) end
  return result
end

--- Returns a copy that json.encode can write: empty tables are marked, decimals become texts, whole floats integers,
--- and a fraction (a fault's probability) a text with six places.
function M.writable(value)
  if type(value) == "userdata" then return tostring(value) end
  if type(value) == "number" and value % 1 ~= 0 then
    local millionths = math.floor(value * 1000000 + 0.5)
    return ("%d.%06d"):format(math.floor(millionths / 1000000), millionths % 1000000)
  end
  if type(value) ~= "table" then return M.copy(value) end
  if getmetatable(value) then return value end
  local result = {}
  for key, inner in pairs(value) do result[key] = M.writable(inner) end
  return next(result) == nil and json.object {} or result
end

--- Returns a copy of a list that json.encode can write, an empty list included.
function M.list(values)
  local result = {}
  for i, value in ipairs(values) do result[i] = M.writable(value) end
  return json.list(result)
end

return M
