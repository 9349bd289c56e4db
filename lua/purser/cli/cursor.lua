-- SPDX-License-Identifier: MIT
-- The file of --cursor, which keeps how far a run came.

local files = require "purser.client.util.files"
local report = require "purser.cli.report"

local M = {}

--- Returns the first line of the file; nil at the first run, and without the option. Ends the command where the file
-- could not be written: after the records it would be too late to say so.
---@param path string|nil
---@return string|nil cursor
function M.read(path)
  if not path then return nil end
  local text, message, is_missing = files.read(path)
  if not text and not is_missing then report.bad_input("--cursor %s", message) end
  local ok, reason = files.can_replace(path)
  if not ok then report.bad_input("--cursor %s cannot be written: %s", path, tostring(reason)) end
  return text and text:match "^[^\n]+"
end

--- Keeps how far the run came. Returns the exit code.
---@param path string
---@param cursor string
---@return integer
function M.keep(path, cursor)
  local ok, reason = files.replace(path, cursor .. "\n")
  if ok then return report.DONE end
  report.say("the cursor could not be written to %s: %s", path, tostring(reason))
  return report.NOT_WRITTEN
end

return M
