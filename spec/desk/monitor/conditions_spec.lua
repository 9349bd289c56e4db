-- SPDX-License-Identifier: MIT
-- The conditions of alerts: networks, balances and the key, each change once.

local files = require "files"
local monitored = require "monitored"
local purser = require "purser"

local told = monitored.told

local world, sim, owner, client

before_each(function()
  world = monitored.world()
  sim, owner, client = world.sim, world.owner, world.client
end)
after_each(files.remove_kept)

describe("a network", function()
  it("that closes is told once, and once when it opens again", function()
    local alerts = assert(purser.monitor.alerts(client, { networks = { "USDT/TRX" } }))
    assert.same({}, told(alerts))
    world.closed = '"TRX"'
    local list, problems, events = told(alerts)
    assert.same({ { "withdrawals of USDT/TRX: open -> closed" }, {} }, { list, problems })
    assert.same({ "withdrawals of USDT/TRX: closed", true, "treasury", 1700000000000 },
      { events[1].text, events[1].is_bad, events[1].account, events[1].at })
    assert.same({}, told(alerts))
    world.closed = nil
    assert.same({ "withdrawals of USDT/TRX: closed -> open" }, told(alerts))
    assert.same({}, told(alerts))
  end)

  it("that is closed or not listed at the first check is told at once", function()
    world.closed = '"TRX"'
    local alerts = assert(purser.monitor.alerts(client, { networks = { "USDT/TRX", "USDT/Tron(TRC20)", "USDT/trc20",
      "USDT/NONE" } }))
    assert.same({ "withdrawals of USDT/TRX: nil -> closed", "withdrawals of USDT/Tron(TRC20): nil -> closed",
      "withdrawals of USDT/trc20: nil -> closed", "withdrawals of USDT/NONE: nil -> not listed",
      "deposits of USDT/NONE: nil -> not listed" }, told(alerts))
    assert.same({}, told(alerts))
  end)
end)

describe("a balance", function()
  it("that falls below its bound is told once, and when it is enough again", function()
    local alerts = assert(purser.monitor.alerts(client, { below = { usdt = "500", BTC = "0.1" } }))
    assert.same({ "balance of BTC: nil -> below 0.1" }, told(alerts))
    assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = "500.00000001" })
    local list, _, events = told(alerts)
    assert.same({ "balance of USDT: enough -> below 500" }, list)
    assert.equal("USDT has 499.99999999 free; the bound is 500", events[1].text)
    assert(client.wallet:transfer { fromAccountType = "FUTURES", toAccountType = "SPOT", asset = "USDT", amount = "1" })
    assert.same({ "balance of USDT: below 500 -> enough" }, told(alerts))
  end)

  it("of a sub-account is one, too", function()
    assert(client.sub_account:create_sub_account { subAccount = "desk1xxxx", note = "n" })
    local alerts = assert(purser.monitor.alerts(client, { below = { ["desk1xxxx/usdt"] = "1" } }))
    assert.same({ "balance of desk1xxxx/USDT: nil -> below 1" }, told(alerts))
  end)
end)

describe("a deposit", function()
  local function deposit(amount, coin)
    return assert(sim:deposit { account = owner.uid, coin = coin or "USDT", network = "TRX", amount = amount })
  end

  -- Returns what is told without address and transaction.
  local function shown(alerts)
    local list, problems, events = told(alerts)
    assert.same({}, problems)
    for i, line in ipairs(list) do list[i] = line:gsub(" at .*: ", ": ") end
    return list, events
  end

  it("above its bound is told once for each of its states, and none of those that were there before", function()
    deposit "2000"
    local path = files.new_path()
    os.remove(path)
    local options = { above = { USDT = "1000" }, state = path }
    local alerts = assert(purser.monitor.alerts(client, options))
    assert.same({}, (shown(alerts)))
    deposit "1000"
    assert.same({}, (shown(alerts)))
    deposit "1000.00000001"
    deposit "1500"
    local list, events = shown(alerts)
    assert.same({ "deposit of USDT: nil -> PENDING", "deposit of USDT: nil -> PENDING" }, list)
    local texts = events[1].text .. events[2].text
    assert.matches("a deposit of 1000%.00000001 USDT to %S+ is in state PENDING; the bound is 1000", texts)
    assert.matches("a deposit of 1500 USDT", texts)
    assert.is_true(events[1].id ~= events[2].id)
    assert.same({}, (shown(alerts)))
    alerts = assert(purser.monitor.alerts(client, options)) -- across a restart
    assert.same({}, (shown(alerts)))
    deposit "3000"
    assert.same({ "deposit of USDT: nil -> PENDING" }, (shown(alerts)))
    sim:advance(15 * 86400000)
    assert.same({}, (shown(alerts)))
    local kept = assert(files.read(path))
    assert.is_nil(kept:find("deposit of USDT", 1, true)) -- what is long past is forgotten
    assert.truthy(kept:find("deposits of USDT above 1000", 1, true))
  end)

  it("is of one asset, also where the history adds a network, and of a state", function()
    local alerts = assert(purser.monitor.alerts(client, { above = { USDT = "1000", MX = "5" } }))
    assert.same({}, (shown(alerts)))
    local record = { coin = "USDT-TRX", amount = "1E+4", insertTime = sim:now(), status = 4, address = "T", txId = "a" }
    client.each = function() return { next = function(walk)
      if not walk.is_over then walk.is_over = true return record end
    end } end
    assert.same({ "deposit of USDT: nil -> " .. purser.states.name("deposit", 4) }, (shown(alerts)))
    record.status = 5
    assert.same({ "deposit of USDT: " .. purser.states.name("deposit", 4) .. " -> SUCCESS" }, (shown(alerts)))
    record = { coin = "MX", amount = "1,000", insertTime = sim:now(), status = 5, address = "T", txId = "b" }
    local _, events = shown(alerts)
    assert.same({ true, 'a deposit of MX to T: "1,000" is no amount' }, { events[1].is_bad, events[1].text })
    client.each = nil
  end)

  it("has a bound that is an amount of the key's own", function()
    for _, above in ipairs { { USDT = 5 }, { USDT = "many" }, { ["desk1/USDT"] = "5" }, { "5" } } do
      local alerts, err = purser.monitor.alerts(client, { above = above })
      assert.is_nil(alerts)
      assert.matches("the option `above` is not", err.message)
    end
  end)
end)

describe("the key", function()
  it("is told of when it ends soon, once", function()
    local alerts = assert(purser.monitor.alerts(client, { key_days = 14 }))
    assert.same({}, told(alerts))
    sim:advance(77 * 86400000)
    assert.same({ "key: valid -> ends within 14 days" }, told(alerts))
    sim:advance(86400000)
    assert.same({}, told(alerts))
  end)

  it("is told of when its addresses or permissions change", function()
    local alerts = assert(purser.monitor.alerts(client, { permissions = true }))
    assert.same({}, told(alerts))
    assert(client.live:change_api_key { apiKey = owner.api_key, ipWhiteList = "127.0.0.1" })
    local list = told(alerts)
    assert.equal(1, #list)
    assert.matches("SPOT_WITHDRAW_WRITE; from  %-> CONTRACT_[%u_ ]+; from 127.0.0.1$", list[1])
    assert.same({}, told(alerts))
  end)
end)

describe("a key or balance that cannot be read", function()
  it("is no list of conditions, and an error", function()
    local conditions = require "purser.desk.monitor.conditions"
    for operation, read in pairs { ["live.api_key"] = function() return conditions.key(client, { key_days = 1 }) end,
      ["live.account"] = function() return conditions.balances(client, { USDT = "1" }) end,
      ["sub_account.balances"] = function() return conditions.balances(client, { ["desk1xxxx/USDT"] = "1" }) end,
      ["wallet.coins"] = function() return conditions.networks(client, { "USDT/TRX" }) end } do
      sim:fault { kind = "reject", operation = operation }
      local list, err = read()
      assert.same({ nil, operation }, { list, err.operation })
    end
  end)
end)

describe("a call", function()
  it("is a condition where it is undecided, and without a known end from stuck_ms on", function()
    local conditions = require "purser.desk.monitor.conditions"
    local entries, asked = { open = 1000, unknown = 999, undecided = 0 }, {}
    local journal = { refusal = function() end, entries = function(_, filter)
      asked[#asked + 1] = filter.state
      local intent = { id = filter.state, operation = "wallet.withdraw", attempt = filter.state == "open" and 2 or nil,
        sent_at = client:now() - entries[filter.state] * 3600 }
      return { { intent = intent, key = filter.state == "open" and "inv-7" or nil } }
    end }
    assert.same({ { name = "call open attempt 2", state = "stuck", is_bad = true,
      text = "wallet.withdraw inv-7 is stuck since 1.0 hours" }, { name = "call undecided attempt 1",
      state = "undecided", is_bad = true, text = "wallet.withdraw is undecided since 0.0 hours" } },
      conditions.calls(client, journal, 3600000))
    assert.same({ "open", "unknown", "undecided" }, asked)
    journal.entries = function() return nil, "locked" end
    assert.same({ nil, "locked" }, { conditions.calls(client, journal, 1) })
    -- A watcher without the account's name was told nothing of a stuck payment.
    journal.refusal = function() return "another account's" end
    assert.same({ nil, "another account's" }, { conditions.calls(client, journal, 1) })
  end)
end)
