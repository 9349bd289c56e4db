-- SPDX-License-Identifier: MIT
-- Checks the declaration of a fleet: every problem at once.

local option_schema = require "purser.client.util.option_schema"

local M = {}

---@class purser.FleetOptions
---@field client purser.Client
---@field group "sub_account"|"broker"|nil  default "sub_account"
---@field vault purser.Vault|fun(secret: purser.FleetSecret): boolean|nil  keeps a secret; raises, or returns false or
--- nil and a message, when it cannot
---@field accounts purser.FleetAccount[]|nil

---@class purser.FleetAccount
---@field name string
---@field note string|nil  default: the name
---@field keys purser.FleetKeyOptions[]|nil
---@field futures boolean|nil  a broker's: whether futures are to be enabled

---@class purser.FleetKeyOptions
---@field note string
---@field permissions string[]
---@field ip string[]|nil

---@class purser.FleetSecret
---@field account string
---@field note string
---@field apiKey string
---@field secretKey string
---@field permissions string|nil
---@field ip string|nil

---@class purser.Vault
---@field store fun(secret: purser.FleetSecret): boolean|nil  keeps a secret; raises, or returns false or nil and a
--- message, when it cannot
---@field holds (fun(api_key: string): boolean)|nil  whether it has the secret of a key; nil and
--- a message where that is not known

local fleet_rules = { client = "table", group = "string", vault = "function or table", accounts = "table" }
local account_rules = { name = "string", note = "string", keys = "table", futures = "boolean" }
local key_rules = { note = "string", permissions = "table", ip = "table" }

local function sentence(message, hint)
  return hint and message .. " (" .. hint .. ")" or message
end

local function check_words(where, given, rules, problems)
  for _, found in ipairs(option_schema.all(given, rules, where)) do
    problems[#problems + 1] = sentence(found[1], found[3])
  end
end

-- Checks a value as the operation's parameter `name`; the declaration calls it `label`.
local function check_value(client, where, operation, name, value, problems, label)
  local fits, message, hint = client:check_value(operation, name, value)
  if not fits then problems[#problems + 1] = sentence(("%s: %s %s"):format(where, label or name, message), hint) end
end

local function check_keys(client, group, account, where, problems)
  local operation, seen = group .. ".create_api_key", {}
  if not option_schema.is_list(account.keys) then
    problems[#problems + 1] = where .. ": keys is no plain list"
  end
  for i, key in ipairs(account.keys) do
    local here = ("%s key %d"):format(where, i)
    if type(key) ~= "table" then
      problems[#problems + 1] = here .. " must be a table"
    else
      check_words(here .. ": option", key, key_rules, problems)
      for _, name in ipairs { "note", "permissions", "ip" } do
        check_value(client, here, operation, name, key[name], problems)
      end
      if type(key.note) == "string" then
        if seen[key.note] then problems[#problems + 1] = ("%s: the note %q is there twice"):format(here, key.note) end
        if key.note:find("#", 1, true) then problems[#problems + 1] = here .. ": a note must not hold #" end
        seen[key.note] = true
      end
    end
  end
end

-- Returns the problems; equal ones of many accounts as one.
local function grouped(problems)
  local list, by_words = {}, {}
  for _, text in ipairs(problems) do
    local words = text:match "^account .-: (.*)$" or text
    local group = by_words[words]
    if group then group.more = group.more + 1 else
      by_words[words] = { text = text, more = 0 }
      list[#list + 1] = by_words[words]
    end
  end
  for i, group in ipairs(list) do
    list[i] = group.text .. (group.more > 0 and (" (and %d more like that)"):format(group.more) or "")
  end
  return list
end

--- Returns the problems of a declaration.
function M.check(given)
  local problems = {}
  if type(given) ~= "table" then return { "a fleet is declared by a table" } end
  check_words("fleet option", given, fleet_rules, problems)
  local group, client, vault = given.group or "sub_account", given.client, given.vault
  if group ~= "sub_account" and group ~= "broker" then
    problems[#problems + 1] = ('fleet: group is %s; it must be "sub_account" or "broker"'):format(
      type(group) == "string" and ('"%s"'):format(group) or "a " .. type(group))
    return problems
  elseif getmetatable(client) ~= "purser.client" then
    problems[#problems + 1] = "fleet: client is missing, or is not one that purser.new made"
    return problems
  end
  if type(vault) ~= "function" and not (type(vault) == "table" and type(vault.store) == "function") then
    problems[#problems + 1] = "fleet: vault is missing: a function that keeps a secret, or { store =, holds = }"
  end
  local operation, seen = group .. ".create_sub_account", {}
  local accounts = type(given.accounts) == "table" and given.accounts or {}
  if not option_schema.is_list(accounts) then problems[#problems + 1] = "fleet: accounts is no plain list" end
  for i, account in ipairs(accounts) do
    local where = ("account %d"):format(i)
    if type(account) ~= "table" then
      problems[#problems + 1] = where .. " must be a table"
    else
      if type(account.name) == "string" then where = "account " .. account.name end
      check_words(where .. ": option", account, account_rules, problems)
      check_value(client, where, operation, "subAccount", account.name, problems, "name")
      if account.note then check_value(client, where, operation, "note", account.note, problems) end
      if seen[account.name or ""] then problems[#problems + 1] = where .. " is there twice" end
      seen[account.name or ""] = true
      if account.futures and group ~= "broker" then
        problems[#problems + 1] = where .. ": only a broker enables futures"
      end
      if type(account.keys) == "table" then check_keys(client, group, account, where, problems) end
    end
  end
  return grouped(problems)
end

return M
