-- SPDX-License-Identifier: MIT
-- What a journal knows of other calls: which may have made the record that a call is looked for by, and when those were
-- sent whose records are known.

local core = require "purser.core"
local intents = require "purser.write.intent"
local operations = require "purser.api.operations"
local time_text = require("purser.write.journal.schema").time_text

local M = {}

--- The states of calls that certainly made no record.
M.SPENT_NOTHING = { rejected = true, not_sent = true, not_done = true }

-- How long before a record's time the call that made it can have been sent, at the very most.
local DAY = 86400000

--- The records since `first` that belong to equal calls, with when those were sent, and how many equal calls have no
--- known end and can have made a record since then; or nil and a message.
---@param later integer  by how much the time of a record may lie after the time that its call was accepted until
---@param self purser.Journal
function M.equal_calls(self, intent, first, later)
  local ids, open = {}, 0
  local row = operations.by_name[intent.operation]
  local rows, message = self.db:rows([[SELECT state, record_id, sent_at, recv_window FROM purser_intents
    WHERE digest = $1 AND account = $2 AND sent_at >= $3 AND id <> $4]], intents.digest(row, intent.params),
    intent.account or "", time_text(math.max(0, first - DAY)), intent.id)
  if not rows then return nil, message end
  for _, other in ipairs(rows) do
    if other.record_id ~= "" then
      ids[other.record_id] = tonumber(other.sent_at)
    elseif not M.SPENT_NOTHING[other.state] and intents.made_until(other, later) >= first then
      open = open + 1
    end
  end
  return ids, open
end

local PART_MS, PART_CALLS = 900000, 200

-- Whether a call that was done certainly made the record that is written of it: that was its answer, which shows no
-- time, or was found by the call's own id.
local function is_certain(row, done, max_window)
  if not row or not row.reconcile or tonumber(done.recv_window) > max_window then return false end
  if intents.has_own_id(row, core.decode(done.params)) then return true end
  local record = done.record ~= "" and core.decode(done.record)
  return record and record[row.reconcile.time_member] == nil or false
end

--- Records that calls of an account and operation made which were sent soon after `first`, or shortly before `last`,
--- with when those were sent; or nil and a message. Only what is certain, and of calls without an equal in the journal,
--- so that nothing else can have made the record.
---@param operation string  of the calls
---@param max_window integer  the recv_window of such a call at most
---@return table<string, integer>|nil sent_at, string|nil message
---@param self purser.Journal
function M.known_records(self, account, operation, first, last, max_window)
  local known, row = {}, operations.by_name[operation]
  for _, part in ipairs { { first, math.min(last, first + PART_MS), "ASC" },
    { math.max(first, last - PART_MS), last, "DESC" } } do
    local rows, message = self.db:rows(([[SELECT params, record_id, record, sent_at, recv_window
      FROM purser_intents
      WHERE sent_at >= $1 AND sent_at <= $2 AND account = $3 AND operation = $4 AND state = 'done' AND record_id <> ''
        AND NOT EXISTS (SELECT 1 FROM purser_intents AS other
          WHERE other.digest = purser_intents.digest AND other.id <> purser_intents.id)
      ORDER BY sent_at %s LIMIT %d]]):format(part[3], PART_CALLS), time_text(math.max(0, part[1])),
      time_text(part[2]), account or "", operation)
    if not rows then return nil, message end
    for _, done in ipairs(rows) do
      if is_certain(row, done, max_window) then known[done.record_id] = tonumber(done.sent_at) end
    end
  end
  return known
end

--- Other calls of these operations that can have made a record between two times: see recent_calls.others. Nil and a
--- message when they cannot be read.
---@param names table<string, boolean>  of operations
---@return purser.reconcile.OtherCall[]|nil others, string|nil message
---@param self purser.Journal
function M.other_calls(self, intent, names, first, last, later)
  local found, digest = {}, intents.digest(operations.by_name[intent.operation], intent.params)
  local rows, message = self.db:rows([[SELECT operation, params, digest, state, record_id, record, sent_at, recv_window
    FROM purser_intents WHERE sent_at >= $1 AND sent_at <= $2 AND account = $3 AND id <> $4]],
    time_text(math.max(0, first - later - intents.MAX_WINDOW_MS)), time_text(last), intent.account or "", intent.id)
  if not rows then return nil, message end
  for _, other in ipairs(rows) do
    if names[other.operation] and other.digest ~= digest and not M.SPENT_NOTHING[other.state]
      and intents.made_until(other, later) >= first then
      local row, id = operations.by_name[other.operation], other.record_id ~= "" and other.record_id or nil
      found[#found + 1] = { id = id, is_certain = is_certain(row, other, intents.MAX_WINDOW_MS), intent = {
        operation = other.operation, params = core.decode(other.params), sent_at = tonumber(other.sent_at) } }
    end
  end
  return found
end

return M
