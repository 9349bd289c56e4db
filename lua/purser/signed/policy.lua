-- SPDX-License-Identifier: MIT
-- A policy: who may approve what, as one file of JSON that persons sign. Its vocabulary is closed: any other word is an
-- error, so that no rule is dropped for a slip of the pen. Reading it decides nothing; rules.lua does.

local decimal = require "purser.decimal"
local files = require "purser.util.files"
local operations = require "purser.api.operations"
local plan_text = require "purser.signed.plan_text"
local sshsig = require "purser.signed.sshsig"
local suggest = require "purser.util.suggest"

local M = { KIND = "policy 1", WITHDRAWALS = "withdrawals" }

local find, format, gsub, match, upper = string.find, string.format, string.gsub, string.match, string.upper

local MAX_HOURS = 31 * 24
local DIGEST = "^" .. string.rep("%x", 64) .. "$"

local function wrong(...) error({ text = format(...) }, 0) end

local function object_of(value, name)
  if type(value) ~= "table" or value[1] ~= nil then wrong("%s is no object", name) end
  return value
end

local function list_of(value, name)
  if type(value) ~= "table" or value[1] == nil and next(value) ~= nil then wrong("%s is no list", name) end
  return value
end

-- Checks that an object has members of these names alone. `note` may stand anywhere.
local function check_members(value, words, name)
  for member in pairs(object_of(value, name)) do
    if member ~= "note" and not words[member] then
      wrong('%s has no member "%s"%s', name, tostring(member), suggest.among(tostring(member), words))
    end
  end
  return value
end

local function text_of(value, name)
  if type(value) ~= "string" or value == "" then wrong("%s is no text", name) end
  return value
end

local function name_of(value, name)
  if type(value) ~= "string" or not find(value, "^%w[%w._@-]*$") then
    wrong("%s is no name of letters, digits, dots, hyphens and underscores", name)
  end
  return value
end

local function count_of(value, name, most)
  if type(value) ~= "number" or value % 1 ~= 0 or value < 0 or value > most then
    wrong("%s is no whole number up to %d", name, most)
  end
  return value
end

local function amount_of(value, name)
  local amount = type(value) == "string" and decimal(value) or nil
  if not amount or amount:sign() < 0 then wrong("%s is no amount in quotes", name) end
  return amount
end

-- A text, or a list of texts, as a set; each goes through `read`.
local function set_of(value, name, read)
  local set = {}
  if type(value) ~= "table" then value = { value } end
  if not list_of(value, name)[1] then wrong("%s is empty", name) end
  for _, member in ipairs(value) do set[read(member, name)] = true end
  return set
end

local function minutes_of(hours, minutes, name)
  if tonumber(hours) * 60 + tonumber(minutes) > 1440 or tonumber(minutes) > 59 then wrong("%s is no time", name) end
  return tonumber(hours) * 60 + tonumber(minutes)
end

------------------------------------------------------------------------------------------------------ conditions

local DAYS = { mon = 1, tue = 2, wed = 3, thu = 4, fri = 5, sat = 6, sun = 7 }
local conditions = {}

function conditions.operation(value, name)
  return set_of(value, name, function(word)
    local row = operations.by_name[text_of(word, name)]
    if word ~= M.WITHDRAWALS and not (row and row.effect ~= "read") then
      wrong('%s: "%s" writes nothing', name, word)
    end
    return word
  end)
end

local function upper_set(value, name)
  return set_of(value, name, function(word) return upper(text_of(word, name)) end)
end

conditions.coin, conditions.network = upper_set, upper_set

function conditions.to(value, name, policy)
  return set_of(value, name, function(word)
    if not policy.addresses[text_of(word, name)] then wrong('%s: "addresses" has no "%s"', name, word) end
    return word
  end)
end

function conditions.known_days(value, name)
  return count_of(value, name, 3650)
end

function conditions.saved(value, name, policy)
  if value ~= true then wrong("%s is not true", name) end
  policy.asks_book = true
  return true
end

conditions.amount_over, conditions.amount_up_to = amount_of, amount_of

function conditions.sum_over(value, name, policy)
  policy.asks_sums = true
  check_members(value, { amount = true, hours = true, per = true }, name)
  local hours = count_of(value.hours, name .. ".hours", MAX_HOURS)
  if hours == 0 then wrong("%s.hours is 0", name) end
  if value.per ~= "account" and value.per ~= "destination" then
    wrong('%s.per is neither "account" nor "destination"', name)
  end
  return { amount = amount_of(value.amount, name .. ".amount"), hours = hours, per = value.per }
end

function conditions.days(value, name)
  return set_of(value, name, function(word) return DAYS[word] or wrong('%s: "%s" is none of mon to sun', name,
    tostring(word)) end)
end

function conditions.hours(value, name)
  local h1, m1, h2, m2 = match(text_of(value, name), "^(%d%d):(%d%d)%-(%d%d):(%d%d)$")
  if not h1 then wrong("%s is not such as 08:00-18:00", name) end
  local from, to = minutes_of(h1, m1, name), minutes_of(h2, m2, name)
  if from >= to then wrong("%s ends before it begins; write two rules", name) end
  return { from = from, to = to }
end

function conditions.queue(value, name) return set_of(value, name, text_of) end

function conditions.made_by(value, name, policy)
  if not policy.groups[text_of(value, name)] then wrong('%s: there is no group "%s"', name, value) end
  return value
end

-- The one coin of a set; nil where there are more.
local function one_coin(set)
  local coin = set and next(set)
  return coin and next(set, coin) == nil and coin or nil
end

-- Amounts are by coin: without one coin beside it a sum would be of apples and pears.
local function read_conditions(value, name, policy, outer)
  local read = {}
  for word, given in pairs(check_members(value, conditions, name)) do
    if word ~= "note" then read[word] = conditions[word](given, name .. "." .. word, policy) end
  end
  local coin = one_coin(read.coin or outer and outer.coin)
  for _, word in ipairs { "amount_over", "amount_up_to", "sum_over" } do
    if read[word] and not coin then wrong("%s has %s, and not one coin beside it", name, word) end
  end
  if read.sum_over then
    read.sum_over.coin, read.sum_over.operation = coin, read.operation or outer and outer.operation
  end
  return read
end

----------------------------------------------------------------------------------------------------------- the file

local function read_people(given)
  local people, by_key, names = {}, {}, {}
  for name in pairs(object_of(given, "people")) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local keys = given[name]
    if name ~= "note" then
      name_of(name, "a name of people")
      -- one, and the next while it is rotated
      if type(keys) ~= "table" or #keys < 1 or #keys > 2 then wrong("people.%s has not one or two keys", name) end
      people[name] = {}
      for i, line in ipairs(keys) do
        local key, message = sshsig.key(text_of(line, "people." .. name))
        if not key then wrong("people.%s: %s", name, message) end
        if by_key[key.key] then wrong("one key is %s's and %s's, or there twice", by_key[key.key], name) end
        people[name][i], by_key[key.key] = key, name
      end
    end
  end
  return people, by_key
end

local function read_groups(given, people)
  local groups = {}
  for name, members in pairs(object_of(given, "groups")) do
    if name ~= "note" then
      name_of(name, "a name of groups")
      groups[name] = set_of(members, "groups." .. name, function(person)
        return people[person] and person or wrong('groups.%s: there is no person "%s"', name, tostring(person))
      end)
    end
  end
  return groups
end

local function read_approvals(given, name, groups)
  local places = {}
  for i, place in ipairs(list_of(given, name)) do
    local at = format("%s[%d]", name, i)
    check_members(place, { group = true, count = true }, at)
    if not groups[place.group] then wrong('%s: there is no group "%s"', at, tostring(place.group)) end
    places[i] = { group = place.group, count = count_of(place.count, at .. ".count", 20) }
    if place.count == 0 then wrong("%s.count is 0", at) end
  end
  return places
end

local ADDRESS = { address = true, network = true, memo = true, contractAddress = true }

local function read_addresses(given)
  local addresses = {}
  for name, list in pairs(object_of(given, "addresses")) do
    if name ~= "note" then
      addresses[name_of(name, "a name of addresses")] = list_of(list, "addresses." .. name)
      for i, entry in ipairs(list) do
        local at = format("addresses.%s[%d]", name, i)
        text_of(check_members(entry, ADDRESS, at).address, at .. ".address")
        for member, value in pairs(entry) do text_of(value, at .. "." .. member) end
      end
    end
  end
  return addresses
end

local RULE = { name = true, effect = true, when = true, unless = true, approvals = true, wait_hours = true }
local EFFECTS = { allow = true, require = true, forbid = true }

local function read_rule(given, at, policy)
  check_members(given, RULE, at)
  local rule = { name = name_of(given.name, at .. ".name"), effect = given.effect, unless = {} }
  at = 'rule "' .. rule.name .. '"'
  if not EFFECTS[given.effect] then wrong("%s: its effect is none of allow, require and forbid", at) end
  rule.when = read_conditions(given.when or {}, at .. ": when", policy)
  for i, each in ipairs(list_of(given.unless or {}, at .. ": unless")) do
    rule.unless[i] = read_conditions(each, format("%s: unless[%d]", at, i), policy, rule.when)
    if next(rule.unless[i]) == nil then wrong("%s: unless[%d] is empty, so the rule never matches", at, i) end
  end
  rule.wait_hours = given.wait_hours and count_of(given.wait_hours, at .. ": wait_hours", MAX_HOURS) or 0
  if rule.effect == "forbid" and (given.approvals or given.wait_hours) then
    wrong("%s forbids, and no approval or wait undoes that", at)
  end
  if rule.effect == "allow" and not given.approvals then
    wrong("%s allows without a word on approvals; write []", at)
  end
  rule.approvals = read_approvals(given.approvals or {}, at .. ": approvals", policy.groups)
  if rule.effect == "require" and not rule.approvals[1] and rule.wait_hours == 0 then
    wrong("%s requires nothing", at)
  end
  return rule
end

local FILE = { purser = true, version = true, replaces = true, account = true, people = true, groups = true,
  zone = true, addresses = true, plan_days = true, change = true, rules = true }

local function zone_of(value)
  if value == nil or value == "UTC" then return 0 end
  local sign, hours, minutes = match(text_of(value, "zone"), "^([+-])(%d%d):(%d%d)$")
  if not sign or tonumber(hours) > 14 or tonumber(minutes) > 59 then wrong("zone is not such as +02:00") end
  return (sign == "-" and -1 or 1) * (tonumber(hours) * 60 + tonumber(minutes))
end

local function read_rules(given, policy)
  local rules, by_name = {}, {}
  for i, each in ipairs(list_of(given or {}, "rules")) do
    rules[i] = read_rule(each, format("rules[%d]", i), policy)
    if by_name[rules[i].name] then wrong('two rules are named "%s"', rules[i].name) end
    by_name[rules[i].name] = true
  end
  if not rules[1] then wrong("there are no rules, so nothing could be sent") end
  table.sort(rules, function(a, b) return a.name < b.name end) -- so that no order of the file can matter
  return rules
end

local function read(text)
  local given, message = files.rules_of("the policy", text)
  if not given then wrong("%s", (gsub(message, "^the policy: ", ""))) end
  if given.purser ~= M.KIND then wrong('it is not of the kind "%s"', M.KIND) end
  check_members(given, FILE, "the policy")
  local policy = { text = text, digest = plan_text.digest(text), account = text_of(given.account, "account"),
    version = count_of(given.version, "version", 1000000), replaces = given.replaces or "", zone = zone_of(given.zone) }
  if policy.version == 0 then wrong("version is 0") end
  if not find(tostring(policy.replaces), policy.version > 1 and DIGEST or "^$") then
    wrong("replaces is the digest of the version before, and version 1 has none")
  end
  policy.people, policy.by_key = read_people(given.people)
  policy.groups = read_groups(given.groups, policy.people)
  policy.addresses = read_addresses(given.addresses or {})
  policy.plan_days = given.plan_days and count_of(given.plan_days, "plan_days", 366) or 7
  check_members(given.change, { approvals = true }, "change")
  policy.change = read_approvals(given.change.approvals, "change.approvals", policy.groups)
  if not policy.change[1] then wrong("change.approvals is empty, so anybody could change the policy") end
  policy.rules = read_rules(given.rules, policy)
  return policy
end

---@class purser.Policy
---@field version integer
---@field digest string        SHA-256 of the file
---@field account string
---@field people table<string, table[]>  keys by name
---@field by_key table<string, string>   the name by the 32 bytes of a key
---@field groups table<string, table<string, boolean>>
---@field zone integer         minutes
---@field plan_days integer
---@field change table[]       who changes it: { group, count }
---@field rules table[]        sorted by name
---@field asks_sums boolean|nil  a rule asks what was sent in some hours
---@field asks_book boolean|nil  a rule asks for the service's address book

--- Reads a policy. Returns nil and a message for anything that it cannot be sure to understand.
---@param text string
---@return purser.Policy|nil policy, string|nil message
function M.read(text)
  local ok, result = pcall(read, text)
  if ok then return result end
  if type(result) ~= "table" or not result.text then error(result, 0) end
  return nil, result.text
end

--- The lines of an `allowed_signers` file, with which `ssh-keygen -Y verify` checks signatures without Purser.
---@param policy purser.Policy
---@return string
function M.signers(policy)
  local lines = {}
  for name, keys in pairs(policy.people) do
    for _, key in ipairs(keys) do lines[#lines + 1] = name .. " " .. key.text .. "\n" end
  end
  table.sort(lines)
  return table.concat(lines)
end

--- The persons of a policy who signed a text for a purpose, by name: of several signatures each person counts once.
--- Also whether any signature is of somebody else, or is none.
---@param policy purser.Policy
---@param namespace string
---@param text string
---@param signatures string[]
---@return table<string, boolean> persons, boolean others
function M.persons(policy, namespace, text, signatures)
  local persons, others = {}, false
  for _, armoured in ipairs(signatures) do
    local signature = sshsig.read(armoured)
    local person = signature and sshsig.verify(signature, namespace, text) and policy.by_key[signature.public.key]
    if person then persons[person] = true else others = true end
  end
  return persons, others
end

M.CONDITIONS, M.DAYS = conditions, DAYS

return M
