-- SPDX-License-Identifier: MIT
-- Finding a call by the id that it carries; and where no record shows that, by its content: the verdict on all that the
-- readings of a history show. docs/write/outcomes.md has the sentences.

local answers = require "purser.write.answers"
local intents = require "purser.write.intent"
local reading = require "purser.write.reading"
local verdict = require "purser.write.verdict"

local M = {}

---------------------------------------------------------------------------------------------------------- whose it is

-- A record belongs to the call whose answer named it, or whose id it shows; a call found by content has taken its
-- record.

---@class purser.evidence.Claims
local Claims = {}
Claims.__index = Claims

--- Makes what is known of the records of the call's history.
---@return purser.evidence.Claims
function M.claims(service, row, intent)
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

--- Returns the calls of this operation that were made, and whose records the question shows; or nil and an error.
function Claims:made_calls(first, last)
  local calls, err = ask(self, "made_calls", self.account, { [self.row.full_name] = true }, first, last)
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

--- Returns whether a person vouched for an API key; or nil and an error.
function Claims:is_vouched(signer) return ask(self, "is_vouched", signer) end

--- Returns whether a forgotten call can have made a record since `first`.
function Claims:has_forgotten(first, later)
  local forgotten_to = self.journal.forgotten
  return forgotten_to ~= nil and forgotten_to + intents.MAX_WINDOW_MS + later >= first
end

--------------------------------------------------------------------------------------------------------- what is said

--- Why an answer is `undecided`: docs/write/outcomes.md lists the words.
M.reasons = {
  clock = "a clock was wrong when it was sent or looked for, and nothing shows when the record must be visible",
  differs = "the service shows an unclaimed record that may be this call's, and not all of it is as it was sent",
  early = "a record of it may yet be shown",
  failing = "the service shows it in a state that is no end, or by which it may have failed",
  forgotten = "it is so long ago that this client has forgotten which calls it made then, and one of them could have "
    .. "made it as well; a journal forgets none",
  ["id reused"] = "a record carries its id, which was used for another payment",
  incomplete = "%s",
  many = "the service shows more than one unclaimed record that may be this call's",
  planned = "the service shows an unclaimed record that may be of equal content, so it may have been made already",
  remark = "nothing but a remark identifies it; a person must look",
  rival = "another call could have made it as well",
  stale = "the service does not show the record of another call that it answered, so records may be late",
  state = "the state of the withdrawal, or of the coins, does not say whether it was executed",
  stranger = "another API key signed it, and the service does not say whose this key is; only where you know that it is "
    .. "of this account: `purser journal vouch %s`; by a key of another account the payment is made twice",
  times = "the service shows the name or the batch, and no time proves whether this call made it",
  vanished = "the service showed a record that agrees with it, and shows it no more",
}

--- Returns the answer `undecided`.
---@param why string  of M.reasons; what its text has places for comes after
function M.undecided(candidates, why, ...)
  return { outcome = "undecided", candidates = candidates, reason = why .. ": " .. M.reasons[why]:format(...) }
end

local undecided = M.undecided

local PATIENCE_MS = 300000 -- a record that is missing is waited for so long

-- Waits until a time, then answers `undecided`. A planned payment waits in its queue.
local function wait(question, why, candidates, ends)
  if question.service:now() >= ends then return undecided(candidates, why) end
  if question.window.is_planned then return { outcome = "undecided", is_busy = true } end
  question.waits, question.newer_than, question.wait_ends = true, question.shown.began, ends
end

-- Returns "failed", or "open" for a state that is no end; nil otherwise. A withdrawal was accepted in any state.
local function state_of(question, record)
  local failed = question.reconcile.failed_status
  if failed == nil or record.status == "SUCCESS" or answers.is_blank(record.status) then return nil end
  return record.status == failed and "failed" or "open"
end

-- Returns the answer of a record.
local function found(question, record)
  local state = state_of(question, record)
  if not state then return { outcome = "done", record = record } end
  if state == "failed" then
    return { outcome = "not_done", record = record, reason = "the service kept it, as failed" }
  end
  return wait(question, "failing", { record }, question.deadline + PATIENCE_MS)
end

-- Returns the times that a record of an attempt can have.
local function times_of(question, attempt)
  return attempt.sent_at - question.before,
    attempt.sent_at + (attempt.recv_window or question.service.recv_window) + question.later
end

-- Returns the attempts of a call in whose windows a record lies, the latest first; all where it lies in none.
local function attempts_of(question, call, record)
  local at, all, within = record[question.reconcile.time_member], { call }, {}
  for i, attempt in ipairs(call.earlier or {}) do all[i + 1] = attempt end
  for _, one in ipairs(all[2] and type(at) == "number" and all or {}) do
    local first, last = times_of(question, one)
    if at >= first and at <= last then within[#within + 1] = one end
  end
  return within[1] and within or all
end

-- Returns the subject of a call; of an owner that of the attempt which made the record.
local function subject_of(question, call, record)
  if call == question.intent then
    if question.window.is_planned then return verdict.subject(call) end
    return verdict.subject(call, question.first, question.last)
  end
  if (call.sent_at or 0) == 0 then return verdict.subject(call) end -- planned
  return verdict.subject(call, times_of(question, record and attempts_of(question, call, record)[1] or call))
end

-- Returns what records show of the service: `seen`; `owners`, by record; `free`, the unclaimed; `of`, by call; `timed`,
-- the unclaimed by time; or nil and an error. Kept with a shared reading.
local function learn(question)
  local union, time = question.union, question.reconcile.time_member
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
    -- one that was taken by its content shows nothing
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

-- Returns the best record with the call's own id, and whether it is another payment's.
local function own_record(question, subject, seen)
  local best, contradicts, rank = nil, false, 0
  for _, record in ipairs(subject.id and reading.with_id(question.union, subject.id_name, subject.id) or {}) do
    local state, is_another = state_of(question, record), verdict.contradicts(subject, record, seen)
    local better = is_another and 3 or not state and 4 or state == "open" and 2 or 1
    if better > rank and not (state == "failed" and may_be_another_attempts(question, record)) then
      best, contradicts, rank = record, is_another, better
    end
  end
  return best, contradicts
end

---------------------------------------------------------------------------------------------------------- by content

local FRESH_MS = 3600000 -- calls that were answered so long before must be shown, and until a record must be seen

-- Returns whether a call that was made is missing, so that others may be; or nil and an error. A list that is no
-- history loses what is deleted.
local function is_stale(question)
  if question.window.is_planned or not reading.is_history(question.reconcile) then return false end
  local first = math.max(question.intent.sent_at - FRESH_MS, question.shown.first + question.before)
  local made, err = question.claims:made_calls(first, question.deadline)
  if not made then return nil, err end
  for _, call in ipairs(made) do
    local id = question.reconcile.generated_id and call.params[question.reconcile.client_id]
    local is_shown = call.record_id and reading.with_id(question.union, "record_id", call.record_id)[1]
      or id and reading.with_id(question.union, question.reconcile.client_id, id)[1]
    if not is_shown then return true end
  end
  return false
end

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

-- Returns until when open calls may own one of the records; nil where that time has passed. The latest call comes
-- first: no earlier call is compared once a later one may own a record.
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

-- Returns the answer of the one record that agrees. A rival's wait ends once its own record must be visible: two lost
-- calls would wait for each other.
local function judge_one(question, record, seen)
  if not has(question.shown.records, rawequal, record) then -- answers may be mixed up
    return wait(question, "vanished", { record }, question.intent.sent_at + PATIENCE_MS)
  end
  local at, first, last, ends = record[question.reconcile.time_member], -math.huge, math.huge, nil
  if at then first, last = at - verdict.MINUTE_MS, at + verdict.MINUTE_MS + question.before end
  local open, err = question.claims:open_calls(first, last, question.later)
  if not open then return nil, err end
  for _, call in ipairs(open) do
    local rival = verdict.tell(subject_of(question, call), seen)
    if verdict.is_rival(rival, record) then
      if call.state == "undecided" then return undecided({ record }, "rival") end
      ends = math.max(ends or 0, rival.last or 0)
    end
  end
  if ends then return wait(question, "rival", { record }, ends) end
  return found(question, record)
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

-- Returns the answer of all readings; nil while there is something to wait for, or nothing was done; or nil and an
-- error.
local function judge(question)
  local subject = subject_of(question, question.intent)
  local learned, cause = learn(question)
  if not learned then return nil, cause end
  local seen = learned.seen
  local own, contradicts = own_record(question, subject, seen)
  if own and contradicts then return undecided({ own }, "id reused") end
  if own then return found(question, own) end
  verdict.tell(subject, seen, question.window.is_planned)
  local stale, problem = is_stale(question)
  if problem then return nil, problem end
  local fit, reason = fitting(question, subject, learned)
  if not fit then return nil, reason end
  local is_foreign, failure = is_stranger(question, learned.owners)
  if is_foreign == nil then return nil, failure end
  local forgets = question.claims:has_forgotten(question.first, question.later)
  if #fit == 1 and not (is_foreign or stale or forgets) then return judge_one(question, fit[1], seen) end
  local may, message = unclaimed(question, function(record)
    -- the service's own word that it was not executed: only what agrees contradicts it
    return verdict.may_be(subject, record) and (not question.window.was_rejected or verdict.agrees(subject, record))
  end, learned.free, learned.of[question.intent.id] or {})
  if not may then return nil, message end
  if is_foreign then return undecided(may, "stranger", question.service.signer) end
  if stale then return wait(question, "stale", may, question.intent.sent_at + PATIENCE_MS) end
  if not may[1] then return nil end
  if forgets then return undecided(may, "forgotten") end
  local open, err = question.claims:open_calls(question.first - reading.WIDE_MS, question.last + reading.WIDE_MS,
    question.later)
  if not open then return nil, err end
  local ends = rivals_end(question, open, seen, may)
  if ends and question.service:now() < ends then return wait(question, "rival", may, ends) end
  return undecided(may, question.window.is_planned and "planned" or may[2] and "many" or "differs")
end

-- Returns the records that agree with the call, of any owner.
local function agreeing(question)
  local subject, list = subject_of(question, question.intent), {}
  for _, record in ipairs(question.union.records) do
    if verdict.agrees(subject, record, true) then list[#list + 1] = record end
  end
  return list
end

--- Finds a call by its id in any reading, or by content in two late, whole readings.
function M.find(question, how)
  local shown, err = reading.of(question, how)
  if not shown then return nil, err end
  question:unite(shown)
  if question.late and how ~= "id" and not shown.incomplete then question.whole = question.whole + 1 end
  local is_whole = question.whole >= 2 or question.window.is_planned
  if shown.incomplete or not question.late or how == "id" or not is_whole then
    local own, contradicts = own_record(question, subject_of(question, question.intent))
    if own and not contradicts and not state_of(question, own) then return { outcome = "done", record = own } end
    if shown.incomplete and question.late and how ~= "id" then return question:doubt(agreeing(question)) end
    question.waits = question.late and how ~= "id"
    return nil
  end
  return judge(question)
end

return M
