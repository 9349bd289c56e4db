-- SPDX-License-Identifier: MIT
-- Writes a report of balances and flows as one HTML file that needs nothing else: charts are SVG inside it.
--
--   lua examples/treasury_report.lua report.html
--
-- Balances: the account's own and those of its sub-accounts. Flows: deposits and withdrawals of 90 days, an asset and a
-- month. PURSER_BASE_URL or PURSER_PROFILE, PURSER_API_KEY and PURSER_SECRET_KEY as in the other examples.

local clean = require("purser.client.util.plain_text").clean -- texts of the service and of depositors, for a terminal
local purser = require "purser"
local decimal = purser.decimal

local path = arg[1] or "report.html"
local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})

------------------------------------------------------------------------------------------------ what there is to show

local function sorted_keys(map)
  local keys = {}
  for key in pairs(map) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

local function add(map, key, amount)
  map[key] = (map[key] or decimal "0") + amount
end

local MAIN = "main account"

-- holder -> asset -> amount; and what the profile cannot show of the main account, as a sentence
local function read_balances()
  local balances, main, missing = {}, {}, nil
  if client.profile.live_operations then
    for _, entry in ipairs(assert(client.live:account()).balances) do
      add(main, entry.asset, assert(decimal.shown(entry.free)) + assert(decimal.shown(entry.locked)))
    end
  else -- the document's operations show of it what can be converted, and nothing that is locked
    for _, entry in ipairs(assert(client.wallet:convertible_balances())) do
      add(main, entry.asset, assert(decimal.shown(entry.balance)))
    end
    missing = "Of the main account this profile shows what can be converted alone: no MX, and nothing that is locked. "
      .. "PURSER_PROFILE=mexc shows all."
  end
  balances[MAIN] = main
  for account in client.sub_account:each_sub_account() do
    local own, params = {}, { subAccount = account.subAccount, accountType = "SPOT" }
    for _, entry in ipairs(assert(client.sub_account:balances(params))) do
      add(own, entry.asset, assert(decimal.shown(entry.free)) + assert(decimal.shown(entry.locked)))
    end
    balances[account.subAccount] = own
  end
  return balances, missing
end

local name_of = purser.states.name

-- Live histories add a network to coins, as USDT-TRX: an asset has one chart.
local function asset_of(coin, known) return known[coin] and coin or coin:match "^(.+)%-[^-]*$" or coin end

-- asset -> month -> { into = decimal, out = decimal }, and the months
local function read_flows(now)
  local flows, months, known = {}, {}, {}
  for _, coin in ipairs(assert(client.wallet:coins())) do known[coin.coin] = true end
  local function count(record, time, direction)
    local month, asset = purser.utc.text(time):sub(1, 7), asset_of(record.coin, known)
    months[month] = true
    flows[asset] = flows[asset] or {}
    flows[asset][month] = flows[asset][month] or { into = decimal "0", out = decimal "0" }
    local cell = flows[asset][month]
    cell[direction] = cell[direction] + assert(decimal.shown(record.amount))
  end
  for deposit in client.wallet:each_deposit { to = now } do
    if name_of("deposit", deposit.status) == "SUCCESS" then count(deposit, deposit.insertTime, "into") end
  end
  for withdrawal in client.wallet:each_withdrawal { to = now } do
    if name_of("withdrawal", withdrawal.status) == "SUCCESS" then count(withdrawal, withdrawal.applyTime, "out") end
  end
  return flows, sorted_keys(months)
end

-------------------------------------------------------------------------------------------------------------- drawing

local function escape(text)
  return (clean(tostring(text)):gsub("[<>&\"]", { ["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;", ['"'] = "&quot;" }))
end

-- The only place where an amount becomes a float: the length of a bar.
local function scale(amount, largest, pixels)
  return largest:sign() > 0 and tonumber(tostring(amount)) / tonumber(tostring(largest)) * pixels or 0
end

local LABEL = 24 -- letters beside a bar

-- Returns a label that fits beside a bar; a longer one has its whole text as the title.
local function label(text)
  if #text <= LABEL or text:find "[^ -~]" then return escape(text) end
  return ("%s...<title>%s</title>"):format(escape(text:sub(1, LABEL - 3)), escape(text))
end

-- One chart of an asset: bars to the right on one scale, a row each { label, amount (false: not shown), class }.
local function chart(asset, rows)
  local largest, svg = decimal "0", {}
  for _, row in ipairs(rows) do largest = row[2] and row[2] > largest and row[2] or largest end
  for i, row in ipairs(rows) do
    local y, width = (i - 1) * 26, row[2] and math.max(scale(row[2], largest, 185), 1) or 0
    svg[i] = ('<text x="175" y="%d" class="label">%s</text><rect x="183" y="%d" width="%.2f" height="18" rx="3" '
      .. 'class="%s"/><text x="%.1f" y="%d">%s</text>'):format(y + 17, label(row[1]), y + 3, width, row[3],
      191 + width, y + 17, escape(row[2] or "not shown"))
  end
  return ('<figure><figcaption>%s</figcaption><svg viewBox="0 0 540 %d" role="img" aria-label="%s: balances, deposits '
    .. 'and withdrawals">%s</svg></figure>'):format(escape(asset), #rows * 26 + 4, escape(asset),
    table.concat(svg, "\n"))
end

local style = [[
:root { color-scheme: light dark; --ink: #1d2733; --paper: #fff; --own: #3867d6; --into: #20a779; --out: #e07a3f }
@media (prefers-color-scheme: dark) { :root { --ink: #dde4ec; --paper: #151b22 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 46rem;
  margin: 2rem auto; padding: 0 1rem }
figure { margin: 0 0 2rem } figcaption { font-weight: 600; margin-bottom: .4rem }
svg { width: 100%; max-width: 38rem; height: auto }
text { font-size: 13px; fill: var(--ink) } .label { text-anchor: end }
.own { fill: var(--own) } .into { fill: var(--into) } .out { fill: var(--out) }]]

assert(client:sync_clock())
local now = client:now()
local balances, missing = read_balances()
local flows, months = read_flows(now)
local assets, parts = {}, {}
for asset in pairs(flows) do assets[asset] = true end
for _, own in pairs(balances) do
  for asset, amount in pairs(own) do assets[asset] = assets[asset] or not amount:is_zero() or nil end
end
for _, asset in ipairs(sorted_keys(assets)) do
  local rows = {}
  for _, holder in ipairs(sorted_keys(balances)) do
    local amount = balances[holder][asset]
    if holder == MAIN or amount and not amount:is_zero() then
      local is_shown = amount or not missing -- else nothing proves that the account has none
      rows[#rows + 1] = { holder, is_shown and (amount or decimal "0"), "own" }
    end
  end
  for _, month in ipairs(flows[asset] and months or {}) do
    local cell = flows[asset][month] or { into = decimal "0", out = decimal "0" }
    rows[#rows + 1] = { month .. " in", cell.into, "into" }
    rows[#rows + 1] = { month .. " out", cell.out, "out" }
  end
  parts[#parts + 1] = chart(asset, rows)
end

local file = assert(io.open(path, "w"))
assert(file:write(('<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Treasury report</title>\n'
  .. "<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n%s\n</style>\n<h1>Treasury report</h1>\n"
  .. "<p>%s UTC. Bars of an asset have one scale: balances, and what came in and went out in a month.</p>\n<p>%s</p>\n"
  .. "%s\n</html>\n"):format(style, purser.utc.text(now):gsub("T", " "):sub(1, 16), missing or "",
  table.concat(parts, "\n"))))
assert(file:close())
print(("%s: %d assets, %d months of flows"):format(path, #parts, #months))
