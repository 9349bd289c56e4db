-- SPDX-License-Identifier: MIT
-- "Did you mean ...": the known name nearest to an unknown one.

local names_of = require "purser.client.util.names_of"

local M = {}

-- Returns the edits (insert, delete, replace, exchange of neighbours) from `a` to `b`: USTD is USDT before USDC.
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

local NEAR = 2 -- so many letters are a slip of the fingers; more may be another word

-- Returns the shortest name that begins with an unknown plural: "deposit_history" for "deposits"; or nil.
local function longer(unknown, names)
  local stem, found = unknown:gsub("s$", ""), nil
  for _, name in ipairs(names) do
    if #stem > 2 and name:sub(1, #stem) == stem and (not found or #name < #found) then found = name end
  end
  return found
end

--- Returns the nearest of `names`; nil where none is near, or two are as near to a short word, as USDC and USDT to usd.
---@param unknown string
---@param names string[]
---@param max_distance number|nil  how many letters may differ; by default a third of them, or two; one of a short word
---@return string|nil
function M.find(unknown, names, max_distance)
  local requested = unknown:sub(1, 64):lower():gsub("[_%-]", "")
  local is_short, is_tie, best = #requested < 5, false, nil
  local best_distance = max_distance or is_short and 1 or math.max(2, math.floor(#requested / 3))
  for _, name in ipairs(names) do
    local plain = name:lower():gsub("[_%-]", "")
    local d = distance(requested, plain)
    local is_alike = d < math.max(#requested, #plain) -- they share a letter
    if is_alike and (d < best_distance or not best and d == best_distance) then
      best, best_distance, is_tie = name, d, false
    elseif is_alike and d == best_distance and plain ~= best:lower():gsub("[_%-]", "") then
      is_tie = is_short
    end
  end
  if is_tie then return nil end
  return (not best or best_distance > NEAR) and longer(unknown, names) or best
end

function M.hint(unknown, names)
  local name = M.find(unknown, names)
  return name and (' (did you mean "%s"?)'):format(name) or ""
end

--- Returns the hint for a word that is no key of maps.
function M.among(unknown, ...)
  return M.hint(tostring(unknown), names_of(...))
end

return M
