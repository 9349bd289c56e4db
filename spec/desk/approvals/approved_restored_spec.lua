-- SPDX-License-Identifier: MIT
-- A journal that was put back lacks payments: what a policy or a limit sums up in a day never goes above its bound.

local decimal = require "purser.decimal"
local files = require "files"
local policies = require "policies"
local purser = require "purser"
local ssh_keys = require "ssh_keys"

local HOUR = 3600000
local NOW = 1700000000000 -- 22:13 of a day

local function bounded(amount)
  return policies.folder({ rules = { { name = "all", effect = "allow", approvals = {} },
    { name = "day", effect = "forbid", when = { coin = "USDT", sum_over = { amount = amount, hours = 24,
      per = "account" } } } } }, "alice", "bob")
end

-- A service of withdrawals, on its own clock, which a wait moves on. `made` are its records: { id, amount, at }.
local function new_service(shows_ids)
  local service = { now = NOW, made = {} }
  function service:sleep(ms) self.now = self.now + ms end
  function service:record(i)
    local one = self.made[i]
    return ('{"id":"w%d","coin":"USDT","network":"TRX","address":"TPayee","amount":"%s","status":7,"applyTime":%d%s}')
      :format(i, one.amount, one.at, shows_ids and ',"withdrawOrderId":"' .. one.id .. '"' or "")
  end
  function service:send(request)
    self.now = self.now + 40
    local function value(name) return request.target:match("[?&]" .. name .. "=([^&]*)") end
    local body, list = ('{"serverTime":%d}'):format(self.now), {}
    if request.method == "POST" then
      self.made[#self.made + 1] = { id = value "withdrawOrderId", amount = value "amount", at = self.now }
      body = ('{"id":"w%d"}'):format(#self.made)
    elseif not request.target:find "/time" then
      local first, last = tonumber(value "startTime"), tonumber(value "endTime")
      for i = #self.made, 1, -1 do
        local at = self.made[i].at
        if not first or at >= first and at <= last then list[#list + 1] = self:record(i) end
      end
      body = "[" .. table.concat(list, ",") .. "]"
    end
    return { status = 200, headers = {}, body = body }
  end
  return service
end

describe("A journal that was put back", function()
  local path, policy

  before_each(function() path = files.path_in_memory() end)
  after_each(function()
    files.remove_database(path)
    if policy then files.remove(policy) end
    policy = nil
  end)
  teardown(ssh_keys.remove)

  -- Runs a queue: payments of capitals (10 each) were made an hour ago, which the journal lacks; the others (10.5 each)
  -- were not. Returns what left on the day.
  local function left(order, concurrency, shows_ids, options)
    local service = new_service(shows_ids)
    local all = { base_url = "http://localhost", transport = service, api_key = ("k"):rep(20),
      secret_key = ("s"):rep(32), clock = function() return service.now end, account = "treasury", rate_limit = false,
      journal = assert(purser.journal.open { sqlite = path }) }
    for name, value in pairs(options) do all[name] = value end
    local payouts = assert(purser.payouts.new { client = assert(purser.new(all)), journal = all.journal, worker = "w",
      concurrency = concurrency })
    for key in order:gmatch "%a" do
      assert(payouts:add(key, "wallet.withdraw", { coin = "USDT", netWork = "TRX", address = "TPayee",
        amount = key:find "%u" and "10" or "10.5" }))
    end
    for _, payment in ipairs(assert(payouts:list())) do
      if payment.key:find "%u" then
        service.made[#service.made + 1] = { id = payment.client_id, amount = "10", at = NOW - HOUR + #service.made }
      end
    end
    assert(payouts:run())
    all.journal:close()
    files.remove_database(path)
    local sum = decimal "0"
    for _, one in ipairs(service.made) do sum = sum + one.amount end
    return tostring(sum)
  end

  -- The order of the payments, the bound, and what leaves: what had left before and, where ids are shown, what the
  -- bound lets through after that. Without ids a person says which payment a record is.
  local CASES = { { "Pa", "15", "10", "10" }, { "aP", "15", "10", "10" }, { "abP", "21", "20.5", "10" },
    { "abcdePQRST", "52", "50", "50" } }

  for _, case in ipairs(CASES) do
    it(("never pays more than a bound of %s a day, of a policy or a limit: %s"):format(case[2], case[1]), function()
      policy = bounded(case[2])
      for _, options in ipairs { { policy = policy }, { guard = { spending_limit = { USDT = case[2] } } } } do
        for _, concurrency in ipairs { 1, 16 } do
          assert.equal(case[3], left(case[1], concurrency, true, options))
          assert.equal(case[4], left(case[1], concurrency, false, options))
        end
      end
    end)
  end
end)
