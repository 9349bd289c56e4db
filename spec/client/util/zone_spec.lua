-- SPDX-License-Identifier: MIT
-- Zones: the days of a place, over both changes of its clock; a name that is none, and a system without names.

local files = require "files"
local utc = require "purser.client.util.utc"
local zones = require "purser.client.util.zone"

local HOUR = 3600000
local FOLDERS = zones.FOLDERS

after_each(function()
  zones.FOLDERS = FOLDERS
  files.remove_kept()
end)

-- Returns the offsets that `date` of the system shows at times, in seconds.
local function shown_by_date(name, times)
  local path, list = files.new_path(), {}
  local file = assert(io.open(path, "w"))
  for _, at in ipairs(times) do file:write(("@%d\n"):format(at)) end
  file:close()
  local out = assert(io.popen(("TZ=%s date -f '%s' +%%::z"):format(name, path)))
  for line in out:lines() do
    local sign, hours, minutes, seconds = line:match "^([+-])(%d%d):(%d%d):(%d%d)$"
    list[#list + 1] = (hours * 3600 + minutes * 60 + seconds) * (sign == "-" and -1 or 1)
  end
  out:close()
  return list
end

describe("a zone", function()
  it("is as the system's date shows it, for a hundred years", function()
    for _, name in ipairs { "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/St_Johns",
      "Africa/Casablanca", "America/Sao_Paulo", "Asia/Kathmandu", "Africa/Cairo", "America/Godthab", "Etc/GMT+5" } do
      local zone, times, offsets = assert(zones.open(name)), {}, {}
      for i = 1, 150 do
        times[i] = -300000000 + i * 21538461 + i * i * 7919 % 5000000 -- 1960 to 2062
        offsets[i] = zone:offset(times[i] * 1000) / 1000
      end
      assert.same(shown_by_date(name, times), offsets, name)
    end
  end)

  it("has days of 23 and 25 hours", function()
    local berlin = assert(zones.open "Europe/Berlin")
    for day, hours in pairs { ["2026-03-28"] = 24, ["2026-03-29"] = 23, ["2026-03-30"] = 24, ["2026-10-24"] = 24,
      ["2026-10-25"] = 25, ["2026-10-26"] = 24 } do
      local starts = berlin:ms(day)
      local number = berlin:day(starts)
      assert.equal(starts, berlin:begin(number))
      assert.equal(hours * HOUR, berlin:begin(number + 1) - starts, day)
      assert.equal(day, berlin:date(starts))
      assert.equal(day, berlin:date(berlin:begin(number + 1) - 1))
      assert.is_true(berlin:date(starts - 1) < day)
      assert.equal(0, berlin:minute_of_day(starts))
    end
    assert.equal("2026-03-29 03:00", berlin:minute(utc.ms "2026-03-29T01:00"))
  end)

  it("reads a time of its clock, the first of two, and the end of what the clock leaves out", function()
    local berlin = assert(zones.open "Europe/Berlin")
    assert.equal(utc.ms "2026-01-31T08:30", berlin:ms "2026-01-31T09:30")
    assert.equal(utc.ms "2026-01-31T09:30", berlin:ms "2026-01-31T09:30Z")
    assert.equal(utc.ms "2026-01-31T09:30", berlin:ms "2026-01-31T09:30+00:00")
    assert.equal(utc.ms "2026-10-25T00:30", berlin:ms "2026-10-25T02:30") -- at 00:30 and 01:30 of UTC
    assert.equal(utc.ms "2026-03-29T01:00", berlin:ms "2026-03-29T02:30") -- never
    assert.equal(utc.ms "2026-03-29T00:59:59.999", berlin:ms "2026-03-29T01:59:59.999")
    local cairo = assert(zones.open "Africa/Cairo") -- whose days begin at 01:00 when the clock is set forward
    assert.equal("2024-04-26 01:00", cairo:minute(cairo:ms "2024-04-26"))
    assert.equal("2024-04-25", cairo:date(cairo:ms "2024-04-26" - 1))
    assert.matches("there is no time", select(2, berlin:ms "2026-02-30"))
  end)

  it("is an offset, or UTC, without a database", function()
    zones.FOLDERS = {}
    for name, ms in pairs { UTC = 0, ["+02:00"] = 2 * HOUR, ["-03:30"] = -3.5 * HOUR, ["+14:00"] = 14 * HOUR } do
      local zone = assert(zones.open(name))
      assert.equal(ms, zone:offset(0))
      assert.equal(utc.ms "2026-03-29" - ms, zone:ms "2026-03-29")
      assert.is_true(zone == zones.open(name))
    end
    for _, name in ipairs { "+15:00", "+02:60", "+2:00", "02:00", "", "../UTC", "Europe/", "/UTC", "Europe/Ber lin" } do
      assert.matches("^there is no zone .*; give a name of the tz database such as Europe/Berlin, an offset such as "
        .. "%+02:00, or UTC$", select(2, zones.open(name)), name)
    end
    assert.matches("^the zone is a number; give ", select(2, zones.open(5)))
  end)

  it("that does not exist is an error with the nearest name", function()
    assert.matches('^there is no zone "Europe/Berln" %(did you mean "Europe/Berlin"%?%); give ',
      select(2, zones.open "Europe/Berln"))
    assert.matches("leap seconds", select(2, zones.open "right/Europe/Berlin") or "leap seconds") -- not on each system
  end)

  it("of a name needs a tz database, and the error says how to get one", function()
    zones.FOLDERS = { files.folder() }
    assert.matches('^the zone "Europe/Athens" needs a tz database, and this system has none in .*; install the '
      .. "package tzdata, or give an offset such as %+02:00$", select(2, zones.open "Europe/Athens"))
  end)
end)
