-- SPDX-License-Identifier: MIT

local stages = require "purser.desk.payouts.stages"

local NOW = 1700000000000

-- A payment after its attempt of this number, of three, by a client whose time is NOW.
local function payment_of(attempts, fields)
  local payment = { attempts = attempts, operation = "wallet.withdraw",
    run = { attempts = 3, retry_ms = 100, client = { now = function() return NOW end } } }
  for name, value in pairs(fields or {}) do payment[name] = value end
  return payment
end

describe("the stage of a payment after an attempt", function()
  it("is by the state of its call", function()
    local LOST = { stage = "sent", message = "m" }
    local WAITS = { stage = "waiting", due_in = 400, message = "m" }
    for _, case in ipairs {
      { "done", {}, { stage = "done" } },
      { "unknown", {}, LOST },
      { "undecided", {}, false },
      { "undecided", { put_off_at = 1 }, { stage = "undecided", message = "m" } },
      { "not_sent", {}, WAITS },
      { "not_done", {}, { stage = "waiting", due_in = 0, message = "m" } },
      { "not_done", { rejection = "r" }, { stage = "failed", message = "r" } },
      { "not_done", { rejection = "r", is_put_back = true }, { stage = "waiting", due_in = 0, message = "r" } },
    } do
      assert.same(case[3], stages.next(payment_of(2, case[2]), case[1], "m"), case[1])
    end
    assert.equal("it was not executed", stages.next(payment_of(1), "not_done", "").message)
  end)

  it("after a rejection is a look, but where the clock explains it", function()
    for _, case in ipairs {
      { {}, nil, nil, nil },
      { { kind = "api", code = "10101" }, nil, nil, nil },
      { { kind = "throttled", retry_after = 2 }, 2000, false, true },
      { { kind = "throttled", retry_after = 301 }, 301000, true, true },
      { { kind = "http" }, 0, false, true }, -- a firewall's
    } do
      local payment = payment_of(1)
      assert.same({ stage = "sent", rejected = true, due_in = case[2], is_left = case[3], message = "m" },
        stages.next(payment, "rejected", "m", next(case[1]) and case[1] or nil))
      assert.same({ "m", case[4] == true, NOW + (case[2] or 0) },
        { payment.rejection, payment.is_put_back, payment.look_from })
    end
    assert.same({ stage = "waiting", due_in = 200, message = "m" },
      stages.next(payment_of(1), "rejected", "m", { kind = "api", code = "700003", is_explained = true }))
    assert.same({ stage = "sent", state = "unknown", message = "m" },
      stages.next(payment_of(1), "rejected", "m", { kind = "api", code = "700003" }))
  end)

  it("after the last attempt is a failure once no record shows the payment", function()
    assert.same({ stage = "failed", message = "gave up after 3 attempts: m" },
      stages.next(payment_of(3), "not_done", "m"))
    local payment = payment_of(3)
    assert.same({ stage = "sent", rejected = true, message = "gave up after 3 attempts: m" },
      stages.next(payment, "not_sent", "m"))
    assert.is_false(payment.is_put_back)
  end)

  it("is a failure after a rejection where no history could show the payment", function()
    assert.same({ stage = "failed", message = "m" },
      stages.next(payment_of(1, { operation = "broker.withdraw" }), "rejected", "m", { kind = "throttled" }))
  end)
end)
