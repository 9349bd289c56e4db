-- SPDX-License-Identifier: MIT
-- The machine's clock is set while a call is under way: that explains no rejection.

local at = require "payouts_setting"
local core = require "purser.core"

local OWN = "wallet.transfer"

before_each(function() at.begin { balance = "1000" } end)
after_each(at.finish)

describe("a payment whose second copy is judged too late", function()
  for _, jump in ipairs { -3600000, 3600000 } do
    it(("is made once where the machine's clock is set by %d ms meanwhile"):format(jump), function()
      local now_ms, set, number = core.now_ms, 0, 0
      core.now_ms = function() return now_ms() + set end -- luacheck: ignore 122
      finally(function() core.now_ms = now_ms end) -- luacheck: ignore 122
      at.client = at.client_with { transport = at.transport(function(request, inner)
        local response = inner:send(request)
        if request.operation ~= OWN then return response end
        number = number + 1
        if number > 1 then return response end
        set = jump
        return { status = 400, headers = {}, body = '{"code":700003,"msg":"too late"}' }
      end) }
      local payouts = at.payouts_with { history_check = "never" }
      assert(payouts:add("a", OWN, at.own "5"))
      assert.equal(1, assert(payouts:run()).done)
      assert.equal(1, at.counted(OWN, "applied"))
    end)
  end
end)
