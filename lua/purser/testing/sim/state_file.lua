-- SPDX-License-Identifier: MIT
-- The state of a simulator in a file: lines of JSON, one a record of the histories, so that a state of any size fits
-- the bounds of a document. The last line has the number of lines: a cut file is no state.
--
--   {"state":{...}}                               all but the histories
--   {"history":"withdrawals","record":{...}}

local core = require "purser.core"
local files = require "purser.client.util.files"
local json = require "purser.json"
local plain = require "purser.testing.sim.plain"

local M = {}

-- Calls emit(line) for each line of a state but the last.
local function each_line(state, emit)
  local rest = {}
  for name, value in pairs(state) do rest[name] = name ~= "histories" and value or nil end
  emit { state = rest }
  for name, records in pairs(state.histories) do
    for _, record in ipairs(records) do emit { history = name, record = record } end
  end
end

--- Writes a state in place of the file, or leaves the file as it was. Returns true; nil and why not.
function M.write(path, state)
  local draft, reason = files.draft(path)
  if not draft then return nil, reason end
  local count = 0
  local ok, problem = pcall(each_line, state, function(line)
    local written, failure = draft:write(json.encode(plain.writable(line)) .. "\n")
    if not written then error(failure, 0) end
    count = count + 1
  end)
  if ok then ok, problem = draft:write(('{"lines":%d}\n'):format(count)) end
  if not ok then
    draft:discard()
    return nil, tostring(problem)
  end
  return draft:commit()
end

-- Adds what a line holds to a state. Returns the state; nil where the line holds nothing of one.
local function put(state, line)
  if type(line.state) == "table" and not state then
    line.state.histories = {}
    return line.state
  end
  if not state or type(line.history) ~= "string" or type(line.record) ~= "table" then return nil end
  local records = state.histories[line.history] or {}
  state.histories[line.history], records[#records + 1] = records, line.record
  return state
end

--- Reads a state. Returns nil alone for a missing file; nil and a message for a file without a whole state.
function M.read(path)
  local file, message, is_missing = files.open(path)
  if not file then return nil, not is_missing and message or nil end
  local state, count, wrong, is_whole = nil, 0, nil, false
  for text in file:lines() do
    local line, problem, offset = core.decode(text)
    if type(line) ~= "table" or is_whole then
      wrong = ("%s at byte %d of line %d"):format(problem or "more text", offset or 0, count + 1)
    elseif line.lines then
      is_whole = line.lines == count
    else
      state = put(state, line)
      wrong = not state and ("line %d holds nothing of it"):format(count + 1) or nil
    end
    if wrong then break end
    count = count + 1
  end
  file:close()
  if not wrong and not is_whole then wrong = "its end is missing" end
  if wrong then return nil, ("%s is not the state of a simulator: %s"):format(path, wrong) end
  return state
end

return M
