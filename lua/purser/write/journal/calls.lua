-- SPDX-License-Identifier: MIT
-- What a journal in a database knows of other calls: who owns a record, which calls are open, and which were answered.
-- memory.lua has the same of a client that has no journal.

local core = require "purser.core"
local intents = require "purser.write.intent"
local schema = require "purser.write.journal.schema"

local time_text = schema.time_text
local unpack = table.unpack or unpack -- luacheck: ignore

local M = {}

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
---@field found boolean|nil     from a record: perhaps of an attempt that this journal lacks
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
    record = row.record ~= "" and core.decode(row.record) or nil, answered = row.answered ~= "",
    found = row.answered == "found", digest = row.digest }
end

local IDS = 50 -- at once: one statement serves for all

local function owners_query(columns, from, name)
  local names = {}
  for i = 1, IDS do names[i] = ("$%d"):format(i + 1) end
  name = name or "record_id"
  return ("SELECT %s FROM %s WHERE account = $1 AND %s <> '' AND %s IN (%s)"):format(columns, from, name, name,
    table.concat(names, ", "))
end

local OWNERS = owners_query(M.COLUMNS, "purser_intents")

-- Payments that were found in a history: this journal lacks their calls. When they were sent is not known, so they are
-- no witnesses.
local FOUND = owners_query([[queue || ' ' || key AS id, account, '' AS key, '0' AS attempt, operation, params,
  added_at AS sent_at, '0' AS recv_window, state, record_id, '' AS record, '' AS answered, digest]], "purser_payments")
  .. " AND state = 'done'"

local PLANNED = owners_query("client_id, operation, params", "purser_payments", "client_id")

-- Calls `take` with each row that a query finds for these ids. Returns true; or nil and a message.
local function each_row(self, sql, account, ids, take)
  for first = 1, #ids, IDS do
    local asked = {}
    for i = 1, IDS do asked[i] = tostring(ids[math.min(first + i - 1, #ids)]) end
    local rows, message = self.db:rows(sql, account or "", unpack(asked))
    if not rows then return nil, message end
    for _, row in ipairs(rows) do take(row) end
  end
  return true
end

--- Returns the payments of an account, sent or not, by an operation of `names`, that have one of these ids, by id; or
--- nil and a message. A record that shows one is that payment's, though this journal lacks its call.
---@param client_ids string[]
---@param names table<string, boolean>
---@return table<string, table>|nil planned, string|nil message
---@param self purser.Journal
function M.planned(self, account, client_ids, names)
  local planned = {}
  local ok, message = each_row(self, PLANNED, account, client_ids, function(row)
    if names[row.operation] then
      planned[row.client_id] = { operation = row.operation, params = core.decode(row.params), answered = true }
    end
  end)
  if not ok then return nil, message end
  return planned
end

--- Returns the known calls of an account that own these records, by the id of the record; or nil and a message. Each
--- history counts its ids for itself: `names` restricts the calls to those of the operations that one history shows.
---@param record_ids string[]
---@param names table<string, boolean>|nil  of operations
---@return table<string, purser.Call>|nil owners, string|nil message
---@param self purser.Journal
function M.owners(self, account, record_ids, names)
  local found = {}
  for _, sql in ipairs { OWNERS, FOUND } do
    local ok, message = each_row(self, sql, account, record_ids, function(row)
      local is_asked = not names or names[row.operation]
      if is_asked then found[row.record_id] = found[row.record_id] or M.call_of(row) end
    end)
    if not ok then return nil, message end
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

local NEAREST = 500 -- calls at either end of a window, of each operation: what they show is the same in between

--- Returns calls that were answered, or were found by an id that their record shows, and were sent between two times;
--- or nil and a message. Of very many it returns those next to either end.
---@param names table<string, boolean>  of operations
---@return purser.Call[]|nil calls, string|nil message
---@param self purser.Journal
function M.answered_calls(self, account, names, first, last)
  local found, seen = {}, {}
  for name in pairs(names) do
    for _, order in ipairs { "ASC", "DESC" } do
      local rows, message = self.db:rows(("SELECT " .. M.COLUMNS .. " FROM purser_intents WHERE account = $1 "
        .. "AND operation = $2 AND answered <> '' AND sent_at >= $3 AND sent_at <= $4 ORDER BY sent_at %s LIMIT %d")
        :format(order, NEAREST), account or "", name, time_text(math.max(0, first)),
        time_text(math.min(math.max(0, last), 9999999999999)))
      if not rows then return nil, message end
      for _, row in ipairs(rows) do
        if not seen[row.id] then found[#found + 1], seen[row.id] = M.call_of(row), true end
      end
      if #rows < NEAREST then break end
    end
  end
  return found
end

--- Returns how late records of an operation were seen to appear (ms), by any process with this journal; 0 where that is
--- not known.
---@param self purser.Journal
function M.delay(self, operation)
  local rows = self.db:rows("SELECT value FROM purser_meta WHERE name = $1", "delay " .. operation)
  return rows and rows[1] and tonumber(rows[1].value) or 0
end

--- Notes that a record of an operation appeared so late (ms). A journal that cannot be written forgets it.
---@param self purser.Journal
function M.note_delay(self, operation, ms)
  if ms <= M.delay(self, operation) then return end
  self.db:transaction(function(tx)
    tx:rows("INSERT INTO purser_meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2",
      "delay " .. operation, ("%d"):format(math.ceil(ms)))
    return true
  end)
end

return M
