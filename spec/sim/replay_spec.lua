-- SPDX-License-Identifier: MIT
-- One seed replays a run; a snapshot goes on where it was taken; broken books are seen.

local decimal = require "purser.decimal"
local json = require "purser.json"
local core = require "purser.core"
local ledger = require "purser.sim.ledger"
local to_json = require "purser.sim.to_json"
local purser = require "purser"
local timers = require "purser.sim.timers"
local signed = require "signed"

local get = signed.get
local HOUR = 3600000

-- Something of everything that has state. Returns the texts of all answers.
local function live(sim, accounts)
  local house, texts = accounts.house, {}
  local function call(who, id, params)
    local response = sim:handle(signed.request(sim, who, id, params))
    texts[#texts + 1] = id .. " " .. response.body
    return core.decode(response.body)
  end
  local address = call(house, "C6", { coin = "USDT", network = "Tron(TRC20)" }).address
  call(house, "A2", { subAccount = accounts.sub, note = "n" })
  local key = call(house, "A5", { subAccount = accounts.sub, note = "k", permissions = "SPOT_DEPOSIT_WRITE" })
  call({ api_key = key.apikey, secret_key = key.secretKey }, "A8", { coin = "XLM", network = "Stellar(XLM)" })
  sim:deposit { address = address, coin = "USDT", network = "TRX", amount = "5" }
  sim:save_address { account = house.uid, coin = "USDT", network = "TRX", address = address }
  sim:rebate { account = house.uid, asset = "USDT", amount = "1" }
  call(house, "A13", { toAccount = accounts.sub, fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = "3", clientTranId = (accounts.sub .. ("0"):rep(32)):sub(1, 32) })
  call(house, "C2", { coin = "USDT", netWork = "TRX", address = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE", amount = "10" })
  call(house, "C9", { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "4" })
  call(house, "C15", { toAccountType = "UID", toAccount = accounts.friend.uid, asset = "USDT", amount = "1" })
  call(house, "C13", { asset = "DOGE" })
  for _, id in ipairs { "C4", "C5", "C7", "C8", "C12", "C14", "C16", "A3", "A15", "B2" } do call(house, id) end
  return texts
end

local function world(seed, options)
  options = options or {}
  options.seed = seed
  local sim = purser.sim.new(options)
  return sim, {
    house = assert(sim:account { role = "broker", balances = { USDT = "1000", DOGE = "9" } }),
    friend = assert(sim:account {}), sub = "desk0001",
  }
end

describe("a run of the simulator", function()
  it("is the same again under the same seed, and another under another", function()
    local first, second, third = live(world(4)), live(world(4)), live(world(5))
    assert.same(first, second)
    assert.are_not.same(first, third)
  end)

  it("goes on from a snapshot that went through JSON as if nothing had happened", function()
    local sim, accounts = world(4, { transfer_wait_ms = 1000 })
    live(sim, accounts)
    local function mark(value) -- an empty table says nothing of its kind in JSON
      if type(value) ~= "table" then return value end
      local copy = {}
      for name, member in pairs(value) do copy[name] = mark(member) end
      return next(copy) == nil and json.object {} or copy
    end
    local snapshot = sim:snapshot()
    local copy = purser.sim.restore(assert(core.decode(json.encode(mark(snapshot)))))
    assert.same(snapshot, copy:snapshot())
    assert(copy:verify())
    accounts.sub = "desk0002"
    sim:advance(HOUR)
    copy:advance(HOUR)
    assert.same(live(sim, accounts), live(copy, accounts))
    assert.same(sim:snapshot(), copy:snapshot())
    assert.same(sim:counts(), copy:counts())
  end)

  it("has a real clock that went on while nothing ran, with every advance", function()
    local sim, accounts = world(4, { clock = "real" })
    sim:advance(5000)
    assert(sim:deposit { account = accounts.house.uid, coin = "USDT", network = "TRX", amount = "5" })
    local snapshot = sim:snapshot()
    snapshot.clock.latest = snapshot.clock.latest - HOUR -- as if it had been taken an hour ago
    for _, item in ipairs(snapshot.schedule.items) do item.at = item.at - HOUR end
    local before = core.now_ms()
    sim = purser.sim.restore(snapshot)
    assert.is_true(sim:now() >= before + 5000)
    assert.equal(5, get(sim, accounts.house, "C4")[1].status)
    assert(sim:verify())
    local virtual = world(4, { clock = "virtual" })
    assert.equal(virtual:now(), purser.sim.restore(virtual:snapshot()):now())
  end)

  it("meets the same faults after a snapshot that went through JSON", function()
    local sim, accounts = world(4)
    sim:fault { kind = "lost_answer", operation = "C6", skip = 2, times = 2 }
    sim:fault { kind = "reject", operation = "wallet.convert", code = 10101, times = 1.0 }
    sim:fault { kind = "garbage", operation = "read", probability = 1 / 3 }
    sim:fault { kind = "slow", operation = "C9", delay_ms = 7, probability = 0.1, times = 3, skip = 1 }
    -- What a client sees of some requests.
    local function ask(asked, rounds)
      local seen = {}
      for _ = 1, rounds do
        for _, call in ipairs { { "C6", { coin = "USDT", network = "Tron(TRC20)" } }, { "C13", { asset = "DOGE" } },
          { "C4" }, { "C9", { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" } } } do
          local answer = asked:handle(signed.request(asked, accounts.house, call[1], call[2]))
          seen[#seen + 1] = ("%d %s %s %s"):format(answer.status, tostring(answer.fault), tostring(answer.delay_ms),
            tostring(answer.body))
        end
      end
      return seen
    end
    ask(sim, 1)
    local text = json.encode(to_json.writable(sim:snapshot()))
    local copy = purser.sim.restore(assert(core.decode(text)))
    assert.same(sim:armed_faults(), copy:armed_faults())
    assert.same(sim:snapshot(), copy:snapshot())
    assert.same(sim:faults(), copy:faults())
    assert.same(ask(sim, 8), ask(copy, 8))
    assert.is_true(#sim:faults() > 5)
    assert.same(sim:faults(), copy:faults())
    assert.same(sim:armed_faults(), copy:armed_faults())
    local old = sim:snapshot()
    old.faults = nil -- as it was written before faults were part of it
    assert.same({}, purser.sim.restore(old):armed_faults())
  end)

  it("shares nothing with its snapshot", function()
    local sim, accounts = world(4)
    local before = sim:snapshot()
    local restored = purser.sim.restore(before)
    live(restored, accounts)
    assert.same(before, sim:snapshot())
    assert.same({}, before.concepts.withdrawals)
  end)

  it("follows the wall clock where it is asked to, plus what it was advanced", function()
    local sim = purser.sim.new { clock = "real" }
    local before = core.now_ms()
    sim:advance(HOUR)
    local now = sim:now()
    assert.is_true(now >= before + HOUR and now <= core.now_ms() + HOUR)
  end)

  it("does what is due in order of time, then of adding", function()
    local plan, done = timers.new(), {}
    for i, at in ipairs { 5, 3, 3, 9, 1, 3, 7 } do plan:add(at, "x", i) end
    local item = plan:take(8)
    while item do
      done[#done + 1] = item.at .. ":" .. item.id
      item = plan:take(8)
    end
    assert.same({ "1:5", "3:2", "3:3", "3:6", "5:1", "7:7" }, done)
    assert.equal(9, plan:take(9).at)
    assert.is_nil(plan:take(1000))
  end)
end)

describe("the simulator's books", function()
  it("move value only between places, and never more than there is", function()
    local books = ledger.new()
    local a, b = ledger.place("1", "SPOT"), ledger.place("2", "SPOT")
    assert(books:move("X", decimal("10"), ledger.WORLD, a))
    assert(books:move("X", decimal("9.999999999999999999999999999999"), a, b))
    assert.equal("0.000000000000000000000000000001", tostring(books:balance(a, "X")))
    assert.is_nil((books:move("X", decimal("0.1"), a, b)))
    assert.has_error(function() books:move("X", decimal("-1"), b, a) end)
    assert.is_true(books:check_changes())
    assert.is_true(books:verify())
  end)

  it("are seen to be wrong when a unit appears, is lost or goes below nothing", function()
    for _, change in ipairs { "11", "9.99999999", "-10" } do
      local sim = purser.sim.new {}
      local owner = sim:account { balances = { USDT = "10" } }
      assert.is_true(sim:verify())
      sim.ledger.places[ledger.place(owner.uid, "SPOT")].USDT = decimal(change)
      local sound, wrong = sim:verify()
      assert.is_nil(sound)
      assert.is_truthy(wrong:find("USDT", 1, true))
    end
  end)

  it("are seen to be wrong when they balance but the records say otherwise", function()
    local sim = purser.sim.new {}
    local owner = sim:account { balances = { USDT = "10" } }
    local spot = ledger.place(owner.uid, "SPOT")
    assert(sim.ledger:move("USDT", decimal("1"), spot, ledger.place(owner.uid, "SPOT", "locked")))
    assert.is_truthy(select(2, sim:verify()):find("locked", 1, true))
    sim = purser.sim.new {}
    owner = sim:account { balances = { USDT = "10" } }
    assert(sim.ledger:move("USDT", decimal("1"), ledger.WORLD, ledger.place(owner.uid, "SPOT")))
    assert.is_truthy(select(2, sim:verify()):find("world", 1, true))
  end)

  it("stop a strict simulator at the request that broke them", function()
    local function broken(options)
      local sim = purser.sim.new(options)
      local owner = sim:account { balances = { USDT = "10" } }
      get(sim, owner, "C1")
      sim.ledger:move("USDT", decimal("1"), ledger.place(owner.uid, "SPOT"), ledger.place(owner.uid, "FUTURES"))
      sim.ledger.places[ledger.place(owner.uid, "SPOT")].USDT = decimal("20")
      return pcall(get, sim, owner, "C1")
    end
    local ok, wrong = broken {}
    assert.is_false(ok)
    assert.is_truthy(wrong:find("appeared from nowhere", 1, true))
    assert.is_true((broken { strict = false }))
  end)
end)

describe("the simulator's transport", function()
  local function client_of(sim, owner, options)
    options = options or {}
    options.base_url, options.transport = "http://localhost", sim:transport()
    options.api_key, options.secret_key = owner.api_key, owner.secret_key
    options.clock = function() return sim:now() end
    return assert(purser.new(options))
  end

  it("turns a lost answer into an unknown outcome, though the operation was executed", function()
    local sim, accounts = world(1)
    local client = client_of(sim, accounts.house)
    for _, kind in ipairs { "lost_answer", "truncate" } do
      sim:fault { kind = kind, operation = "wallet.transfer" }
      local done, err = client.wallet:transfer {
        fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1",
      }
      assert.is_nil(done)
      assert.equal("unknown", err.outcome)
    end
    assert.equal("2", signed.free(sim, accounts.house, "USDT", "FUTURES"))
    assert.equal(2, #sim:faults())
    assert.same({ received = 2, applied = 2 }, sim:counts()["wallet.transfer"])
  end)

  it("lets a slow answer pass the time-out on the virtual clock", function()
    local sim, accounts = world(1)
    local client = client_of(sim, accounts.house, { timeout_ms = 500 })
    sim:fault { kind = "slow", delay_ms = 700, operation = "wallet.transfer" }
    local before = sim:now()
    local done, err = client.wallet:transfer {
      fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1",
    }
    assert.is_nil(done)
    assert.equal("unknown", err.outcome)
    assert.equal(500, sim:now() - before)
  end)

  it("rejects after it was closed", function()
    local sim = world(1)
    local transport = sim:transport()
    transport:close()
    local _, failure = transport:send { method = "GET", target = "/api/v3/ping", headers = {} }
    assert.same({ "closed", "not_sent" }, { failure.kind, failure.outcome })
  end)
end)
