-- SPDX-License-Identifier: MIT
-- A plan of payments as text for a person, and as records for programs.

local decimal = require "purser.decimal"
local notes = require "purser.cli.notes"
local output = require "purser.cli.output"
local plain_text = require "purser.client.util.plain_text"
local terminal = require "purser.cli.terminal"
local utc = require "purser.client.util.utc"

local M = {}

local counted = plain_text.counted

local function asset_of(payment) return payment.params.coin or payment.params.asset or "?" end

local function destination_of(payment)
  local params = payment.params
  return params.address or params.toAccount or params.toAccountType or ""
end

-- Returns the payee as text, with memo, contract and area code: payees may share an address.
local function payee_of(payment)
  local params, kind = payment.params, payment.params.toAccountType
  local parts = { destination_of(payment) }
  if params.toAccount and kind and kind ~= "SPOT" and kind ~= "EMAIL" then parts[2] = kind end
  for _, pair in ipairs { { "areaCode", "area" }, { "memo", "memo" }, { "contractAddress", "contract" } } do
    if params[pair[1]] then parts[#parts + 1] = pair[2] .. " " .. tostring(params[pair[1]]) end
  end
  return table.concat(parts, " ")
end

local OPEN = { waiting = true, taken = true, sent = true }
local LARGEST, SHOWN, ERRORS = 10, notes.SHOWN, 20 -- payments, groups of texts or payees, and of errors, of a summary

local function row_of(payment)
  local amount = payment.params.amount or ""
  local row = { payment.line and ("%d"):format(payment.line) or "", payment.key,
    payment.written and ("%s (%s)"):format(amount, payment.written) or amount, asset_of(payment),
    payment.params.netWork or payment.params.network or "", payee_of(payment) }
  for c, text in ipairs(row) do row[c] = plain_text.clean(text) end
  return row
end

-- Returns the payments with the highest amounts of each asset; a short list whole.
local function largest(payments)
  if #payments <= 2 * LARGEST then return payments end
  local sorted, list, count = {}, {}, {}
  for i, payment in ipairs(payments) do sorted[i] = { payment, decimal(payment.params.amount or "") or decimal(0) } end
  table.sort(sorted, function(a, b)
    local order = a[2]:compare(b[2])
    return order > 0 or order == 0 and a[1].key < b[1].key
  end)
  for _, one in ipairs(sorted) do
    local asset = asset_of(one[1])
    count[asset] = (count[asset] or 0) + 1
    if count[asset] <= LARGEST then list[#list + 1] = one[1] end
  end
  return list
end

local function add_sums(out, totals)
  local sums, has_fees, titles = {}, false, { "asset", "payments", "amount", "fees", "sum", "balance", "" }
  local is_own = true
  for _, total in ipairs(totals) do is_own = is_own and total.payer == "this account" end
  if not is_own then table.insert(titles, 1, "from") end
  for i, total in ipairs(totals) do
    has_fees = has_fees or total.fees:sign() > 0
    sums[i] = { total.asset, ("%d"):format(total.count), tostring(total.amount), tostring(total.fees),
      tostring(total.amount + total.fees), total.balance or "not shown",
      total.is_short and "NOT COVERED" or total.balance and "covered" or "" }
    if not is_own then table.insert(sums[i], 1, total.payer) end
  end
  out[#out + 1] = output.aligned(titles, sums)
  if has_fees then out[#out + 1] = terminal.fold "the fees are assumed to come on top of the amounts" .. "\n" end
end

--- Returns the warnings and errors as lines with file, line and key: one line for equal texts, errors last.
---@param only_odd boolean|nil  the warnings that --yes does not pass alone
function M.notes(plan, only_odd)
  local lines = {}
  local function add(texts, name, most)
    for _, line in ipairs(notes.lines { rows = plan.payments, texts = texts, name = name, noun = "payment", key = "key",
      path = plan.path, most = most, is_exact = texts == "odd" }) do lines[#lines + 1] = line end
  end
  if not only_odd then add("warnings", "warning") end
  add("odd", "odd")
  if only_odd then return lines end
  for _, text in ipairs(plan.shortages) do lines[#lines + 1] = "warning: " .. text end
  add("problems", "error", ERRORS)
  return lines
end

local function sums_of(rows)
  local names, sums = {}, {}
  for _, row in ipairs(rows) do
    local asset, amount = asset_of(row), decimal(row.params.amount or "")
    if not sums[asset] then names[#names + 1] = asset end
    sums[asset] = (sums[asset] or decimal "0") + (amount or decimal "0")
  end
  for i, name in ipairs(names) do names[i] = ("%s %s"):format(tostring(sums[name]), name) end
  return table.concat(names, ", ")
end

local function amount_text(row) return (row.params.amount and row.params.amount .. " " or "") .. asset_of(row) end

--- Returns a number of a plan's payments and a verb: "1 of 3 payments has".
function M.of_all(number, plan, one, many)
  return counted(number, "of %s " .. one, "of %s " .. many):format(counted(#plan.payments, "payment"))
end

--- Returns when the first payment leaves, and why not at once.
---@param wait { ms: integer, why: string }
---@param is_new boolean|nil  the journal does not exist yet
function M.leaves(wait, is_new)
  return ("in about %d s: %s, so the histories are read first, as soon as they must show what was sent before"):format(
    math.ceil(wait.ms / 1000), is_new and "the journal is new" or wait.why)
end

--- Returns what a payment pays, and to whom: "20 XRP to r... memo 7".
---@return string
function M.pays(row) return ("%s to %s"):format(amount_text(row), payee_of(row)) end

local function workers_of(row)
  local worker = row.run and OPEN[row.state] and row.run.workers[1]
  return worker and ("run %s (%s, pid %s on %s) pays it; stop that first"):format(row.run.number, worker.person,
    worker.pid, worker.host)
end

local function command_for(row, command)
  local busy, key = workers_of(row), row.key
  if busy then return busy end
  if row.state == "failed" or row.state == "dropped" then return command("retry", key) end
  if row.state == "undecided" then
    return command("settle", key, "not_done") .. "\nor " .. command("settle", key, "done", "RECORD")
  end
  return row.state ~= "sent" and command("drop", key) .. "\nor all that is left: " .. command "run"
    or command "run" .. " (asks first)"
end

--- Returns the outcomes of payments, a line for each message; undecided payments with the commands to end them.
---@param payments table[]  each with `key` and `message`
---@param command (fun(...: string): string)|nil  makes a command for this queue; nil: no commands are printed
function M.outcomes(state, payments, command)
  local lines, shown, is_open = {}, 0, command ~= nil and state == "undecided"
  for _, group in ipairs(notes.groups(payments, function(payment) return { payment.message or "" } end, is_open)) do
    local name = group[2] and counted(#group, "payment") .. (group.differs and ", such as" or ", the first")
    if shown < SHOWN then
      lines[#lines + 1] = ('%s: %s "%s": %s'):format(state, name or "payment", group[1].key, group.text)
    end
    for _, payment in ipairs(is_open and group or {}) do
      shown = shown + 1
      if shown <= SHOWN then
        for line in command_for(payment, command):gmatch "[^\n]+" do lines[#lines + 1] = "  " .. line end
      end
    end
  end
  if shown > SHOWN then lines[#lines + 1] = ("  and %d more: %s lists them"):format(shown - SHOWN, command "report") end
  return lines
end

local function add_rows(out, heading, rows, command)
  if not rows[1] then return end
  out[#out + 1] = ("%s: %d, %s\n"):format(heading, #rows, sums_of(rows))
  local count = {}
  for _, row in ipairs(rows) do
    local text = workers_of(row) or row.state
    count[text] = (count[text] or 0) + 1
    if count[text] <= SHOWN then
      local message = row.now and row.now.message ~= row.state and row.now.message
      out[#out + 1] = plain_text.clean(("  %s  %s  %s"):format(row.key, amount_text(row), row.state)) .. "\n"
      if message then out[#out + 1] = plain_text.clean("      " .. message) .. "\n" end
      for line in command_for(row, command):gmatch "[^\n]+" do out[#out + 1] = "      " .. line .. "\n" end
    end
  end
  for text, number in pairs(count) do
    if number > SHOWN then
      out[#out + 1] = ("  and %d more: %s; %s lists them\n"):format(number - SHOWN, text, command "report")
    end
  end
end

function M.kept(plan, command)
  local out = {}
  add_rows(out, ("LEFT, not in %s, NOT sent by this run"):format(plan.path or "this plan"), plan.left, command)
  add_rows(out, ("HELD, in %s, NOT sent by this run"):format(plan.path or "this plan"), plan.held, command)
  return table.concat(out)
end

function M.changed(plan)
  if not plan.changed[1] then return "" end
  local out = { ("CHANGED, replaced when you say yes: %d\n"):format(#plan.changed) }
  for i, row in ipairs(plan.changed) do
    if i > SHOWN then
      out[#out + 1] = ("  and %d more\n"):format(#plan.changed - SHOWN)
      break
    end
    local text = row.difference:gsub("(%S+) was (%S+), is ([^,%s]+)", "%1 %2 -> %3")
    out[#out + 1] = plain_text.clean(("  %s  %s (%s)  nothing was sent for it"):format(row.key, text,
      asset_of(row))) .. "\n"
  end
  return table.concat(out)
end

--- Returns the refused rows of a plan as lines, each with a cure.
function M.refused(plan, command)
  local lines = {}
  for i, row in ipairs(plan.refused) do
    local now, old, new = row.now, row.now.params.amount, row.params.amount
    local more, is_made = old and new and decimal(new) - old, row.state == "done"
    local place = row.line and ("%s:%d"):format(plan.path, row.line) or row.key
    local is_amount = old ~= new and not row.difference:find ", %S+ was "
    lines[#lines + 1] = ("%s: %s has %s; %s %s"):format(place, row.key,
      is_amount and amount_text(row) or "other content",
      is_amount and old or "(" .. row.difference .. ")", is_made and ("was paid on %s%s"):format(
        utc.text(now.sent_at) or "a day before", now.record_id and " (id " .. now.record_id .. ")" or "")
      or "may have been sent: nobody knows yet")
    lines[#lines + 1] = ("  put %s back in line %s%s"):format(is_amount and old or "the old value",
      tostring(row.line or i),
      is_made and is_amount and more:sign() > 0
        and ("; if %s more is owed, add a row of %s with its own key"):format(tostring(more), tostring(more))
      or not is_made and "; see: " .. command "status" or "")
  end
  return lines
end

-- Returns the heading of a plan: number of payments, and their earlier runs.
local function heading(plan, queue)
  local what = plan.path or ("queue %s"):format(queue)
  local count = ("%s: %s to send"):format(what, counted(#plan.send, "payment"))
  if plan.path then
    count = ("%s (%d new%s)"):format(count, plan.new, plan.changed[1] and (", %d changed"):format(#plan.changed) or "")
  end
  if plan.joins then count = count .. "; goes on with run " .. plan.joins end
  local out = { plan.signed and ("%s: %s\n%s"):format(plan.path, plan.signed, count) or count }
  if not plan.path and not plan.joins then
    local by_run, names = {}, {}
    for _, row in ipairs(plan.send) do
      local run = row.run
      local name = run and ("of run %s (%s, %s)"):format(run.number, run.person, run.source ~= "" and run.source
        or "the queue") or "of no run"
      if not by_run[name] then names[#names + 1] = name end
      by_run[name] = (by_run[name] or 0) + 1
    end
    for i, name in ipairs(names) do names[i] = ("%d %s"):format(by_run[name], name) end
    out[2] = names[1] and "  " .. table.concat(names, "   ") or nil
  end
  if plan.again > 0 then
    out[#out + 1] = ("  %d of these %s sent: asked about first, sent again only if not made"):format(plan.again,
      plan.again == 1 and "was" or "were")
  end
  if plan.made[1] then out[#out + 1] = ("made already: %d"):format(#plan.made) end
  if plan.filtered then out[#out + 1] = ("not in this run: %d that --filter leaves out"):format(plan.filtered) end
  return table.concat(out, "\n")
end

local function table_of(rows)
  local cells, has_names = {}, false
  for i, payment in ipairs(rows) do
    cells[i] = row_of(payment)
    has_names = has_names or payment.payee ~= nil
  end
  for i, payment in ipairs(has_names and rows or {}) do
    table.insert(cells[i], 3, plain_text.clean(payment.payee or ""))
  end
  return (output.aligned({ "line", "key", has_names and "name" or "amount", has_names and "amount" or "asset",
    has_names and "asset" or "network", has_names and "network" or "to", has_names and "to" or nil }, cells))
end

--- Returns undecided payments as text, and their number and sums.
function M.undecided(payments)
  return table_of(payments) .. table.concat(M.outcomes("undecided", payments), "\n") .. "\n",
    ("%s, %s"):format(counted(#payments, "payment"), sums_of(payments))
end

function M.sums(plan)
  local sums = {}
  for i, total in ipairs(plan.totals) do
    sums[i] = ("%s %s%s"):format(tostring(total.amount), total.asset, total.fees:sign() > 0
      and (" (%s with fees)"):format(tostring(total.amount + total.fees)) or "")
  end
  return ("%s%s, %s"):format(plan.again > 0 and "at most " or "", counted(#plan.send, "payment"),
    table.concat(sums, ", "))
end

function M.question(plan) return ("Type yes for %s: "):format(M.sums(plan)) end

--- Returns lines after an interruption: counts, other workers, and the command that goes on.
function M.stopped(plan, queue, line)
  local rows, left, others = {}, {}, {}
  local made, sent = #plan.made, 0
  for _, row in ipairs(queue:list() or {}) do rows[row.key] = row.state end
  for _, entry in ipairs(plan.send) do
    local state = rows[entry.key]
    if state == "done" then made = made + 1
    elseif state == "sent" then sent = sent + 1
    else left[#left + 1] = entry end
  end
  for _, run in ipairs(queue:runs() or {}) do
    for _, worker in ipairs(run.workers) do
      if worker.name ~= queue.worker then
        others[#others + 1] = ("run %s: %s, pid %s on %s"):format(run.number, worker.person, worker.pid, worker.host)
      end
    end
  end
  return { ("stopped: %d of %d made, %d sent and not known yet, %d not sent%s"):format(made, #plan.made + #plan.send,
    sent, #left, left[1] and " (" .. sums_of(left) .. ")" or ""),
    (others[1] and "others go on with " .. table.concat(others, "; ") or "nobody else works on this queue")
      .. ". To go on:", "  " .. line }
end

function M.show(plan, queue, command)
  local out = {}
  if plan.bad == 0 then
    out[1] = (M.kept(plan, command) .. M.changed(plan)):gsub("[^\n]+", function(line) return terminal.fold(line, 8) end)
  end
  local rows = plan.bad > 0 and plan.payments or plan.send
  if plan.bad > 0 then
    out[#out + 1] = ("%s: %s, %d with errors\n"):format(plan.path, counted(#rows, "payment"), plan.bad)
  else
    out[#out + 1] = terminal.fold(heading(plan, queue)) .. "\n"
    if plan.totals[1] then add_sums(out, plan.totals) end
  end
  if not rows[1] then return table.concat(out) end
  local shown = largest(rows)
  out[#out + 1] = #shown == #rows and "" or ("the largest %d:\n"):format(#shown)
  return table.concat(out) .. table_of(shown)
end

M.TITLES = { "line", "key", "name", "operation", "amount", "asset", "network", "to", "memo", "fee", "state", "message" }

function M.record(row, state, message)
  return { line = row.line, key = row.key, name = row.payee, operation = row.operation, amount = row.params.amount,
    asset = asset_of(row), network = row.params.netWork or row.params.network, to = destination_of(row),
    memo = row.params.memo, fee = row.fee, state = state, message = message }
end

--- Returns the payments of a plan as records for programs.
function M.records(plan)
  local list, sections = {}, {}
  for _, section in ipairs { "made", "changed", "refused", "held" } do
    for _, row in ipairs(plan[section]) do sections[row.key] = section end
  end
  for i, payment in ipairs(plan.payments) do
    local texts = {}
    for _, kind in ipairs { "problems", "odd", "warnings" } do
      for _, text in ipairs(payment[kind]) do texts[#texts + 1] = text end
    end
    local state = payment.problems[1] and "error" or sections[payment.key] or payment.odd[1] and "odd"
      or payment.warnings[1] and "warning" or "ok"
    list[i] = M.record(payment, state, table.concat(texts, "; "))
  end
  for _, row in ipairs(plan.left) do list[#list + 1] = M.record(row, "left", row.state) end
  return list
end

return M
