-- SPDX-License-Identifier: MIT
-- A list of payments before it is paid: read from CSV, each one checked, what may be a mistake, the sums by asset, and
-- the balances that can be read. Nothing is sent that moves funds.
--
-- The CSV has a header with the names of parameters, then a payment a line. `key` names a payment for good; `payee` is
-- for persons; `operation` may stand in a column or come from the command. Cells are separated by commas, semicolons or
-- tabs.

local add = require "purser.desk.payouts.add"
local csv = require "purser.client.util.csv"
local decimal = require "purser.decimal"
local errors = require "purser.client.call.errors"
local files = require "purser.client.util.files"
local plain_text = require "purser.client.util.plain_text"
local purser = require "purser"
local suggest = require "purser.client.util.suggest"
local utc = require "purser.client.util.utc"

local M = {}

------------------------------------------------------------------------------------------------------------- reading

-- Returns a name as it is compared: "netWork", "net-work" and "Net Work" are one.
local function spelling(name) return (name:lower():gsub("[_ -]", "")) end

-- Returns the columns that an operation takes, and the same by their spelling.
local function columns_of(row)
  local names, by_spelling = {}, {}
  for _, param in ipairs(row.params) do
    if not param.plain then names[#names + 1], by_spelling[spelling(param[1])] = param[1], param[1] end
  end
  return names, by_spelling
end

-- Returns the operation of a payment; or nil and a message.
local function row_of(rows, name)
  local row, short, known = rows[(name:gsub("[ :/]", ".", 1):gsub("%-", "_"))], rows["wallet." .. name], {}
  if row and row.effect == "transfer" then return row end
  for _, candidate in ipairs(rows) do
    known[#known + 1] = candidate.effect == "transfer" and candidate.full_name or nil
  end
  local hint = suggest.hint(short and short.full_name or name, known)
  return nil, ("%q is no operation that moves funds%s; there are %s"):format(name, hint, table.concat(known, ", "))
end

-- Returns the parameters of a payment, and adds what is wrong with its columns.
local function params_of(header, cells, row, problems)
  local names, by_spelling = columns_of(row)
  local params, given = {}, {}
  for i, column in ipairs(header) do
    local param = by_spelling[spelling(column)]
    if not cells[i] or column == "key" or column == "operation" or column == "payee" or column:find "^#" then -- luacheck: ignore
    elseif not param then
      problems[#problems + 1] = ('%s has no parameter "%s"%s; it has %s. A column whose name begins with # is left out')
        :format(row.full_name, column, suggest.hint(column, names), table.concat(names, ", "))
    elseif given[param] then
      problems[#problems + 1] = ('the columns "%s" and "%s" are both %s; leave one out'):format(given[param], column,
        param)
    else
      params[param], given[param] = cells[i], column
    end
  end
  return params
end

-- Returns one payment, with what is wrong with it.
local function payment_of(rows, header, record, otherwise)
  local cells, of, problems = {}, {}, {}
  for i, text in ipairs(record) do
    if header[i] and text ~= "" then cells[i], of[header[i]] = text, text end
  end
  if #record > #header then problems[1] = ("has %d cells, and the header %d"):format(#record, #header) end
  local name, row = of.operation or otherwise, nil
  local message = "no operation; give a column `operation`, or --operation"
  if not of.key then
    problems[#problems + 1] = "has no key; give each payment one of its own"
  elseif not plain_text.is_name(of.key) then
    problems[#problems + 1] = add.NO_NAME .. ", so remove them"
  end
  if name then row, message = row_of(rows, name) end
  if not row then problems[#problems + 1] = message end
  return { key = of.key or "", payee = of.payee, operation = row and row.full_name or name or "",
    line = record.line, row = row, params = row and params_of(header, cells, row, problems) or {}, problems = problems,
    warnings = {}, odd = {} }
end

-- Makes the names of the header those of `key` and `operation` however they are spelt. Returns what is wrong, or nil.
local function check_header(header)
  local seen = {}
  for i, name in ipairs(header) do
    local plain = spelling(name)
    if plain == "key" or plain == "operation" or plain == "payee" then header[i] = plain end
    name = header[i]
    if name ~= "" and seen[name] then return ('the header names "%s" twice'):format(name) end
    seen[name] = true
  end
  if not seen.key then
    return ('the first line must name the columns, with `key` among them, such as key,coin,network,address,amount; '
      .. 'it is "%s"'):format(plain_text.clean(table.concat(header, ","):sub(1, 60)))
  end
end

-- Says what a file is that is no CSV; or nil.
local function other_kind(text)
  if text:find "^PK\3\4" or text:find "^\208\207\17\224" then
    return "is a workbook of a spreadsheet program; save it as CSV (UTF-8)"
  elseif text:find "^\255\254" or text:find "^\254\255" or text:sub(1, 64):find("%z") then
    return "is UTF-16 or no text at all; save it as CSV (UTF-8)"
  end
end

-- Returns the separator of the line with the names: the one that stands there most often.
local function separator_of(text)
  local line = ("\n" .. text):gsub("\n#[^\n]*", ""):match "\n*([^\n]*)" or ""
  local best, most = ",", 0
  for _, separator in ipairs { ",", ";", "\t" } do
    local _, count = line:gsub(separator, "")
    if count > most then best, most = separator, count end
  end
  return best
end

--- Does what purser.payouts.read says; `comments` of the list says how many lines begin with #.
---@param otherwise string|nil  the operation of payments without one
function M.read(path, otherwise)
  if type(path) ~= "string" then return nil, ("the path of the list is a %s; give a text"):format(type(path)) end
  local text, message = files.read(path)
  if not text then return nil, message end
  local records, comments
  message = other_kind(text)
  if not message then records, message, comments = csv.parse(text, separator_of(text)) end
  message = message or not records[1] and "is empty"
  if message then return nil, ("%s: %s"):format(path, message) end
  local header = table.remove(records, 1)
  message = check_header(header)
  if message then return nil, ("%s:%d: %s"):format(path, header.line, message) end
  local payments, lines, rows = { comments = comments }, {}, purser.operations
  for i, record in ipairs(records) do
    local payment = payment_of(rows, header, record, otherwise)
    local first = payment.key ~= "" and lines[payment.key]
    if first then
      table.insert(payment.problems, 1, ("line %d has the same key; a key is of one payment"):format(first))
    end
    lines[payment.key], payments[i] = first or record.line, payment
  end
  return payments
end

------------------------------------------------------------------------------------------------------------ checking

local function asset_of(payment) return payment.params.coin or payment.params.asset or "?" end

-- Returns what is wrong with the parameters of a payment, or nil.
local function check_params(client, payment)
  local request, err = client:preview(payment.operation, payment.params)
  if request then return nil end
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

-- Checks each payment and completes the names of networks: adds to `problems`, `warnings` and `fee`. Returns an error
-- when the coins cannot be read.
local function check(client, payments, unchecked)
  for _, payment in ipairs(payments) do
    if payment.row and payment.row.effect == "transfer" and payment.row.by_name.address then
      local err = plan_withdrawal(client, payment, unchecked)
      if err then return err end
    end
    if payment.row and not payment.problems[1] then payment.problems[1] = check_params(client, payment) end
  end
end

---------------------------------------------------------------------------------------------- what may be a mistake

-- Each of these is right now and then, so a person decides.

local DAYS, DAY_MS = 7, 86400000
local FAR = decimal "10" -- times the next lower amount
local FEW = 0.05         -- of the rows may be far from the others
local ENOUGH = 5         -- rows, from which on there is a range to be far from

-- Names of parameters in which two equal payments may differ.
local differs = { withdrawOrderId = true, clientTranId = true, netWork = true, network = true, remark = true,
  contractAddress = true }

-- Returns what is paid to whom: the same text for equal payments.
local function content_of(operation, params)
  local parts = { operation }
  for name, value in pairs(params) do
    local amount = name == "amount" and decimal(tostring(value))
    if not differs[name] then parts[#parts + 1] = ("%s=%s"):format(name, tostring(amount or value)) end
  end
  table.sort(parts)
  return table.concat(parts, "\n")
end

local function text_of(payment)
  local params = payment.params
  return ("%s %s to %s"):format(tostring(params.amount), asset_of(payment), params.address or params.toAccount
    or params.toAccountType or "?")
end

-- Marks payments that have a name in common: why(group, name) returns a function from a payment to the text, and the
-- place in the group from which on it is said; or nothing. What has no new payment is left alone.
local function mark(payments, known, name_of, why)
  local groups, names = {}, {}
  for _, payment in ipairs(payments) do
    local name = name_of(payment)
    if name and not groups[name] then groups[name], names[#names + 1] = {}, name end
    if name then table.insert(groups[name], payment) end
  end
  for _, name in ipairs(names) do
    local group, has_new = groups[name], false
    local text, first = why(group, name)
    for i = first or 1, text and #group or 0 do has_new = has_new or not known[group[i].key] end
    for i = first or 1, has_new and #group or 0 do table.insert(group[i].odd, text(group[i])) end
  end
end

local function mark_equal(payments, known)
  mark(payments, known, function(payment)
    return payment.row and payment.params.amount and content_of(payment.operation, payment.params)
  end, function(group)
    return #group > 1 and function(payment) return ("%d equal rows: each pays %s"):format(#group, text_of(payment)) end
  end)
end

local function mark_keys(payments, known)
  local by_case = {}
  for key in pairs(known) do by_case[key:lower()] = key end
  mark(payments, known, function(payment) return payment.key:lower() end, function(group, name)
    local first, in_queue = group[1].key, by_case[name]
    for _, payment in ipairs(group) do
      if payment.key ~= first then
        return function() return ('keys that differ only in case from "%s" are keys of their own'):format(first) end
      end
    end
    return in_queue and in_queue ~= first and function()
      return ('the key differs only in case from "%s", which is in the queue'):format(in_queue)
    end
  end)
end

local function mark_paid(payments, known, paid)
  for _, payment in ipairs(payments) do
    local entry = payment.row and not known[payment.key] and paid[content_of(payment.operation, payment.params)]
    if entry then
      table.insert(payment.odd, ("an equal payment was sent on %s (%s): %s"):format(utc.text(entry.intent.sent_at),
        entry.state, text_of(payment)))
    end
  end
end

-- Marks the highest amounts where there is a gap below them.
local function mark_far(payments, known)
  mark(payments, known, function(payment)
    payment.amount = decimal(payment.params.amount or "")
    return payment.amount and asset_of(payment)
  end, function(group)
    table.sort(group, function(a, b) return a.amount:compare(b.amount) < 0 end)
    local lowest = math.max(2, #group - math.max(1, math.floor(FEW * #group)) + 1)
    for i = #group, #group < ENOUGH and math.huge or lowest, -1 do
      local lower = group[i - 1].amount
      if group[i].amount:compare(lower * FAR) >= 0 then
        return function(payment)
          return ("%s %s is far above the other amounts of the list, of which the highest is %s"):format(
            tostring(payment.amount), asset_of(payment), tostring(lower))
        end, i
      end
    end
  end)
end

local was_paid = { done = true, open = true, unknown = true, undecided = true }

--- Returns the calls of the last days that were or may have been executed, as find_odd takes them; or nil and an error.
---@param journal purser.Journal
---@param account string
---@param now integer  epoch milliseconds
---@return table<string, purser.JournalEntry>|nil paid, purser.Error|nil err
function M.paid_lately(journal, account, now)
  local entries, err = journal:entries { account = account, after = { intent = { sent_at = now - DAYS * DAY_MS,
    id = "" } } }
  if not entries then return nil, err end
  local paid = {}
  for _, entry in ipairs(entries) do
    if was_paid[entry.state] then paid[content_of(entry.intent.operation, entry.intent.params)] = entry end
  end
  return paid
end

--- Adds to `odd` of each payment why it may be a mistake.
---@param payments table[]
---@param known table<string, boolean>  the keys of the payments that are in the queue
---@param paid table<string, purser.JournalEntry>  of M.paid_lately
function M.find_odd(payments, known, paid)
  mark_equal(payments, known)
  mark_keys(payments, known)
  mark_paid(payments, known, paid)
  mark_far(payments, known)
end

---------------------------------------------------------------------------------------------- sums and balances

-- Returns where the funds of a payment come from: a sub-account that is named, else the account of the key ("").
local function source_of(payment)
  return payment.row.group ~= "wallet" and payment.params.fromAccount or ""
end

--- Sums by payer and asset those that are not made yet.
function M.totals(payments, made)
  local list, by_key = {}, {}
  for _, payment in ipairs(payments) do
    if payment.row and not made[payment.key] then
      local source, asset = source_of(payment), asset_of(payment)
      local account_type = payment.params.fromAccountType or "SPOT"
      local key = table.concat({ source, account_type, asset }, "\n")
      local total = by_key[key]
      if not total then
        local payer = source == "" and "this account" or source
        total = { source = source, account_type = account_type, asset = asset, count = 0, amount = decimal(0),
          payer = account_type == "SPOT" and payer or payer .. ", " .. account_type, fees = decimal(0) }
        by_key[key], list[#list + 1] = total, total
      end
      local amount = decimal(payment.params.amount)
      total.count = total.count + 1
      if amount then total.amount = total.amount + amount end
      if payment.fee then total.fees = total.fees + payment.fee end
    end
  end
  return list
end

-- Returns the records of a source's balances, and whether an asset that is not among them has a balance of nothing.
local function read_balances(client, source)
  if source ~= "" then
    return client.sub_account:balances { subAccount = source, accountType = "SPOT" }
  elseif client.profile.live_operations then
    local account, err = client:call "live.account"
    return account and account.balances, err, true
  end
  return client.wallet:convertible_balances() -- of the account itself no other operation of the document shows any
end

-- Returns a function from an asset to the free balance of a source; nil where it is not shown, and why.
local function balances_of(client, source)
  local list, err, is_complete = read_balances(client, source)
  local balances = {}
  for _, record in ipairs(list or {}) do balances[record.asset] = record.free or record.balance end
  return function(asset)
    return balances[asset] or list and is_complete and "0" or nil, err and err.message
  end
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
    total.is_short = balance and balance:compare(total.amount + total.fees) < 0 or false
  end
end

--- Says what is to be known of the sums: a list of texts.
function M.shortages(totals)
  local list = {}
  for _, total in ipairs(totals) do
    if total.is_short then
      list[#list + 1] = ("the balance of %s %s (%s) does not cover the sum of %s"):format(total.balance, total.asset,
        total.payer, tostring(total.amount + total.fees))
    elseif total.unread then
      list[#list + 1] = ("the balance of %s (%s) cannot be read: %s"):format(total.asset, total.payer, total.unread)
    end
  end
  return list
end

-- Returns the keys of the payments that a queue has, and of those that it has made; or nil and an error.
local function keys_of(queue)
  local known, made, list, err = {}, {}, {}, nil
  if queue then list, err = queue:list() end
  if not list then return nil, err end
  for _, payment in ipairs(list) do
    known[payment.key], made[payment.key] = true, payment.state == "done" or nil
  end
  return known, made
end

local function count(payments, kind)
  local number = 0
  for _, payment in ipairs(payments) do number = number + (payment[kind][1] and 1 or 0) end
  return number
end

---@class purser.PlannedPayment
---@field key string
---@field operation string       such as "wallet.withdraw"
---@field params table           the network by any name people use; the plan completes it
---@field problems? string[]     why it would fail, all of them
---@field warnings? string[]     what to look at before
---@field odd? string[]          why it may be a mistake of who made the list
---@field fee? string            of a withdrawal

---@class purser.PaymentsPlanOptions
---@field queue? purser.Payouts   what it holds is known, and what it has made is left out of the sums
---@field journal? purser.Journal what it shows of the last days is looked at: equal payments may be a mistake
---@field unchecked? boolean      an address of another form, or a wrong checksum, is only warned of. Default: false

---@class purser.PaymentsPlan
---@field payments purser.PlannedPayment[]  those that were given, with what was found
---@field made table<string, boolean>       keys of those that the queue has made
---@field totals table[]     by payer and asset: payer, asset, count, amount, fees, balance, is_short
---@field shortages string[] what a person should know of the sums
---@field bad integer        payments with problems
---@field odd integer        payments that may be a mistake

-- Returns the error of what is no list of payments with keys; nil where it is one.
local function no_payments(payments)
  if type(payments) ~= "table" then
    return errors.argument(nil, "payouts.plan has no list of payments",
      "give { { key =, operation =, params = }, ... }")
  end
  for i, payment in ipairs(payments) do
    if type(payment) ~= "table" or type(payment.key) ~= "string" or type(payment.params) ~= "table" then
      return errors.argument(nil, ("payment %d of the list is none"):format(i), "give { key =, operation =, params = }")
    end
  end
end

--- Does what purser.payouts.plan says.
function M.plan(client, payments, options)
  local err, rows = errors.no_client(client, "payouts.plan") or no_payments(payments), purser.operations
  if err then return nil, err end
  options = options or {}
  for _, payment in ipairs(payments) do
    payment.problems, payment.warnings, payment.odd = payment.problems or {}, payment.warnings or {}, {}
    payment.row = rows[payment.operation]
    if not payment.row and not payment.problems[1] then payment.problems[1] = "no operation has this name" end
  end
  err = check(client, payments, options.unchecked)
  if err then return nil, err end
  local known, made = keys_of(options.queue)
  if not known then return nil, made end
  local paid = {}
  if options.journal then
    paid, err = M.paid_lately(options.journal, client:account(), client:now())
    if not paid then return nil, err end
  end
  M.find_odd(payments, known, paid)
  local totals = M.totals(payments, made)
  M.add_balances(client, totals)
  return { payments = payments, made = made, totals = totals, shortages = M.shortages(totals),
    bad = count(payments, "problems"), odd = count(payments, "odd") }
end

return M
