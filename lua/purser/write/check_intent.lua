-- SPDX-License-Identifier: MIT
-- Intents before they are reconciled: one may come from a file, another process or by hand.

local option_schema = require "purser.util.option_schema"
local validate = require "purser.call.validate"
local operations = require "purser.api.operations"
local suggest = require "purser.util.suggest"

local M = {}

-- The intent with its parameters as they travelled: one that was written by hand may have numbers and lists.
local function as_sent(intent, values)
  local changed, params, copy = false, {}, {}
  for name, value in pairs(intent.params) do
    params[name] = values[name] or value
    changed = changed or params[name] ~= value
  end
  if not changed then return intent end
  for name, value in pairs(intent) do copy[name] = value end
  copy.params = params
  return copy
end

--- The row of an intent that a caller may have read from anywhere, and the intent as it was sent; or nil, a
--- message and what to do.
---@param intent any
---@return table|nil row, purser.Intent|string intent_or_message, string|nil hint
function M.row_of(intent)
  if type(intent) ~= "table" or type(intent.params) ~= "table" or type(intent.sent_at) ~= "number"
    or intent.sent_at ~= math.floor(intent.sent_at) then
    return nil, "what is to be reconciled is no intent",
      "give an error of unknown outcome, or an intent { operation, params, sent_at }"
  end
  local row = operations.by_name[intent.operation]
  if not row then
    local name = tostring(intent.operation)
    return nil, ('operation "%s" is not known%s'):format(name, suggest.among(name, operations.by_name))
  end
  if row.effect == "read" then return nil, intent.operation .. " is a read", "call it again" end
  if intent.sent_at < 1e12 or intent.sent_at >= 1e13 then
    return nil, "the intent's sent_at does not have 13 digits", "give epoch milliseconds (seconds times 1000)"
  end
  local window = intent.recv_window
  if window ~= nil and not option_schema.matches(window, { 1 }) then
    return nil, "the intent's recv_window is no whole number", "give milliseconds"
  end
  local known = {}
  for name, value in pairs(intent.params) do
    if row.by_name[name] then known[name] = value end
  end
  local values, err = validate.check(row, known)
  if not values then return nil, err.message, err.hint end
  return row, as_sent(intent, values)
end

return M
