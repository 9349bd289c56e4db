-- SPDX-License-Identifier: MIT
-- A call as records compare with it: member by member, whatever records of further calls show.

local operations = require "purser.client.operations"
local subjects = require "purser.write.subject"

local START = 1700000000000
local ADDRESS = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

local function subject_of(params, operation)
  return subjects.of({ operation = operation or "wallet.withdraw", params = params, id = "c" }, START, START + 60000)
end

describe("a subject", function()
  local sent = { coin = "USDT", netWork = "TRX", address = ADDRESS, amount = "20.0", withdrawOrderId = "o1" }

  it("compares a member by its value: true, false, or nil where nothing is to be compared", function()
    local subject = subject_of(sent)
    for _, case in ipairs { { "amount", "20", true }, { "amount", "19", false }, { "coin", "usdt", true },
      { "address", ADDRESS, true }, { "address", "T" .. ADDRESS, false }, { "address", "", nil }, { "memo", "", true },
      { "memo", "7", false }, { "id", "o1", true }, { "id", "O1", true }, { "id", "o2", false },
      { "id", "", nil }, { "time", START, true }, { "time", START + 60000, true }, { "time", START + 60001, false },
      { "time", "x", nil } } do
      local name = case[1] == "id" and "withdrawOrderId" or case[1] == "time" and "applyTime" or case[1]
      assert.equal(case[3], subjects.compared(subject, { [name] = case[2] }, case[1]), case[1] .. tostring(case[2]))
    end
  end)

  it("compares address and memo as one payee, in any spelling; letters of a text make no other account", function()
    local RIPPLE = "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf"
    local WITH_1 = "XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC" -- RIPPLE and the tag 1
    for _, case in ipairs {
      -- sent memo; what a record shows of address and memo; whether the address, and the memo, are as sent
      { nil, RIPPLE, "", true, true }, { nil, RIPPLE, "1", true, false }, { nil, WITH_1, "", true, false },
      { nil, RIPPLE .. ":1", "", true, false }, { "1", RIPPLE, "", true, nil }, { "1", RIPPLE, "001", true, true },
      { "001", RIPPLE, "1", true, true }, { "1", WITH_1, "", true, true }, { "2", WITH_1, "", true, false },
      { "1", RIPPLE .. ":1", "", true, true }, { "2", RIPPLE .. ":1", "", true, false },
      { "007", "rGWr***QYpf", "007", false, true }, { "007", "", "007", nil, true },
      { "1", RIPPLE:lower(), "1", true, true },
    } do
      local subject = subject_of { coin = "XRP", netWork = "XRP", address = RIPPLE, memo = case[1], amount = "1" }
      local record = { address = case[2], memo = case[3] }
      assert.same({ case[4], case[5] }, { subjects.compared(subject, record, "address"),
        subjects.compared(subject, record, "memo") }, tostring(case[1]) .. " " .. case[2] .. " " .. case[3])
    end
    local behind = subject_of({ coin = "XRP", network = "XRP", address = RIPPLE .. ":7", amount = "1" },
      "broker.withdraw")
    for memo, expected in pairs { ["7"] = true, ["8"] = false } do
      assert.equal(expected, subjects.compared(behind, { address = RIPPLE .. ":" .. memo, memo = "" }, "memo"))
      assert.equal(expected, subjects.compared(behind, { address = RIPPLE, memo = memo }, "memo"))
    end
    assert.is_nil(subject_of({ asset = "USDT", amount = "1" }, "sub_account.transfer").kinds.memo)
  end)

  it("names the sent members in which a record agrees, and those in which it surely differs, in order", function()
    local function fits(record) return { subjects.fits(subject_of(sent), record) } end
    assert.same({ { "address", "amount", "coin", "id", "time" }, {} }, fits { coin = "USDT", address = ADDRESS,
      amount = "20", withdrawOrderId = "o1", applyTime = START, memo = "" })
    assert.same({ { "amount" }, { "coin" } }, fits { amount = "20", coin = "BTC", memo = "7" })
    assert.same({ { "network" }, { "address", "amount" } }, fits { amount = "9", address = "Telse", network = "trc20",
      withdrawOrderId = "o2", applyTime = 1 })
    assert.same({ {}, { "network" } }, fits { amount = "10", address = ADDRESS:sub(1, 4) .. "***", netWork = "BSC" })
  end)

  it("takes a value that differs for a form of what was sent: less a fee, cut, masked, rounded", function()
    local paid = subject_of(sent)
    local own = subject_of({ fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "20.129" },
      "wallet.transfer")
    for _, case in ipairs { { paid, "amount", "10", true }, { paid, "amount", "9.9", false },
      { own, "amount", "20.12", true }, { own, "amount", "19.129", false },
      { own, "amount", "20.0", true }, { subject_of({ fromAccountType = "SPOT", toAccountType = "FUTURES",
        asset = "USDT", amount = "20.2" }, "wallet.transfer"), "amount", "20.1", true },
      { paid, "amount", "0", true }, { paid, "amount", "x", true }, { paid, "address", "Tother", false },
      { paid, "address", ADDRESS:sub(1, 6) .. "***" .. ADDRESS:sub(-4), true } } do
      assert.equal(case[4], subjects.is_form(case[1], { [case[2]] = case[3] }, case[2]), case[3])
    end
    assert.is_true(subjects.is_less_its_fee(paid, { amount = "19", transactionFee = "1" }))
    assert.is_false(subjects.is_less_its_fee(paid, { amount = "19", transactionFee = "0.5" }))
  end)

  it("is near within a minute of its window, and far beyond a time zone and whole days", function()
    for at, expected in pairs { [0] = { true, false }, [-60000] = { true, false }, [-60001] = { false, false },
      [38 * 3600000 + 60000] = { false, false }, [38 * 3600000 + 60001] = { false, true } } do
      local subject, record = subject_of(sent), { applyTime = START + at }
      assert.same(expected, { subjects.is_near_in_time(subject, record), subjects.is_far(subject, record) }, at)
    end
  end)

  it("is far by times of milliseconds alone, and of a call whose window is known", function()
    for at, expected in pairs { [1e12 - 1] = false, [1e12] = true, [1e13 - 1] = true, [1e13] = false, [0] = false } do
      assert.equal(expected, subjects.is_far(subject_of(sent), { applyTime = at }), at)
    end
    assert.is_false(subjects.is_far(subject_of(sent), { applyTime = "1e12" }))
    local planned = subjects.of { operation = "wallet.withdraw", params = sent }
    assert.is_false(subjects.is_far(planned, { applyTime = 1e12 }))
  end)

  it("has kinds by coin and network, and takes a rounded id for its own", function()
    local own = subject_of({ fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "usdt", amount = "1" },
      "wallet.transfer")
    assert.same({ "address USDT TRX", "memo- USDT TRX", "amount USDT nil" }, { subject_of(sent).kinds.address,
      subject_of(sent).kinds.memo, own.kinds.amount })
    local params = { coin = "USDT", address = ADDRESS, amount = "1", withdrawOrderId = "12345678901234567890" }
    for shown, expected in pairs { ["1.2345678901234567e19"] = true, ["1.2e19"] = false, x = false } do
      assert.equal(expected, subjects.is_form(subject_of(params), { withdrawOrderId = shown }, "id"), shown)
    end
    assert.is_false(subjects.is_form(subject_of { coin = "USDT", address = ADDRESS, amount = "1" }, {
      withdrawOrderId = "x" }, "id"))
  end)

  it("is alike another that no record tells from it but by its id", function()
    local function changed(name, value)
      local params = {}
      for key, own in pairs(sent) do params[key] = own end
      params[name] = value
      return subjects.is_alike(subject_of(sent), subject_of(params))
    end
    assert.same({ true, true, false, false, false }, { changed("withdrawOrderId", "o2"), changed("amount", "20"),
      changed("amount", "21"), changed("netWork", "ETH"), changed("memo", "1") })
  end)

  it("is made of every operation that content identifies", function()
    local count = 0
    for _, row in ipairs(operations.list) do
      if row.reconcile and row.reconcile.match_on then
        count = count + 1
        assert.is_truthy(subject_of({ coin = "USDT", asset = "USDT", amount = "1" }, row.full_name).names[1])
      end
    end
    assert.is_true(count > 3)
  end)
end)
