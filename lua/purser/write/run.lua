-- SPDX-License-Identifier: MIT
-- The one entry of every operation: a read call is run by the pipeline, a write call by write_call.lua.

local errors = require "purser.call.errors"
local intents = require "purser.write.intent"
local lazy = require "purser.util.lazy"
local pipeline = require "purser.call.pipeline"
local setbacks = require "purser.call.setbacks"
local advice = lazy "purser.write.advice"
local journal_failure = lazy "purser.write.journal.failure"
local reconcile = lazy "purser.write.reconcile"
local reconcile_modules = lazy "purser.write.modules"
local reconcile_service = lazy "purser.write.service"
local write_call = lazy "purser.write.write_call"

local M = {}

--- Loads all that a write call and its reconciling may need, before it is sent: afterwards a host may have no file
--- system left, and the call's outcome could never be found out.
function M.load_write_calls()
  return reconcile_modules.rows
end

------------------------------------------------------------------------------------------------- a key used before

local LONGEST_LOOK_MS = 500

-- Waits while another process, or another task, has the call under way: no longer than a call may take.
local function await_end(client, known)
  local journal, ms, waited = write_call.journal_of(client), 20, 0
  local ends = known.sent_at + client._timeout_ms
  while known.state == "open" and waited < client._timeout_ms and client:now() < ends do
    setbacks.pause(client, ms)
    waited, ms = waited + ms, math.min(ms * 2, LONGEST_LOOK_MS)
    local message
    known, message = journal:call_of(known.intent)
    if not known then return nil, message or "the call is no longer in the journal" end
  end
  return known
end

-- The error of a call whose key another call has of which nobody knows what became.
local function undecided(row, known, reason, candidates)
  return errors.new { kind = "workflow", outcome = "unknown", phase = "journal", operation = row.full_name,
    code = "journal.unknown", intent = known.intent, details = { candidates = candidates, call = known.id },
    advice = advice.of(row, known.params), message = ('nothing was sent now; the call with the key "%s" was sent '
      .. "before, and what became of it is not known: %s"):format(known.key or "", reason) }
end

-- Finds out what became of the call that has the key. Returns its result; nil and an error; or nothing where it was
-- not executed, so that it may be sent again.
local function settle(client, row, known, info)
  local message
  known, message = await_end(client, known)
  if not known then return nil, journal_failure.error("unknown", message) end
  local result = known.state == "done" and (known.record or {})
  if not result and not intents.SPENT_NOTHING[known.state] then
    local answer, err = reconcile.reconcile(reconcile_service.of(client), known.intent)
    if not answer then return nil, undecided(row, known, "it cannot be looked for now: " .. err.message) end
    if answer.outcome == "undecided" then return nil, undecided(row, known, answer.reason, answer.candidates) end
    result = answer.outcome == "done" and (answer.record or {})
    local journal = write_call.journal_of(client)
    local now = not result and journal:call_of(known.intent)
    if now and not intents.SPENT_NOTHING[now.state] then
      return nil, undecided(row, known, "the journal does not have that it was not executed")
    end
  end
  if result and info then info.repeated = true end
  return result or nil
end

-- Makes a write call. One whose key was used before is sent only where the first one is known not to have been
-- executed.
local function write(client, row, params, opts)
  M.load_write_calls()
  local value, err, known
  repeat
    value, err, known = write_call.run(client, row, params, opts)
    if known then value, err = settle(client, row, known, opts and opts.info) end
  until value ~= nil or err
  return value, err
end

--- The error of an operation that the client's profile does not allow, or nil.
---@param client purser.State
---@param row table
---@return purser.Error|nil
function M.not_allowed(client, row)
  if not row.live or client.profile.live_operations then return nil end
  return errors.config(row.full_name .. ": the interface document does not have this operation",
    'give profile = "mexc", or a profile with live_operations = true')
end

--- What runs the operation of a row: it returns the result, or nil and an error.
---@param row table
---@return fun(client: purser.State, row: table, params: table|nil, opts: table|nil): any, purser.Error|nil
function M.of(row)
  local run = row.effect == "read" and pipeline.run or write
  if not row.live then return run end
  return function(client, ...)
    local err = M.not_allowed(client, row)
    if err then return nil, err end
    return run(client, ...)
  end
end

--- Runs the operation of a row.
---@param client purser.State
function M.call(client, row, params, opts)
  return M.of(row)(client, row, params, opts)
end

return M
