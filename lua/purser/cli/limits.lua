-- SPDX-License-Identifier: MIT
-- `purser limits`: the pools of the rate limit, and blocks.

local connection = require "purser.cli.connection"
local output = require "purser.cli.output"
local report = require "purser.cli.report"

local M = {}

local TITLES = { "pool", "capacity", "window_ms", "used", "waiting", "waiting_weight", "blocked_ms", "held_ms" }

function M.grammar()
  return {
    text = "Show the pools of the rate limit: how much is used, and for how long they are blocked.\nIt asks the store "
      .. "alone (--rate-limit), and sends nothing to the service.",
    output.group(TITLES), connection.service, connection.messages,
  }
end

function M.start(options)
  local limits, err = connection.open(options):limits()
  if limits then return report.write(output.rows(TITLES, limits.pools, options)) end
  report.fail(report.NOT_SENT, "%s", report.sentence(err))
end

return M
