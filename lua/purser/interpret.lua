-- What an answer means: a result, a refusal, or something nobody can be sure about.
--
--   2xx with a result           the result
--   2xx with an error code      rejected (api)
--   2xx that cannot be decoded  unknown (decode): the service may well have done it
--   4xx                         rejected (api); 408 is unknown
--   4xx without a service code  http: somebody in between answered, before or after the service did, so it is unknown
--                               for all but reads
--   418, 429                    rejected (throttled)
--   3xx, 5xx and the rest       unknown (http, or api when the body is the service's)

local core = require "purser.core"
local errors = require "purser.errors"
local result = require "purser.result"

local M = {}

local function header(headers, name)
  return headers and result.headers(headers)[name]
end

local function filled(text)
  return text ~= "" and text or nil
end

-- The service's own words in an error body: code and message, or nil when the body is not the service's. An empty code
-- is none, and an empty text says nothing.
local function refusal_of(body)
  local value = body ~= "" and result.error_decoder:decode(body)
  if not value or not (value.code or value.msg or value.message) then return nil end
  return filled(value.code), filled(value.msg) or value.message or ""
end

local function is_pause(status)
  return status == 429 or status == 418
end

local function outcome_of(row, status, code)
  if status < 400 or status > 499 or status == 408 then return "unknown" end
  return (code or row.effect == "read" or is_pause(status)) and "rejected" or "unknown"
end

-- The longest pause that is believed (s): the service's bans last three days at most, and whoever stands in between may
-- write what it likes.
local LONGEST_PAUSE_S = 7 * 86400

local function retry_after_of(headers)
  local seconds = tostring(header(headers, "retry-after") or ""):match("^(%d+)[ \t]*$")
  return seconds and math.min(#seconds < 10 and tonumber(seconds) or LONGEST_PAUSE_S, LONGEST_PAUSE_S)
end

local function from_status(row, status, body, headers)
  local code, message = refusal_of(body)
  local err = {
    kind = code and "api" or "http", outcome = outcome_of(row, status, code), code = code, http_status = status,
    operation = row.full_name, phase = "receive", retry_after = retry_after_of(headers),
    retryable = status >= 500 and row.effect == "read",
  }
  if message and message ~= "" then
    err.message = message
  elseif status >= 300 and status < 400 then
    err.message = ("the service answered with a redirect (HTTP %d), which is never followed; check base_url")
      :format(status)
  else
    err.message = ("HTTP %d with %d bytes that are not the service's (%s); a firewall or proxy may stand in between")
      :format(status, #body, tostring(header(headers, "content-type") or "no content type"))
  end
  if is_pause(status) then
    err.kind, err.retryable = "throttled", true
    if message == nil then err.message = "the service asks for a pause" end
  end
  return nil, errors.new(err)
end

local function undecodable(row, status, message, offset)
  return nil, errors.new {
    kind = "decode", outcome = "unknown", http_status = status, operation = row.full_name, phase = "decode",
    message = message, offset = offset, retryable = row.effect == "read",
  }
end

local function is_answer(status, body)
  return type(status) == "number" and status >= 100 and status <= 999 and status % 1 == 0
    and type(body) == "string"
end

-- A transport that the user brought gave what no HTTP answer can be. Something was sent, so nothing is certain.
local function no_answer(row)
  return nil, errors.new {
    kind = "transport", outcome = "unknown", operation = row.full_name, phase = "receive",
    message = "the transport's response lacks an HTTP status or a body",
  }
end

--- Turns an answer into `result | nil, err`.
---@param row table       the operation
---@param success_codes table<string, boolean> codes that an envelope may carry without being an error
---@param status integer  HTTP status
---@param body string
---@param headers string|table|nil  raw header block, or a map
function M.answer(row, success_codes, status, body, headers)
  if not is_answer(status, body) then return no_answer(row) end
  if status < 200 or status > 299 then return from_status(row, status, body, headers) end
  if body == "" then
    return undecodable(row, status, ("HTTP %d with an empty body"):format(status), 0)
  end

  local value, message, offset = result.decoder(row):decode(body)
  if value == nil then
    -- an error whose members do not fit the row's shape is still an error
    local code, text = refusal_of(body)
    if not code or success_codes[code] then
      return undecodable(row, status, "the answer cannot be read: " .. (message or "it is null"), offset)
    end
    value = { code = code, msg = text }
  end
  local code = value[1] == nil and filled(value.code)
  if code and not success_codes[code] then
    return nil, errors.new {
      kind = "api", outcome = "rejected", code = code, http_status = status, operation = row.full_name,
      phase = "receive", message = filled(value.msg) or filled(value.message) or "the service gave no reason",
    }
  end
  local taken, missing = result.take(row, value)
  if not taken then return undecodable(row, status, missing) end
  return taken
end

--- The same for the two operations that are not signed: `ping` gives true, `server_time` its milliseconds.
---@param row table
---@param response table  status, body and headers
function M.unsigned_answer(row, response)
  if not is_answer(response.status, response.body) then return no_answer(row) end
  if response.status < 200 or response.status > 299 then
    return from_status(row, response.status, response.body, response.headers)
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
