-- SPDX-License-Identifier: MIT
-- The tables of the books are made once, and those of another version are left alone.

local database = require "purser.client.util.database"
local files = require "files"
local schema = require "purser.desk.books.schema"

describe("The tables of the books", function()
  after_each(files.remove_kept)

  it("are made once, with a view for each kind of record", function()
    local db = assert(database.open { sqlite = files.new_path() })
    assert.same({ nil, schema.NONE }, { schema.make(db) })
    assert.is_true(schema.make(db, true))
    assert.is_true(schema.make(db))
    for _, entity in ipairs(schema.entities) do
      assert.same({}, db:rows("SELECT * FROM purser_books_" .. entity))
    end
    db:close()
  end)

  it("are not used where they are of another version", function()
    local db = assert(database.open { sqlite = files.new_path() })
    assert(schema.make(db, true))
    assert(db:rows "UPDATE purser_books_meta SET value = '2' WHERE name = 'version'")
    local made, message = schema.make(db)
    assert.is_nil(made)
    assert.equal("the books are of another version of Purser", message)
    db:close()
  end)
end)
