-- SPDX-License-Identifier: MIT
-- Reads what is due: each list from where it was read to, what may still change once more, and a balance before and
-- after. Rows and how far a list was read are one transaction, so a run that was killed is continued by the next.

local record = require "purser.books.record"
local sources = require "purser.books.sources"

local M = {}

local HOUR, DAY = sources.HOUR, sources.DAY
local MARGIN = 5 * 60000        -- of a reach: time goes on while lists are read
local DEEP = 3 * HOUR           -- how often more than the newest is read again
local LONGEST = 6 * HOUR        -- between two readings of an owner of whom nothing is new
local OPEN = "class IN ('pending', 'sent', 'early')"
local ROUNDS = 3                -- so often a list is read again because the balance moved meanwhile

local time_text, floor = record.time_text, math.floor

-- Returns what an error of a call says in a gap, and whether the service rejected the call.
local function words_of(err)
  return err.message or tostring(err), err.outcome == "rejected" and err.kind == "api"
end

-------------------------------------------------------------------------------------------------------- one list

local function source_name(books, owner, list) return ("%s|%s|%s"):format(books.account, owner.name, list.list) end

local function state_of(books, owner, list)
  return books.store:rows("SELECT read_to, deep_at, error FROM purser_books_source WHERE account = $1 AND owner = $2 "
    .. "AND list = $3", books.account, owner.name, list.list)[1] or { read_to = "", deep_at = "", error = "" }
end

-- The spans that are due: older ones that hold a record which may still change, and the newest.
local function spans_of(books, source, list, state, now)
  local earliest = list.reach and now - list.reach + MARGIN or 0
  if state.read_to == "" then return { { floor(math.max(earliest, now - books.since)), now } }, true, earliest end
  local is_deep = state.deep_at == "" or now - tonumber(state.deep_at) >= DEEP
  local from = math.max(earliest, tonumber(state.read_to) - (is_deep and math.max(list.back, 7 * DAY) or list.back))
  if list.chunk then from = math.max(from, now - list.chunk) end
  from = floor(math.max(earliest, math.min(from, tonumber(state.read_to))))
  local spans = {}
  for _, row in ipairs(is_deep and books.store:rows("SELECT time FROM purser_books_record WHERE source = $1 AND "
    .. OPEN .. " AND time < $2 ORDER BY time", source, time_text(from)) or {}) do
    local time, last = floor(tonumber(row.time)), spans[#spans]
    if time >= earliest and (not last or time > last[2]) then
      spans[#spans + 1] = { time, math.min(from - 1, time + (list.chunk and floor(list.chunk) or 0)) }
    end
  end
  spans[#spans + 1] = { from, now }
  return spans, is_deep, earliest
end

local function parts_of(spans, chunk)
  local parts = {}
  for _, span in ipairs(spans) do
    local from = span[1]
    repeat
      local to = chunk and math.min(span[2], from + floor(chunk)) or span[2]
      parts[#parts + 1], from = { from, to }, to + 1
    until from > span[2]
  end
  return parts
end

local function params_of(list, part)
  local params = {}
  for name, value in pairs(list.params or {}) do params[name] = value end
  params.from, params.to = part[1], part[2]
  -- records that show a day alone: whole days, wherever the service's begin
  if list.is_daily then params.from = math.max(0, params.from - params.from % DAY - DAY) end
  return params
end

local SMALLEST_PAGE = 10 -- of the service

-- A list of a sub-account in one request, where its answer cannot be but a part: most are empty, and a walk asks once
-- more whether the list counts in milliseconds. The parent's own lists, which are walks, find that out for all.
local function read_quickly(owner, list, part)
  if owner.is_main or not list.quick or part[2] - part[1] > 7 * DAY then return nil end
  local params = params_of(list, part)
  params.startTime, params.endTime, params.from, params.to = params.from, params.to, nil, nil
  for name, value in pairs(list.quick) do params[name] = value end
  local answer = list.client:call(list.operation, params)
  local records = answer and (answer.rows or answer.data or answer)
  local total = answer and tonumber(answer.total or answer.totalRecords)
  if not records or #records >= (list.whole_below or SMALLEST_PAGE) or total and total > #records then
    return nil
  end
  local at = 0
  return { next = function()
    at = at + 1
    return records[at]
  end }
end

-- The rows that a list shows of a span; or nil and an error.
local function read(books, owner, list, source, part)
  local walk = read_quickly(owner, list, part) or list.client:each(list.operation, params_of(list, part))
  local context = { account = books.account, owner = owner.name, source = source, from = list.from, to = list.to,
    asset = books.asset, is_own = books.is_own }
  local rows = {}
  while true do
    local found, err = walk:next()
    if err then return nil, err end
    if not found then return rows end
    if list.list == "broker_deposits" then context.owner = books.by_address(found) end
    local ok, made = pcall(record.rows, list.entity, found, context)
    if not ok and type(made) == "table" then return nil, made end -- of the list of coins, which says what a name is
    if not ok then error(made, 0) end
    for _, row in ipairs(made) do rows[#rows + 1] = row end
  end
end

-- Keeps that a list cannot be read, once.
local function note_gap(books, owner, list, state, from, err)
  local words, is_rejected = words_of(err)
  books.problems[#books.problems + 1] = { owner = owner.name, list = list.list, message = words,
    is_rejected = is_rejected }
  if state.error == words then return end
  return books.store:write(function(tx, rev)
    tx:rows([[INSERT INTO purser_books_source (account, owner, list, read_to, deep_at, error) VALUES ($1, $2, $3, '',
      '', $4) ON CONFLICT (account, owner, list) DO UPDATE SET error = excluded.error]], books.account, owner.name,
      list.list, words)
    if state.error ~= "" then return end
    tx:rows([[INSERT INTO purser_books_gap (account, owner, list, starts, ends, why, rev, closed_rev) VALUES ($1, $2,
      $3, $4, '', $5, $6, '') ON CONFLICT DO NOTHING]], books.account, owner.name, list.list,
      state.read_to ~= "" and state.read_to or time_text(from), words, rev())
  end)
end

-- Ends the gap of a list that is read again: what lies before the span that was read stays one.
local function end_gap(books, tx, owner, list, from, rev)
  tx:rows("UPDATE purser_books_gap SET closed_rev = $1 WHERE account = $2 AND owner = $3 AND list = $4 AND ends = '' "
    .. "AND closed_rev = '' AND starts >= $5", rev(), books.account, owner.name, list.list, time_text(from))
  tx:rows("UPDATE purser_books_gap SET ends = $1 WHERE account = $2 AND owner = $3 AND list = $4 AND ends = '' "
    .. "AND closed_rev = ''", time_text(from), books.account, owner.name, list.list)
end

-- Says of open records that a list will soon not show any more that they are out of sight.
local function lose(books, tx, source, earliest, asked_at, rev)
  for _, row in ipairs(tx:rows("SELECT rid FROM purser_books_record WHERE source = $1 AND " .. OPEN
    .. " AND time < $2 ORDER BY rid", source, time_text(earliest + DAY))) do
    books.store:change(tx, row.rid, { class = "lost_sight" }, asked_at, rev)
  end
end

-- Writes what one span showed, with how far the list is read.
local function keep(books, owner, list, state, batch, span)
  return books.store:write(function(tx, rev)
    batch.changes = 0
    books.store:apply(tx, batch, rev)
    if span.gap_to then
      tx:rows([[INSERT INTO purser_books_gap (account, owner, list, starts, ends, why, rev, closed_rev) VALUES ($1, $2,
        $3, $4, $5, 'older than the service shows', $6, '') ON CONFLICT DO NOTHING]], books.account, owner.name,
        list.list, state.read_to, time_text(span.gap_to), rev())
    end
    if state.error ~= "" then end_gap(books, tx, owner, list, span.from, rev) end
    if span.is_last and list.reach then lose(books, tx, batch.source, span.earliest, batch.asked_at, rev) end
    if not span.is_newest then return end
    tx:rows([[INSERT INTO purser_books_source (account, owner, list, read_to, deep_at, error) VALUES ($1, $2, $3, $4,
      $5, '') ON CONFLICT (account, owner, list) DO UPDATE SET read_to = excluded.read_to, deep_at = excluded.deep_at,
      error = '']], books.account, owner.name, list.list, time_text(batch.last),
      span.is_deep and span.is_last and batch.asked_at or state.deep_at)
  end)
end

-- Reads what is due of a list. Adds what came to `result`.
local function read_list(books, owner, list, result)
  local now, source, state = list.client:now(), source_name(books, owner, list), state_of(books, owner, list)
  local spans, is_deep, earliest = spans_of(books, source, list, state, now)
  local newest = spans[#spans][1]
  local parts = parts_of(spans, list.chunk)
  for i, part in ipairs(parts) do
    local asked_at = time_text(list.client:now())
    local rows, err = read(books, owner, list, source, part)
    if not rows and list.instead and err.outcome == "rejected" then
      list.operation, list.instead, list.chunk, list.quick = list.instead, nil, nil, nil
      return read_list(books, owner, list, result)
    end
    if not rows then return note_gap(books, owner, list, state, part[1], err) end
    local batch = { rows = rows, source = source, asked_at = asked_at, last = part[2],
      from = not list.is_daily and time_text(part[1]) or nil, to = time_text(part[2]) }
    local span = { from = newest, is_newest = part[1] >= newest, is_last = i == #parts, is_deep = is_deep,
      earliest = earliest, gap_to = i == 1 and state.read_to ~= "" and tonumber(state.read_to) < earliest - MARGIN
        and earliest or nil }
    local ok, message = keep(books, owner, list, state, batch, span)
    if not ok then error("the books: " .. tostring(message), 0) end
    state.error, state.read_to = "", time_text(part[2])
    result.changes = result.changes + batch.changes
    result.is_open = result.is_open or batch.is_open
  end
end

-------------------------------------------------------------------------------------------------------- balances

-- The spot balance of an owner as a text, its free and locked part by asset; nil where nothing shows it.
local function balance_of(books, owner)
  local list, err
  if owner.sub and books.group then
    list, err = books.main.client:call("sub_account.balances", { subAccount = owner.sub, accountType = "SPOT" })
  elseif owner.client and not owner.has_no_balance then
    list, err = owner.client:call "live.account"
    owner.has_no_balance = err and (err.kind == "config" or err.outcome == "rejected")
    list = list and list.balances
  end
  if not list then return nil, err end
  local body = {}
  for _, row in ipairs(list) do
    local free, locked = record.amount(row.free), record.amount(row.locked)
    if free ~= "0" or locked ~= "0" then body[row.asset] = { free, locked } end
  end
  return record.json(body)
end

-- Keeps a quiet balance where it says something new: it moved, records came, or a day began.
local function keep_reading(books, owner, began, at, body, changes)
  local last = books.store:rows("SELECT at, body FROM purser_books_reading WHERE account = $1 AND owner = $2 "
    .. "ORDER BY at DESC, rev DESC LIMIT 1", books.account, owner.name)[1]
  local is_moved = not last or last.body ~= body
  if not is_moved and changes == 0 and floor(tonumber(last.at) / DAY) == floor(at / DAY) then return false end
  assert(books.store:write(function(tx, rev)
    tx:rows("INSERT INTO purser_books_reading (account, owner, began, at, rev, body) VALUES ($1, $2, $3, $4, $5, $6)",
      books.account, owner.name, time_text(began), time_text(at), rev(), body)
  end))
  return is_moved and last ~= nil
end

-------------------------------------------------------------------------------------------------------- one owner

local function set_due(books, owner, result, began)
  local row = books.store:rows("SELECT every, hot_until FROM purser_books_owner WHERE account = $1 AND owner = $2",
    books.account, owner.name)[1]
  local hot_until = row and tonumber(row.hot_until) or 0
  if result.changes > 0 or result.is_open or result.moved then hot_until = began + DAY end
  local every = began < hot_until and books.every
    or math.min(LONGEST, math.max(books.every, row and tonumber(row.every) * 2 or books.every))
  assert(books.store:write(function(tx)
    tx:rows([[INSERT INTO purser_books_owner (account, owner, due, every, hot_until) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (account, owner) DO UPDATE SET due = excluded.due, every = excluded.every,
      hot_until = excluded.hot_until]], books.account, owner.name, time_text(began + every), time_text(every),
      time_text(hot_until))
  end))
end

--- Reads everything of one owner, and its balance when nothing moved meanwhile.
function M.owner(books, owner)
  local result = { changes = 0 }
  local clock = owner.client or books.main.client
  local started = clock:now()
  for _ = 1, ROUNDS do
    local began, before = clock:now(), balance_of(books, owner)
    local lists = sources.of(books, owner)
    for _, list in ipairs(lists) do read_list(books, owner, list, result) end
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
  return result
end

--- Keeps what a list of other things than payments shows, such as sub-accounts: nothing is missing from it.
function M.keep_plain(books, list, rows, asked_at)
  local ok, message = books.store:write(function(tx, rev)
    local batch = { rows = rows, source = source_name(books, { name = "Main" }, list), asked_at = time_text(asked_at) }
    books.store:apply(tx, batch, rev)
  end)
  if not ok then error("the books: " .. tostring(message), 0) end
end

--- Ends the gap of a list that is whole again.
function M.end_gap(books, owner, list)
  return books.store:write(function(tx, rev)
    end_gap(books, tx, owner, list, 0, rev)
    tx:rows("UPDATE purser_books_source SET error = '' WHERE account = $1 AND owner = $2 AND list = $3", books.account,
      owner.name, list.list)
  end)
end

M.note_gap, M.state_of, M.source_name = note_gap, state_of, source_name

return M
