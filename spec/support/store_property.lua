-- SPDX-License-Identifier: MIT
--- A property of stores in any life: no window above its capacity. Members wait, send, idle for up to three windows
--- and die on a clock that only waits move; what arrives is judged by hand.
---
---     property.of(it, function(world) return { new = ..., harms = { function() end } } end)
---
--- `new()` returns the store of a new member, `harms` are what may happen to it at any time. world.now is the true
--- time.

local assert = require "luassert"
local purser = require "purser"
local windows = require "windows"

local M = {}

local CAPACITY, WINDOW_MS, MEMBERS, ARRIVALS = 60, 10000, 5, 250

local function row(weight, effect)
  return { full_name = "wallet.coins", effect = effect, weight = weight }
end

local World = {}
World.__index = World

function World:sleep(ms)
  self.order = self.order + 1
  self.sleepers[#self.sleepers + 1] = { at = self.now + math.ceil(ms), order = self.order, co = coroutine.running() }
  coroutine.yield()
end

-- A member calls in bursts with pauses between; what it sends arrives up to 120 ms later.
function World:live(store)
  local limit = purser.rate_limit { store = store, pools = { ip = { capacity = CAPACITY, window_ms = WINDOW_MS } },
    now = function() return self.now end }
  while true do
    for _ = 1, math.random(1, 12) do
      local weight = ({ 1, 1, 3, 10, 25 })[math.random(5)]
      local takes, at = limit:acquire(row(weight, math.random(3) == 1 and "move" or "read"), "key",
        function(_, ms) self:sleep(ms + math.random(0, 40)) end)
      if not takes then
        self.errors[#self.errors + 1] = at
        self:sleep(200)
      elseif math.random(15) == 1 then
        limit:give_back(takes, at)
      else
        self.arrived[#self.arrived + 1] = { self.now + math.random(0, 120), weight }
      end
    end
    self:sleep(math.random(4) == 1 and math.random(0, 3 * WINDOW_MS) or math.random(0, 1500))
  end
end

function World:start(store)
  local co = coroutine.create(function() self:live(store) end)
  self.sleepers[#self.sleepers + 1] = { at = self.now + math.random(0, 500), order = 0, co = co, is_member = true }
end

local function earliest(sleepers)
  local first = 1
  for i, sleeper in ipairs(sleepers) do
    local best = sleepers[first]
    if sleeper.at < best.at or sleeper.at == best.at and sleeper.order < best.order then first = i end
  end
  return table.remove(sleepers, first)
end

local function run(seed, make)
  math.randomseed(seed)
  local world = setmetatable({ now = 1700000000000, sleepers = {}, order = 0, arrived = {}, errors = {}, harmed = 0 },
    World)
  local life = make(world)
  for _ = 1, MEMBERS do world:start(life.new()) end
  local steps = 0
  while #world.arrived < ARRIVALS do
    steps = steps + 1
    assert(steps < 20000, world.errors[1] or "nobody goes on")
    local sleeper = earliest(world.sleepers)
    world.now = math.max(world.now, sleeper.at)
    if math.random(60) == 1 then
      world:start(life.new()) -- this one died
    else
      assert(coroutine.resume(sleeper.co))
    end
    if life.harms[1] and math.random(25) == 1 then
      life.harms[math.random(#life.harms)]()
      world.harmed = world.harmed + 1
    end
  end
  if life.close then life.close() end
  return world
end

--- Tries many lives of a store.
function M.of(it, make, seeds)
  it("lets no window hold more than the capacity in any life: idles, deaths, clocks, crashes, what is lost", function()
    for seed = 1, seeds or 12 do
      local world = run(seed, make)
      local peak = windows.peak(world.arrived, WINDOW_MS)
      assert(peak <= CAPACITY, ("seed %d: %d of %d"):format(seed, peak, CAPACITY))
    end
  end)
end

return M
