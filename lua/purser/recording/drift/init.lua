-- SPDX-License-Identifier: MIT
--- Compares what a service answers with what this version knows: makes the harmless reads and compares every answer
--- with the rows and the simulator. A finding names members, types, forms and codes; it holds no
--- value of an answer. `purser doctor --drift` prints them.

local compare = require "purser.recording.drift.compare"
local purser = require "purser"
local reads = require "purser.recording.drift.reads"
local redact = require "purser.recording.redact"

---@class purser.modules.drift
local M = {}

---@class purser.Drift
---@field findings { operation: string, kind: string, path: string, expected: string, found: string }[]
---@field skipped { operation: string, why: string }[]  reads whose answer was not compared
---@field compared integer  how many answers were

local Result = {}
Result.__index = Result

-- Adds a finding once, however many records show it.
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
  local known, row = expected[reads.key(read)], result.rows[read[1]]
  if not response then
    return skip(result, read, err and err.outcome == "not_sent" and "nothing was sent" or "no answer came")
  end
  local content_type = result.redactor:headers(response.headers)["content-type"]
  local code = compare.code_of(response, client.profile)
  if code then
    local why = compare.code(add, code, known, read)
    compare.body(add, response.body, expected.error.form, nil, result.rename)
    known = read.probe and known or expected.error
    compare.head(add, response, content_type, known)
    if why then skip(result, read, why) else result.compared = result.compared + 1 end
    return
  end
  result.compared = result.compared + 1
  if read.probe then add("other code", "code", "a rejection", "none") end
  compare.head(add, response, content_type, known)
  if not read.probe then compare.body(add, response.body, known.form, row, result.rename) end
  if not value and err then add("unreadable", "answer", "a result", "an error of kind " .. err.kind) end
end

-- Returns what makes of a member's name what may be shown: a name as fields have them stays. What may be a value that
-- stands where a name should, such as a sub-account's or an id, becomes a token.
local function shown_name(redactor)
  return function(name)
    return #name <= 32 and name:find "^%l[%a_]*$" and name or redactor:name(name)
  end
end

--- Returns a transport that keeps the last response for `compare`, and hands on nothing but reads.
---@param inner purser.Transport
---@return purser.Transport capture
function M.capture(inner) return reads.capture(inner) end

--- Makes the reads and compares the answers.
---@param client purser.Client   its transport is the capture
---@param capture purser.Transport
---@param profile string|nil     of the client
---@return purser.Drift|nil result, string|nil message
function M.compare(client, capture, profile)
  local redactor, message = redact.new()
  if not redactor then return nil, message end
  local result = setmetatable({ findings = {}, skipped = {}, seen = {}, compared = 0, redactor = redactor,
    rename = shown_name(redactor), rows = purser.operations }, Result)
  local expected = reads.expected(profile)
  for _, read in ipairs(reads.of(client)) do
    capture.last = nil
    local value, err = reads.run(client, read)
    examine(result, client, read, value, err, capture.last, expected)
  end
  return result
end

return M
