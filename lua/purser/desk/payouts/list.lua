-- SPDX-License-Identifier: MIT
-- A list of payments from CSV: a header with the names of parameters, then a payment a line. `key` names a payment for
-- good; `payee` is for persons; `operation` may stand in a column or come from the command. Cells are separated by
-- commas, semicolons or tabs.

local add = require "purser.desk.payouts.add"
local csv = require "purser.client.util.csv"
local files = require "purser.client.util.files"
local plain_text = require "purser.client.util.plain_text"
local purser = require "purser"
local suggest = require "purser.client.util.suggest"

local M = {}

-- Returns one text for "netWork", "net-work" and "Net Work".
local function spelling(name) return (name:lower():gsub("[_ -]", "")) end

-- Returns the columns of an operation, and their names by spelling.
local function columns_of(row)
  local names, by_spelling = {}, {}
  for _, param in ipairs(row.params) do
    if not param.plain then names[#names + 1], by_spelling[spelling(param[1])] = param[1], param[1] end
  end
  return names, by_spelling
end

-- Returns the operation of a payment; or nil and a message.
local function row_of(rows, name)
  local row, short, known = rows[(name:gsub("[ :/]", ".", 1):gsub("%-", "_"))], rows["wallet." .. name], {}
  if row and row.effect == "transfer" then return row end
  for _, candidate in ipairs(rows) do
    known[#known + 1] = candidate.effect == "transfer" and candidate.full_name or nil
  end
  local hint = suggest.hint(short and short.full_name or name, known)
  return nil, ("%q is no operation that moves funds%s; there are %s"):format(name, hint, table.concat(known, ", "))
end

local MARKS = { point = { "[.]", "," }, comma = { ",", "[.]" } }

-- Returns an amount with a decimal point and without marks of thousands; or nil and a message where the text has no
-- reading, or two. `mark` is "point", "comma", or nil where the file does not say.
local function amount_of(text, mark, separator)
  if not mark then
    if csv.has_two_readings(text, separator) then
      return nil, ("the amount %s may be thousands, or have three decimals; say --decimal point or --decimal comma"
        ):format(text)
    elseif separator ~= "," and text:find "^%d[%d.]*,%d+$" then
      return nil, ("the amount %s has a comma for its decimals; say --decimal comma"):format(text)
    end
    return text
  end
  local point, thousands = MARKS[mark][1], MARKS[mark][2]
  local whole, rest = text:match("^(%-?[%d.,]-)" .. point .. "(%d+)$")
  whole = whole or text
  local first, groups = whole:match("^%-?(%d+)(.*)$")
  local has_groups = groups and groups ~= "" -- of thousands, which do not begin with 0: 0.123 has one reading
  if not first or has_groups and (not first:find "^[1-9]%d?%d?$" or groups:gsub(thousands .. "%d%d%d", "") ~= "") then
    return nil, ("the amount %s does not fit --decimal %s"):format(text, mark)
  end
  return (whole:gsub(thousands, "")) .. (rest and "." .. rest or "")
end

-- Returns the parameters of a payment, and the amount as written; adds to `problems`.
local function params_of(header, cells, row, problems, form)
  local names, by_spelling = columns_of(row)
  local params, given, written = {}, {}, nil
  for i, column in ipairs(header) do
    local param = by_spelling[spelling(column)]
    if not cells[i] or column == "key" or column == "operation" or column == "payee" or column:find "^#" then -- luacheck: ignore
    elseif not param then
      problems[#problems + 1] = ('%s has no parameter "%s"%s; it has %s. A column whose name begins with # is left out')
        :format(row.full_name, column, suggest.hint(column, names), table.concat(names, ", "))
    elseif given[param] then
      problems[#problems + 1] = ('the columns "%s" and "%s" are both %s; leave one out'):format(given[param], column,
        param)
    else
      params[param], given[param] = cells[i], column
      if row.by_name[param][2] == "amount" then
        local amount, message = amount_of(cells[i], form.mark, form.separator)
        if not amount then problems[#problems + 1], problems.is_unread = message, true end
        params[param], written = amount or cells[i], amount and amount ~= cells[i] and cells[i] or written
      end
    end
  end
  return params, written
end

-- Returns one payment, with what is wrong with it.
local function payment_of(rows, header, record, otherwise, form)
  local cells, of, problems = {}, {}, {}
  for i, text in ipairs(record) do
    if header[i] and text ~= "" then cells[i], of[header[i]] = text, text end
  end
  if #record > #header then problems[1] = ("has %d cells, and the header %d"):format(#record, #header) end
  local name, row = of.operation or otherwise, nil
  local message = "no operation; give a column `operation`, or --operation"
  if not of.key then
    problems[#problems + 1] = "has no key; give each payment one of its own"
  elseif not plain_text.is_name(of.key) then
    problems[#problems + 1] = add.NO_NAME .. ", so remove them"
  end
  if name then row, message = row_of(rows, name) end
  if not row then problems[#problems + 1] = message end
  local params, written
  if row then params, written = params_of(header, cells, row, problems, form) end
  return { key = of.key or "", payee = of.payee, operation = row and row.full_name or name or "", line = record.line,
    row = row, params = params or {}, written = written, problems = problems, warnings = {}, odd = {} }
end

-- Gives `key`, `operation` and `payee` of the header these spellings; `name` is another word for payee. Returns what is
-- wrong, or nil.
local function check_header(header)
  local seen = {}
  for i, name in ipairs(header) do
    local plain = spelling(name)
    if plain == "name" then plain = "payee" end
    if plain == "key" or plain == "operation" or plain == "payee" then header[i] = plain end
    name = header[i]
    if name ~= "" and seen[name] then return ('the header names "%s" twice'):format(name) end
    seen[name] = true
  end
  if not seen.key then
    return ('the first line must name the columns, with `key` among them, such as key,coin,network,address,amount; '
      .. 'it is "%s"'):format(plain_text.clean(table.concat(header, ","):sub(1, 60)))
  end
end

-- Tells whether a text ends within the line of its last record: a file that was cut looks so.
local function ends_open(text)
  local last = text:match "([^\r\n]+)$"
  return last ~= nil and last:sub(1, 1) ~= "#"
end

--- Reads a list: purser.payouts.read. The last payment is `cut` where its line has no end. `comments` of the list is
--- the number of lines that begin with #; `is_empty` is true where Purser wrote the list, without payments.
---@param otherwise string|nil  the operation of payments without one
---@param mark "point"|"comma"|nil  of the decimals
---@param text string|nil  the text of the list, where it is no file's
function M.read(path, otherwise, mark, text)
  if type(path) ~= "string" then return nil, ("the path of the list is a %s; give a text"):format(type(path)) end
  if otherwise ~= nil and type(otherwise) ~= "string" then
    return nil, ("the operation of the list is a %s; give a text, such as wallet.withdraw"):format(type(otherwise))
  end
  if mark ~= nil and not MARKS[mark] then return nil, 'the mark of decimals is "point" or "comma"' end
  local message
  if not text then text, message = files.read(path) end
  if not text then return nil, message end
  local records, problem, comments, separator = csv.read(text)
  message = problem or not records[1] and "the file is empty"
  if message then return nil, ("%s: %s"):format(path, message) end
  local form = { mark = mark, separator = separator }
  local header = table.remove(records, 1)
  message = check_header(header)
  if message then return nil, ("%s:%d: %s"):format(path, header.line, message) end
  local marker = "\n" .. purser.payouts.NO_PAYMENT .. "\n"
  local is_empty = not records[1] and text:gsub("\r", ""):find(marker, 1, true) ~= nil
  local payments, lines, rows = { comments = comments, is_empty = is_empty }, {}, purser.operations
  for i, record in ipairs(records) do
    local payment = payment_of(rows, header, record, otherwise, form)
    local first = payment.key ~= "" and lines[payment.key]
    if first then
      table.insert(payment.problems, 1, ("line %d has the same key; a key is of one payment"):format(first))
    end
    lines[payment.key], payments[i] = first or record.line, payment
  end
  if payments[1] then payments[#payments].cut = ends_open(text) or nil end
  return payments
end

return M
