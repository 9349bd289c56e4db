-- SPDX-License-Identifier: MIT
-- Says why the C core cannot be loaded: what `require` says of one that is missing, or was built for another Lua, is
-- long and names no cure.

--- Returns what to say of a problem that `require "purser.core"` raised.
---@param problem any
---@return string message
return function(problem)
  problem = tostring(problem)
  local lua = rawget(_G, "jit") and "luajit" or "lua" .. _VERSION:match "%d%.%d"
  local other = problem:find("undefined symbol: lua", 1, true) or problem:find("version mismatch", 1, true)
    or problem:find("incompatible", 1, true)
  local missing = problem:find("module 'purser.core' not found", 1, true)
  return ("purser: the C module purser.core %s; run `make LUA=%s` in the clone, or correct package.cpath (LUA_CPATH)%s")
    :format(other and "was built for another Lua than this one, " .. lua or missing and "is not on package.cpath"
      or "cannot be loaded", lua, (other or missing) and "" or ": " .. problem)
end
