-- SPDX-License-Identifier: MIT
-- What an answer means: a result, a rejection, or something nobody can be sure about.
--
--   2xx with a result           the result
--   2xx with an error code      rejected (api)
--   2xx that shows no result    unknown (decode): the service may well have done it
--   4xx                         rejected (api); 408 is unknown
--   4xx without a service code  http: a proxy or firewall answered, before or after the service did, so it is unknown
--                               for all but reads
--   418, 429                    rejected (throttled)
--   403 with a page of HTML     throttled: the firewall's "too often"; unknown for all but reads
--   3xx, 5xx and the rest       unknown (http, or api when the body is the service's)
--
-- Whatever the status: a code that proves nothing (the profile's `unknown_codes`), and for a write call a code next to
-- the id of a result, are unknown (api). Every text of an answer that ends up in an error is made plain first.

local core = require "purser.core"
local errors = require "purser.call.errors"
local lazy = require "purser.util.lazy"
local plain_text = require "purser.util.plain_text" -- read now: an answer may come when no file can be opened any more
local unwrap = require "purser.call.unwrap"
local codes = lazy "purser.codes"

local clean = plain_text.clean

local M = {}

local function header(headers, name)
  return headers and unwrap.headers(headers)[name]
end

-- How much of the service's texts an error holds.
local MESSAGE_BYTES, CODE_BYTES = 500, 60

-- A text of the answer for an error. Who repeats the request in it repeats its signature: that is left out.
local function filled(text, max_bytes)
  if type(text) ~= "string" or text == "" then return nil end
  return clean(text:gsub("([Ss]ignature[\"']?%s*[=:]%s*[\"']?)[%w%%+/=_-]+", "%1***"), max_bytes)
end

local function message_of(value)
  return filled(value.msg, MESSAGE_BYTES) or filled(value.message, MESSAGE_BYTES)
end

-- The service's own words in an error body: code and message, or nil when the body is not the service's. An empty code
-- is none, and an empty text says nothing.
local function rejection_of(body)
  local value = body ~= "" and unwrap.error_decoder:decode(body)
  if not value or not (value.code or value.msg or value.message) then return nil end
  return filled(value.code, CODE_BYTES), message_of(value) or ""
end

local function is_pause(status)
  return status == 429 or status == 418
end

-- The service's code for too many requests, in the body of an answer with another status.
local TOO_MANY = "429"

-- Whether an answer is the page of the service's firewall, which it shows to callers that ask too often.
local function is_firewall(status, body, headers)
  if status ~= 403 then return false end
  return body:find "^%s*<" ~= nil or tostring(header(headers, "content-type")):find("text/html", 1, true) ~= nil
end

-- Whether the body of a rejection shows what a write call would have made. One that has a member twice may.
local function shows_record(row, body)
  if row.effect == "read" then return false end
  local value, _, _, is_repeated = unwrap.decoder(row):decode(body)
  return is_repeated or type(value) == "table" and unwrap.shows_record(row, value)
end

local WITH_RESULT = " (the answer holds the id of a result as well, so it proves nothing)"
local NO_ERROR = " (this code means success, and the HTTP status does not, so the answer proves nothing)"

-- What an answer with a code proves of a call, and where that is nothing but for the code's own meaning, why. A code
-- that proves nothing does so whatever else is there.
local function outcome_of(row, profile, status, code, body)
  if profile.unknown_codes[code] then return "unknown", "" end
  if shows_record(row, body) then return "unknown", WITH_RESULT end
  if status >= 200 and status <= 299 then return "rejected", "" end
  if status < 400 or status > 499 or status == 408 then return "unknown", "" end
  if row.effect ~= "read" and profile.success_codes[code] then return "unknown", NO_ERROR end
  return "rejected", ""
end

-- The same of an answer without a code: of a proxy or a firewall.
local function outcome_without_code(row, status)
  if status < 400 or status > 499 or status == 408 then return "unknown" end
  return (row.effect == "read" or is_pause(status)) and "rejected" or "unknown"
end

local function cure_of(code)
  local known = codes.get(code)
  return known and known.cure
end

local PARAMETER_WRONG = "33333"

-- What to do about the service's code, or nil. A write call of unknown outcome has its advice, and one that is not sent
-- must not end in another error: the file may not open any more.
local function hint_of(row, outcome, code)
  if outcome == "unknown" then return row.effect == "read" and "it only reads: call it again later" or nil end
  local ok, cure = pcall(cure_of, code)
  cure = ok and cure or nil
  local max_days = row.window and row.window.max_window_days
  if code == PARAMETER_WRONG and max_days and row.paging then
    return ("%s; a window is at most %d days here: `each_%s` walks longer ones"):format(cure, max_days,
      row.paging.iterator)
  end
  return cure
end

-- The error of an answer that carries the service's code.
local function rejection(row, profile, status, code, message, body)
  local outcome, why = outcome_of(row, profile, status, code, body)
  return {
    kind = code == TOO_MANY and "throttled" or "api", outcome = outcome, code = code, http_status = status,
    operation = row.full_name, phase = "receive",
    message = (message or "the service gave no reason") .. why, hint = hint_of(row, outcome, code),
    retryable = row.effect == "read" and (status >= 500 or code == TOO_MANY or profile.unknown_codes[code] == true),
  }
end

-- The longest pause that is believed (s): the service's bans last three days at most, and whoever stands in between may
-- write what it likes.
local MAX_PAUSE_S = 7 * 86400

local function retry_after_of(headers)
  local seconds = tostring(header(headers, "retry-after") or ""):match("^(%d+)[ \t]*$")
  return seconds and math.min(#seconds < 10 and tonumber(seconds) or MAX_PAUSE_S, MAX_PAUSE_S)
end

local function from_status(row, profile, status, body, headers)
  local code, message = rejection_of(body)
  local err
  if code then
    err = rejection(row, profile, status, code, filled(message, MESSAGE_BYTES), body)
  else
    err = { kind = "http", outcome = outcome_without_code(row, status), http_status = status, operation = row.full_name,
      phase = "receive", retryable = status >= 500 and row.effect == "read", message = filled(message, MESSAGE_BYTES) }
  end
  err.retry_after = retry_after_of(headers)
  if not code and is_firewall(status, body, headers) then
    err.kind = "throttled" -- and not retryable: a firewall that is asked again stays closed
    err.message = err.message or ("the firewall answered (HTTP %d with a page of %d bytes), as it does when requests "
      .. "come too often"):format(status, #body)
    err.hint = "stop calling for some minutes"
  end
  if is_pause(status) then
    err.kind, err.retryable = "throttled", err.outcome == "rejected" or row.effect == "read"
    err.message = err.message or message == nil and "the service asks for a pause" or nil
    err.hint = err.outcome == "rejected" and "wait before the next call: one within the pause makes it longer" or nil
  end
  if not err.message and status >= 300 and status < 400 then
    err.message = ("the service answered with a redirect (HTTP %d), which is never followed"):format(status)
    err.hint = "check base_url"
  elseif not err.message then
    err.message = ("HTTP %d with %d bytes that are not the service's (%s)"):format(status, #body,
      clean(tostring(header(headers, "content-type") or "no content type"), 100))
    err.hint = status == 404 and "base_url may end in a path that is not the service's"
      or row.effect == "read" and "a firewall or proxy may stand in between" or nil
  end
  return nil, errors.new(err)
end

local function undecodable(row, status, message, offset)
  return nil, errors.new {
    kind = "decode", outcome = "unknown", http_status = status, operation = row.full_name, phase = "decode",
    message = clean(message, MESSAGE_BYTES), offset = offset, retryable = row.effect == "read",
  }
end

local function is_answer(status, body)
  return (status == 200 or type(status) == "number" and status >= 100 and status <= 999 and status % 1 == 0)
    and type(body) == "string"
end

-- A transport that the user brought gave what no HTTP answer can be. Something was sent, so nothing is certain.
local function no_answer(row)
  return nil, errors.new {
    kind = "transport", outcome = "unknown", operation = row.full_name, phase = "receive",
    message = "the transport's response lacks an HTTP status or a body",
  }
end

local function is_no(value)
  value = tostring(value):lower()
  return value == "false" or value == "0" or value == "no"
end

local function is_something(value)
  return value ~= nil and value ~= "" and not is_no(value) and not (type(value) == "table" and next(value) == nil)
end

-- Which member of an answer denies the success that the rest shows, whether it stands in the envelope or in the record:
-- `success` for every operation; for a write call, whose records have no status, `error` and a status of failure, too.
local function denial_in(row, value)
  local data = type(value.data) == "table" and value.data or {}
  for _, part in ipairs { value, data, type(data[1]) == "table" and data[1] or {} } do
    if part.success ~= nil and is_no(part.success) then return "success = false" end
    if row.effect ~= "read" then
      if is_something(part.error) then return "that there was an error" end
      local state = tostring(part.status or ""):upper()
      local failed = state:find "^FAIL" or state:find "^ERROR" or state:find "^REJECT"
      if failed then return "status = " .. clean(state, 20) end
    end
  end
end

-- What a decoded body says is wrong; nil where it may hold a result.
local function error_in(row, profile, status, value, body)
  local in_array = value[1] ~= nil
  if in_array and row.effect == "read" then return nil end
  local code = not in_array and filled(value.code, CODE_BYTES)
  if code and not profile.success_codes[code] then
    return errors.new(rejection(row, profile, status, code, message_of(value), body))
  end
  local denied = denial_in(row, in_array and value[1] or value)
  if denied then
    return select(2, undecodable(row, status, ("the answer says %s without an error code: "):format(denied)
      .. (message_of(value) or "the service gave no reason")))
  end
end

--- Turns an answer into `result | nil, err`.
---@param row table       the operation
---@param profile table   success_codes: what an envelope may carry without being an error; unknown_codes: what proves
---                       nothing; null_lists: by full name, the operations whose success without data means none
---@param status integer  HTTP status
---@param body string
---@param headers string|table|nil  raw header block, or a map
---@param values table<string, any>|nil  what was sent, by name
function M.answer(row, profile, status, body, headers, values)
  if not is_answer(status, body) then return no_answer(row) end
  if status < 200 or status > 299 then return from_status(row, profile, status, body, headers) end
  if body == "" then
    return undecodable(row, status, ("HTTP %d with an empty body"):format(status), 0)
  end

  local value, message, offset, is_repeated = unwrap.decoder(row):decode(body)
  if is_repeated then return undecodable(row, status, "the answer contradicts itself: " .. message, offset) end
  if value == nil then
    -- an error whose members do not fit the row's shape is still an error
    local code, text = rejection_of(body)
    if not code or profile.success_codes[code] then
      return undecodable(row, status, "the answer cannot be read: " .. (message or "it is null"), offset)
    end
    value = { code = code, msg = text }
  end
  local err = error_in(row, profile, status, value, body)
  if err then return nil, err end
  local taken, missing = unwrap.take(row, value, body, values, profile)
  if not taken then return undecodable(row, status, missing) end
  return taken
end

--- The same for the two operations that are not signed: `ping` gives true, `server_time` its milliseconds.
---@param row table
---@param profile table
---@param response table  status, body and headers
function M.unsigned_answer(row, profile, response)
  if not is_answer(response.status, response.body) then return no_answer(row) end
  if response.status < 200 or response.status > 299 then
    return from_status(row, profile, response.status, response.body, response.headers)
  end
  local value, message, offset = core.decode(response.body)
  if type(value) ~= "table" then
    message = "the answer cannot be read: " .. (message or "it is not an object")
    return undecodable(row, response.status, message, offset)
  end
  if row.name == "ping" then return true end
  local time = value.serverTime
  if type(time) ~= "number" or time < 0 then
    return undecodable(row, response.status, "the answer lacks `serverTime`")
  end
  return time
end

return M
