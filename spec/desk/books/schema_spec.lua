-- SPDX-License-Identifier: MIT
-- The tables of the books are made once, and those of another version are left alone.

local database = require "purser.client.util.database"
local files = require "files"
local schema = require "purser.desk.books.schema"
local witnesses = require "purser.client.util.database.witness"

describe("The tables of the books", function()
  after_each(files.remove_kept)

  it("are made once, with a view for each kind of record", function()
    local db = assert(database.open({ sqlite = files.new_path() }, schema.HOME))
    assert.same({ nil, schema.NONE }, { schema.make(db) })
    assert.is_true(schema.make(db, true, witnesses.of(db)))
    assert.is_true(schema.make(db))
    local views = {}
    for i, view in ipairs(db:rows "SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name") do
      views[i] = view.name:gsub("^purser_books_", "")
      assert.same({}, db:rows("SELECT * FROM " .. view.name))
    end
    assert.equal("address api_key call conversion deposit internal_transfer rebate status sub_account transfer "
      .. "withdrawal", table.concat(views, " "))
    db:close()
  end)

  it("have one row a key, and an index for each question that is asked often", function()
    local db = assert(database.open({ sqlite = files.new_path() }, schema.HOME))
    assert(schema.make(db, true, witnesses.of(db)))
    local keys = {}
    for _, table_ in ipairs(db:rows "SELECT name FROM sqlite_master WHERE type = 'table'") do
      local columns = {}
      for _, column in ipairs(db:rows(("SELECT name FROM pragma_table_info('%s') WHERE pk > 0 ORDER BY pk"):format(
        table_.name))) do columns[#columns + 1] = column.name end
      keys[table_.name:gsub("^purser_books_", "")] = table.concat(columns, " ")
    end
    assert.same({ meta = "name", record = "rid", change = "rid n", source = "account owner list", reach = "account rev",
      owner = "account owner", gap = "account owner list starts rev", reading = "account owner at rev",
      word = "account rev verb rid", period = "account ends", delivery = "receiver id", event = "id",
      receiver = "name" }, keys)
    local indexes = {}
    for _, index in ipairs(db:rows "SELECT name FROM sqlite_master WHERE type = 'index' AND sql <> ''") do
      indexes[#indexes + 1] = index.name:gsub("^purser_books_", "")
    end
    table.sort(indexes)
    assert.same({ "delivery_due", "record_open", "record_source", "record_time" }, indexes)
    db:close()
  end)

  it("are not used where they are of another version", function()
    local db = assert(database.open({ sqlite = files.new_path() }, schema.HOME))
    assert(schema.make(db, true, witnesses.of(db)))
    assert(db:rows "UPDATE purser_books_meta SET value = '1' WHERE name = 'version'")
    local made, message = schema.make(db)
    assert.is_nil(made)
    assert.equal("the books are of another version of Purser", message)
    db:close()
  end)
end)
