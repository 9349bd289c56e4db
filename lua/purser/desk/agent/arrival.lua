-- SPDX-License-Identifier: MIT
-- A later look at a call that the service accepted: accepted is not arrived. The history shows the end.

local operations = require "purser.client.operations"
local states = require "purser.client.operations.states"

local M = {}

local HOUR_MS = 3600000
local WORDS = { SUCCESS = "sent", FAILED = "failed", CANCEL = "cancelled" }

--- Returns the word of a record's state: accepted, sent, failed or cancelled.
function M.word(record)
  return WORDS[states.name("withdrawal", record.status) or record.status] or "accepted"
end

-- Returns the walk that shows an entry's record, and the member with the id.
local function walk_of(client, entry, row)
  local lookup, member = operations.by_name[row.reconcile.lookup], row.result.required_member
  local params = entry.intent.params or {}
  if not (lookup.paging and member and entry.record and entry.record[member] ~= nil) then return nil end
  local asked = { from = entry.intent.sent_at - HOUR_MS, to = entry.intent.sent_at + HOUR_MS,
    coin = row.moves.to == "address" and params.coin or nil }
  for _, name in ipairs(row.reconcile.copy_params or {}) do asked[name] = params[name] end
  return client:each(lookup.full_name, asked), member
end

--- Returns the word of an accepted call as its history shows the call now; "accepted" where no history shows an end; or
--- nil and an error. Nothing is sent.
---@param client purser.Client
---@param entry purser.Entry  done
---@return string|nil word, purser.Error|nil err
function M.look(client, entry)
  local row = operations.by_name[entry.intent.operation]
  local walk, member
  if row and row.moves then walk, member = walk_of(client, entry, row) end
  if not walk then return "accepted" end
  while true do
    local record, err = walk:next()
    if not record then
      if err then return nil, err end
      return "accepted"
    end
    if tostring(record[member]) == tostring(entry.record[member]) then return M.word(record) end
  end
end

return M
