-- SPDX-License-Identifier: MIT
-- Reads what an agent gave, once: arguments by a tool's schema, parameters by an operation's row. A number has no float
-- on the way, and a number that is no integer is no text.

local json = require "purser.json"
local message = require "purser.desk.agent.message"
local plain_text = require "purser.client.util.plain_text"

local M = {}

local MAX_REFERENCES = 50
local INTEGERS = { count = true, time = true, status = true, named_status = true, flag = true }

-- Returns a number as the text that a parameter of a kind takes; or nil and what is wrong.
local function text_of_number(digits, kind)
  if kind == "amount" then
    if digits:find "[eE]" then return nil, "is a number with an exponent; give the digits as a text" end
    return digits
  end
  if INTEGERS[kind] then digits = digits:gsub("^(%d+)%.0+$", "%1") end
  if digits:find "^%-?%d+$" and digits ~= "-0" then return digits end
  return nil, ("is the number %s and no %s; give a text in quotes"):format(digits, INTEGERS[kind] and "integer"
    or "string")
end

local function text_of(value, kind)
  local form = message.kind(value)
  if form == "string" or form == "boolean" then return value end
  if form == "number" then return text_of_number(value.text, kind) end
  if form == "object" then return nil, message.misfit(form, "string") end
  local list = {}
  for i, item in ipairs(value) do
    local text, problem = text_of(item, kind)
    if problem then return nil, problem end
    list[i] = text
  end
  return list
end

--- Returns the parameters of an operation as texts; or nil and what is wrong. A null counts as absent.
---@param row table
---@param params table|nil  a read object
---@return table<string, any>|nil params, string|nil problem
function M.params(row, params)
  local texts = {}
  for name, value in pairs(params or {}) do
    if value ~= json.null then
      local param = row.by_name[name]
      local text, problem = text_of(value, param and param[2])
      if problem then return nil, ("the parameter %s %s"):format(plain_text.clean(name, 60), problem) end
      texts[name] = text
    end
  end
  return texts
end

-- Returns why a text is no reference; else nil.
local function no_reference(text)
  if #text > 64 or not plain_text.is_name(text) then
    return "the reference is empty, longer than 64 bytes, or has characters that cannot be seen"
  end
end

local function references_of(list)
  local texts = {}
  if #list > MAX_REFERENCES then return nil, ("references has more than %d members"):format(MAX_REFERENCES) end
  for i, item in ipairs(list) do
    local kind = message.kind(item)
    local problem = kind ~= "string" and "a member of references " .. message.misfit(kind, "string")
      or kind == "string" and no_reference(item)
    if problem then return nil, problem end
    texts[i] = item
  end
  return texts
end

-- Returns an argument's value of the type that the schema wants; or nil and what is wrong.
local function read_argument(name, value, wanted)
  local kind = message.kind(value)
  if wanted == "object" then value, kind = message.object(value) end
  if wanted == "object" and value then return value end
  if kind ~= wanted then return nil, ("the argument %s %s"):format(name, message.misfit(kind, wanted)) end
  if wanted == "array" then return references_of(value) end
  local problem = name == "reference" and no_reference(value)
  return not problem and value or nil, problem or nil
end

--- Returns the arguments of a tool: strings, lists of references, and `params` as a read object; or nil and what is
--- wrong. A null counts as absent.
---@param tool table
---@param arguments table  a read object
---@return table<string, any>|nil given, string|nil problem
function M.arguments(tool, arguments)
  local given, rest = {}, {}
  for name, value in pairs(arguments) do rest[name] = value ~= json.null or nil end
  for _, argument in ipairs(tool.takes) do
    local name, value = argument[1], message.member(arguments, argument[1])
    if value == nil and not argument[3] then return nil, ("the argument %s is missing"):format(name) end
    if value ~= nil then
      local problem
      value, problem = read_argument(name, value, argument[2].type)
      if problem then return nil, problem end
    end
    given[name], rest[name] = value, nil
  end
  local other = next(rest)
  if other ~= nil then return nil, ("the tool %s takes no argument %s"):format(tool.name, other) end
  return given
end

return M
