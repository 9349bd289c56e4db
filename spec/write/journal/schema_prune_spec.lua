-- SPDX-License-Identifier: MIT
-- Rows that are old and decided can be deleted. Those stay that a call may be reconciled by, or that keep a payment
-- from being made twice.

local core = require "purser.core"
local own = require "own_journal"
local purser = require "purser"

local DAY = 86400000
local journal

local within, write, ids = own.within, own.write, own.ids

before_each(function() journal = own.begin() end)
after_each(own.finish)

-- Writes a payment that was sent when it was added.
local function pay(tx, key, more)
  write(tx, "of " .. key, more.added_at, { queue = "default", payment = key, operation = "wallet.withdraw",
    params = '{"coin":"USDT"}', key = "client_id of " .. key, content = "c", digest = "d of " .. key,
    stage = more.stage, state = more.state or more.stage == "done" and "done" or "not_done",
    record_id = "r of " .. key, message = "said", added_at = own.time_text(more.added_at) })
end

describe("pruning", function()
  local long_ago

  before_each(function() long_ago = core.now_ms() - 400 * DAY end)

  local function prune(days) return journal:prune { before = core.now_ms() - days * DAY } end

  it("deletes what is decided and old, and nothing that is open", function()
    local recent = core.now_ms() - DAY
    within(function(tx)
      for _, state in ipairs { "done", "rejected", "not_sent", "not_done", "open", "unknown", "undecided" } do
        write(tx, "old " .. state, long_ago, { state = state })
        write(tx, "new " .. state, recent, { state = state })
      end
    end)
    assert.same({ intents = 4, payments = 0 }, assert(prune(200)))
    assert.same({ "old open", "old undecided", "old unknown", "new done", "new not_done", "new not_sent", "new open",
      "new rejected", "new undecided", "new unknown" }, ids(assert(journal:entries())))
    assert.equal(0, assert(prune(200)).intents)
  end)

  it("deletes the attempts of a call with the call, and keeps those of a call whose key stays", function()
    within(function(tx)
      for id, key in pairs { gone = "", kept = "k" } do
        write(tx, id, long_ago, { key = key, attempt = "2" })
        own.attempt(tx, id, long_ago - 1, { state = "rejected" })
      end
    end)
    assert.equal(1, assert(prune(200)).intents)
    assert.same({ { call = "kept" } }, (journal.db:rows "SELECT call FROM purser_attempts"))
  end)

  it("keeps what an equal call without a known end may still be reconciled by", function()
    within(function(tx)
      write(tx, "answered", long_ago, { digest = "equal" })
      write(tx, "another", long_ago, { digest = "different" })
      write(tx, "lost", long_ago + 5, { digest = "equal", state = "unknown" })
    end)
    assert.equal(1, assert(prune(200)).intents)
    assert.same({ "answered", "lost" }, ids(assert(journal:entries())))
  end)

  it("keeps all of a payment that is not done, and never forgets a key or an id", function()
    within(function(tx)
      for _, stage in ipairs { "waiting", "taken", "sent", "failed", "undecided", "done" } do
        pay(tx, stage, { stage = stage, added_at = long_ago })
      end
    end)
    assert.same({ intents = 0, payments = 1 }, assert(prune(200)))
    assert.equal(6, #assert(journal:entries()))
    local rows = assert(journal.db:rows [[SELECT payment, key, content, digest, stage, params, record_id
      FROM purser_calls]])
    assert.equal(6, #rows)
    for _, row in ipairs(rows) do
      assert.same({ "client_id of " .. row.payment, "c", "d of " .. row.payment, "r of " .. row.payment },
        { row.key, row.content, row.digest, row.record_id })
      assert.equal(row.stage == "done" and "{}" or '{"coin":"USDT"}', row.params)
    end
    assert.same({ intents = 0, payments = 0 }, assert(prune(200)))
  end)

  it("does not let a pruned payment be added once more", function()
    local client = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
      journal = journal, account = "treasury" })
    local payouts = assert(purser.payouts.new { client = client, journal = journal })
    local params = { coin = "USDT", netWork = "TRX", address = "T", amount = "5", withdrawOrderId = "own" }
    assert(payouts:add("rent", "wallet.withdraw", params))
    assert(journal.db:rows("UPDATE purser_calls SET state = 'done', stage = 'done', added_at = $1",
      own.time_text(long_ago)))
    assert.equal(1, assert(prune(200)).payments)
    assert.is_false(payouts:add("rent", "wallet.withdraw", params))
    assert.matches('is that of payment "rent"', select(2, payouts:add("again", "wallet.withdraw", params)).message)
    assert.same({ 1, 1 }, { assert(payouts:report()).total, assert(payouts:report()).done })
  end)

  it("keeps what begins or ends at the very time", function()
    local before = long_ago
    within(function(tx)
      write(tx, "at", before)
      write(tx, "older", before - 1)
      pay(tx, "at", { stage = "done", added_at = before })
      pay(tx, "older", { stage = "done", added_at = before - 1 })
    end)
    assert.same({ intents = 1, payments = 1 }, assert(journal:prune { before = before }))
    assert.same({ "of older", "at", "of at" }, ids(assert(journal:entries())))
    assert.equal("{}", assert(journal.db:rows "SELECT params FROM purser_calls WHERE id = 'of older'")[1].params)
  end)

  it("keeps how far it went, which no earlier time takes back", function()
    for _, case in ipairs { { 300, 300 }, { 200, 200 }, { 400, 200 } } do
      local at = core.now_ms() - case[1] * DAY
      assert(journal:prune { before = at })
      local rows = assert(journal.db:rows "SELECT value FROM purser_meta WHERE name = 'pruned_before'")
      assert.is_true(math.abs(tonumber(rows[1].value) - (core.now_ms() - case[2] * DAY)) < DAY)
    end
  end)

  it("is an error where the journal cannot be written", function()
    within(function(tx) write(tx, "old", long_ago) end)
    assert(journal.db:rows "PRAGMA query_only = 1")
    local counts, err = prune(200)
    assert.is_nil(counts)
    assert.same({ "config", "journal" }, { err.kind, err.phase })
    assert(journal.db:rows "PRAGMA query_only = 0")
    assert.equal(1, assert(prune(200)).intents)
  end)

  it("takes any number of payments, in steps", function()
    within(function(tx)
      for i = 1, 1100 do pay(tx, ("p%05d"):format(i), { stage = "done", added_at = long_ago }) end
    end)
    assert.equal(1100, assert(prune(200)).payments)
  end)

  it("takes any number of rows, in steps", function()
    within(function(tx)
      for i = 1, 2500 do
        write(tx, ("i%05d"):format(i), long_ago + i % 3, { state = i % 5 == 0 and "open" or "done" })
      end
    end)
    assert.equal(2000, assert(prune(200)).intents)
    assert.equal(500, #assert(journal:entries()))
  end)

  it("keeps what counts in a spending limit whose period is not over", function()
    local function charge(tx, asset)
      tx:rows([[INSERT INTO purser_charges (call, content, asset, amount, at)
        VALUES ('1', '', $1, '5', $2)]], asset, own.time_text(long_ago))
    end
    within(function(tx)
      charge(tx, "USDT")
      charge(tx, "XRP")
      charge(tx, "another", "USDT")
      for period, asset in pairs { [4e12] = "USDT", [DAY] = "XRP", [1000] = "USDT" } do
        tx:rows([[INSERT INTO purser_limits (asset, period_ms, amount, person, at)
          VALUES ($1, $2, '9', '', $3)]], asset, ("%d"):format(period), period)
      end
    end)
    assert(prune(200))
    assert.same({ { asset = "USDT" } },
      (journal.db:rows "SELECT asset FROM purser_charges"))
  end)

  it("does not make a process that has not written for long think that the journal was put back", function()
    within(function(tx) write(tx, "old", long_ago) end)
    assert(journal.db:rows("UPDATE purser_generations SET changed_at = $1", own.time_text(long_ago)))
    journal.db.counted.changed_at = own.time_text(long_ago)
    local other = assert(purser.journal.open { sqlite = own.path })
    assert.equal(1, assert(other:prune { before = core.now_ms() - 200 * DAY }).intents)
    other:close()
    assert.same({}, assert(journal.db:rows("SELECT name FROM purser_generations WHERE name = $1",
      journal.db.counted.name)))
    within(function(tx) write(tx, "next", core.now_ms()) end)
  end)

  it("rejects a time that is too near, for calls of then may still have to be reconciled", function()
    for _, options in ipairs { {}, { before = core.now_ms() - 100 * DAY }, { before = "x" }, { age = 5 } } do
      local counts, err = journal:prune(options)
      assert.is_nil(counts)
      assert.equal("argument", err.kind)
    end
    assert.matches("at least 184 days back", select(2, prune(100)).hint)
  end)
end)

describe("a call with a key of the caller's", function()
  it("is emptied, and its key stays used", function()
    within(function(tx)
      write(tx, "old", 1500000000000, { state = "done" })
      tx:rows [[UPDATE purser_calls SET key = 'a', content = 'c', params = '{"amount":"5"}', record_id = '7',
        record = '{"tranId":"7"}']]
    end)
    assert.equal(1, assert(journal:prune { before = 1600000000000 }).intents)
    local entry = assert(journal:entries())[1]
    assert.same({ "a", {}, "7" }, { entry.key, entry.intent.params, entry.record.tranId })
    assert.equal(0, assert(journal:prune { before = 1600000000000 }).intents)
  end)
end)
