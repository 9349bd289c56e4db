-- SPDX-License-Identifier: MIT
-- Plans a list of payments beside a queue: checks, possible mistakes, sums by asset, and balances. Moves no funds.

local columns = require "purser.client.operations.columns"
local decimal = require "purser.decimal"
local errors = require "purser.client.call.errors"
local history_check = require "purser.desk.payouts.history_check"
local planned = require "purser.write.planned"
local purser = require "purser"
local purser_address = require "purser.address"
local queues = require "purser.desk.payouts.queue"
local runs = require "purser.desk.payouts.runs"
local transactions = require "purser.client.util.transactions"
local utc = require "purser.client.util.utc"

local M = {}

local function asset_of(payment) return payment.params.coin or payment.params.asset or "?" end

-- Returns the plan of a payment to an address, and notes its fee; false for another payment; nil and an error where the
-- coins cannot be read.
local function withdrawal_of(client, payment, unchecked)
  if payment.problems.is_unread then return false end -- an amount with two readings fits no bound
  if not payment.row or payment.row.effect ~= "transfer" or not payment.row.by_name.address then return false end
  local given = { unchecked_address = unchecked or nil }
  for name, value in pairs(payment.params) do given[name] = value end
  local plan, err = client.wallet:plan_withdraw(given, payment.operation, true)
  payment.fee = plan and plan.fee
  return plan, err
end

-- Checks each payment and completes the names of networks. Returns an error where the coins cannot be read.
local function check(client, payments, unchecked)
  for _, payment in ipairs(payments) do
    local plan, err = withdrawal_of(client, payment, unchecked)
    if err then return err end
    payment.warnings = plan and plan.warnings or payment.warnings
    for _, problem in ipairs(plan and plan.problems or {}) do table.insert(payment.problems, problem) end
    if plan and plan.ok then
      local had_id = payment.params.withdrawOrderId
      payment.params = plan.params
      if not had_id then payment.params.withdrawOrderId = nil end -- the queue makes its own, from the key
    end
    if payment.row and not payment.problems[1] then
      local request, problem = client:preview(payment.operation, payment.params)
      payment.problems[1] = not request and problem.message .. (problem.hint and "; " .. problem.hint or "") or nil
    end
  end
end

local DAYS, DAY_MS = 7, 86400000
local FAR = decimal "10" -- times the next lower amount
local FEW = 0.05         -- the share of rows that may be far
local ENOUGH = 5         -- rows make a range

-- Parameters in which equal payments may differ.
local differs = { withdrawOrderId = true, clientTranId = true, netWork = true, network = true, remark = true,
  contractAddress = true }

-- Returns one text for equal payments, by whichever operation.
local function content_of(operation, params)
  local parts = { operation:find "withdraw" and "withdraw" or operation:match "[^.]*$" }
  for name, value in pairs(params) do
    local amount = name == "amount" and decimal(tostring(value))
    local is_payee = params.address and (name == "address" or name == "memo")
    if not differs[name] and not is_payee then parts[#parts + 1] = ("%s=%s"):format(name, tostring(amount or value)) end
  end
  if params.address then parts[#parts + 1] = "to=" .. purser_address.payee(params.address, params.memo, true) end
  table.sort(parts)
  return table.concat(parts, "\n")
end

local function text_of(payment)
  local params = payment.params
  return ("%s %s to %s"):format(tostring(params.amount), asset_of(payment), params.address or params.toAccount
    or params.toAccountType or "?")
end

-- Marks groups of payments with one name: why(group) returns a function from a payment to the text, and the first place
-- in the group to mark; or nothing. A group without a new payment has no mark.
local function mark(payments, known, name_of, why)
  local groups, names = {}, {}
  for _, payment in ipairs(payments) do
    local name = name_of(payment)
    if name and not groups[name] then groups[name], names[#names + 1] = {}, name end
    if name then table.insert(groups[name], payment) end
  end
  for _, name in ipairs(names) do
    local group, has_new = groups[name], false
    local text, first = why(group)
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
  mark(payments, known, function(payment) return runs.fold(payment.key) end, function(group)
    local first = group[1].key
    for _, payment in ipairs(group) do
      if payment.key ~= first then
        return function()
          return ('keys that differ only in case or blanks from "%s" are keys of their own'):format(first)
        end
      end
    end
  end)
end

-- Adds what is unusual about a column to `odd`, and what cannot be to `problems`.
local function judge_column(payment, name, type_, value)
  local state, message, hint = columns.judge(type_, value, payment.params)
  if state == "good" then return end
  local is_plans = name == "memo" and payment.params.address -- the plan of a withdrawal refuses its memo
  if state == "refused" and is_plans then return end
  table.insert(state == "refused" and payment.problems or payment.odd, ("the %s %s %s%s"):format(name, tostring(value),
    message, hint and "; " .. hint or ""))
end

-- Judges columns by their types. Memos of withdrawals are judged by the plan of each, with the coin's network.
local function mark_columns(payments, known)
  for _, payment in ipairs(payments) do
    if not known[payment.key] then
      judge_column(payment, "key", "key", payment.key)
      for name, value in pairs(payment.params) do
        local type_ = value ~= "" and columns.type_of(name, payment.params)
        if type_ then judge_column(payment, name, type_, value) end
      end
    end
  end
end

local function mark_paid(payments, known, paid)
  for _, payment in ipairs(payments) do
    local other = payment.row and not known[payment.key] and paid[content_of(payment.operation, payment.params)]
    if other then table.insert(payment.odd, ("an equal payment %s: %s"):format(other, text_of(payment))) end
  end
end

local function mark_cut(payments, known)
  local last = payments[#payments]
  if not last or not last.cut or known[last.key] then return end
  table.insert(last.odd, "its line has no line end, and a list that was cut looks so: a part of the amount, or more "
    .. "lines, may be missing; end the line, or give --expect-sum for each asset")
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

-- Says of each payment that is not made whether its address is a look-alike of another of the plan, or of an earlier
-- payee, or a transaction. A person has confirmed what is known: there a warning is enough.
local function mark_alike(client, journal, payments, known, made)
  local list = {}
  for _, payment in ipairs(payments) do
    if type(payment.params.address) == "string" then list[#list + 1] = { address = payment.params.address } end
  end
  local look_alikes, err = planned.look_alikes(client, journal, list)
  if not look_alikes then return err end
  local transaction_of = transactions.of(client)
  for _, payment in ipairs(payments) do
    local address, is_made = payment.params.address, made[payment.key]
    local texts = is_made and {} or look_alikes(address)
    if not is_made and not payment.problems[1] then texts[#texts + 1] = transaction_of(address) end
    for _, text in ipairs(texts) do table.insert(known[payment.key] and payment.warnings or payment.odd, text) end
  end
end

local was_paid = { done = true, open = true, unknown = true, undecided = true }

--- Returns the equal payments that find_odd knows: a word on each call of the last days that was or may have been
--- executed, and on each payment that may be made from another queue; or nil and an error.
---@param journal purser.Journal
---@param account string
---@param now integer  epoch milliseconds
---@param queue purser.Payouts|nil
---@return table<string, string>|nil paid, purser.Error|nil err
function M.paid_lately(journal, now, queue)
  local paid, others = {}, {}
  local entries, err = journal:entries { after = { intent = { sent_at = now - DAYS * DAY_MS,
    id = "" } } }
  if entries and queue then
    others, err = planned.within(journal, function(tx) return queues.elsewhere(tx, queue) end, true)
  end
  if not entries or not others then return nil, err end
  for _, other in ipairs(others) do
    paid[content_of(other.operation, other.params)] = ('is %s in the queue "%s"'):format(other.state, other.queue)
  end
  for _, entry in ipairs(entries) do
    if was_paid[entry.state] then
      paid[content_of(entry.intent.operation, entry.intent.params)] =
        ("was sent on %s (%s)"):format(utc.text(entry.intent.sent_at), entry.state)
    end
  end
  return paid
end

--- Adds to `odd` of each payment why it may be a mistake.
---@param payments table[]
---@param known table<string, boolean>  keys that are in the queue
---@param paid table<string, string>  of M.paid_lately
function M.find_odd(payments, known, paid)
  mark_equal(payments, known)
  mark_keys(payments, known)
  mark_columns(payments, known)
  mark_paid(payments, known, paid)
  mark_far(payments, known)
  mark_cut(payments, known)
end

--- Sums the payments without problems, by payer and asset.
function M.totals(payments)
  local list, by_key = {}, {}
  for _, payment in ipairs(payments) do
    if payment.row and not (payment.problems and payment.problems[1]) then
      local source = payment.row.group ~= "wallet" and payment.params.fromAccount or "" -- of the key's own account
      local asset = asset_of(payment)
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

-- Returns a function from an asset to the free balance of a source, or nil and why it is not shown.
local function balances_of(client, source)
  local balances, is_complete = {}, client.profile.live_operations and source == ""
  local list, err
  if source ~= "" then
    list, err = client.sub_account:balances { subAccount = source, accountType = "SPOT" }
  elseif is_complete then
    list, err = client:call "live.account"
    list = list and list.balances
  else -- of the account itself no other operation of the document shows any
    list, err = client.wallet:convertible_balances()
  end
  for _, record in ipairs(list or {}) do balances[record.asset or ""] = record.free or record.balance end
  return function(asset)
    return balances[asset] or list and is_complete and "0" or nil, err and err.message
  end
end

--- Adds to each total its balance, where an operation shows one: none does of futures accounts.
function M.add_balances(client, totals)
  local known = {}
  for _, total in ipairs(totals) do
    if total.account_type == "SPOT" then
      known[total.source] = known[total.source] or balances_of(client, total.source)
      total.balance, total.unread = known[total.source](total.asset)
    end
    local balance, odd
    if total.balance then balance, odd = decimal.shown(total.balance) end
    if odd then total.balance, total.unread = nil, odd end
    total.is_short = balance and balance:compare(total.amount + total.fees) < 0 or false
  end
end

--- Returns texts on sums that are not covered, or whose balance cannot be read.
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

local function count(payments, kind)
  local number = 0
  for _, payment in ipairs(payments) do number = number + (payment[kind][1] and 1 or 0) end
  return number
end

---@class purser.PlannedPayment
---@field key string
---@field operation string       such as "wallet.withdraw"
---@field params table           the network by any name people use; the plan completes it
---@field problems? string[]     why it would fail
---@field warnings? string[]     what to look at before
---@field odd? string[]          why it may be a mistake
---@field fee? string            of a withdrawal
---@field cut? boolean           its line has no line end

---@class purser.PaymentsPlanOptions
---@field queue? purser.Payouts   its payments stand beside the list, in the sections of the plan
---@field journal? purser.Journal equal payments of its last days may be a mistake
---@field unchecked? boolean      an address of another form, or a wrong checksum, is only warned of. Default: false

---@class purser.PaymentsPlan
---@field payments purser.PlannedPayment[]  the list, with what was found
---@field send purser.PlanRow[]     what a run of this plan sends, or less: new, changed, waiting, sent and not known
---@field again integer             of `send`: sent and not known yet; they are asked about first
---@field new integer               of `send`: not in the queue
---@field changed purser.PlanRow[]  of `send`: a run replaces what the queue holds
---@field left purser.PlanRow[]     not in the list, not over, and not sent by a run of this plan
---@field refused purser.PlanRow[]  other than what was or may have been sent, so the plan has no run
---@field held purser.PlanRow[]     in the list, but failed, undecided or dropped
---@field made purser.PlanRow[]     in the list, and made
---@field runs table<string, purser.PayoutsRun>  by number
---@field joins string|nil   the number of the run that a run of this plan goes on with
---@field totals table[]     of `send`, by payer and asset: payer, asset, count, amount, fees, balance, is_short
---@field shortages string[] sums that are not covered
---@field wait { ms: integer, why: string }|nil  how long the first payment of its run waits, from the plan on
---@field bad integer        payments with problems
---@field odd integer        payments that may be a mistake

-- Returns the error of a value that is no list of payments with keys, or nil.
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

-- Notes what is wrong with each payment. Returns what was paid lately; or nil and an error.
local function judge(client, payments, options)
  local seen, rows = {}, purser.operations
  for i, payment in ipairs(payments) do
    payment.problems, payment.warnings, payment.odd = payment.problems or {}, payment.warnings or {}, {}
    payment.row = rows[payment.operation]
    local first = seen[payment.key]
    if first and not payment.line then payment.problems[1] = ("payment %d has the same key"):format(first) end
    seen[payment.key] = first or i
    if not payment.row and not payment.problems[1] then payment.problems[1] = "no operation has this name" end
  end
  local err = check(client, payments, options.unchecked)
  if err then return nil, err end
  if not options.journal then return {} end
  return M.paid_lately(options.journal, client:now(), options.queue)
end

-- Returns the sections of a plan, with the queue's payments where no list is given; or nil and an error.
local function seen(client, payments, options)
  local view, err = runs.see(options.queue, payments)
  if not view then return nil, err end
  if payments then return view end
  if not view.rows[1] then
    return nil, errors.new { kind = "workflow", outcome = "not_sent", code = "payouts.no_queue",
      message = ('the queue "%s" holds no payment of the account "%s"'):format(options.queue.queue,
        client:account()), hint = "correct the name, or add the payments" }
  end
  view.payments = {}
  local rows = purser.operations
  for i, entry in ipairs(view.send) do
    entry.problems, entry.warnings, entry.odd, entry.row = {}, {}, {}, rows[entry.operation]
    view.payments[i] = entry
    err = select(2, withdrawal_of(client, entry, true))
    if err then return nil, err end
  end
  return view
end

-- Notes what the journal would refuse of the payments to send: a key in use is an error, a limit a warning, since the
-- payment waits for the limit's next period. Returns an error where the journal cannot be read.
local function note_refusals(client, view, options)
  local list, payments = {}, {}
  for _, entry in ipairs(view.send) do
    local row = entry.row
    if row and row.effect == "transfer" and entry.state ~= "sent" and not entry.problems[1] then
      list[#list + 1] = { operation = entry.operation, params = entry.params, id = entry.made and entry.made.id,
        payment = entry.key, queue = options.queue and options.queue.queue }
      payments[#list] = entry
    end
  end
  local refusals, err = planned.refusals(client, options.journal, list)
  for i, refusal in pairs(refusals or {}) do
    local is_limit = refusal.code == "guard.spending_limit"
    table.insert(payments[i][is_limit and "warnings" or "problems"], refusal.message
      .. (refusal.hint and "; " .. refusal.hint or ""))
  end
  return err
end

--- Does what purser.payouts.plan and payouts:plan say.
function M.plan(client, payments, options)
  options = options or {}
  local err = errors.no_client(client, "payouts.plan") or not (options.queue and payments == nil)
    and no_payments(payments)
  local paid, view = {}, nil -- luacheck: ignore 311
  if err then return nil, err end
  if payments then paid, err = judge(client, payments, options) end
  if not paid then return nil, err end
  if options.queue then
    view, err = seen(client, payments, options)
    if not view then return nil, err end
  else
    view = { send = payments, changed = {}, left = {}, refused = {}, held = {}, made = {}, runs = {}, again = 0,
      new = #payments, alike = {} }
  end
  view.payments = payments or view.payments
  view.wait = history_check.wait_of(options.queue or { client = client }, view.send)
  local by_key, known, made = {}, {}, {}
  for _, payment in ipairs(view.payments) do by_key[payment.key] = payment end
  for _, section in ipairs { "send", "held", "refused", "made" } do
    for _, entry in ipairs(view[section]) do
      local payment = options.queue and by_key[entry.key] or entry -- keys of no queue may be there twice
      entry.row, entry.fee, entry.line, entry.problems = payment.row, payment.fee, payment.line, payment.problems
      entry.warnings = payment.warnings
      entry.payee = payment.payee or entry.now and not entry.difference and entry.now.payee or nil
      -- the payer has not seen payments that a signed plan added
      local is_shown = entry.now and not entry.difference and (entry.state ~= "waiting" or entry.now.mark ~= "")
      known[entry.key], made[entry.key] = is_shown or known[entry.key], section == "made" or nil
    end
  end
  if options.journal then err = note_refusals(client, view, options) end
  if payments then M.find_odd(payments, known, paid) end
  err = err or mark_alike(client, options.journal, view.payments, known, made)
  if err then return nil, err end
  for key, texts in pairs(view.alike) do
    for _, text in ipairs(texts) do table.insert(by_key[key].odd, text) end
  end
  view.totals = M.totals(view.send)
  M.add_balances(client, view.totals)
  view.shortages, view.bad, view.odd = M.shortages(view.totals), count(view.payments, "problems"),
    count(view.payments, "odd")
  return view
end

return M
