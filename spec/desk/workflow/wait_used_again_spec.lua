-- SPDX-License-Identifier: MIT
-- Waiting by an id of one's own that was used again after its first attempt failed.

local json = require "purser.json"
local purser = require "purser"

local NOW = 1700000000000
local ID = ("Ab3"):rep(10) .. "Zz"

-- Those of the records that lie in the window that was asked for.
local function inside(records, target)
  local first, last = tonumber(target:match "startTime=(%d+)" or 0), tonumber(target:match "endTime=(%d+)" or NOW)
  local list = json.list {}
  for _, record in ipairs(records) do
    local at = record.applyTime or record.timestamp
    if at >= first and at <= last then list[#list + 1] = record end
  end
  return list
end

-- A client of a service whose every history shows these records.
local function client_of(records)
  local now = NOW
  return assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret",
    rate_limit = false, retry = false, clock = function() return now end, transport = {
      sleep = function(_, ms) now = now + ms end,
      send = function(_, request)
        return { status = 200, headers = "", body = json.encode(inside(records, request.target)) }
      end,
    } })
end

local function withdrawal(id, status)
  return { id = id, withdrawOrderId = ID, coin = "USDT", address = "TSample", amount = "5", status = status,
    applyTime = NOW - 60000 }
end

local function transfer(id, status)
  return { tranId = id, clientTranId = ID, asset = "USDT", amount = "5", status = status, timestamp = NOW - 60000 }
end

local function by_order_id(records)
  return client_of(records).wallet:wait_withdrawal({ withdrawOrderId = ID }, { deadline_ms = 5000 })
end

describe("wait_withdrawal by withdrawOrderId", function()
  for _, failed in ipairs { 8, 9 } do
    it(("returns the attempt that succeeded, in any order, beside one of state %d"):format(failed), function()
      assert.are.equal("w2", assert(by_order_id { withdrawal("w1", failed), withdrawal("w2", 7) }).id)
      assert.are.equal("w2", assert(by_order_id { withdrawal("w2", 7), withdrawal("w1", failed) }).id)
    end)
  end

  it("waits for the attempt that is under way, and is no failure", function()
    local _, err = by_order_id { withdrawal("w1", 8), withdrawal("w2", 3) }
    assert.are.same({ "unknown", "w2" }, { err.outcome, err.details.record.id })
  end)

  it("is a failure where all attempts failed", function()
    local _, err = by_order_id { withdrawal("w1", 8), withdrawal("w2", 9) }
    assert.are.equal("rejected", err.outcome)
  end)
end)

describe("wait_transfer by clientTranId", function()
  local query = { clientTranId = ID, fromAccountType = "SPOT", toAccountType = "SPOT" }
  for _, group in ipairs { "sub_account", "broker" } do
    it("returns the attempt that succeeded, in any order: " .. group, function()
      local failed, made = transfer("t1", "FAILED"), transfer("t2", "SUCCESS")
      for _, records in ipairs { { failed, made }, { made, failed } } do
        local client = client_of(records)
        assert.are.equal("t2", assert(client[group]:wait_transfer(query, { deadline_ms = 5000 })).tranId)
      end
    end)

    it("is a failure where all attempts failed: " .. group, function()
      local _, err = client_of { transfer("t1", "FAILED") }[group]:wait_transfer(query, { deadline_ms = 5000 })
      assert.are.equal("rejected", err.outcome)
    end)
  end
end)
