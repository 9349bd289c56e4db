-- SPDX-License-Identifier: MIT
-- Ids that a service shows cut, hidden in part, as numbers or with other signs: such a record of equal content is no
-- proof that the call was not executed.

local operations = require "purser.client.operations"
local page_of = require "paged_list"
local reading = require "purser.write.reading"
local own_calls = require "own_calls"
local reconcile = require "purser.write.reconcile"
local decoders = require "purser.client.call.decoders"

local NOW = 1700000000000
local ID = ("Ab3"):rep(10) .. "Zz"
local DIGITS = "12345678901234567890123456789012"

local transfer = { fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "20" }
local withdrawal = { coin = "USDT", address = "TSample", amount = "20", memo = "0012345" }
local calls = { ["wallet.withdraw"] = withdrawal, ["wallet.withdraw_legacy"] = withdrawal,
  ["sub_account.transfer"] = transfer, ["broker.transfer"] = transfer }

local function service_of(record, time)
  local now = NOW + 60000
  return { now = function() return now end, correction = function() end, pause = function(_, ms) now = now + ms end,
    visibility_delay_ms = 3000, recv_window = 5000, journal = own_calls.new(),
    read = function(_, row, asked)
      local from, to = not asked.startTime and -math.huge or nil, not asked.startTime and math.huge or nil
      if not time then return { record } end
      return row.paging and page_of(row, { record }, time, asked, from, to) or { record }
    end }
end

-- Reconciles a call whose history shows one record, by a reading of its own and by a shared one.
local function check(operation, params, record, outcome)
  local row = operations.by_name[operation]
  local time = row.reconcile.time_member
  if time then record[time] = NOW + 400 end
  for _, shared in ipairs { false, true } do
    local service = service_of(record, time)
    if shared then
      service.readings = reading.share(service.now())
      service.readings:expect(NOW)
    end
    local answer = assert(reconcile.reconcile(service, { operation = operation, params = params, sent_at = NOW,
      recv_window = 5000 }))
    assert.equal(outcome, answer.outcome, operation .. ": " .. tostring(answer.reason))
  end
end

local function copy(values, more)
  local all = {}
  for _, list in ipairs { values, more } do
    for name, value in pairs(list) do all[name] = value end
  end
  return all
end

-- Asserts what becomes of a call with the id `sent` whose record is as requested, but for the id and `more`.
local function check_id(sent, shown, outcome, more)
  for operation, content in pairs(calls) do
    local name = operations.by_name[operation].reconcile.client_id
    if name == "withdrawOrderId" or #sent == 32 then
      check(operation, copy(content, { [name] = sent }), copy(content, copy({ id = "r1", tranId = "r1",
        [name] = shown }, more or {})), outcome)
    end
  end
end

describe("a record of equal content leaves a call undecided", function()
  it("however short its id is cut, at the end or at the beginning", function()
    for _, shown in ipairs { "Ab3", "A", "Zz", "3Zz", ID:sub(1, 7), "ab3a" } do check_id(ID, shown, "undecided") end
  end)

  it("where its id is hidden in part, or is a word for none", function()
    for _, shown in ipairs { "Ab3***Zz", "Ab...3Zz", "A*" } do check_id(ID, shown, "undecided") end
  end)
end)

describe("a record is the call's", function()
  it("where its id is the sent one in other letters' case, as keys that look alike are one", function()
    for _, shown in ipairs { ID:upper(), ID:lower() } do
      check_id(ID, shown, "done")
      check_id(ID, shown, "undecided", { amount = "2" })
    end
    check_id("ab", "AB", "done", { memo = "12345" })
  end)
end)

describe("a record of equal content leaves a call undecided", function()
  it("where its id is cut and its content is another's", function()
    check_id(ID, "Ab3", "undecided", { amount = "21" })
    check_id("1001", "1.001e3", "undecided", { amount = "21" })
  end)

  it("where its id has other signs between letters and digits, or something around it", function()
    for _, shown in ipairs { "pay7", "pay_7", "Pay 7", "x-pay-7", "pay-7 (USDT)" } do
      check_id("pay-7", shown, "undecided")
    end
  end)

  it("where its id is a number that has lost digits", function()
    for _, pair in ipairs { { "0012", "12" }, { "1001", "1001.0" }, { "1001", "1.001e3" }, { "1001", "1.001E+03" },
      { "12345678901234567890", "1.2345678901234567e19" }, { "12345678901234567890", "12345678901234567168" },
      { "12345678901234567890", "1.23457e+19" }, { DIGITS, "1.2345678901234567e+31" },
      { DIGITS, "12345678901234567000000000000000" }, { ("9"):rep(18), "1e18" }, { "007", "7.0" } } do
      check_id(pair[1], pair[2], "undecided")
    end
  end)

  it("where its id may be the one that was sent and the memo is shown as a number", function()
    for _, operation in ipairs { "wallet.withdraw", "wallet.withdraw_legacy" } do
      check(operation, copy(withdrawal, { withdrawOrderId = ID }), copy(withdrawal, { id = "r1", memo = "12345" }),
        "undecided")
    end
  end)

  it("where it shows no id and an address that is cut", function()
    check("wallet.withdraw", copy(withdrawal, { withdrawOrderId = ID }), copy(withdrawal, { id = "r1",
      address = "TSamp" }), "undecided")
  end)
end)

describe("a call is undecided, for want of a witness,", function()
  it("where the record of equal content shows another id", function()
    for _, pair in ipairs { { ID, ("y"):rep(32) }, { ID, ID:sub(1, -2) .. "y" }, { ID, "Ab4***Zz" }, { "1001", "1002" },
      { "1001", "1002.0" }, { "1001", "1.002e3" }, { "12345678901234567890", "12345678901334567890" },
      { DIGITS, "1.2345678903e31" }, { "pay-7", "pay-8" }, { ID, "1.5e3" } } do
      check_id(pair[1], pair[2], "undecided")
    end
  end)
end)

it("A number whose text is the id proves that the call was done", function()
  local decoder = decoders.of(operations.by_name["wallet.withdrawal_history"])
  local record = decoder:decode('[{"id":"r1","withdrawOrderId":1001}]')[1]
  check_id("1001", record.withdrawOrderId, "done")
  assert.equal("1.5e3", decoder:decode('[{"withdrawOrderId":1.5e3}]')[1].withdrawOrderId)
end)

describe("a name that a service shows cut or hidden leaves undecided", function()
  local key = { note = "bot 0012", permissions = "SPOT_ACCOUNT_READ", apiKey = "k1" }

  it("whether a key was made", function()
    for _, group in ipairs { "broker", "sub_account" } do
      for _, shown in ipairs { "bot", "bot***", "12", "bot_0012" } do
        check(group .. ".create_api_key", { subAccount = "desk1", note = "bot 0012",
          permissions = "SPOT_ACCOUNT_READ" }, copy(key, { subAccount = "desk1", note = shown }), "undecided")
      end
    end
  end)

  it("whether a sub-account was made", function()
    for _, group in ipairs { "broker", "sub_account" } do
      for _, shown in ipairs { "tradi", "tra***01", "x_trading01" } do
        check(group .. ".create_sub_account", { subAccount = "trading01", note = "n" }, { subAccount = shown },
          "undecided")
      end
    end
  end)

  it("whether a key was deleted", function()
    for _, group in ipairs { "broker", "sub_account" } do
      for _, shown in ipairs { "mx0vgl", "mx0***9x", "mx0...9x" } do
        check(group .. ".delete_api_key", { subAccount = "desk1", apiKey = "mx0vgl81kk9x" },
          { apiKey = shown, subAccount = "desk1" }, "undecided")
      end
    end
  end)
end)
