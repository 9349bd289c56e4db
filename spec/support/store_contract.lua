-- SPDX-License-Identifier: MIT
--- The contract of every store of the rate limit, whichever server keeps it; the spec of a store calls it.
---
---     contract.of(describe, it, "a SQLite file", function() return { sqlite = path } end)

local assert = require "luassert"
local core = require "purser.core"
local purser = require "purser"
local service = require "service"

local M = {}

local MEMBERS, CALLS, CAPACITY, WINDOW_MS = 4, 12, 20, 1000

local function row(weight, effect)
  return { full_name = "wallet.coins", effect = effect or "read", weight = weight }
end

-- Calls `fn(i)` until one call of it takes less than `limit_ms`, and returns what that one returned: a machine that
-- stood still meanwhile proves nothing.
local function in_time(limit_ms, fn)
  for i = 1, 100 do
    local began = core.monotonic_ms()
    local found = fn(i)
    if core.monotonic_ms() - began < limit_ms then return found end
  end
  error(("this machine never did it in %d ms"):format(limit_ms), 2)
end

local function pause(_, ms) core.sleep_ms(ms) end

local function literal(value)
  if type(value) ~= "table" then return type(value) == "string" and ("%q"):format(value) or tostring(value) end
  local parts = {}
  for name, member in pairs(value) do parts[#parts + 1] = ("[%q] = %s"):format(name, literal(member)) end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

local function start_member(sim, account, options)
  local command = ("LUA_PATH='spec/support/?.lua;'\"$LUA_PATH\" timeout 120 %s spec/support/limited_member.lua "
    .. "%s %s %s '%s' %d 2>&1")
    :format(os.getenv "LUA" or "lua5.4", sim.url, account.api_key, account.secret_key, literal(options), CALLS)
  return assert(io.popen(command))
end

--- Real processes that share the store call a real simulator, which has the same pool.
local function add_members(it, store)
  it("keeps real processes below the pool of a real service, which answers no 429", function()
    local sim = service.start { "--rate-limit", ("%d/%d"):format(CAPACITY, WINDOW_MS) }
    local account = assert(sim.world:account { role = "main", balances = { USDT = "10" } })
    local options = { store = store "members",
      -- One call of each member may come as late as it likes: the machine let it stand still after it was counted.
      pools = { ip = { capacity = CAPACITY - MEMBERS, window_ms = 2 * WINDOW_MS } } }
    local started, members, done = core.monotonic_ms(), {}, 0
    for i = 1, MEMBERS do members[i] = start_member(sim, account, options) end
    for _, member in ipairs(members) do
      for line in member:lines() do
        assert.equal("done", line)
        done = done + 1
      end
      member:close()
    end
    local seen = sim.world:rate_limit()
    sim.stop()
    assert.equal(MEMBERS * CALLS, done)
    local pool = seen.pools["ip 127.0.0.1"]
    assert.same({ 0, MEMBERS * CALLS }, { pool.rejected, pool.total })
    assert(pool.peak <= CAPACITY)
    -- 48 calls, 16 in a window: three of them, the last of which need not pass
    assert(core.monotonic_ms() - started >= 2 * 2 * WINDOW_MS)
  end)
end

--- Returns what holds of every store. `store(namespace)` returns the option.
function M.of(describe, it, name, store)
  -- Two members of one store, each with a connection of its own.
  local function members(namespace, options)
    local pair = {}
    for i = 1, 2 do
      local all = { store = store(namespace), pools = { ip = { capacity = 10, window_ms = 800 } } }
      for key, value in pairs(options or {}) do all[key] = value end
      pair[i] = purser.rate_limit(all)
    end
    return pair[1], pair[2]
  end

  -- A store that does not know whether it forgot something holds its pools for a window.
  local function reconcile(limit)
    local held = assert(limit:status())[1].held_ms
    local takes, at = limit:acquire(row(1), "key", pause)
    assert(takes, at)
    limit:give_back(takes, at)
    core.sleep_ms(held)
  end

  describe("the store in " .. name, function()
    it("counts for all members, waits until there is room, and takes back what was not sent", function()
      local one, two = members "count"
      reconcile(one)
      local waits = 0
      local function counted(_, ms)
        waits = waits + 1
        core.sleep_ms(ms)
      end
      local _, first = assert(one:acquire(row(6), "key", counted))
      assert(two:acquire(row(4), "key", counted))
      assert.equal(0, waits)
      local _, third = assert(one:acquire(row(7), "key", counted))
      assert(third - first >= 800, third - first)
      one:close()
      two:close()
    end)

    it("takes back what was not sent, whichever member it was of", function()
      reconcile((members "back"))
      local one, two = members("back", { when_full = "reject", pools = { ip = { capacity = 10, window_ms = 60000 } } })
      local takes, at = assert(one:acquire(row(10), "key", pause))
      assert.is_nil((two:acquire(row(1), "key", pause)))
      one:give_back(takes, at)
      assert(two:acquire(row(10), "key", pause))
      one:close()
      two:close()
    end)

    it("gives each account a pool of its own next to the shared one", function()
      local pools = { account = { capacity = 5, window_ms = 60000, scope = "account" },
        ip = { capacity = 100, window_ms = 60000 } }
      local one = members("accounts", { pools = pools, when_full = "reject" })
      local patient = members("accounts", { pools = { ip = { capacity = 100, window_ms = 800 } } })
      reconcile(patient)
      for _, key in ipairs { "a", "b" } do
        assert(one:acquire(row(5), key, pause))
        assert.is_nil((one:acquire(row(1), key, pause)))
      end
      local status = assert(one:status "a")
      assert.same({ 5, 5 }, { status[1].used, status[1].capacity })
      assert(status[2].used >= 10)
      one:close()
      patient:close()
    end)

    it("keeps a block for every member, also one that comes later, and shows it", function()
      local one, two = members "block"
      reconcile(one)
      reconcile(two)
      assert.equal(60000, one:block(60000))
      local takes, why, ms = two:acquire(row(1), "key", error)
      assert.is_nil(takes)
      assert.matches("the service asked for a pause", why, 1, true)
      assert(ms > 50000 and ms <= 60000)
      one:close()
      two:close()
      local late = members "block"
      assert.is_nil((late:acquire(row(1), "key", error)))
      assert(assert(late:status())[1].blocked_ms > 50000)
      late:close()
    end)

    it("doubles the pause where the service names none", function()
      local pauses = in_time(1600, function(i)
        local one, two = members("pause" .. i)
        local first = one:learn { kind = "http", http_status = 403 }
        local together = two:learn { kind = "throttled", http_status = 429 }
        core.sleep_ms(830)
        local second = two:learn { kind = "throttled", http_status = 429 }
        one:close()
        two:close()
        return { first, together <= 819, second }
      end)
      assert.same({ 819, true, 1638 }, pauses)
    end)

    add_members(it, store)
  end)
end

return M
