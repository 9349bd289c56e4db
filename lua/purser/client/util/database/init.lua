-- SPDX-License-Identifier: MIT
-- A connection to SQLite or PostgreSQL through LuaDBI without the traps of LuaDBI: columns are text, statements are
-- prepared once, results are read to the end, a transaction is whole or nothing. A failure is nil and a message. The
-- next transaction opens a lost connection again.

local core = require "purser.core"
local postgresql = require "purser.client.util.database.postgresql"
local schedule = require "purser.schedule"
local sqlite = require "purser.client.util.database.sqlite"

local Database = { __name = "purser.database" }
Database.__index = Database

local M = {}

local function load_driver(kind)
  local ok, driver = pcall(require, "DBI")
  if not ok then return nil, "LuaDBI is missing; install it (Debian: " .. kind.package .. ")" end
  local loaded, why = pcall(require, "dbd." .. kind.driver:lower())
  if not loaded then
    return nil, ("LuaDBI's driver for %s is missing; install it (Debian: %s): %s"):format(kind.driver, kind.package,
      tostring(why):match("^[^\n]*"))
  end
  return driver
end

-- Returns a message without LuaDBI's own words and places, on one line.
local function plain(message)
  if tostring(message):find('prepared statement "', 1, true) then return postgresql.POOLED end
  return (tostring(message):gsub("^[^\n]-%.lua:%d+: ", ""):gsub("^Execute failed ", "")
    :gsub("^Error preparing statement handle: ", ""):gsub("^Error allocating statement handle: ", "")
    :gsub("^Error executing statement parameters: ", "")
    :gsub("^Failed to connect to database: ", ""):gsub("%s+$", ""):gsub("%s*\n%s*", " "))
end

-- The connections of parent processes. The child of a fork must neither use nor close the parent's connection, and
-- keeps the connection without a finaliser.
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

-- Closes statements before the connection: SQLite closes no connection with open statements.
local function drop(self)
  if self.handle and self.process ~= core.process_id() then leave_to_parent(self) end
  for _, statement in pairs(self.statements or {}) do pcall(statement.close, statement) end
  if self.handle then pcall(self.handle.close, self.handle) end
  self.handle, self.statements = nil, {}
end

-- Opens a connection where there is none.
local function ensure(self)
  if self.closed then return nil, "it is closed" end
  if self.handle and self.process == core.process_id() then return true end
  drop(self)
  local driver, message = load_driver(self.kind)
  if not driver then return nil, message end
  local ok, handle
  ok, handle, message = pcall(self.connect, driver)
  if not ok then return nil, plain(handle) end
  if not handle then return nil, plain(message) end
  self.handle, self.statements, self.process = handle, {}, core.process_id()
  handle:autocommit(true)
  local greeted, why = pcall(self.kind.greet, self)
  if greeted then return true end
  drop(self)
  return nil, plain(why)
end

local function statement_of(self, sql)
  local statement = self.statements[sql]
  if statement then return statement end
  local message
  statement, message = self.handle:prepare(sql)
  if not statement then return nil, plain(message) end
  self.statements[sql] = statement
  return statement
end

-- Closes a failed statement, which may hold a lock and would fail again. Returns nil and the message.
local function forget(self, sql, message)
  local statement = self.statements[sql]
  self.statements[sql] = nil
  if statement then pcall(statement.close, statement) end
  return nil, plain(message)
end

local function gives_rows(sql)
  return sql:find "^%s*SELECT" or sql:find "^PRAGMA" or sql:find("RETURNING", 1, true)
end

-- Returns the error of a text with a zero byte, where both databases end a text; or nil.
local function values_error(...)
  local values = { ... }
  for i = 1, select("#", ...) do
    local value = values[i]
    if type(value) == "string" and value:find("\0", 1, true) then
      return ("a text to be kept holds a zero byte (%s...); leave it out"):format(value:match "^[^%c]*":sub(1, 40))
    end
  end
end

local function run(self, sql, ...)
  local ok, message = ensure(self)
  if not ok then return nil, message end
  local statement
  statement, message = statement_of(self, sql)
  if not statement then return nil, message end
  message = values_error(...)
  if message then return nil, message end
  local ran
  ok, ran, message = pcall(statement.execute, statement, ...)
  if not ok or not ran then return forget(self, sql, ok and message or ran) end
  local rows = {}
  if gives_rows(sql) then
    ok, message = pcall(function()
      for row in statement:rows(true) do rows[#rows + 1] = row end
    end)
    if not ok then return forget(self, sql, message) end
  end
  return rows, statement:affected()
end

-- Rests as the host does; where nginx forbids sleep, as in init_worker_by_lua, the thread rests.
local function rest(sleep)
  local slept, problem = schedule.protect(sleep, 5)
  if slept then return end
  if not tostring(problem):find("API disabled in the context of", 1, true) then error(problem, 0) end
  core.sleep_ms(5)
end

-- Repeats an action on a locked file until `lock_timeout_ms` have passed, with the host's `sleep`: SQLite's own wait
-- would stop the whole thread.
local function patiently(self, act, ...)
  local rows, affected = act(self, ...)
  if rows or not self.sleep or self.kind ~= sqlite or self.busy then return rows, affected end
  local ends = core.monotonic_ms() + self.lock_timeout_ms
  while not rows and tostring(affected):find("database is locked", 1, true) and core.monotonic_ms() < ends do
    rest(self.sleep)
    rows, affected = act(self, ...)
  end
  return rows, affected
end

--- Runs a statement with `$1`, `$2` ... in order. Returns the rows (maps of text) and the number of changed rows; or
--- nil and a message. A server's connection that fails outside of a transaction is given up; a SELECT is tried once
--- more.
function Database:rows(sql, ...)
  local rows, affected = patiently(self, run, sql, ...)
  if rows or self.kind ~= postgresql or self.busy or not self.handle then return rows, affected end
  drop(self)
  if not sql:find "^%s*SELECT" then return nil, affected end
  rows, affected = run(self, sql, ...)
  if not rows then drop(self) end
  return rows, affected
end

-- Failures within a transaction are raised.
local Transaction = {}
Transaction.__index = Transaction

local Failure = {}

local function fail(problem)
  error(setmetatable({ problem = problem }, Failure), 0)
end

function Transaction:rows(sql, ...)
  local rows, affected = self.db:rows(sql, ...)
  if not rows then fail(affected) end
  self.changes = self.changes or not gives_rows(sql)
  return rows, affected
end

--- Undoes the transaction, which returns nil and `problem`.
function Transaction.reject(_, problem)
  fail(problem)
end

--- Keeps other hosts out until the end of the transaction. (SQLite's transactions always do.)
function Transaction:lock(number)
  if self.db.name == "postgresql" then self:rows("SELECT pg_advisory_xact_lock(" .. number .. ")::text AS locked") end
end

--- Returns the time that all hosts of the database share, epoch ms; one time for a transaction.
function Transaction:now()
  if not self.time then
    local message
    self.time, message = self.db.kind.now(self.db)
    if not self.time then fail(message) end
  end
  return self.time
end

------------------------------------------------------------------------------------------------ counted commits

-- Numbers that grow with each commit, in a row for each process. A journal with a smaller number than the process
-- remembers was put back, or lost commits.

-- Returns the text of a number with leading zeros, so that texts have the order of numbers.
local function text_of(number)
  return ("%016d"):format(number)
end

-- Names the row of a process, another one for the child of a fork.
local function name_process(self, tx)
  local token, why = core.random_token(16)
  if not token then tx:reject("no random name could be made: " .. tostring(why)) end
  self.name, self.process, self.confirmed, self.tried = "process " .. token, core.process_id(), 0, 0
end

local OLDER = "the journal is older than it was: it lacks what this process wrote into it, as a copy that is put back "
  .. "does; find out what was lost, then open it again (docs/write/journal.md)"

-- Tells whether prune removed the row of a process, which was old then.
local function was_pruned(self, tx)
  local row = tx:rows "SELECT value FROM purser_meta WHERE name = 'pruned_before'"[1]
  return row ~= nil and row.value > self.changed_at
end

-- Runs the counting statement, and ends a transaction on another session than the connection's. Returns the number of
-- changed rows.
local function change(tx, sql, ...)
  local kind = tx.db.kind
  local rows, changed = tx:rows(sql .. (kind.session and " RETURNING " .. kind.session or ""), ...)
  if not kind.session then return changed end
  if rows[1] and rows[1].session ~= tx.db.session then tx:reject(kind.POOLED) end
  return #rows
end

-- Counts a commit as the transaction's last statement. A failed commit may have been made, so the process remembers the
-- last certain commit. Ends the transaction when the journal lacks that commit.
local function count_commit(self, tx)
  if self.process ~= core.process_id() then name_process(self, tx) end
  self.tried = self.tried + 1
  self.time = ("%013d"):format(core.now_ms())
  local changed = change(tx, [[UPDATE purser_generations SET generation = $1, changed_at = $2 WHERE name = $3
    AND generation >= $4]], text_of(self.tried), self.time, self.name, text_of(self.confirmed))
  if changed == 1 then return end
  if self.confirmed > 0 and not was_pruned(self, tx) then tx:reject(OLDER) end
  change(tx, "INSERT INTO purser_generations (name, generation, changed_at) VALUES ($1, $2, $3)", self.name,
    text_of(self.tried), self.time)
end

--- Counts the commits of this process from now on, in the journal and in memory.
function Database:count_commits()
  self.counted = { process = false }
end

---------------------------------------------------------------------------------------------------- transactions

-- Begins to read a file. A file that another process opens or closes is locked for an instant: nothing has begun then,
-- and other tasks may use the connection before the next attempt.
local function begin_reading(self)
  local ok, message = run(self, self.kind.begin_reading)
  if ok then ok, message = run(self, "SELECT name FROM sqlite_master LIMIT 1") end
  if not ok then run(self, "ROLLBACK") end
  return ok, message
end

local function begin(self, reads)
  if reads and self.kind == sqlite then return patiently(self, begin_reading) end
  local how = reads and self.kind.begin_reading or self.kind.begin
  local ok, message = self:rows(how)
  if ok or self.kind == sqlite then return ok, message end
  return self:rows(how) -- the connection was lost since it was used, and nothing has been done yet
end

local function within(self, fn, reads)
  local tx = setmetatable({ db = self }, Transaction)
  local own = reads and self.kind.session and (tx:rows("SELECT " .. self.kind.session)[1] or {})
  if own and own.session ~= self.session then tx:reject(self.kind.POOLED) end
  local result, second = fn(tx)
  local counted = tx.changes and self.counted
  if counted then count_commit(counted, tx) end
  return counted, result, second
end

local NESTED = "a transaction is under way: a finaliser or a callback made this call within it; make it when the call "
  .. "has ended"

-- Runs `fn` in a begun transaction, and ends the transaction. Returns as Database:transaction does.
local function conclude(self, fn, reads)
  self.busy = true
  local ran, counted, result, second = pcall(within, self, fn, reads)
  local ok, message = ran, nil
  if ran then ok, message = self:rows "COMMIT" end
  if ok then
    self.busy = false
    if counted then self.counted.confirmed, self.counted.changed_at = self.counted.tried, self.counted.time end
    return result, second
  end
  if not ran then
    if getmetatable(counted) ~= Failure then error(counted, 0) end
    message = counted.problem
  end
  local undone, why = self:rows "ROLLBACK" -- SQLite undoes some by itself
  self.busy = false
  if not undone and not why:find("no transaction is active", 1, true) then drop(self) end
  return nil, message
end

local function attempt(self, fn, reads)
  local ok, message = ensure(self)
  message = not ok and message or self.kind.connection_error(self)
  if message then return nil, message end
  ok, message = begin(self, reads)
  if not ok then return nil, message end
  return conclude(self, fn, reads)
end

--- Runs `fn(transaction)`, commits, and returns the results of `fn`. A failure undoes everything and returns nil and
--- the problem. A raised error is raised again, and the connection is given up: an open transaction would keep all
--- other processes out.
---@param reads boolean|nil  `fn` only reads, one state of the database, and waits for no lock
function Database:transaction(fn, reads)
  -- PostgreSQL takes a BEGIN within a transaction: the inner COMMIT would end the outer transaction half done
  if self.busy then return nil, NESTED end
  local went, result, second = schedule.protect(attempt, self, fn, reads)
  if went then return result, second end
  self.busy = false
  drop(self)
  error(result, 0)
end

function Database:close()
  drop(self)
  self.closed = true
end

--- Locks a file, which is made if missing and stays empty, until this process ends. Returns a function that unlocks the
--- file; false for a locked file; or nil and a message.
---@param path string
---@return (fun())|false|nil unlock, string|nil message
function M.lock_file(path)
  local driver, message = load_driver(sqlite)
  if not driver then return nil, message end
  local ok, handle, why = pcall(sqlite.connect, driver, { sqlite = path })
  if not ok or not handle then return nil, plain(ok and why or handle) end
  local lock = { statements = {}, handle = handle, process = core.process_id() }
  handle:autocommit(true)
  local locked
  locked, why = run(lock, "BEGIN EXCLUSIVE")
  if locked then return function() drop(lock) end end
  drop(lock)
  if why:find("database is locked", 1, true) then return false end
  return nil, why
end

--- Opens a database: { sqlite = path } or { postgresql = { database, user, password, host, port, sslmode, sslrootcert,
--- allow_insecure } }, lock_timeout_ms, sleep, and relaxed: a commit of SQLite may be lost with the machine's power.
function M.open(options)
  local kind = options.sqlite and sqlite or postgresql
  local self = setmetatable({ name = kind.name, kind = kind, statements = {},
    lock_timeout_ms = options.lock_timeout_ms or 5000, relaxed = options.relaxed, sleep = options.sleep or false,
    connect = function(driver) return kind.connect(driver, options) end, -- the password is in here alone
  }, Database)
  local ok, message = ensure(self)
  if not ok then return nil, message end
  return self
end

return M
