-- SPDX-License-Identifier: MIT
-- A plan of a list of payments as text, and its sums and balances at a service.

local at_shell = require "at_shell"
local commands = require "command"
local files = require "files"
local payments_plan = require "purser.cli.payments_plan"
local plans = require "purser.desk.payouts.plan"
local purser = require "purser"

local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

local function payment(key, operation, params, fee)
  return { key = key, operation = operation, row = purser.operations[operation], params = params, fee = fee,
    line = 2, problems = {}, warnings = {}, odd = {} }
end

local function command(...) return "purser payouts " .. table.concat({ ... }, " ") end

-- Returns what payouts:plan makes of these, with further sections.
local function plan_of(list, sections)
  local plan = { payments = list, send = list, changed = {}, left = {}, held = {}, made = {}, refused = {}, runs = {},
    new = #list, again = 0, bad = 0, path = "f.csv" }
  for _, one in ipairs(list) do plan.bad = plan.bad + (one.problems[1] and 1 or 0) end
  for name, value in pairs(sections or {}) do plan[name] = value end
  plan.totals = plans.totals(plan.send)
  plan.shortages = plans.shortages(plan.totals)
  return plan
end

-- Returns a row that the queue holds.
local function held(key, amount, state, more)
  local row = payment(key, "wallet.withdraw", { coin = "USDT", amount = amount, address = TRON })
  row.state, row.now = state, { params = row.params, state = state }
  for name, value in pairs(more or {}) do row[name] = value end
  return row
end

describe("a plan as text", function()
  it("names payments of the queue, which have no line, by their keys", function()
    local one = payment("a", "wallet.withdraw", { amount = "1" })
    local two = payment("b", "wallet.withdraw", { amount = "1" })
    one.line, two.line, one.warnings, two.warnings = nil, nil, { "too much" }, { "too much" }
    assert.same({ 'warning: 2 payments, such as payment "a": too much' }, payments_plan.notes(plan_of { one, two }))
    two.warnings = {}
    assert.same({ 'warning: payment "a": too much' }, payments_plan.notes(plan_of { one, two }))
  end)

  it("names each error with file and line, and lets nothing of a file hide", function()
    local list = { payment("a\27", "wallet.withdraw", { coin = "USDT", amount = "1", address = "T\226\128\174" }, "1"),
      payment("b", "wallet.withdraw", { coin = "USDT", amount = "2" }) }
    list[1].problems = { "no network", "no memo" }
    list[2].warnings = { "new address" }
    local plan = plan_of(list)
    local text = payments_plan.show(plan, "june", command) .. table.concat(payments_plan.notes(plan), "\n") .. "\n"
    for _, part in ipairs { "f.csv: 2 payments, 1 with errors\n", "a\\x1B", "T\\u{202E}",
      'f.csv:2: error: payment "a\27": no network\n', "no memo\n", 'f.csv:2: warning: payment "b": new address\n' } do
      assert.is_truthy(text:find(part, 1, true), part .. "\nis not in\n" .. text)
    end
    assert.is_nil(text:find("covered", 1, true))
  end)

  it("has no sum of amounts that cannot be read, and no negative amount lowers a sum", function()
    local list = {}
    for i, amount in ipairs { "abc", "-5", "20" } do
      list[i] = payment("k" .. i, "wallet.withdraw", { coin = "USDT", amount = amount, address = TRON })
      list[i].problems = i < 3 and { "the amount is wrong" } or {}
    end
    local plan = plan_of(list)
    assert.same({ 1, 1, "20" }, { #plan.totals, plan.totals[1].count, tostring(plan.totals[1].amount) })
    local text = payments_plan.show(plan, "june", command)
    assert.matches("f.csv: 3 payments, 2 with errors\n", text)
    assert.is_nil(text:find("sum", 1, true))
    assert.same({}, plans.totals { list[1], list[2] })
  end)

  it("of 500 fits a screen: sums, the 10 largest, equal texts as one", function()
    local list = {}
    for i = 1, 500 do
      list[i] = payment("inv-" .. i, "wallet.withdraw", { coin = "USDT", netWork = i < 400 and "TRX" or "ETH",
        amount = tostring(i), address = ("T"):rep(33) .. (i % 5) })
      list[i].line = i + 1
      if i ~= 250 then list[i].warnings = { ("the amount %d of \"%d\" is new"):format(i, i) } end
    end
    local plan = plan_of(list)
    local text = payments_plan.show(plan, "june", command)
    local lines = {}
    for line in text:gmatch "[^\n]+" do
      lines[#lines + 1] = line
      assert.is_true(#line <= 80, line)
    end
    assert.is_true(#lines < 24, #lines)
    assert.equal("f.csv: 500 payments to send (500 new)", lines[1])
    for _, part in ipairs { "USDT        500  125250", "the largest 10:\n",
      " 501  inv-500     500  USDT   ETH      TTTT" } do
      assert.is_truthy(text:find(part, 1, true), part .. "\nis not in\n" .. text)
    end
    assert.same({ "f.csv:2: warning: 499 payments (lines 2-250, 252-501), such as that of line 2: the amount 1 of "
      .. '"1" is new' }, payments_plan.notes(plan))
    assert.equal("inv-100", payments_plan.records(plan)[100].key)
    assert.equal("Type yes for 500 payments, 125250 USDT: ", payments_plan.question(plan))
  end)

  it("names each row that is left or held with the command that ends it", function()
    local run = { number = "12", person = "alice", workers = { { person = "alice", pid = "411", host = "host-1" } } }
    local plan = plan_of({}, { left = { held("b", "800", "waiting"), held("s", "5", "sent"),
      held("w", "7", "waiting", { run = run }) }, held = { held("c", "20", "failed"), held("d", "35", "undecided"),
      held("e", "1", "dropped") }, made = { held("m", "1", "done") } })
    local text = payments_plan.show(plan, "june", command)
    for _, part in ipairs { "LEFT, not in f.csv, NOT sent by this run: 3, 812 USDT\n",
      "  b  800 USDT  waiting\n      purser payouts drop b\n      or all that is left: purser payouts run\n",
      "  s  5 USDT  sent\n      purser payouts run (asks first)\n",
      "run 12 (alice, pid 411 on host-1) pays it; stop that first\n",
      "HELD, in f.csv, NOT sent by this run: 3, 56 USDT\n", "purser payouts retry c\n",
      "purser payouts settle d not_done\n      or purser payouts settle d done RECORD\n", "purser payouts retry e\n",
      "f.csv: 0 payments to send (0 new)\nmade already: 1\n" } do
      assert.is_truthy(text:find(part, 1, true), part .. "\nis not in\n" .. text)
    end
  end)

  it("of a queue says whose runs its payments were", function()
    local monday = { run = { number = "12", person = "alice", source = "mon.csv", workers = {} } }
    local plan = plan_of({ held("a", "1", "waiting", monday), held("b", "2", "waiting", monday),
      held("c", "3", "waiting") }, {})
    plan.path = nil
    assert.matches("queue june: 3 payments to send\n  2 of run 12 (alice, mon.csv)   1 of no run\n",
      payments_plan.show(plan, "june", command), 1, true)
  end)

  it("says at Ctrl-C what is left, and which other workers go on", function()
    local plan = plan_of({ held("a", "1", "waiting"), held("b", "2", "sent"), held("c", "3", "waiting") },
      { made = { held("m", "1", "done") } })
    local workers = { { name = "own", person = "bob", pid = "1", host = "h" } }
    local queue = { worker = "own", list = function()
      return { { key = "a", state = "done" }, { key = "b", state = "sent" }, { key = "c", state = "waiting" } }
    end, runs = function() return { { number = "12", workers = workers } } end }
    assert.same({ "stopped: 2 of 4 made, 1 sent and not known yet, 1 not sent (3 USDT)",
      "nobody else works on this queue. To go on:", "  LINE" }, payments_plan.stopped(plan, queue, "LINE"))
    workers[2] = { name = "shell", person = "alice", pid = "411", host = "host-1" }
    assert.equal("others go on with run 12: alice, pid 411 on host-1. To go on:",
      payments_plan.stopped(plan, queue, "LINE")[2])
  end)

  it("says of a changed row what is replaced, and of a refused one to put the old value back", function()
    local changed = held("a", "17.5", "waiting", { difference = "amount was 16.5, is 17.5" })
    local text = payments_plan.show(plan_of({}, { changed = { changed } }), "june", command)
    assert.matches("CHANGED, replaced when you say yes: 1\n  a  amount 16.5 -> 17.5 (USDT)  nothing was sent", text, 1,
      true)
    local made = held("a", "17.5", "done", { difference = "amount was 16.5, is 17.5" })
    made.now = { params = { amount = "16.5" }, sent_at = 1700000000000, record_id = "8812" }
    local sent = held("b", "30", "sent", { difference = "amount was 20, is 30", line = 3 })
    sent.now = { params = { amount = "20" } }
    assert.same({ "f.csv:2: a has 17.5 USDT; 16.5 was paid on 2023-11-14T22:13:20.000Z (id 8812)",
      "  put 16.5 back in line 2; if 1 more is owed, add a row of 1 with its own key",
      "f.csv:3: b has 30 USDT; 20 may have been sent: nobody knows yet",
      "  put 20 back in line 3; see: purser payouts status" },
      payments_plan.refused(plan_of({}, { refused = { made, sent } }), command))
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
      payments_plan.outcomes("failed", list, command))
  end)

  it("is, of each undecided one, its own reason and the commands that end it", function()
    local list = {}
    for n = 1, 2 do list[n] = { key = "u-" .. n, state = "undecided", message = "rival: record " .. n } end
    assert.same({ 'undecided: payment "u-1": rival: record 1', "  purser payouts settle u-1 not_done",
      "  or purser payouts settle u-1 done RECORD", 'undecided: payment "u-2": rival: record 2',
      "  purser payouts settle u-2 not_done", "  or purser payouts settle u-2 done RECORD" },
      payments_plan.outcomes("undecided", list, command))
    for n = 1, 30 do list[n] = { key = "u-" .. n, state = "undecided", message = "similar: it" } end
    local lines = payments_plan.outcomes("undecided", list, command)
    assert.same({ 22, 'undecided: 30 payments, the first "u-1": similar: it',
      "  and 20 more: purser payouts report lists them" }, { #lines, lines[1], lines[22] })
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
    local code, out, err = commands.run({ "payouts", "plan", path, "--operation", "wallet.withdraw" }, own)
    assert.equal(2, code, out)
    assert.matches("USDT%s+3%s+60%s+3%s+63%s+60%s+NOT COVERED\n", out)
    assert.matches("warning: the balance of 60 USDT %(this account%) does not cover the sum of 63\n", err)
    assert.matches("the balance does not cover all payments; nothing was sent\n", err)
    assert.equal(before + 1, (at.received "live.account"))

    files.write(path, header .. one .. two)
    local given = { "payouts", path, "--operation", "wallet.withdraw", "--journal", folder .. "/poor.journal",
      "--account", "treasury", "--yes" }
    code, out, err = commands.run(given, own)
    assert.equal(0, code, out .. err)
    assert.matches("waiting: %d+ s, until earlier calls are visible; the journal cannot show that it is the "
      .. "newest\n", err)
    -- 17.5 are left, which is less than any of the payments: those that are made need no balance
    code, out, err = commands.run(given, own)
    assert.equal(0, code, out .. err)
    assert.matches("all 2 payments are made", err)
    assert.is_nil(err:find("warning", 1, true), err)
    files.write(path, header .. one .. two .. three)
    local shown
    code, shown = commands.run_on_terminal({ "payouts", path, "--operation", "wallet.withdraw", "--journal",
      folder .. "/poor.journal", "--account", "treasury" }, own, "no\n")
    assert.equal(2, code)
    assert.matches("made already: 2\n", shown, 1, true)
    assert.is_truthy(shown:find("1 payment to send (1 new)", 1, true), shown)
    assert.is_truthy(shown:find("Type yes for 1 payment, 19.5 USDT (20.5 with fees): ", 1, true), shown)
    assert.matches("does not cover the sum", shown, 1, true)
  end)

  it("compares what a futures account pays with no balance, as no operation shows it", function()
    local path = at.file("key,fromAccountType,toAccountType,asset,amount\nf-1,FUTURES,SPOT,USDT,9000\n")
    local code, out, err = at.run("payouts", "plan", path, "--operation", "wallet.transfer")
    assert.equal(0, code, err)
    assert.matches("this account, FUTURES%s+USDT%s+1%s+9000%s+0%s+9000%s+not shown\n", out)
  end)
end)
