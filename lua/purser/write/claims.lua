-- SPDX-License-Identifier: MIT
-- Whose records are: what the journal knows of the other calls of a history.
--
-- A record belongs to the call whose answer named it, or whose id it shows; a call found by content has taken its
-- record.

local intents = require "purser.write.intent"

local M = {}

---@class purser.evidence.Claims
local Claims = {}
Claims.__index = Claims

--- Makes what is known of the records of the call's history.
---@return purser.evidence.Claims
function M.new(service, row, intent)
  return setmetatable({ journal = service.journal, row = row, intent = intent,
    account = intent.account, operations = intents.shown_in(intents.history_of(row)) }, Claims)
end

-- Asks the journal. Returns what it says; or nil and an error.
local function ask(self, method, ...)
  local value, message = self.journal[method](self.journal, ...)
  if value == nil then return nil, intents.journal_error("unknown", message) end
  return value
end

--- Returns whether a call is the question's.
function Claims:is_own(call)
  local name = self.row.reconcile.generated_id and self.row.reconcile.client_id
  local id = name and self.intent.params[name]
  if self.intent.id == nil and id ~= nil then return call.params[name] == id end -- planned
  return call.id ~= nil and call.id == self.intent.id
end

-- Returns the calls with the ids of records, by id; or nil and an error.
local function owners_of(self, column, records, id_of)
  local asked, seen = {}, {}
  for _, record in ipairs(records) do
    local id = id_of(record)
    if id and not seen[id] then seen[id], asked[#asked + 1] = true, id end
  end
  if not asked[1] then return {} end
  return ask(self, "owners", column, self.account, asked, self.operations)
end

local function record_id(record)
  local id = intents.id_of(record)
  return id and tostring(id) or nil
end

--- Returns the owners of records, record -> call; or nil and an error. The id that a record shows is stronger than its
--- content.
---@param records table[]
---@return table<table, purser.Call>|nil owners, purser.Error|nil err
function Claims:owners(records)
  local by_record, err = owners_of(self, "record_id", records, record_id)
  if not by_record then return nil, err end
  local reconcile = self.row.reconcile
  local name = reconcile.generated_id and reconcile.client_id
  local function id_of(record)
    local id = name and record[name]
    return type(id) == "string" and id ~= "" and id or nil
  end
  local by_id
  by_id, err = owners_of(self, "key", records, id_of)
  if not by_id then return nil, err end
  local owners = {}
  for _, record in ipairs(records) do
    local owner, carrier = by_record[record_id(record) or ""], by_id[id_of(record) or ""]
    owners[record] = owner and (owner.answered or not carrier) and owner or carrier
  end
  return owners
end

--- Returns other open calls that can have made a record between two times; or nil and an error.
---@param later integer  by how much a record's time may lie after the time until which its call was accepted
function Claims:open_calls(first, last, later)
  local calls, err = ask(self, "open_calls", self.account, self.operations, first - later, last)
  if not calls then return nil, err end
  local others = {}
  for _, call in ipairs(calls) do
    local made_until = call.sent_at + (call.recv_window or 0) + later
    if not self:is_own(call) and made_until >= first then others[#others + 1] = call end
  end
  return others
end

--- Returns executed calls whose records this list must contain; or nil and an error.
function Claims:made_calls(first, last)
  local calls, err = ask(self, "made_calls", self.account, self.operations, first, last)
  if not calls then return nil, err end
  local found = {}
  for _, call in ipairs(calls) do
    local is_shown = call.sent_at >= first and not self:is_own(call)
    for _, name in ipairs(self.row.reconcile.copy_params or {}) do
      is_shown = is_shown and call.params[name] == self.intent.params[name]
    end
    if is_shown then found[#found + 1] = call end
  end
  return found
end

--- Returns whether an API key is shown to be of the account, by a person or the service; or nil and an error.
function Claims:is_vouched(signer) return ask(self, "is_vouched", signer) end

--- Returns whether a forgotten call can have made a record since `first`.
function Claims:has_forgotten(first, later)
  local forgotten_to = self.journal.forgotten
  return forgotten_to ~= nil and forgotten_to + intents.MAX_WINDOW_MS + later >= first
end

return M
