-- SPDX-License-Identifier: MIT
-- Columns by type: what people, spreadsheets and programs write into each, and what is good, looked at, or refused.

local columns = require "purser.client.operations.columns"

-- Type, the row beside it, and texts by verdict.
local cases = {
  { "uid", {},
    good = { "12345678", "1", "123456789", "1234567890" },
    doubtful = { "012345678", "1234567890123456789" },
    refused = { "12345678.0", "12,345,678", "1.2345678e7", "bob@example.org", "#12345678", "12345678a", "None",
      "undefined", "+12345678", "0xBC614E", "\217\161\217\162\217\163\217\164\217\165\217\166\217\167\217\168",
      "12345678;", "'12345678" } },
  { "phone", { areaCode = "86" },
    good = { "13912345678" },
    doubtful = { "008613912345678", "139123" },
    refused = { "139 1234 5678", "(139)12345678", "139/12345678", "tel:13912345678", "8.61391E+12",
      "13912345678.0", "nan", "NULL", "+8613912345678" } },
  { "phone", { areaCode = "49" },
    good = { "15112345678" },
    doubtful = { "015112345678" } },
  { "phone", { areaCode = "1" },
    good = { "2025550123" } },
  { "phone", {},
    refused = { "13912345678" } },
  { "area_code", {},
    good = { "86", "49", "971" },
    doubtful = { "+86", "086" },
    refused = { "86.0", "8.6E+01", "CN", "0x56", "nan" } },
  { "email", {},
    good = { "bob@example.org", "b_o-b@example.io", "BOB@EXAMPLE.ORG", "1234567@qq.com", "x@1.example.com" },
    refused = { "12345678", "bob", "@example.org", "bob@example", "bob@ex@ample.org", "bob@example..org",
      "bob@example.org.", "bob @example.org", "bob.@example.org", ".bob@example.org", "bob@-example.org",
      "<bob@example.org>", "mailto:bob@example.org", "bob@example.org;ann@example.org", "\"bob@example.org\"",
      "b\208\190b@example.org", "bob@example.\206\191rg", "bob\226\128\139@example.org",
      "bob\239\188\160example.org", "m\195\188ller@example.org", "nan", "null", "None" } },
  { "own_id", {},
    good = { "INV-2026-0017", "0017", "a1b2c3d4-e5f6-7890-abcd-ef0123456789", "123456789012345678" },
    doubtful = { "1.5E+07", "1234567.0", "123456789012345000", "nan", "None", "#N/A", "undefined", "-", "NaT", "2-Jan",
      "Jan-02", "2026-01-02 00:00:00", "1-Mar" },
    refused = { "inv17\194\160", "inv\226\128\17417" } },
  { "key", {},
    good = { "INV-17", "0042", "a/b", "42" },
    doubtful = { "1.5E+07", "1234567.0", "nan", "None", "null", "#N/A", "#REF!", "1-Mar", "2026-01-02 00:00:00",
      "01/02/2026", "\226\128\152i1\226\128\153", "\226\128\158i1\226\128\156" } },
  { "memo", { netWork = "XRP" },
    good = { "7", "104448" },
    doubtful = { "0000000007" },
    refused = { "4294967296", "-1", "1.23E+11", "tag:7", "nan", "0x7", "1 234", "104,448" } },
  { "memo", { netWork = "XLM" },
    good = { "104448", ("a"):rep(28), "0012" },
    doubtful = { "1.23457E+11", "104448.0", "<NA>", "TRUE", "12:30:00 AM", "#VALUE!" },
    refused = { ("a"):rep(29), ("\195\169"):rep(15) } },
  { "memo", { netWork = "TONCOIN" },
    good = { "MX10086", ("a"):rep(100) },
    doubtful = { "1e5", "null" } },
  { "sub_account", {},
    good = { "trading01", "SubAccount2026" },
    refused = { "sub 1 name", "short", "tr\208\176ding01", "trading_01" } },
  { "amount", {},
    good = { "20", "20.5", "20.50", "1000000" },
    refused = { "1 234.50", "1'234.50", "20 USDT", "(20)", "+20", ".5", "=20", "020", "1,234.50", "NaN", "0", "-5",
      "20\194\160", "1_000", "\194\189", "20%" } },
  { "customer_address", {},
    good = { "0x52908400098527886e0f7030069857d2e4169ee7", "EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N",
      "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf" },
    refused = { "0x52908400098527886e0f7030069857d2e4169ee7\226\128\139",
      "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6\209\130", "1.23457E+11", "nan", "0x5290...9ee7", "TR7NHq***Lj6t",
      "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u", "EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2M",
      "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5" } },
}

describe("a column", function()
  it("is good, looked at by a person, or refused, by its type", function()
    local count = 0
    for _, case in ipairs(cases) do
      for _, expected in ipairs { "good", "doubtful", "refused" } do
        for _, text in ipairs(case[expected] or {}) do
          local state, message, hint = columns.judge(case[1], text, case[2])
          assert.equal(expected, state, case[1] .. " " .. text)
          assert.equal(expected ~= "good", message ~= nil)
          assert.is_true(state ~= "refused" or hint ~= nil)
          count = count + 1
        end
      end
    end
    assert.equal(172, count)
  end)

  it("has a type by its name, and by the type of account beside it", function()
    for kind, type_ in pairs { EMAIL = "email", UID = "uid", MOBILE = "phone" } do
      assert.equal(type_, columns.type_of("toAccount", { toAccountType = kind }))
    end
    assert.is_nil(columns.type_of("toAccount", { toAccountType = "SPOT" }))
    for name, type_ in pairs { areaCode = "area_code", withdrawOrderId = "own_id", clientTranId = "own_id",
      memo = "memo" } do
      assert.equal(type_, columns.type_of(name, {}))
    end
    assert.is_nil(columns.type_of("amount", {}))
  end)

  it("of a memo is never refused by a network whose form is not certain", function()
    assert.equal("doubtful", (columns.judge("memo", ("a"):rep(257), { network = "AKT" })))
    assert.equal("refused", (columns.judge("memo", ("a"):rep(257), { network = "OSMO" })))
    assert.equal("good", (columns.judge("memo", "anything", { network = "NEW" })))
    assert.equal("refused", (columns.judge("memo", "any\226\128\139thing", { network = "NEW" })))
  end)

  it("of users has one spelling for comparing", function()
    assert.equal("12345678", columns.canonical("UID", "0012345678"))
    assert.equal("bob@example.org", columns.canonical("EMAIL", "Bob@Example.org"))
    assert.equal("013912345678", columns.canonical("MOBILE", "013912345678"))
    assert.equal("0", columns.canonical("UID", "000"))
    assert.equal("x", columns.canonical(nil, "x"))
  end)
end)
