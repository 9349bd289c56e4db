-- SPDX-License-Identifier: MIT
-- Tokens in place of values: of equal length and kind, drawn from the value by HMAC with the random key of a recording.
-- Equal values have equal tokens within one recording alone. A token shows the kind of the whole value: the places of
-- digits and capitals would point at one address of a chain.

local M = {}

local DIGITS, NONZERO = "0123456789", "123456789"
local LOWER, UPPER = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
local NO_HEX, NO_HEX_UPPER = "ghijklmnopqrstuvwxyz", "GHIJKLMNOPQRSTUVWXYZ"
local BLOCK = 256 -- bytes of a token before it repeats itself

-- Returns a function that draws characters out of an alphabet, equal characters for equal texts.
local function draws(signer, text)
  local bytes, at, count = "", 1, 0
  return function(alphabet)
    if at + 3 > #bytes then
      count = count + 1
      bytes, at = signer:sign(("%d:"):format(count) .. text), 1
    end
    local number = tonumber(bytes:sub(at, at + 3), 16)
    at = at + 4
    local place = number % #alphabet + 1
    return alphabet:sub(place, place)
  end
end

local function run_of(draw, alphabet, length)
  local out = {}
  for i = 1, math.min(length, BLOCK) do out[i] = draw(alphabet) end
  local block = table.concat(out)
  return length <= BLOCK and block or block:rep(math.ceil(length / BLOCK)):sub(1, length)
end

-- Draws digits for a number. The first of several is no zero, as a bare number may not begin with a zero.
local function number_run(draw, text)
  return (text:gsub("()(%d+)", function(at, run)
    local is_first = #run > 1 and not text:sub(1, at - 1):find "%d"
    return is_first and draw(NONZERO) .. run_of(draw, DIGITS, #run - 1) or run_of(draw, DIGITS, #run)
  end))
end

local function hex_run(draw, text)
  local alphabet = text:find "%u" and "0123456789ABCDEF" or "0123456789abcdef"
  local run = run_of(draw, alphabet, #text)
  return run:find "%a" and run or run:sub(1, -2) .. (text:find "%u" and "A" or "a")
end

local function is_hex(text)
  return #text >= 16 and text:find "^%x+$" and text:find "%a" and not (text:find "%l" and text:find "%u")
end

local function is_number(text)
  return text:find "^[+-]?%d+%.?%d*$" ~= nil or text:find "^[+-]?%d+%.?%d*[eE][+-]?%d+$" ~= nil
end

-- Draws letters and digits. The first is a letter beyond f, so that the token is neither a number nor hexadecimal. The
-- last is a digit for a text with digits, as an id has.
local function mixed(draw, text)
  local lower, upper = text:find "%l", text:find "%u"
  local letters = (lower and LOWER or "") .. (upper and UPPER or "")
  if letters == "" then letters = LOWER end
  local first = draw(upper and not lower and NO_HEX_UPPER or NO_HEX)
  if not text:find "%d" then return first .. run_of(draw, letters, #text - 1) end
  return first .. run_of(draw, letters .. DIGITS, #text - 2) .. draw(DIGITS)
end

local token

-- Returns the tokens of a list, or of an address or hash with a number behind a colon; nil for other texts.
local function of_parts(signer, text)
  if text:find "^[^,%s]+,[^%s]*[^,%s]$" then
    return (text:gsub("[^,]+", function(part) return token(signer, part) end))
  end
  local head, tail = text:match "^(%w+):(%w+)$"
  if head and #head >= 20 then return token(signer, head) .. ":" .. token(signer, tail) end
end

function token(signer, text)
  if text == "" then return "" end
  local parts = of_parts(signer, text)
  if parts then return parts end
  local draw = draws(signer, text)
  return (is_hex(text) and hex_run or is_number(text) and number_run or mixed)(draw, text)
end

--- The token of a text.
---@param signer userdata  of core.signer, with the key of the recording
---@param text string
---@return string
M.of = token

--- Returns the length and kind of a text, which the token keeps, as a text to compare.
---@param text string
---@return string
function M.kind(text)
  local kind = is_hex(text) and "hex" or not is_number(text) and "text" or text:find "[eE]" and "number"
    or text:find(".", 1, true) and "decimal" or "digits"
  if kind == "decimal" then kind = kind .. " " .. #text:match "%d*$" end
  return kind .. " " .. #text
end

return M
