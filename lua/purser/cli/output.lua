-- SPDX-License-Identifier: MIT
-- Results as text: tables, JSON and CSV. `rows` prints a command's own records, `render` those of an operation.

local core = require "purser.core"
local csv = require "purser.client.util.csv"
local decimal = require "purser.decimal"
local json = require "purser.json"
local lazy = require "purser.client.util.lazy"
local plain_text = require "purser.client.util.plain_text"
local report = lazy "purser.cli.report"
local states = require "purser.client.operations.states"
local suggest = require "purser.client.util.suggest"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"

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
  local is_bound = not terminal.settings.wide and not terminal.settings.output and core.is_terminal(1)
  return is_bound and core.terminal_width(1) or math.huge
end

local function longest_word(text, least)
  for word in text:gmatch "%S+" do least = math.max(least, width_of(word)) end
  return least
end

function M.fields(titles, lines, columns)
  local width, out = 0, {}
  for _, title in ipairs(titles) do width = math.max(width, width_of(title) + 2) end
  for l, line in ipairs(lines) do
    if l > 1 then out[#out + 1] = "\n" end
    for c, text in ipairs(line) do
      if text ~= "" then
        local whole = titles[c] .. (" "):rep(width - width_of(titles[c])) .. text
        out[#out + 1] = terminal.fold(whole, width, columns or room()) .. "\n"
      end
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
    for _, line in ipairs(lines) do longest = longest_word(line[#titles], longest) end
    if #titles == 1 or before + longest > width then return M.fields(titles, lines, width), false end
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

--- Returns the group of options of the output.
---@param titles string[]|nil|fun(options: table): string[]  the columns, for --columns and --filter
---@param facts table|nil  format: the default, if not table; is_record: no filter
function M.group(titles, facts)
  facts = facts or {}
  local is_csv = facts.format == "csv"
  local group = { "Output", titles = titles,
    { "--format", "<format>", is_csv and "csv (default) or json." or "table (default), json or csv.",
      choices = is_csv and { "json", "csv" } or { "table", "json", "csv" }, default = facts.format or "table" },
    { "--json", "The same as --format json: the result, and on standard error a line of JSON for each message.",
      target = "format", value = "json" },
    { "--csv", "The same as --format csv.", target = "format", value = "csv" },
    { "--time", "<style>", "Times as utc (tables), local, iso or ms (csv).", into = "terminal",
      choices = { "utc", "local", "iso", "ms" } },
    { "--wide", "On a narrow terminal, too, every column, and ids whole.", into = "terminal" },
    { "--output", "<file>", "File for the result, written whole or not at all." },
    { "--raw", "The exact texts, for programs: states as numbers; in csv a cell that a spreadsheet would run gets no ' "
      .. "before it, and what hides is no escape." } }
  if titles and not facts.is_record then
    table.insert(group, 5, { "--filter", "<name=value>", "Only records whose member has this value.", many = true })
  end
  if titles then
    table.insert(group, 5, { "--columns", "<names>", "Columns to show, joined by commas (table and csv).",
      values = type(titles) == "table" and titles or nil })
  end
  return group
end

local LIST, OBJECT = getmetatable(json.list {}), getmetatable(json.object {})

-- Returns a value of the module for json.encode, at any depth; an empty table is a list, as in the service's answers.
local function encodable(value)
  local kind = type(value) == "table" and getmetatable(value)
  if type(value) ~= "table" or kind and kind ~= LIST and kind ~= OBJECT then return value end
  local copy = {}
  for name, item in pairs(value) do
    copy[name] = kind == OBJECT and { item[1], encodable(item[2]) } or encodable(item)
  end
  return kind == OBJECT and json.object(copy) or (kind or next(copy) == nil) and json.list(copy) or copy
end

--- Returns a value of the module as a line or, with an indent, lines of JSON, in which no character hides.
function M.json(value, indent)
  return plain_text.as_json(json.encode(encodable(value), indent and { indent = indent })) .. "\n"
end

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
  return type(value) == "number" and (title:find "Time$" or title == "timestamp" or title == "sent_at")
    and value > 1e11 and value < 1e14
end

-- Members with amounts.
local is_amount = {}
for name in ([[amount balance convert convertFee convertPlatformToken convertUsdt fee free locked totalConvert totalFee
  transactionFee withdrawFee withdrawIntegerMultiple withdrawMax withdrawMin]]):gmatch "%S+" do
  is_amount[name] = true
end

local has_states = { deposit = true, withdrawal = true }

-- Returns a record with the name of its state in place of the number, unless the exact texts are wanted.
local function with_state(shape, record, options)
  if not has_states[shape] or record.status == nil or options.raw then return record end
  local copy = {}
  for name, value in pairs(record) do copy[name] = value end
  copy.status = values.state(shape, record.status)
  return copy
end

-- Returns a value as a cell; a short cell has minutes of a time.
local function shown(title, value, is_short)
  if is_time(title, value) then
    local text = values.show_time(value, terminal.settings.time)
    return is_short and not terminal.settings.time and text:sub(1, 16) or text
  end
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

-- Returns a table without the columns that have no value, unless --columns names them; and whether it fits.
local function as_table(titles, lines, is_asked, is_short)
  local used, cells = {}, {}
  for l in ipairs(lines) do cells[l] = {} end
  for c, title in ipairs(titles) do
    local short, is_used = title:match "[^.]*$", is_asked
    for l, line in ipairs(lines) do
      cells[l][#used + 1] = shown(short, line[c], is_short)
      is_used = is_used or cells[l][#used + 1] ~= ""
    end
    if is_used then used[#used + 1] = short end
  end
  for _, line in ipairs(cells) do line[#used + 1] = nil end
  return M.aligned(used, cells)
end

-- Returns the column of that name. A member of a nested list may be named alone: `withdrawFee`.
local function column_of(columns, name)
  local found
  for _, column in ipairs(columns) do
    if column == name then return column end
    found = found or column:match "[^.]*$" == name and column
  end
  return found
end

local function equals(value, text, name, kind)
  if value == nil then return text == "" end
  local amount = is_amount[name] and decimal(text_of(value))
  if amount then return amount:eq(text) end
  if name == "state" then text = text:lower() end
  return text_of(value) == text or kind and values.state(kind, value) == text:upper()
end

local function passing_record(record, column, text, shape)
  local list, name = column:match "^([^.]*)%.(.*)$"
  local kind = column == "status" and has_states[shape] and shape
  if not list then return equals(record[column], text, column, kind) and record or nil end
  local kept, copy = {}, {}
  for _, one in ipairs(record[list] or {}) do kept[#kept + 1] = equals(one[name], text, name) and one or nil end
  for member, value in pairs(record) do copy[member] = value end
  copy[list] = kept
  return kept[1] and copy
end

--- Returns the records whose members have the values of --filter.
---@param shape string|nil  of an operation's records
function M.passing(columns, records, options, shape)
  local passing, filters = {}, options.filter or {}
  for _, record in ipairs(records) do
    for _, filter in ipairs(filters) do
      record = record and passing_record(record, column_of(columns, filter[1]), filter[2], shape)
    end
    passing[#passing + 1] = record
  end
  return passing
end

-- Returns lines of cells: one for each nested record, with the outer members repeated.
local function lines_of(columns, records)
  local nested, lines = nil, {}
  for _, column in ipairs(columns) do nested = nested or column:match "^([^.]*)%." end
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

-- The columns on a narrow terminal; `below` has lines under the row.
local slim = {
  operation = { "id", "command", "effect", "summary" },
  deposit = { "insertTime", "coin", "amount", "status", "address" },
  withdrawal = { "applyTime", "coin", "amount", "status", "id" },
  payment = { "key", "name", "state", "amount", "asset", "to", "id", below = "message" },
}
slim.sub_account_deposit = slim.deposit

local SHORT = { id = true, address = true, to = true, txId = true }

-- Returns lines of cells with ids shortened in the middle.
local function shortened(columns, lines)
  for _, line in ipairs(lines) do
    for c, name in ipairs(columns) do
      local text = SHORT[name] and line[c] ~= nil and tostring(line[c]) or ""
      if #text > 16 and not text:find "[^%w]" then line[c] = text:sub(1, 6) .. ".." .. text:sub(-4) end
    end
  end
  return lines
end

-- Returns the table of a narrow terminal, with the texts of `below` under their rows, and ids shortened where there is
-- no room for whole ones; or nil where it does not fit.
local function narrow_table(few, records)
  local text, fits = as_table(few, lines_of(few, records), false, true)
  if not fits then text, fits = as_table(few, shortened(few, lines_of(few, records)), false, true) end
  if not fits or not few.below then return fits and text or nil end
  local out, at = {}, -2 -- behind the titles and their rule
  for line in text:gmatch "[^\n]+" do
    at = at + 1
    out[#out + 1] = line
    local below = at > 0 and records[at][few.below] or ""
    if below ~= "" then out[#out + 1] = terminal.fold("    " .. plain_text.clean(below), 4) end
  end
  return table.concat(out, "\n") .. "\n"
end

local function listed(columns, records, options, shape, empty)
  local few = not options.shown and slim[shape]
  columns = options.shown or columns
  local lines = lines_of(columns, records)
  if options.format == "csv" then return as_csv(columns, lines, options.raw) end
  if not lines[1] then return empty or "(none)\n" end
  local text, is_table = as_table(columns, lines, options.shown ~= nil)
  if is_table or not few or not lines[2] then return text end
  local short = narrow_table(few, records)
  if not short then return text end
  report.note("(too narrow for all columns and whole ids; --wide, --columns NAMES or --json shows them)")
  return short
end

--- Tells whether the records are printed as a table of all their columns.
function M.is_table(options) return options.format == "table" and not options.shown end

--- Tells whether a command may print a text of its own: without --format, --columns and --filter.
function M.is_text(options) return M.is_table(options) and not (options.filter or {})[1] end

--- Writes a result; ends the command at a full disk or a closed pipe.
---@param advice string|nil  is said where the result cannot be written
function M.write(text, options, advice) return report.write(text, options.raw, advice) end

--- Returns records of a command as text in the format of the options, filtered.
---@param titles string[]  the members that are shown: texts, decimals, whole numbers; nil or "" where there is none
---@param empty string|nil  the text of a table without rows
---@param shape string|nil  names the columns of a narrow terminal
function M.rows(titles, records, options, empty, shape)
  records = M.passing(titles, records, options)
  if options.format ~= "json" then return listed(titles, records, options, shape, empty) end
  local list = {}
  for l, record in ipairs(records) do
    local members = {}
    for _, title in ipairs(titles) do
      local cell = record[title]
      if cell ~= nil and cell ~= "" then
        local is_json = type(cell) == "number" or type(cell) == "table"
        members[#members + 1] = { title, is_json and cell or tostring(cell) }
      end
    end
    list[l] = json.object(members)
  end
  return M.json(json.list(list), "  ")
end

--- Writes records of a command; see `rows`.
function M.print(titles, records, options, empty, shape)
  return M.write(M.rows(titles, records, options, empty, shape), options)
end

-- The columns of wide records in a table without --columns.
local narrow = {
  coin = { "coin", "networkList.netWork", "networkList.withdrawEnable", "networkList.withdrawFee",
    "networkList.withdrawMin", "networkList.depositEnable" },
  deposit = { "insertTime", "coin", "amount", "network", "status", "address", "memo", "txId" },
  withdrawal = { "applyTime", "coin", "amount", "transactionFee", "network", "status", "address", "memo", "id",
    "withdrawOrderId", "txId" },
}
narrow.sub_account_deposit = narrow.deposit

--- Returns the columns of a row's records: the members that are no lists of records, then `list.member` of the list.
function M.members(row)
  local columns, nested = {}, nil
  for _, member in ipairs(row.members) do
    if member.members and not nested then nested = member else columns[#columns + 1] = member.name end
  end
  for _, member in ipairs(nested and nested.members or {}) do
    columns[#columns + 1] = nested.name .. "." .. member.name
  end
  return columns
end

function M.records(row, result, options)
  local list = M.passing(M.members(row), row.result.list and result or row.result.page and result.data or result.rows,
    options, row.shape)
  for i, record in ipairs(list) do list[i] = with_state(row.shape, record, options) end
  return list
end

function M.listed(row, records, options)
  return listed(options.format ~= "csv" and narrow[row.shape] or M.members(row), records, options, row.shape)
end

-- Returns the members of a record as fields; a list of records becomes a table below the fields.
local function whole_record(row, record)
  local names, cells, below = {}, {}, ""
  for _, member in ipairs(row.members) do
    local list = member.members and record[member.name]
    if type(list) == "table" and list[1] then
      local columns = {}
      for i, inner in ipairs(member.members) do columns[i] = inner.name end
      below = below .. "\n" .. as_table(columns, lines_of(columns, list))
    else
      names[#names + 1] = member.name
      cells[#cells + 1] = shown(member.name, record[member.name])
    end
  end
  return M.fields(names, { cells }) .. below
end

function M.record(row, record, options)
  record = with_state(row.shape, record, options)
  if options.format == "json" then return M.json(record, "  ") end
  if options.format == "csv" or options.shown then return M.listed(row, { record }, options) end
  return whole_record(row, record)
end

--- Returns the text of a result.
---@param options table  of the command line: format, raw, filter, and `shown`, the members to show instead of all
function M.render(row, result, options)
  if row.result.record then return M.record(row, result, options) end
  local records = M.records(row, result, options)
  if options.format ~= "json" then return M.listed(row, records, options) end
  if row.result.list then return M.json(records, "  ") end
  local whole = {}
  for name, value in pairs(result) do whole[name] = value end
  whole[row.result.page and "data" or "rows"] = records
  return M.json(whole, "  ")
end

-- Returns a column; ends the command where no column has the name.
local function check_column(option, name, known)
  local column, sayable = column_of(known, name), {}
  if column then return column end
  for i, each in ipairs(known) do sayable[i] = each:match "[^.]*$" end
  report.bad_input("%s: there is no %q%s; there are %s", option, name, suggest.hint(name, sayable),
    table.concat(known, ", "))
end

-- Ends the command where a filter names no column, or a value that the column cannot have.
local function check_filters(filters, known, shape)
  for _, filter in ipairs(filters) do
    local column = check_column("--filter", filter[1], known)
    if is_amount[column:match "[^.]*$"] and not decimal(filter[2]) then
      report.bad_input("--filter: %s is an amount such as 12.5, not %q", filter[1], filter[2])
    end
    local is_state = column == "status" and shape and filter[2]:find "%a"
    local number, message = not is_state, nil
    if is_state then number, message = states.number(shape, filter[2]:upper()) end
    if not number then report.bad_input("--filter: %s", message:gsub("^.-: ", "")) end
  end
end

-- Returns the columns that --columns names; nil without the option.
local function columns_of(text, known)
  local names = text and {}
  for name in (text or ""):gmatch "[^,%s]+" do names[#names + 1] = check_column("--columns", name, known) end
  if names and not names[1] then
    report.bad_input "--columns names none; give members joined by commas, or leave it out"
  end
  return names
end

-- Ends the command where options of the form, or times, do not go together.
local function check_form(options)
  if options.raw and options.format == "table" then
    report.bad_input "--raw is for csv and json; a table shows no exact texts"
  elseif options.columns and options.format == "json" then
    report.bad_input "--columns is for table and csv; json holds every member"
  end
end

local function check_times(options)
  if options["until"] and options.since and options.since > options["until"] then
    report.bad_input "--since is later than --until; exchange them"
  end
end

--- Checks the output options, and keeps the names of --columns as options.shown.
function M.check(options, command)
  check_form(options)
  check_times(options)
  local known
  for _, group in ipairs(command) do known = known or group.titles end
  if type(known) == "function" then known = known(options) end
  check_filters(options.filter or {}, known, command.row and has_states[command.row.shape] and command.row.shape)
  options.shown = columns_of(options.columns, known)
end

return M
