-- SPDX-License-Identifier: MIT
--- Time that TLS adds to a start: from the start of the interpreter to the first decoded answer (20 deposit records),
-- against nginx, without TLS and with the system's authorities in play; and a start that needs no libcurl.
--
-- The certificate of the server here is not signed by an authority of the system. So the programs run in a private
-- mount namespace in which the system's store is replaced by a copy of it that holds one authority more, prepared the
-- way update-ca-certificates does it: a file and a hashed link each, and a bundle of all. Nothing outside sees it, and
-- Purser chooses as it always does when no authorities are named.
--
-- Arguments: rounds (15), file for the raw rounds. Every round starts each program STARTS times and keeps the median;
-- the differences compare rows of one round.

local output_of = require "bench.output_of"
local service = require "bench.service"

local STORE = "/etc/ssl/certs"
local STARTS = 7

local rounds = tonumber(arg[1] or 15)
local tsv_path = arg[2]
local build = os.getenv "BUILD" or "build/lua5.4"
local lua = os.getenv "LUA" or "lua5.4"
local floor = build .. "/bench/floor_http"
local client = lua .. " bench/transport_client.lua"

local function has(command)
  return output_of(command .. " >/dev/null 2>&1 && echo yes"):find "yes" ~= nil
end

assert(has("test -f " .. STORE .. "/ca-certificates.crt"), "the system's authorities are not in " .. STORE)
local private = has "unshare -rm true" and "unshare -rm " or has "unshare -m true" and "unshare -m "
assert(private, "this needs a private mount namespace: run it as root, or where user namespaces are allowed")

local two = has "command -v taskset" and tonumber(output_of "nproc") > 1
local server = service.start(0, two and "taskset -c 1" or nil)
local store = os.tmpname()

-- The copy of the system's store. Returns how many authorities there are.
local function copy_store()
  os.remove(store)
  assert(has(("cp -a %s %s && cp %s %s/purser-bench.pem && cat %s >>%s/ca-certificates.crt && openssl rehash %s")
    :format(STORE, store, server.ca, store, server.ca, store, store)), "the system's authorities could not be copied")
  return tonumber(output_of(("ls %s | grep -c '^[0-9a-f]*[.][0-9]$'"):format(store)))
end

local bundle = STORE .. "/ca-certificates.crt"
local rows = {
  { who = "Purser, http", command = ("%s seq %s 1"):format(client, server.plain) },
  { who = "Purser, https, nothing named: the hashed directory", command = ("%s seq %s 1"):format(client, server.tls) },
  { who = "Purser, https, ca_file: the bundle", command = ("%s seq %s 1 %s"):format(client, server.tls, bundle) },
  { who = "Purser, https, ca_file: one authority",
    command = ("%s seq %s 1 %s"):format(client, server.tls, server.ca) },
  { who = "Purser, a transport of its own: no libcurl", command = lua .. " bench/own_transport_client.lua" },
  { who = "libcurl in C, http", command = ("%s seq %s 1"):format(floor, server.plain), floor = true },
  { who = "libcurl in C, https, its own choice", command = ("%s seq %s 1"):format(floor, server.tls), floor = true },
}

-- The medians of some starts, wall and processor time in milliseconds. The namespace is made before the clock runs.
local function measure(command)
  local inside = ("mount --bind %s %s && export LUA_PATH='%s' && exec %s %s spawn %d %s"):format(store, STORE,
    "./lua/?.lua;./lua/?/init.lua;./?.lua", two and "taskset -c 0" or "", floor, STARTS, command)
  local said = output_of(("%s sh -c \"%s\""):format(private, inside))
  local wall, cpu = said:match "^(%d+) (%d+)\n$"
  assert(wall, "failed: " .. command)
  return { wall = tonumber(wall) / 1000, cpu = tonumber(cpu) / 1000 }
end

local raw = { "who\tround\twall_ms\tcpu_ms" }

local function run()
  local authorities = copy_store()
  for round = 1, rounds do
    for _, row in ipairs(rows) do
      row[round] = measure(row.command)
      raw[#raw + 1] = ("%s\t%d\t%.3f\t%.3f"):format(row.who, round, row[round].wall, row[round].cpu)
    end
  end
  return authorities
end

local function median(list)
  local sorted = {}
  for i, value in ipairs(list) do sorted[i] = value end
  table.sort(sorted)
  return sorted[math.ceil(#sorted / 2)], sorted[1], sorted[#sorted]
end

local ok, result = pcall(run)
server.stop()
os.execute("rm -rf " .. store)
assert(ok, result)

print(("%s, %d rounds of %d starts each, %d authorities in the system's store"):format(lua, rounds, STARTS, result))
print(("%-52s %30s  %30s"):format("", "wall time, and more than", "processor time, and more than"))
print(("%-52s %30s  %30s"):format("", "http (least - greatest), ms", "http (least - greatest), ms"))
for _, row in ipairs(rows) do
  local without = row.floor and rows[6] or rows[1]
  local line = ("%-52s"):format(row.who)
  for _, what in ipairs { "wall", "cpu" } do
    local own, more = {}, {}
    for round = 1, rounds do own[round], more[round] = row[round][what], row[round][what] - without[round][what] end
    local difference = row == without and "" or ("%+.1f (%.1f - %.1f)"):format(median(more))
    line = line .. (" %8.1f %-22s"):format((median(own)), difference)
  end
  print((line:gsub("%s+$", "")))
end

if tsv_path then
  local file = assert(io.open(tsv_path, "w"))
  file:write(table.concat(raw, "\n"), "\n")
  file:close()
end
