-- SPDX-License-Identifier: MIT
-- Connections to PostgreSQL. A server elsewhere proves its name by a certificate, before it gets password and payments.

local core = require "purser.core"
local loopback = require "purser.client.util.loopback"

local M = {
  name = "postgresql", package = "lua-dbi-postgresql", driver = "PostgreSQL",
  -- Defaults may set another level, whose snapshot may be older than a lock and lack writes before the unlock.
  begin = "BEGIN ISOLATION LEVEL READ COMMITTED",
  begin_reading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
}

---@class purser.PostgresqlOptions  other values are those of libpq: environment variables and defaults
---@field database string|nil
---@field user string|nil
---@field password string|nil
---@field host string|nil
---@field port integer|nil
---@field sslmode "verify-full"|"verify-ca"|"require"|"prefer"|"allow"|"disable"|nil  default "verify-full"
---@field sslrootcert string|nil      a file of certificates to trust
---@field allow_insecure boolean|nil  permits a server that does not show by a certificate that it is the one named

M.rules = {
  database = "string", user = "string", password = "string", host = "string", port = { 1, 65535 },
  sslmode = { "verify-full", "verify-ca", "require", "prefer", "allow", "disable" }, sslrootcert = "string",
  allow_insecure = "boolean",
}

local function environment(name)
  return os.getenv(name) or ""
end

-- Returns an option's value as libpq takes it: an empty option gives way to the environment.
local function setting(value, variable)
  return value ~= nil and value ~= "" and value or environment(variable)
end

-- Tells if a connection cannot leave this machine. Without a host libpq takes the environment's, or a socket here. An
-- address or a service in the environment may lead elsewhere. A comma begins a further host.
local function is_local(options)
  if environment "PGHOSTADDR" ~= "" or environment "PGSERVICE" ~= "" then return false end
  for host in (setting(options.host, "PGHOST") .. ","):gmatch "([^,]*)," do
    if not (host == "" or host:find "^[/@]" or loopback.address(host)) then return false end
  end
  return true
end

--- Returns a fault of options that fit the rules, and the cure; or nil.
function M.message(options)
  for name, value in pairs(options) do
    if type(value) == "string" and value:find("\0", 1, true) then
      return ("postgresql option %s holds a zero byte"):format(name), "remove it"
    end
  end
  local mode = options.sslmode or "verify-full"
  if mode ~= "verify-full" and not options.allow_insecure and not is_local(options) then
    return ('postgresql option sslmode = "%s" does not show that the server is the one that was named'):format(mode),
      "leave it out, or set allow_insecure = true"
  end
end

--- Notices a lost host within half a minute; the system's default is a quarter of an hour. (s; the last in ms)
M.PATIENCE = "connect_timeout='10' keepalives_idle='10' keepalives_interval='5' keepalives_count='4' "
  .. "tcp_user_timeout='30000'"

--- Returns libpq's connection string, with the password.
function M.conninfo(options)
  local parts = {}
  local function put(name, value)
    value = tostring(value or ""):gsub("[\\']", "\\%0") -- libpq's quotes
    if value ~= "" then parts[#parts + 1] = ("%s='%s'"):format(name, value) end
  end
  put("dbname", options.database)
  for _, name in ipairs { "user", "password", "host", "sslrootcert" } do put(name, options[name]) end
  -- libpq would ask a name server for localhost.
  put("hostaddr", is_local(options) and loopback.address(setting(options.host, "PGHOST")))
  put("port", options.port and ("%d"):format(options.port))
  local mode = options.sslmode or not is_local(options) and "verify-full" or nil
  put("sslmode", mode)
  -- Kerberos would replace TLS, whatever sslmode says
  if mode == "verify-full" or mode == "verify-ca" then put("gssencmode", "disable") end
  parts[#parts + 1] = M.PATIENCE
  return table.concat(parts, " ")
end

local function is_readable(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

-- Returns the authorities' file: libpq's default is in the user's folder.
local function authorities_of(options)
  local path = setting(options.sslrootcert, "PGSSLROOTCERT")
  return path ~= "" and path or environment "HOME" .. "/.postgresql/root.crt"
end

local function is_verified(options)
  return not is_local(options) and (options.sslmode or "verify-full"):find "^verify" ~= nil
end

-- LuaDBI loses the server's refusal, and hands out some connections that were refused.
local REFUSED = "the server refuses the connection: it is full (max_connections, or the limit of this role), or has no "
  .. "such role or database; psql with the same settings says why"

local function is_refusal(message) return tostring(message):find("server closed the connection", 1, true) ~= nil end

-- Adds possible reasons: LuaDBI loses libpq's.
local function explained(message, options)
  if is_refusal(message) then return REFUSED end
  if not message:find "no connection to the server" then return message end
  local host = setting(options.host, "PGHOST")
  local needs = is_verified(options) and ('; it needs TLS, and a certificate with that name from an authority in "%s"')
    :format(authorities_of(options)) or ""
  return ("no connection to the server %s%s; psql with the same settings says why"):format(
    host ~= "" and ('"%s"'):format(host) or is_local(options) and "of this machine" or "of the environment", needs)
end

--- Returns a handle of LuaDBI; or nil and a message.
function M.connect(driver, options)
  local given = options.postgresql
  local authorities = is_verified(given) and authorities_of(given)
  if authorities and authorities ~= "system" and not is_readable(authorities) then
    return nil, ('the authorities\' file "%s" cannot be read; name the one that signed the server\'s certificate in '
      .. "the postgresql option sslrootcert"):format(authorities)
  end
  local handle, message = driver.Connect("PostgreSQL", M.conninfo(given))
  if handle then return handle end
  return nil, explained(tostring(message), given)
end

M.session = "pg_catalog.current_setting('purser.session', true) AS session"

M.POOLED = "the connection leads to a session of the server that is shared with other connections, as a pooler's in "
  .. "transaction mode does: prepared statements and settings of another program may take effect; connect to the "
  .. "server itself, or use a pooler in session mode"

-- Functions and catalogues are named with pg_catalog: PostgreSQL prefers another role's function in the search path
-- where that function fits the arguments better.

-- purser.session marks the session on the server: a pooler that switches sessions is noticed. A lock_timeout of 0 would
-- wait for ever. client_min_messages keeps libpq from printing warnings, as of a server that shuts down.
local SETTINGS = [[SELECT pg_catalog.set_config('purser.session', $1, false) AS session,
  pg_catalog.set_config('lock_timeout', $2, false) AS lock_timeout,
  pg_catalog.set_config('synchronous_commit', 'on', false) AS synchronous,
  pg_catalog.set_config('client_min_messages', 'error', false) AS messages]]

-- A replica that takes over begins a new timeline; a database that is put back has another number.
local PLACE = [[SELECT (SELECT system_identifier::text FROM pg_catalog.pg_control_system()) AS system,
  CASE WHEN pg_catalog.pg_is_in_recovery() THEN 'replica'
    ELSE pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()) END AS wal,
  (SELECT oid::text FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()) AS number]]

local TABLES = [[SELECT n.nspname::text AS schema FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n
  ON n.oid = c.relnamespace WHERE c.relname = $1 AND c.relkind IN ('r', 'p') AND ]]

--- Finds a table in the schema of the connection.
M.has = TABLES .. "n.nspname = $2"

local SCHEMAS = TABLES .. "n.nspname = ANY (pg_catalog.current_schemas(false)) ORDER BY n.nspname"
local FIRST = "SELECT pg_catalog.current_schema()::text AS schema"
local PATH = "SELECT pg_catalog.set_config('search_path', $1, false) AS path"

local MOVED = "the server behind the connection is another one than it was, or its database was put back, as where a "
  .. "replica takes over: what this process and others wrote may be lost; find out what was lost, then open it again "
  .. "(docs/write/journal.md)"

local function place_of(ask)
  local row = ask(PLACE)[1]
  return ("%s %s %s"):format(row.system, row.wal:sub(1, 8), row.number)
end

-- Returns the schema with the table `home`, or the schema where tables are made. Raises for two such schemas.
local function schema_of(ask, home)
  local rows = home and ask(SCHEMAS, home) or {}
  if #rows > 1 then
    local names = {}
    for i, row in ipairs(rows) do names[i] = row.schema end
    error(("several schemas of the search path hold it (%s), and which one is meant is not known; "):format(
      table.concat(names, ", ")) .. "set a search path with one of them for this role (ALTER ROLE ... SET search_path)",
      0)
  end
  local schema = (rows[1] or ask(FIRST)[1]).schema
  return schema or error("the search path of this role has no schema that exists; make one, or set another path", 0)
end

--- Prepares a connection, or raises. A name is resolved once: the tables' schema is the whole path from then on, also
--- when the connection is opened again.
---@param db table
---@param run fun(db: table, sql: string, ...: string): table[]|nil, any
function M.greet(db, run)
  local function ask(sql, ...)
    local rows, message = run(db, sql, ...)
    return rows or error(message, 0)
  end
  db.session = assert(core.random_token(20))
  local rows, message = run(db, SETTINGS, db.session, ("%d"):format(math.max(1, db.lock_timeout_ms)))
  if not rows then error(is_refusal(message) and REFUSED or message, 0) end
  db.schema = db.schema or schema_of(ask, db.home)
  ask(PATH, ('"%s", pg_temp'):format(db.schema:gsub('"', '""')))
  local place = place_of(ask)
  if db.place and db.place ~= place then db.doubt = MOVED end
  db.place = place
end

function M.connection_error() end

--- Returns the server's time, epoch ms; or nil and a message.
function M.now(db)
  local rows, message = db:rows "SELECT extract(epoch FROM pg_catalog.clock_timestamp())::numeric::text AS now"
  if not rows then return nil, message end
  local whole, part = (rows[1] and rawget(rows[1], "now") or ""):match "^(%d+)%.?(%d*)$"
  if not whole then return nil, M.POOLED end
  return tonumber(whole) * 1000 + tonumber((part .. "000"):sub(1, 3))
end

return M
