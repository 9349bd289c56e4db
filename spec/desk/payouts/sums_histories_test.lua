-- SPDX-License-Identifier: MIT
-- Random histories under a spending limit and a policy; see spec/support/sums_histories.lua. PURSER_HISTORIES=300 runs
-- three hundred, PURSER_SEED=7 begins with the seventh.
-- make test-all: 40 s, on luajit

local histories = require "sums_histories"
local ssh_keys = require "ssh_keys"

describe("histories under a limit and a policy", function()
  teardown(function()
    histories.finish()
    ssh_keys.remove()
  end)

  it("(1 to 25) keep the sums that the rows count, exceed no limit, and pay nothing twice", function()
    local met = histories.run(25)
    if os.getenv "PURSER_HISTORIES" then return end
    for _, fate in ipairs { "lost", "late", "rejected", "second_copy_rejected", "first_copy_is_late",
      "second_copy_throttled" } do
      assert.is_true((met[fate] or 0) > 0, fate)
    end
  end)
end)
