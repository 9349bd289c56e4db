-- SPDX-License-Identifier: MIT
-- Ten screens that a person sees before and after a run of payouts, as they are printed, in 80 columns.

local at = require "payouts_setting"
local payments_plan = require "purser.cli.payments_plan"
local runs = require "purser.desk.payouts.runs"
local output = require "purser.cli.output"

local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

local payouts, aligned

before_each(function()
  at.begin()
  payouts = at.payouts_with { queue = "june" }
  aligned = output.aligned
  function output.aligned(titles, lines) return aligned(titles, lines, 80) end
end)
after_each(function()
  output.aligned = aligned
  at.finish()
end)

-- Returns the command that a screen prints.
local function command(...) return "purser payouts " .. table.concat({ ... }, " ") .. " --queue june" end

-- Returns the plan of a list "key amount, key amount"; without one that of the queue.
local function plan_of(text, path)
  local list = text and {}
  for key, amount in (text or ""):gmatch "(%S+) ([%d.]+)" do
    list[#list + 1] = { key = key, operation = "wallet.withdraw", line = #list + 2, params = { coin = "USDT",
      network = "TRX", address = TRON, amount = amount } }
  end
  local plan = assert(payouts:plan { payments = list })
  plan.path = text and (path or "june.csv") or nil
  return plan
end

-- Begins a run, of which nothing is sent: as a kill leaves it.
local function begin(text, path)
  local plan = plan_of(text, path)
  plan.person = "alice"
  return assert(runs.begin(payouts, plan)), plan
end

local function set(sql, key) at.set(sql .. (" WHERE payment = '%s'"):format(key)) end
local function made(key)
  set("stage = 'done', state = 'done', attempt = '1', sent_at = '1795442520000', record_id = '8812'", key)
end

local function screen(plan)
  return payments_plan.show(plan, "june", command) .. payments_plan.question(plan) .. "\n"
end

describe("a screen of payouts", function()
  for _, case in ipairs {
    { "new", function() return screen(plan_of "inv-1 900 inv-2 20.5") end, [[
june.csv: 2 payments to send (2 new)
asset  payments  amount  fees    sum  balance
-----  --------  ------  ----  -----  -------  -------
USDT          2   920.5     2  922.5   100000  covered
the fees are assumed to come on top of the amounts
line  key    amount  asset  network  to
----  -----  ------  -----  -------  ----------------------------------
   2  inv-1     900  USDT   TRX      TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7
   3  inv-2    20.5  USDT   TRX      TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7
Type yes for 2 payments, 920.5 USDT (922.5 with fees):
]] },
    { "interrupted", function()
      local number, plan = begin "inv-1 900 inv-2 20.5 inv-3 70"
      made "inv-1"
      set("stage = 'sent', state = 'unknown', attempt = '1'", "inv-2")
      runs.leave(payouts, number)
      return table.concat(payments_plan.stopped(plan, payouts, "purser payouts run june.csv"), "\n") .. "\n"
    end, [[
stopped: 1 of 3 made, 1 sent and not known yet, 1 not sent (70 USDT)
nobody else works on this queue. To go on:
  purser payouts run june.csv
]] },
    { "run again", function()
      local number = begin "inv-1 900 inv-2 20.5 inv-3 70"
      made "inv-1"
      set("stage = 'sent', state = 'unknown', attempt = '1'", "inv-2")
      runs.leave(payouts, number)
      return screen(plan_of "inv-1 900 inv-2 20.5 inv-3 70")
    end, [[
june.csv: 2 payments to send (0 new); goes on with run 1
  1 of these was sent: asked about first, sent again only if not made
made already: 1
asset  payments  amount  fees   sum  balance
-----  --------  ------  ----  ----  -------  -------
USDT          2    90.5     2  92.5   100000  covered
the fees are assumed to come on top of the amounts
line  key    amount  asset  network  to
----  -----  ------  -----  -------  ----------------------------------
   3  inv-2    20.5  USDT   TRX      TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7
   4  inv-3      70  USDT   TRX      TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7
Type yes for at most 2 payments, 90.5 USDT (92.5 with fees):
]] },
    { "shorter than before", function()
      runs.leave(payouts, (begin "a 15 b 800"))
      return screen(plan_of "a 15")
    end, [[
LEFT, not in june.csv, NOT sent by this run: 1, 800 USDT
  b  800 USDT  waiting
      purser payouts drop b --queue june
      or all that is left: purser payouts run --queue june
june.csv: 1 payment to send (0 new)
asset  payments  amount  fees  sum  balance
-----  --------  ------  ----  ---  -------  -------
USDT          1      15     1   16   100000  covered
the fees are assumed to come on top of the amounts
line  key  amount  asset  network  to
----  ---  ------  -----  -------  ----------------------------------
   2  a        15  USDT   TRX      TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7
Type yes for 1 payment, 15 USDT (16 with fees):
]] },
    { "corrected in time", function()
      runs.leave(payouts, (begin "a 16.5 b 20"))
      return screen(plan_of "a 17.5 b 20")
    end, [[
CHANGED, replaced when you say yes: 1
  a  amount 16.5 -> 17.5 (USDT)  nothing was sent for it
june.csv: 2 payments to send (0 new, 1 changed)
asset  payments  amount  fees   sum  balance
-----  --------  ------  ----  ----  -------  -------
USDT          2    37.5     2  39.5   100000  covered
the fees are assumed to come on top of the amounts
line  key  amount  asset  network  to
----  ---  ------  -----  -------  ----------------------------------
   2  a      17.5  USDT   TRX      TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7
   3  b        20  USDT   TRX      TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7
Type yes for 2 payments, 37.5 USDT (39.5 with fees):
]] },
    { "corrected too late", function()
      runs.leave(payouts, (begin "a 16.5 b 20"))
      made "a"
      set("stage = 'sent', state = 'unknown', attempt = '1'", "b")
      return table.concat(payments_plan.refused(plan_of "a 17.5 b 30", command), "\n") .. "\n"
    end, [[
june.csv:2: a has 17.5 USDT; 16.5 was paid on 2026-11-23T14:02:00.000Z (id 8812)
  put 16.5 back in line 2; if 1 more is owed, add a row of 1 with its own key
june.csv:3: b has 30 USDT; 20 may have been sent: nobody knows yet
  put 20 back in line 3; see: purser payouts status --queue june
]] },
    { "partly held", function()
      runs.leave(payouts, (begin "c 20 d 35"))
      set("stage = 'failed', state = 'rejected'", "c")
      set("stage = 'undecided', state = 'undecided', attempt = '1'", "d")
      return screen(plan_of "c 20 d 35 e 90")
    end, [[
HELD, in june.csv, NOT sent by this run: 2, 55 USDT
  c  20 USDT  failed
      purser payouts retry c --queue june
  d  35 USDT  undecided
      purser payouts settle d not_done --queue june
      or purser payouts settle d done RECORD --queue june
june.csv: 1 payment to send (1 new)
asset  payments  amount  fees  sum  balance
-----  --------  ------  ----  ---  -------  -------
USDT          1      90     1   91   100000  covered
the fees are assumed to come on top of the amounts
line  key  amount  asset  network  to
----  ---  ------  -----  -------  ----------------------------------
   4  e        90  USDT   TRX      TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7
Type yes for 1 payment, 90 USDT (91 with fees):
]] },
    { "paid by somebody else, too", function()
      begin("m 33", "mon.csv")
      return screen(plan_of("t1 40 t2 20", "tue.csv"))
    end, [[
LEFT, not in tue.csv, NOT sent by this run: 1, 33 USDT
  m  33 USDT  waiting
      run 1 (alice, pid PID on HOST pays it; stop that first
tue.csv: 2 payments to send (2 new)
asset  payments  amount  fees  sum  balance
-----  --------  ------  ----  ---  -------  -------
USDT          2      60     2   62   100000  covered
the fees are assumed to come on top of the amounts
line  key  amount  asset  network  to
----  ---  ------  -----  -------  ----------------------------------
   2  t1       40  USDT   TRX      TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7
   3  t2       20  USDT   TRX      TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7
Type yes for 2 payments, 60 USDT (62 with fees):
]] },
    { "the whole queue", function()
      runs.leave(payouts, (begin("m 33", "mon.csv")))
      runs.leave(payouts, (begin("t1 40", "tue.csv")))
      return screen(plan_of())
    end, [[
queue june: 2 payments to send
  1 of run 1 (alice, mon.csv)   1 of run 2 (alice, tue.csv)
asset  payments  amount  fees  sum  balance
-----  --------  ------  ----  ---  -------  -------
USDT          2      73     2   75   100000  covered
the fees are assumed to come on top of the amounts
line  key  amount  asset  network  to
----  ---  ------  -----  -------  ----------------------------------
      m        33  USDT   TRX      TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7
      t1       40  USDT   TRX      TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7
Type yes for 2 payments, 73 USDT (75 with fees):
]] },
    { "signed", function()
      runs.leave(payouts, (begin "a 15 b 20"))
      made "a"
      local plan = plan_of("a 15 b 20", "june.plan")
      plan.signed = "alice, bob signed 9f2c41d07a3e; ends 2026-11-30"
      return screen(plan)
    end, [[
june.plan: alice, bob signed 9f2c41d07a3e; ends 2026-11-30
june.plan: 1 payment to send (0 new); goes on with run 1
made already: 1
asset  payments  amount  fees  sum  balance
-----  --------  ------  ----  ---  -------  -------
USDT          1      20     1   21   100000  covered
the fees are assumed to come on top of the amounts
line  key  amount  asset  network  to
----  ---  ------  -----  -------  ----------------------------------
   3  b        20  USDT   TRX      TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7
Type yes for 1 payment, 20 USDT (21 with fees):
]] },
  } do
    it("is, of a list that is " .. case[1] .. ", as this transcript", function()
      local text = case[2]():gsub(" +\n", "\n"):gsub("pid %d+ on %S+", "pid PID on HOST")
      for line in text:gmatch "[^\n]+" do assert.is_true(#line <= 80, line) end
      assert.equal(case[3], text)
    end)
  end

  it("shows all that says who is paid: the memo, and the kind and the area of a number", function()
    local list = {
      { "wallet.withdraw", { coin = "XRP", network = "XRP", address = "rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh",
        amount = "20", memo = "1234567" } },
      { "wallet.withdraw", { coin = "XRP", network = "XRP", address = "rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh",
        amount = "21", memo = "7654321" } },
      { "wallet.internal_transfer", { toAccountType = "MOBILE", toAccount = "13800000", areaCode = "86",
        asset = "USDT", amount = "22" } },
      { "wallet.internal_transfer", { toAccountType = "UID", toAccount = "13800000", asset = "USDT", amount = "23" } },
    }
    for i, each in ipairs(list) do list[i] = { key = "k" .. i, operation = each[1], params = each[2] } end
    local plan = assert(payouts:plan { payments = list })
    assert.same({ 0, 4 }, { plan.bad, #plan.send })
    for i, who in ipairs { "rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh memo 1234567",
      "rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh memo 7654321", "13800000 MOBILE area 86", "13800000 UID" } do
      assert.is_truthy(screen(plan):gsub("%s+", " "):find(who, 1, true), screen(plan))
      assert.equal(("%d %s to %s"):format(19 + i, i < 3 and "XRP" or "USDT", who), payments_plan.pays(plan.send[i]))
    end
    assert.same({ "1234567", "7654321" }, { payments_plan.records(plan)[1].memo, payments_plan.records(plan)[2].memo })
  end)
end)
