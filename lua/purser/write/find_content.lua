-- SPDX-License-Identifier: MIT
-- Finding a call by its content: which unclaimed records agree with it, and which open calls may have made them too.
--
-- The numbers said of an undecided call are those of docs/write/outcomes.md. Each function that judges returns
-- an answer; nil when another reading might show more; or nil and an error.

local compare = require "purser.write.evidence.compare"
local intents = require "purser.write.intent"
local operations = require "purser.client.operations"
local reading = require "purser.write.evidence.reading"

local M = {}

--- Returns an answer that a person has to look at.
function M.undecided(candidates, reason)
  return { outcome = "undecided", candidates = candidates, reason = reason }
end

local undecided = M.undecided

local reasons = {
  another_id = "(7) the service shows an unclaimed record of equal content, in another form, which may be this call's",
  unlike = "(7, 8) an unclaimed record lies in the call's window, and no record of an answered call proves the "
    .. "difference",
  partly = "(9) a record agrees in part with what was sent",
  many = "(10) there are more unclaimed records of equal content than open calls that can have made them",
  others = "(9) another call could have made it as well, which is open or whose record the service does not show",
  elsewhere = "(11) the service shows an unclaimed record of equal content at another time, and no record of an "
    .. "answered call shows that its times are right",
  planned = "(7) the service shows an unclaimed record that may be of equal content, so it may have been made already",
  misplaced = "(11) the history shows another call of this client at a time at which it was not made, so its "
    .. "record may show any time",
  vanished = "(6) the service showed a record that may be the call's, and shows it no more",
  forgotten = "(7) it is so long ago that this client has forgotten which calls it made then, and one of them "
    .. "could have made it as well; a journal forgets none",
  hidden = "(11) the service does not show the record of another call that it answered, so records are late "
    .. "beyond measure",
  failed = "the service shows it with a status by which it may have failed",
}

------------------------------------------------------------------------------------------------------ states of records

-- Words by which services say that nothing was transferred. The document has none of them.
local FAILURES = { "FAIL", "REJECT", "CANCEL", "ERROR", "REVERS", "REFUND", "RETURN" }

--- Returns "failed" where the service kept a record as failed, "perhaps" where it may have, and nil otherwise.
function M.failing(question, record)
  local failed, status = question.reconcile.failed_status, record.status
  if failed == nil then return nil end
  if status == failed then return "failed" end
  status = type(status) == "string" and status:upper() or ""
  for _, word in ipairs(FAILURES) do
    if status:find(word, 1, true) then return "perhaps" end
  end
end

--- Returns what a record that was found says.
function M.found(question, record)
  local failing = M.failing(question, record)
  if not failing then return { outcome = "done", record = record } end
  if failing == "perhaps" then return undecided({ record }, reasons.failed) end
  return { outcome = "not_done", record = record, reason = "the service kept it, as failed" }
end

--------------------------------------------------------------------------------------------------------- what is shown

-- Returns those of a list for which a test holds.
local function keep(list, test)
  local kept = {}
  for _, one in ipairs(list) do
    if test(one) then kept[#kept + 1] = one end
  end
  return kept
end

-- Returns whether a test holds for one of a list.
local function any(list, test)
  for _, one in ipairs(list) do
    if test(one) then return true end
  end
  return false
end

-- Returns one list of two.
local function joined(first, second)
  local list = {}
  for _, one in ipairs(first) do list[#list + 1] = one end
  for _, one in ipairs(second) do list[#list + 1] = one end
  return list
end

local function records_in(list)
  local records = {}
  for i, one in ipairs(list) do records[i] = one.record end
  return records
end

--- Learns what the answered calls of the reading show of the service, and keeps that with it. Returns true; or nil and
--- an error.
function M.learn(question)
  local shown, name = question.shown, question.row.full_name
  if not shown.witnesses[name] then
    local witnesses, unclaimed = question.claims:witnesses(shown.records, { before = question.before,
      after = question.visible_ms + question.skew_ms, max_window = question.service.recv_window })
    if not witnesses then return nil, unclaimed end
    shown.witnesses[name], shown.unclaimed[name] = witnesses, reading.by_amount(unclaimed)
  end
  question.witnesses = shown.witnesses[name]
  return true
end

local SLACK_MS = 60000            -- next to a call's window, for times that are cut to whole minutes
M.SHIFTED_MS = 14 * 3600000       -- by how much times may be shifted

-- Returns where the time of a record lies: "in" the window of a call, "near" it, "far", or nil, where it is certainly
-- of another time.
local function place_of(question, record)
  local at, witnesses = record[question.reconcile.time_member], question.witnesses
  if question.window.is_planned or type(at) ~= "number" then return "far" end
  if at >= question.first and at <= question.last then return witnesses.misplaced and "near" or "in" end
  if at >= question.first - SLACK_MS and at <= question.last + SLACK_MS then return "near" end
  -- where times are right, an equal call that can have made a record near this window has its own no farther away
  local by = witnesses.in_time and 2 * SLACK_MS + question.visible_ms + question.later or M.SHIFTED_MS
  return at >= question.first - by and at <= question.last + by and "far" or nil
end

---------------------------------------------------------------------------------------------------------- by content

-- Returns the unclaimed records that may be the call's, each { record, place, verdict }, and those that failed; or nil
-- and an error. Early only those of its window count of which nothing is unlike.
local function candidates_of(question, is_early)
  local params, is_planned, witnesses = question.intent.params, question.window.is_planned, question.witnesses
  local records, judged, may = question.shown.records, {}, {}
  local of_amount = is_planned and question.shown.unclaimed[question.row.full_name]
  if of_amount and not witnesses:differs("amount", params) then
    records = of_amount(params) -- the rest of a whole history are other payments
  end
  for _, record in ipairs(records) do
    local place = place_of(question, record)
    local where = is_planned and "planned" or place == "far" and "far" or "near"
    local verdict = place and compare.judge(question.reconcile, params, record, witnesses, where) or "other"
    if is_early and (place ~= "in" and not is_planned or verdict == "unlike") then verdict = "other" end
    if verdict ~= "other" then
      if verdict == "same" and M.failing(question, record) == "perhaps" then verdict = "may" end
      may[#may + 1], judged[record] = record, { record = record, place = place, verdict = verdict }
    end
  end
  local unclaimed, err = question.claims:unclaimed(may)
  if not unclaimed then return nil, err end
  local list, failed = {}, {}
  for _, record in ipairs(unclaimed) do
    table.insert(M.failing(question, record) == "failed" and failed or list, judged[record])
  end
  return list, failed
end

--- Notes records that may be the call's: by their ids, or where they show none by their times or their names.
function M.note_seen(question, records)
  local time, name = question.reconcile.time_member, question.reconcile.client_id or ""
  for _, record in ipairs(records) do
    local id = intents.id_of(record)
    local mark = id and tostring(id) or record[time] or record[name]
    if mark then question.seen[mark] = record end
  end
end

-- Returns whether the reading shows a record by this id, name or time.
local function shows(question, mark)
  for _, name in ipairs { "record_id", question.reconcile.client_id or "", question.reconcile.time_member or "" } do
    if reading.with_id(question.shown, name, mark)[1] then return true end
  end
  return false
end

--- Notes what a reading shows before a record must be visible: those that may be the call's, in another form perhaps,
--- may be gone when one must. `own` shows the call's id. Returns nothing, or nil and an error.
function M.note_early(question, own)
  -- an id that failed may be taken again, so another record of it may be on its way
  if own and M.failing(question, own) ~= "failed" then M.note_seen(question, { own }) end
  local list, err = candidates_of(question, true)
  if not list then return nil, err end
  M.note_seen(question, records_in(list))
end

--- Returns what it means that a reading does not show one of them, and lets it be read anew; nil where it shows all.
function M.vanished(question)
  local vanished = {}
  for mark, record in pairs(question.seen) do
    if not shows(question, mark) then vanished[#vanished + 1] = record end
  end
  if not vanished[1] then return nil end
  question.doubted, question.newer_than = true, question.shown.began
  return undecided(vanished, reasons.vanished)
end

-- Returns the times that the record of a call can have, which may be dated `later` than it was accepted.
local function window_of(question, call, later)
  local ends = call.sent_at + (call.recv_window or question.service.recv_window) + (later or question.later)
  if call ~= question.intent then return call.sent_at - question.before, ends end
  if question.window.is_planned then return 1, 0 end -- none that is certain
  return question.first, later and not question.window.to and math.min(ends, question.last) or question.last
end

local function can_have_made(question, call, record, later)
  local first, last = window_of(question, call, later)
  local at = record[question.reconcile.time_member]
  return type(at) ~= "number" or at >= first and at <= last
end

-- Returns from when on the record of another call must be visible.
local function due_at(question, call)
  return call.sent_at + reading.visible_ms(call.recv_window or question.service.recv_window, question.delay_ms)
end

-- Returns how a record compares with another open call; nil where that cannot have made it.
local function verdict_of(question, call, record)
  if not can_have_made(question, call, record) then return nil end
  return compare.judge(operations.by_name[call.operation].reconcile, call.params, record, question.witnesses, "near")
end

-- Returns the open calls by what they mean for this one: those that are equal, those of them that may yet be answered,
-- and the rest.
local function sorted_calls(question, open)
  local equal, under_way, others = {}, {}, {}
  local digest, now = intents.digest(question.row, question.intent.params), question.service:now()
  for _, call in ipairs(open) do
    local may_be_answered = call.state == "open" and now < due_at(question, call)
    table.insert(call.digest ~= digest and others or may_be_answered and under_way or equal, call)
  end
  return equal, under_way, others
end

-- Gives each record, in the order of their times, to the equal call that can have made it and whose window ends first:
-- at its time, and what is left as much later as records are. An earlier call, whose own record no reading of this
-- question shows, would take another's otherwise. Returns the record of the call that is asked about, how many records
-- of its window are nobody's, and those that are another call's.
local function assign(question, list, equal)
  local calls = joined({ question.intent }, equal)
  table.sort(calls, function(a, b)
    if a.sent_at ~= b.sent_at then return a.sent_at < b.sent_at end
    return tostring(a.id) < tostring(b.id)
  end)
  local time, mine, left, taken, owned = question.reconcile.time_member, nil, 0, {}, {}
  table.sort(list, function(a, b) return (tonumber(a.record[time]) or 0) < (tonumber(b.record[time]) or 0) end)
  local own = {}
  for _, later in ipairs { reading.AHEAD_MS + question.skew_ms, question.later } do
    for _, one in ipairs(list) do
      for _, call in ipairs(calls) do
        local is_its = not own[one] and not taken[call] and can_have_made(question, call, one.record, later)
        if is_its then own[one], taken[call] = call, true end
      end
    end
  end
  for _, one in ipairs(list) do
    if own[one] == question.intent then mine = one.record else owned[one] = own[one] end
    if not own[one] and one.place == "in" then left = left + 1 end
  end
  return mine, left, owned
end

-- Parts the candidates: those that agree, those that may and those that are unlike, all near the call; and those at
-- another time.
local function part(list)
  local parts = { same = {}, may = {}, unlike = {}, far = {} }
  for _, one in ipairs(list) do
    local is_beside = one.place == "near" and one.verdict == "same"
    table.insert(parts[one.place == "far" and "far" or is_beside and "may" or one.verdict], one)
  end
  return parts
end

-- Records that are later than this are late beyond measure; and who may own a record is found by then.
local HIDDEN_MS = 300000

-- Measures how late the record of a call appeared that two earlier readings did not show: one may be another request's
-- answer. By a clock that was wrong nothing is measured.
local function measure(question, call)
  local shown, times = question.shown, question.missed[call.id] or 0
  question.missed[call.id] = nil
  if times > 1 and shown.correction == question.service:correction() and question.service:now() >= shown.began then
    question:raise_delay(math.min(shown.began - call.sent_at, HIDDEN_MS))
  end
end

-- Returns whether the record of a call may lie before the reading, as times are cut to whole minutes: one that asks for
-- more shows that.
local function is_at_edge(question, call) return call.sent_at < question.shown.first + question.before + SLACK_MS end

-- Returns the calls that were made before the reading, and whose records it does not show under the ids that are known;
-- or nil and an error.
local function hidden_calls(question)
  -- a list that is no history loses what is deleted, a key for instance: that one is missing is no lateness
  if not reading.is_history(question.reconcile) then return {} end
  local shown, witnesses, hidden = question.shown, question.witnesses, {}
  local first = math.max(question.intent.sent_at - question.before - HIDDEN_MS, shown.first + question.before)
  local made, err = question.claims:made_calls(first, math.min(shown.began, question.last,
    shown.last - question.visible_ms))
  if not made then return nil, err end
  for _, call in ipairs(made) do
    -- a record that shows the call's own id is its, whatever its answer named
    if shows(question, call.record_id) or shows(question, call.params[question.reconcile.client_id]) then
      witnesses.newest = math.max(witnesses.newest, call.sent_at)
      measure(question, call)
    else
      hidden[#hidden + 1] = call
      question.gave = question.gave or is_at_edge(question, call)
    end
  end
  return hidden
end

-- Parts the candidates and the hidden calls from those that are each other's: the first unclaimed record that agrees
-- with an answered call is its, under another id than it was answered with, where no call without a known end can have
-- made it as well, and in any case once no record is as late. Every question gives it the same one: a later record may
-- be an equal call's.
local function without_hidden(question, list, hidden, open)
  local calls, owned, time = {}, {}, question.reconcile.time_member
  local rivals = not question.window.is_planned and joined(open, { question.intent })
  table.sort(hidden, function(a, b) return a.sent_at < b.sent_at end)
  for _, call in ipairs(hidden) do
    local own, is_over = nil, question.service:now() - call.sent_at >= HIDDEN_MS
    local unclaimed = (is_over or rivals) and question.shown.unclaimed[question.row.full_name](call.params) or {}
    for _, record in ipairs(unclaimed) do
      local is_first = not owned[record] and (not own or (tonumber(record[time]) or 0) < (tonumber(own[time]) or 0))
      if is_first and verdict_of(question, call, record) == "same" then own = record end
    end
    local function may_own(rival) return (verdict_of(question, rival, own) or "other") ~= "other" end
    if own and not is_over and any(rivals, may_own) then own = nil end
    if own then owned[own], question.gave = true, true else calls[#calls + 1] = call end
  end
  return keep(list, function(one) return not owned[one.record] end), calls
end

-- Waits where the record of another call is missing that was answered longer ago than records may be late: it shows,
-- once it comes, how late they are. Returns an answer where they are late beyond measure.
local function judge_lateness(question, hidden)
  local late_ms = 0
  for _, call in ipairs(hidden) do
    local age_ms = question.shown.began - call.sent_at
    -- one that stays away for so long while later ones are shown says nothing of them: its answer was another call's
    local counts = age_ms >= question.visible_ms and not is_at_edge(question, call)
      and (age_ms < HIDDEN_MS or call.sent_at >= question.witnesses.newest)
    if counts then
      late_ms, question.missed[call.id] = math.max(late_ms, age_ms), (question.missed[call.id] or 0) + 1
    end
  end
  question.waits = late_ms > 0
  if question.waits then question.newer_than = question.shown.began end
  return late_ms >= HIDDEN_MS and undecided({}, reasons.hidden) or nil
end

-- Returns until when it may be found that another call owns what agrees with it. One that was sent just now is not
-- judged by this call's deadline, and one that was answered owns it once no record is as late.
local function claims_until(question, call)
  if call.answered then return call.sent_at + HIDDEN_MS end
  local deadline = question.window.is_planned and 0 or question.deadline -- of a payment that was never sent: none
  return math.max(deadline, due_at(question, call)) + HIDDEN_MS
end

-- Returns that there is something to wait for; a payment that is planned waits in its queue.
local function await_other(question)
  if question.window.is_planned then return { outcome = "undecided", is_busy = true } end
  question.waits = true
end

-- Returns what the records say that agree with the call in all that can be compared; nil where they say nothing, or
-- there is something to wait for. Those that equal calls own are taken out of the others.
local function judge_equal(question, list, parts, open, hidden)
  local equal, under_way, others = sorted_calls(question, open)
  local blocked = false
  local free = keep(list, function(one)
    -- one without a time may be as old as any
    if one.verdict ~= "same" or one.record[question.reconcile.time_member] == nil then return false end
    local is_blocked = any(under_way, function(call) return can_have_made(question, call, one.record) end)
    blocked = blocked or is_blocked and (one.place == "in" or question.window.is_planned)
    return not is_blocked
  end)
  local mine, left, owned = assign(question, free, equal)
  question.gave = question.gave or next(owned) ~= nil
  local function is_left(one) return not owned[one] end
  parts.may, parts.far = keep(parts.may, is_left), keep(parts.far, is_left)
  if left > 0 then return undecided(records_in(parts.same), reasons.many) end
  if not mine then return blocked and await_other(question) or nil end
  if parts.may[1] then return undecided(records_in(joined(parts.may, parts.same)), reasons.partly) end
  local function may_own(call)
    local verdict, differs_by_fee = verdict_of(question, call, mine)
    return verdict == "same" or verdict == "may" or differs_by_fee
  end
  local rivals, now = keep(joined(others, hidden), may_own), question.service:now()
  if any(rivals, function(call) return now < claims_until(question, call) end) then
    if any(hidden, may_own) then question.newer_than = question.shown.began end -- which may show whose it is
    return await_other(question)
  end
  return rivals[1] and undecided({ mine }, reasons.others) or M.found(question, mine)
end

-- Returns whether each of these records agrees with another call that can have made it, and that may be found to own it
-- soon.
local function may_be_claimed(question, list, calls)
  local now = question.service:now()
  return not any(list, function(one)
    return not any(calls, function(call)
      return now < claims_until(question, call) and verdict_of(question, call, one.record) == "same"
    end)
  end)
end

-- Returns what the absence of a record says; nil where it says that nothing was done, unless there is something to wait
-- for.
local function judge_absence(question, parts, open, failed, hidden)
  local unlike, is_planned = question.window.was_rejected and {} or parts.unlike, question.window.is_planned
  local doubts = joined(unlike, parts.far)
  if doubts[1] and not parts.may[1] and may_be_claimed(question, doubts, joined(open, hidden)) then
    return await_other(question)
  end
  local near = joined(unlike, parts.may)
  if near[1] then return undecided(records_in(near), parts.may[1] and reasons.another_id or reasons.unlike) end
  if parts.far[1] then return undecided(records_in(parts.far), is_planned and reasons.planned or reasons.elsewhere) end
  if question.witnesses.misplaced and not is_planned then return undecided({}, reasons.misplaced) end
  -- what is kept was read as of one time, and measures nothing
  local doubt = M.vanished(question) or not is_planned and judge_lateness(question, hidden) or nil
  if doubt or question.waits then return doubt end
  for _, one in ipairs(failed) do
    if one.verdict == "same" and one.place == "in" then return M.found(question, one.record) end
  end
end

local function ids_of(calls)
  local ids = {}
  for i, call in ipairs(calls) do ids[i] = tostring(call.id) end
  return table.concat(ids, "\n")
end

-- Returns the candidates, those that failed, and the open calls as of one moment: a call that ends while a journal is
-- asked for both would leave its record, or a twin's, to nobody. Or nil and an error.
local function claimable(question)
  local first, last = question.first - M.SHIFTED_MS, question.last + M.SHIFTED_MS
  local before, list, failed
  while true do
    local open, err = question.claims:open_calls(first, last, question.later)
    if not open then return nil, err end
    if ids_of(open) == before then return list, failed, open end
    before, list, failed = ids_of(open), candidates_of(question)
    if not list or not list[1] then return list, failed, open end
  end
end

--- Returns what a late, whole reading says of the call by content; or nil and an error.
function M.judge(question)
  local list, failed, open = claimable(question)
  if not list then return nil, failed end
  M.note_seen(question, records_in(list))
  if question.shown.incomplete then return question:doubt(records_in(list)) end
  if list[1] and question.claims:has_forgotten(question.first, question.later) then
    return undecided(records_in(list), reasons.forgotten)
  end
  local hidden, err = hidden_calls(question)
  if not hidden then return nil, err end
  list, hidden = without_hidden(question, list, hidden, open)
  local parts = part(list)
  local answer = judge_equal(question, list, parts, open, hidden)
  if answer or question.waits then return answer end
  return judge_absence(question, parts, open, failed, hidden)
end

return M
