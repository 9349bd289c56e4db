-- SPDX-License-Identifier: MIT
-- Looks at records beside a call: the withdrawal of a cancel, before and after, and the record of a key with a new
-- journal.

local catalogue = require "purser.cli.catalogue"
local decimal = require "purser.decimal"
local lazy = require "purser.client.util.lazy"
local output = require "purser.cli.output"
local planned = lazy "purser.write.planned"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {}

-- Ends of a withdrawal, which a cancel does not change: exit code and text.
local OVER = { [6] = { report.REJECTED, "on its way, so it can no longer be cancelled" },
  [7] = { report.REJECTED, "done, so it can no longer be cancelled" },
  [8] = { report.REJECTED, "failed, so there is nothing to cancel" },
  [9] = { report.DONE, "cancelled already" } }

--- Returns whether an operation cancels a withdrawal.
function M.is_cancel(row) return row.reconcile ~= nil and row.reconcile.target_state ~= nil end

-- Returns the record of a cancel and its operation, false for none; nil where the history could not be read. The
-- client's journal keeps the state.
local function record_of(screen)
  local row = catalogue.by_name[screen.row.reconcile.lookup]
  local list, err = screen.client:call(row.full_name)
  if not list then
    report.say("warning: its record could not be read: %s", report.sentence(err))
    return nil, row
  end
  for _, record in ipairs(list) do
    if record.id == screen.params.id then
      planned.note(screen.client, record)
      return record, row
    end
  end
  return false, row
end

--- Reads the record of a cancel: an answer does not prove a record. Ends the command without a record.
function M.find_record(screen, options)
  local record, row = record_of(screen)
  if record == nil then return end
  if not record then
    report.bad_input("no withdrawal of the last 7 days has this id, so there is nothing to cancel; `purser %s --since "
      .. "90d --columns id,status` lists all", row.full_name:gsub("%.", " "))
  end
  local over = OVER[tonumber(record.status)]
  if over then
    terminal.fail("nothing was sent: the withdrawal %s is %s", record.id, over[2])
    if over[1] == report.DONE then report.write(output.record(row, record, options)) end
    report.stop(over[1])
  end
  for _, name in ipairs { "coin", "amount", "address" } do
    screen.fields[#screen.fields + 1] = { name, tostring(record[name]) }
  end
  screen.fields[#screen.fields + 1] = { "state", values.state("withdrawal", record.status) }
end

--- Says by the record what became of a cancel that was refused, or has no clear answer. Returns the end; nil where the
--- record cannot be read, or may still change by a request that is on its way.
---@return string|nil word
function M.show_uncancelled(screen, err, options)
  if err.outcome == "not_sent" then return nil end
  local record, row = record_of(screen)
  if not record then return nil end
  local over, is_answered = OVER[tonumber(record.status)], err.kind == "api" and (err.http_status or 500) < 500
  local word = over and over[2] or ("%s, and not cancelled"):format(values.state("withdrawal", record.status))
  local text = ("the withdrawal %s is %s"):format(record.id, word)
  if over and over[1] == report.DONE then
    report.say("%s (the answer: %s)", text, report.sentence(err))
    output.write(output.record(row, record, options), options)
    return "made"
  elseif over or is_answered then
    terminal.fail("%s (the answer: %s)", text, report.sentence(err))
    return "rejected"
  end
  report.say("%s by now", text)
end

--- Looks for a key's id once where the journal is new: a lost journal knows of no call, and the service does. Notes the
--- record; ends the command where the history cannot be read.
function M.look_by_id(screen, options)
  local row, params = screen.row, screen.params
  local reconcile = row.reconcile or {}
  if not options.key or not screen.sources.is_draft or reconcile.strategy ~= "client_id" then return end
  local kept = { key = options.key, extra_params = screen.call.extra_params, info = {} }
  local request, err = screen.client:prepare(row.full_name, params, kept) -- kept in the stand-in alone
  if not request then report.stop(report.failure(row, params, err)) end
  local id = kept.info.intent.params[reconcile.client_id]
  local lookup = catalogue.by_name[reconcile.lookup]
  local by_id = lookup.by_name[reconcile.client_id] and { [reconcile.client_id] = id }
  local list, problem = screen.client:call(lookup.full_name, by_id)
  if not list then
    report.failure(lookup, {}, problem)
    report.fail(report.code_of(problem), "the journal is new, so the service is asked whether it has the key %s "
      .. "already; it could not be asked, so nothing was sent", options.key)
  end
  for _, record in ipairs(lookup.result.record and { list } or list.rows or list.data or list) do
    if record[reconcile.client_id] == id then screen.found, screen.lookup = record, lookup end
  end
end

--- Returns how the record that a lost journal did not know differs from the call; nil for no such difference.
function M.found_other(screen, options)
  local record, params = screen.found, screen.params
  for _, name in ipairs { "amount", "coin", "asset", "address" } do
    local was, is = record[name], params[name]
    local differs = name == "amount" and was and is and decimal(tostring(was)) ~= decimal(tostring(is))
    if was and is and (differs or name ~= "amount" and tostring(was) ~= tostring(is)) then
      return ("the key %s was used before the journal was made: the service has %s %s of it, and this line "
        .. "has %s; give another key"):format(options.key, name, tostring(was), tostring(is))
    end
  end
end

--- Shows the record that a lost journal did not know. Returns the ends.
function M.show_found(screen, options)
  local record, other = screen.found, M.found_other(screen, options)
  if other then report.bad_input("%s", other) end
  report.note("nothing was sent: the journal is new, and the service has this call already")
  output.write(output.record(screen.lookup, record, options), options)
  local is_undone = screen.row.by_name.address and ({ [8] = true, [9] = true })[tonumber(record.status)]
  return { is_undone and "rejected" or "made before" }
end

return M
