-- SPDX-License-Identifier: MIT
-- Decides by a policy. A call is sent if no `forbid` matches, one matching `allow` is met, and every matching `require`
-- is met. Rules have no order.
--
-- A condition holds (true), fails (false), or cannot be judged (nil). An unknown condition fails an `allow` and meets a
-- `require` or a `forbid`: the unknown never loosens.

local decimal = require "purser.decimal"
local networks = require "purser.client.operations.network"
local operations = require "purser.client.operations"
local plan_text = require "purser.desk.approvals.plan_text"
local purser_address = require "purser.address"

local M = {}

local find, format, gmatch, lower, match, upper = string.find, string.format, string.gmatch, string.lower,
  string.match, string.upper

local HOUR, DAY = 3600000, 86400000

-- Returns the coins that a call moves; false for none; nil where a service may read the text as another coin.
local function coins_of(row, params)
  if not row.moves then return false end
  local text, coins = params[row.moves.asset], {}
  if type(text) ~= "string" or find(text, "[^%w_,.-]") then return nil end
  for coin in gmatch(upper(text), "[^,]+") do coins[#coins + 1] = coin end
  return coins[1] and coins or nil
end

-- Returns two names of a destination, "" for none. Equal first names: the same destination. Equal second names: perhaps
-- the same, as the second name ignores memo, network and letters; most networks ignore memos, and a network has several
-- names.
local function names_of_destination(to)
  if not to then return "", "" end
  local parts = {}
  for i, part in ipairs(to.parts) do parts[i] = format("%d:%s", #part, part) end
  return plan_text.digest(to.kind .. table.concat(parts)), plan_text.digest(to.kind .. to.account)
end

--- Returns what rules judge of a call; nil for an unknown operation. The caller adds `now`, `queue`, `known_since`
--- (false: never paid), `book` (saved addresses), `listed` (the coin's record), `sum`, `signed`, `maker`, `waited_ms`.
---@return table|nil call
function M.call(operation, params)
  local row = operations.by_name[operation]
  if not row then return nil end
  local amount = row.moves and row.moves.amount and params[row.moves.amount]
  local to = networks.destination(row, params)
  local destination, place = names_of_destination(to)
  return { operation = operation, row = row, params = params, coins = coins_of(row, params), to = to,
    amount = amount and decimal(amount) or nil, destination = destination, place = place, queue = "", signed = {} }
end

local judge = {}

function judge.operation(set, call)
  return set[call.operation] or set.withdrawals and call.row.moves ~= nil and call.row.moves.to == "address" or false
end

function judge.coin(set, call)
  if not call.coins then return call.coins end
  local count, may_be = 0, false
  for _, coin in ipairs(call.coins) do
    count = count + (set[coin] and 1 or 0)
    may_be = may_be or set[match(coin, "^(.*)%-")] -- as histories show USDT-TRX
  end
  if count < #call.coins and (count > 0 or may_be) then return nil end
  return count > 0
end

--- Returns whether a network is among these names; nil for unknown. `coin` is the coin's own record.
function M.among(names, network, coin)
  local found = false
  for name in pairs(names) do
    local is_same = networks.same(name, network, coin)
    if is_same then return true end
    if is_same == nil then found = nil end
  end
  return found
end

function judge.network(names, call)
  if not call.to or call.to.kind ~= "address" then return false end
  return call.to.network and M.among(names, call.to.network, call.listed)
end

-- Returns an address in small letters, without a memo behind a colon. On many networks these are no address, or an
-- account of NEAR, and the service may know them as the same address.
local function letters_of(address) return lower((purser_address.parts_of_unread(address) or address)) end

local places = setmetatable({}, { __mode = "k" }) -- of entries: the payee, the account without a memo, and its letters

-- Returns an entry of a list as a payee, its account, and its letters.
local function place_of(entry)
  local place = places[entry]
  if not place then
    place = { purser_address.payee(entry.address, entry.memo), networks.account_of(entry.address),
      letters_of(entry.address) }
    places[entry] = place
  end
  return place[1], place[2], place[3]
end

local function is_entry(entry, to, call)
  local listed, coin = call.listed, call.coins and call.coins[1]
  if entry.coin and (entry.coin == "" or not coin or networks.other_coin(coin, entry.coin)) then return false end
  return place_of(entry) == to.parts[1] and to.contract == entry.contractAddress
    and (entry.network == nil or to.network ~= nil and networks.same(entry.network, to.network, listed) == true)
end

-- Returns whether a call pays an address of these lists. Nil for an unknown list, or the account of an entry with
-- another memo, network or contract, or in other letters: the service may know them as one.
local function pays_one_of(lists, call)
  local to, found = call.to, false
  if not to or to.kind ~= "address" then return false end
  if not lists[1] then return nil end
  for _, list in ipairs(lists) do
    for _, entry in ipairs(list) do
      if is_entry(entry, to, call) then return true end
      local _, account, letters = place_of(entry)
      if account == to.account or letters == letters_of(to.address) then found = nil end
    end
  end
  return found
end

function judge.to(names, call, policy)
  local lists = {}
  for name in pairs(names) do lists[#lists + 1] = policy.addresses[name] end
  return pays_one_of(lists, call)
end

function judge.saved(_, call) return pays_one_of({ call.book }, call) end

function judge.known_days(days, call)
  if call.destination == "" or call.known_since == nil then return nil end
  return call.known_since ~= false and call.now - call.known_since >= days * DAY
end

-- An amount is unknown where none travels.
function judge.amount_over(limit, call) return call.amount and call.amount:compare(limit) > 0 end
function judge.amount_up_to(limit, call) return call.amount and call.amount:compare(limit) <= 0 end

-- The sum includes the call.
function judge.sum_over(limit, call)
  local is_counted = M.counted(call) == limit.coin and (limit.per == "account" or call.place ~= "")
  local sum = is_counted and call.sum and call.sum(limit) or nil
  return sum and (sum + call.amount):compare(limit.amount) > 0
end

--- Returns the coin of a call's sums, and their places ("" is the whole account); nil for a call in no sum.
---@return string|nil coin, string[]|nil places
function M.counted(call)
  if not call.amount or not call.coins or #call.coins ~= 1 then return nil end
  return call.coins[1], { "", call.place ~= "" and call.place or nil }
end

--- Tells whether a `sum_over` includes an operation.
function M.counts(limit, operation)
  return not limit.operation or judge.operation(limit.operation, { operation = operation,
    row = operations.by_name[operation] or {} })
end

function judge.days(set, call, policy)
  return set[(policy.zone:day(call.now) + 3) % 7 + 1] or false -- the first day was a Thursday
end

function judge.hours(range, call, policy)
  local minute = policy.zone:minute_of_day(call.now)
  return minute >= range.from and minute < range.to
end

function judge.queue(set, call) return set[call.queue] or false end

function judge.made_by(group, call, policy)
  return call.maker and (policy.groups[group][call.maker] or false) -- who withholds a signature is not proved nobody
end

-- Tells whether all conditions hold. A sum is asked of the journal, so the sum comes last.
local function all(conditions, call, policy)
  local result = true
  for name, value in pairs(conditions) do
    local one = true
    if name ~= "sum_over" then one = judge[name](value, call, policy) end
    if one == false then return false end
    if one == nil then result = nil end
  end
  local one = not conditions.sum_over or judge.sum_over(conditions.sum_over, call)
  if one then return result end
  return one
end

--- Tells whether a rule is about a call; nil for unknown.
function M.matches(rule, call, policy)
  local result = all(rule.when, call, policy)
  if result == false then return false end
  for _, conditions in ipairs(rule.unless) do
    local except = all(conditions, call, policy)
    if except then return false end
    if except == nil then result = nil end
  end
  return result
end

-- Gives place `i` a person; others move to further places where needed.
local function give_place(i, groups, signed, holder, tried)
  for person in pairs(signed) do
    if groups[i][person] and not tried[person] then
      tried[person] = true
      if not holder[person] or give_place(holder[person], groups, signed, holder, tried) then
        holder[person] = i
        return true
      end
    end
  end
  return false
end

--- Tells whether persons fill all places of a list { group, count }, each person one place.
function M.filled(policy, approvals, signed)
  local groups, holder = {}, {}
  for _, place in ipairs(approvals) do
    for _ = 1, place.count do groups[#groups + 1] = policy.groups[place.group] end
  end
  for i = 1, #groups do
    if not give_place(i, groups, signed, holder, {}) then return false end
  end
  return true
end

local function is_met(rule, call, policy)
  if not M.filled(policy, rule.approvals, call.signed) then return false end
  return rule.wait_hours == 0 or call.waited_ms ~= nil and call.waited_ms >= rule.wait_hours * HOUR
end

local RETRY_MS = 600000

-- Tells whether conditions may change by time, or by a reading of the service's book.
local function turns(conditions, call)
  return conditions.days or conditions.hours or conditions.saved and not call.book
end

-- Returns in how many ms time alone removes a rule from the way; nil for never.
local function due_in(rule, call, policy)
  if rule.effect == "forbid" then
    local moves_on = rule.when.sum_over or turns(rule.when, call)
    for _, conditions in ipairs(rule.unless) do moves_on = moves_on or turns(conditions, call) end
    return moves_on and RETRY_MS or nil
  end
  if not call.waited_ms or not M.filled(policy, rule.approvals, call.signed) then return nil end
  return math.max(1000, rule.wait_hours * HOUR - call.waited_ms)
end

--- Returns the rules that apply to a call, in order, and whether a rule could not be judged.
---@return table[] applying, boolean is_unsure
function M.applying(policy, call)
  local list, is_unsure = {}, false
  for _, rule in ipairs(policy.rules) do
    local matched = M.matches(rule, call, policy)
    if matched or matched == nil and rule.effect ~= "allow" then list[#list + 1] = rule end
    is_unsure = is_unsure or matched == nil
  end
  return list, is_unsure
end

--- Decides about a call of M.call; `applying` are its rules, if known. Returns `ok`; names of rules: `forbidden`,
--- `unmet` (without their approvals or wait), `allowed`; `asked` (the places of `unmet`); `due_in` (ms, where only time
--- is in the way).
function M.decide(policy, call, applying)
  local decision = { forbidden = {}, unmet = {}, allowed = {}, asked = {} }
  local due, first_allow, stops = 0, math.huge, false -- ms until nothing is in the way, and until a rule allows it
  for _, rule in ipairs(applying or M.applying(policy, call)) do
    local is_allow = rule.effect == "allow"
    if rule.effect ~= "forbid" and is_met(rule, call, policy) then
      if is_allow then decision.allowed[#decision.allowed + 1] = rule.name end
    else
      local ms = due_in(rule, call, policy) or math.huge
      if is_allow then first_allow = math.min(first_allow, ms) else due, stops = math.max(due, ms), true end
      local names = rule.effect == "forbid" and decision.forbidden or decision.unmet
      names[#names + 1] = rule.name
      if names == decision.unmet then decision.asked[#names] = rule.approvals end
    end
  end
  local is_allowed = decision.allowed[1] ~= nil
  decision.ok = is_allowed and not stops
  if not is_allowed then due = math.max(due, first_allow) end
  if not decision.ok and due < math.huge then decision.due_in = due end
  return decision
end

return M
