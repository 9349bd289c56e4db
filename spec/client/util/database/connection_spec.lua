-- SPDX-License-Identifier: MIT
-- A connection to a database: statements, whose columns are text, and files that are locked. On SQLite.

local core = require "purser.core"
local database = require "purser.client.util.database"
local files = require "files"
local setting = require "database_setting"

local put, count = setting.put, setting.count
local folder, db

setup(setting.setup)
teardown(setting.teardown)
before_each(function()
  db = setting.begin()
  folder = setting.folder
end)
after_each(function() db:close() end)

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

  -- A column that left its table read as "no", and one spec of 2,500 noticed.
  it("of a strict database raises for a column that its rows lack, and not for one without a value", function()
    db.strict = true
    local row = assert(db:rows "SELECT '1' AS one, NULL AS two")[1]
    assert.same({ "1" }, { row.one, row.two })
    assert.has_error(function() return row.three end, 'a row of the database has no column "three"')
    db.strict = nil
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

-- To close a file gives up the locks that the process has on it (fcntl(2)), those of its open databases, too.
describe("the files of an open database", function()
  local own_files = require "purser.client.util.files"
  local key_file = require "purser.client.util.key_file"

  -- Returns whether another process locks the database alone: "yes" or "no".
  local function locks_elsewhere(path)
    return files.output_of_program(([[
      local database = require "purser.client.util.database"
      io.write(database.lock_file(%q) and "yes" or "no")]]):format(path))
  end

  -- Each way of the library to open a file by a name that a person gave.
  local ways = {
    read = own_files.read, trusted = own_files.read_trusted, object = own_files.read_object, draft = own_files.draft,
    problem = own_files.name_problem, can_replace = own_files.can_replace, key = key_file.read,
    secret = require("purser.client.util.secrets").from_file,
    replace = function(path) return own_files.replace(path, "") end,
    private = function(path) return own_files.open_private(path, "rb") end,
    vault = function(path) return require("purser.desk.fleet.vault").open(path, { read_only = true }) end,
  }

  it("stay locked, whatever looks at them by name, and are read again once they are closed", function()
    local alone = folder .. "/alone"
    local unlock = assert(database.lock_file(alone))
    assert.equal("no", locks_elsewhere(alone))
    for name, way in pairs(ways) do
      assert(way(alone) == nil or name == "problem", name)
      collectgarbage() -- closes what was left open
      assert.equal("no", locks_elsewhere(alone), name)
    end
    unlock()
    assert.equal("yes", locks_elsewhere(alone))
    assert.equal("", own_files.read(alone))
    assert.is_nil(own_files.name_problem(alone))
  end)

  it("are told from others by what they are, and not by a name", function()
    os.execute(("ln -s db %s/link"):format(folder))
    for _, name in ipairs { "/db", "/link", "/db-wal", "/db-shm", "/../" .. folder:match "[^/]+$" .. "/db" } do
      assert.is_true(own_files.is_database(folder .. name), name)
    end
    assert.is_nil((own_files.read(folder .. "/db")))
    assert.matches("^it is a database", own_files.name_problem(folder .. "/db-wal"))
    db:close()
    assert.is_false(own_files.is_database(folder .. "/db"))
    assert.matches("^SQLite format 3", (own_files.read(folder .. "/db")))
  end)
end)

describe("a locked file", function()
  it("stays locked until it is unlocked, against this process and others, and stays empty", function()
    local lock = folder .. "/lock"
    local unlock = assert(database.lock_file(lock))
    assert.is_false((database.lock_file(lock)))
    assert.equal("0\n", files.output_of("wc -c <" .. lock)) -- in a process of its own: see above
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
