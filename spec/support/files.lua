-- SPDX-License-Identifier: MIT
-- Files of a test, whole.

local M = dofile "tools/whole_files.lua"

--- A new file that holds `text`. Whoever asked for it removes it.
function M.temporary(text)
  local path = os.tmpname()
  M.write(path, text or "")
  return path
end

return M
