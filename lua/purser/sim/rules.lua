-- SPDX-License-Identifier: MIT
-- The rules of each operation's parameters, written from the interface document and nothing else: the simulator
-- does not share the client's own checks, so that a mistake there is seen here.
--
-- A rule is { name, kind, required = code when missing, ... }; a kind turns the text that arrived into the value the
-- handlers use, or answers nil, code, message.

local coins = require "purser.sim.coins"
local decimal = require "purser.decimal"

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

local ACCOUNT_TYPES, IDENTIFIERS = set_of "SPOT FUTURES", set_of "EMAIL UID MOBILE"

-- Codes of a value that breaks its rule: groups A and B have one, group C another.
local function bad_value(row) return row.group == "wallet" and "33333" or "730002" end

local kinds = {}

function kinds.text(text) return text end

function kinds.new_name(text)
  if #text < 8 or #text > 32 or text:find("[^%w]") then return nil, "730601" end
  return text
end

function kinds.client_id(text)
  if #text ~= 32 or text:find("[^%w]") then return nil, nil, "must be 32 letters and digits" end
  return text
end

-- Samples of group A print FUTURE for FUTURES.
function kinds.broker_account_type(text)
  if text == "FUTURE" then return "FUTURES" end
  if not ACCOUNT_TYPES[text] then return nil, nil, "must be SPOT or FUTURES" end
  return text
end

function kinds.account_type(text)
  if not ACCOUNT_TYPES[text] then return nil, nil, "must be SPOT or FUTURES" end
  return text
end

function kinds.spot_only(text)
  if text ~= "SPOT" then return nil, nil, "must be SPOT; no other is supported" end
  return text
end

function kinds.identifier(text)
  if not IDENTIFIERS[text] then return nil, nil, "must be EMAIL, UID or MOBILE" end
  return text
end

function kinds.area_code(text)
  if not text:find("^%+?%d+$") or #text > 6 then return nil, nil, "must be digits" end
  return (text:gsub("^%+", ""))
end

function kinds.amount(text)
  if text:find("^%-%d+%.?%d*$") then return nil, "10102" end
  if not text:find("^%d+$") and not text:find("^%d+%.%d+$") then return nil, nil, "must be a plain decimal" end
  local amount = decimal(text)
  if not amount then return nil, nil, "has too many digits" end
  if amount:is_zero() then return nil, "10102" end
  return amount
end

function kinds.time(text)
  if not text:find("^[1-9]%d+$") or #text ~= 13 then return nil, nil, "must be epoch milliseconds of 13 digits" end
  return tonumber(text)
end

function kinds.count(text, rule)
  if not text:find("^%d+$") or #text > 9 then return nil, nil, "must be a whole number" end
  local count = tonumber(text)
  if count < 1 then return nil, nil, "must be at least 1" end
  if rule.max and count > rule.max then return nil, nil, ("must be at most %d"):format(rule.max) end
  return count
end

function kinds.status(text)
  if not text:find("^%d+$") or #text > 4 then return nil, nil, "must be a status number" end
  return tonumber(text)
end

-- The names by which the broker's deposit histories take a state as well.
local STATES = { SMALL = 1, TIME_DELAY = 2, LARGE_DELAY = 3, PENDING = 4, SUCCESS = 5, AUDITING = 6, REJECTED = 7 }

function kinds.named_status(text)
  if STATES[text] then return STATES[text] end
  return kinds.status(text)
end

function kinds.flag(text)
  if text ~= "true" and text ~= "false" then return nil, nil, "must be true or false" end
  return text
end

function kinds.md5(text)
  if #text ~= 32 or text:find("%X") then return nil, nil, "must be an MD5 of 32 hexadecimal digits" end
  return text:lower()
end

local function items(text)
  local list = {}
  for item in (text .. ","):gmatch("([^,]*),") do list[#list + 1] = item end
  return list
end

M.items = items

function kinds.permissions(text, rule)
  for _, name in ipairs(items(text)) do
    if not rule.of[name] then return nil, "730702", ("Permission %q does not exist"):format(name) end
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

function kinds.ips(text, rule, variant)
  local list, most = items(text), variant.ten_ips and math.min(rule.max, 10) or rule.max
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
local function must(name, kind, code) return { name, kind or "text", required = code or MANDATORY } end
local function may(name, kind) return { name, kind or "text" } end
local function count(name, default, max) return { name, "count", default = default, max = max } end

local first, last, page = may("startTime", "time"), may("endTime", "time"), count("page", 1)
local sub_name, key_note = must("subAccount", "text", "730600"), must("note", "text", "730700")
local public_key = must("apiKey", "text", "730707")
local amount, asset, coin, coin_filter = must("amount", "amount"), must "asset", must "coin", may "coin"
local status, client_id = may("status", "status"), may("clientTranId", "client_id")
local named_status = may("status", "named_status")
local from, to = may "fromAccount", may "toAccount"
local broker_from = must("fromAccountType", "broker_account_type")
local broker_to = must("toAccountType", "broker_account_type")
local from_type, to_type = must("fromAccountType", "account_type"), must("toAccountType", "account_type")
local address, memo, remark = must "address", may "memo", may "remark"

--- Operation id -> its rules.
M.by_id = {
  A1 = { client_id, from, to, broker_from, broker_to, first, last, page, count("limit", 500, 500) },
  A2 = { sub_name, must("note", "text", "730602"), may("password", "md5") },
  A3 = { may "subAccount", page, count("limit", 10, 200) },
  A4 = { sub_name },
  A5 = { sub_name, { "permissions", "permissions", required = "730701", of = PERMISSIONS },
    { "ip", "ips", max = 4 }, key_note },
  A6 = { sub_name },
  A7 = { sub_name, public_key },
  A8 = { coin, must "network" },
  A9 = { coin },
  A10 = { coin_filter, named_status, first, last, count("limit", 20), page },
  A11 = { coin_filter, named_status, first, last, count("limit", 100, 1000), page },
  A12 = { coin, must "network", address, amount, may("password", "md5"), remark },
  A13 = { client_id, from, to, broker_from, broker_to, asset, amount },
  A14 = { sub_name },
  A15 = { first, last, page, count("pageSize", 10) },
  B1 = { must("subAccount", "new_name", "730600"), must("note", "text", "730602") },
  B2 = { may "subAccount", may("isFreeze", "flag"), page, count("limit", 10, 200) },
  B3 = { sub_name, key_note, { "permissions", "permissions", required = "730701", of = FAMILY_PERMISSIONS },
    { "ip", "ips", max = 20 } },
  B4 = { sub_name },
  B5 = { sub_name, public_key },
  B6 = { client_id, from, to, from_type, to_type, asset, amount },
  B7 = { client_id, from, to, from_type, to_type, first, last, page, count("limit", 500, 500) },
  B8 = { sub_name, must("accountType", "spot_only") },
  C1 = {},
  C2 = { coin, may "withdrawOrderId", may "netWork", may "contractAddress", address, memo, amount, remark },
  C3 = { must "id" },
  C4 = { coin_filter, status, first, last, count("limit", 1000, 1000) },
  C5 = { coin_filter, status, count("limit", 1000, 1000), first, last },
  C6 = { coin, must "network" },
  C7 = { coin, may "network" },
  C8 = { coin_filter, page, count("limit", 10) },
  C9 = { from_type, to_type, asset, amount },
  C10 = { from_type, to_type, first, last, page, count("size", 10, 100) },
  C11 = { must "tranId" },
  C12 = {},
  C13 = { { "asset", "coins", required = MANDATORY, max = 15 } },
  C14 = { first, last, page, count("limit", 1, 1000) },
  C15 = { must("toAccountType", "identifier"), must "toAccount", may("areaCode", "area_code"), asset, amount },
  C16 = { first, last, page, count("limit", 10), may "tranId" },
  L1 = {}, L4 = {}, L5 = {},
  L2 = { must "accessKey" },
  L3 = { must "apiKey", { "ipWhiteList", "ips", required = MANDATORY, max = 20 }, may "note" },
  C17 = { coin, may "withdrawOrderId", may "network", address, memo, amount, remark },
}

--- Operation id -> the rules of parameters that the interface document lacks and the live service has.
M.newer = { C2 = { may("includeFee", "flag") } }

local function missing(code, name)
  return nil, code, code == MANDATORY and ("Mandatory parameter '%s' was not sent"):format(name) or nil
end

-- Checks texts by a list of rules; puts their values into `values`. Returns true, or nil, code, message.
local function check_all(row, list, texts, values, variant)
  for _, rule in ipairs(list) do
    local name, text = rule[1], texts[rule[1]]
    if text == nil or text == "" then
      if rule.required then return missing(rule.required, name) end
      values[name] = rule.default
    else
      if text:find("[%z\1-\31\127]") then return nil, "700008" end
      local value, code, message = kinds[rule[2]](text, rule, variant)
      if value == nil then
        if not code then message = ("Parameter '%s' %s"):format(name, message) end
        return nil, code or bad_value(row), message
      end
      values[name] = value
    end
  end
  return true
end

--- Checks the texts that arrived for an operation. Returns the values for its handler, or nil, code, message.
---@param row table
---@param texts table<string, string>
---@param variant table<string, boolean>|nil  the switches of the service
function M.check(row, texts, variant)
  local values = {}
  variant = variant or {}
  local ok, code, message = check_all(row, M.by_id[row.id], texts, values, variant)
  if ok and M.newer[row.id] then ok, code, message = check_all(row, M.newer[row.id], texts, values, variant) end
  if not ok then return nil, code, message end
  if variant.coins_with_network and values.coin and (row.id == "C4" or row.id == "C5") then
    local name, short = values.coin:match "^(.+)%-(.+)$"
    local network = name and coins.network(name, short, true)
    if network then values.coin, values.network = name, network.long end
  end
  if values.startTime and values.endTime and values.startTime > values.endTime then
    return nil, bad_value(row), "startTime is later than endTime"
  end
  if values.toAccountType == "MOBILE" and not values.areaCode then return missing(MANDATORY, "areaCode") end
  return values
end

M.bad_value = bad_value

return M
