-- SPDX-License-Identifier: MIT
-- Numbers that grow with each commit, a row for each process. A journal with a smaller number than the process
-- remembers was put back, or lost commits.

local core = require "purser.core"

local M = {}

local NUMBER = "%016d" -- leading zeros give texts the order of numbers

-- Names a process's row, another one for a fork's child.
local function name_process(self, tx)
  local token, why = core.random_token(16)
  if not token then tx:reject("no random name could be made: " .. tostring(why)) end
  self.name, self.process, self.confirmed, self.tried = "process " .. token, core.process_id(), 0, 0
end

local OLDER = "the journal is older than it was: it lacks what this process wrote into it, as a copy that is put back "
  .. "does; find out what was lost, then open it again (docs/write/journal.md)"

-- Tells if prune removed a process's row, which was old.
local function was_pruned(self, tx)
  local before = tx:meta "pruned_before"
  return before ~= nil and before > self.changed_at
end

-- Runs the counting statement. Another session than the connection's ends the transaction, and so does a table that
-- was made again, by a dump that was put back. Returns the changed rows.
local function change(self, tx, sql, ...)
  local kind = tx.db.kind
  local rows, changed = tx:rows(sql .. (kind.session and " RETURNING tableoid::text AS place, " .. kind.session or ""),
    ...)
  if not kind.session then return changed end
  for _, row in ipairs(rows) do
    if rawget(row, "session") ~= tx.db.session then tx:reject(kind.POOLED) end
    self.place = self.confirmed > 0 and self.place or row.place
    if row.place ~= self.place then tx:reject(OLDER) end
  end
  return #rows
end

--- Counts a commit as the transaction's last statement. A failed commit may be made: the process remembers the last
-- certain one. Ends the transaction of a journal without that commit.
function M.count(self, tx)
  if self.process ~= core.process_id() then name_process(self, tx) end
  self.tried = self.tried + 1
  self.time = ("%013d"):format(core.now_ms())
  local changed = change(self, tx, [[UPDATE purser_generations SET generation = $1, changed_at = $2 WHERE name = $3
    AND generation >= $4]], NUMBER:format(self.tried), self.time, self.name, NUMBER:format(self.confirmed))
  if changed == 1 then return end
  if self.confirmed > 0 and not was_pruned(self, tx) then tx:reject(OLDER) end
  change(self, tx, "INSERT INTO purser_generations (name, generation, changed_at) VALUES ($1, $2, $3)", self.name,
    NUMBER:format(self.tried), self.time)
end

return M
