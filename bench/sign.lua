-- SPDX-License-Identifier: MIT
--- W1: build and sign one withdraw of eight parameters. Purser's public signer next to pure Lua with luaossl and next
--- to
-- the floors in C (bench/floor_sign.c).
--
--   LUA_CPATH="build/lua5.4/?.so;;" lua5.4 bench/sign.lua [build/lua5.4/bench/floor_sign [ROUNDS [TSV]]]
--
-- The rounds are interleaved, so that a noisy neighbour meets every row alike; a ratio compares rows of one round. All
-- times are processor time. With TSV the raw rounds are written there: row, round, nanoseconds a request.

local core = require "purser.core"

local floor_program = arg[1] or "build/lua5.4/bench/floor_sign"
local rounds = tonumber(arg[2] or 9)
local tsv_path = arg[3]

local KEY = "bench-secret-key-0123456789abcdef"
local FIRST_TIMESTAMP = 1700000000000
local NAMES = { "coin", "netWork", "address", "memo", "amount", "remark", "recvWindow", "timestamp" }

local function new_values()
  return {
    coin = "USDT", netWork = "TRX", address = "TPb6j7oQmKdKnG5mGkVc3nJdPqYpXz8Wr1", memo = "MX10568",
    amount = "1250.75", remark = "rent 11/2026", recvWindow = 5000, timestamp = FIRST_TIMESTAMP,
  }
end

--- Runs a row's own loop over `count` timestamps; returns nanoseconds a request and the last text. Each row has its
--- loop written out, because a call in between would cost a tenth of what is measured.
local function run(loop, count)
  local values = new_values()
  local start = os.clock()
  local text = loop(values, count)
  return (os.clock() - start) / count * 1e9, text
end

local function run_floor(kind, count)
  local pipe = assert(io.popen(("%s %s %d"):format(floor_program, kind, count)))
  local line = assert(pipe:read("*l"), "run: make " .. floor_program)
  pipe:close()
  local spent, text = line:match("^(%S+) (.*)$")
  return tonumber(spent), text
end

local function purser_one_call()
  local signer = assert(core.signer("hmac-sha256", KEY))
  local layout = core.layout(NAMES, {})
  return function(values, count)
    local text
    for i = 1, count do
      values.timestamp = FIRST_TIMESTAMP + i
      text = signer:sign_query(layout, values, "signature")
    end
    return text
  end
end

local function purser_stages()
  local signer = assert(core.signer("hmac-sha256", KEY))
  local layout = core.layout(NAMES, {})
  return function(values, count)
    local text
    for i = 1, count do
      values.timestamp = FIRST_TIMESTAMP + i
      local query = layout:query(values)
      text = query .. "&signature=" .. signer:sign(query)
    end
    return text
  end
end

--- Returns what a careful script would write without Purser.
local function luaossl()
  local found, hmac = pcall(require, "openssl.hmac")
  if not found then return nil end
  local byte, format, concat, tostring = string.byte, string.format, table.concat, tostring
  local function percent(char) return format("%%%02X", byte(char)) end
  local function hex(char) return format("%02x", byte(char)) end
  local function sign(values)
    local parts = {}
    for i = 1, #NAMES do
      local name = NAMES[i]
      local value = values[name]
      value = type(value) == "number" and format("%d", value) or tostring(value)
      parts[i] = name .. "=" .. value:gsub("[^%w%-._~]", percent)
    end
    local query = concat(parts, "&")
    return query .. "&signature=" .. hmac.new(KEY, "sha256"):final(query):gsub(".", hex)
  end
  return function(values, count)
    local text
    for i = 1, count do
      values.timestamp = FIRST_TIMESTAMP + i
      text = sign(values)
    end
    return text
  end
end

local rows = {
  { name = "floor: kept EVP_MAC context", run = function() return run_floor("kept", 400000) end },
  { name = "floor: prepared SHA-256 states", run = function() return run_floor("prepared", 400000) end },
}
local function add(name, loop, count)
  if loop then rows[#rows + 1] = { name = name, run = function() return run(loop, count) end } end
end
add("purser signer:sign_query", purser_one_call(), 300000)
add("purser layout:query + signer:sign", purser_stages(), 300000)
add("Lua + luaossl", luaossl(), 20000)

local function median(list)
  local sorted = {}
  for i, value in ipairs(list) do sorted[i] = value end
  table.sort(sorted)
  local middle = math.floor((#sorted + 1) / 2)
  return #sorted % 2 == 1 and sorted[middle] or (sorted[middle] + sorted[middle + 1]) / 2
end

--- Median, smallest and greatest of row / base, round by round.
local function ratio(row, base)
  local list, least, greatest = {}, math.huge, 0
  for i = 1, rounds do
    list[i] = row.times[i] / base.times[i]
    least, greatest = math.min(least, list[i]), math.max(greatest, list[i])
  end
  return median(list), least, greatest
end

--- Every row must make the bytes of the C floor, or the comparison means nothing.
local function check_same_text()
  local function last(loop) return select(2, run(loop, 3)) end
  local _, expected = run_floor("kept", 3)
  assert(select(2, run_floor("prepared", 3)) == expected)
  assert(last(purser_one_call()) == expected and last(purser_stages()) == expected)
  local peer = luaossl()
  assert(not peer or last(peer) == expected)
end

check_same_text()
for _, row in ipairs(rows) do row.times = {} end
for round = 1, rounds do
  for _, row in ipairs(rows) do row.times[round] = row.run() end
end

local host = jit and jit.version or _VERSION -- luacheck: ignore 113
print(("W1 on %s, %d rounds"):format(host, rounds))
print(("%-34s %9s   %-22s %-22s"):format("", "median", "of the kept floor", "of the prepared floor"))
local function compare(row, base)
  return ("%5.2f (%.2f - %.2f)"):format(ratio(row, base))
end
for _, row in ipairs(rows) do
  print(("%-34s %6.0f ns   %-22s %s"):format(
    row.name, median(row.times), compare(row, rows[1]), compare(row, rows[2])))
end

if tsv_path then
  local file = assert(io.open(tsv_path, "w"))
  for _, row in ipairs(rows) do
    for round, spent in ipairs(row.times) do file:write(row.name, "\t", round, "\t", ("%.2f"):format(spent), "\n") end
  end
  file:close()
end
