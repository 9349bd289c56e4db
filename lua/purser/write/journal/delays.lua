-- SPDX-License-Identifier: MIT
-- Delays of records, as any process with this journal saw them appear.

local M = {}

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
