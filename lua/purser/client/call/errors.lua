-- SPDX-License-Identifier: MIT
-- Purser's kind of error: the text is `where: what is wrong; what to do [facts]`, each part a field.
--
-- `outcome` says if the service executed the call:
--   not_sent  no: no byte of the request left this machine
--   rejected  no: the service answered with a rejection
--   unknown   perhaps: something was sent, and no answer tells the end

local plain_text = require "purser.client.util.plain_text"

---@class purser.modules.errors  for transports, hooks and workflows of your own
local M = {}

---@class purser.Error
---@field kind "argument"|"config"|"transport"|"http"|"api"|"decode"|"throttled"|"closed"|"workflow"
---@field outcome "not_sent"|"rejected"|"unknown"
---@field message string         what is wrong
---@field hint string|nil        what to do about it, where that is known
---@field where string|nil       argument and config: the caller's "file:line"
---@field code string|nil        the service's code, or the transport's ("curl 28")
---@field http_status integer|nil
---@field retry_after integer|nil  seconds
---@field operation string|nil   such as "wallet.withdraw"
---@field phase string|nil       where it stopped: check, build, sign, resolve, connect, tls, send, receive, decode
---@field offset integer|nil     decode: byte offset in the answer, from 0
---@field retryable boolean      whether the same call may be made again without harm
---@field parameter string|nil   argument: the parameter at fault
---@field option string|nil      argument and config: the option at fault
---@field intent purser.Intent|nil  what was sent, when its outcome is unknown: client:reconcile takes it
---@field clock_corrected boolean|nil  700003: whether the client's clock was set right: the call may be repeated
---@field details table|nil     what only this kind of failure has, such as the last `record` that a wait saw
---@field advice string|nil      what finds out the outcome, of a write call when it is unknown

local kinds = {
  argument = true, config = true, transport = true, http = true, api = true, decode = true, throttled = true,
  closed = true, workflow = true,
}
local outcomes = { not_sent = true, rejected = true, unknown = true }

-- The metatable of all errors in the process, out of reach for holders of an error.
local NAME = "purser.error"
local Error = { __name = NAME, __metatable = NAME }

local getinfo = debug and debug.getinfo -- a host may have no `debug`

-- The end of this file's name, as functions of the package show the folder; nil for stripped functions.
local THIS = "client/call/errors.lua"
local source = getinfo and getinfo(1, "S").source or ""
local root = source:sub(-#THIS):gsub("\\", "/") == THIS and source:sub(1, -#THIS - 1) or nil
local command = root and root .. "cli/"

local MAX_DEPTH = 100

local function is_below(frame, folder)
  return frame.source:sub(1, #folder) == folder
end

-- Returns "file:line" of the innermost caller outside of this package. Nil without `debug`, for stripped programs and
-- for the command, whose user wrote no line. The text of a loaded program may hold a secret, and is not quoted.
local function where()
  for level = 3, root and MAX_DEPTH or 0 do
    local frame = getinfo(level, "Sl")
    if not frame or is_below(frame, command) then return nil end
    if frame.currentline > 0 and not is_below(frame, root) then
      local is_named = frame.source:find "^[@=]"
      return (is_named and frame.short_src or "[string]") .. ":" .. frame.currentline
    end
  end
end

--- Returns an error's text: where, what is wrong, what to do, and the facts.
---@param err purser.Error
---@param hint string|false|nil  what to do, in the words of who shows it; nil: the error's own; false: none
---@return string
function M.text(err, hint)
  local parts = { err.where and err.where .. ": " or "", err.operation and err.operation .. ": " or "", err.message }
  for _, cure in ipairs { hint or hint == nil and err.hint or "", hint == nil and err.advice or "" } do
    if cure ~= "" then parts[#parts], parts[#parts + 1] = parts[#parts]:gsub("[.!?]$", ""), "; " .. cure end
  end
  local facts = {}
  if err.code then facts[#facts + 1] = "code " .. err.code end
  if err.http_status then facts[#facts + 1] = "HTTP " .. err.http_status end
  if err.offset then facts[#facts + 1] = "at byte " .. err.offset end
  if err.retry_after then facts[#facts + 1] = "retry after " .. err.retry_after .. " s" end
  -- a wait that saw the record sent nothing: nobody is to read the wait's end as the payment's
  local is_seen = err.phase == "wait" and err.details and err.details.record ~= nil
  if not is_seen then facts[#facts + 1] = "outcome " .. err.outcome end
  if facts[1] then parts[#parts + 1] = " [" .. table.concat(facts, ", ") .. "]" end
  return plain_text.clean(table.concat(parts)) -- one line of a log, whatever was quoted
end

function Error.__tostring(err)
  return M.text(err)
end

--- `retryable` is false unless given.
---@param fields table
---@return purser.Error
function M.new(fields)
  assert(kinds[fields.kind], "unknown error kind")
  assert(outcomes[fields.outcome], "unknown outcome")
  assert(type(fields.message) == "string", "an error needs a message")
  fields.retryable = fields.retryable or false
  return setmetatable(fields, Error)
end

--- Makes the error of bad input.
---@param parameter string|nil
---@param message string
---@param hint string|nil
---@return purser.Error
function M.argument(parameter, message, hint)
  return M.new { kind = "argument", outcome = "not_sent", phase = "check", parameter = parameter, message = message,
    hint = hint, where = where() }
end

--- Makes the error of an operation's parameter; `name` may be nil.
---@param row table
---@param name string|nil
---@param message string  completes the sentence `parameter "x" ...`
---@param hint string|nil
---@return purser.Error
function M.parameter(row, name, message, hint)
  local err = M.argument(name, name and ('parameter "%s" %s'):format(name, message) or message, hint)
  err.operation = row.full_name
  return err
end

--- Makes the error of a value in place of a client; nil for a client.
---@param client any
---@param what string  what needs it, such as "payouts.plan"
---@return purser.Error|nil
function M.no_client(client, what)
  if type(client) == "table" and client.settings then return nil end
  return M.argument(nil, what .. " has no client", "give one that purser.new made")
end

--- Makes the error of a call's option, from the results of `option_schema.check`; nil without a message.
---@param message string|nil
---@param option string|nil
---@param hint string|nil
---@return purser.Error|nil
function M.option(message, option, hint)
  if not message then return nil end
  local err = M.argument(nil, message, hint)
  err.option = option
  return err
end

--- Makes the error of unusable options.
---@param message string
---@param hint string|nil
---@param option string|nil
---@param code string|nil
---@return purser.Error
function M.config(message, hint, option, code)
  return M.new { kind = "config", outcome = "not_sent", message = message, hint = hint, option = option, code = code,
    where = where() }
end

--- Makes the error of a read whose answer does not identify records.
---@param operation string
---@param message string
---@param hint string|nil
---@return purser.Error
function M.undecodable(operation, message, hint)
  return M.new { kind = "decode", outcome = "unknown", phase = "decode", operation = operation, retryable = true,
    message = message, hint = hint }
end

--- Returns a walk's next value, for `__call` in a `for`. Raises an error: a walk that ends early would look complete.
---@param walk table
---@return any value
function M.iterate(walk)
  local value, err = walk:next()
  if err then error(err, 0) end
  return value
end

--- Tells whether a value is an error of Purser.
---@param value any
---@return boolean
function M.is(value)
  return type(value) == "table" and getmetatable(value) == NAME
end

return M
