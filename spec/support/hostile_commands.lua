-- SPDX-License-Identifier: MIT
-- Runs the command line for every operation, many times in one process:
-- `lua hostile_commands.lua FORMAT ROUNDS BASE_URL KEYS`. Its output is the command's; the exit codes are
-- counted in the file that the fifth argument names.

local cli = require "purser.cli"
local catalogue = require "purser.cli.catalogue"

local format, rounds, base_url, keys, counts_file = arg[1], tonumber(arg[2]), arg[3], arg[4], arg[5]
local asks = arg[6] == "ask"

-- A value that each kind accepts. A text may hold what turns a line round: it is the caller's own.
local good = {
  text = "text\226\128\174", new_name = "subaccount01", client_id = ("a1"):rep(16), amount = "1.5",
  time = "1700000000000", count = "1",
  status = "5", flag = "true", permissions = "SPOT_ACCOUNT_READ", ips = "203.0.113.7", coins = "DOGE",
  md5 = nil, area_code = "86", address = "TSampLeAddressThatNobodyHarzyqGjJi", memo = "77",
}

local function value_of(param)
  if param[2] == "choice" then return param.values[1] end
  if param[2] == "md5" then return "env:PURSER_TEST_PASSWORD" end
  return good[param[2]]
end

local function words_of(row)
  local words = { row.group, row.name, "--base-url", base_url, "--credentials", keys, "--format", format }
  for _, param in ipairs(row.params) do
    if param.required or param[1] == "remark" then
      words[#words + 1] = "--" .. (param.plain or param[1])
      words[#words + 1] = value_of(param)
    end
  end
  if row.effect ~= "read" and not asks then words[#words + 1] = "--yes" end
  if catalogue.creates_key(row) then words[#words + 1] = "--show-secret" end
  -- No coin of this service is the one that is asked for, so no question would be reached.
  if asks and catalogue.network_param(row) then words[#words + 1] = "--without-coins" end
  if format == "csv" and asks then words[#words + 1] = "--raw" end
  return words
end

local counts = {}
local function run(words)
  local code = cli.run(words)
  io.stdout:flush()
  counts[code] = (counts[code] or 0) + 1
end

for _ = 1, rounds do
  for _, row in ipairs(catalogue.list) do
    run(words_of(row))
    if row.paging and format ~= "table" and not asks and row.window then
      local words, cursor = words_of(row), counts_file .. ".cursor"
      for _, word in ipairs { "--since", "2d", "--cursor", cursor } do words[#words + 1] = word end
      run(words)
      os.remove(cursor)
    end
  end
  if format ~= "csv" then -- these have no such form
    run { "doctor", "--format", format, "--base-url", base_url, "--credentials", keys }
  end
  if format == "table" then
    run { "wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", good.address, "--amount", "20",
      "--base-url", base_url, "--credentials", keys, not asks and "--plan" or nil }
  end
end

local file = assert(io.open(counts_file, "w"))
for code, count in pairs(counts) do file:write(code, " ", count, "\n") end
file:close()
