-- The journal's database on a server, by PostgreSQL: how it is reached. A server that is not this machine must prove by
-- its certificate that it is the one that was named: it is given the password, and it keeps who is paid what.

local core = require "purser.core"

local M = {
  name = "postgresql", package = "lua-dbi-postgresql", driver = "PostgreSQL",
  -- The level is named, since a database, a role or a server may have another default. Under a snapshot that is older
  -- than a lock, what others wrote before they gave the lock up is not seen.
  begin = "BEGIN ISOLATION LEVEL READ COMMITTED",
}

M.rules = {
  database = "string", user = "string", password = "string", host = "string", port = { 1, 65535 },
  sslmode = { "verify-full", "verify-ca", "require", "prefer", "allow", "disable" }, sslrootcert = "string",
  allow_insecure = "boolean",
}

local function is_loopback(host)
  if host == "localhost" or host == "::1" then return true end
  local a, b, c, d = host:match "^(%d%d?%d?)%.(%d%d?%d?)%.(%d%d?%d?)%.(%d%d?%d?)$"
  return a == "127" and tonumber(b) < 256 and tonumber(c) < 256 and tonumber(d) < 256
end

-- Whether the connection cannot leave this machine. Without a host libpq takes that of its environment, or a socket of
-- this machine, to which `sslmode` does not apply.
local function is_local(options)
  local host = options.host or os.getenv "PGHOST" or ""
  if host:find "^[/@]" then return true end
  return is_loopback(host) and (os.getenv "PGHOSTADDR" or "") == ""
end

--- What is wrong with options that fit their rules, or nil.
function M.complaint(options)
  for name, value in pairs(options) do
    if type(value) == "string" and value:find("\0", 1, true) then
      return ("postgresql option %s holds a zero byte"):format(name)
    end
  end
  local mode = options.sslmode or "verify-full"
  if mode ~= "verify-full" and not options.allow_insecure and not is_local(options) then
    return ('postgresql option sslmode = "%s" does not show that the server is the one that was named; leave it out, or '
      .. "set allow_insecure = true"):format(mode)
  end
end

-- libpq's rule: in quotes, with a backslash before quotes and backslashes.
local function quoted(value)
  return "'" .. tostring(value):gsub("[\\']", "\\%0") .. "'"
end

--- The connection string for libpq. It holds the password.
function M.conninfo(options)
  local parts = {}
  local function put(name, value)
    if value ~= nil and value ~= "" then parts[#parts + 1] = name .. "=" .. quoted(value) end
  end
  put("dbname", options.database)
  for _, name in ipairs { "user", "password", "host", "sslrootcert" } do put(name, options[name]) end
  put("port", options.port and ("%d"):format(options.port))
  local mode = options.sslmode or not is_local(options) and "verify-full" or nil
  put("sslmode", mode)
  -- encryption by Kerberos would take the place of TLS, whatever sslmode says
  if mode == "verify-full" or mode == "verify-ca" then put("gssencmode", "disable") end
  put("connect_timeout", 10) -- seconds
  return table.concat(parts, " ")
end

local function explained(message, options)
  message = tostring(message)
  if message:find("root certificate file", 1, true) and not options.sslrootcert then
    return message:gsub("%s*Either provide.*$", "") .. "; name the file with the authority's certificate in the "
      .. "postgresql option sslrootcert"
  end
  return message
end

--- Connects. Returns a handle of LuaDBI; or nil and a message.
function M.connect(driver, options)
  local handle, message = driver.Connect("PostgreSQL", M.conninfo(options.postgresql))
  if handle then return handle end
  return nil, explained(message, options.postgresql)
end

--- Prepares a new connection; raises when it cannot be used.
function M.greet(db)
  assert(db:rows("SET lock_timeout = " .. math.max(1, db.lock_timeout_ms))) -- 0 would wait for ever
  assert(db:rows "SET synchronous_commit = on")
end

--- What keeps the open connection from being used, or nil.
function M.complaint_about_connection() end

--- The time by which all users of this database agree, epoch ms; or nil and a message.
function M.now(db)
  local rows, message = db:rows "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text AS now"
  if not rows then return nil, message end
  return tonumber(rows[1].now) or core.now_ms()
end

return M
