-- SPDX-License-Identifier: MIT
-- Reads the parameters out of what arrived: the raw query and the raw body, each where its operation wants it.

local core = require "purser.core"
local rejection = require "purser.testing.sim.rejection"
local is_utf8 = require("purser.client.util.plain_text").is_utf8

local M = {}

-- Bytes that may stand in a query as they are. Parentheses, quotes, blanks and the like must be percent-encoded.
local ILLEGAL = "[^%w%-%._~%%&=,@/:%+%*]"

local function unescape(text)
  if text:find("%%") then
    if text:gsub("%%%x%x", ""):find("%%") then return nil end
    text = text:gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end)
  end
  return text
end

--- Splits a query at the last signature parameter. Returns the rest of the query and the signature, both as sent; the
--- query and nil without a signature.
function M.split(query, name)
  local pattern = "^(.*)&" .. name:gsub("%p", "%%%0") .. "=([^&]*)(.*)$"
  local head, signature, tail = ("&" .. query):match(pattern)
  if not head then return query, nil end
  return (head .. tail):sub(2), signature
end

--- Returns the parameters of a query, decoded.
function M.query(text)
  if text:find(ILLEGAL) then rejection.raise "700008" end
  local values = {}
  for pair in text:gmatch("[^&]+") do
    local name, value = pair:match("^([^=]*)=(.*)$")
    name, value = name or pair, value or ""
    if name:find("[%%%+]") or value:find("[%%%+]") then
      name, value = unescape((name:gsub("%+", " "))), unescape((value:gsub("%+", " ")))
      if not name or not value then
        rejection.raise("700008", "A percent sign is not followed by two hexadecimal digits")
      end
    end
    if not is_utf8(name) or not is_utf8(value) then rejection.raise("700008", "A parameter is not UTF-8") end
    if values[name] then rejection.raise("700008", ("Parameter '%s' was sent twice"):format(name)) end
    values[name] = value
  end
  return values
end

M.unescape = unescape

local function bad_body(message, ...) rejection.raise("730002", message:format(...)) end

-- Returns the members of a JSON object as texts. The interface types every one of them as a string.
local function members_of(object, row)
  local texts = {}
  for name, value in pairs(object) do
    if type(name) ~= "string" then bad_body "The body is not an object" end
    if type(value) ~= "string" and row.by_name[name] then bad_body("Parameter '%s' must be a string", name) end
    texts[name] = tostring(value)
  end
  return texts
end

local function read_body(row, body, form)
  local is_list = form == "array"
  local wanted = is_list and "The body must be a JSON array holding one object" or "The body must be a JSON object"
  if not body:find("^%s*" .. (is_list and "%[" or "{")) then bad_body(wanted) end
  local value = core.decode(body)
  if type(value) ~= "table" then bad_body "The body is not JSON" end
  if is_list and (type(value[1]) ~= "table" or value[2] ~= nil) then bad_body(wanted) end
  return members_of(is_list and value[1] or value, row)
end

local function names_one(row, texts)
  for _, name in ipairs(row.names) do
    if texts[name] ~= nil then return name end
  end
end

-- Returns the form of the body of a row under a profile: "object", "array", or nil for the query. The array body of B3
-- and B5 may also be a query, since both forms are known.
local function form_of(row, body, profile)
  if row.body == "object" then return profile.object_body ~= "query" and "object" or nil end
  if row.body ~= "array" or body == "" then return nil end
  return profile.array_body == "object" and "object" or "array"
end

--- Returns the parameters of an operation, wherever they travel under a profile.
---@return table<string, string> texts
function M.parameters(row, query, body, profile)
  local form = form_of(row, body, profile)
  if not form and body == "" then return query end
  if not form then
    rejection.raise(row.group == "wallet" and "33333" or "730002",
      "Parameters travel in the query; the body must be empty")
  end
  local stray = names_one(row, query)
  if stray then bad_body("Parameter '%s' travels in the body, not in the query", stray) end
  return body == "" and {} or read_body(row, body, form) -- of {} whatever is mandatory is missing
end

return M
