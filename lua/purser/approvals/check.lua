-- SPDX-License-Identifier: MIT
-- Finds what is odd about a policy, and what a new one loosens. Conditions compare with constants alone, so the calls
-- that rules can tell apart are a grid: each constant, a step beside it, and "another". A grid that is too large is
-- tried at places all over it, and the findings say so.

local decimal = require "purser.decimal"
local errors = require "purser.call.errors"
local names_of = require "purser.util.names_of"
local policy = require "purser.signed.policy"
local rules = require "purser.signed.rules"

local M = {}

local MAX_CELLS = 40000
local STEP, MINUTE, HOUR, DAY = "0.00000001", 60000, 3600000, 86400000
local MONDAY = 1795392000000

-- Adds the constants of a condition to the values of the dimensions that it tells apart.
local add_values = {}

local function add_members(dimension)
  return function(found, set)
    for name in pairs(set) do found[dimension][name] = true end
  end
end

add_values.coin, add_values.network, add_values.queue = add_members "coin", add_members "network", add_members "queue"
function add_values.operation(found, set)
  for name in pairs(set) do found.operation[name == "withdrawals" and "wallet.withdraw" or name] = true end
  found.operation["sub_account.create_api_key"] = true
end
function add_values.to(found, set, given)
  for name in pairs(set) do
    for _, entry in ipairs(given.addresses[name]) do found.to[entry] = true end
  end
end
function add_values.known_days(found, days) found.known[days], found.known[days - 1] = true, true end
function add_values.saved(found) found.saved[true] = true end
function add_values.amount_over(found, limit)
  found.amount[tostring(limit)], found.amount[tostring(limit + STEP)] = true, true
end
add_values.amount_up_to = add_values.amount_over
function add_values.sum_over(found, limit) found.sum[tostring(limit.amount)] = true end
function add_values.days(found) for day = 0, 6 do found.day[day] = true end end
function add_values.hours(found, range) found.minute[range.from], found.minute[range.to % 1440] = true, true end
function add_values.made_by(found, group, given) found.maker[next(given.groups[group])] = true end

local function sorted(set, before)
  local list = {}
  for value in pairs(set) do list[#list + 1] = value end
  table.sort(list, before or function(a, b) return tostring(a) < tostring(b) end)
  return list
end

local function is_less(a, b) return decimal(a):compare(b) < 0 end

-- Returns the values of each dimension that the conditions of some policies can tell apart.
local function values_of(given)
  local found = { operation = { ["wallet.withdraw"] = true }, coin = { OTHER = true }, network = { OTHERNET = true },
    to = {}, known = { [-1] = true }, saved = {}, amount = { [STEP] = true }, sum = { ["0"] = true },
    day = { [0] = true }, minute = { [0] = true }, queue = { ["another queue"] = true }, maker = {} }
  for _, one in ipairs(given) do
    for _, rule in ipairs(one.rules) do
      for i = 0, #rule.unless do
        for word, value in pairs(rule.unless[i] or rule.when) do add_values[word](found, value, one) end
      end
    end
  end
  local lists = {}
  for name, set in pairs(found) do
    lists[name] = sorted(set, (name == "amount" or name == "sum") and is_less or nil)
  end
  for _, name in ipairs { "to", "saved", "maker" } do table.insert(lists[name], 1, false) end
  return lists
end

local function call_of(cell, zone)
  local to = cell.to or { address = "another address" }
  local network = to.network or cell.network
  local call = rules.call(cell.operation, { coin = cell.coin, asset = cell.coin, amount = cell.amount,
    address = to.address, memo = to.memo, netWork = network, network = network, contractAddress = to.contractAddress,
    subAccount = "a", fromAccount = "a", toAccount = "b", toAccountType = "UID" })
  call.now = MONDAY + cell.day * DAY + (cell.minute - zone) * MINUTE
  call.queue, call.maker, call.saved = cell.queue, cell.maker or nil, cell.saved
  call.known_since = cell.known >= 0 and call.now - cell.known * DAY or false
  function call.sum() return decimal(cell.sum) end
  return call
end

-- Calls fn(cell) for every cell, or for many places of a grid that is too large. Returns how many, of how many.
local function each_cell(lists, fn)
  local names, total = sorted(lists), 1
  for _, name in ipairs(names) do total = total * #lists[name] end
  local count, seed = math.min(total, MAX_CELLS), 7
  for i = 0, count - 1 do
    local cell, rest = {}, i
    for _, name in ipairs(names) do
      local size = #lists[name]
      if total > MAX_CELLS then
        seed = seed * 16807 % 2147483647
        rest = seed
      end
      cell[name] = lists[name][rest % size + 1]
      rest = math.floor(rest / size)
    end
    fn(cell)
  end
  return count, total
end

-- Returns who may have signed, and how long the plan may have waited: nobody, some of each group, everybody.
local function cases_of(given)
  local sets, waits, cases = { {}, {} }, { [0] = true }, {}
  for _, one in ipairs(given) do
    for _, rule in ipairs(one.rules) do waits[rule.wait_hours] = true end
    for person in pairs(one.people) do sets[2][person] = true end
    for _, members in pairs(one.groups) do
      local names = names_of(members)
      for count = 1, math.min(3, #names) do
        local set = {}
        for i = 1, count do set[names[i]] = true end
        sets[#sets + 1] = set
      end
    end
  end
  for _, hours in ipairs(sorted(waits)) do
    for _, set in ipairs(sets) do cases[#cases + 1] = { signed = set, waited_ms = hours * HOUR } end
  end
  return cases
end

local function describe(cell)
  return ("%s %s %s%s%s"):format(cell.operation, cell.amount, cell.coin, cell.to and " to " .. cell.to.address
    or cell.known >= 0 and " to a known address" or " to a new address",
    cell.queue ~= "another queue" and ", queue " .. cell.queue or "")
end

-- Notes what the new policy lets through and the old one does not, with an example for each pair of rules.
local function compare(new, old, cell, cases, looser)
  local call = call_of(cell, new.zone)
  local of_new, of_old = rules.applying(new, call), rules.applying(old, call)
  for _, case in ipairs(cases) do
    call.signed, call.waited_ms = case.signed, case.waited_ms
    local now = rules.decide(new, call, of_new)
    local before = now.ok and rules.decide(old, call, of_old)
    if before and not before.ok then
      local by, held = now.allowed[1], before.forbidden[1] or before.unmet[1] or "no rule"
      local name = by .. "\n" .. held
      if not looser[name] then
        looser[name] = { allowed_by = by, held_by = held, example = describe(cell),
          signed = names_of(case.signed), cells = 0 }
        looser[#looser + 1] = looser[name]
      end
      looser[name].cells = looser[name].cells + 1
      return
    end
  end
end

---@class purser.PolicyFindings
---@field never string[]       rules that match no call
---@field forbidden string[]   an `allow` that matches only what a `forbid` matches, too
---@field unfilled string[]    rules whose places not even everybody fills
---@field unasked table<string, string>  by coin: the largest amount that is withdrawn without anybody's word
---@field looser { allowed_by: string, held_by: string, example: string, signed: string[], cells: integer }[]
---@field cells integer        how many calls were tried
---@field of integer           of how many that rules can tell apart
---@field digest string

-- Notes which rules match a cell, which `allow` helps, and what is withdrawn unasked.
local function survey(given, cell, seen, unasked)
  local call = call_of(cell, given.zone)
  local applying = rules.applying(given, call)
  local decision = rules.decide(given, call, applying)
  for _, rule in ipairs(applying) do
    seen[rule.name] = rule.effect == "allow" and not decision.forbidden[1] and "helps" or seen[rule.name] or "matched"
  end
  local most = unasked[cell.coin]
  if decision.ok and cell.operation:find "withdraw" and (not most or is_less(most, cell.amount)) then
    unasked[cell.coin] = cell.amount
  end
end

--- Checks a policy; see purser.approvals.
function M.check(text, against)
  local given, message = policy.read(text)
  local old
  if given and against then old, message = policy.read(against) end
  if message then return nil, errors.argument("policy", "the policy cannot be read: " .. message) end
  local findings = { never = {}, forbidden = {}, unfilled = {}, unasked = {}, looser = {}, digest = given.digest }
  local seen, lists = {}, values_of { given }
  findings.cells, findings.of = each_cell(lists, function(cell) survey(given, cell, seen, findings.unasked) end)
  for coin, amount in pairs(findings.unasked) do
    if amount == lists.amount[#lists.amount] then findings.unasked[coin] = "any" end
  end
  for _, rule in ipairs(given.rules) do
    local list = not seen[rule.name] and findings.never
      or rule.effect == "allow" and seen[rule.name] ~= "helps" and findings.forbidden
    if list then list[#list + 1] = rule.name end
    if not rules.filled(given, rule.approvals, given.people) then table.insert(findings.unfilled, rule.name) end
  end
  if not rules.filled(given, given.change, given.people) then table.insert(findings.unfilled, "change") end
  if old then
    local cases = cases_of { given, old }
    findings.cells, findings.of = each_cell(values_of { given, old }, function(cell)
      compare(given, old, cell, cases, findings.looser)
    end)
  end
  return findings
end

return M
