-- SPDX-License-Identifier: MIT
-- One record as the result of a call, with the member that proves it: no word, page or zero.

local core = require "purser.core"
local plain_text = require "purser.client.util.plain_text"

local M = {}

-- Words that stand for a missing value.
local no_ids = {
  ["null"] = true, ["nil"] = true, none = true, undefined = true, ["true"] = true, ["false"] = true, nan = true,
  error = true,
}

-- Zeros, also divided, and numbers below zero name nothing.
local function names_something(text)
  return text:find "%S" and not no_ids[text:lower()] and not text:find "^[-+.0]+$" and not text:find "^%-%d"
    and plain_text.is_plain(text)
end

-- Ids of the service: digits, 32 hexadecimal digits, or letters and digits (mx0aBYs33eIilxBWC5). Another sign, no digit
-- or more than 64 signs make a word, a page or a mistake.
local function is_id(text)
  return #text <= 64 and text:find "^[A-Za-z0-9_][A-Za-z0-9_-]*$" and text:find "[0-9]" and not text:find "^[0-]+$"
end

local MAX_ADDRESS = 256

-- An address may have other signs, or letters alone, but no blanks and no piece of a page.
local function is_address(text)
  return #text <= MAX_ADDRESS and text:find "^[A-Za-z0-9_:.?=&/+~@-]+$" and text:find "[A-Za-z0-9]"
    and names_something(text)
end

local function is_filled(text)
  return text:find "%S"
end

local proofs = { id = is_id, tranId = is_id, apiKey = is_id, address = is_address, totalConvert = core.decimal }

-- Tells whether a member may name a record without a proof: beside an error code reason enough for doubt.
local function may_be_proof(name, text)
  return type(text) == "string" and (name == "totalConvert" and core.decimal or proofs[name] and names_something
    or is_filled)(text) and true or false
end

-- Returns why a key pair cannot be used or kept; or nil.
local function broken_key(record)
  for _, name in ipairs { "apiKey", "secretKey" } do
    local text = record[name]
    local plain, what = true, nil
    if type(text) == "string" then plain, what = plain_text.is_plain(text) end
    if not plain then return ("the answer's `%s` holds a %s; delete this key on the platform"):format(name, what) end
  end
end

--- Returns the record of a decoded answer; or nil and what is missing.
---@param result table  of the row
---@param value table   the decoded body
---@param answer table  success_codes
function M.take(result, value, answer)
  local record = value[1] or value
  local data = value.data -- of an element of a list `data` would be any member, of any type
  if data then record = data[1] or data end
  if (data or value)[2] ~= nil then return nil, "the answer holds more than one record" end
  local name = result.required_member
  local proof = record[name]
  if data and value[name] ~= nil and value[name] ~= proof then
    return nil, ("the answer shows two different `%s`"):format(name)
  end
  local code = tostring(record.code or "")
  if code ~= "" and answer.success_codes and not answer.success_codes[code] and may_be_proof(name, proof) then
    return nil, ("the answer holds the error code %s next to its record"):format(code)
  end
  if type(proof) ~= "string" or proof == "" then return nil, ("the answer lacks `%s`"):format(name) end
  local problem = broken_key(record)
  if problem then return nil, problem end
  if not (proofs[name] or is_filled)(proof) then
    return nil, ("the answer's `%s` is %s, which proves nothing"):format(name, proof:sub(1, 100))
  end
  return record
end

--- Tells whether any part of a decoded answer may prove a record of this row.
function M.shows(row, value)
  local name, data = row.result.required_member, value.data or {}
  for _, record in ipairs { value, value[1] or {}, data, data[1] or {} } do
    if may_be_proof(name, record[name]) then return true end
  end
  return false
end

return M
