-- SPDX-License-Identifier: MIT
-- The verdict on lost calls, one case a line: what the history shows of calls that were answered and besides, and the
-- word. Each of the attacks that once had a false word is here.

local copy_of = require "copy_of"
local listing_service = require "listing_service"
local lost = require "lost_call"
local operations = require "purser.client.operations"
local own_calls = require "own_calls"
local reconcile = require "purser.write.reconcile"
local verdict = require "purser.write.verdict"

local ask, record, small, late = lost.ask, lost.record, lost.small, lost.late
local small_shown, late_shown = lost.small_shown, lost.late_shown
local NOW, MINUTE, HOUR, ROW, PAY, MOVE = lost.NOW, lost.MINUTE, lost.HOUR, lost.ROW, lost.PAY, lost.MOVE

-- Asks for a lost call. Returns the word, and how many times a record was compared with a call.
local function compared(...)
  local count, may_be, agrees = 0, verdict.may_be, verdict.agrees
  local function restore() verdict.may_be, verdict.agrees = may_be, agrees end
  finally(restore)
  for name, real in pairs { may_be = may_be, agrees = agrees } do
    verdict[name] = function(...)
      count = count + 1
      return real(...)
    end
  end
  local word = ask(...)
  restore()
  return word, count
end

local with = copy_of
local ID, OTHER = ("Ab3"):rep(10) .. "Zz", ("Cd4"):rep(10) .. "Yy"

describe("a lost withdrawal whose id the history does not show", function()
  local cases = {
    { "is not done where nothing is shown", {}, {}, "not_done" },
    { "is done by the one record that agrees", { record("w1", PAY, 400) }, {}, "done" },
    { "is not done by an equal record of another call that was answered", { record("w1", PAY, 400) },
      { { PAY, 10, "w1" } }, "not_done" },
    { "waits for the next answered call where an amount that no fee explains is known of earlier ones",
      { small_shown, record("w1", with(PAY, { amount = "7" }), 400) }, { small }, "undecided next" },
    { "is not done where an amount that no fee explains is known of calls before and after",
      { small_shown, late_shown, record("w1", with(PAY, { amount = "7" }), 400) }, { small, late }, "not_done" },
    { "is a person's where one member differs that is known of calls before and after",
      { small_shown, late_shown, record("w1", with(PAY, { address = "T****p" }), 400) }, { small, late },
      "undecided similar" },
    { "is a person's where the amount is less a fee that calls before and after did not pay",
      { small_shown, late_shown, record("w1", with(PAY, { amount = "19" }), 400) }, { small, late },
      "undecided similar" },
    { "waits for the next answered call where two members differ that are known of earlier ones",
      { small_shown, record("w1", with(PAY, { amount = "19", address = "Telse" }), 400) }, { small },
      "undecided next" },
    { "is not done where two members differ that are known of calls before and after",
      { small_shown, late_shown, record("w1", with(PAY, { amount = "19", address = "Telse" }), 400) },
      { small, late }, "not_done" },
    { "is a person's where two members differ that are known of later calls alone",
      { late_shown, record("w1", with(PAY, { amount = "19", address = "Telse" }), 400) }, { late },
      "undecided similar" },
    -- With a way inside the service for large amounts, and a release, that was paid twice.
    { "waits where one differs that is known before and after, and one before alone: later calls have another coin",
      { small_shown, record("w9", late[1], 30400, { coin = "USDC" }),
        record("w1", with(PAY, { address = "Telse" }), 3 * MINUTE) },
      { small, { with(late[1], { coin = "USDC" }), 30000, "w9" } }, "undecided next" },
    { "is not done where three differ that are known of earlier calls alone",
      { small_shown, record("w1", with(PAY, { amount = "19", address = "Telse" }), 3 * MINUTE) }, { small },
      "not_done" },
    { "is a person's where the amount is less a fee, and the payment before to that payee was free",
      { small_shown, record("w1", with(PAY, { amount = "19" }), 400) }, { small }, "undecided similar" },
    { "is a person's where the amount is cut in binary fractions, and others were not",
      { record("w0", with(PAY, { amount = "1.25" }), -MINUTE + 400),
        record("w1", with(PAY, { amount = "16.41" }), 400) },
      { { with(PAY, { amount = "1.25" }), -MINUTE, "w0" } }, "undecided similar", with(PAY, { amount = "16.42" }) },
    { "is not made by a record whose coin was shown otherwise of a payment of this coin",
      { record("w0", small[1], -MINUTE + 400, { coin = "825" }), record("w1", PAY, 400, { coin = "3408" }) },
      { small }, "undecided similar" }, -- F2
    { "is done where the coin is shown as of a payment of this coin",
      { record("w0", small[1], -MINUTE + 400, { coin = "825" }), record("w1", PAY, 400, { coin = "825" }) },
      { small }, "done" },
    { "is not done where two differ that are known",
      { small_shown, record("w1", with(PAY, { amount = "7.5", address = "Telse" }), 400) }, { small }, "not_done" },
    { "is a person's where one differs that is known of another route",
      { record("w0", with(PAY, { address = "Tfree", amount = "100" }), -MINUTE + 400),
        record("w1", with(PAY, { amount = "19" }), 400) },
      { { with(PAY, { address = "Tfree", amount = "100" }), -MINUTE, "w0" } }, "undecided similar" }, -- F1
    { "is a person's where an amount has more digits than any that was seen",
      { small_shown, record("w1", with(PAY, { amount = "20.41" }), 400) }, { small }, "undecided similar",
      with(PAY, { amount = "20.42" }) }, -- F1
    { "is not done to another payee where one payee was shown otherwise",
      { record("w0", with(small[1], { address = "EQx" }), -MINUTE + 400),
        record("w1", PAY, 400, { address = "Telse" }) },
      { small }, "undecided similar" }, -- F2
    { "is a person's where its record shows the time of its approval",
      { small_shown, record("w1", PAY, 20 * MINUTE) }, { small }, "undecided similar" }, -- F4
    { "is a person's where two may be its", { record("w1", PAY, 400), record("w2", PAY, 900) }, {},
      "undecided similar" },
    { "is a person's where nothing is known and a record differs in all", { record("w1", with(PAY, { coin = "BTC",
      address = "Telse", amount = "7" }), 400) }, {}, "undecided similar" },
    { "is a person's where an answered call is not shown", { record("w1", PAY, 400) }, { small }, "undecided stale" },
    { "is not done by a record that is days away", { record("w1", PAY, -39 * HOUR) }, {}, "not_done" },
    { "is a person's where a record may be of another zone", { record("w1", PAY, 8 * HOUR) }, {}, "undecided similar" },
  }
  for _, case in ipairs(cases) do
    it(case[1], function()
      assert.equal(case[4], (ask(case[5] or PAY, case[2], case[3])))
    end)
  end

  it("is a person's, after a wait, while another open call may own what agrees with it", function()
    for _, state in ipairs { "unknown", "undecided" } do
      local word, _, service = ask(PAY, { record("w1", PAY, 400) }, {}, { open = { { PAY, 1000, state } } })
      assert.equal("undecided rival", word)
      -- sent, taken until, clocks, visible, times: no longer, since the other would wait for this one as well
      assert.equal(state == "unknown" and 1000 + 5000 + 1000 + 3000 + 5000 or 5000 + 1000 + 3000, 100 + service.paused)
    end
  end)

  it("has no rival in a call that is further than a minute from making the record", function()
    -- the rival's record is within 6 s before and 14 s after the call was sent, and a minute more
    for sent, expected in pairs { [66000] = "undecided rival", [67000] = "done", [-73000] = "undecided rival",
      [-74000] = "done" } do
      local open = { { PAY, sent, "undecided" } }
      assert.equal(expected, (ask(PAY, { record("w1", PAY, 400) }, {}, { open = open })))
    end
  end)

  it("has a rival in an open call whose amount differs by a fee, which is not taken of a move to one's own account",
    function()
      local own = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "20" }
      for params, expected in pairs { [PAY] = "undecided rival", [own] = "done" } do
        local open = { { with(params, { amount = "21" }), 1000, "unknown" } }
        local shown = record("w1", params, 400, { fromAccountType = params.fromAccountType })
        assert.equal(expected, (ask(params, { shown }, {}, { open = open })))
      end
      -- nor where there are as many records as calls: one may be the other's, less the fee
      local open, two = { { with(PAY, { amount = "21" }), 1000, "unknown" } }, { record("w1", PAY, 400) }
      two[2] = record("w2", PAY, 900)
      assert.equal("undecided similar", (ask(PAY, two, {}, { open = open })))
    end)

  it("is compared with the records of nobody, however many are of calls that were answered", function()
    local records, answered = {}, {}
    for i = 1, 8 do
      local params = with(PAY, { amount = tostring(20 + i) })
      answered[i], records[i] = { params, -MINUTE, "w" .. i }, record("w" .. i, params, -MINUTE + i)
    end
    records[9] = record("w9", PAY, 400)
    local word, count = compared(PAY, records, answered)
    assert.equal("done", word)
    assert.equal(1, count)
  end)

  it("is compared with equal calls of a window in proportion to them", function()
    for _, apart in ipairs { 10, 1000, -1000 } do
      for _, state in ipairs { "unknown", "undecided" } do
        local records, open = {}, {}
        for i = 1, 40 do
          records[i], open[i] = record("w" .. i, PAY, i * apart + 400), { PAY, i * apart, state }
        end
        local word, count = compared(PAY, function(_, asked)
          local shown = {}
          for i = 40, 1, -1 do
            local at = records[i].applyTime
            if at >= asked.startTime and at <= asked.endTime then shown[#shown + 1] = records[i] end
          end
          return shown
        end, {}, { open = open })
        assert.equal("undecided similar", word)
        assert.is_true(count <= 20 * #open, count) -- in all readings, and not #open times #records
      end
    end
  end)

  it("is one of equal calls that cannot be told apart, where each has a record", function()
    local first, second, third = record("w1", PAY, 400), record("w2", PAY, 900), record("w3", PAY, 20000)
    local spare = record("w4", PAY, 5000)
    for _, case in ipairs {
      { "done", { first, second }, { 500 }, "w1" }, { "done", { first, second }, { -500 }, "w2" },
      { "undecided rival", { first }, { 500 } }, { "undecided similar", { first, second, spare }, { 500 } },
      { "done", { first, second, third }, { 500, 15000 }, "w1" }, -- the third agrees with the last call alone
      { "done", { first, third }, { 15000 }, "w1" },
    } do
      for _, state in ipairs { "unknown", "undecided" } do
        local open = {}
        for i, sent in ipairs(case[3]) do open[i] = { PAY, sent, state } end
        local word, answer = ask(PAY, case[2], {}, { open = open })
        assert.equal(case[1], word)
        assert.equal(case[4], answer.record and answer.record.id)
      end
    end
  end)

  it("is not one of calls with records of their own that differ from it", function()
    local open = { { with(PAY, { amount = "21" }), 500, "undecided" } }
    assert.equal("undecided rival", (ask(PAY, { record("w1", PAY, 400) }, {}, { open = open }))) -- less a fee
    for _, witness in ipairs { small, late } do
      local shown = witness == small and small_shown or late_shown
      assert.equal("done", (ask(PAY, { shown, record("w1", PAY, 400) }, { witness }, { open = open })))
    end
  end)

  it("is not done where another open call explains the record better, as often as there are such calls", function()
    local other = with(PAY, { amount = "19" })
    local records = { small_shown, late_shown, record("w1", other, 400), record("w2", other, 500) }
    local function word(count, sent, shown)
      local open = {}
      for i = 1, count do open[i] = { sent, i * 10, "undecided" } end
      return (ask(PAY, shown or records, { small, late }, { open = open }))
    end
    assert.equal("undecided similar", word(0, other))
    assert.equal("undecided similar", word(1, other))
    assert.equal("not_done", word(2, other))
    assert.equal("undecided similar", word(2, with(PAY, { amount = "18" })))
    assert.equal("undecided similar", word(2, other, { small_shown, records[3], records[4] })) -- no later witness
  end)

  it("is a person's where a record that agrees has an id which an answer named long before", function()
    local earlier, its, new = { PAY, -HOUR, "w1" }, record("w1", PAY, -HOUR + 400), record("w1", PAY, 400)
    assert.equal("undecided similar", (ask(PAY, { new }, { earlier })))
    assert.equal("undecided similar", (ask(PAY, { new, its }, { earlier })))
    assert.equal("not_done", (ask(PAY, { its }, { earlier })))
  end)

  it("is a person's where the payee is not shown", function()
    assert.equal("undecided similar", (ask(PAY, { record("w1", PAY, 400, { address = "" }) })))
  end)

  it("is not done where the service takes two coins for one: what one call has is not the other's", function()
    local usdc = with(PAY, { coin = "USDC" })
    local records = { record("w8", PAY, -2 * MINUTE, { coin = "825" }),
      record("w9", usdc, -2 * MINUTE, { coin = "3408" }), record("w1", usdc, 400, { coin = "3408" }) }
    local word = ask(PAY, records, { { PAY, -2 * MINUTE, "w8" }, { usdc, -2 * MINUTE, "w9" } },
      { open = { { usdc, 100, "unknown" } } })
    assert.not_equal("done", word:match "%l+_?%l*")
  end)

  it("needs two whole readings, and the record in the last", function()
    local word, answer = ask(PAY, function(reads) return reads == 1 and { record("w1", PAY, 400) } or {} end)
    assert.not_equal("not_done", word)
    assert.equal("w1", answer.candidates and answer.candidates[1].id or answer.record.id)
  end)
end)

describe("a lost withdrawal that carries an id", function()
  local pay, answered = with(PAY, { withdrawOrderId = ID }), { with(PAY, { withdrawOrderId = OTHER }), -MINUTE, "w0" }
  local shown = record("w0", PAY, -MINUTE + 400, { withdrawOrderId = OTHER })

  it("is done by its id, whatever time is shown", function()
    assert.equal("done", (ask(pay, { record("w1", PAY, 9 * HOUR, { withdrawOrderId = ID }) })))
  end)

  it("is done, and said to be perhaps twice, where two records show its id", function()
    local first = record("w1", pay, 400, { withdrawOrderId = ID })
    local second = record("w2", pay, 900, { withdrawOrderId = ID })
    local word, answer = ask(pay, { first, second })
    assert.equal("done", word:match "^%l+")
    assert.equal("2 records show its id: it may have been executed as often", answer.reason)
    assert.is_nil(select(2, ask(pay, { first, record("w2", pay, 900, { withdrawOrderId = OTHER }) })).reason)
  end)

  it("is not done where ids are shown and two members of a record are another's", function()
    assert.equal("not_done", (ask(pay, { shown, record("w1", with(PAY, { amount = "7" }), 400,
      { withdrawOrderId = ("x"):rep(32) }) }, { answered })))
  end)

  it("is a person's where the id stands for another payment", function()
    assert.equal("undecided id reused", (ask(pay, { shown, record("w1", PAY, 400, { withdrawOrderId = ID,
      amount = "7" }) }, { answered })))
  end)

  it("is a person's where its record names another network, and the reason says so", function()
    local function word(network, witness, member)
      local one = member or "network"
      return ask(pay, { record("w0", small[1], -MINUTE + 400, { withdrawOrderId = OTHER, [one] = witness }),
        record("w1", pay, 400, { withdrawOrderId = ID, [one] = network }) }, { answered })
    end
    for _, member in ipairs { "network", "netWork" } do
      local reused, answer = word("ETH", "TRX", member)
      assert.equal("undecided id reused", reused)
      assert.matches("shows another network", answer.reason)
      for network, witness in pairs { TRC20 = "", ["Tron(TRC20)"] = "TRX", nobody = "TRX", [""] = "", BSC = "ETH" } do
        assert.equal("done", (word(network, witness, member)), network) -- the last: this service names each otherwise
      end
    end
  end)
end)

describe("an equal payment on another network", function()
  it("is another's, as far as two differences go; where each is named otherwise, nothing is compared", function()
    local function word(network, of_small, of_late, more)
      return (ask(PAY, { record("w0", small[1], -MINUTE + 400, { network = of_small }),
        record("w9", late[1], 30400, { network = of_late }),
        record("w1", with(PAY, more or {}), 400, { network = network }) }, { small, late }))
    end
    assert.equal("done", word("TRC20", "TRX", "TRX"))
    assert.equal("undecided similar", word("ETH", "TRX", "TRX")) -- it was done: false
    assert.equal("undecided similar", word("ETH"))
    assert.equal("not_done", word("ETH", "TRX", "TRX", { amount = "19" }))
    assert.equal("done", word("ETH", "ETH", "ETH"))
    assert.equal("undecided similar", word("ETH", "ETH", "TRX"))
    assert.equal("done", word("nobody knows", "TRX", "TRX"))
  end)
end)

describe("a lost transfer", function()
  it("is done where it succeeded, and no end is what the document does not name as one", function()
    for status, word in pairs { SUCCESS = "done", FAILED = "not_done", WAIT = "undecided failing",
      REFUSED = "undecided failing" } do
      assert.equal(word, (ask(MOVE, { record("t1", MOVE, 400, { status = status }) })), status) -- F5
    end
  end)

  it("waits while it is under way", function()
    local word = ask(MOVE, function(reads)
      return { record("t1", MOVE, 400, { status = reads > 3 and "FAILED" or "WAIT" }) }
    end)
    assert.equal("not_done", word)
  end)
end)

describe("a record that failed", function()
  it("speaks for the attempt in whose window it lies, and for no later one", function()
    local row = operations.by_name["sub_account.transfer"]
    local params = { clientTranId = ID, fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "2" }
    local function word(failed_at, attempt)
      local failed = copy_of(params, { tranId = "t0", status = "FAILED", timestamp = NOW + failed_at })
      local made = copy_of(params, { tranId = "t1", clientTranId = "", status = "SUCCESS", timestamp = NOW + 400 })
      local service = listing_service(function(_, asked) return asked.page == 1 and { failed, made } or {} end)
      return assert(reconcile.reconcile(service, { operation = row.full_name, params = params, sent_at = NOW,
        recv_window = 5000, id = "lost", attempt = attempt }, nil, { since = NOW - HOUR })).outcome
    end
    assert.equal("done", word(-10 * MINUTE)) -- F10
    assert.equal("not_done", word(300))
    assert.equal("done", word(-2000, 2)) -- the windows of the two lie over one another
  end)
end)

describe("a payment that may never have been sent", function()
  local window = { is_planned = true, since = NOW - 40 * HOUR, to = NOW }

  it("is not taken for another's without one known difference, nor made where content alone agrees", function()
    for word, case in pairs {
      not_done = { { small_shown, record("w1", with(PAY, { amount = "7" }), -HOUR) }, { small } },
      ["undecided similar"] = { { record("w1", with(PAY, { coin = "POL", amount = "19" }), -HOUR) } }, -- F3
    } do
      assert.equal(word, (ask(PAY, case[1], case[2], { window = window })))
    end
    assert.equal("undecided similar", (ask(PAY, { record("w1", PAY, -HOUR) }, nil, { window = window })))
  end)

  it("is not made by a record whose amount no fee explains, though nothing is known of the service", function()
    local own = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "20" }
    for _, case in ipairs {
      { PAY, "11", "undecided similar" }, { PAY, "9.9", "not_done" }, { PAY, "41", "not_done" },
      { own, "19", "not_done" }, { own, "19.999999", "undecided similar" }, { own, "20.5", "not_done" },
      { with(own, { amount = "516.42" }), "516.41", "undecided similar" }, -- cut in binary fractions
      { with(own, { amount = "516.42" }), "516.4", "undecided similar" },
      { with(own, { amount = "516.42" }), "516.39", "not_done" },
      { with(own, { amount = "20.5" }), "20", "undecided similar" }, -- cut
    } do
      local shown = record("w1", with(case[1], { amount = case[2] }), -HOUR)
      assert.equal(case[3], (ask(case[1], { shown }, nil, { window = window })), case[2])
    end
  end)
end)

describe("a history without an end", function()
  it("is given up after 200 requests, and the reason says so", function()
    -- ten records of one minute, whose bounds are counted in whole days
    local at, DAY = math.floor(NOW / MINUTE) * MINUTE - MINUTE, 24 * HOUR
    local service = listing_service(function(_, asked)
      local list = {}
      for i = 1, 10 do list[i] = record("r" .. i, PAY, at - NOW, { amount = "7" }) end
      local is_asked = math.floor(asked.startTime / DAY) <= math.floor(at / DAY)
        and math.floor(asked.endTime / DAY) >= math.floor(at / DAY)
      return is_asked and list or {}
    end)
    local answer = assert(reconcile.reconcile(service, { operation = ROW.full_name, params = PAY, sent_at = NOW,
      recv_window = 5000, id = "lost" }))
    assert.equal("undecided", answer.outcome)
    assert.matches("more than 200 requests", answer.reason)
    assert.is_true(service.reads <= 1300) -- F8
  end)
end)

-- The journal keeps a hundred of them: the right ones were cut off.
describe("the records that an undecided call may have made", function()
  it("are all answered, the likest first", function()
    local records = {}
    for i = 1, 40 do
      records[i] = record("s" .. i, with(MOVE, { asset = "BTC", toAccount = "s" .. i, amount = "7" }), 300)
    end
    records[41] = record("w1", with(MOVE, { toAccount = "a@**" }), 900)
    records[42] = record("w2", with(MOVE, { toAccount = "a@**" }), 400)
    local word, answer = ask(MOVE, records)
    assert.same({ "undecided similar", "similar" }, { word, answer.why })
    assert.same({ 42, "w2", "w1", "s1" },
      { #answer.candidates, answer.candidates[1].id, answer.candidates[2].id, answer.candidates[3].id })
  end)
end)

describe("the reasons of undecided answers", function()
  it("are those that the page lists", function()
    local page = assert(io.open "docs/write/outcomes.md"):read "*a"
    local listed = page:match "begins with a word:\n\n|[^\n]*\n|[^\n]*\n(.*)$"
    local reasons = copy_of(require("purser.write.match").reasons, {})
    for word in listed:gmatch "| `([%l ]+)` |" do
      assert.is_string(reasons[word], word)
      reasons[word] = nil
    end
    assert.is_nil(next(reasons))
  end)
end)

describe("a call that another API key signed", function()
  -- Asks by the key "new" for a call that "old" signed; another call's record is shown, which this key signed.
  local function asked(signer, earlier, is_joined)
    local known = own_calls.with { is_vouched = function() return is_joined or false end }
    local other = { params = { coin = "USDT", netWork = "TRX", address = "Tother", amount = "7" },
      sent_at = NOW - 60000, recv_window = 5000, id = "k", signer = signer, operation = ROW.full_name, account = "a" }
    own_calls.note(known, ROW, other, "w2").earlier = earlier or {}
    local service = listing_service(function()
      return { record("w2", other.params, -59000), record("w1", PAY, 400) }
    end, { journal = known, now = NOW + 100, signer = "new", account = "a" })
    local answer = assert(reconcile.reconcile(service, { operation = ROW.full_name, params = PAY, sent_at = NOW,
      recv_window = 5000, id = "c", signer = "old" }))
    return answer.outcome .. " " .. (answer.reason or ""):match "^%l*"
  end

  it("is found where the history shows what its own key signed, or a person joined the reading key", function()
    assert.equal("done ", asked "old")
    assert.equal("undecided stranger", asked "third")
    assert.equal("done ", asked("third", nil, true))
  end)

  it("is not found by a record that may be of an attempt of another key", function()
    local attempt = { sent_at = NOW - 62000, recv_window = 5000, signer = "third" }
    assert.equal("undecided stranger", asked("old", { attempt }))
    attempt.signer = "old"
    assert.equal("done ", asked("old", { attempt }))
    attempt.sent_at, attempt.signer = NOW - 3 * HOUR, "third"
    assert.equal("done ", asked("old", { attempt }))
  end)
end)
