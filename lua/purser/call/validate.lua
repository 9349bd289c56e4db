-- SPDX-License-Identifier: MIT
-- The first stage: parameters against their row. What does not pass ends here, and nothing is sent.

local lazy = require "purser.util.lazy"
local parameters = require "purser.api.parameters"
local errors = lazy "purser.call.errors"
local unlisted = lazy "purser.call.unlisted"

local format = string.format
local kinds = parameters.kinds

local M = {}

-- Rules over several parameters. Each returns the parameter at fault, a message and a hint, or nil.
local rules = {
  area_code_with_mobile = function(values)
    if values.toAccountType == "MOBILE" and not values.areaCode then
      return "areaCode", "is required when toAccountType is MOBILE", "give the telephone area code, such as 86"
    end
  end,
}

local function argument_error(row, name, message, hint)
  return nil, errors.parameter(row, name, message, hint)
end

local function check_order(row, values)
  local first, last = values.startTime, values.endTime
  if first and last and first > last then -- both have 13 digits, so text order is time order
    return argument_error(row, "startTime", "is later than endTime", "exchange them")
  end
  for i = 1, row.rules and #row.rules or 0 do
    local name, message, hint = rules[row.rules[i]](values)
    if name then return argument_error(row, name, message, hint) end
  end
  return values
end

local no_params = {}

--- Checks `params` against `row` and returns the values that travel, by name; or nil and an argument error.
---@param row table       an operation
---@param params table|nil
---@return table|nil values, purser.Error|nil err
function M.check(row, params)
  if params ~= nil and type(params) ~= "table" then
    return argument_error(row, nil, format("the parameters are a %s", type(params)), "give a table")
  end
  -- The constructor makes room for four: two parameters and what the pipeline adds.
  local values, by_name = { a = nil, b = nil, c = nil, d = nil }, row.by_name
  for name, value in pairs(params or no_params) do
    local param = by_name[name]
    if param then
      local text, message, hint = kinds[param[2]].check(value, param)
      if not text then return argument_error(row, name, message, hint) end
      values[name] = text
    else
      local ok, err = unlisted.take(row, params, name, value, values)
      if not ok then return nil, err end
    end
  end
  for i = 1, #row.required do
    local name = row.required[i]
    if values[name] == nil then return argument_error(row, name, "is required", "give it a value") end
  end
  return check_order(row, values)
end

return M
