-- SPDX-License-Identifier: MIT
-- Whole files and the output of commands, for what runs in the clone: `local files = dofile "tools/whole_files.lua"`.

local M = {}

function M.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

function M.write(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

--- Returns the lines of a file.
function M.lines(path)
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = line end
  return lines
end

--- Returns what a command prints.
function M.output_of(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "*a"
  pipe:close()
  return text
end

--- The same, line by line.
function M.lines_of(command)
  local pipe, lines = assert(io.popen(command)), {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  pipe:close()
  return lines
end

return M
