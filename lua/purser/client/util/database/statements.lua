-- SPDX-License-Identifier: MIT
-- Caches SQL statements by the set of a map's column names. A tree of names leads to the statement: maps built alike
-- iterate alike, so each set of names is sorted once.

local M = {}

local NAMES = {} -- of a node: the names on the path to the node, sorted

local root = {}

-- Returns the node of a map's names.
local function node_of(map)
  local node = root
  for name in pairs(map) do
    local following = node[name]
    if not following then
      following = {}
      node[name] = following
    end
    node = following
  end
  if not node[NAMES] then
    node[NAMES] = {}
    for name in pairs(map) do table.insert(node[NAMES], name) end
    table.sort(node[NAMES])
  end
  return node
end

-- Returns the values of a map in the order of the names, and how many these are.
local function values_of(map, names)
  local values, count = {}, #names
  for i = 1, count do values[i] = map[names[i]] end
  return values, count
end

--- Returns the statement that `make` returns for the columns of a map, and the values that are bound to it.
---@param map table<string, string>  the programs' own columns, never a stranger's names
---@param what string  of the program's own texts: it tells statements of the same columns apart, and no column has it
---@param make fun(names: string[], what: string): string
---@return string sql, string[] values, integer count
function M.of(map, what, make)
  local node = node_of(map)
  local names = node[NAMES]
  if not node[what] then node[what] = make(names, what) end
  return node[what], values_of(map, names)
end

return M
