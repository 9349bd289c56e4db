-- SPDX-License-Identifier: MIT
-- The state of a simulator in a file: one JSON document, and therefore of at most 262,144 objects.

local files = require "purser.client.util.files"
local json = require "purser.json"
local plain = require "purser.testing.sim.plain"

local M = {}

--- Writes a state in place of the file, or leaves the file as it was. Returns true; nil and why not.
function M.write(path, state)
  local ok, text = pcall(json.encode, plain.writable(state))
  if not ok then return nil, text end
  return files.replace(path, text .. "\n")
end

--- Reads a state. Returns nil alone for a missing file; nil and a message for a file without a state.
function M.read(path)
  local state, message, is_missing = files.read_object(path)
  if state or is_missing then return state end
  return nil, message
end

return M
