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

local answers = require "purser.write.answers"
local subjects = require "purser.write.subject"

local M = {}

local is_blank = answers.is_blank
local compared, is_form, shown_of = subjects.compared, subjects.is_form, subjects.shown_of

-- Where these are shown otherwise each time, they are not compared.
local may_be_silent = { id = true, coin = true, asset = true, memo = true, remark = true, toAccountType = true,
  fromAccountType = true, network = true }

-- A difference counts BETWEEN where calls before and after show the member as sent, ONE_SIDED where calls of one side
-- do, and twice as much of an amount that no fee explains. A record is another's from the subject's limit on.
local BETWEEN, ONE_SIDED = 3, 2

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
---@param owned table[]  each { record, purser.write.Subject, whether that call was answered }
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
---@param was_rejected boolean|nil  so it is where the service said that it did not execute the call
function M.tell(subject, seen, is_planned, was_rejected)
  subject.was_rejected = was_rejected
  local amount = seen[subject.kinds.amount] or {}
  subject.limit = is_planned and BETWEEN or 2 * BETWEEN
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

-- Returns the likeness of a member.
local function likeness(subject, record, name)
  local is_same = compared(subject, record, name)
  if is_same ~= false then return is_same and "same" or nil end
  local forms = subject.forms[name]
  if forms and (forms == ANY_FORM or forms[shown_of(record, name)]) then return "same" end
  return is_form(subject, record, name) and "form" or "other"
end

-------------------------------------------------------------------------------------------------------- one record

-- Returns what a difference counts. The time of a planned call is that of the record, if it is the call's.
local function weight(subject, record, name, like, is_confirmed)
  local known, at = subject.known[name], subject.first or record[subject.time]
  if not known or name == "id" and like == "form" then return 0 end
  local is_between = type(at) == "number" and known.first <= at
    and (is_confirmed or (subject.latest or at) <= known.last)
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
      local known = weight(subject, record, name, like, is_confirmed)
      local is_anothers = like == "other" and name ~= "time" and (name == "amount" or known >= BETWEEN)
      if is_anothers and subject.was_rejected then return false end
      count = count + known
      if count >= subject.limit then return false end
    end
  end
  return not subjects.is_far(subject, record)
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
    if like == nil and not is_lax and subjects.must_show[name] and not subject.asked[name] then return false end
    if (like == "form" or like == "other") and not (is_lax and name == "id") then return false end
  end
  return true
end

--- Returns whether another open call may have made a record: all but the amount agrees, and that may be less a fee.
function M.is_rival(subject, record)
  if not M.may_be(subject, record) then return false end
  for _, name in ipairs(subject.names) do
    local like = name ~= "time" and name ~= "id" and likeness(subject, record, name)
    if like == "other" or like == "form" and (name ~= "amount" or subject.known.amount) then return false end
  end
  return subjects.is_near_in_time(subject, record)
end

--- Returns in which member a record with the call's own id shows another payment; nil where it shows the call's. `seen`
--- is nil before anything was learned.
---@return string|nil
function M.contradicts(subject, record, seen)
  for _, name in ipairs { "coin", "asset", "network", "address", "toAccount", "amount" } do
    local one = seen and subject.kinds[name] and seen[subject.kinds[name]]
    local is_otherwise = one and one.otherwise and one.otherwise ~= (subject.id or subject.call.id or subject)
    local explains = name == "amount" and subjects.is_less_its_fee or is_form
    local differs = subject.kinds[name] and not is_otherwise and compared(subject, record, name) == false
    if differs and not explains(subject, record, name) then return name end
  end
end

return M
