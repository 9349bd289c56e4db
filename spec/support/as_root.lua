-- SPDX-License-Identifier: MIT
-- busted's `it` for a test that root alone can run, such as of a file of another user. For anybody else the test is
-- skipped, and tools/test.lua says how many were.
--
--   local as_root = require "as_root" (it, pending)

local is_root = io.popen("id -u"):read() == "0"

return function(it, pending)
  return is_root and it or function(name) return pending("root alone: " .. name) end
end
