-- SPDX-License-Identifier: MIT
-- Decoding 1000 deposit and 1000 withdrawal records: Purser next to its peers and next to the cost of the tables alone.
--
--     make bench-decode            (Lua 5.4 and LuaJIT)
--
-- Contestants take turns within a round, so a noisy neighbour meets them all; each figure is the median of the
-- rounds, and a ratio is the median of the rounds' own ratios with the least and the greatest. `ROUNDS` (default 9)
-- and `ONLY` (a word that a contestant's name must contain) come from the environment; with ONLY the work is done
-- once and not timed, which is what callgrind wants.
local core = require "purser.core"
local floor = require "floor_decode"
local records = require "bench.records"

local ROUNDS = tonumber(os.getenv("ROUNDS") or 9)
local ONLY = os.getenv("ONLY")
local COUNT = 1000
local HOST = (jit and "luajit" or _VERSION:lower():gsub(" ", ""))

local function optional(name)
  local found, module = pcall(require, name)
  return found and module or nil
end

local cjson, dkjson = optional("cjson"), optional("dkjson")

-- The order in which the first record's members come; names only later records have go after.
local function names_of(text, decoded)
  local names, seen = {}, {}
  local function add(name)
    if not seen[name] then
      seen[name] = true
      names[#names + 1] = name
    end
  end
  for name in text:match("%b{}"):gmatch('"(%w+)":') do add(name) end
  for _, record in ipairs(decoded) do
    for name in pairs(record) do add(name) end
  end
  return names
end

local function same(a, b)
  if type(a) ~= "table" then return a == b end
  for key, value in pairs(a) do
    if not same(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

local function median(list)
  local sorted = { (table.unpack or unpack)(list) }
  table.sort(sorted)
  return sorted[math.floor(#sorted / 2) + 1], sorted[1], sorted[#sorted]
end

local function time(work, repeats)
  collectgarbage()
  collectgarbage()
  local start = os.clock()
  for _ = 1, repeats do work() end
  return (os.clock() - start) / repeats / COUNT * 1e6
end

local function contestants(text, shape)
  local decoder = core.decoder { list = { record = shape } }
  local any = core.decoder "any"
  local decoded = assert(decoder:decode(text))
  local plan = floor.plan(decoded, names_of(text, decoded))
  for _, build in ipairs { floor.build, floor.build_from_stack, floor.build_with_repeats } do
    assert(same(decoded, build(plan)), "not the same tables")
  end
  local list = {
    { "floor", function() return floor.build(plan) end },
    { "floor, keys on stack", function() return floor.build_from_stack(plan) end },
    { "floor, repeats ready", function() return floor.build_with_repeats(plan) end },
    { "purser", function() return decoder:decode(text) end },
    { "purser without shape", function() return any:decode(text) end },
  }
  if cjson then list[#list + 1] = { "lua-cjson", function() return cjson.decode(text) end } end
  if dkjson then list[#list + 1] = { "dkjson", function() return dkjson.decode(text) end, 0.1 } end
  return list
end

local report = {}

local function run(title, text, shape)
  local list = contestants(text, shape)
  if ONLY then
    for _, one in ipairs(list) do
      if one[1] == ONLY then for _ = 1, 10 do one[2]() end end
    end
    return
  end
  local times = {}
  for i in ipairs(list) do times[i] = {} end
  for round = 0, ROUNDS do -- round 0 warms up
    for i, one in ipairs(list) do
      local taken = time(one[2], math.max(1, math.floor(30 * (one[3] or 1))))
      if round > 0 then times[i][round] = taken end
    end
  end
  print(("%s, %d records, %d bytes, %s"):format(title, COUNT, #text, HOST))
  print(("  %-22s %10s   %s"):format("", "us/record", "ratio to the floor (min-max)"))
  for i, one in ipairs(list) do
    local ratios = {}
    for round = 1, ROUNDS do ratios[round] = times[i][round] / times[1][round] end
    local middle, low, high = median(ratios)
    print(("  %-22s %10.3f   %5.2f (%.2f-%.2f)"):format(one[1], median(times[i]), middle, low, high))
    report[#report + 1] = ("%s\t%s\t%s\t%.4f\t%.4f\t%.4f\t%.4f"):format(HOST, title, one[1], (median(times[i])), middle,
      low, high)
  end
end

run("deposits", records.deposits(COUNT), records.deposit)
run("withdrawals", records.withdrawals(COUNT), records.withdrawal)

local path = os.getenv("REPORT")
if path and not ONLY then
  local file = assert(io.open(path, "w"))
  file:write("host\twork\twho\tus_per_record\tratio\tratio_min\tratio_max\n", table.concat(report, "\n"), "\n")
  file:close()
end
