-- SPDX-License-Identifier: MIT
-- Catches what modules of the command print, without a process of its own:
--
--   local code, out, err = printed(report.bad_input, "no %s", "file")
--
-- There is no terminal to ask on, whatever the tests run on, and no line of progress.

local core = require "purser.core"
local terminal = require "purser.cli.terminal"

---@param fn function
---@return any result  or the exit code with which it ended the command
---@return string out, string err
return function(fn, ...)
  local out, err = {}, {}
  local function pen(list)
    return { flush = function() return true end, write = function(_, ...)
      list[#list + 1] = table.concat { ... }
      return true
    end }
  end
  local settings, stderr, is_terminal = terminal.settings, io.stderr, core.is_terminal
  terminal.settings = { no_input = true, quiet = settings.quiet, json = settings.json, time = settings.time,
    output = pen(out) }
  io.stderr, core.is_terminal = pen(err), function() return false end -- luacheck: ignore 122
  local ok, result = pcall(fn, ...)
  terminal.settings, io.stderr, core.is_terminal = settings, stderr, is_terminal -- luacheck: ignore 122
  if not ok then result = type(result) == "table" and result.exit_code or error(result, 0) end
  return result, table.concat(out), table.concat(err)
end
