-- SPDX-License-Identifier: MIT
--- What a reservation of the rate limit costs: in this process, in Redis next to an EVALSHA of the same words that does
--- nothing, and in nginx next to the way in which lua-resty-limit-traffic counts (one incr of a shared dictionary).
---
--- Arguments: rounds (60), file for the raw rounds. A round measures everything once; the best of all rounds counts,
--- since other programs of the machine only add. Rounds are short, so that some of them are left alone.

package.path = "spec/support/?.lua;" .. package.path

local core = require "purser.core"
local nginx = require "nginx"
local process = require "purser.call.rate_limit.process"
local purser = require "purser"
local redis_server = require "redis_server"
local resp = require "purser.limits.resp"

local rounds, tsv_path = tonumber(arg[1] or 60), arg[2]
local ONE = { "ip", 1, 1000000000, 10240 }
local TWO = { "ip", 1, 1000000000, 10240, "account:0123456789abcdef", 1, 1000000000, 10240 }

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

local store = process.new {}
add("in process, one pool", 50000, repeated(function() store:reserve(ONE, 1, 0) end))
local in_process = add("in process, two pools", 50000, repeated(function() store:reserve(TWO, 1, 0) end))
local limit = purser.rate_limit { pools = { ip = { capacity = 1000000000, window_ms = 10000 } } }
local coins = { full_name = "wallet.coins", effect = "read", weight = 10 }
add("in process, as a call does it", 50000, repeated(function() limit:acquire(coins, "key", error) end))

local server = redis_server.start()
local shared = purser.rate_limit { store = { redis = { port = server.port } } }.store.store
assert(shared:pool("ip", 10240)) -- connects
local connection = shared.connection

-- An EVALSHA with the words of a reservation, and its reply.
local function bytes_of(script, takes)
  local sha = assert(connection:ask("SCRIPT", "LOAD", script))
  local words = { "EVALSHA", sha, 2 * math.floor(#takes / 4) + 1, "{purser}:free" }
  for i = 1, #takes, 4 do
    words[#words + 1] = ("{purser}:%s:%d:step"):format(takes[i], takes[i + 3])
    words[#words + 1] = ("{purser}:%s:sum"):format(takes[i])
  end
  for _, word in ipairs { "{purser}:", "reserve", 1, 0, shared.run } do words[#words + 1] = word end
  for i = 1, #takes do words[#words + 1] = takes[i] end
  return resp.command(words)
end

local empty_one = bytes_of("return { 0, 0, 1700000000000 }", ONE)
local empty_two = bytes_of("return { 0, 0, 1700000000001 }", TWO)
local counter = bytes_of([[
  local sum = redis.call("INCRBY", KEYS[2], ARGV[7])
  if sum == tonumber(ARGV[7]) then redis.call("PEXPIRE", KEYS[2], ARGV[9]) end
  return { 0, sum, 0 }]], { "counter", 1, 1000000000, 10240 })
local nothing_one = add("Redis: an EVALSHA that does nothing, words of one pool", 200,
  repeated(function() assert(connection:send(empty_one)) end))
local redis_one = add("Redis: a reservation, one pool", 200, repeated(function() shared:reserve(ONE, 1, 0) end))
local nothing_two = add("Redis: an EVALSHA that does nothing, words of two pools", 200,
  repeated(function() assert(connection:send(empty_two)) end))
local redis_two = add("Redis: a reservation, two pools", 200, repeated(function() shared:reserve(TWO, 1, 0) end))
add("Redis: the usual counter of a fixed window", 200, repeated(function() assert(connection:send(counter)) end))

local here = io.popen("pwd"):read "*l"
local web = nginx.start([[
lua_shared_dict limits 1m;
lua_package_path "${HERE}/lua/?.lua;${HERE}/lua/?/init.lua;;";
lua_package_cpath "${HERE}/build/luajit/?.so;;";
server {
  listen 127.0.0.1:${PORT};
  location / { content_by_lua_block {
    local core = require "purser.core"
    local store = require("purser.limits.shared_dict").new { shared_dict = "limits" }
    local takes, dict, count = { "ip", 1, 1000000000, 10240 }, ngx.shared.limits, 5000
    local function time(fn)
      local started = core.monotonic_us()
      for _ = 1, count do fn() end
      return (core.monotonic_us() - started) / count
    end
    -- resty.limit.count: one key with a life of one window
    local theirs = time(function() dict:incr("counter", -1, 1000000000, 10) end)
    local ours = time(function() store:reserve(takes, 1, 0) end)
    ngx.print(("%.3f %.3f"):format(theirs, ours))
  } }
}
]], { HERE = here })
local http = assert(require("purser.util.libcurl").easy { base_url = web:url() })
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
print(("\nin process: %.2f us (at most 2); Redis next to an EVALSHA of the same words: %.2f with one pool, %.2f with "
  .. "two (at most 1.3)"):format(in_process.best, redis_one.best / nothing_one.best, redis_two.best / nothing_two.best))
if tsv_path then
  local file = assert(io.open(tsv_path, "w"))
  file:write(table.concat(raw, "\n"), "\n")
  file:close()
end
