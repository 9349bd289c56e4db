-- SPDX-License-Identifier: MIT
-- Readings of histories that several looks share. A look concludes that a call was not executed from a complete
-- reading that began when the record had to be visible. Such a reading says the same of every call in its window, so
-- many calls that are looked for together need it once.
--
--     local readings = Readings.new(client:now())
--     readings:expect(intent.sent_at)           -- of every call that will be looked for
--     state:settle(intent, options, readings)   -- of each of them

local compare = require "purser.exactly_once.reconcile.compare"
local core = require "purser.core"
local scan = require "purser.exactly_once.reconcile.full_list"
local schedule = require "purser.schedule"

local Readings = {}
Readings.__index = Readings

local M = {}

-- By how much a clock may fall behind the machine's time since a reading began. More shows that it was set back: then
-- the reading may have begun too early, and is made again.
local SET_BACK_MS = 1000
local INCOMPLETE_READINGS = 3 -- until one that cannot be shown to be complete is shared as well

--- Readings for calls whose records must all be visible at `as_of` (epoch ms, the client's clock).
---@param as_of integer
function M.new(as_of)
  return setmetatable({ as_of = as_of, first = as_of, by_question = {} }, Readings)
end

--- Makes the readings begin early enough for a call that was sent then.
function Readings:expect(sent_at)
  self.first = math.min(self.first, sent_at)
end

local function key_of(row, asked)
  local parts = { row.full_name }
  for name, value in pairs(asked) do parts[#parts + 1] = ("%s=%s"):format(name, tostring(value)) end
  table.sort(parts)
  return table.concat(parts, "\n")
end

-- Whether a reading says what this look asks: it covers the window, it began when the record had to be visible, and the
-- clock was right then.
local function serves(reading, look, first)
  if not reading.records or reading.why and reading.times < INCOMPLETE_READINGS then return false end
  local passed = core.monotonic_ms() - reading.began_monotonic
  return reading.first <= first and reading.last >= look.last and reading.began >= look.deadline
    and reading.correction == look.correction() and look.now() - reading.began >= passed - SET_BACK_MS
end

local function read(self, reading, look, row, asked, first, last)
  if first > 0 then first = math.min(first, self.first - (look.intent.sent_at - first)) end
  last = math.max(last, self.as_of + look.skew_ms)
  local began, began_monotonic, correction = look.now(), core.monotonic_ms(), look.correction()
  local records, err, why = scan.all(look.read, row, asked, first, last, look.settle.time)
  reading.records, reading.err, reading.why = records, err, why
  reading.first, reading.last, reading.ids = first, last, nil
  reading.began, reading.began_monotonic, reading.correction = began, began_monotonic, correction
  reading.times = reading.times + 1
end

--- The records of a list, as full_list.all returns them, and the reading. One task reads, and the others wait for it.
function Readings:all(look, row, asked, first, last)
  local key = key_of(row, asked)
  local reading = self.by_question[key] or { times = 0 }
  self.by_question[key] = reading
  while reading.is_read do
    look.pause(1)
    schedule.sleep(0) -- a transport that blocks lets no other task work while it sleeps
  end
  if not serves(reading, look, first) then
    reading.is_read = true
    local ok, raised = schedule.protect(read, self, reading, look, row, asked, first, last)
    reading.is_read = false
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
