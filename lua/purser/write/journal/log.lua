-- SPDX-License-Identifier: MIT
-- The log of a journal: messages that programs sent to whoever pays, and how each ended. A person reads the log later.

local core = require "purser.core"
local intents = require "purser.write.intent"

local M = {}

local TABLE = "CREATE TABLE IF NOT EXISTS purser_log (id TEXT PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL, "
  .. "tool TEXT NOT NULL, reference TEXT NOT NULL, outcome TEXT NOT NULL)"

local LOCK = 7078812 -- held while the table is made

local function make(tx)
  tx:lock(LOCK)
  tx:rows(TABLE)
end

---@class purser.LogEntry
---@field at integer         epoch ms, of this machine
---@field who string         the program
---@field tool string
---@field reference string   of the payment; empty where the message names none
---@field outcome string     "begun" until the message is answered

--- Does what journal:log says.
function M.add(journal, entry)
  local id, problem = core.random_token(24)
  if not id then return nil, intents.journal_error("not_sent", tostring(problem)) end
  local ok, message = journal.db:transaction(function(tx)
    if not journal.has_log then make(tx) end
    tx:rows("INSERT INTO purser_log (id, at, who, tool, reference, outcome) VALUES ($1, $2, $3, $4, $5, $6)", id,
      intents.time_text(entry.at), entry.who, entry.tool, entry.reference, entry.outcome)
    return true
  end)
  if not ok then return nil, intents.journal_error("not_sent", tostring(message)) end
  journal.has_log = true
  return id
end

--- Does what journal:end_log says.
function M.finish(journal, id, outcome)
  return journal.db:transaction(function(tx)
    tx:rows("UPDATE purser_log SET outcome = $1 WHERE id = $2", outcome, id)
    return true
  end)
end

--- Does what journal:logged says.
function M.entries(journal)
  local ok, message = journal.db:transaction(function(tx)
    make(tx)
    return true
  end)
  local rows
  if ok then
    rows, message = journal.db:rows "SELECT at, who, tool, reference, outcome FROM purser_log ORDER BY at, id"
  end
  if not rows then return nil, intents.journal_error("not_sent", tostring(message)) end
  for _, row in ipairs(rows) do row.at = assert(tonumber(row.at)) end
  return rows
end

return M
