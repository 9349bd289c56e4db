-- SPDX-License-Identifier: MIT
-- Turns an answer into a result, or an error; failure.lua says which.

local decoders = require "purser.client.call.decoders"
local lazy = require "purser.client.util.lazy"
local failure = lazy "purser.client.call.failure"
local schedule = lazy "purser.schedule"
local unwrap = lazy "purser.client.call.unwrap"

local M = {}

local PART = 16384 -- bytes, which take some 0.1 ms

-- A long list is decoded in parts: a step of a loop may end between them.
local function decode(decoder, body)
  if #body <= PART or not schedule.has_budget() then return decoder:decode(body) end
  local state = {}
  while true do
    local value, more, offset, is_repeated = decoder:rows(body, PART, state)
    if more ~= true then return value, more, offset, is_repeated end
    schedule.breathe()
  end
end

local function fail(how, ...)
  return nil, failure[how](...)
end

function M.is_answer(status, body)
  return (status == 200 or type(status) == "number" and status >= 100 and status <= 999 and status % 1 == 0)
    and type(body) == "string"
end

local function is_no(value)
  value = tostring(value):lower()
  return value == "false" or value == "0" or value == "no"
end

local function is_something(value)
  return value ~= nil and value ~= "" and not is_no(value) and not (type(value) == "table" and next(value) == nil)
end

-- Returns the member of an answer, in the envelope or the record, that denies success: `success`; for a write call,
-- whose records have no status, also `error` and a status of failure. Also the status.
local function denial_in(row, value)
  local data = type(value.data) == "table" and value.data or {}
  for _, part in ipairs { value, data, type(data[1]) == "table" and data[1] or {} } do
    if part.success ~= nil and is_no(part.success) then return "success = false" end
    if row.effect ~= "read" then
      if is_something(part.error) then return "that there was an error" end
      local state = tostring(part.status or ""):upper()
      local failed = state:find "^FAIL" or state:find "^ERROR" or state:find "^REJECT"
      if failed then return "status = ", state end
    end
  end
end

-- Returns nil and the error of a body that says what is wrong; nothing where the body may hold a result.
local function error_in(row, profile, status, value, body, headers)
  local in_array = value[1] ~= nil
  if in_array and row.effect == "read" then return end
  local code = not in_array and value.code
  if code and code ~= "" and not profile.success_codes[code] then
    return fail("of_code", row, profile, status, value, body, headers)
  end
  local denied, state = denial_in(row, in_array and value[1] or value)
  if denied then return fail("denied", row, status, value, denied, state) end
end

--- Turns an answer into `result | nil, err`.
---@param row table       the operation
---@param profile table   success_codes: of envelopes that are no error; unknown_codes: those that prove nothing
---@param status integer  HTTP status
---@param body string
---@param headers string|table|nil  raw header block, or a map
---@param values table<string, any>|nil  what was sent, by name
function M.answer(row, profile, status, body, headers, values)
  if not M.is_answer(status, body) then return fail("no_answer", row) end
  if status < 200 or status > 299 then return fail("of_status", row, profile, status, body, headers) end
  if body == "" then
    return fail("undecodable", row, status, ("HTTP %d with an empty body"):format(status), 0)
  end

  local value, message, offset, is_repeated = decode(decoders.of(row), body)
  if is_repeated then
    return fail("undecodable", row, status, "the answer contradicts itself: " .. message, offset)
  end
  if value == nil then return fail("of_body", row, profile, status, body, message, offset, headers) end
  local _, err = error_in(row, profile, status, value, body, headers)
  if err then return nil, err end
  if status == 200 and row.result.list and (value[1] ~= nil or body == "[]") then return value end -- all that came
  local taken, missing = unwrap.take(row, value, body, values, profile, status)
  if not taken then return fail("undecodable", row, status, missing) end
  return taken
end

return M
