-- SPDX-License-Identifier: MIT
-- The rate limit's store in a Redis server of the test's own, and what becomes of calls while it is away.

local contract = require "store_contract"
local core = require "purser.core"
local purser = require "purser"
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

describe("reservations that go at once in Redis", function()
  local HOUR = 3600000
  local TAKES = {
    { "ip", 1, 1000, HOUR }, { "ip", 10, 1000, HOUR }, { "ip", 3, 1000, HOUR, "account", 2, 400, 2 * HOUR },
    { "account", 5, 400, 2 * HOUR },
  }
  local direct

  -- A store whose first hold is over: it holds for the longest window that is known then.
  local function store_of(namespace)
    direct = purser.rate_limit { store = store(namespace) }.store.store
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

-- A server that answers the script of the store with `reply`, and all else as Redis does.
local ODD_SERVER = [[
  local socket, reply = require "socket", %q
  local server = assert(socket.bind("127.0.0.1", 0))
  print((select(2, server:getsockname())))
  io.stdout:flush()
  local peer = server:accept()
  while true do
    local line = peer:receive "*l"
    if not line then break end
    local words = {}
    for i = 1, tonumber(line:sub(2)) do
      words[i] = peer:receive(tonumber((peer:receive "*l"):sub(2)) + 2):sub(1, -3)
    end
    peer:send(words[1] == "INFO" and "$12\r\nrun_id:abc12\r\n" or words[1] == "SCRIPT" and "+sha\r\n" or reply)
  end
]]

describe("a server that is no Redis", function()
  it("is away: nothing is raised, and no answer of it is taken for that of the next call", function()
    local file = os.tmpname()
    for _, reply in ipairs { ":5\r\n:0\r\n", "+OK\r\n", "$3\r\nabc\r\n", "*0\r\n", "*3\r\n$1\r\na\r\n:1\r\n:1\r\n",
      ("*1\r\n"):rep(300000), "*1000000000\r\n", "$99999999999\r\n", "*3\r\n*1\r\n:0\r\n:1\r\n:1\r\n" } do
      local script = assert(io.open(file, "w"))
      script:write(ODD_SERVER:format(reply))
      script:close()
      local process = io.popen((os.getenv "LUA" or "lua5.4") .. " " .. file)
      local limit = purser.rate_limit { store = { redis = { port = tonumber(process:read "*l") }, timeout_ms = 2000 } }
      local takes, why = limit:acquire(row, "key", pause)
      assert.is_nil(takes)
      assert.matches("the rate limit's store (redis) is away", why, 1, true)
      limit:close()
      process:close()
    end
    os.remove(file)
  end)
end)
