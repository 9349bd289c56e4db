-- SPDX-License-Identifier: MIT
-- A simulator with one account, and a database of purser.receive with its customer alice.

local core = require "purser.core"
local files = require "files"
local purser = require "purser"
local simulated = require "simulated"

local M = {}

--- Returns a world; what its receivers got is in `got`. `of_sim`: options of the simulator.
function M.new(more, of_sim)
  local all_of_sim = { seed = 3 }
  for name, value in pairs(of_sim or {}) do all_of_sim[name] = value end
  local sim, client, account = simulated.world(all_of_sim, { role = "main", balances = { USDT = "1000" } },
    { rate_limit = false })
  local world = { sim = sim, client = client, account = account, got = {}, path = files.new_path() }
  world.address = assert(client.wallet:create_deposit_address { coin = "USDT",
    network = "Tron(TRC20)" }).address
  world.customers = ("customer,address,coins\nalice,%s,USDT\n"):format(world.address)
  function world.take(_, text)
    local event = core.decode(text)
    world.got[#world.got + 1] = event
    return (not world.refuses or not world.refuses(event)) or nil, "refused"
  end
  function world.open(options)
    local all = { sqlite = world.path, client = client, receivers = { shop = { deliver = world.take } } }
    for name, value in pairs(options or {}) do all[name] = value end
    if all.postgresql then all.sqlite = nil end
    return assert(purser.receive.open(all))
  end
  function world.deposit(amount, fields)
    local all = { account = account.uid, coin = "USDT", network = "TRX", amount = amount }
    for name, value in pairs(fields or {}) do all[name] = value end
    return assert(sim:deposit(all))
  end
  world.receive = world.open(more)
  return world
end

--- Returns the events that came, as text.
function M.events(world)
  local list = {}
  for i, event in ipairs(world.got) do list[i] = event.kind .. " " .. event.customer .. " " .. event.amount end
  return table.concat(list, ", ")
end

return M
