-- SPDX-License-Identifier: MIT
-- Two payments of which one was executed and rejected, and the other lost: the record may be that of either.

local at = require "payouts_setting"
local core = require "purser.core"
local json = require "purser.json"

local WITHDRAW = "wallet.withdraw"

local lost = { kind = "transport", outcome = "unknown", phase = "receive", message = "no answer" }
local answers = { ["429"] = { status = 429, headers = {}, body = '{"code":429,"msg":"too many"}' },
  ["10101"] = { status = 400, headers = {}, body = '{"code":10101,"msg":"no"}' } }

local function withdrawal(amount)
  return { coin = "USDT", netWork = "TRX", address = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE", amount = amount }
end

before_each(function() at.begin { balance = "1000" } end)
after_each(at.finish)

-- A client of a service that takes a fee of 1 and hides ids. The first withdrawal of 20 is executed, and another copy
-- of it gets `answer`; the first of 19 never arrives.
local function client_with(answer)
  local met = {}
  return at.client_with { transport = at.transport(function(request, inner)
    local amount = request.operation == WITHDRAW and request.target:match "amount=([%d.]+)"
    if amount and not met[amount] then
      met[amount] = true
      if amount == "19" then return nil, lost end
      inner:send(request)
      return answer
    end
    local response = inner:send(request)
    local list = request.operation == "wallet.withdrawal_history" and core.decode(response.body)
    for _, record in ipairs(list or {}) do
      record.withdrawOrderId, record.transactionFee = nil, nil
      record.amount = record.amount == "20" and "19" or record.amount
    end
    if list then response.body = json.encode(json.list(list)) end
    return response
  end) }
end

describe("a record of 19, where 20 less a fee of 1 was executed and rejected, is no proof of another 19", function()
  for name, answer in pairs(answers) do
    it("in a queue (" .. name .. ")", function()
      at.client = client_with(answer)
      local payouts = at.payouts_with { history_check = "never" }
      assert(payouts:add("a", WITHDRAW, withdrawal "20"))
      assert(payouts:add("b", WITHDRAW, withdrawal "19"))
      local report = assert(payouts:run())
      assert.same({ 0, 2, 1 }, { report.done, report.undecided, at.counted(WITHDRAW, "applied") })
    end)

    it("by keys (" .. name .. ")", function()
      local client = client_with(answer)
      assert.equal("rejected", select(2, client.wallet:withdraw(withdrawal "20", { key = "a" })).outcome)
      local _, err = client.wallet:withdraw(withdrawal "19", { key = "b" })
      assert.equal("undecided", assert(client:reconcile(err)).outcome)
      assert.equal("journal.unknown", select(2, client.wallet:withdraw(withdrawal "20", { key = "a" })).code)
      assert.equal(1, at.counted(WITHDRAW, "applied"))
    end)
  end
end)
