-- SPDX-License-Identifier: MIT
-- An answer of another request, which looks whole, at each place of what is read for a call: none hides a record.

local copy_of = require "copy_of"
local listing_service = require "listing_service"
local operations = require "purser.client.operations"
local own_calls = require "own_calls"
local page_of = require "paged_list"
local reading = require "purser.write.reading"
local reconcile = require "purser.write.reconcile"

local NOW, DAY = 1700000000000, 86400000

local withdrawal = { coin = "USDT", address = "TSample", amount = "20", withdrawOrderId = "order-1" }
local transfer = { clientTranId = ("Ab3"):rep(10) .. "Zz", fromAccountType = "SPOT", toAccountType = "SPOT",
  asset = "USDT", amount = "2" }
local calls = {
  ["wallet.withdraw"] = withdrawal, ["wallet.withdraw_legacy"] = withdrawal, ["broker.transfer"] = transfer,
  ["sub_account.transfer"] = transfer,
  ["wallet.transfer"] = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" },
  ["wallet.internal_transfer"] = { toAccountType = "EMAIL", toAccount = "a@b.example", asset = "USDT", amount = "2" },
}

-- A record of these parameters, as a service that does not show ids shows it.
local function record_of(row, params, id, at)
  local record = copy_of(params, { id = id, tranId = id, status = "SUCCESS", [row.reconcile.time_member] = at })
  record.clientTranId, record.withdrawOrderId = nil, nil
  return record
end

-- A service of which one answer is another's: `lie(records)` returns what the answer at that place shows.
local function mixed_up(shown, place, lie)
  local service
  service = listing_service(function(row, asked)
    if row.name == "list_sub_accounts" then return asked.page == 1 and { { subAccount = "Desk0001" } } or {} end
    local records = service.reads == place and lie(shown) or shown
    local time = operations.by_name[row.full_name].paging and row.paging.time_member
    return time and page_of(row, records, time, asked) or records
  end, { now = NOW + 60000 })
  return service
end

local lies = {
  ["shows nothing"] = function() return {} end,
  ["lacks its record"] = function(records) return { records[1], records[2] } end,
  ["is of calls before"] = function(records) return { records[1] } end,
}

-- Each returns the window of a question, with the readings that several share, or none.
local ways = {
  ["alone"] = function() end,
  ["with others"] = function()
    local readings = reading.share(NOW + 60000)
    readings:expect(NOW - 600000)
    return { since = NOW, readings = readings }
  end,
  ["before it is sent"] = function()
    local store = { load = function() end, save = function() end }
    return { since = NOW - 20 * DAY, to = NOW + 60000, is_planned = true,
      readings = reading.share(NOW + 60000, NOW - 20 * DAY, store) }
  end,
}

-- Asks for a call after two that were answered. Returns the outcome, how many answers were read, and how late records
-- were measured to be.
local function outcome(operation, way, is_made, place, lie)
  local row, shown = operations.by_name[operation], {}
  local params = calls[operation]
  local service = mixed_up(shown, place, lie)
  for i, before in ipairs { 30000, 20000 } do
    local other = copy_of(params, { amount = "7" .. i, clientTranId = params.clientTranId and "id" .. i,
      withdrawOrderId = params.withdrawOrderId and "id" .. i })
    own_calls.note(service.journal, row, { operation = operation, params = other, sent_at = NOW - before }, "w" .. i)
    shown[i] = record_of(row, other, "w" .. i, NOW - before)
  end
  if is_made then shown[3] = record_of(row, params, "own", NOW + 400) end
  local intent = { operation = operation, params = params, sent_at = NOW, recv_window = 5000, id = "i" }
  local window = ways[way]()
  service.readings = window and window.readings
  return assert(reconcile.reconcile(service, intent, nil, window)).outcome, service.reads
end

for operation in pairs(calls) do
  describe("one answer of another request does not hide a record of " .. operation, function()
    for way in pairs(ways) do
      it(way, function()
        local made, most = outcome(operation, way, true)
        assert.not_equal("not_done", made)
        assert.equal("not_done", (outcome(operation, way, false)))
        for _, lie in pairs(lies) do
          for place = 1, most + 4 do
            assert.equal(made, (outcome(operation, way, true, place, lie)))
            assert.not_equal("done", (outcome(operation, way, false, place, lie)))
          end
        end
      end)
    end
  end)
end

describe("one empty list of another request", function()
  local KEY = { apiKey = "k1", note = "bot", createTime = NOW + 400 }

  local function keys(operation, params, place)
    local service = mixed_up({ KEY }, place, lies["shows nothing"])
    local intent = { operation = operation, params = params, sent_at = NOW, recv_window = 5000 }
    return assert(reconcile.reconcile(service, intent)).outcome
  end

  it("does not make a key that was made not so, so that it is made twice", function()
    for place = 1, 3 do
      assert.equal("done", keys("broker.create_api_key", { subAccount = "Desk0001", note = "bot",
        permissions = "SPOT_DEAL_READ" }, place))
    end
  end)

  it("does not make a key deleted that is there", function()
    for place = 1, 3 do
      assert.not_equal("done", keys("broker.delete_api_key", { subAccount = "Desk0001", apiKey = "k1" }, place))
    end
  end)
end)

it("a record that slips past the edge of two pages, when one before it goes away, is found all the same", function()
  local row, params = operations.by_name["sub_account.transfer"], calls["sub_account.transfer"]
  local shown, service = {}, nil
  for i = 1, 600 do
    shown[i] = record_of(row, params, "own", NOW + 400)
    if i ~= 501 then shown[i].tranId, shown[i].amount, shown[i].asset = "w" .. i, "77", "MX" end
  end
  service = listing_service(function(of, asked)
    local page = page_of(of, shown, "timestamp", asked)
    if service.reads == 1 then table.remove(shown, 1) end -- a pending one that fails
    return page
  end, { now = NOW + 60000, readings = reading.share(NOW + 60000) })
  assert.equal("done", assert(reconcile.reconcile(service,
    { operation = row.full_name, params = params, sent_at = NOW, recv_window = 5000 })).outcome)
end)

it("a record that one reading shows in part, and the next does not show, is undecided", function()
  local row, params = operations.by_name["wallet.transfer"], calls["wallet.transfer"]
  local odd = copy_of(record_of(row, params, "own", NOW + 400), { asset = "TETHER" })
  for place = 1, 2 do
    local service = mixed_up({ odd }, place, lies["shows nothing"])
    local answer = assert(reconcile.reconcile(service,
      { operation = row.full_name, params = params, sent_at = NOW, recv_window = 5000 }))
    assert.same({ "undecided", "own" }, { answer.outcome, answer.candidates[1].tranId })
  end
end)

it("a batch that one reading shows and the next does not, as one without an id, is no absence", function()
  for _, batches in ipairs { 1, 2 } do
    for place = 1, 3 do
      local service
      service = listing_service(function(row)
        if row.name == "convertible_balances" then return { { asset = "BTC" } } end
        local shown = {}
        for i = 1, service.reads == place and 0 or batches do
          shown[i] = { convertTime = NOW + i * 100, convertDetails = { { asset = "BTC" } } }
        end
        return { data = shown, totalRecords = #shown }
      end)
      assert.equal(batches == 1 and "done" or "undecided", assert(reconcile.reconcile(service,
        { operation = "wallet.convert", params = { asset = "BTC" }, sent_at = NOW, recv_window = 5000 })).outcome)
    end
  end
end)

it("a record without an id that one reading shows in part, and the next does not show, is undecided", function()
  local row, params = operations.by_name["wallet.transfer"], calls["wallet.transfer"]
  local odd = copy_of(record_of(row, params, nil, NOW + 400), { asset = "TETHER" })
  for place = 1, 2 do
    local service = mixed_up({ odd }, place, lies["shows nothing"])
    assert.equal("undecided", assert(reconcile.reconcile(service,
      { operation = "wallet.transfer", params = params, sent_at = NOW, recv_window = 5000 })).outcome)
  end
end)

it("a name or a key that is shown in part, and then not shown, is not absent", function()
  for operation, of in pairs {
    ["broker.delete_api_key"] = { { subAccount = "Desk0001", apiKey = "abcdef123456" }, { apiKey = "abc***456" } },
    ["sub_account.create_sub_account"] = { { subAccount = "Desk0001", note = "desk" }, { subAccount = "Desk0001" } },
  } do
    for place = 1, 2 do
      local service = mixed_up({ of[2] }, place, lies["shows nothing"])
      if operation == "sub_account.create_sub_account" then
        service.read = function()
          service.reads = service.reads + 1
          return service.reads == place and {} or { of[2] }
        end
      end
      local intent = { operation = operation, params = of[1], sent_at = NOW, recv_window = 5000 }
      assert.equal("undecided", assert(reconcile.reconcile(service, intent)).outcome)
    end
  end
end)
