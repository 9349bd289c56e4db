-- SPDX-License-Identifier: MIT
-- The first stage: parameters against their row. What does not pass ends here, and nothing is sent.

local core = require "purser.core"
local errors = require "purser.call.errors"
local lazy = require "purser.util.lazy"
local parameters = require "purser.api.parameters"
local plain_text = require "purser.util.plain_text"
local suggest = lazy "purser.util.suggest"

local kinds = parameters.kinds
local unpack = table.unpack or unpack -- luacheck: ignore

local M = {}

-- Rules over several parameters. Each returns the parameter at fault, a message and a hint, or nil.
local rules = {
  area_code_with_mobile = function(values)
    if values.toAccountType == "MOBILE" and not values.areaCode then
      return "areaCode", "is required when toAccountType is MOBILE", "give the telephone area code, such as 86"
    end
  end,
}

-- Names that travel with every request and are set elsewhere.
local reserved = {
  timestamp = { "is set by Purser from the client's clock", "remove it" },
  signature = { "is made by Purser", "remove it" },
  recvWindow = { "travels with every operation",
    "pass it as recv_window, in purser.new{...} or in the options of the call" },
}

local function argument_error(row, name, message, hint)
  local err = errors.argument(name, name and ('parameter "%s" %s'):format(name, message) or message, hint)
  err.operation = row.full_name
  return nil, err
end

local function unknown(row, name)
  if type(name) ~= "string" then
    return argument_error(row, nil, "a parameter has no name", 'give parameters by name, as in { coin = "USDT" }')
  end
  if reserved[name] then return argument_error(row, name, unpack(reserved[name])) end
  local names = {}
  for _, param in ipairs(row.params) do
    names[#names + 1] = param[1]
    names[#names + 1] = param.plain
  end
  return argument_error(row, name, "is not known" .. suggest.hint(name, names),
    #names == 0 and "remove it: this operation has none" or "there are " .. table.concat(names, ", "))
end

-- Puts the hash of a password given in plain under the parameter's own name.
local function take_plain(row, params, name, value, values)
  for _, param in ipairs(row.params) do
    if param.plain == name then
      if params[param[1]] ~= nil then
        return argument_error(row, name, ('is given together with "%s"'):format(param[1]), "give one of them")
      end
      if type(value) ~= "string" or value == "" then
        return argument_error(row, name, "is not a text", "pass a string that is not empty")
      end
      local digest, problem = core.md5_hex(value)
      if not digest then
        return nil, errors.new { kind = "config", outcome = "not_sent", phase = "check", parameter = name,
          operation = row.full_name, message = ('parameter "%s" cannot be hashed: %s'):format(name, problem),
          hint = ('give its hexadecimal MD5 as "%s"'):format(param[1]) }
      end
      values[param[1]] = digest
      return true
    end
  end
  return unknown(row, name)
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
    return argument_error(row, nil, ("the parameters are a %s"):format(type(params)), "give a table")
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
      local ok, err = take_plain(row, params, name, value, values)
      if not ok then return nil, err end
    end
  end
  for i = 1, #row.required do
    local name = row.required[i]
    if values[name] == nil then return argument_error(row, name, "is required", "give it a value") end
  end
  return check_order(row, values)
end

local MAX_EXTRA, MAX_EXTRA_NAME_BYTES = 32, 128

-- What is wrong with the name of an extra parameter under this profile, and what to do; or nil.
local function extra_error(row, name, profile)
  if row.by_name[name] then return "is known", "pass it among the parameters, not as extra_params" end
  if reserved[name] then return unpack(reserved[name]) end
  if name == profile.timestamp_name or name == profile.recv_window_name or name == profile.signature_name then
    return "is set by Purser, as the profile says", "remove it"
  end
end

--- Checks `opts.extra_params`: parameters this version does not know. Returns their names in order and adds them to
--- `values`.
---@return string[]|nil names, purser.Error|nil err
function M.add_extra(row, extra, values, profile)
  local names = {}
  for name, value in pairs(extra) do
    if type(name) ~= "string" or name == "" or name:find("[%c]") or #name > MAX_EXTRA_NAME_BYTES
      or not plain_text.is_utf8(name) then
      return nil, errors.option('option "extra_params" holds what is no name of a parameter', "extra_params",
        "give a table of values by parameter name")
    end
    local wrong, cure = extra_error(row, name, profile)
    if wrong then return argument_error(row, name, wrong, cure) end
    if type(value) ~= "boolean" then
      local text, message, hint = kinds.text.check(value)
      if not text then return argument_error(row, name, message, hint) end
      if type(value) ~= "number" then value = text end -- an integer travels as one in a JSON body
    end
    values[name] = value
    names[#names + 1] = name
    if #names > MAX_EXTRA then
      return nil, errors.option(('option "extra_params" holds more than %d parameters'):format(MAX_EXTRA),
        "extra_params", "leave some out")
    end
  end
  table.sort(names)
  return names
end

return M
