-- SPDX-License-Identifier: MIT
-- `purser doctor --drift`: makes the harmless reads and compares every answer with the rows, the shapes and the
-- simulator. The report names members, types, forms, codes and numbers of headers; it holds no value of an answer.

local compare = require "purser.cli.drift.compare"
local connection = require "purser.cli.connection"
local csv = require "purser.util.csv"
local json = require "purser.json"
local operations = require "purser.api.operations"
local output = require "purser.cli.output"
local purser = require "purser"
local reads = require "purser.cli.drift.reads"
local redact = require "purser.recording.redact"
local report = require "purser.cli.report"
local rows = require "purser.cli.rows"
local version = require "purser.version"

local M = {}

local Result = {}
Result.__index = Result

-- A finding once, however many records show it.
function Result:add(operation, kind, path, expected, found)
  local key = table.concat({ operation, kind, path, found }, "\0")
  if self.seen[key] then return end
  self.seen[key] = true
  self.findings[#self.findings + 1] = { operation = operation, kind = kind, path = path, expected = expected,
    found = found }
end

local function skip(result, read, why)
  result.skipped[#result.skipped + 1] = { operation = read[1], why = why }
end

-- Compares the answer to one read.
local function examine(result, client, read, value, err, response, expected)
  local function add(...) result:add(read[1], ...) end
  local known, row = expected[reads.key(read)], operations.by_name[read[1]]
  if not response then
    return skip(result, read, err and err.outcome == "not_sent" and "nothing was sent" or "no answer came")
  end
  local headers = result.redactor:headers(response.headers)
  local code = compare.code_of(response, client.profile)
  if code then
    local why = compare.code(add, code, known, read)
    compare.body(add, response.body, expected.error.forms, nil, result.rename)
    known = read.probe and known or expected.error
    compare.headers(add, response, headers, known, row, client.profile, result.used)
    if why then skip(result, read, why) else result.compared = result.compared + 1 end
    return
  end
  result.compared = result.compared + 1
  if read.probe then add("other code", "code", "a rejection", "none") end
  compare.headers(add, response, headers, known, row, client.profile, result.used)
  if not read.probe then compare.body(add, response.body, known.forms, row, result.rename) end
  if not value and err then add("unreadable", "answer", "a result", "an error of kind " .. err.kind) end
end

--- Makes the reads with a client whose transport is a capture of reads.lua. Returns the result, or nil and a message.
---@param client purser.Client
---@param capture table
---@param profile string|nil
function M.compare(client, capture, profile)
  local redactor, message = redact.new()
  if not redactor then return nil, message end
  local result = setmetatable({ findings = {}, skipped = {}, seen = {}, used = {}, compared = 0, redactor = redactor,
    rename = function(name) return redactor:name(name) end }, Result)
  local expected = reads.expected(profile, result.rename)
  for _, read in ipairs(reads.of(client)) do
    capture.last = nil
    local value, err = reads.run(client, read)
    examine(result, client, read, value, err, capture.last, expected)
  end
  return result
end

---------------------------------------------------------------------------------------------------------- the report

--- What a difference consists of, which --filter takes.
M.TITLES = { "operation", "kind", "path", "expected", "found" }

local function cells_of(finding)
  local cells = {}
  for i, title in ipairs(M.TITLES) do cells[i] = finding[title] end
  return cells
end

--- The part of a result that the filters of rows.filters let pass. A read that was not compared has an operation alone.
---@return table result
function M.filtered(result, filters)
  local part = { findings = {}, skipped = {}, compared = result.compared, all = #result.findings }
  for _, finding in ipairs(result.findings) do
    if rows.passes(cells_of(finding), filters) then part.findings[#part.findings + 1] = finding end
  end
  for _, one in ipairs(result.skipped) do
    if rows.passes({ one.operation }, filters) then part.skipped[#part.skipped + 1] = one end
  end
  return part
end

--- The report as JSON.
---@return string
function M.as_json(result, profile)
  local findings, skipped = {}, {}
  for i, finding in ipairs(result.findings) do
    findings[i] = json.object { { "operation", finding.operation }, { "kind", finding.kind }, { "path", finding.path },
      { "expected", finding.expected }, { "found", finding.found } }
  end
  for i, one in ipairs(result.skipped) do
    skipped[i] = json.object { { "operation", one.operation }, { "why", one.why } }
  end
  return output.json(json.object {
    { "purser", version }, { "profile", profile or "default" }, { "compared", result.compared },
    { "findings", json.list(findings) }, { "not_compared", json.list(skipped) },
  }, "  ")
end

--- The report as lines of text.
---@return string
function M.as_text(result)
  local out = {}
  for _, finding in ipairs(result.findings) do
    out[#out + 1] = ("%s  %s: %s; expected %s, found %s\n"):format(finding.operation, finding.kind, finding.path,
      finding.expected, finding.found)
  end
  for _, one in ipairs(result.skipped) do
    out[#out + 1] = ("%s  not compared: %s\n"):format(one.operation, one.why)
  end
  local all, shown = result.all or #result.findings, #result.findings
  out[#out + 1] = ("%d answers compared, %d differences%s\n"):format(result.compared, all,
    shown < all and (", %d of them shown"):format(shown) or "")
  return table.concat(out)
end

--- The differences as CSV.
---@return string
function M.as_csv(result)
  local out = { csv.line(M.TITLES) }
  for i, finding in ipairs(result.findings) do out[i + 1] = csv.line(cells_of(finding)) end
  return table.concat(out)
end

--- Runs the comparison. Returns 0 when nothing differs, 1 when something does, shown or not, else the code of the
--- failure.
---@param options table of argparse
function M.start(options)
  local inner, problem = purser.transport.curl { connect_timeout_ms = 3000 }
  if not inner then return report.bad_input("doctor: %s", problem) end
  local capture = reads.capture(inner)
  local client, place, sources = connection.open(options, { retry = false, transport = capture })
  if not client then return report.bad_input("%s", place) end
  local result
  result, problem = M.compare(client, capture, sources.profile)
  client:close()
  capture:close()
  if not result then return report.bad_input("doctor: %s", problem) end
  local shown = M.filtered(result, assert(rows.filters(M.TITLES, options)))
  local text = options.format == "json" and M.as_json(shown, sources.profile)
    or options.format == "csv" and M.as_csv(shown) or M.as_text(shown)
  if not report.write(text) then
    return report.NOT_WRITTEN
  end
  if result.compared == 0 then return report.NOT_SENT end
  return #result.findings == 0 and report.DONE or report.REJECTED
end

return M
