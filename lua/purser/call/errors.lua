-- SPDX-License-Identifier: MIT
-- The one kind of error Purser returns.
--
-- `outcome` answers the question that matters after a failed call: did the service execute it?
--   not_sent  certainly not: no byte of the request left this machine
--   rejected  no: the service answered with a rejection
--   unknown   perhaps: something was sent, and no answer says what became of it

local plain_text = require "purser.util.plain_text"

local M = {}

---@class purser.Error
---@field kind "argument"|"config"|"transport"|"http"|"api"|"decode"|"throttled"|"closed"|"workflow"
---@field outcome "not_sent"|"rejected"|"unknown"
---@field message string
---@field code string|nil        the service's code, or the transport's ("curl 28")
---@field http_status integer|nil
---@field retry_after integer|nil  seconds
---@field operation string|nil   such as "wallet.withdraw"
---@field phase string|nil       where it stopped: check, build, sign, resolve, connect, tls, send, receive, decode
---@field offset integer|nil     decode: byte offset in the answer, from 0
---@field retryable boolean      whether the same call may be made again without harm
---@field parameter string|nil   argument: the parameter at fault
---@field intent purser.Intent|nil  what was sent, when its outcome is unknown: client:reconcile takes it
---@field clock_corrected boolean|nil  700003: whether the client's clock was set right: the call may be repeated
---@field details table|nil     what only this kind of failure has, such as the last `record` that a wait saw
---@field advice string|nil      what finds out the outcome, when it is unknown and the operation was not a read

local kinds = {
  argument = true, config = true, transport = true, http = true, api = true, decode = true, throttled = true,
  closed = true, workflow = true,
}
local outcomes = { not_sent = true, rejected = true, unknown = true }

-- The metatable is one for all errors of the process, so no one who holds an error may reach it.
local NAME = "purser.error"
local Error = { __name = NAME, __metatable = NAME }

function Error.__tostring(err)
  local parts = {}
  if err.operation then parts[#parts + 1] = err.operation .. ": " end
  parts[#parts + 1] = err.message
  local facts = {}
  if err.code then facts[#facts + 1] = "code " .. err.code end
  if err.http_status then facts[#facts + 1] = "HTTP " .. err.http_status end
  if err.offset then facts[#facts + 1] = "at byte " .. err.offset end
  if err.retry_after then facts[#facts + 1] = "retry after " .. err.retry_after .. " s" end
  facts[#facts + 1] = "outcome " .. err.outcome
  parts[#parts + 1] = " [" .. table.concat(facts, ", ") .. "]"
  if err.advice then parts[#parts + 1] = ". " .. err.advice end
  return plain_text.clean(table.concat(parts)) -- one line of a log, whatever was quoted
end

--- Makes an error of these fields. `retryable` is false unless given.
---@return purser.Error
function M.new(fields)
  assert(kinds[fields.kind], "unknown error kind")
  assert(outcomes[fields.outcome], "unknown outcome")
  assert(type(fields.message) == "string", "an error needs a message")
  fields.retryable = fields.retryable or false
  return setmetatable(fields, Error)
end

--- Bad input: nothing was sent.
---@param parameter string|nil
---@param message string
function M.argument(parameter, message)
  return M.new { kind = "argument", outcome = "not_sent", phase = "check", parameter = parameter, message = message }
end

--- A client that cannot be made of these options: nothing was sent.
function M.config(message)
  return M.new { kind = "config", outcome = "not_sent", message = message }
end

--- Whether `value` is an error made here.
function M.is(value)
  return type(value) == "table" and getmetatable(value) == NAME
end

return M
