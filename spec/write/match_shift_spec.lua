-- SPDX-License-Identifier: MIT
-- Services that count time in another zone, in the filters of their histories or in the times that they show.

local own_calls = require "own_calls"
local operations = require "purser.client.operations"
local reading = require "purser.write.reading"
local reconcile = require "purser.write.reconcile"

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

-- A service whose histories filter by another zone, and show times in another zone or "in seconds". `records` have
-- their true times, newest first. It counts the requests for the history that it gets.
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
        shown[time] = by_shown == "in seconds" and math.floor(at / 1000) or at + by_shown
        found[#found + 1] = shown
      end
    end
    if not asked.page then return found, #found end
    local page, size = {}, tonumber(asked.limit or asked.size or asked.pageSize)
    for i = (asked.page - 1) * size + 1, math.min(#found, asked.page * size) do page[#page + 1] = found[i] end
    return page, #found
  end
  local now, service = NOW + 60000, nil
  service = { requests = 0, now = function() return now end, correction = function() end,
    pause = function(_, ms) now = now + ms end, visibility_delay_ms = 3000, recv_window = 5000,
    journal = own_calls.new(),
    read = function(_, row, asked)
      if row.name == "convertible_balances" then return { { asset = "BTC" } } end
      if row.name == "list_sub_accounts" and row.full_name ~= through then
        return asked.page == 1 and { { subAccount = "Desk0001" } } or {}
      end
      service.requests = service.requests + 1
      local found, total = list(asked)
      if row.result.page then return { data = found } end
      if row.result.rows then return { rows = found, total = total } end
      return found
    end }
  return service
end

local function reconciled(operation, params, service, sent_at)
  return assert(reconcile.reconcile(service, { operation = operation, params = params, sent_at = sent_at or NOW,
    recv_window = 5000 }))
end

-- A record that a known call made, 400 ms after it was sent: of the same operation, with another amount.
local function known_record(service, row, params, sent_at, id)
  local other = {}
  for name, value in pairs(params) do other[name] = value end
  other.amount = ("77.%07d"):format(math.floor(NOW - sent_at) % 10000000) -- no two are equal
  other.clientTranId, other.withdrawOrderId = params.clientTranId and "id of " .. id, params.withdrawOrderId
    and "id of " .. id
  own_calls.note(service.journal, row, { operation = row.full_name, params = other, sent_at = sent_at,
    recv_window = 5000 }, id)
  local record = record_of(row, other, sent_at + 400)
  record.id, record.tranId = id, id
  return record
end

for _, call in ipairs(calls) do
  local operation, params = call[1], call[2]
  local row = operations.by_name[operation]

  describe(operation, function()
    local function look(by_filter, by_shown, sent_params)
      local made = record_of(row, sent_params or params, NOW + 400)
      return reconciled(operation, sent_params or params, service_of({ made }, row, by_filter, by_shown))
    end

    it("is done where the filter of the history counts in another zone", function()
      for _, hours in ipairs { -12, -8, -5.5, 5.75, 8, 14 } do
        assert.equal("done", look(hours * HOUR, 0).outcome, hours)
      end
    end)

    it("is done where times are shown in seconds, with its id and without", function()
      assert.equal("done", look(0, "in seconds").outcome)
      assert.equal("done", look(0, "in seconds", without_ids(params)).outcome)
    end)

    it("is never taken for not done where the history shows its records in another zone", function()
      for _, hours in ipairs { -12, -8, -5.5, 5.75, 8, 14 } do
        local answer = look(0, hours * HOUR)
        assert.not_equal("not_done", answer.outcome)
        if answer.outcome == "undecided" and operation ~= "broker.withdraw" then
          assert.equal(1, #answer.candidates)
          assert.matches("^%l+: ", answer.reason)
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
      own_calls.note(service.journal, row, { operation = row.full_name, params = moved, sent_at = call[2] },
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

  it("is another's, when it answered another call of this client", function()
    assert.equal("not_done", reconcile_beside({ at(NOW - HOUR + 400) }, { { "t1", NOW - HOUR } }).outcome)
  end)

  it("may be the call's, whatever a record shows that no known call made", function()
    local newer = at(NOW + 50000, "t2")
    newer.amount = "77"
    assert.equal("undecided", reconcile_beside({ at(NOW - HOUR + 400), newer }).outcome)
  end)
end)

-- The histories of these have windows, and their calls an amount by which a known one can be another.
local with_windows = {
  { "wallet.withdraw", withdrawal }, { "broker.transfer", transfer }, { "sub_account.transfer", transfer },
  { "wallet.transfer", moved }, { "wallet.internal_transfer", sent },
}

for _, call in ipairs(with_windows) do
  local operation, params = call[1], call[2]
  local row = operations.by_name[operation]

  describe("a record of a known call in the history of " .. operation, function()
    local QUARTERS = { -56, -32, -4, -2, -1, 1, 2, 4, 32, 56 }

    -- Looks where the history has records of calls that were sent so long before this one, and its own.
    local function look(by_filter, by_shown, known, shared)
      local records = { record_of(row, params, NOW + 400) }
      local service = service_of(records, row, by_filter, by_shown)
      for i, before in ipairs(known) do records[i + 1] = known_record(service, row, params, NOW - before, "k" .. i) end
      service.readings = shared
      return reconciled(operation, params, service), service
    end

    it("never makes it not done where the filter counts in another zone", function()
      for _, quarters in ipairs(QUARTERS) do
        for _, before in ipairs { 100, 5000, 890000, 900000, 905000, 8 * HOUR } do
          assert.equal("done", look(quarters * HOUR / 4, 0, { before }).outcome, quarters)
        end
      end
    end)

    it("never makes it not done where times are shown in another zone", function()
      for _, quarters in ipairs(QUARTERS) do
        for _, before in ipairs { 100, 890000, 900000, 8 * HOUR } do
          for _, by_filter in ipairs { 0, quarters, -quarters } do
            assert.not_equal("not_done", look(by_filter * HOUR / 4, quarters * HOUR / 4, { before }).outcome)
          end
        end
      end
    end)

    it("never makes it not done where one reading covers many calls", function()
      for _, quarters in ipairs(QUARTERS) do
        for _, earliest in ipairs { 1000, 600000, 1200000, 2400000 } do
          local shared = reading.share(NOW + 60000)
          shared:expect(NOW - earliest)
          local known = { 1000, 500000, 1100000, 2300000 }
          assert.equal("done", look(quarters * HOUR / 4, 0, known, shared).outcome)
        end
      end
    end)
  end)
end

describe("a history whose filter or clock is off by less than a zone", function()
  local MINUTE = 60000
  local function same(at) return at end
  local function plus(ms) return function(at) return at + ms end end
  local function whole(ms) return function(at) return math.floor(at / ms) * ms end end

  -- Which time the filter compares, and which one is shown; and what becomes of the bounds of a window.
  local histories = {
    { plus(30000), same }, { plus(-30000), same }, { plus(5 * MINUTE), same }, { plus(-5 * MINUTE), same },
    { plus(-10000), plus(-10000) }, { plus(-30000), plus(-30000) }, { plus(30000), plus(30000) },
    { whole(MINUTE), same }, { whole(MINUTE), whole(MINUTE) }, { whole(HOUR), same },
    { same, same, plus(MINUTE), same }, { same, same, same, whole(MINUTE) }, { same, same, same, whole(HOUR) },
    { same, same, whole(15 * MINUTE), whole(15 * MINUTE) },
  }

  local function service_with(history, records, row, now)
    local time, service = row.reconcile.time_member, service_of({}, row, 0, 0)
    service.now, service.pause = function() return now end, function(_, ms) now = now + ms end
    service.read = function(_, through, asked)
      if through.name == "list_sub_accounts" then return asked.page == 1 and { { subAccount = "Desk0001" } } or {} end
      local found = {}
      for _, record in ipairs(records) do
        local at = history[1](record[time])
        if at >= (history[3] or same)(asked.startTime) and at <= (history[4] or same)(asked.endTime) then
          local shown = without_ids(record)
          shown.clientTranId, shown.withdrawOrderId = record.clientTranId, record.withdrawOrderId
          shown[time] = history[2](record[time])
          found[#found + 1] = shown
        end
      end
      if not through.result.page and not through.result.rows then return (asked.page or 1) == 1 and found or {} end
      return through.result.page and { data = found } or { rows = found, total = #found }
    end
    return service
  end

  it("leaves a call without an id undecided when a known one shows that times are shown wrong", function()
    local row = operations.by_name["wallet.transfer"]
    for _, history in ipairs { histories[5], histories[6], histories[7] } do
      for _, known in ipairs { -600000, -20000, 20000, 600000 } do
        local records = { record_of(row, moved, NOW + 400) }
        local service = service_with(history, records, row, NOW + 700000)
        records[2] = known_record(service, row, moved, NOW + known, "k1")
        local answer = reconciled("wallet.transfer", moved, service, NOW)
        assert.not_equal("not_done", answer.outcome)
      end
    end
    assert.equal("not_done", reconciled("wallet.transfer", moved, service_with(histories[5], {}, row, NOW + 10000))
      .outcome)
  end)

  it("never makes a call not done that is found by its id, whatever other records are known", function()
    for number, history in ipairs(histories) do
      for _, call in ipairs { { "wallet.withdraw", withdrawal }, { "sub_account.transfer", transfer } } do
        local row = operations.by_name[call[1]]
        for _, known in ipairs { { -20000 }, { 20000 }, { 40000 }, { -70000, 10000 }, { -700000, 500000 } } do
          for _, late in ipairs { 10000, 60000, 40 * MINUTE, 3 * HOUR } do
            for _, second in ipairs { 0, 1, 10, 30, 50, 600, 3480, 3590 } do
              local sent_at = NOW + second * 1000
              local records = { record_of(row, call[2], sent_at + 400) }
              local service = service_with(history, records, row, sent_at + late)
              for i, at in ipairs(known) do
                records[i + 1] = known_record(service, row, call[2], sent_at + at, "k" .. i)
              end
              table.sort(records, function(a, b) return a[row.reconcile.time_member] > b[row.reconcile.time_member] end)
              assert.equal("done", reconciled(call[1], call[2], service, sent_at).outcome,
                ("%s, history %d, known %s, %d ms later"):format(call[1], number, table.concat(known, " "), late))
            end
          end
        end
      end
    end
  end)
end)

describe("a failed record that carries the id of another attempt", function()
  it("does not make it not done where the filter hides the attempt that was executed", function()
    for _, operation in ipairs { "broker.transfer", "sub_account.transfer" } do
      local row = operations.by_name[operation]
      for _, quarters in ipairs { -4, -1, 1, 4 } do
        local failed = record_of(row, transfer, NOW + 400 + quarters * HOUR / 4)
        failed.tranId, failed.status = "t0", "FAILED"
        local service = service_of({ record_of(row, transfer, NOW + 400), failed }, row, quarters * HOUR / 4, 0)
        assert.equal("done", reconciled(operation, transfer, service).outcome)
      end
    end
  end)
end)
