-- SPDX-License-Identifier: MIT
-- The list of what may stay in a recording: a value stays only where its name and its form are listed.

local harmless = require "purser.testing.recording.harmless"

local ADDRESS, KEY = "TLongAddressOfSomeone1234567890abcd", "mx0vglAbCdEf123456"

-- member -> values that stay, and values of another form that are redacted
local members = {
  coin = { { "USDT", "1INCH" }, { ADDRESS, "usdt", "12345678", "TOOLONGCOIN", "A12345" } },
  symbol = { { "BTCUSDT", "ETHBTC", "SOL_USDC" }, { "USDT", "MTIzNDU2", "ODI5NDY1OTI4NDQ1" } },
  network = { { "Tron(TRC20)", "BNB Smart Chain(BEP20)", "AVAX_CCHAIN", "A_LONG_CHAIN" },
    { "payroll01", "Alice", "", "A_LONGER_CHAIN", "AVAX_CCHAIN1" .. "2" } },
  status = { { "5", "SUCCESS" }, { "123", "alice@mail.example", "" } },
  code = { { "0", "700003", "-1007" }, { "8842117733", "a1" } },
  totalCount = { { "7", "1234567" }, { "12345678", "1.5" } },
  isFreeze = { { "true", "0" }, { "alice", "2" } },
  startTime = { {}, { "5" } }, limit = { { "20" }, { "x" } }, includesAll = { {}, { "alice" } },
  fromAccountType = { { "SPOT", "EMAIL" }, { "MYNAME", "spot" } },
  permissions = { { "SPOT_ACCOUNT_READ,SPOT_DEAL_READ" }, { "ALICE,BOB", "" } },
  remainingValidity = { { "90", "-1" }, { "12345678" } },
  -- nothing of these ever stays
  amount = { {}, { "1", "0.5" } }, address = { {}, { ADDRESS } }, apiKey = { {}, { KEY } }, uid = { {}, { "1" } },
  secretKey = { {}, { KEY } }, txId = { {}, { "ab:0" } }, memo = { {}, { "7" } }, email = { {}, { "a@b.example" } },
}

describe("a value", function()
  for name, forms in pairs(members) do
    it("stays where its form is the one that is listed, and no other does: " .. name, function()
      for _, text in ipairs(forms[1]) do assert.is_true(harmless.keeps(name, text), text) end
      for _, text in ipairs(forms[2]) do assert.is_false(harmless.keeps(name, text), text) end
    end)
  end

  it("that is a time moves, and a message does not stay", function()
    assert.equal("time", harmless.keeps("timestamp", "1700000000000"))
    assert.equal("time", harmless.keeps("startTime", "1700000000000"))
    assert.equal("date", harmless.keeps("createTime", "2023-11-14T22:13:20Z"))
    assert.is_false(harmless.keeps("msg", "Invalid signature"))
    assert.is_false(harmless.keeps("timestamp", "mx0vgl"))
  end)

  it("whose name is of pages and of amounts stays beside the records of a page alone", function()
    for _, other in ipairs { "rows", "data" } do assert.is_true(harmless.keeps("total", "12", { [other] = true })) end
    assert.is_true(harmless.keeps("limit", "12"))
    for _, other in ipairs { "asset", "coin", "free", "amount", "page" } do
      assert.is_false(harmless.keeps("total", "12", { [other] = true }))
    end
  end)
end)

describe("a name", function()
  it("stays where it is one of the interface's, or made of the words of those", function()
    for _, name in ipairs { "txId", "withdrawOrderId", "totalPageNum", "feeAmount", "deposit_address", "networkFee" } do
      assert.is_true(harmless.is_name(name), name)
    end
    for _, name in ipairs { KEY, ADDRESS, "alice", "payroll", "treasury", "feeOfAlice",
      "feeAmount1", "", ("fee_"):rep(12) .. "fee", "fee amount", "_id" } do
      assert.is_false(harmless.is_name(name), name)
    end
  end)

  it("is part of a path only where the service has it", function()
    assert.is_true(harmless.is_segment "capital" and harmless.is_segment "tranId" and harmless.is_segment "ping")
    assert.is_false(harmless.is_segment(KEY) or harmless.is_segment "")
  end)
end)

describe("a header", function()
  it("stays where it says the type or the limits; one with the key becomes a token, others are left out", function()
    for _, case in ipairs {
      { "content-type", "application/json", true }, { "content-type", "text/html; charset=UTF-8", true },
      { "content-type", "text/html; alice", "token" }, { "content-type", "x/y", "token" },
      { "x-mexc-apikey", KEY, "token" }, { "retry-after", "7", true }, { "retry-after", KEY, "token" },
      { "x-mbx-used-weight-10s", "12", true }, { "x-ratelimit-remaining-1m", "12345678", "token" },
      { "x-mbx-used-weight-100s", "12", nil }, { "set-cookie", "a=b", nil }, { "authorization", KEY, nil },
    } do
      assert.equal(case[3], harmless.header(case[1], case[2]), case[1] .. ": " .. case[2])
    end
  end)
end)
