-- SPDX-License-Identifier: MIT
-- The page of a statement: one file without a script that says whether it adds up.

local books_statement = require "books_statement"
local html = require "purser.desk.books.html"
local writers = require "purser.desk.books.writers"

local function statement(more)
  local made = { from = "1699920000000", to = "1700092800000", entries = {}, closing = {}, all = {}, open = {},
    unexplained = {}, gaps = {}, unread = {}, negative = {}, checks = {} }
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
<p class="verdict">It needs a person: differences that no record explains: 1; records that are open: 1; gaps in
     what was read: 2; accounts without a balance to compare with: 1; balances below zero: 1.</p>
<h2>Each asset</h2>
<table>|asset#brought forward#outside#fees#conversions#rebates#not explained#held
|1INCH#21#0#-1#0#0#0#20
|USDT#0#0.25#0#0#0#-3#-2.75
</table>
<h2>What needs a person</h2>
<ul><li>not read: Main, deposit, from 2023-11-14 to now: it is down</li>
<li>not read: Sub-a, key, from 2023-11-14 to 2023-11-15: no key</li>
<li>not reconciled: no balance shows Assets:A:Main:Futures</li>
<li>not explained: -3 of USDT by 2023-11-14</li>
<li>open: ID4 of 2023-11-14, 5 MX: not final: deposit in state WAIT</li>
<li>negative: Assets:A:Main:Spot holds -2.75 USDT after ~Assets:A:Main:S</li>
<li>assumed: where the fee of 2 withdrawals stands</li>
</ul>
<h2>Balances</h2>
<table>|account|asset#held|last equal to the balance
|Assets:A:Main:Spot|1INCH#0|
|Assets:A:Main:Spot|USDT#-2.75|2023-11-14
</table>
<figure><figcaption>USDT held, from -2.75 to 0.25</figcaption><svg viewBox="0 -4 720 68" role="img"><path d="M
     333.3  0.0 H 333.3 V 60.0 H 720" fill="none" stroke="currentColor" stroke-width="2"/></svg></figure>
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
    page = page:gsub('<t[dh] class="n">', "#"):gsub("<t[dh]>", "|"):gsub("</?t[rdh]>", "")
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
    local page = page_of(statement { gaps = { {} }, open = { {}, {} } }, { "title", "open: <1>", "not read: 2" })
    assert.truthy(page:find("It needs a person: records that are open: 2; gaps in what was read: 1.", 1, true))
    assert.truthy(page:find("<li>open: &lt;1&gt;</li>", 1, true))
  end)

  it("draws what is held, sums each asset, and loads nothing", function()
    local legs = { { "Assets:A:Main:Spot", "USDT", "5" }, { "Equity:A:Outside", "USDT", "-5" } }
    local entry = { time = "1700000000000", text = "deposit", rid = ("a"):rep(64), row = {}, legs = legs }
    local page = page_of(statement { all = legs, closing = { legs[1] }, entries = { entry, entry },
      checks = { ["Assets:A:Main:Spot\30USDT"] = "1700000000000" } }, { "title" })
    assert.truthy(page:find('<svg viewBox="0 %-4 720 68" role="img"><path d="M %d'))
    assert.truthy(page:find('<tr><td>USDT</td><td class="n">0</td><td class="n">5</td>', 1, true))
    assert.truthy(page:find("<td>2023-11-14</td></tr>", 1, true))
    assert.truthy(page:find("default-src 'none'", 1, true))
    for _, word in ipairs { "<script", "src=", "href=", "url(", "@import" } do
      assert.falsy(page:find(word, 1, true), word)
    end
  end)
end)
