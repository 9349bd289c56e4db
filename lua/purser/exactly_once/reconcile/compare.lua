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

-- An amount may be cut, and be shown with or without the fee.
local function may_be_amount(requested, shown, record)
  local a, b = amount_of(requested), amount_of(shown)
  if not a or not b or a == b or is_shortened(a, b, shown) then return true end
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

-- Whether an address may be the one that was requested: with a memo, or with something else around it.
local function may_be_address(requested, shown)
  return M.may_name(requested, shown) or holds(tostring(shown), tostring(requested))
end

--- Whether an id that is shown may be the one that was sent: in another case, cut, or with something around it.
function M.may_be_id(requested, shown)
  if type(shown) ~= "string" or type(requested) ~= "string" or shown == requested then return shown == requested end
  local a, b = requested:lower(), shown:lower()
  if a == b then return true end
  local long, short = #a > #b and a or b, #a > #b and b or a
  return #short >= 8 and long:find(short, 1, true) ~= nil
end

--- Records by the id that they show, for compare.alike.
---@param name string  the member that holds it
function M.index(records, name)
  local index = { blank = {}, by_text = {}, by_length = {} }
  local function put(list, key, record)
    list[key] = list[key] or {}
    table.insert(list[key], record)
  end
  for _, record in ipairs(records) do
    local shown = record[name]
    if M.is_blank(shown) then
      table.insert(index.blank, record)
    elseif type(shown) == "string" then
      put(index.by_text, shown:lower(), record)
      put(index.by_length, #shown, { record = record, shown = shown })
    end
  end
  return index
end

--- The records of an index whose id is `requested`, or may be it, and those that show none. It compares only what may
--- be equal, so that many ids can be looked for among many records.
function M.alike(index, requested)
  local found = {}
  for _, record in ipairs(index.by_text[requested:lower()] or {}) do found[#found + 1] = record end
  for length, list in pairs(index.by_length) do
    for _, entry in ipairs(length ~= #requested and list or {}) do
      if M.may_be_id(requested, entry.shown) then found[#found + 1] = entry.record end
    end
  end
  for _, record in ipairs(index.blank) do found[#found + 1] = record end
  return found
end

--- Whether nothing that the record shows contradicts its being the call's. Upper and lower case, a memo after an
--- address, places of an amount and what is not shown at all are no difference.
function M.may_agree(params, record, names)
  for _, name in ipairs(names) do
    local requested, shown = params[name], record[name]
    if requested ~= nil and not M.is_blank(shown) then
      local may = name == "amount" and may_be_amount(requested, shown, record)
        or name == "address" and may_be_address(requested, shown)
        or name ~= "amount" and tostring(requested):lower() == tostring(shown):lower()
      if not may then return false end
    end
  end
  return true
end

-- By what records are found that may show an asset and an amount: without decimals, which may be cut.
local function content_key(asset, amount)
  return tostring(asset or ""):lower() .. " " .. tostring(amount or ""):match "^%-?%d*"
end

-- The amounts that a record may stand for, as far as their whole part is concerned: see may_be_amount.
local function amounts_of(record)
  local amount, fee = amount_of(record.amount), amount_of(record.transactionFee)
  if not amount then return { "" } end
  local step = decimal(step_of(record.amount))
  local amounts = { amount, amount - step }
  if fee then amounts[3], amounts[4] = amount + fee, amount - fee end
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
end

return M
