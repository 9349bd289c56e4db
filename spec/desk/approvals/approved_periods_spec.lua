-- SPDX-License-Identifier: MIT
-- A guard's limit counts in fixed periods, a policy's sum_over rolls: the table of docs/write/guard-rails.md.

local setting = require "approvals_setting"
local ssh_keys = require "ssh_keys"
local whole = dofile "tools/whole_files.lua"

local HOUR, MINUTE, MIDNIGHT = 3600000, 60000, setting.NOW + 15 * 3600000 -- of Monday to Tuesday

-- Time, amount, the text of the limit's column, the text of the sum's.
local rows = {
  { "Monday 23:59", MIDNIGHT - MINUTE, "5000", "sent", "sent" },
  { "Tuesday 00:01", MIDNIGHT + MINUTE, "5000", "sent: a new day", "rejected: 10000 with Monday's" },
  { "Tuesday 23:59", MIDNIGHT + 24 * HOUR - MINUTE, "1", "rejected: 5001 this day",
    "rejected: the hour from Monday 23:00 still counts" },
  { "Wednesday 00:00", MIDNIGHT + 24 * HOUR, "1", "sent: a new day", "sent: that hour has gone" },
}

-- Sends a payment a row by a client. Returns the end of each: "sent", or the code of the rejection.
local function ends_of(client)
  local ends = {}
  for i, row in ipairs(rows) do
    setting.now = row[2]
    local made, err = setting.send(setting.row("row" .. i, row[3]), client)
    ends[i] = made and "sent" or err.details and err.details.code or err.code
  end
  return ends
end

-- Returns the ends that a column shows.
local function shown(column, code)
  local ends = {}
  for i, row in ipairs(rows) do ends[i] = row[column]:find "^sent" and "sent" or code end
  return ends
end

describe("a day's amount", function()
  before_each(function()
    setting.begin { rules = { { name = "all", effect = "allow", approvals = {} }, { name = "day", effect = "forbid",
      when = { coin = "USDT", sum_over = { amount = "5000", hours = 24, per = "account" } } } } }
  end)
  after_each(setting.finish)
  teardown(ssh_keys.remove)

  it("is sent twice around midnight UTC under a guard's limit, which has fixed periods", function()
    local client = assert(setting.client { policy = false,
      guard = { spending_limit = { USDT = { amount = "5000", period_ms = 24 * HOUR } } } })
    assert.same(shown(4, "guard.spending_limit"), ends_of(client))
  end)

  it("is sent once in the hours before a call under a policy's sum_over, which rolls", function()
    assert.same(shown(5, "approval.rule"), ends_of(assert(setting.client())))
  end)

  it("has these rows in the page", function()
    local page = whole.read "docs/write/guard-rails.md"
    for _, row in ipairs(rows) do
      local line = ("| %s | %s | %s | %s |"):format(row[1], row[3], row[4], row[5])
      assert.is_truthy(page:find(line, 1, true), line)
    end
  end)
end)
