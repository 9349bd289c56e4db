-- SPDX-License-Identifier: MIT
-- Services that count time in another zone, in the filters of their histories or in the times that they show.

local recent_calls = require "purser.exactly_once.reconcile.recent_calls"
local operations = require "purser.api.operations"
local reconcile = require "purser.exactly_once.reconcile"
local shift = require "purser.exactly_once.reconcile.shift"

local NOW = 1700000000000
local HOUR = 3600000
local ADDRESS = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"
local ID = ("Ab3"):rep(10) .. "Zz"

-- Each call, the history that it is reconciled by, and its record there.
local transfer = { clientTranId = ID, fromAccountType = "SPOT", toAccountType = "SPOT", toAccount = "Desk0001",
  asset = "USDT", amount = "2" }
local withdrawal = { coin = "USDT", address = ADDRESS, amount = "20", withdrawOrderId = ID }
local moved = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }
local sent = { toAccountType = "EMAIL", toAccount = "a@b.example", asset = "USDT", amount = "2" }
local key = { subAccount = "Desk0001", note = "bot", permissions = "SPOT_DEAL_READ" }
local desk = { subAccount = "Desk0001", note = "n" }

local calls = {
  { "wallet.withdraw", withdrawal }, { "wallet.withdraw_legacy", withdrawal }, { "broker.transfer", transfer },
  { "sub_account.transfer", transfer }, { "wallet.transfer", moved }, { "wallet.internal_transfer", sent },
  { "broker.create_sub_account", desk }, { "sub_account.create_sub_account", desk },
  { "broker.create_api_key", key }, { "sub_account.create_api_key", key },
  { "wallet.convert", { asset = "BTC,ETH" } },
  { "broker.withdraw", { coin = "USDT", network = "TRX", address = ADDRESS, amount = "20", remark = "rent" } },
}

local function without_ids(params)
  local copy = {}
  for name, value in pairs(params) do copy[name] = value end
  copy.clientTranId, copy.withdrawOrderId = nil, nil
  return copy
end

-- The record that a call makes, shown at a time.
local function record_of(row, params, at)
  local record = { id = "r1", tranId = "t1", apiKey = "mx0abc1", status = "SUCCESS",
    convertDetails = { { asset = "BTC" }, { asset = "ETH" } } }
  for name, value in pairs(params) do record[name] = value end
  record[row.reconcile.time_member] = at
  return record
end

-- A service whose histories filter by another zone, and show times in another zone. `records` have their true times.
local function service_of(records, of, by_filter, by_shown)
  local time, through = of.reconcile.time_member, of.reconcile.lookup
  local function list(asked)
    local found = {}
    for _, record in ipairs(records) do
      local at = record[time]
      local low, high = (asked.startTime or 0) + by_filter, (asked.endTime or 1e14) + by_filter
      if at >= low and at <= high then
        local shown = {}
        for name, value in pairs(record) do shown[name] = value end
        shown[time] = at + by_shown
        found[#found + 1] = shown
      end
    end
    return (asked.page or 1) == 1 and found or {}
  end
  local now = NOW + 60000
  return { now = function() return now end, correction = function() end, pause = function(_, ms) now = now + ms end,
    visibility_delay_ms = 3000, recv_window = 5000, recent_calls = recent_calls.new(),
    read = function(_, row, asked)
      if row.name == "convertible_balances" then return { { asset = "BTC" } } end
      if row.name == "list_sub_accounts" and row.full_name ~= through then
        return asked.page == 1 and { { subAccount = "Desk0001" } } or {}
      end
      local found = list(asked)
      if row.result.page then return { data = found } end
      if row.result.rows then return { rows = found, total = #found } end
      return found
    end }
end

local function reconciled(operation, params, service)
  return assert(reconcile.reconcile(service, { operation = operation, params = params, sent_at = NOW,
    recv_window = 5000 }))
end

for _, call in ipairs(calls) do
  local operation, params = call[1], call[2]
  local row = operations.by_name[operation]

  describe(operation, function()
    local function look(by_filter, by_shown, sent_params)
      local made = record_of(row, params, NOW + 400)
      return reconciled(operation, sent_params or params, service_of({ made }, row, by_filter, by_shown))
    end

    it("is done where the filter of the history counts in another zone", function()
      for _, hours in ipairs { -12, -8, -5.5, 5.75, 8, 14 } do
        assert.equal("done", look(hours * HOUR, 0).outcome, hours)
      end
    end)

    it("is never taken for not done where the history shows its records in another zone", function()
      for _, hours in ipairs { -12, -8, -5.5, 5.75, 8, 14 } do
        local answer = look(0, hours * HOUR)
        assert.not_equal("not_done", answer.outcome)
        if answer.outcome == "undecided" and operation ~= "broker.withdraw" then
          assert.equal(1, #answer.candidates)
          assert.matches("some hours from the call", answer.reason)
        end
        assert.not_equal("not_done", look(hours * HOUR, hours * HOUR).outcome)
      end
    end)

    if params.clientTranId or params.withdrawOrderId then
      it("is found by its id, whatever time is shown", function()
        for _, hours in ipairs { -12, -8, 8, 14 } do assert.equal("done", look(0, hours * HOUR).outcome) end
      end)

      it("is never taken for not done without an id either", function()
        for _, hours in ipairs { -8, 8 } do
          assert.equal("done", look(hours * HOUR, 0, without_ids(params)).outcome)
          assert.equal("undecided", look(0, hours * HOUR, without_ids(params)).outcome)
        end
      end)
    end

    if operation ~= "broker.withdraw" then
      it("is not done where the history shows nothing of the kind", function()
        assert.equal("not_done", reconciled(operation, params, service_of({}, row, 0, 0)).outcome)
      end)
    end
  end)
end

describe("an equal record some hours from the call", function()
  local row = operations.by_name["wallet.transfer"]

  local function reconcile_beside(records, known)
    local service = service_of(records, row, 0, 0)
    for _, call in ipairs(known or {}) do
      recent_calls.note(service.recent_calls, row, { operation = row.full_name, params = moved, sent_at = call[2] },
        call[1])
    end
    return reconciled("wallet.transfer", moved, service)
  end

  local function at(ms, id)
    local record = record_of(row, moved, ms)
    record.tranId = id or "t1"
    return record
  end

  it("leaves the call undecided, when nothing shows that the history's clock is right", function()
    assert.equal("undecided", reconcile_beside({ at(NOW - 8 * HOUR + 400) }).outcome)
    assert.equal("undecided", reconcile_beside({ at(NOW + 8 * HOUR + 400) }).outcome)
  end)

  it("is another's, when it does not lie a zone away", function()
    assert.equal("not_done", reconcile_beside({ at(NOW - 8 * HOUR - 300000) }).outcome)
    assert.equal("not_done", reconcile_beside({ at(NOW - 15 * HOUR + 400) }).outcome)
  end)

  it("is another's, when it answered another call of this client", function()
    assert.equal("not_done", reconcile_beside({ at(NOW - HOUR + 400) }, { { "t1", NOW - HOUR } }).outcome)
  end)

  it("is another's, when a record of a known call shows that the history's clock is right", function()
    assert.equal("not_done", reconcile_beside({ at(NOW - HOUR + 400), at(NOW - 600000, "t2") },
      { { "t2", NOW - 600400 } }).outcome)
    assert.equal("undecided", reconcile_beside({ at(NOW - HOUR + 400), at(NOW - 9 * HOUR, "t2") },
      { { "t2", NOW - HOUR } }).outcome)
  end)

  it("is another's, when a newer record would lie in the future", function()
    local newer = at(NOW + 50000, "t2")
    newer.amount = "77"
    assert.equal("not_done", reconcile_beside({ at(NOW - HOUR + 400), newer }).outcome)
  end)
end)

describe("a shift", function()
  it("is a whole number of quarters of an hour, 14 hours at most", function()
    local first, last = NOW - 6000, NOW + 14000
    assert.equal(0, shift.of(NOW, first, last))
    assert.equal(0, shift.of(nil, first, last))
    assert.equal(8 * HOUR, shift.of(NOW + 8 * HOUR, first, last))
    assert.equal(-8 * HOUR, shift.of(NOW - 8 * HOUR - 5000, first, last))
    assert.equal(20700000, shift.of(NOW + 20700000, first, last))
    assert.is_nil(shift.of(NOW + 8 * HOUR + 100000, first, last))
    assert.is_nil(shift.of(NOW + 15 * HOUR, first, last))
  end)
end)
