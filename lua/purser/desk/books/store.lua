-- SPDX-License-Identifier: MIT
-- The books in a database. Rows are compared with a list, and changed in one transaction with the list's progress.
-- A revision is a number that follows the commits, raised under a lock.

local core = require "purser.core"
local database = require "purser.client.util.database"
local errors = require "purser.client.call.errors"
local outbox = require "purser.client.transport.outbox"
local record = require "purser.desk.books.record"
local schema = require "purser.desk.books.schema"
local witnesses = require "purser.client.util.database.witness"

local Store = { __name = "purser.books.store" }
Store.__index = Store

local M = {}

local HOUR = 3600000

local columns = schema.columns
local marks, sets = {}, {}
for i, name in ipairs(columns) do
  marks[i] = "$" .. i
  if i > 1 then sets[i - 1] = ("%s = $%d"):format(name, i - 1) end
end
local INSERT = ("INSERT INTO purser_books_record (%s) VALUES (%s)"):format(table.concat(columns, ", "),
  table.concat(marks, ", "))
local UPDATE = ("UPDATE purser_books_record SET %s WHERE rid = $%d"):format(table.concat(sets, ", "), #columns)
local LIGHT = "SELECT rid, n, seen, class, owner, from_owner, to_owner, source, missing_since, state, tx, fee, amount, "
  .. "network, address, entity, asset, memo, got, time FROM purser_books_record WHERE "

local unpack = table.unpack or unpack -- luacheck: ignore

local function fail(message)
  error(errors.new { kind = "workflow", outcome = "not_sent", message = "the books: " .. tostring(message) }, 0)
end

local PUT_BACK = "; run `purser sync --again`, then say again what persons said after the copy: settle, match, "
  .. "outside, close"

-- Returns why nothing shows that the database is the newest: in a copy a revision would be given twice, and a list that
-- lacks records called read; nil where it is. A copy may be written over the rows of a database that is open.
local function why_not_newest(self, tx, rev)
  return self.witness:why_not_newest(tx, rev, PUT_BACK)
end

--- Runs `fn(tx, rev)` in a transaction of the newest database without another writer; `rev()` raises the revision once.
--- Raises a purser.Error.
function Store:write(fn)
  local is_server = self.db.name == "postgresql"
  local ok, message = self.db:transaction(function(tx)
    local last, rev = tx:meta("rev", true), nil
    local why = why_not_newest(self, tx, last)
    if why then tx:reject(why) end
    fn(tx, function()
      if not rev then
        rev = ("%012d"):format(tonumber(last) + 1)
        tx:set_meta("rev", rev)
        if is_server then tx:rows("SELECT pg_notify('purser_books', $1)::text AS sent", rev) end
      end
      return rev
    end)
    return true
  end)
  if not ok then fail(message) end
end

--- Returns the rows of a statement, and how many rows changed. Raises a purser.Error.
function Store:rows(sql, ...)
  local rows, changed = self.db:rows(sql, ...)
  if not rows then fail(changed) end
  return rows, changed
end

function Store:add_receivers(names)
  self.outbox:add(self, names)
  self.has_receivers = self.outbox:waiting(self)[1] ~= nil
end

--- Lets the witness know of all revisions up to now, before one of them leaves the database. Returns the newest one.
--- Raises a purser.Error, also for a database that is not the newest; a `look` at such a database is free.
function Store:note(is_look)
  local refused
  local rev, message = self.db:transaction(function(tx)
    local rev = tx:meta "rev"
    refused = why_not_newest(self, tx, rev)
    return rev
  end, self.witness.path == nil) -- beside a file no other process notes a later revision meanwhile
  if rev and refused and is_look then return rev end
  local ok = rev and not refused
  if ok then ok, message = self.witness:note(rev) end
  if not ok then fail(refused or message) end
  return rev
end

local NOT_LATER = "the clock shows no later time than when they were begun again before; wait a second, or set it"
local A_SECOND = 100 -- more revisions than a database can give: those of a copy begin behind all that were lost

--- Makes a database that was put back the newest, at a time in epoch ms. Its next revision is one that was given never.
--- Raises a purser.Error.
function Store:begin_again(now)
  local ok, message = self.db:transaction(function(tx)
    local rev, first = tx:meta("rev", true), math.floor(now / 1000) * A_SECOND
    if first <= tonumber(rev) then tx:reject(NOT_LATER) end
    local next_rev = ("%012d"):format(first)
    tx:set_meta("rev", next_rev)
    tx:set_meta("put back " .. next_rev, rev .. " " .. record.time_text(now))
    self.witness:renew(tx)
    return true
  end)
  if ok then ok, message = self.witness:note(self:rev()) end
  if not ok then fail(message) end
end

--- Returns the times at which a copy was put back, up to a revision: { last, first, at }. The revisions between `last`
--- and `first` were lost.
function Store:put_back(rev)
  local list = self:rows("SELECT name, value FROM purser_books_meta WHERE name LIKE 'put back %' AND name <= $1 "
    .. "ORDER BY name", "put back " .. rev)
  for i, row in ipairs(list) do
    local last, at = row.value:match "^(%d+) (%d+)$"
    list[i] = { last = last, first = row.name:match "%d+$", at = at }
  end
  return list
end

--- Returns the newest revision.
function Store:rev() return self:rows("SELECT value FROM purser_books_meta WHERE name = 'rev'")[1].value end

-- Adds the event of a row's newest state for each receiver. A payment's event has the payment's class in its id, so a
-- second look makes no second id.
local function deliver(self, tx, row, before)
  if not self.has_receivers then return end
  local shown = {}
  for _, name in ipairs(columns) do shown[name] = name ~= "raw" and row[name] or nil end
  local kind = row.entity .. (before and ".changed" or ".new")
  local was = before and ('"before":%s,'):format(record.json({ state = before.state, class = before.class,
    amount = before.amount }, "before"))
  local body = ('{"id":"ev_%s_%s","type":"%s",%s"record":%s,"raw":%s}'):format(row.rid,
    record.is_payment(row.entity) and row.class or row.n, kind, was or "", record.json(shown, "record"), row.raw)
  self.outbox:emit(tx, { id = row.rid .. "_" .. row.n, kind = kind, subject = row.rid, at = row.seen, body = body,
    raw = "", seq = ("%s%06d"):format(row.rev, row.n) })
end

local values = {} -- of one statement at a time

-- Returns the columns of a row from `first` on, and `last` behind.
local function values_of(row, first, last)
  for i = first, #columns do values[i - first + 1] = row[columns[i]] end
  values[#columns - first + 2] = last
  return unpack(values, 1, #columns - first + (last and 2 or 1))
end

local function insert(self, tx, row, batch, rev)
  row.n, row.seen, row.rev, row.first_rev = "1", batch.asked_at, rev(), rev()
  row.booked = row.class ~= "pending" and row.updated or row.time
  tx:rows(INSERT, values_of(row, 1))
  deliver(self, tx, row)
  batch.changes = batch.changes + 1
  batch.is_open = batch.is_open or not record.is_final(row.class)
end

-- Keeps a row as a change, and writes the members of `new`.
local function replace(self, tx, rid, new, batch, rev)
  local old, row, was = tx:rows("SELECT * FROM purser_books_record WHERE rid = $1", rid)[1], {}, {}
  for _, name in ipairs(columns) do row[name] = new[name] or old[name] end
  row.rid, row.n, row.rev, row.first_rev = rid, ("%d"):format(tonumber(old.n) + 1), rev(), old.first_rev
  row.seen, row.twin, row.time = batch.asked_at, old.twin, old.time
  row.booked = row.state == old.state and old.booked or new.updated or batch.asked_at
  for _, name in ipairs(columns) do was[name] = name ~= "raw" and row[name] ~= old[name] and old[name] or nil end
  tx:rows("INSERT INTO purser_books_change (rid, n, rev, body, raw) VALUES ($1, $2, $3, $4, $5)", rid, old.n, old.rev,
    record.json(was, "row"), old.raw)
  tx:rows(UPDATE, values_of(row, 2, rid))
  deliver(self, tx, row, old)
  batch.changes = batch.changes + 1
end

--- Marks open records of a list from before a time as out of sight.
function Store:lose(tx, batch, before, rev)
  for _, row in ipairs(tx:rows("SELECT rid FROM purser_books_record WHERE source = $1 AND " .. schema.OPEN
    .. " AND time < $2 ORDER BY rid", batch.source, before)) do
    replace(self, tx, row.rid, { class = "lost_sight" }, batch, rev)
  end
end

local ASKED = 100 -- ids in one statement
local asked = {}
for i = 1, ASKED do asked[i] = "$" .. i end
local BY_IDS = ("%srid IN (%s)"):format(LIGHT, table.concat(asked, ", "))

-- Returns the known rows of a list and span, and a function that finds a row by id. Each shown row is looked up by id,
-- whatever its time; a row without an id of the service also as a twin.
local function known_of(tx, batch)
  local known, from_list, ids = {}, {}, {}
  for _, row in ipairs(batch.from and tx:rows(LIGHT .. "source = $1 AND time >= $2 AND time <= $3", batch.source,
    batch.from, batch.to) or {}) do
    known[row.rid], from_list[#from_list + 1] = row, row
  end
  for _, row in ipairs(batch.rows) do
    row.rid = record.rid(row, 1)
    for twin = 1, row.sid == "" and 2 or 1 do
      local rid = twin == 1 and row.rid or record.rid(row, 2)
      if known[rid] == nil then known[rid], ids[#ids + 1] = false, rid end
    end
  end
  for first = 1, #ids, ASKED do
    for i = #ids + 1, first + ASKED - 1 do ids[i] = "" end -- no record's
    for _, row in ipairs(tx:rows(BY_IDS, unpack(ids, first, first + ASKED - 1))) do known[row.rid] = row end
  end
  return from_list, function(rid)
    if known[rid] == nil then known[rid] = tx:rows(LIGHT .. "rid = $1", rid)[1] or false end
    return known[rid] or nil
  end
end

-- Groups rows by identity. A list may show one id several times.
local function groups_of(rows)
  local groups, by_identity = {}, {}
  for _, row in ipairs(rows) do
    local group = by_identity[row.identity]
    if not group then
      group = {}
      by_identity[row.identity], groups[#groups + 1] = group, group
    end
    group[row.sid ~= "" and 1 or #group + 1] = row
  end
  return groups
end

local function is_lower(source) return source:find "|broker_deposits$" ~= nil end

-- Adds what only the other source knows: payer, payee, or a deposit's owner.
local function merge(old, row)
  for _, name in ipairs { "owner", "from_owner", "to_owner" } do
    if row[name] == "" then row[name] = old[name] end
  end
  if row.entity == "internal_transfer" then
    row.owner = row.from_owner ~= "" and row.from_owner or row.to_owner ~= "" and row.to_owner or old.owner
  end
  if not is_lower(old.source) then row.source = old.source end
end

local SHOWN = { "owner", "from_owner", "to_owner", "source", "class" } -- beside the signature

local function is_same(old, row)
  for _, name in ipairs(SHOWN) do
    if old[name] ~= row[name] then return false end
  end
  return old.missing_since == "" and record.signature(old) == record.signature(row)
end

local function update(self, tx, old, row, batch, rev)
  old.is_shown = true
  if old.source ~= row.source and is_lower(row.source) then return end
  merge(old, row)
  batch.is_open = batch.is_open or not record.is_final(row.class)
  if batch.asked_at < old.seen or is_same(old, row) then return end -- an older answer, or nothing new
  replace(self, tx, old.rid, row, batch, rev)
end

-- Compares the shown rows of one identity with the known rows: unchanged ones first, the rest in order.
local function compare(self, tx, group, find, batch, rev)
  local row = group[1]
  row.twin = "1"
  if #group == 1 and not find(row.rid) then -- most are so
    batch.left[#batch.left + 1] = row
    return
  end
  local olds, changed = {}, {}
  repeat
    local old = find(#olds == 0 and row.rid or record.rid(row, #olds + 1))
    olds[#olds + 1] = old
  until not old or row.sid ~= "" -- no other has its id
  local twin = #olds
  if #group > 1 then table.sort(group, function(a, b) return record.signature(a) < record.signature(b) end) end
  for _, one in ipairs(group) do
    local same
    for i = 1, #olds do
      if record.signature(olds[i]) == record.signature(one) then same = table.remove(olds, i) break end
    end
    if same then update(self, tx, same, one, batch, rev) else changed[#changed + 1] = one end
  end
  for i, one in ipairs(changed) do
    if olds[i] then
      update(self, tx, olds[i], one, batch, rev)
    else
      twin = twin + 1
      one.rid, one.twin = record.rid(one, twin), ("%d"):format(twin)
      insert(self, tx, one, batch, rev)
    end
  end
end

-- Adds the rows of no known identity. A vanished deposit is such a row if each is the other's only match, by
-- transaction, or by all else where no transaction was shown before.
local function add_left(self, tx, from_list, batch, rev)
  local gone, count = {}, {}
  for _, old in ipairs(from_list) do
    if not old.is_shown and old.entity == "deposit" then
      local linked, bare = record.likeness(old)
      local key = linked or bare
      gone[key] = gone[key] == nil and old or false
    end
  end
  local function each_key(fn)
    for _, row in ipairs(batch.left) do
      local linked, bare = nil, ""
      if row.entity == "deposit" then linked, bare = record.likeness(row) end
      fn(row, linked and gone[linked] ~= nil and linked or bare)
    end
  end
  each_key(function(_, key) count[key] = (count[key] or 0) + 1 end)
  each_key(function(row, key)
    if gone[key] and count[key] == 1 then update(self, tx, gone[key], row, batch, rev)
    else insert(self, tx, row, batch, rev) end
  end)
end

-- Marks what a whole reading lacks. An open record that two readings lack, an hour apart, is out of sight.
local function mark_missing(self, tx, from_list, batch, rev)
  table.sort(from_list, function(a, b) return a.rid < b.rid end)
  for _, row in ipairs(from_list) do
    if row.is_shown or batch.asked_at < row.seen then -- luacheck: ignore 542
    elseif row.missing_since == "" then
      replace(self, tx, row.rid, { missing_since = batch.asked_at }, batch, rev)
    elseif not record.is_final(row.class) and row.class ~= "lost_sight"
      and tonumber(batch.asked_at) - tonumber(row.missing_since) >= HOUR then
      replace(self, tx, row.rid, { class = "lost_sight" }, batch, rev)
    end
  end
end

--- Takes a list's rows of a span into the books: { rows, source, asked_at, from, to }, times as text. Without a span
--- nothing is missing. Sets `changes` and `is_open` of the batch.
function Store:apply(tx, batch, rev)
  batch.changes, batch.left = 0, {}
  local from_list, find = known_of(tx, batch)
  for _, group in ipairs(groups_of(batch.rows)) do compare(self, tx, group, find, batch, rev) end
  add_left(self, tx, from_list, batch, rev)
  mark_missing(self, tx, from_list, batch, rev)
end

--- Iterates over an account's records by time; entity "" is any kind.
function Store:each(account, entity)
  local rows, at, last = {}, 0, { time = "", rid = "" }
  local sql = "SELECT * FROM purser_books_record WHERE account = $1 AND (time, rid) > ($2, $3) AND ($4 = '' OR "
    .. "entity = $5) ORDER BY time, rid LIMIT 1000"
  return function()
    at = at + 1
    if not rows[at] then
      rows, at = self:rows(sql, account, last.time, last.rid, entity, entity), 1
    end
    last = rows[at] or last
    return rows[at]
  end
end

--- Opens the books: { sqlite = path } or { postgresql = {...} }. Without a `client` missing books are not made.
--- Returns nil and a message on failure.
function M.open(options)
  local is_missing = options.sqlite and not options.client and select(3, core.file_mode(options.sqlite)) == true
  if is_missing then return nil, schema.NONE end
  local db, message = database.open({ sqlite = options.sqlite, postgresql = options.postgresql,
    lock_timeout_ms = 10000 }, schema.HOME)
  if not db then return nil, message end
  local witness = witnesses.of(db)
  local ok, problem = schema.make(db, options.client ~= nil, witness)
  if not ok then
    db:close()
    return nil, problem
  end
  return setmetatable({ db = db, outbox = outbox.new("purser_books", 60000), witness = witness }, Store)
end

function Store:close() self.db:close() end

return M
