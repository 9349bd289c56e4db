-- SPDX-License-Identifier: MIT
-- Alerts: each change is told once, whatever is killed or fails in between.

local core = require "purser.core"
local files = require "files"
local monitored = require "monitored"
local purser = require "purser"

local new_path, told = files.new_path, monitored.told
local world, sim, owner, client

before_each(function()
  world = monitored.world()
  sim, owner, client = world.sim, world.owner, world.client
end)
after_each(files.remove_kept)

describe("what was told", function()
  it("is not told again after a restart, and an event keeps its id when it could not be delivered", function()
    local state, got = new_path(), new_path()
    local function start(command)
      return assert(purser.monitor.alerts(client, { networks = { "USDT/TRX" }, state = state, command = command }))
    end
    assert.same({}, told(start("cat >>" .. got)))
    world.closed = '"TRX"'
    local _, problems, events = told(start(("cat >>%s; exit 1"):format(got)))
    assert.same({}, events)
    assert.matches("^withdrawals of USDT/TRX was not told: ", problems[1])
    for _ = 1, 3 do told(start("cat >>" .. got)) end
    local lines = {}
    for line in io.lines(got) do lines[#lines + 1] = line end
    assert.equal(2, #lines)
    assert.equal(lines[1], lines[2])
    local event = core.decode(lines[1])
    assert.equal("closed", event.state)
    world.closed = nil
    told(start("cat >>" .. got))
    for line in io.lines(got) do lines[#lines + 1] = line end
    local after = core.decode(lines[#lines])
    assert.same({ "open", event.id:match "^al_%x+_" }, { after.state, after.id:match "^al_%x+_" })
    assert.are_not.equal(event.id, after.id)
  end)

  it("is each change, in order, also where the receiver took none for a while", function()
    local state, got = new_path(), new_path()
    local function check(command)
      return told(assert(purser.monitor.alerts(client, { networks = { "USDT/TRX" }, state = state,
        command = command })))
    end
    check "true"
    world.closed = '"TRX"'
    assert.same({}, (check "exit 1"))
    world.closed = nil
    assert.same({}, (check(("cat >>%s; exit 1"):format(got)))) -- it has the first, and its answer is lost
    assert.same({ "withdrawals of USDT/TRX: open -> closed", "withdrawals of USDT/TRX: closed -> open" },
      (check("cat >>" .. got)))
    local ids, states = {}, {}
    for line in io.lines(got) do
      local event = core.decode(line)
      ids[#ids + 1], states[#states + 1] = event.id, event.state
    end
    assert.same({ "closed", "closed", "open" }, states)
    assert.equal(ids[1], ids[2])
    assert.are_not.equal(ids[2], ids[3])
  end)

  it("gets no id twice, also without a file, and where a call was settled and is undecided again", function()
    local seen, call_state = {}, nil
    local journal = { refusal = function() end, entries = function(_, filter)
      return filter.state == call_state and { { key = "inv-7", intent = { id = "abc", attempt = 1,
        sent_at = sim:now() - 3600000, operation = "wallet.withdraw" } } } or {}
    end }
    for _ = 1, 2 do
      local alerts = assert(purser.monitor.alerts(client, { journal = journal }))
      for _, now in ipairs { "undecided", "done", "undecided", "done" } do
        call_state = now
        local _, _, events = told(alerts)
        assert.equal(1, #events)
        assert.is_nil(seen[events[1].id])
        seen[events[1].id] = true
        sim:advance(1000)
      end
    end
  end)

  it("is kept where nothing was told", function()
    local alerts = assert(purser.monitor.alerts(client, { networks = { "USDT/TRX" }, state = new_path() }))
    for _ = 1, 3 do
      local list, problems = told(alerts)
      assert.same({ {}, {} }, { list, problems })
    end
  end)

  it("is told where it cannot be kept, with the file and the reason", function()
    local folder = files.folder()
    local alerts = assert(purser.monitor.alerts(client, { networks = { "USDT/TRX" }, state = folder .. "/state" }))
    files.remove(folder)
    local list, problems = told(alerts)
    assert.same({ {}, 1 }, { list, #problems })
    assert.matches("^.*/state cannot be written: %S+.*%a", problems[1])
    assert.not_matches("nil", problems[1])
  end)

  it("belongs to one account, whose file it is", function()
    local state = new_path()
    assert(purser.monitor.alerts(client, { networks = { "USDT/TRX" }, state = state })):check()
    local other = assert(purser.new { transport = sim:transport(), profile = "mexc", base_url = "http://localhost",
      api_key = owner.api_key, secret_key = owner.secret_key, account = "another" })
    local alerts, err = purser.monitor.alerts(other, { networks = { "USDT/TRX" }, state = state })
    assert.is_nil(alerts)
    assert.matches("not the state of alerts of this account", err.message)
  end)
end)

describe("a source", function()
  it("that cannot be read twice in a row is told, and when it can be read again; nothing else changes by it", function()
    local alerts = assert(purser.monitor.alerts(client, { networks = { "USDT/TRX" } }))
    assert.same({}, told(alerts))
    sim:fault { kind = "server_error", operation = "wallet.coins", times = 1000 }
    local list, problems = told(alerts)
    assert.same({}, list)
    assert.matches("^networks could not be read: ", problems[1])
    assert.same({ "reading of networks: works -> failed" }, told(alerts))
    assert.same({}, told(alerts))
    sim:disarm()
    assert.same({ "reading of networks: failed -> works" }, told(alerts))
  end)
end)

describe("a source that raises, or shows a balance that cannot be read", function()
  it("is an alert of its own, and ends no other", function()
    local journal = { entries = function() error "a fault of the database" end, refusal = function() end }
    local alerts = assert(purser.monitor.alerts(client, { journal = journal, networks = { "USDT/TRX" },
      below = { USDT = "5" } }))
    world.free, world.closed = "1,000", '"TRX"'
    local list, problems, events = told(alerts)
    assert.same({ "withdrawals of USDT/TRX: nil -> closed", "balance of USDT: nil -> unreadable" }, list)
    assert.equal('the balance of USDT: "1,000" is no amount', events[2].text)
    assert.matches("^journal could not be read: .*a fault of the database", problems[1])
    assert.same({ "reading of journal: nil -> failed" }, (told(alerts)))
    world.free = nil
    assert.same({ "balance of USDT: unreadable -> enough" }, (told(alerts)))
  end)
end)

describe("a journal or key", function()
  it("that cannot be read, or ends soon, is told", function()
    local journal = assert(purser.journal.open { sqlite = new_path() })
    local alerts = assert(purser.monitor.alerts(client, { journal = journal, key_days = 100 }))
    local list, problems = told(alerts)
    assert.same({ { "key: nil -> ends within 100 days" }, {} }, { list, problems })
    journal:close()
    assert.matches("^journal could not be read: ", select(2, told(alerts))[1])
    assert.same({ "reading of journal: works -> failed" }, told(alerts))
  end)
end)

describe("a write call", function()
  it("without a known end is told when it is stuck, and when it is settled; nothing else changes by it", function()
    local journal = assert(purser.journal.open { sqlite = new_path() })
    client = monitored.client(world, { journal = journal })
    sim:fault { kind = "lost_answer", operation = "wallet.transfer" }
    local done, err = client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = "5" }
    assert.same({ nil, "unknown" }, { done, err.outcome })
    local alerts = assert(purser.monitor.alerts(client, { networks = { "USDT/TRX" }, journal = journal }))
    local early = assert(purser.monitor.alerts(client, { journal = journal, stuck_ms = 60000 }))
    world.closed = '"TRX"'
    assert.same({}, told(early))
    sim:advance(120000) -- ten minutes are the default
    assert.same({ { "withdrawals of USDT/TRX: nil -> closed" }, 1 }, { told(alerts), #told(early) })
    sim:advance(7080000)
    local list, _, events = told(alerts)
    assert.same({ ("call %s attempt 1: nil -> stuck"):format(err.intent.id) }, list)
    assert.equal("wallet.transfer is stuck since 2.0 hours", events[1].text)
    assert.same({}, told(alerts))
    assert(journal:recover(client))
    assert.same({ ("call %s attempt 1: stuck -> settled"):format(err.intent.id) }, told(alerts))
    assert.same({}, told(alerts))
    journal:close()
  end)
end)
