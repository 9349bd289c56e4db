-- SPDX-License-Identifier: MIT
-- The bridge to libuv, on a libuv that only notes. spec/hosts/bridges_test.lua has the real one.

local luv = require "purser.hosts.luv"

describe("the bridge to libuv", function()
  it("watches descriptors, and has one timer for the next alarm", function()
    local said, loop = {}, nil
    local function noting(name)
      return setmetatable({}, { __index = function(_, method)
        return function(_, first, second)
          second = type(second) == "number" and " " .. second or "" -- of a timer: 0, it does not repeat
          said[#said + 1] = ("%s %s %s%s"):format(name, method, tostring(first), second)
        end
      end })
    end
    local uv = { new_timer = function() return noting "timer" end,
      new_poll = function(fd) return noting("poll " .. fd) end }
    local function problem() end
    local turn = luv.new(uv, { attach = function(_, made, on_error)
      loop = made
      assert.equal(problem, on_error)
      return "turn"
    end }, problem)
    assert.equal("turn", turn)
    loop.unwatch(loop.watch(7, "rw", turn))
    loop.alarm(30, turn)
    loop.alarm(nil, turn)
    assert.same({ "poll 7 start rw", "poll 7 close nil", "timer stop nil", "timer start 30 0", "timer stop nil" }, said)
  end)
end)
