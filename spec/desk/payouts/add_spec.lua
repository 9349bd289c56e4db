-- SPDX-License-Identifier: MIT
-- Keys of payments that look equal and are not: both would be paid.

local own = require "own_journal"
local purser = require "purser"

local PARAMS = { coin = "USDT", address = "TQrYkD6Z2Rn4Vd2eDLqVnYqrXy8fvV4STm", amount = "5", netWork = "TRX" }

describe("the key of a payment", function()
  local payouts

  setup(function()
    local journal = own.begin()
    local client = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
      journal = journal })
    payouts = assert(purser.payouts.new { client = client, journal = journal })
  end)
  teardown(own.finish)

  local hidden = {
    ["a blank at the end"] = "order 7 ",
    ["a blank at the beginning"] = " order 7",
    ["a blank that does not break"] = "order\194\1607",
    ["a thin blank"] = "order\226\128\1377",
    ["a wide blank"] = "order\227\128\1287",
    ["a character without width"] = "order\226\128\139 7",
    ["a mark of the direction of writing"] = "order 7\226\128\174",
    ["bytes that are not UTF-8"] = "order \255",
  }
  for what, key in pairs(hidden) do
    it("is rejected with " .. what, function()
      local added, err = payouts:add(key, "wallet.withdraw", PARAMS)
      assert.is_nil(added)
      assert.equal("argument", err.kind)
      assert.matches("cannot be seen", err.message)
      assert.matches("without them", err.hint)
      assert.same({}, assert(payouts:list()))
    end)
  end

  it("may hold blanks inside, and letters of any language", function()
    for _, key in ipairs { "order 7", "Stra\195\159e 7", "\230\179\168\230\150\135-7" } do
      assert.is_true(assert(payouts:add(key, "wallet.withdraw", PARAMS)))
    end
  end)

  it("stands for one content, however its amount and coin are written", function()
    local function with(fields)
      local params = {}
      for name, value in pairs(PARAMS) do params[name] = value end
      for name, value in pairs(fields) do params[name] = value end
      return payouts:add("order 8", "wallet.withdraw", params)
    end
    assert.is_true(with {})
    assert.is_false(with { amount = "5.00", coin = "usdt" })
    assert.equal("payouts.other_content", select(2, with { amount = "5.01" }).code)
    assert.equal("payouts.other_content", select(2, with { memo = "7" }).code)
  end)
end)
