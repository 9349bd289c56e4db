-- SPDX-License-Identifier: MIT
-- The queue's table: which payments a worker gets, and which changes it may still make.

local core = require "purser.core"
local json = require "purser.json"
local own = require "own_journal"
local queue = require "purser.payouts.queue"

local DAY, LEASE_MS = 86400000, 20000
local MOVE = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" }

local journal, now

-- Runs `fn` in a transaction at the time of the test.
local function within(fn) return own.within(fn, now) end

local function worker(name, fields)
  local all = { worker = name, queue = "q", account = "a", lease_ms = LEASE_MS }
  for member, value in pairs(fields or {}) do all[member] = value end
  return all
end

local one, two = worker "one", worker "two"

local function insert(key, fields)
  local payment = { key = key, operation = "wallet.transfer", json = json.encode(MOVE), digest = "d of " .. key }
  for name, value in pairs(fields or {}) do payment[name] = value end
  within(function(tx) queue.insert(tx, payment.queue or "q", payment.account or "a", payment) end)
end

local function keys(list)
  local found = {}
  for i, payment in ipairs(list) do found[i] = payment.key end
  table.sort(found)
  return table.concat(found, " ")
end

local function take(self, count) return within(function(tx) return queue.take_waiting(tx, self, count or 9) end) end

local function take_over(self, rejected)
  return within(function(tx) return queue.take_abandoned(tx, self, 9, rejected) end)
end

local function mark(self, payment, id) return within(function(tx) return queue.mark_sent(tx, self, payment, id) end) end

local function move(self, payment, change) within(function(tx) queue.move(tx, self, payment, change) end) end

local function find(key) return within(function(tx) return queue.find(tx, "q", "a", key) end) end

local function set(sql, ...) assert(journal.db:rows("UPDATE purser_payments SET " .. sql, ...)) end

local function time(ms) return ("%013d"):format(now + ms) end

before_each(function()
  now = 1700000000000
  journal = own.begin()
  assert(journal.db:rows "PRAGMA synchronous = OFF")
end)
after_each(own.finish)

describe("what waits", function()
  it("is taken by one worker alone, as many as it asks for, of its queue and account", function()
    for _, key in ipairs { "a", "b", "c" } do insert(key) end
    insert("other queue", { queue = "r" })
    insert("other account", { account = "b" })
    local first = take(one, 2)
    assert.equal(2, #first)
    assert.same({ "taken", 0, nil }, { first[1].state, first[1].attempts, first[1].intent })
    assert.equal(1, #take(two))
    assert.same({}, take(two))
    assert.same({}, take(one))
  end)

  it("is taken when it is due, and earlier only where that lies more than three days ahead", function()
    for key, ms in pairs { past = -1, now = 0, soon = 1, late = 3 * DAY } do
      insert(key)
      set("due_at = $1 WHERE key = $2", time(ms), key)
    end
    assert.equal("now past", keys(take(one)))
    assert.same({}, take(one))
    set("due_at = $1 WHERE key = 'late'", time(3 * DAY + 1)) -- written while a clock was wrong
    assert.equal("late", keys(take(one)))
  end)

  it("and is blocked is not taken before something changes", function()
    insert "a"
    move(one, take(one)[1], { state = "waiting", blocked = true, message = "an equal one" })
    now = now + 9 * DAY
    assert.same({}, take(one))
    assert.same({ 1, 1 }, { within(function(tx) return queue.counts(tx, "q", "a").waiting end),
      within(function(tx) return queue.counts(tx, "q", "a").blocked end) })
    assert.equal(0, within(function(tx) return queue.left(tx, "q", "a") end))
    assert.equal("a", keys(within(function(tx) return queue.blocked(tx, "q", "a") end)))
    within(function(tx) queue.unblock(tx, "q", "a") end)
    assert.same({}, within(function(tx) return queue.blocked(tx, "q", "a") end))
    assert.equal("a", keys(take(one)))
  end)

  it("may have been put off, by three days at most", function()
    insert "a"
    move(one, take(one)[1], { state = "waiting", due_in = 5 * DAY })
    now = now + 3 * DAY - 1
    assert.same({}, take(one))
    now = now + 1
    assert.equal("a", keys(take(one)))
  end)
end)

describe("what was taken", function()
  before_each(function() insert "a" end)

  it("is sent only by the worker that has it, once, while its lease lasts", function()
    local payment = take(one)[1]
    assert.is_false(mark(two, payment, "i0"))
    now = now + LEASE_MS - 1
    assert.is_true(mark(one, payment, "i1"))
    assert.is_false(mark(one, payment, "i2"))
    local found = find "a"
    assert.same({ "sent", "i1", 1 }, { found.state, found.intent, found.attempts })
  end)

  it("is not sent when its lease has ended, though nobody else has it", function()
    local payment = take(one)[1]
    now = now + LEASE_MS
    assert.is_false(mark(one, payment, "i1"))
    assert.equal("taken", find("a").state)
  end)

  it("is taken over when its lease has ended, and not before", function()
    take(one)
    now = now + LEASE_MS
    assert.same({}, take_over(two))
    now = now + 1
    assert.equal("a", keys(take_over(two)))
    assert.same({}, take_over(one))
  end)

  it("is taken over at once where another's lease ends later than any may, not its own", function()
    take(one)
    set("lease_until = $1", time(queue.MAX_LEASE_MS))
    assert.same({}, take_over(two))
    set("lease_until = $1", time(queue.MAX_LEASE_MS + 1))
    assert.same({}, take_over(one))
    assert.equal("a", keys(take_over(two)))
  end)

  it("is prolonged by its worker, and an ended lease that was given back is not", function()
    local payment = take(one)[1]
    now = now + LEASE_MS - 1
    within(function(tx) queue.renew(tx, two) end)
    within(function(tx) queue.renew(tx, one) end)
    now = now + LEASE_MS - 1
    assert.same({}, take_over(two))
    assert.is_true(mark(one, payment, "i1"))
    within(function(tx) queue.reclaim(tx, two) end)
    assert.same({}, take_over(two))
    within(function(tx) queue.reclaim(tx, one) end)
    within(function(tx) queue.renew(tx, one) end)
    assert.equal("a", keys(take_over(two)))
  end)

  it("is put into another state only by its worker, and only as it was last sent", function()
    local payment = take(one)[1]
    move(two, payment, { state = "done" })
    assert.equal("taken", find("a").state)
    assert.is_true(mark(one, payment, "i1"))
    move(one, payment, { state = "waiting" }) -- as it was before it was sent
    assert.equal("sent", find("a").state)
    payment.intent = "i1"
    move(one, payment, { state = "done", record_id = "r1", message = "" })
    local done = find "a"
    assert.same({ "done", "r1", nil }, { done.state, done.record_id, done.message })
    move(one, payment, { state = "waiting" })
    assert.equal("done", find("a").state)
  end)
end)

describe("what was rejected and is looked for", function()
  it("is taken over apart from the rest, with the reason", function()
    for _, key in ipairs { "a", "b", "c" } do insert(key) end
    for i, payment in ipairs(take(one)) do
      assert.is_true(mark(one, payment, "i" .. i))
      payment.intent = "i" .. i
      if payment.key == "a" then move(one, payment, { state = "sent", rejected = true, message = "no funds" }) end
      if payment.key == "b" then move(one, payment, { state = "sent", rejected = true }) end
    end
    assert.equal("no funds", find("a").rejection)
    assert.equal("it was rejected", find("b").rejection)
    assert.is_nil(find("c").rejection)
    now = now + LEASE_MS + 1
    assert.equal("c", keys(take_over(two)))
    assert.equal("a b", keys(take_over(two, true)))
  end)
end)

describe("what a person approved", function()
  it("stays approved until it is done, whatever becomes of it", function()
    insert "a"
    local payment = take(one)[1]
    assert.is_true(mark(one, payment, "i1"))
    payment.intent = "i1"
    move(one, payment, { state = "undecided" })
    assert.is_true((within(function(tx) return queue.put_back(tx, "q", "a", payment, true) end)))
    assert.is_true(find("a").approved)
    payment = take(one)[1]
    assert.is_true(payment.approved)
    move(one, payment, { state = "waiting", blocked = true })
    assert.is_true(find("a").approved)
    within(function(tx) queue.unblock(tx, "q", "a") end)
    payment = take(one)[1]
    assert.is_true(payment.approved)
    assert.is_true(mark(one, payment, "i2"))
    assert.is_true(find("a").approved)
    payment.intent = "i2"
    move(one, payment, { state = "sent", rejected = true, message = "no" })
    assert.same({ true, "no" }, { find("a").approved, find("a").rejection })
    move(one, payment, { state = "waiting", due_in = 5 })
    assert.is_true(find("a").approved)
    now = now + 6
    assert.is_true(take(one)[1].approved)
  end)
end)

describe("what failed or is undecided", function()
  local payment

  before_each(function()
    insert "a"
    payment = take(one)[1]
    assert.is_true(mark(one, payment, "i1"))
    payment.intent = "i1"
  end)

  local function put_back(approved)
    return (within(function(tx) return queue.put_back(tx, "q", "a", payment, approved) end))
  end

  it("is put back once, as it was last sent, without its attempts", function()
    assert.is_false(put_back(false)) -- it is sent
    for _, state in ipairs { "failed", "undecided" } do
      set("state = $1", state)
      payment.intent = "another"
      assert.is_false(put_back(false))
      payment.intent = "i1"
      assert.equal("a", within(function(tx) return queue.stopped(tx, "q", "a", "a") end).key)
      assert.is_true(put_back(false))
      assert.is_false(put_back(false))
      assert.same({ "waiting", 0, false }, { find("a").state, find("a").attempts, find("a").approved })
    end
    set "state = 'done'"
    assert.is_false(put_back(true))
    assert.is_nil(within(function(tx) return queue.stopped(tx, "q", "a", "a") end))
  end)

  it("is done when it had been made, as it was last sent", function()
    local function found_done()
      return (within(function(tx) return queue.found_done(tx, "q", "a", payment, { tranId = "r1" }) end))
    end
    assert.is_false(found_done())
    set "state = 'failed'"
    payment.intent = "another"
    assert.is_false(found_done())
    payment.intent = "i1"
    assert.is_true(found_done())
    assert.same({ "done", "r1" }, { find("a").state, find("a").record_id })
  end)

  it("lets go on what waited for it, when it is put back or done", function()
    insert "b"
    for i, decide in ipairs { function() assert.is_true(put_back(true)) end, function()
      assert.is_true((within(function(tx) return queue.found_done(tx, "q", "a", payment, { tranId = "r1" }) end)))
    end } do
      set "state = 'failed', intent = 'i1' WHERE key = 'a'"
      set "state = 'waiting', blocked = 'yes' WHERE key = 'b'"
      decide()
      assert.equal(i == 1 and "a b" or "b", keys(take(one)))
    end
  end)
end)

describe("the journal's knowledge of a payment", function()
  -- Writes an intent of these members.
  local function write(fields)
    local row = { id = "i", account = "a", state = "unknown", digest = "", sent_at = time(0), recv_window = "5000",
      queue = "", payment = "", record_id = "" }
    for name, value in pairs(fields) do row[name] = value end
    local intents, operations = require "purser.write.intent", require "purser.api.operations"
    if row.digest == "" then row.digest = intents.digest(operations.by_name["wallet.transfer"], MOVE) end
    assert(journal.db:rows([[INSERT INTO purser_intents (id, account, operation, params, digest, sent_at, recv_window,
      queue, payment, charges, state, record_id, record, message, ended_at) VALUES ($1, $2, 'wallet.transfer', '{}', $3,
      $4, $5, $6, $7, '', $8, $9, '', '', '')]], row.id, row.account, row.digest, row.sent_at, row.recv_window,
      row.queue, row.payment, row.state, row.record_id))
  end

  local payment = { key = "a", operation = "wallet.transfer", params = MOVE }

  local function equal_call() return (within(function(tx) return queue.equal_call(tx, one, payment) end)) end

  it("has an equal call without a known end, first one that is undecided", function()
    assert.is_nil(equal_call())
    write { id = "done", state = "done" }
    write { id = "other", digest = "another" }
    write { id = "stranger", account = "b" }
    assert.is_nil(equal_call())
    write { id = "lost", payment = "b", queue = "q" }
    assert.same({ id = "lost", state = "unknown", payment = "b", in_queue = false, over_at = now + 5000 }, equal_call())
    write { id = "guess", state = "undecided" }
    assert.same({ "guess", "", false }, { equal_call().id, equal_call().payment, equal_call().in_queue })
  end)

  it("says whether workers of this queue reconcile that call", function()
    insert "b"
    write { id = "lost", payment = "b", queue = "q" }
    local other = take(one)[1]
    assert.is_false(equal_call().in_queue)
    assert.is_true(mark(one, other, "lost"))
    assert.is_true(equal_call().in_queue)
    set "intent = 'a later one'"
    assert.is_false(equal_call().in_queue)
  end)

  it("says when a payment was first sent", function()
    local function first() return (within(function(tx) return queue.first_sent_at(tx, one, payment) end)) end
    assert.is_nil(first())
    write { id = "1", queue = "q", payment = "a", sent_at = time(5) }
    write { id = "2", queue = "r", payment = "a", sent_at = time(1) }
    write { id = "3", queue = "q", payment = "b", sent_at = time(2) }
    write { id = "4", queue = "q", payment = "a", account = "b", sent_at = time(3) }
    assert.equal(now + 5, first())
  end)

  it("has the payments with an id, of the account alone, with the parameter that holds it", function()
    insert("a", { id = "x", operation = "wallet.withdraw" })
    insert("b", { id = "x", operation = "sub_account.transfer", queue = "r" })
    insert("c", { id = "y" })
    insert("d", { id = "x", account = "b" })
    insert "e"
    local found = within(function(tx) return queue.with_client_id(tx, "a", "x") end)
    table.sort(found, function(p, q) return p.key < q.key end)
    assert.same({ { queue = "q", key = "a", name = "withdrawOrderId" },
      { queue = "r", key = "b", name = "clientTranId" } }, found)
    assert.same({}, (within(function(tx) return queue.with_client_id(tx, "a", "") end)))
  end)
end)

describe("the counts of a queue", function()
  it("are of each state, of its account and queue, and what is left", function()
    for i, state in ipairs { "waiting", "taken", "sent", "done", "failed", "undecided", "done" } do
      insert("k" .. i)
      set("state = $1 WHERE key = $2", state, "k" .. i)
    end
    insert("other", { queue = "r" })
    insert("another", { account = "b" })
    assert.same({ waiting = 1, taken = 1, sent = 1, done = 2, failed = 1, undecided = 1, total = 7, blocked = 0,
      dropped = 0 },
      (within(function(tx) return queue.counts(tx, "q", "a") end)))
    assert.equal(3, within(function(tx) return queue.left(tx, "q", "a") end))
    assert.is_false((within(function(tx) return queue.is_empty(tx, "q", "a") end)))
    assert.is_true((within(function(tx) return queue.is_empty(tx, "q", "c") end)))
    assert.same({ { account = "b", payments = 1 } },
      (within(function(tx) return queue.other_accounts(tx, "q", "a") end)))
    assert.equal("k4 k7", keys(within(function(tx) return queue.list(tx, "q", "a", "done") end)))
    insert "k0"
    assert.same({ "k0", "k1" }, { within(function(tx) return queue.list(tx, "q", "a") end)[1].key,
      within(function(tx) return queue.list(tx, "q", "a") end)[2].key })
    assert(journal.db:rows "DELETE FROM purser_payments WHERE key = 'k0'")
    assert.equal(7, #within(function(tx) return queue.list(tx, "q", "a") end))
    assert.same({ "d of k1", nil }, { within(function(tx) return queue.find_digest(tx, "q", "a", "k1") end),
      within(function(tx) return queue.find_digest(tx, "q", "a", "none") end) })
    assert.is_true(find("k1").added_at <= core.now_ms() + now)
  end)

  it("say what keeps a worker from sending", function()
    assert.same({ sent = 0, others = 0 }, (within(function(tx) return queue.next_due(tx, one) end)))
    for _, key in ipairs { "a", "b", "c" } do insert(key) end
    set("due_at = $1, message = 'a pause' WHERE key = 'a'", time(500))
    set("state = 'sent', worker = 'one' WHERE key = 'b'")
    set("state = 'taken', worker = 'two', lease_until = $1 WHERE key = 'c'", time(900))
    assert.same({ due_at = now + 500, message = "a pause", sent = 1, others = 1, lease_until = now + 900 },
      (within(function(tx) return queue.next_due(tx, one) end)))
  end)
end)
