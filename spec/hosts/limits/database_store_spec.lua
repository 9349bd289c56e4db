-- SPDX-License-Identifier: MIT
-- The rate limit's store in a SQLite file, shared by processes of one machine.
-- make test: 6 s, waits

local contract = require "store_contract"
local core = require "purser.core"
local database = require "purser.client.util.database"
local database_store = require "purser.hosts.limits.database_store"
local purser = require "purser"
local documents = require "purser.hosts.limits.documents"
local property = require "store_property"

local folder = os.tmpname()

setup(function()
  os.remove(folder)
  assert(os.execute("mkdir -m 700 " .. folder))
end)

teardown(function() os.execute("rm -rf " .. folder) end)

contract.of(describe, it, "a SQLite file", function(namespace)
  return { sqlite = folder .. "/limits.db", namespace = namespace }
end)

describe("the file of a rate limit, on clocks of the test's own", function()
  local now_ms, monotonic_ms = core.now_ms, core.monotonic_ms

  after_each(function() core.now_ms, core.monotonic_ms = now_ms, monotonic_ms end)

  property.of(it, function(world)
    local path = ("%s/property-%d.db"):format(folder, world.now % 1000 + math.random(1e6))
    local wall, boots, stores = 0, 0, {}
    core.now_ms = function() return world.now + wall end
    local booted = world.now - 1000
    core.monotonic_ms = function() return world.now - booted end
    local function new()
      local store = assert(database_store.new { sqlite = path })
      stores[#stores + 1] = store
      return store
    end
    -- the machine goes down and comes up again; what was written stays
    local function restart()
      boots, booted = boots + 1, world.now
      for _, store in ipairs(stores) do store.boot = "boot" .. boots end
    end
    return { new = new, close = function()
      for _, store in ipairs(stores) do store:close() end
    end, harms = {
      restart,
      function() wall = wall + math.random(-100000, 100000) end, -- somebody sets the clock
      function() stores[math.random(#stores)]:close() end,
    } }
  end, 3)
end)

describe("the file of a rate limit between two clocks of one boot, as of time namespaces", function()
  local open, monotonic_ms = io.open, core.monotonic_ms

  after_each(function() io.open, core.monotonic_ms = open, monotonic_ms end) -- luacheck: ignore

  it("holds the pools, and sends nothing too early", function()
    local offsets = folder .. "/offsets"
    local function on_clock(shift_s, fn)
      local file = assert(open(offsets, "w"))
      assert(file:write(("monotonic  %d         0\nboottime  %d         0\n"):format(shift_s, shift_s)))
      assert(file:close())
      io.open = function(path, ...) -- luacheck: ignore
        return open(path == "/proc/self/timens_offsets" and offsets or path, ...)
      end
      core.monotonic_ms = function() return monotonic_ms() + shift_s * 1000 end
      return fn()
    end
    local here = { store = { sqlite = folder .. "/clocks.db" }, when_full = "reject",
      pools = { ip = { capacity = 10, window_ms = 60000 } } }
    local row = { full_name = "wallet.coins", effect = "read", weight = 1 }
    local one, other = assert(purser.rate_limit(here)), assert(purser.rate_limit(here))
    on_clock(0, function()
      assert.is_true(assert(one:status())[1].held_ms == 0)
      for _ = 1, 10 do assert(one:acquire(row, "key", error)) end
      assert.is_nil((one:acquire(row, "key", error)))
    end)
    on_clock(100000, function()
      assert.is_nil((other:acquire(row, "key", error)))
      assert.is_true(assert(other:status())[1].held_ms > 50000)
    end)
    on_clock(0, function() assert.is_nil((one:acquire(row, "key", error))) end)
    one:close()
    other:close()
  end)
end)

describe("the file of a rate limit", function()
  it("is its user's alone", function()
    local mode = core.file_mode(folder .. "/limits.db")
    assert.equal(tonumber("600", 8), mode % 512)
  end)

  it("keeps nothing of a count that failed, and says why", function()
    local store = database_store.new { sqlite = folder .. "/failed.db" }
    local function count(fails)
      return store:transact({ "ip" }, function(kv)
        local before = kv.get "ip"
        kv.put("ip", { { 7 } }, 1000)
        return fails and error "a word for a number" or before or "nothing"
      end)
    end
    local counted, message = count(true)
    assert.is_nil(counted)
    assert.matches("what it keeps makes no sense: .*a word for a number", message)
    assert.equal("nothing", count())
    assert.same({ { 7 } }, count())
    store:close()
  end)

  it("is closed again where its table cannot be made", function()
    local open, closed = database.open, 0
    finally(function() database.open = open end)
    database.open = function()
      return { close = function() closed = closed + 1 end, transaction = function() return nil, "it is locked" end }
    end
    local store = database_store.new { sqlite = folder .. "/none.db" }
    assert.same({ nil, "it is locked" }, { store:transact({ "ip" }, error) })
    assert.same({ nil, 1 }, { store.db, closed })
  end)

  it("that others hold is asked again after a rest by the number of the try", function()
    local sleep_ms, rest_ms, rests = core.sleep_ms, documents.rest_ms, {}
    finally(function() core.sleep_ms, documents.rest_ms = sleep_ms, rest_ms end)
    documents.rest_ms = function(try) return 100 * try end
    core.sleep_ms = function(ms) rests[#rests + 1] = ms end
    local store = database_store.new { sqlite = folder .. "/tries.db" }
    for _ = 1, 3 do store.options.sleep() end
    assert.same({ 100, 200, 300 }, rests)
  end)

  it("that cannot be used keeps calls from being sent, and the error says why", function()
    local client = assert(purser.new { base_url = "http://localhost", api_key = "k", secret_key = "s",
      rate_limit = { store = { sqlite = folder .. "/no/such/folder.db" } }, transport = { send = error } })
    local _, err = client.wallet:coins()
    assert.same({ "throttled", "not_sent" }, { err.kind, err.outcome })
    assert.matches("the rate limit's store (sqlite) cannot be used", err.message, 1, true)
    assert.same({}, { err.retry_after, err.hint }) -- no pause mends it
    assert.matches("no file can be made in the folder", err.message, 1, true)
  end)

  it("goes to one process twice in a row at most while another waits, and nobody rests for the idle", function()
    local sleep_ms, monotonic_ms, now = core.sleep_ms, core.monotonic_ms, core.monotonic_ms()
    finally(function() core.sleep_ms, core.monotonic_ms = sleep_ms, monotonic_ms end)
    core.monotonic_ms = function() return now end
    local one, other = database_store.new { sqlite = folder .. "/turns.db" },
      database_store.new { sqlite = folder .. "/turns.db" }
    local order, rests = {}, 0
    local function count(store, word)
      assert(store:transact({ "ip" }, function(kv)
        kv.put("ip", { { word } }, 1000)
        return true
      end))
      order[#order + 1] = word
    end
    core.sleep_ms = function()
      rests = rests + 1
      if rests <= 3 then count(other, "other") end
    end
    count(other, "other")
    for _ = 1, 5 do count(one, "one") end
    assert.equal("other one other one one other one one", table.concat(order, " "))
    now, rests = now + 101, 0
    for _ = 1, 3 do count(one, "one") end
    assert.equal(0, rests)
    one:close()
    other:close()
  end)

  it("holds every pool after a restart of a machine that does not name its runs", function()
    local path = folder .. "/restart.db"
    local store = database_store.new { sqlite = path }
    local limit = purser.rate_limit { store = store, pools = { ip = { capacity = 10, window_ms = 300 } } }
    local function wait()
      local waited = 0
      assert(limit:acquire({ full_name = "wallet.coins", effect = "read", weight = 1 }, "key", function(_, ms)
        waited = waited + ms
        core.sleep_ms(ms)
      end))
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
