-- SPDX-License-Identifier: MIT
-- Asks before a workflow changes something or moves money.

local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"

local M = {}

local SHOWN = 20 -- lines of a plan in a question

--- The lines of what a plan says of itself, as fields without a label: its __tostring keeps texts of the service to a
--- line each.
---@param plan any
---@param command string|nil  shows all of it: of a long plan the question then has the beginning alone
---@return table[]
function M.lines(plan, command)
  local lines = {}
  for line in (tostring(plan) .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = { "", line } end
  local left_out = #lines - SHOWN
  if not command or left_out < 2 then return lines end
  for i = #lines, SHOWN + 1, -1 do lines[i] = nil end
  lines[SHOWN + 1] = { "", ("and %d more; `%s` shows all"):format(left_out, command) }
  return lines
end

--- Shows what would be done. Returns nil when it may be done, else the exit code.
---@param options table    with `yes`
---@param what string      what would be done
---@param sources table    of connection.open: where, and with which keys
---@param fields table[]   { label, value }; a value may hold any text
---@return integer|nil
function M.ask(options, what, sources, fields)
  if options.yes then return nil end
  if not terminal.can_ask() then
    return report.bad_input("%s: there is no terminal to confirm it on; give --yes", what)
  end
  local all = { { "service", ("%s (from %s)"):format(sources.url, sources.service) },
    { "account", sources.account }, { "key", ("%s (from %s)"):format(sources.key, sources.keys) } }
  for _, field in ipairs(fields) do all[#all + 1] = field end
  if terminal.ask(what .. " at " .. sources.url .. ":", all) == "yes" then return nil end
  return report.bad_input("not confirmed; nothing was sent")
end

--- Says what a workflow failed with. Returns the exit code.
---@param err purser.Error
function M.failure(err)
  return report.failure({ effect = "transfer" }, {}, err)
end

return M
