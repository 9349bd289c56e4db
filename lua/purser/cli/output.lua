-- SPDX-License-Identifier: MIT
-- Results as text: an aligned table for people, JSON and CSV for programs. Amounts and ids are never touched. A command
-- prints records of its own (`rows`), an operation those of its answer (`render`).

local csv = require "purser.util.csv"
local json = require "purser.json"
local lazy = require "purser.util.lazy"
local names_of = require "purser.util.names_of"
local report = lazy "purser.cli.report"
local suggest = require "purser.util.suggest"
local plain_text = require "purser.util.plain_text"
local tables = require "purser.cli.tables"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

local M = {}

-- Returns what completion offers for --columns: those that can be typed next, after those that commas join.
local function columns_to_type(row, typed)
  local list, before = row and M.members(row) or {}, typed:match "^(.*,)[^,]*$" or ""
  for i, member in ipairs(list) do list[i] = before .. member end
  return list
end

-- Returns what completion offers for --filter: name=, then the names of states.
local function filters_to_type(row, typed)
  local name, list = typed:match "^([^=]+)=", {}
  for i, member in ipairs(row and not name and M.members(row) or {}) do list[i] = member .. "=" end
  local param = row and name == "status" and row.by_name.status
  for i, value in ipairs(param and param.values or {}) do list[i] = name .. "=" .. value end
  return list
end

--- The options that say how a result is printed, as a group of a grammar.
---@param facts table|nil  has_columns: --columns; filters: --filter; format: the usual one, if not table;
--- row_of: fn(words), the operation whose records are printed
---@return table
function M.group(facts)
  facts = facts or {}
  local group, row_of = { "Output" }, facts.row_of or function() end
  local function add(...) group[#group + 1] = { ... } end
  local usual = facts.format or "table"
  add("--format", "<format>", usual == "csv" and "csv (default) or json." or "table (default), json or csv.")
  group[2].choices, group[2].default = usual == "csv" and { "json", "csv" } or { "table", "json", "csv" }, usual
  add("--json", "The same as --format json: the result, and on standard error a line of JSON for each message.")
  add("--csv", "The same as --format csv.")
  group[3].target, group[3].value, group[4].target, group[4].value = "format", "json", "format", "csv"
  if facts.has_columns then
    add("--columns", "<names>", "Members to show, joined by commas (table and csv); `purser operations NAME` lists "
      .. "them.")
    group[#group].values = function(words) return columns_to_type(row_of(words), words[#words]) end
  end
  if facts.filters then
    add("--filter", "<name=value>", "Only records whose member has this value.")
    group[#group].many = true
    group[#group].values = function(words) return filters_to_type(row_of(words), words[#words]) end
  end
  add("--time", "<style>", "Times as utc (tables), local, iso or ms (csv).")
  group[#group].choices = { "utc", "local", "iso", "ms" }
  add("--output", "<file>", "File for the result, written whole or not at all.")
  add("--color", "<when>", "auto (a terminal, unless NO_COLOR is set), always or never.")
  group[#group].choices = { "auto", "always", "never" }
  add("--raw", "csv: the exact texts, for programs; otherwise a cell that a spreadsheet would run gets a ' before it, "
    .. "and what hides is shown as an escape.")
  return group
end

----------------------------------------------------------------------------------------------------------- JSON

-- A value of the module for json.encode. An empty table cannot be distinguished from an empty object; what the service
-- sends is a list.
local function encodable(value)
  if type(value) ~= "table" then return value end
  if value[1] == nil and next(value) ~= nil then
    local members = {}
    for i, name in ipairs(names_of(value)) do members[i] = { name, encodable(value[name]) } end
    return json.object(members)
  end
  local list = {}
  for i, item in ipairs(value) do list[i] = encodable(item) end
  return json.list(list)
end

--- A line or, with an indent, lines of JSON, in which no character hides: the data is the same.
function M.json(value, indent)
  return plain_text.as_json(json.encode(value, indent and { indent = indent })) .. "\n"
end

--- A value of the module as a line or, with an indent, lines of JSON.
function M.plain_json(value, indent) return M.json(encodable(value), indent) end

----------------------------------------------------------------------------------------------------------- cells

local function text_of(value)
  if value == nil then return "" end
  if type(value) == "number" then return ("%d"):format(value) end
  if type(value) ~= "table" or getmetatable(value) then return tostring(value) end
  local scalars = {}
  for i, item in ipairs(value) do
    if type(item) == "table" then return json.encode(encodable(value)) end
    scalars[i] = text_of(item)
  end
  if #scalars == 0 and next(value) ~= nil then return json.encode(encodable(value)) end
  return table.concat(scalars, ",")
end

local function is_time(title, value)
  return type(value) == "number" and (title:find "Time$" or title == "timestamp" or title == "sent")
    and value > 1e11 and value < 1e14
end

-- The members whose type is text and whose value is an amount.
local is_amount = {}
for name in ([[amount balance convert convertFee convertPlatformToken convertUsdt fee free locked totalConvert totalFee
  transactionFee withdrawFee withdrawIntegerMultiple withdrawMax withdrawMin]]):gmatch "%S+" do
  is_amount[name] = true
end

-- The shapes whose status is a number with a name.
local state_of = { deposit = values.deposit_state, withdrawal = values.withdrawal_state }

local function shown(title, value, shape)
  if is_time(title, value) then return values.show_time(value, terminal.settings.time) end
  if title == "status" and state_of[shape] and value ~= nil then value = state_of[shape](value) end
  return plain_text.clean(text_of(value))
end

local function as_csv(titles, lines, is_raw)
  local out, facts, short = { csv.line(titles) }, { raw = is_raw, is_number = {} }, {}
  for c, title in ipairs(titles) do
    short[c] = title:match "[^.]*$"
    facts.is_number[c] = is_amount[short[c]]
  end
  for l, line in ipairs(lines) do
    local cells, style = {}, terminal.settings.time
    for c in ipairs(titles) do
      cells[c] = style and is_time(short[c], line[c]) and values.show_time(line[c], style)
        or type(line[c]) == "number" and line[c] or text_of(line[c])
    end
    out[l + 1] = csv.line(cells, facts)
  end
  return table.concat(out)
end

local function as_table(titles, lines, shape, min)
  local cells, short = {}, {}
  for c, title in ipairs(titles) do short[c] = title:match "[^.]*$" end
  for l, line in ipairs(lines) do
    cells[l] = {}
    for c in ipairs(titles) do cells[l][c] = shown(short[c], line[c], shape) end
  end
  return tables.aligned(short, cells, nil, min)
end

------------------------------------------------------------------------------------------------------------ rows

--- Returns the records whose members have the values of --filter.
---@param records table[]
---@param options table  of the command line
---@return table[]
function M.passing(records, options)
  local passing = {}
  for _, record in ipairs(records) do
    local passes = true
    for _, filter in ipairs(options.filter or {}) do
      local value = record[filter[1]]
      passes = passes and (value == nil and "" or tostring(value)) == filter[2]
    end
    passing[#passing + 1] = passes and record or nil
  end
  return passing
end

--- Returns records as text in the format of the options, those alone that pass their filters.
---@param titles string[]  the members that are shown: texts, decimals, whole numbers; nil or "" where there is none
---@param records table[]
---@param options table     of the command line: format, filter, raw
---@param empty string|nil  the text of a table without rows
---@return string
function M.rows(titles, records, options, empty)
  local lines = {}
  for l, record in ipairs(M.passing(records, options)) do
    lines[l] = {}
    for c, title in ipairs(titles) do lines[l][c] = record[title] end
  end
  if options.format == "csv" then return as_csv(titles, lines, options.raw) end
  if options.format ~= "json" then return lines[1] and as_table(titles, lines) or empty or "(none)\n" end
  local list = {}
  for l, line in ipairs(lines) do
    local members = {}
    for c, title in ipairs(titles) do
      local cell = line[c]
      if cell ~= nil and cell ~= "" then
        members[#members + 1] = { title, type(cell) == "number" and cell or tostring(cell) }
      end
    end
    list[l] = json.object(members)
  end
  return M.json(json.list(list), "  ")
end

--------------------------------------------------------------------------------------------------------- records

-- Columns that a table shows of records too wide for a screen, those that 80 places have room for first; CSV and
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

local MIN_COLUMNS = 6 -- of a table whose columns were not asked for

-- The member that holds a list of records: a table gets a line for each of them, with what is around it repeated.
local function nested_member(row)
  for _, member in ipairs(row.members) do
    if member.members then return member.name, member.members end
  end
end

--- The columns of a row's records: the members that are no lists of records, then `list.member` of the list.
---@param row table
---@return string[]
function M.members(row)
  local columns, nested, inner = {}, nested_member(row)
  for _, member in ipairs(row.members) do
    if member.name ~= nested then columns[#columns + 1] = member.name end
  end
  for _, member in ipairs(inner or {}) do columns[#columns + 1] = nested .. "." .. member.name end
  return columns
end

-- The cells of records, a line for each record of the list that they hold.
local function lines_of(row, records, columns)
  local nested, lines = nested_member(row), {}
  for _, record in ipairs(records) do
    local inner = nested and record[nested] or {}
    for i = 1, math.max(#inner, 1) do
      local line = {}
      for c, column in ipairs(columns) do
        local list, name = column:match "^([^.]*)%.(.*)$"
        if list then line[c] = inner[i] and inner[i][name] else line[c] = record[column] end
      end
      lines[#lines + 1] = line
    end
  end
  return lines
end

-- The columns in which a line has something: one without a single value says nothing.
local function used_columns(columns, lines)
  local used, places = {}, {}
  for c, column in ipairs(columns) do
    for _, line in ipairs(lines) do
      if line[c] ~= nil and line[c] ~= "" then
        used[#used + 1], places[#places + 1] = column, c
        break
      end
    end
  end
  local cells = {}
  for l, line in ipairs(lines) do
    cells[l] = {}
    for c, place in ipairs(places) do cells[l][c] = line[place] end
  end
  return used, cells
end

local function fields_of(row, record, columns)
  local names, width, out = {}, 0, {}
  for _, name in ipairs(columns) do
    if record[name] ~= nil then names[#names + 1], width = name, math.max(width, #name) end
  end
  for i, name in ipairs(names) do
    out[i] = terminal.fold(name .. (" "):rep(width - #name + 2) .. shown(name, record[name], row.shape), width + 2)
      .. "\n"
  end
  return table.concat(out)
end

local function equals(row, value, filter, name)
  if value == nil then return filter == "" end
  return text_of(value) == filter
    or name == "status" and state_of[row.shape] ~= nil and state_of[row.shape](value):match "%S+$" == filter:upper()
end

-- The record if it passes, with those of its nested records that do; else nil. A member of these may be named alone.
local function passing_record(row, record, filter)
  local nested, inner = nested_member(row)
  local name = filter[1]:match "([^.]*)$"
  local is_inner = nested and filter[1] == nested .. "." .. name
  for _, member in ipairs(not is_inner and row.members or {}) do
    if member.name == name then return equals(row, record[name], filter[2], name) and record or nil end
  end
  if not inner then return nil end
  local kept, copy = {}, {}
  for _, one in ipairs(record[nested] or {}) do
    if equals(row, one[name], filter[2]) then kept[#kept + 1] = one end
  end
  if not kept[1] then return nil end
  for member, value in pairs(record) do copy[member] = value end
  copy[nested] = kept
  return copy
end

--- Returns those records of a result that have the values of --filter.
---@param row table
---@param result table
---@param options table  of the command line
---@return table[]
function M.records(row, result, options)
  local form, list = row.result, {}
  for _, record in ipairs(form.record and { result } or form.list and result or form.page and result.data
    or result.rows) do
    for _, filter in ipairs(options.filter or {}) do record = record and passing_record(row, record, filter) end
    list[#list + 1] = record
  end
  return list
end

--- Records of an operation as a table or CSV.
---@param row table
---@param records table[]
---@param options table  format, raw, shown
---@return string
function M.listed(row, records, options)
  local all = M.members(row)
  if options.format == "csv" then
    return as_csv(options.shown or all, lines_of(row, records, options.shown or all), options.raw)
  end
  if #records == 0 then return "(none)\n" end
  local titles = options.shown or narrow[row.shape] or all
  local used, lines = used_columns(titles, lines_of(row, records, titles))
  return as_table(used, lines, row.shape, not options.shown and MIN_COLUMNS or nil)
end

--- The text of a result.
---@param row table      the operation
---@param result table
---@param options table  of the command line: format, raw, filter, and `shown`, the members to show instead of all
---@return string
function M.render(row, result, options)
  local records = M.records(row, result, options)
  if options.format == "json" then
    local shown_result = row.result.record and result or records
    if not row.result.record and not row.result.list then
      shown_result = {}
      for name, value in pairs(result) do shown_result[name] = value end
      shown_result[row.result.page and "data" or "rows"] = records
    end
    return M.plain_json(shown_result, "  ")
  end
  if options.format == "csv" or not row.result.record then return M.listed(row, records, options) end
  local columns = options.shown or {}
  for i, member in ipairs(options.shown and {} or row.members) do columns[i] = member.name end
  return fields_of(row, result, columns)
end

--- The text of one record of an operation that lists them.
---@param row table
---@param record table
---@param options table
---@return string
function M.record(row, record, options)
  return M.render({ result = { record = true }, members = row.members, shape = row.shape }, record, options)
end

-- The columns that `--columns` names, or nil for all; nil and a message when one of them does not exist: it would be
-- left out without a word. A member of a nested list can be named alone: `withdrawFee`.
local function columns_of(options, known)
  if not options.columns then return nil end
  if options.format == "json" then return nil, "--columns is for table and csv; json holds every member" end
  local places, sayable = {}, {}
  for i, name in ipairs(known) do
    sayable[i] = name:match "[^.]*$"
    places[name], places[sayable[i]] = name, places[sayable[i]] or name
  end
  local columns = {}
  for name in options.columns:gmatch "[^,%s]+" do
    if not places[name] then
      return nil, ("--columns: there is no %q%s; there are %s"):format(name, suggest.hint(name, sayable),
        table.concat(known, ", "))
    end
    columns[#columns + 1] = places[name]
  end
  if #columns == 0 then return nil, "--columns names none; give members joined by commas, or leave it out" end
  return columns
end

--- Ends the command where the output options do not go together, or name no column that there is. Notes those of
--- --columns as options.shown.
---@param options table  of the command line
---@param titles string[]|nil|fun(options: table): string[]|nil  of the command's grammar: the columns that there are
function M.check(options, titles)
  if options.raw and options.format ~= "csv" then
    report.bad_input "--raw is for csv; json holds the exact texts anyway"
  end
  if options["until"] and options.since and options.since > options["until"] then
    report.bad_input "--since is later than --until; exchange them"
  end
  local known = type(titles) == "function" and titles(options) or titles or {}
  if not known[1] then return end
  local columns, message = columns_of(options, known)
  options.shown = columns
  if message then report.bad_input("%s", message) end
  for _, filter in ipairs(options.filter or {}) do
    local is_known = false
    for _, name in ipairs(known) do is_known = is_known or name == filter[1] or name:match "[^.]*$" == filter[1] end
    if not is_known then
      report.bad_input("--filter: there is no %q%s; there are %s", filter[1], suggest.hint(filter[1], known),
        table.concat(known, ", "))
    end
  end
end

return M
