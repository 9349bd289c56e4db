-- SPDX-License-Identifier: MIT
-- A SQLite database with a table for specs of client/util/database, made for each test:
--
--     local at = require "database_setting"
--     setup(at.setup) teardown(at.teardown)
--     before_each(function() db = at.begin() end)   -- at.path, at.folder
--     after_each(function() db:close() end)

local database = require "purser.client.util.database"
local files = require "files"

local M = {}

function M.setup() M.folder = files.folder() end

function M.teardown() files.remove(M.folder) end

--- Opens another connection to it.
function M.open(options)
  local all = { sqlite = M.path }
  for name, value in pairs(options or {}) do all[name] = value end
  return database.open(all)
end

--- Returns a connection to a new one.
function M.begin()
  os.execute("rm -f " .. M.folder .. "/*")
  M.path = M.folder .. "/db"
  M.db = assert(M.open())
  assert(M.db:rows "CREATE TABLE purser_t (name TEXT PRIMARY KEY, value TEXT)")
  return M.db
end

function M.put(tx, name, value)
  return tx:rows("INSERT INTO purser_t (name, value) VALUES ($1, $2)", name, value)
end

function M.count() return #assert(M.db:rows "SELECT name FROM purser_t") end

return M
