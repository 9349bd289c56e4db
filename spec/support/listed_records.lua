-- SPDX-License-Identifier: MIT
-- Histories for specs of walks: of the simulator, and clients whose calls a function answers, at the time NOW.

local purser = require "purser"
local simulated = require "simulated"

local M = {}

M.NOW = 1700000000000

--- A client whose every call is answered by `answer(name, params)`; `asked` holds the parameters of each.
function M.client_of(answer)
  local client = { now = function() return M.NOW end, asked = {} }
  client.call = function(_, name, params)
    client.asked[#client.asked + 1] = params
    return answer(name, params)
  end
  return client
end

--- The records whose member `time` lies in the window of a call.
function M.between(records, params, time)
  local found = {}
  for _, record in ipairs(records) do
    if record[time] >= params.startTime and record[time] <= params.endTime then found[#found + 1] = record end
  end
  return found
end

--- `count` records, evenly over `span` before now.
function M.spread(count, span, time, id)
  local records = {}
  for i = 1, count do
    records[i] = { [id] = ("%06d"):format(i), [time] = M.NOW - 120000 - math.floor(i * span / count) }
  end
  return records
end

--- A simulator, and a client of its broker.
function M.world(options)
  local sim = purser.sim.new { start_time = M.NOW, record_requests = 0,
    visibility_delay_ms = options and options.visibility_delay_ms }
  local broker = sim:account { role = "broker", email = "broker@example.org", balances = { USDT = "100000" } }
  local client = simulated.client(sim, broker, { rate_limit = false,
    transport = options and options.transport and options.transport(sim:transport()) })
  return sim, client, broker
end

--- Deposits at these times, oldest first; each has its own transaction id.
function M.deposits(sim, account, times)
  for _, time in ipairs(times) do
    assert(sim:deposit { account = account.uid, coin = "USDT", network = "TRX", amount = "12.5", time = time })
  end
end

return M
