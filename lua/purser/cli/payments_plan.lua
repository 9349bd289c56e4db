-- SPDX-License-Identifier: MIT
-- Plans a list of payments: each one checked, the sums by asset, the balances that can be read; and that as
-- text for a person: sums, the largest payments, then warnings, then errors, equal ones as one.

local catalogue = require "purser.cli.catalogue"
local decimal = require "purser.decimal"
local plain_text = require "purser.util.plain_text"
local tables = require "purser.cli.tables"
local terminal = require "purser.cli.terminal"

local M = {}

local function asset_of(payment) return payment.params.coin or payment.params.asset or "?" end

local function destination_of(payment)
  local params = payment.params
  return params.address or params.toAccount or params.toAccountType or ""
end

-- Guard rails that judge what is recorded: the queue asks them when it records the payment.
local of_the_record = { ["guard.no_duplicates"] = true, ["guard.spending_limit"] = true }

-- Returns what is wrong with the parameters of a payment, or nil.
local function check_params(client, payment)
  local request, err = client:prepare(payment.operation, payment.params)
  if request or of_the_record[err.code] then return nil end
  return err.message .. (err.hint and "; " .. err.hint or "")
end

local function plan_withdrawal(client, payment, unchecked)
  local given = { unchecked_address = unchecked or nil }
  for name, value in pairs(payment.params) do given[name] = value end
  local plan, err = client.wallet:plan_withdraw(given, payment.operation, true)
  if not plan then return err end
  payment.warnings, payment.fee = plan.warnings, plan.fee
  for _, problem in ipairs(plan.problems) do payment.problems[#payment.problems + 1] = problem end
  payment.has_doubtful_address = plan.has_doubtful_address
  if plan.ok then
    local had_id = payment.params.withdrawOrderId
    payment.params = plan.params
    if not had_id then payment.params.withdrawOrderId = nil end -- the queue makes its own, from the key
  end
end

--- Checks each payment and completes the names of networks: adds to `problems`, `warnings` and `fee`. Returns an error
--- when the coins cannot be read.
---@param client purser.Client
---@param payments table[]
---@param unchecked boolean|nil  an address of another form is only warned of
---@return purser.Error|nil
function M.check(client, payments, unchecked)
  for _, payment in ipairs(payments) do
    if payment.row and catalogue.withdraws(payment.row) then
      local err = plan_withdrawal(client, payment, unchecked)
      if err then return err end
    end
    if payment.row and not payment.problems[1] then payment.problems[1] = check_params(client, payment) end
  end
end

-- Where the funds of a payment come from: a sub-account that is named, else the account of the key; and of which kind
-- its account is.
local function source_of(payment)
  local params = payment.params
  local name = payment.row and payment.row.group ~= "wallet" and params.fromAccount or ""
  return name, params.fromAccountType or "SPOT"
end

local function add_to(total, payment)
  local amount = decimal(payment.params.amount)
  total.count = total.count + 1
  if amount then total.amount = total.amount + amount end
  if payment.fee then total.fees = total.fees + payment.fee end
end

--- The sums by source and asset of those that are not made yet: a list of { source, account_type, asset, count, amount,
--- fees }.
---@param payments table[]
---@param made table<string, boolean>  by key
function M.totals(payments, made)
  local list, by_key = {}, {}
  for _, payment in ipairs(payments) do
    local source, account_type = source_of(payment)
    local key = table.concat({ source, account_type, asset_of(payment) }, "\n")
    local total = by_key[key]
    if not total and not made[payment.key] and payment.row then
      total = { source = source, account_type = account_type, asset = asset_of(payment), count = 0,
        amount = decimal(0), fees = decimal(0) }
      by_key[key], list[#list + 1] = total, total
    end
    if total and not made[payment.key] and payment.row then add_to(total, payment) end
  end
  return list
end

--- Who pays a total, as text.
function M.payer(total)
  local name = total.source == "" and "this account" or total.source
  return total.account_type == "SPOT" and name or name .. ", " .. total.account_type
end

-- The records of a source's balances, and whether an asset that is not among them has a balance of nothing.
local function read_balances(client, source)
  if source ~= "" then
    return client.sub_account:balances { subAccount = source, accountType = "SPOT" }
  elseif client.profile.live_operations then
    local account, err = client:call "live.account"
    return account and account.balances, err, true
  end
  return client.wallet:convertible_balances() -- of the account itself no other operation of the document shows any
end

-- The free balances of a source by asset: a function, which returns nil for one that is not shown.
local function balances_of(client, source)
  local list, err, is_complete = read_balances(client, source)
  if not list then
    return function() return nil, err and err.message end
  end
  local balances = {}
  for _, record in ipairs(list) do balances[record.asset] = record.free or record.balance end
  return function(asset) return balances[asset] or is_complete and "0" or nil end
end

--- Adds to each total the balance that covers it, where one can be read. No operation shows those of futures accounts.
function M.add_balances(client, totals)
  local known = {}
  for _, total in ipairs(totals) do
    if total.account_type == "SPOT" then
      known[total.source] = known[total.source] or balances_of(client, total.source)
      total.balance, total.unread = known[total.source](total.asset)
    end
    local balance = total.balance and decimal(total.balance)
    total.is_short = balance ~= nil and balance and balance:compare(total.amount + total.fees) < 0 or false
  end
end

--- Says what is to be known of the sums: a list of texts.
---@return string[]
function M.shortages(totals)
  local list = {}
  for _, total in ipairs(totals) do
    if total.is_short then
      list[#list + 1] = ("the balance of %s %s (%s) does not cover the sum of %s"):format(total.balance, total.asset,
        M.payer(total), tostring(total.amount + total.fees))
    elseif total.unread then
      list[#list + 1] = ("the balance of %s (%s) cannot be read: %s"):format(total.asset, M.payer(total), total.unread)
    end
  end
  return list
end

local LARGEST, SHOWN, ERRORS = 10, 10, 20 -- payments, groups of texts or payees, and of errors, of a summary

-- The cells of a payment that a summary shows.
local function row_of(payment)
  local row = { ("%d"):format(payment.line), payment.key, payment.params.amount or "", asset_of(payment),
    destination_of(payment) }
  for c, text in ipairs(row) do row[c] = plain_text.clean(text) end
  return row
end

-- The numbers of lines as text: "2-4, 9".
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

-- A text without what differs from payment to payment: quoted parts, addresses, numbers.
local function pattern_of(text)
  return (text:gsub('"[^"]*"', '""'):gsub("%w+", function(word) return #word > 19 and "@" or nil end)
    :gsub("%d[%d.,:-]*", "0"))
end

-- The texts of one kind, each with the lines it is about, as lines that name file, line and key.
local function add_groups(out, payments, path, kind, name, everything)
  local groups, by_pattern = {}, {}
  for _, payment in ipairs(payments) do
    for _, text in ipairs(payment[kind]) do
      local pattern = kind == "odd" and text or pattern_of(text)
      local group = by_pattern[pattern]
      if not group then
        group = { text = text, key = payment.key, lines = {} }
        by_pattern[pattern], groups[#groups + 1] = group, group
      end
      group.differs = group.differs or group.text ~= text
      group.lines[#group.lines + 1] = payment.line
    end
  end
  local most = kind == "problems" and ERRORS or SHOWN
  for i, group in ipairs(groups) do
    if i > most and not everything then
      out[#out + 1] = ("and %d other %ss; --output FILE writes all"):format(#groups - most, name)
      break
    end
    local who = #group.lines == 1 and ('payment "%s"'):format(group.key)
      or ("%d payments (lines %s)%s"):format(#group.lines, lines_text(group.lines),
        group.differs and (", such as that of line %d"):format(group.lines[1]) or "")
    out[#out + 1] = ("%s:%d: %s: %s: %s"):format(path, group.lines[1], name, who, group.text)
  end
end

-- The payments with the highest amounts of each asset, or all in the order of the file.
local function largest(payments, everything)
  if everything or #payments <= 2 * LARGEST then return payments end
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
    sums[i] = { M.payer(total), total.asset, ("%d"):format(total.count), tostring(total.amount), tostring(total.fees),
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

--- Counts the payments that have texts of a kind: problems, warnings or odd.
---@return integer
function M.count(payments, kind)
  local count = 0
  for _, payment in ipairs(payments) do count = count + (payment[kind][1] and 1 or 0) end
  return count
end

--- The warnings and errors as lines that name file, line and key: equal ones as one, errors last.
---@param payments table[]
---@param totals table[]
---@param path string
---@param everything boolean|nil
---@return string[]
function M.notes(payments, totals, path, everything)
  local notes = {}
  add_groups(notes, payments, path, "warnings", "warning", everything)
  add_groups(notes, payments, path, "odd", "odd", everything)
  for _, text in ipairs(M.shortages(totals)) do notes[#notes + 1] = "warning: " .. text end
  add_groups(notes, payments, path, "problems", "error", everything)
  return notes
end

--- The plan as text for a person; with `everything` each payment and the notes.
---@param payments table[]
---@param totals table[]
---@param path string
---@param made table<string, boolean>  by key
---@param everything boolean|nil
---@return string
function M.show(payments, totals, path, made, everything)
  local out, shown, made_count = {}, largest(payments, everything), 0
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
    or ("\nthe %d largest of %d; --output FILE writes all\n"):format(#shown, #payments)
  out[#out + 1] = tables.aligned({ "line", "key", "amount", "asset", "to" }, cells)
  for _, note in ipairs(everything and M.notes(payments, totals, path, true) or {}) do
    out[#out + 1] = plain_text.clean(note) .. "\n"
  end
  return table.concat(out)
end

--- The numbers of the lines that have texts of a kind, as text.
---@return string
function M.lines(payments, kind)
  local numbers = {}
  for _, payment in ipairs(payments) do numbers[#numbers + 1] = payment[kind][1] and payment.line or nil end
  return (#numbers == 1 and "line " or "lines ") .. lines_text(numbers)
end

--- The warnings that --yes does not pass, a line each.
---@param payments table[]
---@param path string
---@return string[]
function M.odd_lines(payments, path)
  local lines = {}
  add_groups(lines, payments, path, "odd", "odd")
  return lines
end

M.TITLES = { "line", "key", "operation", "amount", "asset", "network", "to", "fee", "state", "message" }

--- Every payment as cells of these titles, for programs.
---@param payments table[]
---@param made table<string, boolean>  by key
---@return table[]
function M.cells(payments, made)
  local list = {}
  for i, payment in ipairs(payments) do
    local texts = {}
    for _, kind in ipairs { "problems", "odd", "warnings" } do
      for _, text in ipairs(payment[kind]) do texts[#texts + 1] = text end
    end
    local state = payment.problems[1] and "error" or made[payment.key] and "made" or payment.odd[1] and "odd"
      or payment.warnings[1] and "warning" or "ok"
    list[i] = { payment.line, payment.key, payment.operation, payment.params.amount, asset_of(payment),
      network_of(payment), destination_of(payment), payment.fee, state, table.concat(texts, "; ") }
  end
  return list
end

return M
