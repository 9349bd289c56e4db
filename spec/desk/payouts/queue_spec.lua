-- SPDX-License-Identifier: MIT
-- The queue's table: which payments a worker gets, and which changes it may still make.

local core = require "purser.core"
local digests = require "purser.write.digests"
local operations = require "purser.client.operations"
local own = require "own_journal"
local queue = require "purser.desk.payouts.queue"

local unpack = table.unpack or unpack -- luacheck: ignore
local DAY, LEASE_MS = 86400000, 20000
local MOVE = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" }

local QUEUE = { queue = "q", account = "a" }

local journal, now

-- Runs `fn` in a transaction at the time of the test.
local function within(fn) return own.within(fn, now) end

-- Calls a function of the queue for a worker, or for whoever looks at QUEUE, in a transaction. Returns its first value.
local function in_tx(name, self, ...)
  local given = { ... }
  return (within(function(tx) return queue[name](tx, self, unpack(given)) end))
end

local function worker(name) return { worker = name, queue = "q", account = "a", lease_ms = LEASE_MS } end

local one, two = worker "one", worker "two"

local function insert(key, fields)
  local payment = { key = key, operation = "wallet.transfer", params = MOVE }
  for name, value in pairs(fields or {}) do payment[name] = value end
  return in_tx("insert", { queue = payment.queue or "q", account = payment.account or "a" }, payment)
end

local function keys(list)
  local found = {}
  for i, payment in ipairs(list) do found[i] = payment.key end
  table.sort(found)
  return table.concat(found, " ")
end

local function take(self, count) return in_tx("take_waiting", self, count or 9) end

local function take_over(self) return in_tx("take_abandoned", self, 9) end

-- Begins an attempt. Returns its intent; nil where it must not be sent.
local function mark(self, payment)
  return own.mark_sent(own.at(function() return now end), payment, self.worker, now)
end

local function move(self, payment, change) return in_tx("move", self, payment, change) end

-- Ends an attempt, with what becomes of the payment.
local function finish(intent, outcome, change, record)
  local err = outcome ~= "done" and { outcome = outcome, message = change.message } or nil
  assert(own.at(function() return now end):finish(intent, record, err, change))
end

local function find(key) return in_tx("find", QUEUE, key) end

local function listed(state) return in_tx("list", QUEUE, state) end

local function set(sql, ...) assert(journal.db:rows("UPDATE purser_calls SET " .. sql, ...)) end

local function time(ms) return ("%013d"):format(now + ms) end

before_each(function()
  now = 1700000000000
  journal = own.begin()
  assert(journal.db:rows "PRAGMA synchronous = OFF")
  assert(require("purser.desk.payouts.runs").prepare(journal))
end)
after_each(own.finish)

describe("a reading of the queue", function()
  it("is taken over by the next but for what has changed, in whatever a plan reads of it", function()
    for _, key in ipairs { "a", "b", "c" } do insert(key) end
    insert("elsewhere", { queue = "other" })
    local function read(before) return in_tx("read", QUEUE, before) end
    local first = read()
    assert.equal("a b c", keys(first))
    assert.equal(first, read(first))
    insert "d"
    for _, change in ipairs { "stage = 'failed'", "state = 'rejected'", "attempt = '1'", "disowned = 'yes'",
      "content = 'x'", "key = 'k'" } do
      local before = read()
      set(change .. " WHERE payment = 'b'")
      local later = read(before)
      assert.same({ true, true, false }, { later[1] == before[1], later[3] == before[3],
        later[2] == before[2] }, change)
    end
    local before = read(first)
    assert.equal("a b c d", keys(before))
    in_tx("mark", QUEUE, "7", { { "c", "" }, { "a", "Acme Ltd" } })
    local later = read(before)
    assert.same({ "7", "", "7" }, { later[1].mark, later[2].mark, later[3].mark })
    assert.equal(later, read(later))
  end)
end)

describe("what waits", function()
  it("is taken by one worker alone, as many as it asks for, of its queue", function()
    for _, key in ipairs { "a", "b", "c" } do insert(key) end
    insert("other queue", { queue = "r" })
    local first = take(one, 2)
    assert.equal(2, #first)
    assert.same({ "taken", 0, 0 }, { first[1].state, first[1].attempts, first[1].attempt })
    assert.equal(1, #take(two))
    assert.same({}, take(two))
    assert.same({}, take(one))
  end)

  it("is taken when it is due, and after a run begins where that lies more than three days ahead", function()
    for key, ms in pairs { past = -1, now = 0, soon = 1, late = 3 * DAY } do
      insert(key)
      set("due_at = $1 WHERE payment = $2", time(ms), key)
    end
    assert.equal("now past", keys(take(one)))
    assert.same({}, take(one))
    in_tx("reclaim", one)
    assert.same({}, take(one))
    set("due_at = $1 WHERE payment = 'late'", time(3 * DAY + 1)) -- written while a clock was wrong
    set("stage = 'done', due_at = $1 WHERE payment = 'past'", time(4 * DAY))
    assert.same({}, take(one))
    in_tx("reclaim", one)
    assert.equal("late", keys(take(one)))
    assert.equal(now + 4 * DAY, find("past").due_at)
  end)

  it("is waited for where it is due within five minutes", function()
    insert "a"
    local first = now
    for ms, left in pairs { [0] = 1, [300000] = 1, [300001] = 0, [3 * DAY + 1] = 0 } do
      set("due_at = $1", time(ms))
      assert.equal(left, in_tx("left", QUEUE), ms)
      assert.equal(first + ms, assert(find "a").due_at)
    end
  end)

  it("and is blocked is not taken before something changes", function()
    insert "a"
    move(one, take(one)[1], { stage = "waiting", blocked = true, message = "an equal one" })
    now = now + 9 * DAY
    assert.same({}, take(one))
    local counts = in_tx("counts", QUEUE)
    assert.same({ 1, 1 }, { counts.waiting, counts.blocked })
    assert.equal(0, in_tx("left", QUEUE))
    assert.equal("a", keys(listed "blocked"))
    in_tx("unblock", QUEUE)
    assert.same({}, listed "blocked")
    assert.equal("a", keys(take(one)))
  end)

  it("may have been put off, by three days at most", function()
    insert "a"
    move(one, take(one)[1], { stage = "waiting", due_in = 5 * DAY })
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
    local copy = find "a"
    assert.is_nil(mark(two, payment))
    now = now + LEASE_MS - 1
    assert.truthy(mark(one, payment))
    assert.is_nil(mark(one, payment))
    assert.is_nil(mark(one, copy))
    local found = find "a"
    assert.same({ "sent", 1, 1 }, { found.state, found.attempt, found.attempts })
  end)

  it("is not sent when its lease has ended, though nobody else has it", function()
    local payment = take(one)[1]
    now = now + LEASE_MS
    assert.is_nil(mark(one, payment))
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

  it("is taken over by a run that begins while the lease ends later than any may", function()
    take(one)
    set("lease_until = $1", time(queue.MAX_LEASE_MS))
    in_tx("reclaim", two)
    assert.same({}, take_over(two))
    set("lease_until = $1", time(queue.MAX_LEASE_MS + 1))
    assert.same({}, take_over(two))
    in_tx("reclaim", two)
    assert.equal("a", keys(take_over(two)))
  end)

  it("is prolonged by its worker, and an ended lease that was given back is not", function()
    local payment = take(one)[1]
    now = now + LEASE_MS - 1
    in_tx("renew", two)
    in_tx("renew", one)
    now = now + LEASE_MS - 1
    assert.same({}, take_over(two))
    assert.truthy(mark(one, payment))
    in_tx("reclaim", two)
    assert.same({}, take_over(two))
    in_tx("reclaim", one)
    in_tx("renew", one)
    assert.equal("a", keys(take_over(two)))
  end)

  it("is put into another stage only by its worker, and not where it was sent since", function()
    local payment = take(one)[1]
    assert.is_false(move(two, payment, { stage = "done" }))
    assert.equal("taken", find("a").state)
    local before = find "a"
    local intent = assert(mark(one, payment))
    assert.is_false(move(one, before, { stage = "waiting" })) -- as it was before it was sent
    assert.equal("sent", find("a").state)
    finish(intent, "done", { stage = "done" }, { tranId = "r1" })
    local done = find "a"
    assert.same({ "done", "r1", nil }, { done.state, done.record_id, done.message })
    assert.is_false(move(one, payment, { stage = "waiting" }))
    assert.equal("done", find("a").state)
  end)

  it("counts the equal ones that stand undecided and were never sent", function()
    for _, key in ipairs { "b", "c", "d" } do insert(key) end
    insert("e", { params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "77" } })
    local payment = find "a"
    local function undecided_equals() return in_tx("undecided_equals", payment) end
    set "stage = 'undecided' WHERE payment <> 'a'"
    assert.equal(3, undecided_equals())
    set "state = 'undecided', recv_window = '5000' WHERE payment = 'b'"
    assert.equal(2, undecided_equals())
    set "content = 'of another operation or network' WHERE payment = 'c'" -- other records are of it
    assert.equal(1, undecided_equals())
  end)
end)

describe("an attempt that a worker had lost", function()
  before_each(function() insert "a" end)

  it("does not end a later one", function()
    local payment = take(one)[1]
    local first = assert(mark(one, payment))
    now = now + LEASE_MS + 1
    assert.equal(1, #take_over(two))
    finish(first, "not_sent", { stage = "waiting" })
    assert.truthy(mark(two, take(two)[1]))
    finish(first, "not_sent", { stage = "failed", message = "too late" })
    assert.equal("sent", find("a").state)
  end)

  it("is not followed by another one while its end is not known", function()
    local payment = take(one)[1]
    assert(mark(one, payment))
    set "stage = 'waiting'" -- as no program writes it
    assert.is_nil(mark(one, take(one)[1]))
  end)
end)

describe("what was rejected and is looked for", function()
  it("is taken over with the rest, with the reason", function()
    for _, key in ipairs { "a", "b", "c" } do insert(key) end
    for _, payment in ipairs(take(one)) do
      local intent, message = assert(mark(one, payment)), payment.key == "a" and "no funds" or nil
      if payment.key ~= "c" then finish(intent, "rejected", { stage = "sent", rejected = true, message = message }) end
    end
    assert.equal("no funds", find("a").rejection)
    assert.equal("it was rejected", find("b").rejection)
    assert.is_nil(find("c").rejection)
    now = now + LEASE_MS + 1
    assert.equal("a b c", keys(take_over(two)))
  end)
end)

describe("what a person approved", function()
  it("stays approved until it is done, whatever becomes of it", function()
    insert "a"
    local payment = take(one)[1]
    finish(assert(mark(one, payment)), "not_done", { stage = "undecided" })
    payment.state = "undecided"
    assert.is_true(in_tx("put_back", QUEUE, payment, "alice"))
    assert.is_true(find("a").disowned)
    payment = take(one)[1]
    assert.is_true(payment.disowned)
    assert.is_true(move(one, payment, { stage = "waiting", blocked = true }))
    assert.is_true(find("a").disowned)
    in_tx("unblock", QUEUE)
    payment = take(one)[1]
    assert.is_true(payment.disowned)
    local intent = assert(mark(one, payment))
    assert.is_true(find("a").disowned)
    finish(intent, "rejected", { stage = "sent", rejected = true, message = "no" })
    assert.same({ true, "no" }, { find("a").disowned, find("a").rejection })
    assert.is_true(move(one, payment, { stage = "waiting", due_in = 5 }))
    assert.is_true(find("a").disowned)
    now = now + 6
    assert.is_true(take(one)[1].disowned)
  end)
end)

describe("what failed or is undecided", function()
  local payment

  before_each(function()
    insert "a"
    payment = take(one)[1]
    assert(mark(one, payment))
  end)

  local function put_back(by) return in_tx("put_back", QUEUE, payment, by) end

  it("is put back once, as it was last sent, without its attempts", function()
    assert.is_false(put_back()) -- it is sent
    for _, state in ipairs { "failed", "undecided" } do
      set("stage = $1", state)
      payment.attempt, payment.state = 2, state
      assert.is_false(put_back())
      payment.attempt = 1
      assert.is_true(queue.STOPPED[find("a").state])
      assert.is_true(put_back())
      assert.is_false(put_back())
      assert.same({ "waiting", 0, false }, { find("a").state, find("a").attempts, find("a").disowned })
    end
    set "stage = 'done'"
    assert.is_false(put_back "alice")
    payment.state = "done"
    assert.is_false(put_back "alice")
  end)

  for by, waiting in pairs { put_back = "a b", drop = "b" } do
    it("lets go on what waited for it, at " .. by, function()
      insert "b"
      set "stage = 'failed' WHERE payment = 'a'"
      payment.state = "failed"
      set "stage = 'waiting', blocked = 'yes' WHERE payment = 'b'"
      assert.is_true(in_tx(by, QUEUE, payment, "alice"))
      assert.equal(waiting, keys(take(one)))
    end)
  end
end)

describe("the journal's knowledge of a payment", function()
  -- Writes a call of these columns.
  local function write(fields)
    local row = { state = "unknown", recv_window = "5000",
      digest = digests.likeness(operations.by_name["wallet.transfer"], MOVE) }
    for name, value in pairs(fields) do row[name] = value end
    within(function(tx) own.write(tx, row.id, now, row) end)
  end

  local payment = { key = "a", operation = "wallet.transfer", params = MOVE }

  local function equal_call() return in_tx("equal_call", one, payment, now) end

  it("has an equal call without a known end, first one that is undecided", function()
    assert.is_nil(equal_call())
    write { id = "done", state = "done" }
    write { id = "other", digest = "another" }
    assert.is_nil(equal_call())
    write { id = "lost", payment = "b", queue = "q", stage = "waiting" }
    assert.same({ id = "lost", state = "unknown", payment = "b", in_queue = false, over_at = now + 5000 }, equal_call())
    write { id = "guess", state = "undecided" }
    assert.same({ "guess", "", false }, { equal_call().id, equal_call().payment, equal_call().in_queue })
  end)

  it("says whether workers of this queue reconcile that call", function()
    insert "b"
    local other = take(one)[1]
    assert.is_nil(equal_call())
    assert(mark(one, other))
    assert.is_true(equal_call().in_queue)
    set "queue = 'another'"
    assert.is_false(equal_call().in_queue)
  end)

  it("has the payments of the account's other queues that may still be made", function()
    insert("a", { queue = "q" })
    insert("b", { queue = "r" })
    for _, stage in ipairs { "waiting", "taken", "undecided", "sent", "done", "failed", "dropped" } do
      set("stage = $1", stage)
      local may_be_made = stage == "waiting" or stage == "taken" or stage == "undecided"
      assert.same({ stage, may_be_made and "b" or "" }, { stage, keys(in_tx("elsewhere", QUEUE)) })
    end
  end)

  it("says when a payment was first sent, and has the intent of its latest attempt", function()
    insert "a"
    assert.is_nil(find("a").first_sent_at)
    local self = { account = "a", client = { now = function() return 7 end } }
    assert.same({ id = find("a").id, account = "a", operation = "wallet.transfer", params = MOVE, sent_at = 7,
      recv_window = find("a").recv_window, attempt = 0 }, queue.intent_of(self, find "a"))
    assert.equal(9, queue.intent_of(self, { sent_at = 9 }).sent_at)
    local first = now
    for _ = 1, 2 do
      finish(assert(mark(one, take(one)[1])), "not_sent", { stage = "waiting" })
      assert.equal(first, find("a").first_sent_at)
      now = now + 1000
    end
  end)

  it("has the payments with an id, of the account alone, with the parameter that holds it", function()
    insert("a", { id = "x", operation = "wallet.withdraw" })
    insert("b", { id = "x", operation = "sub_account.transfer", queue = "r" })
    insert("c", { id = "y" })
    insert("d", { id = "x", account = "b" })
    insert "e"
    assert.is_false(insert("f", { id = "x", operation = "wallet.withdraw" })) -- one call has an id
    assert.is_false((insert "a"))
    local function other(key, id, name)
      local row = in_tx("other_with_id", QUEUE, { key = key, id = id, given_id = name })
      return row and { row.queue, row.payment }
    end
    assert.same({ "q", "a" }, other("z", "x", "withdrawOrderId"))
    assert.same({ "r", "b" }, other("z", "x", "clientTranId"))
    assert.is_nil(other("a", "x", "withdrawOrderId")) -- its own
    assert.same({ "r", "b" }, other("b", "x", "clientTranId"))
    assert.is_nil(other("z", "", "withdrawOrderId"))
  end)
end)

describe("the counts of a queue", function()
  it("are of each state, of its queue, and what is left", function()
    for i, stage in ipairs { "waiting", "taken", "sent", "done", "failed", "undecided", "done" } do
      insert("k" .. i)
      set("stage = $1 WHERE payment = $2", stage, "k" .. i)
    end
    insert("other", { queue = "r" })
    assert.same({ waiting = 1, taken = 1, sent = 1, done = 2, failed = 1, undecided = 1, total = 7, blocked = 0,
      dropped = 0, queue = "q" },
      in_tx("counts", QUEUE))
    assert.equal(3, in_tx("left", QUEUE))
    assert.equal("k4 k7", keys(listed "done"))
    insert "k0"
    assert.same({ "k0", "k1" }, { listed()[1].key, listed()[2].key })
    assert(journal.db:rows "DELETE FROM purser_calls WHERE payment = 'k0'")
    assert.equal(7, #listed())
    assert.equal(require("purser.write.planned").content("wallet.transfer", MOVE), find("k1").content)
    assert.is_nil(find "none")
    assert.is_true(find("k1").added_at <= core.now_ms() + now)
  end)

  it("say what keeps a worker from sending", function()
    assert.same({ sent = 0, others = 0 }, in_tx("next_due", one))
    for _, key in ipairs { "a", "b", "c" } do insert(key) end
    set("due_at = $1, message = 'a pause' WHERE payment = 'a'", time(500))
    set("stage = 'sent', worker = 'one' WHERE payment = 'b'")
    set("stage = 'taken', worker = 'two', lease_until = $1 WHERE payment = 'c'", time(900))
    assert.same({ due_at = now + 500, message = "a pause", sent = 1, others = 1, lease_until = now + 900 },
      in_tx("next_due", one))
  end)
end)
