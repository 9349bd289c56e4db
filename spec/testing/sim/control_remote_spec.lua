-- SPDX-License-Identifier: MIT
-- A simulator elsewhere has the methods of the one in this process, with the same effect. What goes over a network is
-- tested with the command (spec/cli/sim_spec.lua); here the other end is the control endpoints of a simulator.

local control = require "purser.testing.sim.control"
local core = require "purser.core"
local purser = require "purser"

local PAYEE = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"

describe("a world elsewhere", function()
  local sim, world, sent, stopped

  -- Hands requests to the control endpoints of `sim`, as the server does.
  local function door()
    local handle = control.handler(sim, function() stopped = true end)
    return { send = function(_, request)
      sent[#sent + 1] = request
      return handle { method = request.method, target = request.target, body = request.body, ip = "127.0.0.1",
        headers = { host = "127.0.0.1", ["content-type"] = request.headers["Content-Type"] } }
    end, close = function() sent.closed = true end }
  end

  before_each(function()
    sent, stopped = {}, false
    sim = purser.sim.new { seed = 3 }
    world = assert(control.connect("http://127.0.0.1:1", { transport = door() }))
  end)

  -- Returns what a method returns when the other end answers with this status and body.
  local function answered(status, body)
    world.transport = { send = function() return { status = status, headers = {}, body = body } end }
    return { world:state() }
  end

  it("opens accounts, and does to them what the methods say", function()
    local house = assert(world:account { name = "House", role = "broker", balances = { USDT = "100" } })
    assert.equal("House", sim.accounts.by_id[house.uid].name)
    assert.equal("0.5", assert(world:rebate { account = "House", asset = "USDT", amount = "0.5" }).amount)
    assert.equal(PAYEE, assert(world:save_address { account = "House", coin = "USDT", network = "TRX",
      address = PAYEE }).address)
    assert.same({ uid = house.uid, frozen = true }, world:freeze "House")
    assert.same({ uid = house.uid, frozen = false }, world:freeze("House", false))
    assert.is_true(assert(world:freeze({ name = "House" }, true)).frozen)
    assert.same({ sim:state() }, { world:state() })
    local deposit = assert(world:deposit { account = "House", coin = "USDT", network = "TRX", amount = "7" })
    assert.equal(7, assert(world:set_deposit(deposit.id, "REJECTED")).status)
    assert.equal("0xAB", assert(world:respell(deposit.id, { txId = "0xAB" })).txId)
    assert.equal(deposit.txId, assert(world:respell(deposit.id)).txId)
    assert.same({ id = deposit.id, hidden = true }, world:hide(deposit.id))
    assert.is_true(sim.deposits.by_id[deposit.id].hidden)
    assert.is_false(assert(world:hide(deposit.id, false)).hidden)
    assert.same({ nil, "there is no such record" }, { world:hide "0" })
    assert.equal("99", assert(world:trade { account = "House", changes = { USDT = "-1" } })[1].free)
    assert.same({ nil, "there is no such withdrawal" }, { world:set_withdrawal("0", 7) })
    assert.same({ nil, "there is no such waiting transfer" }, { world:fail_transfer "0" })
    assert.is_true(world:verify())
  end)

  it("arms faults, with a probability that is no whole number, and takes them back", function()
    assert.is_true(world:fault { kind = "reset", operation = "transfer", probability = 0.25 })
    assert.same(sim:armed_faults(), world:armed_faults())
    assert.equal(0.25 * 2 ^ 31, sim.fault_state.armed[1].threshold)
    local armed, wrong = world:fault { kind = "explode" }
    assert.is_nil(armed)
    assert.matches('option "kind" is "explode"', wrong)
    assert.is_true(world:disarm())
    assert.same({ {}, {} }, { world:armed_faults(), world:faults() })
  end)

  it("shows what was asked", function()
    sim:handle { method = "GET", target = "/api/v3/ping", headers = {}, body = "" }
    assert.same(sim:requests(), world:requests())
    assert.same({}, world:counts())
    assert.same({}, world:rate_limit())
  end)

  it("knows the time without asking again: that of the last answer, or with the wall clock's", function()
    local start = sim:now()
    assert.equal(start, world:now())
    assert.equal(start + 5000, world:advance(5e3)) -- a whole float on Lua 5.3 and later
    sim:advance(1000)
    local before = #sent
    assert.equal(start + 5000, world:now())
    assert.equal(before, #sent)
    assert.equal(start + 6000, world:refresh())
    sim = purser.sim.new { clock = "real", start_time = 1700000000000 }
    world = assert(control.connect("http://127.0.0.1:1", { transport = door() }))
    assert(world:advance(1000000))
    local wall = core.now_ms()
    local now = world:now()
    assert.is_true(now >= 1700001000000 and now <= 1700001000000 + core.now_ms() - wall + 60000, now)
  end)

  it("asks a write call once, and a read call again where the transport may", function()
    world:state()
    world:disarm()
    world:advance(1)
    local once = {}
    for i, request in ipairs(sent) do once[i] = request.method .. " " .. tostring(request.at_most_once) end
    assert.same({ "GET false", "GET false", "DELETE true", "POST true" }, once)
  end)

  it("returns nil and what is wrong when it is rejected, cannot be reached or cannot be read", function()
    assert.same({ nil, "no" }, answered(400, '{"error":"no"}'))
    assert.same({ nil, "simulator: closed (HTTP 403)" }, answered(403, '{"error":"closed"}'))
    assert.same({ nil, "simulator: Path not found (HTTP 404)" }, answered(404, '{"code":404,"msg":"Path not found"}'))
    assert.same({ nil, "simulator: no reason given (HTTP 502)" }, answered(502, "<html>"))
    assert.matches("cannot be read", answered(200, "<html>")[2])
    world.transport = { send = function() return nil, { message = "connection refused" } end }
    for _, method in ipairs { "state", "verify", "refresh", "stop", "disarm", "counts" } do
      assert.same({ nil, "http://127.0.0.1:1: connection refused" }, { world[method](world) }, method)
    end
    assert.same({ nil, "http://127.0.0.1:1: connection refused" }, { world:advance(1) })
    local closed = false
    local transport = { send = world.transport.send, close = function() closed = true end }
    assert.is_nil((control.connect("http://127.0.0.1:1", { transport = transport })))
    assert.is_true(closed)
  end)

  it("ends the other side by `stop`, and lets it run by `close`", function()
    world:close()
    assert.same({ true, false }, { sent.closed, stopped })
    sent.closed = nil
    assert.is_true(world:stop())
    assert.same({ true, true }, { sent.closed, stopped })
  end)
end)
