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
  it("waits for a lock at least a millisecond: 0 would wait for ever", function()
    for given, sent in pairs { [0] = "1", [1] = "1", [2500] = "2500" } do
      local asked = {}
      postgresql.greet { lock_timeout_ms = given, rows = function(_, sql)
        asked[#asked + 1] = sql
        return {}
      end }
      assert.equal("SET lock_timeout = " .. sent, asked[2])
    end
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
