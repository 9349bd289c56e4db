-- SPDX-License-Identifier: MIT
-- What a command other than an operation prints, as rows of cells: a table, CSV or JSON, the rows that --filter names.

local csv = require "purser.util.csv"
local json = require "purser.json"
local output = require "purser.cli.output"
local plain_text = require "purser.util.plain_text"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {}

--- The filters of the command line, by the place of a title: { { place, value } }; nil and a message.
---@param titles string[]
---@param options table  of argparse
---@return table[]|nil filters, string|nil message
function M.filters(titles, options)
  local places = {}
  for place, title in ipairs(titles) do places[title] = place end
  return output.filters_by(options, places, titles)
end

--- What is wrong with the output options together, or nil.
---@param titles string[]
---@param options table  of argparse
---@return string|nil
function M.message(titles, options)
  local message = output.message(options)
  if message then return message end
  return (select(2, M.filters(titles, options)))
end

--- Whether a row has the values that the filters name.
---@param row table      cells
---@param filters table[]  of M.filters
function M.passes(row, filters)
  for _, filter in ipairs(filters) do
    if tostring(row[filter[1]] or "") ~= filter[2] then return false end
  end
  return true
end

-- A cell as text; times are epoch milliseconds.
local function text_of(cell, is_time, style)
  if cell == nil then return "" end
  if is_time and type(cell) == "number" then return values.show_time(cell, style) end
  return type(cell) == "number" and ("%d"):format(cell) or tostring(cell)
end

local formats = {}

function formats.csv(titles, rows, facts, options)
  local out, settings = { csv.line(titles) }, { raw = options.raw, is_number = facts.is_number }
  for r, row in ipairs(rows) do
    local cells = {}
    for c in ipairs(titles) do cells[c] = text_of(row[c], facts.is_time[c], terminal.settings.time or "ms") end
    out[r + 1] = csv.line(cells, settings)
  end
  return table.concat(out)
end

function formats.json(titles, rows)
  local list = {}
  for r, row in ipairs(rows) do
    local members = {}
    for c, title in ipairs(titles) do
      local cell = row[c]
      if cell ~= nil and cell ~= "" then
        members[#members + 1] = { title, type(cell) == "number" and cell or tostring(cell) }
      end
    end
    list[r] = json.object(members)
  end
  return output.json(json.list(list), "  ")
end

formats["table"] = function(titles, rows, facts)
  if #rows == 0 then return facts.empty or "(none)\n" end
  local lines = {}
  for r, row in ipairs(rows) do
    lines[r] = {}
    for c in ipairs(titles) do
      lines[r][c] = plain_text.clean(text_of(row[c], facts.is_time[c], terminal.settings.time))
    end
  end
  return output.aligned(titles, lines)
end

--- Rows as text in the format of the options.
---@param titles string[]
---@param rows table[]     each a list of cells: texts, decimals, whole numbers; nil or "" where there is none
---@param options table    of argparse: format, filter, raw; `message` found nothing wrong with them
---@param facts table|nil  is_number, is_time: sets of columns; empty: the text of a table without rows
---@return string
function M.render(titles, rows, options, facts)
  local filters, passing = assert(M.filters(titles, options)), {}
  for _, row in ipairs(rows) do
    if M.passes(row, filters) then passing[#passing + 1] = row end
  end
  facts = facts or {}
  facts.is_number, facts.is_time = facts.is_number or {}, facts.is_time or {}
  return formats[options.format](titles, passing, facts, options)
end

return M
