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
