-- SPDX-License-Identifier: MIT
-- Whether a record is that of a call, as far as its content shows: equal, perhaps equal, or certainly another's.

local compare = require "purser.write.reconcile.compare"

local ADDRESS = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"

-- How a record with that amount, and that fee, compares with a call for 20: equal, perhaps equal, another's id.
local amounts = {
  { shown = "20", exact = true, may = true },
  { shown = "20.000", exact = true, may = true },
  { shown = "19", fee = "1", may = true },
  { shown = "21", fee = "1", may = true, contradicts = true },
  { shown = "19", may = false, contradicts = true },
  { shown = "21", may = false, contradicts = true },
  { shown = "19", fee = "0.5", may = false, contradicts = true },
  { shown = "-20", may = true, contradicts = true },
  { shown = "twenty", may = true },
  { shown = ("2"):rep(100), may = false, contradicts = true },
  { shown = ("2"):rep(101), may = true },
  { shown = "", may = true },
  { shown = nil, may = true },
}

describe("an amount", function()
  it("is equal, perhaps equal or another's, whatever zeros and fees are shown", function()
    for _, case in ipairs(amounts) do
      local record = { amount = case.shown, transactionFee = case.fee }
      local words = tostring(case.shown) .. " " .. tostring(case.fee)
      assert.equal(case.exact or false, compare.agrees({ amount = "20" }, record, { "amount" }), words)
      assert.equal(case.may, compare.may_agree({ amount = "20" }, record, { "amount" }), words)
      assert.equal(case.contradicts or false, compare.contradicts({ amount = "20" }, record), words)
    end
  end)

  it("may be shown with fewer places, cut or rounded, and not by a whole step more", function()
    for shown, may in pairs { ["1.23"] = true, ["1.24"] = true, ["1.22"] = false, ["1.25"] = false, ["1"] = true,
      ["2"] = true, ["0"] = false, ["3"] = false, ["1.2300"] = true, ["1.2330"] = false } do
      assert.equal(may, compare.may_agree({ amount = "1.2345" }, { amount = shown }, { "amount" }), shown)
    end
  end)

  it("that is no decimal agrees with nothing but itself", function()
    assert.is_true(compare.agrees({ amount = "x" }, { amount = "x" }, { "amount" }))
    assert.is_false(compare.agrees({ amount = "x" }, { amount = "y" }, { "amount" }))
    assert.is_false(compare.agrees({ amount = "20" }, { amount = 20 }, { "amount" }))
  end)
end)

describe("a member of a record", function()
  it("agrees where it is the same text, or where nothing was requested", function()
    local names = { "coin", "memo" }
    assert.is_true(compare.agrees({ coin = "USDT" }, { coin = "USDT", memo = "7" }, names))
    assert.is_false(compare.agrees({ coin = "USDT", memo = "7" }, { coin = "USDT" }, names))
    assert.is_false(compare.agrees({ coin = "USDT" }, { coin = "usdt" }, names))
    assert.is_false(compare.agrees({ coin = "2.0" }, { coin = "2" }, names)) -- only amounts are numbers
  end)

  it("may agree where nothing is shown, or the same in another case", function()
    for shown, may in pairs { USDT = true, usdt = true, [""] = true, USDC = false, ["USDT-TRX"] = true,
      USDTX = false } do
      assert.equal(may, compare.may_agree({ coin = "USDT" }, { coin = shown }, { "coin" }), shown)
    end
    assert.is_true(compare.may_agree({ coin = "USDT" }, {}, { "coin" }))
    assert.is_true(compare.may_agree({}, { coin = "USDT" }, { "coin" }))
  end)

  it("is an address also with a memo, or with anything else around it", function()
    for shown, may in pairs { [ADDRESS] = true, [ADDRESS:lower()] = true, [ADDRESS .. ":7"] = true,
      ["tron:" .. ADDRESS] = true, ["TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"] = false } do
      assert.equal(may, compare.may_agree({ address = ADDRESS }, { address = shown }, { "address" }), shown)
      assert.equal(not may, compare.contradicts({ address = ADDRESS }, { address = shown }), shown)
    end
    -- cut, it may be the address; next to the call's own id it is not taken for it
    assert.is_true(compare.may_agree({ address = ADDRESS }, { address = ADDRESS:sub(1, -2) }, { "address" }))
    assert.is_true(compare.contradicts({ address = ADDRESS }, { address = ADDRESS:sub(1, -2) }))
    assert.is_false(compare.may_agree({ address = "a.c" }, { address = "xabcx" }, { "address" }))
    -- a memo that was sent as part of the address
    assert.is_true(compare.may_agree({ address = ADDRESS .. ":7" }, { address = ADDRESS }, { "address" }))
  end)
end)

describe("a name", function()
  it("may be another in any case, or with something after a separator", function()
    for _, pair in ipairs { { "USDT", "usdt", true }, { "USDT", "USDT-TRX", true }, { "USDT-TRX", "USDT", true },
      { "USDT", "USDT2", false }, { "USDT", "USDC", false }, { "USDT", "A-USDT", false } } do
      assert.equal(pair[3], compare.may_name(pair[1], pair[2]), pair[1] .. " " .. pair[2])
    end
  end)
end)

describe("a record with the id of a payment", function()
  it("is another payment where its coin, asset, amount or address contradicts", function()
    local params = { coin = "USDT", asset = "USDT", amount = "20", address = ADDRESS }
    for words, record in pairs { coin = { coin = "BTC" }, asset = { asset = "BTC" }, amount = { amount = "21" },
      address = { address = "another" } } do
      assert.is_true(compare.contradicts(params, record), words)
    end
    assert.is_false(compare.contradicts(params, {}))
    assert.is_false(compare.contradicts(params, { coin = "", asset = "usdt-trx", amount = "20.0", address = ADDRESS }))
    assert.is_false(compare.contradicts({}, { coin = "BTC", asset = "BTC", amount = "1", address = "another" }))
  end)
end)

describe("an id", function()
  local ID = ("Ab3"):rep(10) .. "Zz"

  -- Ids that are shown, and whether each may be the one that was sent.
  local shown_ids = { [ID] = true, [ID:upper()] = true, [ID:sub(1, 20)] = true, ["x-" .. ID] = true,
    [ID:sub(1, 8)] = true, [ID:sub(1, 7)] = true, [("y"):rep(32)] = false, [ID:sub(1, -2) .. "y"] = false }

  it("may be one that is shown in another case, cut, or with others around it", function()
    for shown, may in pairs(shown_ids) do assert.equal(may, compare.may_be_id(ID, shown), shown) end
    assert.is_true(compare.may_be_id(ID:sub(1, 8), "x" .. ID))
    assert.is_true(compare.may_be_id(ID:sub(1, 7), "x" .. ID))
    assert.is_false(compare.may_be_id(ID, 12345678))
    assert.is_true(compare.may_be_id(5, 5))
    assert.is_false(compare.may_be_id(5, "5"))
    assert.is_true(compare.may_be_id("ab", "AB"))
    assert.is_false(compare.may_be_id("order.12", "xorderZ12x"))
  end)

  it("is found in an index by all that it may be, and with it the records that show none", function()
    local records, expected = { { name = "none" }, { name = "blank", id = "" }, { name = "number", id = 7 } }, {}
    for shown in pairs(shown_ids) do records[#records + 1] = { name = shown, id = shown } end
    for _, record in ipairs(records) do
      expected[record.name] = compare.is_blank(record.id) or shown_ids[record.name] or nil
    end
    local found = {}
    for _, record in ipairs(compare.alike(compare.index(records, "id"), ID)) do
      assert.is_nil(found[record.name])
      found[record.name] = true
    end
    assert.same(expected, found)
  end)
end)

describe("the keys of a record's content", function()
  local function finds(params, record)
    local kept = {}
    for _, key in ipairs(compare.content_keys(record)) do
      assert.is_nil(kept[key])
      kept[key] = true
    end
    for _, key in ipairs(compare.content_lookups(params)) do
      if kept[key] then return true end
    end
    return false
  end

  it("are those of every payment that it may be", function()
    local params = { asset = "USDT", amount = "9.999" }
    for _, record in ipairs { { amount = "9.999" }, { amount = "10.00" }, { amount = "9" }, { amount = "9.99" },
      { amount = "8.999", transactionFee = "1" }, { amount = "10.999", transactionFee = "1" }, {},
      { amount = "many" } } do
      for _, asset in ipairs { "USDT", "usdt", "" } do
        record.asset = asset ~= "" and asset or nil
        assert.is_true(compare.may_agree(params, record, { "asset", "amount" }))
        assert.is_true(finds(params, record), tostring(record.amount))
      end
    end
    assert.is_true(finds({ coin = "USDT", amount = "5" }, { coin = "USDT", amount = "5" }))
    assert.is_true(finds({ asset = "USDT" }, { asset = "USDT" }))
  end)

  it("are not those of another asset or of another amount", function()
    assert.is_false(finds({ asset = "USDT", amount = "5" }, { asset = "BTC", amount = "5" }))
    assert.is_false(finds({ asset = "USDT", amount = "5" }, { asset = "USDT", amount = "70" }))
  end)
end)

describe("the texts by which records of a history are kept", function()
  local shown_amounts = { ["-5"] = "5", ["4999.9999999999991"] = "5000", ["1000000000000000000"] = "999999999999999999",
    ["5"] = "5", ["4.99"] = "4.995", ["5.00"] = "4.995" }

  it("find what may be the record of a payment", function()
    for shown, requested in pairs(shown_amounts) do
      for _, asset in ipairs { "USDT", " usdt", "USDT-TRX" } do
        local lookups, found = {}, false
        for _, key in ipairs(compare.content_lookups { asset = "USDT", amount = requested }) do lookups[key] = true end
        for _, key in ipairs(compare.content_keys { asset = asset, amount = shown }) do
          found = found or lookups[key]
        end
        assert.is_true(found, ("%s %s for %s"):format(shown, asset, requested))
      end
    end
  end)
end)

local ID, DIGITS = ("Ab3"):rep(10) .. "Zz", "12345678901234567890123456789012"

it("An index finds exactly the ids that may be the one that was sent, each once", function()
  local shown = { ID, ID:upper(), "Ab3", "A", "Ab3***Zz", "null", "-", "pay7", "pay_7", "7", "12", "0012", "12.0",
    DIGITS, "1.2345678901234567e31", "1.2e31", "12345678901234567000000000000000", "1e18", ("9"):rep(18),
    "1000000000000000000",
    ("y"):rep(32), "1e400", "2e400" }
  local records = {}
  for i, id in ipairs(shown) do records[i] = { id = id } end
  local index = compare.index(records, "id")
  for _, requested in ipairs { ID, "pay-7", "12", "0012", DIGITS, ("9"):rep(18), "1000000000000000000", "x", "--" } do
    local found = {}
    for _, record in ipairs(compare.alike(index, requested)) do found[record.id] = (found[record.id] or 0) + 1 end
    for _, id in ipairs(shown) do
      assert.equal(compare.may_be_id(requested, id) and 1 or nil, found[id], requested .. " shown as " .. id)
    end
  end
end)
