-- Writes the deposits and withdrawals of the last three months as CSV.
--
--   lua examples/export_csv.lua > history.csv
--
-- The service answers at most 7 days and 1000 records a call and reaches 90 days back; this walks there window by
-- window, and halves a window that is full. PURSER_BASE_URL or PURSER_PROFILE, PURSER_API_KEY and PURSER_SECRET_KEY as
-- in the other examples.

local purser = require "purser"

local DAY = 86400000
local WINDOW, REACH, LIMIT = 7 * DAY, 90 * DAY, 1000

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key = os.getenv "PURSER_SECRET_KEY",
})

-- Appends the records of one window to `all`; both ends belong to it.
local function collect(fetch, first, last, all)
  local records = assert(fetch { startTime = first, endTime = last, limit = LIMIT })
  if #records >= LIMIT and last > first then
    local middle = math.floor((first + last) / 2)
    collect(fetch, first, middle, all)
    return collect(fetch, middle + 1, last, all)
  end
  for _, record in ipairs(records) do all[#all + 1] = record end
end

local function history(fetch, now)
  local all, first = {}, now - REACH + 60000 -- a minute inside, for what passes while this runs
  while first <= now do
    local last = math.min(first + WINDOW - 1, now)
    collect(fetch, first, last, all)
    first = last + 1
  end
  return all
end

-- A cell. One that a spreadsheet would take for a formula (strangers choose memos) is marked as text.
local function cell(value)
  local text = value == nil and "" or tostring(value)
  if text:find "^[=+@\t\r-]" then text = "'" .. text end
  return text:find '[",\n\r]' and '"' .. text:gsub('"', '""') .. '"' or text
end

local function line(...)
  local cells = {}
  for i = 1, select("#", ...) do cells[i] = cell((select(i, ...))) end
  io.write(table.concat(cells, ","), "\n")
end

local function utc(ms)
  return os.date("!%Y-%m-%dT%H:%M:%SZ", math.floor(ms / 1000))
end

local now = assert(client:server_time())
local rows = {}
for _, deposit in ipairs(history(function(window) return client.wallet:deposit_history(window) end, now)) do
  rows[#rows + 1] = { deposit.insertTime, "deposit", deposit.coin, deposit.network, deposit.amount, "0", deposit.status,
    deposit.address, deposit.memo, deposit.txId }
end
for _, withdrawal in ipairs(history(function(window) return client.wallet:withdrawal_history(window) end, now)) do
  rows[#rows + 1] = { withdrawal.applyTime, "withdrawal", withdrawal.coin, withdrawal.network, withdrawal.amount,
    withdrawal.transactionFee, withdrawal.status, withdrawal.address, withdrawal.memo, withdrawal.txId,
    withdrawal.withdrawOrderId or withdrawal.id }
end
for i, row in ipairs(rows) do row.place = i end -- equal times stay in the order they came in
table.sort(rows, function(a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  return a.place < b.place
end)

line("time", "kind", "coin", "network", "amount", "fee", "status", "address", "memo", "transaction", "order")
for _, row in ipairs(rows) do
  line(utc(row[1]), row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9], row[10], row[11])
end
