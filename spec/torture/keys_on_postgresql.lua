-- SPDX-License-Identifier: MIT
-- Keys in a journal on a PostgreSQL server of the test's own, for `make torture`: each is used once, in whatever
-- process and on whatever host.

local arrival = require "purser.write.arrival"
local files = require "files"
local postgresql = dofile "spec/torture/postgresql.lua"
local purser = require "purser"

local folder, server, options

local function open() return assert(purser.journal.open { postgresql = server.options }) end

setup(function()
  folder = files.folder()
  server = postgresql.start(folder)
  options = ('{ database = "postgres", user = "purser", host = "127.0.0.1", port = %d }'):format(server.options.port)
end)

teardown(function()
  pcall(server.stop)
  files.remove(folder)
end)

describe("a key that two connections take in the same instant", function()
  local one, two, sim, account

  -- Runs `act` once, in the next transaction of the first journal that is about to run a statement with `words`.
  local function before(words, act)
    local transaction = one.db.transaction
    function one.db.transaction(db, body)
      return transaction(db, function(tx)
        return body(setmetatable({ rows = function(_, sql, ...)
          if act and sql:find(words, 1, true) then
            local now = act
            act = nil
            now()
          end
          return tx:rows(sql, ...)
        end }, { __index = tx }))
      end)
    end
  end

  local function client_of(journal)
    return assert(purser.new { base_url = "http://localhost", api_key = account.api_key, rate_limit = false,
      secret_key = account.secret_key, transport = sim:transport(), clock = function() return sim:now() end,
      journal = journal, account = "torture" })
  end

  setup(function() -- one world for all of the journal, in which each record has an id of its own
    sim = purser.sim.new { seed = 88 }
    sim:advance(86400000) -- a record's id is made of its time: other ones than those of other worlds
    account = assert(sim:account { name = "twice", role = "broker", balances = { USDT = "100" } })
    assert(sim:account { name = "desk", role = "sub", parent = account.uid })
  end)
  before_each(function()
    one, two = open(), open()
    assert(two.db:rows "SET lock_timeout = 200")
  end)
  after_each(function()
    one:close()
    two:close()
  end)

  it("makes one call: the second waits until the first is written", function()
    local first, second = client_of(one), client_of(two)
    local function move(client)
      return client.wallet:transfer({ fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
        amount = "1" }, { key = "sweep-1" })
    end
    local transaction, meanwhile = one.db.transaction, nil
    function one.db.transaction(db, body)
      return transaction(db, function(tx)
        local result = body(tx)
        if tx.changes then meanwhile = meanwhile or { move(second) } end -- the call is written, and not committed
        return result
      end)
    end
    local moved = assert(move(first))
    assert.same({ nil, "not_sent" }, { meanwhile[1], meanwhile[2].outcome })
    assert.matches("lock timeout", meanwhile[2].message)
    assert.same(moved, assert(move(second)))
    assert.equal(1, sim:counts()["wallet.transfer"].applied)
  end)

  it("of its own makes one of two equal calls, where both ask for equal ones", function()
    local first, second, since = client_of(one), client_of(two), sim:now() - 60000
    local function move(client, key)
      return client.wallet:transfer({ fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
        amount = "7" }, { key = key, equal_since = since })
    end
    local applied, err = sim:counts()["wallet.transfer"].applied, nil
    before("INSERT INTO purser_calls", function() err = select(2, move(second, "equal-2")) end)
    assert(move(first, "equal-1"))
    assert.matches("lock timeout", err.message)
    assert.equal("journal.equal", select(2, move(second, "equal-2")).code)
    assert.equal(applied + 1, sim:counts()["wallet.transfer"].applied)
  end)

  -- A list of `count` payments is added while a call begins with the id of the first as its key.
  local function race(id, count)
    local list = {}
    local payouts = assert(purser.payouts.new { client = client_of(two), journal = two, queue = id:sub(1, 1) })
    local params = { toAccount = "desk", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
      amount = "1" }
    for i = 1, count do
      local of_payment = { clientTranId = i == 1 and id or nil }
      for name, value in pairs(params) do of_payment[name] = value end
      list[i] = { key = id:sub(1, 1) .. i, operation = "sub_account.transfer", params = of_payment }
    end
    local added, refusal
    before("INSERT INTO purser_calls", function() added, refusal = payouts:add_all(list) end)
    params.clientTranId = id
    local called, err = client_of(one).sub_account:transfer(params)
    return added, refusal, called, err
  end

  it("as a payment's id and for a call is the call's, which was first", function()
    local added, refusal, called, err = race(("x"):rep(32), 1)
    assert.is_nil(added)
    assert.matches("lock timeout", refusal.message)
    assert.is_truthy(called, tostring(err))
  end)

  it("as an id in a long list and for a call is the list's, whose rows are there before the call's", function()
    local function applied() return (sim:counts()["sub_account.transfer"] or { applied = 0 }).applied end
    local before_it = applied()
    local added, refusal, called, err = race(("y"):rep(32), 501)
    assert.is_truthy(added, tostring(refusal))
    assert.is_nil(called)
    assert.equal("journal.used", err.code)
    assert.equal(before_it, applied())
  end)
end)

describe("what became of an accepted payment", function()
  it("is kept, and read once a minute", function()
    local journal, sim = open(), purser.sim.new { seed = 89 }
    sim:advance(172800000)
    local account = assert(sim:account { role = "main", balances = { USDT = "100" } })
    local client = assert(purser.new { base_url = "http://localhost", api_key = account.api_key, rate_limit = false,
      secret_key = account.secret_key, transport = sim:transport(), clock = function() return sim:now() end,
      journal = journal, account = "torture" })
    local made = assert(client.wallet:withdraw({ coin = "USDT", netWork = "TRX", amount = "20",
      address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm" }, { key = "arrives" }))
    local function entry() return journal:entries { key = "arrives" }[1] end
    assert.equal("accepted", arrival.look(client, journal, entry()))
    assert(sim:set_withdrawal(made.id, 7))
    assert.equal("accepted", arrival.look(client, journal, entry()))
    assert(journal.db:rows "UPDATE purser_calls SET destination = 'x' WHERE key = 'arrives'")
    arrival.look_at_destination(client, journal, "x")
    assert.equal("accepted", entry().arrival)
    sim:advance(60000)
    arrival.look_at_destination(client, journal, "x")
    assert.equal("sent", entry().arrival)
    arrival.note(journal, { id = made.id, status = 8 }, sim:now())
    assert.equal("failed", entry().arrival)
    assert.same({}, (journal.db:rows("SELECT id FROM purser_calls WHERE key = 'arrives' AND " .. arrival.MADE)))
    journal:close()
  end)
end)

describe("a key on two hosts", function()
  local PAY = [[
    local purser = require "purser"
    local journal = assert(purser.journal.open { postgresql = %s })
    local client = assert(purser.new { base_url = %q, api_key = %q, secret_key = %q, journal = journal,
      account = "torture", rate_limit = false })
    local info = {}
    local result, err = client.sub_account:transfer({ toAccount = "tradingdesk1", fromAccountType = "SPOT",
      toAccountType = "SPOT", asset = "USDT", amount = "3", clientTranId = ("k"):rep(32) }, { info = info })
    print(result and result.tranId or tostring(err), info.repeated)
  ]]

  it("is used once by ten processes at once, each of which gets the one result", function()
    local service = require("service").start()
    finally(service.stop)
    local account = assert(service.world:account { name = "Acme", role = "broker", balances = { USDT = "1000" } })
    assert(service.world:account { name = "tradingdesk1", role = "sub", parent = account.uid })
    service.world:fault { kind = "slow", operation = "sub_account.transfer", delay_ms = 300 }
    local path = files.temporary(PAY:format(options, service.url, account.api_key, account.secret_key))
    local pipes, ids, repeated = {}, {}, 0
    for i = 1, 10 do pipes[i] = assert(io.popen(("%s %s 2>&1"):format(os.getenv "LUA" or "lua5.4", path))) end
    for _, pipe in ipairs(pipes) do
      local id, again = pipe:read "*a":match "^(.-)\t(%a+)\n$"
      pipe:close()
      ids[id or "nothing"] = true
      repeated = repeated + (again == "true" and 1 or 0)
    end
    os.remove(path)
    local id = next(ids)
    assert.is_nil(next(ids, id), id)
    assert.matches("^%w+$", id)
    assert.equal(9, repeated)
    assert.equal(1, service.world:counts()["sub_account.transfer"].applied)
  end)

  -- A list that is added and a single call, with the same ids at the same time: each id is of one of them.
  local CLAIM = [[
    local purser = require "purser"
    local journal = assert(purser.journal.open { postgresql = %s })
    local client = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
      journal = journal, account = "torture", rate_limit = false, retry = false })
    local payouts = assert(purser.payouts.new { client = client, journal = journal })
    for i = 1, 60 do
      local params = { toAccount = "desk", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
        amount = "3", clientTranId = ("c"):rep(30) .. ("%%02d"):format(i) }
      local err
      if %q == "list" then
        err = select(2, payouts:add("p" .. i, "sub_account.transfer", params))
      else
        err = select(2, client.sub_account:transfer(params)) -- nobody listens there
        if err.kind == "transport" then err = nil end
      end
      print(i, err and tostring(err):gsub("\n", " ") or "mine")
    end
  ]]

  it("is of a payment or of a call, and not of both, whoever comes first", function()
    local pipes, paths, owners = {}, {}, {}
    for i, kind in ipairs { "list", "call" } do
      paths[i] = files.temporary(CLAIM:format(options, kind))
      pipes[i] = assert(io.popen(("%s %s 2>&1"):format(os.getenv "LUA" or "lua5.4", paths[i])))
    end
    for i, pipe in ipairs(pipes) do
      for line in pipe:lines() do
        local number, word = line:match "^(%d+)\t(.*)$"
        assert.is_truthy(word == "mine" or word and word:find("is that of", 1, true), line)
        if word == "mine" then owners[number] = (owners[number] or 0) + 1 end
      end
      pipe:close()
      os.remove(paths[i])
    end
    for i = 1, 60 do assert.equal(1, owners[tostring(i)], tostring(i)) end
  end)

  it("of a call that was not executed is sent again in its row", function()
    local sim = purser.sim.new { seed = 8 }
    local account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "1000" },
      api_key = "mx0AGAINagainAGAIN00", secret_key = ("s"):rep(32) })
    assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
    local journal = open()
    local client = assert(purser.new { base_url = "http://localhost", api_key = account.api_key,
      secret_key = account.secret_key, transport = sim:transport(), clock = function() return sim:now() end,
      journal = journal, account = "torture", rate_limit = false })
    local function move(amount)
      return client.sub_account:transfer { toAccount = "tradingdesk1", fromAccountType = "SPOT",
        toAccountType = "SPOT", asset = "USDT", amount = amount, clientTranId = ("r"):rep(32) }
    end
    sim:fault { kind = "reset", when = "before", operation = "sub_account.transfer" }
    local _, lost = move "3"
    assert.equal("unknown", lost.outcome, tostring(lost))
    local paid = assert(move "3.0")
    assert.same(paid, assert(move "3"))
    assert.equal("journal.other_content", select(2, move "4").code)
    local entries = assert(journal:entries { key = ("r"):rep(32) })
    assert.same({ 1, "done", 2 }, { #entries, entries[1].state, entries[1].intent.attempt })
    assert.equal(paid.tranId, assert(journal:owners("record_id", "again", { paid.tranId }))[paid.tranId].record_id)
    assert.equal(0, #assert(journal:open_calls("again", nil, sim:now() - 100000, sim:now())))
    assert.equal(1, #assert(journal:made_calls("again", { ["sub_account.transfer"] = true }, sim:now() - 100000,
      sim:now())))
    assert.equal(0, assert(journal:open_count "again").calls)
    journal:close()
  end)
end)
