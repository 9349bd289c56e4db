-- SPDX-License-Identifier: MIT
-- A look after "not now" finds a record that shows the payment in another form, as a look after a lost answer does.

local at = require "payouts_setting"

local OWN, WITHDRAW = "wallet.transfer", "wallet.withdraw"

before_each(function() at.begin { balance = "1000" } end)
after_each(at.finish)

-- A client whose service executes each payment, answers the first by `answer`, and shows records as `change` does.
local function client_with(operation, answer, change)
  local number = 0
  at.client = at.client_with { transport = at.transport(function(request, inner)
    local response = inner:send(request)
    if request.operation:find "history$" then response.body = change(response.body) end
    if request.operation ~= operation then return response end
    number = number + 1
    return number == 1 and answer or response
  end) }
end

local function less_the_fee(body)
  return (body:gsub('"withdrawOrderId":"[^"]*",?', ""):gsub('"amount":"20"', '"amount":"19"'))
end

local function of_another_zone(body)
  return (body:gsub('("timestamp":)(%d+)', function(name, ms) return ("%s%d"):format(name, ms + 8 * 3600000) end))
end

local withdrawal = { coin = "USDT", netWork = "TRX", address = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE", amount = "20" }

describe("a payment that was executed, and whose second copy is told not now, is not made again", function()
  for name, one in pairs { ["less its fee"] = { WITHDRAW, withdrawal, less_the_fee },
    ["in another time zone"] = { OWN, at.own "5", of_another_zone } } do
    for _, status in ipairs { 429, 418 } do
      it(("where its record is shown %s (%d)"):format(name, status), function()
        client_with(one[1], { status = status, headers = {}, body = '{"code":429,"msg":"too many"}' }, one[3])
        local payouts = at.payouts_with { history_check = "never" }
        assert(payouts:add("a", one[1], one[2]))
        local report = assert(payouts:run())
        assert.same({ 1, 1 }, { report.undecided, at.counted(one[1], "applied") })
      end)
    end
  end

  it("by its key", function()
    for i, answer in ipairs { { 429, 429 }, { 400, 10101 }, { 400, 700003 } } do
      at.finish()
      at.begin { balance = "1000" }
      client_with(OWN, { status = answer[1], headers = {}, body = ('{"code":%d,"msg":"no"}'):format(answer[2]) },
        of_another_zone)
      assert.equal("rejected", select(2, at.client.wallet:transfer(at.own "5", { key = "k" .. i })).outcome)
      assert.equal("journal.unknown", select(2, at.client.wallet:transfer(at.own "5", { key = "k" .. i })).code)
      assert.equal(1, at.counted(OWN, "applied"))
    end
  end)
end)
