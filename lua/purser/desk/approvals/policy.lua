-- SPDX-License-Identifier: MIT
-- A policy: who may approve what, as a file of JSON that persons sign. Any other word is an error, so a slip of the pen
-- drops no rule. rules.lua decides.

local decimal = require "purser.decimal"
local files = require "purser.client.util.files"
local json_tree = require "purser.client.util.json_tree"
local names_of = require "purser.client.util.names_of"
local operations = require "purser.client.operations"
local plan_text = require "purser.desk.approvals.plan_text"
local sshsig = require "purser.desk.approvals.sshsig"
local suggest = require "purser.client.util.suggest"
local zones = require "purser.client.util.zone"

local M = {}

local find, floor, format, gsub, match, upper = string.find, math.floor, string.format, string.gsub, string.match,
  string.upper

local wrong = plan_text.wrong

local MAX_HOURS = 31 * 24
local LIST = {} -- the metatable of what the file has as a list: an empty one is no empty object
local DIGEST = "^" .. string.rep("%x", 64) .. "$"

-- A reader takes a value (nil: absent), the value's place in words, and the policy as far as read. Types are checked
-- first, as false is no absent value. A reader returns what is kept, or raises `wrong`.

local function is_list(value) return type(value) == "table" and getmetatable(value) == LIST end

local function optional(read, default)
  return function(value, ...)
    if value == nil then return default end
    return read(value, ...)
  end
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

local function whole(least, most)
  return function(value, name)
    if type(value) ~= "number" or value % 1 ~= 0 or value < 0 or value > most then
      wrong("%s is no whole number up to %d", name, most)
    end
    if value < least then wrong("%s is %d", name, value) end
    return floor(value)
  end
end

local function amount_of(value, name)
  local amount = type(value) == "string" and decimal(value) or nil
  if not amount or amount:sign() < 0 then wrong("%s is no amount in quotes", name) end
  return amount
end

local function is_true(value, name) return value == true or wrong("%s is not true", name) end

-- Reads one of these words, as the value of the word.
local function one_of(words, name_of_words)
  return function(value, name)
    return words[value] or wrong('%s: "%s" is none of %s', name, tostring(value), name_of_words)
  end
end

local function list_of(read)
  return function(value, name, policy)
    if not is_list(value) then wrong("%s is no list", name) end
    local list = {}
    for i, each in ipairs(value) do list[i] = read(each, format("%s[%d]", name, i), policy) end
    return list
  end
end

-- Reads a value, or a list of values, as a set.
local function set_of(read)
  local read_list = list_of(read)
  return function(value, name, policy)
    local set = {}
    local list = type(value) == "table" and value or setmetatable({ value }, LIST)
    for _, member in ipairs(read_list(list, name, policy)) do set[member] = true end
    if next(set) == nil then wrong("%s is empty", name) end
    return set
  end
end

-- Calls fn(member) for each member of an object, in order. `note` may stand anywhere.
local function each_member(value, name, fn)
  if type(value) ~= "table" or is_list(value) then wrong("%s is no object", name) end
  for _, member in ipairs(names_of(value)) do
    if member ~= "note" then fn(member) end
  end
end

-- Reads an object with names of the file's own; an empty object where the file has none.
local function map_of(read)
  return optional(function(value, name, policy)
    local map = {}
    each_member(value, name, function(member)
      name_of(member, "a name of " .. name)
      map[member] = read(value[member], name .. "." .. member, policy, member)
    end)
    return map
  end, {})
end

-- Reads an object with these members: a list of { name, reader }, in this order. The policy's own readers get the part
-- that was read.
local function object_of(members)
  local known = {}
  for _, member in ipairs(members) do known[member[1]] = true end
  return function(value, name, policy)
    each_member(value, name, function(member)
      if not known[member] then wrong('%s may have no member "%s"%s', name, member, suggest.among(member, known)) end
    end)
    local read = {}
    for _, member in ipairs(members) do
      local place = policy and name .. "." .. member[1] or member[1]
      read[member[1]] = member[2](value[member[1]], place, policy or read)
    end
    return read
  end
end

local function known_in(part)
  return function(value, name, policy)
    if type(value) == "string" and policy[part][value] then return value end
    wrong('%s: "%s" has no "%s"', name, part, tostring(value))
  end
end

local function operation_of(word, name)
  local row = operations.by_name[text_of(word, name)]
  if word ~= "withdrawals" and not (row and row.effect ~= "read") then wrong('%s: "%s" writes nothing', name, word) end
  return word
end

local function upper_of(word, name) return upper(text_of(word, name)) end

-- Reads the name of a network, and notes the name: the list of coins is asked where common names do not suffice.
local function network_of(word, name, policy)
  local network = upper_of(word, name)
  policy.networks = policy.networks or {}
  policy.networks[network] = true
  return network
end

local function minutes_of(hours, minutes, name)
  local count = tonumber(hours) * 60 + tonumber(minutes)
  return count <= 1440 and tonumber(minutes) < 60 and count or wrong("%s is no time", name)
end

local function hours_of(value, name)
  local h1, m1, h2, m2 = match(text_of(value, name), "^(%d%d):(%d%d)%-(%d%d):(%d%d)$")
  if not h1 then wrong("%s is not such as 08:00-18:00", name) end
  local from, to = minutes_of(h1, m1, name), minutes_of(h2, m2, name)
  if from >= to then wrong("%s ends before it begins; write two rules", name) end
  return { from = from, to = to }
end

local conditions = {
  operation = set_of(operation_of), coin = set_of(upper_of), network = set_of(network_of), queue = set_of(text_of),
  to = set_of(known_in "addresses"), known_days = whole(0, 3650), saved = is_true,
  amount_over = amount_of, amount_up_to = amount_of,
  sum_over = object_of { { "amount", amount_of }, { "hours", whole(1, MAX_HOURS) },
    { "per", one_of({ account = "account", destination = "destination" }, "account and destination") } },
  days = set_of(one_of({ mon = 1, tue = 2, wed = 3, thu = 4, fri = 5, sat = 6, sun = 7 }, "mon to sun")),
  hours = hours_of, made_by = known_in "groups",
}

-- Reads the conditions of a rule; `outer` hold, too. An amount needs one coin beside it.
local function conditions_of(value, name, policy, outer)
  local read = {}
  each_member(value == nil and {} or value, name, function(word)
    if not conditions[word] then wrong('%s may have no member "%s"%s', name, word, suggest.among(word, conditions)) end
    read[word] = conditions[word](value[word], name .. "." .. word, policy)
  end)
  local coins = read.coin or outer and outer.coin or {}
  local coin = next(coins)
  if coin and next(coins, coin) ~= nil then coin = nil end
  for _, word in ipairs { "amount_over", "amount_up_to", "sum_over" } do
    if read[word] and not coin then wrong("%s has %s, and not one coin beside it", name, word) end
  end
  if read.sum_over then
    read.sum_over.coin, read.sum_over.operation = coin, read.operation or outer and outer.operation
  end
  policy.asks_sums, policy.asks_book = policy.asks_sums or read.sum_over ~= nil, policy.asks_book or read.saved
  policy.asks_known = policy.asks_known or read.known_days ~= nil
  return read
end

-- Reads one or two keys of a person. No two persons share a key.
local function keys_of(value, name, policy, person)
  if not is_list(value) or #value < 1 or #value > 2 then wrong("%s has not one or two keys", name) end
  policy.by_key = policy.by_key or {}
  local keys = {}
  for i, line in ipairs(value) do
    local key, message = sshsig.key(text_of(line, name))
    if not key then wrong("%s: %s", name, message) end
    local other = policy.by_key[key.key]
    if other then wrong("one key is %s's and %s's, or there twice", other, person) end
    keys[i], policy.by_key[key.key] = key, person
  end
  return keys
end

local places_of = list_of(object_of { { "group", known_in "groups" }, { "count", whole(1, 20) } })

local read_rule = object_of { { "name", name_of },
  { "effect", one_of({ allow = "allow", require = "require", forbid = "forbid" }, "allow, require and forbid") },
  { "when", conditions_of }, { "unless", function(value) return value end },
  { "approvals", optional(places_of) }, { "wait_hours", optional(whole(0, MAX_HOURS)) } }

local function rule_of(given, at, policy)
  if type(given) == "table" and type(given.name) == "string" then at = 'rule "' .. given.name .. '"' end
  local rule = read_rule(given, at, policy)
  rule.unless = optional(list_of(function(each, name)
    local read = conditions_of(each, name, policy, rule.when)
    return next(read) and read or wrong("%s is empty, so the rule never matches", name)
  end), {})(rule.unless, at .. ".unless")
  if rule.effect == "forbid" and (rule.approvals or rule.wait_hours) then
    wrong("%s forbids, and no approval or wait undoes that", at)
  end
  if rule.effect == "allow" and not rule.approvals then
    wrong("%s allows without a word on approvals; write []", at)
  end
  rule.approvals, rule.wait_hours = rule.approvals or {}, rule.wait_hours or 0
  if rule.effect == "require" and not rule.approvals[1] and rule.wait_hours == 0 then
    wrong("%s requires nothing", at)
  end
  return rule
end

local function zone_of(value, name)
  local zone, message = zones.open(value == nil and "UTC" or text_of(value, name))
  return zone or wrong("%s", message)
end

-- Reads the rules, sorted by name: no order of the file matters.
local function rules_of(value, name, policy)
  local rules, seen = optional(list_of(rule_of), {})(value, name, policy), {}
  if not rules[1] then wrong("there are no rules, so nothing could be sent") end
  table.sort(rules, function(a, b) return a.name < b.name end)
  for _, rule in ipairs(rules) do
    if seen[rule.name] then wrong('two rules are named "%s"', rule.name) end
    seen[rule.name] = true
  end
  return rules
end

local function replaces_of(value, _, policy)
  if policy.version == 1 and value == nil then return nil end
  if policy.version > 1 and type(value) == "string" and find(value, DIGEST) then return value end
  wrong("replaces is the digest of the version before, and version 1 has none")
end

local function change_of(value, name, policy)
  local change = object_of { { "approvals", places_of } }(value, name, policy)
  if not change.approvals[1] then wrong("change.approvals is empty, so anybody could change the policy") end
  return change.approvals
end

local read_file = object_of {
  { "purser", one_of({ ["policy 1"] = "policy 1" }, "the kinds of policies") }, { "account", text_of },
  { "version", whole(1, 1000000) }, { "replaces", replaces_of }, { "zone", zone_of },
  { "people", map_of(keys_of) },
  { "groups", map_of(set_of(known_in "people")) },
  { "addresses", map_of(list_of(object_of { { "address", text_of }, { "network", optional(network_of) },
    { "memo", optional(text_of) }, { "contractAddress", optional(text_of) } })) },
  { "plan_days", optional(whole(0, 366), 7) }, { "change", change_of }, { "rules", rules_of },
}

local function read(text)
  if type(text) ~= "string" then wrong("it is a %s, and no text", type(text)) end
  local given, message = files.rules_of("the policy", text)
  if not given then wrong("%s", (gsub(message, "^the policy: ", ""))) end
  local policy = read_file(json_tree.value(json_tree.read(text), LIST), "the policy")
  policy.text, policy.digest, policy.by_key = text, plan_text.digest(text), policy.by_key or {}
  return policy
end

--- Reads a policy. Returns the members of the file, text, digest, `by_key` (names by the 32 bytes of a key),
--- `asks_sums`, `asks_book`, `asks_known` and `networks` (all names); or nil and a message for anything doubtful.
---@return table|nil policy, string|nil message
function M.read(text) return plan_text.protected(read, text) end

--- Returns the lines of an `allowed_signers` file for `ssh-keygen -Y verify`.
function M.signers(policy)
  local lines = {}
  for name, keys in pairs(policy.people) do
    for _, key in ipairs(keys) do lines[#lines + 1] = name .. " " .. key.text .. "\n" end
  end
  table.sort(lines)
  return table.concat(lines)
end

return M
