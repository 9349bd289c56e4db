-- SPDX-License-Identifier: MIT
-- Numbers that only grow with what is committed: a journal that shows a smaller one than a process remembers was put
-- back, or lost commits. Each process has its own row, so none waits for another.

local core = require "purser.core"

local M = {}

-- As long as any number, so that their order as text is their order.
local function text_of(number)
  return ("%016d"):format(number)
end

local function time_text()
  return ("%013d"):format(core.now_ms())
end

--- Returns what a process remembers of its commits. It gets its name with the first.
function M.new()
  return { process = false, confirmed = 0, tried = 0 }
end

-- Gives a process its row's name; the child of a fork gets another than its parent.
local function name_process(self, tx)
  local token, why = core.random_token(16)
  if not token then tx:reject("no random name could be made: " .. tostring(why)) end
  self.name, self.process, self.confirmed, self.tried = "process " .. token, core.process_id(), 0, 0
end

local OLDER = "the journal is older than it was: it lacks what this process wrote into it, as a copy that is put back "
  .. "does; find out what was lost, then open it again (docs/backups.md)"

-- Tells whether the row of a process is missing because prune removed it: then what was last written of it is old.
local function was_pruned(self, tx)
  local row = tx:rows "SELECT value FROM purser_meta WHERE name = 'pruned_before'"[1]
  return row ~= nil and row.value > self.changed_at
end

-- Runs the statement that counts, and ends a transaction that did not run on the connection's own session. Returns how
-- many rows it changed.
local function change(tx, sql, ...)
  local kind = tx.db.kind
  local rows, changed = tx:rows(sql .. (kind.returning_session or ""), ...)
  if not kind.returning_session then return changed end
  if rows[1] and rows[1].session ~= tx.db.session then tx:reject(kind.POOLED) end
  return #rows
end

--- Counts a commit, as its transaction's last statement. A commit that failed may have been made all the same, so what
--- is remembered is the last that certainly was. Ends the transaction when the journal lacks that one.
function M.count(self, tx)
  if self.process ~= core.process_id() then name_process(self, tx) end
  self.tried = self.tried + 1
  self.time = time_text()
  local changed = change(tx, [[UPDATE purser_generations SET generation = $1, changed_at = $2 WHERE name = $3
    AND generation >= $4]], text_of(self.tried), self.time, self.name, text_of(self.confirmed))
  if changed == 1 then return end
  if self.confirmed > 0 and not was_pruned(self, tx) then tx:reject(OLDER) end
  change(tx, "INSERT INTO purser_generations (name, generation, changed_at) VALUES ($1, $2, $3)", self.name,
    text_of(self.tried), self.time)
end

--- Remembers that a counted commit was made.
function M.committed(self)
  self.confirmed, self.changed_at = self.tried, self.time
end

return M
