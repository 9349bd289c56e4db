-- SPDX-License-Identifier: MIT
-- The kinds of parameters: what a value must look like, and how it travels.
--
-- A kind is { text = what the documentation says, check = function(value, param) -> wire value | nil, complaint }.
-- A complaint completes the sentence `parameter "x" ...` and names the cure.

local M = {}

local floor = math.floor

-- Far above anything the service could store, far below what a request line can carry.
local MAX_TEXT_BYTES = 1024

M.choices = {
  account_types = { "SPOT", "FUTURES" },
  identifier_types = { "EMAIL", "UID", "MOBILE" },
  permissions = {
    "SPOT_ACCOUNT_READ", "SPOT_ACCOUNT_WRITE", "SPOT_DEAL_READ", "SPOT_DEAL_WRITE", "CONTRACT_ACCOUNT_READ",
    "CONTRACT_ACCOUNT_WRITE", "CONTRACT_DEAL_READ", "CONTRACT_DEAL_WRITE", "SPOT_TRANSFER_READ",
    "SPOT_TRANSFER_WRITE",
  },
  broker_permissions = {
    "SPOT_ACCOUNT_READ", "SPOT_ACCOUNT_WRITE", "SPOT_DEAL_READ", "SPOT_DEAL_WRITE", "CONTRACT_ACCOUNT_READ",
    "CONTRACT_ACCOUNT_WRITE", "CONTRACT_DEAL_READ", "CONTRACT_DEAL_WRITE", "SPOT_TRANSFER_READ",
    "SPOT_TRANSFER_WRITE", "SPOT_WITHDRAW_READ", "SPOT_WITHDRAW_WRITE", "SPOT_DEPOSIT_READ", "SPOT_DEPOSIT_WRITE",
  },
  -- The state of each number, from 1.
  deposit_states = {
    "SMALL", "TIME_DELAY", "LARGE_DELAY", "PENDING", "SUCCESS", "AUDITING", "REJECTED", "REFUND", "PRE_SUCCESS",
    "INVALID", "RESTRICTED", "COMPLETED",
  },
  withdrawal_states = {
    "APPLY", "AUDITING", "WAIT", "PROCESSING", "WAIT_PACKAGING", "WAIT_CONFIRM", "SUCCESS", "FAILED", "CANCEL",
    "MANUAL",
  },
}

-- Integers are told from floats where the host can (5.3 on); elsewhere a number with an integral value is one.
local math_type = math.type or function(number) return floor(number) == number and "integer" or "float" end

-- The digits of a number that is an exact integer on this host, or nil.
local function digits_of(number)
  if math_type(number) ~= "integer" then return nil end
  if not math.type and (number > 2 ^ 53 or number < -2 ^ 53) then return nil end
  return ("%d"):format(number)
end

-- The length of the well-formed UTF-8 sequence beyond ASCII that begins at `at`, or nil.
local function utf8_length(text, at)
  local lead, second = text:byte(at, at + 1)
  if not second then return nil end
  local low, high, more = 0x80, 0xBF, nil
  if lead >= 0xC2 and lead <= 0xDF then more = 0
  elseif lead >= 0xE0 and lead <= 0xEF then
    more = 1
    if lead == 0xE0 then low = 0xA0 elseif lead == 0xED then high = 0x9F end
  elseif lead >= 0xF0 and lead <= 0xF4 then
    more = 2
    if lead == 0xF0 then low = 0x90 elseif lead == 0xF4 then high = 0x8F end
  end
  if not more or second < low or second > high then return nil end
  if not text:find("^" .. ("[\128-\191]"):rep(more), at + 2) then return nil end
  return 2 + more
end

local function is_utf8(text)
  local at = text:find("[\128-\255]")
  while at do
    local length = utf8_length(text, at)
    if not length then return false end
    at = text:find("[\128-\255]", at + length)
  end
  return true
end

M.is_utf8 = is_utf8

-- What every text must be, whatever its kind. Returns the text, or nil and a complaint; and third whether it holds
-- letters and digits alone.
local function clean_text(value)
  if type(value) == "number" then
    local digits = digits_of(value)
    if not digits then return nil, "is a float; pass it as a string" end
    return digits
  end
  if type(value) ~= "string" then return nil, ("is a %s; pass a string"):format(type(value)) end
  if value == "" then return nil, "is empty; give it a value or leave it out" end
  if #value > MAX_TEXT_BYTES then
    return nil, ("is %d bytes long; at most %d are sent"):format(#value, MAX_TEXT_BYTES)
  end
  if value:find("^[0-9A-Za-z]+$") then return value, nil, true end -- most texts are, and it is found out quickly
  if value:find("[%z\1-\31\127]") then return nil, "holds a control character (line break, tab, NUL); remove it" end
  if not is_utf8(value) then return nil, "is not valid UTF-8; convert it" end
  return value
end

local function one_of(value, names)
  for _, name in ipairs(names) do
    if name == value then return value end
  end
  local hint = require("purser.nearest").hint(value, names)
  return nil, ('is "%s"%s; allowed are %s'):format(value, hint, table.concat(names, ", "))
end

--- Milliseconds of 2001-09-09 and 2286-11-20: the times that have 13 digits.
local FIRST_TIME, LAST_TIME = 1000000000000, 9999999999999

local function integer_of(value)
  if type(value) == "number" then return digits_of(value) and value end
  return type(value) == "string" and #value <= 15 and value:find("^%d+$") and tonumber(value)
end

-- The number of a state as it travels, and its name where that was given; or nil, nil and a complaint.
local function status_of(value, param)
  local number = integer_of(value)
  if number and number >= 0 then return ("%d"):format(number) end
  local names = M.choices[param.choices]
  if number or type(value) ~= "string" then
    return nil, nil, "is not a status; pass its number, such as 5, or its name"
  end
  local name, complaint = one_of(value, names)
  for i = 1, #names do
    if names[i] == name then return ("%d"):format(i), name end
  end
  return nil, nil, complaint .. ", or the number"
end

M.kinds = {
  text = { text = "text", check = function(value) return clean_text(value) end },

  time = {
    text = "epoch milliseconds (13 digits)",
    check = function(value)
      local time = integer_of(value)
      if not time then return nil, "is not a time; pass an integer of epoch milliseconds (13 digits)" end
      if time < FIRST_TIME or time > LAST_TIME then
        return nil, "does not have 13 digits; times are epoch milliseconds (seconds times 1000)"
      end
      return ("%d"):format(time)
    end,
  },

  count = {
    text = "integer from 1",
    check = function(value, param)
      local count = integer_of(value)
      if not count then return nil, "is not an integer; pass a whole number from 1" end
      if count < 1 then return nil, "is less than 1" end
      if param.max and count > param.max then
        return nil, ("is %d; at most %d is allowed"):format(count, param.max)
      end
      return ("%d"):format(count)
    end,
  },

  status = {
    text = "status number, or its name",
    check = function(value, param)
      local number, _, complaint = status_of(value, param)
      return number, complaint
    end,
  },

  -- Of an operation whose names travel as they are.
  named_status = {
    text = "status number, or its name",
    check = function(value, param)
      local number, name, complaint = status_of(value, param)
      return name or number, complaint
    end,
  },

  choice = {
    text = "one of",
    check = function(value, param)
      local text, complaint = clean_text(value)
      if not text then return nil, complaint end
      return one_of(text, M.choices[param.choices])
    end,
  },
}

M.clean_text, M.digits_of, M.one_of = clean_text, digits_of, one_of

-- The kinds that only calls take which change something are read with the first such parameter.
setmetatable(M.kinds, { __index = function(kinds, name)
  local kind = require("purser.parameters.written")[name]
  kinds[name] = kind
  return kind
end })

return M
