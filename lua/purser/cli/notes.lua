-- SPDX-License-Identifier: MIT
-- Notes on rows (payments of a plan, customers of a file) as lines with file, line and name: one line for equal texts.

local plain_text = require "purser.client.util.plain_text"

local M = {}

M.SHOWN = 10 -- groups of texts

local function lines_text(numbers)
  local parts, i = {}, 1
  while i <= #numbers and #parts < 8 do
    local last = i
    while numbers[last + 1] == numbers[last] + 1 do last = last + 1 end
    parts[#parts + 1] = last > i and ("%d-%d"):format(numbers[i], numbers[last]) or ("%d"):format(numbers[i])
    i = last + 1
  end
  return table.concat(parts, ", ") .. (i <= #numbers and (" and %d more"):format(#numbers - i + 1) or "")
end

-- Returns a text without quoted parts, addresses and numbers.
local function pattern_of(text)
  return (text:gsub('"[^"]*"', '""'):gsub("%w+", function(word) return #word > 19 and "@" or nil end)
    :gsub("%d[%d.,:-]*", "0"))
end

--- Returns the texts of rows in groups of alike ones: each { text, differs, rows in order }.
---@param texts_of fun(row: table): string[]
---@param is_exact boolean|nil  numbers count
function M.groups(rows, texts_of, is_exact)
  local groups, by_pattern = {}, {}
  for _, row in ipairs(rows) do
    for _, text in ipairs(texts_of(row)) do
      local pattern = is_exact and text or pattern_of(text)
      local group = by_pattern[pattern]
      if not group then
        group = { text = text }
        by_pattern[pattern], groups[#groups + 1] = group, group
      end
      group.differs = group.differs or group.text ~= text
      if group[#group] ~= row then group[#group + 1] = row end
    end
  end
  return groups
end

---@class purser.cli.Notes
---@field rows table[]       each with a list of texts; a row of a file has its `line`
---@field texts string       the member with the list
---@field name string        what a text is: "warning"
---@field noun string        what a row is: "payment"
---@field key string         the member by which a row is named
---@field path string|nil    of the file
---@field most integer|nil   groups of texts that are shown
---@field is_exact boolean|nil  texts that differ in a number are no group

--- Returns the lines of notes.
---@param notes purser.cli.Notes
---@return string[]
function M.lines(notes)
  local out, most = {}, notes.most or M.SHOWN
  local groups = M.groups(notes.rows, function(row) return row[notes.texts] end, notes.is_exact)
  for i, group in ipairs(groups) do
    if i > most then
      out[#out + 1] = ("and %s; --csv lists all"):format(plain_text.counted(#groups - most, "other " .. notes.name))
      break
    end
    local lines, who = {}, ('%s "%s"'):format(notes.noun, group[1][notes.key])
    for n, row in ipairs(group) do lines[n] = row.line end -- a payment of the queue has none
    if lines[2] then
      who = ("%s (lines %s)%s"):format(plain_text.counted(#lines, notes.noun), lines_text(lines),
        group.differs and (", such as that of line %d"):format(lines[1]) or "")
    elseif group[2] then
      who = ("%s, such as %s"):format(plain_text.counted(#group, notes.noun), who)
    end
    out[#out + 1] = ("%s%s: %s: %s"):format(lines[1] and ("%s:%d: "):format(notes.path, lines[1]) or "", notes.name,
      who, group.text)
  end
  return out
end

return M
