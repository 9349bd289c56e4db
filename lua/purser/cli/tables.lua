-- SPDX-License-Identifier: MIT
-- Cells as an aligned table. On a terminal it fits: long ids are shortened in the middle, the last column is wrapped,
-- and what is wider still becomes a list of fields for each record. Elsewhere nothing depends on a width.

local core = require "purser.core"
local terminal = require "purser.cli.terminal"

local unpack = table.unpack or unpack -- luacheck: ignore

local M = {}

-- Columns that may be shortened. An address never is: a shortened one can be made to look like another.
local SHORTENS = { txId = true, id = true, withdrawOrderId = true, clientTranId = true, record = true, apiKey = true,
  key = true }
local HEAD, TAIL = 8, 6
local LAST_MIN = 24 -- columns for the last cell, if it is wrapped

local function width_of(text)
  local _, continuation = text:gsub("[\128-\191]", "")
  return #text - continuation
end

local function widths_of(titles, lines)
  local widths, total = {}, 2 * (#titles - 1)
  for c, title in ipairs(titles) do
    widths[c] = width_of(title)
    for _, line in ipairs(lines) do widths[c] = math.max(widths[c], width_of(line[c])) end
    total = total + widths[c]
  end
  return widths, total
end

-- Which columns hold only numbers, and at least one.
local function numeric(titles, lines)
  local right = {}
  for c in ipairs(titles) do
    local all, seen = #lines > 0, false
    for _, line in ipairs(lines) do
      all = all and (line[c] == "" or line[c]:find("^%-?%d[%d.]*$") ~= nil)
      seen = seen or line[c] ~= ""
    end
    right[c] = all and seen
  end
  return right
end

local function shortened(titles, lines)
  local short = {}
  for l, line in ipairs(lines) do
    short[l] = {}
    for c, text in ipairs(line) do
      local cut = SHORTENS[titles[c]] and #text > HEAD + TAIL + 2 and not text:find "[\128-\255]"
      short[l][c] = cut and text:sub(1, HEAD) .. ".." .. text:sub(-TAIL) or text
    end
  end
  return short
end

-- A text as lines of at most `room` characters, broken at blanks.
local function wrapped(text, room)
  local lines, line = {}, ""
  for word in text:gmatch "%S+" do
    if line ~= "" and width_of(line) + 1 + width_of(word) > room then
      lines[#lines + 1], line = line, word
    else
      line = line == "" and word or line .. " " .. word
    end
  end
  lines[#lines + 1] = line
  return lines
end

local function as_fields(titles, lines, columns)
  local width, out = 0, {}
  for _, title in ipairs(titles) do width = math.max(width, width_of(title)) end
  for l, line in ipairs(lines) do
    if l > 1 then out[#out + 1] = "\n" end
    for c, text in ipairs(line) do
      if text ~= "" then
        local room, is_long = columns - width - 2, false
        for word in text:gmatch "%S+" do is_long = is_long or width_of(word) > room end
        local parts = width_of(text) <= room and { text } or wrapped(text, is_long and columns - 2 or room)
        -- a word that has no room beside the title stands below it
        local gap = is_long and "\n  " or (" "):rep(width - width_of(titles[c]) + 2)
        out[#out + 1] = titles[c] .. gap .. parts[1] .. "\n"
        for i = 2, #parts do out[#out + 1] = (" "):rep(is_long and 2 or width + 2) .. parts[i] .. "\n" end
      end
    end
  end
  return table.concat(out)
end

local function as_table(titles, lines, widths, right)
  local out = {}
  local function add(cells)
    local parts, last = {}, #titles
    local rest = wrapped(cells[last], widths[last])
    if width_of(cells[last]) <= widths[last] then rest = { cells[last] } end
    for c = 1, last do
      local text = c == last and rest[1] or cells[c]
      local blanks = (" "):rep(widths[c] - width_of(text))
      parts[c] = right[c] and blanks .. text or text .. blanks
    end
    out[#out + 1] = (table.concat(parts, "  "):gsub("%s+$", "")) .. "\n"
    local indent = #rest > 1 and width_of(table.concat(parts, "  ", 1, last - 1)) + 2
    for i = 2, #rest do out[#out + 1] = (" "):rep(indent) .. rest[i] .. "\n" end
  end
  add(titles)
  local rules = {}
  for c, width in ipairs(widths) do rules[c] = ("-"):rep(width) end
  add(rules)
  for _, line in ipairs(lines) do add(line) end
  return table.concat(out)
end

-- The first columns, as many as fit but at least `min`; nil when those do not fit.
local function first_columns(titles, lines, width, min)
  local widths, total = widths_of(titles, lines)
  local count = #titles
  for c, title in ipairs(titles) do
    if title == "address" then min = math.max(min, c) end -- it is part of what a record says
  end
  while count > min and total > width do
    total, count = total - widths[count] - 2, count - 1
  end
  if total > width then return nil end
  local cut = {}
  for l, line in ipairs(lines) do cut[l] = { unpack(line, 1, count) } end
  return { unpack(titles, 1, count) }, cut, table.concat(titles, ", ", count + 1)
end

--- Lines of cells as an aligned table; columns that hold only numbers are aligned at the right.
---@param titles string[]
---@param lines string[][]
---@param width integer|nil  at most so many columns; default: those of the terminal, if standard output is one
---@param min integer|nil    so many columns must stay; the others may be left out, which the text then says
function M.aligned(titles, lines, width, min)
  width = width or not terminal.settings.output and core.is_terminal(1) and core.terminal_width(1) or math.huge
  local right = numeric(titles, lines)
  local widths, total = widths_of(titles, lines)
  if total > width then
    local short = shortened(titles, lines)
    local short_widths, short_total = widths_of(titles, short)
    local last, spare = #titles, width - (short_total - short_widths[#titles])
    if short_total <= width then
      lines, widths = short, short_widths
    elseif last > 1 and spare >= LAST_MIN and not SHORTENS[titles[last]] and titles[last] ~= "address" then
      lines, widths = short, short_widths
      widths[last] = spare
    else
      local some, cells, left_out = nil, nil, nil
      if min then some, cells, left_out = first_columns(titles, short, width, min) end
      if not some then return as_fields(titles, lines, width) end
      return as_table(some, cells, widths_of(some, cells), numeric(some, cells))
        .. ("(for want of room without %s)\n"):format(left_out)
    end
  end
  return as_table(titles, lines, widths, right)
end

return M
