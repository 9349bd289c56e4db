-- SPDX-License-Identifier: MIT
--- Lines of CSV. A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@`, and strangers choose memos: such a
--- cell is marked as text by a `'` before it, and what hides becomes a visible escape.
--
--     csv.line({ "2026-01-31", "-5", "=1+1" }, { is_number = { [2] = true } })   -- 2026-01-31,-5,'=1+1

local plain_text = require "purser.plain_text"

local M = {}

-- The same four signs as East Asian text has them: spreadsheets take them, too.
local WIDE_SIGN = "^\239\188[\139\141\157\160]"

local function harmless(text, is_number)
  text = plain_text.clean(text)
  if is_number and text:find "^%-?%d+%.?%d*$" then return text end
  local begin = text:match "^ *(.*)$"
  if begin:find "^[=+@-]" or begin:find(WIDE_SIGN) then return "'" .. text end
  return text
end

local function quoted(text)
  if text:find '[",;\t\r\n]' or text:find "^%s" or text:find "%s$" then
    return '"' .. text:gsub('"', '""') .. '"'
  end
  return text
end

---@class purser.CsvOptions
---@field is_number table<integer, boolean>|nil  the columns in which `-5` is a number and stays one
---@field raw boolean|nil  the exact texts, for programs: no spreadsheet and no terminal should see them

--- One line, with its line end. nil stands for an empty cell.
---@param values table  texts, numbers or booleans, from 1 to `values.n` or to the last
---@param options purser.CsvOptions|nil
---@return string
function M.line(values, options)
  local cells, is_number = {}, options and options.is_number or {}
  for i = 1, values.n or #values do
    local text = values[i] == nil and "" or tostring(values[i])
    if not (options and options.raw) then text = harmless(text, is_number[i] or type(values[i]) == "number") end
    cells[i] = quoted(text)
  end
  return table.concat(cells, ",") .. "\n"
end

return M
