-- SPDX-License-Identifier: MIT
-- Which payments of an agent are equal: the same to the same place, whatever id they carry.

local tools = require "purser.desk.agent.tools"

describe("two payments of an agent", function()
  local payment = { coin = "USDT", netWork = "TRX", address = "TPayee", amount = "20" }
  for _, case in ipairs {
    { true, {} }, { true, { amount = "20.00" } }, { true, { withdrawOrderId = "other" } }, { true, { remark = "x" } },
    { true, { coin = "usdt" } }, { false, { amount = "20.01" } }, { false, { address = "TOther" } },
    { false, { memo = "7" } }, { true, { netWork = "ETH" } }, { true, { contractAddress = "TToken" } },
    { true, { netWork = false, network = "Tron(TRC20)" }, "wallet.withdraw_legacy" },
    { true, { netWork = false, network = "Tron(TRC20)" }, "broker.withdraw" },
    { false, { amount = "21" }, "broker.withdraw" }, { false, {}, "wallet.internal_transfer" },
  } do
    local operation = case[3] or "wallet.withdraw"
    local name, value = next(case[2])
    it(("are %s with %s %s by %s"):format(case[1] and "equal" or "two", name or "no", value or "change", operation),
      function()
      local other = {}
      for member, text in pairs(payment) do other[member] = text end
      for member, text in pairs(case[2]) do other[member] = text or nil end
      assert.equal(case[1], tools.is_equal(payment, other, "wallet.withdraw", operation))
      assert.equal(case[1], tools.is_equal(other, payment, operation, "wallet.withdraw"))
    end)
  end
end)
