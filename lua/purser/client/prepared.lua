-- SPDX-License-Identifier: MIT
-- A call of which the caller sends the request: client:prepare and client:parse.

local lazy = require "purser.util.lazy"
local pipeline = require "purser.call.pipeline"
local response = require "purser.call.response"
local unsigned = require "purser.call.unsigned"
local reconcile_advice = lazy "purser.exactly_once.reconcile.advice"
local write_call = lazy "purser.exactly_once.write_call"

local M = {}

--- Checks, builds and signs a request of a row.
---@return purser.Request|nil request, purser.Error|nil err
function M.request(self, row, params, opts)
  local values, layout = pipeline.check_call(self, row, params, opts)
  if not values then return nil, layout end
  local rejection = row.effect ~= "read" and self._guard and self._guard:check_prepared(row, values)
  if rejection then return nil, rejection end
  local request, err = pipeline.build(self, row, layout, values, opts)
  if not request then
    err.operation = row.full_name
    return nil, err
  end
  local headers = {}
  for header, value in pairs(request.headers) do headers[header] = value end
  if opts.info and row.effect ~= "read" then
    opts.info.intent, err = write_call.intent_of(self, row, values, opts)
    if not opts.info.intent then return nil, err end
  end
  return { method = request.method, url = request.base_url .. request.target, headers = headers, body = request.body }
end

-- The intent that was given to parse, or the `info` that holds it; nil when it is not that of this operation.
local function intent_for(row, given)
  local intent = type(given) == "table" and (given.intent or given)
  if type(intent) ~= "table" or intent.operation ~= row.full_name or type(intent.params) ~= "table" then return nil end
  return intent
end

--- Turns the answer to a request of a row into `result | nil, err`.
---@return any result, purser.Error|nil err
function M.answer(self, row, status, body, headers, intent)
  if row.unsigned then return unsigned.answer(row, self.profile, status, body, headers) end
  local value, err = response.answer(row, self.profile, status, body, headers)
  intent = row.reconcile and intent_for(row, intent)
  if intent then
    value, err = write_call.believe_prepared(self, row, intent, value, err)
  end
  if value ~= nil then return value end
  if err.outcome == "unknown" and row.reconcile then
    local advice = reconcile_advice.of
    err.advice, err.intent = advice(row, intent and intent.params), intent
  end
  return nil, err
end

return M
