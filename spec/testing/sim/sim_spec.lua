-- SPDX-License-Identifier: MIT
-- The simulator as a whole: one seed replays a run, a snapshot goes on where it was taken, a request that breaks the
-- books stops it.

local json = require "purser.json"
local core = require "purser.core"
local plain = require "purser.testing.sim.plain"
local purser = require "purser"
local signed = require "signed"

local get = signed.get
local HOUR = 3600000

-- Does something of everything that has state. Returns the texts of all answers.
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
    for _, item in ipairs(snapshot.histories.schedule) do item.at = item.at - HOUR end
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
    -- Returns what a client sees of some requests.
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
    local text = json.encode(plain.writable(sim:snapshot()))
    local copy = purser.sim.restore(assert(core.decode(text)))
    assert.same(sim:armed_faults(), copy:armed_faults())
    assert.same(sim:snapshot(), copy:snapshot())
    assert.same(sim:faults(), copy:faults())
    assert.same(ask(sim, 8), ask(copy, 8))
    assert.is_true(#sim:faults() > 5)
    assert.same(sim:faults(), copy:faults())
    assert.same(sim:armed_faults(), copy:armed_faults())
  end)

  it("shares nothing with its snapshot", function()
    local sim, accounts = world(4)
    local before = sim:snapshot()
    local restored = purser.sim.restore(before)
    live(restored, accounts)
    assert.same(before, sim:snapshot())
    assert.same({}, before.histories.withdrawals)
  end)

  it("does what is due on the way of an advance, each at its own time", function()
    local sim, accounts = world(4)
    for _, amount in ipairs { "5", "6" } do
      assert(sim:deposit { account = accounts.house.uid, coin = "USDT", network = "TRX", amount = amount })
      sim:advance(1000)
    end
    sim:advance(HOUR)
    for i, record in ipairs(sim.deposits.all) do
      assert.equal(record.time + record.needed * record.block_ms, record.updated, i)
    end
    for _, ms in ipairs { -1, 1.5, "1", 0 / 0 } do assert.has_error(function() sim:advance(ms) end) end
  end)

  it("takes no option and no snapshot that it does not know", function()
    assert.equal('purser.sim: option "seed" is a string; it must be a whole number',
      select(2, purser.sim.new { seed = "x" }))
    for _, case in ipairs {
      { { sead = 1 }, 'option "sead" is not known (did you mean "seed"?)' }, { { clock = "sundial" }, "virtual" },
      { { seed = 1.5 }, "whole number" }, { { start_time = 1.5 }, "whole number" }, { { start_time = -1 }, "from 0" },
      { { rate_limit = "mexico" }, "mexico" }, { "seed", "give a table" }, { { variant = "liv" }, "document or live" },
    } do
      local none, wrong = purser.sim.new(case[1])
      assert.is_nil(none)
      assert.is_truthy(wrong:find(case[2], 1, true), wrong)
    end
    local ok, wrong = pcall(purser.sim.restore, { version = 2 })
    assert.same({ false, "purser.sim: this is no snapshot of this version" }, { ok, wrong })
  end)

  it("counts requests against the rate limit, and goes on counting after a snapshot", function()
    local pools = { ip = { capacity = 3, window_ms = 10000, scope = "ip", counts = "requests" } }
    local sim, accounts = world(4, { rate_limit = pools })
    get(sim, accounts.house, "C1")
    get(sim, accounts.house, "C1")
    sim = purser.sim.restore(sim:snapshot())
    get(sim, accounts.house, "C1")
    local answer = sim:handle(signed.request(sim, accounts.house, "C1"))
    assert.same({ 429, "10" }, { answer.status, answer.headers["Retry-After"] })
    assert.same({ received = 4, applied = 3 }, sim:counts()["wallet.coins"])
    assert.is_nil(world(4):rate_limit())
  end)

  it("has integers in a snapshot also where it was given whole floats", function()
    local sim = purser.sim.new { seed = 7.0, start_time = 1.7e12, record_requests = 5.0, max_sub_accounts = 3.0 }
    assert(sim:account { name = "Acme" })
    assert(sim:deposit { account = "Acme", coin = "USDT", network = "TRX", amount = "5", time = 1.6e12 })
    sim:advance(5e3)
    local snapshot = sim:snapshot()
    assert.same(snapshot, assert(core.decode(json.encode(plain.writable(snapshot)))))
    local function check(value)
      if type(value) == "number" then assert.equal(("%d"):format(value), tostring(value)) end
      if type(value) == "table" then for _, inner in pairs(value) do check(inner) end end
    end
    check(snapshot)
  end)
end)

describe("a method of a simulator", function()
  it("is called with a colon", function()
    local sim = purser.sim.new {}
    for _, name in ipairs { "now", "advance", "deposit", "set_withdrawal", "snapshot" } do
      assert.has_error(function() sim[name] {} end, ("call it with a colon: sim:%s(...)"):format(name))
    end
  end)
end)

describe("a record that is taken out of the histories", function()
  it("has an id, which is a text", function()
    local sim = purser.sim.new {}
    local record, message = sim:hide(5)
    assert.is_nil(record)
    assert.matches("record field", message)
    assert.is_nil((sim:hide("none")))
  end)
end)
