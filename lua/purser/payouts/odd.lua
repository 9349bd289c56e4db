-- SPDX-License-Identifier: MIT
-- Rows of a list that may be a mistake of who made it: equal ones, keys that differ only in case, what was paid a few
-- days ago, an amount far from the others. Each is right now and then, so a person decides.

local decimal = require "purser.decimal"
local utc = require "purser.util.utc"

local M = {}

local DAYS = 7
local FAR = decimal "10" -- times the next lower amount
local FEW = 0.05         -- of the rows may be far from the others
local ENOUGH = 5         -- rows, from which on there is a range to be far from

-- Names of parameters in which two equal payments may differ.
local differs = { withdrawOrderId = true, clientTranId = true, netWork = true, network = true, remark = true,
  contractAddress = true }

local function asset_of(params) return params.coin or params.asset or "?" end

-- Returns what is paid to whom: the same text for equal payments.
local function content_of(operation, params)
  local parts = { operation }
  for name, value in pairs(params) do
    local amount = name == "amount" and decimal(tostring(value))
    if not differs[name] then parts[#parts + 1] = ("%s=%s"):format(name, tostring(amount or value)) end
  end
  table.sort(parts, function(a, b) return a < b end)
  return table.concat(parts, "\n")
end

local function text_of(params)
  return ("%s %s to %s"):format(tostring(params.amount), asset_of(params), params.address or params.toAccount
    or params.toAccountType or "?")
end

-- Adds `text` to the rows of a group, if one of them is new.
local function mark(group, known, text)
  local has_new = false
  for _, payment in ipairs(group) do has_new = has_new or not known[payment.key] end
  for _, payment in ipairs(has_new and group or {}) do payment.odd[#payment.odd + 1] = text(payment) end
end

-- Calls fn(group) for the payments that have a name in common.
local function each_group(payments, name_of, fn)
  local groups, names = {}, {}
  for _, payment in ipairs(payments) do
    local name = name_of(payment)
    if name and not groups[name] then groups[name], names[#names + 1] = {}, name end
    if name then table.insert(groups[name], payment) end
  end
  for _, name in ipairs(names) do fn(groups[name]) end
end

local function mark_equal(payments, known)
  each_group(payments, function(payment)
    return payment.row and payment.params.amount and content_of(payment.operation, payment.params)
  end, function(group)
    if #group < 2 then return end
    mark(group, known, function(payment)
      return ("%d equal rows: each pays %s"):format(#group, text_of(payment.params))
    end)
  end)
end

local function mark_keys(payments, known)
  local by_case = {}
  for key in pairs(known) do by_case[key:lower()] = key end
  each_group(payments, function(payment) return payment.key:lower() end, function(group)
    local first, in_queue = group[1].key, by_case[group[1].key:lower()]
    local differ = false
    for _, payment in ipairs(group) do differ = differ or payment.key ~= first end
    if differ then
      mark(group, known, function() return ('keys that differ only in case from "%s" are keys of their own'):format(
        first) end)
    elseif in_queue and in_queue ~= first then
      mark(group, known, function() return ('the key differs only in case from "%s", which is in the queue'):format(
        in_queue) end)
    end
  end)
end

local function mark_paid(payments, known, paid)
  for _, payment in ipairs(payments) do
    local entry = payment.row and not known[payment.key] and paid[content_of(payment.operation, payment.params)]
    if entry then
      payment.odd[#payment.odd + 1] = ("an equal payment was sent on %s (%s): %s"):format(utc.text(
        entry.intent.sent_at), entry.state, text_of(payment.params))
    end
  end
end

-- Marks the highest amounts where there is a gap below them.
local function mark_far(payments, known)
  each_group(payments, function(payment)
    payment.amount = decimal(payment.params.amount or "")
    return payment.amount and asset_of(payment.params)
  end, function(group)
    if #group < ENOUGH then return end
    table.sort(group, function(a, b) return a.amount:compare(b.amount) < 0 end)
    for i = #group, math.max(2, #group - math.max(1, math.floor(FEW * #group)) + 1), -1 do
      local lower = group[i - 1].amount
      if group[i].amount:compare(lower * FAR) >= 0 then
        mark({ (table.unpack or unpack)(group, i) }, known, function(payment) -- luacheck: ignore
          return ("%s %s is far above the other amounts of the list, of which the highest is %s"):format(
            tostring(payment.amount), asset_of(payment.params), tostring(lower))
        end)
        return
      end
    end
  end)
end

local was_paid = { done = true, open = true, unknown = true, undecided = true }

--- The calls of the last days that were or may have been executed, as `find` takes them; or nil and an error.
---@param journal purser.Journal
---@param account string
---@param now integer  epoch milliseconds
---@return table<string, purser.JournalEntry>|nil paid, purser.Error|nil err
function M.paid(journal, account, now)
  local paid, entries = {}, nil
  local after = { intent = { sent_at = now - DAYS * 86400000, id = "" } }
  local ok, problem = pcall(function()
    entries = journal:each_entry { account = account, after = after }
    for entry in entries do
      if was_paid[entry.state] then paid[content_of(entry.intent.operation, entry.intent.params)] = entry end
    end
  end)
  if ok then return paid end
  if tostring(problem):find("interrupted!", 1, true) then error("interrupted!", 0) end
  return nil, problem
end

--- Adds to `odd` of each payment why it may be a mistake.
---@param payments table[]
---@param known table<string, boolean>  the keys of the payments that are in the queue
---@param paid table<string, purser.JournalEntry>  of M.paid
function M.find(payments, known, paid)
  mark_equal(payments, known)
  mark_keys(payments, known)
  mark_paid(payments, known, paid)
  mark_far(payments, known)
end

return M
