-- SPDX-License-Identifier: MIT
-- UTC times to and from milliseconds: exact both ways.

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

  it("is rejected with the forms that there are where the text is none of them, or names no time", function()
    for _, text in ipairs { "", "yesterday", "1795348800000", "2026-13-01", "2026-00-01", "2026-1-1", "2026-11",
      "2026-11-31", "2026-11-00", "2025-02-29", "1900-02-29", "2026-11-22T", "2026-11-22T24:00", "2026-11-22T12",
      "2026-11-22T12:60", "2026-11-22T12:00:60", "2026-11-22T12:00:00.", "2026-11-22T12:00:00.1234",
      "2026-11-22T12:00.5", "2026-11-22T12:00:005", "2026-11-22T12:00:00z", "2026-11-22T12:00Zx",
      "2026-11-22T12:00+15:00", "2026-11-22T12:00+01:60", "2026-11-22T12:00:00+1", "2026-11-22Z", " 2026-11-22",
      "2026-11-22\n", "2026-11-22T12:00\n", "0000-01-01T00:00+00:01", "9999-12-31T23:59-00:01" } do
      local ms, message = utc.ms(text)
      assert.is_nil(ms, text)
      assert.is_truthy(message:find("utc.ms: there is no time ", 1, true), message)
      assert.is_truthy(message:find("give a day such as 2026-01-31", 1, true), message)
    end
    assert.is_truthy(select(2, utc.ms "2026-13-01"):find('"2026-13-01"', 1, true))
    assert.is_nil(select(2, utc.ms "2026-11-22\27[2J"):find "%c")
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
