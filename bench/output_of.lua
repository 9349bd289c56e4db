-- SPDX-License-Identifier: MIT
--- Returns what a command of the shell prints.
---@param command string
---@return string
return function(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "*a"
  pipe:close()
  return text
end
