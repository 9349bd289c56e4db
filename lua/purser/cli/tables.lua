-- SPDX-License-Identifier: MIT
-- Cells as an aligned table. On a terminal it fits: long ids are shortened in the middle, the last column is wrapped,
-- and what is wider still becomes a list of fields for each record. Elsewhere nothing depends on a width.

local core = require "purser.core"
local terminal = require "purser.cli.terminal"

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

-- Returns which columns hold only numbers, and at least one.
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

-- Returns a text as lines of so many characters, broken at blanks; of more where a word is longer.
local function wrapped(text, room)
  if width_of(text) <= room then return { text } end
  for word in text:gmatch "%S+" do room = math.max(room, #word) end
  local lines = terminal.parts(text .. " ", room + 1) -- a blank at the end of a line is left out
  for i, line in ipairs(lines) do lines[i] = line:gsub(" +$", "") end
  return lines
end

-- Returns the columns that there is room for.
local function room()
  return not terminal.settings.output and core.is_terminal(1) and core.terminal_width(1) or math.huge
end

--- Returns lines of cells as a list of fields for each. A word that has no room beside its title stands below it.
---@param titles string[]
---@param lines string[][]
---@param columns integer|nil  default: those of the terminal
---@return string
function M.fields(titles, lines, columns)
  local width, out = 0, {}
  for _, title in ipairs(titles) do width = math.max(width, width_of(title) + 2) end
  columns = columns or room()
  for l, line in ipairs(lines) do
    if l > 1 then out[#out + 1] = "\n" end
    for c, text in ipairs(line) do
      local is_long = false
      for word in text:gmatch "%S+" do is_long = is_long or width_of(word) > columns - width end
      local indent = (" "):rep(is_long and 2 or width)
      local gap = is_long and "\n" .. indent or (" "):rep(width - width_of(titles[c]))
      local parts = table.concat(wrapped(text, columns - #indent), "\n" .. indent)
      if text ~= "" then out[#out + 1] = titles[c] .. gap .. parts .. "\n" end
    end
  end
  return table.concat(out)
end

local function as_table(titles, lines, widths, right)
  local out = {}
  local function add(cells)
    local parts, last = {}, #titles
    local rest = wrapped(cells[last], widths[last])
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

--- Returns lines of cells as an aligned table; columns that hold only numbers are aligned at the right.
---@param titles string[]
---@param lines string[][]
---@param width integer|nil  at most so many columns; default: those of the terminal, if standard output is one
---@return string
function M.aligned(titles, lines, width)
  width = width or room()
  local right = numeric(titles, lines)
  local widths, total = widths_of(titles, lines)
  if total <= width then return as_table(titles, lines, widths, right) end
  local short, last = shortened(titles, lines), #titles
  widths, total = widths_of(titles, short)
  local spare = width - total + widths[last]
  if total > width then
    if last == 1 or spare < LAST_MIN or SHORTENS[titles[last]] or titles[last] == "address" then
      return M.fields(titles, lines, width)
    end
    widths[last] = spare
  end
  return as_table(titles, short, widths, right)
end

return M
