-- SPDX-License-Identifier: MIT
-- All operations: `list` has the document's rows, `every` also those of live.lua. spec/support/row_schema.lua has all
-- words of a row. A program that calls one group reads that group.

local facts = require "purser.client.operations.facts"

---@class purser.Row  an operation as data
---@field id string          in the interface document
---@field name string        of its method
---@field group string       of the client
---@field full_name string   "group.name"
---@field method "GET"|"POST"|"PUT"|"DELETE"
---@field path string
---@field summary string
---@field permission string|nil  that the key needs, where the document says it
---@field weight integer|nil     where the document says it
---@field effect "read"|"create"|"change"|"transfer"  only a read is ever sent twice
---@field signer "main"|"sub"|nil
---@field body "object"|"array"|nil  its parameters travel in a JSON body
---@field params table[]         name and kind at 1 and 2, with `required`, `default`, `max`, `choices`; `rule`, `help`
--- and `values` are for people
---@field required string[]      names of parameters
---@field names string[]
---@field by_name table<string, table>
---@field rules table|nil
---@field window table|nil       what a history covers, of facts.lua
---@field paging table|nil
---@field result table
---@field shape string           of its records
---@field members table[]        of its records: `name`, `type`, and `members` of a list of records
---@field moves table|nil        what a write call moves, and where to
---@field reconcile table|nil    how an unknown outcome is found out
---@field deprecated string|nil  what to call instead
---@field live boolean|nil

-- Makes what each call looks up in a row.
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
  row.window = (facts.windows[row.full_name] or { {} })[1][1]
  return row
end

local M = {
  group_names = { "broker", "sub_account", "wallet" },
  all_group_names = { "broker", "sub_account", "wallet", "live" },
}

--- Returns one row, or nil. Reads a group, and prepares a row, at the first use.
---@param group string  one of all_group_names
---@param name string
---@return table|nil row
function M.row(group, name)
  for _, row in ipairs(require("purser.client.operations." .. group)) do
    if row.name == name then return prepare(group, row) end
  end
end

M.groups = setmetatable({}, { __index = function(groups, group)
  if group ~= "broker" and group ~= "sub_account" and group ~= "wallet" and group ~= "live" then return nil end
  local rows = require("purser.client.operations." .. group)
  for _, row in ipairs(rows) do prepare(group, row) end
  groups[group] = rows
  return rows
end })

-- Reads all rows.
setmetatable(M, { __index = function(_, name)
  if name ~= "list" and name ~= "every" and name ~= "by_name" and name ~= "by_id" then return nil end
  M.list, M.every, M.by_name, M.by_id = {}, {}, {}, {}
  for _, group in ipairs(M.all_group_names) do
    for _, row in ipairs(M.groups[group]) do
      M.every[#M.every + 1] = row
      if not row.live then M.list[#M.list + 1] = row end
      M.by_name[row.full_name], M.by_id[row.id] = row, row
    end
  end
  return M[name]
end })

return M
