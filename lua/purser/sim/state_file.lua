-- SPDX-License-Identifier: MIT
-- The state of a simulator in a file: lines of JSON, each of which holds a piece, so that a state of any size is
-- written and read within the bounds of one document. The last line says how many there are: a file that was cut is
-- no state.
--
--   {"at":["concepts","accounts"],"members":{...}}      members of the table that these names lead to
--   {"at":["concepts","deposits"],"from":1,"items":[]}  elements of a list, from that place on

local core = require "purser.core"
local files = require "purser.util.files"
local json = require "purser.json"
local to_json = require "purser.sim.to_json"

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

local function extended(at, name)
  local path = {}
  for i, step in ipairs(at) do path[i] = step end
  path[#path + 1] = name
  return path
end

-- Gives `emit` the pieces of a table.
local function split(value, at, weights, emit)
  local is_list = value[1] ~= nil
  local piece, size, from = {}, 0, 1
  local function flush()
    if size > 0 then emit { at = at, from = is_list and from or nil, [is_list and "items" or "members"] = piece } end
    piece, size = {}, 0
  end
  local function add(key, inner)
    local weight = weights[inner] or 1
    if weight > MOST_VALUES then
      flush()
      split(inner, extended(at, is_list and key or tostring(key)), weights, emit)
      from = is_list and key + 1 or from
      return
    end
    if size + weight > MOST_VALUES then flush() end
    if size == 0 and is_list then from = key end
    piece[is_list and #piece + 1 or tostring(key)], size = inner, size + weight
  end
  if is_list then
    for i, inner in ipairs(value) do add(i, inner) end
  else
    for name, inner in pairs(value) do add(name, inner) end
  end
  flush()
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
  local ok, problem = pcall(split, state, {}, weights, function(piece)
    piece.at = json.list(piece.at)
    if piece.items then piece.items = to_json.list(piece.items) end
    local written, failure = draft:write(json.encode(to_json.writable(piece)) .. "\n")
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

-- Puts a piece into its place.
local function put(state, piece)
  local place = state
  for _, step in ipairs(piece.at) do
    place[step] = place[step] or {}
    place = place[step]
  end
  for i, item in ipairs(piece.items or {}) do place[piece.from + i - 1] = item end
  for name, value in pairs(piece.members or {}) do place[name] = value end
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
    elseif type(piece.at) == "table" and (piece.members or piece.items and piece.from) then
      put(state, piece)
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
