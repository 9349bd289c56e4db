-- SPDX-License-Identifier: MIT
--- The processor time of a client call, beside that of the same request by others: libcurl in C (bench/floor_http.c,
--- which throws the answer away undecoded), luasocket or lua-http with lua-cjson and luaossl (bench/others.lua), and
--- ccxt (bench/ccxt.mjs), as far as they are installed. nginx answers with 20 deposit records, from the other processor
--- where there is `taskset`.
---
---   one by one  signed GETs on a kept connection, a call; the same over TLS
---   64 at once  requests whose answers take 50 ms, 64 in flight, a call
---   start       from the start of the program to its end after the first answer
---
--- The programs take turns, and a ratio compares two of one round, so that a noisy neighbour meets all alike.
--- Arguments: seconds (120), file for the raw rounds.

local output_of = require "bench.output_of"
local service = require "bench.service"

local seconds, tsv_path = tonumber(arg[1] or 120), arg[2]
local build = os.getenv "BUILD" or "build/lua5.4"
local lua = os.getenv "LUA" or "lua5.4"
local floor = build .. "/bench/floor_http"

local function has(command)
  return output_of(("(%s) >/dev/null 2>&1 && echo yes"):format(command)):find "yes" ~= nil
end

-- The first of these Luas that has all of these modules: Debian's lua-http is for some versions only.
local function lua_with(modules)
  for _, name in ipairs { lua, "lua5.4", "lua5.3", "lua5.2", "lua5.1" } do
    if has(("%s -e 'for name in (%q):gmatch \"%%S+\" do require(name) end'"):format(name, modules)) then return name end
  end
end

local two = has "command -v taskset" and tonumber(output_of "nproc") > 1
local server = service.start(50, two and "taskset -c 1" or nil)
local plain, tls, ca = server.plain, server.tls, server.ca

-- Purser is looked for where it is, not first where this program's own modules are.
local function purser_in(folder)
  return ("env LUA_PATH='%s/?.lua;%s/?/init.lua' %s bench/transport_client.lua"):format(folder, folder, lua)
end

local contenders = {
  { name = "libcurl in C, undecoded", command = floor, tls = true, multi = true },
  { name = "Purser", command = purser_in "lua", tls = true, multi = true },
  { name = "Purser, installed", command = purser_in(build .. "/bench/installed"), start_only = true, tls = true },
}

local function add(name, command, multi)
  contenders[#contenders + 1] = { name = name, command = command, multi = multi }
end

local by_hand = lua_with "socket cjson openssl.hmac"
if by_hand then add(("luasocket by hand (%s)"):format(by_hand), by_hand .. " bench/others.lua luasocket") end
local with_http = lua_with "http.client socket cjson openssl.hmac"
if with_http then add(("lua-http by hand (%s)"):format(with_http), with_http .. " bench/others.lua lua-http", true) end
if has "test -e build/ccxt/node_modules/ccxt && command -v node" then
  assert(os.execute "cp bench/ccxt.mjs build/ccxt/ccxt.mjs")
  add("ccxt (node)", "node build/ccxt/ccxt.mjs", true)
end

local function start_of(contender, arguments)
  local program = contender.command:gsub("^(env %S+ )", "")
  local environment = contender.command:match "^env %S+ " or ""
  return ("%s%s spawn 3 %s %s"):format(environment, floor, program, arguments)
end

-- The works that are measured: how a contender is called, or nil where it cannot do that; how many calls that are.
local works = {
  { "one by one", function(one)
    return not one.start_only and ("%s seq %s 500"):format(one.command, plain) end, 500 },
  { "one by one, TLS", function(one)
    return not one.start_only and one.tls and ("%s seq %s 500 %s"):format(one.command, tls, ca) end, 500 },
  { "64 at once", function(one)
    return one.multi and ("%s multi %s/slow 640 64"):format(one.command, plain) end, 640 },
  { "start", function(one) return start_of(one, ("seq %s 1"):format(plain)) end, 1 },
  { "start, TLS", function(one) return one.tls and start_of(one, ("seq %s 1 %s"):format(tls, ca)) end, 1 },
}

local raw = { "work\twho\tround\twall_us\tcpu_us" }

local function measure(command)
  local said = output_of((two and "taskset -c 0 " or "") .. command)
  local wall, cpu = said:match "(%d+) (%d+)\n$"
  assert(wall, "failed: " .. command)
  return { wall = tonumber(wall), cpu = tonumber(cpu) }
end

local function run_round(round)
  for _, work in ipairs(works) do
    work.rounds = work.rounds or {}
    work.rounds[round] = {}
    for i, contender in ipairs(contenders) do
      local command = work[2](contender)
      if command then
        local times = measure(command)
        work.rounds[round][i] = times.cpu / work[3]
        raw[#raw + 1] = ("%s\t%s\t%d\t%d\t%d"):format(work[1], contender.name, round, times.wall, times.cpu)
      end
    end
  end
end

local rounds = 0
local ok, message = pcall(function()
  local ends = os.time() + seconds
  repeat
    local began = os.time()
    rounds = rounds + 1
    run_round(rounds)
  until os.time() + (os.time() - began) > ends
end)
server.stop()
assert(ok, message)

local function median(list)
  table.sort(list)
  return list[math.ceil(#list / 2)], list[1], list[#list]
end

print(("%s, %d rounds%s; microseconds of a processor, and ratios to libcurl in C (least - greatest)"):format(lua,
  rounds, two and ", nginx on the other processor" or ""))
for _, work in ipairs(works) do
  for i, contender in ipairs(contenders) do
    local times, ratios = {}, {}
    for round, result in ipairs(work.rounds) do
      times[round], ratios[round] = result[i], result[i] and result[i] / result[1]
    end
    if times[1] then
      print(("%-16s %-28s %9.1f  %6.2f (%.2f - %.2f)"):format(work[1], contender.name, (median(times)), median(ratios)))
    end
  end
end

if tsv_path then
  local file = assert(io.open(tsv_path, "w"))
  file:write(table.concat(raw, "\n"), "\n")
  file:close()
end
