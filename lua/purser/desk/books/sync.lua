-- SPDX-License-Identifier: MIT
-- Reads what is due: each list from where its last reading ended, records that may change, and a balance before and
-- after. One transaction keeps rows and the end of a reading, so a killed run goes on.

local decimal = require "purser.decimal"
local record = require "purser.desk.books.record"
local schema = require "purser.desk.books.schema"
local sources = require "purser.desk.books.sources"

local M = {}

local HOUR, DAY, WEEK = sources.HOUR, sources.DAY, sources.WEEK
local MARGIN = 5 * 60000        -- of a reach, for the time of reading
local DEEP = 3 * HOUR           -- between two readings of more than the newest records
local LONGEST = 6 * HOUR        -- between two readings of an owner without news, and of the list of owners
local ROUNDS = 3                -- readings of a list while the balance moves
local BATCH = 4000              -- rows of one transaction, which spans a week at most
local PATIENCE = 3              -- lists without a connection, before the run asks no more

M.LONGEST = LONGEST

local time_text, floor = record.time_text, math.floor

-- Returns how far a list was read, its open `gap`, and the `earliest` time that the service shows.
local function state_of(books, owner, list, now)
  local state = books.store:rows("SELECT read_to FROM purser_books_source WHERE account = $1 AND owner = $2 "
    .. "AND list = $3", books.account, owner.name, list.list)[1] or { read_to = "" }
  state.gap = books.store:rows("SELECT starts, why FROM purser_books_gap WHERE account = $1 AND owner = $2 AND "
    .. "list = $3 AND ends = '' AND closed_rev = ''", books.account, owner.name, list.list)[1]
  state.earliest = list.reach and now - list.reach + MARGIN
  return state
end

local function open_gap(books, tx, owner, list, starts, ends, why, rev)
  tx:rows([[INSERT INTO purser_books_gap (account, owner, list, starts, ends, why, rev, closed_rev) VALUES ($1, $2, $3,
    $4, $5, $6, $7, '') ON CONFLICT DO NOTHING]], books.account, owner.name, list.list, starts, ends, why, rev())
end

-- Ends the gap of a list. The time before the reading becomes a gap of its own; older revisions keep the first gap.
local function end_gap(books, tx, owner, list, gap, from, rev)
  tx:rows("UPDATE purser_books_gap SET closed_rev = $1 WHERE account = $2 AND owner = $3 AND list = $4 AND ends = '' "
    .. "AND closed_rev = ''", rev(), books.account, owner.name, list.list)
  if gap.starts < from then open_gap(books, tx, owner, list, gap.starts, from, gap.why, rev) end
end

-- Reports a list that cannot be read, and keeps one gap.
local function note_gap(books, owner, list, state, from, err)
  books.problems[#books.problems + 1] = { owner = owner.name, list = list.list, message = err.message or tostring(err),
    is_rejected = err.outcome == "rejected" and err.kind == "api" }
  if state.gap then return end
  books.store:write(function(tx, rev)
    open_gap(books, tx, owner, list, state.read_to ~= "" and state.read_to or time_text(from), "",
      err.message or tostring(err), rev)
  end)
end

-- Returns the due spans: older spans with a record that may change, and the newest span.
local function spans_of(books, source, list, state, now)
  if list.is_state then return { { to = now, is_newest = true } } end
  local earliest = state.earliest or 0
  local from, spans = math.max(earliest, now - books.since), {}
  if state.read_to ~= "" then
    local is_deep = floor(tonumber(state.read_to) / DEEP) < floor(now / DEEP)
    local back = is_deep and math.max(list.back, WEEK) or list.back
    -- what was young when the list was read last may have changed since, as long ago as that was
    from = floor(math.max(earliest, math.min(state.read_to - back + LONGEST, now - back)))
    for _, row in ipairs(is_deep and books.store:rows("SELECT time FROM purser_books_record WHERE source = $1 AND "
      .. schema.OPEN .. " AND time < $2 ORDER BY time", source, time_text(from)) or {}) do
      local time, last = floor(tonumber(row.time)), spans[#spans]
      if time >= earliest and (not last or time > last.to) then
        spans[#spans + 1] = { from = time, to = math.min(from - 1, time + list.back) }
      end
    end
  end
  spans[#spans + 1] = { from = floor(from), to = now, is_newest = true }
  return spans
end

-- Returns the records of a list without a span; nil for any other list. Raises failures.
local function few_records(list)
  if list.records then return list.records() end
  if not list.is_one_answer then return nil end
  local answer, err = list.client:call(list.operation, list.params or {})
  if not answer then error(err, 0) end
  local records = answer.rows or answer.data or list.is_lone and { answer } or answer
  local total = tonumber(answer.total or answer.totalRecords)
  return (not total or total <= #records) and records or error("the answer shows but a part of the list", 0)
end

-- Returns an iterator over the records of a span. Raises failures.
local function records_of(list, span)
  local few, at, from, to = few_records(list), 0, span.from, span.to
  if few then
    return function()
      at = at + 1
      return few[at]
    end
  end
  if list.is_state then from, to = nil, nil end
  -- records of a day: whole days, in any time zone of the service
  if list.shows_days then from = math.max(0, from - from % DAY - DAY) end
  local params = { from = from, to = to }
  for name, value in pairs(list.params or {}) do params[name] = value end
  local walk = list.client:each(list.operation, params)
  return function()
    local found, err = walk:next()
    if err then error(err, 0) end
    return found
  end
end

-- Writes rows of a span; of the newest span also how far the list is read.
local function keep(books, owner, list, state, batch, span)
  local now = time_text(list.client:now()) -- before the time of the question where an answer set the clock back
  batch.asked_at = batch.asked_at < now and batch.asked_at or now
  local read_to = (list.is_state or batch.to > now) and batch.asked_at or batch.to
  books.store:write(function(tx, rev)
    books.store:apply(tx, batch, rev)
    if not span.is_newest then return end
    if state.gap then -- a list that was never read misses nothing but what it no longer shows
      end_gap(books, tx, owner, list, state.gap, state.read_to ~= "" and time_text(span.from or 0) or "", rev)
    elseif state.earliest and state.read_to ~= "" and tonumber(state.read_to) < state.earliest - MARGIN then
      open_gap(books, tx, owner, list, state.read_to, time_text(state.earliest), "older than the service shows", rev)
    end
    if state.earliest then books.store:lose(tx, batch, time_text(state.earliest + DAY), rev) end
    local first = span.from and time_text(span.from) or ""
    if first ~= "" and owner.created and owner.created >= first then first = time_text(0) end -- nothing was before
    tx:rows([[INSERT INTO purser_books_source (account, owner, list, read_to, read_from, rev) VALUES ($1, $2, $3, $4,
      $5, $6) ON CONFLICT (account, owner, list) DO UPDATE SET read_to = excluded.read_to]], books.account, owner.name,
      list.list, read_to, first, state.read_to == "" and rev() or "")
  end)
  if span.is_newest then state.gap, state.read_to = nil, read_to end
end

-- Reads a span and writes batches. Raises failures.
local function read_span(books, owner, list, state, source, span, result)
  local asked_at, next_record = time_text(list.client:now()), records_of(list, span)
  local context = { account = books.account, owner = owner.name, source = source, from = list.from, to = list.to,
    asset = books.asset, is_own = books.is_own }
  local first, final = span.from and time_text(span.from) or "", span.from and time_text(span.to) or "9"
  local is_timed = span.from and not list.shows_days -- a day alone is no time, so nothing can be missing from a span
  local rows, made, from, last, due = {}, {}, (is_timed or not span.from) and first or nil, "", nil
  local function write(to)
    local batch = { rows = rows, source = source, asked_at = asked_at, from = from, to = to }
    keep(books, owner, list, state, batch, span)
    result.changes, result.is_open = result.changes + batch.changes, result.is_open or batch.is_open
    rows, from, due = {}, from and time_text(tonumber(to) + 1), nil
  end
  for found in next_record do
    if list.list == "broker_deposits" then context.owner = books.by_address(found) end
    record.add(made, list.entity, found, context)
    local time = is_timed and made[1] and made[1].time
    local is_stray = time and (time < first or time > final) and made[1].class ~= "unreadable"
    if time and not is_stray and time > last then
      due, last = due or time_text(tonumber(from) + WEEK), time
      if #rows >= BATCH or time > due then write(time_text(tonumber(time) - 1)) end -- the oldest come first
    end
    for i = 1, #made do rows[#rows + 1], made[i] = not is_stray and made[i] or nil, nil end
  end
  write(final)
end

--- Reads the due spans of a list. Adds to `result`: changes, is_open, is_read. Tells whether all was read.
function M.read_list(books, owner, list, result)
  local now, source = list.client:now(), ("%s|%s|%s"):format(books.account, owner.name, list.list)
  local state = state_of(books, owner, list, now)
  if list.every and state.read_to ~= "" and now - tonumber(state.read_to) < list.every then return true end
  for _, span in ipairs(spans_of(books, source, list, state, now)) do
    local went, err = false, books.outage
    if books.unreached < PATIENCE or list.records then
      went, err = pcall(read_span, books, owner, list, state, source, span, result)
    end
    if not went and list.instead and err.outcome == "rejected" then
      list.operation, list.instead = list.instead, nil
      return M.read_list(books, owner, list, result)
    end
    if not list.records then books.unreached = not went and err.kind == "transport" and books.unreached + 1 or 0 end
    result.is_read = result.is_read or went and not list.records
    if not went then
      books.outage = err
      note_gap(books, owner, list, state, span.from or now - books.since, err)
      return false
    end
  end
  return true
end

-- Returns an owner's spot balance as a text: free and locked by asset; nil for no balance.
local function balance_of(books, owner)
  local list
  if books.unreached >= PATIENCE then return nil end
  if owner.sub and books.group then
    list = books.main.client:call("sub_account.balances", { subAccount = owner.sub, accountType = "SPOT" })
  elseif owner.client and not owner.has_no_balance then
    local answer, err = owner.client:call "live.account"
    owner.has_no_balance = err and (err.kind == "config" or err.outcome == "rejected")
    list = answer and answer.balances
  end
  if not list then return nil end
  local body = {}
  for _, row in ipairs(list) do
    local free, locked = record.amount(row.free), record.amount(row.locked)
    if free == "" or locked == "" then
      local why = select(2, decimal.shown(free == "" and row.free or row.locked))
      books.problems[#books.problems + 1] = { owner = owner.name, list = "balance", is_rejected = false,
        message = ("the balance of %s: %s; no balance is kept"):format(tostring(row.asset), why) }
      return nil
    end
    if free ~= "0" or locked ~= "0" then body[row.asset] = { free, locked } end
  end
  return record.json(body)
end

-- Keeps a quiet balance if it moved, records came, or a day began. Tells whether the balance moved.
local function keep_reading(books, owner, began, at, body, changes)
  local last = books.store:rows("SELECT at, body FROM purser_books_reading WHERE account = $1 AND owner = $2 "
    .. "ORDER BY at DESC, rev DESC LIMIT 1", books.account, owner.name)[1]
  local is_moved = not last or last.body ~= body
  if not is_moved and changes == 0 and books.days:number(last.at) == books.days:number(at) then return false end
  books.store:write(function(tx, rev)
    tx:rows("INSERT INTO purser_books_reading (account, owner, began, at, rev, body) VALUES ($1, $2, $3, $4, $5, $6)",
      books.account, owner.name, time_text(math.min(began, at)), time_text(at), rev(), body)
  end)
  return is_moved and last ~= nil
end

local function set_due(books, owner, result, began)
  local row = books.store:rows("SELECT every, hot_until FROM purser_books_owner WHERE account = $1 AND owner = $2",
    books.account, owner.name)[1]
  local hot_until = row and tonumber(row.hot_until) or 0
  if result.changes > 0 or result.is_open or result.moved then hot_until = began + DAY end
  local every = began < hot_until and books.every
    or math.min(LONGEST, math.max(books.every, row and tonumber(row.every) * 2 or books.every))
  books.store:rows([[INSERT INTO purser_books_owner (account, owner, due, every, hot_until, gone) VALUES ($1, $2, $3,
    $4, $5, '') ON CONFLICT (account, owner) DO UPDATE SET due = excluded.due, every = excluded.every,
    hot_until = excluded.hot_until]], books.account, owner.name, time_text(began + every), time_text(every),
    time_text(hot_until))
end

--- Reads an owner's lists, and a balance around them. Returns how many records changed, and whether a list was shown.
function M.owner(books, owner)
  local result = { changes = 0 }
  local clock = owner.client or books.main.client
  local started = clock:now()
  for _ = 1, ROUNDS do
    local began, before = clock:now(), balance_of(books, owner)
    for _, list in ipairs(sources.of(books, owner)) do M.read_list(books, owner, list, result) end
    local at = clock:now()
    local after = before and balance_of(books, owner)
    if after and after == before then
      result.moved = keep_reading(books, owner, began, at, after, result.changes)
      break
    end
    if not after then break end
    result.moved = true
  end
  set_due(books, owner, result, started)
  return result.changes, result.is_read
end

return M
