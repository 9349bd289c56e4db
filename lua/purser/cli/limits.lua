-- SPDX-License-Identifier: MIT
-- `purser limits`: what the pools of the rate limit hold, and what blocks them. It sends nothing to
-- the service.

local connection = require "purser.cli.connection"
local output = require "purser.cli.output"
local report = require "purser.cli.report"

local M = {}

function M.grammar()
  return {
    text = "Show the pools of the rate limit: how much is used, and for how long they are blocked.\nIt asks the store "
      .. "alone (--rate-limit), and sends nothing to the service.",
    output.group(), connection.service, connection.messages,
  }
end

local TITLES = { "pool", "capacity", "window_ms", "used", "waiting", "waiting_weight", "blocked_ms", "held_ms" }

--- Runs the command. Returns the exit code: 0, 2 for bad input, 3 where the store cannot be used.
function M.start(options)
  local client, problem = connection.open(options)
  if not client then return report.bad_input("%s", problem) end
  local limits, err = client:limits()
  client:close()
  if not limits then
    report.say("%s", report.sentence(err))
    return report.NOT_SENT
  end
  local lines = {}
  for i, pool in ipairs(limits.pools) do
    lines[i] = {}
    for c, name in ipairs(TITLES) do lines[i][c] = pool[name] end
  end
  return report.write(output.rows(TITLES, lines, options)) and report.DONE or report.NOT_WRITTEN
end

return M
