-- SPDX-License-Identifier: MIT
-- watch_deposits where the service shows a deposit in another spelling than before: what was credited stays credited.

local json = require "purser.json"
local purser = require "purser"

local NOW = 1700000000000

local function deposit(fields)
  local record = { coin = "USDT", network = "TRX", txId = "9f0c", address = "TSample", amount = "5", status = 5,
    insertTime = NOW - 60000 }
  for name, value in pairs(fields or {}) do record[name] = value end
  return record
end

-- The events of a watch, where each look shows the next list; and the last cursor.
local function watched(lists, params)
  local now, at = NOW, 0
  local client = assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret",
    rate_limit = false, retry = false, clock = function() return now end, transport = {
      sleep = function(_, ms) now, at = now + ms, at + 1 end,
      send = function(_, request)
        local list, first = json.list {}, tonumber(request.target:match "startTime=(%d+)")
        local last = tonumber(request.target:match "endTime=(%d+)")
        for _, record in ipairs(lists[math.min(at + 1, #lists)]) do
          if record.insertTime >= first and record.insertTime <= last then list[#list + 1] = record end
        end
        return { status = 200, headers = "", body = json.encode(list) }
      end,
    } })
  params.poll_ms, params.deadline_ms = 1000, 1000 * #lists
  local watch, events = client.wallet:watch_deposits(params), {}
  for event in watch do
    events[#events + 1] = ("%s %s-%d"):format(event.kind, event.before or "", event.deposit.status)
  end
  return events, watch:cursor()
end

local since = NOW - 3600000

describe("watch_deposits reports one success where the service shows later", function()
  local cases = {
    { "zeros at the end of the amount", { amount = "5.00000000" } },
    { "the address in another case", { address = "tsample" } },
    { "the network by another name", { network = "Tron(TRC20)" } },
    { "the coin in small letters", { coin = "usdt" } },
    { "an empty memo", { memo = "" } },
    { "the number of the output after the transaction", { txId = "9f0c:0" } },
    { "the transaction in capitals", { txId = "9F0C" } }, { "0x before the transaction", { txId = "0x9f0C:1" } },
    { "the coin with a suffix", { coin = "USDT-TRX" } }, { "another memo", { memo = "0" } },
    { "the memo after the address as well", { memo = "77", address = "TSample:77" } },
    { "the time a second later", { insertTime = NOW - 59000 } },
    { "the time a minute later", { insertTime = NOW } }, { "the time a minute before", { insertTime = NOW - 120000 } },
    { "what a float makes of the amount", { amount = "5.0000000000000004" } },
    { "the amount with an exponent", { amount = "0.5E1" } }, { "the same with another", { amount = "5000e-3" } },
  }
  for _, case in ipairs(cases) do
    it(case[1], function()
      local events, cursor = watched({ { deposit() }, { deposit(case[2]) } }, { since = since })
      assert.are.same({ "new -5" }, events)
      assert.are.same({}, (watched({ { deposit(case[2]) }, { deposit() } }, { cursor = cursor })))
    end)
  end
end)

it("A deposit that changes its state and its spelling at once is changed", function()
  local events = watched({ { deposit { status = 4 } }, { deposit { amount = "5.0" } } }, { since = since })
  assert.are.same({ "new -4", "changed 4-5" }, events)
end)

it("A deposit whose time moves is remembered as long as it is shown at its new time", function()
  local looks = { { deposit { insertTime = NOW - 20000 } } }
  for i = 2, 30 do looks[i] = { deposit { insertTime = NOW - 5000 } } end
  assert.are.same({ "new -5" }, (watched(looks, { since = since, late_arrival_ms = 30000 })))
end)

describe("A deposit that had no transaction at first", function()
  it("is credited once, when the transaction comes", function()
    local first = deposit {}
    first.txId = nil
    for _, looks in ipairs { { { first }, { deposit() } }, { { first }, {}, { deposit() } } } do
      assert.are.same({ "new -5" }, (watched(looks, { since = since })))
    end
    local _, cursor = watched({ { first } }, { since = since })
    assert.are.same({}, (watched({ { deposit() } }, { cursor = cursor })))
  end)

  it("is another where both are shown, or where a time is another", function()
    local first, later = deposit {}, deposit { insertTime = NOW - 50000 }
    first.txId, later.txId = nil, nil
    assert.are.same({ "new -5", "new -5" }, (watched({ { first }, { first, deposit() } }, { since = since })))
    assert.are.same({ "new -5", "new -5" }, (watched({ { first }, { first, later }, { later } }, { since = since })))
  end)
end)

it("A deposit whose transaction, address and amount come again at another time is another deposit", function()
  local again = deposit { insertTime = NOW - 20000 }
  assert.are.same({ "new -5", "new -5" }, (watched({ { deposit() }, { deposit(), again } }, { since = since })))
  local _, cursor = watched({ { deposit() }, { deposit(), again } }, { since = since })
  assert.are.same({ "new -5" }, (watched({ { deposit(), again, deposit { insertTime = NOW - 10000 } } },
    { cursor = cursor })))
end)

describe("deposits that differ in the spelling alone", function()
  it("are counted", function()
    local two = { deposit { txId = "9f0c:0" }, deposit { txId = "9f0c:1" } }
    local events, cursor = watched({ two }, { since = since })
    assert.are.same({ "new -5", "new -5" }, events)
    two[3] = deposit { txId = "9f0c:2" }
    assert.are.same({ "new -5" }, (watched({ two }, { cursor = cursor })))
  end)

  it("are two events where the amount, the memo or the transaction is another", function()
    for _, other in ipairs { { amount = "5.01" }, { memo = "7" }, { txId = "9f0d" } } do
      assert.are.same({ "new -5", "new -5" }, (watched({ { deposit(), deposit(other) } }, { since = since })))
    end
  end)
end)
