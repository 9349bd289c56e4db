-- SPDX-License-Identifier: MIT
-- All operations: the rows of broker.lua, sub_account.lua and wallet.lua are `list`; `every` has those of live.lua too,
-- which the interface document does not have.
--
-- A row that uses a word row_schema.lua does not list, a kind or shape that does not exist, or a name twice, fails when
-- all rows are read: in every test, the documentation and the command line. A program that calls one group reads that
-- group, and does without the check.

local lazy = require "purser.util.lazy"
local row_schema = lazy "purser.api.row_schema"

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

setmetatable(M, { __index = function(_, name)
  if name == "list" or name == "every" or name == "by_name" or name == "by_id" then
    M.list, M.every, M.by_name, M.by_id = row_schema.check_all(M.all_group_names, M.groups)
    return rawget(M, name)
  end
end })

return M
