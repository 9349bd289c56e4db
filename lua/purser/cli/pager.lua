-- SPDX-License-Identifier: MIT
-- What is longer than the terminal goes through the program that PAGER names.

local core = require "purser.core"

local M = { is_allowed = false } -- whether this command only reads; see --no-pager, too

local function is_found(program)
  local found = os.execute(("command -v '%s' >/dev/null 2>&1"):format((program:gsub("'", "'\\''"))))
  return found == true or found == 0
end

--- Shows text through the pager. Returns false where there is none, it is not needed, or it cannot be started.
---@param text string
---@return boolean
function M.show(text)
  local program = os.getenv "PAGER" or ""
  if not M.is_allowed or program == "" or program == "cat" or not core.is_terminal(1) then return false end
  local _, rows = core.terminal_width(1)
  local _, lines = text:gsub("\n", "")
  if not rows or rows == 0 or lines < rows or not is_found(program:match "^%s*(%S+)" or "") then return false end
  -- what git gives less: it ends by itself on a short text, passes colours, and leaves the text on the screen
  local pipe = io.popen("export LESS=\"${LESS-FRX}\"; " .. program, "w")
  if not pipe then return false end
  pipe:write(text)
  pipe:close()
  return true
end

return M
