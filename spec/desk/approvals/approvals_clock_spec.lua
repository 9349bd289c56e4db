-- SPDX-License-Identifier: MIT
-- A clock that is set forth or back between two calls of one plan: no call is sent twice, none after the plan's last
-- day, and none while the clock is behind the newest call.
-- make test: 10 s

local setting = require "approvals_setting"
local ssh_keys = require "ssh_keys"

local HOUR, DAY = 3600000, 86400000
local ENDS = setting.NOW + DAY + 15 * HOUR -- the end of 2026-11-24

before_each(function() setting.begin() end)
after_each(setting.finish)
teardown(ssh_keys.remove)

-- Moves of the clock after the first call, and what becomes of the second: by the words of the design, not by the code.
local CASES = {
  { -400 * DAY, "plan_days" }, { -8 * DAY, "plan_days" }, -- the plan ends later than it may at such a time
  { -DAY - 1, "sent" }, -- a newest call of another world is not believed
  { -DAY, "clock" }, { -12 * HOUR, "clock" }, { -HOUR, "clock" }, { -60001, "clock" },
  { -60000, "sent" }, { -1, "sent" }, { 0, "sent" }, { 1, "sent" }, { HOUR, "sent" },
  { ENDS - setting.NOW - 1, "sent" }, { ENDS - setting.NOW, "expired" }, { ENDS - setting.NOW + 1, "expired" },
  { 8 * DAY, "expired" }, { 400 * DAY, "expired" },
}

local function outcome(row, client)
  local before = #setting.sent
  local value, err = setting.send(row, client)
  assert.is_true(#setting.sent - before <= 1)
  return value and (#setting.sent > before and "sent" or "known") or err.details.code:gsub("^approval%.", "")
end

describe("a clock that is set to another time", function()
  local function try(move, expected, is_other_process)
    local a, b, c = setting.row("a", "5"), setting.row("b", "6"), setting.row("c", "7")
    local rows = { a, b, c }
    local text = setting.plan(rows, { queue = "", not_after = "2026-11-24" })
    setting.add(text, { setting.sign(text, "alice"), setting.sign(text, "bob") })
    require("own_journal").within(function(tx) return tx:rows "UPDATE purser_plans SET single = ''" end)
    local client = assert(setting.client())
    assert.equal("sent", outcome(a, client))
    setting.now = setting.NOW + move
    if is_other_process then client = assert(setting.client()) end
    local place = ("%d, %s"):format(move, tostring(is_other_process))
    assert.equal("known", outcome(a, client), place)
    assert.equal(expected, outcome(b, client), place)
    assert.equal(expected == "sent" and "known" or expected, outcome(b, client), place)
    local at_most = #setting.sent
    setting.now = setting.NOW + HOUR -- it is set right again
    for _, row in ipairs(rows) do
      local word = outcome(row, client)
      assert.is_true(word == "known" or word == "sent" or word == "clock", place .. word)
      assert.is_true(word ~= "sent" or row ~= a and (row ~= b or expected ~= "sent"), place)
    end
    assert.is_true(#setting.sent <= at_most + 2 and #setting.sent <= 3, place)
  end

  it("sends nothing twice, and nothing that it should not", function()
    local tried = 0
    for _, case in ipairs(CASES) do
      for _, is_other_process in ipairs { false, true } do
        try(case[1], case[2], is_other_process)
        tried = tried + 1
        setting.finish()
        setting.begin()
      end
    end
    assert.is_true(tried >= 24)
  end)
end)
