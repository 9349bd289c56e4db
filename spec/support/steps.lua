-- SPDX-License-Identifier: MIT
-- Counts the instructions of a function in thousands: a measure of its work that no machine's speed changes.
--
--   local steps = require "steps"
--   assert.is_true(steps(function() work(400) end) < 5 * steps(function() work(100) end))

local jit = rawget(_G, "jit") -- luacheck: ignore 113

--- Returns how many thousand instructions `fn` takes. LuaJIT compiles nothing meanwhile: compiled code calls no hook.
return function(fn)
  local count = 0
  if jit then
    jit.off()
    jit.flush()
  end
  debug.sethook(function() count = count + 1 end, "", 1000)
  local ok, problem = pcall(fn)
  debug.sethook()
  if jit then jit.on() end
  assert(ok, problem)
  return count
end
