-- SPDX-License-Identifier: MIT
-- The predicate of reconciling: which records may be a call's, and which one agrees with it. docs/write/outcomes.md has
-- the sentences.
--
-- A record shows each member that was sent as it was sent, otherwise, or not at all. Records of other calls show how
-- this service writes what is sent. Of each kind (name, coin and network) a member is
--   known     shown as it was sent, and never otherwise
--   silent    shown otherwise each time; an id, a coin, a memo or a kind of account is not compared then, but with the
--             form in which the very value was shown
-- and the same of a route, which is the payee as well. A record is not a call's where one member differs that is known
-- for the route, or where two differ that are known: no service alters two members of one record unseen.

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

-- These say who is paid.
local payees = { "address", "toAccount", "fromAccount" }

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

local function digits_of(amount) return #((amount or ""):match "%.(%d+)$" or "") end

-- A record must show these, or it may be anybody's. A list that is asked for by a member need not show that member.
local must_show = { address = true, toAccount = true, amount = true, time = true }

---@class purser.verdict.Subject  a call, as records compare with it
---@field names string[]                what is compared, "time" and "id" among it
---@field asked table<string, boolean>  by what the list is asked for
---@field sent table<string, string>    in one spelling
---@field time string|nil               the member that shows a record's time: between `first` and `last`, nil for any
---@field digits integer                of its amount, behind the point
---@field pays boolean|nil              it moves funds to somebody whom its records show
---@field forms table<string, table<string, boolean>>  by name: the forms in which the value that was sent was shown
---@field limit integer                 so many known members differ in another's record
---@field is_apart boolean|nil           an amount that no fee explains is another's, though nothing is known of it

--- Makes a subject of a call.
---@return purser.verdict.Subject
function M.subject(call, first, last)
  local row = operations.by_name[call.operation]
  local reconcile, params = row.reconcile, call.params
  local self = { call = call, names = {}, asked = {}, sent = {}, kinds = {}, routes = {}, first = first, last = last,
    time = reconcile.time_member, limit = 2, moves = row.effect == "transfer", known = {}, known_here = {},
    silent = {}, forms = {} }
  local route, payee = (" %s %s"):format(tostring(params.coin or params.asset):upper(),
    tostring(params.netWork or params.network)), {}
  for _, name in ipairs(payees) do payee[#payee + 1] = params[name] and tostring(params[name]):lower() or "" end
  payee = table.concat(payee, " ")
  for _, name in ipairs(reconcile.copy_params or {}) do self.asked[name] = true end
  for _, list in ipairs { reconcile.copy_params or {}, reconcile.match_on or {} } do
    for _, name in ipairs(list) do
      local is_compared = (params[name] ~= nil or may_lack[name]) and not self.kinds[name]
      self.pays = self.pays or is_compared and list == reconcile.match_on and must_show[name] and name ~= "amount"
      if is_compared then
        self.names[#self.names + 1], self.sent[name] = name, text_of(name, params[name])
        self.kinds[name] = name .. (params[name] == nil and "-" or "") .. route
        self.routes[name] = self.kinds[name] .. " " .. payee
      end
    end
  end
  self.digits = digits_of(self.sent.amount)
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
  return sent == shown
end

-------------------------------------------------------------------------------------------------- what records show

-- Notes that a member was shown as it was sent, or otherwise, and by whose record alone.
local function note(seen, kind, is_same, digits, by)
  local one = seen[kind] or { digits = -1 }
  seen[kind] = one
  if is_same then
    one.digits = math.max(one.digits, digits)
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
        local by = subject.id or subject.call.id or subject
        note(seen, subject.kinds[name], is_same, 0, by)
        if subject.routes[name] then
          local value = form_key(subject, name)
          seen[value] = seen[value] or {}
          seen[value][shown_of(record, name) or ""] = true
          note(seen, subject.routes[name], is_same, name == "amount" and subject.digits or 0, by)
        end
      end
    end
  end
  return seen
end

local function is_known(one, digits) return one ~= nil and not one.otherwise and one.digits >= digits end

--- Tells a subject what was learned.
---@param is_planned boolean|nil  nobody knows that it was sent: then one known difference is enough
function M.tell(subject, seen, is_planned)
  local amount = seen[subject.kinds.amount]
  if is_planned then subject.limit, subject.is_apart = 1, not (amount and amount.otherwise) end
  for _, name in ipairs(subject.names) do
    local one, route = seen[subject.kinds[name]], subject.routes[name]
    -- two keys or accounts of other names and times are two, whatever was seen
    subject.known[name] = is_known(one, 0) or not subject.moves and not (one and one.otherwise)
    subject.known_here[name] = route and is_known(seen[route], name == "amount" and subject.digits or 0) or false
    subject.forms[name] = route and seen[form_key(subject, name)]
    subject.silent[name] = may_be_silent[name] and one and one.otherwise and one.digits < 0 or false
  end
  return subject
end

-- Returns whether a member may be shown in another form: a text extended or masked, an amount with or without its fee.
local function is_formed(subject, record, name)
  if name ~= "amount" then return answers.is_loosely(tostring(record[name]), tostring(subject.call.params[name])) end
  local sent, shown = decimal.shown(subject.sent.amount), decimal.shown(record.amount)
  local fee = decimal.shown(record.transactionFee)
  return sent ~= nil and shown ~= nil and fee ~= nil and (sent == shown + fee or shown == sent + fee)
end

--- Returns whether a record with the call's own id shows another payment. `seen` is nil before anything was learned.
function M.contradicts(subject, record, seen)
  for _, name in ipairs { "coin", "asset", "address", "toAccount", "amount" } do
    local one = seen and subject.kinds[name] and seen[subject.kinds[name]]
    local is_otherwise = one and one.otherwise and one.otherwise ~= (subject.id or subject.call.id or subject)
    local differs = subject.kinds[name] and not is_otherwise and compared(subject, record, name) == false
    if differs and not is_formed(subject, record, name) then return true end
  end
  return false
end

-------------------------------------------------------------------------------------------------------- one record

-- No service dates a record this far from the time at which it was made: a time zone, and whole days.
local FAR_MS = 38 * 3600000

local function is_far(subject, record)
  local at = record[subject.time]
  if type(at) ~= "number" or at < 1e12 or at >= 1e13 or not subject.first then return false end
  return at < subject.first - FAR_MS or at > subject.last + FAR_MS
end

local ZERO = decimal "0"

-- Returns whether no fee explains two amounts' difference: a fee takes less than half. Transfers to one's own accounts
-- have no fee: there the amounts differ by less than a unit of the last digit shown, by that unit of a cut binary
-- fraction, or by a millionth where amounts are not proved.
local function are_near(sent, shown, is_own, is_proved)
  local a, b = decimal(sent or ""), shown and decimal((shown:gsub("^%-", "")))
  if not a or not b or b == ZERO then return true end
  if is_own then
    local digits, off = digits_of(shown), (a - b):abs()
    local unit = decimal(digits == 0 and "1" or "0." .. ("0"):rep(digits - 1) .. "1")
    return off < unit or off == unit and digits > 0 or not is_proved and off < a * "0.000001"
  end
  return not (a > b + b or b > a + a)
end

-- Returns whether a record shows the id as a number, which has lost digits.
local function is_rounded(subject, record)
  local shown = tonumber(record[subject.id_name])
  return shown ~= nil and shown == tonumber(subject.id or "")
end

-- Returns whether a member alone shows that a record is another's; and whether it differs from what is known.
local function tells_apart(subject, record, name)
  local is_same, knows = compared(subject, record, name), subject.known[name]
  if name == "id" and is_same ~= true and knows then -- none is shown as well, where others show theirs
    return false, not is_rounded(subject, record)
  elseif is_same ~= false then
    return false, false
  end
  -- fees may be of some withdrawals alone, and amounts be cut: a near one may be the call's
  if name == "amount" then
    local is_proved = subject.known_here.amount
    local is_own = not subject.pays or is_proved and not subject.sent.address
    if are_near(subject.sent.amount, shown_of(record, name), is_own, is_proved) then return false, knows end
  end
  return subject.known_here[name] or name == "amount" and subject.is_apart, knows
end

--- Returns whether a record that nobody owns may be the call's.
function M.may_be(subject, record)
  local count = 0
  for _, name in ipairs(subject.names) do
    local is_other, differs = tells_apart(subject, record, name)
    if differs then count = count + 1 end
    if is_other or count >= subject.limit then return false end
  end
  return not is_far(subject, record)
end

-- Returns whether a member differs that is compared. A silent one is compared with the forms of the very value.
local function differs(subject, record, name)
  if compared(subject, record, name) ~= false then return false end
  local forms = subject.forms[name]
  return not subject.silent[name] or forms ~= nil and not forms[shown_of(record, name)]
end

--- Returns whether all that a record shows is as it was sent, its payee, its amount and its time among it.
---@param is_lax boolean|nil  these may be hidden, and the id another
function M.agrees(subject, record, is_lax)
  for _, name in ipairs(subject.names) do
    local is_same = compared(subject, record, name)
    if is_same == nil and not is_lax and must_show[name] and not subject.asked[name] then return false end
    if differs(subject, record, name) and not (is_lax and name == "id") then return false end
  end
  return true
end

M.MINUTE_MS = 60000 -- next to a window, for times that are cut to whole minutes

--- Returns whether another open call may have made a record: all but the amount agrees, and that may be less a fee.
function M.is_rival(subject, record)
  if not M.may_be(subject, record) then return false end
  for _, name in ipairs(subject.names) do
    if name == "amount" then
      if not are_near(subject.sent.amount, shown_of(record, "amount"), not subject.pays) then return false end
    elseif name ~= "time" and name ~= "id" then
      if differs(subject, record, name) then return false end
    end
  end
  local at = subject.time and record[subject.time]
  return type(at) ~= "number" or not subject.first
    or at >= subject.first - M.MINUTE_MS and at <= subject.last + M.MINUTE_MS
end

return M
