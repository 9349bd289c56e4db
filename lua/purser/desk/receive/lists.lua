-- SPDX-License-Identifier: MIT
-- Lists for a person: deposits to end, and sums by coin.

local decimal = require "purser.decimal"
local states = require "purser.client.operations.states"
local stores = require "purser.desk.receive.store"

local M = {}

--- The reasons why a person is asked.
M.whys = {
  who = "no customer has this address and memo", coin = "its customer takes no such coin",
  edge = "within an hour of a hand-over of the address", memo = "no memo, and its address had one before",
  least = "less than its customer's least", before = "dated before the begin, so that it may be credited already",
  state = "a state that says neither yes nor no", old = "taken back; it had succeeded before the begin",
  again = "successful again after it was taken back", doubt = "may be another one",
}

local function verbs_of(row)
  if row.credited ~= "" then return { "seen" } end
  local give = "give " .. ((row.rival_customer or "") ~= "" and row.rival_customer or "CUSTOMER")
  return row.rival ~= "" and { "same " .. row.rival, give, "refuse" } or { give, "refuse" }
end

--- Returns the lines of the list.
function M.of(store)
  local rows, message = store:rows [[SELECT d.*, r.customer AS rival_customer, r.tx AS rival_tx FROM
    purser_receive_deposit AS d LEFT JOIN purser_receive_deposit AS r ON r.dp = d.rival WHERE d.ask <> ''
    ORDER BY d.asked, d.dp]]
  if not rows then return nil, stores.problem(message) end
  local lines = {}
  for i, row in ipairs(rows) do
    local why = M.whys[row.ask] or row.ask
    if row.ask == "doubt" and row.rival ~= "" then
      why = ("may be %s (%s), which is not shown; transaction %s, was %s"):format(row.rival,
        row.rival_customer ~= "" and row.rival_customer or "not credited", row.tx ~= "" and row.tx or "none",
        row.rival_tx ~= "" and row.rival_tx or "none")
    end
    lines[i] = { deposit = row.dp, amount = row.amount, coin = row.coin, network = row.network, address = row.address,
      memo = row.memo, tx = row.tx, state = row.state, why = why, since = math.floor(tonumber(row.asked)),
      customer = row.customer, verbs = verbs_of(row) }
  end
  return lines
end

-- Returns the column of a deposit's amount, "missing" where a credit lacks, or nil.
local function place_of(row)
  if row.credited ~= "" then return row.reversed ~= "" and "reversed" or "credited" end
  if row.ask ~= "" then return "person" end
  if row.closed ~= "" then return "refused" end
  local kind = states.credit(row.state)
  if kind == "pending" or kind == "refused" then return kind end
  return kind == "credit" and "missing" or nil
end

--- Returns the sums by coin since the begin.
function M.check(store)
  local rows, message = store:rows [[SELECT d.*, (SELECT count(*) FROM purser_receive_event AS e WHERE e.id = d.dp ||
    '/credit') || '' AS credits FROM purser_receive_deposit AS d WHERE d.old = '' AND d.same = ''
    ORDER BY d.coin, d.dp]]
  if not rows then return nil, stores.problem(message) end
  local sums, by_coin = {}, {}
  for _, row in ipairs(rows) do
    local name, amount = place_of(row), decimal(row.amount) or decimal "0"
    local sum = by_coin[row.coin]
    if name and not sum then
      sum = { coin = row.coin, received = decimal "0", adds_up = true }
      for _, other in ipairs { "credited", "reversed", "person", "refused", "pending" } do sum[other] = decimal "0" end
      by_coin[row.coin], sums[#sums + 1] = sum, sum
    end
    if name then
      sum.received = sum.received + amount
      if sum[name] then sum[name] = sum[name] + (row.credited ~= "" and decimal(row.paid_amount) or amount) end
      local is_odd = row.credited ~= "" and (row.paid_amount ~= row.amount or row.paid_coin ~= row.coin)
      if name == "missing" or is_odd or (row.credits ~= "0") ~= (row.credited ~= "") then
        sum.adds_up, sum.odd = false, sum.odd or row.dp
      end
    end
  end
  return sums
end

return M
