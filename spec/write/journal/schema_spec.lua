-- SPDX-License-Identifier: MIT
-- A journal of an older version is opened, and nothing that it kept is lost.

local calls_of = require "purser.write.intent"
local core = require "purser.core"
local database = require "purser.util.database"
local json = require "purser.json"
local operations = require "purser.api.operations"
local purser = require "purser"
local queue = require "purser.payouts.queue"

local path

before_each(function() path = os.tmpname() end)

after_each(function()
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
end)

local function statements()
  local file = assert(io.open "spec/support/journal_version_1.sql")
  local text = file:read "*a":gsub("^%-%-[^\n]*\n", "")
  file:close()
  return text:gmatch "(.-);\n"
end

local function make_version_1()
  local db = assert(database.open { sqlite = path })
  for sql in statements() do assert(db:rows(sql)) end
  return db
end

local function client_of(journal)
  return assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s", journal = journal,
    account = "treasury" })
end

local function by(rows, name)
  local found = {}
  for _, row in ipairs(rows) do found[row[name]] = row end
  return found
end

describe("a journal of version 1", function()
  it("becomes one of version 2 with all its rows", function()
    local db = make_version_1()
    local intents = by(assert(db:rows "SELECT * FROM purser_intents"), "id")
    local payments = assert(db:rows "SELECT * FROM purser_payments")
    db:close()
    local journal = assert(purser.journal.open { sqlite = path })
    assert.equal("2", assert(journal.db:rows "SELECT value FROM purser_meta WHERE name = 'version'")[1].value)
    local kept = by(assert(journal.db:rows "SELECT * FROM purser_intents"), "id")
    for id, row in pairs(intents) do
      for name, value in pairs(row) do
        if name ~= "digest" then assert.equal(value, kept[id][name]) end
      end
      kept[id] = nil
    end
    assert.is_nil(next(kept))
    local now = assert(journal.db:rows "SELECT * FROM purser_payments")
    assert.equal(#payments, #now)
    for _, row in ipairs(payments) do
      local same = assert(journal.db:rows([[SELECT * FROM purser_payments WHERE account = $1 AND queue = $2
        AND key = $3]], row.account, row.queue, row.key))[1]
      for name, value in pairs(row) do assert.equal(value, same[name]) end
    end
    assert.equal("16", assert(journal.db:rows "SELECT amount FROM purser_spending")[1].amount)
    journal:close()
  end)

  it("knows its open calls as the equals of those that come", function()
    local calls = {
      ["wallet.internal_transfer"] = { { toAccountType = "MOBILE", toAccount = "13800138000", areaCode = "86",
        asset = "USDT", amount = "2.0" }, { toAccountType = "MOBILE", toAccount = "13800138000", asset = "usdt",
        amount = "2", areaCode = "0086" } },
      ["broker.withdraw"] = { { coin = "usdt", network = "TRX", address = "TSample", amount = "12", remark = "rent" },
        { coin = "USDT", network = "TRC20", address = "TSAMPLE", amount = "12.00", remark = "rent" } },
      ["wallet.transfer"] = { { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "usdt", amount = "2" },
        { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" } },
    }
    local db = make_version_1()
    for operation, pair in pairs(calls) do
      assert(db:rows([[INSERT INTO purser_intents (id, account, operation, params, digest, sent_at, recv_window,
        payment, charges, state, record_id, record, message, ended_at) VALUES ($1, 'treasury', $1, $2, $3,
        '1700000000000', '5000', '', '', 'open', '', '', '', '')]], operation, json.encode(pair[1]),
        calls_of.digest(operations.by_name[operation], pair[1], true)))
    end
    db:close()
    local journal = assert(purser.journal.open { sqlite = path })
    for operation, pair in pairs(calls) do
      local intent = { operation = operation, params = pair[1], sent_at = 1700000000000, recv_window = 5000,
        account = "treasury", id = operation }
      assert.is_nil(journal:mismatch(intent))
      intent.params, intent.id = pair[2], "another"
      local _, open = assert(journal:equal_calls(intent, 1700000000000, 0))
      assert.equal(1, open, operation)
    end
    journal:close()
  end)

  it("gets the ids of its payments and the queues of its intents", function()
    make_version_1():close()
    local journal = assert(purser.journal.open { sqlite = path })
    for _, row in ipairs(assert(journal.db:rows "SELECT operation, params, client_id FROM purser_payments")) do
      local params = core.decode(row.params)
      assert.equal(params.clientTranId or params.withdrawOrderId or "", row.client_id)
    end
    local queues = {}
    for _, row in ipairs(assert(journal.db:rows "SELECT id, queue, payment, state FROM purser_intents")) do
      queues[row.id] = row.payment .. " in " .. row.queue
    end
    assert.same({
      WLfGsdxhwS2SAkEq8MscoMPo = " in ", EXJrWvl1JMK43Lix350LoChg = " in ",
      DSHMVDQP9fJjjsQlVB19as5P = "rent in default",
      wxq1oeGvCvTNiaAQOWUWIEco = "rent in june", LRROC6Hpf3UcCMe4W5BEp3Z3 = "water in default",
      l3DSm1zv8yQGd9LJH4WN0Hk7 = "own id in default", earlierAttemptOfWater000 = "water in default",
      earlierAttemptOfRent0000 = "rent in ", -- of which queue, version 1 did not keep
    }, queues)
    journal:close()
  end)

  it("continues its queues, and counts attempts of an unknown queue for each that may be meant", function()
    make_version_1():close()
    local journal = assert(purser.journal.open { sqlite = path })
    local client = client_of(journal)
    local payouts = assert(purser.payouts.new { client = client, journal = journal })
    local report = assert(payouts:report())
    assert.same({ 4, 2, 1, 1 }, { report.total, report.done, report.failed, report.waiting })
    assert.is_false(payouts:add("rent", "sub_account.transfer", { toAccount = "tradingdesk1",
      fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "2" }))
    assert.matches("is that of payment \"own id\"", select(2, payouts:add("another", "wallet.withdraw",
      { coin = "USDT", netWork = "TRX", address = "TSample", amount = "12", withdrawOrderId = "order-1" })).message)
    local function first(name, key)
      return journal.db:transaction(function(tx)
        return queue.first_sent_at(tx, { account = "treasury", queue = name }, { key = key })
      end)
    end
    local sent = {}
    for _, entry in ipairs(assert(journal:entries())) do sent[entry.intent.id] = entry.intent.sent_at end
    assert.equal(sent.earlierAttemptOfWater000, first("default", "water"))
    assert.equal(sent.earlierAttemptOfRent0000, first("default", "rent"))
    assert.equal(sent.earlierAttemptOfRent0000, first("june", "rent"))
    journal:close()
  end)

  it("is migrated once, and its id stays", function()
    make_version_1():close()
    local journal = assert(purser.journal.open { sqlite = path })
    local id = assert(journal:id())
    assert.equal(24, #id)
    journal:close()
    journal = assert(purser.journal.open { sqlite = path })
    assert.equal(id, journal:id())
    assert.equal(8, #assert(journal:entries()))
    journal:close()
  end)

  it("can record nothing any more for a process of version 1 that still has it open", function()
    local db = make_version_1()
    local insert = [[INSERT INTO purser_intents (id, account, operation, params, digest, sent_at, recv_window, payment,
      charges, state, record_id, record, message, ended_at)
      VALUES ($1, 'a', 'o', '{}', 'd', '1', '5000', '', '', 'open', '', '', '', '')]]
    assert(db:rows(insert, "before"))
    local journal = assert(purser.journal.open { sqlite = path })
    local ok, message = db:rows(insert, "after")
    assert.is_nil(ok)
    assert.matches("queue", message)
    db:close()
    journal:close()
  end)

  it("is left as it was when migrating it fails", function()
    local db = make_version_1()
    assert(db:rows "UPDATE purser_payments SET params = 'no JSON' WHERE key = 'own id'")
    local before = assert(db:rows "SELECT * FROM purser_payments ORDER BY queue, key")
    db:close()
    local journal, err = purser.journal.open { sqlite = path }
    assert.is_nil(journal)
    assert.matches('payment "own id" are damaged', err.message)
    db = assert(database.open { sqlite = path })
    assert.same(before, assert(db:rows "SELECT * FROM purser_payments ORDER BY queue, key"))
    assert.equal("1", assert(db:rows "SELECT value FROM purser_meta WHERE name = 'version'")[1].value)
    db:close()
  end)
end)

describe("two accounts with one journal", function()
  it("may use the same key in the same queue, and each has its own payment", function()
    local journal = assert(purser.journal.open { sqlite = path })
    local params = { toAccount = "d", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "2" }
    for _, account in ipairs { "treasury", "second" } do
      local client = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
        journal = journal, account = account })
      local payouts = assert(purser.payouts.new { client = client, journal = journal })
      assert.is_true(payouts:add("rent", "sub_account.transfer", params))
      assert.is_false(payouts:add("rent", "sub_account.transfer", params))
      assert.equal(1, assert(payouts:report()).waiting)
    end
    assert.equal("2", assert(journal.db:rows "SELECT CAST(count(*) AS TEXT) AS n FROM purser_payments")[1].n)
    journal:close()
  end)
end)

describe("a worker's generation", function()
  it("is how often it was increased in transactions that were committed", function()
    local journal = assert(purser.journal.open { sqlite = path })
    assert.equal(0, journal:generation_of "host-1")
    for i = 1, 2 do
      assert.equal(i, journal.db:transaction(function(tx) return tx:bump "host-1" end))
    end
    journal.db:transaction(function(tx)
      assert.equal(3, tx:bump "host-1")
      tx:reject "no"
    end)
    assert.equal(1, journal.db:transaction(function(tx) return tx:bump "host-2" end))
    assert.same({ 2, 1, 0 }, { journal:generation_of "host-1", journal:generation_of "host-2",
      journal:generation_of "host-3" })
    journal:close()
  end)
end)
