-- SPDX-License-Identifier: MIT
-- The journal: what is about to happen is on disk before it happens, and what cannot be written is not sent.

local core = require "purser.core"
local database = require "purser.client.util.database"
local purser = require "purser"
local simulated = require "simulated"

local sim, account, path, journal, client

local function remove_files()
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
end

local function open(options)
  local all = { sqlite = path }
  for name, value in pairs(options or {}) do all[name] = value end
  return purser.journal.open(all)
end

local function client_with(options)
  return simulated.client(sim, account, { retry = false, rate_limit = false, journal = journal,
    account = "treasury" }, options)
end

local move = simulated.transfer "2.50"

before_each(function()
  path = os.tmpname()
  sim, account = simulated.broker(nil, { futures_balances = { USDT = "10" } })
  journal = assert(open())
  client = client_with()
end)

after_each(function()
  journal:close()
  remove_files()
end)

local function applied(name) return simulated.counted(sim, name, "applied") end

describe("an intent", function()
  it("is on disk, and open, when the request leaves", function()
    local inner, seen = sim:transport(), nil
    local watching = { send = function(_, request)
      local other = assert(open()) -- as another process would see it
      seen = assert(other:entries { state = "open" })
      other:close()
      return inner:send(request)
    end }
    local info = {}
    local result = assert(client_with({ transport = watching }).broker:transfer(move, { info = info }))
    assert.equal(1, #seen)
    assert.equal("broker.transfer", seen[1].intent.operation)
    assert.equal(32, #seen[1].intent.params.clientTranId)
    assert.equal("2.50", seen[1].intent.params.amount)
    assert.equal(sim:now(), seen[1].intent.sent_at)
    assert.equal(info.intent.id, seen[1].intent.id)

    local entries = assert(journal:entries())
    assert.equal("done", entries[1].state)
    assert.equal(result.tranId, entries[1].record.tranId)
  end)

  it("says how it ended: rejected, never sent, unknown", function()
    client.broker:transfer { toAccount = "nobody01", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
      amount = "1" }
    sim:fault { kind = "lost_answer", operation = "transfer" }
    client.broker:transfer(move)
    client_with({ transport = { send = function()
      return nil, { message = "no route", outcome = "not_sent" }
    end } }).broker:transfer(move)
    local states = {}
    for _, entry in ipairs(assert(journal:entries())) do states[entry.state] = entry.message end
    assert.matches("nobody01", states.rejected)
    assert.equal("no route", states.not_sent)
    assert.matches("closed", states.unknown)
  end)

  it("keeps what another worker found out when the answer comes late and says nothing", function()
    sim:fault { kind = "lost_answer", operation = "sub_account.transfer" }
    local _, err = client.sub_account:transfer(move)
    assert.equal("done", assert(client:reconcile(err)).outcome)
    assert(journal:finish(err.intent, nil, err))
    assert(journal:reconciled(err.intent, { outcome = "undecided" }))
    assert.equal("done", assert(journal:entries())[1].state)

    _, err = client_with({ transport = { send = function() return nil end } }).wallet:transfer {
      fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }
    assert(journal:reconciled(err.intent, { outcome = "undecided" }))
    assert(journal:finish(err.intent, nil, err))
    assert.equal(1, #assert(journal:entries { state = "undecided" }))
  end)

  it("is not made for reads, nor for what the check rejects", function()
    assert(client.wallet:coins())
    client.broker:transfer { asset = "USDT" }
    assert.same({}, assert(journal:entries()))
  end)

  it("never holds a password or a secret key", function()
    local sub = client_with()
    sub.broker:withdraw { coin = "USDT", network = "Tron(TRC20)", address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm",
      amount = "10", funds_password = "correct horse" }
    local key = assert(client.broker:create_api_key { subAccount = "tradingdesk1", note = "bot",
      permissions = "SPOT_DEAL_READ" })
    journal:close()
    local bytes = ""
    for _, suffix in ipairs { "", "-wal" } do
      local file = io.open(path .. suffix, "rb")
      if file then
        bytes = bytes .. file:read "*a"
        file:close()
      end
    end
    assert.truthy(bytes:find(key.apiKey, 1, true))
    for _, secret in ipairs { key.secretKey, "correct horse", require("purser.core").md5_hex "correct horse",
      account.secret_key, account.api_key } do
      assert.is_nil(bytes:find(secret, 1, true))
    end
  end)
end)

describe("after a crash", function()
  -- A transport during which the program as good as ends, before the request reaches the service or after: nothing is
  -- written any more.
  local function dying(after)
    local inner = sim:transport()
    return { send = function(_, request)
      if after then inner:send(request) end
      journal:close()
      error "killed"
    end }
  end

  local function crash(after, params)
    assert.is_nil(client_with({ transport = dying(after) }).broker:transfer(params or move))
    journal = assert(open())
    client = client_with()
  end

  it("recover finds what was executed", function()
    crash(true)
    local reconciled = assert(journal:recover(client))
    assert.equal(1, #reconciled)
    assert.equal("done", reconciled[1].answer.outcome)
    assert.equal("done", assert(journal:entries())[1].state)
    assert.same({}, assert(journal:recover(client)))
    assert.equal(1, applied "broker.transfer")
  end)

  it("recover says what was not", function()
    crash(false)
    assert.equal("not_done", assert(journal:recover(client))[1].answer.outcome)
    assert.equal("not_done", assert(journal:entries())[1].state)
  end)

  -- A program that pays again what was "not_sent" paid again what was executed.
  it("recover says unknown where it cannot look, whatever the end of the look", function()
    crash(true)
    for _, outcome in ipairs { "not_sent", "unknown" } do
      local cut = client_with { transport = { send = function()
        return nil, { message = "no route to host", outcome = outcome, phase = "connect" }
      end } }
      local found = assert(journal:recover(cut))[1]
      assert.same({ nil, "unknown" }, { found.answer, found.err.outcome })
    end
  end)

  it("recover believes no other key about what this one signed", function()
    crash(true)
    local other = assert(sim:account { name = "Other", role = "broker" })
    assert(sim:account { name = "tradingdesk1", role = "sub", parent = other.uid })
    local answer = assert(journal:recover(client_with { api_key = other.api_key,
      secret_key = other.secret_key }))[1].answer
    assert.equal("undecided", answer.outcome)
    assert.matches("stranger", answer.reason)
    assert.equal("done", assert(client:reconcile(assert(journal:entries())[1].intent)).outcome)
  end)

  it("finds two equal calls, which wait for each other no longer than until their records must be visible", function()
    local pair = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" }
    for _ = 1, 2 do
      assert.is_nil(client_with({ transport = dying(true) }).wallet:transfer(pair))
      journal = assert(open())
    end
    local began = sim:now()
    local reconciled = assert(journal:recover(client_with()))
    assert.same({ "done", "done" }, { reconciled[1].answer.outcome, reconciled[2].answer.outcome })
    assert.are_not.equal(reconciled[1].answer.record.tranId, reconciled[2].answer.record.tranId)
    assert.is_true(sim:now() - began < 90000, sim:now() - began .. " ms")
  end)

  it("keeps equal calls apart by what it knows of each", function()
    local pair = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" }
    local first = assert(client.wallet:transfer(pair))
    assert.is_nil(client_with({ transport = dying(true) }).wallet:transfer(pair))
    journal = assert(open())
    local reconciled = assert(journal:recover(client_with()))
    assert.equal("done", reconciled[1].answer.outcome)
    assert.are_not.equal(first.tranId, reconciled[1].answer.record.tranId)
  end)
end)

describe("a reconciliation", function()
  it("is not reconciled by a guess when equal calls cannot be looked up", function()
    local to_futures = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }
    sim:fault { kind = "lost_answer", operation = "wallet.transfer" }
    local _, err = client.wallet:transfer(to_futures)
    local rows = journal.db.rows
    journal.db.rows = function(self, sql, ...)
      if sql:find "^SELECT.*'undecided'" then return nil, "disk I/O error" end
      return rows(self, sql, ...)
    end
    local answer, problem = client:reconcile(err)
    assert.is_nil(answer)
    assert.equal("journal", problem.phase)
    assert.matches("disk I/O error", problem.message)
    journal.db.rows = nil
    assert.equal("done", assert(client:reconcile(err)).outcome)
  end)

  it("is kept with its intent", function()
    sim:fault { kind = "lost_answer", operation = "transfer" }
    local _, err = client.broker:transfer(move)
    local answer = assert(client:reconcile(err))
    local entry = assert(journal:entries())[1]
    assert.equal("done", entry.state)
    assert.equal(answer.record.tranId, entry.record.tranId)
  end)
end)

describe("nothing is sent", function()
  local function rejected(expected)
    local before = #sim:requests()
    local result, err = client.broker:transfer(move)
    assert.is_nil(result)
    assert.equal("config", err.kind)
    assert.equal("not_sent", err.outcome)
    assert.equal("journal", err.phase)
    assert.matches("nothing was sent", err.message)
    assert.matches(expected, tostring(err))
    assert.equal(before, #sim:requests())
  end

  it("when the disk is full", function()
    local pages = assert(journal.db:rows "PRAGMA page_count")[1].page_count
    assert(journal.db:rows(("PRAGMA max_page_count = %d"):format(pages)))
    local err
    for _ = 1, 200 do -- until the last page is full
      local _, problem = client.broker:transfer(move)
      err = problem
      if err then break end
    end
    assert.matches("full", err.message)
    rejected "full"
    assert(journal.db:rows "PRAGMA max_page_count = 1000000")
    assert(client.broker:transfer(move)) -- and goes on when there is room again
  end)

  it("when the file can only be read", function()
    assert(journal.db:rows "PRAGMA query_only = 1")
    rejected "readonly"
  end)

  it("when the database stays locked", function()
    journal:close()
    journal = assert(open { lock_timeout_ms = 20 })
    client = client_with()
    local other = assert(database.open { sqlite = path })
    assert(other:rows "BEGIN EXCLUSIVE")
    rejected "locked.*wait until that has ended"
    assert(open { lock_timeout_ms = 20 }):close() -- it only reads
    local none, err = purser.payouts.new { client = client, journal = journal }
    assert.is_nil(none)
    assert.matches("locked.*wait until that has ended", tostring(err))
    assert.is_nil(tostring(err):find("readable", 1, true))
    assert(other:rows "ROLLBACK")
    other:close()
    assert(client.broker:transfer(move))
  end)

  it("when the journal is closed", function()
    journal:close()
    rejected "closed"
  end)
end)

describe("when something is raised after the request", function()
  it("what is known of the call is kept all the same", function()
    local inner = sim:transport()
    local _, err = client_with({ transport = { send = function(_, request)
      inner:send(request)
      error("no memory", 0)
    end } }).broker:transfer(move)
    assert.equal("unknown", err.outcome)
    local entry = assert(journal:entries())[1]
    assert.same({ "unknown", err.intent.id, err.message }, { entry.state, entry.intent.id, entry.message })
    assert.equal("done", assert(client:reconcile(err)).outcome)
  end)

  it("a transaction that was begun does not stay open", function()
    local rows, raised = journal.db.rows, 0
    function journal.db:rows(sql, ...)
      if sql == "COMMIT" or sql == "ROLLBACK" then
        raised = raised + 1
        error("no memory", 0)
      end
      return rows(self, sql, ...)
    end
    assert.has_error(function() client.broker:transfer(move) end, "no memory")
    assert.equal(1, raised) -- the connection is given up, and asked nothing more
    assert.equal(0, applied "broker.transfer")
    journal.db.rows = nil
    assert(client.broker:transfer(move))
  end)
end)

describe("when the end cannot be written", function()
  it("the result is returned all the same, and recover finds it", function()
    local inner = sim:transport()
    local db = journal.db
    local failing = { send = function(_, request)
      local response = inner:send(request)
      assert(db:rows "PRAGMA query_only = 1")
      return response
    end }
    local info = {}
    local result = assert(client_with({ transport = failing }).broker:transfer(move, { info = info }))
    assert.matches("readonly", info.journal_error)
    assert(db:rows "PRAGMA query_only = 0")
    assert.equal("open", assert(journal:entries())[1].state)
    assert.equal(result.tranId, assert(journal:recover(client))[1].answer.record.tranId)
  end)

  it("nor read whose record the answer names, nothing is concluded from the answer", function()
    local rows, info = journal.db.rows, {}
    function journal.db:rows(sql, ...)
      if sql:find("record_id IN", 1, true) then return nil, "disk I/O error" end
      return rows(self, sql, ...)
    end
    local result = assert(client.broker:transfer(move, { info = info }))
    assert.equal("disk I/O error", info.journal_error)
    journal.db.rows = nil
    assert.equal("open", assert(journal:entries())[1].state)
    assert.equal(result.tranId, assert(journal:recover(client))[1].answer.record.tranId)
  end)

  it("its answer is that call's all the same, and no other's that is handed it", function()
    local inner, db, first = sim:transport(), journal.db, nil
    local mixing = client_with { transport = { send = function(_, request)
      first = first or inner:send(request)
      if db.is_full then assert(db:rows "PRAGMA query_only = 1") end
      return first
    end } }
    db.is_full = true
    assert(mixing.broker:transfer(move))
    db.is_full = nil
    assert(db:rows "PRAGMA query_only = 0")
    local sent_at = assert(journal:entries())[1].intent.sent_at
    assert.same({}, journal:open_calls(client:account(), nil, sent_at, sent_at)) -- it can have made no other record
    local result, err = mixing.broker:transfer(move)
    assert.is_nil(result)
    assert.matches("carries the id of a record that belongs to another call", err.message)
  end)
end)

describe("the count of open calls", function()
  it("is of calls, and by queues", function()
    local own = require "own_journal"
    local kept = own.begin()
    finally(own.finish)
    own.within(function(tx)
      own.write(tx, "1", 1700000000000, { state = "open" })
      own.write(tx, "2", 1700000000000, { state = "unknown" })
      own.write(tx, "3", 1700000000000, { state = "done" })
      own.write(tx, "4", 1700000000000, { state = "undecided", queue = "june", payment = "a" })
    end)
    assert.same({ calls = 2, payments = 1, queues = { june = 1 } }, assert(kept:open_count()))
  end)
end)

describe("opening", function()
  local function rejected(expected, options)
    local opened, err = purser.journal.open(options or { sqlite = path })
    assert.is_nil(opened)
    assert.equal("config", err.kind)
    assert.matches(expected, tostring(err))
  end

  it("rejects a journal of a newer version, and leaves it as it is", function()
    assert(journal.db:rows "UPDATE purser_meta SET value = '99' WHERE name = 'version'")
    rejected "version 99, and this Purser knows 8"
    assert.equal("99", assert(journal.db:rows "SELECT value FROM purser_meta WHERE name = 'version'")[1].value)
  end)

  it("rejects what is not a journal", function()
    assert(journal.db:rows "DELETE FROM purser_meta")
    rejected "not a journal"
    journal:close()
    remove_files()
    local file = assert(io.open(path, "wb"))
    file:write(("no database "):rep(100))
    file:close()
    assert(os.execute("chmod 600 " .. path))
    rejected "not a database"
    rejected("write%-ahead log", { sqlite = ":memory:" })
  end)

  it("says of a path why it cannot hold a journal, and makes nothing", function()
    rejected('folder "/no/such/folder/" %(No such file or directory%); make the folder, or name another %[outcome',
      { sqlite = "/no/such/folder/journal" }) -- that cure, and no second one
    rejected("no file can be made in the folder", { sqlite = path .. ".none/journal" })
    rejected("Not a directory", { sqlite = path .. "/journal" })
    rejected('"/tmp" cannot be read and written %(Is a directory', { sqlite = "/tmp" })
    assert.is_true(core.may_keep(path .. ".new"))
    assert.is_nil(io.open(path .. ".new"))
  end)

  it("says of a file and a folder that may not be written", function()
    local folder = path .. ".d"
    os.execute(("chmod 400 %s; mkdir %s; chmod 500 %s"):format(path, folder, folder))
    -- root may all, but not without its capabilities
    local pipe = assert(io.popen(([[test $(id -u) != 0 || drop='setpriv --bounding-set -all --inh-caps -all'
      $drop %s -e 'local core = require "purser.core"
        print(core.may_keep "%s") print(core.may_keep "%s/journal")' 2>&1]]):format(os.getenv "LUA" or "lua5.4", path,
      folder)))
    local text = pipe:read "*a"
    pipe:close()
    os.execute("rmdir " .. folder)
    assert.equal(("nil\tPermission denied\nnil\tPermission denied\t%s/\n"):format(folder), text)
  end)

  it("rejects options that make no sense", function()
    rejected("sqlite = path or", {})
    rejected("sqlite = path or", { sqlite = path, postgresql = {} })
    rejected('did you mean "sqlite"', { sqlit = path })
    rejected("port", { postgresql = { port = "5432" } })
    rejected("journal options are given as a string; give a table", "journal.db")
    local made, err = purser.new { base_url = "http://localhost", api_key = "a", secret_key = "b", journal = {} }
    assert.is_nil(made)
    assert.matches("journal.open", tostring(err))
  end)

  it("goes on with what is there", function()
    assert(client.broker:transfer(move))
    journal:close()
    journal = assert(open())
    assert.equal(1, #assert(journal:entries()))
    assert.equal("purser.journal (sqlite)", tostring(journal))
    journal:close()
    journal:close()
    assert.equal("purser.journal (sqlite, closed)", tostring(journal))
  end)

  -- SQLite does not close a connection that still has statements: each journal kept its three files open for ever.
  it("keeps no file open that it closed", function()
    local function open_files() -- the journal's own: of the pipe to `ls`, one end or both may still be open here
      local pipe = assert(io.popen("ls -l /proc/$PPID/fd 2>/dev/null | grep -c " .. path))
      local count = pipe:read "*n"
      pipe:close()
      return count
    end
    local before
    for round = 1, 12 do
      assert(client.broker:transfer(move))
      journal:close()
      journal = assert(open())
      client = client_with { journal = journal }
      if round == 2 then before = open_files() end
    end
    assert.is_true(before >= 1)
    assert.is_true(open_files() <= before)
  end)

  it("lists what a filter lets through, of each state and by each name; a payment's key is its queue's", function()
    local own = require "own_journal"
    own.journal = journal
    local states = { "open", "unknown", "done", "rejected", "not_sent", "not_done", "undecided" }
    own.within(function(tx)
      for i, state in ipairs(states) do
        own.write(tx, "id" .. i, 1700000000000 + i, { state = state, key = "k" .. i,
          queue = i == 3 and "june" or nil, payment = i == 3 and "p" or nil })
      end
    end)
    local function listed(filter) return own.ids(assert(journal:entries(filter))) end
    for i, state in ipairs(states) do assert.same({ "id" .. i }, listed { state = state }, state) end
    assert.same({ "id2" }, listed { key = "k2" })
    assert.same({}, listed { key = "" })
    assert.same({ "id4" }, listed { id = "id4" })
    assert.same({ "id4", "id5" }, listed { limit = 2, after = assert(journal:entries { id = "id3" })[1] })
    local payment, single = assert(journal:entries { id = "id3" })[1], assert(journal:entries { id = "id4" })[1]
    assert.same({ "june", "k4" }, { payment.queue, single.key })
    assert.same({}, { payment.key, single.queue })
    for wrong, option in pairs { [{ state = "gone" }] = "state", [{ limit = 0 }] = "limit", [{ after = {} }] = "after",
      [{ key = 7 }] = "key", [{ colour = "red" }] = "colour" } do
      local none, err = journal:entries(wrong)
      assert.same({ option = option, kind = "argument" }, { none, option = err.option, kind = err.kind })
    end
  end)
end)
