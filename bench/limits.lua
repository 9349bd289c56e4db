-- SPDX-License-Identifier: MIT
--- Cost of a reservation of the rate limit: in this process, in Redis next to an EVALSHA of the same words that does
--- nothing, and in nginx next to the way in which lua-resty-limit-traffic counts (one incr of a shared dictionary).
---
--- Arguments: rounds (60), file for the raw rounds. A round measures everything once; the best of all rounds counts,
--- since other programs of the machine only add. Rounds are short, so that some of them are left alone.

package.path = "spec/support/?.lua;" .. package.path

local core = require "purser.core"
local nginx = require "nginx"
local purser = require "purser"
local redis_server = require "redis_server"

local rounds, tsv_path = tonumber(arg[1] or 60), arg[2]

local rows, raw = {}, { "what\tround\tus" }

local function add(what, calls, fn)
  rows[#rows + 1] = { what = what, calls = calls, fn = fn, best = math.huge }
  return rows[#rows]
end

local function measure()
  for round = 1, rounds do
    for _, row in ipairs(rows) do
      local started = core.monotonic_us()
      local own = row.fn(row.calls)
      local us = own or (core.monotonic_us() - started) / row.calls
      row.best = math.min(row.best, us)
      raw[#raw + 1] = ("%s\t%d\t%.3f"):format(row.what, round, us)
    end
  end
end

local function repeated(fn)
  return function(count)
    for _ = 1, count do fn() end
  end
end

local ONE = { ip = { capacity = 1000000000, window_ms = 10000 } }
local TWO = { ip = ONE.ip, account = { capacity = 1000000000, window_ms = 10000, scope = "account" } }
local coins = { full_name = "wallet.coins", effect = "read", weight = 10 }

-- Adds what a call asks of a rate limit on this store.
local function add_limit(what, calls, pools, store)
  local limit = purser.rate_limit { pools = pools, store = store }
  assert(limit:acquire(coins, "key", function(_, ms) core.sleep_ms(ms) end)) -- connects; a first use may wait
  return add(what, calls, repeated(function() assert(limit:acquire(coins, "key", error)) end)), limit
end

add_limit("in process, one pool", 20000, ONE)
add_limit("in process, two pools", 20000, TWO)
local server = redis_server.start()
local redis_one, limit = add_limit("Redis: a reservation, one pool", 200, ONE, { redis = { port = server.port } })
add_limit("Redis: a reservation, two pools", 200, TWO, { redis = { port = server.port }, namespace = "two" })
local connection = limit.store.connection
local sha = assert(connection:ask("SCRIPT", "LOAD", "return { 0, 0 }"))
local nothing = add("Redis: an EVALSHA that does nothing", 200,
  repeated(function() assert(connection:ask("EVALSHA", sha, 0)) end))

local here = io.popen("pwd"):read "*l"
local web = nginx.start([[
lua_shared_dict limits 1m;
lua_package_path "${HERE}/lua/?.lua;${HERE}/lua/?/init.lua;;";
lua_package_cpath "${HERE}/build/luajit/?.so;;";
server {
  listen 127.0.0.1:${PORT};
  location / { content_by_lua_block {
    local core = require "purser.core"
    local limit = require("purser").rate_limit { store = { shared_dict = "limits" },
      pools = { ip = { capacity = 1000000000, window_ms = 10000 } } }
    local coins, dict, count = { full_name = "wallet.coins", effect = "read", weight = 1 }, ngx.shared.limits, 2000
    local function time(fn)
      local started = core.monotonic_us()
      for _ = 1, count do fn() end
      return (core.monotonic_us() - started) / count
    end
    -- resty.limit.count: one key with a life of one window
    local theirs = time(function() dict:incr("counter", -1, 1000000000, 10) end)
    local ours = time(function() assert(limit:acquire(coins, "key", error)) end)
    ngx.print(("%.3f %.3f"):format(theirs, ours))
  } }
}
]], { HERE = here })
local http = assert(require("purser.client.util.libcurl").easy { base_url = web:url() })
local function ask(which)
  return function()
    local response = assert(http:send { method = "GET", target = "/" })
    local theirs, ours = response.body:match "^([%d.]+) ([%d.]+)$"
    return tonumber(which == 1 and theirs or ours)
  end
end
add("nginx: one incr of a shared dictionary, as lua-resty-limit-traffic counts", 1, ask(1))
add("nginx: a reservation in a shared dictionary, one pool", 1, ask(2))

local ok, problem = pcall(measure)
server:stop()
web:stop()
assert(ok, problem)

print(("%-76s %9s"):format("what", "us, best"))
for _, row in ipairs(rows) do print(("%-76s %9.2f"):format(row.what, row.best)) end
print(("\nRedis next to an EVALSHA that does nothing: %.2f"):format(redis_one.best / nothing.best))
if tsv_path then
  local file = assert(io.open(tsv_path, "w"))
  file:write(table.concat(raw, "\n"), "\n")
  file:close()
end
