-- SPDX-License-Identifier: MIT
-- Small balances are converted in batches; what is left out is left out, and a batch that fails ends it.

local dust_module = require "purser.desk.workflow.dust"
local purser = require "purser"
local simulated = require "simulated"

local NOW = 1700000000000

local function world(balances)
  return simulated.world({ start_time = NOW }, { role = "main", email = "a@example.org", balances = balances })
end

local function received(sim, name) return (sim:counts()[name] or { received = 0 }).received end

describe("convert_all", function()
  local dust = {
    BTC = "0.00002", ETH = "0.0005", BNB = "0.005", XRP = "1.5", XLM = "10", TRX = "12", SOL = "0.02", DOGE = "4.5",
    LTC = "0.01", ADA = "2", MATIC = "1", LINK = "0.1", UNI = "0.2", AAVE = "0.01", ARB = "1", OP = "1", AVAX = "0.05",
    CAKE = "0.5", USDC = "3", USDT = "1000", OLDC = "7", TON = "0.5",
  }

  it("converts in batches of 15 and reports why the rest was not", function()
    local sim, client = world(dust)
    local report = assert(client.wallet:convert_all { except = { "BTC" } })
    assert.equal(19, #report.converted)
    assert.same({ 2, 0 }, { report.batches, #report.failed })
    local reasons = {}
    for _, entry in ipairs(report.skipped) do reasons[entry.asset] = entry.message end
    assert.equal("not asked for", reasons.BTC)
    assert.truthy(reasons.USDT:find("worth more than 5 USDT", 1, true))
    assert.truthy(reasons.OLDC)
    local total = purser.decimal "0"
    for batch in client.wallet:each_conversion { from = NOW - 1000 } do total = total + batch.totalConvert end
    assert.equal(tostring(total), report.totalConvert)
    assert(sim:verify())
    assert.equal(0, assert(client.wallet:convert_all { only = { "XRP" } }).batches)
  end)

  it("leaves out what is named in small letters, too, and takes no other table for a list", function()
    local _, client = world(dust)
    for _, params in ipairs { { except = { BTC = true } }, { only = { BTC = true } },
      { except = { "BTC", nil, "ETH" } }, { except = { 5 } } } do
      local report, err = client.wallet:convert_all(params)
      assert.is_nil(report)
      assert.equal("argument", err.kind)
    end
    assert.same({ "XRP" }, assert(client.wallet:convert_all { only = { "xrp" } }).converted)
    for _, asset in ipairs(assert(client.wallet:convert_all { except = { "btc" } }).converted) do
      assert.not_equal("BTC", asset)
    end
  end)

  it("sends nothing where the list has a balance without an asset", function()
    local client = { wallet = { convert = function() error "it is sent" end } }
    function client.wallet.convertible_balances() return { { asset = "XRP" }, { balance = "5" } } end
    for _, params in ipairs { {}, { except = { "BTC" } }, { only = { "BTC" } } } do
      local report, err = dust_module.convert_all(client, params)
      assert.is_nil(report)
      assert.same({ "decode", "wallet.convertible_balances" }, { err.kind, err.operation })
    end
  end)

  it("stops at a batch that fails, and says which it was", function()
    local sim, client = world(dust)
    sim:fault { kind = "lost_answer", operation = "wallet.convert", times = 1 }
    local report, err = client.wallet:convert_all()
    assert.is_nil(report)
    assert.equal("unknown", err.outcome)
    assert.equal(15, #err.details.assets)
    assert.equal(0, err.details.report.batches)
    assert.equal(1, received(sim, "wallet.convert"))
    report, err = client.wallet:convert_all { onyl = {} }
    assert.is_nil(report)
    assert.equal("argument", err.kind)
  end)
end)
