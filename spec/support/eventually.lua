-- SPDX-License-Identifier: MIT
--- Waits until `condition()` is true, and fails where nothing makes it so within two minutes: a test that waits for a
-- child that has ended would wait for ever.

local core = require "purser.core"

local LIMIT_MS = 120000

---@param condition fun(): any
---@param sleep fun(ms: integer)|nil  core.sleep_ms, which stops the whole thread
return function(condition, sleep)
  local ends = core.monotonic_ms() + LIMIT_MS
  while not condition() do
    assert(core.monotonic_ms() < ends, "what is waited for does not come")
    local pause = sleep or core.sleep_ms
    pause(20)
  end
end
