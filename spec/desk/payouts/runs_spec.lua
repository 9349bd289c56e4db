-- SPDX-License-Identifier: MIT
-- One plan is shown, confirmed and sent: the sections of a plan, how its run begins, and what a run takes.

local at = require "payouts_setting"
local files = require "files"
local purser = require "purser"
local runs = require "purser.desk.payouts.runs"

before_each(at.begin)
after_each(at.finish)

local function list(amounts)
  local payments = {}
  for key, amount in pairs(amounts) do
    payments[#payments + 1] = { key = key, operation = at.TRANSFER, params = at.move(amount) }
  end
  table.sort(payments, function(a, b) return a.key < b.key end)
  return payments
end

local function plan_of(payouts, amounts)
  return assert(payouts:plan(amounts and { payments = list(amounts) } or nil))
end

-- Begins a run of a list, of which nothing is sent: as Ctrl-C leaves it.
local function begin(payouts, amounts)
  local plan = plan_of(payouts, amounts)
  local number = assert(runs.begin(payouts, plan))
  runs.leave(payouts, number)
  return number
end

local function keys(rows)
  local names = {}
  for i, row in ipairs(rows) do names[i] = row.key end
  table.sort(names)
  return table.concat(names, " ")
end

local function states(payouts)
  local texts = {}
  for i, payment in ipairs(assert(payouts:list())) do
    texts[i] = ("%s %s %s"):format(payment.key, payment.params.amount, payment.state)
  end
  return texts
end

describe("a plan", function()
  local payouts

  before_each(function() payouts = at.payouts_with() end)

  it("sends what its list has, and no row that was deleted from it: 15 were confirmed, and 815 were paid", function()
    begin(payouts, { a = "15", b = "800" })
    local plan = plan_of(payouts, { a = "15" })
    assert.same({ "a", "b", "15" }, { keys(plan.send), keys(plan.left), tostring(plan.totals[1].amount) })
    local report = assert(payouts:run(plan))
    assert.same({ "a 15 done", "b 800 waiting" }, states(payouts))
    assert.equal(1, report.of_run.done)
    assert.same({}, at.journal.db:rows "SELECT name FROM purser_workers") -- a run that ended has no worker
    plan = plan_of(payouts)
    assert.equal("b", keys(plan.send))
    assert(payouts:run(plan))
    assert.equal(2, at.counted(at.TRANSFER, "applied"))
  end)

  it("of Tuesday's list leaves what is left of Monday's", function()
    begin(payouts, { m1 = "11", m2 = "12" })
    assert(payouts:run(plan_of(payouts, { t1 = "13" })))
    assert.same({ "m1 11 waiting", "m2 12 waiting", "t1 13 done" }, states(payouts))
  end)

  it("has each payment of list and queue that is not over in one section", function()
    begin(payouts, { a = "1", b = "2", c = "3", d = "4", e = "5", f = "6" })
    at.set "stage = 'failed', state = 'rejected' WHERE payment = 'b'"
    at.set "stage = 'undecided', state = 'undecided', attempt = '1' WHERE payment = 'c'"
    at.set "stage = 'dropped' WHERE payment = 'd'"
    at.set "stage = 'sent', state = 'unknown', attempt = '1' WHERE payment = 'e'"
    at.set "stage = 'done', state = 'done', attempt = '1' WHERE payment = 'f'"
    local plan = plan_of(payouts, { a = "9", b = "2", c = "3", d = "4", e = "5", f = "6", g = "7" })
    assert.same({ "a e g", "a", "b c d", "", "f", "" }, { keys(plan.send), keys(plan.changed), keys(plan.held),
      keys(plan.refused), keys(plan.made), keys(plan.left) })
    assert.same({ 1, 1, "21" }, { plan.new, plan.again, tostring(plan.totals[1].amount) })
    plan = plan_of(payouts, { b = "20", c = "30", e = "50", f = "60" })
    assert.same({ "b", "c e f", "a" }, { keys(plan.send), keys(plan.refused), keys(plan.left) })
    plan = plan_of(payouts, { d = "40" }) -- what a person gave up stays so, whatever the list says now
    assert.same({ "", "d", "" }, { keys(plan.send), keys(plan.held), keys(plan.changed) })
  end)

  it("replaces a changed row of which nothing was sent, and refuses one that was made", function()
    begin(payouts, { a = "16.5" })
    assert(payouts:run(plan_of(payouts, { a = "17.5" })))
    assert.same({ "a 17.5 done" }, states(payouts))
    local plan = plan_of(payouts, { a = "18.5", b = "5" })
    assert.equal("a", keys(plan.refused))
    local _, err = payouts:run(plan)
    assert.equal("payouts.changed_since", err.code)
    assert.same({ "a 17.5 done" }, states(payouts))
  end)

  it("refuses a changed row whose last attempt has no known end, in whatever state the row stands", function()
    begin(payouts, { a = "1", b = "2", c = "3", d = "4", e = "5" })
    at.set "stage = 'failed', state = 'unknown', attempt = '1' WHERE payment = 'a'"
    at.set "stage = 'sent', state = 'rejected', attempt = '1' WHERE payment = 'd'" -- looked for by its id
    at.set "stage = 'done', state = 'rejected', attempt = '1' WHERE payment = 'e'" -- by an attempt before
    at.set "stage = 'waiting', state = 'undecided', attempt = '1' WHERE payment = 'b'"
    at.set "stage = 'waiting', state = 'not_done', attempt = '1' WHERE payment = 'c'"
    local plan = plan_of(payouts, { a = "10", b = "20", c = "30", d = "40", e = "50" })
    assert.same({ "a b d e", "c" }, { keys(plan.refused), keys(plan.changed) })
  end)

  it("has no run where a row differs since it was shown, and leaves out what is over or held by then", function()
    begin(payouts, { a = "1", b = "2", c = "3" })
    local shown = plan_of(payouts, { a = "1", b = "2", c = "3" })
    begin(at.payouts_with { worker = "two" }, { b = "25" })
    local _, err = payouts:run(shown)
    assert.same({ "payouts.changed_since", "b" }, { err.code, err.details.keys[1] })
    assert.equal(0, at.counted(at.TRANSFER, "received"))
    shown = plan_of(payouts, { a = "1", b = "25", c = "3" })
    at.set "stage = 'undecided', state = 'undecided', attempt = '1' WHERE payment = 'a'"
    assert(payouts:drop "c")
    assert(payouts:run(shown))
    assert.same({ "a 1 undecided", "b 25 done", "c 3 dropped" }, states(payouts))
  end)

  it("of the queue takes nothing that came in since it was shown", function()
    assert(payouts:add("a", at.TRANSFER, at.move "1"))
    local shown = plan_of(payouts)
    assert(payouts:add("b", at.TRANSFER, at.move "2"))
    assert(payouts:run(shown))
    assert.same({ "a 1 done", "b 2 waiting" }, states(payouts))
  end)

  it("is refused where another key of almost the same letters came in", function()
    local shown = plan_of(payouts, { t2 = "2" })
    begin(at.payouts_with { worker = "two" }, { T2 = "2" })
    local _, err = payouts:run(shown)
    assert.equal("payouts.changed_since", err.code)
    local plan = plan_of(payouts, { t2 = "2" })
    assert.matches('differs only in case or blanks from "T2"', plan.payments[1].odd[1], 1, true)
  end)

  it("says that a new row pays what one pays that left the list, and that a payee changed", function()
    begin(payouts, { ["3"] = "30", ["4"] = "40" })
    at.set "stage = 'sent', state = 'unknown', attempt = '1' WHERE payment = '3'"
    local plan = plan_of(payouts, { ["2"] = "30" })
    assert.matches('it pays the same as "3"', plan.payments[1].odd[1], 1, true)
    local payments = list { ["4"] = "40" }
    payments[1].params.toAccount = "another1"
    plan = assert(payouts:plan { payments = payments })
    assert.matches("the payee was", plan.payments[1].odd[1])
  end)

  it("has an error for two payments with one key, and for a queue that holds none", function()
    local payments = list { a = "1" }
    payments[2] = { key = "a", operation = at.TRANSFER, params = at.move "2" }
    local plan = assert(payouts:plan { payments = payments })
    assert.equal("payment 1 has the same key", plan.payments[2].problems[1])
    assert.equal("plan", select(2, payouts:run(plan)).parameter)
    local _, err = payouts:plan()
    assert.equal("payouts.no_queue", err.code)
  end)
end)

describe("a run", function()
  it("is of the queue, the account and the journal of its plan: in another one all would be new, and paid again",
    function()
      local june, july = at.payouts_with { queue = "june" }, at.payouts_with { queue = "july" }
      local payments = { { key = "a", operation = "wallet.transfer", params = at.own "1" } }
      local plan = assert(june:plan { payments = payments })
      local plans = { [july] = plan, [june] = assert(purser.payouts.plan(at.client, payments)) }
      local journal, path = at.journal, at.path
      at.path = files.path_in_memory()
      at.open()
      plans[at.payouts_with { queue = "june" }] = plan
      for payouts, other in pairs(plans) do
        assert.equal("payouts.other_queue", select(2, payouts:run(other)).code)
        assert.same({}, assert(payouts:list()))
      end
      at.journal:close()
      files.remove_database(at.path)
      at.journal, at.path = journal, path
      assert.equal(1, assert(june:run(plan)).done)
      assert.equal(1, at.counted("wallet.transfer", "received"))
    end)

  it("is joined where its rest is what is shown, and moves no mark", function()
    local one, two = at.payouts_with(), at.payouts_with { worker = "two" }
    local number = begin(one, { a = "1", b = "2" })
    local plan = plan_of(two, { a = "1", b = "2" })
    assert.equal(number, plan.joins)
    assert.equal(number, assert(runs.begin(two, plan)))
    assert.is_nil(plan_of(one, { a = "1" }).joins) -- not all that is left of it
    assert.equal("two", assert(one:runs())[1].workers[1].name)
  end)

  it("takes no row that a person put back, and none whose mark a newer yes moved", function()
    local one, two = at.payouts_with(), at.payouts_with { worker = "two" }
    local shown = plan_of(one, { m1 = "1", m4 = "4" })
    local number = assert(runs.begin(one, shown))
    at.set "stage = 'failed', state = 'rejected' WHERE payment = 'm1'"
    assert(one:retry "m1")
    assert(runs.begin(two, plan_of(two, { m4 = "4", x = "9" })))
    local report = assert(require("purser.desk.payouts.worker").run(one, number))
    assert.equal(0, report.done)
    assert.same({ "m1 1 waiting", "m4 4 waiting", "x 9 waiting" }, states(one))
  end)

  it("without a plan takes what no run ever had; with all = true everything", function()
    local payouts = at.payouts_with()
    begin(payouts, { a = "1" })
    assert(payouts:add("b", at.TRANSFER, at.move "2"))
    assert(payouts:run())
    assert.same({ "a 1 waiting", "b 2 done" }, states(payouts))
    assert(payouts:run { all = true })
    assert.same({ "a 1 done", "b 2 done" }, states(payouts))
    local _, err = payouts:run { everything = true }
    assert.same({ "argument", "everything" }, { err.kind, err.option or err.parameter })
  end)

  it("begins nothing more where its worker stood still for longer than a worker may", function()
    local payouts = at.payouts_with()
    local number = assert(runs.begin(payouts, plan_of(payouts, { a = "1" })))
    assert(at.journal.db:rows("UPDATE purser_workers SET alive_until = $1", at.ahead(-1)))
    local _, err = require("purser.desk.payouts.worker").run(payouts, number)
    assert.equal("payouts.stood_still", err.code)
    assert.equal(0, at.counted(at.TRANSFER, "received"))
  end)

  it("frees what another worker has taken and not sent, so that it is sent once", function()
    local one, two = at.payouts_with(), at.payouts_with { worker = "two" }
    begin(one, { a = "1" })
    at.set("stage = 'taken', worker = 'one', lease_until = $1", at.ahead(60000))
    assert(two:run(plan_of(two, { a = "2" })))
    assert.same({ "a 2 done" }, states(one))
    assert.equal(1, at.counted(at.TRANSFER, "applied"))
  end)

  it("is told from others by the word of a person on one payment", function()
    local payouts = at.payouts_with()
    begin(payouts, { a = "1", b = "2" })
    at.set([[stage = 'undecided', state = 'undecided', attempt = '1', sent_at = '1700000000000',
      recv_window = '5000']])
    for _, err in ipairs { select(2, payouts:retry("b", { force = true })), (select(2, payouts:settle("a", "t-1"))) } do
      assert.matches("may take the request yet", err.message)
      assert.equal("undecided", assert(payouts:find "b").state)
    end
    at.sim:advance(60000)
    assert.is_true(payouts:settle("a", "transfer-1"))
    assert.is_true(payouts:retry("b", { force = true }))
    local said = assert(at.journal.db:rows "SELECT word FROM purser_words ORDER BY word")
    assert.same({ "done", "not_done" }, { said[1].word, said[2].word })
    assert.same({ "done", "transfer-1", "waiting" }, { assert(payouts:find "a").state,
      assert(payouts:find "a").record_id, assert(payouts:find "b").state })
    assert.is_false(payouts:settle("a", "transfer-2"))
    assert.equal("", at.journal.db:rows("SELECT run FROM purser_run_rows WHERE of_payment = 'b'")[1].run)
  end)
end)

it("the name of a payee is kept with the mark, and goes where the payment is another and the list has none", function()
  local payouts = at.payouts_with()
  local function begun(amount, payee)
    local payments = list { a = amount, ['b"\\'] = "2" }
    payments[1].payee = payee
    runs.leave(payouts, assert(runs.begin(payouts, assert(payouts:plan { payments = payments }))))
    return assert(payouts:list())[1].payee
  end
  assert.equal("Acme Ltd", begun("1", "Acme Ltd"))
  assert.is_nil(assert(payouts:list())[2].payee)
  assert.equal("Acme Ltd", begun("1"))
  assert.is_nil(begun "3")
  assert.equal("Bolt", begun("4", "Bolt"))
  assert.equal(2, #assert(at.journal.db:rows "SELECT run FROM purser_run_rows WHERE run <> ''"))
end)

it("a run refuses a payment of an operation that this Purser does not know", function()
  local payouts = at.payouts_with()
  at.add(payouts, 1, 2)
  at.journal.db:rows "UPDATE purser_calls SET operation = 'wallet.withdraw_v2' WHERE payment = 'invoice-1'"
  local report, err = payouts:run()
  assert.is_nil(report)
  assert.matches("wallet.withdraw_v2, which this Purser does not know", err.message)
  assert.equal(0, at.counted(at.TRANSFER, "received"))
end)

it("a view has no payment with a problem, and says of each other why the queue cannot take it", function()
  local function payment(key, ...)
    return { key = key, operation = at.TRANSFER, params = at.move "1", problems = { ... } }
  end
  local payments = { payment("a", "two of these"), payment " b", payment "c" }
  local view = assert(runs.see(at.payouts_with(), payments))
  assert.same({ { "two of these" }, 1, {}, "c" }, { payments[1].problems, #payments[2].problems, payments[3].problems,
    keys(view.list) })
end)
