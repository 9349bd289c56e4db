-- SPDX-License-Identifier: MIT
-- Customers by address and memo, from a CSV file: customer,address,memo,coins,least,from,until. A file is taken whole,
-- or not at all.

local csv = require "purser.client.util.csv"
local decimal = require "purser.decimal"
local records = require "purser.desk.receive.record"
local stores = require "purser.desk.receive.store"
local utc = require "purser.client.util.utc"

local M = {}

local NAMES = { "customer", "address", "memo", "coins", "least", "from", "until" }

-- Returns the columns of the first line by their names; or nil and a message.
local function columns_of(head)
  local at = {}
  for i, name in ipairs(head) do at[name] = i end
  for _, name in ipairs { "customer", "address" } do
    if not at[name] then return nil, ("line 1: there is no column %s; give %s"):format(name,
      table.concat(NAMES, ",")) end
  end
  for name in pairs(at) do
    if not (" " .. table.concat(NAMES, " ") .. " "):find(" " .. name .. " ", 1, true) then
      return nil, ("line 1: there is no column %q; give %s"):format(name, table.concat(NAMES, ","))
    end
  end
  return at
end

-- Returns a cell's time as the tables keep it; or nil and a message.
local function time_of(text)
  if text == "" then return "" end
  local ms = text:find "^%d%d%d%d%d%d%d%d%d%d%d%d%d$" and tonumber(text) or utc.ms(text)
  if not ms then return nil, ('"%s" is no time; give 2026-01-31 or 2026-01-31T10:00Z'):format(text) end
  return stores.time_text(ms)
end

-- Addresses of these forms have no memo.
local function has_no_memo(at) return at:find "^0x%x+$" and #at == 42 or at:find "^t%w+$" and #at == 34 end

--- Makes one customer's row of texts. Returns nil and a message for what is none.
function M.row(cells)
  local row = { customer = cells.customer or "", address = cells.address or "", coins = cells.coins or "",
    least = cells.least or "" }
  if row.customer == "" or row.address == "" then return nil, "customer and address must not be empty" end
  row.at, row.memo = records.place(row.address, cells.memo)
  row.coins = row.coins:gsub("[,;]", " "):upper():gsub("^%s+", ""):gsub("%s+$", ""):gsub("%s+", " ")
  local least = row.least ~= "" and decimal(row.least)
  if row.least ~= "" and (not least or least:sign() < 0) then
    return nil, ('least "%s" is no amount'):format(row.least)
  end
  local message
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

-- Returns why two rows of one address cannot both be; or nil.
local function conflict(a, b)
  if (a.memo == "") ~= (b.memo == "") then
    return "the address stands both with and without a memo"
  end
  if a.memo == b.memo and (a.ends == "" or b.starts < a.ends) and (b.ends == "" or a.starts < b.ends) then
    return ("the address and memo belong to %s at the same time"):format(b.customer)
  end
end

--- Reads the text of a customers' file. Returns its rows; or nil and a message with the line.
---@param text string
---@return table[]|nil rows, string|nil message
function M.parse(text)
  local lines, message = csv.parse(text)
  if not lines then return nil, message end
  if not lines[1] then return nil, "there is no line; the first is " .. table.concat(NAMES, ",") end
  local at
  at, message = columns_of(lines[1])
  if not at then return nil, message end
  local rows, by_address = {}, {}
  for i = 2, #lines do
    local cells = {}
    for name, column in pairs(at) do cells[name] = lines[i][column] end
    local row
    row, message = M.row(cells)
    if row then
      by_address[row.at] = by_address[row.at] or {}
      for _, other in ipairs(by_address[row.at]) do message = message or conflict(row, other) end
      table.insert(by_address[row.at], row)
    end
    if message then return nil, ("line %d: %s"):format(lines[i].line, message) end
    rows[#rows + 1] = row
  end
  return rows
end

local INSERT = "INSERT INTO purser_receive_customer VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"

local function insert(book, row, source)
  book:rows(INSERT, row.at, row.memo, row.starts, row.ends, row.customer, row.address, row.coins, row.least, source)
end

--- Adds one customer's address. Returns true; or nil and a message where it is somebody's.
function M.add(book, row)
  for _, other in ipairs(book:rows("SELECT * FROM purser_receive_customer WHERE at = $1", row.at)) do
    if other.customer == row.customer and other.memo == row.memo then return true end
    local message = conflict(row, other)
    if message then return nil, ("%s: %s"):format(row.address, message) end
  end
  insert(book, row, "made")
  return true
end

--- Puts the rows of a file in the place of those that a file brought before. Addresses that were made here stay.
function M.replace(book, rows)
  book:rows "DELETE FROM purser_receive_customer WHERE source = 'file'"
  for _, row in ipairs(rows) do
    local is_made
    for _, other in ipairs(book:rows("SELECT * FROM purser_receive_customer WHERE at = $1 AND source = 'made'",
      row.at)) do
      if other.customer == row.customer and other.memo == row.memo then is_made = true
      elseif conflict(row, other) then
        return nil, ("%s: %s"):format(row.address, conflict(row, other))
      end
    end
    if not is_made then insert(book, row, "file") end
  end
  return true
end

return M
