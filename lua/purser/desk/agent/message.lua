-- SPDX-License-Identifier: MIT
-- JSON-RPC 2.0: a line becomes values once. A number keeps the form in which the number was spelled, so an id returns
-- as the id came, and no amount is rounded. Two members of one name are an error: a judge and a payer could read two.

local core = require "purser.core"
local json = require "purser.json"
local json_tree = require "purser.client.util.json_tree"
local plain_text = require "purser.client.util.plain_text"

local M = {}

M.INVALID_JSON, M.INVALID_REQUEST, M.NO_METHOD, M.BAD_PARAMS, M.INTERNAL = -32700, -32600, -32601, -32602, -32603
M.UNSUPPORTED_REVISION = -32022

local Number, List, Object = {}, {}, {}
local KINDS = { [Number] = "number", [List] = "array", [Object] = "object" }

--- Returns JSON Schema's word for the kind of a read value.
function M.kind(value)
  if value == json.null then return "null" end
  return KINDS[type(value) == "table" and getmetatable(value)] or type(value)
end

--- Returns why a value is not of a wanted kind, in the schema's words: "is an array and no object".
function M.misfit(kind, wanted)
  return ("is %s %s and no %s"):format(kind:find "^[aeiou]" and "an" or "a", kind, wanted)
end

--- Returns a read number as its text; nil for any other value.
function M.digits(value) return M.kind(value) == "number" and value.text or nil end

local value_of

local function members_of(node)
  local object = setmetatable({}, Object)
  for _, member in ipairs(node) do
    local name, value = member[1], value_of(member[2])
    if object[name] ~= nil then error({ twice = name }, 0) end
    object[name] = value
  end
  return object
end

function value_of(node)
  local kind = node.type
  if kind == "object" then return members_of(node) end
  if kind == "array" then
    local list = setmetatable({}, List)
    for i, item in ipairs(node) do list[i] = value_of(item) end
    return list
  end
  if kind == "number" then return setmetatable({ text = node.text }, Number) end
  if kind == "null" then return json.null end
  if kind == "boolean" then return node.text == "true" end
  return node.text
end

--- Reads a JSON text. Returns the value; or nil, a code of JSON-RPC and a message. An object's null members are kept.
---@param text string
---@return any value, integer|nil code, string|nil message
function M.read(text)
  local _, problem = core.decode(text)
  if problem then return nil, M.INVALID_JSON, "the message is no JSON: " .. problem end
  local tree = json_tree.read(text)
  if not tree then return nil, M.INVALID_REQUEST, "the message is nested too deep" end
  local ok, value = pcall(value_of, tree)
  if ok then return value end
  if type(value) ~= "table" then error(value, 0) end
  local name = plain_text.clean(value.twice, 60)
  return nil, M.INVALID_REQUEST, ("the member %s is given twice in one object"):format(name)
end

--- Returns a member of an object that is not null; nil for none.
function M.member(object, name)
  local value = object[name]
  if value ~= json.null then return value end
end

--- Returns an object that a client gave as an object or, as some do, as JSON text of an object; or nil and the schema's
--- word for what the value is.
function M.object(value)
  local kind = M.kind(value)
  if kind == "string" then
    local read = M.read(value)
    if M.kind(read) == "object" then return read end
  end
  if kind == "object" then return value end
  return nil, kind
end

--- Returns an id, or a token of progress, for the answer: spelled as given; nil for what is neither text nor number.
function M.echo(value)
  if type(value) == "string" then return value end
  local digits = M.digits(value)
  return digits and json.raw(digits)
end

--- Returns a text that equal ids share.
function M.id_text(value) return M.digits(value) or json.encode(value) end

--- Returns a message as a line of ASCII and harmless characters.
function M.encoded(message) return plain_text.as_json(json.encode(message)) end

function M.failure(id, code, text, data)
  return { jsonrpc = "2.0", id = id or json.null, error = { code = code, message = text, data = data } }
end

return M
