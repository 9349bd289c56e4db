-- SPDX-License-Identifier: MIT
-- A record against a call: what agrees, what may, what is unlike, and what is certainly another call's.

local claims = require "purser.write.evidence.claims"
local compare = require "purser.write.evidence.compare"
local copy_of = require "copy_of"
local operations = require "purser.client.operations"

local NONE = claims.NONE
local sent = { coin = "USDT", netWork = "TRX", address = "TQrYMsPBuKq", amount = "20", withdrawOrderId = "Ab3Zz9" }

-- Returns witnesses: of members that are shown as they are sent, in another way, or not at all.
local function witnesses(words)
  return { proves = function(_, name) return words[name] == "same" end,
    differs = function(_, name) return words[name] ~= nil and words[name]:find "differs" ~= nil end,
    explains = function(_, name) return words[name] == "differs so" end,
    hides = function(_, name) return words[name] == "hides" end }
end

local function verdict(fields, words, where)
  return compare.judge(operations.by_name["wallet.withdraw"].reconcile, sent, copy_of(copy_of(sent,
    { withdrawOrderId = false }), fields), words and witnesses(words) or NONE, where or "near")
end

describe("a member", function()
  it("is the same in any case, with any zeros, and may be it in another form", function()
    for name, cases in pairs {
      amount = { ["20.00"] = "same", ["-20"] = "may", ["20.0000000000000004"] = "may", ["2E1"] = "same", ["0"] = "may",
        ["19"] = "near", ["39"] = "near", ["41"] = "unlike", ["9"] = "unlike", ["twenty"] = "may", ["1,000"] = "may" },
      coin = { usdt = "same", ["USDT-TRX"] = "may", TRC20USDT = "may", BTC = "unlike", [""] = false },
      address = { tqrymspbukq = "same", ["TQrYMsPBuKq:7"] = "may", ["TQr***Kq"] = "may", EQother = "unlike" },
      withdrawOrderId = { Ab3Zz9 = "same", AB3ZZ9 = "may", Ab3 = "may", other = "unlike" },
    } do
      for shown, relation in pairs(cases) do
        if name ~= "amount" or shown ~= "2E1" then
          assert.equal(relation or nil, compare.member(name, sent[name], { [name] = shown }), name .. " " .. shown)
        end
      end
    end
    assert.equal("may", compare.member("amount", "20", { amount = "60", transactionFee = "40" }))
    -- cut, or rounded to the nearest, and never to what is farther
    for shown, relations in pairs { ["1"] = { ["0.25"] = "unlike", ["0.5"] = "may", ["1.99"] = "may" },
      ["0"] = { ["0.25"] = "may" }, ["0.3"] = { ["0.25"] = "may", ["0.24"] = "near", ["0.39"] = "may" },
      ["2.00"] = { ["1.2"] = "near", ["1.5"] = "may" } } do
      for amount, relation in pairs(relations) do
        assert.equal(relation, compare.member("amount", amount, { amount = shown }), amount .. " as " .. shown)
      end
    end
    assert.is_nil(compare.member("memo", nil, { memo = "7" }))
  end)
end)

describe("a record", function()
  it("agrees where all that can be compared does", function()
    assert.equal("same", verdict {})
    assert.equal("same", verdict { withdrawOrderId = "null" })
    assert.equal("may", verdict { address = false })
    assert.equal("may", verdict { withdrawOrderId = "Ab3" })
    assert.equal("unlike", verdict { withdrawOrderId = "zzzzzz" })
    assert.equal("unlike", verdict { address = "EQother" })
    assert.equal("unlike", verdict { amount = "77" })
    assert.equal("unlike", verdict { coin = "BTC" })
  end)

  it("is certainly another call's without a witness where coin and amount differ beyond any fee", function()
    assert.equal("other", verdict { coin = "BTC", amount = "77" })
    assert.equal("unlike", verdict { coin = "BTC", amount = "19" })
    assert.equal("other", verdict({ coin = "BTC" }, nil, "far")) -- away from the call's time one of them is enough
    assert.equal("other", verdict({ amount = "77" }, nil, "far"))
    assert.equal("unlike", verdict({ address = "EQother" }, nil, "far"))
    -- nobody rounds 0.25 up to 1: that is another payment of a queue that may never have been sent
    assert.equal("other", compare.judge(operations.by_name["wallet.withdraw"].reconcile, copy_of(sent,
      { amount = "0.25", withdrawOrderId = false }), copy_of(sent, { amount = "1", withdrawOrderId = false }), NONE,
      "planned"))
    -- of a payment that may never have been sent an amount, too, that no fee to the same payee explains
    local near = { amount = tostring(tonumber(sent.amount) * 1.25) }
    assert.equal("unlike", verdict(near, nil, "planned"))
    assert.equal("unlike", verdict({ address = "EQother" }, nil, "planned"))
    near.address = "EQother"
    assert.equal("unlike", verdict(near, nil, "far"))
    assert.equal("other", verdict(near, nil, "planned"))
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5" }
    assert.equal("other", compare.judge(operations.by_name["wallet.transfer"].reconcile, params,
      copy_of(params, { amount = "6" }), NONE, "planned"))
  end)

  -- The journal was lost, and a service that shows ids in capital letters and amounts with a fee was paid again.
  it("is never certainly another call's where it shows the call's id in another case", function()
    local id = sent.withdrawOrderId:upper()
    assert.equal("unlike", verdict({ withdrawOrderId = id, coin = "BTC", amount = "77" }))
    assert.equal("unlike", verdict({ withdrawOrderId = id, amount = "77" }, { amount = "same" }, "planned"))
    assert.equal("other", verdict({ withdrawOrderId = "zzzzzz", amount = "77" }, { amount = "same" }, "planned"))
  end)

  it("is another call's where a witness proves the difference, and agrees where one differs as it does", function()
    for name, shown in pairs { address = "EQother", amount = "19", coin = "BTC", withdrawOrderId = "zzzzzz" } do
      assert.equal("other", verdict({ [name] = shown }, { [name] = "same" }), name)
      assert.equal("same", verdict({ [name] = shown }, { [name] = "differs so" }), name)
      assert.equal("unlike", verdict({ [name] = shown }, { [name] = "differs" }), name)
    end
    assert.equal("same", verdict({ address = false }, { address = "hides" }))
    assert.equal("may", verdict({}, { withdrawOrderId = "same" })) -- the service shows ids, and here none
  end)

  -- A call that was not executed was said to be done by a record of its coin, whose amount came later than the record.
  it("does not agree without an amount, though answered calls show none either", function()
    for _, amount in ipairs { false, "0", "20 USDT" } do
      assert.equal("may", verdict({ amount = amount }, { amount = "hides" }), amount)
    end
    assert.equal("may", verdict({ amount = "0" }, { amount = "differs so" }))
  end)

  -- Any amount that is not twice as large passed for one that is shown with an exponent.
  it("has its amount compared as well where that is shown with an exponent", function()
    for shown, word in pairs { ["2e1"] = "same", ["2.0E+01"] = "same", ["200e-1"] = "same", ["2.1e1"] = "unlike",
      ["1.9e+1"] = "unlike", ["2e0"] = "unlike" } do
      assert.equal(word, verdict { amount = shown }, shown)
    end
  end)

  it("shows that an id was used for another payment", function()
    assert.is_false(compare.contradicts(sent, sent, NONE))
    assert.is_false(compare.contradicts(sent, copy_of(sent, { amount = "18", transactionFee = "2" }), NONE))
    assert.is_false(compare.contradicts(sent, copy_of(sent, { address = "TQrYMsPBuKq:7" }), NONE))
    assert.is_true(compare.contradicts(sent, copy_of(sent, { address = "EQother" }), NONE))
    assert.is_true(compare.contradicts(sent, copy_of(sent, { amount = "19" }), NONE))
    local otherwise = witnesses { address = "differs" }
    assert.is_false(compare.contradicts(sent, copy_of(sent, { address = "EQother" }), otherwise))
  end)
end)
