-- SPDX-License-Identifier: MIT
-- The page of a statement: one file without a script that says whether it adds up.

local html = require "purser.desk.books.html"

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

describe("The page of a statement", function()
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
