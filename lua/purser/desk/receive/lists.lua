-- SPDX-License-Identifier: MIT
-- Lists for a person: deposits to end, and sums by coin.

local decimal = require "purser.decimal"
local judges = require "purser.desk.receive.judge"
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
  if judges.is_credited(row) then return { "seen" } end
  local give = "give " .. ((row.candidate_customer or "") ~= "" and row.candidate_customer or "CUSTOMER")
  return row.candidate ~= "" and { "same " .. row.candidate, give, "refuse" } or { give, "refuse" }
end

--- Returns the lines of the list.
function M.of(store)
  local rows, message = store:rows [[SELECT d.*, c.customer AS candidate_customer, c.tx AS candidate_tx FROM
    purser_receive_deposit AS d LEFT JOIN purser_receive_deposit AS c ON c.dp = d.candidate WHERE d.asked <> ''
    ORDER BY d.asked, d.dp]]
  if not rows then return nil, stores.problem(message) end
  local lines = {}
  for i, row in ipairs(rows) do
    local why = M.whys[row.ask] or row.ask
    if row.ask == "doubt" and row.candidate ~= "" then
      why = ("may be %s (%s), which is not shown; transaction %s, was %s"):format(row.candidate,
        row.candidate_customer ~= "" and row.candidate_customer or "not credited", row.tx ~= "" and row.tx or "none",
        row.candidate_tx ~= "" and row.candidate_tx or "none")
    end
    lines[i] = { deposit = row.dp, amount = row.amount, coin = row.coin, network = row.network, address = row.address,
      memo = row.memo, tx = row.tx, state = row.status, why = why, since = math.floor(tonumber(row.asked)),
      customer = row.customer, verbs = verbs_of(row) }
  end
  return lines
end

-- The column of a deposit's amount, by its state.
local columns = { asked = "person", credited = "credited", reversing = "credited", reversed = "reversed",
  refused = "refused" }

-- Returns the column of a deposit's amount, "missing" where a credit lacks, or nil.
local function place_of(row)
  if row.state ~= "pending" then return columns[row.state] end
  local kind = states.credit(row.status)
  if kind == "pending" or kind == "refused" then return kind end
  return kind == "credit" and "missing" or nil
end

--- Returns the sums by coin since the begin.
function M.check(store)
  local rows, message = store:rows [[SELECT d.*, (SELECT count(*) FROM purser_receive_event AS e WHERE e.id = d.dp ||
    '/credit') || '' AS credits FROM purser_receive_deposit AS d WHERE d.state <> 'same'
    AND d.state NOT LIKE 'old%' ORDER BY d.coin, d.dp]]
  if not rows then return nil, stores.problem(message) end
  local sums, by_coin = {}, {}
  for _, row in ipairs(rows) do
    local is_credited = judges.is_credited(row)
    local name, amount = place_of(row), decimal(row.amount) or decimal "0"
    local sum = by_coin[row.coin]
    if name and not sum then
      sum = { coin = row.coin, received = decimal "0", adds_up = true }
      for _, other in ipairs { "credited", "reversed", "person", "refused", "pending" } do sum[other] = decimal "0" end
      by_coin[row.coin], sums[#sums + 1] = sum, sum
    end
    if name then
      sum.received = sum.received + amount
      if sum[name] then sum[name] = sum[name] + (is_credited and decimal(row.paid_amount) or amount) end
      local is_odd = is_credited and (row.paid_amount ~= row.amount or row.paid_coin ~= row.coin)
      if name == "missing" or is_odd or (row.credits ~= "0") ~= is_credited then
        sum.adds_up, sum.odd = false, sum.odd or row.dp
      end
    end
  end
  return sums
end

return M
