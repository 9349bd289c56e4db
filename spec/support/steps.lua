-- SPDX-License-Identifier: MIT
-- Runs a piece of work in the interpreter alone, and counts its steps: LuaJIT calls no hook from compiled code, so a
-- count there would depend on how much of the work was compiled.

local compiler = rawget(_G, "jit")

local M = {}

local function finish(ok, ...)
  debug.sethook()
  if compiler then compiler.on() end
  if not ok then error((...), 0) end
  return ...
end

--- Returns what `fn` returns, or raises what it raises. No code is compiled meanwhile, and no hook stays.
function M.interpreted(fn, ...)
  if compiler then
    compiler.off()
    compiler.flush()
  end
  return finish(pcall(fn, ...))
end

--- Returns how many instructions a function takes, in hundreds, and what the function returns.
function M.of(fn)
  local count = 0
  return M.interpreted(function()
    debug.sethook(function() count = count + 1 end, "", 100)
    local result = fn()
    debug.sethook()
    return count, result
  end)
end

return M
