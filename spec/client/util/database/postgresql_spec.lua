-- SPDX-License-Identifier: MIT
-- The way to a database's server: what is asked of one that may be another machine. (spec/torture/on_postgresql.lua
-- has the servers.)

local command = require "command"
local option_schema = require "purser.client.util.option_schema"
local postgresql = require "purser.client.util.database.postgresql"

local LUA = os.getenv "LUA" or "lua5.4"

local function is_verified(host)
  return postgresql.conninfo({ host = host, database = "payouts" }):find("sslmode='verify-full'", 1, true) ~= nil
end

describe("a connection to PostgreSQL", function()
  -- Returns a server's answers to a connection that is opened.
  local function answers(asked, of)
    return function(_, sql, ...)
      asked[#asked + 1] = { sql, ... }
      if sql:find("current_schemas", 1, true) then return of.schemas or {} end
      if sql:find("current_schema()", 1, true) then return { { schema = of.first } } end
      if sql:find("pg_control_system", 1, true) then
        return { { system = "7", wal = (of.timeline or "00000001") .. "000000000000000A", number = of.number or "5" } }
      end
      return {}
    end
  end

  local function greet(of, db)
    local asked = {}
    db = db or { lock_timeout_ms = 1, home = "purser_meta" }
    local ok, why = pcall(postgresql.greet, db, answers(asked, of))
    return asked, db, not ok and why or nil
  end

  it("waits for a lock at least a millisecond: 0 would wait for ever", function()
    for given, sent in pairs { [0] = "1", [1] = "1", [2500] = "2500" } do
      assert.equal(sent, greet({ first = "public" }, { lock_timeout_ms = given })[1][3])
    end
  end)

  it("has the schema with the tables as its only path, else the first one, and keeps it", function()
    local function path(asked)
      for _, one in ipairs(asked) do if one[1]:find("'search_path'", 1, true) then return one[2] end end
    end
    local asked, db = greet { schemas = { { schema = 'a "b"' } }, first = "public" }
    assert.equal('"a ""b""", pg_temp', path(asked))
    assert.equal('a "b"', db.schema)
    assert.equal('"a ""b""", pg_temp', path((greet({ schemas = { { schema = "other" } } }, db))))
    assert.equal('"public", pg_temp', path((greet { first = "public" })))
    assert.matches("several schemas of the search path hold it %(ops, public%)",
      select(3, greet { schemas = { { schema = "ops" }, { schema = "public" } } }))
    assert.matches("has no schema that exists", select(3, greet {}))
  end)

  it("notices a replica that took over, and a database that was put back, when it is opened again", function()
    for _, later in ipairs { { timeline = "00000002" }, { number = "6" }, {} } do
      local _, db = greet { first = "public" }
      local place = db.place
      greet(later, db)
      local is_same = next(later) == nil
      assert.equal(is_same, db.place == place)
      assert.equal(is_same, db.doubt == nil)
      greet({}, db) -- and does not forget
      assert.equal(is_same, db.doubt == nil)
    end
  end)

  it("asks no function and no catalogue by a name that another schema may have", function()
    local asked = greet { first = "public" }
    local texts = { postgresql.session, postgresql.has }
    for _, one in ipairs(asked) do texts[#texts + 1] = one[1] end
    postgresql.now { rows = function(_, sql)
      texts[#texts + 1] = sql
      return { { now = "1700000000.123456" } }
    end }
    for _, text in ipairs(texts) do
      for name in text:gsub("extract%(", ""):gsub("pg_temp", ""):gmatch "[%w_.]+%(" do
        assert.matches("^pg_catalog%.", name)
      end
      for name in text:gmatch "FROM ([%w_.]+)" do assert.matches("^pg_catalog%.", name) end
    end
  end)

  it("reads the server's time to the millisecond, and takes no other answer", function()
    local function now(rows) return postgresql.now { rows = function() return rows end } end
    assert.equal(1700000000123, now { { now = "1700000000.123956" } })
    assert.equal(1700000000120, now { { now = "1700000000.12" } })
    assert.equal(1700000000000, now { { now = "1700000000" } })
    for _, rows in ipairs { {}, { {} }, { { now = "x" } } } do assert.is_nil((now(rows))) end
  end)

  it("knows each mode of libpq's for certificates", function()
    for _, mode in ipairs { "verify-full", "verify-ca", "require", "prefer", "allow", "disable" } do
      assert.is_nil(option_schema.check({ sslmode = mode, sslrootcert = "/ca", allow_insecure = true, database = "d",
        user = "u", password = "p", host = "h", port = 65535 }, postgresql.rules, "option"))
    end
  end)
end)

describe("the certificate of a journal's server", function()
  it("is not needed of this machine", function()
    for _, host in ipairs { "localhost", "127.0.0.1", "127.8.9.10", "::1", "/run/postgresql", "@name", "/tmp,::1" } do
      assert.is_false(is_verified(host), host)
    end
  end)

  it("is needed of every other host", function()
    for _, host in ipairs { "db.example", "10.0.0.1", "127.0.0.256", "127.1", "127.0.0.1.example" } do
      assert.is_true(is_verified(host), host)
    end
  end)

  it("is needed where a list of hosts names one other host, whatever it begins with", function()
    for _, host in ipairs { "/tmp,10.0.0.1", "@a,db.example", "127.0.0.1,10.0.0.1", "10.0.0.1,/tmp", ",db.example" } do
      assert.is_true(is_verified(host), host)
      local options = { host = host, sslmode = "prefer" }
      assert.matches("allow_insecure", select(2, postgresql.message(options)), 1, true)
    end
  end)

  it("is needed where an empty host leaves the choice to a variable that names another machine", function()
    local code = [[local p = require "purser.client.util.database.postgresql"
      print(p.conninfo { host = "" } .. p.conninfo { host = "", sslmode = "prefer" })
      print(p.message { host = "", sslmode = "prefer" })]]
    local function under(variables)
      return select(2, command.shell(("env -u PGHOST %s %s -e %s"):format(variables, LUA, command.quote(code))))
    end
    assert.equal(("%ssslmode='prefer' %s\n\n"):format(postgresql.PATIENCE, postgresql.PATIENCE), under "")
    for _, variables in ipairs { "PGHOST=db.example", "PGHOST=/tmp,db.example", "PGHOSTADDR=192.0.2.1",
      "PGSERVICE=far" } do
      local text = under(variables)
      assert.matches("^sslmode='verify%-full' gssencmode='disable'", text, variables)
      assert.matches('"prefer" does not show that the server is the one that was named', text, 1, true)
    end
    assert.matches("^connect_timeout", (under "PGHOST=/run/postgresql"))
  end)
end)

describe("the connection text for libpq", function()
  it("has each value in quotes, so that none begins another setting, and leaves out what is not given", function()
    assert.equal([[dbname='a b' user='o\'neil' password='x\\' host='/tmp sslmode=disable' port='5433' ]]
      .. postgresql.PATIENCE, postgresql.conninfo { database = "a b", user = "o'neil", password = "x\\",
      host = "/tmp sslmode=disable", port = 5433, sslrootcert = "" })
  end)

  it("leads to this machine by an address, which libpq takes to no name server", function()
    assert.truthy(postgresql.conninfo({ host = "localhost" }):find("host='localhost' hostaddr='127.0.0.1'", 1, true))
    assert.is_nil(postgresql.conninfo({ host = "localhost,db.example" }):find("hostaddr", 1, true))
  end)

  it("lets a host that is gone be noticed within half a minute", function()
    local options = {}
    for name, value in postgresql.conninfo({}):gmatch "(%S+)='(%d+)'" do options[name] = tonumber(value) end
    assert.is_true(options.keepalives_idle + options.keepalives_interval * options.keepalives_count <= 30)
    assert.is_true(options.tcp_user_timeout <= 30000 and options.connect_timeout <= 30)
  end)

  it("never lets encryption by Kerberos take the place of a verified certificate", function()
    for mode, disabled in pairs { ["verify-full"] = true, ["verify-ca"] = true, require = false, disable = false } do
      local text = postgresql.conninfo { host = "db.example", sslmode = mode }
      assert.equal(disabled, text:find("gssencmode='disable'", 1, true) ~= nil, mode)
    end
  end)
end)

describe("options for a server", function()
  it("may permit one that proves nothing, and hold no zero byte, at which libpq would end them", function()
    assert.is_nil(postgresql.message { host = "db.example", sslmode = "require", allow_insecure = true })
    assert.is_nil(postgresql.message { host = "db.example" })
    assert.same({ "postgresql option password holds a zero byte", "remove it" },
      { postgresql.message { password = "hidden\0word" } })
  end)

  it("are told where the server refuses the connection, which LuaDBI does not hand out", function()
    local driver = { Connect = function() return nil, "server closed the connection unexpectedly\n\tThis" end }
    local message = select(2, postgresql.connect(driver, { postgresql = { host = "" } }))
    assert.matches("it is full", message)
    local ok, why = pcall(postgresql.greet, { lock_timeout_ms = 1 }, function()
      return nil, "server closed the connection unexpectedly"
    end)
    assert.same({ false, message }, { ok, why })
  end)

  it("are told where no connection is made: the server, and the certificate that it needs", function()
    local driver = { Connect = function() return nil, "DBI: no connection to the server" end }
    local function message_of(options) return select(2, postgresql.connect(driver, { postgresql = options })) end
    local HOW = "; psql with the same settings says why"
    assert.equal("no connection to the server of this machine" .. HOW, message_of { host = "" })
    assert.equal('no connection to the server "/run/postgresql"' .. HOW, message_of { host = "/run/postgresql" })
    assert.equal('no connection to the server "db.example"' .. HOW,
      message_of { host = "db.example", sslmode = "require", allow_insecure = true })
    assert.equal('no connection to the server "db.example"; it needs TLS, and a certificate with that name from an '
      .. 'authority in "system"' .. HOW, message_of { host = "db.example", sslrootcert = "system" })
  end)

  it("name a file of authorities that can be read, or nothing is sent to the driver", function()
    local handle, message = postgresql.connect({}, { postgresql = { host = "db.example", sslrootcert = "/no/file" } })
    assert.is_nil(handle)
    assert.matches('file "/no/file" cannot be read; name the one', message, 1, true)
  end)
end)
