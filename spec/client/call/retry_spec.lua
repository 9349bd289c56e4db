-- SPDX-License-Identifier: MIT
-- When a read is sent again, and after how long.

local retry = require "purser.client.call.retry"

local READABLE = { retryable = true, kind = "http" }

describe("the policy of retries", function()
  it("is three attempts within thirty seconds unless something else is said", function()
    assert.same({ attempts = 3, base_ms = 250, max_ms = 8000, deadline_ms = 30000 }, retry.policy())
    assert.same({ attempts = 5, base_ms = 250, max_ms = 8000, deadline_ms = 30000 }, retry.policy { attempts = 5 })
  end)

  it("is one attempt where that is asked for", function()
    assert.is_nil(retry.pause(retry.policy(false), 1, 0, READABLE))
    local pause = retry.pause(false, 1, 0, READABLE) -- of a client without the option
    assert.is_true(pause >= 125 and pause <= 250)
    assert.is_nil(retry.pause(false, 3, 0, READABLE))
  end)

  it("is rejected where it makes no sense", function()
    for _, options in ipairs { 5, "3", true, { attempts = 0 }, { attempts = 1.5 }, { attempt = 3 }, { base_ms = 0 },
      { max_ms = "1" }, { deadline_ms = -1 } } do
      local policy, message, hint = retry.policy(options)
      assert.is_nil(policy)
      assert.is_string(message)
      assert.is_true(hint ~= nil or message:find("did you mean", 1, true) ~= nil)
    end
  end)
end)

describe("the pause before the next attempt", function()
  local policy = retry.policy { attempts = 9, base_ms = 100, max_ms = 1000, deadline_ms = 5000 }

  it("doubles up to its bound, and is between its half and the whole", function()
    for attempt, ms in pairs { [1] = 100, [2] = 200, [4] = 800, [5] = 1000, [8] = 1000 } do
      local seen = {}
      for _ = 1, 50 do
        local pause = retry.pause(policy, attempt, 0, READABLE)
        assert.is_true(pause >= ms / 2 and pause <= ms, pause)
        seen[pause] = true
      end
      assert.is_truthy(next(seen, (next(seen)))) -- clients do not come back together
    end
  end)

  it("is the service's own where that is longer", function()
    assert.equal(2000, retry.pause(policy, 1, 0, { retryable = true, kind = "throttled", retry_after = 2 }))
    assert.is_true(retry.pause(policy, 8, 0, { retryable = true, kind = "throttled", retry_after = 0 }) >= 500)
  end)

  it("is none after the last attempt, beyond the deadline, and for what may not or need not be sent again", function()
    assert.is_nil(retry.pause(policy, 9, 0, READABLE))
    assert.is_number(retry.pause(policy, 1, 4900, READABLE))
    assert.is_nil(retry.pause(policy, 1, 4951, READABLE))
    assert.is_nil(retry.pause(policy, 1, 0, { retryable = true, kind = "throttled", retry_after = 6 }))
    assert.is_nil(retry.pause(policy, 1, 0, { retryable = false, kind = "http" }))
    assert.is_nil(retry.pause(policy, 1, 0, { retryable = true, kind = "decode" }))
  end)
end)
