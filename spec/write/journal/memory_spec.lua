-- SPDX-License-Identifier: MIT
-- A journal knows this of calls, in a database or in memory: who owns a record, which calls are open, and that a key is
-- used once.

local digests = require "purser.write.digests"
local intents = require "purser.write.intent"
local memory = require "purser.write.journal.memory"
local operations = require "purser.client.operations"
local own = require "own_journal"
local steps = require "steps"

local ROW = operations.by_name["wallet.withdraw"]
local T0 = 1700000000000

local count = 0

local function intent_of(more)
  count = count + 1
  local params = { coin = "USDT", netWork = "TRX", address = "TSample", amount = more.amount or "20",
    withdrawOrderId = more.order }
  return intents.new(ROW, params, nil, more.sent_at or T0, 5000, more.account or "treasury", "call-" .. count)
end

local function key_of(intent, name) return { name = name, content = digests.content(ROW, intent.params) } end

local kinds = {
  ["in memory"] = { begin = memory.new, finish = function() end },
  ["in a database"] = { begin = own.begin, finish = own.finish },
}

for name, kind in pairs(kinds) do
  describe("a journal " .. name, function()
    local journal

    before_each(function() journal = kind.begin() end)
    after_each(kind.finish)

    local function begin(more, key)
      local intent = intent_of(more)
      local ok, problem, known = journal:begin(intent, ROW, nil, key and key_of(intent, key))
      return ok and intent, problem, known
    end

    -- A database is one account's; clients of several accounts may share a transport, and its journal in memory.
    local has_accounts = name == "in memory"

    it("says which calls own records", function()
      local answered, found, other = assert(begin { order = "a" }), assert(begin { order = "b" }),
        assert(begin { account = has_accounts and "other" or "treasury" })
      assert(journal:finish(answered, { id = "11" }))
      assert(journal:reconciled(found, { outcome = "done", record = { id = "12" } }))
      assert(journal:finish(other, { id = "13" }))
      local owners = assert(journal:owners("record_id", "treasury", { "11", "12", "13", "14" }))
      assert.is_true(owners["11"].answered)
      assert.is_false(owners["12"].answered)
      assert.equal("b", owners["12"].params.withdrawOrderId)
      assert.same({ not has_accounts or nil }, { owners["13"] and true, owners["14"] })
      assert.same({}, assert(journal:owners("record_id", "treasury", { "11" }, { ["wallet.transfer"] = true })))
    end)

    -- Two workers look for one call. The first finds that it was not executed, and sends it again; the second, which
    -- stood still meanwhile, sees the record of that. Were it the first call's, the other would be sent once more.
    it("gives no call that was not executed the record of an equal one that was sent since", function()
      local first = assert(begin {})
      assert(journal:reconciled(first, { outcome = "not_done" }))
      local again = assert(begin { sent_at = T0 + 60000 })
      assert.same({ is_over = true }, journal:reconciled(first, { outcome = "done", record = { id = "12" } }))
      assert.same({}, assert(journal:owners("record_id", "treasury", { "12" })))
      assert.same({ counts = true }, journal:reconciled(again, { outcome = "done", record = { id = "12" } }))
      assert.equal(digests.likeness(ROW, again.params),
        assert(journal:owners("record_id", "treasury", { "12" }))["12"].digest)
    end)

    it("gives a record one owner: a second one is refused, and nothing is written", function()
      local first, second = assert(begin {}), assert(begin { amount = "21" })
      assert(journal:finish(first, { id = "12" }))
      assert.is_false(journal:finish(second, { id = "12" }))
      assert.same({ is_taken = true }, journal:reconciled(second, { outcome = "done", record = { id = "12" } }))
      assert.equal("open", assert(journal:call_of(second)).state)
      assert.is_true(journal:finish(first, { id = "12" }))
      assert.is_true(journal:finish(second, { id = "13" }))
    end)

    -- One worker heard the answer while another looked, and was shown a record without its id. Were the record
    -- nobody's, an equal call that was never executed would have it.
    it("keeps the record of a call that was done, whatever says less of it", function()
      local call, owner_of = assert(begin {}), function(id)
        return (assert(journal:owners("record_id", "treasury", { id }))[id] or {}).id
      end
      assert(journal:reconciled(call, { outcome = "done", record = {} }))
      assert(journal:reconciled(call, { outcome = "done", record = { id = "12" } }))
      assert.equal(call.id, owner_of "12")
      assert.is_true(journal:finish(call, { id = "11" }))
      for _, record in ipairs { {}, { id = "12" } } do
        assert.same({}, journal:reconciled(call, { outcome = "done", record = record }))
        assert.same({ call.id, nil }, { owner_of "11", owner_of "12" })
      end
      assert.is_true(journal:finish(call, {}))
      assert.equal(call.id, owner_of "11")
    end)

    it("names the latest of several calls whose records have one id in different histories", function()
      local first = assert(begin {})
      assert(journal:finish(first, { id = "12" }))
      local later = intent_of { sent_at = T0 + 5 }
      later.operation = "wallet.transfer"
      assert(journal:begin(later, operations.by_name["wallet.transfer"]))
      assert(journal:finish(later, { tranId = "12" }))
      assert.equal("wallet.transfer", assert(journal:owners("record_id", "treasury", { "12" }))["12"].operation)
    end)

    it("knows the call of an intent by its id, and one that was written by hand by its content and time", function()
      local first = assert(begin { order = "a" })
      assert(begin { order = "a", sent_at = T0 + 1 })
      local copy = { operation = first.operation, params = first.params, sent_at = T0, account = "treasury" }
      assert.same({ first.id, first.id }, { journal:call_of(first).id, journal:call_of(copy).id })
      copy.sent_at = T0 + 2
      assert.is_nil(journal:call_of(copy))
    end)

    it("knows which ids calls have", function()
      assert(begin({ order = "a" }, "a"))
      local names = { ["wallet.withdraw"] = true }
      assert.equal("a", assert(journal:owners("key", "treasury", { "a", "b" }, names)).a.params.withdrawOrderId)
      if has_accounts then assert.same({}, assert(journal:owners("key", "other", { "a" }, names))) end
      assert.same({}, assert(journal:owners("key", "treasury", { "a" }, { ["wallet.transfer"] = true })))
    end)

    it("believes a record that shows the id of a call more than a look that did not see it", function()
      local first = assert(begin { order = "a" })
      assert(journal:reconciled(first, { outcome = "not_done" }))
      assert(begin { order = "b" })
      assert(journal:reconciled(first, { outcome = "done", record = { id = "12", withdrawOrderId = "a" } }))
      assert.equal("a", assert(journal:owners("record_id", "treasury", { "12" }))["12"].params.withdrawOrderId)
    end)

    it("counts as answered what a record shows that carries the call's id", function()
      local found = assert(begin { order = "b" })
      assert(journal:reconciled(found, { outcome = "done", record = { id = "12", withdrawOrderId = "b" } }))
      assert.is_true(assert(journal:owners("record_id", "treasury", { "12" }))["12"].answered)
    end)

    it("finds owners among more records than one statement asks for", function()
      local ids = {}
      for i = 1, 120 do
        local intent = assert(begin { order = "o" .. i })
        assert(journal:finish(intent, { id = ("9%d"):format(i) }))
        ids[i] = ("9%d"):format(i)
      end
      local owners, found = assert(journal:owners("record_id", "treasury", ids)), 0
      for _, id in ipairs(ids) do found = found + (owners[id] and 1 or 0) end
      assert.equal(120, found)
    end)

    it("lists the calls whose end is not known", function()
      local states, order = { "open", "unknown", "undecided", "done", "rejected", "not_sent" }, {}
      for i, state in ipairs(states) do
        local intent = assert(begin { order = state, sent_at = T0 + i })
        if state == "undecided" then
          assert(journal:reconciled(intent, { outcome = state }))
        elseif state == "done" then
          assert(journal:finish(intent, { id = "1" }))
        elseif state ~= "open" then
          assert(journal:finish(intent, nil, { outcome = state, message = "" }))
        end
      end
      for i, call in ipairs(assert(journal:open_calls("treasury", { ["wallet.withdraw"] = true }, T0, T0 + 1000))) do
        order[i] = call.params.withdrawOrderId
      end
      assert.same({ "open", "unknown", "undecided" }, order)
      assert.same({}, assert(journal:open_calls("treasury", { ["wallet.transfer"] = true }, T0, T0 + 1000)))
      if has_accounts then assert.same({}, assert(journal:open_calls("other", nil, T0, T0 + 1000))) end
      assert.same({}, assert(journal:open_calls("treasury", nil, T0 - 1000, T0)))
      assert.same({}, assert(journal:open_calls("treasury", nil, T0 + 90000000, T0 + 90001000)))
    end)

    it("knows the calls that were made, of an operation and a time, and which of them were answered", function()
      local function ended(order, record)
        assert(journal:reconciled(assert(begin { order = order }), { outcome = "done", record = record }))
      end
      assert(journal:finish(assert(begin { order = "a" }), { id = "11" }))
      ended("b", { id = "12" })
      ended("c", { id = "13", withdrawOrderId = "c" })
      ended("d", {})
      assert(begin { order = "e" })
      assert(journal:finish(assert(begin { order = "f" }), nil, { outcome = "not_done", message = "" }))
      local names, made = { ["wallet.withdraw"] = true }, {}
      for _, call in ipairs(assert(journal:made_calls("treasury", names, T0, T0))) do
        made[call.params.withdrawOrderId] = { call.record_id or "none", call.answered }
      end
      assert.same({ a = { "11", true }, b = { "12", false }, c = { "13", true }, d = { "none", false } }, made)
      assert.same({}, assert(journal:made_calls("treasury", names, T0 + 1, T0 + 2)))
      assert.same({}, assert(journal:made_calls("treasury", { ["wallet.transfer"] = true }, T0, T0)))
      if has_accounts then assert.same({}, assert(journal:made_calls("other", names, T0, T0))) end
    end)

    it("lets a key be taken by one call", function()
      local first = assert(begin({ order = "a" }, "a"))
      local again, problem, known = begin({ order = "a", amount = "20.0" }, "a")
      assert.same({ false, nil, "open" }, { again or false, problem, known.state })
      assert(journal:finish(first, { id = "11" }))
      known = select(3, begin({ order = "a" }, "a"))
      assert.same({ "done", "11" }, { known.state, known.record.id })
      problem = select(2, begin({ order = "a", amount = "21" }, "a"))
      assert.equal("journal.other_content", problem.code)
      local other = begin({ order = "b", account = "other" }, "a")
      assert.equal(has_accounts, other and true or false)
    end)

    it("lets a call that was not executed be sent again with its key", function()
      for _, state in ipairs { "not_sent", "rejected" } do
        local first = assert(begin({ order = "a" }, "a"))
        assert(journal:finish(first, nil, { outcome = state, message = "" }))
      end
      local last = assert(begin({ order = "a" }, "a"))
      assert(journal:reconciled(last, { outcome = "not_done" }))
      assert.truthy(begin({ order = "a" }, "a"))
    end)

    it("does not let an earlier attempt end a later one", function()
      local first = assert(begin({ order = "a" }, "a"))
      assert(journal:finish(first, nil, { outcome = "not_sent", message = "" }))
      local second = assert(begin({ order = "a", sent_at = T0 + 1 }, "a"))
      assert(journal:finish(first, nil, { outcome = "rejected", message = "" }))
      assert.equal("open", assert(journal:call_of(second)).state)
    end)
  end)
end

describe("a journal in memory", function()
  it("is one for the clients of a transport and an origin", function()
    local transport = {}
    local journal = memory.of(transport, "https://one.example")
    assert.equal(journal, memory.of(transport, "https://one.example"))
    assert.are_not.equal(journal, memory.of(transport, "https://two.example"))
    assert.are_not.equal(journal, memory.of({}, "https://one.example"))
  end)

  it("keeps what was found of a call", function()
    local journal, intent = memory.new(), intent_of {}
    assert(journal:begin(intent, ROW))
    assert(journal:reconciled(intent, { outcome = "done", record = { id = "12" } }))
    assert.equal("done", journal:owners("record_id", "treasury", { "12" })["12"].state)
  end)

  -- Where its list had a gap, every later question raised an error, until the program ended.
  it("is whole, at whatever instruction something is raised", function()
    local at, is_raised = 0, true
    steps.interpreted(function()
      while is_raised do
        at = at + 1
        local journal, intent, is_within = memory.new(), intent_of { order = "a" }, false
        local key = key_of(intent, "a")
        is_raised = false
        debug.sethook(function()
          if not is_within then return end
          is_within, is_raised = false, true
          error("no memory", 0)
        end, "", at)
        pcall(function()
          is_within = true
          journal:begin(intent, ROW, nil, key)
          is_within = false
        end)
        debug.sethook()
        local later = intent_of { order = "b" }
        assert.is_true((journal:begin(later, ROW, nil, key_of(later, "b"))))
        for _, call in ipairs(journal:open_calls("treasury", nil, T0, T0)) do assert.equal("open", call.state) end
        assert.is_true(journal:finish(later, { id = "r" }))
      end
    end)
    assert.is_true(at > 50)
  end)

  it("forgets calls after an hour, and says until when", function()
    local journal = memory.new()
    local first = intent_of { order = "a" }
    assert(journal:begin(first, ROW, nil, nil, key_of(first, "a")))
    assert(journal:finish(first, { id = "11" }))
    assert.is_nil(journal.forgotten)
    local later = intent_of { order = "b", sent_at = T0 + memory.KEPT_MS + 1 }
    assert(journal:begin(later, ROW))
    assert.equal(T0, journal.forgotten)
    assert.same({}, journal:owners("record_id", "treasury", { "11" }))
    assert.same({ nil, {} }, { next(journal.by_record), journal.by_key })
  end)

  it("holds a bounded number of calls", function()
    local journal, kept = memory.new(), memory.MAX_CALLS
    finally(function() memory.MAX_CALLS = kept end)
    memory.MAX_CALLS = 10
    for i = 1, 30 do assert(journal:begin(intent_of { order = "o", sent_at = T0 + i }, ROW)) end
    local held = 0
    for _ in pairs(journal.by_id) do held = held + 1 end
    assert.equal(10, held)
    assert.equal(T0 + 20, journal.forgotten)
  end)
end)
