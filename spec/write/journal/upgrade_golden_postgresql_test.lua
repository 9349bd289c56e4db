-- SPDX-License-Identifier: MIT
-- make test-all: 8 s, waits
-- Each later Purser opens the journals of spec/golden in PostgreSQL, and knows all that they know.

local connection = require "purser.client.util.database.connection"
local database = require "purser.client.util.database"
local files = require "files"
local golden_journals = require "golden_journals"

local postgresql = dofile "spec/torture/postgresql.lua"

describe("In PostgreSQL", function()
  local folder, server, number

  setup(function()
    folder, number = files.folder(), 0
    server = postgresql.start(folder)
  end)

  teardown(function()
    server.stop "immediate"
    files.remove(folder)
  end)

  local busted = { describe = describe, it = it, before_each = before_each, after_each = after_each }

  golden_journals.check(busted, function()
    number = number + 1
    local options = {}
    for name, value in pairs(server.options) do options[name] = value end
    local db = assert(database.open { postgresql = options })
    assert(connection.rows(db, ("CREATE DATABASE golden%d"):format(number))) -- in no transaction
    db:close()
    options.database = "golden" .. number
    return { postgresql = options }
  end)
end)
