-- SPDX-License-Identifier: MIT
-- Transactions of a database: each is whole or nothing. On SQLite; PostgreSQL's are in
-- spec/torture/on_postgresql.lua.

local core = require "purser.core"
local setting = require "database_setting"
local steps = require "steps"

local open, put, count = setting.open, setting.put, setting.count
local db

setup(setting.setup)
teardown(setting.teardown)
before_each(function() db = setting.begin() end)
after_each(function() db:close() end)

describe("a transaction", function()
  it("is committed with all that was done, and returns what its function returns", function()
    assert.same({ "x", "y" }, { db:transaction(function(tx)
      put(tx, "a", "1")
      put(tx, "b", "2")
      return "x", "y"
    end) })
    assert.equal(2, count())
  end)

  -- A hook that bounds the time of a script raised between BEGIN and what was done after: the file stayed locked, for
  -- every process, and this one could begin no transaction any more.
  it("leaves nothing begun when a hook raises, at whatever instruction", function()
    local another, at, raised, ended = assert(open { lock_timeout_ms = 20 }), 1, 0, false
    finally(function() another:close() end)
    steps.interpreted(function()
      while not ended do
        local ok, problem = pcall(function()
          debug.sethook(function()
            debug.sethook()
            error("enough", 0)
          end, "", at)
          local done, message = db:transaction(function(tx) return put(tx, "a", "1") end)
          debug.sethook()
          ended = true
          return assert(done, message)
        end)
        debug.sethook()
        raised = raised + (ok and 0 or 1)
        assert.is_true(ok or problem == "enough", tostring(problem))
        for _, each in ipairs { another, db } do
          assert(each:transaction(function(tx) return tx:rows "DELETE FROM purser_t" end))
        end
        at = at + 5
      end
    end)
    assert.is_true(raised > 20)
  end)

  it("undoes all of it when a statement fails, when it is rejected, and when anything is raised", function()
    local problem = { code = "mine" }
    for _, case in ipairs {
      { function(tx) put(tx, "a", "2") end, "UNIQUE constraint failed" },
      { function(tx) tx:reject "not this one" end, "not this one" },
      { function(tx) tx:reject(problem) end, problem },
    } do
      local result, message = db:transaction(function(tx)
        put(tx, "a", "1")
        case[1](tx)
        error "it went on"
      end)
      assert.is_nil(result)
      if type(case[2]) == "table" then assert.equal(problem, message) else assert.matches(case[2], message) end
      assert.equal(0, count())
    end
    local ok, raised = pcall(db.transaction, db, function(tx)
      put(tx, "a", "1")
      error(problem)
    end)
    assert.is_false(ok)
    assert.equal(problem, raised)
    assert.equal(0, count())
    assert(db:transaction(function(tx) return put(tx, "a", "1") end))
    assert.equal(1, count())
  end)

  it("keeps other connections out until its end, and a waiting one gives up in time", function()
    local other = assert(open { lock_timeout_ms = 20 })
    finally(function() other:close() end)
    assert(db:transaction(function(tx)
      put(tx, "a", "1")
      assert.same({}, (other:rows "SELECT name FROM purser_t"))
      assert.same({ nil, "database is locked" }, { other:transaction(function() error "it ran" end) })
      return true
    end))
    assert(other:transaction(function(tx) return put(tx, "b", "1") end))
  end)

  it("that only reads waits for no other, and sees one state of the database", function()
    local other = assert(open { lock_timeout_ms = 20 })
    finally(function() other:close() end)
    local function rows(tx) return tx:rows "SELECT name FROM purser_t" end
    assert(db:transaction(function(tx)
      put(tx, "a", "1")
      assert.same({}, assert(other:transaction(rows, true)))
      return true
    end))
    assert(other:transaction(function(tx)
      local before = rows(tx)
      assert(db:transaction(function(writer) return put(writer, "b", "1") end))
      assert.same(before, rows(tx))
      return true
    end, true))
    assert.equal(2, #assert(other:transaction(rows, true)))
  end)

  it("that only reads has not begun while it waits: another task's writes meanwhile", function()
    local patient, slept = nil, 0
    patient = assert(open { sleep = function()
      slept = slept + 1
      assert(patient:transaction(function(tx) return put(tx, "a", "1") end))
    end })
    finally(function() patient:close() end)
    patient.statements["SELECT name FROM sqlite_master LIMIT 1"] = { close = function() end,
      execute = function() return false, "database is locked" end }
    assert.equal(1, #assert(patient:transaction(function(tx) return tx:rows "SELECT name FROM purser_t" end, true)))
    assert.equal(1, slept)
  end)

  it("waits by the host's sleep where there is one, and the thread by nothing else", function()
    local sleeps = 0
    local other
    assert(db:transaction(function(tx)
      put(tx, "a", "1")
      other = assert(open { lock_timeout_ms = 60000, sleep = function()
        sleeps = sleeps + 1
        if sleeps == 3 then assert(db:rows "COMMIT") end
      end })
      finally(function() other:close() end)
      assert.same({ {}, 1 }, { put(other, "b", "1") })
      assert(db:rows "BEGIN")
      return true
    end))
    assert.equal(3, sleeps)
    assert.equal(2, count())
  end)

  it("rests the thread where the host lets nobody sleep, and raises whatever else sleep raises", function()
    local words
    local function other()
      local made = assert(open { lock_timeout_ms = 20, sleep = function() error(words, 0) end })
      finally(function() made:close() end)
      return made
    end
    assert(db:transaction(function(tx)
      put(tx, "a", "1")
      words = "API disabled in the context of init_worker_by_lua*"
      assert.same({ nil, "database is locked" }, { put(other(), "b", "1") })
      words = "cancelled"
      local ok, raised = pcall(put, other(), "b", "1")
      assert.same({ false, "cancelled" }, { ok, raised })
      return true
    end))
  end)

  it("has one time, that of its first look", function()
    assert(db:transaction(function(tx)
      local now = tx:now()
      assert.is_true(math.abs(now - core.now_ms()) < 60000)
      core.sleep_ms(3)
      assert.equal(now, tx:now())
      return true
    end))
  end)
end)
