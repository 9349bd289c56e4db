-- SPDX-License-Identifier: MIT
-- The page of a statement: one file without a script that says whether it adds up.

local books_statement = require "books_statement"
local days = require "purser.desk.books.days"
local html = require "purser.desk.books.html"
local writers = require "purser.desk.books.writers"
local zones = require "purser.client.util.zone"

local function statement(more)
  local made = { from = "1699920000000", to = "1700092800000", entries = {}, closing = {}, all = {}, open = {},
    unexplained = {}, gaps = {}, unread = {}, negative = {}, checks = {}, days = days.of(zones.open "UTC") }
  for name, value in pairs(more or {}) do made[name] = value end
  return made
end

local function page_of(made, remarks)
  local parts = {}
  html.write(made, remarks, function(text) parts[#parts + 1] = text end)
  return table.concat(parts)
end

-- The page of it from its style on: `|` begins a cell, `#` a cell of a number; ID1 is an id of that digit; a line that
-- begins with four blanks goes on there.
local PAGE = [[
</style></head><body><h1>Statement of A from 2023-11-14 to 2023-11-16 (not included), revision 7</h1>
<p class="verdict no">It needs a person: differences that no record explains: 1; records that are open: 1; gaps in
     what was read: 2; accounts without a balance to compare with: 1; balances below zero: 1.</p>
<h2>What needs a person</h2>
<h3>No record explains a difference</h3>
<p>1: 3 USDT</p>
<ul><li>-3 USDT by 2023-11-14</li>
</ul>
<h3>A balance is below zero</h3>
<p>1: 2.75 USDT</p>
<ul><li>-2.75 USDT in Assets:A:Main:Spot after ~Assets:A:Main:S</li>
</ul>
<h3>Open: not final: deposit in state WAIT</h3>
<p>1: 5 MX</p>
<ul><li>5 MX of 2023-11-14, ID4</li>
</ul>
<h3>Not read</h3>
<p>2</p>
<ul><li>Main, deposit, from 2023-11-14 to now: it is down</li>
<li>Sub-a, key, from 2023-11-14 to 2023-11-15: no key</li>
</ul>
<h3>Not reconciled</h3>
<p>1</p>
<ul><li>no balance shows Assets:A:Main:Futures</li>
</ul>
<h3>Assumed</h3>
<p>1</p>
<ul><li>where the fee of 2 withdrawals stands</li>
</ul>
<h2>Each asset</h2>
<table>|asset#brought forward#outside#fees#conversions#rebates#not explained#held
|1INCH#21#0#-1#0#0#0#20
|USDT#0#0.25#0#0#0#-3#-2.75
</table>
<figure><figcaption>1INCH</figcaption>SVG</figure>
<figure><figcaption>USDT</figcaption>SVG</figure>
<h2>Balances</h2>
<table>|account|asset#held|last equal to the balance
|Assets:A:Main:Spot|1INCH#0|
|Assets:A:Main:Spot|USDT#-2.75|2023-11-14
</table>
<h2>Fees</h2>
<table>|account|asset#amount
|Expenses:A:Fees:Withdrawal|1INCH#1
</table>
<h2>Entries</h2>
<table>|date|entry|id|account|asset#amount
|2023-11-14|withdrawal asked#ID1|Assets:A:Main:Leaving|1INCH#21
||||Assets:A:Main:Spot|1INCH#-21
|2023-11-14|withdrawal sent#ID1|Assets:A:Main:Leaving|1INCH#-21
||||Assets:A:Transit|1INCH#20
||||Expenses:A:Fees:Withdrawal|1INCH#1
|2023-11-14|correction#ID3|Assets:A:Main:Spot|USDT#0.25
||||Equity:A:Outside|USDT#-0.25
|2023-11-14|not explained by any record||Assets:A:Main:Spot|USDT#-3
||||Equity:A:Unexplained:Main|USDT#3
</table>
</body></html>]]

describe("The page of a statement", function()
  it("is just this for a statement with an entry and a remark of each form", function()
    local made = books_statement.rich()
    local page = page_of(made, writers.remarks(made)):match "</style>.*$"
    page = page:gsub("<svg.-</svg>", "SVG"):gsub('<div class="wide">', ""):gsub("</div>", "")
      :gsub('<t[dh] class="n">', "#"):gsub("<t[dh]>", "|"):gsub("</?t[rdh]>", "")
    for digit = 1, 4 do page = page:gsub((tostring(digit)):rep(16), "ID" .. digit) end
    assert.equal(PAGE:gsub("\n    ", "") .. "\n", page)
  end)

  it("draws no more than six assets", function()
    local made = statement { closing = {}, entries = {} }
    for i = 1, 7 do
      local leg = { "Assets:A:Main:Spot", "COIN" .. i, "5" }
      made.closing[i] = leg
      for at = 1, 2 do made.entries[#made.entries + 1] = { time = "170000000" .. at .. "000", rid = "r", text = "x",
        legs = { leg } } end
    end
    local _, figures = page_of(made, { "title" }):gsub("<figure>", "")
    assert.equal(6, figures)
  end)

  it("says in words whether it adds up, and what needs a person", function()
    assert.truthy(page_of(statement(), { "title" }):find("It adds up: every account", 1, true))
    local page = page_of(statement { gaps = { {} }, open = {
      { rid = "1", time = "1700000000000", why = "<1>", row = { amount = "5", asset = "MX" } },
      { rid = "2", time = "1700000000000", why = "<1>", row = { amount = "7", asset = "MX" } } } }, { "title",
      "open: <1>", "open: <1>", "not read: 2" })
    assert.truthy(page:find("It needs a person: records that are open: 2; gaps in what was read: 1.", 1, true))
    assert.truthy(page:find("<h3>Open: &lt;1&gt;</h3>\n<p>2: 12 MX</p>\n<ul><li>7 MX of 2023-11-14, 2</li>\n<li>5 MX",
      1, true))
  end)

  it("sums each asset, and loads nothing", function()
    local legs = { { "Assets:A:Main:Spot", "USDT", "5" }, { "Equity:A:Outside", "USDT", "-5" } }
    local entry = { time = "1700000000000", text = "deposit", rid = ("a"):rep(64), row = { entity = "deposit" },
      legs = legs }
    local page = page_of(statement { all = legs, closing = { legs[1] }, entries = { entry, entry },
      checks = { ["Assets:A:Main:Spot\30USDT"] = "1700000000000" } }, { "title" })
    assert.truthy(page:find('<tr><td>USDT</td><td class="n">0</td><td class="n">5</td>', 1, true))
    assert.truthy(page:find("<td>2023-11-14</td></tr>", 1, true))
    assert.truthy(page:find("default-src 'none'", 1, true))
    assert.falsy(page:find("payees", 1, true)) -- a deposit pays none
    for _, word in ipairs { "<script", "src=", "href=", "url(", "@import" } do
      assert.falsy(page:find(word, 1, true), word)
    end
  end)

  it("begins with a sentence that is green where all adds up, and else red", function()
    assert.truthy(page_of(statement(), { "title" }):find('<p class="verdict yes">It adds up', 1, true))
    for _, more in ipairs { { gaps = { {} } }, { ahead = { read_to = "1700000000000" } } } do
      assert.truthy(page_of(statement(more), { "title" }):find('<p class="verdict no">', 1, true))
    end
  end)

  it("puts the coin with the largest number first, and of a coin the largest sum", function()
    local open = {}
    for i, one in ipairs { { "5", "MX" }, { "1000", "USDT" }, { "3000", "USDT" }, { "70", "MX" } } do
      open[i] = { rid = tostring(i), time = "1700000000000", why = "not final", row = { amount = one[1],
        asset = one[2] } }
    end
    local order = {}
    local page = page_of(statement { open = open }, { "title", "open: x" })
    for item in page:gmatch "<li>(%d+ %u+)" do order[#order + 1] = item end
    assert.same({ "3000 USDT", "1000 USDT", "70 MX", "5 MX" }, order)
    assert.truthy(page:find("<p>4: 4000 USDT, 75 MX</p>", 1, true))
  end)

  it("names ten payees of each asset, the largest first, each with the sum of its payments", function()
    local entries = {}
    for i = 1, 12 do
      for _ = 1, 2 do
        entries[#entries + 1] = { time = "1700000000000", text = "withdrawal sent", rid = "r", row = {
          entity = "withdrawal", address = "T" .. i, memo = i == 12 and "7" or "" },
          legs = { { "Assets:A:Main:Spot", "USDT", tostring(-i) }, { "Equity:A:Outside", "USDT", tostring(i) } } }
      end
    end
    local page = page_of(statement { entries = entries }, { "title" })
    local payees = {}
    local rows = page:match "Largest payees.-</table>"
    for name, sum in rows:gmatch '<td>(T[^<]*)</td><td>USDT</td><td class="n">(%d+)' do
      payees[#payees + 1] = name .. "=" .. sum
    end
    assert.equal("T12 memo 7=24 T11=22 T10=20 T9=18 T8=16 T7=14 T6=12 T5=10 T4=8 T3=6", table.concat(payees, " "))
  end)
end)
