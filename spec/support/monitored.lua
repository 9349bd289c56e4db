-- SPDX-License-Identifier: MIT
-- A world with a client whose account is watched, for the specs of the room `monitor`.

local purser = require "purser"

local M = {}

-- Returns a transport whose lists of coins show the network that `world.closed` names as closed.
local function transport_of(world)
  local inner = world.sim:transport()
  return { sleep = function(_, ms) return inner:sleep(ms) end, send = function(_, request)
    local response, failure = inner:send(request)
    local name = world.closed
    if response and name and request.target:find("capital/config/getall", 1, true) then
      response.body = response.body:gsub("(" .. name .. '[^{}]-"withdrawEnable":)true', "%1false")
        :gsub('("withdrawEnable":)true([^{}]-' .. name .. ")", "%1false%2")
    end
    if response and world.free and request.target:find("/account", 1, true) then
      response.body = response.body:gsub('("free":")[^"]*', "%1" .. world.free)
    end
    return response, failure
  end }
end

--- Makes another client of a world.
function M.client(world, options)
  local all = { transport = transport_of(world), profile = "mexc", base_url = "http://localhost", rate_limit = false,
    api_key = world.owner.api_key, secret_key = world.owner.secret_key, account = "treasury",
    clock = function() return world.sim:now() end }
  for name, value in pairs(options or {}) do all[name] = value end
  return assert(purser.new(all))
end

--- Makes a world: { sim, owner, client, closed = a network that is shown as closed }.
function M.world()
  local world = { sim = purser.sim.new { start_time = 1700000000000, variant = "live", profile = "mexc" } }
  world.owner = assert(world.sim:account { role = "main", balances = { USDT = "1000" } })
  world.client = M.client(world)
  return world
end

--- Returns what a check tells: "condition: before -> state" of each event; then problems and events as they are.
function M.told(alerts)
  local events, problems = alerts:check()
  local list = {}
  for i, event in ipairs(events) do
    list[i] = ("%s: %s -> %s"):format(event.condition, tostring(event.before), event.state)
  end
  return list, problems, events
end

return M
