-- SPDX-License-Identifier: MIT
--- Makes others' texts (the service, a proxy, a depositor) harmless: escapes replace what changes how a text looks.
--
--     plain_text.clean("a\27[2J", 500)   -- a\x1B[2J
--     plain_text.as_json('{"a":"\226\128\174"}') -- {"a":"\u202e"}, the same data
--     plain_text.is_plain("pay\226\128\174") -- false, "bidirectional mark U+202E"

local M = {}

-- First and last code point, and name, of characters that nobody types or sees.
local HIDDEN = {
  { 0x80, 0x9F, "control character" },
  { 0xAD, 0xAD, "zero-width character" },
  { 0x34F, 0x34F, "zero-width character" },
  { 0x61C, 0x61C, "bidirectional mark" },
  { 0x115F, 0x1160, "zero-width character" },
  { 0x17B4, 0x17B5, "zero-width character" },
  { 0x180B, 0x180F, "zero-width character" },
  { 0x200B, 0x200D, "zero-width character" },
  { 0x200E, 0x200F, "bidirectional mark" },
  { 0x2028, 0x2029, "line separator" },
  { 0x202A, 0x202E, "bidirectional mark" },
  { 0x2060, 0x2065, "zero-width character" },
  { 0x2066, 0x2069, "bidirectional mark" },
  { 0x206A, 0x206F, "zero-width character" },
  { 0x3164, 0x3164, "zero-width character" },
  { 0xFE00, 0xFE0F, "zero-width character" },
  { 0xFEFF, 0xFEFF, "zero-width character" },
  { 0xFFA0, 0xFFA0, "zero-width character" },
  { 0xFFF0, 0xFFFB, "zero-width character" },
  { 0x1BCA0, 0x1BCA3, "zero-width character" },
  { 0x1D173, 0x1D17A, "zero-width character" },
  { 0xE0000, 0xE0FFF, "zero-width character" },
}

local function hidden_kind(point)
  for i = 1, #HIDDEN do
    local range = HIDDEN[i]
    if point <= range[2] then return point >= range[1] and range[3] or nil end
  end
end

-- The smallest code point of a UTF-8 character, by bytes.
local MIN_POINT = { 0, 0x80, 0x800, 0x10000 }

-- Returns code point and length of the character at byte `at`; nil outside of UTF-8.
local function character(text, at)
  local lead = text:byte(at)
  if lead < 0x80 then return lead, 1 end
  local length = lead >= 0xF0 and 4 or lead >= 0xE0 and 3 or 2
  if lead < 0xC2 or lead > 0xF4 then return nil end
  local point = lead % 2 ^ (7 - length)
  for i = at + 1, at + length - 1 do
    local byte = text:byte(i)
    if not byte or byte < 0x80 or byte > 0xBF then return nil end
    point = point * 64 + byte - 0x80
  end
  if point < MIN_POINT[length] or point > 0x10FFFF or point >= 0xD800 and point <= 0xDFFF then return nil end
  return math.floor(point), length
end

---@param text string
---@return boolean
function M.is_utf8(text)
  local at = text:find("[\128-\255]")
  while at do
    local _, length = character(text, at)
    if not length then return false end
    at = text:find("[\128-\255]", at + length)
  end
  return true
end

-- Returns the length at byte `at`, outside of printable ASCII; for a character to replace also name and escape.
local function look_at(text, at)
  local point, length = character(text, at)
  if not point then
    return 1, ("byte %02X, which is not UTF-8"):format(text:byte(at)), ("\\x%02X"):format(text:byte(at))
  end
  if length == 1 then return 1, ("control character U+%04X"):format(point), ("\\x%02X"):format(point) end
  local kind = hidden_kind(point)
  if not kind then return length end
  return length, ("%s U+%04X"):format(kind, point), ("\\u{%X}"):format(point)
end

--- Tells if clean() leaves a text as it is, at any length; else also the name of the first replaced character.
---@param text string
---@return boolean plain, string|nil offending_name
function M.is_plain(text)
  local at = text:find("[^ -~]")
  while at do
    local length, name = look_at(text, at)
    if name then return false, name end
    at = text:find("[^ -~]", at + length)
  end
  return true
end

local ELLIPSIS = "..."

-- Returns the pieces that fit into `max` bytes with an ellipsis. Only a run of ASCII may be cut.
local function shorten(pieces, is_run, max)
  local kept, room = {}, max - #ELLIPSIS
  for i, piece in ipairs(pieces) do
    if #piece > room then
      if is_run[i] then kept[#kept + 1] = piece:sub(1, math.max(0, room)) end
      break
    end
    kept[#kept + 1], room = piece, room - #piece
  end
  return (table.concat(kept) .. ELLIPSIS):sub(1, max)
end

--- Returns a text on one line with escapes for control characters, bidirectional and zero-width marks, line separators
--- and bytes outside of UTF-8; cut to `max_bytes` between two characters.
---@param text string
---@param max_bytes integer|nil
---@return string
function M.clean(text, max_bytes)
  local max = max_bytes or math.huge
  if #text <= max and not text:find("[^ -~]") then return text end
  local pieces, is_run, size, at = {}, {}, 0, 1
  while at <= #text do
    local odd = text:find("[^ -~]", at)
    if odd ~= at then
      is_run[#pieces + 1] = true
      pieces[#pieces + 1], at = text:sub(at, (odd or 0) - 1), odd or #text + 1
    else
      local length, _, escape = look_at(text, at)
      pieces[#pieces + 1], at = escape or text:sub(at, at + length - 1), at + length
    end
    size = size + #pieces[#pieces]
    if size > max then return shorten(pieces, is_run, max) end
  end
  return table.concat(pieces)
end

local function json_escape(point)
  if point < 0x10000 then return ("\\u%04x"):format(point) end
  point = point - 0x10000
  return ("\\u%04x\\u%04x"):format(0xD800 + math.floor(point / 0x400), 0xDC00 + point % 0x400)
end

--- Returns a JSON text with escapes for the characters of clean(), except line ends: equal data for readers.
---@param json string  in which strings alone hold such characters
---@param is_ascii boolean|nil  escapes for all others beyond ASCII, too
---@return string
function M.as_json(json, is_ascii)
  return (json:gsub("[^ -~\n]+", function(run)
    local pieces, at = {}, 1
    while at <= #run do
      local point, length = character(run, at)
      local hides = point and (is_ascii or point < 0x80 or hidden_kind(point))
      length = length or 1
      pieces[#pieces + 1] = hides and json_escape(point) or run:sub(at, at + length - 1)
      at = at + length
    end
    return table.concat(pieces)
  end))
end

-- Blanks at the ends, and of unusual width: U+A0, 1680, 2000 to 200A, 202F, 205F, 2800, 3000.
local BLANKS = { "^%s", "%s$", "\194\160", "\225\154\128", "\226\128[\128-\138\175]", "\226\129\159",
  "\226\160\128", "\227\128\128" }

--- Returns a text as clean() does, with a usual blank for each run of blanks.
---@param text string
---@param max_bytes integer|nil
---@return string
function M.folded(text, max_bytes)
  for i = 3, #BLANKS do text = text:gsub(BLANKS[i], " ") end
  return (M.clean(text:gsub("%s+", " "), max_bytes))
end

--- Adds a text to lines, cut at blanks where possible. A further line begins with a mark.
---@param lines string[]
---@param text string
---@param width integer
---@param mark string
function M.wrap(lines, text, width, mark)
  while #text > width do
    local cut = text:sub(1, width):find " [^ ]*$"
    if not cut or cut <= #mark + 1 then cut = width end
    lines[#lines + 1] = text:sub(1, cut - 1)
    text = mark .. text:sub(cut):gsub("^ ", "")
  end
  lines[#lines + 1] = text
end

--- Returns a number and what follows it: "1 payment", "2 payments".
---@param number integer
---@param one string
---@param many string|nil  where it takes more than an "s"
---@return string
function M.counted(number, one, many)
  return ("%d %s"):format(number, number == 1 and one or many or one .. "s")
end

--- Tells if a text can be a payment's name: without an invisible difference from another.
---@param text string
---@return boolean
function M.is_name(text)
  if text == "" or #text > 200 then return false end
  for _, blank in ipairs(text:find "[^%w_.-]" and BLANKS or {}) do
    if text:find(blank) then return false end
  end
  return M.clean(text) == text
end

return M
