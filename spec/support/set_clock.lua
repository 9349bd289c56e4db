-- SPDX-License-Identifier: MIT
-- A service of deposits on virtual time, and a client whose host's clock may be wrong: the service rejects a request
-- that is not of its time, as the document says (700003).

local json = require "purser.json"
local purser = require "purser"

local WINDOW_MS, AHEAD_MS = 5000, 1000

local function value(target, name) return tonumber(target:match(name .. "=(%d+)")) end

--- { now, ahead, client, deposit(txId) }: `ahead` is by how many ms the client's clock is ahead of the service's `now`.
---@param now integer
return function(now)
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
