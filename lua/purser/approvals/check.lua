-- SPDX-License-Identifier: MIT
-- Finds what is odd about a policy, and what a new one loosens. Conditions compare with constants alone, so the calls
-- that rules can tell apart are a grid: each constant, a step beside it, and "another". A grid that is too large is
-- tried at places all over it, and the findings say so.

local decimal = require "purser.decimal"
local errors = require "purser.call.errors"
local policy = require "purser.signed.policy"
local rules = require "purser.signed.rules"

local M = {}

local MAX_CELLS = 40000
local STEP, MINUTE, DAY = "0.00000001", 60000, 86400000
local MONDAY = 1795392000000

-- Calls fn(word, value) for every condition of some policies.
local function each_condition(given, fn)
  for _, one in ipairs(given) do
    for _, rule in ipairs(one.rules) do
      for word, value in pairs(rule.when) do fn(word, value, one) end
      for _, conditions in ipairs(rule.unless) do
        for word, value in pairs(conditions) do fn(word, value, one) end
      end
    end
  end
end

local function sorted(set)
  local list = {}
  for value in pairs(set) do list[#list + 1] = value end
  table.sort(list, function(a, b) return tostring(a) < tostring(b) end)
  return list
end

local function by_amount(set)
  local list = sorted(set)
  table.sort(list, function(a, b) return decimal(a):compare(b) < 0 end)
  return list
end

-- The values of each dimension that the conditions can tell apart.
local function values_of(given)
  local found = { operation = { ["wallet.withdraw"] = true }, coin = { OTHER = true }, network = { OTHERNET = true },
    to = {}, known = { [-1] = true }, saved = {}, amount = { [STEP] = true }, sum = { ["0"] = true }, day = {},
    minute = { [0] = true }, queue = { ["another queue"] = true }, maker = {} }
  local read = {}
  function read.operation(set)
    for name in pairs(set) do found.operation[name == policy.WITHDRAWALS and "wallet.withdraw" or name] = true end
    found.operation["sub_account.create_api_key"] = true
  end
  function read.coin(set) for coin in pairs(set) do found.coin[coin] = true end end
  function read.network(set) for network in pairs(set) do found.network[network] = true end end
  function read.to(set, one)
    for name in pairs(set) do
      for _, entry in ipairs(one.addresses[name]) do found.to[entry] = true end
    end
  end
  function read.known_days(days) found.known[days], found.known[days - 1] = true, true end
  function read.saved() found.saved[true] = true end
  function read.amount_over(limit)
    found.amount[tostring(limit)], found.amount[tostring(limit + STEP)] = true, true
  end
  read.amount_up_to = read.amount_over
  function read.sum_over(limit) found.sum[tostring(limit.amount)] = true end
  function read.days() for day = 0, 6 do found.day[day] = true end end
  function read.hours(range) found.minute[range.from], found.minute[range.to % 1440] = true, true end
  function read.queue(set) for name in pairs(set) do found.queue[name] = true end end
  function read.made_by(group, one) found.maker[next(one.groups[group])] = true end
  each_condition(given, function(word, value, one) read[word](value, one) end)
  local lists = {}
  for name, set in pairs(found) do
    lists[name] = (name == "amount" or name == "sum") and by_amount(set) or sorted(set)
  end
  for _, name in ipairs { "to", "saved", "maker" } do table.insert(lists[name], 1, false) end
  if not lists.day[1] then lists.day[1] = 0 end
  return lists
end

local function call_of(cell, zone)
  local to = cell.to or { address = "another address" }
  local params = { coin = cell.coin, asset = cell.coin, amount = cell.amount, address = to.address, memo = to.memo,
    netWork = to.network or cell.network, network = to.network or cell.network, contractAddress = to.contractAddress,
    subAccount = "a", fromAccount = "a", toAccount = "b", toAccountType = "UID" }
  local call = rules.call(cell.operation, params)
  call.now = MONDAY + cell.day * DAY + (cell.minute - zone) * MINUTE
  call.queue, call.maker = cell.queue, cell.maker or nil
  if cell.saved ~= nil then call.saved = cell.saved end
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

local function matches_of(given, call)
  local found = {}
  for i, rule in ipairs(given.rules) do
    local matched = rules.matches(rule, call, given)
    found[i] = rule.effect == "allow" and matched == true or rule.effect ~= "allow" and matched ~= false
  end
  return found
end

-- Returns whether these persons get a call through after some hours, and the rule that says so: the one that allows, or
-- one that is in the way.
local function outcome(given, matched, signed, hours)
  local allowed, lacking
  for i, rule in ipairs(given.rules) do
    local met = matched[i] and rule.effect ~= "forbid" and rule.wait_hours <= hours
      and rules.filled(given, rule.approvals, signed)
    if matched[i] and (rule.effect == "forbid" or rule.effect == "require" and not met) then return false, rule.name end
    if matched[i] and not met then lacking = rule.name end
    if met and rule.effect == "allow" then allowed = allowed or rule.name end
  end
  return allowed ~= nil, allowed or lacking or "no rule"
end

-- Who may have signed, and for how many hours the plan may have waited: nobody, some of each group, everybody.
local function sets_of_signers(given)
  local sets, waits = { {}, {} }, { [0] = true }
  for _, one in ipairs(given) do
    for _, rule in ipairs(one.rules) do waits[rule.wait_hours] = true end
    for person in pairs(one.people) do sets[2][person] = true end
    for _, members in pairs(one.groups) do
      local names = sorted(members)
      for count = 1, math.min(3, #names) do
        local set = {}
        for i = 1, count do set[names[i]] = true end
        sets[#sets + 1] = set
      end
    end
  end
  local pairs_of = {}
  for _, hours in ipairs(sorted(waits)) do
    for _, set in ipairs(sets) do pairs_of[#pairs_of + 1] = { signed = set, hours = hours } end
  end
  return pairs_of
end

local function describe(cell)
  return ("%s %s %s%s%s"):format(cell.operation, cell.amount, cell.coin, cell.to and " to " .. cell.to.address
    or cell.known >= 0 and " to a known address" or " to a new address", cell.queue ~= "another queue" and ", queue "
    .. cell.queue or "")
end

-- Notes what the new policy lets through and the old one does not, with an example for each pair of rules.
local function compare(new, old, cell, sets, looser)
  local call = call_of(cell, new.zone)
  local matched_new, matched_old = matches_of(new, call), matches_of(old, call)
  for _, set in ipairs(sets) do
    local ok, by = outcome(new, matched_new, set.signed, set.hours)
    local before, held = outcome(old, matched_old, set.signed, set.hours)
    if ok and not before then
      local name = by .. "\n" .. held
      local one = looser[name]
      if not one then
        one = { allowed_by = by, held_by = held, example = describe(cell), signed = sorted(set.signed), cells = 0 }
        looser[name], looser[#looser + 1] = one, one
      end
      one.cells = one.cells + 1
      return
    end
  end
end

local function survey(given, cell, seen, unasked, top)
  local matched, forbidden, asked, free = matches_of(given, call_of(cell, given.zone)), false, false, false
  for i, rule in ipairs(given.rules) do
    if matched[i] then
      seen[rule.name] = seen[rule.name] or "matched"
      forbidden = forbidden or rule.effect == "forbid"
      asked = asked or rule.effect == "require"
      free = free or rule.effect == "allow" and not rule.approvals[1] and rule.wait_hours == 0
    end
  end
  for i, rule in ipairs(given.rules) do
    if matched[i] and rule.effect == "allow" and not forbidden then seen[rule.name] = "helps" end
  end
  if free and not forbidden and not asked and cell.operation:find "withdraw" then
    local known = unasked[cell.coin]
    if not known or decimal(known):compare(cell.amount) < 0 then unasked[cell.coin] = cell.amount end
    unasked[cell.coin] = unasked[cell.coin] == top and top or unasked[cell.coin]
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

local function read(text)
  local given, message = policy.read(text)
  if not given then return nil, errors.argument("policy", "the policy cannot be read: " .. message) end
  return given
end

--- Checks a policy; see purser.approvals.
function M.check(text, against)
  local given, err = read(text)
  if not given then return nil, err end
  local old
  if against then old, err = read(against) end
  if against and not old then return nil, err end
  local findings = { never = {}, forbidden = {}, unfilled = {}, unasked = {}, looser = {}, digest = given.digest }
  local seen, all, lists = {}, {}, values_of { given }
  local top = lists.amount[#lists.amount]
  for person in pairs(given.people) do all[person] = true end
  findings.cells, findings.of = each_cell(lists, function(cell) survey(given, cell, seen, findings.unasked, top) end)
  for coin, amount in pairs(findings.unasked) do
    if amount == top then findings.unasked[coin] = "any" end
  end
  for _, rule in ipairs(given.rules) do
    if not seen[rule.name] then
      table.insert(findings.never, rule.name)
    elseif rule.effect == "allow" and seen[rule.name] ~= "helps" then
      table.insert(findings.forbidden, rule.name)
    end
    if not rules.filled(given, rule.approvals, all) then table.insert(findings.unfilled, rule.name) end
  end
  if not rules.filled(given, given.change, all) then table.insert(findings.unfilled, "change") end
  if old then
    local sets = sets_of_signers { given, old }
    findings.cells, findings.of = each_cell(values_of { given, old }, function(cell)
      compare(given, old, cell, sets, findings.looser)
    end)
  end
  return findings
end

return M
