-- SPDX-License-Identifier: MIT
-- One call that is being reconciled, and what one look for its record needs.

local failure = require "purser.write.journal.failure"
local intents = require "purser.write.intent"
local operations = require "purser.api.operations"
local queries = require "purser.write.reconcile.queries"
local recent_calls = require "purser.write.reconcile.recent_calls"
local full_list = require "purser.write.reconcile.full_list"
local shift = require "purser.write.reconcile.shift"

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
---@field later integer   by how much a record's time may lie after the time that its call was accepted until
---@field deadline integer from then on a record that exists must be seen
---@field late boolean     that time has come
---@field plain boolean    this question asks for the call's own window, however late it is
---@field doubted boolean  this look ended `undecided` because a reading did not show all there is
---@field reading purser.reconcile.Reading|nil  the last one of this look
---@field read_at integer  when that began, or the shared one that took its place
---@field spelled table<string, string|false>   how the service spells what people spell: see queries.lua
local Look = {}
Look.__index = Look

---@class purser.reconcile.Reading  what a history or list showed
---@field records table[]
---@field first integer          what was asked for
---@field last integer
---@field shared table|nil       the reading of readings.lua that it is
---@field incomplete string|nil  why nothing shows that these are all: what is not in it may exist all the same
---@field covered table|nil       what shift.covered says, by operation; of a shared reading it is kept there

--- What a way to reconcile returns when another look may show more, and when the next look asks in another way.
M.NOTHING_YET, M.RETRY_LOOK = {}, {}

M.SHIFTED = "the service shows a record of equal content some hours from the call, and nothing shows that its history "
  .. "counts time as its clock does"
M.MISPLACED = "the history shows another call of this client at a time at which it was not made, so its record may "
  .. "show any time"

--- How long after a request was stamped its record must be visible (ms).
function M.visible_ms(recv_window, visibility_delay_ms)
  return recv_window + AHEAD_MS + visibility_delay_ms
end

---@return purser.reconcile.Look
function M.new(service, row, intent, options)
  local skew_ms = options.skew_ms or 5000
  local visible_ms = M.visible_ms(intent.recv_window or service.recv_window, options.visibility_delay_ms
    or service.visibility_delay_ms)
  local deadline = intent.sent_at + visible_ms
  return setmetatable({
    service = service, row = row, reconcile = row.reconcile, intent = intent, options = options, spelled = {},
    poll_ms = math.max(1, options.poll_ms or 1000), visible_ms = visible_ms, deadline = deadline,
    first = intent.sent_at - AHEAD_MS - skew_ms, last = deadline + skew_ms, skew_ms = skew_ms,
    later = visible_ms + skew_ms - (intent.recv_window or service.recv_window),
  }, Look)
end

--- Begins another look.
function Look:begin()
  self.late, self.doubted, self.reading = self.service:now() >= self.deadline, false, nil
  self.plain = false
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

-- The window with more on both sides, but no earlier than the history reaches back. The wide question asks for as many
-- hours as the history may be shifted by. The plain one asks for known calls before and after; up to now it asks for
-- the hours to come as well, which hold nothing, so that a filter that runs behind hides nothing.
local function widened(look, first, last, wide)
  local before = wide and shift.ASKED_MS or shift.BEFORE_MS
  local after = (wide or last + shift.AFTER_MS >= look.service:now()) and shift.ASKED_MS or shift.AFTER_MS
  return math.min(first, math.max(first - before, look:earliest())), last + after
end

--- Lists records between two times. The broad question of a late look asks for a wider window, unless it is the plain
--- one. Returns nil, nil and why when there is no such list at all.
---@param narrow boolean|nil  the narrow question of queries.lua
---@return purser.reconcile.Reading|nil, purser.Error|nil err, string|nil why
function Look:list(first, last, narrow)
  local through, asked = operations.by_name[self.reconcile.lookup], queries.ask(self, narrow)
  local wide = self.late and not narrow and not self.plain
  if wide or self.plain and not self.service.readings then first, last = widened(self, first, last, wide) end
  local records, err, why, shared
  self.read_at = self.service:now()
  if self.service.readings then
    records, err, why, shared = self.service.readings:all(self, through, asked, first, last, wide)
    self.read_at, first, last = shared.began, shared.first, shared.last
  else
    local function read(row, params) return self.service:read(row, params) end
    records, err, why = full_list.all(read, through, asked, first, last, self.reconcile.time_member)
  end
  self.reading = records and { records = records, incomplete = why, shared = shared, first = first, last = last }
  return self.reading, err, why
end

-- Whether the broad question asks for more than the narrow one.
local function has_broad_question(look)
  local paging = operations.by_name[look.reconcile.lookup].paging
  return paging and paging.time_member or not queries.are_same(look)
end

-- Whether a late look asks for a window of time that the service may shift.
local function is_by_time(look)
  local paging = operations.by_name[look.reconcile.lookup].paging
  return paging ~= nil and paging.time_member ~= nil and look.reconcile.strategy ~= "state"
end

local function known_records(look, reading)
  local journal = look.service.journal
  if not journal then return {} end
  return journal:known_records(look.intent.account, look.row.full_name, reading.first, reading.last,
    look.service.recv_window)
end

-- What the last reading shows by calls of this operation whose time is known: see shift.covered. Nil and an error where
-- the journal cannot be read.
local function covered_by(look)
  local reading, service, operation = look.reading, look.service, look.row.full_name
  local kept = reading.shared or reading
  kept.covered = kept.covered or {}
  if not kept.covered[operation] then
    local known, message = known_records(look, reading)
    if not known then return nil, failure.error("unknown", message) end
    local margin = AHEAD_MS + look.skew_ms
    kept.covered[operation] = shift.covered(reading.records, look.reconcile.time_member, reading.first, reading.last,
      function(record)
        local id = intents.id_of(record)
        return id and (known[id] or recent_calls.sent_at(service.recent_calls, id, operation, service.recv_window))
      end, margin, service.recv_window + margin)
  end
  return kept.covered[operation]
end

-- Whether the last reading shows that a record of the call would be in it, at its time: known calls before and after
-- the call are; or nothing after it can be hidden, since as much more was asked for as the history may be shifted by.
-- Nil and an error where the journal cannot be read.
local function is_exact(look)
  local reading = look.reading
  if not reading or reading.incomplete or not is_by_time(look) then return false end
  local covered, problem = covered_by(look)
  if not covered then return nil, problem end
  return covered.earliest <= look.first
    and (covered.latest >= look.last or reading.last >= look.last + shift.ASKED_MS)
end

--- A record of the last reading whose call is known to have been sent at another time than it shows; or nil, and an
--- error where the journal cannot be read.
---@return table|nil record, purser.Error|nil err
function Look:misplaced()
  if not is_by_time(self) then return nil end
  local covered, problem = covered_by(self)
  return covered and covered.misplaced, problem
end

-- What a look concludes from the call's own window alone: that it was done; and where the reading shows that a record
-- cannot be elsewhere, anything else. Returns what to answer, or nothing.
local function ask_plainly(look, way)
  look.plain = true
  local answer, err, why = way(look, false)
  look.plain = false
  if not answer or answer.outcome == "done" or not look.late then return true, answer, err, why end
  local exact, problem = is_exact(look)
  if exact == nil then return true, nil, problem end
  if exact then return true, answer end
  look.doubted = false
end

--- Looks by up to three questions, until one decides: the narrow one, which finds most records with one request; and
--- when a record that exists must be seen the plain one, for all in the call's own window and what lies next to it, and
--- the wide one, for as much more as the history may be shifted by. What the narrow one does not show may be elsewhere:
--- it cannot decide that nothing was done.
---@param way fun(look: purser.reconcile.Look, narrow: boolean): table|nil, purser.Error|nil, string|nil
function Look:narrow_then_broad(way)
  local by_time = is_by_time(self)
  if not self.service.readings and has_broad_question(self) then -- a shared reading shows what a narrow one does
    local answer, err, why = way(self, true)
    local over = not answer or answer ~= M.NOTHING_YET and answer.outcome ~= "undecided"
      and not (by_time and answer.outcome == "not_done")
    if over or not self.late then return answer, err, why end
    self.doubted = false
  end
  if self.late and by_time then
    local over, answer, err, why = ask_plainly(self, way)
    if over then return answer, err, why end
  end
  return way(self, false)
end

--- The records of equal calls, with when those were sent, and how many of those calls have no known end; or nil and an
--- error.
---@return table<string, integer>|nil claimed, integer|purser.Error open
function Look:equal_calls()
  local service = self.service
  if not (service.journal and self.intent.id) then
    return recent_calls.of(service.recent_calls, self.row, self.intent, self.first, self.later)
  end
  local claimed, open = service.journal:equal_calls(self.intent, self.first, self.later)
  if not claimed then return nil, failure.error("unknown", open) end
  return claimed, open
end

--- Whether calls have been forgotten whose records may be in the window of this call. A journal forgets none.
function Look:has_forgotten_calls()
  local service = self.service
  return not (service.journal and self.intent.id) and recent_calls.has_forgotten(service.recent_calls, self.first,
    self.later)
end

-- The operations whose records are in one history, and are found there by content.
local function shown_in(history)
  local names = {}
  for _, row in ipairs(operations.list) do
    if intents.history_of(row) == history and row.reconcile.match_on then names[row.full_name] = true end
  end
  return names
end

--- Calls that are not equal, but whose records are in the same history, in the window of this call; or nil and an
--- error.
---@return purser.reconcile.OtherCall[]|nil others, purser.Error|nil err
function Look:other_calls()
  local service, names = self.service, shown_in(intents.history_of(self.row))
  if not (service.journal and self.intent.id) then
    return recent_calls.others(service.recent_calls, self.row, self.intent, names, self.first, self.last, self.later)
  end
  local others, message = service.journal:other_calls(self.intent, names, self.first, self.last, self.later)
  if not others then return nil, failure.error("unknown", message) end
  return others
end

--- By how much the history is shifted if a record of it is the call's: see shift.lua. Nil where it cannot be.
---@param reading purser.reconcile.Reading
---@param claimed table<string, integer>
function Look:shift_of(record, reading, claimed)
  local by = shift.of(record[self.reconcile.time_member], self.first, self.last)
  if not by or by == 0 then return by end
  if is_exact(self) then return nil end
  local by_id = self.service.recent_calls.by_id
  reading.clock = reading.clock or shift.clock_of(reading.records, self.reconcile.time_member, function(other)
    local id = intents.id_of(other) or ""
    return claimed[id] or by_id[id] and by_id[id].sent_at
  end)
  return shift.is_possible(reading.clock, by, self.service:now() + AHEAD_MS + self.skew_ms) and by or nil
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
  return self.intent.sent_at < self.service:now() - days * DAY_MS + shift.ASKED_MS + 3600000
end

return M
