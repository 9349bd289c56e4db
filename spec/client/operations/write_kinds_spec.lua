-- SPDX-License-Identifier: MIT
-- Parameters that change something travel as they are: the same digits and letters that were given, or nothing.
-- parameters_spec.lua says what each operation rejects.

local decimal = require "purser.decimal"
local kinds = require "purser.client.operations.write_kinds"

-- kind -> what is given, what travels, and the parameter that it is given for
local taken = {
  amount = {
    { "12.5", "12.5" }, { "0.000000000000000001", "0.000000000000000001" }, { 7, "7" }, { "1.500", "1.500" },
    { "9007199254740993.1", "9007199254740993.1" }, { ("9"):rep(100), ("9"):rep(100) },
    { decimal.new "1.50", tostring(decimal.new "1.50") },
  },
  address = { { "TAddr1", "TAddr1" }, { "a:b?c=d", "a:b?c=d" }, { "~!", "~!" } },
  own_id = { { "invoice 1", "invoice 1" }, { 1017, "1017" } },
  memo = { { "77", "77" }, { "a b", "a b" }, { "\228\189\153 77", "\228\189\153 77" }, { 104448, "104448" } },
  client_id = { { ("a1"):rep(16), ("a1"):rep(16) } },
  new_name = { { "account8", "account8" }, { ("x"):rep(32), ("x"):rep(32) } },
  flag = { { true, "true" }, { false, "false" }, { "true", "true" }, { "false", "false" } },
  md5 = { { ("0F"):rep(16), ("0F"):rep(16) } },
  area_code = { { "86", "86" }, { 86, "86" }, { "+49", "+49" }, { "1684", "1684" } },
  coins = { { { "DOGE", "ADA" }, "DOGE,ADA" }, { "DOGE,ADA", "DOGE,ADA" }, { "DOGE", "DOGE" } },
  ips = { { { "203.0.113.7", "2001:db8::1" }, "203.0.113.7,2001:db8::1" }, { "::1", "::1" } },
  permissions = { { { "SPOT_ACCOUNT_READ", "SPOT_DEAL_READ" }, "SPOT_ACCOUNT_READ,SPOT_DEAL_READ",
    { choices = "permissions" } } },
}

-- kind -> what is given, and what the message and the hint say
local rejected = {
  amount = {
    { 0.1, "is a float, which is not exact" }, { "1e3", "no exponent" }, { "-0.5", "is negative" },
    { "0.00", "is zero" },
    { decimal.new "-1", "is negative" }, { decimal.new "0", "is zero" }, { io.stdout, "is a userdata" },
    { ("9"):rep(101), "is 101 characters long" }, { "0." .. ("0"):rep(98) .. "1", "is 101 characters long" },
    { "00.5", "begins with 0 and another digit" }, { "1.5\n", "control character" }, { "1\204\129", "plain decimal" },
    { "\217\161", "plain decimal" }, { "inf", "plain decimal" }, { false, "is a boolean" },
  },
  address = { { "T\208\144", "not ASCII" }, { "T x", "a blank (byte 2)" }, { "\226\128\174T", "bidirectional" } },
  own_id = { { "a ", "remove what cannot be seen" }, { ("x"):rep(201), "1 to 200 characters" }, { {}, "is a table" } },
  memo = { { "7\226\128\1397", "cannot be seen" }, { "7\0", "control" } },
  client_id = { { ("a"):rep(31) .. "-", "no letter or digit" }, { ("a"):rep(64), "has 64 characters" } },
  new_name = { { "short", "has 5 characters" }, { "with-sign", "one of them neither" } },
  flag = { { "TRUE", "boolean" }, { 0, "boolean" }, { {}, "boolean" } },
  md5 = { { ("0"):rep(31) .. "g", "hexadecimal" }, { {}, "hexadecimal" } },
  area_code = { { "0x1", "area code" }, { "++1", "area code" }, { -86, "area code" }, { "12345", "area code" } },
  coins = { { "", "is empty" }, { { [2] = "A" }, "plain list" }, { { "A", "B", "C" }, "has 3 items", { max = 2 } },
    { { "A B" }, "no comma or blank" }, { { {} }, "item 1 which is a table" } },
  ips = { { "203.0.113.0/24", "IPv4" }, { "::ffff:1.2.3.4", "IPv4" }, { "fe80::1%eth0", "IPv4" }, { "1.2.3", "IPv4" } },
  permissions = { { "SPOT_ACCOUNT_REED", "did you mean", { choices = "permissions" } },
    { "SPOT_WITHDRAW_WRITE", "allowed are", { choices = "permissions" } } },
}

describe("a parameter of a write call", function()
  for kind, cases in pairs(taken) do
    it("travels as it was given: " .. kind, function()
      for _, case in ipairs(cases) do
        assert.equal(case[2], (kinds[kind].check(case[1], case[3] or {})))
      end
    end)
  end

  for kind, cases in pairs(rejected) do
    it("is rejected, with what is wrong and what to do: " .. kind, function()
      for _, case in ipairs(cases) do
        local value, message, hint = kinds[kind].check(case[1], case[3] or {})
        assert.is_nil(value)
        assert.matches(case[2], message .. "; " .. hint, 1, true)
      end
    end)
  end

  it("has a kind that is tried here", function()
    for kind in pairs(kinds) do assert.is_truthy(taken[kind] and rejected[kind], kind) end
  end)
end)

describe("a new name", function()
  it("has 8 to 32 letters and digits", function()
    local check = require("purser.client.operations.write_kinds").new_name.check
    for _, good in ipairs { ("a"):rep(8), ("1"):rep(32) } do assert.equal(good, check(good)) end
    for bad, message in pairs { [("a"):rep(7)] = "has 7 characters", [("a"):rep(33)] = "has 33 characters",
      ["abcdefg-"] = "has 8 characters, one of them neither" } do
      assert.same({ nil, message }, { (check(bad)), (select(2, check(bad))) })
    end
  end)
end)
