-- SPDX-License-Identifier: MIT
-- Numbers that only grow with what is committed: a database that was put back is noticed.

local core = require "purser.core"
local database = require "purser.client.util.database"
local files = require "files"

local folder, path, db

-- Returns what the journal's schema has of it.
local function open()
  local one = assert(database.open({ sqlite = path }, "purser_meta"))
  assert(one:rows [[CREATE TABLE IF NOT EXISTS purser_generations (name TEXT PRIMARY KEY, generation TEXT NOT NULL,
    changed_at TEXT NOT NULL)]])
  assert(one:rows "CREATE TABLE IF NOT EXISTS purser_meta (name TEXT PRIMARY KEY, value TEXT)")
  return one
end

setup(function() folder = files.folder() end)
teardown(function() files.remove(folder) end)
before_each(function()
  os.execute("rm -f " .. folder .. "/*")
  path = folder .. "/db"
  db = open()
  db:count_commits()
end)
after_each(function() db:close() end)

local function work()
  return db:transaction(function(tx)
    tx:rows "INSERT INTO purser_meta (name, value) VALUES (hex(randomblob(8)), '')"
    return true
  end)
end

-- The rows of processes: number and time.
local function processes(one)
  return (one or db):rows "SELECT name, generation, changed_at FROM purser_generations WHERE name LIKE 'process %'"
end

describe("the commits of a process", function()
  it("are counted in a row of its own, and nothing is for what only reads or is undone", function()
    db:transaction(function(tx) return tx:rows "SELECT name FROM purser_meta" end)
    assert.equal(0, #processes())
    for _ = 1, 3 do assert(work()) end
    db:transaction(function(tx)
      tx:rows "INSERT INTO purser_meta (name, value) VALUES ('undone', '')"
      tx:reject "undone"
    end)
    local rows = processes()
    assert.equal(1, #rows)
    assert.equal("0000000000000003", rows[1].generation)
    assert.matches("^%d%d%d%d%d%d%d%d%d%d%d%d%d$", rows[1].changed_at)
  end)

  it("have each a number of their own, also one that failed at its end: it may have been made all the same", function()
    assert(db:rows "PRAGMA foreign_keys = ON")
    assert(db:rows [[CREATE TABLE purser_late (name TEXT REFERENCES purser_meta (name) DEFERRABLE INITIALLY DEFERRED)]])
    assert(work())
    local ok, message = db:transaction(function(tx) return tx:rows "INSERT INTO purser_late (name) VALUES ('none')" end)
    assert.is_nil(ok)
    assert.matches("FOREIGN KEY", message)
    assert.equal("0000000000000001", processes()[1].generation)
    assert(work())
    assert.equal("0000000000000003", processes()[1].generation)
  end)

  it("that are missing end the next transaction, as after a copy that was put back", function()
    assert(work())
    local old = processes()[1].generation
    assert(work())
    assert(db:rows("UPDATE purser_generations SET generation = $1", old))
    local ok, message = work()
    assert.is_nil(ok)
    assert.matches("the journal is older than it was: it lacks what this process wrote into it", message, 1, true)
    assert.is_nil((work())) -- and each one after it
  end)

  it("that are missing with their row do so too, unless the row was pruned after it was written", function()
    assert(work())
    assert(db:rows "DELETE FROM purser_generations")
    assert.is_nil((work()))
    local function prune(before_ms)
      assert(db:rows("INSERT OR REPLACE INTO purser_meta (name, value) VALUES ('pruned_before', $1)",
        ("%013d"):format(before_ms)))
    end
    prune(core.now_ms() - 60000)
    assert.is_nil((work()))
    prune(core.now_ms() + 60000)
    assert.is_true(work())
    assert.is_true(work())
  end)

  it("are counted apart from those of another connection", function()
    assert(work())
    local other = open()
    other:count_commits()
    assert(other:transaction(function(tx) return tx:rows "DELETE FROM purser_meta" end))
    assert.equal(2, #processes(other))
    other:close()
    assert(work())
  end)
end)

describe("a counted commit of a server whose connections have sessions", function()
  local commits = require "purser.client.util.database.commits"

  local ASKED = " RETURNING tableoid::text AS place, s AS session"

  -- Returns a transaction of session "own" that answers each statement with the next list of rows.
  local function transaction(...)
    local answers, asked = { ... }, {}
    return { asked = asked, db = { session = "own", kind = { session = "s AS session", POOLED = "it is pooled" } },
      reject = function(_, why) error(why, 0) end,
      rows = function(_, sql)
        asked[#asked + 1] = sql:match "^%u+" .. (sql:sub(-#ASKED) == ASKED and ASKED or "")
        return answers[#asked], 99
      end }
  end

  it("is counted by the rows that return the connection's own session", function()
    local self, own = {}, { { session = "own", place = "1" } }
    local first, second = transaction({}, own), transaction(own)
    commits.count(self, first)
    assert.same({ "UPDATE" .. ASKED, "INSERT" .. ASKED }, first.asked)
    commits.count(self, second)
    assert.same({ "UPDATE" .. ASKED }, second.asked)
    assert.equal(2, self.tried)
  end)

  it("is none where another session answers", function()
    for _, answers in ipairs { { { { session = "other" } } }, { {}, { { session = "other" } } } } do
      local ok, why = pcall(commits.count, {}, transaction(answers[1], answers[2]))
      assert.same({ false, "it is pooled" }, { ok, why })
    end
  end)

  it("is none in a table that was made again, as by a dump that is put back with this process's own commits", function()
    local self = { confirmed = 0 }
    commits.count(self, transaction({}, { { session = "own", place = "1" } }))
    self.confirmed, self.changed_at = 1, "0"
    local ok, why = pcall(commits.count, self, transaction { { session = "own", place = "2" } })
    assert.is_false(ok)
    assert.matches("older than it was", why)
  end)
end)
