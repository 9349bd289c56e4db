-- SPDX-License-Identifier: MIT
-- Readings of histories that several looks share. A look concludes that a call was not executed from a complete
-- reading that began when the record had to be visible. Such a reading says the same of every call in its window, so
-- many calls that are looked for together need it once. A record that is found proves what it proves at any time, so
-- an early look may use a reading that began a moment ago.
--
--     local readings = Readings.new(client:now())
--     readings:expect(intent.sent_at)             -- of every call that will be looked for by these
--     client:reconcile(intent, options, readings)    -- of each of them

local compare = require "purser.write.reconcile.compare"
local core = require "purser.core"
local full_list = require "purser.write.reconcile.full_list"
local schedule = require "purser.schedule"
local shift = require "purser.write.reconcile.shift"

local Readings = {}
Readings.__index = Readings

local M = {}

-- By how much a clock may fall after the machine's time since a reading began. More shows that it was set back: then
-- the reading may have begun too early, and is made again.
local SET_BACK_MS = 1000
local AHEAD_MS = 30000 -- no record is shown with a time that lies further ahead than this
-- So many readings in a row cannot be shown to be complete before one is shared as well. A list that grew while its
-- pages were turned can look so once.
local INCOMPLETE_READINGS = 3

local ACCOUNTS_MS = 60000 -- how long the list of sub-accounts is relied on for how the service spells their names

--- Readings for calls that will be looked for as of one time (epoch ms, the client's clock), when all their records
--- must be visible; without it for calls that are sent, lost and looked for while a program runs.
---@param as_of integer|nil
function M.new(as_of)
  return setmetatable({ as_of = as_of, first = as_of, by_question = {}, spelled = {} }, Readings)
end

--- Makes the readings begin early enough for a call that was sent then.
function Readings:expect(sent_at)
  self.first = math.min(self.first, sent_at)
end

--- Whether the service was seen a moment ago to spell the name of a sub-account so.
function Readings:is_spelled(name)
  local at = self.spelled[name]
  return at ~= nil and core.monotonic_ms() - at < ACCOUNTS_MS
end

function Readings:note_spelled(name)
  self.spelled[name] = core.monotonic_ms()
end

local function key_of(row, asked)
  local parts = { row.full_name }
  for name, value in pairs(asked) do parts[#parts + 1] = ("%s=%s"):format(name, tostring(value)) end
  table.sort(parts)
  return table.concat(parts, "\n")
end

-- Whether a reading says what this look asks: it covers the window, it is complete, and began when the record had to be
-- visible, while the clock was right. An early look may use any that began since the look before. What lies further
-- ahead than AHEAD_MS of when it began did not exist.
local function serves(reading, look, first, last)
  if not reading.records or reading.why and reading.incomplete_times < INCOMPLETE_READINGS then return false end
  local passed = core.monotonic_ms() - reading.began_monotonic
  if reading.first > first or reading.correction ~= look.service:correction() then return false end
  if not look.late then return passed < look.poll_ms end
  local ends = reading.began + AHEAD_MS + (reading.wide and shift.ASKED_MS or 0)
  return reading.last >= math.min(last, ends) and reading.began >= look.deadline
    and look.service:now() - reading.began >= passed - SET_BACK_MS
end

-- The window covers the calls that are expected; or those that were sent, and lost, a while before this one and since.
-- More is read on both sides, so that records of known calls can show that nothing of it is hidden.
local function window_of(self, look, first, last, wide)
  if first == 0 then return first, last end
  local margin, now = look.intent.sent_at - first, look.service:now()
  local earliest = self.first and self.first - margin - (wide and 0 or shift.BEFORE_MS)
    or first - math.max(look.visible_ms, shift.BEFORE_MS)
  local latest = self.as_of or math.min(now, last + shift.AFTER_MS)
  local more = (wide or self.as_of or latest == now) and look.late and shift.ASKED_MS or 0
  local wider = math.max(earliest, look:earliest(), 1)
  return math.min(first, wider), math.max(last, latest + look.skew_ms + more)
end

local function read(self, reading, look, row, asked, first, last)
  first, last = window_of(self, look, first, last, reading.wide)
  local began, began_monotonic, correction = look.service:now(), core.monotonic_ms(), look.service:correction()
  local function run(...) return look.service:read(...) end
  local records, err, why = full_list.all(run, row, asked, first, last, look.reconcile.time_member)
  reading.records, reading.err, reading.why = records, err, why
  reading.first, reading.last, reading.ids, reading.covered = first, last, nil, nil
  reading.began, reading.began_monotonic, reading.correction = began, began_monotonic, correction
  if records then reading.incomplete_times = why and reading.incomplete_times + 1 or 0 end
end

-- Waits for the task that reads. Only tasks of one run share readings, so who waits is one.
local function wait_for(lock)
  table.insert(lock.waiters, schedule.current())
  schedule.suspend()
end

local function end_waits(lock)
  local waiters = lock.waiters
  lock.waiters = nil
  for _, task in ipairs(waiters) do schedule.wake(task) end
end

--- The records of a list, as full_list.all returns them, and the reading. One task reads, and the others wait for it.
--- Of calls that are looked for as of one time only one history is read at once: a program that is killed soon has then
--- read some of them to the end.
---@param wide boolean  whether the window is wider by as much as the history may be shifted by
function Readings:all(look, row, asked, first, last, wide)
  local key = key_of(row, asked) .. (wide and "\nwide" or "")
  local reading = self.by_question[key] or { incomplete_times = 0, wide = wide }
  self.by_question[key] = reading
  local lock = self.as_of and self or reading
  while lock.waiters do wait_for(lock) end
  if not serves(reading, look, first, last) then
    lock.waiters = {}
    local ok, raised = schedule.protect(read, self, reading, look, row, asked, first, last)
    end_waits(lock)
    if not ok then error(raised, 0) end
  end
  return reading.records, reading.err, reading.why, reading
end

--- Those records of a reading whose member `name` may be the id that was sent, and those without one.
function M.alike(reading, name, id)
  reading.ids = reading.ids or compare.index(reading.records, name)
  return compare.alike(reading.ids, id)
end

return M
