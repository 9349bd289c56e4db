-- SPDX-License-Identifier: MIT
-- `purser limits`: what the pools of the rate limit hold, and what blocks them. It sends nothing to
-- the service.

local connection = require "purser.cli.connection"
local json = require "purser.json"
local output = require "purser.cli.output"
local report = require "purser.cli.report"
local rows = require "purser.cli.rows"

local M = { summary = "Show the pools of the rate limit, and blocks." }

function M.define(command)
  command:description("Show the pools of the rate limit: how much is used, and for how long they are "
    .. "blocked.\nIt asks the store alone (--rate-limit), and sends nothing to the service.")
  output.define(command)
  connection.define(command)
end

local fields = { "pool", "capacity", "window_ms", "used", "waiting", "waiting_weight", "blocked_ms", "held_ms" }

local function as_json(limits)
  local pools = {}
  for i, pool in ipairs(limits.pools) do
    local pairs_of = {}
    for n, name in ipairs(fields) do pairs_of[n] = { name, pool[name] } end
    pools[i] = json.object(pairs_of)
  end
  return output.json(json.object { { "pools", json.list(pools) } }, "  ")
end

local function seconds(ms)
  return ms > 0 and ("%d s"):format(math.ceil(ms / 1000)) or "no"
end

local function as_text(limits)
  local lines = {}
  for i, pool in ipairs(limits.pools) do
    lines[i] = { pool.pool, ("%d of %d"):format(pool.used, pool.capacity), seconds(pool.window_ms),
      ("%d (%d)"):format(pool.waiting, pool.waiting_weight), seconds(math.max(pool.blocked_ms, pool.held_ms)) }
  end
  return output.aligned({ "pool", "used", "window", "waiting (weight)", "blocked" }, lines)
end

local function as_csv(limits, options)
  local cells = {}
  for i, pool in ipairs(limits.pools) do
    cells[i] = {}
    for c, name in ipairs(fields) do cells[i][c] = pool[name] end
  end
  return rows.render(fields, cells, options)
end

--- Runs the command. Returns the exit code: 0, 2 for bad input, 3 where the store cannot be used.
function M.start(options)
  local client, problem = connection.open(options, {})
  if not client then return report.bad_input("%s", problem) end
  local limits, err = client:limits()
  client:close()
  if not limits then
    report.say("%s", report.sentence(err))
    return report.NOT_SENT
  end
  local text = options.format == "json" and as_json(limits) or options.format == "csv" and as_csv(limits, options)
    or as_text(limits)
  return report.write(text) and report.DONE or report.NOT_WRITTEN
end

return M
