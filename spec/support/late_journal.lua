-- SPDX-License-Identifier: MIT
-- A journal that writes a call down only once its answer is there: what Purser must not be, to show that tests notice.
--
--     late_journal.make(journal)    changes this journal alone

local core = require "purser.core"

local unpack = table.unpack or unpack -- luacheck: ignore

local M = {}

--- Makes the journal write late what it writes ahead. Returns it.
function M.make(journal)
  local begin, finish, unwritten = journal.begin, journal.finish, {}

  function journal.begin(_, intent, ...)
    intent.id = assert(core.random_token(24))
    unwritten[intent.id] = { ... }
    local payment = select(4, ...)
    if payment then payment.sent_at = intent.sent_at end -- so a worker's next step can be wrong, and not raise
    return true
  end

  function journal.finish(self, intent, value, err, change)
    local late = unwritten[intent.id]
    unwritten[intent.id] = nil
    local ok, problem = begin(self, intent, unpack(late, 1, 4))
    if not ok and problem.code == "payouts.lease" then return true end -- another worker has it by now: no record at all
    if not ok then return nil, problem end
    return finish(self, intent, value, err, change)
  end
  return journal
end

return M
