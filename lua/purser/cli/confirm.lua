-- SPDX-License-Identifier: MIT
-- Asks before a workflow changes something or moves money.

local core = require "purser.core"
local output = require "purser.cli.output"
local report = require "purser.cli.report"

local M = {}

--- Text of several lines, with what would move a terminal's cursor spelled out.
---@param text any
---@return string
function M.lines(text)
  local lines = {}
  for line in (tostring(text) .. "\n"):gmatch("([^\n]*)\n") do lines[#lines + 1] = output.harmless(line) end
  return table.concat(lines, "\n")
end

--- The address of the service a client talks to, for questions: the live one, or one to play with?
---@param client purser.Client
---@return string
function M.service(client)
  local request = client:prepare "ping"
  return request and request.url:match("^%a+://[^/]+") or "the service"
end

--- Shows what would be done. Returns nil when it may be done, else the exit code.
---@param options table  with `yes`
---@param text string
---@return integer|nil
function M.ask(options, text)
  if options.yes then return nil end
  if not core.is_terminal(0) or not core.is_terminal(2) then
    return report.bad_input("there is no terminal to confirm it on; give --yes")
  end
  io.stderr:write(M.lines(text), "\nType yes to do it: ")
  io.stderr:flush()
  if io.stdin:read("*l") == "yes" then return nil end
  return report.bad_input("not confirmed; nothing was sent")
end

--- Says what a workflow failed with. Returns the exit code.
---@param err purser.Error
function M.failure(err)
  return report.failure({ effect = "move" }, {}, err)
end

return M
