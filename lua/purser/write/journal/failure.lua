-- SPDX-License-Identifier: MIT
-- What is reported where a statement of the journal failed.

local errors = require "purser.call.errors"

local M = {}

--- What to do where a statement failed because another connection held the lock of the database for too long; nil for
--- any other failure.
---@param message string  the database's
---@return string|nil hint
function M.lock_hint(message)
  if message:find("database is locked", 1, true) or message:find("due to lock timeout", 1, true) then
    return "another program writes to it: wait until that has ended, or end it, and run this again; `lock_timeout_ms` "
      .. "of journal.open allows a longer wait"
  end
end

--- The error of a call that needs the journal.
---@param outcome purser.outcomes  of that call
---@param message string           the database's
---@param hint string|nil          where the database was not locked
---@return purser.Error
function M.error(outcome, message, hint)
  return errors.new { kind = "config", outcome = outcome, phase = "journal", message = "journal: " .. message,
    hint = M.lock_hint(message) or hint }
end

return M
