-- SPDX-License-Identifier: MIT
--- Makes harmless reads, and compares each answer with the rows and the simulator. Findings name members, types, forms
--- and codes, and hold no value of an answer. Read the files in this order: reads, form, compare, init.

local compare = require "purser.testing.recording.drift.compare"
local purser = require "purser"
local reads = require "purser.testing.recording.drift.reads"
local redact = require "purser.testing.recording.redact"

---@class purser.modules.drift
local M = {}

---@class purser.Drift
---@field findings { operation: string, kind: string, path: string, expected: string, found: string }[]
---@field skipped { operation: string, why: string }[]  reads whose answer was not compared
---@field compared integer  how many answers were

-- Compares the answer to one read. Returns why the read compares nothing, or nil.
local function examine(add, client, capture, read, expected, redactor, rename)
  capture.last = nil
  local value, err = reads.run(client, read)
  local response = capture.last
  if not response then return err and err.outcome == "not_sent" and "nothing was sent" or "no answer came" end
  local known = expected[read]
  local content_type = redactor:headers(response.headers)["content-type"]
  local code = compare.code_of(response, client.profile)
  if code then
    compare.body(add, response.body, expected.error.form, nil, rename)
    compare.head(add, response, content_type, read.probe and known or expected.error)
    return compare.code(add, code, known, read)
  end
  if read.probe then add("other code", "code", "a rejection", "none") end
  compare.head(add, response, content_type, known)
  if not read.probe then compare.body(add, response.body, known.form, purser.operations[read[1]], rename) end
  if not value and err then add("unreadable", "answer", "a result", "an error of kind " .. err.kind) end
end

--- Returns a transport that keeps the last response for `compare`, and sends reads alone.
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
  local result, seen = { findings = {}, skipped = {}, compared = 0 }, {}
  -- Names of fields stay. A value in the place of a name, such as an id, becomes a token.
  local function rename(name)
    return #name <= 32 and name:find "^%l[%a_]*$" and name or redactor:name(name)
  end
  for _, read in ipairs(reads.of(client)) do
    local function add(kind, path, expected, found) -- once, however many records show it
      local key = table.concat({ read[1], kind, path, found }, "\0")
      if not seen[key] then
        seen[key], result.findings[#result.findings + 1] = true, { operation = read[1], kind = kind, path = path,
          expected = expected, found = found }
      end
    end
    local why = examine(add, client, capture, read, reads.expected(profile), redactor, rename)
    if why then result.skipped[#result.skipped + 1] = { operation = read[1], why = why }
    else result.compared = result.compared + 1 end
  end
  return result
end

return M
