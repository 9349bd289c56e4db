-- SPDX-License-Identifier: MIT
-- Balances between a parent and its sub-accounts: planned exactly, moved once, and nothing is taken for nothing.

local errors = require "purser.client.call.errors"
local own = require "own_journal"
local purser = require "purser"
local recorder = require "recorder"
local schedule = require "purser.schedule"
local simulated = require "simulated"
local transfers = require "purser.desk.fleet.transfers"

local NOW, DAY = 1700000000000, 86400000

local function world(options)
  local sim = purser.sim.new { start_time = NOW, visibility_delay_ms = options and options.lag }
  local owner = sim:account { role = "broker", email = "a@example.org", balances = { USDT = "1000", BTC = "2" } }
  local client = simulated.client(sim, owner)
  local fleet = assert(purser.fleet.new { client = client, vault = function() return true end,
    accounts = { { name = "traders01", note = "first desk" }, { name = "traders02", note = "second desk" } } })
  return sim, fleet, client
end

local function received(sim, name) return (sim:counts()[name] or { received = 0 }).received end

describe("the balances of a fleet", function()
  local function free(client, name)
    local found = {}
    for _, balance in ipairs(assert(client.sub_account:balances { subAccount = name, accountType = "SPOT" })) do
      found[balance.asset] = balance.free
    end
    return found
  end

  it("are distributed and swept, exactly", function()
    local sim, fleet, client = world()
    assert(fleet:apply())
    local out = assert(fleet:distribute { asset = "USDT", amounts = { traders01 = "100.10", traders02 = "0.3" } })
    assert.equal("parent -> traders01  100.1 USDT  (planned)\nparent -> traders02  0.3 USDT  (planned)", tostring(out))
    assert.same({ USDT = "100.4" }, out:totals())
    assert(out:execute())
    assert(assert(fleet:distribute { asset = "BTC", each = "0.5" }):execute())
    local back = assert(fleet:sweep { to = "parent", leave = { USDT = "10.1" } })
    assert.same({ USDT = "90", BTC = "1" }, back:totals())
    back = assert(fleet:sweep { to = "parent", leave = { usdt = "10.1" }, assets = { "usdt", "btc" } })
    assert.same({ USDT = "90", BTC = "1" }, back:totals())
    assert(back:execute())
    assert.same({ USDT = "10.1" }, free(client, "traders01"))
    assert.same({ USDT = "0.3" }, free(client, "traders02"))
    assert.equal("nothing to move", tostring(assert(fleet:sweep { to = "parent", leave = "10.1" })))
    assert(sim:verify())
  end)

  it("are never moved twice, whatever becomes of the answers", function()
    for _, lag in ipairs { 0, 2000 } do
      local sim, fleet, client = world { lag = lag }
      assert(fleet:apply())
      sim:advance(3000)
      local out = assert(fleet:distribute { asset = "USDT", each = "100" })
      sim:fault { kind = "lost_answer", operation = "sub_account.transfer", times = 1 }
      assert(out:execute()) -- looked up by its id
      assert.equal(2, received(sim, "sub_account.transfer"))
      assert(out:execute()) -- nothing is left to do
      assert.equal(2, received(sim, "sub_account.transfer"))
      assert.same({ USDT = "100" }, free(client, "traders01"))
      assert(sim:verify())
    end
  end)

  it("are moved once under a name, by a program that begins again, too", function()
    local sim = purser.sim.new { start_time = NOW }
    local owner = sim:account { role = "broker", email = "a@example.org", balances = { USDT = "1000" } }
    local journal = own.begin()
    finally(own.finish)
    local function run(amounts, asset)
      local client = simulated.client(sim, owner, { journal = journal, account = "treasury" })
      local fleet = assert(purser.fleet.new { client = client, vault = function() return true end,
        accounts = { { name = "traders01", note = "first desk" }, { name = "traders02", note = "second desk" } } })
      assert(fleet:apply())
      return assert(fleet:distribute { asset = asset or "USDT", amounts = amounts, name = "june" }), client
    end
    local out = run { traders01 = "100", traders02 = "50" }
    sim:fault { kind = "lost_answer", operation = "sub_account.transfer", times = 1 }
    sim:fault { kind = "reject", operation = "sub_account.transfer_history", times = 1 }
    assert.is_nil((out:execute()))
    local again, client = run { traders01 = "100.0", traders02 = "50" }
    assert(again:execute())
    assert(again:execute())
    assert.equal("done", again.moves[1].state)
    assert.same({ USDT = "100" }, free(client, "traders01"))
    assert.same({ USDT = "50" }, free(client, "traders02"))
    assert(run({ traders01 = "100", traders02 = "50" }, "usdt"):execute()) -- one asset, however it is written
    assert.equal(2, received(sim, "sub_account.transfer"))
    local _, err = run({ traders01 = "101" }):execute()
    assert.same({ "not_sent", "journal.other_content" }, { err.outcome, err.code })
    assert(sim:verify())
  end)

  it("have no name without a journal", function()
    local _, fleet = world()
    local _, err = fleet:distribute { asset = "USDT", each = "1", name = "june" }
    assert.matches("needs a journal", err.message)
  end)

  it("are moved again when it is certain that they were not", function()
    local sim, fleet, client = world()
    assert(fleet:apply())
    local out = assert(fleet:distribute { asset = "USDT", each = "100" })
    sim:fault { kind = "reset", when = "before", operation = "sub_account.transfer", times = 1 }
    assert(out:execute())
    assert.equal(3, received(sim, "sub_account.transfer"))
    assert.same({ USDT = "100" }, free(client, "traders01"))
    assert.same({ USDT = "100" }, free(client, "traders02"))
  end)

  it("stop at a move that nobody knows about, and send nothing after it", function()
    for _, kind in ipairs { "lost_answer", "reset" } do
      local sim, fleet, client = world()
      assert(fleet:apply())
      local out = assert(fleet:distribute { asset = "USDT", each = "100" })
      sim:fault { kind = kind, operation = "sub_account.transfer", times = 1 }
      sim:fault { kind = "reject", operation = "sub_account.transfer_history", times = 2 }
      for _ = 1, 2 do
        local done, err = out:execute()
        assert.is_nil(done)
        assert.equal("traders01", err.details.move.to)
        assert.equal(1, received(sim, "sub_account.transfer"))
        assert.same({}, free(client, "traders02"))
      end
      assert(out:execute())
      assert.same({ USDT = "100" }, free(client, "traders01"))
      assert.same({ USDT = "100" }, free(client, "traders02"))
      assert(sim:verify())
    end
  end)

  it("go on after a rejection", function()
    local sim, fleet, client = world()
    assert(fleet:apply())
    local out = assert(fleet:distribute { asset = "USDT", amounts = { traders01 = "900", traders02 = "200" } })
    local done, err = out:execute()
    assert.is_nil(done)
    assert.same({ "10101", "traders02" }, { err.code, err.details.move.to })
    assert(sim:deposit { account = sim.accounts.all[1].uid, coin = "USDT", network = "TRX", amount = "500" })
    sim:advance(DAY)
    assert(out:execute())
    assert.same({ USDT = "200" }, free(client, "traders02"))
    assert(sim:verify())
    local _, problem = fleet:distribute { asset = "USDT", amounts = { traders09 = "1" } }
    assert.equal("argument", problem.kind)
    _, problem = fleet:sweep { to = "elsewhere" }
    assert.equal("argument", problem.kind)
  end)
end)

-- A client whose sub-accounts hold these balances; `sends` returns what each transfer ends with, and `reconciles` what
-- became of one.
local function client_of(held, sends, reconciles)
  local client = { sent = 0, sub_account = {} }
  function client.sub_account.balances() return held end
  function client.sub_account.transfer(_, params)
    client.sent = client.sent + 1
    return sends(params)
  end
  function client.reconcile(_, err) return reconciles(err) end
  return client
end

local NAMES = { "desk1", "desk2" }

local function sweep(held, options)
  options.to = "parent"
  local moves, err = transfers.sweep(client_of(held), "sub_account", { "desk1" }, options)
  return moves and tostring(moves):gsub(" *%(planned%)", ""), err
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
    for _, held in ipairs { { { asset = "USDT" } }, { { asset = "USDT", free = "1E3" } }, { { free = "5" } } } do
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
      local moves, err = fleet:sweep { to = "parent", assets = assets }
      assert.is_nil(moves)
      assert.same({ "argument", "assets" }, { err.kind, err.option })
      assert.matches("is no plain list of texts", err.message, 1, true)
    end
  end)
end)

describe("a distribution", function()
  local function distribute(options)
    options.asset = "USDT"
    local moves, err = transfers.distribute(client_of {}, "sub_account", NAMES, options)
    return moves and tostring(moves):gsub(" *%(planned%)", ""), err
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

describe("a move", function()
  local lost = errors.new { kind = "transport", outcome = "unknown", message = "lost" }

  local function moves_of(client)
    return assert(transfers.new(client, "sub_account", { { to = "desk1", asset = "USDT", amount = "5" } }))
  end

  it("whose outcome is unknown is sent once by two tasks that execute it at once", function()
    local client = client_of(nil, function(params)
      schedule.sleep(1)
      if params.again then return { tranId = "7" } end
      params.again = true
      return nil, lost
    end, function()
      schedule.sleep(1)
      return nil, lost
    end)
    local moves = moves_of(client)
    assert.equal(lost, select(2, moves:execute()))
    function client.reconcile()
      schedule.sleep(1)
      return { outcome = "not_done" }
    end
    local ended = {}
    schedule.run(function()
      schedule.all {
        function() ended[1] = moves:execute() or false end, function() ended[2] = moves:execute() or false end,
      }
    end)
    table.sort(ended, function(a) return a ~= false end)
    assert.same({ moves.moves, false }, ended)
    assert.same({ 2, "done", "7" }, { client.sent, moves.moves[1].state, moves.moves[1].tranId })
  end)

  it("that is under way in another task is not sent, and one that was stopped by a raised error is not sent again",
    function()
      local client = client_of(nil, function() error "stopped" end)
      local moves = moves_of(client)
      assert.has_error(function() moves:execute() end)
      local done, err = moves:execute()
      assert.is_nil(done)
      assert.same({ "workflow", "unknown", 1 }, { err.kind, err.outcome, client.sent })
      assert.equal(moves.moves[1], err.details.move)
    end)

  it("whose record says that it failed is sent again", function()
    local sim = purser.sim.new { start_time = NOW, repeated_ids = "execute" }
    local owner, sent = sim:account { role = "broker", email = "a@example.org", balances = { USDT = "1000" } }, 0
    assert(sim:account { name = "traders01", role = "sub", parent = owner.uid })
    local inner = sim:transport()
    local client = simulated.client(sim, owner, { transport = { sleep = function(_, ms) inner:sleep(ms) end,
      send = function(_, request)
        local response = inner:send(request)
        response.body = response.body:gsub('"SUCCESS"', '"FAILED"')
        if request.operation ~= "sub_account.transfer" then return response end
        sent = sent + 1
        if sent > 1 then return response end
        return nil, { outcome = "unknown", phase = "receive", message = "lost" }
      end } })
    local moves = assert(transfers.distribute(client, "sub_account", { "traders01" }, { asset = "USDT", each = "5" }))
    assert(moves:execute())
    assert.same({ "done", 2 }, { moves.moves[1].state, sent })
  end)

  it("that was rejected is sent again, with the same id", function()
    local ids = {}
    local client = client_of(nil, function(params)
      ids[#ids + 1] = params.clientTranId
      if #ids == 2 then return { tranId = "1" } end
      return nil, errors.new { kind = "api", outcome = "rejected", message = "no" }
    end)
    local moves = moves_of(client)
    assert.is_nil((moves:execute()))
    assert(moves:execute())
    assert.same({ 2, ids[1], 32 }, { #ids, ids[2], #ids[1] })
  end)
end)
