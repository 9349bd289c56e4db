-- SPDX-License-Identifier: MIT
-- The kinds of parameters that calls take which change something; parameters.lua says what a kind is.

local lazy = require "purser.util.lazy"
local plain_text = require "purser.util.plain_text"
local text_rules = require "purser.api.text"
local decimal = lazy "purser.decimal"

local clean_text, digits_of, one_of = text_rules.clean_text, text_rules.digits_of, text_rules.one_of

local M = {}

-- The items of a list given as a table or as comma-separated text.
local function items_of(value)
  if type(value) == "table" then
    local count = 0
    for _ in pairs(value) do count = count + 1 end
    if count ~= #value then return nil, "is not a plain list; pass { \"a\", \"b\" } or \"a,b\"" end
    return value
  end
  local text, message = clean_text(value)
  if not text then return nil, message end
  local items = {}
  for item in (text .. ","):gmatch("([^,]*),") do items[#items + 1] = item end
  return items
end

-- A list of at most param.max items, each passing `check`, joined by commas.
local function list_of(check)
  return function(value, param)
    local items, message = items_of(value)
    if not items then return nil, message end
    if #items == 0 then return nil, "is an empty list; give at least one item or leave it out" end
    if param.max and #items > param.max then
      return nil, ("has %d items; at most %d are allowed in one call"):format(#items, param.max)
    end
    local texts = {}
    for i, item in ipairs(items) do
      local text, wrong = clean_text(item)
      if text then text, wrong = check(text, param) end
      if not text then return nil, ("has item %d which %s"):format(i, wrong) end
      texts[i] = text
    end
    return table.concat(texts, ",")
  end
end

local function is_ipv4(text)
  local a, b, c, d = text:match("^(%d%d?%d?)%.(%d%d?%d?)%.(%d%d?%d?)%.(%d%d?%d?)$")
  if not a then return false end
  for _, part in ipairs { a, b, c, d } do
    if tonumber(part) > 255 or (#part > 1 and part:sub(1, 1) == "0") then return false end
  end
  return true
end

local function is_ipv6(text)
  if not text:find(":", 1, true) or text:find("[^%x:]") or text:find(":::", 1, true) then return false end
  local head, tail = text:match("^(.-)::(.*)$")
  if head and tail:find("::", 1, true) then return false end
  local groups = 0
  for _, side in ipairs(head and { head, tail } or { text }) do
    if side ~= "" then
      for group in (side .. ":"):gmatch("([^:]*):") do
        if #group == 0 or #group > 4 then return false end
        groups = groups + 1
      end
    end
  end
  return head and groups < 8 or groups == 8
end

M.new_name = {
  text = "8 to 32 letters and digits",
  check = function(value)
    local text, message = clean_text(value)
    if not text then return nil, message end
    if #text < 8 or #text > 32 or text:find("[^0-9A-Za-z]") then
      return nil, ("must be 8 to 32 letters and digits; it has %d characters%s"):format(#text,
        text:find("[^0-9A-Za-z]") and ", and one that is neither" or "")
    end
    return text
  end,
}

-- No chain has an address with a character beyond printable ASCII, or with a blank: one that looks like a letter, turns
-- the text round or is not seen at all came in between.
M.address = {
  text = "printable ASCII without blanks",
  check = function(value)
    local text, message, is_simple = clean_text(value)
    if not text or is_simple then return text, message end
    local at = text:find "[^!-~]"
    if not at then return text end
    local plain, what = plain_text.is_plain(text)
    what = not plain and "a " .. what or text:sub(at, at) == " " and "a blank" or "a character that is not ASCII"
    return nil, ("holds %s (byte %d), which no address has; copy it again from its source"):format(what, at)
  end,
}

M.memo = {
  text = "text in which every character can be seen",
  check = function(value)
    local text, message, is_simple = clean_text(value)
    if not text or is_simple then return text, message end
    local plain, what = plain_text.is_plain(text)
    if plain then return text end
    return nil, ("holds a %s, which cannot be seen; copy it again from its source"):format(what)
  end,
}

M.client_id = {
  text = "32 letters and digits",
  check = function(value)
    local text, message = clean_text(value)
    if not text then return nil, message end
    if #text ~= 32 or text:find("[^0-9A-Za-z]") then
      return nil, ("must be exactly 32 letters and digits; it has %d characters (purser.client_id() makes one)")
        :format(#text)
    end
    return text
  end,
}

-- Far more than any service keeps, and so few that sums of amounts are exact as well.
local MAX_DIGITS = 100

M.amount = {
  text = "positive decimal as a string, such as \"12.5\"",
  check = function(value)
    if type(value) == "number" then
      local digits = digits_of(value)
      if not digits then return nil, "is a float, which is not exact; pass a string such as \"12.5\"" end
      value = digits
    end
    if type(value) == "userdata" then -- a decimal, or nothing that could be an amount
      value = decimal.new(value)
      if not value then return nil, "is a userdata; pass a string such as \"12.5\" or a decimal" end
      value = tostring(value)
    end
    local text, message = clean_text(value)
    if not text then return nil, message end
    if text:find("^%-") then return nil, "is negative; amounts are positive" end
    if not (text:find("^%d+$") or text:find("^%d+%.%d+$")) then
      return nil, "is not a plain decimal; pass digits with at most one point, no sign, no exponent, such as \"12.5\""
    end
    if text:find("^0%d") then return nil, "begins with 0 and another digit; remove the leading zero" end
    if not text:find("[1-9]") then return nil, "is zero; amounts are positive" end
    if #text > MAX_DIGITS then
      return nil, ("is %d characters long; at most %d are sent"):format(#text, MAX_DIGITS)
    end
    return text
  end,
}

M.flag = {
  text = "boolean",
  check = function(value)
    if value == true or value == "true" then return "true" end
    if value == false or value == "false" then return "false" end
    return nil, "is not a boolean; pass true or false"
  end,
}

M.permissions = {
  text = "permission names, a list or comma-separated",
  check = list_of(function(text, param) return one_of(text, text_rules.choices[param.choices]) end),
}

M.ips = {
  text = "IP addresses, a list or comma-separated",
  check = list_of(function(text)
    if is_ipv4(text) or is_ipv6(text) then return text end
    return nil, ('is "%s"; pass IPv4 or IPv6 addresses such as "203.0.113.7"'):format(text)
  end),
}

M.coins = {
  text = "coins, a list or comma-separated",
  check = list_of(function(text)
    if text:find("[,%s]") then return nil, ('is "%s"; a coin has no comma or blank'):format(text) end
    return text
  end),
}

M.md5 = {
  text = "32 hexadecimal digits",
  check = function(value)
    if type(value) ~= "string" or #value ~= 32 or value:find("%X") then
      return nil, "must be 32 hexadecimal digits; pass the plain password as funds_password instead"
    end
    return value
  end,
}

M.area_code = {
  text = "digits of a telephone area code",
  check = function(value)
    local text, message = clean_text(value)
    if not text then return nil, message end
    if not text:find("^%+?%d%d?%d?%d?%d?$") then return nil, "must be 1 to 5 digits, such as 86" end
    return text
  end,
}

return M
