-- SPDX-License-Identifier: MIT
-- Files of the tz database: bytes made by hand, old and new, and each form of the rule behind the last change.

local tz_file = require "purser.client.util.tz_file"
local utc = require "purser.client.util.utc"

-- Returns the bytes of a signed integer.
local function bytes(value, size)
  local list = {}
  for i = size, 1, -1 do list[i], value = string.char(value % 256), math.floor(value / 256) end
  return table.concat(list)
end

-- Returns a block: `changes` are { seconds, kind }, `kinds` are offsets in seconds.
local function block(version, size, changes, kinds, leaps)
  local times, of, types = {}, {}, {}
  for i, change in ipairs(changes) do times[i], of[i] = bytes(change[1], size), string.char(change[2]) end
  for i, offset in ipairs(kinds) do types[i] = bytes(offset, 4) .. "\0\0" end
  return table.concat { "TZif", version, ("\0"):rep(15), bytes(0, 4), bytes(0, 4), bytes(leaps and 1 or 0, 4),
    bytes(#changes, 4), bytes(#kinds, 4), bytes(4, 4), table.concat(times), table.concat(of), table.concat(types),
    "ABC\0", leaps and ("\0"):rep(size + 4) or "" }
end

-- Returns a file of version 2 with this rule, and no or some changes before.
local function file(rule, changes, kinds)
  return block("2", 4, {}, { 0 }) .. block("2", 8, changes or {}, kinds or { 0 }) .. "\n" .. rule .. "\n"
end

-- Returns the offsets in minutes at times of UTC.
local function minutes(text, ...)
  local offset_at, list = assert(tz_file.read(text)), {}
  for i, time in ipairs { ... } do list[i] = offset_at(utc.ms(time) / 1000) / 60 end
  return list
end

describe("a file of the tz database", function()
  it("says each change, and what was before the first", function()
    local changes, kinds = { { -3e9, 1 }, { 0, 2 }, { 86400, 1 } }, { 3208, 3600, -7200 }
    local function offsets(text)
      local offset_at, list = assert(tz_file.read(text)), {}
      for i, at in ipairs { -1, 0, 86399, 86400, 4e9 } do list[i] = offset_at(at) end
      list[6] = offset_at(-3e9 - 1)
      return list
    end
    assert.same({ 3600, -7200, -7200, 3600, 3600, 3208 }, offsets(file("", changes, kinds)))
    assert.same({ 3600, -7200, -7200, 3600, 3600, 3208 },
      offsets(block("\0", 4, { { -2e9, 1 }, { 0, 2 }, { 86400, 1 } }, kinds)))
  end)

  it("has a rule for all times behind its last change", function()
    local berlin = file "CET-1CEST,M3.5.0,M10.5.0/3"
    assert.same({ 60, 120, 120, 60, 120 }, minutes(berlin, "2026-03-29T00:59:59", "2026-03-29T01:00:00",
      "2026-10-25T00:59:59", "2026-10-25T01:00:00", "2400-07-01"))
    local sydney = file "AEST-10AEDT,M10.1.0,M4.1.0/3" -- its summer is over the new year
    assert.same({ 660, 660, 600, 600, 660 }, minutes(sydney, "2026-01-01", "2026-04-04T15:59:59", "2026-04-04T16:00:00",
      "2026-10-03T15:59:59", "2026-10-03T16:00:00"))
    assert.same({ -210, -150 }, minutes(file "NST3:30NDT,M3.2.0,M11.1.0", "2026-01-01", "2026-07-01"))
    assert.same({ 330 }, minutes(file "<+0530>-5:30", "2026-07-01"))
    assert.same({ -120, -60, -60, -120 }, minutes(file "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59",
      "2026-03-29T01:00:00", "2026-10-25T00:59:59", "2026-10-25T01:00:00")) -- a time of day below zero
    assert.same({ 60, 90, 60 }, minutes(file "A-1B-1:30:00,J60/0,J61/0:30", "2024-02-29T12:00", "2024-03-01T12:00",
      "2024-03-02T12:00")) -- J60 is the first of March, always
    assert.same({ 60, 120, 60 }, minutes(file "A-1B,59/0,60/1", "2024-02-28T12:00", "2024-02-29T12:00",
      "2024-03-01T12:00")) -- 59 is the 29th of February of a leap year
  end)

  it("is refused where it cannot be read", function()
    local good = file("CET-1CEST,M3.5.0,M10.5.0/3", { { 0, 0 } }, { 0 })
    for length = 0, #good - 29 do -- the footer's rule can be left out, its changes cannot
      assert.is_nil((tz_file.read(good:sub(1, length))), tostring(length))
    end
    for _, rule in ipairs { "CET", "1", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1 ",
      "CET-1CEST,M3.0.0,M10.5.0", "CET-1CEST,M3.5.0,M10.5.0/3x", "CET-1CEST,400,5", "CET-1CEST,M3.5.0/,M10.5.0" } do
      assert.is_nil((tz_file.read(file(rule))), rule)
    end
    assert.is_nil((tz_file.read(file("", { { 5, 0 }, { 5, 0 } })))) -- not later than the one before
    assert.is_nil((tz_file.read(file("", { { 5, 1 } })))) -- of no kind
    assert.matches("leap seconds", select(2, tz_file.read(block("\0", 4, {}, { 0 }, true))))
    assert.matches("no file of the tz database", select(2, tz_file.read "text"))
  end)
end)
