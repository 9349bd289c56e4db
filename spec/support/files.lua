-- SPDX-License-Identifier: MIT
-- Files of a test, whole.

local M = dofile "tools/whole_files.lua"

--- A new file that holds `text`. Whoever asked for it removes it.
function M.temporary(text)
  local path = os.tmpname()
  M.write(path, text or "")
  return path
end

--- A new folder that only this user can enter. Whoever asked for it removes it (`remove`).
function M.folder()
  return assert(M.output_of("mktemp -d"):match "%S+")
end

--- Removes a folder with all that is in it, or a file.
function M.remove(path)
  os.execute("rm -rf '" .. path .. "'")
end

return M
