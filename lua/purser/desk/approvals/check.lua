-- SPDX-License-Identifier: MIT
-- Finds what is odd about a policy, and which rules a new policy may loosen. Rules are compared condition by condition:
-- a rule is part of another if each condition of the other follows from a condition of the rule. No call is tried.

local errors = require "purser.client.call.errors"
local names_of = require "purser.client.util.names_of"
local networks = require "purser.client.operations.network"
local operations_ = require "purser.client.operations"
local policy = require "purser.desk.approvals.policy"
local purser_address = require "purser.address"
local rules = require "purser.desk.approvals.rules"

local M = {}

local WITHDRAWALS = { withdrawals = true }

-- Functions by condition: (narrow, wide, policy of narrow, policy of wide) tells whether a call that meets `narrow`, or
-- cannot be judged by `narrow`, meets `wide`.
local follows = {}

local function all_are(names, holds)
  for name in pairs(names) do
    if not holds(name) then return false end
  end
  return true
end

local function is_subset(narrow, wide) return all_are(narrow, function(name) return wide[name] end) end

follows.coin, follows.queue = is_subset, is_subset

function follows.network(narrow, wide) return all_are(narrow, function(name) return rules.among(wide, name) end) end

function follows.operation(narrow, wide)
  return all_are(narrow, function(name) return rules.counts({ operation = wide }, name) end)
end

function follows.to(narrow, wide, of_narrow, of_wide)
  for name in pairs(narrow) do
    for _, entry in ipairs(of_narrow.addresses[name]) do
      local is_there = false
      for other in pairs(wide) do
        for _, each in ipairs(of_wide.addresses[other]) do
          is_there = is_there or purser_address.same(each, entry)
            and each.contractAddress == entry.contractAddress
            and (not each.network or entry.network and networks.same(each.network, entry.network))
        end
      end
      if not is_there then return false end
    end
  end
  return true
end

function follows.saved() return true end
function follows.known_days(narrow, wide) return narrow >= wide end
function follows.amount_over(narrow, wide) return narrow:compare(wide) >= 0 end
function follows.amount_up_to(narrow, wide) return narrow:compare(wide) <= 0 end

function follows.sum_over(narrow, wide)
  return narrow.coin == wide.coin and narrow.per == wide.per and narrow.hours <= wide.hours
    and narrow.amount:compare(wide.amount) >= 0
    and (not wide.operation or narrow.operation ~= nil and follows.operation(narrow.operation, wide.operation))
end

function follows.days(narrow, wide, of_narrow, of_wide)
  return of_narrow.zone == of_wide.zone and is_subset(narrow, wide)
end

function follows.hours(narrow, wide, of_narrow, of_wide)
  return of_narrow.zone == of_wide.zone and narrow.from >= wide.from and narrow.to <= wide.to
end

function follows.made_by(narrow, wide, of_narrow, of_wide)
  return is_subset(of_narrow.groups[narrow], of_wide.groups[wide])
end

-- Returns whether conditions follow from others; else the name of one that does not.
local function follow(narrow, wide, of_narrow, of_wide)
  for _, word in ipairs(names_of(wide)) do
    local own = narrow[word]
    if own == nil or not follows[word](own, wide[word], of_narrow, of_wide) then return false, word end
  end
  return true
end

-- Returns whether a rule is part of another; else the member that prevents that.
local function is_part(rule, other, of_rule, of_other)
  local ok, word = follow(rule.when, other.when, of_rule, of_other)
  for _, except in ipairs(ok and other.unless or {}) do
    ok, word = false, "unless"
    for _, own in ipairs(rule.unless) do ok = ok or follow(except, own, of_other, of_rule) end
    if not ok then break end
  end
  return ok, word
end

-- Returns whether the signers of some places fill others: each other place has a place for itself, with as many persons
-- of a group that is no larger.
local function fills(places, others, of_places, of_others)
  local taken = {}
  for _, other in ipairs(others) do
    local found
    for i, place in ipairs(places) do
      found = found or not taken[i] and place.count >= other.count
        and is_subset(of_places.groups[place.group], of_others.groups[other.group]) and i
    end
    if not found then return false end
    taken[found] = true
  end
  return true
end

-- Tells whether no call meets a rule.
local function is_empty(rule, given)
  local when = rule.when
  if when.amount_over and when.amount_up_to and when.amount_over:compare(when.amount_up_to) >= 0 then return true end
  for _, except in ipairs(rule.unless) do
    if follow(when, except, given, given) then return true end
  end
  return false
end

-- Returns the largest amount that a rule allows by operations without a signature: "any" without a bound, nil where
-- other rules stop all.
local function most_of(given, rule, operations, coin)
  local own = { when = { operation = operations, coin = coin and { [coin] = true } }, unless = rule.unless }
  for word, value in pairs(rule.when) do own.when[word] = own.when[word] or value end
  local most = rule.when.amount_up_to or "any"
  for _, other in ipairs(given.rules) do
    local rest, bound = {}, nil
    for word, value in pairs(other.when) do
      if not bound and word == "amount_over" then bound = value
      elseif not bound and word == "sum_over" then bound = value.amount
      else rest[word] = value end
    end
    local stops = other.effect == "forbid" or other.effect == "require" and other.approvals[1] ~= nil
    if stops and is_part(own, { when = rest, unless = other.unless }, given, given) then
      if not bound then return nil end
      if most == "any" or bound:compare(most) < 0 then most = bound end
    end
  end
  return most
end

-- Returns a bound of what one call withdraws without a signature, by coin. Several calls may withdraw more.
local function unasked_of(given)
  local coins, unasked = { ["any other coin"] = true }, {}
  for _, rule in ipairs(given.rules) do
    for coin in pairs(rule.when.coin or {}) do coins[coin] = true end
  end
  for _, rule in ipairs(given.rules) do
    local pays = {}
    for name in pairs(rule.when.operation or WITHDRAWALS) do
      pays[name] = rules.counts({ operation = WITHDRAWALS }, name) or nil
    end
    local is_free = rule.effect == "allow" and not rule.approvals[1] and next(pays) and not is_empty(rule, given)
    for coin in pairs(is_free and (rule.when.coin or coins) or {}) do
      local most, before = most_of(given, rule, pays, coin), unasked[coin]
      if not before or most == "any" or most and before ~= "any" and most:compare(before) > 0 then
        unasked[coin] = most
      end
    end
  end
  for coin, most in pairs(unasked) do unasked[coin] = tostring(most) end
  return unasked
end

-- Returns the other write calls that are sent without a signature. The table of operations is the list.
local function free_of(given)
  local free = {}
  for _, row in ipairs(operations_.every) do
    local name, is_free = row.full_name, false
    local is_other = row.effect ~= "read" and not rules.counts({ operation = WITHDRAWALS }, name)
    for _, rule in ipairs(is_other and given.rules or {}) do
      is_free = is_free or rule.effect == "allow" and not rule.approvals[1] and not is_empty(rule, given)
        and rules.counts({ operation = rule.when.operation }, name) and most_of(given, rule, { [name] = true }) ~= nil
    end
    if is_free then free[#free + 1] = name end
  end
  return free
end

local function asks_as_many(rule, other, of_rule, of_other)
  return fills(rule.approvals, other.approvals, of_rule, of_other) and rule.wait_hours >= other.wait_hours,
    "approvals or wait_hours"
end

-- Notes the rules of a policy (allowing or restricting ones) without a match among the rules of another: with the
-- member that differs in the rule of the same name, or with `alone`.
local function note_unmatched(looser, given, allows, others, matches, alone)
  for _, rule in ipairs(given.rules) do
    local is_matched, why = (rule.effect == "allow") ~= allows, nil
    for _, other in ipairs(is_matched and {} or others.rules) do
      local ok, member = other.effect == rule.effect or other.effect == "forbid" and not allows, "effect"
      if ok then ok, member = matches(rule, other) end
      is_matched = is_matched or ok
      if other.name == rule.name then why = member end
    end
    if not is_matched then
      looser[#looser + 1] = ("%s %s: %s"):format(rule.effect, rule.name, why and "its " .. why or alone)
    end
  end
end

local function looser_of(new, old)
  local looser = {}
  note_unmatched(looser, new, true, old, function(rule, before)
    local ok, member = is_part(rule, before, new, old)
    if not ok then return ok, member end
    return asks_as_many(rule, before, new, old)
  end, "new")
  note_unmatched(looser, old, false, new, function(rule, now)
    local ok, member = is_part(rule, now, old, new)
    if not ok or now.effect == "forbid" then return ok, member end
    return asks_as_many(now, rule, new, old)
  end, "gone")
  if not fills(new.change, old.change, new, old) then looser[#looser + 1] = "change: its approvals" end
  if new.plan_days > old.plan_days then
    looser[#looser + 1] = ("plan_days: %d, and before %d"):format(new.plan_days, old.plan_days)
  end
  for _, person in ipairs(names_of(new.people)) do
    for _, key in ipairs(new.people[person]) do
      if old.by_key[key.key] ~= person then looser[#looser + 1] = ("%s: the key %s"):format(person, key.text) end
    end
  end
  return looser
end

---@class purser.PolicyFindings
---@field never string[]       rules that no call meets
---@field forbidden string[]   an `allow` that is part of a `forbid`
---@field unfilled string[]    rules whose places not even everybody fills
---@field unasked table<string, string>  by coin: a bound of what one call withdraws without a signature
---@field free string[]        other write calls that need no signature
---@field looser string[]      all that is not proved to be as strict as in the other policy
---@field digest string

--- Checks a policy; see purser.approvals.
function M.check(text, against)
  local given, message = policy.read(text)
  local old
  if given and against then old, message = policy.read(against) end
  if message then
    return nil, errors.argument("policy", ("the %s cannot be read: %s"):format(given and "other policy" or "policy",
      message))
  end
  local found = { never = {}, forbidden = {}, unfilled = {}, unasked = unasked_of(given), free = free_of(given),
    looser = old and looser_of(given, old) or {}, digest = given.digest }
  for _, rule in ipairs(given.rules) do
    local is_forbidden = false
    for _, other in ipairs(rule.effect == "allow" and given.rules or {}) do
      is_forbidden = is_forbidden or other.effect == "forbid" and is_part(rule, other, given, given)
    end
    local list = is_empty(rule, given) and found.never or is_forbidden and found.forbidden
    if list then list[#list + 1] = rule.name end
    if not rules.filled(given, rule.approvals, given.people) then table.insert(found.unfilled, rule.name) end
  end
  if not rules.filled(given, given.change, given.people) then table.insert(found.unfilled, "change") end
  return found
end

return M
