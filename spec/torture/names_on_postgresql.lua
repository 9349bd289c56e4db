-- SPDX-License-Identifier: MIT
-- Names on a PostgreSQL server of the test's own, for `make torture`: a journal's tables are found once, its locks are
-- PostgreSQL's own, and a server that became another one is noticed.

local connection = require "purser.client.util.database.connection"
local files = require "files"
local postgresql = dofile "spec/torture/postgresql.lua"
local purser = require "purser"

local folder, server

local function options_with(more)
  local options = {}
  for name, value in pairs(server.options) do options[name] = value end
  for name, value in pairs(more or {}) do options[name] = value end
  return options
end

local function open(more) return assert(purser.journal.open { postgresql = options_with(more) }) end

setup(function()
  folder = files.folder()
  server = postgresql.start(folder)
end)

teardown(function()
  pcall(server.stop, "immediate")
  files.remove(folder)
end)

describe("the tables of a journal", function()
  local admin, name

  -- Runs statements, each by itself, as the server's owner, in the database of the test.
  local function sql(...)
    for _, text in ipairs { ... } do assert(connection.rows(admin.db, text)) end
  end

  before_each(function()
    admin, name = open(), "schemas_" .. tostring({}):match "%w+$":lower()
    sql("CREATE DATABASE " .. name)
    admin:close()
    admin = open { database = name }
  end)
  after_each(function() admin:close() end)

  local function client_of(journal, sim)
    local account = sim.account_of_test or assert(sim:account { name = "acme", balances = { USDT = "1000" } })
    sim.account_of_test = account
    return assert(purser.new { base_url = "http://localhost", api_key = account.api_key, account = "acme",
      secret_key = account.secret_key, transport = sim:transport(), clock = function() return sim:now() end,
      journal = journal, rate_limit = false })
  end

  local function pay(client, key)
    return client.wallet:transfer({ fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = "1" }, { key = key })
  end

  it("are found along the search path, and a schema that is made before theirs hides no used key", function()
    local sim = purser.sim.new { seed = 71 }
    local first = open { database = name }
    assert(pay(client_of(first, sim), "k1"))
    sql("CREATE SCHEMA purser AUTHORIZATION purser", "CREATE SCHEMA ops",
      ("ALTER DATABASE %s SET search_path = ops, \"$user\", public"):format(name))
    local second = open { database = name }
    assert.equal("public", second.db.schema)
    assert(pay(client_of(second, sim), "k1"))
    assert(connection.rows(admin.db, "SELECT pg_terminate_backend(pid)::text AS ended FROM pg_stat_activity "
      .. "WHERE datname = '" .. name .. "' AND pid <> pg_backend_pid()"))
    assert(pay(client_of(first, sim), "k1"))
    assert.equal(1, sim:counts()["wallet.transfer"].applied)
    sql "CREATE TABLE ops.purser_meta (name TEXT, value TEXT)"
    local third, err = purser.journal.open { postgresql = options_with { database = name } }
    assert.is_nil(third)
    assert.matches("several schemas of the search path hold it (ops, public)", err.message, 1, true)
    first:close()
    second:close()
  end)

  it("are locked by PostgreSQL's own function, whatever another role makes in their schema", function()
    sql("CREATE FUNCTION public.pg_advisory_xact_lock(text, text) RETURNS void LANGUAGE sql AS 'SELECT NULL::void'",
      "CREATE FUNCTION public.pg_advisory_xact_lock(integer) RETURNS void LANGUAGE sql AS 'SELECT NULL::void'",
      "CREATE FUNCTION public.hashtext(text) RETURNS integer LANGUAGE sql AS 'SELECT 1'")
    local one, two = open { database = name }, open { database = name }
    assert(connection.rows(two.db, "SET lock_timeout = 100"))
    assert(one.db:transaction(function(tx)
      tx:lock(42)
      local locked, why = two.db:transaction(function(other)
        other:lock(42)
        return true
      end)
      assert.is_nil(locked)
      assert.matches("lock timeout", why)
      return true
    end))
    one:close()
    two:close()
  end)
end)

-- The server is another one from here on.
describe("a replica that takes over without the last commits", function()
  it("gets no plain call of a host that stayed connected: another host's calls may be lost", function()
    local sim = purser.sim.new { seed = 72 }
    local account = assert(sim:account { name = "over", balances = { USDT = "1000" } })
    local journals, clients = {}, {}
    for i = 1, 2 do
      journals[i] = open()
      clients[i] = assert(purser.new { base_url = "http://localhost", api_key = account.api_key, account = "over",
        secret_key = account.secret_key, transport = sim:transport(), clock = function() return sim:now() end,
        journal = journals[i], rate_limit = false })
    end
    local function pay(i, key)
      return clients[i].wallet:transfer({ fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
        amount = "1" }, { key = key })
    end
    assert(pay(1, "first"))
    local take_over, stop_copying = server.replica()
    stop_copying()
    assert(pay(2, "lost"))
    take_over()
    local _, err = pay(1, "lost") -- each commit of this host is there
    assert.equal("not_sent", err.outcome)
    assert.matches("another one than it was", err.message)
    assert.equal(true, (pay(1, "first")) ~= nil) -- what is known is answered
    assert.equal(2, sim:counts()["wallet.transfer"].applied)
    for _, journal in ipairs(journals) do journal:close() end
    assert(open()):close()
  end)
end)
