-- SPDX-License-Identifier: MIT
-- A look after "not now" at a service that shows payees in another way, or from a release on.

local at = require "payouts_setting"
local core = require "purser.core"
local json = require "purser.json"

local WITHDRAW = "wallet.withdraw"
local number

local function withdrawal(amount)
  return { coin = "USDT", netWork = "TRX", address = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE", amount = amount }
end

before_each(function()
  at.begin { balance = "1000" }
  number = 0
end)
after_each(at.finish)

-- A client of a service that hides ids and shows records as `change` does. What becomes of withdrawals of 20 is
-- `fates`: "refused" or "executed", each answered with 429; later ones are made.
local function client_with(fates, change)
  at.client = at.client_with { transport = at.transport(function(request, inner)
    local is_twenty = request.operation == WITHDRAW and request.target:find "amount=20"
    if is_twenty then number = number + 1 end
    local fate = is_twenty and fates[number]
    if fate == "executed" then inner:send(request) end
    if fate then return { status = 429, headers = {}, body = '{"code":429,"msg":"too many"}' } end
    local response = inner:send(request)
    local list = request.operation == "wallet.withdrawal_history" and core.decode(response.body)
    for _, record in ipairs(list or {}) do
      record.withdrawOrderId, record.transactionFee = nil, nil
      change(record)
    end
    if list then response.body = json.encode(json.list(list)) end
    return response
  end) }
end

local function pay_twenty()
  local payouts = at.payouts_with { history_check = "never" }
  assert(payouts:add("a", WITHDRAW, withdrawal "20"))
  return assert(payouts:run())
end

local function applied() return at.counted(WITHDRAW, "applied") end

describe("a payment that was executed, and whose second copy is told not now, is not made again", function()
  it("where payees are shown as numbers of users", function()
    client_with({ "executed" }, function(record) record.address = "uid7034517" end)
    assert(at.client.wallet:withdraw(withdrawal "30"))
    at.sim:advance(120000)
    assert.same({ 1, 2 }, { pay_twenty().undecided, applied() })
  end)

  it("where they are since a release that no answered call has met", function()
    client_with({ "executed" }, function(record)
      if record.amount == "20" then record.address = "uid7034517" end
    end)
    assert(at.client.wallet:withdraw(withdrawal "30"))
    at.sim:advance(120000)
    local report = pay_twenty()
    assert.same({ "next", 1, 2 }, { report.undecided_payments[1].why, report.undecided, applied() })
  end)

  it("where a release alters two members between the last answered call and its second attempt", function()
    client_with({ "refused", "executed" }, function(record)
      if record.amount == "20" then record.amount, record.address = "19", "TQn9****cbLSE" end
    end)
    assert(at.client.wallet:withdraw(withdrawal "30"))
    at.sim:advance(120000)
    local reconcile, is_between = at.client.reconcile, true
    at.client.reconcile = function(...)
      if is_between then assert(at.client.wallet:withdraw(withdrawal "31")) end
      is_between = false
      at.sim:advance(5000)
      return reconcile(...)
    end
    assert.same({ 1, 3 }, { pay_twenty().undecided, applied() })
  end)
end)

it("a payment that was not executed is made after not now, though others of other payees are shown", function()
  client_with({ "refused" }, function(record)
    if record.amount == "21" then record.address = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf" end
  end)
  assert(at.client.wallet:withdraw(withdrawal "30"))
  at.sim:advance(120000)
  local other = at.client_with { journal = false }
  local payouts = at.payouts_with { history_check = "never" }
  assert(payouts:add("a", WITHDRAW, withdrawal "20"))
  assert(payouts:add("b", WITHDRAW, withdrawal "32")) -- a witness
  assert(other.wallet:withdraw(withdrawal "21"))
  assert.equal(2, assert(payouts:run()).done)
end)
