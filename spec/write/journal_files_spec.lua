-- SPDX-License-Identifier: MIT
-- The files of a journal: this user's alone, watched while they are open, and rejected when they became older.

local as_root = require "as_root" (it, pending)
local commands = require "command"
local core = require "purser.core"
local purser = require "purser"
local simulated = require "simulated"

local sim, account, path, folder, journal, client

local function open(options)
  local all = { sqlite = path }
  for name, value in pairs(options or {}) do all[name] = value end
  return purser.journal.open(all)
end

local function client_with(options)
  return simulated.client(sim, account, { retry = false, rate_limit = false, journal = journal, account = "treasury" },
    options)
end

local function run(command)
  local ok = os.execute(command)
  assert(ok == true or ok == 0, command)
end

before_each(function()
  folder = os.tmpname()
  os.remove(folder)
  run("umask 022 && mkdir " .. folder)
  path = folder .. "/purser's journal"
  sim, account = simulated.broker()
  journal = assert(open())
  client = client_with()
end)

after_each(function()
  journal:close()
  run("rm -r " .. folder)
end)

local function move(amount, opts)
  return client.sub_account:transfer(simulated.transfer(amount), opts)
end

local function received() return simulated.counted(sim, "sub_account.transfer", "received") end

local function rejected_with(pattern)
  local before = received()
  local result, err = move "7"
  assert.is_nil(result)
  assert.same({ "not_sent", "journal" }, { err.outcome, err.phase })
  assert.matches(pattern, err.message)
  assert.equal(before, received())
end

describe("the files of a journal", function()
  it("are looked for, and not made", function()
    assert.is_true(purser.journal.exists { sqlite = path })
    assert.is_false(purser.journal.exists { sqlite = path .. "-2" })
    local books = assert(require("purser.client.util.database").open { sqlite = path .. "-3" })
    assert(books:rows "CREATE TABLE purser_books_gap (id TEXT)")
    books:close()
    assert.is_false(purser.journal.exists { sqlite = path .. "-3" }, "books are no journal")
    os.remove(path .. "-3")
    assert.is_nil(core.file_mode(path .. "-2"))
    for _, wrong in ipairs { {}, { sqlite = path, postgresql = {} }, { postgresql = { port = 0 } } } do
      local is_there, err = purser.journal.exists(wrong)
      assert.same({ nil, "config" }, { is_there, err.kind })
    end
  end)

  it("are readable by nobody but their user", function()
    assert(move "1")
    for _, suffix in ipairs { "", "-wal", "-shm" } do
      assert.equal("600", ("%o"):format((core.file_mode(path .. suffix))))
    end
  end)

  for _, mode in ipairs { "644", "640", "604", "620", "602", "666" } do
    it("are rejected when others may read or write them (" .. mode .. "), with the cure", function()
      journal:close()
      run(('chmod %s "%s"'):format(mode, path))
      local opened, err = open()
      assert.is_nil(opened)
      assert.equal("config", err.kind)
      assert.matches("is open to other users %(its mode is " .. mode .. "%)", err.message)
      run(err.hint:match "run: (chmod 600 [^\n]*)")
      journal = assert(open())
    end)
  end

  it("are rejected when only the write-ahead log is open to others", function()
    assert(move "1")
    run(('chmod 644 "%s-wal"'):format(path))
    local _, err = open()
    assert.matches("%-wal\" is open to other users", err.message)
    run(err.hint:match "run: (chmod 600 [^\n]*)")
    assert(open()):close()
  end)

  it("are rejected when a link leads to one that is open to others", function()
    assert(move "1")
    run(('ln -s "%s" "%s/link" && chmod 644 "%s-wal"'):format(path, folder, path))
    local _, err = open { sqlite = folder .. "/link" }
    assert.matches("journal%-wal\" is open to other users", err.message)
    run(err.hint:match "run: (chmod 600 [^\n]*)")
    assert(open { sqlite = folder .. "/link" }):close()
  end)

  as_root("are rejected when they are another user's, or behind a link of one", function()
    assert(move "1")
    for _, suffix in ipairs { "-shm", "-wal", "" } do
      run(('chown 65534 "%s%s"'):format(path, suffix))
      local _, err = open()
      assert.matches("belongs to another user", err.message)
      run(('chown 0 "%s%s"'):format(path, suffix))
    end
    run(('ln -s "%s" "%s/link" && chown -h 65534 "%s/link"'):format(path, folder, folder))
    local _, err = open { sqlite = folder .. "/link" }
    assert.matches("is a link of another user", err.message)
    assert(open()):close()
  end)

  for _, suffix in ipairs { "", "-wal", "-shm" } do
    it("keep calls from being sent when one is removed (" .. (suffix == "" and "the database" or suffix) .. ")",
      function()
        assert(move "1")
        assert(os.rename(path .. suffix, path .. ".kept"))
        rejected_with "removed or replaced"
        assert(io.open(path .. suffix, "w")):close()
        rejected_with "removed or replaced"
        assert(os.rename(path .. ".kept", path .. suffix))
        assert(move "2")
      end)
  end

  it("must be named by a path", function()
    for _, name in ipairs { "", "file:" .. path, path .. "\0x" } do
      assert.matches("must name a file", select(2, open { sqlite = name }).message)
    end
  end)
end)

describe("a database that is no journal", function()
  local function bytes(name)
    local file = assert(io.open(name, "rb"))
    local text = file:read "*a"
    file:close()
    return text
  end

  local function make(name, sql)
    local driver = require "DBI"
    assert(core.create_private(name))
    local handle = assert(driver.Connect("SQLite3", name))
    assert(driver.Do(handle, sql))
    handle:commit()
    handle:close()
  end

  it("of another program is rejected and stays as it was, byte for byte", function()
    local other = folder .. "/other.db"
    make(other, "CREATE TABLE customers (name TEXT)")
    local before = bytes(other)
    local opened, err = open { sqlite = other }
    assert.is_nil(opened)
    assert.equal("config", err.kind)
    assert.equal(('the journal "%s" cannot be opened: it is a database of another program, with a table "customers"')
      :format(other), err.message)
    assert.equal("give the database of the journal", err.hint)
    assert.equal(before, bytes(other))
    assert.is_nil(core.file_mode(other .. "-wal"))
  end)

  it("of which a full disk shows nothing is no reason for a new journal", function()
    assert(move "1")
    journal:close()
    for _, each in ipairs { path, folder .. "/new" } do
      local _, shown = commands.shell(("(ulimit -f 1; trap '' XFSZ; %s -e %s)"):format(os.getenv "LUA" or "lua5.4",
        commands.quote(('print(require("purser").journal.open { sqlite = %q })'):format(each))))
      assert.matches("cannot be opened: .*disk", shown)
      assert.matches("; make room on the disk of this journal, and run this again [", shown, 1, true)
    end
    journal = assert(open())
    assert.equal(1, #assert(journal:entries()))
  end)

  it("of another program gets no table of the rate limit and no witness", function()
    local other = folder .. "/other.db"
    make(other, "CREATE TABLE customers (name TEXT)")
    local before = bytes(other)
    local limited = client_with { rate_limit = { store = { sqlite = other } } }
    local result, err = limited.wallet:transfer_history { fromAccountType = "SPOT", toAccountType = "FUTURES" }
    assert.is_nil(result)
    assert.matches("database of another program", tostring(err))
    local queue, problem = purser.payouts.new { client = client, journal = journal, worker = "w", witness = other }
    assert.is_nil(queue)
    assert.matches("database of another program", tostring(problem))
    assert.equal(before, bytes(other))
  end)

  it("and is a journal's witness is rejected, too", function()
    assert(purser.payouts.new { client = client, journal = journal, worker = "w",
      witness = path .. ".witness" }):run()
    local opened, err = open { sqlite = path .. ".witness" }
    assert.is_nil(opened)
    assert.matches("it is the witness file of a journal", err.message)
  end)
end)

describe("a journal that is put back to an older state while it is open", function()
  local function put_back(between)
    assert(move "1")
    local other = assert(open())
    for _, name in ipairs { "calls", "generations", "meta" } do
      assert(other.db:rows(("CREATE TABLE kept_%s AS SELECT * FROM purser_%s"):format(name, name)))
    end
    between()
    for _, name in ipairs { "calls", "generations", "meta" } do
      assert(other.db:rows("DELETE FROM purser_" .. name))
      assert(other.db:rows(("INSERT INTO purser_%s SELECT * FROM kept_%s"):format(name, name)))
    end
    other:close()
  end

  it("keeps calls from being sent", function()
    put_back(function() assert(move "2") end)
    rejected_with "older than it was"
    rejected_with "older than it was" -- and it stays so
  end)

  it("keeps payments from being added and taken", function()
    local payouts = assert(purser.payouts.new { client = client, journal = journal })
    local params = simulated.transfer "3"
    put_back(function() assert(payouts:add("a", "sub_account.transfer", params)) end)
    assert.matches("older than it was", select(2, payouts:add("b", "sub_account.transfer", params)).message)
    assert.matches("older than it was", select(2, payouts:run()).message)
    assert.equal(1, received())
  end)

  it("is used when nothing was written since", function()
    put_back(function() end)
    assert(move "2")
  end)

  it("is used by a process that wrote nothing into it before", function()
    put_back(function() assert(move "2") end)
    journal:close()
    journal = assert(open())
    client = client_with()
    assert(move "3")
  end)
end)

describe("a commit that is reported as failed though it was made", function()
  it("is not taken for a journal that was put back", function()
    assert(move "1")
    local rows, lost = journal.db.rows, 0
    journal.db.rows = function(self, sql, ...)
      local result, message = rows(self, sql, ...)
      if sql == "COMMIT" and lost < 2 then
        lost = lost + 1
        return nil, "the connection was lost"
      end
      return result, message
    end
    assert.matches("connection was lost", select(2, move "2").message)
    assert.matches("connection was lost", select(2, move "3").message)
    journal.db.rows = nil
    assert(move "4")
    assert.equal(2, received())
  end)
end)

describe("a text that looks like SQL", function()
  it("is a value and nothing else, as an account, a queue, a worker, a key and an id", function()
    for i, text in ipairs { "'; DROP TABLE purser_calls; --", "x' OR '1'='1", '"', "\\", "%", "_", "$1", "?1", ":a",
      "'||(SELECT 1)||'", "\195\169" } do
      if i > 1 then
        journal:close()
        for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
        journal = assert(open())
      end
      client = client_with { account = text, guard = { spending_limit = { USDT = "1000", [text] = "1" } } }
      assert(move(tostring(i)))
      local entries = assert(journal:entries())
      assert.equal(1, #entries)
      assert.equal(text, entries[1].intent.account)
      assert.equal(0, #assert(journal:entries { id = text }))
      assert.same({}, assert(journal:recover(client)))
      local payouts = assert(purser.payouts.new { client = client, journal = journal, queue = text, worker = text })
      assert(payouts:add(text, "wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES",
        asset = "USDT", amount = tostring(20 + i) }))
      assert.equal(1, assert(payouts:run()).done)
      local done = assert(payouts:list "done")
      assert.equal(1, #done)
      assert.equal(text, done[1].key)
    end
    assert(sim:verify())
  end)
end)

describe("a text with a zero byte", function()
  it("is rejected as an account's name, since the database would take two names for one", function()
    for _, name in ipairs { "a\0b", "a\0c", "a\nb", "treasury ", "" } do
      local made, err = purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
        journal = journal, account = name }
      assert.is_nil(made)
      assert.matches('option "account" is', err.message)
      assert.equal("it must be a text of 1 to 200 characters, all of which can be seen", err.hint)
    end
  end)

  it("is rejected wherever else it would be kept", function()
    for _, queue in ipairs { "a\0b", "default " } do
      local payouts, err = purser.payouts.new { client = client, journal = journal, queue = queue }
      assert.is_nil(payouts)
      assert.matches('"queue" is no name', err.message)
    end
    assert.matches("zero byte", select(2, journal:entries { key = "a\0b" }).message)
  end)

  it("in an answer does not keep its end from being written", function()
    local inner = sim:transport()
    client = client_with { transport = { send = function(_, request)
      local response, failure = inner:send(request)
      if response then
        response.status, response.body = 400, '{"code":400,"msg":"no \\u0000 way"}'
      end
      return response, failure
    end } }
    local info = {}
    local _, err = move("1", { info = info })
    assert.equal("rejected", err.outcome)
    assert.is_nil(info.journal_error)
    assert.equal("rejected", assert(journal:entries())[1].state)
  end)
end)

describe("what a call is given as extra parameters", function()
  it("is in no file of the journal, and not in the intent, since it may be a password", function()
    local info = {}
    assert(move("1", { info = info, extra_params = { tradePassword = "hunter2-extra" } }))
    assert.same({ "tradePassword" }, info.intent.extra)
    assert.is_nil(info.intent.params.tradePassword)
    local lost = sim:transport()
    client = client_with { transport = { send = function(_, request)
      lost:send(request)
      return nil, { code = "timeout", phase = "receive", message = "lost", outcome = "unknown" }
    end } }
    local _, err = move("2", { extra_params = { tradePassword = "hunter2-extra" } })
    assert.equal("unknown", err.outcome)
    assert.is_nil(err.intent.params.tradePassword)
    assert.equal("done", assert(client_with():reconcile(err)).outcome)
    for _, suffix in ipairs { "", "-wal", "-shm" } do
      local file = assert(io.open(path .. suffix, "rb"))
      assert.is_nil(file:read "*a":find("hunter2-extra", 1, true))
      file:close()
    end
  end)
end)
