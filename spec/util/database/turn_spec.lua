-- SPDX-License-Identifier: MIT
-- One coroutine at a time uses a connection.

local turns = require "purser.util.database.turn"

-- Runs `fn` in a coroutine up to its first yield; what that yielded, or what `fn` returned.
local function start(fn)
  local co = coroutine.create(fn)
  return co, select(2, assert(coroutine.resume(co)))
end

describe("a turn", function()
  it("is had by one coroutine, which gets it again for nothing", function()
    local turn = turns.new(0)
    local mine, abandoned = turn:enter()
    assert.is_truthy(mine)
    assert.is_false(abandoned)
    assert.same({ false, false }, { turn:enter() })
    turn:leave(false) -- of the inner one: nothing ends
    start(function()
      local other, message = turn:enter()
      assert.is_nil(other)
      assert.matches("another coroutine of this program is in the middle of a transaction, .*; give .*`sleep`",
        message)
    end)
    turn:leave(mine)
    start(function() turn:leave(assert((turn:enter()))) end)
  end)

  it("is waited for by the host's sleep, until it is free", function()
    local sleeps = 0
    local turn = turns.new(60000, function(ms)
      sleeps = sleeps + ms
      coroutine.yield "waits"
    end)
    local mine = turn:enter()
    local co, said = start(function() return (turn:enter()) ~= nil and "entered" end)
    assert.equal("waits", said)
    coroutine.resume(co)
    turn:leave(mine)
    assert.same({ true, "entered" }, { coroutine.resume(co) })
    assert.equal(2, sleeps)
  end)

  it("of a coroutine that ended without leaving is taken, and that is said, once", function()
    local turn = turns.new(0)
    start(function() turn:enter() end)
    local mine, abandoned = turn:enter()
    assert.is_truthy(mine)
    assert.is_true(abandoned)
    turn:leave(mine)
    assert.is_false((select(2, turn:enter())))
  end)

  it("of a coroutine that was collected is taken as well, and not of one that still waits", function()
    local turn = turns.new(0)
    local holder = start(function()
      turn:enter()
      coroutine.yield()
    end)
    collectgarbage()
    assert.is_nil((turn:enter()))
    assert.equal("suspended", coroutine.status(holder))
    holder = nil -- luacheck: ignore
    for _ = 1, 3 do collectgarbage() end
    assert.is_true((select(2, turn:enter())))
  end)

  it("is not ended by a coroutine that had it and lost it", function()
    local turn = turns.new(0)
    local late
    start(function() late = turn:enter() end)
    local mine = turn:enter()
    turn:leave(late)
    start(function() assert.is_nil((turn:enter())) end)
    turn:leave(mine)
  end)
end)
