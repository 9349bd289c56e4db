-- SPDX-License-Identifier: MIT
-- All operations: the rows of broker.lua, sub_account.lua and wallet.lua are `list`; `every` has those of live.lua too,
-- which the interface document does not have.
--
-- A row that uses a word row_schema.lua does not list, a kind or shape that does not exist, or a name twice, fails when
-- all rows are read: in every test, the documentation and the command line. A program that calls one group reads that
-- group, and does without the check.

local lazy = require "purser.util.lazy"
local row_schema = lazy "purser.api.row_schema"
local shapes = lazy "purser.api.shapes"

-- Makes what is looked up in a row at every call.
local function prepare(group, row)
  if row.full_name then return row end
  row.by_name, row.names, row.required = {}, {}, {}
  for i, param in ipairs(row.params) do
    local name = param[1]
    row.by_name[name] = param
    row.names[i] = name
    if param.required then row.required[#row.required + 1] = name end
  end
  row.group = group
  row.full_name = group .. "." .. row.name
  return row
end

-- The groups of the interface document; and all, with that of operations that only the live service is known to have.
local M = {
  group_names = { "broker", "sub_account", "wallet" },
  all_group_names = { "broker", "sub_account", "wallet", "live" },
}

--- Returns one row, or nil. A group is read when it is first asked for, and a row is prepared with its first use: a
--- program that only withdraws does not pay for the broker.
---@param group string  one of all_group_names
---@param name string
---@return table|nil row
function M.row(group, name)
  for _, row in ipairs(require("purser.api." .. group)) do
    if row.name == name then return prepare(group, row) end
  end
end

M.groups = setmetatable({}, { __index = function(groups, group)
  if group ~= "broker" and group ~= "sub_account" and group ~= "wallet" and group ~= "live" then return nil end
  local rows = require("purser.api." .. group)
  for _, row in ipairs(rows) do prepare(group, row) end
  groups[group] = rows
  return rows
end })

-- Loads what is asked over all groups.
local function load_all()
  local list, every, by_name, by_id = {}, {}, {}, {}
  for _, group in ipairs(M.all_group_names) do
    for _, row in ipairs(M.groups[group]) do
      row_schema.check(row)
      assert(not by_name[row.full_name], row.full_name .. ": defined twice")
      assert(not by_id[row.id], row.full_name .. ": its id is taken")
      every[#every + 1] = row
      if not row.live then list[#list + 1] = row end
      by_name[row.full_name], by_id[row.id] = row, row
    end
  end
  for _, row in ipairs(list) do
    local reconcile = row.reconcile or {}
    for _, other in pairs { row.deprecated, reconcile.lookup, reconcile.delete_operation, reconcile.second_list } do
      assert(by_name[other], row.full_name .. ": refers to an unknown operation")
    end
  end
  M.list, M.every, M.by_name, M.by_id = list, every, by_name, by_id
end

setmetatable(M, { __index = function(_, name)
  if name == "list" or name == "every" or name == "by_name" or name == "by_id" then
    load_all()
    return rawget(M, name)
  end
end })

--- A copy of plain data, and of the tables in it.
function M.copy(value)
  if type(value) ~= "table" then return value end
  local result = {}
  for name, inner in pairs(value) do result[name] = M.copy(inner) end
  return result
end

-- Adds the names of a shape's members to a list: all spellings, and those of the records inside.
local function add_members(names, shape)
  for _, field in ipairs(shapes[shape]) do
    local inner = type(field[2]) == "table" and (field[2].list or field[2])
    names[#names + 1] = field[1]
    for _, alias in ipairs(field.aliases or {}) do names[#names + 1] = alias end
    if type(inner) == "table" then add_members(names, inner.record) end
  end
  return names
end

--- A copy of all rows, with the names of their result's members: those of the document in its order, and all by full
--- name. Changing it changes nothing.
---@return table
function M.public()
  local result = {}
  for _, row in ipairs(M.every) do
    local public, shape = M.copy(row), row.result
    public.members = add_members({}, shape.record or shape.list or shape.page or shape.rows)
    result[row.full_name] = public
    if not row.live then result[#result + 1] = public end
  end
  return result
end

return M
