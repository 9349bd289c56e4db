-- SPDX-License-Identifier: MIT
-- What a run reports about itself while it works, and why it waits when it does.

local core = require "purser.core"
local hooks = require "purser.call.hooks"
local private = require "purser.util.private"
local queue = require "purser.payouts.queue"
local rejected = require "purser.payouts.rejected"
local setbacks = require "purser.call.setbacks"

local M = {}

local function seconds(ms) return ("%d s"):format(math.max(1, math.ceil(ms / 1000))) end

-- That calls wait for the rate limit; nil where none does, or not for a second.
local function limited(self)
  local ms = setbacks.room_ms(private.state_of(self.client))
  return ms and ms >= 1000 and hooks.room_text(ms) or nil
end

-- Why nothing is sent now; nil while something is.
local function reason(self, tx)
  local rate_limit = not self.waiting_for and limited(self)
  if rate_limit then return rate_limit end
  if self.waiting_for or self.sending > 0 or #self.hand > 0 then return self.waiting_for end
  local now, parts = tx:now(), {}
  local looked_for = rejected.count(self)
  if looked_for > 0 then parts[1] = ("%d rejected are looked for by their ids"):format(looked_for) end
  local left = queue.next_due(tx, self)
  if left.due_at and left.due_at > now then
    parts[#parts + 1] = ("the next is due in %s"):format(seconds(left.due_at - now))
      .. (left.message and (" (%s)"):format(left.message) or "")
  end
  if left.sent > 0 and looked_for == 0 then parts[#parts + 1] = ("%d sent are being reconciled"):format(left.sent) end
  if left.others > 0 then
    parts[#parts + 1] = ("other workers have %d, the first lease ends in %s"):format(left.others,
      seconds(left.lease_until - now))
  end
  return parts[1] and table.concat(parts, ", ") or nil
end

--- A function that reports the progress to the option `progress`, of the run that begins now.
function M.reporter(self)
  if not self.progress then return function() end end
  local started, before = core.monotonic_ms(), nil
  return function()
    local waiting_for
    local counts = self.journal.db:transaction(function(tx)
      local found = queue.counts(tx, self.queue, self.account)
      if found.waiting - found.blocked + found.taken + found.sent > 0 then waiting_for = reason(self, tx) end
      return found
    end)
    if not counts then return end
    local finished = counts.done + counts.failed + counts.undecided + counts.dropped
    before = before or finished
    local ms = math.max(1, core.monotonic_ms() - started)
    local rate = math.floor((finished - before) * 1000 / ms)
    self.progress {
      total = counts.total, finished = finished, done = counts.done, failed = counts.failed,
      undecided = counts.undecided, blocked = counts.blocked, waiting_for = waiting_for,
      rate = rate, seconds_left = rate > 0 and math.ceil((counts.total - finished) / rate) or nil,
    }
  end
end

--- One line that reports the progress, for a terminal.
---@param progress purser.PayoutsProgress
---@return string
function M.line(progress)
  local parts = { ("%d of %d payments (%d %%)"):format(progress.finished, progress.total,
    progress.total > 0 and math.floor(progress.finished * 100 / progress.total) or 100) }
  parts[#parts + 1] = ("%d/s"):format(progress.rate)
  if progress.seconds_left then parts[#parts + 1] = ("%d s left"):format(progress.seconds_left) end
  for _, name in ipairs { "failed", "undecided", "blocked" } do
    if (progress[name] or 0) > 0 then parts[#parts + 1] = ("%d %s"):format(progress[name], name) end
  end
  if progress.waiting_for then parts[#parts + 1] = "waits: " .. progress.waiting_for end
  return table.concat(parts, ", ")
end

return M
