-- SPDX-License-Identifier: MIT
-- `--reconcile`: when nobody knows whether an operation was executed, find out before the command ends.

local errors = require "purser.call.errors"
local operations = require "purser.api.operations"
local output = require "purser.cli.output"
local report = require "purser.cli.report"

local M = {}

--- Adds the option to a command of argparse.
function M.define(command)
  command:flag("--reconcile", "When the outcome is unknown, look for it, which takes some 10 seconds, before ending.")
end

-- The record that was found has the shape of the list it was found in, and is shown whole.
local function show(row, record, format)
  local through = row.reconcile.lookup and operations.by_name[row.reconcile.lookup] or row
  local form = through.result
  local shape = form.list or form.rows or form.page or form.record
  return report.write(output.render({ result = { record = shape } }, record, format or "table")) and report.DONE
    or report.NOT_WRITTEN
end

local function done(row, params, answer, format)
  report.say("it was executed, once; this is what the service keeps of it")
  local code = show(row, answer.record, format)
  if not answer.secret_lost then return code end
  return report.lost_key(row, params.subAccount, answer.record.apiKey)
end

--- Finds out what became of a call whose outcome is unknown. Returns the exit code.
---@param client purser.Client
---@param row table
---@param params table
---@param err purser.Error
---@param format string|nil
---@return integer
function M.run(client, row, params, err, format)
  report.say("%s", errors.text(err, false))
  report.say("its outcome is unknown; looking for it")
  local answer, problem = client:reconcile(err)
  if answer and answer.outcome == "done" then return done(row, params, answer, format) end
  if answer and answer.outcome == "not_done" then
    report.say("it was not executed%s; it may be run again", answer.reason and ": " .. answer.reason or "")
    return report.NOT_SENT
  end
  if answer then
    report.say("it cannot be decided: %s (%d records might be it)", answer.reason or "", #(answer.candidates or {}))
  else
    report.say("it could not be looked for: %s", tostring(problem))
  end
  return report.failure(row, params, err)
end

return M
