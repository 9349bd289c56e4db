-- SPDX-License-Identifier: MIT
-- make test-all: 9 s, waits
-- The journal in PostgreSQL: the dumps of spec/golden, and round trips: `make spec
-- SPEC=spec/write/journal/on_postgresql_test.lua` prints them. spec/torture has the rest.

local connection = require "purser.client.util.database.connection"
local counted_statements = require "counted_statements"
local database = require "purser.client.util.database"
local files = require "files"
local golden_journals = require "golden_journals"

local postgresql = dofile "spec/torture/postgresql.lua"

describe("In PostgreSQL", function()
  local folder, server, number
  local busted = { describe = describe, it = it, before_each = before_each, after_each = after_each }

  setup(function()
    folder, number = files.folder(), 0
    server = postgresql.start(folder)
  end)

  teardown(function()
    server.stop "immediate"
    files.remove(folder)
  end)

  -- Returns the options of a new database.
  local function new_database()
    number = number + 1
    local options = {}
    for name, value in pairs(server.options) do options[name] = value end
    local db = assert(database.open { postgresql = options })
    assert(connection.rows(db, ("CREATE DATABASE journal%d"):format(number))) -- in no transaction
    db:close()
    options.database = "journal" .. number
    return { postgresql = options }
  end

  golden_journals.check(busted, new_database)

  it("a call with a journal costs few round trips, with a key and without one, and as a payment of a list", function()
    local counts = counted_statements(new_database())
    print(("# PostgreSQL: %d round trips a call, %d with a key, %.2f a payment"):format(counts.call, counts.with_key,
      counts.payment))
    assert.is_true(counts.call <= 12 and counts.with_key <= 15 and counts.payment <= 16.5, "above the bound")
  end)
end)
