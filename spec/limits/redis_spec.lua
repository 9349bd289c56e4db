-- SPDX-License-Identifier: MIT
-- The rate limit's store in a Redis server of the test's own, what becomes of calls while it is away, and what is
-- lost on the way.
-- make test: 34 s, waits

local contract = require "store_contract"
local core = require "purser.core"
local odd_redis = require "odd_redis"
local purser = require "purser"
local redis = require "purser.limits.redis"
local redis_server = require "redis_server"

local server

setup(function() server = redis_server.start { password = "open-sesame" } end)
teardown(function() server:stop() end)

local function store(namespace)
  return { redis = { port = server.port, password = server.password }, namespace = namespace }
end

contract.of(describe, it, "Redis", store)

local row = { full_name = "wallet.coins", effect = "read", weight = 10 }

local function pause(_, ms) core.sleep_ms(ms) end

local function limit_of(namespace, more)
  local options = { store = store(namespace), pools = { ip = { capacity = 20, window_ms = 500 } }, margin_ms = 500 }
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
    assert.matches("the rate limit's store (redis) is away", why, 1, true)
    assert(not why:find(server.password, 1, true))
    server:start()
    core.sleep_ms(1000) -- it is left alone for a second
    assert(limit:acquire(row, "key", pause))
    limit:close()
  end)

  it("that is away lets a client use its part, where that is asked for, after one window", function()
    local limit = limit_of("part", { fallback_part = 0.5 })
    assert(limit:acquire(row, "key", pause))
    server:kill()
    local waited = 0
    local function counted(_, ms)
      waited = waited + ms
      core.sleep_ms(ms)
    end
    assert(limit:acquire(row, "key", counted))
    assert(waited > 500 and waited <= 1000, waited)
    assert(limit:acquire(row, "key", counted))
    assert(waited > 1500, waited)
    server:start()
    core.sleep_ms(1000)
    waited = 0
    assert(limit:acquire(row, "key", counted))
    assert(waited >= 1000, waited) -- the store does not know what was sent without it
    limit:close()
  end)

  it("with a wrong password is away, and the error does not hold it", function()
    local limit = purser.rate_limit { store = { redis = { port = server.port, password = "wrong-word" } } }
    local takes, why = limit:acquire(row, "key", pause)
    assert.is_nil(takes)
    assert.matches("WRONGPASS", why, 1, true)
    assert(not why:find("wrong-word", 1, true))
  end)

  it("is reached by its socket, too", function()
    local limit = purser.rate_limit { store = { redis = { path = server.socket, password = server.password },
      namespace = "socket" }, pools = { ip = { capacity = 20, window_ms = 100 } } }
    assert(limit:acquire(row, "key", pause))
    limit:close()
  end)

  it("gets no account's key", function()
    local limit = limit_of("secret", { pools = { account = { capacity = 10, window_ms = 500, scope = "account" } } })
    assert(limit:acquire(row, "mx0SECRETkey", pause))
    local connection = limit.store.store.connection
    for _, key in ipairs(connection:ask("KEYS", "*")) do assert(not key:find("mx0SECRETkey", 1, true), key) end
    limit:close()
  end)
end)

-- The store itself, by its own port or another.
local function store_of(namespace, port)
  local options = store(namespace)
  options.redis.port = port or options.redis.port
  return redis.new(options)
end

describe("a connection that is lost after a command was executed", function()
  local HOUR = 3600000
  local TAKES = { "ip", 10, 100, HOUR }

  for operation, case in pairs {
    reserve = { "counts a call twice where it is sent again", 40 },
    give_back = { "gives back once, for what is given back twice would count too little", 10 },
  } do
    it(case[1], function()
      local relay = odd_redis.relay(server.port, operation)
      finally(relay.stop)
      local relayed = assert(store_of(operation, relay.port))
      local first = { "first", 1, 10, 100 }
      local _, ticket = relayed:reserve(first, 1, 0)
      relayed:give_back(first, ticket, 0)
      core.sleep_ms(200) -- the hold of its first use is over
      local at
      for _ = 1, 2 do at = assert(select(3, relayed:reserve(TAKES, 1, 0))) end
      relay.lose()
      if operation == "reserve" then assert.equal(0, (relayed:reserve(TAKES, 1, 0))) end
      if operation == "give_back" then assert.is_nil((relayed:give_back(TAKES, 0, at))) end
      assert.equal(case[2], (relayed:pool("ip", HOUR)))
      relayed:close()
    end)
  end
end)

describe("a server that is no Redis", function()
  for _, command in ipairs { "EVALSHA", "INFO" } do
    it("is away: nothing is raised, and no answer of it is taken for that of the next call: " .. command, function()
      finally(odd_redis.stop_all)
      for _, reply in ipairs(odd_redis.replies) do
        local limit = purser.rate_limit { store = { redis = { port = odd_redis.start(command, reply).port },
          timeout_ms = 2000 } }
        local takes, why = limit:acquire(row, "key", pause)
        assert.is_nil(takes)
        assert.matches("the rate limit's store (redis) is away", why, 1, true)
        limit:close()
      end
    end)
  end
end)
