-- SPDX-License-Identifier: MIT
-- Secrets, the ways in which they can be written, and random exchanges that hold them: for the specs of recordings.

local core = require "purser.core"

local M = {}

local LETTERS = {} -- of base64, from 0
for letter in ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"):gmatch "." do
  LETTERS[LETTERS[0] and #LETTERS + 1 or 0] = letter
end

-- Base64 of a text without padding.
function M.base64(text)
  local out, floor = {}, math.floor
  for at = 1, #text, 3 do
    local a, b, c = text:byte(at, at + 2)
    local low = (b or 0) % 16 * 4 + floor((c or 0) / 64)
    out[#out + 1] = LETTERS[floor(a / 4)] .. LETTERS[a % 4 * 16 + floor((b or 0) / 16)] .. (b and LETTERS[low] or "")
      .. (c and LETTERS[c % 64] or "")
  end
  return table.concat(out)
end

-- Form -> what it makes of each byte.
local bytes_by_form = setmetatable({}, { __index = function(by_form, form)
  local bytes = {}
  for byte = 0, 255 do bytes[string.char(byte)] = form:format(byte) end
  by_form[form] = bytes
  return bytes
end })

local function each_byte(text, form)
  return (text:gsub(".", bytes_by_form[form]))
end

-- The part of a text's base64 that is the same wherever in a longer text it begins: one for each alignment.
local function in_base64(text, forms)
  for offset = 0, 2 do
    local code = M.base64(("\0"):rep(offset) .. text)
    local first = offset == 0 and 1 or offset + 2
    local last = #code - ((#text + offset) % 3 == 0 and 0 or 1)
    forms[#forms + 1] = code:sub(first, last)
  end
end

--- Every form in which a secret is searched for.
---@param text string
---@return string[]
function M.forms(text)
  local forms = { text, core.percent_encode(text), (core.percent_encode(text):gsub("%%20", "+")),
    each_byte(text, "%02x"), each_byte(text, "%02X"), each_byte(text, "%%%02X"), each_byte(text, "\\u%04x"),
    each_byte(text, "\\u%04X"), (text:gsub("/", "\\/")), text:reverse() }
  in_base64(text, forms)
  return forms
end

--- The first of the secrets that a text holds in any form, or nil.
---@param text string
---@param secrets string[]
function M.leak(text, secrets)
  -- a line of a recording holds JSON within JSON
  local plain = text:gsub("\\\\", "\\"):gsub('\\"', '"')
  for _, secret in ipairs(secrets) do
    for _, form in ipairs(M.forms(secret)) do
      if text:find(form, 1, true) or plain:find(form, 1, true) then return secret end
    end
  end
end

------------------------------------------------------------------------------------------------------- random exchanges

--- A generator of numbers below 2^31: the same ones for the same seed on every Lua.
function M.dice(seed)
  local state = seed % 2147483646 + 1
  local function roll(n)
    state = state * 16807 % 2147483647
    return state % n + 1
  end
  for _ = 1, 5 do roll(2) end
  return roll
end

local function run(roll, alphabet, length)
  local out = {}
  for i = 1, length do
    local place = roll(#alphabet)
    out[i] = alphabet:sub(place, place)
  end
  return table.concat(out)
end

local LOWER, DIGITS, HEX = "abcdefghijklmnopqrstuvwxyz", "0123456789", "0123456789abcdef"
local MIXED = LOWER .. LOWER:upper() .. DIGITS

local makers = {
  key = function(roll) return "mx0" .. run(roll, MIXED, 17) end,
  signature = function(roll) return run(roll, HEX, 64) end,
  hash = function(roll) return "0x" .. run(roll, HEX, 64) end,
  id = function(roll) return run(roll, HEX, 32) end,
  number = function(roll) return run(roll, "23456789", 19) end,
  memo = function(roll) return run(roll, "23456789", 12) end,
  address = function(roll) return "T" .. run(roll, MIXED, 33) end,
  amount = function(roll) return run(roll, "123456789", 6) .. "." .. run(roll, "123456789", 8) end,
  mail = function(roll) return run(roll, LOWER, 9) .. "@" .. run(roll, LOWER, 8) .. ".example" end,
  ip = function(roll)
    return ("%d.%d.%d.%d"):format(200 + roll(50), 100 + roll(100), 100 + roll(100), 100 + roll(100))
  end,
  name = function(roll) return run(roll, LOWER, 12) .. run(roll, DIGITS, 3) end,
  note = function(roll) return run(roll, LOWER, 7) .. " " .. run(roll, LOWER, 8) .. ' "' .. run(roll, LOWER, 6) end,
  text = function(roll) return "ключ " .. run(roll, MIXED, 14) .. "\\\n/€" end,
}
local kinds = {}
for kind in pairs(makers) do kinds[#kinds + 1] = kind end
table.sort(kinds)

local names = { "coin", "asset", "network", "netWork", "status", "code", "msg", "message", "timestamp", "time", "page",
  "total", "permissions", "address", "memo", "tranId", "amount", "note", "subAccount", "apiKey", "email", "ip", "data",
  "result", "rows", "serverTime", "insertTime", "fromAccountType", "isFreeze", "withdrawFee", "confirmNo", "unknown",
  "x-y", "fullName", "symbol", "minConfirm", "transHash", "totalCount" }

local ESCAPES = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n" }

-- A string of JSON in one of several hands.
local function quoted(roll, text)
  local hand = roll(3)
  if hand == 1 then return '"' .. text:gsub('["\\\n]', ESCAPES) .. '"' end
  if hand == 2 then
    return '"' .. text:gsub('[%z\1-\127]', function(char) return ("\\u%04x"):format(char:byte()) end) .. '"'
  end
  return '"' .. text:gsub('["\\\n]', ESCAPES):gsub("/", "\\/") .. '"'
end

--- Random exchanges: a function that makes the next { request, response, secrets }.
function M.exchanges(seed)
  local roll = M.dice(seed)
  local secrets

  local function secret()
    local text = makers[kinds[roll(#kinds)]](roll)
    secrets[#secrets + 1] = text
    return text
  end

  -- A secret, perhaps in another form, or within a sentence.
  local function carrier()
    local text, form = secret(), roll(8)
    if form == 1 then return core.percent_encode(text) end
    if form == 2 then return M.base64(text) end
    if form == 3 then return each_byte(text, "%02x") end
    if form == 4 then return "Invalid parameter 'address': " .. text .. ", please retry" end
    if form == 5 then return text .. ":" .. roll(9) end
    if form == 6 then return text .. "," .. secret() end
    return text
  end

  local value
  local function scalar()
    local kind = roll(8)
    if kind == 1 then return tostring(roll(2) == 1) end
    if kind == 2 then return "null" end
    if kind == 3 then
      local number = roll(2) == 1 and makers.amount(roll) or makers.number(roll)
      secrets[#secrets + 1] = number
      return (roll(4) == 1 and "-" or "") .. number .. (roll(4) == 1 and "E-7" or "")
    end
    return quoted(roll, carrier())
  end

  local function object(depth)
    local parts = {}
    for i = 1, roll(6) do
      local name = roll(12) == 1 and secret() or names[roll(#names)]
      parts[i] = quoted(roll, name) .. (roll(2) == 1 and ": " or ":") .. value(depth + 1)
    end
    return "{" .. table.concat(parts, roll(2) == 1 and "," or " ,\n ") .. "}"
  end

  function value(depth)
    local kind = depth > 3 and 9 or roll(9)
    if kind <= 2 then return object(depth) end
    if kind > 4 then return scalar() end
    local parts = {}
    for i = 1, roll(4) - 1 do parts[i] = value(depth + 1) end
    return "[" .. table.concat(parts, ",") .. "]"
  end

  local function body()
    local kind = roll(10)
    if kind == 1 then return "<html>" .. secret() .. "</html>" end
    if kind == 2 then return "down: " .. secret() end
    if kind == 3 then
      local text = object(1)
      return text:sub(1, roll(#text))
    end
    if kind == 4 then return "" end
    return roll(4) == 1 and value(1) or object(1)
  end

  local function target()
    local pairs_, path = {}, "/api/v3/capital/deposit/hisrec"
    if roll(4) == 1 then path = "/" .. core.percent_encode(secret()) .. path end
    for i = 1, roll(5) do
      pairs_[i] = core.percent_encode(roll(10) == 1 and secret() or names[roll(#names)]) .. "="
        .. (roll(5) == 1 and carrier():gsub("[&#%s]", "_") or core.percent_encode(carrier()))
    end
    return path .. "?" .. table.concat(pairs_, "&") .. "&signature=" .. secret()
  end

  return function()
    secrets = {}
    local request = { method = "POST", target = target(), body = roll(2) == 1 and body() or "", headers = {
      ["X-MEXC-APIKEY"] = secret(), Cookie = secret(),
      ["Content-Type"] = roll(2) == 1 and secret() or "application/json",
    } }
    local headers = { ["Content-Type"] = "application/json; charset=" .. secret(), ["Set-Cookie"] = secret(),
      ["X-MBX-USED-WEIGHT-1M"] = roll(2) == 1 and secret() or "12", ["X-Request-Id"] = secret() }
    if roll(3) == 1 then headers = "HTTP/1.1 200 OK\r\nX-Trace: " .. secret() .. "\r\nRetry-After: 7\r\n\r\n" end
    local response = { status = 200, headers = headers, body = body() }
    if roll(12) == 1 then response = nil end
    return request, response, { kind = "transport", message = "at " .. secret(), code = secret() }, secrets
  end
end

return M
