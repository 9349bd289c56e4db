-- SPDX-License-Identifier: MIT
-- The script inside a real Redis server: it counts what the rule counts. redis_spec.lua has what the store does.

local core = require "purser.core"
local redis_server = require "redis_server"
local store = require "purser.limits.redis"

local server

setup(function() server = redis_server.start() end)
teardown(function() server:stop() end)

describe("reservations that go at once in Redis", function()
  local HOUR = 3600000
  local TAKES = {
    { "ip", 1, 1000, HOUR }, { "ip", 10, 1000, HOUR }, { "ip", 3, 1000, HOUR, "account", 2, 400, 2 * HOUR },
    { "account", 5, 400, 2 * HOUR },
  }
  local direct

  -- A store whose first hold is over: it holds for the longest window that is known then.
  local function store_of(namespace)
    direct = assert(store.new { redis = { port = server.port }, namespace = namespace })
    local first = { "first", 1, 10, 100 }
    local _, ticket = direct:reserve(first, 1, 0)
    direct:give_back(first, ticket, 0)
    core.sleep_ms(200)
  end

  after_each(function() direct:close() end)

  local function calls_of(name)
    return tonumber(direct.connection:ask("INFO", "commandstats"):match("cmdstat_" .. name .. ":calls=(%d+)") or 0)
  end

  it("count what the rule counts, between reservations by the rule and what is given back", function()
    for seed = 1, 5 do
      math.randomseed(seed)
      store_of("exact" .. seed)
      local used, taken = { ip = 0, account = 0 }, {}
      local function count(takes, sign)
        for i = 1, #takes, 4 do used[takes[i]] = used[takes[i]] + sign * takes[i + 1] end
      end
      for step = 1, 200 do
        local takes, dice = TAKES[math.random(#TAKES)], math.random(10)
        if dice == 1 and taken[1] then
          local last = table.remove(taken, math.random(#taken))
          direct:give_back(last[1], 0, last[2])
          count(last[1], -1)
        else
          local fits = true
          for i = 1, #takes, 4 do fits = fits and used[takes[i]] + takes[i + 1] <= takes[i + 2] end
          local ms, ticket, at = direct:reserve(takes, 1, dice == 2 and 1 or 0)
          assert.equal(fits, ms == 0, step)
          if ms == 0 then
            count(takes, 1)
            taken[#taken + 1] = { takes, at }
          else
            direct:give_back(takes, ticket, 0)
          end
        end
        if dice > 8 then
          assert.same({ used.ip, used.account }, { (direct:pool("ip", HOUR)), (direct:pool("account", 2 * HOUR)) })
        end
      end
      direct:close()
    end
  end)

  it("go until the room is used up to the last of it", function()
    store_of "edge"
    local takes = { "edge", 2, 6, HOUR }
    for _ = 1, 3 do assert.equal(0, (direct:reserve(takes, 1, 0))) end
    assert.is_true((direct:reserve({ "edge", 1, 6, HOUR }, 1, 0)) > 0)
  end)

  it("ask for the time and for the documents once a step", function()
    store_of "commands"
    local takes = { "slow", 1, 1000, HOUR }
    assert.equal(0, (direct:reserve(takes, 1, 0)))
    local times, added = calls_of "time", calls_of "incrby"
    for _ = 1, 50 do assert.equal(0, (direct:reserve(takes, 1, 0))) end
    -- a step takes 28 seconds, so that the calls are of two at most
    assert(calls_of "time" - times <= 1, calls_of "time" - times)
    assert(calls_of "incrby" - added >= 49, calls_of "incrby" - added)
  end)

  it("end with a block, with a hold and with a call of another window, for all members at once", function()
    store_of "ends"
    local takes = { "ip", 1, 1000, HOUR }
    for _ = 1, 2 do assert.equal(0, (direct:reserve(takes, 1, 0))) end
    direct:block("ip", HOUR, 60000)
    assert.equal(-1, (direct:reserve(takes, 1, 0)))
    takes = { "other", 1, 1000, HOUR }
    for _ = 1, 2 do assert.equal(0, (direct:reserve(takes, 1, 0))) end
    assert.equal(0, (direct:reserve({ "other", 1, 1000, 2 * HOUR }, 1, 0)))
    direct:block("other", 2 * HOUR, 60000)
    assert.equal(-1, (direct:reserve(takes, 1, 0)))
    takes = { "third", 1, 1000, HOUR }
    for _ = 1, 2 do assert.equal(0, (direct:reserve(takes, 1, 0))) end
    assert(direct:hold(60000))
    assert((direct:reserve(takes, 1, 0)) > 50000)
  end)
end)
