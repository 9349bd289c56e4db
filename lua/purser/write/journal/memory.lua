-- SPDX-License-Identifier: MIT
-- The journal of a client that was given none: what a journal in a database keeps, in memory, with the same methods. It
-- is gone with its process. It keeps the calls of the last hour, and at most MAX_CALLS of them: some 1 kB each.

local intents = require "purser.write.intent"

local M = { KEPT_MS = 3600000, MAX_CALLS = 10000 }

---@class purser.MemoryJournal
local Memory = {}
Memory.__index = Memory

---@return purser.MemoryJournal
function M.new()
  return setmetatable({ list = {}, first = 1, last = 0, by_id = {}, by_key = {}, by_record = {}, delays = {},
    forgotten = 0,
    in_memory = true }, Memory)
end

local function slot_of(account, operation, key)
  return ("%d:%s%s %s"):format(#account, account, operation, key)
end

local function forget(self, call)
  self.list[self.first], self.first = nil, self.first + 1
  self.by_id[call.id] = nil
  if call.slot and self.by_key[call.slot] == call then self.by_key[call.slot] = nil end
  local owners = call.record_id and self.by_record[call.record_id]
  if owners then
    owners[call] = nil
    if next(owners) == nil then self.by_record[call.record_id] = nil end
  end
  self.forgotten = math.max(self.forgotten, call.sent_at)
end

local function forget_old(self, now)
  local oldest = self.list[self.first]
  while oldest and (oldest.sent_at < now - M.KEPT_MS or self.last - self.first + 1 >= M.MAX_CALLS) do
    forget(self, oldest)
    oldest = self.list[self.first]
  end
end

--- Returns until when calls were sent that may be forgotten by now, epoch ms; 0 where none is.
function Memory:forgotten_until() return self.forgotten end

--- Keeps a call that is about to be sent. Returns true; or nil, nil and the call that has its key. See
--- purser.write.journal.
---@param key { name: string, content: string }|nil
function Memory:begin(intent, row, _, key)
  local account = intent.account or ""
  local slot = key and slot_of(account, intent.operation, key.name)
  local known = slot and self.by_key[slot]
  if known then
    local problem = intents.other_content(known, key, row)
    if problem then return nil, problem end
    if not intents.SPENT_NOTHING[known.state] then return nil, nil, known end
  end
  forget_old(self, intent.sent_at)
  local call = { id = intent.call_id or tostring(self.last), key = key and key.name, slot = slot, account = account,
    content = key and key.content, operation = intent.operation, params = intent.params, sent_at = intent.sent_at,
    recv_window = intent.recv_window, state = "open", answered = false, digest = intents.digest(row, intent.params),
    history = intents.makes_in(row), intent = intent }
  self.last = self.last + 1
  self.list[self.last], self.by_id[call.id] = call, call
  if slot then self.by_key[slot] = call end
  return true
end

local is_open = { open = true, unknown = true, undecided = true }

-- Returns whether an equal call, sent perhaps because this one was found not to have been executed, is open: a record
-- that merely agrees is that one's.
local function has_open_equal(self, call)
  for i = self.first, self.last do
    local other = self.list[i]
    if other ~= call and is_open[other.state] and other.account == call.account and other.operation == call.operation
      and other.digest == call.digest then
      return true
    end
  end
  return false
end

-- Returns whether a record is another call's.
local function is_taken(self, call, history, record_id)
  if history == "" then return false end
  for other in pairs(self.by_record[tostring(record_id or "")] or {}) do
    if other ~= call and other.history == history then return true end
  end
  return false
end

--- See purser.write.journal.calls.
function Memory:is_taken(intent, row, record_id)
  return is_taken(self, self:call_of(intent), intents.makes_in(row), record_id)
end

local function end_call(self, intent, ending)
  local call = self:call_of(intent)
  if not call then return {} end
  local verdict = intents.judge_end(call.state, 0, ending, function() return has_open_equal(self, call) end)
  if verdict.done_before then verdict.record = call.record or {} end
  if not verdict.counts then return verdict end
  local id = type(ending.record) == "table" and intents.id_of(ending.record)
  if id and is_taken(self, call, call.history, id) then return { is_taken = true } end
  call.state, call.record, call.answered = ending.state, ending.record, ending.answered
  if id then
    call.record_id = tostring(id)
    self.by_record[call.record_id] = self.by_record[call.record_id] or {}
    self.by_record[call.record_id][call] = true
  end
  return verdict
end

--- Keeps how a call ended. Returns true; or false where its record is another call's.
function Memory:finish(intent, value, err)
  return not end_call(self, intent, { state = not err and "done" or err.outcome, record = value,
    answered = not err }).is_taken
end

--- Keeps what a reconciliation found. Returns a verdict.
function Memory:reconciled(intent, answer)
  return end_call(self, intent, { state = answer.outcome, record = answer.record,
    answered = intents.shows_id(intent, answer.record) })
end

--- Returns the call that an intent is of; nil where it is not known, or no more.
function Memory:call_of(intent) return self.by_id[intent.call_id or ""] end

--- See purser.write.journal.calls.
function Memory:owners(account, record_ids, names)
  local found = {}
  for _, id in ipairs(record_ids) do
    for call in pairs(self.by_record[tostring(id)] or {}) do
      if call.account == (account or "") and (not names or names[call.operation]) then found[id] = call end
    end
  end
  return found
end

--- See intents.open_intents.
function Memory:open_calls(account, names, first, last)
  local found = {}
  for i = self.first, self.last do
    local call = self.list[i]
    if is_open[call.state] and call.account == (account or "") and call.sent_at <= last then
      found[#found + 1] = call
    end
  end
  return intents.among(found, names, first, function(call) return call end)
end

--- See purser.write.journal.calls.
function Memory:answered_calls(account, names, first, last)
  local found = {}
  for i = self.first, self.last do
    local call = self.list[i]
    if call.answered and call.record_id and names[call.operation] and call.account == (account or "")
      and call.sent_at >= first and call.sent_at <= last then
      found[#found + 1] = call
    end
  end
  return found
end

--- See purser.write.journal.calls.
function Memory:delay(operation) return self.delays[operation] or 0 end

--- See purser.write.journal.calls.
function Memory:note_delay(operation, ms) self.delays[operation] = math.max(ms, self:delay(operation)) end

--- Returns nil: nothing here says that an intent is another call's.
function Memory.mismatch() end

return M
