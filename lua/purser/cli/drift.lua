-- SPDX-License-Identifier: MIT
-- `purser doctor --drift`: prints how the service's answers differ from what this version knows, which
-- purser.recording.drift finds out.

local connection = require "purser.cli.connection"
local drift = require "purser.recording.drift"
local json = require "purser.json"
local output = require "purser.cli.output"
local purser = require "purser"
local report = require "purser.cli.report"
local version = require "purser.version"

local M = {}

--- The names of what a difference consists of, which --filter takes.
M.TITLES = { "operation", "kind", "path", "expected", "found" }

local function cells_of(finding)
  local cells = {}
  for i, title in ipairs(M.TITLES) do cells[i] = finding[title] end
  return cells
end

local function as_json(findings, skipped, result, profile)
  local differences, left = {}, {}
  for i, finding in ipairs(findings) do
    local members = {}
    for m, title in ipairs(M.TITLES) do members[m] = { title, finding[title] } end
    differences[i] = json.object(members)
  end
  for i, one in ipairs(skipped) do left[i] = json.object { { "operation", one.operation }, { "why", one.why } } end
  return output.json(json.object {
    { "purser", version }, { "profile", profile or "default" }, { "compared", result.compared },
    { "findings", json.list(differences) }, { "not_compared", json.list(left) },
  }, "  ")
end

local function as_text(findings, skipped, result)
  local out = {}
  for _, finding in ipairs(findings) do
    out[#out + 1] = ("%s  %s: %s; expected %s, found %s\n"):format(finding.operation, finding.kind, finding.path,
      finding.expected, finding.found)
  end
  for _, one in ipairs(skipped) do out[#out + 1] = ("%s  not compared: %s\n"):format(one.operation, one.why) end
  local all, shown = #result.findings, #findings
  out[#out + 1] = ("%d answers compared, %d differences%s\n"):format(result.compared, all,
    shown < all and (", %d of them shown"):format(shown) or "")
  return table.concat(out)
end

local function render(result, options, profile)
  local findings = output.passing(M.TITLES, result.findings, options, cells_of)
  local skipped = output.passing(M.TITLES, result.skipped, options, cells_of)
  if options.format == "json" then return as_json(findings, skipped, result, profile) end
  if options.format == "table" then return as_text(findings, skipped, result) end
  local lines = {}
  for i, finding in ipairs(findings) do lines[i] = cells_of(finding) end
  return output.rows(M.TITLES, lines, { format = "csv", raw = options.raw })
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
  if not report.write(render(result, options, sources.profile), options.raw) then return report.NOT_WRITTEN end
  if result.compared == 0 then return report.NOT_SENT end
  return #result.findings == 0 and report.DONE or report.REJECTED
end

return M
