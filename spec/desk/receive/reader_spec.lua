-- SPDX-License-Identifier: MIT
-- Readings: those that fail, how far each goes, clocks that are wrong, and a list that ends after three days.

local files = require "files"
local purser = require "purser"
local receive_world = require "receive_world"
local simulated = require "simulated"

local MIN, HOUR, DAY = 60000, 3600000, 86400000

describe("A reading of deposits", function()
  after_each(files.remove_kept)

  it("credits no more after a reading that failed, and all after the next one", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    assert(world.receive:run { deadline_ms = 0 })
    world.deposit "6"
    world.sim:advance(HOUR)
    local reader, depth = world.receive.reader, nil
    local read = reader.read
    function reader.read(...)
      local reading, err = read(...)
      depth = depth or reading and reading.at - reading.from
      return reading, err
    end
    world.sim:fault { operation = "wallet.deposit_history", kind = "server_error", status = 503, times = 20 }
    local problems = {}
    assert(world.receive:run { deadline_ms = 10 * MIN, problem = function(err)
      problems[#problems + 1] = err.kind
      assert.equal("", receive_world.events(world))
    end })
    assert.truthy(problems[1])
    assert.is_true(depth > 89 * DAY, depth) -- the reading after the failed one
    assert.equal("credit alice 6", receive_world.events(world))
  end)

  -- Returns how often a day's looks went how far back, in hours.
  local function depths_of(world, receive)
    local reader, depths = receive.reader, {}
    local read = reader.read
    function reader.read(...)
      local reading, err = read(...)
      local hours = reading and math.floor((reading.at - reading.from) / HOUR + .5)
      if hours then depths[hours] = (depths[hours] or 0) + 1 end
      return reading, err
    end
    for _ = 1, 24 * 6 do
      assert(receive:run { deadline_ms = 0 })
      world.sim:advance(10 * MIN)
    end
    return depths
  end

  it("goes two hours back, each half hour two days, each twelve hours 90 days, whatever lies there", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    world.deposit "0.0001" -- dust, which stays small for ever
    local depths = depths_of(world, world.receive)
    assert.equal(2, depths[2160])
    assert.is_true(depths[48] > 30 and depths[48] <= 48, depths[48])
    assert.equal(144, depths[2] + depths[48] + depths[2160])
  end)

  it("asks for the coin of its filter alone", function()
    local world = receive_world.new()
    local receive = world.open { coin = "BTC" }
    assert(receive:begin { customers = world.customers })
    world.deposit "6"
    world.sim:advance(HOUR)
    assert(receive:run { deadline_ms = 0 })
    assert.equal("", receive_world.events(world))
  end)

  it("finds and credits once whatever the clock of this machine says", function()
    local world, ahead = receive_world.new(), 0
    local receive = world.open { client = simulated.client(world.sim, world.account,
      { rate_limit = false, clock = function() return world.sim:now() + ahead end }) }
    assert(receive:begin { customers = world.customers })
    for i, step in ipairs { 0, 3 * DAY, -5 * HOUR, -40 * DAY, 20 * MIN, 400 * DAY, 0, -2 * HOUR, 90000, -90000 } do
      ahead = step
      world.deposit(("%d"):format(i))
      world.sim:advance(i % 3 * 20 * MIN)
      receive:run { deadline_ms = 60000 }
    end
    ahead = 0
    world.sim:advance(3 * HOUR)
    assert(receive:run { deadline_ms = 60000 })
    local seen = {}
    for _, event in ipairs(world.got) do
      assert.is_nil(seen[event.amount])
      seen[event.amount] = true
    end
    for i = 1, 10 do assert.is_true(seen[("%d"):format(i)], i) end
  end)
end)

describe("A broker's readings of deposits", function()
  after_each(files.remove_kept)

  -- Returns a simulator, and what receives a broker's deposits.
  local function new()
    local sim, broker = simulated.broker({ seed = 5 })
    local client = simulated.client(sim, broker, { rate_limit = false })
    return sim, assert(purser.receive.open { sqlite = files.new_path(), client = client, sub_accounts = true,
      receivers = { shop = { deliver = function() return true end } } })
  end

  it("go three days back, and are not all as deep as that", function()
    local sim, receive = new()
    assert(receive:begin {})
    local reader, deep = receive.reader, 0
    local read = reader.read
    function reader.read(...)
      local reading, err = read(...)
      if reading.at - reading.from > 50 * HOUR then deep = deep + 1 end
      return reading, err
    end
    for _ = 1, 24 * 6 do
      assert(receive:run { deadline_ms = 0 })
      sim:advance(10 * MIN)
    end
    assert.is_true(deep >= 2 and deep <= 4, deep)
  end)

  it("after a stop that is longer say from when to when nothing was read", function()
    local sim, receive = new()
    local said = {}
    assert(receive:begin {})
    local function run()
      assert(receive:run { deadline_ms = 0, problem = function(err) said[#said + 1] = err.message end })
    end
    run()
    sim:advance(2 * DAY)
    run()
    assert.same({}, said)
    sim:advance(6 * DAY)
    run()
    run()
    assert.equal(1, #said)
    assert.matches("^from 2023%-11%-16T22:13:20.* to 2023%-11%-19T.* nothing was read", said[1])
  end)
end)
