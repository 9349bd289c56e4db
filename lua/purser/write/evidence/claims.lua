-- SPDX-License-Identifier: MIT
-- Whose record it is, and what the records of answered calls show of a service.
--
-- A record belongs to the call whose answer named its id, or whose id it shows. Everything else is unclaimed. A call
-- that was made may own any that agrees, while its own is not shown. A call that was answered is a witness of its
-- record: it shows how this service writes what is sent.
--
-- A journal, in memory or in a database, is asked for
--   owners("record_id", account, ids, operations)      record id -> the call that owns it
--   owners("key", account, ids, operations)            id -> the call, sent or planned, that carries it
--   open_calls(account, operations, first, last)       calls without a known end that may have made a record then
--   made_calls(account, operations, first, last)       calls whose records must be in a history from there to there
--   delay(operation), note_delay(operation, ms)        how late records of an operation were seen to appear
--   forgotten                                             until when calls were sent that it may have forgotten
-- Each returns nil and a message where it cannot be read. A call is a table { id =, operation =, params =, sent_at =,
-- recv_window =, state =, record_id =, answered = }. To end a call with a record that another call owns must fail.

local compare = require "purser.write.evidence.compare"
local intents = require "purser.write.intent"
local operations = require "purser.client.operations"

local M = {}

------------------------------------------------------------------------------------------------------- what is shown

---@class purser.evidence.Witnesses  how this service shows what is sent
---@field same table<string, integer>   of a member in a form: how often it was shown as it was sent
---@field differing table<string, { relation: string, by: purser.decimal|nil }>  how far otherwise it was shown, and of
--- an amount by how much, where that was the same each time
---@field hidden table<string, boolean>  it was not shown
---@field in_time boolean      a record was shown at its time
---@field earliest number      from the first of those to the last the history leaves out nothing
---@field latest number
---@field newest integer      when the last call was sent whose record is shown
---@field misplaced table|nil  a record that was not
---@field untimed boolean|nil  one that may be of an attempt that the journal lacks was not: no times are proved
local Witnesses = {}
Witnesses.__index = Witnesses

local function no_witnesses()
  return setmetatable({ same = {}, differing = {}, hidden = {}, in_time = false, earliest = math.huge,
    latest = -math.huge, newest = 0 }, Witnesses)
end

--- Witnesses that show nothing.
M.NONE = no_witnesses()

local function form_of_id(text) return text:find "%W" and "x" or text:find "%D" and "a" or "d" end

local ids = { withdrawOrderId = true, clientTranId = true }
local by_network = { amount = true, memo = true, address = true }

-- Returns where a witness counts as one that differs: for all that may be shown in the same way.
local function kind_of(name, params)
  if ids[name] then return name end
  if by_network[name] then
    return ("%s %s %s"):format(name, params.coin or params.asset or "", params.netWork or params.network or "")
  end
  if name == "toAccount" then return name .. " " .. tostring(params.toAccountType) end
  return name .. " " .. tostring(params[name]):upper()
end

-- Returns where a witness counts as proof: an amount of the same coin, an id of the same form, and otherwise the very
-- same text, for what is true of one address need not be of another.
local function form_of(name, params)
  if ids[name] then return name .. " " .. form_of_id(tostring(params[name])) end
  if name == "amount" then return kind_of(name, params) end
  return kind_of(name, params) .. " " .. tostring(params[name])
end

--- Returns whether it is proved that this service shows this member as it is sent.
function Witnesses:proves(name, params)
  local length = self.same[form_of(name, params)]
  local kind = kind_of(name, params)
  if not length or self.differing[kind] or self.hidden[kind] and not ids[name] then return false end
  return not ids[name] or length >= #tostring(params[name])
end

--- Returns whether this service shows this member in another way than it is sent.
function Witnesses:differs(name, params)
  return self.differing[kind_of(name, params)] ~= nil and not self.same[form_of(name, params)]
end

local farther = { may = 1, near = 2, unlike = 3 }

--- Returns whether a record shows this member no more otherwise than this service was seen to: in a form as easily
--- recognised, and an amount with the same fee. One that differs by more may be another payment's.
function Witnesses:explains(name, params, relation, record)
  local seen = self.differing[kind_of(name, params)]
  local by = name == "amount" and compare.difference(params.amount, record.amount)
  if name == "amount" and (not by or relation == "unlike" or relation == "near" and by ~= seen.by) then return false end
  return farther[relation] <= farther[seen.relation]
end

--- Returns whether this service was seen not to show this member.
function Witnesses:hides(name, params)
  return self.hidden[kind_of(name, params)] == true
end

-- Notes that a witness shows a member otherwise than it was sent.
local function note_difference(witnesses, kind, relation, by)
  local seen = witnesses.differing[kind]
  if not seen then
    witnesses.differing[kind] = { relation = relation, by = by }
    return
  end
  if farther[relation] > farther[seen.relation] then seen.relation = relation end
  if by ~= seen.by then seen.by = nil end
end

-- Notes what the record of an answered call shows of it.
local function add_witness(witnesses, call, record, time)
  local reconcile = operations.by_name[call.operation].reconcile
  for _, name in ipairs(compare.members(reconcile)) do
    local sent = call.params[name]
    if sent ~= nil then
      local relation, form, kind = compare.member(name, sent, record), form_of(name, call.params),
        kind_of(name, call.params)
      if relation == nil then
        witnesses.hidden[kind] = true
      elseif relation == "same" then
        witnesses.same[form] = math.max(witnesses.same[form] or 0, #tostring(sent))
      else
        note_difference(witnesses, kind, relation, name == "amount" and compare.difference(sent, record.amount) or nil)
      end
    end
  end
  local at = record[reconcile.time_member]
  if (call.sent_at or 0) > 0 and time.max_window and (call.recv_window or 0) <= time.max_window then
    if type(at) == "number" and at >= call.sent_at - time.before and at <= call.sent_at + time.after then
      witnesses.in_time = true
      witnesses.earliest = math.min(witnesses.earliest, math.max(at, call.sent_at))
      witnesses.latest = math.max(witnesses.latest, math.min(at, call.sent_at))
    elseif call.found then
      witnesses.untimed = true
    else
      witnesses.misplaced = record
    end
  end
end

---------------------------------------------------------------------------------------------------- whose record it is

---@class purser.evidence.Claims
---@field journal table
local Claims = {}
Claims.__index = Claims

--- Makes what is known of the records of the call's history.
---@param service purser.reconcile.Service
---@param row table
---@param intent purser.Intent
---@return purser.evidence.Claims
function M.new(service, row, intent)
  return setmetatable({ journal = service.journal, row = row, intent = intent,
    account = intent.account, operations = intents.shown_in(intents.history_of(row)) }, Claims)
end

local function failed(message) return nil, intents.journal_error("unknown", message) end

-- Returns whether a call is the one that is asked about.
local function is_own(self, call)
  return call.id ~= nil and call.id == self.intent.id
end

-- Returns the calls that have the ids which `id_of` returns for records, by id; or nil and an error.
local function owners_of(self, column, records, id_of)
  local asked, seen = {}, {}
  for _, record in ipairs(records) do
    local id = id_of(record)
    if id and not seen[id] then seen[id], asked[#asked + 1] = true, id end
  end
  if not asked[1] then return {} end
  local owners, message = self.journal:owners(column, self.account, asked, self.operations)
  if not owners then return failed(message) end
  return owners
end

--- Returns the records that no other call owns, and a list of the owners of the rest, { record, call }; or nil and an
--- error. A call owns the record that its answer named, and one that shows its id, unless that may be the own id of the
--- call that is asked about, in another form.
---@param records table[]
---@return table[]|nil unclaimed, table|purser.Error owned
function Claims:unclaimed(records)
  local owners, err = owners_of(self, "record_id", records, intents.id_of)
  if not owners then return nil, err end
  local name = self.row.reconcile.client_id
  local own = name and self.intent.params[name]
  local function id_of(record)
    local id = name and record[name]
    return type(id) == "string" and id ~= "" and not (own and compare.may_be_id(own, id)) and id or nil
  end
  local planned
  planned, err = owners_of(self, "key", records, id_of)
  if not planned then return nil, err end
  local left, owned = {}, {}
  for _, record in ipairs(records) do
    local owner, carrier = owners[intents.id_of(record) or ""], planned[id_of(record) or ""]
    -- one that carries its id is as good as answered, and says nothing of times: it may be planned, or sent again
    owner = owner or carrier and { operation = carrier.operation, params = carrier.params, answered = true }
    if not owner or is_own(self, owner) then left[#left + 1] = record else owned[#owned + 1] = { record, owner } end
  end
  return left, owned
end

--- Returns what the answered calls whose records these are show of the service, and the records that no other call
--- owns; or nil and an error.
---@param records table[]
---@param time { before: integer, after: integer, max_window: integer }  where a record is in its place
---@return purser.evidence.Witnesses|nil witnesses, table[]|purser.Error unclaimed
function Claims:witnesses(records, time)
  local unclaimed, owned = self:unclaimed(records)
  if not unclaimed then return nil, owned end
  local witnesses = no_witnesses()
  for _, one in ipairs(owned) do
    if one[2].answered then add_witness(witnesses, one[2], one[1], time) end
    witnesses.newest = math.max(witnesses.newest, one[2].sent_at or 0)
  end
  witnesses.in_time = witnesses.in_time and not witnesses.untimed
  return witnesses, unclaimed
end

--- Returns other calls without a known end that can have made a record between two times; or nil and an error.
---@param first integer
---@param last integer
---@param later integer  by how much a record's time may lie after the time until which its call was accepted
function Claims:open_calls(first, last, later)
  local calls, message = self.journal:open_calls(self.account, self.operations, first - later, last)
  if not calls then return failed(message) end
  local others = {}
  for _, call in ipairs(calls) do
    local made_until = call.sent_at + (call.recv_window or 0) + later
    if not is_own(self, call) and made_until >= first then others[#others + 1] = call end
  end
  return others
end

--- Returns the calls of this operation that were made, were sent between two times, and whose records the same question
--- shows; or nil and an error.
function Claims:made_calls(first, last)
  local calls, message = self.journal:made_calls(self.account, { [self.row.full_name] = true }, first, last)
  if not calls then return failed(message) end
  local found = {}
  for _, call in ipairs(calls) do
    local is_shown = call.sent_at >= first and not is_own(self, call)
    for _, name in ipairs(self.row.reconcile.copy_params or {}) do
      is_shown = is_shown and call.params[name] == self.intent.params[name]
    end
    if is_shown then found[#found + 1] = call end
  end
  return found
end

--- Returns whether calls have been forgotten that can have made a record at `first` or since.
function Claims:has_forgotten(first, later)
  local forgotten_to = self.journal.forgotten
  return forgotten_to ~= nil and forgotten_to + intents.MAX_WINDOW_MS + later >= first
end

return M
