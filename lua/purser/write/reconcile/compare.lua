-- SPDX-License-Identifier: MIT
-- Whether a record that a history shows is that of a call, as far as its content shows.

local decimal = require "purser.decimal"

local M = {}

--- Whether a member holds nothing that could be compared.
function M.is_blank(value)
  return value == nil or value == ""
end

-- An amount that can be reckoned with, or nil.
local function amount_of(value)
  return type(value) == "string" and #value <= 100 and decimal(value) or nil
end

local function same_amount(requested, shown)
  local a, b = amount_of(requested), amount_of(shown)
  return a ~= nil and b ~= nil and a == b
end

--- Whether a record shows what the intent's parameters said. A parameter that was not given may be anything.
function M.agrees(params, record, names)
  for _, name in ipairs(names) do
    local requested, shown = params[name], record[name]
    if requested ~= nil and requested ~= shown and not (name == "amount" and same_amount(requested, shown)) then
      return false
    end
  end
  return true
end

-- By how much an amount may differ from one that is shown cut or rounded, as a text. Zeros at its end may be padding.
local function step_of(text)
  local places = #((text:match "%.(%d*)$" or ""):gsub("0+$", ""))
  return places == 0 and "1" or "0." .. ("0"):rep(places - 1) .. "1"
end

-- Whether an amount is equal as far as it is shown: with fewer places, cut or rounded.
local function is_shortened(requested, shown, text)
  return (requested - shown):abs() < decimal(step_of(text))
end

-- A text of so many digits may come from binary floating point, whose last digits are wrong.
local FLOAT_DIGITS, FLOAT_PRECISION = 16, decimal "0.00000000000001"

-- By how much an amount may differ from one that is shown inexactly; nil where the text shows all of its digits.
local function inexact_by(shown, text)
  local digits = text:gsub("%D", ""):gsub("^0+", "")
  return #digits >= FLOAT_DIGITS and shown * FLOAT_PRECISION or nil
end

local function is_inexact(requested, shown, text)
  local by = inexact_by(shown, text)
  return by ~= nil and (requested - shown):abs() <= by
end

-- An amount may be cut, be inexact, have the sign of what leaves an account, and be shown with or without the fee.
local function may_be_amount(requested, shown, record)
  local a, b = amount_of(requested), amount_of(shown)
  b = b and b:abs()
  if not a or not b or a == b or is_shortened(a, b, shown) or is_inexact(a, b, shown) then return true end
  local fee = amount_of(record.transactionFee)
  return fee ~= nil and (a == b + fee or b == a + fee)
end

-- Whether a text is another one, in any case, and perhaps with a memo after it: "T...:100".
local function begins_with(text, start)
  return text:sub(1, #start) == start and not text:find("^%w", #start + 1)
end

--- Whether two texts that people spell may name the same thing.
function M.may_name(requested, shown)
  local a, b = tostring(requested):lower(), tostring(shown):lower()
  return a == b or begins_with(a, b) or begins_with(b, a)
end

local function holds(shown, requested) return shown:lower():find(requested:lower(), 1, true) ~= nil end

-- Whether a text may be another one whose middle is hidden: "TQrY****4STm", "TQrY...4STm".
local function is_hidden_in(shown, requested)
  local head, tail = shown:lower():match "^([^*]-)%*+([^*]*)$"
  if not head then head, tail = shown:lower():match "^(.-)%.%.+([^.]*)$" end
  requested = requested:lower()
  return head ~= nil and #head + #tail <= #requested and requested:sub(1, #head) == head
    and requested:sub(#requested - #tail + 1) == tail
end

-- Whether an address may be the one that was requested: with a memo, with something else around it, cut, or hidden in
-- part.
local function may_be_address(requested, shown)
  requested, shown = tostring(requested), tostring(shown)
  return M.may_name(requested, shown) or holds(shown, requested) or holds(requested, shown)
    or is_hidden_in(shown, requested)
end

-- A coin may be shown with its network, and with blanks around it.
local function may_be_asset(requested, shown)
  return M.may_name(requested, (tostring(shown):gsub("^%s+", ""):gsub("%s+$", "")))
end

-- Other names of these kinds of account are other words for them.
local account_types = { spot = true, futures = true }

local function may_be_account_type(requested, shown)
  local name = tostring(shown):lower()
  return name == tostring(requested):lower() or not account_types[name]
end

local function may_be_text(requested, shown)
  return tostring(requested):lower() == tostring(shown):lower()
end

-- How what is shown is compared with what was requested; the rest as a text, in any case.
local may_be = { amount = may_be_amount, address = may_be_address, coin = may_be_asset, asset = may_be_asset,
  fromAccountType = may_be_account_type, toAccountType = may_be_account_type }

-- What of an id counts that may be in another spelling: its letters and digits, in lower case.
local function plain_id(text) return (text:lower():gsub("[^a-z0-9]", "")) end

-- Words for an id that is not shown.
local no_id = { [""] = true, null = true, none = true, ["nil"] = true, undefined = true, nan = true }

-- The value of an id that is shown as a number, and the unit of its last digit that counts: by less than that it may
-- differ from the id that was sent. Binary floating point holds 15 digits, and fewer may be shown. Nil where it is no
-- number.
local function number_of(shown)
  local whole, fraction, exponent = shown:match "^(%d+)%.?(%d*)[eE]?%+?(%d*)$"
  if not whole then return nil end
  local value = tonumber(whole .. fraction) * 10 ^ ((tonumber(exponent) or 0) - #fraction)
  local digits = (whole .. fraction):gsub("^0+", "")
  if #whole == #shown and #digits < FLOAT_DIGITS then return value, 0 end
  local count = math.max(1, math.min(#digits:gsub("0+$", ""), FLOAT_DIGITS - 1))
  return value, 10 ^ (math.floor(math.log(value) / math.log(10) + 1e-9) + 1 - count)
end

-- Whether an id of digits may be shown as that number.
local function may_be_number(requested, shown)
  local value, by = number_of(shown)
  if not value or not requested:find "^%d+$" then return false end
  return value == tonumber(requested) or math.abs(value - tonumber(requested)) < by
end

--- Whether an id that is shown may be the one that was sent: in another case, with other signs between its letters and
--- digits, cut however short, hidden in part, as a number, or with something around it.
function M.may_be_id(requested, shown)
  if type(requested) ~= "string" or shown == nil then return shown == requested end
  shown = tostring(shown)
  local a, b = plain_id(requested), plain_id(shown)
  if a == b or no_id[b] then return true end
  local long, short = #a > #b and a or b, #a > #b and b or a
  return #short > 0 and long:find(short, 1, true) ~= nil or is_hidden_in(shown, requested)
    or may_be_number(requested, shown)
end

-- Texts that people write beside a payment or a key are shown in as many ways as ids: a memo "007" as the number 7.
may_be.memo, may_be.note = M.may_be_id, M.may_be_id

-- By what ids of numbers are kept: values that differ in their last digits are mostly under one text. An id is looked
-- for under those of the values next to it as well.
local NEXT_TO = 1e-12
local function value_key(value) return ("%.8e"):format(value) end

-- Whether it shows only when ids are compared one by one that this may be one of as many letters and digits: some are
-- hidden, or it is a number of which little is shown.
local function is_vague(shown)
  if no_id[plain_id(shown)] or shown:find("*", 1, true) or shown:find("..", 1, true) then return true end
  local value, by = number_of(shown)
  return value ~= nil and by > value * NEXT_TO
end

--- Records by the id that they show, for compare.alike.
---@param name string  the member that holds it
function M.index(records, name)
  local index = { blank = {}, vague = {}, by_text = {}, by_value = {}, by_length = {} }
  local function put(list, key, entry)
    list[key] = list[key] or {}
    table.insert(list[key], entry)
  end
  for _, record in ipairs(records) do
    local shown = record[name]
    if M.is_blank(shown) then
      table.insert(index.blank, record)
    else
      shown = tostring(shown)
      local entry, text, value = { record = record, shown = shown }, plain_id(shown), number_of(shown)
      if is_vague(shown) then
        table.insert(index.vague, entry)
      else
        put(index.by_text, text, entry)
        put(index.by_length, #text, entry)
        if value then put(index.by_value, value_key(value), entry) end
      end
    end
  end
  return index
end

-- The lists of an index that may hold records whose id is `requested`.
local function lists_of(index, requested)
  local text = plain_id(requested)
  local lists, value = { index.vague, index.by_text[text] or {} }, requested:find "^%d+$" and tonumber(requested)
  for length, list in pairs(index.by_length) do
    if length ~= #text then lists[#lists + 1] = list end
  end
  for _, by in ipairs(value and { -NEXT_TO, 0, NEXT_TO } or {}) do
    lists[#lists + 1] = index.by_value[value_key(value + value * by)]
  end
  return lists
end

--- The records of an index whose id is `requested`, or may be it, and those that show none. It compares only what may
--- be equal, so that many ids can be looked for among many records.
function M.alike(index, requested)
  local found, seen = {}, {}
  for _, list in ipairs(lists_of(index, requested)) do
    for _, entry in ipairs(list) do
      if not seen[entry] and M.may_be_id(requested, entry.shown) then
        found[#found + 1], seen[entry] = entry.record, true
      end
    end
  end
  for _, record in ipairs(index.blank) do found[#found + 1] = record end
  return found
end

--- Whether nothing that the record shows contradicts its being the call's. Upper and lower case, a memo after an
--- address, places and the sign of an amount, and what is not shown at all are no difference.
function M.may_agree(params, record, names)
  for _, name in ipairs(names) do
    local requested, shown = params[name], record[name]
    if requested ~= nil and not M.is_blank(shown) and not (may_be[name] or may_be_text)(requested, shown, record) then
      return false
    end
  end
  return true
end

-- By what records are found that may show an asset and an amount: without what follows the asset, without decimals,
-- which may be cut, and without digits that may be inexact.
local function content_key(asset, amount)
  local whole = tostring(amount):match "^%d*"
  if #whole >= FLOAT_DIGITS then whole = #whole .. ":" .. whole:sub(1, FLOAT_DIGITS - 3) end
  return tostring(asset or ""):lower():match("^%s*(%w*)") .. " " .. whole
end

-- The amounts that a record may stand for, as far as their whole part is concerned: see may_be_amount.
local function amounts_of(record)
  local amount, fee = amount_of(record.amount), amount_of(record.transactionFee)
  if not amount then return { "" } end
  amount = amount:abs()
  local step = decimal(step_of(record.amount))
  local amounts = { amount, amount - step }
  if fee then amounts[3], amounts[4] = amount + fee, amount - fee end
  local by = inexact_by(amount, record.amount)
  if by then amounts[#amounts + 1], amounts[#amounts + 2] = amount + by, amount - by end
  return amounts
end

--- Under which texts to keep a record so that M.content_lookups finds it for all payments that it may be of.
---@return string[]
function M.content_keys(record)
  local keys, seen = {}, {}
  for _, amount in ipairs(amounts_of(record)) do
    local key = content_key(record.asset or record.coin, amount)
    if not seen[key] then keys[#keys + 1], seen[key] = key, true end
  end
  return keys
end

--- Under which texts the records are kept that may be of a payment: some show no asset, or no amount.
---@return string[]
function M.content_lookups(params)
  local asset, amount = params.asset or params.coin, amount_of(params.amount) or ""
  return { content_key(asset, amount), content_key(asset, ""), content_key("", amount), content_key("", "") }
end

--- Whether a record that carries the right id shows another payment all the same: the id was used for two. An amount
--- may be shown without the fee that it was asked for with, an address with its memo, and a coin with its network.
function M.contradicts(params, record)
  for _, name in ipairs { "coin", "asset" } do
    local shown = record[name]
    if params[name] and not M.is_blank(shown) and not M.may_name(params[name], shown) then return true end
  end
  local requested, shown = amount_of(params.amount), amount_of(record.amount)
  if requested and shown and requested ~= shown then
    local fee = amount_of(record.transactionFee)
    if not fee or shown + fee ~= requested then return true end
  end
  local address = params.address
  return type(address) == "string" and type(record.address) == "string" and not holds(record.address, address)
    and not is_hidden_in(record.address, address)
end

return M
