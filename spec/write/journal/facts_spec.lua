-- SPDX-License-Identifier: MIT
-- Attempts are facts: a record speaks for the attempt in whose window it lies, and each attempt has its own signer.

local copy_of = require "copy_of"
local digests = require "purser.write.digests"
local intents = require "purser.write.intent"
local listing_service = require "listing_service"
local memory = require "purser.write.journal.memory"
local operations = require "purser.client.operations"
local own = require "own_journal"
local page_of = require "paged_list"
local reconcile = require "purser.write.reconcile"

local NOW, HOUR = 1700000000000, 3600000
local ROW = operations.by_name["sub_account.transfer"]
local function id_of(number) return ("Ab3"):rep(10) .. ("%02d"):format(number) end
local ID = id_of(0)
local MOVE = { fromAccountType = "SPOT", toAccountType = "SPOT", fromAccount = "a", toAccount = "b", asset = "USDT",
  amount = "20" }

local journals = { ["in a database"] = own.begin, ["in memory"] = memory.new }

-- Begins an attempt of the call with this id, signed by a key. Returns its intent.
local function begin(journal, id, at, signer)
  local params = copy_of(MOVE, { clientTranId = id })
  local intent = { id = assert(intents.new_id()), operation = ROW.full_name, params = params, sent_at = NOW + at,
    recv_window = 5000, account = "treasury", host = "h", signer = signer }
  assert(journal:begin(intent, ROW, nil, { name = id, content = digests.content(ROW, params) }))
  return intent
end

local function reject(journal, intent)
  assert(journal:finish(intent, nil, { outcome = "rejected", message = "the key is over" }))
end

local function record(id, at, fields)
  return copy_of(copy_of(MOVE, { tranId = "r" .. at, clientTranId = id, timestamp = NOW + at, status = "SUCCESS" }),
    fields or {})
end

-- Reconciles a call, of which the service shows these records to the reader's key. Returns the answer in short.
local function ask(journal, intent, records, reader)
  local answer = assert(reconcile.reconcile(listing_service(function(of, asked)
    return page_of(of, records, "timestamp", asked)
  end, { journal = journal, now = intent.sent_at + 70000, host = "h", signer = reader,
    signs_as = function() return true end }), intent))
  return answer.outcome .. (answer.reason and ": " .. answer.reason:match "^[^:,]*" or "")
end

for where, open in pairs(journals) do
  describe("a journal " .. where, function()
    local journal

    before_each(function() journal = open() end)
    after_each(function()
      if where == "in a database" then own.finish() end
    end)

    it("lets a record that failed speak for the attempt in whose window alone it lies", function()
      for i, case in ipairs { { HOUR, 500, "not_done" }, { HOUR, 2 * HOUR, "not_done" },
        { 5000, 5500, "not_done" }, -- of two attempts within seconds nothing says whose the record is
        { HOUR, HOUR + 500, "not_done: the service kept it" } } do
        reject(journal, begin(journal, id_of(i), 0, "k"))
        local again = begin(journal, id_of(i), case[1], "k")
        assert.equal(case[3], ask(journal, again, { record(id_of(i), case[2], { status = "FAILED" }) }, "k"))
      end
    end)

    -- Two calls: one that was sent twice, by an old and a new key, and made by one of them; and a lost one.
    local function shows(made_at, signer, reader)
      local twice, lost = id_of(1), id_of(2)
      reject(journal, begin(journal, twice, 0, "old"))
      assert(journal:finish(begin(journal, twice, HOUR, "new"), { tranId = "r" .. made_at }))
      return ask(journal, begin(journal, lost, 2 * HOUR, signer), { record(twice, made_at) }, reader)
    end

    it("takes a record for that of the key which signed its attempt, before a repeat or after it", function()
      if where == "in memory" then return end -- one process has one key an account there
      for _, case in ipairs { { 500, "old", "not_done" }, { 500, "new", "undecided: stranger" },
        { HOUR + 500, "new", "not_done" }, { HOUR + 500, "old", "undecided: stranger" } } do
        own.finish()
        journal = open()
        assert.equal(case[3], shows(case[1], case[2], "third"))
      end
    end)

    it("learns the times of records from the attempts that made them", function()
      local shown = { record(id_of(9), HOUR, { tranId = "foreign" }) } -- another id, and another time
      for i = 1, 3 do -- each found late, after a repeat had been rejected
        reject(journal, begin(journal, id_of(i), i * 1000, "k"))
        shown[i + 1] = record(id_of(i), i * 1000 + 400)
        assert(journal:finish(begin(journal, id_of(i), HOUR / 3 + i, "k"), shown[i + 1]))
      end
      local lost = begin(journal, ID, HOUR / 2, "k")
      assert.equal("undecided: next", ask(journal, lost, shown, "k")) -- until a later call is answered
      shown[5] = record(id_of(4), HOUR / 2 + 90400)
      assert(journal:finish(begin(journal, id_of(4), HOUR / 2 + 90000, "k"), shown[5]))
      assert.equal("not_done", ask(journal, lost, shown, "k"))
    end)
  end)
end

describe("the journal", function()
  it("keeps who signed each attempt, when, by which plan, and each end that another one replaced", function()
    local journal = own.begin()
    finally(own.finish)
    reject(journal, begin(journal, ID, 0, "k1"))
    local again = begin(journal, ID, HOUR, "k2")
    assert(journal:finish(again, nil, { outcome = "unknown", message = "time ran out" }))
    assert.is_true(journal:settle(again.id, { outcome = "not_done", by = "alice", now = NOW + 2 * HOUR }))
    begin(journal, ID, 2 * HOUR, "k3")
    local kept = assert(journal.db:rows([[SELECT number, signer, host, sent_at, recv_window, state, message
      FROM purser_attempts WHERE call = $1 ORDER BY sent_at, ended_at, state DESC]], again.id))
    local said = {}
    for i, row in ipairs(kept) do
      assert.same({ "h", "5000", true }, { row.host, row.recv_window, row.message ~= "" })
      said[i] = ("%s %s %d %s"):format(row.number, row.signer, (row.sent_at - NOW) / HOUR, row.state)
    end
    assert.same({ "1 k1 0 rejected", "2 k2 1 unknown", "2 k2 1 not_done" }, said)
    for _, filter in ipairs { { id = again.id }, { key = ID } } do -- the same to a person
      local earlier = assert(journal:entries(filter))[1].earlier
      table.sort(earlier, function(a, b) return a.state > b.state end) -- two may have ended in one millisecond
      assert.same({ { number = 2, sent_at = NOW + HOUR, signer = "k2", state = "unknown", message = "time ran out" },
        { number = 1, sent_at = NOW, signer = "k1", state = "rejected", message = "the key is over" },
        { number = 2, sent_at = NOW + HOUR, signer = "k2", state = "not_done", person = "alice",
          message = "alice said that it was not executed" } }, earlier)
    end
    assert.is_nil(assert(journal:entries())[1].earlier)
    local call = assert(journal:call_of(again))
    assert.same({ "k3", 2 }, { call.signer, #call.earlier })
  end)

  for kind, open in pairs(journals) do
    it("tells a call from an equal one of another operation and the same millisecond, " .. kind, function()
      local journal = open()
      if kind == "in a database" then finally(own.finish) end
      local ids = {}
      for i, name in ipairs { "sub_account.transfer", "broker.transfer", "broker.transfer", "sub_account.transfer" } do
        local intent = { operation = name, params = copy_of(MOVE, { clientTranId = id_of(math.min(i, 5 - i)) }),
          sent_at = NOW, recv_window = 5000, account = "treasury", id = i <= 2 and name or nil }
        if i <= 2 then assert(journal:begin(intent, operations.by_name[name])) end
        ids[i] = assert(journal:call_of(intent)).id -- the last two are written by hand
        local other = copy_of(intent, { params = copy_of(intent.params, { clientTranId = id_of(3) }) })
        other.id = nil
        assert.is_nil(journal:call_of(other)) -- an equal payment under another key was taken for it
      end
      assert.same({ "sub_account.transfer", "broker.transfer", "broker.transfer", "sub_account.transfer" }, ids)
    end)
  end

  it("knows nothing of a call whose attempts cannot be read: that is no call without earlier ones", function()
    local journal = own.begin()
    finally(own.finish)
    reject(journal, begin(journal, ID, 0, "k1"))
    local again, db = begin(journal, ID, HOUR, "k1"), journal.db
    journal.db = setmetatable({ rows = function(_, sql, ...)
      if sql:find("purser_attempts", 1, true) then return nil, "disk I/O error" end
      return db:rows(sql, ...)
    end }, { __index = db })
    assert.matches("disk I/O error", tostring(select(2, journal:entries { id = again.id })))
    for _, name in ipairs { "call_of", "used", "owners", "open_calls" } do
      local args = { call_of = { again }, used = { "treasury", ID }, owners = { "key", "treasury", { ID } },
        open_calls = { "treasury", nil, NOW, NOW + HOUR } }
      local found, message = journal[name](journal, (table.unpack or unpack)(args[name], 1, 4)) -- luacheck: ignore
      assert.same({ nil, "disk I/O error" }, { found, message }, name)
    end
    journal.db = db
  end)
end)

describe("calls that were made", function()
  after_each(own.finish)

  it("are found once each, in their operation and time, with those found by content", function()
    local journal = own.begin()
    own.within(function(tx)
      for i = 1, 4 do own.write(tx, "made" .. i, NOW + i, { answered = i == 2 and "no" or "yes" }) end
      own.write(tx, "open", NOW + 2, { state = "open" })
      return true
    end)
    local ids = {}
    for _, call in ipairs(assert(journal:made_calls("treasury", { ["wallet.transfer"] = true }, NOW + 2, NOW + 4))) do
      ids[#ids + 1] = call.id
    end
    table.sort(ids)
    assert.same({ "made2", "made3", "made4" }, ids)
  end)

  it("leave their queue where another call's answer names the record", function()
    local journal = own.begin()
    own.within(function(tx)
      own.write(tx, "paid", NOW, { answered = "yes", record_id = "r1", ended_at = own.time_text(NOW + 9), queue = "q",
        payment = "p", stage = "done" })
      return true
    end)
    journal:contest({ id = "another", account = "treasury" }, "r1", NOW)
    assert.same({ { state = "unknown", stage = "sent", record_id = "" } },
      (journal.db:rows "SELECT state, stage, record_id FROM purser_calls"))
  end)

  it("are told from those without a known end, which are found in the order of their sending", function()
    local journal, ids = own.begin(), {}
    own.within(function(tx)
      for i, state in ipairs { "open", "done", "unknown", "undecided" } do
        own.write(tx, state, NOW + 9 - i, { state = state })
      end
      return true
    end)
    for _, call in ipairs(assert(journal:open_calls("treasury", { ["wallet.transfer"] = true }, NOW, NOW + 9))) do
      ids[#ids + 1] = call.id
    end
    assert.same({ "undecided", "unknown", "open" }, ids)
    assert.same({}, assert(journal:open_calls("treasury", { ["wallet.withdraw"] = true }, NOW, NOW + 9)))
  end)
end)
