-- SPDX-License-Identifier: MIT
-- Results as text: an aligned table for people, JSON and CSV for programs. Amounts and ids are never touched.

local csv = require "purser.util.csv"
local json = require "purser.json"
local suggest = require "purser.util.suggest"
local plain_text = require "purser.util.plain_text"
local shapes = require "purser.api.shapes"
local tables = require "purser.cli.tables"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {}

----------------------------------------------------------------------------------------------------------- JSON

local ordered

-- A value without a shape. An empty table cannot be distinguished from an empty object; what the service sends is a
-- list.
local function unshaped(value)
  if type(value) ~= "table" then return value end
  if value[1] == nil and next(value) ~= nil then
    local names, members = {}, {}
    for name in pairs(value) do names[#names + 1] = name end
    table.sort(names)
    for i, name in ipairs(names) do members[i] = { name, unshaped(value[name]) } end
    return json.object(members)
  end
  local list = {}
  for i, item in ipairs(value) do list[i] = unshaped(item) end
  return json.list(list)
end

local function shaped(value, field_type)
  if type(value) ~= "table" or type(field_type) ~= "table" then return unshaped(value) end
  if field_type.record then return ordered(value, field_type.record) end
  local list = {}
  for i, item in ipairs(value) do list[i] = shaped(item, field_type.list) end
  return json.list(list)
end

-- The names that a record has and its shape does not, sorted.
local function unknown_names(record, known)
  local names = {}
  for name in pairs(record) do
    if not known[name] then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

-- A record as a JSON object: the members of its shape in the shape's order, then the others by name.
function ordered(record, shape_name)
  local members, known = {}, {}
  for _, field in ipairs(shapes[shape_name]) do
    known[field[1]] = true
    if record[field[1]] ~= nil then members[#members + 1] = { field[1], shaped(record[field[1]], field[2]) } end
  end
  for _, name in ipairs(unknown_names(record, known)) do members[#members + 1] = { name, unshaped(record[name]) } end
  return json.object(members)
end

local function ordered_list(records, shape_name)
  local list = {}
  for i, record in ipairs(records) do list[i] = ordered(record, shape_name) end
  return json.list(list)
end

--- A line or, with an indent, lines of JSON, in which no character hides: the data is the same.
function M.json(value, indent)
  return plain_text.as_json(json.encode(value, indent and { indent = indent })) .. "\n"
end

--- A result as a value for json.encode, its members in the order of its shape.
function M.ordered(row, result)
  local form = row.result
  if form.record then return ordered(result, form.record) end
  if form.list then return ordered_list(result, form.list) end
  local carrier = form.page and "data" or "rows"
  local members, known = { { carrier, ordered_list(result[carrier], form.page or form.rows) } }, { [carrier] = true }
  for _, name in ipairs { "total", "page", "totalRecords", "totalPageNum" } do
    known[name] = true
    if result[name] ~= nil then members[#members + 1] = { name, result[name] } end
  end
  for _, name in ipairs(unknown_names(result, known)) do members[#members + 1] = { name, unshaped(result[name]) } end
  return json.object(members)
end

-------------------------------------------------------------------------------------------------------- columns

-- What a table shows of records that are too wide for a screen, the columns that 80 places have room for first; CSV and
-- JSON always hold all of it.
local narrow = {
  coin = { "coin", "networkList.netWork", "networkList.withdrawEnable", "networkList.withdrawFee",
    "networkList.withdrawMin", "networkList.depositEnable", "networkList.minConfirm",
    "networkList.withdrawIntegerMultiple", "networkList.network" },
  deposit = { "insertTime", "coin", "amount", "network", "status", "address", "memo", "txId", "confirmTimes",
    "unlockConfirm" },
  withdrawal = { "applyTime", "coin", "amount", "transactionFee", "network", "status", "address", "memo", "id",
    "withdrawOrderId", "txId" },
}
narrow.sub_account_deposit = narrow.deposit

-- The field that holds a list of records: a table gets a line for each of them, with what is around it repeated.
local function nested_field(shape_name)
  for _, field in ipairs(shapes[shape_name]) do
    local list = type(field[2]) == "table" and field[2].list
    if type(list) == "table" then return field[1], list.record end
  end
end

-- All columns of a shape: the members that are not lists of records, then `list.member` of the list it holds.
local function all_columns(shape_name)
  local columns, nested, inner = {}, nested_field(shape_name)
  for _, field in ipairs(shapes[shape_name]) do
    if field[1] ~= nested then columns[#columns + 1] = field[1] end
  end
  for _, field in ipairs(inner and shapes[inner] or {}) do columns[#columns + 1] = nested .. "." .. field[1] end
  return columns
end

local function text_of(value)
  if value == nil then return "" end
  if type(value) == "number" then return ("%d"):format(value) end
  if type(value) ~= "table" then return tostring(value) end
  local scalars = {}
  for i, item in ipairs(value) do
    if type(item) == "table" then return json.encode(unshaped(value)) end
    scalars[i] = text_of(item)
  end
  if #scalars == 0 and next(value) ~= nil then return json.encode(unshaped(value)) end
  return table.concat(scalars, ",")
end

-- One flat table of `column -> value` for each line.
local function lines_of(records, shape_name)
  local nested = nested_field(shape_name)
  local lines = {}
  for _, record in ipairs(records) do
    local inner = nested and record[nested] or {}
    for i = 1, math.max(#inner, 1) do
      local line = {}
      for name, value in pairs(record) do
        if name ~= nested then line[name] = value end
      end
      for name, value in pairs(inner[i] or {}) do line[nested .. "." .. name] = value end
      lines[#lines + 1] = line
    end
  end
  return lines
end

local function records_of(row, result)
  local form = row.result
  if form.list then return result, form.list end
  if form.record then return { result }, form.record end
  if form.page then return result.data, form.page end
  return result.rows, form.rows
end

------------------------------------------------------------------------------------------------------------ CSV

-- The members whose type is text and whose value is an amount.
local is_amount = {
  amount = true, balance = true, convert = true, convertFee = true, convertPlatformToken = true, convertUsdt = true,
  fee = true, free = true, locked = true, totalConvert = true, totalFee = true, transactionFee = true,
  withdrawFee = true, withdrawIntegerMultiple = true, withdrawMax = true, withdrawMin = true,
}

local function number_columns(columns)
  local is_number = {}
  for c, column in ipairs(columns) do is_number[c] = is_amount[column:match("[^.]*$")] end
  return is_number
end

-------------------------------------------------------------------------------------------------------- a table

local function is_time(name, value)
  return type(value) == "number" and (name:find "Time$" or name == "timestamp") and value > 1e11 and value < 1e14
end

-- The shapes whose status is a number with a name.
local state_of = { deposit = values.deposit_state, withdrawal = values.withdrawal_state }

local function cell_text(name, value, shape_name)
  if is_time(name, value) then return values.show_time(value, terminal.settings.time) end
  if name == "status" and state_of[shape_name] and value ~= nil then value = state_of[shape_name](value) end
  return plain_text.clean(text_of(value))
end

M.aligned = tables.aligned

local MIN_COLUMNS = 6 -- of a table whose columns were not asked for

local function list_table(lines, columns, shape_name, requested)
  local shown = {}
  for _, column in ipairs(columns) do -- a column without a single value says nothing
    for _, line in ipairs(lines) do
      if line[column] ~= nil and line[column] ~= "" then
        shown[#shown + 1] = column
        break
      end
    end
  end
  local cells, titles = {}, {}
  for c, column in ipairs(shown) do titles[c] = column:match("[^.]*$") end
  for l, line in ipairs(lines) do
    cells[l] = {}
    for c, column in ipairs(shown) do cells[l][c] = cell_text(titles[c], line[column], shape_name) end
  end
  return M.aligned(titles, cells, nil, not requested and MIN_COLUMNS or nil)
end

local function record_table(record, columns, shape_name)
  local names, width = {}, 0
  for _, name in ipairs(columns) do
    if record[name] ~= nil then
      names[#names + 1] = name
      width = math.max(width, #name)
    end
  end
  local out = {}
  for i, name in ipairs(names) do
    out[i] = name .. (" "):rep(width - #name + 2) .. cell_text(name, record[name], shape_name) .. "\n"
  end
  return table.concat(out)
end

local function footer(row, result, count)
  if row.result.page and result.page then
    return ("page %s of %s, %s records in all\n"):format(text_of(result.page), text_of(result.totalPageNum),
      text_of(result.totalRecords))
  elseif row.result.rows and result.total then
    return ("%d of %s\n"):format(count, text_of(result.total))
  end
  return ""
end

--------------------------------------------------------------------------------------------------------- formats

local formats = {}

function formats.json(row, result) return M.json(M.ordered(row, result), "  ") end

function formats.csv(row, result, requested, is_raw)
  local records, shape_name = records_of(row, result)
  local columns = requested or all_columns(shape_name)
  local out, options = { csv.line(columns) }, { raw = is_raw, is_number = number_columns(columns) }
  for _, line in ipairs(lines_of(records, shape_name)) do
    local texts = {}
    for c, column in ipairs(columns) do
      local value = line[column]
      texts[c] = type(value) == "number" and value or text_of(value)
      if terminal.settings.time and is_time(column:match "[^.]*$", value) then
        texts[c] = values.show_time(value, terminal.settings.time)
      end
    end
    out[#out + 1] = csv.line(texts, options)
  end
  return table.concat(out)
end

function formats.table(row, result, requested)
  local records, shape_name = records_of(row, result)
  if row.result.record then
    local columns = requested
    if not columns then
      columns = {}
      for i, field in ipairs(shapes[shape_name]) do columns[i] = field[1] end
    end
    return record_table(result, columns, shape_name)
  end
  if #records == 0 then return "(none)\n" end
  local columns = requested or narrow[shape_name] or all_columns(shape_name)
  return list_table(lines_of(records, shape_name), columns, shape_name, requested) .. footer(row, result, #records)
end

M.formats = { "table", "json", "csv" }

--- The name of the shape of an operation's records.
---@param row table  the operation
---@return string
function M.shape_of(row)
  local form = row.result
  return form.list or form.record or form.page or form.rows
end

--- The members that `--columns` can name.
---@param row table  the operation
---@return string[]
function M.members(row)
  return all_columns(M.shape_of(row))
end

--- The columns that `--columns` names, or nil for all; nil and a message when one of them does not exist: it would be
--- left out without a word. A member of a nested list can be named alone: `withdrawFee`.
---@param options table  of argparse: columns, format
---@param row table      the operation
---@return string[]|nil columns, string|nil message
function M.columns(options, row)
  if not options.columns then return nil end
  if options.format == "json" then return nil, "--columns is for table and csv; json holds every member" end
  local known, nested, is_known, sayable = M.members(row), nested_field(M.shape_of(row)), {}, {}
  for i, name in ipairs(known) do
    is_known[name] = true
    sayable[i] = name:match("[^.]*$")
  end
  local columns = {}
  for name in options.columns:gmatch("[^,%s]+") do
    local inner = nested and nested .. "." .. name
    if not is_known[name] and not is_known[inner or name] then
      return nil, ("--columns: there is no %q%s; there are %s"):format(name, suggest.hint(name, sayable),
        table.concat(known, ", "))
    end
    columns[#columns + 1] = is_known[name] and name or inner
  end
  if #columns == 0 then return nil, "--columns names none; give members joined by commas, or leave it out" end
  return columns
end

--- The text of a result in a format: "table", "json" or "csv".
---@param row table              the operation
---@param result table
---@param format string
---@param columns string[]|nil   the members to show instead of all of them
---@param is_raw boolean|nil     csv: the exact texts, whatever a spreadsheet makes of them
---@return string
function M.render(row, result, format, columns, is_raw)
  return formats[format](row, result, columns, is_raw)
end

-------------------------------------------------------------------------------------------------------- filters

--- The filters of the command line: { { what `places` has for the name, value } }; nil and a message.
---@param options table  of argparse
---@param places table<string, any>  by name
---@param known string[]  the names, as they are listed
---@return table[]|nil filters, string|nil message
function M.filters_by(options, places, known)
  local filters = {}
  for i, text in ipairs(options.filter or {}) do
    local name, value = text:match "^([^=]+)=(.*)$"
    if not name then
      return nil, ('--filter takes name=value, not "%s": it compares with = alone, and a shell takes > and <')
        :format(text)
    end
    if not places[name] then
      return nil, ("--filter: there is no %q%s; there are %s"):format(name, suggest.hint(name, known),
        table.concat(known, ", "))
    end
    filters[i] = { places[name], value }
  end
  return filters
end

--- The same for the members of an operation's records. A member of a nested list may be named alone.
---@param options table  of argparse
---@param row table
---@return table[]|nil filters, string|nil message
function M.filters(options, row)
  local known, shorts = M.members(row), {}
  for _, name in ipairs(known) do
    shorts[name], shorts[name:match "[^.]*$"] = name, shorts[name:match "[^.]*$"] or name
  end
  return M.filters_by(options, shorts, known)
end

local function equals(value, text, name, shape_name)
  if value == nil then return text == "" end
  return text_of(value) == text
    or name == "status" and state_of[shape_name] ~= nil and state_of[shape_name](value):match "%S+$" == text:upper()
end

-- The record if it passes, with those of its nested records that do; else nil.
local function passes(record, filter, shape_name)
  local nested, inner = filter[1]:match "^([^.]+)%.(.*)$"
  if not nested then return equals(record[filter[1]], filter[2], filter[1], shape_name) and record or nil end
  local kept, copy = {}, {}
  for _, one in ipairs(record[nested] or {}) do
    if equals(one[inner], filter[2]) then kept[#kept + 1] = one end
  end
  if not kept[1] then return nil end
  for name, value in pairs(record) do copy[name] = value end
  copy[nested] = kept
  return copy
end

--- The result with those records alone that have these values.
---@param row table
---@param result table
---@param filters table[]  of M.filters
function M.filtered(row, result, filters)
  if not filters[1] or row.result.record then return result end
  local records, shape_name = records_of(row, result)
  local list, copy = {}, {}
  for _, record in ipairs(records) do
    for _, filter in ipairs(filters) do record = record and passes(record, filter, shape_name) end
    list[#list + 1] = record
  end
  if row.result.list then return list end
  for name, value in pairs(result) do copy[name] = value end
  copy[row.result.page and "data" or "rows"] = list
  return copy
end

local function define_filter(command)
  return command:option("--filter", "Only records whose member has this value, as name=value; may be repeated.")
    :argname("<name=value>"):count("*")
end

--- Adds the options that say how a result is printed to a command of argparse. With a row, those of its records, too.
---@param command table
---@param row table|nil
---@param own table|nil  default: the format, if not table; filters: whether the command filters without a row
function M.define(command, row, own)
  local default, formats_here, options = own and own.default or "table", {}, {}
  local function add(option) options[#options + 1] = option end
  for _, name in ipairs(M.formats) do
    if name ~= "table" or default == "table" then formats_here[#formats_here + 1] = name end
  end
  local help = table.concat(formats_here, ", ", 1, #formats_here - 1) .. " or " .. formats_here[#formats_here] .. "."
  add(command:option("--format", (help:gsub(default, default .. " (default)"))):argname("<format>")
    :choices(formats_here):default(default):show_default(false))
  add(command:flag("--json", "The same as --format json, and errors as JSON on standard error."))
  add(command:flag("--csv", "The same as --format csv."))
  if row then
    add(command:option("--columns", "Members to show, joined by commas (table and csv); `purser operations NAME` lists "
      .. "them."):argname("<names>"))
    if not row.result.record then add(define_filter(command)) end
  elseif own and own.filters then
    add(define_filter(command))
  end
  add(command:option("--time", "Times as utc (tables), local, iso or ms (csv)."):argname("<style>")
    :choices { "utc", "local", "iso", "ms" })
  add(command:option("--output", "File for the result, written whole or not at all."):argname("<file>"))
  add(command:option("--color", "auto (a terminal, unless NO_COLOR is set), always or never."):argname("<when>")
    :choices { "auto", "always", "never" })
  add(command:flag("--no-pager", "Do not show a long table through the program that PAGER names."))
  add(command:flag("--raw", "csv: the exact texts, for programs; otherwise a cell that a spreadsheet would run gets a '"
    .. " before it, and what hides is shown as an escape."))
  command:group("Output", (table.unpack or unpack)(options)) -- luacheck: ignore
end

--- What is wrong with the output options together, or nil.
---@param options table  of argparse
function M.message(options)
  if options.raw and options.format ~= "csv" then return "--raw is for csv; json holds the exact texts anyway" end
end

return M
