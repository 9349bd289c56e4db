-- SPDX-License-Identifier: MIT
-- The rate limit's store in a SQLite file, shared by processes of one machine.
-- make test: 6 s, waits

local contract = require "store_contract"
local core = require "purser.core"
local database = require "purser.util.database"
local database_store = require "purser.limits.database_store"
local purser = require "purser"

local folder = os.tmpname()

setup(function()
  os.remove(folder)
  assert(os.execute("mkdir -m 700 " .. folder))
end)

teardown(function() os.execute("rm -rf " .. folder) end)

contract.of(describe, it, "a SQLite file", function(namespace)
  return { sqlite = folder .. "/limits.db", namespace = namespace }
end)

describe("the file of a rate limit", function()
  it("is its user's alone", function()
    local mode = core.file_mode(folder .. "/limits.db")
    assert.equal(tonumber("600", 8), mode % 512)
  end)

  it("that cannot be used keeps calls from being sent, and the error says why", function()
    local client = assert(purser.new { base_url = "http://localhost", api_key = "k", secret_key = "s",
      rate_limit = { store = { sqlite = folder .. "/no/such/folder.db" } }, transport = { send = error } })
    local _, err = client.wallet:coins()
    assert.same({ "throttled", "not_sent" }, { err.kind, err.outcome })
    assert.matches("the rate limit's store (sqlite) is away", err.message, 1, true)
    assert.matches("no file can be made in the folder", err.message, 1, true)
  end)

  it("holds every pool after a restart of a machine that does not name its runs", function()
    local path = folder .. "/restart.db"
    local store = database_store.new { sqlite = path }
    local takes = { "ip", 1, 10, 300 }
    local function wait()
      local ms, number = store:reserve(takes, 1, 0)
      local waited = ms
      while ms > 0 do
        core.sleep_ms(ms)
        ms, number = store:reserve(takes, 1, number)
      end
      return waited
    end
    wait()
    store.boot = "unknown"
    wait()
    assert.equal(0, wait())
    local db = assert(database.open { sqlite = path })
    assert(db:rows("UPDATE purser_rate_limit SET document = $1 WHERE name = $2", -- it had run for 11 days
      ("%d %d unknown"):format(core.now_ms(), core.monotonic_ms() + 1e9), "purser clock"))
    db:close()
    assert.is_true(wait() > 0)
    assert.equal(0, wait())
    store:close()
  end)
end)
