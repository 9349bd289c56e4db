-- SPDX-License-Identifier: MIT
-- Errors for answers without a result: a rejection, or an unknown outcome.
--
--   2xx, 4xx with a code        rejected (api); 408 is unknown. A write call is rejected by a listed code alone
--   2xx without a result        unknown (decode): the service may have executed the call
--   4xx without a service code  http: a proxy or firewall answered, before or after the service; unknown but for reads
--   418, 429                    rejected (throttled); unknown where the body shows a write call's result
--   403 with a page of HTML     throttled: the firewall's "too often"; unknown but for reads
--   3xx, 5xx and the rest       unknown (http, or api when the body is the service's)
--
-- Unknown (api) under any status: a code of the profile's `unknown_codes`; for a write call a code beside the id of
-- a result, too, and words about an earlier request (a gateway that sends twice gets "exists" after the execution).
-- spec/client/call/failure_spec.lua has the cases, docs/write/outcomes.md their table.

local core = require "purser.core"
local decoders = require "purser.client.call.decoders"
local errors = require "purser.client.call.errors"
local lazy = require "purser.client.util.lazy"
local plain_text = require "purser.client.util.plain_text"
local records = require "purser.client.call.record"
local unwrap = require "purser.client.call.unwrap"
local codes = lazy "purser.codes"
local utc = lazy "purser.client.util.utc"

local clean = plain_text.clean

local error_decoder = decoders.of_errors()

local M = {}

local function header(headers, name)
  return headers and unwrap.headers(headers)[name]
end

local MESSAGE_BYTES, CODE_BYTES = 500, 60

-- Members with secrets: a page may repeat a request in any coding.
local SECRETS, NEXT, LONG = { "signature", "password", "apikey" }, 12, ("%w"):rep(16)

local function hide_secrets(text)
  text = text:gsub("([Ss]ignature[\"']?%s*[=:]%s*[\"']?)[%w%%+/=_-]+", "%1***")
  for _, name in ipairs(SECRETS) do
    local _, from = text:lower():find(name, 1, true)
    while from do
      local first, last = text:find(LONG .. "[%w%%+/=_-]*", from + 1)
      if first and first <= from + NEXT then text = text:sub(1, first - 1) .. "***" .. text:sub(last + 1) end
      _, from = text:lower():find(name, from + 1, true)
    end
  end
  return text
end

-- Returns a text of the answer without the secrets of a repeated request.
local function filled(text, max_bytes)
  if type(text) ~= "string" or text == "" then return nil end
  return clean(hide_secrets(text), max_bytes)
end

local function message_of(value)
  return filled(value.msg, MESSAGE_BYTES) or filled(value.message, MESSAGE_BYTES)
end

-- Returns the code and message of a body of the service, none where empty; nil for any other body.
local function code_and_message(body)
  local value = body ~= "" and error_decoder:decode(body)
  if not value or not (value.code or value.msg or value.message) then return nil end
  return filled(value.code, CODE_BYTES), message_of(value) or ""
end

local PAGE_BYTES = 200

-- Returns the words of an HTML page, or the beginning of a text; nil for JSON, which may hold a result.
local function words_of(body)
  local first = body:match "^%s*(.)"
  if not first or first == "{" or first == "[" then return nil end
  local text = body:sub(1, 20000)
  if first == "<" then
    text = text:gsub("<[sS][cCtT][rRyY][iIlL].-</[sS][^>]*>", " "):gsub("<[^>]*>", " ")
  end
  text = text:gsub("&nbsp;", " "):gsub("&amp;", "&"):gsub("%s+", " "):match "^ ?(.-) ?$"
  return filled(text, PAGE_BYTES), first == "<"
end

local function is_pause(status)
  return status == 429 or status == 418
end

-- Too many requests, in a body under another status.
local TOO_MANY = "429"

-- Tells the firewall's page for callers that ask too often.
local function is_firewall(status, body, headers)
  if status ~= 403 then return false end
  return body:find "^%s*<" ~= nil or tostring(header(headers, "content-type")):find("text/html", 1, true) ~= nil
end

-- Tells whether the body of a rejection may show a write call's record, as a body with a member twice may.
local function shows_record(row, body)
  if row.effect == "read" then return false end
  local value, _, _, is_repeated = decoders.of(row):decode(body)
  return is_repeated or type(value) == "table" and records.shows(row, value)
end

local WITH_RESULT = " (the answer holds the id of a result as well, so it proves nothing)"
local NO_ERROR = " (this code means success, and the HTTP status does not, so the answer proves nothing)"

local NOT_LISTED = " (the code is not among the known codes: a machine in between may have answered, after the "
  .. "service had executed the call)"
local OF_EARLIER = " (the words may be of an earlier request with this id, so they prove nothing)"

-- Tells if words may speak of an earlier request.
local function speaks_of_earlier(message)
  local text = (message or ""):lower():gsub("not exist", "")
  return text:find("exist", 1, true) or text:find("duplicat", 1, true) or text:find("repeat", 1, true)
end

-- Returns the outcome that a code proves, and the reason where the outcome is not the code's own.
local function outcome_of(row, profile, status, code, message, body)
  if profile.unknown_codes[code] then return "unknown", "" end
  if shows_record(row, body) then return "unknown", WITH_RESULT end
  if status < 200 or status > 299 and status < 400 or status > 499 or status == 408 then return "unknown", "" end
  if row.effect == "read" then return "rejected", "" end
  if profile.success_codes[code] then return "unknown", NO_ERROR end
  if is_pause(status) then return "rejected", "" end
  if not codes.get(code) then return "unknown", NOT_LISTED end
  if row.reconcile.generated_id and speaks_of_earlier(message) then return "unknown", OF_EARLIER end
  return "rejected", ""
end

-- Returns the outcome that a proxy's or firewall's answer proves.
local function outcome_without_code(row, status, body)
  if status < 400 or status > 499 or status == 408 then return "unknown" end
  if row.effect == "read" then return "rejected" end
  local claims_success = shows_record(row, body) or body:lower():find '"success"%s*:%s*"?true'
  return is_pause(status) and not claims_success and "rejected" or "unknown"
end

local PARAMETER_WRONG = "33333"
local hint_of_status = {
  [404] = "base_url may end in a path that is not the service's",
  [451] = "the service does not serve the place that this comes from",
}

-- Returns a code's cure, or nil. A write call of unknown outcome has an advice instead.
local function hint_of(row, outcome, code)
  if outcome == "unknown" then return row.effect == "read" and "it only reads: call it again later" or nil end
  local known = codes.get(code)
  local cure = known and known.cure
  local max_days = row.window and row.window.max_window_days
  if code == PARAMETER_WRONG and max_days and row.paging then
    return ("%sa window is at most %d days here: `each_%s` walks longer ones"):format(cure and cure .. "; " or "",
      max_days, row.paging.iterator)
  end
  return cure
end

-- The longest believed pause (s): the service bans for three days at most, a proxy may write anything.
local MAX_PAUSE_S = 7 * 86400

-- Returns the seconds of a pause, rounded up, from a number, or from a date and the answer's own date.
local function retry_after_of(headers)
  local text = tostring(header(headers, "retry-after") or ""):match "^(.-)[ \t]*$"
  local whole, fraction = text:match "^(%d+)%.?(%d*)$"
  if whole then
    local seconds = #whole < 10 and tonumber(whole) + (fraction:find "[1-9]" and 1 or 0) or MAX_PAUSE_S
    return math.min(seconds, MAX_PAUSE_S)
  end
  local now = utc.http_ms(tostring(header(headers, "date")), core.now_ms())
  local ends = now and utc.http_ms(text, now)
  return ends and math.floor(math.max(0, math.min((ends - now) / 1000, MAX_PAUSE_S))) or nil
end

local function rejection(row, profile, status, code, message, body, headers)
  local outcome, why = outcome_of(row, profile, status, code, message, body)
  return {
    kind = code == TOO_MANY and "throttled" or "api", outcome = outcome, code = code, http_status = status,
    operation = row.full_name, phase = "receive",
    message = (message or "the service gave no reason") .. why,
    hint = hint_of(row, outcome, code) or hint_of_status[status], retry_after = retry_after_of(headers),
    retryable = row.effect == "read" and (status >= 500 or code == TOO_MANY or profile.unknown_codes[code] == true),
  }
end

--- Makes the error of an answer with a status of failure.
function M.of_status(row, profile, status, body, headers)
  local code, message = code_and_message(body)
  local err
  if code then
    err = rejection(row, profile, status, code, filled(message, MESSAGE_BYTES), body, headers)
  else
    err = { kind = "http", outcome = outcome_without_code(row, status, body), http_status = status,
      operation = row.full_name, phase = "receive", retryable = status >= 500 and row.effect == "read",
      message = filled(message, MESSAGE_BYTES), retry_after = retry_after_of(headers) }
  end
  if not code and is_firewall(status, body, headers) then
    err.kind = "throttled" -- and not retryable: a firewall that is asked again stays closed
    err.message = err.message or ("the firewall answered (HTTP %d with a page of %d bytes), as it does when requests "
      .. "come too often"):format(status, #body)
    err.hint = "stop calling for some minutes"
  end
  if is_pause(status) then
    err.kind, err.retryable = "throttled", err.outcome == "rejected" or row.effect == "read"
    err.message = err.message or message == nil and "the service asks for a pause"
      .. (err.outcome == "unknown" and row.effect ~= "read" and not code and WITH_RESULT or "") or nil
    err.hint = err.outcome == "rejected" and "wait before the next call: one within the pause makes it longer" or nil
  end
  if not err.message and status >= 300 and status < 400 then
    err.message = ("the service answered with a redirect (HTTP %d), which is never followed"):format(status)
    err.hint = "check base_url"
  elseif not err.message then
    local words = words_of(body)
    err.message = ("HTTP %d with %d bytes that are not the service's (%s)%s"):format(status, #body,
      clean(tostring(header(headers, "content-type") or "no content type"), 100), words and ': "' .. words .. '"' or "")
    err.hint = hint_of_status[status] or row.effect == "read" and (status == 503 and words and "try again later"
      or "a firewall or proxy may stand in between") or nil
  end
  return errors.new(err)
end

---@param message string  why not
---@param offset integer|nil
---@return purser.Error
function M.undecodable(row, status, message, offset)
  return errors.new {
    kind = "decode", outcome = "unknown", http_status = status, operation = row.full_name, phase = "decode",
    message = clean(message, MESSAGE_BYTES), offset = offset, retryable = row.effect == "read",
  }
end

--- Makes the error of a transport's response that is no HTTP answer: something was sent.
function M.no_answer(row)
  return errors.new {
    kind = "transport", outcome = "unknown", operation = row.full_name, phase = "receive",
    message = "the transport's response lacks an HTTP status or a body",
  }
end

---@param value table  the decoded body
---@return purser.Error
function M.of_code(row, profile, status, value, body, headers)
  return errors.new(rejection(row, profile, status, filled(value.code, CODE_BYTES), message_of(value), body, headers))
end

--- Makes the error of an answer that denies success without a code.
---@param value table    the decoded body
---@param denied string  what it says
---@param state string|nil
---@return purser.Error
function M.denied(row, status, value, denied, state)
  return M.undecodable(row, status, ("the answer says %s%s without an error code: "):format(denied,
    state and clean(state, 20) or "") .. (message_of(value) or "the service gave no reason"))
end

--- Makes the error of a body that does not fit the row; an error with further members is still an error.
---@param message string|nil  why it does not
---@param offset integer|nil
---@param headers string|table|nil
---@return purser.Error
function M.of_body(row, profile, status, body, message, offset, headers)
  local code, text = code_and_message(body)
  if code and not profile.success_codes[code] then
    return errors.new(rejection(row, profile, status, code, filled(text, MESSAGE_BYTES), body, headers))
  end
  local words, is_page = words_of(body)
  if is_page then
    message = ('it is a web page, as a network that wants a login or a proxy shows: "%s"'):format(words or "")
  elseif words and words ~= "null" then
    message = ('%s; it begins "%s"'):format(message and message:find " was found" and message or "it is no JSON", words)
  end
  return M.undecodable(row, status, "the answer cannot be read: " .. (message or "it is null"), offset)
end

return M
