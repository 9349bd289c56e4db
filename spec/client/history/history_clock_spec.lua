-- SPDX-License-Identifier: MIT
-- Walks by cursor while the host's clock is wrong by hours: no record is left out.

local json = require "purser.json"
local purser = require "purser"

local NOW, HOUR = 1700000000000, 3600000
local WINDOW_MS, AHEAD_MS = 5000, 1000

local function value(target, name) return tonumber(target:match(name .. "=(%d+)")) end

-- Returns a service of deposits on virtual time, and a client whose host's clock may be wrong: the service rejects a
-- request that is not of its time, as the document says (700003).
-- { now, ahead, client, deposit(txId) }: `ahead` is by how many ms the client's clock is ahead of the service's `now`.
local function service_at(now)
  local self, deposits = { now = now, ahead = 0 }, {}

  local function answer(target)
    if target:find("/api/v3/time", 1, true) then return { serverTime = self.now } end
    local stamped = value(target, "timestamp")
    if stamped > self.now + AHEAD_MS or stamped < self.now - WINDOW_MS then
      return { code = 700003, msg = "Timestamp for this request is outside of the recvWindow." }, 400
    end
    local list = json.list {}
    for _, deposit in ipairs(deposits) do
      local at = deposit.insertTime
      if at >= value(target, "startTime") and at <= value(target, "endTime") then list[#list + 1] = deposit end
    end
    return list
  end

  local transport = { sleep = function(_, ms) self.now = self.now + ms end }
  function transport.send(_, request)
    self.now = self.now + 20
    local body, status = answer(request.target)
    return { status = status or 200, headers = "", body = json.encode(body) }
  end

  self.client = assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret",
    rate_limit = false, transport = transport, clock = function() return self.now + self.ahead end })

  function self.deposit(tx_id)
    deposits[#deposits + 1] = { coin = "USDT", network = "TRX", txId = tx_id, address = "TSample", amount = "5",
      status = 5, insertTime = self.now }
  end
  return self
end

-- Returns what walks deliver, an hour after each other, where the clock is ahead by `wrong[i]` hours in the walk of
-- that number and a deposit comes before each.
local function delivered(wrong)
  local service, cursor, list = service_at(NOW), nil, {}
  for i = 1, #wrong do
    service.deposit("tx" .. i)
    service.now = service.now + HOUR
    service.ahead = wrong[i] * HOUR
    local walk = service.client:each("wallet.deposit_history", { cursor = cursor,
      from = not cursor and NOW - HOUR or nil })
    for deposit in walk do list[#list + 1] = deposit.txId end
    cursor = assert(walk:cursor())
  end
  return list
end

describe("a walk delivers every record once", function()
  for _, case in ipairs {
    { "where the clock is right", { 0, 0, 0 } },
    { "where the clock is ahead from the start", { 6, 6, 6 } },
    { "where the clock is set ahead between two walks", { 0, 6, 6, 6, 6, 6, 6, 6 } },
    { "where the clock is ahead in one walk", { 6, 0, 0 } },
    { "where the clock is set back between two walks", { 0, -6, -6 } },
    { "where the clock is behind from the start", { -6, -6, -6 } },
  } do
    it(case[1], function()
      local expected = {}
      for i = 1, #case[2] do expected[i] = "tx" .. i end
      assert.are.same(expected, delivered(case[2]))
    end)
  end
end)

describe("one walk delivers what came last, and ends at the service's time", function()
  -- Returns what a walk delivers while `during` changes the service before each record.
  local function walked(params, service, during)
    local walk, list = service.client.wallet:each_deposit(params), {}
    for deposit in walk do
      list[#list + 1] = deposit.txId
      if during then during(#list) end
    end
    assert.is_true(service.now - walk.to < 1000, walk.to)
    return list
  end

  it("where the clock is behind from the start", function()
    for _, params in ipairs { {}, { from = NOW - HOUR }, { from = NOW - HOUR, to = NOW + HOUR } } do
      local service = service_at(NOW)
      service.ahead = -2 * HOUR
      service.deposit "tx1"
      assert.are.same({ "tx1" }, walked(params, service))
      service = service_at(NOW) -- client:each walked to the wrong time
      service.ahead = -2 * HOUR
      service.deposit "tx1"
      assert.are.equal(1, #assert(service.client:each("wallet.deposit_history", params):collect()))
    end
  end)

  it("where the clock falls behind in the middle", function()
    local service = service_at(NOW)
    service.now = NOW - 20 * 24 * HOUR
    service.deposit "old"
    service.now = NOW
    service.deposit "tx1"
    local function fall_behind(count)
      if count > 1 then return end
      service.now, service.ahead = service.now + 2 * HOUR, -2 * HOUR
      service.deposit "tx2"
      service.now = service.now + 100
    end
    assert.are.same({ "old", "tx1", "tx2" }, walked({ from = NOW - 30 * 24 * HOUR }, service, fall_behind))
  end)

  it("where another call corrects the clock, before the first page or in the middle", function()
    local service = service_at(NOW)
    service.deposit "tx1"
    service.now, service.ahead = NOW + 100, -2 * HOUR
    local walk = service.client.wallet:each_deposit()
    assert(service.client:sync_clock())
    assert.are.equal("tx1", assert(walk:next()).txId)

    service = service_at(NOW)
    service.now = NOW - 20 * 24 * HOUR
    service.deposit "old"
    service.now = NOW
    assert.are.same({ "old", "tx2" }, walked({ from = NOW - 30 * 24 * HOUR }, service, function(count)
      if count > 1 then return end
      service.now, service.ahead = service.now + 2 * HOUR, -2 * HOUR
      service.deposit "tx2"
      service.now = service.now + 100
      assert(service.client:sync_clock())
    end))
  end)
end)

-- A walk that took each corrected now as its end ran after its own time, where every page corrected the clock.
describe("a walk ends where the service rejects the time", function()
  for what, is_rejected in pairs { ["of every request"] = function() return true end,
    ["of every second request"] = function(count) return count % 2 == 1 end } do
    it(what, function()
      local now, count = NOW, 0
      local transport = { sleep = function(_, ms) now = now + ms end }
      function transport.send(_, request)
        now = now + 20
        if request.target:find("/api/v3/time", 1, true) then
          return { status = 200, headers = "", body = ('{"serverTime":%d}'):format(now) }
        end
        count = count + 1
        if is_rejected(count) and count < 100 then
          return { status = 400, headers = "", body = '{"code":700003,"msg":"Timestamp"}' }
        end
        return { status = 200, headers = "", body = "[]" }
      end
      local client = assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret",
        rate_limit = false, transport = transport, clock = function() return now end })
      client.wallet:each_deposit { from = NOW - HOUR }:next()
      assert.is_true(count < 10, count)
    end)
  end
end)
