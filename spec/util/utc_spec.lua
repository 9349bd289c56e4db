-- SPDX-License-Identifier: MIT
-- UTC times to and from milliseconds: exact both ways, and errors that name the byte.

local purser = require "purser"

local utc = purser.utc

describe("a time in UTC", function()
  it("is a text of milliseconds and back, without a loss", function()
    local cases = {
      [0] = "1970-01-01T00:00:00.000Z", [-1] = "1969-12-31T23:59:59.999Z",
      [1795348800123] = "2026-11-22T12:00:00.123Z", [951782400000] = "2000-02-29T00:00:00.000Z",
      [253402300799999] = "9999-12-31T23:59:59.999Z", [-62167219200000] = "0000-01-01T00:00:00.000Z",
    }
    for ms, text in pairs(cases) do
      assert.equal(text, utc.text(ms))
      assert.equal(ms, utc.ms(text))
    end
  end)

  it("agrees with the system's calendar on each day of 120 years", function()
    for day = 0, 43830 do
      local ms = day * 86400000 + day % 86400 * 1000
      local text = os.date("!%Y-%m-%dT%H:%M:%S", ms / 1000)
      assert.equal(text .. ".000Z", utc.text(ms))
      assert.equal(ms, utc.ms(text))
    end
  end)

  it("is an integer where the host has integers", function()
    local ms = utc.ms "2026-11-22T12:00:00.123+02:00"
    assert.equal("1795341600123", ("%d"):format(ms))
    if math.type then assert.equal("integer", math.type(ms)) end
    assert.equal("2026-11-22T12:00:00.000Z", utc.text(1795348800000.0))
  end)

  it("is a date, with or without a time of day and an offset", function()
    local noon = 1795348800000
    local cases = {
      ["2026-11-22"] = noon - 43200000, ["2026-11-22T12:00"] = noon, ["2026-11-22 12:00:00"] = noon,
      ["2026-11-22T12:00:00Z"] = noon, ["2026-11-22T13:00+01:00"] = noon, ["2026-11-22T06:30-0530"] = noon,
      ["2026-11-22T12:00:00.5"] = noon + 500, ["2026-11-22T12:00:00.05Z"] = noon + 50,
      ["2026-11-23T02:00:00.007+14:00"] = noon + 7, ["2024-02-29"] = 1709164800000,
    }
    for text, ms in pairs(cases) do assert.equal(ms, utc.ms(text), text) end
  end)

  it("is rejected with the byte where the text is wrong", function()
    local cases = {
      { "", 1, "the year is not 4 digits" }, { "yesterday", 1, "year" }, { "1795348800000", 5, "there is no month" },
      { "2026-13-01", 6, "there is no month 13; give 01 to 12" }, { "2026-00-01", 6, "month 00" },
      { "2026-1-1", 6, "the month is not 2 digits" }, { "2026-11", 8, "there is no day" },
      { "2026-11-31", 9, "the month has 30 days" }, { "2025-02-29", 9, "28 days" }, { "1900-02-29", 9, "28 days" },
      { "2026-11-22T", 12, "hour" }, { "2026-11-22T24:00", 12, "there is no hour 24" },
      { "2026-11-22T12", 14, "there is no minute" }, { "2026-11-22T12:60", 15, "there is no minute 60" },
      { "2026-11-22T12:00:60", 18, "there is no second 60" }, { "2026-11-22T12:00:00.", 21, "0 digits" },
      { "2026-11-22T12:00:00.1234", 21, "4 digits" }, { "2026-11-22T12:00.5", 17, "the time ends" },
      { "2026-11-22T12:00:00z", 20, "the time ends" }, { "2026-11-22T12:00Zx", 18, "remove the rest" },
      { "2026-11-22T12:00+15:00", 17, "so far from UTC" }, { "2026-11-22T12:00+01:60", 17, "so far" },
      { "2026-11-22Z", 11, "the date ends" }, { " 2026-11-22", 1, "year" }, { "2026-11-22\n", 11, "the date ends" },
      { "0000-01-01T00:00+00:01", 1, "years 0 to 9999" },
    }
    for _, case in ipairs(cases) do
      local ms, message, position = utc.ms(case[1])
      assert.is_nil(ms, case[1])
      assert.equal(case[2], position, case[1])
      assert.is_truthy(message:find(case[3], 1, true), message)
      assert.is_truthy(message:find(("byte %d: "):format(position), 1, true), message)
    end
    local _, message = utc.ms "2026-11-22\27[2J"
    assert.is_nil(message:find "%c")
  end)

  it("is neither a fraction, a text, infinite nor far away where milliseconds belong", function()
    for _, wrong in ipairs { 0.5, 1 / 0, -1 / 0, 0 / 0, "1795348800000", true, {}, 2 ^ 53, -62167219200001,
      253402300800000 } do
      local text, message = utc.text(wrong)
      assert.is_nil(text)
      assert.is_truthy(message:find("utc.text: ", 1, true))
    end
    assert.is_nil((utc.text(nil)))
    assert.is_nil((utc.ms(nil)))
    assert.is_nil((utc.ms(1795348800000)))
  end)
end)
