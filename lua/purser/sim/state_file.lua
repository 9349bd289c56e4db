-- SPDX-License-Identifier: MIT
-- The state of a simulator in a file: lines of JSON, each of which holds a piece, so that a state of any size is
-- written and read within the bounds of one document. The last line says how many there are: a file that was cut is
-- no state.
--
--   {"at":["concepts","deposits",1],"value":{...}}  what stands at the place that these names and numbers lead to

local core = require "purser.core"
local files = require "purser.util.files"
local json = require "purser.json"
local plain = require "purser.sim.plain"

local M = {}

local MOST_VALUES = 4000 -- in one line

-- Notes how many values each table holds, those of its tables included, up to where it is too large for a line.
local function weigh(value, weights)
  if type(value) ~= "table" then return 1 end
  local sum = 1
  for _, inner in pairs(value) do sum = sum + weigh(inner, weights) end
  weights[value] = sum
  return sum
end

-- Calls emit(at, value) for each piece of a value: the value whole, or the pieces of its members.
local function split(value, at, weights, emit)
  if (weights[value] or 1) <= MOST_VALUES then return emit(at, value) end
  for key, inner in pairs(value) do
    at[#at + 1] = key
    split(inner, at, weights, emit)
    at[#at] = nil
  end
end

--- Writes a state in place of the file, or leaves the file as it was.
---@param path string
---@param state table  of sim:snapshot()
---@return true|nil ok, string|nil reason
function M.write(path, state)
  local draft, reason = files.draft(path)
  if not draft then return nil, reason end
  local weights, count = {}, 0
  weigh(state, weights)
  local ok, problem = pcall(split, state, {}, weights, function(at, value)
    local piece = { at = plain.list(at), value = plain.writable(value) }
    local written, failure = draft:write(json.encode(piece) .. "\n")
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

-- Puts a piece into its place. Returns the state.
local function put(state, piece)
  local count = #piece.at
  if count == 0 then return piece.value end
  local place = state
  for i = 1, count - 1 do
    place[piece.at[i]] = place[piece.at[i]] or {}
    place = place[piece.at[i]]
  end
  place[piece.at[count]] = piece.value
  return state
end

--- Reads a state. Nil alone where there is no such file; nil and a message for one that holds no whole state.
---@param path string
---@return table|nil state, string|nil message
function M.read(path)
  local file, message, is_missing = files.open(path)
  if not file then return nil, not is_missing and message or nil end
  local state, count, wrong, is_whole = {}, 0, nil, false
  for line in file:lines() do
    local piece, problem, offset = core.decode(line)
    if type(piece) ~= "table" or is_whole then
      wrong = ("%s at byte %d of line %d"):format(problem or "more text", offset or 0, count + 1)
    elseif piece.lines then
      is_whole = piece.lines == count
    elseif type(piece.at) == "table" and piece.value ~= nil then
      state = put(state, piece)
    else
      wrong = ("line %d holds nothing of it"):format(count + 1)
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
