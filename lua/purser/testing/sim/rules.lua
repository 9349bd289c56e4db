-- SPDX-License-Identifier: MIT
-- Checks the parameters of each operation by the rows. Texts and codes come from the interface document, so a mistake
-- of the client's checks shows; spec/support/contract.lua shows a slip in a row.
--
-- A rule is { name, kind, required = code when missing, ... }; a kind turns a text into a value, or returns nil, code,
-- message.

local coins = require "purser.testing.sim.coins"
local decimal = require "purser.decimal"
local rejection = require "purser.testing.sim.rejection"

local M = {}

local function set_of(words)
  local set = {}
  for word in words:gmatch("%S+") do set[word] = true end
  return set
end

local FAMILY = "SPOT_ACCOUNT_READ SPOT_ACCOUNT_WRITE SPOT_DEAL_READ SPOT_DEAL_WRITE CONTRACT_ACCOUNT_READ "
  .. "CONTRACT_ACCOUNT_WRITE CONTRACT_DEAL_READ CONTRACT_DEAL_WRITE SPOT_TRANSFER_READ SPOT_TRANSFER_WRITE"
local BROKER = FAMILY .. " SPOT_WITHDRAW_READ SPOT_WITHDRAW_WRITE SPOT_DEPOSIT_READ SPOT_DEPOSIT_WRITE"

local FAMILY_PERMISSIONS, PERMISSIONS = set_of(FAMILY), set_of(BROKER)

--- The names of all permissions that exist, joined by commas.
M.all_permissions = BROKER:gsub(" ", ",")

-- Codes of a value that breaks its rule: groups A and B have one, group C another.
local function bad_value(row) return row.group == "wallet" and "33333" or "730002" end

local kinds = {}

function kinds.text(text) return text end

-- Kinds of text: a pattern, the least and the greatest length, the requirement in words, and a conversion. The code is
-- the code of the parameter's group, or `code`.
local forms = {
  new_name = { "^%w+$", 8, 32, code = "730601" },
  client_id = { "^%w+$", 32, 32, "must be 32 letters and digits" },
  area_code = { "^%+?%d+$", 1, 6, "must be digits", function(text) return (text:gsub("^%+", "")) end },
  time = { "^[1-9]%d+$", 13, 13, "must be epoch milliseconds of 13 digits", tonumber },
  status = { "^%d+$", 1, 4, "must be a status number", tonumber },
  md5 = { "^%x+$", 32, 32, "must be an MD5 of 32 hexadecimal digits", string.lower },
}
for kind, form in pairs(forms) do
  kinds[kind] = function(text)
    if #text < form[2] or #text > form[3] or not text:find(form[1]) then return nil, form.code, form[4] end
    return form[5] and form[5](text) or text
  end
end

-- Kinds of a few words: the meanings of words, and the requirement in words.
local words = {
  -- samples of group A print FUTURE for FUTURES
  broker_account_type = { { SPOT = "SPOT", FUTURES = "FUTURES", FUTURE = "FUTURES" }, "must be SPOT or FUTURES" },
  choice = { { SPOT = "SPOT", FUTURES = "FUTURES" }, "must be SPOT or FUTURES" },
  identifier_type = { { EMAIL = "EMAIL", UID = "UID", MOBILE = "MOBILE" }, "must be EMAIL, UID or MOBILE" },
  spot_only = { { SPOT = "SPOT" }, "must be SPOT; no other is supported" },
  flag = { { ["true"] = "true", ["false"] = "false" }, "must be true or false" },
}
for kind, one in pairs(words) do
  kinds[kind] = function(text) return one[1][text], nil, one[2] end
end

function kinds.amount(text)
  if text:find("^%-%d+%.?%d*$") then return nil, "10102" end
  if not text:find("^%d+$") and not text:find("^%d+%.%d+$") then return nil, nil, "must be a plain decimal" end
  local amount = decimal(text)
  if not amount then return nil, nil, "has too many digits" end
  if amount:is_zero() then return nil, "10102" end
  return amount
end

function kinds.count(text, rule)
  if not text:find("^%d+$") or #text > 9 then return nil, nil, "must be a whole number" end
  local count = tonumber(text)
  if count < 1 then return nil, nil, "must be at least 1" end
  if rule.max and count > rule.max then return nil, nil, ("must be at most %d"):format(rule.max) end
  return count
end

-- The names by which the broker's deposit histories take a state as well.
local STATES = { SMALL = 1, TIME_DELAY = 2, LARGE_DELAY = 3, PENDING = 4, SUCCESS = 5, AUDITING = 6, REJECTED = 7 }

function kinds.named_status(text)
  if STATES[text] then return STATES[text] end
  return kinds.status(text)
end

local function items(text)
  local list = {}
  for item in (text .. ","):gmatch("([^,]*),") do list[#list + 1] = item end
  return list
end

function kinds.permissions(text, rule)
  for _, name in ipairs(items(text)) do
    if not (rule.row.group == "broker" and PERMISSIONS or FAMILY_PERMISSIONS)[name] then
      return nil, "730702", ("Permission %q does not exist"):format(name)
    end
  end
  return text
end

local function is_ip(text)
  local parts = { text:match("^(%d+)%.(%d+)%.(%d+)%.(%d+)$") }
  if #parts == 4 then
    for _, part in ipairs(parts) do
      if #part > 3 or tonumber(part) > 255 then return false end
    end
    return true
  end
  if not text:find("^[%x:]+$") or not text:find(":.*:") or text:find(":::", 1, true) then return false end
  local _, gaps = text:gsub("::", "")
  local groups = 0
  for group in text:gmatch("%x+") do
    if #group > 4 then return false end
    groups = groups + 1
  end
  return gaps == 1 and groups < 8 or gaps == 0 and groups == 8
end

function kinds.ips(text, rule, is_live)
  local list, most = items(text), is_live and math.min(rule.max, 10) or rule.max
  if #list > most then return nil, "730703", ("At most %d IP addresses are allowed"):format(most) end
  for _, ip in ipairs(list) do
    if not is_ip(ip) then return nil, "730704" end
  end
  return text
end

function kinds.coins(text, rule)
  local list = items(text)
  if #list > rule.max then return nil, nil, ("holds %d coins; at most %d are allowed"):format(#list, rule.max) end
  for _, coin in ipairs(list) do
    if coin == "" then return nil, nil, "holds an empty coin" end
  end
  return list
end

local MANDATORY = "700004"
-- The codes of parameters that are missing, where it is not MANDATORY.
local missing_codes = { subAccount = "730600", note = "730700", permissions = "730701", apiKey = "730707" }
-- Parameters of which the simulator knows more than the row says, by operation id and name.
local special = {
  ["A1 fromAccountType"] = "broker_account_type", ["A1 toAccountType"] = "broker_account_type",
  ["A13 fromAccountType"] = "broker_account_type", ["A13 toAccountType"] = "broker_account_type",
  ["B8 accountType"] = "spot_only", ["C15 toAccountType"] = "identifier_type",
}

local function rule_of(row, param)
  local name, kind, code = param[1], param[2], nil
  if param.required then code = row.group ~= "live" and missing_codes[name] or MANDATORY end
  if code and name == "note" and row.name == "create_sub_account" then code = "730602" end
  return {
    row = row, name = name, kind = kinds[special[row.id .. " " .. name] or kind] or kinds.text, required = code,
    default = param.default or kind == "count" and 10 or nil, max = param.max,
  }
end

local by_id = {}

-- Returns the rules of a row; made at the first request.
local function rules_of(row)
  local rules = by_id[row.id]
  if not rules then
    rules = {}
    for i, param in ipairs(row.params) do rules[i] = rule_of(row, param) end
    -- The live service takes it; the interface document lacks it.
    if row.id == "C2" then rules[#rules + 1] = rule_of(row, { "includeFee", "flag" }) end
    by_id[row.id] = rules
  end
  return rules
end

local function check_missing(code, name)
  if code == MANDATORY then rejection.lacks(name) elseif code then rejection.raise(code) end
end

-- Returns the value of a text by its rule.
local function value_of(rule, text, is_live)
  if text == nil or text == "" then
    check_missing(rule.required, rule.name)
    return rule.default
  end
  if text:find("[%z\1-\31\127]") then rejection.raise "700008" end
  local value, code, message = rule.kind(text, rule, is_live)
  if value ~= nil then return value end
  if code then rejection.raise(code, message) end
  rejection.raise(bad_value(rule.row), ("Parameter '%s' %s"):format(rule.name, message))
end

--- Checks the texts that arrived for an operation. Returns the values for its handler.
---@param row table
---@param texts table<string, string>
---@param is_live boolean|nil  whether the service behaves as the live one
---@return table<string, any>
function M.check(row, texts, is_live)
  local values = {}
  for _, rule in ipairs(rules_of(row)) do values[rule.name] = value_of(rule, texts[rule.name], is_live) end
  if is_live and values.coin and (row.id == "C4" or row.id == "C5") then
    local name, short = values.coin:match "^(.+)%-(.+)$"
    local network = name and coins.network(name, short, true)
    if network then values.coin, values.network = name, network.long end
  end
  if values.startTime and values.endTime and values.startTime > values.endTime then
    rejection.raise(bad_value(row), "startTime is later than endTime")
  end
  if values.toAccountType == "MOBILE" and not values.areaCode then rejection.lacks "areaCode" end
  return values
end

M.bad_value = bad_value

return M
