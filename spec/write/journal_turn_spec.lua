-- SPDX-License-Identifier: MIT
-- A journal whose host switches between coroutines at any instruction, and waits for locks as the host does.

local core = require "purser.core"
local purser = require "purser"
local simulated = require "simulated"

local path, sim, account

local function client_of(journal)
  return simulated.client(sim, account, { rate_limit = false, journal = journal, account = "acme",
    guard = { spending_limit = { USDT = { amount = "1000", period_ms = 86400000 } } } })
end

before_each(function()
  path = os.tmpname()
  os.remove(path)
  sim = purser.sim.new { seed = 11 }
  account = assert(sim:account { name = "Acme", role = "main", email = "acme@mail.example",
    balances = { USDT = "5000" } })
end)

after_each(function()
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
end)

local function payment(amount)
  return { coin = "USDT", netWork = "TRX", address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm", amount = tostring(amount) }
end

-- Coroutines that the functions run in, each resumed in turn until all have ended. Where this Lua lets a hook yield is
-- known to C alone; a database that yields between its statements switches at the same places.
local function run_all(functions)
  local threads = {}
  for i, fn in ipairs(functions) do threads[i] = coroutine.create(fn) end
  local left
  repeat
    left = 0
    for _, thread in ipairs(threads) do
      if coroutine.status(thread) ~= "dead" then
        left = left + 1
        assert(coroutine.resume(thread))
      end
    end
  until left == 0
end

-- Makes each transaction of the journal suspend its coroutine once in the middle.
local function switching(journal)
  local db = journal.db
  local transaction = db.transaction
  function db.transaction(self, fn)
    return transaction(self, function(tx)
      coroutine.yield()
      return fn(tx)
    end)
  end
end

local suspends_in_pcall = _VERSION ~= "Lua 5.1" or rawget(_G, "jit")

describe("a journal used by several coroutines", function()
  if suspends_in_pcall then
    it("lets each finish its transaction before the next begins, and none fails", function()
      local journal = assert(purser.journal.open { sqlite = path, sleep = function() coroutine.yield() end })
      switching(journal)
      local client, sent = client_of(journal), 0
      local functions = {}
      for i = 1, 20 do
        functions[i] = function()
          local result, err = client.wallet:withdraw(payment(10 + i))
          assert(result, tostring(err))
          sent = sent + 1
        end
      end
      run_all(functions)
      assert.equal(20, sent)
      assert.equal(20, #assert(journal:entries { state = "done" }))
      journal:close()
    end)

    it("undoes what a coroutine left half done that its host ended, and works on", function()
      local journal = assert(purser.journal.open { sqlite = path, sleep = function() coroutine.yield() end })
      local abandoned = coroutine.create(function()
        journal.db:transaction(function(tx)
          tx:rows "DELETE FROM purser_meta"
          coroutine.yield()
        end)
      end)
      assert(coroutine.resume(abandoned))
      abandoned = nil
      collectgarbage()
      collectgarbage()
      assert.is_string(assert(journal:id()))
      assert(client_of(journal).wallet:withdraw(payment(10)))
      journal:close()
      assert.is_nil(abandoned)
    end)

    it("sends nothing when another coroutine keeps the journal beyond lock_timeout_ms, and says so", function()
      local journal = assert(purser.journal.open { sqlite = path, lock_timeout_ms = 0 })
      local keeper = coroutine.create(function()
        journal.db:transaction(function() coroutine.yield() return true end)
      end)
      assert(coroutine.resume(keeper))
      local _, err = client_of(journal).wallet:withdraw(payment(10))
      assert.equal("not_sent", err.outcome)
      assert.matches("another coroutine of this program is in the middle of a transaction", err.message)
      assert(coroutine.resume(keeper))
      journal:close()
    end)
  end

  it("waits for another process's lock by the host's sleep", function()
    local slept, other = 0, nil
    local journal = assert(purser.journal.open { sqlite = path, sleep = function()
      slept = slept + 1
      if slept == 3 then assert(other:rows "COMMIT") end
    end })
    other = assert(require("purser.util.database").open { sqlite = path })
    assert(other:rows "BEGIN IMMEDIATE")
    assert(client_of(journal).wallet:withdraw(payment(10)))
    assert.equal(3, slept)
    other:close()
    journal:close()
  end)
end)

describe("compare_and_set", function()
  it("sets the first element where it is the old one, and only there", function()
    local list, a, b = {}, {}, {}
    assert.is_true(core.compare_and_set(list, nil, a))
    assert.is_false(core.compare_and_set(list, nil, b))
    assert.is_false(core.compare_and_set(list, b, nil))
    assert.equal(a, list[1])
    assert.is_true(core.compare_and_set(list, a, nil))
    assert.is_nil(list[1])
  end)
end)
