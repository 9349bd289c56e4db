-- SPDX-License-Identifier: MIT
-- A plan of a list of payments: the sums of those that are not made, and the balances that cover them.

local at_shell = require "at_shell"
local command = require "command"
local decimal = require "purser.decimal"
local files = require "files"
local operations = require "purser.api.operations"
local payments_plan = require "purser.cli.payments_plan"

local unpack = table.unpack or unpack -- luacheck: ignore
local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

local function payment(key, operation, params, fee)
  return { key = key, operation = operation, row = operations.by_name[operation], params = params, fee = fee,
    line = 2, problems = {}, warnings = {}, odd = {} }
end

local function transfer(key, amount, from, account, operation)
  return payment(key, operation or "sub_account.transfer", { asset = "USDT", amount = amount, fromAccount = account,
    fromAccountType = from })
end

describe("the sums of a list", function()
  it("are exact, one for each source, kind of account and asset, and without what is made already", function()
    local totals = payments_plan.totals({
      payment("w1", "wallet.withdraw", { coin = "USDT", amount = "0.1" }, "1"),
      payment("w2", "wallet.withdraw", { coin = "USDT", amount = "0.2" }, "1"),
      payment("w3", "wallet.withdraw", { coin = "USDT", amount = "1000000" }, "1"),
      payment("w4", "wallet.withdraw", { coin = "BTC", amount = "5" }, "1"),
      transfer("t1", "7", "SPOT", "desk"), transfer("t2", "8", "FUTURES", "desk"), transfer("t3", "9", "SPOT"),
      transfer("t4", "2", "SPOT", "desk", "broker.transfer"),
      payment("bad", "wallet.withdraw", { coin = "USDT", amount = "1,5" }),
    }, { w3 = true, w4 = true })
    local shown = {}
    for i, total in ipairs(totals) do
      shown[i] = { payments_plan.payer(total), total.asset, total.count, tostring(total.amount), tostring(total.fees) }
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
      return not err and { { asset = "USDT", free = desk, locked = "1000" } } or nil, err
    end }, wallet = { convertible_balances = function() return { { asset = "DOGE", balance = "5" } } end } }
  end

  local function totals_of(amount, fees, more)
    local total = { source = "desk", account_type = "SPOT", asset = "USDT", amount = decimal(amount),
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

describe("a plan as text", function()
  it("names each error with file and line, counts what is made, and lets nothing of a file hide", function()
    local list = { payment("a\27", "wallet.withdraw", { coin = "USDT", amount = "1", address = "T\226\128\174" }, "1"),
      payment("b", "wallet.withdraw", { coin = "USDT", amount = "2" }) }
    list[1].problems = { "no network", "no memo" }
    list[2].warnings = { "new address" }
    local totals = payments_plan.totals(list, { b = true })
    local text = payments_plan.show(list, totals, "f.csv", { b = true }, true)
    assert.equal(1, payments_plan.count(list, "problems"))
    for _, part in ipairs { "a\\x1B", "T\\u{202E}", 'f.csv:2: error: payment "a\\x1B": no network\n', "no memo\n",
      'f.csv:2: warning: payment "b": new address\n', "1 of 2 payments are made already; the sums are of the others\n",
      "the fees are assumed to come on top of the amounts\n" } do
      assert.is_truthy(text:find(part, 1, true), part .. "\nis not in\n" .. text)
    end
  end)

  it("of 500 fits a screen: sums, the 10 largest, equal texts as one, and the errors last", function()
    local list = {}
    for i = 1, 500 do
      list[i] = payment("inv-" .. i, "wallet.withdraw", { coin = "USDT", netWork = i < 400 and "TRX" or "ETH",
        amount = tostring(i), address = ("T"):rep(33) .. (i % 5) })
      list[i].line = i + 1
      if i ~= 250 then list[i].warnings = { ("the amount %d of \"%d\" is new"):format(i, i) } end
    end
    for _, i in ipairs { 3, 4, 77 } do list[i].problems = { "the address is missing" } end
    list[300].problems = { "the amount is missing" }
    local totals = payments_plan.totals(list, {})
    local text = payments_plan.show(list, totals, "f.csv", {})
    local lines = {}
    for line in text:gmatch "[^\n]+" do
      lines[#lines + 1] = line
      assert.is_true(#line <= 80, line)
    end
    assert.is_true(#lines < 36, #lines)
    assert.equal("500 payments: wallet.withdraw (500); over TRX (399), ETH (101)", lines[1])
    for _, part in ipairs { "this account  USDT        500  125250",
      "the 10 largest of 500; --output FILE writes all\n", " 501  inv-500     500  USDT   TTTT" } do
      assert.is_truthy(text:find(part, 1, true), part .. "\nis not in\n" .. text)
    end
    assert.same({ "f.csv:2: warning: 499 payments (lines 2-250, 252-501), such as that of line 2: the amount 1 of "
      .. '"1" is new', "f.csv:4: error: 3 payments (lines 4-5, 78): the address is missing",
      'f.csv:301: error: payment "inv-300": the amount is missing' }, payments_plan.notes(list, totals, "f.csv"))
    text = payments_plan.show(list, totals, "f.csv", {}, true)
    assert.is_truthy(text:find("\n 101  inv-100  ", 1, true))
  end)
end)

describe("the plan of a list of payments, at a service", function()
  local at

  setup(function() at = at_shell({ "--seed", "11" }, { role = "main", balances = { USDT = "60" } }) end)
  teardown(function() at.stop() end)

  it("compares the sums with the balances where the profile can read them, once for the whole list", function()
    local own, folder = at.with { PURSER_PROFILE = "mexc" }, at.folder()
    local header, start = "key,coin,network,address,amount\n", ",USDT,TRX," .. TRON
    local one, two, three = "p-1" .. start .. ",20\n", "p-2" .. start .. ",20.5\n", "p-3" .. start .. ",19.5\n"
    local path = at.file(header .. one .. two .. three)
    local before = at.received "live.account"
    local code, out, err = command.run({ "payouts", "plan", path, "--operation", "wallet.withdraw" }, own)
    assert.equal(2, code, out)
    assert.matches("this account%s+USDT%s+3%s+60%s+3%s+63%s+60%s+NOT COVERED\n", out)
    assert.matches("warning: the balance of 60 USDT %(this account%) does not cover the sum of 63\n", err)
    assert.matches("the balance does not cover all payments; nothing was sent\n", err)
    assert.equal(before + 1, (at.received "live.account"))

    files.write(path, header .. one .. two)
    local given = { "payouts", path, "--operation", "wallet.withdraw", "--journal", folder .. "/poor.journal",
      "--account", "treasury", "--yes" }
    code, out, err = command.run(given, own)
    assert.equal(0, code, out .. err)
    assert.matches("waiting: %d+ s until all that was sent before is visible; the journal cannot show that it is the "
      .. "newest\n", err)
    -- 17.5 are left, which is less than any of the payments: those that are made need no balance
    code, out, err = command.run(given, own)
    assert.equal(0, code, out .. err)
    assert.matches("0 added, 2 known", err)
    assert.is_nil(err:find("warning", 1, true), err)
    files.write(path, header .. one .. two .. three)
    local shown
    code, shown = command.run_on_terminal({ "payouts", path, "--operation", "wallet.withdraw", "--journal",
      folder .. "/poor.journal", "--account", "treasury" }, own, "no\n")
    assert.equal(2, code)
    assert.matches("2 of 3 payments are made already; the sums are of the others\n", shown)
    assert.is_truthy(shown:find("19.5 USDT, 20.5 with fees: NOT COVERED by the balance of ", 1, true), shown)
  end)

  it("compares what a futures account pays with no balance, as no operation shows it", function()
    local path = at.file("key,fromAccountType,toAccountType,asset,amount\nf-1,FUTURES,SPOT,USDT,9000\n")
    local code, out, err = at.run("payouts", "plan", path, "--operation", "wallet.transfer")
    assert.equal(0, code, err)
    assert.matches("this account, FUTURES%s+USDT%s+1%s+9000%s+0%s+9000%s+not shown\n", out)
  end)
end)
