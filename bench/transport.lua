-- SPDX-License-Identifier: MIT
--- W3 and W4: what a client call costs next to plain libcurl in C (bench/floor_http.c), against nginx with a canned
-- answer of 20 deposit records.
--
--   W3     one signed GET after the other, on a kept connection, plain and TLS: processor time of the client
--   W4     2000 requests, 64 in flight, an answer after 50 ms: wall time and processor time
--   start  from the start of the interpreter to the first decoded answer; "inst.": with the archive
--          that `make install` makes
--   bare   the same by bench/bare_client.lua: the bound of any Lua program; "sent": without decoding
--
-- The rounds are interleaved and a ratio compares rows of one round, so that a noisy neighbour meets all alike. nginx
-- has the other processor where there is `taskset`. Arguments: rounds (7), file for the raw rounds.

local service = require "bench.service"

local rounds = tonumber(arg[1] or 7)
local tsv_path = arg[2]
local build = os.getenv "BUILD" or "build/lua5.4"
local lua = os.getenv "LUA" or "lua5.4"
local floor = build .. "/bench/floor_http"
-- The client looks for Purser where it is, not first where this program's own modules are. `env` stands outside of what
-- is measured: to start it costs a tenth of a start of Lua and Purser.
local function path_of(folder) return ("env LUA_PATH='%s/?.lua;%s/?/init.lua' "):format(folder, folder) end
local path = path_of "./lua"
local client = lua .. " bench/transport_client.lua"

local SEQUENTIAL, CONCURRENT, IN_FLIGHT, SERVICE_MS, STARTS = 3000, 2000, 64, 50, 15
local IDEAL_US = math.ceil(CONCURRENT / IN_FLIGHT) * SERVICE_MS * 1000

local pin = os.execute("command -v taskset >/dev/null 2>&1 && [ $(nproc) -gt 1 ]")
pin = (pin == true or pin == 0) and "taskset -c " or nil
local on_client = pin and pin .. "0 " or ""

local server = service.start(SERVICE_MS, pin and pin .. "1")
local plain, tls, ca = server.plain, server.tls, server.ca

local function measure(command)
  local pipe = assert(io.popen(on_client .. command))
  local wall, cpu = (pipe:read("*l") or ""):match("^(%d+) (%d+)$")
  pipe:close()
  assert(wall, "failed: " .. command)
  return { wall = tonumber(wall), cpu = tonumber(cpu) }
end

local function row(title, arguments)
  return { title = title, floor = floor .. " " .. arguments, purser = path .. client .. " " .. arguments }
end

-- The same request by the bare objects of the core: what no pipeline can save.
local bare = lua .. " bench/bare_client.lua "
local function bare_row(title, what, arguments)
  return { title = title, floor = floor .. " seq " .. arguments, purser = path .. bare .. what .. " " .. arguments }
end

local spawn = ("%s spawn %d "):format(floor, STARTS)
local installed = build .. "/bench/installed"
local function start_row(title, arguments, folder)
  return { title = title, start = true, floor = spawn .. floor .. " seq " .. arguments,
    purser = path_of(folder or "./lua") .. spawn .. (folder and client .. " seq " or bare .. "decoded ") .. arguments }
end

local many, many_tls = ("%s %d"):format(plain, SEQUENTIAL), ("%s %d %s"):format(tls, SEQUENTIAL, ca)
local one, one_tls = plain .. " 1", ("%s 1 %s"):format(tls, ca)
local function bare_multi_row(title, what)
  local arguments = ("%s/slow %d "):format(plain, CONCURRENT)
  return { title = title, concurrent = true, floor = ("%s multi %s%d"):format(floor, arguments, IN_FLIGHT),
    purser = ("%s%s%s %sin_flight %d"):format(path, bare, what, arguments, IN_FLIGHT) }
end
local works = {
  row("W3 plain", "seq " .. many),
  bare_row("W3 bare", "decoded", many),
  bare_row("W3 sent", "sent", many),
  row("W3 TLS", "seq " .. many_tls),
  bare_row("W3 bare TLS", "decoded", many_tls),
  row("W4", ("multi %s/slow %d %d"):format(plain, CONCURRENT, IN_FLIGHT)),
  bare_multi_row("W4 bare", "decoded"),
  bare_multi_row("W4 sent", "sent"),
  start_row("start plain", one, "./lua"),
  start_row("start inst.", one, installed),
  start_row("start bare", one),
  start_row("start TLS", one_tls, "./lua"),
  start_row("start TLS inst.", one_tls, installed),
  start_row("start TLS bare", one_tls),
}

local function median(list)
  local sorted = {}
  for i, value in ipairs(list) do sorted[i] = value end
  table.sort(sorted)
  local middle = math.floor((#sorted + 1) / 2)
  return #sorted % 2 == 1 and sorted[middle] or (sorted[middle] + sorted[middle + 1]) / 2, sorted[1], sorted[#sorted]
end

local raw = { "work\twho\tround\twall_us\tcpu_us" }

local function run()
  for round = 1, rounds do
    for _, work in ipairs(works) do
      work.rounds = work.rounds or {}
      local result = { floor = measure(work.floor), purser = measure(work.purser) }
      work.rounds[round] = result
      for _, who in ipairs { "floor", "purser" } do
        raw[#raw + 1] = ("%s\t%s\t%d\t%d\t%d"):format(work.title, who, round, result[who].wall, result[who].cpu)
      end
    end
  end
end

local function column(work, pick)
  local list = {}
  for i, result in ipairs(work.rounds) do list[i] = pick(result) end
  return median(list)
end

local function report(work, what, per, unit, pick)
  local floor_value = column(work, function(result) return result.floor[what] end) / per
  local value = column(work, function(result) return result.purser[what] end) / per
  local ratio, low, high = column(work, pick or function(result) return result.purser[what] / result.floor[what] end)
  print(("%-15s %-5s %9.1f %9.1f %-3s  %5.3f (%.3f - %.3f)%s"):format(work.title, what, floor_value, value, unit,
    ratio, low, high, pick and " of the ideal" or ""))
end

local ok, message = pcall(run)
server.stop()
assert(ok, message)

print(("%s, %d rounds%s"):format(lua, rounds, pin and ", nginx on the other processor" or ""))
print("                           floor    purser       ratio (min - max)")
for _, work in ipairs(works) do
  if work.start then
    report(work, "wall", 1000, "ms")
    report(work, "cpu", 1000, "ms")
  elseif work.title == "W4" then
    report(work, "wall", 1000, "ms", function(result) return result.purser.wall / IDEAL_US end)
    report(work, "wall", 1000, "ms")
    report(work, "cpu", CONCURRENT, "us")
  elseif work.concurrent then
    report(work, "cpu", CONCURRENT, "us")
  else
    report(work, "cpu", SEQUENTIAL, "us")
    report(work, "wall", SEQUENTIAL, "us")
  end
end

if tsv_path then
  local file = assert(io.open(tsv_path, "w"))
  file:write(table.concat(raw, "\n"), "\n")
  file:close()
end
