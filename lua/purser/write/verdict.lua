-- SPDX-License-Identifier: MIT
-- The predicate of reconciling: which records may be a call's, and which one agrees with it. docs/write/outcomes.md has
-- the sentences.
--
-- Of each member a record has one likeness with a call:
--   same    as sent; or in the form in which records of further calls show the value, where no record shows any value
--           of the member as sent
--   form    in a form that may stand for what was sent: an amount less a fee or cut, a text extended or masked
--   other   another value
--   nil     not shown, or not to be compared
-- Records of further calls show how the service writes values. Of each kind (name, coin and network) a member is
-- *known* where such witnesses show the member as sent, and no record shows a change. A witness has the date of its
-- call. One difference proves nothing, since each release, path or fee of a service may alter a member. A record is not
-- a call's where two known members differ; or three, where no later call shows these members.

local addresses = require "purser.address"
local answers = require "purser.write.answers"
local decimal = require "purser.decimal"
local operations = require "purser.client.operations"

local M = {}

local is_blank = answers.is_blank

---------------------------------------------------------------------------------------------------------- one member

-- These compare exactly.
local exact = { memo = true, note = true, remark = true }

-- These compare where they were not sent as well: nothing is a value of theirs.
local may_lack = { memo = true, remark = true }

-- Where these are shown otherwise each time, they are not compared.
local may_be_silent = { id = true, coin = true, asset = true, memo = true, remark = true, toAccountType = true,
  fromAccountType = true }

-- Returns a value in its one spelling; nil where it is blank.
local function text_of(name, value)
  if is_blank(value) then return nil end
  if exact[name] then return tostring(value) end
  if name == "address" then return (addresses.place(value, nil, true)) end
  local amount = name == "amount" and decimal.shown(value)
  return amount and tostring(amount) or tostring(value):lower()
end

local texts = setmetatable({}, { __mode = "k" }) -- of records, by name

-- Returns what a record shows of a member, in its one spelling; false where it shows nothing.
local function shown_of(record, name)
  local of = texts[record]
  if not of then
    of = {}
    texts[record] = of
  end
  local text = of[name]
  if text == nil then
    text = text_of(name, record[name]) or false
    of[name] = text
  end
  return text
end

-- A record must show these, or it may be anybody's. A list that is asked for by a member need not show that member.
local must_show = { address = true, toAccount = true, amount = true, time = true }

-- A difference counts BETWEEN where calls before and after show the member as sent, ONE_SIDED where calls of one side
-- do, and twice as much of an amount that no fee explains. A record is another's from the subject's limit on.
local BETWEEN, ONE_SIDED = 3, 2

---@class purser.verdict.Subject  a call, as records compare with it
---@field names string[]                what is compared, "time" and "id" among it
---@field asked table<string, boolean>  by what the list is asked for
---@field sent table<string, string>    in one spelling
---@field letters string|nil            the address as text: records may hide a part, or show other letters
---@field time string|nil               the member that shows a record's time: between `first` and `last`, nil for any
---@field pays boolean|nil              it moves funds to somebody whom its records show
---@field known table<string, table|false>  by name: the dates of the first and the last witness, if any
---@field forms table<string, table<string, boolean>>  by name: how the very value was shown, which never is as sent
---@field limit integer                 how much of what is known differs in another's record
---@field is_apart boolean|nil           an amount that no fee explains is another's, though nothing is known of it

--- Makes a subject of a call.
---@return purser.verdict.Subject
function M.subject(call, first, last)
  local row = operations.by_name[call.operation]
  local reconcile, params = row.reconcile, call.params
  local self = { call = call, names = {}, asked = {}, sent = {}, kinds = {}, first = first, last = last,
    time = reconcile.time_member, limit = 2 * BETWEEN, moves = row.effect == "transfer", known = {}, forms = {},
    letters = params.address and tostring(params.address):lower() }
  local route = (" %s %s"):format(tostring(params.coin or params.asset):upper(),
    tostring(params.netWork or params.network))
  for _, name in ipairs(reconcile.copy_params or {}) do self.asked[name] = true end
  for _, list in ipairs { reconcile.copy_params or {}, reconcile.match_on or {} } do
    for _, name in ipairs(list) do
      local is_compared = (params[name] ~= nil or may_lack[name]) and not self.kinds[name]
      self.pays = self.pays or is_compared and list == reconcile.match_on and must_show[name] and name ~= "amount"
      if is_compared then
        self.names[#self.names + 1], self.sent[name] = name, text_of(name, params[name])
        self.kinds[name] = name .. (params[name] == nil and "-" or "") .. route
      end
    end
  end
  if reconcile.generated_id then
    self.id_name, self.id = reconcile.client_id, params[reconcile.client_id]
    self.names[#self.names + 1], self.kinds.id = "id", self.id and "id+" or "id-"
  end
  if self.time then self.names[#self.names + 1], self.kinds.time = "time", "time" end
  return self
end

-- Returns how a record compares with a call in one member: true, false, or nil where nothing is to be compared.
local function compared(subject, record, name)
  if name == "time" then
    local at = record[subject.time]
    if type(at) ~= "number" or not subject.first then return nil end
    return at >= subject.first and at <= subject.last
  elseif name == "id" then
    local id = record[subject.id_name]
    if is_blank(id) then return not subject.id or nil end
    return tostring(id) == subject.id
  end
  local sent, shown = subject.sent[name], shown_of(record, name)
  if not shown then return sent == nil or nil end
  return sent == shown or name == "address" and tostring(record.address):lower() == subject.letters
end

--- Returns the sent members in which a record agrees with a call, in order.
---@return string[]
function M.fits(subject, record)
  local list = {}
  for _, name in ipairs(subject.names) do
    local is_sent = subject.sent[name] ~= nil or name == "time" or name == "id" and subject.id ~= nil
    if is_sent and compared(subject, record, name) then list[#list + 1] = name end
  end
  table.sort(list)
  return list
end

-------------------------------------------------------------------------------------------------- what records show

-- Notes that a member was shown as it was sent, from when to when, or otherwise, and by whose record alone.
local function note(seen, kind, is_same, by, at)
  local one = seen[kind] or {}
  seen[kind] = one
  if is_same then
    one.first, one.last = math.min(one.first or at, at), math.max(one.last or at, at)
  else
    one.otherwise = (one.otherwise == nil or one.otherwise == by) and by or true
  end
end

local function form_key(subject, name) return subject.kinds[name] .. "=" .. tostring(subject.sent[name]) end

--- Learns how the service shows what is sent.
---@param owned table[]  each { record, purser.verdict.Subject, whether that call was answered }
---@return table seen
function M.learn(owned)
  local seen = {}
  for _, one in ipairs(owned) do
    local record, subject, answered = one[1], one[2], one[3]
    for _, name in ipairs(subject.names) do
      local is_same = compared(subject, record, name)
      if name == "id" then
        local id = not is_blank(record[subject.id_name]) and tostring(record[subject.id_name]) or nil
        is_same = nil
        if answered then is_same = id == subject.id end
      end
      if is_same ~= nil then
        note(seen, subject.kinds[name], is_same, subject.id or subject.call.id or subject,
          subject.first or tonumber(record[subject.time]) or 0)
        if name ~= "id" and name ~= "time" then
          local value = form_key(subject, name)
          seen[value] = seen[value] or {}
          seen[value][shown_of(record, name) or ""] = true
        end
      end
    end
  end
  return seen
end

local ALWAYS, ANY_FORM = { first = 0, last = math.huge }, {}

--- Tells a subject what was learned.
---@param is_planned boolean|nil  nobody knows that it was sent: then one known difference is enough
function M.tell(subject, seen, is_planned)
  local amount = seen[subject.kinds.amount] or {}
  if is_planned then subject.limit = BETWEEN end
  subject.is_apart = not amount.otherwise and (is_planned or amount.last and not subject.pays)
  for _, name in ipairs(subject.names) do
    local one = seen[subject.kinds[name]] or {}
    -- two keys or accounts of other names and times are two, whatever was seen
    subject.known[name] = not one.otherwise and (one.last and one or not subject.moves and ALWAYS)
    subject.forms[name] = may_be_silent[name] and one.otherwise and not one.last
      and (seen[form_key(subject, name)] or ANY_FORM)
  end
  return subject
end

---------------------------------------------------------------------------------------------------------- likeness

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

-- Returns whether a shown value that differs may stand for what was sent.
local function is_form(subject, record, name)
  if name == "amount" then
    return is_form_of_amount(subject.sent.amount, shown_of(record, name), not subject.pays)
  elseif name == "id" then
    return is_rounded(subject, record)
  end
  local sent, shown = subject.sent[name], shown_of(record, name)
  if name == "address" and shown then sent, shown = subject.letters, tostring(record.address) end
  return name ~= "time" and sent ~= nil and shown and answers.is_loosely(shown, sent) or false
end

-- Returns the likeness of a member.
local function likeness(subject, record, name)
  local is_same = compared(subject, record, name)
  if is_same ~= false then return is_same and "same" or nil end
  local forms = subject.forms[name]
  if forms and (forms == ANY_FORM or forms[shown_of(record, name)]) then return "same" end
  return is_form(subject, record, name) and "form" or "other"
end

-------------------------------------------------------------------------------------------------------- one record

-- No service dates a record this far from the time at which it was made: a time zone, and whole days.
local FAR_MS = 38 * 3600000

local function is_far(subject, record)
  local at = record[subject.time]
  if type(at) ~= "number" or at < 1e12 or at >= 1e13 or not subject.first then return false end
  return at < subject.first - FAR_MS or at > subject.last + FAR_MS
end

-- Returns what a difference counts. The time of a planned call is that of the record, if it is the call's.
local function weight(subject, record, name, like, is_confirmed)
  local known, at = subject.known[name], subject.first or record[subject.time]
  if not known or name == "id" and like == "form" then return 0 end
  local is_between = type(at) == "number" and known.first <= at and (is_confirmed or at <= known.last)
  local count = is_between and BETWEEN or ONE_SIDED
  return name == "amount" and like == "other" and 2 * count or count
end

-- Returns whether a record may be the call's.
---@param is_confirmed boolean  as if a later call had shown all as the earlier ones
local function may_be(subject, record, is_confirmed)
  local count = 0
  for _, name in ipairs(subject.names) do
    local like = likeness(subject, record, name)
    if like == "form" or like == "other" then
      if name == "amount" and like == "other" and subject.is_apart then return false end
      count = count + weight(subject, record, name, like, is_confirmed)
      if count >= subject.limit then return false end
    end
  end
  return not is_far(subject, record)
end

--- Returns whether a record that nobody owns may be the call's.
function M.may_be(subject, record) return may_be(subject, record, false) end

--- Returns the same as if a later call of its kind were answered, and shown as the earlier ones.
function M.may_be_for_good(subject, record) return may_be(subject, record, true) end

--- Returns whether a record differs in a member that witnesses before and after the call show as sent.
function M.differs_surely(subject, record)
  for _, name in ipairs(subject.names) do
    local like = likeness(subject, record, name)
    if (like == "form" or like == "other") and weight(subject, record, name, like) >= BETWEEN then return true end
  end
  return false
end

--- Returns whether all that a record shows is as it was sent, its payee, its amount and its time among it.
---@param is_lax boolean|nil  these may be hidden, and the id another
function M.agrees(subject, record, is_lax)
  for _, name in ipairs(subject.names) do
    local like = likeness(subject, record, name)
    if like == nil and not is_lax and must_show[name] and not subject.asked[name] then return false end
    if (like == "form" or like == "other") and not (is_lax and name == "id") then return false end
  end
  return true
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

--- Returns whether another open call may have made a record: all but the amount agrees, and that may be less a fee.
function M.is_rival(subject, record)
  if not M.may_be(subject, record) then return false end
  for _, name in ipairs(subject.names) do
    local like = name ~= "time" and name ~= "id" and likeness(subject, record, name)
    if like == "other" or like == "form" and (name ~= "amount" or subject.known.amount) then return false end
  end
  return M.is_near_in_time(subject, record)
end

-- Returns whether the fee that a record shows explains its amount.
local function is_less_its_fee(subject, record)
  local sent, shown = decimal.shown(subject.sent.amount), decimal.shown(record.amount)
  local fee = decimal.shown(record.transactionFee)
  return sent ~= nil and shown ~= nil and fee ~= nil and (sent == shown + fee or shown == sent + fee)
end

--- Returns whether a record with the call's own id shows another payment. `seen` is nil before anything was learned.
function M.contradicts(subject, record, seen)
  for _, name in ipairs { "coin", "asset", "address", "toAccount", "amount" } do
    local one = seen and subject.kinds[name] and seen[subject.kinds[name]]
    local is_otherwise = one and one.otherwise and one.otherwise ~= (subject.id or subject.call.id or subject)
    local explains = name == "amount" and is_less_its_fee or is_form
    local differs = subject.kinds[name] and not is_otherwise and compared(subject, record, name) == false
    if differs and not explains(subject, record, name) then return true end
  end
  return false
end

return M
