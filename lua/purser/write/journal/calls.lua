-- SPDX-License-Identifier: MIT
-- What a journal knows of other calls: which may have made the record that a call is looked for by, and when those were
-- sent whose records are known.

local core = require "purser.core"
local intents = require "purser.write.intent"
local operations = require "purser.api.operations"
local schema = require "purser.write.journal.schema"

local time_text = schema.time_text
local unpack = table.unpack or unpack -- luacheck: ignore

local M = {}

-- How long before a record's time the call that made it can have been sent, at the very most.
local DAY = 86400000

--- The records since `first` that belong to equal calls, with when those were sent, and how many equal calls have no
--- known end and can have made a record since then; or nil and a message.
---@param later integer  by how much the time of a record may lie after the time that its call was accepted until
---@param self purser.Journal
function M.equal_calls(self, intent, first, later)
  local ids, open = {}, 0
  local row = operations.by_name[intent.operation]
  local rows, message = self.db:rows([[SELECT state, record_id, sent_at, recv_window FROM purser_intents
    WHERE digest = $1 AND account = $2 AND sent_at >= $3 AND id <> $4]], intents.digest(row, intent.params),
    intent.account or "", time_text(math.max(0, first - DAY)), intent.id)
  if not rows then return nil, message end
  for _, other in ipairs(rows) do
    if other.record_id ~= "" then
      ids[other.record_id] = tonumber(other.sent_at)
    elseif not intents.SPENT_NOTHING[other.state] and intents.made_until(other, later) >= first then
      open = open + 1
    end
  end
  return ids, open
end

local PART_MS, PART_CALLS = 900000, 200

-- Whether a call that was done certainly made the record that is written of it: that was its answer, which shows no
-- time, or was found by the call's own id.
local function is_certain(row, done, max_window)
  if not row or not row.reconcile or tonumber(done.recv_window) > max_window then return false end
  if intents.has_own_id(row, core.decode(done.params)) then return true end
  local record = done.record ~= "" and core.decode(done.record)
  return record and record[row.reconcile.time_member] == nil or false
end

--- Records that calls of an account and operation made which were sent soon after `first`, or shortly before `last`,
--- with when those were sent; or nil and a message. Only what is certain, and of calls without an equal in the journal,
--- so that nothing else can have made the record.
---@param operation string  of the calls
---@param max_window integer  the recv_window of such a call at most
---@return table<string, integer>|nil sent_at, string|nil message
---@param self purser.Journal
function M.known_records(self, account, operation, first, last, max_window)
  local known, row = {}, operations.by_name[operation]
  for _, part in ipairs { { first, math.min(last, first + PART_MS), "ASC" },
    { math.max(first, last - PART_MS), last, "DESC" } } do
    local rows, message = self.db:rows(([[SELECT params, record_id, record, sent_at, recv_window
      FROM purser_intents
      WHERE sent_at >= $1 AND sent_at <= $2 AND account = $3 AND operation = $4 AND state = 'done' AND record_id <> ''
        AND NOT EXISTS (SELECT 1 FROM purser_intents AS other
          WHERE other.digest = purser_intents.digest AND other.id <> purser_intents.id)
      ORDER BY sent_at %s LIMIT %d]]):format(part[3], PART_CALLS), time_text(math.max(0, part[1])),
      time_text(part[2]), account or "", operation)
    if not rows then return nil, message end
    for _, done in ipairs(rows) do
      if is_certain(row, done, max_window) then known[done.record_id] = tonumber(done.sent_at) end
    end
  end
  return known
end

--- Other calls of these operations that can have made a record between two times: see recent_calls.others. Nil and a
--- message when they cannot be read.
---@param names table<string, boolean>  of operations
---@return purser.reconcile.OtherCall[]|nil others, string|nil message
---@param self purser.Journal
function M.other_calls(self, intent, names, first, last, later)
  local found, digest = {}, intents.digest(operations.by_name[intent.operation], intent.params)
  local rows, message = self.db:rows([[SELECT operation, params, digest, state, record_id, record, sent_at, recv_window
    FROM purser_intents WHERE sent_at >= $1 AND sent_at <= $2 AND account = $3 AND id <> $4]],
    time_text(math.max(0, first - later - intents.MAX_WINDOW_MS)), time_text(last), intent.account or "", intent.id)
  if not rows then return nil, message end
  for _, other in ipairs(rows) do
    if names[other.operation] and other.digest ~= digest and not intents.SPENT_NOTHING[other.state]
      and intents.made_until(other, later) >= first then
      local row, id = operations.by_name[other.operation], other.record_id ~= "" and other.record_id or nil
      found[#found + 1] = { id = id, is_certain = is_certain(row, other, intents.MAX_WINDOW_MS), intent = {
        operation = other.operation, params = core.decode(other.params), sent_at = tonumber(other.sent_at) } }
    end
  end
  return found
end

---------------------------------------------------------------------------------------- what evidence asks for

---@class purser.Call  a write call as a journal knows it
---@field id string
---@field key string|nil        the caller's; nil where there is none
---@field operation string
---@field params table
---@field sent_at integer       of its latest attempt
---@field recv_window integer
---@field state string
---@field record_id string|nil  of the record that it made
---@field record table|nil      what the service answered, or keeps
---@field answered boolean      the id came from its own answer, or from a record that shows the call's id
---@field digest string         equal calls have the same
---@field intent purser.Intent  of its latest attempt

M.COLUMNS = "id, account, key, attempt, "
  .. "operation, params, sent_at, recv_window, state, record_id, record, answered, digest"

--- Returns the intent of a row of the table.
---@return purser.Intent
function M.intent_of(row)
  return { id = row.id, account = row.account, operation = row.operation, params = core.decode(row.params),
    sent_at = tonumber(row.sent_at), recv_window = tonumber(row.recv_window), attempt = tonumber(row.attempt) }
end

--- Returns the call that a row of the table is.
function M.call_of(row)
  local intent = M.intent_of(row)
  return { id = row.id, key = row.key ~= "" and row.key or nil, operation = row.operation, intent = intent,
    params = intent.params, sent_at = intent.sent_at, recv_window = intent.recv_window,
    state = row.state, record_id = row.record_id ~= "" and row.record_id or nil,
    record = row.record ~= "" and core.decode(row.record) or nil, answered = row.answered ~= "", digest = row.digest }
end

local IDS = 50 -- at once: one statement serves for all

local function owners_query()
  local names = {}
  for i = 1, IDS do names[i] = ("$%d"):format(i + 1) end
  return "SELECT " .. M.COLUMNS .. " FROM purser_intents WHERE account = $1 AND record_id <> '' AND record_id IN ("
    .. table.concat(names, ", ") .. ")"
end

local OWNERS = owners_query()

--- Returns the known calls of an account that own these records, by the id of the record; or nil and a message. Each
--- history counts its ids for itself: `names` restricts the calls to those of the operations that one history shows.
---@param record_ids string[]
---@param names table<string, boolean>|nil  of operations
---@return table<string, purser.Call>|nil owners, string|nil message
---@param self purser.Journal
function M.owners(self, account, record_ids, names)
  local found = {}
  for first = 1, #record_ids, IDS do
    local asked = {}
    for i = 1, IDS do asked[i] = tostring(record_ids[math.min(first + i - 1, #record_ids)]) end
    local rows, message = self.db:rows(OWNERS, account or "", unpack(asked))
    if not rows then return nil, message end
    for _, row in ipairs(rows) do
      if not names or names[row.operation] then found[row.record_id] = M.call_of(row) end
    end
  end
  return found
end

--- Returns the calls of an account whose end is not known, and that can have made a record between two times; or nil
--- and a message.
---@param names table<string, boolean>|string[]|nil  of operations; nil: of all
---@return purser.Call[]|nil calls, string|nil message
---@param self purser.Journal
function M.open_calls(self, account, names, first, last)
  local rows, message = self.db:rows("SELECT " .. M.COLUMNS .. " FROM purser_intents WHERE " .. schema.UNDECIDED
    .. " AND account = $1 AND sent_at >= $2 AND sent_at <= $3 ORDER BY sent_at, id", account or "",
    time_text(math.max(0, first - intents.LATEST_MS)), time_text(math.min(math.max(0, last), 9999999999999)))
  if not rows then return nil, message end
  return intents.among(rows, names, first, M.call_of)
end

return M
