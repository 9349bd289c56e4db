-- SPDX-License-Identifier: MIT
-- A statement as one page: a verdict, what needs a person, each asset's picture and sums, and every entry. The page has
-- SVG and no script, and escapes each text of the service.

local decimal = require "purser.decimal"
local names_of = require "purser.client.util.names_of"
local picture = require "purser.desk.books.picture"

local M = {}

local ZERO = decimal(0)
local escapes = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

local function text(value) return (tostring(value):gsub("%c", " "):gsub("[&<>\"']", escapes)) end

-- Columns of the summary: each adds up the accounts of a pattern.
local columns = { { "brought forward", "^Equity:[^:]+:Opening" }, { "outside", "^Equity:[^:]+:Outside" },
  { "fees", "^Expenses:" }, { "conversions", "^Equity:[^:]+:Conversion" }, { "rebates", "^Income:" },
  { "not explained", "^Equity:[^:]+:Unexplained" }, { "held", "^Assets:" } }

local above_numbers = { amount = true, held = true }
for _, column in ipairs(columns) do above_numbers[column[1]] = true end

local function line_of(cells, tag)
  local out = {}
  for i, cell in ipairs(cells) do
    local is_number = cell:find "^%-?%d[%d.]*$" or tag and above_numbers[cell]
    out[i] = ("<%s%s>%s</%s>"):format(tag or "td", is_number and ' class="n"' or "", text(cell), tag or "td")
  end
  return "<tr>" .. table.concat(out) .. "</tr>\n"
end

local function table_of(title, head, lines)
  return ('<h2>%s</h2>\n<div class="wide"><table>%s%s</table></div>\n'):format(title, line_of(head, "th"),
    table.concat(lines))
end

local function summary_of(statement)
  local sums, assets, head, lines = {}, {}, { "asset" }, {}
  for _, leg in ipairs(statement.all) do
    if not sums[leg[2]] then sums[leg[2]], assets[#assets + 1] = {}, leg[2] end
    for i, column in ipairs(columns) do
      if leg[1]:find(column[2]) then sums[leg[2]][i] = (sums[leg[2]][i] or ZERO) + leg[3] end
    end
  end
  table.sort(assets)
  for i, column in ipairs(columns) do head[i + 1] = column[1] end
  for n, asset in ipairs(assets) do
    local cells = { asset }
    for i = 1, #columns do
      local sum = sums[asset][i] or ZERO
      cells[i + 1] = tostring(i < #columns and -sum or sum)
    end
    lines[n] = line_of(cells)
  end
  return table_of("Each asset", head, lines)
end

local function verdict_of(statement)
  local wrong = {}
  for _, part in ipairs { { "unexplained", "differences that no record explains" }, { "open", "records that are open" },
    { "gaps", "gaps in what was read" }, { "unread", "accounts without a balance to compare with" },
    { "negative", "balances below zero" } } do
    local number = #statement[part[1]]
    if number > 0 then wrong[#wrong + 1] = ("%s: %d"):format(part[2], number) end
  end
  local ahead = statement.ahead and (" Not all was read that is later than %s."):format(
    statement.days:minute(statement.ahead.read_to)) or ""
  if #wrong == 0 then
    return "It adds up: every account is what the balances show, to the last digit." .. ahead, ahead == ""
  end
  return "It needs a person: " .. table.concat(wrong, "; ") .. "." .. ahead, false
end

-- Returns sums by asset as text, the largest number first.
local function sums_text(sums)
  local assets, parts = names_of(sums), {}
  table.sort(assets, function(a, b)
    local order = sums[a]:compare(sums[b])
    return order > 0 or order == 0 and a < b
  end)
  for i, asset in ipairs(assets) do parts[i] = ("%s %s"):format(tostring(sums[asset]), asset) end
  return table.concat(parts, ", "), assets
end

local function size_of(amount)
  local size = decimal.shown(amount) or ZERO
  return size:sign() < 0 and -size or size
end

-- Returns what needs a person as groups { cause, lines }, each line { text, asset, size }.
local function groups_of(statement, remarks)
  local groups, by_cause = {}, {}
  local function add(cause, words, asset, amount)
    if not by_cause[cause] then
      by_cause[cause] = { cause = cause, lines = {} }
      groups[#groups + 1] = by_cause[cause]
    end
    table.insert(by_cause[cause].lines, { text = words, asset = asset, size = amount and size_of(tostring(amount)) })
  end
  for _, one in ipairs(statement.unexplained) do
    add("No record explains a difference", ("%s %s by %s"):format(tostring(one.amount), one.asset,
      statement.days:date(one.time)), one.asset, one.amount)
  end
  for _, one in ipairs(statement.negative) do
    add("A balance is below zero", ("%s %s in %s after %s"):format(tostring(one.amount), one.asset, one.account,
      one.entry.rid:sub(1, 16)), one.asset, one.amount)
  end
  for _, one in ipairs(statement.open) do
    add("Open: " .. one.why, ("%s %s of %s, %s"):format(one.row.amount, one.row.asset, statement.days:date(one.time),
      one.rid:sub(1, 16)), one.row.asset, one.row.amount)
  end
  for i = 2, #remarks do
    local cause = remarks[i]:match "^[^:]+"
    if cause ~= "open" and cause ~= "not explained" and cause ~= "negative" then
      add(cause:gsub("^%l", string.upper), (remarks[i]:gsub("^[^:]+: ", "")))
    end
  end
  return groups
end

-- Writes what needs a person by cause. Coins have no common measure: the largest number of each coin is first.
local function write_groups(statement, remarks, put)
  local groups = groups_of(statement, remarks)
  if groups[1] then put "<h2>What needs a person</h2>\n" end
  for _, group in ipairs(groups) do
    local sums, place = {}, {}
    for i, line in ipairs(group.lines) do
      place[line] = i
      if line.asset then sums[line.asset] = (sums[line.asset] or ZERO) + line.size end
    end
    local words, assets = sums_text(sums)
    local rank = {}
    for i, asset in ipairs(assets) do rank[asset] = i end
    table.sort(group.lines, function(a, b)
      if a.asset ~= b.asset then return rank[a.asset] < rank[b.asset] end
      local order = a.asset and a.size:compare(b.size) or 0
      return order > 0 or order == 0 and place[a] < place[b]
    end)
    put(("<h3>%s</h3>\n<p>%d%s</p>\n<ul>"):format(text(group.cause), #group.lines,
      words ~= "" and ": " .. text(words) or ""))
    for _, line in ipairs(group.lines) do put("<li>" .. text(line.text) .. "</li>\n") end
    put "</ul>\n"
  end
end

local CHARTS = 6

local function balances_of(statement)
  local seen, charts, lines = {}, {}, {}
  for i, leg in ipairs(statement.closing) do
    if not seen[leg[2]] and #charts < CHARTS then
      local drawn = picture.of(statement, leg[2], text(leg[2]) .. ": in, out and balance")
      seen[leg[2]] = true
      charts[#charts + 1] = drawn ~= "" and ("<figure><figcaption>%s</figcaption>%s</figure>\n"):format(text(leg[2]),
        drawn) or nil
    end
    local at = statement.checks[leg[1] .. "\30" .. leg[2]]
    lines[i] = line_of { leg[1], leg[2], leg[3], at and statement.days:date(at) or "" }
  end
  return table.concat(charts)
    .. table_of("Balances", { "account", "asset", "held", "last equal to the balance" }, lines)
end

-- Adds an amount to a sum of { name, asset }.
local function add_to(sums, name, asset, amount)
  local key = name .. "\30" .. asset
  sums[key] = sums[key] or { name = name, asset = asset, sum = ZERO }
  sums[key].sum = sums[key].sum + amount
end

-- Returns sums by asset, and of an asset the largest first.
local function ranked(sums)
  local list = {}
  for _, key in ipairs(names_of(sums)) do list[#list + 1] = sums[key] end
  table.sort(list, function(a, b)
    if a.asset ~= b.asset then return a.asset < b.asset end
    local order = a.sum:compare(b.sum)
    return order > 0 or order == 0 and a.name < b.name
  end)
  return list
end

local PAYEES = 10 -- of an asset

-- Returns tables of the fees, and of the largest payees of each asset.
local function fees_and_payees(statement)
  local fees, payees, out = {}, {}, { {}, {} }
  for _, entry in ipairs(statement.entries) do
    local row = entry.row
    for _, leg in ipairs(entry.legs) do
      if leg[1]:find "^Expenses:" then add_to(fees, leg[1], leg[2], leg[3]) end
      local is_paid = row and row.entity ~= "deposit" and leg[1]:find "^Equity:[^:]+:Outside$"
      if is_paid and (row.address or "") ~= "" then
        add_to(payees, row.address .. ((row.memo or "") ~= "" and " memo " .. row.memo or ""), leg[2], leg[3])
      end
    end
  end
  for i, sum in ipairs(ranked(fees)) do out[1][i] = line_of { sum.name, sum.asset, tostring(sum.sum) } end
  local count = {}
  for _, sum in ipairs(ranked(payees)) do
    count[sum.asset] = (count[sum.asset] or 0) + 1
    if count[sum.asset] <= PAYEES and sum.sum:sign() > 0 then
      table.insert(out[2], line_of { sum.name, sum.asset, tostring(sum.sum) })
    end
  end
  return (out[1][1] and table_of("Fees", { "account", "asset", "amount" }, out[1]) or "")
    .. (out[2][1] and table_of("Largest payees of each asset", { "address", "asset", "amount" }, out[2]) or "")
end

local function write_entries(statement, put)
  put('<h2>Entries</h2>\n<div class="wide"><table>')
  put(line_of({ "date", "entry", "id", "account", "asset", "amount" }, "th"))
  for _, entry in ipairs(statement.entries) do
    for i, leg in ipairs(entry.legs) do
      put(line_of { i == 1 and statement.days:date(entry.time) or "", i == 1 and entry.text or "",
        i == 1 and entry.row and entry.rid:sub(1, 16) or "", leg[1], leg[2], leg[3] })
    end
  end
  put "</table></div>\n"
end

local HEAD = [[<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>%s</title><style>
body { font: 15px/1.45 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%%; margin: .5rem 0 1.5rem }
th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid #ccc }
.n { text-align: right; font-variant-numeric: tabular-nums }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem } h3 { font-size: 1rem; margin: 1rem 0 0 } h3 + p { margin: 0 }
li { overflow-wrap: anywhere }
figure { margin: 1.5rem 0; break-inside: avoid } figcaption { font-weight: bold }
svg { width: 100%%; max-width: 48rem; height: auto; font-size: 15px }
svg text { fill: currentColor }
.mark { stroke: #8885; fill: none } .zero { stroke: currentColor; fill: none }
.held { stroke: currentColor; stroke-width: 2; fill: none }
.in { fill: #bfe3c8; stroke: #2c7a44 } .out { fill: #9c2f2f; stroke: #9c2f2f }
.verdict { font-weight: bold; padding: .6rem .8rem; border-left: .4rem solid; overflow-wrap: anywhere }
.yes { border-color: #2c7a44; background: #2c7a4422 } .no { border-color: #9c2f2f; background: #9c2f2f22 }
@media (max-width: 40rem) { th, td { padding: .2rem .3rem; font-size: .8rem } h1 { font-size: 1.2rem }
  svg { font-size: 19px } }
@media (prefers-color-scheme: dark) { body { background: #111; color: #eee } .out { fill: #e07a7a; stroke: #e07a7a }
  .in { fill: #2c7a44 } }
@media print { body { background: #fff; color: #000; max-width: none; margin: 0 } .out { fill: #333; stroke: #333 }
  .in { fill: #fff; stroke: #333 } }
</style></head><body><h1>%s</h1>
<p class="verdict %s">%s</p>
]]

--- Writes the page. The first remark names the statement.
function M.write(statement, remarks, put)
  local title = text(remarks[1]:gsub("^s", "S"))
  local verdict, is_good = verdict_of(statement)
  put(HEAD:format(title, title, is_good and "yes" or "no", text(verdict)))
  write_groups(statement, remarks, put)
  put(summary_of(statement) .. balances_of(statement) .. fees_and_payees(statement))
  write_entries(statement, put)
  put "</body></html>\n"
end

return M
