-- SPDX-License-Identifier: MIT
-- A connection through LuaDBI: statements prepared once, results read to the end, locked files, forks.

local core = require "purser.core"
local files = require "purser.client.util.files"
local postgresql = require "purser.client.util.database.postgresql"
local schedule = require "purser.schedule"
local sqlite = require "purser.client.util.database.sqlite"

local concat, find = table.concat, string.find
local unpack = table.unpack or unpack -- luacheck: ignore

local Database = {}
Database.__index = Database

local M = { Database = Database }

local function load_driver(kind)
  local ok, driver = pcall(require, "DBI")
  local cure = ("install it (LuaRocks: %s, Debian: %s)"):format(kind.package:gsub("^lua%-", "lua"), kind.package)
  if not ok then return nil, "LuaDBI is missing; " .. cure end
  local loaded, why = pcall(require, "dbd." .. kind.driver:lower())
  if not loaded then
    return nil, ("LuaDBI's driver for %s is missing; %s: %s"):format(kind.driver, cure, tostring(why):match("^[^\n]*"))
  end
  return driver
end

-- Returns a message on one line without LuaDBI's words and places.
local function plain(message)
  if tostring(message):find('prepared statement "', 1, true) then return postgresql.POOLED end
  return (tostring(message):gsub("^[^\n]-%.lua:%d+: ", ""):gsub("^Execute failed ", "")
    :gsub("^Error preparing statement handle: ", ""):gsub("^Error allocating statement handle: ", "")
    :gsub("^Error executing statement parameters: ", "")
    :gsub("^Failed to connect to database: ", ""):gsub("%s+$", ""):gsub("%s*\n%s*", " "))
end

-- The connections of parent processes: a fork's child neither uses nor closes them, and keeps them without a finaliser.
local of_parents = {}

local function leave_to_parent(self)
  for _, statement in pairs(self.statements or {}) do
    debug.setmetatable(statement, nil)
    of_parents[#of_parents + 1] = statement
  end
  debug.setmetatable(self.handle, nil)
  of_parents[#of_parents + 1] = self.handle
  self.handle, self.statements = nil, {}
end

--- Closes statements first: SQLite closes no connection with open statements.
function M.drop(self)
  if self.handle and self.process ~= core.process_id() then leave_to_parent(self) end
  for _, statement in pairs(self.statements or {}) do pcall(statement.close, statement) end
  if self.handle then pcall(self.handle.close, self.handle) end
  self.handle, self.statements = nil, {}
end

function M.ensure(self)
  if self.closed then return nil, "it is closed" end
  if self.handle and self.process == core.process_id() then return true end
  M.drop(self)
  local driver, message = load_driver(self.kind)
  if not driver then return nil, message end
  local ok, handle
  ok, handle, message = pcall(self.connect, driver)
  if not ok then return nil, plain(handle) end
  if not handle then return nil, plain(message) end
  self.handle, self.statements, self.process = handle, {}, core.process_id()
  handle:autocommit(true)
  local greeted, why = pcall(self.kind.greet, self, M.run)
  if greeted then return true end
  M.drop(self)
  return nil, plain(why)
end

-- Closes a failed statement, which may hold a lock. Returns nil and the message.
local function forget(self, sql, message)
  local statement = self.statements[sql]
  self.statements[sql] = nil
  if statement then pcall(statement.close, statement) end
  return nil, plain(message)
end

local giving = {} -- by SQL text, of which there are as many as prepared statements

function M.gives_rows(sql)
  local gives = giving[sql]
  if gives == nil then
    gives = (sql:find "^%s*SELECT" or sql:find "^PRAGMA" or sql:find("RETURNING", 1, true)) ~= nil
    giving[sql] = gives
  end
  return gives
end

-- Returns the error of a text with a zero byte, where both databases end a text; or nil.
local function values_error(...)
  local count = select("#", ...)
  if count == 0 then return end
  local values = { ... }
  local are_texts, all = pcall(concat, values, "", 1, count)
  if are_texts and not find(all, "\0", 1, true) then return end -- nearly always
  for i = 1, count do
    local value = values[i]
    if type(value) == "string" and value:find("\0", 1, true) then
      return ("a text to be kept holds a zero byte (%s...); leave it out"):format(value:match "^[^%c]*":sub(1, 40))
    end
  end
end

local shapes = setmetatable({}, { __mode = "k" }) -- by statement

-- Returns the metatable of a statement's rows in a database that is `strict`. Such a row raises for a column that the
-- query lacks: its nil would be a "no".
local function shape_of(statement)
  if shapes[statement] then return shapes[statement] end
  local has = {}
  for _, name in ipairs(statement:columns()) do has[name] = true end
  shapes[statement] = { __index = function(_, name)
    if not has[name] then error(("a row of the database has no column %q"):format(tostring(name)), 2) end
  end }
  return shapes[statement]
end

local function read(self, statement)
  local rows, shape = {}, self.strict and shape_of(statement) or nil
  for row in statement:rows(true) do rows[#rows + 1] = shape and setmetatable(row, shape) or row end
  return rows
end

--- Runs a statement once, with the results of Database:rows.
function M.run(self, sql, ...)
  local ok, message = M.ensure(self)
  if not ok then return nil, message end
  local statement = self.statements[sql]
  if not statement then
    statement, message = self.handle:prepare(sql)
    if not statement then return nil, plain(message) end
    self.statements[sql] = statement
  end
  message = values_error(...)
  if message then return nil, message end
  local ran, rows
  ok, ran, message = pcall(statement.execute, statement, ...)
  if not ok or not ran then return forget(self, sql, ok and message or ran) end
  if M.gives_rows(sql) then
    ok, rows = pcall(read, self, statement)
    if not ok then return forget(self, sql, rows) end
  end
  return rows or {}, statement:affected()
end

-- Where nginx forbids sleep, as in init_worker_by_lua, the thread rests.
local function rest(sleep)
  local slept, problem = schedule.protect(sleep, 5)
  if slept then return end
  if not tostring(problem):find("API disabled in the context of", 1, true) then error(problem, 0) end
  core.sleep_ms(5)
end

--- Repeats an action on a locked file for `lock_timeout_ms` by the host's `sleep`: SQLite's wait stops the thread.
function M.patiently(self, act, ...)
  local rows, affected = act(self, ...)
  if rows or not self.sleep or self.kind ~= sqlite or self.busy then return rows, affected end
  local ends = core.monotonic_ms() + self.lock_timeout_ms
  while not rows and tostring(affected):find("database is locked", 1, true) and core.monotonic_ms() < ends do
    rest(self.sleep)
    rows, affected = act(self, ...)
  end
  return rows, affected
end

--- Runs a statement where it is, in a begun transaction or in none. A failing server connection outside of a
--- transaction is given up. Results as Database:rows.
function M.rows(self, sql, ...)
  local rows, affected = M.patiently(self, M.run, sql, ...)
  if not rows and self.kind == postgresql and not self.busy then M.drop(self) end
  return rows, affected
end

-- A query of a server in no transaction takes one round trip. Each row names the session that answered. A query without
-- rows gives one row, with the session alone.
local GUARDED = "SELECT own.session AS of_session, found.* FROM (SELECT " .. postgresql.session .. ") AS own "
  .. "LEFT JOIN (SELECT '1'::text AS is_found, asked.* FROM (%s) AS asked) AS found ON true"
local guarded = {} -- by SQL text

local function read_guarded(self, sql, ...)
  guarded[sql] = guarded[sql] or GUARDED:format((sql:gsub("%%", "%%%%")))
  local rows, message = M.rows(self, guarded[sql], ...)
  if not rows then rows, message = M.rows(self, guarded[sql], ...) end -- the connection was lost since it was used
  if not rows then return nil, message end
  local found = {}
  for i, row in ipairs(rows) do
    if rawget(row, "of_session") ~= self.session then return nil, postgresql.POOLED end
    if rawget(row, "is_found") then found[i], row.of_session, row.is_found = row, nil, nil end
  end
  if not rows[1] then return nil, postgresql.POOLED end
  return found, 0
end

--- Runs a statement with `$1`, `$2` ... in order. Returns rows (maps of text) and the number of changed rows; or nil
--- and a message. Outside of a transaction a server is asked whose session it has, too.
function Database:rows(sql, ...)
  if self.kind ~= postgresql or self.busy then return M.rows(self, sql, ...) end
  -- a join keeps no order
  local is_plain = sql:find "^%s*SELECT" and not sql:find("ORDER BY", 1, true) and not sql:find("FOR UPDATE", 1, true)
  if is_plain and self.session then return read_guarded(self, sql, ...) end
  local values, count = { ... }, select("#", ...)
  return self:transaction(function(tx) return tx:rows(sql, unpack(values, 1, count)) end,
    sql:find "^%s*SELECT" ~= nil)
end

function Database:close()
  M.drop(self)
  self.closed = true
end

--- Locks a file, which is made if missing, until this process ends. Returns an unlocking function; false for a locked
--- file; or nil and a message.
function M.lock_file(path)
  local driver, message = load_driver(sqlite)
  if not driver then return nil, message end
  local ok, handle, why = pcall(sqlite.connect, driver, { sqlite = path })
  if not ok or not handle then return nil, plain(ok and why or handle) end
  local lock = { statements = {}, handle = handle, process = core.process_id(),
    files = { { id = select(3, core.file_mode(path)) } } }
  files.databases[lock] = true
  handle:autocommit(true)
  local locked
  locked, why = M.run(lock, "BEGIN EXCLUSIVE")
  if locked then return function() M.drop(lock) end end
  M.drop(lock)
  if why:find("database is locked", 1, true) then return false end
  return nil, why
end

return M
