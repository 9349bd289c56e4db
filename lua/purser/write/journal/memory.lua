-- SPDX-License-Identifier: MIT
-- The journal of a client without a database: the same methods, in memory, for the life of the process. The clients of
-- one transport share a journal: answers may be mixed up. It keeps the last hour, at most MAX_CALLS calls of 1 kB each.

local core = require "purser.core"
local digests = require "purser.write.digests"
local intents = require "purser.write.intent"
local operations = require "purser.client.operations"

local M = { KEPT_MS = 3600000, MAX_CALLS = 10000 }

---@class purser.MemoryJournal
local Memory = {}
Memory.__index = Memory

function M.new()
  return setmetatable({ list = {}, first = 1, last = 0, by_id = {}, by_key = {}, by_record = {} }, Memory)
end

local by_transport = setmetatable({}, { __mode = "k" })

--- Returns the journal of the clients that reach a service by this transport.
function M.of(transport, origin)
  local by_origin = by_transport[transport] or {}
  by_transport[transport] = by_origin
  by_origin[origin] = by_origin[origin] or M.new()
  return by_origin[origin]
end

-- A key is one call's, whatever its operation.
local function slot_of(account, key) return ("%d:%s%s"):format(#account, account, digests.form(key)) end

-- Gives a call the record of an id; nil takes its record away.
local function own(self, call, id)
  local owners = call.record_id and self.by_record[call.record_id]
  if owners then
    owners[call] = nil
    if next(owners) == nil then self.by_record[call.record_id] = nil end
  end
  call.record_id = id and tostring(id) or nil
  if not id then return end
  self.by_record[call.record_id] = self.by_record[call.record_id] or {}
  self.by_record[call.record_id][call] = true
end

local function forget(self, call)
  self.first = self.first + 1
  self.list[self.first - 1] = nil
  self.by_id[call.id] = nil
  if call.slot then self.by_key[call.slot] = nil end
  own(self, call, nil)
  self.forgotten = math.max(self.forgotten or 0, call.sent_at)
end

local function forget_old(self, now)
  local oldest = self.list[self.first]
  while oldest and (oldest.sent_at < now - M.KEPT_MS or self.last - self.first + 1 >= M.MAX_CALLS) do
    forget(self, oldest)
    oldest = self.list[self.first]
  end
end

local function begin(self, call, intent, attempt)
  own(self, call, nil)
  if attempt > 1 then
    table.insert(call.earlier, { sent_at = call.sent_at, recv_window = call.recv_window, signer = call.signer })
  end
  intent.id, intent.attempt = call.id, attempt
  call.intent, call.params, call.sent_at, call.recv_window = intent, intent.params, intent.sent_at, intent.recv_window
  call.signer, call.attempt, call.state = intent.signer, attempt, "open"
  call.record, call.answered, call.found, call.rejected = nil, false, false, nil
end

local function add(self, intent, row, key, slot)
  forget_old(self, intent.sent_at)
  local call = { id = intent.id or assert(intents.new_id()), key = key and key.name, content = key and key.content,
    slot = slot, account = intent.account or "", operation = row.full_name, history = intents.makes_in(row),
    digest = digests.likeness(row, intent.params), earlier = {} }
  begin(self, call, intent, 1)
  -- counted last: an error in between leaves no gap in the list
  self.by_id[call.id], self.list[self.last + 1] = call, call
  if slot then self.by_key[slot] = call end
  self.last = self.last + 1
  return call
end

--- Keeps a call before its sending. Returns true; or nil, nil and the call with the same key. See calls.lua.
---@param key { name: string, content: string }|nil
function Memory:begin(intent, row, _, key)
  local slot = key and slot_of(intent.account or "", key.name)
  local known = slot and self.by_key[slot]
  if not known then
    add(self, intent, row, key, slot)
    return true
  end
  local problem = intents.other_content(known, key, row)
  if problem then return nil, problem end
  if not intents.is_free(known) then return nil, nil, known end
  begin(self, known, intent, known.attempt + 1)
  return true
end

function Memory:used(account, name) return self.by_key[slot_of(account, name)] or false end

--- See calls.lua. Nothing of an account outlives the process here.
function Memory.identify() return true end

function Memory.look() return true end

function Memory.is_vouched() return true end

-- Returns the calls that pass a test, the oldest first.
local function those(self, test)
  local found = {}
  for i = self.first, self.last do
    local call = self.list[i]
    if test(call) then found[#found + 1] = call end
  end
  return found
end

-- Returns whether an equal call is open, sent perhaps because this one was not executed.
local function has_open_equal(self, call)
  return those(self, function(other)
    return other ~= call and intents.UNDECIDED[other.state] and other.account == call.account
      and other.digest == call.digest
  end)[1] ~= nil
end

-- Returns whether another call owns a record.
local function is_owned(self, call, record_id)
  for other in pairs(call.history ~= "" and self.by_record[tostring(record_id)] or {}) do
    if other ~= call and other.history == call.history then return true end
  end
  return false
end

function Memory:end_call(intent, ending)
  local call = self:call_of(intent)
  if not call then return {} end
  local later = intent.attempt and call.attempt - intent.attempt or 0
  local id = not ending.is_renumbered and type(ending.record) == "table" and intents.id_of(ending.record)
  ending.record_id = id
  local verdict = intents.judge_end(call, later, ending, function() return has_open_equal(self, call) end)
  if not verdict.counts then return verdict end
  if id and is_owned(self, call, id) then return { is_taken = true } end
  call.state, call.record, call.ended_at = ending.state, ending.record, core.now_ms()
  call.rejected = ending.rejected or nil
  call.answered, call.found = id and ending.answered and true or false, id and ending.answered == "found" or false
  own(self, call, id)
  return verdict
end

function Memory:contest(intent, id, since)
  for call in pairs(self.by_record[id] or {}) do
    if call.id ~= intent.id and call.account == (intent.account or "") and call.answered and not call.found
      and call.state == "done" and call.history ~= "" and call.ended_at > since then
      own(self, call, nil)
      call.state, call.record, call.answered = "unknown", nil, false
    end
  end
end

Memory.finish, Memory.reconciled = intents.finish, intents.reconciled

--- Returns the call of an intent; nil for an unknown one. See calls.lua.
function Memory:call_of(intent)
  if intent.id then return self.by_id[intent.id] end
  local row = operations.by_name[intent.operation]
  local digest = digests.likeness(row, intent.params)
  return intents.meant(row, intent, those(self, function(call)
    return call.sent_at == intent.sent_at and call.digest == digest and call.operation == intent.operation
      and call.account == (intent.account or "")
  end))
end

function Memory:owners(column, account, ids, names)
  local found = {}
  local function note(id, call)
    local is_meant = call.account == (account or "") and (not names or names[call.operation])
    if is_meant and not (found[id] and found[id].sent_at > call.sent_at) then found[id] = call end
  end
  for _, id in ipairs(ids) do
    if column == "key" then
      local call = self.by_key[slot_of(account or "", id)]
      if call and call.key == id then note(id, call) end
    else
      for call in pairs(self.by_record[tostring(id)] or {}) do
        if call.history ~= "" then note(id, call) end
      end
    end
  end
  return found
end

function Memory:open_calls(account, names, first, last)
  return those(self, function(call)
    return (intents.UNDECIDED[call.state] or call.rejected) and call.account == (account or "")
      and (not names or names[call.operation])
      and call.sent_at >= first - intents.MAX_WINDOW_MS and call.sent_at <= last
  end)
end

function Memory:made_calls(account, names, first, last)
  return those(self, function(call)
    return (call.state == "done" or call.answered) and names[call.operation] and call.account == (account or "")
      and call.sent_at >= first and call.sent_at <= last
  end)
end

return M
