-- SPDX-License-Identifier: MIT
-- A journal knows of other calls: which can have made a record as well, and when those were sent whose records are
-- known. With these a look can show, after a restart too, that a history counts time as its clock does.

local purser = require "purser"
local simulated = require "simulated"

local HISTORY = "sub_account.transfer_history"

local sim, account, path, journal, client

local function open()
  journal = assert(purser.journal.open { sqlite = path })
  client = simulated.client(sim, account, { retry = false, rate_limit = false, journal = journal,
    account = "treasury" })
end

local function restart()
  client:close()
  journal:close()
  open()
end

before_each(function()
  path = os.tmpname()
  sim, account = simulated.broker(nil, { balances = { USDT = "100000" } })
  open()
end)

after_each(function()
  client:close()
  journal:close()
  for _, suffix in ipairs { "", "-wal", "-shm", ".kept" } do os.remove(path .. suffix) end
end)

local function move(amount, id)
  return client.sub_account:transfer(simulated.transfer(amount, { clientTranId = id }))
end

local function received() return simulated.counted(sim, HISTORY, "received") end

describe("a look after a restart", function()
  -- Makes so many transfers, a second apart, and looks for one that never arrived. Returns how often it asked.
  local function requests(count, outcome)
    for i = 1, count do
      assert(move(("1.%05d"):format(i)))
      sim:advance(1000)
    end
    sim:fault { kind = "reset", when = "before", operation = "transfer" }
    local _, err = move "2"
    assert.equal("unknown", err.outcome)
    local before = received()
    restart()
    assert.equal(outcome or "not_done", assert(client:reconcile(err.intent)).outcome)
    return received() - before
  end

  it("asks for the hours around it where the journal knows none of its records", function()
    local known = requests(700)
    client:close()
    journal:close()
    for _, suffix in ipairs { "", "-wal", "-shm", ".kept" } do os.remove(path .. suffix) end
    open()
    assert.is_true(requests(0, "undecided") >= known) -- nobody claims the records of the other journal
  end)
end)

describe("a journal with a queue", function()
  it("says which ids are those of its payments, of some operations", function()
    local payouts = assert(purser.payouts.new { client = client, journal = journal })
    local id = ("Ab3"):rep(10) .. "Zz"
    assert(payouts:add("p1", "sub_account.transfer", simulated.transfer("1", { clientTranId = id })))
    local names = { ["sub_account.transfer"] = true }
    local ids = { id, id:lower() }
    local planned = assert(journal:owners("key", "treasury", ids, names))[id]
    assert.same({ "sub_account.transfer", id }, { planned.operation, planned.params.clientTranId })
    assert.same({}, assert(journal:owners("key", "treasury", ids, { ["wallet.withdraw"] = true })))
  end)
end)

describe("a row of the journal", function()
  local facts = require "purser.write.journal.facts"

  local ROW = { id = "i", key = "k", content = "c", account = "treasury", operation = "wallet.withdraw", attempt = "2",
    params = '{"coin":"USDT"}', host = "h", sent_at = "1700000000000", recv_window = "5000", state = "done",
    record_id = "r", record = '{"id":"r"}', answered = "yes", digest = "d" }

  local function call_with(changes)
    local row = {}
    for name, value in pairs(ROW) do row[name] = changes[name] or value end
    return facts.call_of(row)
  end

  it("is a call with all that the row says, and with no member where a text is empty", function()
    local intent = { id = "i", account = "treasury", operation = "wallet.withdraw", params = { coin = "USDT" },
      host = "h", sent_at = 1700000000000, recv_window = 5000, attempt = 2 }
    assert.same({ id = "i", key = "k", content = "c", operation = "wallet.withdraw", intent = intent,
      params = { coin = "USDT" }, sent_at = 1700000000000, recv_window = 5000, state = "done", record_id = "r",
      record = { id = "r" }, answered = true, found = false, digest = "d" }, call_with {})
    local bare = call_with { key = "", host = "", record_id = "", record = "", sent_at = "" }
    assert.same({ 0 }, { bare.sent_at, bare.key, bare.intent.host, bare.record_id, bare.record })
  end)

  it("tells an answer that named the record from a record that shows the id, and from its content", function()
    for answered, expected in pairs { yes = { true, false }, found = { true, true }, no = { false, false } } do
      local call = call_with { answered = answered }
      assert.same(expected, { call.answered, call.found }, answered)
    end
  end)
end)

describe("a call whose end could not be written", function()
  local LISTS = { ["sub_account.transfer"] = true }

  -- Ends a transfer by this record while the database cannot be written. Returns its intent.
  local function lose_end(id, operation)
    local intent = { id = id, account = "treasury", operation = operation, params = {}, sent_at = sim:now(),
      attempt = 1 }
    local transaction = journal.db.transaction
    journal.db.transaction = function() return nil, "disk I/O error" end
    assert.is_nil(journal:finish(intent, { tranId = "7" }))
    journal.db.transaction = transaction
    return intent
  end

  local function owner(names)
    local found = assert(journal:owners("record_id", "treasury", { "7" }, names))["7"]
    return found and found.id
  end

  it("has its record all the same, and so has one of another history with that id", function()
    lose_end("one", "sub_account.transfer")
    lose_end("two", "wallet.transfer")
    lose_end("three", "wallet.cancel_withdrawal")
    assert.same({ "one", "two" }, { owner(LISTS), owner { ["wallet.transfer"] = true } })
    assert.is_nil(owner { ["wallet.cancel_withdrawal"] = true })
  end)

  it("has it no more once another one's answer names it, nor where its end is written later", function()
    local intent = lose_end("one", "sub_account.transfer")
    journal:contest({ id = "other", account = "treasury" }, "7", math.huge)
    assert.equal("one", owner(LISTS))
    journal:contest({ id = "other", account = "treasury" }, "7", 0)
    assert.is_nil(owner(LISTS))
    lose_end("one", "sub_account.transfer")
    assert(journal:finish(intent, { tranId = "8" }))
    assert.is_nil(owner(LISTS))
  end)

  it("is begun once by its key, and again where it was not executed; the row has who signed and where", function()
    local row = require("purser.client.operations").by_name["wallet.withdraw"]
    local function begin(id, signer)
      local intent = { id = id, account = "treasury", operation = row.full_name, sent_at = sim:now(),
        recv_window = 5000, host = "h", signer = signer,
        params = { coin = "USDT", address = "T", amount = "5", withdrawOrderId = "k" } }
      return intent, journal:begin(intent, row, nil, { name = "k", content = "c" })
    end
    local first, ok = begin("one", "s1")
    assert.same({ true, 1, "one" }, { ok, first.attempt, first.id })
    local second, none, problem, known = begin("two", "s2")
    assert.same({ "two" }, { second.id, second.attempt, none, problem })
    assert.same({ "one", "s1", "h", "k" }, { known.id, known.signer, known.intent.host, known.key })
    assert(journal:finish(first, nil, { outcome = "rejected", message = "no" }))
    local third
    third, ok = begin("three", "s3")
    assert.same({ true, 2, "one" }, { ok, third.attempt, third.id })
    local call = assert(journal:call_of(third))
    assert.same({ "s3", "open", { { sent_at = first.sent_at, recv_window = 5000, signer = "s1" } } },
      { call.signer, call.state, call.earlier })
    local entry = assert(journal:entries { key = "k" })[1]
    assert.same({ "one", "k", 1, "s1", "rejected" },
      { entry.intent.id, entry.key, #entry.earlier, entry.earlier[1].signer, entry.earlier[1].state })
  end)

  it("is not begun by a key that any other operation used, whatever it stands for", function()
    local operations = require "purser.client.operations"
    local function begin(id, operation)
      local params = { coin = "USDT", address = "T", amount = "5", asset = "USDT", withdrawOrderId = "k" }
      local intent = { id = id, account = "treasury", operation = operation, sent_at = sim:now(), recv_window = 5000,
        params = params }
      return journal:begin(intent, operations.by_name[operation], nil, { name = "k", content = "of" .. id })
    end
    assert.is_true(begin("one", "wallet.withdraw"))
    for _, operation in ipairs { "wallet.withdraw_legacy", "wallet.transfer" } do
      local ok, problem = begin("two", operation)
      assert.same({ code = "journal.other_content" }, { ok, code = problem.code })
    end
    assert.equal(1, #assert(journal:entries()))
  end)
end)
