-- SPDX-License-Identifier: MIT
-- A connection to SQLite or PostgreSQL through LuaDBI: columns are text, a transaction is whole or nothing, a failure
-- is nil and a message. The next transaction opens a lost connection again.

local commits = require "purser.client.util.database.commits"
local connection = require "purser.client.util.database.connection"
local postgresql = require "purser.client.util.database.postgresql"
local schedule = require "purser.schedule"
local sqlite = require "purser.client.util.database.sqlite"

local Database = connection.Database

local M = { lock_file = connection.lock_file }

-- Failures within a transaction raise.
local Transaction = {}
Transaction.__index = Transaction

local Failure = {}

local function fail(problem)
  error(setmetatable({ problem = problem }, Failure), 0)
end

function Transaction:rows(sql, ...)
  local rows, affected = self.db:rows(sql, ...)
  if not rows then fail(affected) end
  self.changes = self.changes or not connection.gives_rows(sql)
  return rows, affected
end

--- Undoes the transaction, which returns nil and `problem`.
function Transaction.reject(_, problem)
  fail(problem)
end

--- Keeps other hosts out until the transaction's end, as SQLite always does. Databases in two schemas have two locks.
---@param name string|integer
---@param is_shared boolean|nil  lets in those that share the lock as well
---@param other string|integer|nil  a second lock, which is not shared
function Transaction:lock(name, is_shared, other)
  if self.db.kind ~= postgresql then return end
  local sql = ("SELECT pg_catalog.pg_advisory_xact_lock%s(pg_catalog.hashtext($1), pg_catalog.hashtext($2))::text "
    .. "AS locked"):format(is_shared and "_shared" or "")
  if not other then return self:rows(sql, tostring(name), self.db.schema) and nil end
  self:rows(sql .. ", pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext($3), pg_catalog.hashtext($4))::text "
    .. "AS other", tostring(name), self.db.schema, tostring(other), self.db.schema)
end

--- Tells if the database has a table: on a server, in its own schema.
---@param name string
function Transaction:has(name)
  local schema = self.db.schema
  local rows = schema and self:rows(self.db.kind.has, name, schema) or self:rows(self.db.kind.has, name)
  return rows[1] ~= nil
end

--- Returns the value of a name in the database's home table, whose columns are name and value; nil for none.
---@param name string
---@param locks boolean|nil  no other host changes it until the transaction ends
---@return string|nil value
function Transaction:meta(name, locks)
  local sql = "SELECT value FROM " .. self.db.home .. " WHERE name = $1"
  local row = self:rows(locks and self.db.kind.session and sql .. " FOR UPDATE" or sql, name)[1]
  return row and row.value
end

---@param name string
---@param value string
function Transaction:set_meta(name, value)
  self:rows("INSERT INTO " .. self.db.home .. " (name, value) VALUES ($1, $2) "
    .. "ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value)
end

--- Returns the time that all hosts of the database share, epoch ms, one for a transaction.
function Transaction:now()
  if not self.time then
    local message
    self.time, message = self.db.kind.now(self.db)
    if not self.time then fail(message) end
  end
  return self.time
end

function Database:count_commits()
  self.counted = { process = false }
end

-- A file that another process opens or closes is locked for an instant: nothing begins then, and other tasks may use
-- the connection before the next attempt.
local function begin_reading(self)
  local ok, message = connection.run(self, self.kind.begin_reading)
  if ok then ok, message = connection.run(self, "SELECT name FROM sqlite_master LIMIT 1") end
  if not ok then connection.run(self, "ROLLBACK") end
  return ok, message
end

local function begin(self, reads)
  if reads and self.kind == sqlite then return connection.patiently(self, begin_reading) end
  local how = reads and self.kind.begin_reading or self.kind.begin
  local ok, message = connection.rows(self, how)
  if ok or self.kind == sqlite then return ok, message end
  return connection.rows(self, how) -- the connection was lost since it was used, and nothing has been done yet
end

local function within(self, fn, reads)
  local tx = setmetatable({ db = self }, Transaction)
  local is_asked = self.kind.session and (reads or not self.counted) -- the count of a commit asks as well
  local own = is_asked and (tx:rows("SELECT " .. self.kind.session)[1] or {})
  if own and rawget(own, "session") ~= self.session then tx:reject(self.kind.POOLED) end
  local result, second = fn(tx)
  local counted = tx.changes and self.counted
  if counted then commits.count(counted, tx) end
  return counted, result, second
end

local NESTED = "a transaction is under way: a finaliser or a callback made this call within it; make it when the call "
  .. "has ended"

-- Runs `fn` in a begun transaction and ends it, with the results of Database:transaction.
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
  if not undone and not why:find("no transaction is active", 1, true) then connection.drop(self) end
  return nil, message
end

local function attempt(self, fn, reads)
  local ok, message = connection.ensure(self)
  message = not ok and message or self.kind.connection_error(self)
  if message then return nil, message end
  ok, message = begin(self, reads)
  if not ok then return nil, message end
  return conclude(self, fn, reads)
end

--- Runs `fn(transaction)`, commits, and returns the results of `fn`. A failure undoes everything: nil and the problem.
--- A raised error is raised again without the connection: an open transaction would keep other processes out.
---@param reads boolean|nil  `fn` only reads, one state of the database, and waits for no lock
function Database:transaction(fn, reads)
  -- PostgreSQL takes a BEGIN in a transaction: the inner COMMIT would end the outer transaction half done
  if self.busy then return nil, NESTED end
  local went, result, second = schedule.protect(attempt, self, fn, reads)
  if went then return result, second end
  self.busy = false
  connection.drop(self)
  error(result, 0)
end

--- Opens a database: { sqlite = path } or { postgresql = { database, user, password, host, port, sslmode, sslrootcert,
--- allow_insecure } }, lock_timeout_ms, sleep, and relaxed: a commit of SQLite may be lost with the machine's power.
--- `home` is a table of the database: along the role's search path, the schema with `home` is used alone. The object
--- shows `schema`; `place`, a value that is equal as long as connections lead to the same database of a server; and
--- `doubt`, why the database may lack earlier commits, or nil.
---@param options table
---@param home string|nil
function M.open(options, home)
  local kind = options.sqlite and sqlite or postgresql
  local self = setmetatable({ name = kind.name, kind = kind, statements = {},
    lock_timeout_ms = options.lock_timeout_ms or 5000, relaxed = options.relaxed, sleep = options.sleep or false,
    home = home,
    connect = function(driver) return kind.connect(driver, options) end, -- the password is in here alone
  }, Database)
  local ok, message = connection.ensure(self)
  if not ok then return nil, message end
  return self
end

return M
