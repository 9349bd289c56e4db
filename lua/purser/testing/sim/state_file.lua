-- SPDX-License-Identifier: MIT
-- The state of a simulator in a file of lines, a JSON document each: first the state without its histories and the
-- number of records of each history, then a record a line. So no bound of a document bounds a state.

local core = require "purser.core"
local files = require "purser.client.util.files"
local json = require "purser.json"
local plain = require "purser.testing.sim.plain"

local M = {}

local function sorted_names(histories)
  local names = {}
  for name in pairs(histories) do names[#names + 1] = name end
  table.sort(names)
  return names
end

local function text_of(state)
  local head, counts, lines = {}, {}, {}
  for name, value in pairs(state) do head[name] = name ~= "histories" and value or nil end
  for _, name in ipairs(sorted_names(state.histories)) do
    counts[name] = #state.histories[name]
    for _, record in ipairs(state.histories[name]) do lines[#lines + 1] = json.encode(plain.writable(record)) end
  end
  table.insert(lines, 1, json.encode(plain.writable { state = head, counts = counts }))
  return table.concat(lines, "\n") .. "\n"
end

--- Writes a state in place of the file, or leaves the file as it was. Returns true; nil and why not.
function M.write(path, state)
  local ok, text = pcall(text_of, state)
  if not ok then return nil, text end
  return files.replace(path, text)
end

-- Returns a state; or nil and a fault.
local function state_of(text)
  local next_line, number = text:gmatch "([^\n]*)\n", 0
  local function read_line()
    number = number + 1
    local line = next_line()
    if not line then return nil, ("line %d is missing"):format(number) end
    local object, message, byte = core.decode(line)
    if type(object) ~= "table" or line:sub(1, 1) ~= "{" then
      return nil, ("line %d is not the JSON of an object%s"):format(number,
        message and (": %s at byte %d"):format(message, byte or 0) or "")
    end
    return object
  end
  local head, message = read_line()
  if not head then return nil, message end
  if type(head.state) ~= "table" or type(head.counts) ~= "table" then return nil, "line 1 holds no state" end
  local state = head.state
  state.histories = {}
  for _, name in ipairs(sorted_names(head.counts)) do
    local list = {}
    for i = 1, head.counts[name] do
      list[i], message = read_line()
      if not list[i] then return nil, message end
    end
    state.histories[name] = list
  end
  if next_line() or text:sub(-1) ~= "\n" then return nil, "there is more text after its end" end
  return state
end

--- Reads a state. Returns nil alone for a missing file; nil and a message for a file without a state.
function M.read(path)
  local text, message, is_missing = files.read(path)
  if not text then return nil, not is_missing and message or nil end
  local state
  state, message = state_of(text)
  if state then return state end
  return nil, ("%s is no state of a simulator: %s"):format(path, message)
end

return M
