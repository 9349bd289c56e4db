-- SPDX-License-Identifier: MIT
-- Many members of one address on virtual time, with clocks that are wrong and run wrongly, members that die while
-- they wait or send, and a store that goes away or forgets. The simulator's own rate limit judges them: it counts every
-- request at the millisecond at which it arrives.
-- make test: 2 s, on lua5.4 and luajit

local purser = require "purser"
local simulated = require "simulated"

local CAPACITY, WINDOW_MS = 300, 10000

---------------------------------------------------------------------------------------------------- the same dice
-- math.random differs from Lua to Lua; with dice of its own a seed is the same life on each.

local state

local function random_seed(seed)
  state = seed * 7919 % 2147483647
end

-- Returns an integer from `low` to `high`, or from 1 to `low`, as math.random does.
local function random(low, high)
  if not high then low, high = 1, low end
  state = state * 16807 % 2147483647
  return low + math.floor(state / 2147483647 * (high - low + 1))
end

---------------------------------------------------------------------------------------------------------- the store

-- A store as a server is one: its own clock, one operation at a time, and a run that a restart changes. While it is
-- away every operation fails.
local function new_store(world)
  local store = { kind = "rehearsal", away = false, run = "1" }
  local function forget()
    local documents = {}
    store.kv = { may_forget = true, get = function(name) return documents[name] end,
      put = function(name, document) documents[name] = document end }
  end
  forget()
  function store.transact(_, _, fn)
    if store.away then return nil, "connection refused" end
    return fn(store.kv, world.sim:now() + 86400000, store.run)
  end
  function store.close() end
  function store.restart(loses)
    store.run = store.run .. "1"
    if loses then forget() end
  end
  return store
end

---------------------------------------------------------------------------------------------------------- the world

local World = {}
World.__index = World

local function new_world(seed)
  local sim = purser.sim.new { seed = seed, profile = "mexc", rate_limit = true, record_requests = 0 }
  local world = setmetatable({ sim = sim, sleepers = {}, order = 0, deaths = 0, errors = {} }, World)
  world.store = new_store(world)
  return world
end

-- Suspends the running member for `ms` of the service's time.
function World:sleep(ms)
  self.order = self.order + 1
  self.sleepers[#self.sleepers + 1] = { at = self.sim:now() + ms, order = self.order, co = coroutine.running() }
  return coroutine.yield()
end

function World:start(member)
  coroutine.wrap(function()
    self:sleep(random(0, 2000))
    member()
  end)()
end

-- Runs until `ends`. A member that is due may die: it is not woken, and another one takes its place.
function World:run(ends, dies, replace)
  while self.sleepers[1] do
    local first = 1
    for i, sleeper in ipairs(self.sleepers) do
      local best = self.sleepers[first]
      if sleeper.at < best.at or sleeper.at == best.at and sleeper.order < best.order then first = i end
    end
    local sleeper = table.remove(self.sleepers, first)
    if sleeper.at > ends then break end
    if sleeper.at > self.sim:now() then self.sim:advance(sleeper.at - self.sim:now()) end
    if dies > 0 and not sleeper.event and random(dies) == 1 then
      self.deaths = self.deaths + 1
      replace()
    else
      assert(coroutine.resume(sleeper.co))
    end
  end
end

-- Events at a time, whatever the members do.
function World:at(ms, fn)
  self.order = self.order + 1
  self.sleepers[#self.sleepers + 1] = { at = self.sim:now() + ms, order = self.order, event = true,
    co = coroutine.create(fn) }
end

-- A client of this world: requests and answers take time, its clocks are wrong, and its timers late.
function World:client(account, rate_limit)
  local ahead, rate = random(-86000000, 86000000), 1 + random(-10, 10) / 1000
  local world, started, before = self, self.sim:now(), random(1, 1000000)
  rate_limit.now = function() return before + math.floor((world.sim:now() - started) * rate) end
  return assert(purser.new {
    profile = "mexc", base_url = "http://localhost", api_key = account.api_key, secret_key = account.secret_key,
    retry = false, rate_limit = rate_limit, clock = function() return world.sim:now() + ahead end,
    transport = {
      send = function(_, request)
        world:sleep(random(0, 100))
        local headers = {}
        for name, value in pairs(request.headers) do headers[name:lower()] = value end
        local response = world.sim:handle { method = request.method, target = request.target, headers = headers,
          body = request.body or "" }
        world:sleep(random(0, 100))
        return { status = response.status, body = response.body, headers = response.headers }
      end,
      sleep = function(_, ms) world:sleep(math.max(0, math.ceil(ms / rate)) + random(0, 3)) end,
    },
  })
end

local function any_call(client)
  local dice = random(100)
  if dice <= 12 then
    return client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = "0.01" }
  elseif dice <= 25 then
    return client.wallet:deposit_history { limit = 1 }
  end
  return client.wallet:convertible_balances()
end

-- Keeps `count` members at work for `span_ms`. Returns the world.
local function rehearse(seed, count, span_ms, options)
  random_seed(seed)
  local world = new_world(seed)
  local accounts = {}
  for i = 1, count do
    accounts[i] = assert(world.sim:account { role = "main", name = "Member" .. i, balances = { USDT = "1000000" } })
  end
  local next_account = 0
  local function work(client)
    while true do
      local result, err = any_call(client)
      if not result then
        local key = err.kind .. " " .. tostring(err.code or err.http_status or err.outcome)
        world.errors[key] = (world.errors[key] or 0) + 1
        world:sleep(err.kind == "throttled" and 500 or 10)
      end
    end
  end
  local function member(calls)
    next_account = next_account % count + 1
    local client = world:client(accounts[next_account], { store = world.store })
    for _ = 1, calls do world:start(function() work(client) end) end
  end
  for _ = 1, count do member(options.calls or 2) end
  if options.events then options.events(world) end
  world:run(world.sim:now() + span_ms, options.dies or 0, function() member(1) end)
  return world
end

-- The pool of the address as the service saw it.
local function pool_of(world)
  local report = world.sim:rate_limit()
  for name, pool in pairs(report.pools) do
    assert.equal(0, pool.rejected, name)
    assert.equal(0, report.bans["127.0.0.1"])
  end
  for key in pairs(world.errors) do assert(not key:find "429" and not key:find "418", key) end
  return report.pools["ip 127.0.0.1"]
end

-- Which part of what the service allowed was used, without the time that is excused.
local function use_of(pool, span_ms, excused_ms)
  return pool.total / (CAPACITY * (span_ms - (excused_ms or 0)) / WINDOW_MS)
end

-- The lives of the members differ by some hundredths of the use.
local function assert_used(uses)
  local sum = 0
  for seed, use in ipairs(uses) do
    assert(use >= 0.92, ("seed %d: %.3f"):format(seed, use))
    sum = sum + use
  end
  assert(sum / #uses >= 0.94, sum / #uses)
end

describe("members of one address", function()
  local runs = tonumber(os.getenv "PURSER_SEEDS" or 2)

  it("never get a 429, and use 94 % of the pool, though their clocks are wrong and some die", function()
    local uses = {}
    for seed = 1, runs do
      local world = rehearse(seed, ({ 32, 16 })[(seed - 1) % 2 + 1], 300000, { dies = 400 })
      uses[seed] = use_of(pool_of(world), 300000)
      assert(world.deaths > 2, world.deaths)
    end
    assert_used(uses)
  end)

  it("never get a 429 when the store goes away and comes back, with all it knew or nothing", function()
    local uses = {}
    for seed = 1, runs do
      local loses = seed % 2 == 0
      local world = rehearse(100 + seed, 32, 300000, { dies = 300, events = function(world)
        for _, minute in ipairs { 1, 3 } do
          world:at(minute * 60000, function() world.store.away = true end)
          world:at(minute * 60000 + 20000, function()
            world.store.away = false
            world.store.restart(loses)
          end)
        end
      end })
      local pool = pool_of(world)
      -- a store that was restarted holds everything for one window, whether it lost something or not
      uses[seed] = use_of(pool, 300000, 2 * (20000 + 1500 + 10240))
      assert(world.errors["throttled not_sent"] > 0)
    end
    assert_used(uses)
  end)

  it("get a 429 when they do not share a store: the judge sees it", function()
    random_seed(1)
    local world = new_world(1)
    local account = assert(world.sim:account { role = "main", balances = { USDT = "1000" } })
    for _ = 1, 4 do
      world:start(function()
        local client = world:client(account, {})
        while true do
          any_call(client)
          world:sleep(1)
        end
      end)
    end
    world:run(world.sim:now() + 30000, 0)
    local report = world.sim:rate_limit()
    assert(report.pools["ip 127.0.0.1"].rejected > 0)
    assert(report.bans["127.0.0.1"] > 0)
  end)
end)

describe("a sweep of 30 sub-accounts", function()
  it("takes the 50 seconds that the pool asks for, and no 429", function()
    local sim = purser.sim.new { seed = 3, profile = "mexc", rate_limit = true }
    local owner = assert(sim:account { role = "broker", email = "a@example.org", balances = { USDT = "1" } })
    local client = simulated.client(sim, owner, { profile = "mexc", retry = false,
      rate_limit = { now = function() return sim:now() end } })
    local accounts = {}
    for i = 1, 30 do
      accounts[i] = { name = ("traders%02d"):format(i), note = "desk", keys = {} }
      assert(sim:account { role = "sub", parent = owner.uid, name = accounts[i].name, balances = { USDT = "5" } })
    end
    local fleet = assert(purser.fleet.new { client = client, accounts = accounts,
      vault = { store = error, holds = error } })
    local started = sim:now()
    for _, payment in ipairs(assert(fleet:sweep { to = "parent", name = "june" })) do
      assert(client:call(payment.operation, payment.params))
    end
    local took, seen = sim:now() - started, sim:rate_limit()
    assert.equal(0, seen.bans["127.0.0.1"])
    for name, pool in pairs(seen.pools) do assert.equal(0, pool.rejected, name) end
    assert(seen.pools["ip 127.0.0.1"].total >= 1530)
    assert(took >= 50000 and took <= 52500, took)
  end)
end)


describe("a simulator with the limits of a profile that it does not have otherwise", function()
  it("counts the weights of that profile, too", function()
    local sim = purser.sim.new { seed = 3, rate_limit = "mexc" }
    local owner = assert(sim:account { balances = { USDT = "100" } })
    local client = simulated.client(sim, owner, { rate_limit = false, retry = false })
    local function move(amount)
      return client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
        amount = amount }
    end
    for i = 1, 6 do assert(move("0." .. i)) end -- 6 transfers of weight 50 fill the 300
    assert.equal(429, select(2, move "0.7").http_status)
    assert.is_nil((purser.sim.new { rate_limit = "mecx" }))
  end)
end)
