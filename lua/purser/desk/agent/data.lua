-- SPDX-License-Identifier: MIT
-- Texts of strangers (memos, notes, labels, names of files) on the way to an agent: bounded, without misleading
-- characters, and inside of JSON, so no text looks like words of the server.

local json = require "purser.json"
local plain_text = require "purser.client.util.plain_text"

local M = {}

local MAX_TEXT, MAX_VALUES = 400, 20000

-- Returns a copy for json.encode. `budget.left` counts values; the rest is left out.
local function copy_of(value, budget)
  budget.left = budget.left - 1
  if budget.left < 0 then
    budget.is_cut = true
    return json.null
  end
  if type(value) == "string" then return plain_text.clean(value, MAX_TEXT) end
  if type(value) ~= "table" or value == json.null then return value end
  local copy, is_list = {}, value[1] ~= nil or next(value) == nil
  for name, item in (is_list and ipairs or pairs)(value) do
    if budget.left <= 0 then
      budget.is_cut = true
      break
    end
    copy[is_list and name or plain_text.clean(tostring(name), MAX_TEXT)] = copy_of(item, budget)
  end
  return is_list and json.list(copy) or copy
end

--- Returns a value as an agent may see the value, and whether a part was left out.
---@return any copy, boolean|nil is_cut
function M.harmless(value)
  local budget = { left = MAX_VALUES }
  return copy_of(value, budget), budget.is_cut
end

--- Returns a text on one line, bounded.
function M.text(text) return plain_text.clean(tostring(text), MAX_TEXT) end

return M
