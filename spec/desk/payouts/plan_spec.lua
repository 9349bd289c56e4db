-- SPDX-License-Identifier: MIT
-- A plan of a list of payments: each one checked, the sums of those that are not made, the balances that cover them,
-- and what may be a mistake.

local decimal = require "purser.decimal"
local payments_plan = require "purser.desk.payouts.plan"
local purser = require "purser"
local simulated = require "simulated"

local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

local function payment(key, operation, params, fee)
  return { key = key, operation = operation, row = purser.operations[operation], params = params, fee = fee,
    problems = {}, warnings = {}, odd = {} }
end

local function transfer(key, amount, from, account, operation)
  return payment(key, operation or "sub_account.transfer", { asset = "USDT", amount = amount, fromAccount = account,
    fromAccountType = from })
end

describe("the sums of a list", function()
  it("are exact, one for each source, kind of account and asset", function()
    local totals = payments_plan.totals({
      payment("w1", "wallet.withdraw", { coin = "USDT", amount = "0.1" }, "1"),
      payment("w2", "wallet.withdraw", { coin = "USDT", amount = "0.2" }, "1"),
      transfer("t1", "7", "SPOT", "desk"), transfer("t2", "8", "FUTURES", "desk"), transfer("t3", "9", "SPOT"),
      transfer("t4", "2", "SPOT", "desk", "broker.transfer"),
      payment("bad", "wallet.withdraw", { coin = "USDT", amount = "1,5" }),
    })
    local shown = {}
    for i, total in ipairs(totals) do
      shown[i] = { total.payer, total.asset, total.count, tostring(total.amount), tostring(total.fees) }
    end
    assert.same({ { "this account", "USDT", 4, "9.3", "2" }, { "desk", "USDT", 2, "9", "0" },
      { "desk, FUTURES", "USDT", 1, "8", "0" } }, shown)
  end)
end)

describe("the balances", function()
  -- A client whose sub-account desk has so much USDT.
  local function client_with(desk, err)
    return { profile = {}, sub_account = { balances = function(_, given)
      assert.same({ subAccount = "desk", accountType = "SPOT" }, given)
      return not err and { { free = "7" }, { asset = "USDT", free = desk, locked = "1000" } } or nil, err
    end }, wallet = { convertible_balances = function() return { { asset = "DOGE", balance = "5" } } end } }
  end

  local function totals_of(amount, fees, more)
    local total = { source = "desk", payer = "desk", account_type = "SPOT", asset = "USDT", amount = decimal(amount),
      fees = decimal(fees) }
    for name, value in pairs(more or {}) do total[name] = value end
    return { total }
  end

  for _, case in ipairs { { "10", "9", "1", false }, { "10", "9.000000000000000001", "1", true },
    { "0", "1", "0", true }, { "10", "10", "0.1", true } } do
    local verb = case[4] and "do not cover" or "cover"
    it(("of %s %s %s with fees of %s"):format(case[1], verb, case[2], case[3]), function()
      local totals = totals_of(case[2], case[3])
      payments_plan.add_balances(client_with(case[1]), totals)
      assert.equal(case[4], totals[1].is_short)
      assert.equal(case[4] and 1 or 0, #payments_plan.shortages(totals))
    end)
  end

  it("that cannot be read are no balances, and that is said", function()
    local totals = totals_of("1", "0")
    payments_plan.add_balances(client_with("5", { message = "no permission" }), totals)
    assert.is_false(totals[1].is_short)
    assert.same({ "the balance of USDT (desk) cannot be read: no permission" }, payments_plan.shortages(totals))
    for _, shown in ipairs { "n/a", "", "1e999" } do -- what nobody can reckon with covers nothing
      payments_plan.add_balances(client_with(shown), totals)
      assert.is_nil(totals[1].balance)
      assert.same({ ('the balance of USDT (desk) cannot be read: "%s" is no amount'):format(shown) },
        payments_plan.shortages(totals))
    end
    payments_plan.add_balances(client_with "1e-8", totals)
    assert.same({ true, "1e-8" }, { totals[1].is_short, totals[1].balance })
  end)

  it("are none for what no operation shows: futures accounts, and an asset that a list leaves out", function()
    for _, more in ipairs { { account_type = "FUTURES" }, { source = "" }, { asset = "BTC" } } do
      local totals = totals_of("1", "0", more)
      payments_plan.add_balances(client_with "5", totals)
      assert.same({ false }, { totals[1].is_short, totals[1].balance })
      assert.same({}, payments_plan.shortages(totals))
    end
  end)
end)

describe("a plan from Lua", function()
  it("completes networks, and says of each payment what is wrong with it and what may be a mistake", function()
    local sim = purser.sim.new { seed = 3 }
    local owner = assert(sim:account { role = "main", balances = { USDT = "100" } })
    local client = assert(purser.new { base_url = "http://localhost", transport = sim:transport(),
      api_key = owner.api_key, secret_key = owner.secret_key, clock = function() return sim:now() end })
    local function withdrawal(key, amount, network)
      return { key = key, operation = "wallet.withdraw", params = { coin = "USDT", network = network or "trc20",
        address = TRON, amount = amount } }
    end
    local plan = assert(purser.payouts.plan(client, { withdrawal("a", "20"), withdrawal("b", "20.0"),
      withdrawal("c", "1"), withdrawal("d", "20", "nowhere"),
      { key = "e", operation = "wallet.nothing", params = {} } }))
    assert.same({ 3, 3 }, { plan.bad, plan.odd })
    assert.same({ "TRX", "1" }, { plan.payments[1].params.netWork, plan.payments[1].fee })
    assert.is_nil(plan.payments[1].params.withdrawOrderId)
    assert.matches("below the minimum of 10", plan.payments[3].problems[1])
    assert.matches("USDT has no network nowhere", plan.payments[4].problems[1])
    assert.equal("no operation has this name", plan.payments[5].problems[1])
    assert.matches("equal rows: each pays 20 USDT to " .. TRON, plan.payments[1].odd[1])
    assert.equal(0, (sim:counts()["wallet.withdraw"] or { received = 0 }).received)
    client:close()
  end)

  it("has an error where the coins cannot be read", function()
    local sim = purser.sim.new {}
    local owner = assert(sim:account { role = "main" })
    local client = assert(purser.new { base_url = "http://localhost", transport = sim:transport(), retry = false,
      api_key = owner.api_key, secret_key = owner.secret_key, clock = function() return sim:now() end })
    sim:fault { kind = "reject", operation = "wallet.coins", code = "700007" }
    local plan, err = purser.payouts.plan(client, { payment("a", "wallet.withdraw", { coin = "USDT", amount = "20" }) })
    assert.same({ nil, "700007" }, { plan, err.code })
  end)
end)

describe("the balances of the live account", function()
  for _, fault in ipairs { false, true } do
    it(fault and "that cannot be read are none" or "are those of all assets, nothing for the others", function()
      local sim, client = simulated.world({ seed = 3, variant = "live", profile = "mexc" },
        { role = "main", balances = { USDT = "100" } }, { profile = "mexc", retry = false })
      if fault then sim:fault { kind = "reject", operation = "live.account", code = "700007" } end
      local totals = {}
      for i, asset in ipairs { "USDT", "BTC" } do
        totals[i] = { source = "", payer = "this account", account_type = "SPOT", asset = asset, amount = decimal "5",
          fees = decimal "0" }
      end
      payments_plan.add_balances(client, totals)
      assert.same(fault and {} or { "100", "0" }, { totals[1].balance, totals[2].balance })
      assert.equal(fault, totals[1].unread ~= nil)
      assert.same({ false, not fault }, { totals[1].is_short, totals[2].is_short })
    end)
  end
end)

describe("a fee below nothing", function()
  it("lowers no sum: it is not known, as the plan warns", function()
    local sim, _, owner = simulated.world({ seed = 3 }, { role = "main", balances = { USDT = "100" } })
    local inner = sim:transport()
    local client = simulated.client(sim, owner, { transport = { send = function(_, request)
      local response = inner:send(request)
      response.body = response.body:gsub('"withdrawFee":"[^"]*"', '"withdrawFee":"-5"')
      return response
    end } })
    local plan = assert(purser.payouts.plan(client, { { key = "a", operation = "wallet.withdraw",
      params = { coin = "USDT", netWork = "TRX", address = TRON, amount = "20" } } }))
    assert.same({ "20", "0" }, { tostring(plan.totals[1].amount), tostring(plan.totals[1].fees) })
    assert.matches("withdrawFee is -5, which is no decimal from 0 on", plan.payments[1].warnings[1], 1, true)
  end)
end)

describe("an amount that has two readings", function()
  local at = require "payouts_setting"
  before_each(at.begin)
  after_each(at.finish)

  it("is judged by no bound: 1.500 was below a minimum that 1500 is above", function()
    local path = at.path .. ".csv"
    require("files").write(path, "key;coin;network;address;amount\na;USDT;TRX;" .. TRON .. ";1.500\n")
    local list = assert(purser.payouts.read(path, "wallet.withdraw"))
    os.remove(path)
    local plan = assert(purser.payouts.plan(at.client, list))
    assert.equal(1, #plan.payments[1].problems)
    assert.matches("may be thousands", plan.payments[1].problems[1])
  end)
end)
