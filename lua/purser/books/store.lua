-- SPDX-License-Identifier: MIT
-- The books in a database: rows that are compared with what a list shows, and changed in one transaction with how far
-- the list was read. A revision is one number, raised under a lock, so that it follows the commits.

local database = require "purser.util.database"
local json = require "purser.json"
local record = require "purser.books.record"
local schema = require "purser.books.schema"

local Store = { __name = "purser.books.store" }
Store.__index = Store

local M = {}

local HOUR = 3600000

local marks, sets = {}, {}
for i, name in ipairs(schema.columns) do
  marks[i] = "$" .. i
  if i > 1 then sets[i - 1] = ("%s = $%d"):format(name, i - 1) end
end
local INSERT = ("INSERT INTO purser_books_record (%s) VALUES (%s)"):format(table.concat(schema.columns, ", "),
  table.concat(marks, ", "))
local UPDATE = ("UPDATE purser_books_record SET %s WHERE rid = $%d"):format(table.concat(sets, ", "), #schema.columns)
local LIGHT = "SELECT rid, n, seen, class, owner, from_owner, to_owner, source, missing_since, state, tx, fee, amount, "
  .. "network, address, booked FROM purser_books_record WHERE "
local CHUNK = 30
local IN_CHUNK = LIGHT .. "rid IN (" .. table.concat(marks, ", ", 1, CHUNK) .. ")"

local unpack = table.unpack or unpack -- luacheck: ignore

--- Runs `fn(tx, rev)` in one transaction that no other writer of the books shares; `rev()` is its revision, which is
--- raised when it is first asked for. Returns what fn returns; or nil and a message.
function Store:write(fn)
  return self.db:transaction(function(tx)
    local row = tx:rows("SELECT value FROM purser_books_meta WHERE name = 'rev'"
      .. (self.db.name == "postgresql" and " FOR UPDATE" or ""))[1]
    local rev
    local result = fn(tx, function()
      if not rev then
        rev = ("%012d"):format(tonumber(row.value) + 1)
        tx:rows("UPDATE purser_books_meta SET value = $1 WHERE name = 'rev'", rev)
        if self.db.name == "postgresql" then tx:rows("SELECT pg_notify('purser_books', $1)::text AS sent", rev) end
      end
      return rev
    end)
    return result == nil and true or result
  end)
end

--- Returns the rows of a statement; raises a text when it fails.
function Store:rows(sql, ...)
  local rows, message = self.db:rows(sql, ...)
  if not rows then error("the books: " .. tostring(message), 0) end
  return rows
end

--- Returns the newest revision.
function Store:rev() return self:rows("SELECT value FROM purser_books_meta WHERE name = 'rev'")[1].value end

-- The event of a row's newest state, as the body that every sink gets: the record's columns, and the service's record
-- as it came.
local function event_of(row, before)
  local members = {}
  for _, name in ipairs(schema.columns) do
    if name ~= "raw" then members[#members + 1] = { name, row[name] } end
  end
  local head = json.encode(json.object { { "id", ("ev_%s_%s"):format(row.rid, row.n) },
    { "type", row.entity .. (before and ".changed" or ".new") }, { "before", before and json.object {
    { "state", before.state }, { "class", before.class }, { "amount", before.amount } } or nil } })
  return ('%s,"record":%s,"raw":%s}'):format(head:sub(1, -2), json.encode(json.object(members)), row.raw)
end

local function deliver(self, tx, row, before)
  for _, sink in ipairs(self.sinks) do
    tx:rows("INSERT INTO purser_books_delivery (sink, rid, n, rev, created, due, attempts, lease, error, body) VALUES "
      .. "($1, $2, $3, $4, $5, $6, '0', '', '', $7)", sink, row.rid, row.n, row.rev, row.seen, row.seen,
      event_of(row, before))
  end
end

local function values_of(row, first)
  local values, columns = {}, schema.columns
  for i = first, #columns do values[i - first + 1] = row[columns[i]] end
  return values
end

-- Adds a row that the books do not have.
local function insert(self, tx, row, batch, rev)
  row.n, row.seen, row.rev, row.first_rev = "1", batch.asked_at, rev(), rev()
  row.booked = row.class ~= "pending" and row.updated or row.time
  tx:rows(INSERT, unpack(values_of(row, 1)))
  deliver(self, tx, row)
  batch.changes = batch.changes + 1
  batch.is_open = batch.is_open or not record.is_final(row.class)
end

-- Keeps what a row was, and puts `new` in its place.
local function replace(self, tx, rid, new, batch, rev)
  local old = tx:rows("SELECT * FROM purser_books_record WHERE rid = $1", rid)[1]
  local body = {}
  for _, name in ipairs(schema.columns) do body[name] = old[name] end
  tx:rows("INSERT INTO purser_books_change (rid, n, rev, body) VALUES ($1, $2, $3, $4)", rid, old.n, old.rev,
    record.json(body, "row"))
  local row = {}
  for _, name in ipairs(schema.columns) do row[name] = new[name] or old[name] end
  row.rid, row.n = rid, ("%d"):format(tonumber(old.n) + 1)
  row.rev, row.first_rev = rev(), old.first_rev
  row.seen, row.twin, row.time = batch.asked_at, old.twin, old.time
  if row.state == old.state then row.booked = old.booked else row.booked = new.updated or batch.asked_at end
  local values = values_of(row, 2)
  values[#values + 1] = rid
  tx:rows(UPDATE, unpack(values))
  deliver(self, tx, row, old)
  batch.changes = batch.changes + 1
end

--- Changes members of a row by hand, as a person's word or a missing record does.
function Store:change(tx, rid, members, asked_at, rev)
  replace(self, tx, rid, members, { asked_at = asked_at, changes = 0 }, rev)
end

-- Returns what is known of a list: what its source showed before of this time, and the same records from other sources.
local function known_of(tx, batch, groups)
  local known, from_list, asked = {}, {}, {}
  if batch.from then
    for _, row in ipairs(tx:rows(LIGHT .. "source = $1 AND time >= $2 AND time <= $3", batch.source, batch.from,
      batch.to)) do
      known[row.rid], from_list[row.rid] = row, row
    end
  end
  for _, group in ipairs(groups) do
    for twin = 1, #group do
      local rid = record.rid(group[1], twin)
      group.rids[twin] = rid
      if not known[rid] then asked[#asked + 1] = rid end
    end
  end
  local one = groups[1] and groups[1][1]
  if one and batch.from and not tx:rows("SELECT rid FROM purser_books_record WHERE account = $1 AND entity = $2 AND "
    .. "time >= $3 AND time <= $4 LIMIT 1", one.account, one.entity, batch.from, batch.to)[1] then
    asked = {} -- nothing is known of that time
  end
  for first = 1, #asked, CHUNK do
    local part = {}
    for i = 1, CHUNK do part[i] = asked[first + i - 1] or "" end
    for _, row in ipairs(tx:rows(IN_CHUNK, unpack(part))) do known[row.rid] = row end
  end
  return known, from_list
end

-- The rows of a list by what no state changes. Rows with an id are one record, however often the list shows it.
local function groups_of(rows)
  local groups, by_identity = {}, {}
  for _, row in ipairs(rows) do
    local group = by_identity[row.identity]
    if not group then
      group = { rids = {} }
      by_identity[row.identity], groups[#groups + 1] = group, group
    end
    if row.sid ~= "" then group[1] = row else group[#group + 1] = row end
  end
  return groups
end

local function is_lower(source) return source:find("broker_deposits", 1, true) ~= nil end

-- Adds what a second source knows: payer and payee each know one side, and a broker's list names no owner.
local function merge(old, row)
  if old.source ~= row.source and is_lower(row.source) then return nil end
  for _, name in ipairs { "owner", "from_owner", "to_owner" } do
    if row[name] == "" then row[name] = old[name] end
  end
  if row.entity == "internal_transfer" then
    row.owner = row.from_owner ~= "" and row.from_owner or row.to_owner ~= "" and row.to_owner or old.owner
  end
  if not is_lower(old.source) then row.source = old.source end
  return row
end

local function update(self, tx, old, row, batch, rev)
  row = merge(old, row)
  batch.is_open = batch.is_open or row and not record.is_final(row.class)
  if not row or batch.asked_at < old.seen then return end -- an older answer than the one that is kept
  if record.signature(old) == record.signature(row) and old.missing_since == "" and old.owner == row.owner
    and old.from_owner == row.from_owner and old.to_owner == row.to_owner and old.source == row.source
    and old.class == row.class then return end
  row.missing_since = ""
  replace(self, tx, old.rid, row, batch, rev)
end

-- Compares what is shown of one identity with what is known of it: unchanged ones first, the rest in order.
local function compare_group(self, tx, group, known, batch, rev)
  local left, shown = {}, {}
  local twin = 1
  while true do
    local rid = group.rids[twin] or record.rid(group[1], twin)
    if not known[rid] then break end
    left[#left + 1], twin = known[rid], twin + 1
  end
  table.sort(group, function(a, b) return record.signature(a) < record.signature(b) end)
  for _, row in ipairs(group) do
    local found
    for i, old in ipairs(left) do
      if record.signature(old) == record.signature(row) then found = i break end
    end
    if found then
      local old = table.remove(left, found)
      known[old.rid].is_shown = true
      update(self, tx, old, row, batch, rev)
    else shown[#shown + 1] = row end
  end
  for i, row in ipairs(shown) do
    local old = left[i]
    if old then
      old.is_shown = true
      update(self, tx, old, row, batch, rev)
    else
      row.rid, row.twin = record.rid(row, twin), ("%d"):format(twin)
      twin = twin + 1
      insert(self, tx, row, batch, rev)
    end
  end
end

-- Marks what a whole reading does not show. An open record that two of them lack, an hour apart, is out of sight.
local function mark_missing(self, tx, from_list, batch, rev)
  local gone = {}
  for rid, row in pairs(from_list) do
    if not row.is_shown and batch.asked_at >= row.seen then gone[#gone + 1] = rid end
  end
  table.sort(gone)
  for _, rid in ipairs(gone) do
    local row = from_list[rid]
    if row.missing_since == "" then
      replace(self, tx, rid, { missing_since = batch.asked_at }, batch, rev)
    elseif not record.is_final(row.class) and row.class ~= "lost_sight"
      and tonumber(batch.asked_at) - tonumber(row.missing_since) >= HOUR then
      replace(self, tx, rid, { class = "lost_sight" }, batch, rev)
    end
  end
end

--- Takes what a list showed of a span into the books: { rows, source, asked_at, from, to }, times as text. Without a
--- span nothing counts as missing. Adds `changes` and `is_open` to the batch.
function Store:apply(tx, batch, rev)
  batch.changes = batch.changes or 0
  local groups = groups_of(batch.rows)
  local known, from_list = known_of(tx, batch, groups)
  for _, group in ipairs(groups) do compare_group(self, tx, group, known, batch, rev) end
  mark_missing(self, tx, from_list, batch, rev)
end

--- Returns an iterator over an account's records in the order of their times; those of one kind, unless it is "".
function Store:each(account, entity)
  local rows, at, last = {}, 0, { time = "", rid = "" }
  return function()
    at = at + 1
    if not rows[at] then
      rows, at = self:rows([[SELECT * FROM purser_books_record WHERE account = $1 AND (time > $2 OR time = $3 AND
        rid > $4) AND ($5 = '' OR entity = $6) ORDER BY time, rid LIMIT 1000]], account, last.time, last.time,
        last.rid, entity, entity), 1
    end
    last = rows[at] or last
    return rows[at]
  end
end

--- Opens the books: { sqlite = path } or { postgresql = {...} }. Returns nil and a message when it cannot.
function M.open(options)
  local db, message = database.open { sqlite = options.sqlite, postgresql = options.postgresql,
    lock_timeout_ms = 10000 }
  if not db then return nil, message end
  local ok
  ok, message = schema.make(db)
  if not ok then return nil, message end
  return setmetatable({ db = db, sinks = {} }, Store)
end

function Store:close() self.db:close() end

return M
