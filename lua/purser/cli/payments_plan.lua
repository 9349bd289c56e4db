-- SPDX-License-Identifier: MIT
-- A plan of payments as text for a person: sums, the largest payments, then warnings, then errors, equal ones as one.
-- And as records for programs.

local decimal = require "purser.decimal"
local plain_text = require "purser.client.util.plain_text"
local tables = require "purser.cli.tables"
local terminal = require "purser.cli.terminal"

local M = {}

local function asset_of(payment) return payment.params.coin or payment.params.asset or "?" end

local function destination_of(payment)
  local params = payment.params
  return params.address or params.toAccount or params.toAccountType or ""
end

local LARGEST, SHOWN, ERRORS = 10, 10, 20 -- payments, groups of texts or payees, and of errors, of a summary

-- Returns the cells of a payment that a summary shows.
local function row_of(payment)
  local row = { ("%d"):format(payment.line), payment.key, payment.params.amount or "", asset_of(payment),
    destination_of(payment) }
  for c, text in ipairs(row) do row[c] = plain_text.clean(text) end
  return row
end

-- Returns the numbers of lines as text: "2-4, 9".
local function lines_text(numbers)
  local parts, i = {}, 1
  while i <= #numbers and #parts < 8 do
    local last = i
    while numbers[last + 1] == numbers[last] + 1 do last = last + 1 end
    parts[#parts + 1] = last > i and ("%d-%d"):format(numbers[i], numbers[last]) or ("%d"):format(numbers[i])
    i = last + 1
  end
  return table.concat(parts, ", ") .. (i <= #numbers and (" and %d more"):format(#numbers - i + 1) or "")
end

-- Returns a text without what differs from payment to payment: quoted parts, addresses, numbers.
local function pattern_of(text)
  return (text:gsub('"[^"]*"', '""'):gsub("%w+", function(word) return #word > 19 and "@" or nil end)
    :gsub("%d[%d.,:-]*", "0"))
end

-- Returns the texts of payments with those that they are about, alike ones together: each { text, differs, payments in
-- order }.
local function groups_of(payments, texts_of, is_exact)
  local groups, by_pattern = {}, {}
  for _, payment in ipairs(payments) do
    for _, text in ipairs(texts_of(payment)) do
      local pattern = is_exact and text or pattern_of(text)
      local group = by_pattern[pattern]
      if not group then
        group = { text = text }
        by_pattern[pattern], groups[#groups + 1] = group, group
      end
      group.differs = group.differs or group.text ~= text
      group[#group + 1] = payment
    end
  end
  return groups
end

-- Adds the texts of one kind as lines that name file, line and key.
local function add_groups(out, plan, kind, name)
  local groups = groups_of(plan.payments, function(payment) return payment[kind] end, kind == "odd")
  local most = kind == "problems" and ERRORS or SHOWN
  for i, group in ipairs(groups) do
    if i > most then
      out[#out + 1] = ("and %d other %ss; --csv lists all"):format(#groups - most, name)
      break
    end
    local lines, who = {}, ('payment "%s"'):format(group[1].key)
    for n, payment in ipairs(group) do lines[n] = payment.line end
    if lines[2] then
      who = ("%d payments (lines %s)%s"):format(#lines, lines_text(lines),
        group.differs and (", such as that of line %d"):format(lines[1]) or "")
    end
    out[#out + 1] = ("%s:%d: %s: %s: %s"):format(plan.path, lines[1], name, who, group.text)
  end
end

--- Returns what became of payments of a queue, a line for those with the same message.
---@param state string
---@param payments table[]  each with `key` and `message`
---@return string[]
function M.outcomes(state, payments)
  local lines = {}
  for i, group in ipairs(groups_of(payments, function(payment) return { payment.message or "" } end)) do
    lines[i] = ('%s: %s "%s": %s'):format(state, group[2] and ("%d payments%s"):format(#group,
      group.differs and ", such as" or ", the first") or "payment", group[1].key, group.text)
  end
  return lines
end

-- Returns the payments with the highest amounts of each asset; a short list whole, in the order of the file.
local function largest(payments)
  if #payments <= 2 * LARGEST then return payments end
  local sorted, list, count = {}, {}, {}
  for i, payment in ipairs(payments) do sorted[i] = { payment, decimal(payment.params.amount or "") or decimal(0) } end
  table.sort(sorted, function(a, b)
    local order = a[2]:compare(b[2])
    return order > 0 or order == 0 and a[1].line < b[1].line
  end)
  for _, one in ipairs(sorted) do
    local asset = asset_of(one[1])
    count[asset] = (count[asset] or 0) + 1
    if count[asset] <= LARGEST then list[#list + 1] = one[1] end
  end
  return list
end

local function add_sums(out, totals)
  local sums, has_fees = {}, false
  for i, total in ipairs(totals) do
    has_fees = has_fees or total.fees:sign() > 0
    sums[i] = { total.payer, total.asset, ("%d"):format(total.count), tostring(total.amount), tostring(total.fees),
      tostring(total.amount + total.fees), total.balance or "not shown",
      total.is_short and "NOT COVERED" or total.balance and "covered" or "" }
  end
  out[#out + 1] = tables.aligned({ "from", "asset", "payments", "amount", "fees", "sum", "balance", "" }, sums)
  if has_fees then out[#out + 1] = terminal.fold "the fees are assumed to come on top of the amounts" .. "\n" end
end

-- Counts how often each value of a payment occurs, as text: "TRX (498), ETH (2)".
local function counts_of(payments, value_of)
  local names, count = {}, {}
  for _, payment in ipairs(payments) do
    local name = value_of(payment)
    if name and name ~= "" and not count[name] then names[#names + 1] = name end
    if name then count[name] = (count[name] or 0) + 1 end
  end
  for i, name in ipairs(names) do names[i] = ("%s (%d)"):format(plain_text.clean(name), count[name]) end
  return table.concat(names, ", ")
end

local function network_of(payment) return payment.params.netWork or payment.params.network end

--- Returns the warnings and errors as lines that name file, line and key: equal ones as one, errors last.
---@param plan purser.PaymentsPlan  with the `path` of its file
---@param only_odd boolean|nil  the warnings that --yes does not pass alone
---@return string[]
function M.notes(plan, only_odd)
  local notes = {}
  if not only_odd then add_groups(notes, plan, "warnings", "warning") end
  add_groups(notes, plan, "odd", "odd")
  if only_odd then return notes end
  for _, text in ipairs(plan.shortages) do notes[#notes + 1] = "warning: " .. text end
  add_groups(notes, plan, "problems", "error")
  return notes
end

--- Returns the plan as text for a person.
---@param plan purser.PaymentsPlan
---@return string
function M.show(plan)
  local payments, totals, made = plan.payments, plan.totals, plan.made
  local out, shown, made_count = {}, largest(payments), 0
  for _, payment in ipairs(payments) do made_count = made_count + (made[payment.key] and 1 or 0) end
  local networks = counts_of(payments, network_of)
  local names = counts_of(payments, function(payment) return payment.operation end)
  local heading = ("%d payment%s%s%s"):format(#payments, #payments == 1 and "" or "s",
    names ~= "" and ": " .. names or "", networks ~= "" and "; over " .. networks or "")
  out[1] = terminal.fold(heading) .. "\n"
  if totals[1] then add_sums(out, totals) end
  if made_count > 0 then
    out[#out + 1] = ("%d of %d payments are made already; the sums are of the others\n"):format(made_count, #payments)
  end
  local cells = {}
  for i, payment in ipairs(shown) do cells[i] = row_of(payment) end
  out[#out + 1] = #shown == #payments and "\n"
    or ("\nthe %d largest of %d; --csv lists all\n"):format(#shown, #payments)
  out[#out + 1] = tables.aligned({ "line", "key", "amount", "asset", "to" }, cells)
  return table.concat(out)
end

M.TITLES = { "line", "key", "operation", "amount", "asset", "network", "to", "fee", "state", "message" }

--- Returns every payment as a record with these members, for programs.
---@param plan purser.PaymentsPlan
---@return table[]
function M.records(plan)
  local list = {}
  for i, payment in ipairs(plan.payments) do
    local texts = {}
    for _, kind in ipairs { "problems", "odd", "warnings" } do
      for _, text in ipairs(payment[kind]) do texts[#texts + 1] = text end
    end
    local state = payment.problems[1] and "error" or plan.made[payment.key] and "made" or payment.odd[1] and "odd"
      or payment.warnings[1] and "warning" or "ok"
    list[i] = { line = payment.line, key = payment.key, operation = payment.operation, amount = payment.params.amount,
      asset = asset_of(payment), network = network_of(payment), to = destination_of(payment), fee = payment.fee,
      state = state, message = table.concat(texts, "; ") }
  end
  return list
end

return M
