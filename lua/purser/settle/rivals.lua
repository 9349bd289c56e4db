-- Equal calls made by this client a short while ago. Where only direction, asset, amount and time tell a record from
-- another, a record that answered one call must not be taken for the effect of its twin.

local intents = require "purser.intent"

local M = {}

local KEPT_MS = 3600000

local Rivals = {}
Rivals.__index = Rivals

function M.new()
  return setmetatable({ by_digest = {}, by_id = setmetatable({}, { __mode = "v" }), pruned_at = 0, accounts = {} },
    Rivals)
end

local function prune(self, now)
  if now - self.pruned_at < KEPT_MS then return end
  self.pruned_at = now
  for digest, list in pairs(self.by_digest) do
    local kept = {}
    for _, entry in ipairs(list) do
      if entry.sent_at > now - KEPT_MS then kept[#kept + 1] = entry end
    end
    self.by_digest[digest] = kept[1] and kept or nil
  end
end

-- One call is one entry, known by its operation and its timestamp and parameters: its intent.
local function entry_of(list, intent)
  for _, entry in ipairs(list) do
    if entry.intent == intent then return entry end
  end
end

--- Notes how a call ended: `id` is the record it made, nil while that is not known; `over` when it certainly made none.
function M.close(self, entry, id, over)
  entry.id, entry.over = id or false, over or false
  if id and entry.makes then self.by_id[id] = entry end
end

--- Whether the record `id` was made by another call, of whatever operation. Two that carry one id by which the service
--- tells calls apart may have made it together.
function M.is_others(self, row, intent, id)
  local entry = id and self.by_id[id]
  if not entry or entry.intent == intent then return false end
  local handle = row.settle.made and row.settle.handle
  return not handle or intent.params[handle] == nil or intent.params[handle] ~= entry.intent.params[handle]
end

--- Notes a call, and how it ended, as close() takes it. Returns the entry, for close().
function M.note(self, row, intent, id, over)
  prune(self, intent.sent_at)
  local digest = intents.digest(row, intent.params)
  local list = self.by_digest[digest] or {}
  self.by_digest[digest] = list
  local entry = entry_of(list, intent)
  if not entry then
    entry = { intent = intent, sent_at = intent.sent_at, id = false, over = false,
      makes = row.effect ~= "change" }
    list[#list + 1] = entry
  end
  M.close(self, entry, id, over)
  return entry
end

--- The ids of records that belong to equal calls, with when those were sent; and how many equal calls since `first`
--- have no known end.
---@return table<string, integer> ids, integer open
function M.of(self, row, intent, first)
  local ids, open = {}, 0
  for _, entry in ipairs(self.by_digest[intents.digest(row, intent.params)] or {}) do
    if entry.intent ~= intent and not entry.over then
      if entry.id then ids[entry.id] = entry.sent_at elseif entry.sent_at >= first then open = open + 1 end
    end
  end
  return ids, open
end

return M
