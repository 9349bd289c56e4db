-- SPDX-License-Identifier: MIT
-- Calls that were made, and whose records the history does not show by the id of the answer: garbled answers, records
-- that are late, and words of persons without a record.

local at = require "payouts_setting"
local copy_of = require "copy_of"
local lost = require "lost_call"

local unpack = table.unpack or unpack -- luacheck: ignore

local ask, record, with, small, late = lost.ask, lost.record, copy_of, lost.small, lost.late
local OWN = "wallet.transfer"
local MINUTE, HOUR, PAY, MOVE, late_shown = lost.MINUTE, lost.HOUR, lost.PAY, lost.MOVE, lost.late_shown

it("a lost call waits for no record of an answered call that is shown under another id", function()
  local renamed, first = record("w8", small[1], -MINUTE + 400), { with(PAY, { amount = "3" }), -2 * MINUTE, "w3" }
  assert.equal("done", (ask(PAY, { renamed, record("w1", PAY, 400) }, { small })))
  local shown = { renamed, late_shown, record("w3", first[1], -2 * MINUTE + 400) }
  assert.equal("not_done", (ask(PAY, shown, { small, late, first })))
end)

it("a lost call is not cleared by an answered call whose id no record has: that record may be its own", function()
  for _, base in ipairs { PAY, MOVE } do
    local one, two, net = with(base, { amount = "1" }), with(base, { amount = "2" }), with(base, { amount = "19" })
    local before, after = record("w0", one, -MINUTE + 400), record("w9", two, 30400)
    local answered = { { one, -MINUTE, "w0" }, { two, 30000, "w9" }, { net, 1000, "garbled-1" } }
    -- it was made, less a fee; the other's record is late, or failed
    assert.equal("undecided similar", (ask(base, { before, after, record("w1", net, 400) }, answered)))
    local failed = base == MOVE and record("w2", net, 1400, { status = "FAILED" }) or nil
    assert.equal("undecided similar", (ask(base, { before, after, record("w1", net, 400), failed }, answered)))
  end
end)

it("a lost call waits for the record of an answered call where what agrees with that call may be another's", function()
  local renamed = record("w8", small[1], -MINUTE + 400)
  local whose_record = {
    ["its own"] = { { record("w8", PAY, 400) }, { { PAY, -1000, "w0" } } },
    ["an open call's"] = { { renamed }, { small }, { open = { { small[1], -MINUTE, "undecided" } } } },
    ["a rejected call's"] = { { renamed }, { small }, { open = { { small[1], -MINUTE - 100, "rejected" } } } },
    ["a second answered call's"] = { { renamed }, { small, { small[1], -MINUTE + 100, "w7" } } },
    ["nobody's"] = { { record("w8", small[1], -HOUR) }, { small } },
  }
  for whose, case in pairs(whose_record) do
    assert.equal("undecided stale", (ask(PAY, unpack(case))), whose)
  end
end)

it("a lost call has a rival in an answered call whose id no record has, until each has a record", function()
  for _, sent in ipairs { -500, 2000, 9000 } do -- before it, and after its record must be visible
    local answered, later = { { PAY, sent, "garbled" } }, sent + 50
    local alone = ask(PAY, { record("w1", PAY, later) }, answered)
    assert.truthy(alone == "undecided rival" or alone == "undecided stale", alone)
    assert.equal("done", (ask(PAY, { record("w1", PAY, 90), record("w2", PAY, later) }, answered)))
    answered[1][4] = "wallet.withdraw_legacy" -- it stands in the same list
    assert.equal(alone, (ask(PAY, { record("w1", PAY, later) }, answered)))
  end
end)

it("a lost call is not done where equal calls and records are as many, and one call cannot have made one", function()
  for sent, expected in pairs { [3000] = "done", [20000] = "undecided similar" } do
    local others = { open = { { PAY, sent, "undecided" } } }
    assert.equal(expected, (ask(PAY, { record("w1", PAY, 90), record("w2", PAY, 600) }, {}, others)))
  end
end)

it("a lost call waits while an open call may still be answered with the record that differs", function()
  local shown, paused = { record("w1", with(PAY, { amount = "19" }), 400) }, {}
  for _, state in ipairs { "unknown", "undecided" } do
    local others = { open = { { with(PAY, { amount = "19" }), 10000, state } } }
    local word, _, service = ask(PAY, shown, {}, others)
    assert.equal("undecided similar", word)
    paused[state] = service.paused
  end
  assert.is_true(paused.unknown > 10000 + 5000 and paused.undecided < 10000)
end)

it("a lost call has a rival in an equal call of which a person said without a record that it was made", function()
  local made = { open = { { PAY, 1000, "done" } } }
  assert.equal("undecided rival", (ask(PAY, { record("w1", PAY, 900) }, {}, made)))
  assert.equal("done", (ask(PAY, { record("w1", PAY, 90), record("w2", PAY, 1090) }, {}, made)))
  assert.equal("not_done", (ask(PAY, {}, {}, made)))
end)

it("a lost call is an error wherever its journal cannot be read, and gets no word", function()
  local renamed, other = record("w8", small[1], -MINUTE + 400), { { PAY, 1000, "unknown" } }
  local cases = {
    { { renamed, late_shown }, { small, late } },
    { { renamed, record("w1", PAY, 90), late_shown }, { small, late }, other },
    { { renamed, record("w1", PAY, 90), record("w2", PAY, 1090) }, { small, { PAY, 500, "w1" } }, other },
  }
  for _, case in ipairs(cases) do
    local asked, fails_at = 0, 0
    local function change(journal)
      asked = 0
      for _, name in ipairs { "owners", "open_calls", "made_calls" } do
        local ask_journal = journal[name]
        journal[name] = function(...)
          asked = asked + 1
          if asked == fails_at then return nil, "disk I/O error" end
          return ask_journal(...)
        end
      end
    end
    assert.truthy(lost.reconciled(PAY, case[1], case[2], { open = case[3], change = change }))
    for i = 1, asked do
      fails_at = i
      local answer, err = lost.reconciled(PAY, case[1], case[2], { open = case[3], change = change })
      assert.is_nil(answer)
      assert.equal("journal", err.phase)
    end
    assert.is_true(asked > 3)
  end
end)

describe("a person's word without a record", function()
  before_each(function() at.begin { balance = "100" } end)
  after_each(at.finish)

  it("leaves the record that an equal call may have made to neither", function()
    local number = 0
    at.client = at.client_with { transport = at.transport(function(request, inner)
      if request.operation ~= OWN then return inner:send(request) end
      number = number + 1
      if number == 1 then inner:send(request) end -- the first alone is executed
      return nil, { message = "lost" }
    end) }
    local first, second = select(2, at.client:call(OWN, at.own "5")), select(2, at.client:call(OWN, at.own "5"))
    at.client:sleep(20000)
    assert(at.journal:settle(first.intent.id, { outcome = "done", by = "ann", now = at.sim:now() }))
    local answer = assert(at.client:reconcile(second))
    assert.same({ "undecided", "rival" }, { answer.outcome, answer.why })
  end)
end)
