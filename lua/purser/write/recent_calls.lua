-- SPDX-License-Identifier: MIT
-- Equal calls made by this client a short while ago. Where only direction, asset, amount and time tell a record from
-- another, a record that answered one call must not be taken for the effect of its twin.

local core = require "purser.core"
local intents = require "purser.write.intent"

local M = { MAX_CALLS = 10000 } -- some 10 MB

local KEPT_MS = 3600000

local WEAK_VALUES = { __mode = "v" }
local by_transport = setmetatable({}, { __mode = "k" }) -- of a transport and an origin: which call made which record

-- The table for all clients that reach a service by one transport, where an answer to one may come to another.
local function shared_ids(transport, origin)
  local by_origin = by_transport[transport] or {}
  by_transport[transport] = by_origin
  by_origin[origin] = by_origin[origin] or setmetatable({}, WEAK_VALUES)
  return by_origin[origin]
end

--- What a client knows of its own calls. `transport` and `origin` are those of the client.
---@param transport any|nil
---@param origin string|nil
function M.new(transport, origin)
  local by_id = setmetatable({}, WEAK_VALUES)
  return { by_digest = {}, by_id = by_id, shared = transport and shared_ids(transport, origin) or by_id, pruned_at = 0,
    accounts = {}, process = false, count = 0, kept = 0, forgotten_to = 0 }
end

--- A name that no other call has; or nil and a message: a random text of the client's own in this process, and a
--- number.
function M.name_call(self)
  local process = core.process_id()
  if self.process ~= process then
    local prefix, message = core.random_token(20)
    if not prefix then return nil, message end
    self.prefix, self.process = prefix, process
  end
  self.count = self.count + 1
  return ("%s-%d"):format(self.prefix, self.count)
end

-- The time before which half of the calls were sent.
local function middle(self)
  local times = {}
  for _, list in pairs(self.by_digest) do
    for _, entry in ipairs(list) do times[#times + 1] = entry.sent_at end
  end
  table.sort(times)
  return times[math.ceil(#times / 2)]
end

local function prune(self, now)
  local is_full = self.kept >= M.MAX_CALLS
  if not is_full and now - self.pruned_at < KEPT_MS then return end
  local ends = is_full and math.max(now - KEPT_MS, middle(self)) or now - KEPT_MS
  self.pruned_at, self.kept = now, 0
  for digest, list in pairs(self.by_digest) do
    local kept = {}
    for _, entry in ipairs(list) do
      if entry.sent_at > ends then
        kept[#kept + 1] = entry
      else
        self.forgotten_to = math.max(self.forgotten_to, entry.sent_at)
      end
    end
    for _, entry in ipairs(kept) do entry.equals = kept end
    self.by_digest[digest], self.kept = kept[1] and kept or nil, self.kept + #kept
  end
end

-- Whether two intents are of one call: a copy (decoded JSON, another process) is known by its name, or by its id in
-- the journal. Nil where nothing says.
local function is_same(one, other)
  if one == other then return true end
  if one.call_id and other.call_id then return one.call_id == other.call_id end
  if one.id and other.id then return one.id == other.id end
  return nil
end

-- The entry of an intent's call among those of equal operation and content; nil when there is none. An intent without a
-- name, of an older version or of the caller's own making, is that of the first call of its time.
local function entry_of(list, intent)
  local alike
  for _, entry in ipairs(list) do
    local same = is_same(entry.intent, intent)
    if same then return entry end
    if same == nil and not alike and entry.sent_at == intent.sent_at then alike = entry end
  end
  return alike
end

local function equals_of(self, row, intent)
  local digest = intents.digest(row, intent.params)
  return self.by_digest[digest] or {}, digest
end

--- The entry of an intent's call; nil when it is not known.
function M.entry(self, row, intent)
  return entry_of(equals_of(self, row, intent), intent)
end

--- Notes how a call ended: `id` is the record it made, nil while that is not known; `over` when it certainly made none.
function M.close(self, entry, id, over)
  entry.id, entry.over = id or false, over or false
  if id and entry.makes then self.by_id[id], self.shared[id] = entry, entry end
end

--- Whether the record `id` was made by another call, of whatever operation and of any client of the transport. Two
--- that carry one id by which the service distinguishes calls may have made it together.
function M.is_others(self, row, intent, id)
  local entry = id and (self.by_id[id] or self.shared[id])
  if not entry or entry == entry_of(equals_of(self, row, intent), intent) then return false end
  local client_id = row.reconcile.generated_id and row.reconcile.client_id
  return not client_id or intent.params[client_id] == nil or intent.params[client_id] ~= entry.intent.params[client_id]
end

--- When the call was sent that made the record `id`; nil unless that is certain: the call is of that operation, it was
--- answered with the id or found by its own, and there was no equal call.
---@param operation string
---@param max_window integer  its recv_window at most: an intent with more may cover several attempts
function M.sent_at(self, id, operation, max_window)
  local entry = self.by_id[id]
  if not entry or entry.by_content or #entry.equals > 1 or entry.intent.operation ~= operation then return nil end
  return (entry.intent.recv_window or 0) <= max_window and entry.sent_at or nil
end

--- Notes a call, and how it ended, as close() takes it. Returns the entry, for close().
function M.note(self, row, intent, id, over)
  prune(self, intent.sent_at)
  local list, digest = equals_of(self, row, intent)
  self.by_digest[digest] = list
  local entry = entry_of(list, intent)
  if not entry then
    entry = { intent = intent, sent_at = intent.sent_at, id = false, over = false,
      makes = row.effect ~= "change", equals = list }
    list[#list + 1], self.kept = entry, self.kept + 1
  end
  M.close(self, entry, id, over)
  return entry
end

--- The ids of records that belong to equal calls, with when those were sent; and how many equal calls have no known
--- end, and can have made a record at `first` or since.
---@param later integer  by how much the time of a record may lie after the time that its call was accepted until
---@return table<string, integer> ids, integer open
function M.of(self, row, intent, first, later)
  local ids, open = {}, 0
  local list = equals_of(self, row, intent)
  local own = entry_of(list, intent)
  for _, entry in ipairs(list) do
    if entry ~= own and not entry.over then
      if entry.id then
        ids[entry.id] = entry.sent_at
      elseif intents.made_until(entry.intent, later) >= first then
        open = open + 1
      end
    end
  end
  return ids, open
end

--- Whether calls have been forgotten that can have made a record at `first` or since.
function M.has_forgotten(self, first, later)
  return self.forgotten_to > 0 and self.forgotten_to + intents.MAX_WINDOW_MS + later >= first
end

---@class purser.reconcile.OtherCall  a call which is not equal, and may have been executed
---@field intent purser.Intent
---@field id string|nil        of the record that it made, as far as that is known
---@field is_certain boolean   whether that id was its answer, or was found by the call's own

--- Other calls of these operations that can have made a record between two times, are not equal to this one, and may
--- have been executed.
---@param names table<string, boolean>  of operations
---@return purser.reconcile.OtherCall[]
function M.others(self, row, intent, names, first, last, later)
  local equal, found = equals_of(self, row, intent), {}
  for _, list in pairs(self.by_digest) do
    for _, entry in ipairs(list) do
      if list ~= equal and names[entry.intent.operation] and not entry.over and entry.sent_at <= last
        and intents.made_until(entry.intent, later) >= first then
        found[#found + 1] = { intent = entry.intent, id = entry.id or nil, is_certain = not entry.by_content }
      end
    end
  end
  return found
end

return M
