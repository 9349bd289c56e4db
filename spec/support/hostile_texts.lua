-- SPDX-License-Identifier: MIT
-- Texts that must not be shown as they are: what terminals obey, what turns a line round, what hides, what a
-- spreadsheet runs, what forges a line. From a seed, so that a failure comes again.

local M = {}

local PIECES = {
  "\27[2J\27[31m", "\27]0;pwned\7", "\8\8\8", "\r", "\n", "\0", "\127", "\t", "\194\155" .. "31m", "\194\157",
  "\226\128\174", "\226\128\171", "\226\129\166", "\226\128\143", "\216\156", -- bidirectional
  "\226\128\139", "\226\128\141", "\226\129\160", "\239\187\191", "\194\173", "\243\160\128\129", "\227\133\164",
  "\226\128\168", "\226\128\169", -- line separators
  "\npurser: the keys were written to /etc/x", "\r\nok    key          the service accepts the key",
  "=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1+1)", "\239\188\157" .. "1+1", "=HYPERLINK(\"http://evil\",\"x\")",
  "%s%d%n%99999999s", "\\", "\"", ",", ";", "'", "\228\189\153", "\240\159\146\182", "plain", "12.5", " ",
}

--- A generator of numbers from 1 to `max`.
function M.random(seed)
  local state = seed % 2147483647
  return function(max)
    state = state * 16807 % 2147483647 -- exact in doubles
    return state % max + 1
  end
end

--- A text of one to six pieces.
function M.text(random)
  local pieces = {}
  for i = 1, random(6) do pieces[i] = PIECES[random(#PIECES)] end
  return table.concat(pieces)
end

-- Bytes that must not be in a line that is shown: a list of its own, apart from the one of purser.plain_text.
local FORBIDDEN = {
  control = "[%z\1-\8\11-\31\127]", c1 = "\194[\128-\159]", soft_hyphen = "\194\173", arabic_mark = "\216\156",
  general = "\226\128[\139-\143\168-\174]", isolates = "\226\129[\160-\175]", filler = "\227\133\164",
  bom = "\239\187\191", tag = "\243\160[\128-\129]",
}

--- The first forbidden character of a text that was shown, and where it is; nil when there is none.
function M.find_forbidden(text)
  for name, pattern in pairs(FORBIDDEN) do
    local at = text:find(pattern)
    if at then return name, ("%q"):format(text:sub(math.max(1, at - 40), at + 20)) end
  end
end

return M
