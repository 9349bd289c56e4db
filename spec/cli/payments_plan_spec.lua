-- SPDX-License-Identifier: MIT
-- A plan of a list of payments as text, and its sums and balances at a service.

local at_shell = require "at_shell"
local command = require "command"
local files = require "files"
local payments_plan = require "purser.cli.payments_plan"
local plans = require "purser.desk.payouts.plan"
local purser = require "purser"

local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

local function payment(key, operation, params, fee)
  return { key = key, operation = operation, row = purser.operations[operation], params = params, fee = fee,
    line = 2, problems = {}, warnings = {}, odd = {} }
end

-- Returns what purser.payouts.plan makes of these.
local function plan_of(list, made, path)
  local totals = plans.totals(list, made)
  return { payments = list, totals = totals, made = made, shortages = plans.shortages(totals), path = path }
end

describe("a plan as text", function()
  it("names each error with file and line, counts what is made, and lets nothing of a file hide", function()
    local list = { payment("a\27", "wallet.withdraw", { coin = "USDT", amount = "1", address = "T\226\128\174" }, "1"),
      payment("b", "wallet.withdraw", { coin = "USDT", amount = "2" }) }
    list[1].problems = { "no network", "no memo" }
    list[2].warnings = { "new address" }
    local plan = plan_of(list, { b = true }, "f.csv")
    local text = payments_plan.show(plan) .. table.concat(payments_plan.notes(plan), "\n") .. "\n"
    for _, part in ipairs { "a\\x1B", "T\\u{202E}", 'f.csv:2: error: payment "a\27": no network\n', "no memo\n",
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
    local plan = plan_of(list, {}, "f.csv")
    local text = payments_plan.show(plan)
    local lines = {}
    for line in text:gmatch "[^\n]+" do
      lines[#lines + 1] = line
      assert.is_true(#line <= 80, line)
    end
    assert.is_true(#lines < 36, #lines)
    assert.equal("500 payments: wallet.withdraw (500); over TRX (399), ETH (101)", lines[1])
    for _, part in ipairs { "this account  USDT        500  125250",
      "the 10 largest of 500; --csv lists all\n", " 501  inv-500     500  USDT   TTTT" } do
      assert.is_truthy(text:find(part, 1, true), part .. "\nis not in\n" .. text)
    end
    assert.same({ "f.csv:2: warning: 499 payments (lines 2-250, 252-501), such as that of line 2: the amount 1 of "
      .. '"1" is new', "f.csv:4: error: 3 payments (lines 4-5, 78): the address is missing",
      'f.csv:301: error: payment "inv-300": the amount is missing' }, payments_plan.notes(plan))
    assert.equal("inv-100", payments_plan.records(plan)[100].key)
  end)
end)

describe("what became of payments", function()
  it("is a line for those with the same message, whatever its numbers are", function()
    local list = { { key = "c", message = "the balance does not cover it" } }
    for n = 1, 300 do list[#list + 1] = { key = "inv-" .. n, message = "record " .. n .. " may be it" } end
    list[#list + 1] = { key = "d", message = "no" }
    list[#list + 1] = { key = "e", message = "no" }
    assert.same({ 'failed: payment "c": the balance does not cover it',
      'failed: 300 payments, such as "inv-1": record 1 may be it', 'failed: 2 payments, the first "d": no' },
      payments_plan.outcomes("failed", list))
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
    assert.matches("waiting: %d+ s until earlier calls are visible; the journal cannot show that it is the "
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
