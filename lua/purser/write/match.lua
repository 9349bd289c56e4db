-- SPDX-License-Identifier: MIT
-- Finding a call by the id that it carries; and where no record shows that, by its content: the verdict on all that the
-- readings of a history show. docs/write/outcomes.md has the sentences.

local answers = require "purser.write.answers"
local intents = require "purser.write.intent"
local reading = require "purser.write.reading"
local subjects = require "purser.write.subject"
local verdict = require "purser.write.verdict"

local M = {}

local unpack = table.unpack or unpack -- luacheck: ignore

--------------------------------------------------------------------------------------------------------- what is said

--- Why an answer is `undecided`: docs/write/outcomes.md lists the words.
M.reasons = {
  clock = "a clock was wrong when it was sent or looked for, and nothing shows when the record must be visible",
  early = "a record of it may yet be shown",
  failing = "the service shows it in a state that is no end, or by which it may have failed",
  forgotten = "it is so long ago that this client has forgotten which calls it made then, and one of them could have "
    .. "made it as well; a journal forgets none",
  ["id reused"] = "a record carries its id, and shows another %s: the id was used for another payment",
  incomplete = "%s",
  next = "no later call of its coin and network was answered, whose record would show that the service writes records "
    .. "as before; ask again after the next one",
  remark = "nothing but a remark identifies it; a person must look",
  rival = "another call could have made it as well",
  similar = "the service shows unclaimed records that may be this call's, and nothing proves whose they are",
  stale = "the service does not show the record of another call that it answered, so records may be late",
  state = "the state of the withdrawal, or of the coins, does not say whether it was executed",
  stranger = "another API key signed it, and the service does not say whose this key is; only where you know that it "
    .. "is of this account: `purser journal vouch %s`; by a key of another account the payment is made twice",
  times = "the service shows the name or the batch, and no time proves whether this call made it",
  vanished = "the service showed a record that agrees with it, and shows it no more",
}

--- Returns the answer `undecided`.
---@param why string  of M.reasons; what its text has places for comes after
function M.undecided(candidates, why, ...)
  return { outcome = "undecided", candidates = candidates, why = why,
    reason = why .. ": " .. M.reasons[why]:format(...) }
end

local undecided = M.undecided

local PATIENCE_MS = 300000 -- a record that is missing is waited for so long
local LONG_MS = 60000 -- a queue has other payments to make meanwhile

-- Asks for another reading until `ends`; returns `undecided` after that, and `is_busy` of a planned payment. Of a call
-- that is asked about once more later, a long wait is left to that question.
local function ask_again_until(question, why, candidates, ends)
  local left = ends - question.service:now()
  if left <= 0 or question.window.is_first and left > LONG_MS then return undecided(candidates, why) end
  if question.window.is_planned then return { outcome = "undecided", is_busy = true } end
  question.next.waits, question.next.newer_than, question.next.ends = true, question.seen.shown.began, ends
end

-- Returns "failed", or "open" for a state that is no end; nil otherwise. A withdrawal was accepted in any state.
local function state_of(question, record)
  local failed = question.reconcile.failed_status
  if failed == nil or record.status == "SUCCESS" or answers.is_blank(record.status) then return nil end
  return record.status == failed and "failed" or "open"
end

-- Returns the answer of a record. More than one with the call's id may be as many payments: nothing tells.
local function found(question, record, count)
  local state = state_of(question, record)
  local said = (count or 1) > 1 and ("%d records show its id: it may have been executed as often"):format(count) or nil
  if not state then return { outcome = "done", record = record, reason = said } end
  if state == "failed" then
    return { outcome = "not_done", record = record, reason = "the service kept it, as failed" }
  end
  return ask_again_until(question, "failing", { record }, question.deadline + PATIENCE_MS)
end

-- Returns the times that a record of an attempt can have.
local function times_of(question, attempt)
  return attempt.sent_at - question.before,
    attempt.sent_at + (attempt.recv_window or question.service.recv_window) + question.later
end

-- Returns the attempts of a call in whose windows a record lies, the latest first, and true; all, and false, where the
-- record lies in none.
local function attempts_of(question, call, record)
  local at, all, within = record[question.reconcile.time_member], { call }, {}
  for i, attempt in ipairs(call.earlier or {}) do all[i + 1] = attempt end
  for _, one in ipairs(type(at) == "number" and all or {}) do
    local first, last = times_of(question, one)
    if at >= first and at <= last then within[#within + 1] = one end
  end
  return within[1] and within or all, within[1] ~= nil or type(at) ~= "number"
end

-- Returns the subject of a call; of an owner that of the attempt which made the record.
local function subject_of(question, call, record)
  if call == question.intent then
    if question.window.is_planned then return subjects.of(call) end
    local subject = subjects.of(call, question.first, question.last)
    subject.latest = call.sent_at - question.before -- a record may be of its first attempt, or of the latest
    return subject
  end
  if (call.sent_at or 0) == 0 then return subjects.of(call) end -- planned
  return subjects.of(call, times_of(question, record and attempts_of(question, call, record)[1] or call))
end

-- Sorts the records: `owners` (record -> call), `free` (without an owner), `of` (call -> records), `timed` (`free` by
-- time), `seen` (how members are shown); or nil and an error. Kept with a shared reading.
local function learn(question)
  local union, time = question.seen.union, question.reconcile.time_member
  local name = ("%s %d %d"):format(question.row.full_name, question.before, question.later)
  if union.learned[name] then return union.learned[name] end
  local owners, err = question.claims:owners(union.records)
  if not owners then return nil, err end
  local owned = {}
  local learned = { owners = owners, free = {}, of = {}, timed = {} }
  for _, record in ipairs(union.records) do
    local owner = owners[record]
    local list = owner and learned.of[owner.id] or not owner and learned.free or {}
    list[#list + 1] = record
    if owner then learned.of[owner.id] = list end
    -- a record that was taken by its content shows nothing
    if owner and (owner.answered or intents.shows_id(owner, record)) then
      owned[#owned + 1] = { record, subject_of(question, owner, record), owner.answered }
    elseif not owner and type(record[time]) == "number" then
      learned.timed[#learned.timed + 1] = record
    end
  end
  table.sort(learned.timed, function(a, b) return a[time] < b[time] end)
  learned.seen = verdict.learn(owned)
  union.learned[name] = learned
  return learned
end

----------------------------------------------------------------------------------------------------------- by its id

-- Returns whether a failed record may be of an earlier attempt.
local function may_be_another_attempts(question, record)
  local intent, at = question.intent, record[question.reconcile.time_member]
  local is_early = type(at) == "number" and at < intent.sent_at - question.before
  local is_forgotten = (intent.attempt or 1) > 1 and not (intent.earlier and intent.earlier[1])
  if question.window.is_planned or is_early or is_forgotten then return true end
  local attempts = attempts_of(question, intent, record)
  return attempts[1] ~= intent or attempts[2] ~= nil
end

-- Returns the best record with the call's own id, in which member it is another payment's, and how many may show its
-- payment.
local function own_record(question, subject, seen)
  local best, contradicts, rank, count = nil, nil, 0, 0
  for _, record in ipairs(subject.id and reading.with_id(question.seen.union, subject.id_name, subject.id) or {}) do
    local state, is_another = state_of(question, record), verdict.contradicts(subject, record, seen)
    count = count + ((is_another or state) and 0 or 1)
    local better = is_another and 3 or not state and 4 or state == "open" and 2 or 1
    if better > rank and not (state == "failed" and may_be_another_attempts(question, record)) then
      best, contradicts, rank = record, is_another, better
    end
  end
  return best, contradicts, count
end

---------------------------------------------------------------------------------------------------------- by content

-- Returns the records of some lists that pass a test and are nobody else's by now; or nil and an error.
local function unclaimed(question, test, ...)
  local may, left = {}, {}
  for _, list in ipairs { ... } do
    for _, record in ipairs(list) do
      if state_of(question, record) ~= "failed" and test(record) then may[#may + 1] = record end
    end
  end
  local now, err = question.claims:owners(may)
  if not now then return nil, err end
  for _, record in ipairs(may) do
    if not now[record] or question.claims:is_own(now[record]) then left[#left + 1] = record end
  end
  return left
end

-- Returns the records of a list by time that lie between two times.
local function between(list, time, first, last)
  local low, high, within = 1, #list + 1, {}
  while low < high do
    local middle = math.floor((low + high) / 2)
    if list[middle][time] < first then low = middle + 1 else high = middle end
  end
  for i = low, #list do
    if list[i][time] > last then break end
    within[#within + 1] = list[i]
  end
  return within
end

-- Returns the unclaimed records that agree with the call, which are among those that may be its; or nil and an error.
-- Content proves nothing of a planned call.
local function fitting(question, subject, learned)
  local free = learned.free
  if question.window.is_planned then return {} end
  if subject.time and subject.first then free = between(learned.timed, subject.time, subject.first, subject.last) end
  return unclaimed(question, function(record) return verdict.agrees(subject, record) end, free,
    learned.of[question.intent.id] or {})
end

-- Returns whether one of the records passes `test(what, record)`.
local function has(records, test, what)
  for _, record in ipairs(records) do
    if test(what, record) then return true end
  end
  return false
end

-- Returns the latest time until which another open call may still get one of the records, nil if none may. Starts at
-- the latest call, so earlier calls are compared only if no later call may own a record.
local function rivals_end(question, open, seen, records)
  local now, ends = question.service:now(), nil
  for i = #open, 1, -1 do
    local call, _, last = open[i], times_of(question, open[i])
    local is_later = call.state ~= "undecided" and last > (ends or now)
    local rival = is_later and verdict.tell(subject_of(question, call), seen)
    if rival and has(records, verdict.may_be, rival) then ends = last end
  end
  return ends
end

-- Returns the records that no further open call explains better: each call explains a record that agrees, and that
-- differs from the question's call in a member shown as sent before and after.
local function unexplained(question, subject, open, seen, records)
  local left = { unpack(records) }
  for _, call in ipairs(left[1] and open or {}) do
    local other = verdict.tell(subject_of(question, call), seen)
    for i, record in ipairs(left) do
      if verdict.differs_surely(subject, record) and verdict.agrees(other, record) then
        table.remove(left, i)
        break
      end
    end
  end
  return left
end

-- Returns the calls sent between two times that were made, and whose records are not shown: an answer was garbled, a
-- record is late, or a person named no record; or nil and an error. A list that is no history loses what is deleted.
local function missing_calls(question, first, last)
  if question.window.is_planned or not reading.is_history(question.reconcile) then return {} end
  local made, err = question.claims:made_calls(first, last)
  if not made then return nil, err end
  local missing = {}
  for _, call in ipairs(made) do
    local id = question.reconcile.generated_id and call.params[question.reconcile.client_id]
    local is_shown = call.record_id and reading.with_id(question.seen.union, "record_id", call.record_id)[1]
      or id and reading.with_id(question.seen.union, question.reconcile.client_id, id)[1]
    if not is_shown then missing[#missing + 1] = call end
  end
  return missing
end

-- Returns the other calls that may have made records between two times: open calls, and calls with missing records; or
-- nil and an error.
local function calls_without_record(question, call, first, last)
  local list, err = question.claims:open_calls(first, last, question.later)
  if not list then return nil, err end
  local missing
  missing, err = missing_calls(question, first, last)
  if not missing then return nil, err end
  for _, one in ipairs(missing) do
    if one.id ~= call.id then list[#list + 1] = one end
  end
  if call ~= question.intent then list[#list + 1] = question.intent end
  return list
end

---@class purser.match.Group  calls that cannot be told apart, and the records that agree with one of them
---@field calls purser.write.Subject[]  the question's among them
---@field records table[]
---@field is_contested boolean  a further call, which is not alike, may have made one of the records
---@field ends integer|nil      until then answers of the calls may come

-- Adds the other calls that may have made the records of a group. Returns the group; or nil and an error.
local function add_rivals(question, subject, group, seen)
  local first, last = math.huge, -math.huge
  for _, record in ipairs(group.records) do
    local at = subject.time and record[subject.time]
    first, last = math.min(first, at or -math.huge), math.max(last, at or math.huge)
  end
  local others, err = calls_without_record(question, subject.call, first - subjects.MINUTE_MS,
    last + subjects.MINUTE_MS + question.before)
  if not others then return nil, err end
  group.calls, group.is_contested, group.ends = { subject }, false, nil
  for _, call in ipairs(others) do
    local other = verdict.tell(subject_of(question, call), seen)
    local is_alike = subjects.is_alike(subject, other)
    -- whichever made the record: the sum is right; of an answered call nothing but its own is asked
    local is_one_of_two = is_alike and call.state == "rejected" and subject.call == question.intent
    if not is_one_of_two and has(group.records, is_alike and subjects.is_near_in_time or verdict.is_rival, other) then
      if call.state ~= "undecided" then group.ends = math.max(group.ends or 0, other.last or 0) end
      group.is_contested = group.is_contested or not is_alike
      group.calls[#group.calls + 1] = other
    end
  end
  return group
end

-- Returns the group of a call with which these records agree; or nil and an error.
local function group_of(question, subject, fit, learned)
  local group, count = { records = fit }, 0
  while #group.records > count do
    count = #group.records
    local ok, err = add_rivals(question, subject, group, learned.seen)
    if not ok then return nil, err end
    if group.calls[2] and not group.is_contested then
      local wide = setmetatable({}, { __index = subject })
      for _, one in ipairs(group.calls) do
        wide.first, wide.last = math.min(wide.first, one.first), math.max(wide.last, one.last)
      end
      group.records, err = fitting(question, wide, learned)
      if not group.records then return nil, err end
    end
  end
  return group
end

-- Returns the record of a call, where each call of its group has one, in the order of time; nil where one lacks.
local function dealt(group, subject)
  local calls, records, own = group.calls, group.records, nil
  if #records ~= #calls or group.is_contested then return nil end
  if not calls[2] then return records[1] end
  local time = subject.time
  table.sort(calls, function(a, b)
    return a.first < b.first or a.first == b.first and tostring(a.call.id) < tostring(b.call.id)
  end)
  table.sort(records, function(a, b) return a[time] < b[time] end)
  for i, one in ipairs(calls) do
    local at = records[i][time]
    if at < one.first or at > one.last then return nil end
    if one == subject then own = records[i] end
  end
  return own
end

-- Returns the record of a call as if the call were open, nil where no record is shown to be the call's; or nil and an
-- error.
local function record_of(question, call, learned)
  local subject = verdict.tell(subject_of(question, call), learned.seen)
  local fit, err = fitting(question, subject, learned)
  if not fit or not fit[1] then return nil, err end
  local group, problem = group_of(question, subject, fit, learned)
  return group and dealt(group, subject), problem
end

local FRESH_MS = 3600000 -- calls that were answered so long before must be shown, and until a record must be seen

-- Returns whether each call whose answer named a record is shown, if by another record, which agrees with it and stays
-- without an owner: otherwise others may be missing, too; or nil and an error.
local function are_shown(question, learned)
  local first = math.max(question.intent.sent_at - FRESH_MS, question.seen.shown.first + question.before)
  local missing, err = missing_calls(question, first, question.deadline)
  if not missing then return nil, err end
  for _, call in ipairs(missing) do
    local is_shown, problem = true, nil
    if call.record_id then is_shown, problem = record_of(question, call, learned) end
    if problem then return nil, problem end
    if not is_shown then return false end
  end
  return true
end

-- Returns the answer of the records that agree. Waits for another open call until that call's own record must be
-- visible: without the bound two lost calls wait for each other.
-- Of calls that cannot be told apart each has one of their records, or none is decided.
local function judge_fit(question, subject, fit, learned)
  local group, err = group_of(question, subject, fit, learned)
  if not group then return nil, err end
  local own, ends = dealt(group, subject), group.ends
  if own and not has(question.seen.shown.records, rawequal, own) then -- answers may be mixed up
    return ask_again_until(question, "vanished", { own }, question.intent.sent_at + PATIENCE_MS)
  end
  local is_under_way = ends and question.service:now() < ends
  if own and not is_under_way then return found(question, own) end
  local why = fit[2] and "similar" or "rival"
  if is_under_way then return ask_again_until(question, why, fit, ends) end
  return undecided(fit, why)
end

-- Returns whether nothing shows that the reading API key is of the account: no record of a call that the signing key
-- made, and no person's word; or nil and an error.
local function is_stranger(question, owners)
  local signer, reader = question.intent.signer, question.service.signer
  if not signer or signer == reader then return false end
  for record, owner in pairs(owners) do
    local is_known = not question.claims:is_own(owner)
    for _, attempt in ipairs(attempts_of(question, owner, record)) do
      is_known = is_known and attempt.signer == signer
    end
    if is_known then return false end
  end
  local is_vouched, err = question.claims:is_vouched(reader)
  if is_vouched == nil then return nil, err end
  return not is_vouched
end

-- Adds records that agree with the call though an earlier call was answered with the id: a call owns one record, of the
-- call's window, and services use ids of records again.
local function add_renumbered(question, subject, owners, may)
  for record, owner in pairs(question.window.is_planned and {} or owners) do
    local _, is_its = attempts_of(question, owner, record)
    local is_one = is_its and not reading.with_id(question.seen.union, "record_id", intents.id_of(record) or "")[2]
    if not is_one and not question.claims:is_own(owner) and not intents.shows_id(owner, record)
      and verdict.agrees(subject, record) then
      may[#may + 1] = record
    end
  end
end

-- Returns the answer of all readings; nil while there is something to wait for, or nothing was done; or nil and an
-- error.
local function judge(question)
  local subject = subject_of(question, question.intent)
  local learned, cause = learn(question)
  if not learned then return nil, cause end
  local seen = learned.seen
  local own, contradicts, count = own_record(question, subject, seen)
  if own and contradicts then return undecided({ own }, "id reused", contradicts) end
  if own then return found(question, own, count) end
  verdict.tell(subject, seen, question.window.is_planned, question.window.was_rejected)
  local is_fresh, problem = are_shown(question, learned)
  if is_fresh == nil then return nil, problem end
  local fit, reason = fitting(question, subject, learned)
  if not fit then return nil, reason end
  local is_foreign, failure = is_stranger(question, learned.owners)
  if is_foreign == nil then return nil, failure end
  local forgets = question.claims:has_forgotten(question.first, question.later)
  if fit[1] and is_fresh and not (is_foreign or forgets) then return judge_fit(question, subject, fit, learned) end
  local may, message = unclaimed(question, function(record) return verdict.may_be(subject, record) end, learned.free,
    learned.of[question.intent.id] or {})
  if not may then return nil, message end
  add_renumbered(question, subject, learned.owners, may)
  if is_foreign then return undecided(may, "stranger", question.service.signer) end
  if not is_fresh then return ask_again_until(question, "stale", may, question.intent.sent_at + PATIENCE_MS) end
  if not may[1] then return nil end
  if forgets then return undecided(may, "forgotten") end
  local open, err = question.claims:open_calls(question.first - reading.WIDE_MS, question.last + reading.WIDE_MS,
    question.later)
  if not open then return nil, err end
  local ends = rivals_end(question, open, seen, may)
  if ends and question.service:now() < ends then return ask_again_until(question, "rival", may, ends) end
  if question.window.is_planned then return undecided(may, "similar") end
  may = unexplained(question, subject, open, seen, may)
  if not may[1] then return nil end
  if not has(may, verdict.may_be_for_good, subject) then return undecided(may, "next") end
  return undecided(may, "similar")
end

-- Returns the records that agree with the call, of any owner.
local function agreeing(question)
  local subject, list = subject_of(question, question.intent), {}
  for _, record in ipairs(question.seen.union.records) do
    if verdict.agrees(subject, record, true) then list[#list + 1] = record end
  end
  return list
end

--- Finds a call by its id in any reading, or by content in two late, whole readings.
function M.find(question, how)
  local shown, err = reading.of(question, how)
  if not shown then return nil, err end
  question:unite(shown)
  if question.seen.late and how ~= "id" and not shown.incomplete then question.seen.whole = question.seen.whole + 1 end
  local is_whole = question.seen.whole >= 2 or question.window.is_planned
  if shown.incomplete or not question.seen.late or how == "id" or not is_whole then
    local own, contradicts, count = own_record(question, subject_of(question, question.intent))
    if own and not contradicts and not state_of(question, own) then return found(question, own, count) end
    if shown.incomplete and question.seen.late and how ~= "id" then return question:doubt(agreeing(question)) end
    question.next.waits = question.seen.late and how ~= "id"
    return nil
  end
  return judge(question)
end

return M
