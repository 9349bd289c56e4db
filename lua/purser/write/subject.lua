-- SPDX-License-Identifier: MIT
-- A subject: a call as records compare with it, member by member. The verdict (verdict.lua) judges by what the records
-- of further calls show.

local addresses = require "purser.address"
local answers = require "purser.write.answers"
local decimal = require "purser.decimal"
local digests = require "purser.write.digests"
local networks = require "purser.client.operations.network"
local operations = require "purser.client.operations"

local M = {}

local is_blank = answers.is_blank

-- These compare exactly.
local exact = { memo = true, note = true, remark = true }

-- These compare where they were not sent as well: nothing is a value of theirs.
local may_lack = { memo = true, remark = true }

-- Returns a member of a call or a record in its one spelling; nil where it is blank. An address and its memo are one
-- payee: a memo may stand within the address, and is a number on some networks.
local function text_of(of, name)
  if name == "network" then
    local network = networks.shown(of)
    return network and networks.compared(network)
  end
  local value = of[name]
  if name == "address" and not is_blank(value) then return (addresses.place(value, nil, true)) end
  if name == "memo" and not is_blank(of.address) then
    local _, memo = addresses.place(of.address, not is_blank(value) and value or nil)
    return memo ~= "" and memo or nil
  end
  if is_blank(value) then return nil end
  if exact[name] then return tostring(value) end
  local amount = name == "amount" and decimal.shown(value)
  return amount and tostring(amount) or tostring(value):lower()
end

local texts = setmetatable({}, { __mode = "k" }) -- of records, by name

--- Returns what a record shows of a member, in its one spelling; false where it shows nothing.
function M.shown_of(record, name)
  local of = texts[record]
  if not of then
    of = {}
    texts[record] = of
  end
  local text = of[name]
  if text == nil then
    text = text_of(record, name) or false
    of[name] = text
  end
  return text
end

-- A record must show these, or it may be anybody's. A list that is asked for by a member need not show that member.
M.must_show = { address = true, toAccount = true, amount = true, time = true }

---@class purser.write.Subject  a call, as records compare with it
---@field names string[]                what is compared, "time" and "id" among it
---@field asked table<string, boolean>  by what the list is asked for
---@field sent table<string, string>    in one spelling
---@field letters string|nil            the address as text: records may hide a part, or show other letters, of which
--- no reader makes the account again; nobody can make two accounts whose texts differ in letters alone
---@field time string|nil               the member that shows a record's time: between `first` and `last`, nil for any
---@field latest integer|nil            as `first`, of the latest attempt alone
---@field pays boolean|nil              it moves funds to somebody whom its records show
---@field known table<string, table|false>  by name: the dates of the first and the last witness; see verdict.tell
---@field forms table<string, table<string, boolean>>  by name: how the very value was shown, which never is as sent
---@field limit integer                 how much of what is known differs in another's record
---@field was_rejected boolean|nil      the service said of one copy that it did not execute it
---@field is_apart boolean|nil          an amount that no fee explains is another's, though nothing is known of it

--- Makes a subject of a call.
---@return purser.write.Subject
function M.of(call, first, last)
  local row = operations.by_name[call.operation]
  local reconcile, params = row.reconcile, call.params
  local self = { call = call, names = {}, asked = {}, sent = {}, kinds = {}, first = first, last = last,
    time = reconcile.time_member, moves = row.effect == "transfer", known = {}, forms = {},
    letters = params.address and tostring(params.address):lower() }
  local network = params.netWork or params.network
  local route = (" %s %s"):format(tostring(params.coin or params.asset):upper(), tostring(network))
  for _, name in ipairs(reconcile.copy_params or {}) do self.asked[name] = true end
  local lists = { reconcile.copy_params or {}, reconcile.match_on or {}, params.address and { "memo" } or {} }
  for _, list in ipairs(lists) do
    for _, name in ipairs(list) do
      local is_compared = (params[name] ~= nil or may_lack[name]) and not self.kinds[name]
      self.pays = self.pays or is_compared and list == reconcile.match_on and M.must_show[name] and name ~= "amount"
      if is_compared then
        self.names[#self.names + 1], self.sent[name] = name, text_of(params, name)
        self.kinds[name] = name .. (self.sent[name] == nil and "-" or "") .. route
      end
    end
  end
  if network and self.moves then
    self.names[#self.names + 1], self.sent.network = "network", text_of(params, "network")
    self.kinds.network = "network" .. route
  end
  if reconcile.generated_id then
    self.id_name, self.id = reconcile.client_id, params[reconcile.client_id]
    self.names[#self.names + 1], self.kinds.id = "id", self.id and "id+" or "id-"
  end
  if self.time then self.names[#self.names + 1], self.kinds.time = "time", "time" end
  return self
end

--- Returns how a record compares with a call in one member: true, false, or nil where nothing is to be compared.
function M.compared(subject, record, name)
  if name == "time" then
    local at = record[subject.time]
    if type(at) ~= "number" or not subject.first then return nil end
    return at >= subject.first and at <= subject.last
  elseif name == "id" then
    local id = record[subject.id_name]
    if is_blank(id) then return not subject.id or nil end
    return digests.form(tostring(id)) == digests.form(tostring(subject.id))
  end
  local sent, shown = subject.sent[name], M.shown_of(record, name)
  if not shown then return sent == nil or nil end
  if sent == shown then return true end
  -- a name that nobody here knows may be another of the same network
  if name == "network" and not (sent:find "^=" and shown:find "^=") then return nil end
  if name == "memo" then return sent ~= nil and record.memo == subject.call.params.memo end
  return name == "address" and tostring(record.address):lower() == subject.letters
end

local ZERO = decimal "0"

-- Returns whether a fee may explain two amounts' difference: it takes less than half. Transfers to one's own accounts
-- have no fee: there the amounts differ by less than a unit of the last digit shown, by that unit of a cut binary
-- fraction, or by a millionth.
local function is_form_of_amount(sent, shown, is_own)
  local a, b = decimal(sent or ""), shown and decimal((shown:gsub("^%-", "")))
  if not a or not b or b == ZERO then return true end
  if is_own then
    local digits, off = #(shown:match "%.(%d+)$" or ""), (a - b):abs()
    local unit = decimal(digits == 0 and "1" or "0." .. ("0"):rep(digits - 1) .. "1")
    return off < unit or off == unit and digits > 0 or off < a * "0.000001"
  end
  return not (a > b + b or b > a + a)
end

-- Returns whether a record shows the id as a number, which has lost digits.
local function is_rounded(subject, record)
  local shown = tonumber(record[subject.id_name])
  return shown ~= nil and shown == tonumber(subject.id or "")
end

--- Returns whether a shown value that differs may stand for what was sent.
function M.is_form(subject, record, name)
  if name == "amount" then
    return is_form_of_amount(subject.sent.amount, M.shown_of(record, name), not subject.pays)
  elseif name == "id" then
    return is_rounded(subject, record)
  elseif name == "network" then
    return false
  end
  local sent, shown = subject.sent[name], M.shown_of(record, name)
  if name == "address" and shown then sent, shown = subject.letters, tostring(record.address) end
  return name ~= "time" and sent ~= nil and shown and answers.is_loosely(shown, sent) or false
end

--- Returns the sent members in which a record agrees with a call, and those whose shown value may not stand for what
--- was sent, in order. An id and a time are never among the latter.
---@return string[] fits, string[] differs
function M.fits(subject, record)
  local fits, differs = {}, {}
  for _, name in ipairs(subject.names) do
    local is_given = name == "time" or name == "id" and subject.id ~= nil
    local is_same = (is_given or subject.sent[name] ~= nil) and M.compared(subject, record, name)
    if is_same then
      fits[#fits + 1] = name
    elseif is_same == false and not is_given and subject.sent[name] and not M.is_form(subject, record, name) then
      differs[#differs + 1] = name
    end
  end
  table.sort(fits)
  table.sort(differs)
  return fits, differs
end

--- Returns whether the fee that a record shows explains its amount.
function M.is_less_its_fee(subject, record)
  local sent, shown = decimal.shown(subject.sent.amount), decimal.shown(record.amount)
  local fee = decimal.shown(record.transactionFee)
  return sent ~= nil and shown ~= nil and fee ~= nil and (sent == shown + fee or shown == sent + fee)
end

-- No service dates a record this far from the time at which it was made: a time zone, and whole days.
local FAR_MS = 38 * 3600000

--- Returns whether a record lies too far from a call's window to be the call's.
function M.is_far(subject, record)
  local at = record[subject.time]
  if type(at) ~= "number" or at < 1e12 or at >= 1e13 or not subject.first then return false end
  return at < subject.first - FAR_MS or at > subject.last + FAR_MS
end

--- Returns whether no record tells two calls apart, but by the calls' ids.
function M.is_alike(subject, other)
  for _, name in ipairs(subject.names) do
    if subject.sent[name] ~= other.sent[name] or subject.kinds[name] ~= other.kinds[name] then return false end
  end
  return #subject.names == #other.names
end

M.MINUTE_MS = 60000 -- next to a window, for times that are cut to whole minutes

--- Returns whether a record lies within a minute of a call's window.
function M.is_near_in_time(subject, record)
  local at = subject.time and record[subject.time]
  return type(at) ~= "number" or not subject.first
    or at >= subject.first - M.MINUTE_MS and at <= subject.last + M.MINUTE_MS
end

return M
