-- SPDX-License-Identifier: MIT
-- All that the command prints passes here, and nothing else writes to the standard streams. What strangers choose (the
-- service, a proxy, a depositor) moves no cursor, reverses no text and forges no line: see purser.plain_text.

local core = require "purser.core"
local plain_text = require "purser.plain_text"

local M = {}

--- Text of several lines with visible escapes for what hides; its line ends and tabs stay.
---@param text any
---@return string
function M.lines(text)
  text = tostring(text)
  if not text:find("[^ -~\n\t]") then return text end
  return (text:gsub("[^\n\t]+", function(part) return plain_text.clean(part) end))
end

--- Says something on standard error, on a line of its own.
---@param speaker string  the command
function M.say_as(speaker, text)
  io.stderr:write(speaker, ": ", plain_text.clean(text), "\n")
end

function M.say(...)
  M.say_as("purser", string.format(...))
end

--- Writes to standard output. `is_raw` keeps the exact bytes, unless they go to a terminal.
---@return any ok, string|nil reason
function M.write(text, is_raw)
  if not is_raw or core.is_terminal(1) then text = M.lines(text) end
  local ok, reason = io.stdout:write(text)
  if ok then ok, reason = io.stdout:flush() end
  return ok, reason
end

--- Shows what would be done, and reads what is typed. Each text is one line, whatever it holds.
---@param texts string[]
---@return string|nil
function M.ask(texts)
  local lines = {}
  for i, text in ipairs(texts) do lines[i] = plain_text.clean(text) end
  io.stderr:write(table.concat(lines, "\n"), "\nType yes to do it: ")
  io.stderr:flush()
  return io.stdin:read "*l"
end

--- Whether a question reaches a person: there is a terminal to ask on, and one to answer.
function M.can_ask()
  return core.is_terminal(0) and core.is_terminal(2)
end

--- A line on a terminal that says how far something is: a function that shows it, and one that takes it away.
---@return fun(text: string), fun()
function M.progress_line()
  local shown = false
  local function show(text)
    if not core.is_terminal(2) then return end
    io.stderr:write("\r\27[K", plain_text.clean(text))
    io.stderr:flush()
    shown = true
  end
  local function clear()
    if shown then io.stderr:write("\r\27[K") end
    io.stderr:flush()
  end
  return show, clear
end

return M
