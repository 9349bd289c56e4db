-- SPDX-License-Identifier: MIT
-- The records that an undecided call may have made: kept as a list, and shown the likest first.

local candidates = require "purser.write.candidates"
local core = require "purser.core"
local encode = require("purser.json").encode
local listing_service = require "listing_service"
local reconcile = require "purser.write.reconcile"

local PARAMS = { coin = "USDT", netWork = "TRX", address = "T1", amount = "15" }

local function ids(list)
  local found = {}
  for i, one in ipairs(list) do found[i] = one.id end
  return table.concat(found, " ")
end

describe("candidates", function()
  it("are ordered by the members that agree, then by time, then as the service shows them", function()
    local records = {
      { id = "other-amount", coin = "USDT", network = "TRX", address = "T1", amount = "12.5", applyTime = 1000 },
      { id = "later", coin = "USDT", network = "TRX", address = "T1", amount = "15.00", applyTime = 9000 },
      { id = "nearer", coin = "USDT", network = "TRX", address = "T1", amount = "15", applyTime = 4000 },
      { id = "as-near", coin = "USDT", network = "TRX", address = "T1", amount = "15", applyTime = 6000 },
      { id = "stranger", coin = "BTC", network = "BTC", address = "B1", amount = "2", applyTime = 5000 },
      { id = "before", coin = "USDT", network = "TRX", address = "T1", amount = "15", applyTime = 500 },
      { id = "timeless", coin = "USDT", network = "TRX", address = "T1", amount = "15" },
    }
    local sorted = candidates.sorted(records, "wallet.withdraw", PARAMS, 5000)
    assert.equal("nearer as-near later before timeless other-amount stranger", ids(sorted))
    local list = candidates.of { state = "undecided", operation = "wallet.withdraw", params = encode(PARAMS),
      record = candidates.text(sorted, encode) }
    assert.equal(ids(sorted), ids(list))
    assert.same({ "address", "amount", "coin", "network" }, list[1].fits)
    assert.same({ "address", "coin", "network" }, list[6].fits)
    assert.same({}, list[7].fits)
    assert.same({ "address", "amount", "coin", "network" }, list[7].differs)
    assert.same({}, list[6].differs) -- a fee explains the amount
    assert.is_nil(records[1].fits) -- the records are the caller's
  end)

  it("that are surely another's come last, whatever else agrees", function()
    local records = {
      { id = "coin", coin = "BTC", network = "TRX", address = "T1", amount = "15", applyTime = 5000 },
      { id = "payee", coin = "USDT", network = "TRX", address = "T2", amount = "15", applyTime = 5000 },
      { id = "amount", coin = "USDT", network = "TRX", address = "T1", amount = "7.4", applyTime = 5000 },
      { id = "network", coin = "USDT", network = "ETH", address = "T1", amount = "15", applyTime = 5000 },
      { id = "masked", coin = "USDT-TRX", address = "T****", amount = "14", applyTime = 900000 },
      { id = "silent" },
    }
    assert.equal("masked silent coin payee amount network",
      ids(candidates.sorted(records, "wallet.withdraw", PARAMS, 5000)))
    -- a service may show each coin by another name: none is left out
    assert.equal("coin", ids(candidates.sorted({ records[1] }, "wallet.withdraw", PARAMS, 5000)))
  end)

  it("of an answer are sorted, whatever the order of the list", function()
    local at = 1700000000000
    local records = {
      { id = "other", coin = "USDT", address = "T2", amount = "15", applyTime = at },
      { id = "own", coin = "USDT", address = "T1", amount = "15", applyTime = at + 600000 },
    }
    local answer = reconcile.reconcile(listing_service(function() return records end),
      { operation = "wallet.withdraw", params = PARAMS, sent_at = at, recv_window = 5000 })
    assert.same({ "undecided", "own other" }, { answer.outcome, ids(answer.candidates) })
  end)

  it("of a row are those of an undecided call alone, and a row's record is no list", function()
    local text = candidates.text({ { id = "a" }, { id = "b" } }, encode)
    local row = { state = "undecided", stage = "", record = text, operation = "wallet.withdraw", sent_at = "",
      params = '{"coin":"USDT"}' }
    assert.equal("a b", ids(candidates.of(row)))
    assert.is_nil(candidates.record_of(row))
    row.state, row.stage = "planned", "undecided" -- a payment that was never sent from here
    assert.equal("a b", ids(candidates.of(row)))
    row.stage = "waiting" -- a person put the payment back
    assert.is_nil(candidates.of(row))
    row.state, row.record = "undecided", ""
    assert.is_nil(candidates.of(row))
    row.record = '{"id":"c"}'
    assert.same({ id = "c" }, candidates.record_of(row))
    assert.is_nil(candidates.of(row))
  end)

  it("are kept up to a hundred, without what cannot be kept", function()
    local records = {}
    for i = 1, 150 do records[i] = { id = tostring(i) } end
    local list = core.decode(candidates.text(records, encode))
    assert.same({ 100, "1", "100" }, { #list, list[1].id, list[100].id })
    assert.equal("", candidates.text({}, encode))
    assert.equal("", candidates.text({ {} }, function() return "" end))
  end)
end)
