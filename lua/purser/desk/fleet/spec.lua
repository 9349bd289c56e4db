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

-- Returns three functions: note(message, hint) adds a problem, check_words checks options by rules, and check_value
-- checks a value as parameter `name` of an operation (`label`: the name in the declaration).
local function noting(problems, client)
  local function note(message, hint) problems[#problems + 1] = hint and message .. " (" .. hint .. ")" or message end
  local function check_words(where, given, rules)
    for _, found in ipairs(option_schema.all(given, rules, where)) do note(found[1], found[3]) end
  end
  local function check_value(where, operation, name, value, label)
    local fits, message, hint = client:check_value(operation, name, value)
    if not fits then note(("%s: %s %s"):format(where, label or name, message), hint) end
  end
  return note, check_words, check_value
end

local function check_keys(note, check_words, check_value, group, account, where)
  local seen = {}
  if not option_schema.is_list(account.keys) then note(where .. ": keys is no plain list") end
  for i, key in ipairs(account.keys) do
    local here = ("%s key %d"):format(where, i)
    if type(key) ~= "table" then note(here .. " must be a table") else
      check_words(here .. ": option", key, key_rules)
      for _, name in ipairs { "note", "permissions", "ip" } do
        check_value(here, group .. ".create_api_key", name, key[name])
      end
      local text = type(key.note) == "string" and key.note or ""
      if seen[text] then note(("%s: the note %q is there twice"):format(here, text)) end
      if text:find("#", 1, true) then note(here .. ": a note must not hold #") end
      seen[text] = text ~= ""
    end
  end
end

-- Returns the problems; equal ones of many accounts as one.
local function grouped(problems)
  local list, first, count = {}, {}, {}
  for _, text in ipairs(problems) do
    local words = text:match "^account .-: (.*)$" or text
    count[words] = (count[words] or 0) + 1
    if count[words] == 1 then list[#list + 1], first[#list + 1] = text, words end
  end
  for i, words in ipairs(first) do
    if count[words] > 1 then list[i] = ("%s (and %d more like that)"):format(list[i], count[words] - 1) end
  end
  return list
end

--- Returns the problems of a declaration.
function M.check(given)
  if type(given) ~= "table" then return { "a fleet is declared by a table" } end
  local problems, group, client, vault = {}, given.group or "sub_account", given.client, given.vault
  local note, check_words, check_value = noting(problems, client)
  check_words("fleet option", given, fleet_rules)
  if group ~= "sub_account" and group ~= "broker" then
    note(('fleet: group is %s; it must be "sub_account" or "broker"'):format(
      type(group) == "string" and ('"%s"'):format(group) or "a " .. type(group)))
    return problems
  elseif getmetatable(client) ~= "purser.client" then
    note "fleet: client is missing, or is not one that purser.new made"
    return problems
  end
  if type(vault) ~= "function" and not (type(vault) == "table" and type(vault.store) == "function") then
    note "fleet: vault is missing: a function that keeps a secret, or { store =, holds = }"
  end
  local operation, seen, accounts = group .. ".create_sub_account", {}, given.accounts
  if type(accounts) ~= "table" then accounts = {} end
  if not option_schema.is_list(accounts) then note "fleet: accounts is no plain list" end
  for i, account in ipairs(accounts) do
    local where = ("account %d"):format(i)
    if type(account) ~= "table" then note(where .. " must be a table") else
      if type(account.name) == "string" then where = "account " .. account.name end
      check_words(where .. ": option", account, account_rules)
      check_value(where, operation, "subAccount", account.name, "name")
      if account.note then check_value(where, operation, "note", account.note) end
      if seen[account.name or ""] then note(where .. " is there twice") end
      seen[account.name or ""] = true
      if account.futures and group ~= "broker" then note(where .. ": only a broker enables futures") end
      if type(account.keys) == "table" then check_keys(note, check_words, check_value, group, account, where) end
    end
  end
  return grouped(problems)
end

return M
