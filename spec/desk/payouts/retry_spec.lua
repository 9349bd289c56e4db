-- SPDX-License-Identifier: MIT
-- Putting payments back: what failed or was left undecided is looked for once more before it may be paid again.

local at = require "payouts_setting"

local TRANSFER, move, client_with, payouts_with = at.TRANSFER, at.move, at.client_with, at.payouts_with
local payouts

before_each(function()
  at.begin { balance = "1000", key_days = 0 }
  payouts = payouts_with()
end)
after_each(at.finish)

local function counted(word) return at.counted(TRANSFER, word) end

-- The next two questions about a payment that was sent are not answered: it is asked about once more.
local function leave_next_undecided()
  local reconcile, asked = at.client.reconcile, 0
  at.client.reconcile = function(_, intent, options, window)
    if window and window.is_planned then return reconcile(at.client, intent, options, window) end
    asked = asked + 1
    if asked == 2 then at.client.reconcile = nil end
    local answer = { outcome = "undecided", candidates = {}, reason = "nobody looked" }
    assert(at.journal:reconciled(intent, answer))
    return answer
  end
end

-- Leaves the payment "a" undecided, which was made or was not.
local function leave_undecided(made)
  assert(payouts:add("a", TRANSFER, move "5"))
  at.sim:fault { kind = made and "lost_answer" or "reset", when = not made and "before" or nil, operation = TRANSFER }
  leave_next_undecided()
  assert.equal(1, assert(payouts:run()).undecided)
end

describe("a payment that was left undecided", function()
  it("and was made is not put back: it is done", function()
    leave_undecided(true)
    local put_back, err = payouts:retry "a"
    assert.is_nil(put_back)
    assert.same({ "workflow", "payouts.done" }, { err.kind, err.code })
    assert.equal("5", err.details.record.amount)
    local payment = assert(payouts:list "done")[1]
    assert.same({ "a", err.details.record.tranId }, { payment.key, payment.record_id })
    assert.equal("done", assert(at.journal:entries { id = payment.id })[1].state)
    assert.is_false(payouts:retry "a")
    assert.equal(1, assert(payouts:run()).done)
    assert.same({ 1, 1 }, { counted "received", counted "applied" })
  end)

  it("and was made lets go on what waited for it", function()
    leave_undecided(true)
    assert(payouts:add("b", TRANSFER, move "6"))
    at.set "blocked = 'yes' WHERE payment = 'b'"
    assert.equal("payouts.done", select(2, payouts:retry "a").code)
    local report = assert(payouts:report())
    assert.same({ 1, 1, 0 }, { report.done, report.waiting, report.blocked })
  end)

  it("and was not made is put back, and paid once", function()
    leave_undecided(false)
    assert.is_true(payouts:retry "a")
    assert.is_false(payouts:retry "a")
    assert.equal(1, assert(payouts:run()).done)
    assert.equal(1, counted "applied")
  end)

  it("is not put back when it cannot be looked for", function()
    leave_undecided(true)
    at.sim:fault { kind = "reject", operation = "sub_account.transfer_history", times = 100 }
    local put_back, err = payouts:retry "a"
    assert.is_nil(put_back)
    assert.equal("payouts.not_checked", err.code)
    assert.matches("cannot be looked for", err.message)
    assert.matches("force = true", err.message, 1, true)
    assert.equal(1, assert(payouts:report()).undecided)
    assert.equal(1, counted "received")
    at.sim:disarm()
    assert(at.journal.db:rows "PRAGMA query_only = 1")
    assert.is_nil((payouts:retry("a", { force = true })))
  end)

  it("is put back without a look when a person says so, and even then not sent when its id is found", function()
    leave_undecided(true)
    at.sim:advance(60000)
    assert.is_true(payouts:retry("a", { force = true }))
    assert.equal(1, assert(payouts:run()).done)
    assert.same({ 1, 1 }, { counted "received", counted "applied" })
  end)

  it("is not sent by a person's word where no history can be read, unless none is ever to be checked", function()
    local reconcile = at.client.reconcile
    local function half(_, intent, options, window) -- the last question's answer is not whole
      if window.is_planned then return reconcile(at.client, intent, options, window) end
      return { outcome = "undecided", incomplete = true, reason = "a page is missing", candidates = {} }
    end
    for name, case in pairs { ["known histories"] = { "unless_newest", is_blocked = true },
      ["a new process"] = { "unless_newest", is_new = true, is_blocked = true }, ["no check"] = { "never" },
      ["a page"] = { "unless_newest", reconcile = half, is_blocked = true } } do
      local options = { queue = name, history_check = case[1] }
      payouts = payouts_with(options)
      leave_undecided(false)
      local before = counted "received"
      at.sim:advance(60000)
      assert.is_true(payouts:retry("a", { force = true, by = "alice" }))
      if case.is_new then payouts = payouts_with(options) end
      at.client.reconcile = case.reconcile
      if not case.reconcile then
        at.sim:fault { kind = "reject", operation = "sub_account.transfer_history", times = 100 }
      end
      local report = assert(payouts:run())
      at.sim:disarm()
      at.client.reconcile = nil
      assert.same({ name, case.is_blocked or nil }, { name, report.blocked == 1 or nil })
      assert.equal(before + report.done, counted "received")
      if case.is_blocked then assert.matches("make the history readable", report.blocked_payments[1].message) end
      assert.equal(1, assert(payouts:run()).done)
    end
  end)

  it("is looked for over all of its attempts", function()
    -- the first attempt was made; a person put it back, the second never arrived, and hours lie between
    payouts = payouts_with { history_check = "never" }
    leave_undecided(true)
    at.sim:advance(60000)
    assert.is_true(payouts:retry("a", { force = true }))
    at.sim:advance(5 * 3600000)
    at.sim:fault { kind = "reset", when = "before", operation = TRANSFER }
    at.sim:fault { kind = "reject", operation = "sub_account.transfer_history", times = 20 } -- of either look
    assert.equal(1, assert(payouts:run()).undecided)
    at.sim:disarm()
    local _, err = payouts:retry "a"
    assert.equal("payouts.done", err.code)
  end)

  it("is looked for over its own attempts, not over those of the same key in another queue", function()
    local older = payouts_with { queue = "older" }
    assert(older:add("a", TRANSFER, move "5"))
    assert.equal(1, assert(older:run()).done)
    at.sim:advance(200 * 86400000)
    local began = at.sim:now()
    leave_undecided(true)
    local reconcile, sent_at = at.client.reconcile, nil
    at.client.reconcile = function(self, intent, ...)
      sent_at = intent.sent_at
      return reconcile(self, intent, ...)
    end
    assert.equal("payouts.done", select(2, payouts:retry "a").code)
    assert.is_true(sent_at >= began)
  end)

  it("is put back by one of two who look at the same time", function()
    leave_undecided(false)
    at.client.reconcile = function(_, ...)
      at.client.reconcile = nil
      assert.is_true(payouts:retry "a")
      assert.equal(1, assert(payouts:run()).done)
      return at.client:reconcile(...)
    end
    local put_back, err = payouts:retry "a"
    assert.is_true(put_back == false or err.code == "payouts.done", tostring(err))
    assert.equal(1, assert(payouts:run()).done)
    assert.equal(1, counted "applied")
  end)
end)

describe("a payment that failed", function()
  it("is looked for as well, unless it was never sent", function()
    at.client = client_with { guard = { max_amount = { USDT = "5" } } }
    payouts = payouts_with { history_check = "never" }
    assert(payouts:add_all { { key = "big", operation = TRANSFER, params = move "6" },
      { key = "wrong", operation = TRANSFER, params = move("1", { toAccount = "nobody01" }) } })
    assert.equal(2, assert(payouts:run()).failed)
    local reconcile, looked = at.client.reconcile, 0
    at.client.reconcile = function(...)
      looked = looked + 1
      return reconcile(...)
    end
    assert.is_true(payouts:retry "big")
    assert.equal(0, looked)
    assert.is_true(payouts:retry "wrong") -- the service cannot show it, but it had rejected it
    assert.equal(1, looked)
  end)

  it("is not put back while the look fails", function()
    payouts = payouts_with { history_check = "never" }
    assert(payouts:add("wrong", TRANSFER, move("1", { toAccount = "nobody01" })))
    assert.equal(1, assert(payouts:run()).failed)
    at.sim:fault { kind = "server_error", operation = "sub_account.transfer_history", times = 100 }
    assert.equal("payouts.not_checked", select(2, payouts:retry "wrong").code)
    assert.is_true(payouts:retry("wrong", { force = true }))
  end)
end)

describe("another look at a payment", function()
  local errors = require "purser.client.call.errors"
  local rejection = errors.new { kind = "api", outcome = "rejected", message = "no such account" }
  local unread = errors.new { kind = "api", outcome = "unknown", message = "busy" }
  local locked = errors.new { kind = "config", outcome = "unknown", phase = "journal", message = "locked" }

  -- Each look, and what becomes of a payment that was left undecided, and of one that failed: it is put back, or the
  -- code of the error.
  for words, case in pairs {
    ["that shows that it was not made"] = { { outcome = "not_done" }, true, true },
    ["that shows what may be its record"] = { { outcome = "undecided", reason = "two match", candidates = { 1, 2 } },
      "payouts.undecided", "payouts.undecided" },
    ["that leaves it undecided without a record"] = { { outcome = "undecided", reason = "too old", candidates = {} },
      "payouts.undecided", true },
    ["that finds it"] = { { outcome = "done", record = { tranId = "r1" } }, "payouts.done", "payouts.done" },
    ["that the service rejects"] = { rejection, "payouts.not_checked", true },
    ["that fails"] = { unread, "payouts.not_checked", "payouts.not_checked" },
    ["that the journal keeps from being made"] = { locked, false, false },
  } do
    it(words .. " decides whether it is put back", function()
      for i, state in ipairs { "undecided", "failed" } do
        payouts = payouts_with { queue = state }
        leave_undecided(false)
        assert(at.journal.db:rows("UPDATE purser_calls SET stage = $1 WHERE queue = $1", state))
        at.client.reconcile = function(_, intent)
          if errors.is(case[1]) then return nil, case[1] end
          if case[1].record then
            case[1].record.tranId = "of " .. state -- a record has one owner
            assert(at.journal:reconciled(intent, case[1]))
          end
          return case[1]
        end
        local put_back, err = payouts:retry "a"
        at.client.reconcile = nil
        if case[i + 1] == true then
          assert.is_true(put_back, state)
          assert.equal("waiting", assert(payouts:find "a").state)
        else
          assert.is_nil(put_back, state)
          if case[i + 1] then assert.equal(case[i + 1], err.code) else assert.equal(case[1], err) end
          assert.equal(case[i + 1] == "payouts.done" and "done" or state, assert(payouts:find "a").state)
        end
        assert.same(case[i + 1] == "payouts.undecided" and case[1].candidates or nil, err and err.details
          and err.details.candidates)
      end
    end)
  end

  it("is not made where the journal cannot be read, and the payment stays as it is", function()
    for _, options in ipairs { {}, { force = true } } do
      payouts = payouts_with { queue = options.force and "forced" or "looked for" }
      leave_undecided(false)
      at.journal.db.transaction = function() return nil, locked end
      local put_back, err = payouts:retry("a", options)
      at.journal.db.transaction = nil
      assert.same({ nil, locked }, { put_back, err })
      assert.equal("undecided", assert(payouts:find "a").state)
    end
  end)
end)

describe("a person's word", function()
  it("is kept with who said so, whichever it is", function()
    for _, word in ipairs { "done", "not_done" } do
      payouts = payouts_with { queue = word }
      leave_undecided(false)
      at.sim:advance(60000)
      if word == "done" then
        assert.is_true(payouts:settle("a", "r-1", { by = "alice" }))
      else
        assert.is_true(payouts:retry("a", { force = true, by = "alice" }))
      end
      local kept = assert(at.journal.db:rows("SELECT person, word, attempt FROM purser_words WHERE call = $1",
        assert(payouts:find "a").id))
      assert.same({ 1, "alice", word, "1" }, { #kept, kept[1].person, kept[1].word, kept[1].attempt })
    end
  end)

  it("names no record that another call has", function()
    payouts = payouts_with { queue = "owned" }
    assert(payouts:add("first", TRANSFER, move "4"))
    assert(payouts:run())
    leave_undecided(false)
    at.sim:advance(60000)
    local made, err = payouts:settle("a", assert(payouts:find "first").record_id, { by = "alice" })
    assert.is_nil(made)
    assert.matches("is that of another call", err.message)
    assert.equal("undecided", assert(payouts:find "a").state)
    assert.same({}, assert(at.journal.db:rows "SELECT id FROM purser_words"))
  end)

  -- A look that failed was taken for one that shows nothing.
  it("is not paid again where a person was wrong, though the look before the sending fails at first", function()
    leave_undecided(true)
    at.sim:advance(60000)
    assert.is_true(payouts:retry("a", { force = true, by = "alice" }))
    local failures, inner = 0, at.client.reconcile
    at.client.reconcile = function(_, intent, options, window)
      local is_look = not window.is_planned and not window.payment and failures < 3
      failures = failures + (is_look and 1 or 0)
      if not is_look then return inner(at.client, intent, options, window) end
      return nil, { kind = "transport", outcome = "not_sent", message = "no connection" }
    end
    assert.equal(1, assert(payouts:run()).done)
    assert.same({ 3, 1 }, { failures, counted "applied" })
  end)

  it("ends the call that was undecided, and changes no other", function()
    for state, ended in pairs { undecided = "not_done", rejected = "rejected", done = "done" } do
      payouts = payouts_with { queue = state }
      leave_undecided(false)
      at.sim:advance(60000)
      local intent = assert(payouts:find "a").id
      assert(at.journal.db:rows("UPDATE purser_calls SET state = $1 WHERE id = $2", state, intent))
      assert.is_true(payouts:retry("a", { force = true, by = "alice" }))
      local entry = assert(at.journal:entries { id = intent })[1]
      assert.same({ ended, "alice said that it was not executed" }, { entry.state, entry.message })
      assert.is_true(assert(payouts:find "a").disowned)
    end
  end)
end)

describe("a payment as a person saw it", function()
  it("stays as it is where it is another by now", function()
    for words, change in pairs { ["attempt"] = "attempt = '2'", ["state"] = "stage = 'dropped'",
      ["content"] = "content = 'other'" } do
      payouts = payouts_with { queue = words }
      leave_undecided(false)
      at.sim:advance(60000)
      local seen = assert(payouts:find "a")
      at.set(change .. " WHERE queue = $1", words)
      local now = assert(payouts:find "a")
      local put_back, others = payouts:retry_all({ seen }, { force = true, by = "alice" })
      assert.same({ {}, { a = false } }, { put_back, others })
      assert.is_false(payouts:drop(seen, { force = true, by = "alice" }))
      assert.is_false(payouts:settle(seen, "r-1", { by = "alice" }))
      assert.same(now, assert(payouts:find "a"))
      assert.same({}, assert(at.journal.db:rows("SELECT id FROM purser_words WHERE call = $1", now.id)))
      at.set("stage = 'undecided' WHERE queue = $1", words)
      assert.same({ "a" }, (payouts:retry_all({ assert(payouts:find "a") }, { force = true, by = "alice" })))
    end
  end)
end)

describe("a payment that was never sent", function()
  it("and was undecided has the word of a person kept, who is kept with it", function()
    assert(payouts:add("a", TRANSFER, move "5"))
    at.set "stage = 'undecided'"
    assert.is_true(payouts:retry("a", { force = true, by = "alice" }))
    local kept = assert(at.journal.db:rows "SELECT person, word, attempt FROM purser_words")
    assert.same({ { person = "alice", word = "not_done", attempt = "0" } }, kept)
    assert.equal("planned", assert(payouts:find "a").call_state)
    assert(payouts:run())
    assert.equal("done", assert(payouts:find "a").state)
    assert.same({}, (at.journal.db:rows "SELECT number FROM purser_attempts")) -- the word was of no attempt
  end)

  it("and was undecided is not sent by a person's word where no history can be read", function()
    assert(payouts:add("a", TRANSFER, move "5"))
    at.set "stage = 'undecided'"
    assert.is_true(payouts:retry("a", { force = true, by = "alice" }))
    at.sim:fault { kind = "reject", operation = "sub_account.transfer_history", times = 100 }
    assert.equal(1, assert(payouts:run()).blocked)
    assert.equal(0, counted "received")
    at.sim:disarm()
    payouts.history = nil
    assert.equal(1, assert(payouts:run()).done)
  end)

  it("is put back, and one that was undecided is looked for in the histories again", function()
    for state, is_looked_for in pairs { undecided = true, failed = false } do
      payouts = payouts_with { queue = state }
      assert(payouts:add("a", TRANSFER, move "5"))
      assert(at.journal.db:rows("UPDATE purser_calls SET stage = $1 WHERE queue = $1", state))
      payouts.history = {}
      assert.is_true(payouts:retry "a")
      assert.equal(is_looked_for, payouts.history == nil)
    end
  end)
end)

describe("many payments", function()
  it("are put back as each would be, with the error of every other", function()
    payouts = payouts_with { history_check = "never" }
    for i, key in ipairs { "found", "lost" } do
      assert(payouts:add(key, TRANSFER, move(tostring(i))))
      at.sim:fault { kind = key == "found" and "lost_answer" or "reset", when = key == "lost" and "before" or nil,
        operation = TRANSFER }
      leave_next_undecided()
      assert(payouts:run())
    end
    assert(payouts:add("waiting", TRANSFER, move "3"))
    local put_back, others = payouts:retry_all { "found", "lost", "waiting", "none" }
    assert.same({ "lost" }, put_back)
    assert.equal("payouts.done", others.found.code)
    assert.same({ false, false }, { others.waiting, others.none })
  end)
end)

describe("a payment that was never sent, and that a person says was made", function()
  it("can be said not to have been made", function()
    assert(payouts:add("a", TRANSFER, move "5"))
    at.set "stage = 'undecided'"
    assert.is_true(payouts:settle("a", "r-1", { by = "alice" }))
    assert.equal("done", assert(payouts:find "a").state)
    assert.is_true(at.journal:settle(assert(payouts:find "a").id, { outcome = "not_done", by = "alice" }))
    assert.equal("not_done", assert(payouts:find "a").call_state)
  end)
end)

describe("options of retry", function()
  it("are checked", function()
    for words, options in pairs { ["a table"] = 5, ['did you mean "force"'] = { forse = true },
      ["boolean"] = { force = 1 } } do
      local put_back, err = payouts:retry("a", options)
      assert.is_nil(put_back)
      assert.equal("argument", err.kind)
      assert.matches(words, tostring(err))
    end
  end)
end)
