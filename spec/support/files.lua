-- SPDX-License-Identifier: MIT
-- Files of a test, whole.

local M = dofile "tools/whole_files.lua"

--- A new file that holds `text`. Whoever asked for it removes it.
function M.temporary(text)
  local path = os.tmpname()
  M.write(path, text or "")
  return path
end

--- The path of a new file where writing waits for no disk, if the machine has a file system in memory: for journals
--- of a few pages, whose test writes many.
function M.path_in_memory()
  local path = os.tmpname()
  os.remove(path)
  local in_memory = path:gsub("^.*/", "/dev/shm/")
  local file = io.open(in_memory, "w")
  if not file then return path end
  file:close()
  os.remove(in_memory)
  return in_memory
end

local kept = {}

--- Has a file removed when the test ends: `after_each(files.remove_kept)`. Returns its path.
function M.keep(path)
  kept[#kept + 1] = path
  return path
end

--- The path of a new file that holds `text`, or of none yet; it is kept for the test.
function M.new_path(text)
  local path = M.keep(M.temporary(text))
  if not text then os.remove(path) end
  return path
end

--- A new file that only this user can read, or one with that mode; it is kept for the test.
function M.private(text, mode)
  local path = M.new_path(text)
  os.execute(("chmod %s %s"):format(mode or "600", path))
  return path
end

function M.remove_kept()
  for _, path in ipairs(kept) do M.remove_database(path) end
  kept = {}
end

--- Returns what the text of a Lua program prints, run in a process of its own.
function M.output_of_program(text)
  local path = M.temporary(text)
  local printed = M.output_of(("%s %s 2>&1"):format(os.getenv "LUA" or "lua5.4", path))
  os.remove(path)
  return printed
end

--- A new folder that only this user can enter. Whoever asked for it removes it (`remove`).
function M.folder()
  return assert(M.output_of("mktemp -d"):match "%S+")
end

--- Removes a folder with all that is in it, or a file.
function M.remove(path)
  os.execute("rm -rf '" .. path .. "'")
end

--- Removes a SQLite database, with the files beside it.
function M.remove_database(path)
  for _, suffix in ipairs { "", "-wal", "-shm", "-witness" } do os.remove(path .. suffix) end
end

return M
