-- SPDX-License-Identifier: MIT
-- Returns the message that a function raises, and whether its place is the line after the one that calls `line()`:
--
--     local message, is_here = raised_here(function(line)
--       line()
--       client.wallet.coins()
--     end)

return function(fn)
  local source, below = debug.getinfo(2, "S").short_src, nil
  local ok, message = pcall(fn, function() below = debug.getinfo(2, "l").currentline + 1 end)
  assert(not ok, "nothing is raised")
  local place = ("%s:%d: "):format(source, below or 0)
  return message, message:sub(1, #place) == place
end
