-- SPDX-License-Identifier: MIT
-- `purser limits`, and the option that names where use is counted.

local command = require "command"
local core = require "purser.core"
local redis_server = require "redis_server"
local service = require "service"

local sim, account, folder, environment

setup(function()
  sim = service.start()
  account = assert(sim.world:account { role = "main", balances = { USDT = "10" } })
  folder = os.tmpname()
  os.remove(folder)
  assert(os.execute("mkdir -m 700 " .. folder))
  environment = { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key, PURSER_BASE_URL = sim.url,
    PURSER_RATE_LIMIT = "sqlite:" .. folder .. "/limits.db" }
end)

teardown(function()
  sim.stop()
  os.execute("rm -rf " .. folder)
end)

describe("purser limits", function()
  it("shows what other commands used", function()
    assert.equal(0, (command.run({ "wallet", "coins" }, environment)))
    local code, out = command.run({ "limits", "--format", "json" }, environment)
    assert.equal(0, code)
    local pool = core.decode(out)[1]
    assert.same({ "ip", 500, 10, 0 }, { pool.pool, pool.capacity, pool.used, pool.blocked_ms })
    code, out = command.run({ "limits" }, environment)
    assert.equal(0, code)
    assert.matches("\nip +500 +10000 +10 +0 +0 +0 +0\n", out)
  end)

  it("rejects a text that names no store", function()
    local code, _, err = command.run({ "limits", "--rate-limit", "redis" }, environment)
    assert.equal(2, code)
    assert.matches("names no store; give redis://HOST:PORT", err, 1, true)
  end)

  it("does not quote a text that names no store, which may hold a password", function()
    local code, _, err = command.run({ "limits" }, { PURSER_API_KEY = account.api_key,
      PURSER_SECRET_KEY = account.secret_key, PURSER_BASE_URL = sim.url,
      PURSER_RATE_LIMIT = "redis://:hunter2@127.0.0.1:6379" })
    assert.equal(2, code)
    assert.matches("PURSER_RATE_LIMIT: this names no store; give redis://HOST:PORT", err, 1, true)
    assert.no.matches("hunter2", err, 1, true)
  end)

  it("asks the Redis that redis://HOST:PORT, redis://HOST or redis:/SOCKET names", function()
    local server = redis_server.start()
    finally(function() server:stop() end)
    for _, store in ipairs { "redis://127.0.0.1:" .. server.port, "redis:" .. server.socket } do
      local code, out, err = command.run({ "limits", "--rate-limit", store }, environment)
      assert.equal(0, code, err)
      assert.matches("\nip +500 +10000 +0 ", out)
    end
  end)

  it("says that the store cannot be used", function()
    local code, _, err = command.run({ "limits", "--rate-limit", "sqlite:" .. folder .. "/none/x.db" }, environment)
    assert.equal(3, code)
    assert.matches("the rate limit's store (sqlite) cannot be used", err, 1, true)
  end)
end)
