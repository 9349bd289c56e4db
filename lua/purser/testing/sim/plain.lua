-- SPDX-License-Identifier: MIT
-- Copies plain tables, and prepares tables for JSON.

local json = require "purser.json"

local M = {}

--- Returns a copy of plain data. Whole numbers become integers, as JSON wants, also from floats.
function M.copy(value)
  if type(value) == "number" and value % 1 == 0 then return math.floor(value) end
  if type(value) ~= "table" then return value end
  local result = {}
  for name, member in pairs(value) do result[name] = M.copy(member) end
  return result
end

--- Returns a copy for json.encode: an empty table is marked; a decimal becomes a text, a whole float an integer, and a
--- fraction (a fault's probability) a text with six places.
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

--- Returns a copy of a list for json.encode; an empty list stays a list.
function M.list(values)
  local result = {}
  for i, value in ipairs(values) do result[i] = M.writable(value) end
  return json.list(result)
end

return M
