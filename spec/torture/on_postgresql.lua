-- SPDX-License-Identifier: MIT
-- The journal on a PostgreSQL server of the test's own, for `make torture`: how the server is reached and believed,
-- what becomes of a connection that is lost, what a transaction sees, and a database that is put back.

local certificates = require "certificates"
local connection = require "purser.client.util.database.connection"
local files = require "files"
local postgresql = dofile "spec/torture/postgresql.lua"
local purser = require "purser"

local folder, server, made

-- The options of the server with others in their place.
local function options_with(more)
  local options = { database = "postgres", user = "purser", host = "127.0.0.1", port = server.options.port }
  for name, value in pairs(more or {}) do options[name] = value end
  return options
end

local function open(more) return assert(purser.journal.open { postgresql = options_with(more) }) end

-- Runs a program that ends with print(...), in a process whose environment says where names lead to.
local function run_elsewhere(code, environment)
  local path = files.temporary(code)
  local pipe = assert(io.popen(("%s %s %s 2>&1"):format(environment or "", os.getenv "LUA" or "lua5.4", path)))
  local text = pipe:read "*a"
  pipe:close()
  os.remove(path)
  return text
end

local function literal(options)
  local parts = {}
  for name, value in pairs(options) do
    parts[#parts + 1] = type(value) == "string" and ("%s = %q"):format(name, value) or name .. " = " .. tostring(value)
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

local SHOW = [[
  local journal, err = require("purser").journal.open { postgresql = %s }
  if not journal then print(err.message, err.hint) os.exit(0) end
  print("open", journal.db:rows("SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()")[1].ssl)
]]

-- Opens the server under a name of another host, which the environment leads here.
local function open_elsewhere(more)
  return run_elsewhere(SHOW:format(literal(options_with(more))), "PGHOSTADDR=127.0.0.1")
end

local function configure(settings)
  local path = folder .. "/postgresql/postgresql.auto.conf"
  server.stop()
  files.write(path, settings)
  os.execute("chown --reference=" .. folder .. "/postgresql/PG_VERSION " .. path)
  server.start()
end

-- Puts a certificate where the server may read it, and makes it the server's.
local function serve_tls(name)
  local data = folder .. "/postgresql"
  local target = data .. "/tls"
  os.execute(("cp %s %s.crt && cp %s %s.key && chmod 600 %s.key && chown --reference=%s/PG_VERSION %s.*"):format(
    made.path(name .. ".crt"), target, made.path(name .. ".key"), target, target, data, target))
  configure(("ssl = on\nssl_cert_file = '%s/tls.crt'\nssl_key_file = '%s/tls.key'\n"):format(data, data))
end

setup(function()
  folder = os.tmpname()
  os.remove(folder)
  os.execute("mkdir -p " .. folder)
  server = postgresql.start(folder)
  made = certificates.make { named = { alt = "DNS:db.example" }, other = { alt = "DNS:other.example" } }
end)

teardown(function()
  pcall(server.stop)
  os.execute("rm -r " .. folder)
  certificates.remove(made)
end)

-- A server that has no TLS, and asks whoever goes on for a password. What it was sent is written to a file.
local LISTENER = [[
  local socket = require "socket"
  local server = assert(socket.bind("127.0.0.1", 0))
  local out = assert(io.open(arg[1], "wb"))
  out:write(select(2, server:getsockname()), "\n") out:flush()
  local client = server:accept()
  local function message(length) return client:receive(length) end
  local function number(text) local a, b, c, d = text:byte(1, 4) return ((a * 256 + b) * 256 + c) * 256 + d end
  while true do
    local head = message(8)
    if not head then out:write "closed\n" break end
    local code = number(head:sub(5))
    if code == 80877103 then out:write "asks for TLS\n" client:send "N"
    elseif code == 80877104 then client:send "N"
    else
      out:write("startup: ", (message(number(head) - 8):gsub("%z", " ")), "\n")
      client:send "R\0\0\0\8\0\0\0\3"
      local answer = message(5)
      if answer then out:write("password: ", (message(number(answer:sub(2)) - 4):gsub("%z", "")), "\n") end
      break
    end
  end
  client:close() out:write "end\n" out:close()
]]

local function listener()
  local program, log = files.temporary(LISTENER), os.tmpname()
  os.execute(("%s %s %s &"):format(os.getenv "LUA" or "lua5.4", program, log))
  local function read() return files.read(log) end
  repeat until read():find "\n"
  return tonumber(read():match "^%d+"), function()
    repeat until read():find "end\n"
    local text = read()
    os.remove(log)
    os.remove(program)
    return text
  end
end

describe("a server that is not this machine", function()
  it("gets nothing, not even the user's name, when it says that it has no TLS", function()
    local port, log = listener()
    local text = run_elsewhere(SHOW:format(literal { host = "db.example", port = port, user = "purser",
      database = "payouts", password = "hunter2", sslrootcert = made.path "ca.crt" }), "PGHOSTADDR=127.0.0.1")
    assert.matches("it needs TLS, and a certificate with that name", text)
    assert.is_nil(text:find "hunter2")
    local seen = log()
    assert.matches("asks for TLS\nclosed", seen)
    assert.is_nil(seen:find "startup")
  end)

  it("is used when its certificate bears its name", function()
    serve_tls "named"
    assert.matches("^open%s+true", open_elsewhere { host = "db.example", sslrootcert = made.path "ca.crt" })
  end)

  it("is rejected when its certificate bears another name", function()
    serve_tls "other"
    local text = open_elsewhere { host = "db.example", sslrootcert = made.path "ca.crt" }
    assert.matches("it needs TLS, and a certificate with that name", text)
    assert.matches("^open%s+true", open_elsewhere { host = "db.example", sslrootcert = made.path "ca.crt",
      sslmode = "verify-ca", allow_insecure = true })
  end)

  it("is rejected without an authority, and the option for it is named", function()
    local text = run_elsewhere(SHOW:format(literal(options_with { host = "db.example" })),
      "HOME=/nonexistent PGHOSTADDR=127.0.0.1")
    assert.matches("authorities' file \"/nonexistent/.postgresql/root.crt\" cannot be read", text)
    assert.matches("sslrootcert", text)
  end)

  it("is not made this machine by a variable of the environment", function()
    configure "ssl = off\n"
    local authority = made.path "ca.crt"
    assert.matches("it needs TLS", open_elsewhere { host = "localhost", sslrootcert = authority })
    assert.matches("^open%s+false", run_elsewhere(SHOW:format(literal(options_with { host = "localhost" }))))
    assert.matches("it needs TLS", run_elsewhere(SHOW:format(literal { database = "postgres", user = "purser",
      port = server.options.port, sslrootcert = authority }), "PGHOST=db.example PGHOSTADDR=127.0.0.1"))
  end)
end)

describe("texts in the options", function()
  it("reach the server as they are, with quotes, backslashes and spaces", function()
    local port, log = listener()
    local _, err = purser.journal.open { postgresql = { host = "127.0.0.1", port = port, user = "o'Neil \\ x",
      database = "host=elsewhere sslmode='disable'", password = "a' b\\c =d" } }
    assert.is_nil(err.message:find("b\\c", 1, true))
    local seen = log()
    assert.truthy(seen:find("user o'Neil \\ x database host=elsewhere sslmode='disable' ", 1, true), seen)
    assert.truthy(seen:find("password: a' b\\c =d\n", 1, true), seen)
  end)

  it("do not stay in the journal's tables, nor in the object", function()
    local journal = open { password = "hunter2" }
    local seen = {}
    local function search(value)
      assert.is_false(value == "hunter2")
      if type(value) ~= "table" or seen[value] then return end
      seen[value] = true
      for _, each in pairs(value) do search(each) end
    end
    search(journal)
    assert.is_nil(tostring(journal):find "hunter2")
    journal:close()
  end)
end)

describe("a transaction", function()
  before_each(function() open():close() end)

  it("is at READ COMMITTED whatever the default is, so that after a lock it sees what others wrote", function()
    local admin = open()
    assert(admin.db:rows "ALTER DATABASE postgres SET default_transaction_isolation = 'repeatable read'")
    local one, two = open(), open()
    local count = "SELECT count(*)::text AS n FROM purser_meta WHERE name = 'seen'"
    assert(one.db:transaction(function(tx)
      assert.equal("read committed", tx:rows("SELECT current_setting('transaction_isolation') AS level")[1].level)
      assert.equal("0", tx:rows(count)[1].n)
      assert(two.db:transaction(function(other)
        other:rows "INSERT INTO purser_meta (name, value) VALUES ('seen', '')"
        return true
      end))
      assert.equal("1", tx:rows(count)[1].n)
      return true
    end))
    assert(admin.db:rows "ALTER DATABASE postgres RESET default_transaction_isolation")
    assert(admin.db:rows "DELETE FROM purser_meta WHERE name = 'seen'")
    for _, journal in ipairs { admin, one, two } do journal:close() end
  end)

  it("asks the server for its time once, however many payments it adds", function()
    local journal = open()
    local client = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
      journal = journal, account = "torture" })
    local payouts = assert(purser.payouts.new { client = client, journal = journal, queue = os.tmpname() })
    local rows, asked = journal.db.rows, 0
    journal.db.rows = function(self, sql, ...)
      if sql:find "clock_timestamp" then asked = asked + 1 end
      return rows(self, sql, ...)
    end
    local list = {}
    for i = 1, 50 do
      list[i] = { key = "k" .. i, operation = "wallet.transfer",
        params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" } }
    end
    assert.equal(50, assert(payouts:add_all(list)).added)
    assert.is_true(asked <= 1, asked .. " times")
    journal:close()
  end)
end)

describe("a write call that a finaliser makes within a transaction", function()
  it("is not sent, and leaves that transaction whole", function()
    local journal, sim = open(), purser.sim.new { seed = 7 }
    local account = assert(sim:account { name = "nested", balances = { USDT = "100" } })
    local client = assert(purser.new { base_url = "http://localhost", api_key = account.api_key,
      secret_key = account.secret_key, transport = sim:transport(), clock = function() return sim:now() end,
      journal = journal, account = "torture", rate_limit = false })
    local function move()
      return client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
        amount = "1" }
    end
    assert(move())
    local err
    local ok, problem = journal.db:transaction(function(tx)
      tx:rows("INSERT INTO purser_meta (name, value) VALUES ($1, $2)", "half", "1")
      err = select(2, move()) -- a collection of garbage runs finalisers here, in this coroutine
      tx:reject "all of it is undone"
    end)
    assert.is_nil(ok)
    assert.equal("all of it is undone", problem)
    assert.equal("not_sent", err.outcome)
    assert.matches("a transaction is under way", err.message)
    assert.equal(1, sim:counts()["wallet.transfer"].applied)
    assert.same({}, (journal.db:rows "SELECT value FROM purser_meta WHERE name = 'half'"))
    assert(move())
    assert.equal(2, sim:counts()["wallet.transfer"].applied)
    journal:close()
  end)
end)

describe("a connection that was lost", function()
  it("is opened again by whatever is asked next", function()
    local journal, admin = open(), open()
    local client = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
      journal = journal, account = "torture" })
    local payouts = assert(purser.payouts.new { client = client, journal = journal })
    local uses = {
      function() return journal:entries() end, function() return journal:recover(client) end,
      function() return journal:id() end,
      function() return payouts:report() end, function() return journal:each_entry()() or true end,
      function() return journal:prune { before = 1000000000000 } end,
    }
    for i, use in ipairs(uses) do
      local pid = assert(journal.db:rows "SELECT pg_backend_pid()::text AS pid")[1].pid
      assert(admin.db:rows("SELECT pg_terminate_backend($1::int)::text AS ended", pid))
      repeat
        local left = assert(admin.db:rows("SELECT count(*)::text AS n FROM pg_stat_activity WHERE pid = $1::int", pid))
      until left[1].n == "0"
      local value, err = use()
      assert(value, ("use %d: %s"):format(i, tostring(err)))
    end
    journal:close()
    admin:close()
  end)
end)

describe("a connection that is lost in the middle of a transaction", function()
  it("ends it with libpq's reason, in one line and without LuaDBI's words", function()
    local journal, admin = open(), open()
    local ok, message = journal.db:transaction(function(tx)
      local pid = tx:rows "SELECT pg_backend_pid()::text AS pid"[1].pid
      assert(admin.db:rows("SELECT pg_terminate_backend($1::int, 10000)::text AS ended", pid))
      tx:rows "SELECT 1::text AS one"
    end)
    assert.is_nil(ok)
    assert.matches("connection", message)
    assert.is_nil(message:find "[\n\t]")
    assert.is_nil(message:find "^Error %a+ing statement")
    assert(journal:id())
    journal:close()
    admin:close()
  end)
end)

describe("a server that is not there", function()
  it("is reported, and not as a wrong database", function()
    local options = options_with()
    options.port = 1
    local journal, err = purser.journal.open { postgresql = options }
    assert.is_nil(journal)
    assert.matches("no connection to the server", err.message)
    assert.equal("psql with the same settings says why", err.hint)
  end)
end)

describe("a database that was put back", function()
  it("while it is open keeps calls from being sent", function()
    local sim = purser.sim.new { seed = 5 }
    sim:advance(86400000) -- a record's id is made of its time: other ones than those of the journal's other worlds
    local account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "1000" } })
    assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
    local journal, admin = open(), open()
    local client = assert(purser.new { base_url = "http://localhost", api_key = account.api_key,
      secret_key = account.secret_key, transport = sim:transport(), clock = function() return sim:now() end,
      journal = journal, account = "torture", rate_limit = false })
    local function move(amount)
      return client.sub_account:transfer { toAccount = "tradingdesk1", fromAccountType = "SPOT",
        toAccountType = "SPOT", asset = "USDT", amount = amount }
    end
    assert(move "1")
    local dump = folder .. "/dump.sql"
    local pg = ("-h 127.0.0.1 -p %d -U purser"):format(server.options.port)
    assert(os.execute(("pg_dump %s --clean postgres > %s"):format(pg, dump)))
    assert(move "2")
    assert(os.execute(("psql %s -q -f %s postgres >/dev/null"):format(pg, dump)))
    local result, err = move "3"
    assert.is_nil(result)
    assert.matches("older than it was", err.message)
    assert.equal("not_sent", err.outcome)
    assert.equal(2, sim:counts()["sub_account.transfer"].applied)
    journal:close()
    admin:close()
  end)
end)

describe("a pooler that gives a transaction the session of another connection", function()
  it("keeps calls from being sent, since its prepared statements may be other ones", function()
    local journal, sim = open(), purser.sim.new { seed = 6 }
    sim:advance(2 * 86400000)
    local account = assert(sim:account { name = "pooled", balances = { USDT = "100" } })
    local client = assert(purser.new { base_url = "http://localhost", api_key = account.api_key,
      secret_key = account.secret_key, transport = sim:transport(), clock = function() return sim:now() end,
      journal = journal, account = "torture", rate_limit = false })
    local function move(amount)
      return client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
        amount = amount }
    end
    assert(move "1")
    assert(connection.rows(journal.db, "SET purser.session = 'of another connection'")) -- as its own connection set it
    local result, err = move "2"
    assert.is_nil(result)
    assert.equal("not_sent", err.outcome)
    assert.matches("pooler in session mode", err.message)
    assert.equal(1, sim:counts()["wallet.transfer"].applied)
    local queues, problem = purser.payouts.queues(journal)
    assert.is_nil(queues)
    assert.matches("pooler in session mode", problem.message)
    local rows, why = journal.db:rows "SELECT id FROM purser_calls" -- a single question asks whose session it has, too
    assert.is_nil(rows)
    assert.matches("pooler in session mode", why)
    assert.is_true(#assert(connection.rows(journal.db, "SELECT id FROM purser_calls")) >= 1)
    journal:close()
  end)
end)

describe("a pooler", function()
  it("in transaction mode is refused as soon as two connections share a session", function()
    local options, stop = server.pool("transaction", 1)
    finally(stop)
    local one = open { port = options.port }
    assert(purser.payouts.queues(one)) -- as yet it is alone
    local two, err = purser.journal.open { postgresql = options }
    assert.is_nil(two)
    assert.matches("pooler in session mode", err.hint)
    one:close()
  end)

  it("in session mode is as the server", function()
    local options, stop = server.pool("session", 20)
    finally(stop)
    local journals = {}
    for i = 1, 3 do journals[i] = assert(purser.journal.open { postgresql = options }) end
    for _, journal in ipairs(journals) do
      assert(purser.payouts.queues(journal))
      assert(journal:prune { before = 1500000000000 })
      journal:close()
    end
  end)
end)

describe("attempts of a call", function()
  it("are kept with each end that another one replaced, and read with the call", function()
    local journal, sim = open(), purser.sim.new { seed = 70 }
    local account = assert(sim:account { name = "repeats", balances = { USDT = "100" } })
    local client = assert(purser.new { base_url = "http://localhost", api_key = account.api_key,
      secret_key = account.secret_key, transport = sim:transport(), clock = function() return sim:now() end,
      journal = journal, account = "torture", rate_limit = false })
    local function move()
      return client.wallet:transfer({ fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
        amount = "1" }, { key = "twice" })
    end
    sim:fault { kind = "reset", operation = "wallet.transfer" }
    local _, lost = move()
    assert.equal("unknown", lost.outcome, tostring(lost))
    local id = assert(journal:entries { key = "twice" })[1].intent.id
    sim:advance(60000)
    assert(journal:settle(id, { outcome = "not_done", by = "alice", now = sim:now() }))
    assert(move())
    local kept = assert(journal.db:rows("SELECT number, state FROM purser_attempts WHERE call = $1 ORDER BY state", id))
    assert.same({ { number = "1", state = "not_done" }, { number = "1", state = "unknown" } }, kept)
    local call = assert(journal:call_of { id = id })
    assert.same({ "done", 2, 1 }, { call.state, call.intent.attempt, #call.earlier })
    local ok, err = journal:settle(id, { outcome = "done", by = "alice", record_id = "r", now = sim:now() })
    assert.is_nil(ok)
    assert.matches("its answer or its id", err.message)
    journal:close()
  end)
end)
