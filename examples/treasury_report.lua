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

-- holder -> asset -> amount
local function read_balances()
  local balances, main = {}, {}
  if client.profile.live_operations then
    for _, entry in ipairs(assert(client.live:account()).balances) do
      add(main, entry.asset, assert(decimal(entry.free)) + entry.locked)
    end
  else -- the document's operations show of it what can be converted, and nothing that is locked
    for _, entry in ipairs(assert(client.wallet:convertible_balances())) do add(main, entry.asset, entry.balance) end
  end
  balances["main account"] = main
  for account in client.sub_account:each_sub_account() do
    local own, params = {}, { subAccount = account.subAccount, accountType = "SPOT" }
    for _, entry in ipairs(assert(client.sub_account:balances(params))) do
      add(own, entry.asset, assert(decimal(entry.free)) + entry.locked)
    end
    balances[account.subAccount] = own
  end
  return balances
end

local name_of = purser.states.name

-- asset -> month -> { into = decimal, out = decimal }, and the set of months
local function read_flows(now)
  local flows, months = {}, {}
  local function count(record, time, direction)
    local month = purser.utc.text(time):sub(1, 7)
    months[month] = true
    flows[record.coin] = flows[record.coin] or {}
    flows[record.coin][month] = flows[record.coin][month] or { into = decimal "0", out = decimal "0" }
    local cell = flows[record.coin][month]
    cell[direction] = cell[direction] + record.amount
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

-- Bars to the right, one a row: { label, amount, class }.
local function bars(title, rows)
  local largest, svg = decimal "0", {}
  for _, row in ipairs(rows) do largest = row[2] > largest and row[2] or largest end
  for i, row in ipairs(rows) do
    local y, width = (i - 1) * 26, math.max(scale(row[2], largest, 360), 1)
    svg[i] = ('<text x="150" y="%d" class="label">%s</text><rect x="160" y="%d" width="%.1f" height="18" rx="3" '
      .. 'class="%s"/><text x="%.1f" y="%d">%s</text>'):format(y + 17, escape(row[1]), y + 3, width, row[3],
      168 + width, y + 17, escape(row[2]))
  end
  return ('<figure><figcaption>%s</figcaption><svg viewBox="0 0 720 %d" role="img" aria-label="%s">%s</svg></figure>')
    :format(escape(title), #rows * 26 + 4, escape(title), table.concat(svg, "\n"))
end

local style = [[
:root { color-scheme: light dark; --ink: #1d2733; --paper: #fff; --own: #3867d6; --into: #20a779; --out: #e07a3f }
@media (prefers-color-scheme: dark) { :root { --ink: #dde4ec; --paper: #151b22 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 46rem;
  margin: 2rem auto; padding: 0 1rem }
figure { margin: 0 0 2rem } figcaption { font-weight: 600; margin-bottom: .4rem }
svg { width: 100%; height: auto } text { font-size: 13px; fill: var(--ink) } .label { text-anchor: end }
.own { fill: var(--own) } .into { fill: var(--into) } .out { fill: var(--out) }]]

assert(client:sync_clock())
local now = client:now()
local balances, flows, months = read_balances(), read_flows(now)
local holders_of, parts = {}, {}
for _, holder in ipairs(sorted_keys(balances)) do
  for asset, amount in pairs(balances[holder]) do
    holders_of[asset] = holders_of[asset] or {}
    if not amount:is_zero() then table.insert(holders_of[asset], { holder, amount, "own" }) end
  end
end
for _, asset in ipairs(sorted_keys(holders_of)) do
  if #holders_of[asset] > 0 then parts[#parts + 1] = bars("Balances of " .. asset, holders_of[asset]) end
end
for _, asset in ipairs(sorted_keys(flows)) do
  local rows = {}
  for _, month in ipairs(months) do
    local cell = flows[asset][month] or { into = decimal "0", out = decimal "0" }
    rows[#rows + 1] = { month .. " in", cell.into, "into" }
    rows[#rows + 1] = { month .. " out", cell.out, "out" }
  end
  parts[#parts + 1] = bars("Deposits and withdrawals of " .. asset, rows)
end

local file = assert(io.open(path, "w"))
assert(file:write(('<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Treasury report</title>\n'
  .. "<style>\n%s\n</style>\n<h1>Treasury report</h1>\n<p>%s UTC</p>\n%s\n</html>\n"):format(style,
  purser.utc.text(now):gsub("T", " "):sub(1, 16), table.concat(parts, "\n"))))
assert(file:close())
print(("%s: %d assets, %d months of flows"):format(path, #sorted_keys(holders_of), #months))
