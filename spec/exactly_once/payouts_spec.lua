-- SPDX-License-Identifier: MIT
-- Payouts: each payment once, whatever happens to its answer, to the program, or to the other workers.

local decimal = require "purser.decimal"
local late_journal = require "late_journal"
local private = require "purser.util.private"
local purser = require "purser"
local schedule = require "purser.schedule"

local sim, account, path, journal, client

local function client_with(options)
  local all = { base_url = "http://localhost", api_key = account.api_key, secret_key = account.secret_key,
    transport = sim:transport(), clock = function() return sim:now() end, rate_limit = false, journal = journal,
    retry = { attempts = 5, base_ms = 1 } }
  for name, value in pairs(options or {}) do all[name] = value end
  return assert(purser.new(all))
end

local function payouts_with(options)
  local all = { client = client, journal = journal, retry_ms = 1, idle_ms = 1, worker = "one" }
  for name, value in pairs(options or {}) do all[name] = value end
  return assert(purser.payouts.new(all))
end

local function move(amount, fields)
  local params = { toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = amount }
  for name, value in pairs(fields or {}) do params[name] = value end
  return params
end

local function paid()
  for _, balance in ipairs(assert(client.sub_account:balances { subAccount = "tradingdesk1", accountType = "SPOT" })) do
    if balance.asset == "USDT" then return balance.free end
  end
  return "0"
end

local function open()
  journal = assert(purser.journal.open { sqlite = path })
  client = client_with()
end

before_each(function()
  path = os.tmpname()
  sim = purser.sim.new { seed = 5 }
  account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "100000" },
    futures_balances = { USDT = "10" } })
  assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
  open()
end)

after_each(function()
  journal:close()
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
end)

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

describe("a run", function()
  it("makes every payment once and reports", function()
    local payouts = payouts_with()
    local total = add(payouts, 50)
    local report = assert(payouts:run())
    assert.equal(50, report.done)
    assert.equal(50, report.total)
    assert.equal(total, paid())
    assert.equal(50, sim:counts()["sub_account.transfer"].applied)
    assert.equal(50, assert(payouts_with():run()).done) -- nothing is left to do
    assert.equal(50, sim:counts()["sub_account.transfer"].received)
  end)

  it("reconciles what was lost and sends again only what was not executed", function()
    local payouts = payouts_with()
    local total = add(payouts, 40)
    sim:fault { kind = "lost_answer", operation = "transfer", probability = 0.2 }
    sim:fault { kind = "reset", operation = "transfer", probability = 0.2 }
    sim:fault { kind = "server_error", probability = 0.1 }
    sim:fault { kind = "throttle", probability = 0.1, retry_after = 0 }
    sim:fault { kind = "garbage", probability = 0.1, bytes = 2000 }
    local report = assert(payouts:run())
    assert.equal(40, report.done)
    sim:disarm()
    assert.equal(total, paid())
    assert.equal(40, sim:counts()["sub_account.transfer"].applied)
    assert.is_true(sim:counts()["sub_account.transfer"].received > 40)
    assert.is_true(sim:verify())
  end)

  it("does the same with payments that only their content identifies", function()
    local payouts = payouts_with { concurrency = 1 }
    for i = 1, 12 do
      assert(payouts:add("c" .. i, "wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES",
        asset = "USDT", amount = ("%d.5"):format(i) }))
    end
    sim:fault { kind = "lost_answer", operation = "transfer", probability = 0.3 }
    sim:fault { kind = "reset", operation = "transfer", when = "before", probability = 0.3 }
    local report = assert(payouts:run())
    assert.equal(12, report.done)
    assert.equal(12, sim:counts()["wallet.transfer"].applied)
  end)

  it("leaves a broker's withdrawal undecided whose answer was lost, and lists it", function()
    account = assert(sim:account { name = "tradingdesk3", role = "sub", parent = account.uid,
      balances = { USDT = "100" } })
    client = client_with()
    assert(sim:save_address { account = account, coin = "USDT", network = "Tron(TRC20)",
      address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm" })
    local payouts = payouts_with()
    assert(payouts:add("rent", "broker.withdraw", { coin = "USDT", network = "Tron(TRC20)",
      address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm", amount = "20" }))
    sim:fault { kind = "reset", when = "before", operation = "broker.withdraw" }
    local report = assert(payouts:run())
    assert.equal(1, report.undecided)
    assert.equal("rent", report.undecided_payments[1].key)
    assert.equal(1, assert(payouts:run()).undecided) -- never sent again by a machine
    assert.equal("payouts.undecided", select(2, payouts:retry "rent").code)
    assert.is_true(payouts:retry("rent", { force = true })) -- a person looked
    assert.equal(1, assert(payouts:run()).done)
  end)

  it("finds a broker's lost withdrawal by its remark, and leaves one without a remark undecided", function()
    account = assert(sim:account { name = "tradingdesk3", role = "sub", parent = account.uid,
      balances = { USDT = "100" } })
    client = client_with()
    local address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"
    assert(sim:save_address { account = account, coin = "USDT", network = "Tron(TRC20)", address = address })
    local payouts = payouts_with()
    assert(payouts:add("remarked", "broker.withdraw", { coin = "USDT", network = "Tron(TRC20)", address = address,
      amount = "20", remark = "rent of May" }))
    assert(payouts:add("plain", "broker.withdraw", { coin = "USDT", network = "Tron(TRC20)", address = address,
      amount = "30" }))
    sim:fault { kind = "lost_answer", operation = "broker.withdraw", times = 2 }
    local report = assert(payouts:run())
    assert.same({ 1, 1 }, { report.done, report.undecided })
    assert.same({ "done", "undecided" }, { payouts:find("remarked").state, payouts:find("plain").state })
    assert.equal(2, sim:counts()["broker.withdraw"].applied)
  end)

  it("keeps what was rejected as failed, with the reason, when a look gives the same reason", function()
    local payouts = payouts_with { history_check = "never" }
    assert(payouts:add("a", "sub_account.transfer", move("1", { toAccount = "nobody01" })))
    assert.equal(1, assert(payouts:run()).failed)
    assert.matches("nobody01", assert(payouts:list "failed")[1].message)
    assert(sim:account { name = "nobody01", role = "sub", parent = account.uid })
    assert.is_true(payouts:retry "a")
    assert.is_false(payouts:retry "a")
    assert.equal(1, assert(payouts:run()).done)
  end)

  it("does not take a firewall's page for the service's rejection", function()
    local payouts = payouts_with()
    assert(payouts:add("a", "sub_account.transfer", move("1")))
    sim:fault { kind = "garbage", form = "html", when = "before", operation = "sub_account.transfer", times = 3 }
    assert.equal(1, assert(payouts:run()).done)
    assert.equal(4, sim:counts()["sub_account.transfer"].received)
  end)

  it("takes a rejection of a second attempt for what it may be", function()
    -- The service shows records later than it was given: a payment that was made is sent again, under its one id.
    sim = purser.sim.new { seed = 5, visibility_delay_ms = 60000, repeated_ids = "reject" }
    account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "100" } })
    assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
    sim:advance(120000)
    client = client_with()
    local payouts = payouts_with()
    assert(payouts:add("a", "sub_account.transfer", move("1")))
    sim:fault { kind = "lost_answer", operation = "sub_account.transfer" }
    local reconcile, asked = client.reconcile, 0
    client.reconcile = function(self, intent)
      asked = asked + 1
      return reconcile(self, intent, { visibility_delay_ms = asked == 1 and 0 or 60000 })
    end
    local report = assert(payouts:run())
    assert.equal(1, report.done)
    assert.equal(1, sim:counts()["sub_account.transfer"].applied)
    assert.equal(2, sim:counts()["sub_account.transfer"].received)
  end)

  it("asks again whether a payment that was put back and rejected had been made", function()
    local payouts = payouts_with { history_check = "never" }
    assert(payouts:add("a", "sub_account.transfer", move("1")))
    -- it was made, its answer was nonsense, and so was the history: a person puts back what was undecided
    sim:fault { kind = "lost_answer", operation = "sub_account.transfer" }
    sim:fault { kind = "reject", operation = "sub_account.transfer_history", times = 10 }
    assert.equal(1, assert(payouts:run()).undecided)
    assert.is_true(payouts:retry("a", { force = true }))
    local report = assert(payouts:run())
    assert.equal(1, report.done)
    assert.equal(1, sim:counts()["sub_account.transfer"].received)
    assert.equal("1", paid())
  end)

  it("lets the guard rails reject", function()
    client = client_with { guard = { max_amount = { USDT = "5" } } }
    local payouts = payouts_with()
    assert(payouts:add_all { { key = "a", operation = "sub_account.transfer", params = move("5") },
      { key = "b", operation = "sub_account.transfer", params = move("6") } })
    local report = assert(payouts:run())
    assert.equal(1, report.done)
    assert.equal(1, report.failed)
    assert.matches("max_amount", assert(payouts:list "failed")[1].message)
  end)

  it("ends with the error when the journal cannot be written, and goes on later", function()
    local payouts = payouts_with { concurrency = 2 }
    local total = add(payouts, 6)
    local inner, sent = sim:transport(), 0
    private.states[client]._transport = { send = function(_, request)
      if request.method == "POST" then sent = sent + 1 end
      if request.method == "POST" and sent == 3 then assert(journal.db:rows "PRAGMA query_only = 1") end
      return inner:send(request)
    end, sleep = function(_, ms) inner:sleep(ms) end }
    local report, err = payouts:run()
    assert.is_nil(report)
    assert.equal("journal", err.phase)
    assert.equal(3, sent)
    assert(journal.db:rows "PRAGMA query_only = 0")
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
    assert.matches("^%d of 5 payments %(%d+ %%%), %d+/s", lines[1])
    assert.equal("3 of 4 payments (75 %), 10/s, 1 s left, 1 failed, 2 undecided", purser.payouts.progress_line {
      total = 4, finished = 3, rate = 10, seconds_left = 1, failed = 1, undecided = 2 })
  end)
end)

describe("a worker that died", function()
  -- As good as ends the program in the middle of the n-th request: nothing is written any more.
  local function die_at(n, after)
    local inner, sent = sim:transport(), 0
    return { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
      if request.method ~= "POST" then return inner:send(request) end
      sent = sent + 1
      if sent == n then
        if after then inner:send(request) end
        journal:close()
        error "killed"
      end
      return inner:send(request)
    end }
  end

  for _, after in ipairs { true, false } do
    it(after and "after its request was executed pays nothing twice" or "before that sees it made", function()
      local payouts = payouts_with { concurrency = 1 }
      local total = add(payouts, 8)
      private.states[client]._transport = die_at(4, after)
      assert.is_nil(payouts:run())
      open()
      assert.equal(8, assert(payouts_with():run()).done)
      assert.equal(total, paid())
      assert.equal(8, sim:counts()["sub_account.transfer"].applied)
    end)
  end

  it("leaves its payments to others when its lease has ended, not before", function()
    local payouts = payouts_with { concurrency = 1, worker = "dead", lease_ms = 200 }
    local total = add(payouts, 3)
    private.states[client]._transport = die_at(2, true)
    assert.is_nil(payouts:run())
    open()
    local other = payouts_with { worker = "alive", lease_ms = 200 }
    local before = require("purser.core").monotonic_ms()
    assert.equal(3, assert(other:run()).done)
    assert.is_true(require("purser.core").monotonic_ms() - before >= 100)
    assert.equal(total, paid())
  end)

  it("does not take the end of an earlier attempt for that of a later one", function()
    -- A worker that stood still beyond its lease holds a payment twice: as it was, and as it is.
    local queue = require "purser.exactly_once.payouts.queue"
    local payouts = payouts_with { worker = "slow", lease_ms = 60000 }
    assert(payouts:add("a", "sub_account.transfer", move("1")))
    local function within(fn) return assert(journal.db:transaction(function(tx) return fn(tx) or true end)) end
    local was = within(function(tx) return queue.take_waiting(tx, payouts, 1) end)[1]
    within(function(tx) queue.reclaim(tx, payouts) end)
    local is = within(function(tx) return queue.take_abandoned(tx, payouts, 1) end)[1]
    assert.is_true(within(function(tx) return queue.mark_sent(tx, payouts, is, "intent-2") end))
    is.intent = "intent-2"
    within(function(tx) queue.move(tx, payouts, was, { state = "waiting" }) end)
    assert.equal("sent", assert(payouts:list())[1].state)
    within(function(tx) queue.move(tx, payouts, is, { state = "waiting" }) end)
    assert.equal("waiting", assert(payouts:list())[1].state)
    within(function(tx) queue.take_waiting(tx, payouts, 1) end)
    journal.db:transaction(function(tx) -- what it was before it was sent must not be sent again
      assert.is_false(queue.mark_sent(tx, payouts, was, "intent-3"))
      return true
    end)
  end)

  it("without the record before the request pays twice or loses count", function()
    journal:close()
    journal = late_journal.make(assert(purser.journal.open { sqlite = path }))
    client = client_with { generate_ids = false }
    local payouts = payouts_with { concurrency = 1, history_check = "never" }
    for i = 1, 4 do
      assert(payouts:add("c" .. i, "wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES",
        asset = "USDT", amount = ("%d"):format(i) }))
    end
    private.states[client]._transport = die_at(2, true)
    assert.is_nil(payouts:run())
    journal = late_journal.make(assert(purser.journal.open { sqlite = path }))
    client = client_with()
    assert(payouts_with { history_check = "never" }:run())
    assert.equal(5, sim:counts()["wallet.transfer"].applied) -- one of the four was paid twice
  end)
end)

describe("two workers at one queue", function()
  it("share the payments", function()
    local one, two = payouts_with { worker = "one" }, payouts_with { worker = "two" }
    local total = add(one, 60)
    local slow = sim:transport()
    private.states[client]._transport = { send = function(_, request)
      schedule.sleep(1)
      return slow:send(request)
    end, sleep = function(_, ms) slow:sleep(ms) end }
    schedule.all { function() return assert(one:run()) end, function() return assert(two:run()) end }
    assert.equal(60, sim:counts()["sub_account.transfer"].received)
    private.states[client]._transport = sim:transport()
    assert.equal(total, paid())
  end)
end)

describe("options", function()
  it("are checked", function()
    for expected, options in pairs {
      ['did you mean "worker"'] = { client = client, journal = journal, workers = "x" },
      ["whole number"] = { client = client, journal = journal, concurrency = 0.5 },
      ["has no client"] = { journal = journal },
      ['"queue" is empty'] = { client = client, journal = journal, queue = "" },
      ['"worker" is empty'] = { client = client, journal = journal, worker = "" },
      ["same journal"] = { client = client_with { journal = assert(purser.journal.open { sqlite = path }) },
        journal = journal },
    } do
      local payouts, err = purser.payouts.new(options)
      assert.is_nil(payouts)
      assert.equal("config", err.kind)
      assert.matches(expected, tostring(err))
    end
  end)
end)
