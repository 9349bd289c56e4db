-- SPDX-License-Identifier: MIT
-- Makes Lua collect as often as it can: a whole collection at each step, and no pause between them. `make gc` loads it
-- before the specs.

if _VERSION == "Lua 5.4" then collectgarbage("incremental", 1, 1000, 10)
else collectgarbage("setstepmul", 1000000) end
collectgarbage("setpause", 0) -- here 0 means 0; to "incremental" it means no change
