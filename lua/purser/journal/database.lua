-- A connection to SQLite or PostgreSQL through LuaDBI, with nothing of LuaDBI's traps: every column is text, every
-- statement is prepared once, every result is read to its end, and a transaction is either whole or nothing.
--
-- What fails returns nil and a message. A connection that was lost is opened again by the next transaction.

local core = require "purser.core"

local Database = { __name = "purser.journal.database" }
Database.__index = Database

local M = {}

local function load_driver(name, package)
  local ok, driver = pcall(require, "DBI")
  if not ok then return nil, "LuaDBI is missing; install it (Debian: " .. package .. ")" end
  local loaded, why = pcall(require, "dbd." .. name:lower())
  if not loaded then
    return nil, ("LuaDBI's driver for %s is missing; install it (Debian: %s): %s"):format(name, package,
      tostring(why):match("^[^\n]*"))
  end
  return driver
end

-- LuaDBI's complaints begin with words of its own, or with the place where they were raised.
local function plain(message)
  return (tostring(message):gsub("^[^\n]-%.lua:%d+: ", ""):gsub("^Execute failed ", "")
    :gsub("^Error preparing statement handle: ", "")
    :gsub("^Failed to connect to database: ", ""):gsub("%s+$", ""))
end

-- Why SQLite could not open a file, where that can be known before. It says less, and LuaDBI's driver never gives back
-- the memory of a connection that did not open. Some names are not those of files.
local function complaint_about(path)
  if path == "" or path:find "^:" or path:find "^file:" then return end
  local ok, reason, folder = core.may_keep(path)
  if ok then return end
  if folder then
    return ('no file can be made in the folder "%s" (%s); make the folder, or name another'):format(folder, reason)
  end
  return ('"%s" cannot be read and written (%s)'):format(path, reason)
end

local function connect_sqlite(self)
  local driver, message = load_driver("SQLite3", "lua-dbi-sqlite3")
  if not driver then return nil, message end
  message = complaint_about(self.options.sqlite)
  if message then return nil, message end
  local handle
  handle, message = driver.Connect("SQLite3", self.options.sqlite)
  if not handle then return nil, plain(message) end
  return handle
end

local function connect_postgresql(self)
  local driver, message = load_driver("PostgreSQL", "lua-dbi-postgresql")
  if not driver then return nil, message end
  local o = self.options.postgresql
  local handle
  handle, message = driver.Connect("PostgreSQL", o.database, o.user, o.password, o.host, o.port)
  if not handle then return nil, plain(message) end
  return handle
end

-- The file of an open database, and which one it was when it was opened: one that is removed or replaced meanwhile can
-- still be written to, and nobody would ever find what is written there.
local function note_file(self)
  for _, row in ipairs(assert(self:rows "PRAGMA database_list")) do
    if row.name == "main" and row.file ~= "" then
      local _, _, id = core.file_mode(row.file)
      self.file, self.file_id = row.file, id
    end
  end
end

-- What every new connection is told.
local function greet_sqlite(self)
  note_file(self)
  assert(self:rows(("PRAGMA busy_timeout = %d"):format(self.options.lock_timeout_ms or 5000)))
  local mode = assert(self:rows "PRAGMA journal_mode = WAL")[1].journal_mode
  if mode ~= "wal" then
    error("the file cannot be kept with a write-ahead log (its mode is " .. tostring(mode) .. ")", 0)
  end
  assert(self:rows "PRAGMA synchronous = FULL")
end

local function greet_postgresql(self)
  assert(self:rows("SET lock_timeout = " .. (self.options.lock_timeout_ms or 5000)))
  assert(self:rows "SET synchronous_commit = on")
end

local kinds = {
  sqlite = { connect = connect_sqlite, greet = greet_sqlite, begin = "BEGIN IMMEDIATE" },
  postgresql = { connect = connect_postgresql, greet = greet_postgresql, begin = "BEGIN" },
}

-- The child of a fork has its parent's connection, and must neither use nor close it: it keeps it, and it has no
-- finaliser any more.
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

-- Statements go first: SQLite does not close a connection that has any, and would keep its files open for ever.
local function drop(self)
  if self.handle and self.process ~= core.process_id() then leave_to_parent(self) end
  for _, statement in pairs(self.statements or {}) do pcall(statement.close, statement) end
  if self.handle then pcall(self.handle.close, self.handle) end
  self.handle, self.statements = nil, {}
end

-- Makes sure there is a connection.
local function ensure(self)
  if self.closed then return nil, "it is closed" end
  if self.handle and self.process == core.process_id() then return true end
  drop(self)
  local ok, handle, message = pcall(self.kind.connect, self)
  if not ok then return nil, plain(handle) end
  if not handle then return nil, message end
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

-- A statement that failed would fail with the same words the next time, and may hold a lock: it is closed.
local function forget(self, sql, message)
  local statement = self.statements[sql]
  self.statements[sql] = nil
  if statement then pcall(statement.close, statement) end
  return nil, plain(message)
end

--- Runs one statement with `$1`, `$2` ... (SQLite takes them in the order of their first use, so they stand in order)
--- and returns its rows (a list of maps of text) and how many it changed; or nil and a message.
function Database:rows(sql, ...)
  local ok, message = ensure(self)
  if not ok then return nil, message end
  local statement
  statement, message = statement_of(self, sql)
  if not statement then return nil, message end
  local ran
  ok, ran, message = pcall(statement.execute, statement, ...)
  if not ok or not ran then return forget(self, sql, ok and message or ran) end
  local rows = {}
  if sql:find("^%s*SELECT") or sql:find("^PRAGMA") or sql:find("RETURNING", 1, true) then
    ok, message = pcall(function()
      for row in statement:rows(true) do rows[#rows + 1] = row end
    end)
    if not ok then return forget(self, sql, message) end
  end
  return rows, statement:affected()
end

-- In a transaction what fails is raised, so that nothing goes on after it.
local Transaction = {}
Transaction.__index = Transaction

local Failure = {}

local function fail(problem)
  error(setmetatable({ problem = problem }, Failure), 0)
end

function Transaction:rows(sql, ...)
  local rows, affected = self.db:rows(sql, ...)
  if not rows then fail(affected) end
  return rows, affected
end

--- Ends the transaction with nothing done; it returns nil and `problem`.
function Transaction.refuse(_, problem)
  fail(problem)
end

--- Keeps other hosts out of what follows until the end of the transaction. (SQLite's transactions do that by
--- themselves.)
function Transaction:lock(number)
  if self.db.name == "postgresql" then self:rows("SELECT pg_advisory_xact_lock(" .. number .. ")::text AS locked") end
end

--- The time by which hosts that share this database agree, epoch ms. It is asked once a transaction.
function Transaction:now()
  self.time = self.time or self.db:now()
  return self.time
end

local GENERATION = "SELECT generation FROM purser_generations WHERE name = $1"

--- Adds one to what the journal keeps of a worker's commits, and returns the new number.
---@param worker string
---@return integer
function Transaction:bump(worker)
  local name = "worker " .. worker
  self:rows("INSERT INTO purser_generations (name, generation, changed_at) VALUES ($1, '0', '') ON CONFLICT DO NOTHING",
    name)
  self:rows([[UPDATE purser_generations SET changed_at = $1,
    generation = CAST(CAST(generation AS BIGINT) + 1 AS TEXT) WHERE name = $2]], ("%013d"):format(self:now()), name)
  return tonumber(self:rows(GENERATION, name)[1].generation)
end

-- What keeps the open connection from being used, or nil.
local function complaint_about_connection(self)
  if self.file_id and select(3, core.file_mode(self.file)) ~= self.file_id then
    return ('the file "%s" was removed or replaced while it was open; put it back, and open it again'):format(self.file)
  end
end

--- Runs `fn(transaction)` and commits; what `fn` returns is returned. When anything fails, all of it is undone, and
--- nil and the problem are returned.
function Database:transaction(fn)
  local ok, message = ensure(self)
  if not ok then return nil, message end
  message = complaint_about_connection(self)
  if message then return nil, message end
  ok, message = self:rows(self.kind.begin)
  if not ok then
    if self.name ~= "postgresql" then return nil, message end
    drop(self) -- the connection may have died since it was used; nothing has been done yet, so try once more
    ok, message = ensure(self)
    if ok then ok, message = self:rows(self.kind.begin) end
    if not ok then return nil, message end
  end
  local went, result, second = pcall(fn, setmetatable({ db = self }, Transaction))
  if went then
    went, ok, message = pcall(self.rows, self, "COMMIT")
    if went and ok then return result, second end
    result = went and setmetatable({ problem = message }, Failure) or ok
  end
  went, ok, message = pcall(self.rows, self, "ROLLBACK")
  -- SQLite undoes some by itself
  if not went or not ok and not message:find("no transaction is active", 1, true) then drop(self) end
  if getmetatable(result) ~= Failure then error(result, 0) end
  return nil, result.problem
end

--- The time by which hosts that share this database agree, epoch ms.
function Database:now()
  if self.name ~= "postgresql" then return core.now_ms() end
  local rows, message = self:rows "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text AS now"
  if not rows then fail(message) end
  return tonumber(rows[1].now)
end

--- How often `bump(worker)` was committed; or nil and a message.
function Database:generation_of(worker)
  local rows, message = self:rows(GENERATION, "worker " .. worker)
  if not rows then return nil, message end
  return rows[1] and tonumber(rows[1].generation) or 0
end

function Database:close()
  drop(self)
  self.closed = true
end

--- Opens a database: { sqlite = path } or { postgresql = { database, user, password, host, port } }, and
--- lock_timeout_ms.
function M.open(options)
  local name = options.sqlite and "sqlite" or "postgresql"
  local self = setmetatable({ options = options, name = name, kind = kinds[name], statements = {} }, Database)
  local ok, message = ensure(self)
  if not ok then return nil, message end
  return self
end

return M
