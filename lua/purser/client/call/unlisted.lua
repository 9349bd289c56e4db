-- SPDX-License-Identifier: MIT
-- Parameters beyond a row's list: passwords in plain, `extra_params`, and unknown names.

local core = require "purser.core"
local errors = require "purser.client.call.errors"
local parameters = require "purser.client.operations.parameters"
local plain_text = require "purser.client.util.plain_text"
local suggest = require "purser.client.util.suggest"

local kinds = parameters.kinds
local unpack = table.unpack or unpack -- luacheck: ignore

local M = {}

-- Names that travel with every request.
local reserved = {
  timestamp = { "is set by Purser from the client's clock", "remove it" },
  signature = { "is made by Purser", "remove it" },
  recvWindow = { "travels with every operation",
    "pass it as recv_window, in purser.new{...} or in the options of the call" },
}

local function argument_error(row, name, message, hint)
  return nil, errors.parameter(row, name, message, hint)
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

-- Returns the parameter with a plain text of this name, or nil.
local function plain_of(row, name)
  for _, param in ipairs(row.params) do
    if param.plain == name then return param end
  end
end

--- Takes a password in plain, whose hash becomes the parameter. Returns true; or nil and the error of any other name.
function M.take(row, params, name, value, values)
  local param = plain_of(row, name)
  if not param then return unknown(row, name) end
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

local MAX_EXTRA, MAX_EXTRA_NAME_BYTES = 32, 128

-- Returns the fault of an extra parameter's name and what to do, or nil.
local function extra_error(row, name, profile)
  if row.by_name[name] or plain_of(row, name) then
    return "is known", "pass it among the parameters, not as extra_params"
  end
  if reserved[name] then return unpack(reserved[name]) end
  if name == profile.timestamp_name or name == profile.recv_window_name or name == profile.signature_name then
    return "is set by Purser, as the profile says", "remove it"
  end
end

--- Adds `opts.extra_params` to `values`. Returns their names in order.
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
