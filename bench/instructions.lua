-- SPDX-License-Identifier: MIT
--- Counts the processor instructions of a piece of work in user space, counted by valgrind. Each program runs with two
-- counts; the difference, divided, is what one piece takes, without the start of the program. Of a program that makes
-- one call it also measures the most memory, in KiB: resident pages, those of libraries that others share included.
-- Lua's hashes have another seed in each process: a figure is the median of ROUNDS.
--
--   instructions.lua [FILE [ROUNDS]]

local output_of = require "bench.output_of"
local service = require "bench.service"

local path = arg[1]
local build = os.getenv "BUILD" or "build/lua5.4"
local lua = os.getenv "LUA" or "lua5.4"

local rounds = tonumber(arg[2]) or 1

local function count(command, environment)
  local valgrind = (environment or "") .. " valgrind --tool=callgrind --callgrind-out-file=/dev/null "
  local text = output_of(valgrind .. command .. " 2>&1 >/dev/null")
  local number = text:match "I%s+refs:%s+([%d,]+)"
  assert(number, text)
  return tonumber((number:gsub(",", "")))
end

local function median_of(fn)
  local found = {}
  for i = 1, rounds do found[i] = fn() end
  table.sort(found)
  return found[math.ceil(rounds / 2)]
end

local function per_piece(work)
  local low, high = work[3] or 200, work[4] or 600
  return median_of(function()
    return (count(work[2]:format(high), work.environment) - count(work[2]:format(low), work.environment)) / (high - low)
  end)
end

local server = service.start(50)
local client = lua .. " bench/transport_client.lua"
local floor = build .. "/bench/floor_http"
-- A start finds Purser where it is, not first where this program's own modules are.
local function purser_in(folder)
  return ("env LUA_PATH='%s/?.lua;%s/?/init.lua' %s seq %s 1"):format(folder, folder, client, server.plain)
end

local works = {
  { "check, build and sign a withdrawal", lua .. " bench/work.lua prepare %d" },
  { "decode 20 deposits", lua .. " bench/work.lua parse %d" },
  { "a call without its transport", lua .. " bench/work.lua call %d" },
  { "POST without its transport", lua .. " bench/work.lua post %d" },
  { "POST, recorded in SQLite", lua .. " bench/work.lua recorded %d", 50, 150 },
  { "W3, libcurl in C", ("%s seq %s %%d"):format(floor, server.plain) },
  { "W3, bare objects of the core", ("%s bench/bare_client.lua decoded %s %%d"):format(lua, server.plain) },
  { "W3, the same without decoding", ("%s bench/bare_client.lua sent %s %%d"):format(lua, server.plain) },
  { "W3, Purser", ("%s seq %s %%d"):format(client, server.plain) },
  { "W3, Purser, collector as in a host",
    ("%s -e 'collectgarbage \"incremental\"' bench/transport_client.lua seq %s %%d"):format(lua, server.plain) },
  { "W3, Purser, 64 free blocks a size", ("%s seq %s %%d"):format(client, server.plain),
    environment = "GLIBC_TUNABLES=glibc.malloc.tcache_count=64" },
  { "W3 TLS, libcurl in C", ("%s seq %s %%d %s"):format(floor, server.tls, server.ca) },
  { "W3 TLS, Purser", ("%s seq %s %%d %s"):format(client, server.tls, server.ca) },
  { "W4, libcurl in C", ("%s multi %s/slow %%d 64"):format(floor, server.plain), 640, 1280 },
  { "W4, bare objects of the core",
    ("%s bench/bare_client.lua decoded %s/slow %%d in_flight 64"):format(lua, server.plain), 640, 1280 },
  { "W4, Purser", ("%s multi %s/slow %%d 64"):format(client, server.plain), 640, 1280 },
}

local lines = { "work\tinstructions" }
local ok, message = pcall(function()
  for _, work in ipairs(works) do
    local instructions = per_piece(work)
    print(("%-36s %9.0f"):format(work[1], instructions))
    lines[#lines + 1] = ("%s\t%.0f"):format(work[1], instructions)
  end
  local starts = {
    { "start, libcurl in C", ("%s seq %s 1"):format(floor, server.plain) },
    { "start, bare objects of the core", ("%s bench/bare_client.lua decoded %s 1"):format(lua, server.plain) },
    { "start, Purser", purser_in "lua" },
    { "start, Purser installed", purser_in(build .. "/bench/installed") },
  }
  for _, start in ipairs(starts) do
    local instructions = median_of(function() return count("--trace-children=yes " .. start[2]) end)
    local memory = output_of(("%s spawn 5 %s"):format(floor, start[2])):match "^%d+"
    print(("%-36s %9.0f %9d KiB"):format(start[1], instructions, memory))
    lines[#lines + 1] = ("%s\t%.0f\t%d"):format(start[1], instructions, memory)
  end
end)
server.stop()
assert(ok, message)

if path then
  local file = assert(io.open(path, "w"))
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
end
