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

--- Runs the comparison. Returns 1 when something differs, shown or not, 3 when nothing was compared.
---@param options table of the command line
function M.start(options)
  local capture = drift.capture(report.must(purser.transport.curl { connect_timeout_ms = 3000, proxy = options.proxy,
    ca_file = options.ca_file }))
  local client, _, sources = connection.open(options, { retry = false, transport = capture })
  local result = report.must(drift.compare(client, capture, sources.profile))
  capture:close()
  local records, differences = result.findings, #result.findings
  for _, one in ipairs(result.skipped) do
    records[#records + 1] = { operation = one.operation, kind = "not compared", found = one.why }
  end
  report.note("%d answers compared with purser %s, profile %s: %d differences", result.compared, version,
    sources.profile or "default", differences)
  report.write(output.rows(M.TITLES, records, options), options.raw)
  if result.compared == 0 then return report.NOT_SENT end
  return differences == 0 and report.DONE or report.REJECTED
end

return M
