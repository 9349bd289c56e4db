-- SPDX-License-Identifier: MIT
-- The unsigned operations `ping` and `server_time`: rows for the pipeline, requests and answers.

local core = require "purser.core"
local failure = require "purser.client.call.failure"
local response = require "purser.client.call.response"

local M = {}

local function row_of(name, path)
  return {
    id = name, name = name, full_name = name, method = "GET", effect = "read", unsigned = path, weight = 1, params = {},
    by_name = {}, names = {}, required = {},
  }
end

M.rows = { ping = row_of("ping", "ping_path"), server_time = row_of("server_time", "time_path") }

function M.request(self, row, opts)
  return {
    method = row.method, base_url = self._origin, target = self._prefix .. self.profile[row.unsigned],
    headers = self._headers or { ["Content-Type"] = self.profile.content_type, ["User-Agent"] = self._user_agent },
    body = "", at_most_once = false, operation = row.full_name, timeout_ms = opts.timeout_ms or self._timeout_ms,
    brief = opts.info == nil,
  }
end

--- Returns `result | nil, err`: true of `ping`, the milliseconds of `server_time`.
---@param row table
---@param profile table
---@param status integer  HTTP status
---@param body string
---@param headers string|table|nil
function M.answer(row, profile, status, body, headers)
  if not response.is_answer(status, body) then return nil, failure.no_answer(row) end
  if status < 200 or status > 299 then return nil, failure.of_status(row, profile, status, body, headers) end
  local value, message, offset = core.decode(body)
  if type(value) ~= "table" then
    message = "the answer cannot be read: " .. (message or "it is not an object")
    return nil, failure.undecodable(row, status, message, offset)
  end
  if row.name == "ping" then return true end
  local time = value.serverTime
  if type(time) ~= "number" or time < 0 then
    return nil, failure.undecodable(row, status, "the answer lacks `serverTime`")
  end
  return time
end

return M
