-- SPDX-License-Identifier: MIT
-- What claims.lua asks of a journal, over a journal in a database and over a client's own calls in memory. A journal
-- that offers these functions itself is asked itself.

local core = require "purser.core"
local intents = require "purser.write.intent"
local operations = require "purser.api.operations"
local recent_calls = require "purser.write.recent_calls"
local schema = require "purser.write.journal.schema"

local M = {}

local MADE_NOTHING = { rejected = true, not_sent = true, not_done = true }

------------------------------------------------------------------------------------------------------------ in memory

local Memory = {}
Memory.__index = Memory

local function call_of_entry(entry)
  local intent = entry.intent
  local state = entry.over and "not_done" or entry.id and "done" or entry.ended and "unknown" or "open"
  return { id = intent.call_id or entry, operation = intent.operation, params = intent.params,
    sent_at = entry.sent_at, state = state, recv_window = intent.recv_window, record_id = entry.id or nil, answered = entry.id and not entry.by_content or false }
end

function Memory:owners(_, record_ids, names)
  local owners = {}
  for _, id in ipairs(record_ids) do
    local entry = self.known.by_id[id]
    if entry and entry ~= self.own and names[entry.intent.operation] then owners[id] = call_of_entry(entry) end
  end
  return owners
end

local function calls_in(self, names, first, last, fits)
  local found = {}
  for _, list in pairs(self.known.by_digest) do
    for _, entry in ipairs(list) do
      if entry ~= self.own and names[entry.intent.operation] and entry.sent_at <= last and not entry.over
        and fits(entry) and entry.sent_at >= first - intents.MAX_WINDOW_MS then
        found[#found + 1] = call_of_entry(entry)
      end
    end
  end
  return found
end

function Memory:open_calls(_, names, first, last)
  return calls_in(self, names, first, last, function(entry) return not entry.id end)
end

function Memory:answered_calls(_, names, first, last)
  return calls_in(self, names, first, last, function(entry) return entry.id and not entry.by_content end)
end

function Memory:forgotten_until() return self.known.forgotten_to end

--------------------------------------------------------------------------------------------------------- in a database

local Database = {}
Database.__index = Database

local COLUMNS = "SELECT id, operation, params, state, record_id, record, sent_at, recv_window FROM purser_intents "

-- A call that was done by its answer, which shows no time, or that was found by an id of its own.
local function is_answered(row, done)
  if not row or not row.reconcile or done.record_id == "" then return false end
  if intents.has_own_id(row, core.decode(done.params)) then return true end
  local record = done.record ~= "" and core.decode(done.record)
  return record and record[row.reconcile.time_member] == nil or false
end

local function call_of_row(known)
  local row = operations.by_name[known.operation]
  return { id = known.id, operation = known.operation, params = core.decode(known.params), state = known.state,
    sent_at = tonumber(known.sent_at), recv_window = tonumber(known.recv_window),
    record_id = known.record_id ~= "" and known.record_id or nil, answered = is_answered(row, known) }
end

local AT_ONCE = 200

function Database:owners(account, record_ids, names)
  local owners = {}
  for from = 1, #record_ids, AT_ONCE do
    local values, places = { account or "" }, {}
    for i = from, math.min(#record_ids, from + AT_ONCE - 1) do
      values[#values + 1] = record_ids[i]
      places[#places + 1] = "$" .. #values
    end
    local rows, message = self.db:rows(COLUMNS .. ("WHERE account = $1 AND record_id IN (%s)")
      :format(table.concat(places, ", ")), (table.unpack or unpack)(values)) -- luacheck: ignore
    if not rows then return nil, message end
    for _, known in ipairs(rows) do
      local row = operations.by_name[known.operation]
      if known.id ~= self.own and row and row.effect ~= "change" and names[known.operation] and not MADE_NOTHING[known.state] then
        owners[known.record_id] = call_of_row(known)
      end
    end
  end
  return owners
end

local function rows_in(self, account, names, first, last, condition)
  local rows, message = self.db:rows(COLUMNS .. "WHERE account = $1 AND sent_at >= $2 AND sent_at <= $3 AND "
    .. condition, account or "", schema.time_text(math.max(0, first - intents.MAX_WINDOW_MS)),
    schema.time_text(math.max(0, last)))
  if not rows then return nil, message end
  local found = {}
  for _, known in ipairs(rows) do
    if known.id ~= self.own and names[known.operation] then found[#found + 1] = call_of_row(known) end
  end
  return found
end

function Database:open_calls(account, names, first, last)
  return rows_in(self, account, names, first, last, schema.UNDECIDED)
end

function Database:answered_calls(account, names, first, last)
  local found, message = rows_in(self, account, names, first, last, "state = 'done'")
  if not found then return nil, message end
  local answered = {}
  for _, call in ipairs(found) do
    if call.answered then answered[#answered + 1] = call end
  end
  return answered
end

function Database.forgotten_until() return 0 end

-- How late records were seen to appear, by operation. (In the process: these tables have no place for it.)
local function delay(self, operation) return self.known.delays and self.known.delays[operation] or 0 end

local function note_delay(self, operation, ms)
  self.known.delays = self.known.delays or {}
  self.known.delays[operation] = math.max(ms, delay(self, operation))
end

Memory.delay, Memory.note_delay, Database.delay, Database.note_delay = delay, note_delay, delay, note_delay

--- Returns what is known of other calls than the intent's.
---@param service purser.reconcile.Service
function M.of(service, row, intent)
  local journal = service.journal
  if journal and journal.answered_calls then return journal end
  if journal and journal.db and intent.id then
    return setmetatable({ db = journal.db, own = intent.id, known = service.recent_calls }, Database)
  end
  return setmetatable({ known = service.recent_calls, own = recent_calls.entry(service.recent_calls, row, intent) },
    Memory)
end

return M
