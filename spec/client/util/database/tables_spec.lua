-- SPDX-License-Identifier: MIT
-- The tables of a database are made once, by one program, and those of another version are left alone.

local database = require "purser.client.util.database"
local files = require "files"
local tables = require "purser.client.util.database.tables"

local LIST = { { "meta", "name value", 1 }, { "row", "one two three", 2 } }

local function set_of(version, made)
  return { home = "t_meta", version = version, subject = "these", lock = 1, create = function(tx)
    tables.create(tx, "t_", LIST, { "row_three ON t_row (three)" }, function(name)
      return name == "row" and { "four TEXT" } or {}
    end)
    made[#made + 1] = version
  end }
end

describe("The tables of a database", function()
  local db, made

  before_each(function()
    db, made = assert(database.open({ sqlite = files.new_path() }, "t_meta")), {}
  end)
  after_each(function()
    db:close()
    files.remove_kept()
  end)

  it("are made once, with their keys and indexes", function()
    for _ = 1, 2 do assert.is_true(tables.prepare(db, set_of("1", made))) end
    assert.same({ "1" }, made)
    local columns = {}
    for _, column in ipairs(db:rows "SELECT name, CAST(pk AS TEXT) AS pk FROM pragma_table_info('t_row')") do
      columns[#columns + 1] = column.name .. column.pk
    end
    assert.same({ "one1", "two2", "three0", "four0" }, columns)
    assert.equal(1, #db:rows "SELECT name FROM sqlite_master WHERE name = 't_row_three'")
  end)

  it("are not made where that is not allowed", function()
    assert.is_false(tables.prepare(db, set_of("1", made), false))
    assert.same({}, made)
    assert.same({}, db:rows "SELECT name FROM sqlite_master")
  end)

  it("are not made again where another program was first", function()
    local set, looks = set_of("1", made), 0
    set.version, set.check = nil, function()
      looks = looks + 1
      return true
    end
    local transaction = db.transaction
    function db:transaction(fn, reads)
      local result, message = transaction(self, fn, reads)
      if reads then assert(transaction(self, function(tx) set.create(tx) return true end)) end
      return result, message
    end
    assert.is_true(tables.prepare(db, set))
    assert.same({ 1, 1 }, { #made, looks })
  end)

  it("of another version are left alone", function()
    assert(tables.prepare(db, set_of("1", made)))
    assert.same({ nil, "these are of another version of Purser" }, { tables.prepare(db, set_of("2", made)) })
    assert.equal("1", db:transaction(function(tx) return tx:meta "version" end))
  end)

  it("are brought to the present version where that is due, once", function()
    local set, steps = set_of("1", made), {}
    set.check = function(tx) return tx:meta "version" end
    set.is_due = function(found) return found == "1" end
    set.upgrade = function(tx, found)
      steps[#steps + 1] = found
      tx:set_meta("version", "2")
    end
    for _ = 1, 3 do assert.is_true(tables.prepare(db, set)) end
    assert.same({ "1" }, steps)
    assert.equal("2", db:transaction(function(tx) return tx:meta "version" end))
  end)

  it("keep values by name, and nil is none", function()
    assert(tables.prepare(db, set_of("1", made)))
    assert(db:transaction(function(tx)
      tx:set_meta("a", "1")
      tx:set_meta("a", "2")
      assert.same({ "2", "2" }, { tx:meta "a", (tx:meta("a", true)) })
      assert.is_nil(tx:meta "b")
      return true
    end))
  end)
end)
