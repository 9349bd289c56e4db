-- SPDX-License-Identifier: MIT
-- The database of deposits. Every column is text: a time is 13 digits of epoch milliseconds, a flag is "1" or "". A
-- reading is one transaction of the process that holds the lease.

local database = require "purser.client.util.database"
local digest = require "purser.client.util.digest"
local errors = require "purser.client.call.errors"
local outbox = require "purser.client.transport.outbox"
local tables = require "purser.client.util.database.tables"
local witnesses = require "purser.client.util.database.witness"

local Store = { __name = "purser.receive.store" }
Store.__index = Store

local M = {}

-- state: of judge.lua's table; status: the service's; ask: why a person was asked last, and since when (`asked`, empty
-- when that is ended); fingerprint, at, raw: of the record that was shown last; at: the address as a value
-- customer, paid_coin, paid_amount: of the credit, never changed; candidate: the deposit that a held deposit may be;
-- same: the deposit that it is by the word of the person `by`; held, before: why a success is asked of a person
local columns = { "dp", "state", "ask", "asked", "fingerprint", "at", "address", "coin", "network", "tx", "memo",
  "amount", "time", "status", "raw", "seen", "customer", "paid_coin", "paid_amount", "candidate", "same", "by", "held",
  "before" }
local flags = { held = true, before = true }

-- Name, columns, and how many of these are the key.
local list = {
  { "meta", "name value", 1 },
  { "deposit", table.concat(columns, " "), 1 },
  { "trace", "mark dp", 2 }, -- the fingerprints and addresses that a deposit ever had
  { "wait", "name n since time", 1 }, -- a record that later readings have to show again
  { "customer", "at memo starts ends customer address coins least source", 3 },
}
for _, one in ipairs(outbox.tables) do list[#list + 1] = one end
local indexes = { "deposit_fingerprint ON purser_receive_deposit (fingerprint)",
  "deposit_asked ON purser_receive_deposit (asked)",
  "delivery_due ON purser_receive_delivery (receiver, due)" }

local marks, sets = {}, {}
for i, name in ipairs(columns) do marks[i], sets[i] = "$" .. i, ('"%s" = excluded."%s"'):format(name, name) end
local WRITE = ("INSERT INTO purser_receive_deposit VALUES (%s) ON CONFLICT (dp) DO UPDATE SET %s")
  :format(table.concat(marks, ", "), table.concat(sets, ", "))

local unpack = table.unpack or unpack -- luacheck: ignore

--- Returns a time as the tables keep it.
function M.time_text(ms) return ("%013d"):format(ms) end

local SET = { home = "purser_receive_meta", version = "3", subject = "they", lock = 7254202, create = function(tx)
  tables.create(tx, "purser_receive_", list, indexes)
  tx:set_meta("seq", "0")
  tx:set_meta("lease", "")
end }

local Book = {}
Book.__index = Book

-- Returns rows as objects: one object a deposit in a transaction.
local function objects(book, rows)
  for i, row in ipairs(rows) do
    local known = book.known[row.dp]
    if not known then
      for name in pairs(flags) do row[name] = row[name] ~= "" end
      row.time = math.floor(tonumber(row.time))
      book.known[row.dp], known = row, row
    end
    rows[i] = known
  end
  return rows
end

function Book:rows(...) return self.tx:rows(...) end

function Book:meta(name) return self.tx:meta(name) end

function Book:set_meta(name, value) self.tx:set_meta(name, tostring(value)) end

--- Returns the next number, as a text of 12 digits.
function Book:next()
  local n = ("%012d"):format(tonumber(self:meta "seq") + 1)
  self:set_meta("seq", n)
  return n
end

local CURE = "; run `purser receive begin --again`, which asks a person about what succeeded before"

--- Returns true for the newest database; or nil and why nothing may be credited or handed over.
function Book:is_newest()
  local why = self.witness:why_not_newest(self.tx, self:meta "seq", CURE)
  return not why or nil, why
end

function Book:deposit(dp)
  return objects(self, self:rows("SELECT * FROM purser_receive_deposit WHERE dp = $1", dp))[1]
end

--- Returns the deposits that may still be credited.
function Book:uncredited()
  return objects(self, self:rows [[SELECT * FROM purser_receive_deposit WHERE state IN ('pending', 'asked')
    ORDER BY dp]])
end

--- Returns the deposits whose last record had this fingerprint.
function Book:with_fingerprint(fingerprint)
  return objects(self, self:rows("SELECT * FROM purser_receive_deposit WHERE fingerprint = $1 ORDER BY dp",
    fingerprint))
end

local TRACED = [[SELECT d.* FROM purser_receive_trace AS t JOIN purser_receive_deposit AS d ON d.dp = t.dp
  WHERE t.mark = $1%s ORDER BY d.dp]]

--- Returns the deposits that ever had this fingerprint.
function Book:had_fingerprint(fingerprint) return objects(self, self:rows(TRACED:format "", fingerprint)) end

--- Returns the deposits to an address, from a time on, or of a transaction, or about a time.
function Book:at_address(at, from, tx, earliest, latest)
  return objects(self, self:rows(TRACED:format " AND (d.time >= $2 OR d.tx = $3 OR d.time BETWEEN $4 AND $5)",
    "@" .. at, M.time_text(from), tx, M.time_text(earliest), M.time_text(latest)))
end

function Book:change(row, fields)
  for name, value in pairs(fields) do
    if row[name] ~= value then row[name], self.dirty[row] = value, true end
  end
  return row
end

-- Writes a deposit, and the marks by which it is found.
local function write(book, row)
  local values = {}
  for i, name in ipairs(columns) do
    local value = row[name]
    values[i] = flags[name] and (value and "1" or "") or name == "time" and M.time_text(value) or value or ""
  end
  book:rows(WRITE, unpack(values))
  for _, mark in ipairs { row.fingerprint, "@" .. row.at } do
    book:rows("INSERT INTO purser_receive_trace VALUES ($1, $2) ON CONFLICT DO NOTHING", mark, row.dp)
  end
end

--- Adds a deposit, and gives the id that it keeps.
function Book:insert(row)
  local n, account = 0, self:meta "account" or ""
  repeat
    n = n + 1
    row.dp = "dp_" .. digest.id("dp", account, row.fingerprint, tostring(n)):sub(1, 12)
  until not self:deposit(row.dp)
  self.known[row.dp] = row
  write(self, row)
  return row
end

local LOST = "another process reads into this database, or this one was too slow to say that it still does"

-- Returns holder and end of the lease, and locks both until the transaction ends.
local function lease_of(tx) return tx:meta("lease", true) end

--- Returns the error of a database that fails.
function M.problem(message) return errors.config("the deposits: " .. tostring(message)) end

--- Runs `fn(book)` in a transaction; an `owner` has to hold the lease. Returns the result of `fn`; or nil and an error,
--- also where `fn` returns nil and a message.
function Store:write(fn, owner)
  local refused
  local value, message = self.db:transaction(function(tx)
    if lease_of(tx):match "^%S*" ~= owner and owner then tx:reject(LOST) end
    local book = setmetatable({ tx = tx, known = {}, dirty = {}, outbox = self.outbox, witness = self.witness }, Book)
    local result, why = fn(book)
    if result == nil and why then
      refused = why
      tx:reject(why)
    end
    for row in pairs(book.dirty) do write(book, row) end
    return result == nil and true or result
  end)
  if value ~= nil then return value end
  return nil, refused and errors.argument(nil, refused) or M.problem(message)
end

--- Takes or keeps the lease until `now + ms`. Returns true; or nil and an error, whose `code` is "held" where another
--- process has the lease.
function Store:lease(owner, now, ms)
  local held
  local ok, message = self.db:transaction(function(tx)
    local text = lease_of(tx)
    local holder, ends = text:match "^(%S+) (%d+)$"
    -- a lease that ends far ahead was written by a wrong clock
    held = holder and holder ~= owner and tonumber(ends) > now and tonumber(ends) <= now + 10 * ms
    if held then tx:reject "held" end
    tx:set_meta("lease", ms > 0 and ("%s %d"):format(owner, now + ms) or "")
    return true
  end)
  if ok then return true end
  local err = held and errors.config "another process reads into this database" or M.problem(message)
  err.code = held and "held" or nil
  return nil, err
end

--- Lets the witness know of what may be handed over from now on, of the newest database or one that has just begun.
--- Returns true; or nil and an error.
function Store:note(has_begun)
  local seq, err = self:write(function(book)
    if not has_begun then
      local ok, why = book:is_newest()
      if not ok then return nil, why end
    end
    return book:meta "seq"
  end)
  if not seq then return nil, err end
  local ok, message = self.witness:note(seq)
  if ok then return true end
  return nil, M.problem(message)
end

function Store:rows(sql, ...) return self.db:rows(sql, ...) end

function Store:close() self.db:close() end

--- Opens the database: { sqlite = path } or { postgresql = {...} }. Returns nil and an error when it cannot.
function M.open(options)
  local db, message = database.open({ sqlite = options.sqlite, postgresql = options.postgresql,
    lock_timeout_ms = 10000, relaxed = options.relaxed }, SET.home)
  if not db then return nil, M.problem(message) end
  local ok
  ok, message = tables.prepare(db, SET)
  if ok then
    return setmetatable({ db = db, outbox = outbox.new "purser_receive", witness = witnesses.of(db) }, Store)
  end
  db:close()
  return nil, M.problem(message)
end

return M
