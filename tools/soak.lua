-- SPDX-License-Identifier: MIT
-- Makes 10^6 clients (SOAK_CLIENTS) and prints the memory they leave behind; fails when it grew by more than a tenth.
-- `make soak` calls it.

package.path = "spec/support/?.lua;" .. package.path
local soak = require "many_clients"

local count = tonumber(os.getenv "SOAK_CLIENTS" or "1000000")
local started = os.time()
local before, after = soak.run(count, function(i, now)
  print(("%9d clients  %8.0f kB of Lua  %8.0f kB resident"):format(i, now.lua, now.rss or 0))
end)
local grew = after.lua > 1.1 * before.lua or (after.rss or 0) > 1.1 * (before.rss or 0)
print(("%d clients in %d s: %.0f -> %.0f kB of Lua, %.0f -> %.0f kB resident"):format(count, os.time() - started,
  before.lua, after.lua, before.rss or 0, after.rss or 0))
os.exit(not grew)
