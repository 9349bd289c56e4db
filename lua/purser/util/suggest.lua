-- SPDX-License-Identifier: MIT
-- "Did you mean ...": the known name nearest to an unknown one.

local renamed = require "purser.util.renamed"

local M = {}

-- Edits (insert, delete, replace, exchange two neighbours) that turn `a` into `b`. An exchange counts as one: USTD is
-- USDT before it is USDC.
local function distance(a, b)
  local last, row = nil, {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local before = last
    last, row = row, { [0] = i }
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      row[j] = math.min(last[j - 1] + (same and 0 or 1), last[j] + 1, row[j - 1] + 1)
      if before and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        row[j] = math.min(row[j], before[j - 2] + 1)
      end
    end
  end
  return row[#b]
end

-- The name of `names` that an old name became, or nil.
local function new_name(unknown, names)
  local new = renamed[unknown]
  for _, name in ipairs(names) do
    if name == new then return name end
    for _, one in ipairs(type(new) == "table" and new or {}) do
      if name == one then return name end
    end
  end
end

--- The name of `names` (a list) that `unknown` was probably meant to be, or nil when none is near.
---@param unknown string
---@param names string[]
---@return string|nil
function M.find(unknown, names)
  local new = new_name(unknown, names)
  if new then return new end
  local requested = unknown:sub(1, 64):lower():gsub("[_%-]", "")
  local best, best_distance = nil, math.max(2, math.floor(#requested / 3)) + 1
  for _, name in ipairs(names) do
    local d = distance(requested, (name:lower():gsub("[_%-]", "")))
    if d < best_distance then best, best_distance = name, d end
  end
  return best
end

--- ` (did you mean "x"?)`, or an empty string.
---@param unknown string
---@param names string[]
---@return string
function M.hint(unknown, names)
  local name = M.find(unknown, names)
  return name and (' (did you mean "%s"?)'):format(name) or ""
end

--- The keys of one or more maps, in order.
---@return string[]
function M.names_of(...)
  local names = {}
  for _, map in ipairs { ... } do
    for name in pairs(map) do names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

--- The hint for a word that is none of the keys of these maps.
---@param unknown any
---@return string
function M.among(unknown, ...)
  return M.hint(tostring(unknown), M.names_of(...))
end

return M
