-- SPDX-License-Identifier: MIT
-- Payouts: each payment once, whatever happens to its answer, to the program, or to the other workers.

local at = require "payouts_setting"
local core = require "purser.core"
local decimal = require "purser.decimal"
local late_journal = require "late_journal"
local operations = require "purser.client.operations"
local private = require "purser.client.util.private"
local purser = require "purser"
local queue = require "purser.desk.payouts.queue"
local schedule = require "purser.schedule"

local move, own, client_with, payouts_with = at.move, at.own, at.client_with, at.payouts_with

before_each(at.begin)
after_each(at.finish)

local function paid()
  local balances = at.client.sub_account:balances { subAccount = "tradingdesk1", accountType = "SPOT" }
  for _, balance in ipairs(assert(balances)) do
    if balance.asset == "USDT" then return balance.free end
  end
  return "0"
end

local function add(payouts, count)
  local list, total = {}, decimal "0"
  for i = 1, count do
    local amount = ("%d.%02d"):format(i, i % 100)
    list[i] = { key = "invoice-" .. i, operation = "sub_account.transfer", params = move(amount) }
    total = total + amount
  end
  assert(payouts:add_all(list))
  return tostring(total)
end

describe("adding", function()
  it("the same key with the same content is one payment", function()
    local payouts = payouts_with()
    assert.is_true(payouts:add("a", "sub_account.transfer", move("1")))
    assert.is_false(payouts:add("a", "sub_account.transfer", move("1")))
    assert.equal(1, assert(payouts:report()).total)
    assert.same({ added = 1, repeated = 1 }, payouts:add_all {
      { key = "a", operation = "sub_account.transfer", params = move("1") },
      { key = "b", operation = "sub_account.transfer", params = move("1") },
    })
  end)

  it("the same key with other content is an error, and none of the list is added", function()
    local payouts = payouts_with()
    assert(payouts:add("a", "sub_account.transfer", move("1")))
    for _, other in ipairs { move("2"), move("1", { toAccount = "tradingdesk2" }),
      move("1", { clientTranId = ("x"):rep(32) }) } do
      local ok, err = payouts:add_all {
        { key = "new", operation = "sub_account.transfer", params = move("1") },
        { key = "a", operation = "sub_account.transfer", params = other },
      }
      assert.is_nil(ok)
      assert.equal("argument", err.kind)
      assert.matches("other content", err.message)
      assert.equal("payouts.other_content", err.code)
    end
    assert.equal(1, assert(payouts:report()).total)
  end)

  it("one payment is found by its key, in its own queue alone", function()
    local payouts = payouts_with()
    assert.is_false(payouts:find "a")
    assert(payouts:add("a", "sub_account.transfer", move("1")))
    local found = assert(payouts:find "a")
    assert.equal("waiting", found.state)
    assert.equal("1", found.params.amount)
    assert.is_false(payouts:find "b")
    assert.is_false(payouts_with { queue = "another" }:find "a")
    assert(payouts:run())
    found = assert(payouts:find "a")
    assert.equal("done", found.state)
    assert.matches("%S", found.record_id)
  end)

  it("what is in a queue is seen while another program writes to the journal", function()
    local payouts = payouts_with()
    assert(payouts:add("a", "sub_account.transfer", move("1")))
    local other = assert(purser.journal.open { sqlite = at.path })
    finally(function() other:close() end)
    assert(other.db:transaction(function()
      local third = assert(purser.journal.open { sqlite = at.path, lock_timeout_ms = 20 }) -- nor does it open late
      assert.same({}, assert(third:entries()))
      assert.same({ false, false }, { payouts:retry "a", (payouts:retry "none") })
      third:close()
      assert.equal("waiting", assert(payouts:find "a").state)
      assert.equal(1, #assert(payouts:list "waiting"))
      assert.equal(1, assert(payouts:report()).total)
      assert.equal(1, assert(purser.payouts.queues(at.journal))[1].total)
      return true
    end))
  end)

  it("checks each payment as the call would", function()
    local payouts = payouts_with()
    for expected, entry in pairs {
      ["is a float"] = { "k", "sub_account.transfer", move(1.5) },
      ["holds a bidirectional mark U%+202E"] = { "k", "wallet.withdraw", { coin = "USDT", netWork = "TRX", amount = "1",
        address = "TSampLe\226\128\174Address" } },
      ["moves funds"] = { "k", "wallet.coins", {} },
      ["1 to 200"] = { "", "sub_account.transfer", move("1") },
      ["password"] = { "k", "broker.withdraw", { coin = "USDT", network = "x", address = "y", amount = "1",
        funds_password = "z" } },
    } do
      local ok, err = payouts:add(entry[1], entry[2], entry[3])
      assert.is_nil(ok)
      assert.matches(expected, tostring(err))
    end
  end)
end)

describe("the runs of a queue", function()
  it("are those with payments left", function()
    local payouts = payouts_with()
    local payments = { { key = "a", operation = at.TRANSFER, params = at.move "1" } }
    local number = assert(require("purser.desk.payouts.runs").begin(payouts, assert(payouts:plan {
      payments = payments })))
    assert.equal(number, assert(payouts:runs())[1].number)
    assert(payouts:run { all = true })
    assert.same({}, assert(payouts:runs()))
  end)
end)

describe("a run", function()
  it("makes every payment once and reports", function()
    local payouts = payouts_with()
    local total = add(payouts, 50)
    local report = assert(payouts:run())
    assert.equal(50, report.done)
    assert.equal(50, report.total)
    assert.equal(total, paid())
    assert.equal(50, at.sim:counts()["sub_account.transfer"].applied)
    assert.equal(50, assert(payouts_with():run()).done) -- nothing is left to do
    assert.equal(50, at.sim:counts()["sub_account.transfer"].received)
  end)

  it("reconciles what was lost and sends again only what was not executed", function()
    local payouts = payouts_with()
    local total = add(payouts, 40)
    at.sim:fault { kind = "lost_answer", operation = "transfer", probability = 0.2 }
    at.sim:fault { kind = "reset", operation = "transfer", probability = 0.2 }
    at.sim:fault { kind = "server_error", probability = 0.1 }
    at.sim:fault { kind = "throttle", probability = 0.1, retry_after = 0 }
    at.sim:fault { kind = "garbage", probability = 0.1, bytes = 2000 }
    local report = assert(payouts:run())
    assert.equal(40, report.done)
    at.sim:disarm()
    assert.equal(total, paid())
    assert.equal(40, at.sim:counts()["sub_account.transfer"].applied)
    assert.is_true(at.sim:counts()["sub_account.transfer"].received > 40)
    assert.is_true(at.sim:verify())
  end)

  it("does the same with payments that only their content identifies", function()
    local payouts = payouts_with { concurrency = 1 }
    for i = 1, 12 do
      assert(payouts:add("c" .. i, "wallet.transfer", own(("%d.5"):format(i))))
    end
    at.sim:fault { kind = "lost_answer", operation = "transfer", probability = 0.3 }
    at.sim:fault { kind = "reset", operation = "transfer", when = "before", probability = 0.3 }
    local report = assert(payouts:run())
    assert.equal(12, report.done)
    assert.equal(12, at.sim:counts()["wallet.transfer"].applied)
  end)

  it("leaves a broker's withdrawal undecided whose answer was lost, and lists it", function()
    at.account = assert(at.sim:account { name = "tradingdesk3", role = "sub", parent = at.account.uid,
      balances = { USDT = "100" } })
    at.client = client_with()
    assert(at.sim:save_address { account = at.account, coin = "USDT", network = "Tron(TRC20)",
      address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm" })
    local payouts = payouts_with()
    assert(payouts:add("rent", "broker.withdraw", { coin = "USDT", network = "Tron(TRC20)",
      address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm", amount = "20" }))
    at.sim:fault { kind = "reset", when = "before", operation = "broker.withdraw" }
    local report = assert(payouts:run())
    assert.equal(1, report.undecided)
    assert.equal("rent", report.undecided_payments[1].key)
    assert.equal(1, assert(payouts:run()).undecided) -- never sent again by a machine
    assert.equal("payouts.undecided", select(2, payouts:retry "rent").code)
    assert.is_true(payouts:retry("rent", { force = true })) -- a person looked
    assert.equal(1, assert(payouts:run()).done)
  end)

  it("finds a broker's lost withdrawal by its remark, and leaves one without a remark undecided", function()
    at.account = assert(at.sim:account { name = "tradingdesk3", role = "sub", parent = at.account.uid,
      balances = { USDT = "100" } })
    at.client = client_with()
    local address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"
    assert(at.sim:save_address { account = at.account, coin = "USDT", network = "Tron(TRC20)", address = address })
    local payouts = payouts_with()
    assert(payouts:add("remarked", "broker.withdraw", { coin = "USDT", network = "Tron(TRC20)", address = address,
      amount = "20", remark = "rent of May" }))
    assert(payouts:add("plain", "broker.withdraw", { coin = "USDT", network = "Tron(TRC20)", address = address,
      amount = "30" }))
    at.sim:fault { kind = "lost_answer", operation = "broker.withdraw", times = 2 }
    local report = assert(payouts:run())
    assert.same({ 1, 1 }, { report.done, report.undecided })
    assert.same({ "done", "undecided" }, { payouts:find("remarked").state, payouts:find("plain").state })
    assert.equal(2, at.sim:counts()["broker.withdraw"].applied)
  end)

  it("keeps what was rejected as failed, with the reason, when a look gives the same reason", function()
    local payouts = payouts_with { history_check = "never" }
    assert(payouts:add("a", "sub_account.transfer", move("1", { toAccount = "nobody01" })))
    assert.equal(1, assert(payouts:run()).failed)
    assert.matches("nobody01", assert(payouts:list "failed")[1].message)
    assert(at.sim:account { name = "nobody01", role = "sub", parent = at.account.uid })
    assert.is_true(payouts:retry "a")
    assert.is_false(payouts:retry "a")
    assert.equal(1, assert(payouts:run()).done)
  end)

  it("does not take a firewall's page for the service's rejection", function()
    local payouts = payouts_with()
    assert(payouts:add("a", "sub_account.transfer", move("1")))
    at.sim:fault { kind = "garbage", form = "html", when = "before", operation = "sub_account.transfer", times = 3 }
    assert.equal(1, assert(payouts:run()).done)
    assert.equal(4, at.sim:counts()["sub_account.transfer"].received)
  end)

  it("takes a rejection of a second attempt for what it may be", function()
    -- The service shows records later than it was given: a payment that was made is sent again, under its one id.
    at.sim = purser.sim.new { seed = 5, visibility_delay_ms = 60000, repeated_ids = "reject" }
    at.account = assert(at.sim:account { name = "Acme", role = "broker", balances = { USDT = "100" } })
    assert(at.sim:account { name = "tradingdesk1", role = "sub", parent = at.account.uid })
    at.sim:advance(120000)
    at.client = client_with()
    local payouts = payouts_with()
    assert(payouts:add("a", "sub_account.transfer", move("1")))
    at.sim:fault { kind = "lost_answer", operation = "sub_account.transfer" }
    local reconcile, asked = at.client.reconcile, 0
    at.client.reconcile = function(self, intent, options, window)
      if window.is_planned then return reconcile(self, intent, options, window) end -- before it was sent
      asked = asked + 1
      return reconcile(self, intent, { visibility_delay_ms = asked == 1 and 0 or 60000 }, window)
    end
    local report = assert(payouts:run())
    assert.equal(1, report.done)
    assert.equal(1, at.sim:counts()["sub_account.transfer"].applied)
    assert.equal(2, at.sim:counts()["sub_account.transfer"].received)
  end)

  it("ends with the error when the journal cannot be written, and goes on later", function()
    local payouts = payouts_with { concurrency = 2 }
    local total = add(payouts, 6)
    local sent = 0
    private.states[at.client]._transport = at.transport(function(request, inner)
      if request.method == "POST" then sent = sent + 1 end
      if request.method == "POST" and sent == 3 then assert(at.journal.db:rows "PRAGMA query_only = 1") end
      return inner:send(request)
    end)
    local report, err = payouts:run()
    assert.is_nil(report)
    assert.equal("journal", err.phase)
    assert.equal(3, sent)
    assert(at.journal.db:rows "PRAGMA query_only = 0")
    assert.equal(6, assert(payouts:run()).done)
    assert.equal(total, paid())
  end)

  it("reports its progress, and stops when asked", function()
    local lines = {}
    local payouts
    payouts = payouts_with { progress_ms = 1, progress = function(progress)
      lines[#lines + 1] = purser.payouts.progress_line(progress)
      payouts:stop()
    end }
    add(payouts, 5)
    assert(payouts:run())
    assert.matches("^%[[#.]+%] %d of 5 payments %(%d+ %%%), .*%d+/s$", lines[1])
    assert.equal("[###############.....] 3 of 4 payments (75 %), 1 failed, 2 undecided, 1 s left, 10/s",
      purser.payouts.progress_line { total = 4, finished = 3, rate = 10, seconds_left = 1, failed = 1, undecided = 2 })
  end)
end)

describe("a worker that died", function()
  -- As good as ends the program in the middle of the n-th request: nothing is written any more.
  local function die_at(n, after)
    local sent = 0
    return at.transport(function(request, inner)
      if request.method ~= "POST" then return inner:send(request) end
      sent = sent + 1
      if sent == n then
        if after then inner:send(request) end
        at.journal:close()
        error "killed"
      end
      return inner:send(request)
    end)
  end

  for _, after in ipairs { true, false } do
    it(after and "after its request was executed pays nothing twice" or "before that sees it made", function()
      local payouts = payouts_with { concurrency = 1 }
      local total = add(payouts, 8)
      private.states[at.client]._transport = die_at(4, after)
      assert.is_nil(payouts:run())
      at.open()
      assert.equal(8, assert(payouts_with():run()).done)
      assert.equal(total, paid())
      assert.equal(8, at.sim:counts()["sub_account.transfer"].applied)
    end)
  end

  it("leaves its payments to others when its lease has ended, not before", function()
    local payouts = payouts_with { concurrency = 1, worker = "dead", lease_ms = 200 }
    local total = add(payouts, 3)
    private.states[at.client]._transport = die_at(2, true)
    assert.is_nil(payouts:run())
    at.open()
    local other = payouts_with { worker = "alive", lease_ms = 200 }
    local before = core.monotonic_ms()
    assert.equal(3, assert(other:run()).done)
    assert.is_true(core.monotonic_ms() - before >= 100)
    assert.equal(total, paid())
  end)

  it("does not take the end of an earlier attempt for that of a later one", function()
    -- A worker that stood still beyond its lease holds a payment twice: as it was, and as it is.
    local payouts = payouts_with { worker = "slow", lease_ms = 60000 }
    assert(payouts:add("a", "sub_account.transfer", move("1")))
    local function within(fn) return assert(at.journal.db:transaction(function(tx) return fn(tx) or true end)) end
    local was = within(function(tx) return queue.take_waiting(tx, payouts, 1) end)[1]
    within(function(tx) queue.reclaim(tx, payouts) end)
    local is = within(function(tx) return queue.take_abandoned(tx, payouts, 1) end)[1]
    local function begin(payment)
      local intent = { operation = payment.operation, params = payment.params, sent_at = at.sim:now(),
        recv_window = 5000, account = "treasury" }
      return at.journal:begin(intent, operations.by_name[payment.operation], nil, nil, payment) and intent
    end
    local intent = assert(begin(is))
    within(function(tx) queue.move(tx, payouts, was, { stage = "waiting" }) end)
    assert.equal("sent", assert(payouts:list())[1].state)
    assert(at.journal:finish(intent, nil, { outcome = "not_sent" }, { stage = "waiting" }))
    assert.equal("waiting", assert(payouts:list())[1].state)
    within(function(tx) return queue.take_waiting(tx, payouts, 1) end)
    assert.is_nil(begin(was)) -- what it was before it was sent must not be sent again
  end)

  it("without the record before the request pays twice or loses count", function()
    at.journal:close()
    at.journal = late_journal.make(assert(purser.journal.open { sqlite = at.path }))
    at.client = client_with { generate_ids = false }
    local payouts = payouts_with { concurrency = 1, history_check = "never" }
    for i = 1, 4 do
      assert(payouts:add("c" .. i, "wallet.transfer", own(("%d"):format(i))))
    end
    private.states[at.client]._transport = die_at(2, true)
    assert.is_nil(payouts:run())
    at.journal = late_journal.make(assert(purser.journal.open { sqlite = at.path }))
    at.client = client_with()
    assert(payouts_with { history_check = "never" }:run())
    assert.equal(5, at.sim:counts()["wallet.transfer"].applied) -- one of the four was paid twice
  end)
end)

describe("two workers at one queue", function()
  it("share the payments", function()
    local one, two = payouts_with { worker = "one" }, payouts_with { worker = "two" }
    local total = add(one, 60)
    private.states[at.client]._transport = at.transport(function(request, inner)
      schedule.sleep(1)
      return inner:send(request)
    end)
    schedule.all { function() return assert(one:run()) end, function() return assert(two:run()) end }
    assert.equal(60, at.sim:counts()["sub_account.transfer"].received)
    private.states[at.client]._transport = at.sim:transport()
    assert.equal(total, paid())
  end)
end)

describe("options", function()
  it("are checked", function()
    for expected, options in pairs {
      ['did you mean "worker"'] = { client = at.client, journal = at.journal, workers = "x" },
      ["whole number"] = { client = at.client, journal = at.journal, concurrency = 0.5 },
      ["has no client"] = { journal = at.journal },
      ['"queue" is empty'] = { client = at.client, journal = at.journal, queue = "" },
      ['"worker" is empty'] = { client = at.client, journal = at.journal, worker = "" },
      ["same journal"] = { client = client_with { journal = assert(purser.journal.open { sqlite = at.path }) },
        journal = at.journal },
    } do
      local payouts, err = purser.payouts.new(options)
      assert.is_nil(payouts)
      assert.equal("config", err.kind)
      assert.matches(expected, tostring(err))
    end
  end)
end)
