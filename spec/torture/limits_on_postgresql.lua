-- SPDX-License-Identifier: MIT
-- The rate limit's store on a PostgreSQL server of the test's own; `make limits-test` and `make torture` run it.

local contract = require "store_contract"
local core = require "purser.core"
local postgresql = dofile "spec/torture/postgresql.lua"
local purser = require "purser"

local folder, server

setup(function()
  folder = os.tmpname()
  os.remove(folder)
  os.execute("mkdir -p " .. folder)
  server = postgresql.start(folder)
end)

teardown(function()
  pcall(server.stop)
  os.execute("rm -r " .. folder)
end)

local function store(namespace)
  return { postgresql = { database = "postgres", user = "purser", host = "127.0.0.1", port = server.options.port },
    namespace = namespace }
end

contract.of(describe, it, "PostgreSQL", store)

describe("a PostgreSQL server that is away", function()
  it("keeps calls from being sent until it is back, and forgets nothing", function()
    local row = { full_name = "wallet.coins", effect = "read", weight = 10 }
    local function pause(_, ms) core.sleep_ms(ms) end
    local limit = purser.rate_limit { store = store "away", when_full = "reject",
      pools = { ip = { capacity = 10, window_ms = 600000 } } }
    assert(limit:acquire(row, "key", pause))
    server.stop()
    local takes, why = limit:acquire(row, "key", pause)
    assert.is_nil(takes)
    assert.matches("the rate limit's store (postgresql) cannot be used", why, 1, true)
    server.start()
    takes, why = limit:acquire(row, "key", pause)
    assert.is_nil(takes)
    assert.matches("used up", why, 1, true)
    limit:close()
  end)
end)
