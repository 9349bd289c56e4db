-- SPDX-License-Identifier: MIT
--- The turns of a host's frame loop while answers of several sizes arrive: `schedule.step(BUDGET)` once a millisecond,
--- and the collector's share of examples/host/game.lua. Prints the turns of the calmest round in processor time: a busy
--- machine makes turns longer, and none shorter.
--
--   frames.lua [BUDGET_US [ROUNDS]]

local core = require "purser.core"
local files = require "files"
local nginx = require "nginx"
local purser = require "purser"
local records = require "bench.records"
local schedule = require "purser.schedule"

local budget, rounds = tonumber(arg[1] or 1000), tonumber(arg[2] or 5)

local CONF = [[
access_log off;
keepalive_requests 100000000;
default_type application/json;
server {
  listen 127.0.0.1:${PORT} reuseport backlog=1024;
  location / { root ${folder}; rewrite ^/([^/]+)/ /$1 break; }
}
]]

local bodies = {
  small = records.withdrawals(2), long = records.withdrawals(750), coins = records.coins(1400),
  wrapped = '{"code":0,"data":' .. records.withdrawals(1900) .. "}",
}

-- The calls of a work: how many, how many at once, and the answer of each.
local works = {
  { "10,000 of 1 KB", 10000, 20, function() return "small" end },
  { "5,000 of 1 KB to 1 MB", 5000, 20, function(i)
    return i % 250 == 0 and "coins" or i % 251 == 0 and "wrapped" or i % 100 == 0 and "long" or "small"
  end },
  { "400 of 410 KB", 400, 4, function() return "long" end },
  { "200 of 1 MB, a list", 200, 2, function() return "coins" end },
  { "200 of 1 MB, a list in an object", 200, 2, function() return "wrapped" end },
}

local function client_of(url)
  return assert(purser.new { base_url = url, api_key = "k", secret_key = "s", retry = false, rate_limit = false,
    transport = assert(purser.transport.multi { max_in_flight = 64, timeout_ms = 60000 }) })
end

local function turn()
  schedule.step(budget)
  local ends = core.monotonic_us() + 100
  repeat until collectgarbage("step", 0) or core.monotonic_us() >= ends
end

-- Makes the calls of a work. Returns all turns by their processor time in milliseconds, the shortest first.
local function turns_of(work, clients)
  local calls, at_once, answer = work[2], work[3], work[4]
  local started, done, turns = 0, 0, {}
  for _ = 1, at_once do
    purser.spawn(function()
      while started < calls do
        started = started + 1
        local name = answer(started)
        local wallet = clients[name].wallet
        assert(#assert(name == "coins" and wallet:coins() or wallet:withdrawal_history()) > 1)
        done = done + 1
      end
    end)
  end
  while done < calls do
    local began = os.clock()
    turn()
    turns[#turns + 1] = (os.clock() - began) * 1000
    core.sleep_ms(1)
  end
  table.sort(turns)
  return turns
end

local folder, clients = files.folder(), {}
for name, body in pairs(bodies) do files.write(folder .. "/" .. name, body) end
local server = nginx.start(CONF, { folder = folder })
for name in pairs(bodies) do clients[name] = client_of(server:url() .. "/" .. name) end
collectgarbage "stop"
collectgarbage("incremental", 0, 0, 6)
local ok, message = pcall(function()
  print(("%-34s %s"):format("answers", "turns in ms: median, 99th percentile, longest"))
  for _, work in ipairs(works) do
    local calmest
    for _ = 1, rounds do
      local turns = turns_of(work, clients)
      if not calmest or turns[#turns] < calmest[#calmest] then calmest = turns end
    end
    print(("%-34s %.2f  %.2f  %.2f"):format(work[1], calmest[math.ceil(#calmest / 2)],
      calmest[math.ceil(#calmest * 0.99)], calmest[#calmest]))
  end
end)
server:stop()
files.remove(folder)
assert(ok, message)
