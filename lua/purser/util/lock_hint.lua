-- SPDX-License-Identifier: MIT
--- What to do where a statement failed because another connection held the lock of the database for too long; nil for
--- any other failure.
---@param message string  the database's
---@return string|nil hint
return function(message)
  if message:find("database is locked", 1, true) or message:find("due to lock timeout", 1, true) then
    return "another program writes to it: wait until that has ended, or end it, and run this again; `lock_timeout_ms` "
      .. "of journal.open allows a longer wait"
  end
end
