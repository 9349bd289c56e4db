-- SPDX-License-Identifier: MIT
-- `purser doctor --drift`: prints how the service's answers differ from what this version knows, which
-- purser.recording.drift finds out.

local connection = require "purser.cli.connection"
local drift = require "purser.recording.drift"
local output = require "purser.cli.output"
local purser = require "purser"
local report = require "purser.cli.report"
local version = require "purser.version"

local M = {}

--- The names of what a difference consists of, which --filter takes.
M.TITLES = { "operation", "kind", "path", "expected", "found" }

-- The differences, and the answers that were not compared, as rows.
local function lines_of(result)
  local lines = {}
  for i, finding in ipairs(result.findings) do
    lines[i] = { finding.operation, finding.kind, finding.path, finding.expected, finding.found }
  end
  for _, one in ipairs(result.skipped) do lines[#lines + 1] = { one.operation, "not compared", "", "", one.why } end
  return lines
end

--- Runs the comparison. Returns 0 when nothing differs, 1 when something does, shown or not, else the code of the
--- failure.
---@param options table of the command line
function M.start(options)
  local inner, problem = purser.transport.curl { connect_timeout_ms = 3000, proxy = options.proxy,
    ca_file = options.ca_file }
  if not inner then return report.bad_input("doctor: %s", problem) end
  local capture = drift.capture(inner)
  local client, place, sources = connection.open(options, { retry = false, transport = capture })
  if not client then return report.bad_input("%s", place) end
  local result
  result, problem = drift.compare(client, capture, sources.profile)
  client:close()
  capture:close()
  if not result then return report.bad_input("doctor: %s", problem) end
  local text = output.rows(M.TITLES, lines_of(result), options)
  report.note("%d answers compared with purser %s, profile %s: %d differences", result.compared, version,
    sources.profile or "default", #result.findings)
  if not report.write(text, options.raw) then return report.NOT_WRITTEN end
  if result.compared == 0 then return report.NOT_SENT end
  return #result.findings == 0 and report.DONE or report.REJECTED
end

return M
