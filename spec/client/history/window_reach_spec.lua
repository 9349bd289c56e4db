-- SPDX-License-Identifier: MIT
-- The reach of histories.

local history = require "purser.client.history"
local listed_records = require "listed_records"
local window_reader = require "purser.client.history.window"
local utc = require "purser.client.util.utc"

local DAY, NOW = 86400000, listed_records.NOW
local client_of = listed_records.client_of

describe("how far a history reaches", function()
  local nothing = client_of(function() return {} end)

  it("is three whole days where midnight is not documented to be that of UTC", function()
    local walk = history.each(nothing, "broker.all_deposit_history", {})
    assert.equal(NOW - 3 * DAY + 60000, walk.from)
    local _, err = history.each(nothing, "broker.all_deposit_history", { from = NOW - 3 * DAY - 1 }):next()
    assert.matches("beyond the reach of this history %(the last 3 days%)", err.message)
  end)

  it("is 180 days by default where six months are documented, and six months when asked for", function()
    local none = client_of(function() return { rows = {}, total = 0 } end)
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES" }
    local walk = history.each(none, "wallet.transfer_history", params)
    assert.equal(NOW - 180 * DAY + 60000, walk.from)
    params.from = NOW - 183 * DAY
    assert.same({}, assert(history.each(none, "wallet.transfer_history", params):collect()))
  end)
end)

describe("the earliest time of a history", function()
  local function of(window, at)
    local earliest = window_reader.earliest(window, assert(utc.ms(at)))
    return earliest and utc.text(earliest):gsub(":00%.000Z$", "")
  end

  it("is nil where no limit is documented", function()
    assert.is_nil(of(nil, "2026-11-22"))
    assert.is_nil(of({ max_window_days = 7 }, "2026-11-22"))
  end)

  it("is so many days back", function()
    assert.equal("2026-08-24T10:30", (of({ retention_days = 90 }, "2026-11-22T10:30")))
    assert.equal("2026-11-19T10:30", (of({ retention_days = 3, from_midnight = true }, "2026-11-22T10:30")))
  end)

  it("is so many months back; a day that the month lacks becomes the first of the next", function()
    for at, earliest in pairs {
      ["2026-11-22T10:30"] = "2026-05-22T10:30", ["2026-01-15"] = "2025-07-15T00:00",
      ["2026-05-31"] = "2025-12-01T00:00", ["2026-08-31T10:00"] = "2026-03-01T10:00",
      ["2026-08-29"] = "2026-03-01T00:00", ["2026-08-28"] = "2026-02-28T00:00",
      ["2024-08-31"] = "2024-03-01T00:00", ["2024-08-29"] = "2024-02-29T00:00",
    } do
      assert.equal(earliest, (of({ retention_months = 6 }, at)))
    end
  end)
end)

describe("a walk without a beginning", function()
  it("begins where it stays within reach while it is under way", function()
    assert.equal(NOW - 90 * DAY + 60000, window_reader.default({ retention_days = 90 }, NOW))
    for month = 1, 12 do -- 180 days are never more than six months
      local now = assert(utc.ms(("2026-%02d-28"):format(month)))
      assert.is_true(window_reader.default({ retention_months = 6 }, now)
        > window_reader.earliest({ retention_months = 6 }, now))
    end
  end)
end)

describe("a window's length", function()
  it("leaves room for the seconds that are asked for on both sides", function()
    assert.equal(7 * DAY - 3000, window_reader.max_window { max_window_days = 7 })
    assert.is_nil(window_reader.max_window {})
    assert.is_nil(window_reader.max_window(nil))
  end)
end)
