-- SPDX-License-Identifier: MIT
-- Memos as values: the form by network, one spelling for comparing, and texts that a program made of others. The typed
-- text travels.

local plain_text = require "purser.client.util.plain_text"

local M = {}

local format = string.format

-- Words that programs write for nothing, numbers and dates that they make of texts.
local WORDS = {}
for word in ([[nan <na> nat null none nil undefined n/a na (null) \n inf -inf +inf true false - [object object] nan%
  #n/a #ref! #value! #name? #div/0! #num! #null!]]):gsub("%[object object%]", "[object_object]"):gmatch "%S+" do
  WORDS[(word:gsub("_", " "))] = true
end
local MADE = {
  "^[='#]", "^%d[%d.,]*e[+-]?%d+$", "^%d+[.,]0+$", "^%d%d?%d?[,']%d%d%d$", "^%d%d?%d?[,']%d%d%d[,']%d%d%d$",
  "^%d%d?%d?%d?[-/]%d%d?[-/]%d+$", "^%d%d?%d?%d?[-/]%d%d?[-/]%d+[ t]%d+:%d+", "^%d%d?[-/]%d%d?$", "^%d%d?:%d%d",
  "\239\188[\144-\153]",
}
local DATES = { "^%d%d?[-/](%l%l%l)$", "^(%l%l%l)[-/]%d%d?%d?%d?$", "^%d%d?[-/](%l%l%l)[-/]%d+$" }
local MONTHS = {}
for month in ("jan feb mar apr may jun jul aug sep oct nov dec"):gmatch "%l+" do MONTHS[month] = true end

--- Tells whether a text may be a program's word for another: nothing, a number, a date, digits of another script.
---@param text string
---@return boolean
function M.is_rewritten(text)
  local small = text:lower()
  if WORDS[small] then return true end
  for _, pattern in ipairs(MADE) do
    if small:find(pattern) then return true end
  end
  for _, pattern in ipairs(DATES) do
    if MONTHS[small:match(pattern) or ""] then return true end
  end
  return #text >= 18 and text:find "^%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d000+$" ~= nil
end

local UINT = { uint32 = "4294967295", uint64 = "18446744073709551615" }

-- Returns digits without zeros in front; nil for other texts, and for a number above the bound.
local function number_of(text, most)
  local digits = text:match "^0*(%d+)$"
  if not digits or #digits > #most or #digits == #most and digits > most then return nil end
  return digits
end

-- Families whose memo is a number.
local NUMBERS = { xrp = UINT.uint32, icp = UINT.uint64 }

--- Returns a memo in its one spelling, for comparing.
---@param family string  of the address
---@param memo string
---@return string
function M.canonical(family, memo)
  return NUMBERS[family] and number_of(memo, NUMBERS[family]) or memo
end

local function judge_text(form, memo)
  local most = tonumber(form:match "%d+")
  local is_hash = form == "text28" and #memo == 64 and memo:find "^%x+$"
  if most and #memo > most and not is_hash then
    return "refused", format("has %d bytes", #memo), format("the network has texts of at most %d", most)
  end
  if M.is_rewritten(memo) then
    return "doubtful", "may be a program's word for another text", "compare it with its source"
  end
  if not most and #memo > 123 then
    return "doubtful", format("has %d bytes", #memo), "wallets show at most 123"
  end
  return "good"
end

--- Judges a memo by a network's form. Returns "good"; or "doubtful" or "refused", a message and what to do.
---@param form string|nil  of the table of networks; nil where no memo travels: any text that can be seen
---@param memo string
---@return "good"|"doubtful"|"refused" state, string|nil message, string|nil hint
function M.judge(form, memo)
  local plain, what = plain_text.is_plain(memo)
  if not plain then
    return "refused", format("holds a %s, which cannot be seen", what), "copy it again from its source"
  end
  if memo:find "^ " or memo:find " $" or memo:find "^\194\160" or memo:find "\194\160$" then
    return "refused", "begins or ends with a blank, which cannot be seen", "remove it"
  end
  local most = UINT[form]
  if most then
    local digits = number_of(memo, most)
    if not digits then
      return "refused", format('"%s" is no number from 0 to %s', memo, most), "the network has such numbers alone"
    end
    if digits ~= memo then
      return "doubtful", format('"%s" is the same as "%s"', memo, digits),
        "zeros in front do not travel: it is a number"
    end
    return "good"
  end
  return judge_text(form or "text", memo)
end

return M
