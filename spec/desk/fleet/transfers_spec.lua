-- SPDX-License-Identifier: MIT
-- Balances between a parent and its sub-accounts: lists that a queue makes once, and nothing is taken for nothing.

local own = require "own_journal"
local purser = require "purser"
local recorder = require "recorder"
local simulated = require "simulated"
local transfers = require "purser.desk.fleet.transfers"

local NOW = 1700000000000

local function world(group)
  local sim = purser.sim.new { start_time = NOW }
  local owner = sim:account { role = "broker", email = "a@example.org", balances = { USDT = "1000", BTC = "2" } }
  local journal = own.begin()
  finally(own.finish)
  local client = simulated.client(sim, owner, { journal = journal, account = "treasury" })
  local fleet = assert(purser.fleet.new { client = client, group = group, vault = function() return true end,
    accounts = { { name = "traders01", note = "first desk" }, { name = "traders02", note = "second desk" } } })
  return sim, fleet, client, assert(purser.payouts.new { client = client, journal = journal })
end

-- Returns the moves of a list as text.
local function text_of(list)
  local lines = {}
  for i, payment in ipairs(list) do
    local params = payment.params
    lines[i] = ("%s -> %s  %s %s"):format(params.fromAccount or "parent", params.toAccount or "parent", params.amount,
      params.asset)
  end
  return lines[1] and table.concat(lines, "\n") or "nothing to move"
end

describe("the balances of a fleet", function()
  local function free(client, name)
    local found = {}
    for _, balance in ipairs(assert(client.sub_account:balances { subAccount = name, accountType = "SPOT" })) do
      found[balance.asset] = balance.free
    end
    return found
  end

  -- Makes a list by a queue. Returns the report, or nil and the problem of its first row.
  local function pay(queue, list)
    local plan = assert(queue:plan { payments = list })
    if plan.refused[1] then return nil, plan.refused[1].difference end
    return assert(queue:run(plan))
  end

  it("are distributed and swept by a queue, exactly and once, whatever becomes of the answers", function()
    for _, group in ipairs { "sub_account", "broker" } do
      local sim, fleet, client, queue = world(group)
      assert(fleet:apply())
      local operation = group .. ".transfer"
      local list = assert(fleet:distribute { name = "june", asset = "USDT", amounts = { traders01 = "100.10",
        traders02 = "0.3" } })
      assert.same({ "june-traders01-USDT", "june-traders02-USDT" }, { list[1].key, list[2].key })
      sim:fault { kind = "lost_answer", operation = operation, times = 1 }
      assert.equal(2, assert(pay(queue, list)).done)
      pay(queue, assert(fleet:distribute { name = "june", asset = "usdt", amounts = { traders01 = "100.1" } }))
      assert.equal(2, sim:counts()[operation].applied)
      local _, difference = pay(queue, assert(fleet:distribute { name = "june", asset = "USDT",
        amounts = { traders01 = "101" } }))
      assert.matches("amount was 100.1, is 101", difference, 1, true)
      pay(queue, assert(fleet:sweep { name = "july", to = "parent", leave = { usdt = "10.1" } }))
      assert.same({ { USDT = "10.1" }, { USDT = "0.3" } }, { free(client, "traders01"), free(client, "traders02") })
      assert.same({}, assert(fleet:sweep { name = "july", to = "parent", leave = "10.1" }))
      assert(sim:verify())
    end
  end)

  it("are no list without a name, an asset or a direction", function()
    local _, fleet = world()
    for option, case in pairs { name = { "sweep", { to = "parent" } }, to = { "sweep", { name = "x" } },
      asset = { "distribute", { name = "x", each = "1" } } } do
      local list, err = fleet[case[1]](fleet, case[2])
      assert.same({ nil, "argument", option }, { list, err.kind, err.option })
      assert.equal(option == "name", err.hint:find("give the list a name", 1, true) ~= nil)
    end
  end)
end)

local ACCOUNTS = { { name = "desk1" }, { name = "desk2" } }

local function sweep(held, options)
  options.to, options.name = "parent", "june"
  local client = { sub_account = { balances = function() return held end } }
  local list, err = transfers.sweep({ client = client, group = "sub_account", accounts = { ACCOUNTS[1] } }, options)
  return list and text_of(list), err
end

describe("a sweep", function()
  it("moves what is above that which stays, of every asset or of those named", function()
    local held = { { asset = "USDT", free = "10.5" }, { asset = "BTC", free = "0" }, { asset = "eTH", free = "0.1" } }
    for _, case in ipairs {
      { {}, "desk1 -> parent  10.5 USDT\ndesk1 -> parent  0.1 eTH" },
      { { leave = "0.1" }, "desk1 -> parent  10.4 USDT" }, { { leave = 10 }, "desk1 -> parent  0.5 USDT" },
      { { leave = { usdt = "10.5" } }, "desk1 -> parent  0.1 eTH" },
      { { assets = { "eth", "BTC" } }, "desk1 -> parent  0.1 eTH" }, { { assets = {} }, "nothing to move" },
    } do
      assert.equal(case[2], (sweep(held, case[1])))
    end
  end)

  it("is not planned where a balance cannot be read: what it holds is not known", function()
    for _, held in ipairs { { { asset = "USDT" } }, { { asset = "USDT", free = "1,000" } }, { { free = "5" } } } do
      local moves, err = sweep(held, {})
      assert.is_nil(moves)
      assert.same({ "decode", "unknown", "sub_account.balances" }, { err.kind, err.outcome, err.operation })
    end
    assert.equal("nothing to move", (sweep({ { asset = "USDT" } }, { assets = { "BTC" } })))
  end)

  it("rejects what would leave nothing, or move nothing, without being asked to", function()
    for option, values in pairs {
      leave = { { "5" }, { USDT = "x" }, { USDT = -1 }, { USDT = true }, "-1", "x", 0.5, true },
    } do
      for _, value in ipairs(values) do
        local moves, err = sweep({ { asset = "USDT", free = "5" } }, { [option] = value })
        assert.is_nil(moves)
        assert.same({ "argument", option }, { err.kind, err.option })
      end
    end
    local fleet = assert(purser.fleet.new { client = recorder.new(), vault = function() end })
    for _, assets in ipairs { { USDT = true }, { 5 }, { "USDT", x = "BTC" }, { "USDT", nil, "BTC" } } do
      local moves, err = fleet:sweep { to = "parent", name = "x", assets = assets }
      assert.is_nil(moves)
      assert.same({ "argument", "assets" }, { err.kind, err.option })
      assert.matches("is no plain list of texts", err.message, 1, true)
    end
  end)
end)

describe("a distribution", function()
  local function distribute(options)
    options.asset, options.name = "USDT", "june"
    local list, err = transfers.distribute({ group = "sub_account", accounts = ACCOUNTS }, options)
    return list and text_of(list), err
  end

  it("gives each account its own amount, or that of all, and 0 is none", function()
    assert.equal("parent -> desk1  5 USDT\nparent -> desk2  7 USDT",
      (distribute { each = "5", amounts = { desk2 = 7 } }))
    assert.equal("parent -> desk2  5 USDT", (distribute { each = "5", amounts = { desk1 = "0" } }))
    assert.equal("parent -> desk1  0.1 USDT", (distribute { amounts = { desk1 = "0.10" } }))
  end)

  it("rejects what is no amount, and an account that is none of the fleet", function()
    for option, list in pairs {
      each = { { each = "x" }, { each = "-1" }, { each = 0.1 } },
      amounts = { {}, { amounts = { desk1 = "x" } }, { amounts = { desk1 = false }, each = "1" },
        { amounts = { desk3 = "1" } }, { amounts = { "1", "2" } } },
    } do
      for _, options in ipairs(list) do
        local moves, err = distribute(options)
        assert.is_nil(moves)
        assert.same({ "argument", option }, { err.kind, err.option })
      end
    end
  end)
end)
