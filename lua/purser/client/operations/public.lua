-- SPDX-License-Identifier: MIT
-- The rows of all operations as users see them: copies.

local operations = require "purser.client.operations"
local parameters = require "purser.client.operations.parameters"
local shapes = require "purser.client.operations.shapes"

local M = {}

--- Returns a copy of plain data.
function M.copy(value)
  if type(value) ~= "table" then return value end
  local result = {}
  for name, inner in pairs(value) do result[name] = M.copy(inner) end
  return result
end

-- Returns a record's members in the document's order, with the members of records in lists.
local function members_of(shape)
  local members = {}
  for i, field in ipairs(shapes[shape]) do
    local inner = type(field[2]) == "table" and (field[2].record or type(field[2].list) == "table"
      and field[2].list.record)
    members[i] = { name = field[1], type = inner and "records" or type(field[2]) == "table" and "list" or field[2],
      members = inner and members_of(inner) or nil, aliases = M.copy(field.aliases) }
  end
  return members
end

local function public_row(row)
  local public = M.copy(row)
  public.by_name = {}
  for _, param in ipairs(public.params) do
    param.help, param.rule = parameters.help_of(param), parameters.kinds[param[2]].text
    param.values = M.copy(parameters.choices[param.choices])
    public.by_name[param[1]] = param
  end
  local form = row.result
  public.shape = form.list or form.record or form.page or form.rows
  public.members = members_of(public.shape)
  return public
end

--- Returns a copy of all rows, in the document's order and by full name; of the live service's the names alone.
---@return table
function M.rows()
  local result = {}
  for _, row in ipairs(operations.every) do
    local public = public_row(row)
    if not row.live then result[#result + 1] = public end
    result[row.full_name] = public
  end
  return result
end

return M
