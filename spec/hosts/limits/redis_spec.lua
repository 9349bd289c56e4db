-- SPDX-License-Identifier: MIT
-- The rate limit's store in a Redis server of the test's own, what becomes of calls while it is away, and what is
-- lost on the way.
-- make test: 34 s, waits, on lua5.4 and luajit

local contract = require "store_contract"
local core = require "purser.core"
local odd_redis = require "odd_redis"
local purser = require "purser"
local redis = require "purser.hosts.limits.redis"
local redis_server = require "redis_server"
local property = require "store_property"
local simulated_redis = require "simulated_redis"
local stages = require "stage"

local server

setup(function() server = redis_server.start { password = "open-sesame" } end)
teardown(function() server:stop() end)

-- A question may take as long as it likes: a busy machine lets the server stand still.
local PATIENT_MS = 60000

local function store(namespace, redis_options)
  return { redis = redis_options or { port = server.port, password = server.password }, namespace = namespace,
    timeout_ms = PATIENT_MS }
end

contract.of(describe, it, "Redis", store)

describe("the store in Redis, on a clock that only waits move", function()
  property.of(it, function(world)
    local behind = 0
    local fake = simulated_redis.start(function() return world.now - behind end)
    fake.fate = function()
      local dice = math.random(60)
      return dice == 1 and "before" or dice == 2 and "after" or nil
    end
    return { new = function() return assert(redis.new { redis = {} }) end, close = fake.stop, harms = {
      fake.restart, fake.lose, fake.forget_script,
      function() behind = behind + math.random(0, 3000) end, -- its clock is set back
    } }
  end, 30)
end)

local row = { full_name = "wallet.coins", effect = "read", weight = 10 }

local function pause(_, ms) core.sleep_ms(ms) end

local function limit_of(namespace, more)
  local options = { store = store(namespace), pools = { ip = { capacity = 20, window_ms = 1000 } } }
  for name, value in pairs(more or {}) do options[name] = value end
  return purser.rate_limit(options)
end

describe("a Redis server", function()
  it("holds every pool for one window at its first use, and after a restart that may have lost some", function()
    local limit = limit_of "restart"
    for _ = 1, 2 do
      local waited = 0
      assert(limit:acquire(row, "key", function(_, ms)
        waited = waited + ms
        core.sleep_ms(ms)
      end))
      assert(waited >= 1000, waited)
      server:kill()
      server:start()
    end
    limit:close()
  end)

  it("that is away keeps calls from being sent, and the error names it and never the password", function()
    local limit = limit_of "away"
    assert(limit:acquire(row, "key", pause))
    server:kill()
    local takes, why = limit:acquire(row, "key", pause)
    assert.is_nil(takes)
    assert.matches("the rate limit's store (redis) cannot be used", why, 1, true)
    assert(not why:find(server.password, 1, true))
    server:start()
    assert(limit:acquire(row, "key", pause))
    limit:close()
  end)

  it("is asked over a socket that no child inherits", function()
    collectgarbage() -- what a test before left open is gone
    local before, limit = stages.inherited(), limit_of "children"
    assert(limit:acquire(row, "key", pause))
    assert.same(before, stages.inherited())
    limit:close()
  end)

  it("with a wrong password is away, and the error does not hold it", function()
    local limit = purser.rate_limit { store = store("wrong", { port = server.port, password = "wrong-word" }) }
    local takes, why = limit:acquire(row, "key", pause)
    assert.is_nil(takes)
    assert.matches("it does not accept the password (WRONGPASS)", why, 1, true)
    assert(not why:find("wrong-word", 1, true))
  end)

  it("that quotes what it was sent is not quoted: it knows no AUTH", function()
    local plain = redis_server.start { more = 'rename-command AUTH ""\n' }
    finally(function() plain:stop() end)
    for _, username in ipairs { false, "hunter" } do
      local limit = purser.rate_limit { store = store("plain", { port = plain.port, username = username or nil,
        password = "hunter2" }) }
      local takes, why = limit:acquire(row, "key", pause)
      assert.is_nil(takes)
      assert.matches("it does not accept the password (ERR)", why, 1, true)
      assert(not why:find("hunter", 1, true), why)
    end
  end)

  it("keeps one connection for a store, which its close ends", function()
    local made = assert(redis.new(store "closed"))
    local connection
    for _ = 1, 2 do
      assert(made:transact({ "ip" }, function(kv)
        kv.put("ip", { { 1 } }, 1000)
        return true
      end, 1000))
      connection = connection or made.connection
      assert.equal(connection, made.connection)
    end
    assert.is_truthy(connection:ask "PING")
    made:close()
    assert.is_nil(made.connection)
    assert.same({ nil, "closed", true }, { connection:ask "PING" })
    made:close()
  end)

  it("is reached by its socket, too", function()
    local limit = purser.rate_limit { store = store("socket", { path = server.socket, password = server.password }),
      pools = { ip = { capacity = 20, window_ms = 100 } } }
    assert(limit:acquire(row, "key", pause))
    limit:close()
  end)

  it("gets no account's key", function()
    local limit = limit_of("secret", { pools = { account = { capacity = 10, window_ms = 500, scope = "account" } } })
    assert(limit:acquire(row, "mx0SECRETkey", pause))
    local connection = limit.store.connection
    for _, key in ipairs(connection:ask("KEYS", "*")) do assert(not key:find("mx0SECRETkey", 1, true), key) end
    limit:close()
  end)
end)

describe("an option of Redis that is right", function()
  it("is known, up to its bounds", function()
    for _, options in ipairs { { host = "127.0.0.1", port = 65535 }, { host = "localhost", port = 1 }, { path = "/s" },
      { username = "u", password = "p" }, { database = 0 }, { database = 1000000 },
      { host = "redis.example", allow_insecure = true } } do
      assert(redis.new { redis = options })
    end
  end)
end)

describe("an option of Redis that is wrong", function()
  it("makes no store, and the message names the cure", function()
    for text, options in pairs { ["port"] = { prot = 1 }, ['"database" is -1'] = { database = -1 },
      ['"port" is 65536'] = { port = 65536 }, ['"port" is 0'] = { port = 0 },
      ['"database" is 1000001'] = { database = 1000001 }, ["give path, or host and port"] = { path = "/s", port = 1 },
      ["is not encrypted"] = { host = "redis.example" },
      ["holds a control character"] = { password = "a\r\nFLUSHALL" } } do
      local made, problem = redis.new { redis = options }
      assert.is_nil(made)
      assert.matches(text, problem, 1, true)
    end
  end)
end)

describe("a connection that is lost", function()
  local POOLS = { ip = { capacity = 100, window_ms = 3600000 } }

  -- Returns a rate limit on a server in this process, and its clock.
  local function simulated()
    local now = 1700000000000
    local fake = simulated_redis.start(function() return now end)
    finally(fake.stop)
    local limit = purser.rate_limit { store = { redis = {} }, pools = POOLS }
    assert(limit:acquire(row, "key", function(_, ms) now = now + ms end)) -- its first use holds it
    return limit, fake
  end

  -- The script's next run but `skip` has this fate.
  local function once(fake, fate, skip)
    fake.fate = function()
      skip = skip - 1
      return skip == -1 and fate or nil
    end
  end

  it("before or after the script ran leaves what was counted exact: its version tells", function()
    for _, fate in ipairs { "before", "after" } do
      for skip = 0, 1 do
        local limit, fake = simulated()
        once(fake, fate, skip)
        local takes, at = limit:acquire(row, "key", error)
        assert(takes, at)
        assert.equal(20, limit:status()[1].used)
        once(fake, fate, skip)
        limit:give_back(takes, at)
        assert.equal(10, limit:status()[1].used)
        fake.stop()
      end
    end
  end)

  it("while others wrote sends nothing: nobody can say what was counted", function()
    local limit, fake = simulated()
    local runs = 0
    fake.fate = function()
      runs = runs + 1
      if runs == 3 then fake.hash.version = "another's" end
      return runs == 2 and "after" or nil
    end
    local takes, why = limit:acquire(row, "key", error)
    assert.is_nil(takes)
    assert.matches("cannot be used: closed", why, 1, true)
    assert.equal(20, limit:status()[1].used)
  end)

  it("is not needed to decide once more where others were faster, or the decision is old", function()
    local limit, fake = simulated()
    local runs = 0
    fake.fate = function()
      runs = runs + 1
      if runs == 2 then fake.hash.version = "another's" end
    end
    assert(limit:acquire(row, "key", error))
    assert.equal(3, runs)
    local now, clock = fake.clock(), fake.clock
    fake.clock, runs = function() return runs == 0 and now or clock() + 51 end, -10
    fake.fate = function() runs = runs == -10 and 0 or runs + 1 end
    assert(limit:acquire(row, "key", error))
    assert.equal(30, limit:status()[1].used)
  end)

  it("does not keep others from their turn: the turn of a process that does not come ends", function()
    local limit, fake = simulated()
    local other = purser.rate_limit { store = { redis = {} }, pools = POOLS }
    local start, runs, rests = fake.clock(), 0, 0
    fake.clock = function() return start + 21 * rests end
    core.sleep_ms = function() rests = rests + 1 end
    function fake.fate()
      runs = runs + 1
      if runs == 2 then fake.hash.version = "another's" end
      if runs ~= 3 then return end
      fake.fate = nil -- the turn is this call's, and the next one is of another process
      assert(other:acquire(row, "key", error))
      assert.equal(1, rests)
    end
    assert(limit:acquire(row, "key", error))
    assert.same({ 1, 30 }, { rests, limit:status()[1].used })
  end)
end)

describe("processes that ask all the time", function()
  local PROCESSES, WRITES = 16, 1600

  -- Runs each process up to its next question to the server or rest; the one whose time is next goes on.
  local function run(processes, go_on)
    local time = 0
    while go_on(time) do
      local first = processes[1]
      for _, process in ipairs(processes) do
        if process.at < first.at then first = process end
      end
      time = first.at
      local ok, ms = coroutine.resume(first.thread)
      assert(ok, ms)
      first.at = time + ms
    end
  end

  it("get the server about as often as each other", function()
    math.randomseed(7)
    local processes, total, time = {}, 0, 0
    local fake = simulated_redis.start(function() return 1700000000000 + math.floor(time) end)
    finally(fake.stop)
    function fake.fate() coroutine.yield(0.05 + math.random() / 10) end
    core.sleep_ms = function(ms) coroutine.yield(ms) end
    for i = 1, PROCESSES do
      local process = { at = i / 1000, writes = 0 }
      process.thread = coroutine.create(function()
        local member = assert(redis.new { redis = {} })
        while true do
          assert(member:transact({ "ip" }, function(kv)
            kv.put("ip", { { i } }, 1000)
            return true
          end, 1e9))
          process.writes, total = process.writes + 1, total + 1
        end
      end)
      processes[i] = process
    end
    run(processes, function(now)
      time = now
      return total < WRITES
    end)
    local least, most = WRITES, 0
    for _, process in ipairs(processes) do
      least, most = math.min(least, process.writes), math.max(most, process.writes)
    end
    assert(most <= 3 * least, ("least %d, most %d"):format(least, most))
  end)
end)

describe("a server that is no Redis", function()
  it("that takes no script is away, and the error has its reason", function()
    finally(odd_redis.stop_all)
    local port = odd_redis.start("SCRIPT", "-ERR no scripts\r\n").port
    local limit = purser.rate_limit { store = { redis = { port = port } } }
    local takes, why = limit:acquire(row, "key", pause)
    assert.is_nil(takes)
    assert.matches("cannot be used: ERR no scripts", why, 1, true)
    limit:close()
  end)

  for _, command in ipairs { "EVALSHA", "INFO" } do
    it("is away: nothing is raised, and no answer of it is taken for that of the next call: " .. command, function()
      finally(odd_redis.stop_all)
      for _, reply in ipairs(odd_redis.replies) do
        local limit = purser.rate_limit { store = { redis = { port = odd_redis.start(command, reply).port },
          timeout_ms = 2000 } }
        local takes, why = limit:acquire(row, "key", pause)
        assert.is_nil(takes)
        assert.matches("the rate limit's store (redis) cannot be used", why, 1, true)
        limit:close()
      end
    end)
  end
end)
