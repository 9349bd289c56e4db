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
    assert.matches("^al_%x+_1$", event.id)
    world.closed = nil
    told(start("cat >>" .. got))
    for line in io.lines(got) do lines[#lines + 1] = line end
    assert.equal((event.id:gsub("_1$", "_2")), core.decode(lines[#lines]).id)
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
