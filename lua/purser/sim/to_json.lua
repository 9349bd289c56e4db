-- SPDX-License-Identifier: MIT
-- Plain tables on their way to JSON.

local json = require "purser.json"

local M = {}

--- A copy of a plain value that json.encode can write: an empty table has to be marked; a decimal becomes its text, a
--- whole float an integer, and a fraction (there is one: a fault's probability) its text with six places.
function M.writable(value)
  if type(value) == "userdata" then return tostring(value) end
  if type(value) == "number" then
    if value % 1 == 0 then return math.floor(value) end
    local millionths = math.floor(value * 1000000 + 0.5)
    return ("%d.%06d"):format(math.floor(millionths / 1000000), millionths % 1000000)
  end
  if type(value) ~= "table" or getmetatable(value) then return value end
  local result = {}
  for key, inner in pairs(value) do result[key] = M.writable(inner) end
  return next(result) == nil and json.object {} or result
end

--- The same of a list, which is one also when it is empty.
function M.list(values)
  local result = {}
  for i, value in ipairs(values) do result[i] = M.writable(value) end
  return json.list(result)
end

return M
