-- SPDX-License-Identifier: MIT
-- A connection to a database: each column is text, a transaction is whole or nothing. On SQLite; PostgreSQL's is in
-- spec/torture/on_postgresql.lua.

local core = require "purser.core"
local database = require "purser.client.util.database"
local files = require "files"
local steps = require "steps"

local folder, path, db

local function open(options)
  local all = { sqlite = path }
  for name, value in pairs(options or {}) do all[name] = value end
  return database.open(all)
end

setup(function() folder = files.folder() end)
teardown(function() files.remove(folder) end)
before_each(function()
  os.execute("rm -f " .. folder .. "/*")
  path = folder .. "/db"
  db = assert(open())
  assert(db:rows "CREATE TABLE purser_t (name TEXT PRIMARY KEY, value TEXT)")
end)
after_each(function() db:close() end)

local function put(tx, name, value)
  return tx:rows("INSERT INTO purser_t (name, value) VALUES ($1, $2)", name, value)
end

local function count()
  return #assert(db:rows "SELECT name FROM purser_t")
end

describe("a statement", function()
  it("gives its rows as maps of text and how many it changed", function()
    local rows, changed = assert(put(db, "a", "it's \255; DROP TABLE purser_t"))
    assert.same({ {}, 1 }, { rows, changed })
    assert(put(db, "b", "2"))
    assert.same({ { name = "a", value = "it's \255; DROP TABLE purser_t" }, { name = "b", value = "2" } },
      (db:rows "SELECT name, value FROM purser_t ORDER BY name"))
    assert.equal(2, (select(2, db:rows("UPDATE purser_t SET value = $1", "3"))))
    local returned = db:rows("UPDATE purser_t SET value = $1 WHERE name = $2 RETURNING value", "3", "a")
    assert.same({ { value = "3" } }, returned)
  end)

  it("that cannot be prepared or run gives nil and the database's words alone, and the next one works", function()
    assert(put(db, "a", "1"))
    for _ = 1, 2 do
      assert.same({ nil, "no such table: purser_none" }, { db:rows "SELECT * FROM purser_none" })
      local rows, message = put(db, "a", "2")
      assert.is_nil(rows)
      assert.matches("^UNIQUE constraint failed", message)
    end
    assert.equal(1, count())
  end)

  it("takes no text with a zero byte, of which the database would keep a part", function()
    for _, text in ipairs { "\0", "a\0b", ("x"):rep(100) .. "\0" } do
      local rows, message = put(db, "a", text)
      assert.is_nil(rows)
      assert.matches("holds a zero byte %(x*a?%.%.%.%); leave it out", message)
      assert.is_true(#message < 120)
    end
    assert.equal(0, count())
  end)

  it("is not run any more once the connection is closed", function()
    db:close()
    db:close()
    assert.same({ nil, "it is closed" }, { db:rows "SELECT 1" })
    assert.same({ nil, "it is closed" }, { db:transaction(function() error "it ran" end) })
  end)
end)

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

describe("a locked file", function()
  it("stays locked until it is unlocked, against this process and others, and stays empty", function()
    local lock = folder .. "/lock"
    local unlock = assert(database.lock_file(lock))
    assert.is_false((database.lock_file(lock)))
    assert.equal(0, #files.read(lock))
    assert.equal(tonumber("600", 8), core.file_mode(lock) % 512)
    unlock()
    assert(database.lock_file(lock))()
  end)

  it("is one that can be made, or nil and a message", function()
    local lock, message = database.lock_file(folder .. "/none/lock")
    assert.is_nil(lock)
    assert.matches("no file can be made in the folder", message)
    files.write(folder .. "/text", "this is no database, whatever its name is")
    os.execute(("chmod 600 %s/text"):format(folder))
    lock, message = database.lock_file(folder .. "/text")
    assert.is_nil(lock)
    assert.matches("not a database", message)
  end)
end)
