-- SPDX-License-Identifier: MIT
-- Customers by address and memo, from a CSV file: customer,address,memo,coins,least,from,until. One mistake refuses the
-- whole file.

local address = require "purser.address"
local columns = require "purser.client.operations.columns"
local csv = require "purser.client.util.csv"
local decimal = require "purser.decimal"
local plain_text = require "purser.client.util.plain_text"
local readers = require "purser.desk.receive.reader"
local stores = require "purser.desk.receive.store"
local utc = require "purser.client.util.utc"

local M = {}

local NAMES = { "customer", "address", "memo", "coins", "least", "from", "until" }

-- Returns the columns of the first line by their names; or nil and a message.
local function columns_of(head)
  local at, known, message = {}, {}, nil
  for _, name in ipairs(NAMES) do known[name] = true end
  for i, name in ipairs(head) do
    message = at[name] and ("the column %q stands there twice"):format(name)
      or not known[name] and ("there is no column %q"):format(name) or message
    at[name] = i
  end
  for _, name in ipairs { "customer", "address" } do
    message = message or not at[name] and "there is no column " .. name
  end
  if message then return nil, ("line 1: %s; give %s"):format(message, table.concat(NAMES, ",")) end
  return at
end

-- Returns the time of a cell as text; or nil and a message.
local function time_of(text)
  if text == "" then return "" end
  local ms = text:find "^%d%d%d%d%d%d%d%d%d%d%d%d%d$" and tonumber(text) or utc.ms(text)
  if not ms then return nil, ('"%s" is no time; give 2026-01-31 or 2026-01-31T10:00Z'):format(text) end
  return stores.time_text(ms)
end

-- Returns names of coins in capitals, with one blank between them.
local function coins_of(text) return (text or ""):gsub("[,;%s]+", " "):gsub("^ ", ""):gsub(" $", ""):upper() end

-- Accounts of Ethereum's kind and of Tron have no memo.
local function has_no_memo(at) return at:find "^evm:" or at:find "^hash:41:" end

-- Returns what is wrong with an amount as a file has it, or nil.
local function least_problem(text, separator)
  local least = text ~= "" and decimal(text)
  if text == "" or least and least:sign() >= 0 and not csv.has_two_readings(text, separator) then return nil end
  if csv.has_two_readings(text, separator) then
    return ('least "%s" may be thousands, or have three decimals; write it without a mark of thousands, and without '
      .. "zeros behind it"):format(text)
  end
  local whole, digits = text:match "^(%d+),(%d+)$"
  return ('least "%s" is no amount%s'):format(text, whole and ("; write %s.%s"):format(whole, digits) or "")
end

--- Returns a customer's row of texts; or nil and a message.
---@param separator string|nil  of the file. Default: ","
function M.row(cells, separator)
  local row = { customer = cells.customer or "", address = cells.address or "", coins = cells.coins or "",
    least = cells.least or "" }
  if row.customer == "" or row.address == "" then return nil, "customer and address must not be empty" end
  local state, why = columns.judge("customer_address", row.address)
  if state == "refused" then return nil, ("the address %s %s"):format(row.address, why) end
  row.at, row.memo = readers.place(row.address, cells.memo)
  row.coins = coins_of(row.coins)
  local message = least_problem(row.least, separator or ",")
  if message then return nil, message end
  for name, word in pairs { starts = "from", ends = "until" } do
    row[name], message = time_of(cells[word] or "")
    if not row[name] then return nil, message end
  end
  if row.ends ~= "" and row.ends <= row.starts then return nil, "until is not later than from" end
  if row.memo ~= "" and has_no_memo(row.at) then
    return nil, ("an address like %s has no memo; leave the memo %q out"):format(row.address, row.memo)
  end
  return row
end

-- Returns why two rows of one address cannot both be, with the cure; or nil.
local function conflict(a, b)
  if (a.memo == "") ~= (b.memo == "") then
    return "the address stands both with and without a memo; give each of its customers a memo"
  end
  if a.memo == b.memo and (a.ends == "" or b.starts < a.ends) and (b.ends == "" or a.starts < b.ends) then
    return ("the address and memo belong to %s at the same time; make another address, or name the time of the "
      .. "hand-over in a customers' file: the `until` of %s, and the `from` of %s"):format(b.customer, b.customer,
      a.customer)
  end
end

-- Returns what is wrong with the memo of a file, where a spreadsheet may have put a number or a date in its place; or
-- nil.
local function memo_problem(memo)
  if (memo or "") == "" then return nil end
  local state, why = columns.judge("own_id", memo)
  return state ~= "good" and ("the memo %s %s; compare it with its source"):format(memo, why) or nil
end

-- Returns why no deposit can have the address and memo of a file: the network has no such memo, nobody has the key of
-- the address, or the text is a secret; or nil.
local function place_problem(cells)
  local judged = address.check { address = cells.address, memo = cells.memo }
  local found = judged.problems[1]
  for _, warning in ipairs(judged.warnings) do
    if warning.code == "address.nobody" then found = found or warning end
  end
  return found and tostring(found)
end

local INSERT = "INSERT INTO purser_receive_customer VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
local LIMIT = [[UPDATE purser_receive_customer SET starts = $1, ends = $2, coins = $3, least = $4 WHERE source = 'made'
  AND at = $5 AND memo = $6 AND customer = $7]]

--- Adds a customer's row. `source` is "made" or "file"; a file's row of an address that was made here limits that one.
--- Returns true; or nil and a message where the address is another customer's.
function M.add(book, row, source)
  for _, other in ipairs(book:rows("SELECT * FROM purser_receive_customer WHERE at = $1", row.at)) do
    if (source == "made" or other.source == "made") and other.customer == row.customer and other.memo == row.memo then
      if source == "made" then return true end
      book:rows(LIMIT, row.starts, row.ends, row.coins, row.least, row.at, row.memo, row.customer)
      return true
    end
    local message = conflict(row, other)
    if message then return nil, ("%s: %s"):format(row.address, message) end
  end
  book:rows(INSERT, row.at, row.memo, row.starts, row.ends, row.customer, row.address, row.coins, row.least, source)
  return true
end

-- Returns the lines of a file as cells by name; or nil and a message.
local function lines_of(text)
  local lines, message, _, separator = csv.read(text)
  if not lines then return nil, message end
  if not lines[1] then return nil, "there is no line; the first is " .. table.concat(NAMES, ",") end
  local at
  at, message = columns_of(lines[1])
  if not at then return nil, message end
  local found = { separator = separator }
  for i = 2, #lines do
    local cells = { line = lines[i].line }
    for name, column in pairs(at) do cells[name] = lines[i][column] end
    if #lines[i] > #lines[1] then
      cells.problem = ("it has %s, and the first line %d"):format(plain_text.counted(#lines[i], "cell"), #lines[1])
    end
    found[i - 1] = cells
  end
  return found
end

-- Returns what a person should look at in an address, before customers get it: texts.
local function doubts(cells, coins)
  local texts, is_said = {}, {}
  local function say(text)
    if not is_said[text] then texts[#texts + 1] = text .. "; compare it with the service's page" end
    is_said[text] = true
  end
  local state, why = columns.judge("customer_address", cells.address or "")
  if state == "doubtful" then say("the address " .. why) end
  for i = 1, math.max(1, #coins) do
    local judged = address.check { address = cells.address, memo = cells.memo, coin = coins[i] }
    for _, warning in ipairs(judged.warnings) do
      if warning.code ~= "address.form" then say(warning.message) end
    end
  end
  return texts
end

--- Returns what a person should look at in a file's customers, or in the kept ones: { customer, line, warnings }; or
--- nil and a message. `read` returns the service's coins, or nil and an error.
---@param text string|nil
---@param coin string|nil  that of all rows
---@param read (fun(): table[]|nil, purser.Error|nil)|nil
function M.warnings(store, text, coin, read)
  local rows, message
  if text then rows, message = lines_of(text) else
    rows, message = store:rows "SELECT customer, address, memo, coins FROM purser_receive_customer ORDER BY customer"
  end
  if not rows then return nil, message end
  local by_name, unread, found = nil, nil, {}
  for _, cells in ipairs(rows) do
    local coins, names = {}, coins_of(cells.coins) .. " " .. (coin or ""):upper()
    if read and names ~= " " and not by_name then
      local list, err = read()
      by_name, unread = {}, err and "the address was not compared with the coin's contracts: " .. err.message
      for _, one in ipairs(list or {}) do by_name[tostring(one.coin):upper()] = one end
    end
    for name in names:gmatch "%S+" do coins[#coins + 1] = by_name and by_name[name] end
    local texts = doubts(cells, coins)
    if names ~= " " then texts[#texts + 1] = unread end
    if texts[1] then found[#found + 1] = { customer = cells.customer or "", line = cells.line, warnings = texts } end
  end
  return found
end

--- Replaces the rows of an earlier file; addresses that were made here stay. Returns true, also without a text; or nil
--- and a message with the line.
---@param text string|nil
function M.replace(book, text)
  if not text then return true end
  local lines, message = lines_of(text)
  if not lines then return nil, message end
  book:rows "DELETE FROM purser_receive_customer WHERE source = 'file'"
  book:rows "UPDATE purser_receive_customer SET starts = '', ends = '', coins = '', least = ''" -- that were made
  for _, cells in ipairs(lines) do
    local row, ok
    message = cells.problem or memo_problem(cells.memo)
    if not message then row, message = M.row(cells, lines.separator) end
    if row then message = place_problem(cells) end
    if row and not message then ok, message = M.add(book, row, "file") end
    if not ok then return nil, ("line %d: %s"):format(cells.line, message) end
  end
  return true
end

return M
