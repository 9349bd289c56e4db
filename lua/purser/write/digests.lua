-- SPDX-License-Identifier: MIT
-- Digests and ids that outlive a release: of used keys, of equal calls, of ids at the service. A journal compares rows
-- with the digests of today, so no release changes a digest; spec/golden/digests.lua has literals of each. `likeness`
-- alone may change, with READER: a journal then makes its likenesses again.

local addresses = require "purser.address"
local columns = require "purser.client.operations.columns"
local core = require "purser.core"
local digest = require "purser.client.util.digest"
local once = require "purser.client.util.once"

local M = {}

local byte, char, find, floor, format = string.byte, string.char, string.find, math.floor, string.format
local gsub, lower, upper = string.gsub, string.lower, string.upper

--- The number of the reader of addresses, which likenesses and destinations depend on. A reader that tells addresses
--- apart in another way has the next number.
M.READER = addresses.reader_version

--- Returns the list that shows the records of an operation; nil for none. Both groups of sub-accounts share lists.
---@return string|nil
function M.history_of(row)
  local lookup = row.reconcile and row.reconcile.lookup
  return lookup and (gsub(lookup, "^broker%.", "sub_account."))
end

--- Returns the list in which an operation makes a record; "" for none.
---@return string
M.makes_in = once(function(row)
  return (row.effect == "create" or row.effect == "transfer") and M.history_of(row) or ""
end)

-- Returns a value, an amount in one spelling: 1.50 is 1.5.
local function plain_amount(row, name, value)
  local param = row.by_name[name]
  local amount = param and param[2] == "amount" and core.decimal(value)
  return tostring(amount or value)
end

-- Returns the names that a record shows of a call which only its content identifies; false for any other call.
local shown_names = once(function(row)
  local reconcile = row.reconcile
  if not reconcile or reconcile.strategy ~= "match" and reconcile.strategy ~= "nothing" then return false end
  local shown = {}
  for _, name in ipairs(reconcile.match_on) do shown[name] = true end
  return shown
end)

-- Returns a digest of a title and values, without the generated id and passwords, which change when a call is repeated.
---@param shown table<string, boolean>|false|nil  the names that count; otherwise all
---@param spelling table<string, fun(value: string): string>
local function digest_of(title, row, params, shown, spelling)
  local names, parts, made = {}, { title }, row.reconcile and row.reconcile.generated_id and row.reconcile.client_id
  for name in pairs(params) do
    local param = row.by_name[name]
    local is_password = param and param[2] == "md5"
    if name ~= made and not is_password and (not shown or shown[name]) then names[#names + 1] = name end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local value = plain_amount(row, name, params[name])
    if spelling[name] then value = spelling[name](value) end
    parts[#parts + 1] = #name .. ":" .. name .. "=" .. #value .. ":" .. value
  end
  return digest.of(table.concat(parts, "\n"))
end

-- People spell these names in several ways.
local spelled = { asset = upper, coin = upper, toAccount = lower, fromAccount = lower }

--- Returns the digest that equal calls of one history share: of all values that a record shows, without the generated
--- id. Of withdrawals neither network nor contract counts; address and memo count as one payee, whatever the spelling.
function M.likeness(row, params)
  local shown, history = shown_names(row), M.makes_in(row)
  if row.moves and row.moves.to == "address" and params.address then
    shown, params = nil, { coin = params.coin, address = addresses.payee(params.address, params.memo, true),
      amount = params.amount, remark = params.remark }
  elseif params.toAccountType == "UID" and params.toAccount then
    local copy = {}
    for name, value in pairs(params) do copy[name] = value end
    copy.toAccount = columns.canonical("UID", params.toAccount)
    params = copy
  end
  return digest_of(history ~= "" and history or row.full_name, row, params, shown, spelled)
end

--- Returns a digest of all values of a call, which its key stands for. `1:` names this function: a row whose values
--- were pruned keeps its digest for ever.
---@param params table<string, any>
---@return string
function M.content(row, params)
  return "1:" .. digest_of(row.full_name, row, params, nil, { asset = upper, coin = upper })
end

-- Capitals beyond ASCII: first and last code point of a row, and the distance to the small letters. Letters of other
-- scripts stay.
local CAPITALS = { { 0xC0, 0xDE, 32 }, { 0x391, 0x3A9, 32 }, { 0x400, 0x40F, 80 }, { 0x410, 0x42F, 32 } }

local function utf8_of(code)
  if code < 0x80 then return char(code) end
  if code < 0x800 then return char(0xC0 + floor(code / 64), 0x80 + code % 64) end
  return char(0xE0 + floor(code / 4096), 0x80 + floor(code / 64) % 64, 0x80 + code % 64)
end

-- Returns a character of two or three bytes without case and width.
local function fold(text)
  local a, b, c = byte(text, 1, 3)
  local code = c and (a - 0xE0) * 4096 + (b - 0x80) * 64 + c - 0x80 or (a - 0xC0) * 64 + b - 0x80
  if code >= 0xFF01 and code <= 0xFF5E then return lower(char(code - 0xFEE0)) end -- as wide as a Chinese one
  for _, range in ipairs(CAPITALS) do
    if code >= range[1] and code <= range[2] and code ~= 0xD7 then return utf8_of(code + range[3]) end
  end
end

--- Returns a key without case and width: `Inv-1`, `INV-1` and the full-width form are the same key.
---@param key string
---@return string
function M.form(key)
  if not find(key, "[\128-\255]") then return lower(key) end
  key = gsub(key, "[A-Z]", lower)
  key = gsub(key, "[\194-\223][\128-\191]", fold)
  return (gsub(key, "[\224-\239][\128-\191][\128-\191]", fold))
end

--- Returns whether a text has a sign that joins the letter before it: "é" would be two texts, and two keys.
---@param key string
---@return boolean
function M.is_decomposed(key)
  return find(key, "\204[\128-\191]") ~= nil or find(key, "\205[\128-\175]") ~= nil
end

--- Returns the id at the service of a call with a key: each repetition has that id, too.
---@return string
function M.id_of_key(account, operation, key)
  return digest.of(format("purser call\n%d:%s\n%s\n%s", #account, account, operation, key)):sub(1, 32)
end

--- Returns the id at the service of a payment: one for account, queue and key, so that a payment is found when the
--- journal is lost, also with other content.
---@return string
function M.id_of_payment(account, queue, key) return digest.id("purser payment", account, queue, key) end

return M
