-- SPDX-License-Identifier: MIT
-- The books in a database: rows that are compared with what a list shows, and changed in one transaction with how far
-- the list was read. A revision is one number, raised under a lock, so that it follows the commits.

local core = require "purser.core"
local database = require "purser.client.util.database"
local errors = require "purser.client.call.errors"
local outbox = require "purser.client.transport.outbox"
local record = require "purser.desk.books.record"
local schema = require "purser.desk.books.schema"

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

--- Runs `fn(tx, rev)` in one transaction that no other writer of the books shares; `rev()` is its revision, which is
--- raised when it is first asked for. Raises a purser.Error when it fails.
function Store:write(fn)
  local is_server = self.db.name == "postgresql"
  local ok, message = self.db:transaction(function(tx)
    local row = tx:rows("SELECT value FROM purser_books_meta WHERE name = 'rev'" .. (is_server and " FOR UPDATE" or ""))
    local rev
    fn(tx, function()
      if not rev then
        rev = ("%012d"):format(tonumber(row[1].value) + 1)
        tx:rows("UPDATE purser_books_meta SET value = $1 WHERE name = 'rev'", rev)
        if is_server then tx:rows("SELECT pg_notify('purser_books', $1)::text AS sent", rev) end
      end
      return rev
    end)
    return true
  end)
  if not ok then fail(message) end
end

--- Returns the rows of a statement, and how many it changed; raises a purser.Error when it fails.
function Store:rows(sql, ...)
  local rows, changed = self.db:rows(sql, ...)
  if not rows then fail(changed) end
  return rows, changed
end

-- Keeps events for these receivers from now on.
function Store:add_receivers(names)
  self.outbox:add(self, names)
  self.has_receivers = self.outbox:waiting(self)[1] ~= nil
end

--- Returns the newest revision.
function Store:rev() return self:rows("SELECT value FROM purser_books_meta WHERE name = 'rev'")[1].value end

-- Adds the event of a row's newest state for each receiver, with what was before, and the service's record as it came.
-- The id of a payment's event is what became of the payment, so that no other look at a payment makes a second id.
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

-- Returns the columns of a row from the `first` on, and what comes behind them.
local function values_of(row, first, last)
  for i = first, #columns do values[i - first + 1] = row[columns[i]] end
  values[#columns - first + 2] = last
  return unpack(values, 1, #columns - first + (last and 2 or 1))
end

-- Adds a row that the books do not have.
local function insert(self, tx, row, batch, rev)
  row.n, row.seen, row.rev, row.first_rev = "1", batch.asked_at, rev(), rev()
  row.booked = row.class ~= "pending" and row.updated or row.time
  tx:rows(INSERT, values_of(row, 1))
  deliver(self, tx, row)
  batch.changes = batch.changes + 1
  batch.is_open = batch.is_open or not record.is_final(row.class)
end

-- Keeps what a row was, and puts the members of `new` in its place.
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

--- Says of the open records of a list from before a time that they are out of sight.
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

-- Returns what the books know: the rows of this list and time, and a function that finds one by its id. Every row that
-- is shown is looked for by its id, wherever its time lies, and its twin where it has no id of the service.
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

-- Returns the rows of a list by what no state changes. Rows with an id are one record, however often the list shows it.
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

-- Adds what a second source knows: payer and payee each know one side, and a broker's list names no owner.
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

local function by_signature(a, b) return record.signature(a) < record.signature(b) end

-- Compares what is shown of one identity with what is known of it: unchanged ones first, the rest in order.
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
  if #group > 1 then table.sort(group, by_signature) end
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

-- Adds the rows that no identity knows. A deposit that a whole reading does not show any more is such a row, where both
-- are each other's only one: the transaction is the same, or was blank before and all else is the same.
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

-- Marks what a whole reading does not show. An open record that two of them lack, an hour apart, is out of sight.
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

--- Takes what a list showed of a span into the books: { rows, source, asked_at, from, to }, times as text. Without a
--- span nothing counts as missing. Adds `changes` and `is_open` to the batch.
function Store:apply(tx, batch, rev)
  batch.changes, batch.left = 0, {}
  local from_list, find = known_of(tx, batch)
  for _, group in ipairs(groups_of(batch.rows)) do compare(self, tx, group, find, batch, rev) end
  add_left(self, tx, from_list, batch, rev)
  mark_missing(self, tx, from_list, batch, rev)
end

--- Returns an iterator over an account's records in the order of their times; those of one kind, unless it is "".
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

--- Opens the books: { sqlite = path } or { postgresql = {...} }; who has no `client` to read with finds them or none.
--- Returns nil and a message when it cannot.
function M.open(options)
  local is_missing = options.sqlite and not options.client and select(3, core.file_mode(options.sqlite)) == true
  if is_missing then return nil, schema.NONE end
  local db, message = database.open { sqlite = options.sqlite, postgresql = options.postgresql,
    lock_timeout_ms = 10000 }
  if not db then return nil, message end
  local ok, problem = schema.make(db, options.client ~= nil)
  if not ok then return nil, problem end
  return setmetatable({ db = db, outbox = outbox.new("purser_books", 60000) }, Store)
end

function Store:close() self.db:close() end

return M
