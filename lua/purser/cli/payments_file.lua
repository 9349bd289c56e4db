-- SPDX-License-Identifier: MIT
-- A list of payments as CSV: a header with the names of parameters, then a payment a line. `key` names a payment for
-- good; `operation` may stand in a column or come from the command.

local csv = require "purser.csv"
local files = require "purser.util.files"
local operations = require "purser.api.operations"
local plain_text = require "purser.util.plain_text"
local suggest = require "purser.util.suggest"

local M = {}

-- The columns that an operation takes, as the header may spell them: "netWork" and "network" are one.
local function columns_of(row)
  local names, by_spelling = {}, {}
  for _, param in ipairs(row.params) do
    if not param.plain then
      names[#names + 1] = param[1]
      by_spelling[param[1]:lower():gsub("_", "")] = param[1]
    end
  end
  return names, by_spelling
end

-- The operation of a payment; nil and a message.
local function row_of(name)
  local row = operations.by_name[(name:gsub("[ :/]", ".", 1):gsub("%-", "_"))]
  if row and row.effect == "transfer" then return row end
  local known = {}
  for _, candidate in ipairs(operations.list) do
    if candidate.effect == "transfer" then known[#known + 1] = candidate.full_name end
  end
  return nil, ("%q is no operation that moves funds%s; there are %s"):format(name, suggest.hint(name, known),
    table.concat(known, ", "))
end

local function read_payment(header, record, otherwise)
  local cells = {}
  for i, text in ipairs(record) do
    if not header[i] then return nil, ("has %d cells, and the header %d"):format(#record, #header) end
    if text ~= "" then cells[header[i]] = text end
  end
  local key, name = cells.key, cells.operation or otherwise
  if not key then return nil, "has no key; give each payment one of its own" end
  if plain_text.has_hidden(key) then
    return nil, ('payment "%s": the key begins or ends with a blank, or holds characters that cannot be seen; with and '
      .. "without them it would be paid twice, so remove them"):format(plain_text.clean(key))
  end
  if not name then return nil, ("payment %q: no operation; give a column `operation`, or --operation"):format(key) end
  local row, message = row_of(name)
  if not row then return nil, ("payment %q: %s"):format(key, message) end
  local names, by_spelling = columns_of(row)
  local params, given = {}, {}
  for _, column in ipairs(header) do
    local text = cells[column]
    if text and column ~= "key" and column ~= "operation" then
      local param = by_spelling[column:lower():gsub("[_ -]", "")]
      if not param then
        return nil, ("payment %q: %s has no parameter %q%s; it has %s"):format(key, row.full_name, column,
          suggest.hint(column, names), table.concat(names, ", "))
      end
      if given[param] then
        return nil, ("payment %q: the columns %q and %q are both %s; leave one out"):format(key, given[param], column,
          param)
      end
      params[param], given[param] = text, column
    end
  end
  return { key = key, operation = row.full_name, params = params, line = record.line, row = row }
end

local function check_header(header)
  local seen = {}
  for _, name in ipairs(header) do
    if seen[name] then return ("the header names %q twice"):format(name) end
    seen[name] = true
  end
  if not seen.key then
    return "the first line must name the columns, with `key` among them, such as key,coin,network,address,amount"
  end
end

--- The payments of a file, with `comments`: how many lines begin with #. Nil and a list of what is wrong, each with its
--- line.
---@param path string
---@param otherwise string|nil  the operation of payments without one
---@return table[]|nil payments, string[]|nil messages
function M.read(path, otherwise)
  local text, message = files.read(path)
  if not text then return nil, { message } end
  local records, comments
  records, message, comments = csv.parse(text)
  message = message or not records[1] and "is empty"
  if message then return nil, { ("%s: %s"):format(path, message) } end
  local header = table.remove(records, 1)
  message = check_header(header)
  if message then return nil, { ("%s:%d: %s"):format(path, header.line, message) } end
  local payments, messages, lines = {}, {}, {}
  for _, record in ipairs(records) do
    local payment, wrong = read_payment(header, record, otherwise)
    if payment and lines[payment.key] then
      wrong = ("payment %q: line %d has the same key; a key is of one payment"):format(payment.key, lines[payment.key])
    elseif payment then
      lines[payment.key], payments[#payments + 1] = record.line, payment
    end
    if wrong then messages[#messages + 1] = ("%s:%d: %s"):format(path, record.line, wrong) end
  end
  if messages[1] then return nil, messages end
  payments.comments = comments
  return payments
end

return M
