-- SPDX-License-Identifier: MIT
-- The picture of an asset: what came in, what went out and the balance of each day, on one scale.

local days_of = require "purser.desk.books.days"
local picture = require "purser.desk.books.picture"
local zones = require "purser.client.util.zone"

local DAY, FROM = 86400000, 1700006400000 -- 2023-11-15

local function entry(day, amount, more)
  local one = { time = tostring(FROM + day * DAY), rid = "r", legs = { { "Assets:A:Main:Spot", "USDT", amount },
    { "Equity:A:Outside", "USDT", "0" } } }
  for name, value in pairs(more or {}) do one[name] = value end
  return one
end

local function drawn(days, entries)
  return picture.of({ from = tostring(FROM), to = tostring(FROM + days * DAY), entries = entries,
    days = days_of.of(zones.open "UTC") }, "USDT", "USDT")
end

-- Returns top and height of the bars of a kind.
local function bars(svg, kind)
  local list = {}
  local form = '<rect class="%s" x="[%%d.]+" y="([%%d.]+)" width="[%%d.]+" height="([%%d.]+)"/>'
  for y, height in svg:gmatch(form:format(kind)) do
    if height ~= "14" then list[#list + 1] = y .. "+" .. height end
  end
  return table.concat(list, " ")
end

describe("The picture of an asset", function()
  it("has bars of each day and the balance on one scale, with a zero line, dates and a legend", function()
    local svg = drawn(4, { entry(0, "100", { rid = "" }), entry(1, "100"), entry(1.5, "-50"), entry(3, "-150") })
    -- from -150 to 150: 170 high, zero in the middle
    assert.equal("58.3+56.7", bars(svg, "in"))
    assert.equal("115.0+28.3 115.0+85.0", bars(svg, "out"))
    assert.truthy(svg:find('<path class="held" d="M 92.0 58.3 H 227.0 V 30.0 H 362.0 V 30.0 H 497.0 V 115.0 H 632.0"/>',
      1, true))
    assert.truthy(svg:find('<path class="zero" d="M 92 115.0 H 632"/><text x="86" y="120.0" text-anchor="end">0<', 1,
      true))
    for _, mark in ipairs { "-100", "100", "11-15", "11-18", "in", "out", "balance" } do
      assert.truthy(svg:find(">" .. mark .. "<", 1, true), mark)
    end
  end)

  it("is nothing for an asset that does not move, or moves between own accounts", function()
    assert.equal("", drawn(4, { entry(0, "100", { rid = "" }) }))
    assert.equal("", drawn(4, { entry(1, "5", { legs = { { "Assets:A:Main:Spot", "USDT", "-5" },
      { "Assets:A:Sub-a:Spot", "USDT", "5" } } }) }))
    assert.equal("", drawn(4, { entry(1, "5", { legs = { { "Assets:A:Main:Spot", "MX", "-5" } } }) }))
  end)

  it("has at most 62 columns, and five dates or six, of a span of any length", function()
    for _, days in ipairs { 1, 5, 31, 62, 63, 365, 3650 } do
      local entries = {}
      for i = 0, days - 1 do entries[i + 1] = entry(i, "1") end
      local svg = drawn(days, entries)
      local _, columns = svg:gsub('<rect class="in"', "")
      local _, dates = svg:gsub(days > 310 and ">20%d%d%-%d%d<" or ">%d%d%-%d%d<", "")
      assert.is_true(columns - 1 <= 62 and columns - 1 >= math.min(days, 31), columns)
      assert.is_true(dates >= math.min(days, 4) and dates <= 6, dates)
      assert.falsy(svg:find("nan", 1, true) or svg:find("inf", 1, true))
    end
  end)

  it("draws sums of any size", function()
    for _, amount in ipairs { "0.00000001", "1", "123456789012345678901234567890" } do
      local svg = drawn(3, { entry(1, amount), entry(2, "-" .. amount) })
      assert.falsy(svg:find("nan", 1, true) or svg:find("inf", 1, true))
      assert.equal("30.0+85.0", bars(svg, "in"))
    end
  end)
end)
