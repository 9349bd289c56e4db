-- SPDX-License-Identifier: MIT
-- A record as values: spelling makes no other deposit, and any other member makes one.

local readers = require "purser.desk.receive.reader"

local EVM = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"

local function fingerprint(fields)
  local record = { coin = "USDT", network = "TRX", txId = "ab12", address = EVM, memo = "7", amount = "5",
    insertTime = 1700000000000, status = 5 }
  for name, value in pairs(fields or {}) do record[name] = value end
  return readers.value(record, function(coin, network) return coin, network end).fingerprint
end

describe("A record of a deposit", function()
  for _, spelling in ipairs { { txId = "0xAB12" }, { txId = "ab12:0" }, { address = EVM:lower() }, { amount = "5.00" },
    { address = EVM .. ":7", memo = "" }, { insertTime = 1700000001000 }, { status = 4 } } do
    it("is the same in another spelling: " .. next(spelling), function()
      assert.equal(fingerprint(), fingerprint(spelling))
    end)
  end

  for _, other in ipairs { { coin = "SHIB" }, { network = "ETH" }, { txId = "ab13" },
    { address = EVM:lower():gsub("d$", "e") },
    { memo = "07" }, { amount = "5.01" } } do
    it("is another one with another " .. next(other), function()
      assert.not_equal(fingerprint(), fingerprint(other))
    end)
  end

  it("has its time where it has no transaction", function()
    assert.not_equal(fingerprint { txId = "" }, fingerprint { txId = "", insertTime = 1700000001000 })
  end)

  it("is kept as JSON without what is no plain value", function()
    assert.equal('{"coin":"USDT"}', readers.raw { shown = { coin = "USDT", list = { 1 } } })
    assert.equal("{}", readers.raw { shown = { list = { 1 } } })
    assert.equal("{}", readers.raw { shown = { amount = 0 / 0 } })
  end)

  it("without a time that a row can keep is as old as can be: it holds up no other record", function()
    for _, time in ipairs { false, "soon", "1e300", 1e13, -1, 1 / 0, 0 / 0 } do
      local record = { coin = "USDT", network = "TRX", amount = "5", status = 5, insertTime = time or nil }
      assert.equal(0, readers.value(record, function(coin, network) return coin, network end).time)
    end
  end)

  it("is for a person where its amount or state is none", function()
    local function kind(fields)
      fields.status = fields.status or 5
      return readers.value(fields, function(coin, network) return coin, network end).kind
    end
    assert.same({ "credit", "ask", "ask", "ask", "pending" }, { kind { amount = "1" }, kind { amount = "x" },
      kind { amount = "0" }, kind { amount = "1", status = 77 }, kind { amount = "1", status = 4 } })
  end)
end)
