-- SPDX-License-Identifier: MIT
-- What a run reports about itself while it works, and why it waits when it does.

local private = require "purser.util.private"
local purser = require "purser"
local schedule = require "purser.schedule"

local sim, account, path, journal, client

local TRANSFER = "sub_account.transfer"

local function move(amount)
  return { toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = amount }
end

local function client_with(options)
  local all = { base_url = "http://localhost", api_key = account.api_key, secret_key = account.secret_key,
    transport = sim:transport(), clock = function() return sim:now() end, rate_limit = false, journal = journal,
    retry = { attempts = 5, base_ms = 1 }, account = "treasury" }
  for name, value in pairs(options or {}) do all[name] = value or nil end
  return assert(purser.new(all))
end

local function payouts_with(options)
  local all = { client = client, journal = journal, retry_ms = 1, idle_ms = 1, worker = "one" }
  for name, value in pairs(options or {}) do all[name] = value end
  return assert(purser.payouts.new(all))
end

before_each(function()
  path = os.tmpname()
  os.remove(path)
  sim = purser.sim.new { seed = 5 }
  account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "100000" },
    futures_balances = { USDT = "10" } })
  assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
  journal = assert(purser.journal.open { sqlite = path })
  client = client_with()
end)

after_each(function()
  journal:close()
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
end)

-- Changes what is kept of the payments, as a clock that was wrong would have written it.
local function set(sql, ...) assert(journal.db:rows("UPDATE purser_payments SET " .. sql, ...)) end

local function ahead(ms) return ("%013d"):format(require("purser.core").now_ms() + ms) end

describe("the progress", function()
  local function reason_of(payouts)
    local reason
    payouts.progress, payouts.progress_ms = function(progress)
      reason = reason or progress.waiting_for
      if reason then payouts:stop() end
    end, 1
    assert(payouts:run())
    return reason
  end

  it("says when the next payment is due, and why it was put off", function()
    local payouts = payouts_with()
    assert(payouts:add("a", TRANSFER, move "1"))
    set("due_at = $1, message = 'the service asked for a pause'", ahead(600000))
    assert.matches("^the next is due in %d+ s %(the service asked for a pause%)$", reason_of(payouts))
  end)

  it("says which lease it waits for", function()
    local payouts = payouts_with()
    assert(payouts:add("a", TRANSFER, move "1"))
    set("state = 'taken', worker = 'other', lease_until = $1", ahead(600000))
    assert.matches("^other workers have 1, the first lease ends in %d+ s$", reason_of(payouts))
  end)

  it("says that the histories are looked at first", function()
    local payouts = payouts_with()
    assert(payouts:add("a", TRANSFER, move "1"))
    local inner, task = sim:transport(), require "purser.schedule"
    private.states[client]._transport = { send = function(_, request) return inner:send(request) end,
      sleep = function(_, ms)
        inner:sleep(ms)
        task.sleep(25)
      end }
    assert.matches("cannot show that it is the newest", reason_of(payouts))
  end)

  it("shows it in its line", function()
    assert.equal("1 of 3 payments (33 %), 0/s, 1 blocked, waits: the next is due in 2 s", purser.payouts.progress_line {
      total = 3, finished = 1, rate = 0, failed = 0, undecided = 0, blocked = 1,
      waiting_for = "the next is due in 2 s" })
  end)
end)

describe("a run that waits for the rate limit", function()
  it("says so in its progress, with the time that is left", function()
    local service, said, looks = sim:transport(), nil, 0
    local transport = { send = function(_, request) return service:send(request) end }
    -- The other tasks run until the progress was reported; then the service's clock goes on.
    function transport.sleep(_, ms)
      while ms >= 1000 and not said and looks < 500 do
        looks = looks + 1
        schedule.sleep(5)
      end
      return service:sleep(ms)
    end
    client = client_with { transport = transport, rate_limit = purser.rate_limit {
      pools = { ip = { capacity = 1, window_ms = 10000 } }, now = function() return sim:now() end } }
    local payouts = payouts_with { concurrency = 1, history_check = "never", progress_ms = 1,
      progress = function(progress)
        if (progress.waiting_for or ""):find "rate limit" then said = said or purser.payouts.progress_line(progress) end
      end }
    assert(payouts:add("a", TRANSFER, move "1"))
    assert(payouts:add("b", TRANSFER, move "2"))
    assert.equal(2, assert(payouts:run()).done)
    assert.matches("waits: the rate limit has room in %d+ s$", said)
  end)
end)
