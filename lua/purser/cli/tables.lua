-- SPDX-License-Identifier: MIT
-- Cells as an aligned table; on a narrow terminal the last column wraps, or records are lists of fields.

local core = require "purser.core"
local terminal = require "purser.cli.terminal"

local M = {}

local LAST_MIN = 24 -- columns for the last cell, if its words are wrapped

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

local function room()
  return not terminal.settings.output and core.is_terminal(1) and core.terminal_width(1) or math.huge
end

function M.fields(titles, lines)
  local width, out = 0, {}
  for _, title in ipairs(titles) do width = math.max(width, width_of(title) + 2) end
  for l, line in ipairs(lines) do
    if l > 1 then out[#out + 1] = "\n" end
    for c, text in ipairs(line) do
      if text ~= "" then out[#out + 1] = titles[c] .. (" "):rep(width - width_of(titles[c])) .. text .. "\n" end
    end
  end
  return table.concat(out)
end

--- Returns lines of cells as an aligned table; columns that hold only numbers are aligned at the right.
---@param width integer|nil  at most so many columns; default: those of the terminal, if standard output is one
---@return string, boolean is_table  false: there is no room, and each record is a list of fields
function M.aligned(titles, lines, width)
  local right = numeric(titles, lines)
  local widths, total = widths_of(titles, lines)
  width = width or room()
  local out, rules, before = {}, {}, total - widths[#titles]
  if total > width then
    local longest = LAST_MIN
    for _, line in ipairs(lines) do
      for word in line[#titles]:gmatch "%S+" do longest = math.max(longest, width_of(word)) end
    end
    if #titles == 1 or before + longest > width then return M.fields(titles, lines), false end
    widths[#titles] = width - before
  end
  local function add(cells)
    local parts = {}
    for c, text in ipairs(cells) do
      local blanks = (" "):rep(widths[c] - width_of(text))
      parts[c] = right[c] and blanks .. text or text .. blanks
    end
    local line = table.concat(parts, "  "):gsub("%s+$", "")
    out[#out + 1] = (total > width and terminal.fold(line, before + #line - width_of(line), width) or line) .. "\n"
  end
  for c, columns in ipairs(widths) do rules[c] = ("-"):rep(columns) end
  add(titles)
  add(rules)
  for _, line in ipairs(lines) do add(line) end
  return table.concat(out), true
end

return M
