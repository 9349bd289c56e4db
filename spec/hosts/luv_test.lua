-- SPDX-License-Identifier: MIT
-- examples/luv.lua: Purser in libuv's loop, against a simulated service.

local service = require "service"

describe("a loop of somebody else", function()
  local sim, account

  setup(function()
    sim = service.start()
    account = assert(sim.world:account { role = "main", balances = { USDT = "10" } })
  end)

  teardown(function() sim.stop() end)

  local function run(calls)
    local command = ("PURSER_BASE_URL=%s PURSER_API_KEY=%s PURSER_SECRET_KEY=%s %s examples/luv.lua %d 2>&1"):format(
      sim.url, account.api_key, account.secret_key, os.getenv "LUA" or "lua5.4", calls)
    local pipe = assert(io.popen(command))
    local text = pipe:read "*a"
    pipe:close()
    -- luv itself writes a line when a connection is reset; ours is the last.
    local done, turns, ticks = text:match "(%d+) calls in (%d+) turns of the loop; the ticker went on (%d+) times"
    assert(done, text)
    return tonumber(done), tonumber(turns), tonumber(ticks)
  end

  it("goes on while calls wait, and is not turned by polling", function()
    assert(sim.world:fault { kind = "slow", delay_ms = 400, probability = 1 })
    local done, turns, ticks
    for _ = 1, 5 do -- the machine may let it stand still for as long as the calls wait
      done, turns, ticks = run(20)
      assert.equal(20, done)
      if ticks >= 5 then break end
    end
    assert(sim.world:disarm())
    assert.is_true(ticks >= 5, ticks .. " ticks")
    -- A poll a millisecond would be 400 turns; a call takes a few: connecting, sending, a part of the answer each.
    assert.is_true(turns < 20 * 8, turns .. " turns")
  end)

  it("survives that descriptors come back as other sockets", function()
    assert(sim.world:fault { kind = "reset", when = "before", operation = "wallet.deposit_history", times = 20 })
    local done = run(40) -- reads are retried
    assert.equal(40, done)
  end)
end)
