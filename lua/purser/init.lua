-- SPDX-License-Identifier: MIT
-- purser: the account-management side of a trading platform, for Lua.
--
--   local purser = require "purser"
--   local client = assert(purser.new { profile = "mexc", api_key = "...", secret_key = "..." })
--   local deposits, err = client.wallet:deposit_history { coin = "USDT" }

local found, core = pcall(require, "purser.core")
if not found then -- what `require` says is long and names no cure
  local lua, why = rawget(_G, "jit") and "luajit" or "lua" .. _VERSION:match "%d%.%d", tostring(core):gsub("%s+", " ")
  error(("purser: the C module purser.core %s; run `make LUA=%s` in the clone, or correct package.cpath (LUA_CPATH)")
    :format(why:find("module 'purser.core' not found", 1, true) and "is not on package.cpath"
      or ("cannot be loaded by this Lua, %s (%s)"):format(lua, why), lua), 0)
end
-- A sandbox may lack `package`, `debug` or `string.dump`: its modules come from the host's place.
pcall(require "purser.client.util.archive".use, core, require "purser.client.util.rocks".names)
return require "purser.module"
