-- SPDX-License-Identifier: MIT
-- A statement as one page: a verdict, what needs a person, the balances, and every entry. The page has SVG and
-- no script, and escapes each text of the service.

local days = require "purser.desk.books.days"
local decimal = require "purser.decimal"
local model = require "purser.desk.books.model"

local M = {}

local ZERO = decimal(0)
local escapes = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

local function text(value) return (tostring(value):gsub("%c", " "):gsub("[&<>\"']", escapes)) end

-- Columns of the summary: each adds up the accounts of a pattern.
local columns = { { "brought forward", "^Equity:[^:]+:Opening" }, { "outside", "^Equity:[^:]+:Outside" },
  { "fees", "^Expenses:" }, { "conversions", "^Equity:[^:]+:Conversion" }, { "rebates", "^Income:" },
  { "not explained", "^Equity:[^:]+:Unexplained" }, { "held", "^Assets:" } }

local above_numbers = { amount = true }
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
  return ("<h2>%s</h2>\n<table>%s%s</table>\n"):format(title, line_of(head, "th"), table.concat(lines))
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
    days.minute(statement.ahead.read_to)) or ""
  if #wrong == 0 then return "It adds up: every account is what the balances show, to the last digit." .. ahead end
  return "It needs a person: " .. table.concat(wrong, "; ") .. "." .. ahead
end

local WIDTH, HEIGHT = 720, 60

-- Draws the holdings of an asset through the span, as steps; nothing for a single move. A picture may round.
local function chart_of(statement, asset)
  local points, held, least, most = {}, ZERO, 0, 0
  local from, to = tonumber(statement.from), tonumber(statement.to)
  for _, entry in ipairs(statement.entries) do
    local before = held
    for _, leg in ipairs(entry.legs) do
      if leg[2] == asset and leg[1]:find "^Assets:" then held = held + leg[3] end
    end
    if held ~= before then
      local value = tonumber(tostring(held))
      points[#points + 1] = { (tonumber(entry.time) - from) / (to - from) * WIDTH, value }
      least, most = math.min(least, value), math.max(most, value)
    end
  end
  if #points < 2 then return "" end
  local path = {}
  for i, point in ipairs(points) do
    path[i] = ("%s %.1f %s %.1f"):format(i == 1 and "M" or "H", point[1], i == 1 and "" or "V",
      HEIGHT - (point[2] - least) / (most - least) * HEIGHT)
  end
  return ('<figure><figcaption>%s held, from %.14g to %.14g</figcaption><svg viewBox="0 -4 %d %d" role="img"><path '
    .. 'd="%s H %d" fill="none" stroke="currentColor" stroke-width="2"/></svg></figure>\n'):format(text(asset), least,
    most, WIDTH, HEIGHT + 8, table.concat(path, " "), WIDTH)
end

local CHARTS = 6

local function balances_of(statement)
  local seen, charts, lines = {}, {}, {}
  for i, leg in ipairs(statement.closing) do
    if not seen[leg[2]] and #charts < CHARTS then
      seen[leg[2]], charts[#charts + 1] = true, chart_of(statement, leg[2])
    end
    local at = statement.checks[leg[1] .. "\30" .. leg[2]]
    lines[i] = line_of { leg[1], leg[2], leg[3], at and model.date(at) or "" }
  end
  return table_of("Balances", { "account", "asset", "held", "last equal to the balance" }, lines)
    .. table.concat(charts)
end

local function write_entries(statement, put)
  put("<h2>Entries</h2>\n<table>" .. line_of({ "date", "entry", "id", "account", "asset", "amount" }, "th"))
  for _, entry in ipairs(statement.entries) do
    for i, leg in ipairs(entry.legs) do
      put(line_of { i == 1 and model.date(entry.time) or "", i == 1 and entry.text or "",
        i == 1 and entry.row and entry.rid:sub(1, 16) or "", leg[1], leg[2], leg[3] })
    end
  end
  put "</table>\n"
end

local HEAD = [[<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>%s</title><style>
body { font: 15px/1.45 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100%%; margin: .5rem 0 1.5rem }
th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid #ccc }
.n { text-align: right; font-variant-numeric: tabular-nums }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem }
figure { margin: 1rem 0 } svg { width: 100%%; height: auto } .verdict { font-weight: bold }
@media (prefers-color-scheme: dark) { body { background: #111; color: #eee } }
</style></head><body><h1>%s</h1>
<p class="verdict">%s</p>
]]

--- Writes the page. The first remark names the statement.
function M.write(statement, remarks, put)
  local title = text(remarks[1]:gsub("^s", "S"))
  put(HEAD:format(title, title, text(verdict_of(statement))) .. summary_of(statement))
  if remarks[2] then put "<h2>What needs a person</h2>\n<ul>" end
  for i = 2, #remarks do put("<li>" .. text(remarks[i]) .. "</li>\n") end
  put((remarks[2] and "</ul>\n" or "") .. balances_of(statement))
  write_entries(statement, put)
  put "</body></html>\n"
end

return M
