-- SPDX-License-Identifier: MIT
-- One call that is being reconciled, and what one look for its record needs.

local errors = require "purser.call.errors"
local intents = require "purser.exactly_once.intent"
local operations = require "purser.api.operations"
local queries = require "purser.exactly_once.reconcile.queries"
local recent_calls = require "purser.exactly_once.reconcile.recent_calls"
local full_list = require "purser.exactly_once.reconcile.full_list"
local shift = require "purser.exactly_once.reconcile.shift"

local M = {}

-- The service takes a timestamp that is up to a second ahead of its clock, so by its clock we may be early by as much.
local AHEAD_MS = 1000

-- How long a history is relied on whose reach is documented nowhere: what others show by default.
local UNDOCUMENTED_REACH_DAYS = 7
local DAY_MS = 86400000

---@class purser.reconcile.Look
---@field service purser.reconcile.Service
---@field row table        the operation of the call
---@field reconcile table     what its row says of reconciling
---@field intent purser.Intent
---@field options purser.ReconcileOptions
---@field first integer    the earliest and the latest time that its record can have
---@field last integer
---@field deadline integer from then on a record that exists must be seen
---@field late boolean     that time has come
---@field doubted boolean  this look ended `undecided` because a reading did not show all there is
---@field reading purser.reconcile.Reading|nil  the last one of this look
---@field read_at integer  when that began, or the shared one that took its place
---@field spelled table<string, string|false>   how the service spells what people spell: see queries.lua
local Look = {}
Look.__index = Look

---@class purser.reconcile.Reading  what a history or list showed
---@field records table[]
---@field shared table|nil       the reading of readings.lua that it is
---@field incomplete string|nil  why nothing shows that these are all: what is not in it may exist all the same

--- What a way to reconcile returns when another look may show more, and when the next look asks in another way.
M.NOTHING_YET, M.RETRY_LOOK = {}, {}

M.SHIFTED = "the service shows a record of equal content some hours from the call, and nothing shows that its history "
  .. "counts time as its clock does"

---@return purser.reconcile.Look
function M.new(service, row, intent, options)
  local skew_ms = options.skew_ms or 5000
  local visible_ms = (intent.recv_window or service.recv_window) + AHEAD_MS + (options.visibility_delay_ms
    or service.visibility_delay_ms)
  local deadline = intent.sent_at + visible_ms
  return setmetatable({
    service = service, row = row, reconcile = row.reconcile, intent = intent, options = options, spelled = {},
    poll_ms = math.max(1, options.poll_ms or 1000), visible_ms = visible_ms, deadline = deadline,
    first = intent.sent_at - AHEAD_MS - skew_ms, last = deadline + skew_ms, skew_ms = skew_ms,
  }, Look)
end

--- Begins another look.
function Look:begin()
  self.late, self.doubted, self.reading = self.service:now() >= self.deadline, false, nil
end

function M.undecided(candidates, reason)
  return { outcome = "undecided", candidates = candidates, reason = reason }
end

--- The answer of a look whose reading did not show all there is.
---@param reading purser.reconcile.Reading
function Look:doubt(reading, candidates)
  self.doubted = true
  return M.undecided(candidates, reading.incomplete)
end

--- The earliest time that the history reaches back to; 0 where that is not known.
function Look:earliest()
  local window = operations.by_name[self.reconcile.lookup].window
  local days = window and window.retention_days
  return days and self.service:now() - days * DAY_MS + 60000 or 0
end

-- The window with as many hours more on both sides as the history may be shifted by, but no earlier than the history
-- reaches back.
local function widened(look, first, last)
  return math.min(first, math.max(first - shift.MARGIN_MS, look:earliest())), last + shift.MARGIN_MS
end

--- Lists records between two times. The broad question of a late look asks for a wider window. Returns nil, nil and why
--- when there is no such list at all.
---@param narrow boolean|nil  the narrow question of queries.lua
---@return purser.reconcile.Reading|nil, purser.Error|nil err, string|nil why
function Look:list(first, last, narrow)
  local through, asked = operations.by_name[self.reconcile.lookup], queries.ask(self, narrow)
  if self.late and not narrow then first, last = widened(self, first, last) end
  local records, err, why, shared
  self.read_at = self.service:now()
  if self.service.readings then
    records, err, why, shared = self.service.readings:all(self, through, asked, first, last)
    self.read_at = shared.began
  else
    local function read(row, params) return self.service:read(row, params) end
    records, err, why = full_list.all(read, through, asked, first, last, self.reconcile.time_member)
  end
  self.reading = records and { records = records, incomplete = why, shared = shared }
  return self.reading, err, why
end

-- Whether the broad question asks for more than the narrow one.
local function has_broad_question(look)
  local paging = operations.by_name[look.reconcile.lookup].paging
  return paging and paging.time_member or not queries.are_same(look)
end

--- Looks by a narrow question, which finds most records with one request; and where that decides nothing, and a record
--- that exists must be seen, by the broad one.
---@param way fun(look: purser.reconcile.Look, narrow: boolean): table|nil, purser.Error|nil, string|nil
function Look:narrow_then_broad(way)
  if self.service.readings then return way(self, false) end -- it shows all that a narrow one does, and serves many
  if not has_broad_question(self) then return way(self, false) end
  local answer, err, why = way(self, true)
  local decided = not answer or answer ~= M.NOTHING_YET and answer.outcome ~= "undecided"
  if decided or not self.late then return answer, err, why end
  self.doubted = false
  return way(self, false)
end

--- The records of equal calls, with when those were sent, and how many of those calls have no known end; or nil and an
--- error.
---@return table<string, integer>|nil claimed, integer|purser.Error open
function Look:equal_calls()
  local service = self.service
  if not (service.journal and self.intent.id) then
    return recent_calls.of(service.recent_calls, self.row, self.intent, self.first)
  end
  local claimed, open = service.journal:equal_calls(self.intent, self.first)
  if not claimed then return nil, M.journal_error(open) end
  return claimed, open
end

--- By how much the history is shifted if a record of it is the call's: see shift.lua. Nil where it cannot be.
---@param reading purser.reconcile.Reading
---@param claimed table<string, integer>
function Look:shift_of(record, reading, claimed)
  local by = shift.of(record[self.reconcile.time_member], self.first, self.last)
  if not by or by == 0 then return by end
  local by_id = self.service.recent_calls.by_id
  reading.proof = reading.proof or shift.proof(reading.records, self.reconcile.time_member, function(other)
    local id = intents.id_of(other) or ""
    return claimed[id] or by_id[id] and by_id[id].sent_at
  end)
  return shift.is_possible(reading.proof, by, self.service:now() + AHEAD_MS + self.skew_ms) and by or nil
end

--- Whether it is too long ago for the list that would show it.
function Look:is_out_of_reach()
  local through = operations.by_name[self.reconcile.lookup]
  if not through or self.reconcile.strategy == "state" or not (through.paging and through.paging.time_member) then
    return false
  end
  local window = through.window or {}
  local days = window.retention_days or window.retention_months and window.retention_months * 30
    or UNDOCUMENTED_REACH_DAYS
  return self.intent.sent_at < self.service:now() - days * DAY_MS + shift.MARGIN_MS + 3600000
end

function M.journal_error(message)
  return errors.new { kind = "config", outcome = "unknown", phase = "journal", message = "journal: " .. message }
end

return M
