-- SPDX-License-Identifier: MIT
-- The first stage: parameters against their row.

local lazy = require "purser.client.util.lazy"
local parameters = require "purser.client.operations.parameters"
local columns = lazy "purser.client.operations.columns"
local errors = lazy "purser.client.call.errors"
local unlisted = lazy "purser.client.call.unlisted"

local format = string.format
local kinds = parameters.kinds

local M = {}

-- Rules over several parameters return nil, or the parameter at fault, a message and a hint.
local rules = {
  area_code_with_mobile = function(values)
    if values.toAccountType == "MOBILE" and not values.areaCode then
      return "areaCode", "is required when toAccountType is MOBILE", "give the telephone area code, such as 86"
    end
  end,
  account_of_type = function(values)
    local type_ = values.toAccount and columns.type_of("toAccount", values)
    local state, message, hint = "good", nil, nil
    if type_ then state, message, hint = columns.judge(type_, values.toAccount, values) end
    if state == "refused" then return "toAccount", message, hint end
  end,
}

local function check_together(row, values)
  for i = 1, #row.required do
    local name = row.required[i]
    if values[name] == nil then return errors.parameter(row, name, "is required", "give it a value") end
  end
  local first, last = values.startTime, values.endTime
  if first and last and first > last then -- both have 13 digits, so text order is time order
    return errors.parameter(row, "startTime", "is later than endTime", "exchange them")
  end
  for i = 1, row.rules and #row.rules or 0 do
    local name, message, hint = rules[row.rules[i]](values)
    if name then return errors.parameter(row, name, message, hint) end
  end
end

local function text_of(value) return type(value) == "string" and value or type(value) end

local no_params = {}

--- Returns the values that travel, by name; or nil, an argument error, and the values with the rejected ones: they tell
--- a call that was made before.
---@param row table       an operation
---@param params table|nil
---@return table|nil values, purser.Error|nil err, table|nil given
function M.check(row, params)
  if params ~= nil and type(params) ~= "table" then
    return nil, errors.parameter(row, nil, format("the parameters are a %s", type(params)), "give a table")
  end
  -- room for four: two parameters and the pipeline's two
  local values, by_name, rejection = { a = nil, b = nil, c = nil, d = nil }, row.by_name, nil
  for name, value in pairs(params or no_params) do
    local param = by_name[name]
    local err
    if param then
      local text, message, hint = kinds[param[2]].check(value, param)
      values[name], err = text, not text and errors.parameter(row, name, message, hint)
    else
      err = select(2, unlisted.take(row, params, name, value, values))
    end
    if err then values[text_of(name)], rejection = text_of(value), rejection or err end
  end
  rejection = rejection or check_together(row, values)
  if rejection then return nil, rejection, values end
  return values
end

return M
