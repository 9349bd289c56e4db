-- SPDX-License-Identifier: MIT
-- One reading says this of a call by its content, early and late.

local asked_once = require "asked_once"
local copy_of = require "copy_of"
local listing_service = require "listing_service"
local operations = require "purser.client.operations"
local own_calls = require "own_calls"
local reading = require "purser.write.evidence.reading"
local reconcile = require "purser.write.reconcile"

local NOW, HOUR = 1700000000000, 3600000
local EARLY, LATE, WAITED = NOW + 10, NOW + 60000, NOW + 310000
local ID = ("Ab3"):rep(10) .. "Zz"

local look_once, outcome = asked_once.look_once, asked_once.outcome

local move = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }
local moved = copy_of(move, { tranId = "t1", status = "SUCCESS", timestamp = NOW + 400 })

describe("a call that only its content identifies", function()
  local function with(records, at, fields) return outcome("wallet.transfer", move, records, at, fields) end

  it("is decided late alone, when an equal record cannot come any more", function()
    assert.equal("nothing yet", with({ moved }, EARLY))
    assert.equal("nothing yet", with({}, EARLY))
    assert.equal("done", with { moved })
    assert.equal("nothing yet", with {})
  end)

  it("was not done where its record says that it failed", function()
    local word, answer = with { copy_of(moved, { status = "FAILED" }) }
    assert.equal("not_done", word)
    assert.equal("t1", answer.record.tranId)
  end)

  it("is undecided where two records match, or one in part, or an equal call may have made it", function()
    for reason, case in pairs {
      ["^%(10%) there are more"] = { { moved, copy_of(moved, { tranId = "t2" }) } },
      ["^%(7%)"] = { { copy_of(moved, { asset = "usdt-trx" }) } },
      ["^%(9%) another call could"] = { { moved }, { operation = "wallet.transfer", params = copy_of(move,
        { amount = "2.4" }) } },
    } do
      local known = own_calls.new()
      if case[2] then
        own_calls.note(known, operations.by_name["wallet.transfer"], copy_of({ sent_at = NOW - 5,
          recv_window = 5000, id = "other" }, case[2]))
      end
      local word, answer = with(case[1], WAITED, { journal = known })
      assert.equal("undecided", word, reason)
      assert.matches(reason, answer.reason)
      assert.is_true(#answer.candidates > 0)
    end
  end)

  it("waits for an equal call that may yet be answered", function()
    local known = own_calls.new()
    local entry = own_calls.note(known, operations.by_name["wallet.transfer"], { operation = "wallet.transfer",
      params = move, sent_at = NOW + 100, recv_window = 5000, id = "other" })
    assert.equal("nothing yet", with({ moved }, NOW + 9099, { journal = known }))
    assert.equal("done", with({ moved }, NOW + 9100, { journal = known })) -- its own record would be visible
    entry.state = "unknown"
    assert.equal("done", with({ moved }, NOW + 9000, { journal = known }))
  end)

  it("has the record of its own time where an earlier equal call, whose record lies before it, is undecided", function()
    local known = own_calls.new()
    for id, sent_at in pairs { earlier = NOW - 12000, later = NOW + 5300 } do
      own_calls.note(known, operations.by_name["wallet.transfer"], { operation = "wallet.transfer", params = move,
        sent_at = sent_at, recv_window = 5000, id = id }).state = id == "earlier" and "undecided" or "unknown"
    end
    local word, answer = with({ moved, copy_of(moved, { tranId = "t2", timestamp = NOW + 5400 }) }, LATE,
      { journal = known })
    assert.same({ "done", "t1" }, { word, answer.record.tranId })
  end)

  -- Two equal calls half a minute apart, both executed, of a service that shows whole minutes. The later one was said
  -- not to be done: the earlier took its record, for its own lies too early for both.
  it("is undecided where an earlier equal call may have taken its record, by times cut to minutes", function()
    local known = own_calls.new()
    local row = operations.by_name["wallet.transfer"]
    local function cut(at) return at - at % 60000 end
    own_calls.note(known, row, { operation = "wallet.transfer", params = move, sent_at = NOW - 30000,
      recv_window = 5000, id = "earlier" }).state = "undecided"
    own_calls.note(known, row, { operation = "wallet.transfer", params = copy_of(move, { amount = "7" }),
      sent_at = cut(NOW) + 63000, recv_window = 5000, id = "witness" }, "t3")
    local first, second, witness = copy_of(moved, { tranId = "t1", timestamp = cut(NOW - 30000) }),
      copy_of(moved, { tranId = "t2", timestamp = cut(NOW) }),
      copy_of(moved, { tranId = "t3", amount = "7", timestamp = cut(NOW) + 60000 })
    assert.equal("undecided", with({ first, second, witness }, WAITED, { journal = known }))
    assert.equal("nothing yet", with({ witness }, WAITED, { journal = known }))
  end)

  -- The record of an answered call lay before what was read, as times were cut to minutes. So it seemed to be late, and
  -- the call took the record of the one that is asked about, which was said not to be done.
  it("is not another's whose record lies before what is read", function()
    local known, row, cut = own_calls.new(), operations.by_name["wallet.transfer"], NOW - NOW % 60000
    local calls = { t1 = { NOW - 30000, "2", cut - 60000 }, t2 = { cut + 1000, "7", cut } }
    local records = { copy_of(moved, { tranId = "own", timestamp = cut }) }
    for id, call in pairs(calls) do
      own_calls.note(known, row, { operation = row.full_name, params = copy_of(move, { amount = call[2] }),
        sent_at = call[1], recv_window = 5000, id = id }, id)
      records[#records + 1] = copy_of(moved, { tranId = id, amount = call[2], timestamp = call[3] })
    end
    assert.equal("undecided", (with(function(_, asked)
      local rows = {}
      for _, record in ipairs(records) do
        local is_asked = record.timestamp >= asked.startTime and record.timestamp <= asked.endTime
        if is_asked and asked.page == 1 then rows[#rows + 1] = record end
      end
      return { rows = rows, total = asked.page == 1 and #rows or nil }
    end, NOW + 400000, { journal = known })))
  end)

  -- A call that was not executed was said to be done: where records show amounts less a fee, and ids cut, neither was
  -- compared, and any record of the coin passed for its own.
  it("is done by a record that differs as those of answered calls do, and by no other", function()
    local function with_witness(operation, params, fields, record)
      local known, row = own_calls.new(), operations.by_name[operation]
      own_calls.note(known, row, { operation = operation, params = copy_of(params, { amount = "7", clientTranId =
        params.clientTranId and ("w"):rep(32) }), sent_at = NOW - 9000, recv_window = 5000, id = "witness" }, "t3")
      local shown = copy_of(params, { tranId = "t1", status = "SUCCESS", timestamp = NOW + 400 })
      return (outcome(operation, params, { copy_of(shown, record), copy_of(shown, copy_of({ tranId = "t3", amount = "7",
        timestamp = NOW - 8000 }, fields)) }, LATE, { journal = known }))
    end
    for amount, word in pairs { ["1.9"] = "done", ["1.7"] = "undecided", ["2"] = "done", ["2.1"] = "undecided" } do
      assert.equal(word, with_witness("wallet.transfer", move, { amount = "6.9" }, { amount = amount }), amount)
    end
    local own = copy_of(move, { clientTranId = ID, toAccount = "Desk" })
    for id, word in pairs { [ID:sub(1, 9)] = "done", [("z"):rep(9)] = "undecided" } do
      assert.equal(word, with_witness("sub_account.transfer", own, { clientTranId = ("w"):rep(9) },
        { clientTranId = id }), id)
    end
  end)

  it("is another call's where that is known to have made the record", function()
    local known = own_calls.new()
    own_calls.note(known, operations.by_name["wallet.transfer"], { operation = "wallet.transfer", params = move,
      sent_at = NOW - 5, recv_window = 5000, id = "other" }, "t1")
    assert.equal("nothing yet", with({ moved }, LATE, { journal = known }))
    assert.equal("done", with({ moved, copy_of(moved, { tranId = "t2" }) }, LATE, { journal = known }))
  end)

  it("waits for the record of an equal call that was answered, and is that call's where it never comes", function()
    local known = own_calls.new()
    own_calls.note(known, operations.by_name["wallet.transfer"], { operation = "wallet.transfer", params = move,
      sent_at = NOW + 5000, recv_window = 5000, id = "other" }, "t9")
    for at, waits in pairs { [NOW + 9000] = true, [LATE] = true, [NOW + 304999] = true, [NOW + 305000] = false } do
      local answer, _, question = look_once("wallet.transfer", move, { moved }, at, { journal = known })
      assert.same({ waits }, { question.waits, answer }, at)
    end
  end)

  it("waits for equal calls that got ids that are not listed, and were sent near enough", function()
    for sent_at, word in pairs { [NOW - 13600] = "nothing yet", [NOW - 13601] = "done", [NOW + 6400] = "nothing yet",
      [NOW + 6401] = "done" } do
      local known = own_calls.new()
      own_calls.note(known, operations.by_name["wallet.transfer"], { operation = "wallet.transfer", params = move,
        sent_at = sent_at, recv_window = 5000, id = "other" }, "t9")
      assert.equal(word, with({ moved }, LATE, { journal = known }), sent_at - NOW)
    end
  end)

  it("is undecided where an equal record is shown some hours away", function()
    local word, answer = with { copy_of(moved, { timestamp = NOW - 8 * HOUR }),
      copy_of(moved, { tranId = "t2", timestamp = NOW - 7 * HOUR }) }
    assert.equal("undecided", word)
    assert.equal(2, #answer.candidates)
    assert.matches("^%(11%)", answer.reason)
    assert.equal("nothing yet", with({ copy_of(moved, { timestamp = NOW - 8 * HOUR }) }, EARLY))
    for _, hours in ipairs { -15, 15 } do -- no time zone is as far away
      assert.equal("nothing yet", with { copy_of(moved, { timestamp = NOW + hours * HOUR }) })
    end
    assert.matches("in part", select(2, with { moved, copy_of(moved, { tranId = "t2", asset = "usdt-trx" }) }).reason)
  end)

  it("waits for them by readings that others share, too, until they are late beyond measure", function()
    local known = own_calls.new()
    own_calls.note(known, operations.by_name["sub_account.transfer"], { operation = "sub_account.transfer",
      params = copy_of(move, { clientTranId = "o" }), sent_at = NOW, recv_window = 5000, id = "other" }, "t7")
    local service = listing_service(function() return { rows = {}, total = 0 } end,
      { journal = known, now = NOW + 20000, readings = reading.share() })
    local answer = assert(reconcile.reconcile(service, { operation = "sub_account.transfer", sent_at = NOW,
      params = copy_of(move, { clientTranId = ID }), recv_window = 5000, id = "i" }, {}))
    assert.equal("undecided", answer.outcome)
    assert.matches("beyond measure", answer.reason)
    assert.is_true(service.reads < 40, service.reads)
  end)

  it("waits for the records of calls that were answered before it, and measures by the clock how late they come",
    function()
      for measured, case in pairs { [65000] = {}, [false] = { is_set = true }, [-1] = { never_comes = true } } do
        local delay, corrections, known = false, 0, own_calls.new()
        local own = copy_of(move, { clientTranId = ID })
        own_calls.note(known, operations.by_name["sub_account.transfer"], { operation = "sub_account.transfer",
          params = copy_of(own, { clientTranId = "o" }), sent_at = NOW + 10000, recv_window = 5000,
          id = "other" }, "t7")
        function known.note_delay(_, _, ms) delay = ms end
        local records = {}
        local _, _, question = look_once("sub_account.transfer", own, records, NOW + 55000, { journal = known,
          correction = function()
            corrections = corrections + 1
            return case.is_set and corrections or 0
          end })
        assert.same({ true, false }, { question.waits, delay }) -- nothing was seen to be late yet
        question.service:pause(20000)
        if not case.never_comes then
          records[1] = { tranId = "t7", clientTranId = "o", amount = "2", asset = "USDT", timestamp = NOW + 10100 }
        end
        assert.is_nil(question:read())
        assert.equal(case.never_comes or false, question.waits)
        assert.equal(measured ~= -1 and measured, delay)
      end
    end)

  it("is an error where the journal cannot be read", function()
    for _, unread in ipairs { "owners", "open_calls", "made_calls" } do
      local journal = own_calls.with {}
      journal[unread] = function() return nil, "disk I/O error" end
      for _, case in ipairs { { "wallet.transfer", move, moved }, { "sub_account.transfer", copy_of(move,
        { clientTranId = ID }), { tranId = "t1", amount = "7", asset = "USDT", timestamp = NOW } } } do
        local answer, err = look_once(case[1], case[2], { case[3] }, LATE, { journal = journal })
        assert.is_nil(answer)
        assert.same({ "journal", "unknown" }, { err.phase, err.outcome })
      end
    end
  end)

  it("is undecided where this client has forgotten what it made then", function()
    local known = own_calls.new()
    known.forgotten = NOW
    local word, answer = with({ moved }, LATE, { journal = known })
    assert.equal("undecided", word)
    assert.matches("forgotten", answer.reason)
  end)
end)

describe("a record that a call of another content may have made", function()
  -- Looks for a withdrawal without an id, where one of another remark was sent, too.
  local function with(other, id, record)
    local known = own_calls.new()
    local entry = own_calls.note(known, operations.by_name["wallet.withdraw_legacy"], { params = other,
      operation = "wallet.withdraw_legacy", sent_at = NOW - 5, recv_window = 5000, id = "other" }, id)
    entry.by_content = id ~= nil
    return outcome("wallet.withdraw", { coin = "USDT", address = "TSample", amount = "20", netWork = "TRX" },
      { copy_of({ id = "w1", coin = "USDT", address = "TSample", amount = "20", applyTime = NOW + 400 }, record) },
      WAITED, { journal = known })
  end

  local same = { coin = "USDT", address = "TSample", amount = "20", network = "TRX" }

  it("is not certainly this call's", function()
    assert.equal("undecided", with(same))
    assert.equal("undecided", with(copy_of(same, { amount = "20.5" }), nil, { amount = "20" }))
    assert.equal("done", with(copy_of(same, { amount = "77" })))
    assert.equal("done", with(copy_of(same, { address = "TOther" })))
  end)

  it("is that call's only where that made it, as far as is known", function()
    assert.equal("nothing yet", with(same, "w1"))
    assert.equal("done", with(same, "w2"))
  end)

  it("is that of one that was answered with an id that the service does not show, once nothing is as late", function()
    local known, sent = own_calls.new(), copy_of(move, { amount = "2.4" })
    own_calls.note(known, operations.by_name["wallet.transfer"], { operation = "wallet.transfer", params = sent,
      sent_at = NOW, recv_window = 5000, id = "other" }, "another form of t1")
    local function asked(at, ...) return look_once("wallet.transfer", move, { ... }, at, { journal = known }) end
    local its = copy_of(moved, { amount = "2.4" })
    local answer, _, question = asked(NOW + 299000, its)
    assert.same({ true }, { question.waits, answer })
    assert.is_nil(asked(NOW + 301000, its))
    assert.equal("t2", asked(NOW + 301000, its, copy_of(moved, { tranId = "t2" })).record.tranId)
    assert.equal("undecided", asked(NOW + 301000, its, copy_of(its, { tranId = "t2" })).outcome) -- it made one
  end)

  it("waits for one that was answered with another id than it shows, until that owns it", function()
    local known = own_calls.new()
    own_calls.note(known, operations.by_name["wallet.transfer"], { operation = "wallet.transfer", sent_at = NOW,
      params = copy_of(move, { amount = "7" }), recv_window = 5000, id = "other" }, "nobody's id")
    local function asked(at, amount)
      return outcome("wallet.transfer", move, { copy_of(moved, { amount = amount }) }, at, { journal = known })
    end
    assert.equal("nothing yet", asked(NOW + 200000, "7"))
    assert.equal("undecided", asked(NOW + 200000, "8"))
    local answer, _, question = look_once("wallet.transfer", move, { copy_of(moved, { amount = "7" }) }, NOW + 200000,
      { journal = known })
    assert.same({ true }, { question.waits, answer })
    answer, _, question = look_once("wallet.transfer", move, { copy_of(moved, { amount = "7" }) }, NOW + 300000,
      { journal = known })
    assert.same({ false }, { question.waits, answer }) -- that is all: not done, then
  end)

  it("is at once that of one that was answered with another id, where no other call can have made it", function()
    for sent, waits in pairs { ["7"] = false, ["2"] = true } do
      local known = own_calls.new()
      local function answered(id, amount, record_id)
        own_calls.note(known, operations.by_name["wallet.transfer"], { operation = "wallet.transfer", sent_at = NOW,
          params = copy_of(move, { amount = amount }), recv_window = 5000, id = id }, record_id)
      end
      answered("witness", "9", "t9") -- it proves how amounts are shown
      answered("other", sent, "nobody's id")
      local answer, _, question = look_once("wallet.transfer", copy_of(move, { amount = "3" }), {
        copy_of(moved, { tranId = "t9", amount = "9" }), copy_of(moved, { amount = "7" }) }, LATE, { journal = known })
      assert.same({ waits }, { question.waits, answer }, sent)
    end
  end)

  it("is not that of a call whose id it does not show", function()
    for shown, word in pairs { [ID] = "undecided", [ID:upper()] = "undecided", [("y"):rep(32)] = "done",
      [""] = "undecided" } do
      local known = own_calls.new()
      local params = { coin = "USDT", address = "TSample", amount = "20", remark = "rent" }
      own_calls.note(known, operations.by_name["wallet.withdraw"], { operation = "wallet.withdraw", sent_at = NOW,
        params = copy_of(params, { withdrawOrderId = ID }), recv_window = 5000 })
      assert.equal(word, outcome("broker.withdraw", copy_of(params, { network = "TRX" }), { copy_of(params, { id = "w1",
        withdrawOrderId = shown, applyTime = NOW + 400 }) }, WAITED, { journal = known }), shown)
    end
  end)

  it("is not that of a call between other accounts than it shows", function()
    for shown, word in pairs { SPOT = "done", FUTURES = "undecided", futures = "undecided", [""] = "undecided" } do
      local known = own_calls.new()
      local params = { fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "2" }
      own_calls.note(known, operations.by_name["broker.transfer"], { operation = "broker.transfer", sent_at = NOW,
        params = copy_of(params, { toAccountType = "FUTURES" }), recv_window = 5000 })
      assert.equal(word, outcome("sub_account.transfer", params, { copy_of(params, { tranId = "t1",
        toAccountType = shown, timestamp = NOW + 400 }) }, WAITED, { journal = known }), shown)
    end
  end)

  it("waits, for five minutes, until it is known whether an open call made what agrees with that one alone", function()
    local known, sent = own_calls.new(), copy_of(move, { amount = "7" })
    local other = { operation = "wallet.transfer", params = sent, sent_at = NOW, recv_window = 5000, id = "other" }
    own_calls.note(known, operations.by_name["wallet.transfer"], other)
    local function asked(at, fields)
      return outcome("wallet.transfer", move, { copy_of(moved, fields) }, at, { journal = known })
    end
    assert.equal("nothing yet", asked(LATE, { amount = "7" }))
    assert.equal("undecided", asked(WAITED, { amount = "7" }))
    assert.equal("undecided", asked(LATE, { amount = "8" }))
    assert.equal("undecided", asked(LATE, { amount = "2.01" }))
    own_calls.note(known, operations.by_name["wallet.transfer"], other, "t1")
    assert.equal("nothing yet", asked(WAITED, { amount = "7" })) -- that is all: not done, then
    local later = copy_of(other, { sent_at = NOW + 40000, id = "later" }) -- its time is not this call's
    own_calls.note(known, operations.by_name["wallet.transfer"], later)
    local of_later = { amount = "7", tranId = "t2", timestamp = NOW + 40400 }
    assert.equal("nothing yet", asked(WAITED, of_later))
    assert.equal("undecided", asked(NOW + 350000, of_later))
  end)

  it("is not certainly this call's where an open one differs by what may be a fee, and no witness shows that none is",
    function()
      for amount, word in pairs { ["21"] = "undecided", ["50"] = "done" } do
        for _, has_witness in ipairs { false, true } do
          local known, operation = own_calls.new(), "wallet.withdraw"
          local row, pay = operations.by_name[operation], { coin = "USDT", netWork = "TRX", address = "TSample",
            amount = "20" }
          local function note(id, sent, record_id)
            own_calls.note(known, row, { operation = operation, params = copy_of(pay, { amount = sent }), sent_at = NOW,
              recv_window = 5000, id = id }, record_id)
          end
          note("other", amount)
          if has_witness then note("witness", "90", "t9") end
          assert.equal(has_witness and "done" or word, outcome(operation, pay, { copy_of(pay, { id = "t1",
            applyTime = NOW + 400 }), copy_of(pay, { id = "t9", amount = "90", applyTime = NOW + 400 }) }, WAITED,
            { journal = known }))
        end
      end
    end)
end)
