-- SPDX-License-Identifier: MIT
-- The transport without a network: what a network would do to an answer becomes a transport's failure.

local purser = require "purser"
local signed = require "signed"
local transport = require "purser.testing.sim.transport"

local function world()
  local sim = purser.sim.new { seed = 1 }
  return sim, assert(sim:account { role = "main", balances = { USDT = "1000" } })
end

describe("the simulator's transport", function()
  local function client_of(sim, owner, options)
    options = options or {}
    options.base_url, options.transport = "http://localhost", sim:transport()
    options.api_key, options.secret_key = owner.api_key, owner.secret_key
    options.clock = function() return sim:now() end
    return assert(purser.new(options))
  end

  it("turns a lost answer into an unknown outcome, though the operation was executed", function()
    local sim, house = world()
    local client = client_of(sim, house)
    for _, kind in ipairs { "lost_answer", "truncate" } do
      sim:fault { kind = kind, operation = "wallet.transfer" }
      local done, err = client.wallet:transfer {
        fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1",
      }
      assert.is_nil(done)
      assert.equal("unknown", err.outcome)
    end
    assert.equal("2", signed.free(sim, house, "USDT", "FUTURES"))
    assert.equal(2, #sim:faults())
    assert.same({ received = 2, applied = 2 }, sim:counts()["wallet.transfer"])
  end)

  it("lets a slow answer pass the time-out on the virtual clock", function()
    local sim, house = world()
    local client = client_of(sim, house, { timeout_ms = 500 })
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
    local sim = world()
    local closed = sim:transport()
    closed:close()
    local _, failure = closed:send { method = "GET", target = "/api/v3/ping", headers = {} }
    assert.same({ "closed", "not_sent" }, { failure.kind, failure.outcome })
  end)

  it("lets a dripping answer take as long as its pieces, and gives it whole where that is soon enough", function()
    for timeout, takes in pairs { [100000] = 400, [300] = 300 } do
      local sim = world()
      sim.handle = function() return { status = 200, headers = { ["X-A"] = "b" }, body = ("x"):rep(9), fault = "drip",
        drip_bytes = 3, drip_ms = 100, delay_ms = 100 } end
      local before = sim:now()
      local response, failure = sim:transport():send { method = "GET", target = "/x", timeout_ms = timeout }
      assert.equal(takes, sim:now() - before)
      if takes == 400 then
        assert.same({ status = 200, body = ("x"):rep(9), headers = { ["x-a"] = "b" } }, response)
      else
        assert.same({ "transport", "unknown", "no answer within 300 ms" },
          { failure.kind, failure.outcome, failure.message })
      end
    end
  end)

  it("hands over a request with the names of its headers in lower case, an empty body and an address", function()
    local sim = world()
    local seen
    sim.handle = function(_, request)
      seen = request
      return { status = 200, body = "" }
    end
    transport.ask(sim, { method = "GET", target = "/x?a=%41", headers = { ["X-MEXC-APIKEY"] = "k" } })
    assert.same({ method = "GET", target = "/x?a=%41", headers = { ["x-mexc-apikey"] = "k" }, body = "",
      ip = "127.0.0.1" }, seen)
    transport.ask(sim, { method = "POST", target = "/x", body = "{}" }, "192.0.2.7")
    assert.same({ "{}", "192.0.2.7" }, { seen.body, seen.ip })
  end)

  it("sleeps on a real clock as long as it is told", function()
    local core = require "purser.core"
    local real = purser.sim.new { clock = "real" }:transport()
    local began = core.monotonic_ms()
    real:sleep(20)
    assert.is_true(core.monotonic_ms() - began >= 19)
  end)

  it("never calls an answer that did not come whole an answer", function()
    for _, fault in ipairs { "close", "reset", "truncate" } do
      local response, failure = transport.answer { status = 200, body = "{}", fault = fault }
      assert.is_nil(response)
      assert.same({ "transport", "unknown", "receive" }, { failure.kind, failure.outcome, failure.phase })
    end
  end)
end)
