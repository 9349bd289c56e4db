-- SPDX-License-Identifier: MIT
-- Memos as values. Forms by network: spec/address_spec.lua; programs' words: columns_spec.lua.

local memos = require "purser.client.operations.memos"

describe("A memo", function()
  it("of a number has one spelling for comparing, below its bound; any other text has itself", function()
    for _, case in ipairs { { "xrp", "007", "7" }, { "xrp", "0", "0" }, { "xrp", "000", "0" }, { "xrp", "", "" },
      { "xrp", "4294967295", "4294967295" }, { "xrp", "04294967296", "04294967296" }, { "xrp", "7a", "7a" },
      { "icp", "018446744073709551615", "18446744073709551615" }, { "xlm", "007", "007" }, { "evm", "01", "01" } } do
      assert.equal(case[3], memos.canonical(case[1], case[2]))
    end
  end)

  it("is a program's word for another text, or none", function()
    for _, text in ipairs { "nan", "NaN", "<NA>", "NaT", "undefined", "nil", "\\N", "(null)", "inf", "-INF", "TRUE",
      "#VALUE!", "[object Object]", "=1+1", "'7", "1.5E+07", "1e5", "104448.0", "1,234", "1,234,567", "2-Jan",
      "Jan-02", "02-Jan-26", "01/02/2026", "2026-01-02 00:00:00", "2026-01-02", "12:30:00 AM", "1234567890123450000",
      "-" } do
      assert.is_true(memos.is_rewritten(text), text)
    end
    for _, text in ipairs { "7", "0017", "104448", "INV-17", "abc", "MX10086", "nanny", "123456789012345678", "a/b",
      "a1b2c3d4-e5f6", "1234,5678", "trueish" } do
      assert.is_false(memos.is_rewritten(text), text)
    end
  end)
end)
