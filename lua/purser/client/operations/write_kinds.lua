-- SPDX-License-Identifier: MIT
-- The kinds of parameters of write calls (parameters.lua).

local core = require "purser.core"
local lazy = require "purser.client.util.lazy"
local plain_text = require "purser.client.util.plain_text"
local text_rules = require "purser.client.operations.text"
local decimal = lazy "purser.decimal"

local find, format, gmatch, sub = string.find, string.format, string.gmatch, string.sub
local clean_text, digits_of, one_of = text_rules.clean_text, text_rules.digits_of, text_rules.one_of

local M = {}

-- Returns the items of a table or comma-separated text.
local function items_of(value)
  if type(value) == "table" then
    local count = 0
    for _ in pairs(value) do count = count + 1 end
    if count ~= #value then return nil, "is not a plain list", "pass { \"a\", \"b\" } or \"a,b\"" end
    return value
  end
  local text, message, hint = clean_text(value)
  if not text then return nil, message, hint end
  local items = {}
  for item in gmatch(text .. ",", "([^,]*),") do items[#items + 1] = item end
  return items
end

-- Makes a check of at most param.max items, joined by commas.
local function list_of(check)
  return function(value, param)
    local items, message, hint = items_of(value)
    if not items then return nil, message, hint end
    if #items == 0 then return nil, "is an empty list", "give at least one item or leave it out" end
    if param.max and #items > param.max then
      return nil, format("has %d items", #items), format("at most %d are allowed in one call", param.max)
    end
    local texts = {}
    for i, item in ipairs(items) do
      local text, wrong, cure = clean_text(item)
      if text then text, wrong, cure = check(text, param) end
      if not text then return nil, format("has item %d which %s", i, wrong), cure end
      texts[i] = text
    end
    return table.concat(texts, ",")
  end
end

-- Makes a kind of texts: `judge(text)` returns the text; or nil, a message and a hint. `is_free`: no judge of letters.
local function of_text(says, judge, is_free)
  return { text = says, check = function(value)
    local text, message, more = clean_text(value) -- whether it is simple, or the hint
    if not text or is_free and more then return text, message, more end
    return judge(text)
  end }
end

M.new_name = of_text("8 to 32 letters and digits", function(text)
  if #text < 8 or #text > 32 or find(text, "[^0-9A-Za-z]") then
    return nil, format("has %d characters%s", #text, find(text, "[^0-9A-Za-z]") and ", one of them neither" or ""),
      "it must be 8 to 32 letters and digits"
  end
  return text
end)

-- No chain's address has a blank or a character beyond printable ASCII: such a character looks like a letter, turns the
-- text round or is not seen.
M.address = of_text("printable ASCII without blanks", function(text)
  local at = find(text, "[^!-~]")
  if not at then return text end
  local plain, what = plain_text.is_plain(text)
  what = not plain and "a " .. what or sub(text, at, at) == " " and "a blank" or "a character that is not ASCII"
  return nil, format("holds %s (byte %d), which no address has", what, at), "copy it again from its source"
end, true)

M.memo = of_text("text in which every character can be seen", function(text)
  if find(text, "^ ") or find(text, " $") then
    return nil, "begins or ends with a blank, which cannot be seen", "remove it"
  end
  local plain, what = plain_text.is_plain(text)
  if plain then return text end
  return nil, format("holds a %s, which cannot be seen", what), "copy it again from its source"
end, true)

M.own_id = of_text("text of 1 to 200 characters, all of which can be seen", function(text)
  if plain_text.is_name(text) then return text end
  return nil, "is no text of 1 to 200 characters, all of which can be seen; another one that looks the same would "
    .. "be executed once more", "remove what cannot be seen"
end)

M.client_id = of_text("32 letters and digits", function(text)
  if #text ~= 32 or find(text, "[^0-9A-Za-z]") then
    return nil, format("has %d characters%s", #text, #text == 32 and ", one of them no letter or digit" or ""),
      "it must be exactly 32 letters and digits (purser.client_id() makes one)"
  end
  return text
end)

-- Far more than a service keeps, and few enough for exact sums.
local MAX_DIGITS = 100

M.amount = {
  text = "positive decimal as a string, such as \"12.5\"",
  check = function(value)
    if type(value) == "number" then
      local digits = digits_of(value)
      if not digits then return nil, "is a float, which is not exact", "pass a string such as \"12.5\"" end
      value = digits
    end
    if type(value) == "userdata" then -- a decimal, or nothing that could be an amount
      value = decimal.new(value)
      if not value then return nil, "is a userdata", "pass a string such as \"12.5\" or a decimal" end
      value = tostring(value)
    end
    local text, message, hint = clean_text(value)
    if not text then return nil, message, hint end
    if find(text, "^%-") then return nil, "is negative", "amounts are positive" end
    if not (find(text, "^%d+$") or find(text, "^%d+%.%d+$")) then
      return nil, "is not a plain decimal", "pass digits with at most one point, no sign, no exponent, such as \"12.5\""
    end
    if find(text, "^0%d") then return nil, "begins with 0 and another digit", "remove the leading zero" end
    if not find(text, "[1-9]") then return nil, "is zero", "amounts are positive" end
    if #text > MAX_DIGITS then
      return nil, format("is %d characters long", #text), format("at most %d are sent", MAX_DIGITS)
    end
    return text
  end,
}

M.flag = {
  text = "boolean",
  check = function(value)
    if value == true or value == "true" then return "true" end
    if value == false or value == "false" then return "false" end
    return nil, "is not a boolean", "pass true or false"
  end,
}

M.permissions = {
  text = "permission names, a list or comma-separated",
  check = list_of(function(text, param) return one_of(text, text_rules.choices[param.choices]) end),
}

M.ips = {
  text = "IP addresses, a list or comma-separated",
  check = list_of(function(text)
    if core.ip_family(text) and not find(text, ":.*%.") then return text end -- no IPv4 within IPv6
    return nil, format('is "%s"', text), 'pass IPv4 or IPv6 addresses such as "203.0.113.7"'
  end),
}

M.coins = {
  text = "coins, a list or comma-separated",
  check = list_of(function(text)
    if find(text, "[,%s]") then return nil, format('is "%s"', text), "a coin has no comma or blank" end
    return text
  end),
}

M.md5 = {
  text = "32 hexadecimal digits",
  check = function(value)
    if type(value) ~= "string" or #value ~= 32 or find(value, "%X") then
      return nil, "is not 32 hexadecimal digits", "pass the plain password as funds_password instead"
    end
    return value
  end,
}

M.area_code = of_text("digits of a telephone area code", function(text)
  local state, message, hint = text_rules.judge_area_code(text)
  if state ~= "refused" then return text end
  return nil, message, hint
end)

return M
