-- SPDX-License-Identifier: MIT
--- Lines of CSV. A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@`, and strangers choose memos: such a
--- cell gets a leading `'`, and invisible characters become escapes.
---
---     csv.line({ "2026-01-31", "-5", "=1+1" }, { is_number = { [2] = true } })   -- 2026-01-31,-5,'=1+1

local plain_text = require "purser.client.util.plain_text"

---@class purser.modules.csv
local M = {}

-- The four signs in East Asian text, which spreadsheets run.
local WIDE_SIGN = "^\239\188[\139\141\157\160]"

local function harmless(text, is_number)
  text = plain_text.clean(text)
  if is_number and text:find "^%-?%d+%.?%d*$" then return text end
  local begin = text:match "^ *(.*)$"
  if begin:find "^[=+@-]" or begin:find(WIDE_SIGN) then return "'" .. text end
  return text
end

-- M.parse takes a line that begins with # for a comment: quotes prevent that.
local function quoted(text)
  if text:find '[",;\t\r\n]' or text:find "^#" or text:find "^%s" or text:find "%s$" then
    return '"' .. text:gsub('"', '""') .. '"'
  end
  return text
end

---@class purser.CsvRecord
---@field line integer  the number of the line it begins on
---@field [integer] string

---@class purser.CsvOptions
---@field is_number table<integer, boolean>|nil  the columns in which `-5` is a number and stays one
---@field raw boolean|nil  the exact texts, for programs: no spreadsheet and no terminal should see them

--- Returns a line with its end; nil is an empty cell.
---@param values table  texts, numbers or booleans, from 1 to `values.n` or to the last
---@param options purser.CsvOptions|nil
---@return string
function M.line(values, options)
  local cells, is_number = {}, options and options.is_number or {}
  for i = 1, values.n or #values do
    local text = values[i] == nil and "" or tostring(values[i])
    if not text:find "^[A-Za-z0-9._:/()]*$" then -- most need no escape, no mark and no quotes
      if not (options and options.raw) then text = harmless(text, is_number[i] or type(values[i]) == "number") end
      text = quoted(text)
    end
    cells[i] = text
  end
  return table.concat(cells, ",") .. "\n"
end

-- Returns the text of the cell at byte `at`, and the cell's end; or nil.
local function cell_at(text, at, separator)
  local ends = "[" .. separator .. "\r\n]"
  if text:sub(at, at) ~= '"' then
    local stop = text:find(ends, at) or #text + 1
    return text:sub(at, stop - 1), stop
  end
  local parts, from = {}, at + 1
  while true do
    local quote = text:find('"', from, true)
    if not quote then return nil end
    parts[#parts + 1] = text:sub(from, quote - 1)
    if text:sub(quote + 1, quote + 1) ~= '"' then
      if not text:find("^" .. ends, quote + 1) and quote < #text then return nil end
      return table.concat(parts), quote + 1
    end
    parts[#parts + 1], from = '"', quote + 2
  end
end

--- Returns records: lists of texts with `line`, the first line's number. A byte order mark, empty lines and lines with
--- # are left out. Nil and a message for a text that is no CSV.
---@param text string
---@param separator string|nil  between cells: a comma, a semicolon or a tab. Default: ","
---@return purser.CsvRecord[]|nil records, string|nil message, integer|nil comments  how many lines begin with #
function M.parse(text, separator)
  separator = separator or ","
  if type(text) ~= "string" then return nil, ("the text is a %s; give a string"):format(type(text)) end
  if separator ~= "," and separator ~= ";" and separator ~= "\t" then
    return nil, "the separator is none; give a comma, a semicolon or a tab"
  end
  local records, comments, at, line = {}, 0, text:find "^\239\187\191" and 4 or 1, 1
  while at <= #text do
    local record = { line = line }
    if text:sub(at, at) == "#" then
      at, comments = text:find("[\r\n]", at) or #text + 1, comments + 1
    else
      repeat
        local cell, stop = cell_at(text, at, separator)
        if not cell then return nil, ("line %d: a quoted cell does not end, or more follows it"):format(line) end
        record[#record + 1] = cell
        local _, breaks = cell:gsub("\n", "")
        line, at = line + breaks, stop + 1
      until text:sub(stop, stop) ~= separator
      at = at - 1
      if record[1] ~= "" or record[2] then records[#records + 1] = record end
    end
    local _, ends = text:find("^\r?\n", at)
    at, line = (ends or at) + 1, line + 1
  end
  return records, nil, comments
end

-- Returns the kind of a file that is no CSV, or nil.
local function other_kind(text)
  if text:find "^PK\3\4" or text:find "^\208\207\17\224" then
    return "is a workbook of a spreadsheet program; save it as CSV (UTF-8)"
  elseif text:find "^SQLite format 3" then
    return "is a database, such as a journal; give the file of lines"
  elseif text:find "^%s*[{%[]" then
    return "is JSON; give the file as CSV"
  elseif text:find "^\255\254" or text:find "^\254\255" or text:sub(1, 64):find("%z") then
    return "is UTF-16 or no text at all; save it as CSV (UTF-8)"
  end
end

-- Returns the most frequent separator of the first line that is no comment.
local function separator_of(text)
  local best, most = ",", 0
  for line in text:gsub("^\239\187\191", ""):gmatch "[^\r\n]+" do
    if line:sub(1, 1) ~= "#" then
      for _, separator in ipairs { ",", ";", "\t" } do
        local _, count = line:gsub(separator, "")
        if count > most then best, most = separator, count end
      end
      break
    end
  end
  return best
end

--- Returns the records of a file that a person or a spreadsheet program wrote, as `parse` does, with the separator of
--- the first line. Nil and a message for a text that is no CSV.
---@param text string
---@return purser.CsvRecord[]|nil records, string|nil message, integer|nil comments, string|nil separator
function M.read(text)
  local kind = type(text) == "string" and other_kind(text)
  if kind then return nil, "the file " .. kind end
  local separator = type(text) == "string" and separator_of(text) or nil
  local records, message, comments = M.parse(text, separator)
  return records, message, comments, records and separator or nil
end

--- Tells whether an amount has two readings: 12.500 is 12.5, or 12500 in a country whose files have semicolons.
---@param text string
---@param separator string  of the file
---@return boolean
function M.has_two_readings(text, separator)
  return separator ~= "," and text:find "^%-?[1-9]%d?%d?[.,]%d%d%d$" ~= nil
end

return M
