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

describe("a date of HTTP", function()
  local NOW = 1795348800000 -- 2026-11-22T12:00:00Z

  -- A text, and the time that it is; nil for none. A third member is another time of reading.
  local DATES = {
    { "Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z" },
    { "Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z" },
    { "Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37Z" },
    { "Wed Nov 16 08:49:37 1994", "1994-11-16T08:49:37Z" },
    { "Sun Nov 06 08:49:37 1994", "1994-11-06T08:49:37Z" },
    -- two digits of a year: at most 50 years ahead
    { "Sunday, 22-Nov-26 12:00:01 GMT", "2026-11-22T12:00:01Z" },
    { "Friday, 31-Dec-75 23:59:59 GMT", "2075-12-31T23:59:59Z" },
    { "Sunday, 22-Nov-76 12:00:00 GMT", "2076-11-22T12:00:00Z" },
    { "Monday, 22-Nov-76 12:00:01 GMT", "1976-11-22T12:00:01Z" },
    { "Saturday, 01-Jan-77 00:00:00 GMT", "1977-01-01T00:00:00Z" },
    { "Tuesday, 29-Feb-00 00:00:00 GMT", "2000-02-29T00:00:00Z" },
    { "Saturday, 01-Jan-00 00:00:00 GMT", "2000-01-01T00:00:00Z", "1999-12-31T23:59:59Z" },
    { "Friday, 31-Dec-99 23:59:59 GMT", "1999-12-31T23:59:59Z", "2000-01-01T00:00:00Z" },
    { "Thursday, 31-Dec-49 23:59:59 GMT", "2049-12-31T23:59:59Z", "1999-12-31T23:59:59Z" },
    { "Saturday, 31-Dec-50 23:59:59 GMT", "1950-12-31T23:59:59Z", "1999-12-31T23:59:59Z" },
    { "Sunday, 29-Feb-26 00:00:00 GMT" }, -- 2026 has none
    -- a leap second is the last of a day
    { "Sat, 31 Dec 2016 23:59:60 GMT", "2017-01-01T00:00:00Z" },
    { "Saturday, 31-Dec-16 23:59:60 GMT", "2017-01-01T00:00:00Z" },
    { "Sat Dec 31 23:59:60 2016", "2017-01-01T00:00:00Z" },
    { "Sat, 31 Dec 2016 22:59:60 GMT" }, { "Sat, 31 Dec 2016 23:58:60 GMT" }, { "Sat, 31 Dec 2016 23:59:61 GMT" },
    { "Thu, 01 Jan 1970 00:00:00 GMT", "1970-01-01" }, { "Wed Dec 31 23:59:59 1969", "1969-12-31T23:59:59Z" },
    { "Sun, 6 Nov 1994 08:49:37 GMT" }, { "Sun, 06 Nov 94 08:49:37 GMT" }, { "Sunday, 06-Nov-1994 08:49:37 GMT" },
    { "Sun, 06-Nov-94 08:49:37 GMT" }, { "Sunday, 6-Nov-94 08:49:37 GMT" }, { "Sunday, 00-Nov-94 08:49:37 GMT" },
    { "Sunday, 06-Nov-94 08:49:37 UTC" }, { "Sunday, 06-Nov-94 24:00:00 GMT" }, { "Sunday, 31-Jun-94 08:49:37 GMT" },
    { "Sunday, 06-nov-94 08:49:37 GMT" }, { "Sun Nov 6 08:49:37 1994" }, { "Sun Nov  0 08:49:37 1994" },
    { "Sun Nov  6 08:49:37 1994 GMT" }, { "Sun Nov  6 08:60:37 1994" }, { "Sun Nov 31 08:49:37 1994" },
    { "Sun Foo  6 08:49:37 1994" }, { "Sun Nov  6 8:49:37 1994" }, { "Sun Nov  6 08:49:37 94" },
    { "Sun Nov  6 08:49 1994" }, { "Sun Nov  6 08:49:37:00 1994" }, { "Sunday, 06-Nov-94 08:49:37 GMT " },
    { " Sun Nov  6 08:49:37 1994" }, { "sun Nov  6 08:49:37 1994" }, { "" }, { "0" },
  }

  it("is read in the three forms that there are, and no other text is one", function()
    for _, case in ipairs(DATES) do
      local text, time, now = case[1], case[2], case[3]
      assert.equal(time and utc.ms(time), utc.http_ms(text, now and utc.ms(now) or NOW), text)
    end
  end)

  it("is the same day in each form, on each day of the 100 years about now", function()
    local days, months = { "Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed" }, { "Jan", "Feb", "Mar", "Apr", "May",
      "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" }
    local long = { "Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday" }
    for day = math.floor(NOW / 86400000) - 18261, math.floor(NOW / 86400000) + 18262 do
      local ms, weekday = day * 86400000 + 43200000, day % 7 + 1
      local year, month, of_month = utc.text(ms):match "^(%d+)%-(%d+)%-(%d+)"
      local name = months[tonumber(month)]
      for _, text in ipairs { ("%s, %s %s %s 12:00:00 GMT"):format(days[weekday], of_month, name, year),
        ("%s, %s-%s-%s 12:00:00 GMT"):format(long[weekday], of_month, name, year:sub(3)),
        ("%s %s %2d 12:00:00 %s"):format(days[weekday], name, tonumber(of_month), year) } do
        assert.equal(ms, utc.http_ms(text, NOW), text)
      end
    end
  end)
end)
