-- SPDX-License-Identifier: MIT
-- The options of guard rails: what leaves room for doubt is rejected, and what is read changes no more.

local decimal = require "purser.decimal"
local options = require "purser.write.guard.options"

local ADDRESS = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"

local function read_one(given)
  local sets = assert(options.read(given))
  assert.equal(1, #sets)
  return sets[1]
end

describe("options of a guard", function()
  it("that leave room for doubt are rejected with the form that leaves none", function()
    for _, case in ipairs {
      { { recipients = { "13800138000" } }, 'toAccountType = "UID"' }, { { recipients = { "@" } },
        "names no one person" },
      { { recipients = { { toAccount = "1" } } }, "names no one person" },
      { { recipients = { { toAccountType = "UID" } } }, "names no one person" },
      { { recipients = { { toAccountType = "UID", toAccount = "" } } }, "names no one person" },
      { { recipients = { { toAccountType = "PHONE", toAccount = "1" } } }, "EMAIL, UID, MOBILE" },
      { { recipients = { { toAccountType = "MOBILE", toAccount = "1" } } }, "areaCode" },
      { { recipients = { { toAccountType = "UID", toAccount = "1", areaCode = "86" } } }, "only there" },
      { { recipients = { { toAccountType = "MOBILE", toAccount = "1", areaCode = "x" } } }, "1 to 4 digits" },
      { { recipients = { ["a@b"] = true } }, "plain list" }, { { addresses = { [ADDRESS] = true } }, "plain list" },
      { { addresses = { ADDRESS, nil, ADDRESS, [5] = ADDRESS } }, "plain list" },
      { { sub_accounts = { desk = true } }, "plain list" }, { { sub_accounts = { 1 } }, "names of sub%-accounts" },
      { { sub_accounts = { "" } }, "names of sub%-accounts" }, { { sub_accounts = { "a", 5 } }, "entry 2 is no name" },
      { { addresses = { { address = ADDRESS, memos = "1" } } }, 'did you mean "memo"' },
      { { addresses = { { address = ADDRESS, memo = "1", any_memo = true } } }, "one of them" },
      { { addresses = { { address = ADDRESS, memo = "" } } }, 'empty "memo"' },
      { { addresses = { 1 } }, "entry 1 is no address" }, { { addresses = { { memo = "1" } } }, "is no address give" },
      { { spending_limits = {} }, 'did you mean "spending_limit"' }, { { read_only = "yes" }, "must be a boolean" },
      { { max_amount = { USDT = 10 } }, "decimal as a string" }, { { max_amount = { USDT = "-1" } }, "is no amount" },
      { { max_amount = { USDT = "many" } }, "is no amount" }, { { max_amount = { USDT = true } }, "is no amount" },
      { { spending_limit = { USDT = {} } }, "has no amount" }, { { spending_limit = { USDT = 10 } }, "has no amount" },
      { { spending_limit = { USDT = { amount = "-1" } } }, "has no amount" },
      { { spending_limit = { USDT = { amount = "1", period_ms = 0.5 } } }, "period_ms" },
      { { spending_limit = { USDT = { amount = "1", period_ms = 999 } } }, "period_ms" },
      { { spending_limit = { USDT = { amount = "1", period = 5 } } }, "period" },
      { { max_amount = { USDT = "1", usdt = "1000" } }, "max_amount of USDT is given twice" },
      { { spending_limit = { USDT = "1", Usdt = "1000" } }, "spending_limit of USDT is given twice" },
      { { { read_only = true }, max_amount = {} }, "the sets are not a plain list" },
      { { { read_only = true }, "x" }, "given as a string" },
    } do
      local read, message, hint = options.read(case[1])
      assert.is_nil(read)
      assert.matches(case[2], message .. " " .. tostring(hint))
    end
  end)
end)

describe("a guard with a metatable, which may hide rules,", function()
  local defaults = { read_only = true, max_amount = { USDT = "1" }, coin = "BTC" }
  for name, given in pairs {
    guard = setmetatable({}, { __index = defaults }),
    max_amount = { max_amount = setmetatable({}, { __index = { USDT = "1" } }), allow_unlisted_assets = true },
    ["1"] = { addresses = { setmetatable({ address = ADDRESS }, { __index = { coin = "BTC" } }) } },
    USDT = { spending_limit = { USDT = setmetatable({ amount = "1" }, { __metatable = false }) } },
    ["2"] = { { read_only = true }, setmetatable({}, {}) },
  } do
    it("is rejected: at " .. name, function()
      local read, message, hint = options.read(given)
      assert.is_nil(read)
      assert.matches(('"%s" has a metatable'):format(name), message)
      assert.equal("give plain tables", hint)
    end)
  end
end)

describe("what is read of them", function()
  it("is limits by the asset in capitals: decimals from 0 on, a period of a day", function()
    local read = assert(read_one { max_amount = { usdt = "1.50", BTC = decimal "0" },
      spending_limit = { usdt = "2", BTC = { amount = decimal "3", period_ms = 1000 } } })
    assert.same({ "1.5", "0" }, { tostring(read.max_amount.USDT), tostring(read.max_amount.BTC) })
    assert.is_nil(read.max_amount.usdt)
    local spending = read.spending_limit
    assert.same({ "2", 86400000, "3", 1000 }, { tostring(spending.USDT.amount), spending.USDT.period_ms,
      tostring(spending.BTC.amount), spending.BTC.period_ms })
  end)

  it("is entries of addresses as values, with coins in capitals, that are no table of the user's", function()
    local given = { { address = ADDRESS, memo = "7", coin = "usdt", network = "TRX" }, ADDRESS,
      { address = ADDRESS, any_memo = true } }
    local read = assert(read_one { addresses = given }).addresses
    local account = "hash:41:a346f2bd7d43a5d90b7c57a18196be96b2840e61"
    assert.same({ { address = ADDRESS, memo = "7", coin = "USDT", network = "TRX", account = account, of_memo = "7" },
      { address = ADDRESS, account = account, of_memo = "" },
      { address = ADDRESS, any_memo = true, account = account, of_memo = "" } }, read)
    assert.are_not.equal(given[1], read[1])
    assert.equal("usdt", given[1].coin)
  end)

  it("is a set of sub-accounts, and of users as calls name them", function()
    assert.same({ a = true, b = true }, assert(read_one { sub_accounts = { "a", "b", "a" } }).sub_accounts)
    local users = assert(read_one { recipients = { "zed@mail.example",
      { toAccountType = "UID", toAccount = "138" },
      { toAccountType = "MOBILE", toAccount = "138", areaCode = "+86" } } }).recipients
    assert.same({ [options.user("EMAIL", "zed@mail.example")] = true, [options.user("UID", "138")] = true,
      [options.user("MOBILE", "138", "86")] = true }, users)
  end)

  it("is empty where a list is, which allows nothing", function()
    assert.same({ addresses = {}, sub_accounts = {}, recipients = {} }, read_one { addresses = {},
      sub_accounts = {}, recipients = {} })
    assert.same({ read_only = false }, read_one { read_only = false })
  end)
end)

describe("a user", function()
  it("is the same with or without a + before the country, and another of any other kind, country or name", function()
    local user = options.user("MOBILE", "138", "86")
    assert.equal(user, options.user("MOBILE", "138", "+86"))
    for _, other in ipairs { { "MOBILE", "138", "1" }, { "MOBILE", "138" },
      { "UID", "138" }, { "MOBILE", "1380", "86" },
      { "MOBILE", "86 138" } } do
      assert.are_not.equal(user, options.user(other[1], other[2], other[3]))
    end
  end)
end)
