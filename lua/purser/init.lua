-- SPDX-License-Identifier: MIT
-- purser: the account-management side of a trading platform, for Lua.
--
--   local purser = require "purser"
--   local client = assert(purser.new { profile = "mexc", api_key = "...", secret_key = "..." })
--   local deposits, err = client.wallet:deposit_history { coin = "USDT" }

local found, core = pcall(require, "purser.core")
if not found then error(require "purser.util.core_problem"(core), 0) end
-- A sandbox may lack `package`, `debug` or `string.dump`: its modules come from where the host has them.
pcall(require "purser.util.archive".use, core)
return require "purser.module"
