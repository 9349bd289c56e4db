-- SPDX-License-Identifier: MIT
--- Finds out what became of a call whose outcome is unknown.
--
-- Each lost call has one question: which records may be its own, and which other calls may own them? `not_done` is a
-- promise: the request's window and the time until a record must be visible have passed, and none of two whole readings
-- of a history shows a record that may be the call's.

local candidates = require "purser.write.candidates"
local claims = require "purser.write.claims"
local digests = require "purser.write.digests"
local errors = require "purser.client.call.errors"
local find = require "purser.write.find"
local intents = require "purser.write.intent"
local match = require "purser.write.match"
local operations = require "purser.client.operations"
local option_schema = require "purser.client.util.option_schema"
local reading = require "purser.write.reading"
local window_reader = require "purser.client.history.window"

local undecided = match.undecided

local M = {}

---@class purser.Reconciliation
---@field outcome "done"|"not_done"|"undecided"
---@field record table|nil        done: what the service keeps of it
---@field candidates table[]|nil  undecided: the records that might be it, the likest first
---@field reason string|nil       undecided, not_done: why
---@field secret_lost boolean|nil  done: the key was made, and its secret is lost
---@field replaced string|nil      done: the key with the lost secret, deleted in favour of `record`
---@field incomplete boolean|nil   undecided: the history cannot be shown to be whole
---@field why string|nil           undecided: the word of the reason, of docs/write/outcomes.md
---@field not_before integer|nil   undecided with wait = false: when to ask next, epoch ms

---@class purser.ReconcileOptions
---@field visibility_delay_ms integer|nil   how long a new record may be missing from lists (default: the client's)
---@field skew_ms integer|nil  by how much records' times may differ from the service's clock (default 5000)
---@field poll_ms integer|nil  pause after the first reading (default 1000); each later one is twice as long
---@field wait boolean|nil     false: do not wait, answer undecided with not_before instead
---@field recreate boolean|nil   a key whose secret was lost is deleted and made again

local rules = { visibility_delay_ms = { 0 }, skew_ms = { 0 }, poll_ms = { 0 }, wait = "boolean", recreate = "boolean" }

----------------------------------------------------------------------------------------------------------- the question

---@class purser.reconcile.Window  when the record of a call can have been made, where it was sent, perhaps, more often
---@field since integer|nil       the first attempt (epoch ms); nil: the call's own
---@field to integer|nil          records of attempts that nobody knows may show times up to this
---@field is_planned boolean|nil  nobody knows that it was sent at all, so that its content alone proves nothing
---@field was_rejected boolean|nil  the service said that it did not execute the last attempt
---@field is_first boolean|nil    it is asked about once more, so a long wait is left to that question
---@field readings purser.evidence.Readings|nil  what several questions share
---@field payment table|nil       of a queue: payment:after(outcome, reason) returns what becomes of it, false for later

---@class purser.reconcile.Seen  what was read so far
---@field union purser.evidence.Reading|nil  all that the readings show, of which `shown` was the last
---@field shown purser.evidence.Reading|nil
---@field whole integer       how many late, whole readings that is
---@field late boolean        a record that exists must be in the present reading
---@field doubted boolean     the present reading does not show all there is
---@field spelled table<string, string|false>  how the service spells what people spell: see reading.question

---@class purser.reconcile.Next  when to read again
---@field waits boolean|nil    another reading may show more, until `ends`
---@field ends integer|nil
---@field newer_than integer   when the reading began in which another call's record is missing
---@field pause_ms number      before the deadline
---@field late_pause_ms integer
---@field while_set integer    how many readings were made while the clock was set

---@class purser.reconcile.Question  which records may be of this call, and who else may own them? What is asked never
--- changes; `seen` and `next` do.
---@field first integer       the earliest and the latest time that its record can have
---@field last integer
---@field before integer      by how much a record's time may lie before the time that its call was stamped at
---@field later integer       and after the time until which it was accepted
---@field deadline integer    from then on a record that exists must be seen
---@field seen purser.reconcile.Seen
---@field next purser.reconcile.Next
local Question = {}
Question.__index = Question

--- Makes the question that is asked of a call. (Public for its specs.)
---@return purser.reconcile.Question
function M.question(service, row, intent, options, window)
  local skew_ms = options.skew_ms or 5000
  local question = {
    service = service, row = row, reconcile = row.reconcile, intent = intent, options = options,
    window = window or {}, turn = reading.turn(),
    poll_ms = math.max(1, options.poll_ms or 1000), skew_ms = skew_ms, before = reading.AHEAD_MS + skew_ms,
    claims = claims.new(service, row, intent),
    seen = { whole = 0, late = false, doubted = false, spelled = {} },
    next = { newer_than = 0, pause_ms = 0, late_pause_ms = 0, while_set = 0 },
  }
  local delay_ms = options.visibility_delay_ms or service.visibility_delay_ms
  question.visible_ms = reading.visible_ms(intent.recv_window or service.recv_window, delay_ms)
  question.deadline = intent.sent_at + question.visible_ms
  question.first = (question.window.since or intent.sent_at) - question.before
  question.last = math.max(question.deadline, question.window.to or 0) + skew_ms
  question.later = reading.AHEAD_MS + delay_ms + skew_ms
  return setmetatable(question, Question)
end

function Question:is_due() return self.service:now() >= self.deadline end

--- Adds a reading to those before. (A kept reading was read twice, and is large.)
function Question:unite(shown)
  local union = self.seen.union
  self.seen.union = shown.is_kept and shown or reading.unite(union, shown, operations.by_name[self.reconcile.lookup])
end

-- The ways to read: see reading.of. A kept reading is two in one.
local EARLY, ONCE, TWICE, AGAIN = { "early" }, { "wide" }, { "wide", "again" }, { "again" }

--- Reads until a record shows that the call was done. Late questions are asked twice: an answer may be another
--- request's, and look whole. Returns the last answer; nil; or nil and an error.
function Question:read()
  local seen, is_due = self.seen, self:is_due()
  -- a state is read early as it was before the call
  if is_due and not seen.late and self.reconcile.strategy == "state" then seen.union = nil end
  seen.late, seen.doubted = is_due, false
  local ways = not seen.late and EARLY or self.window.is_planned and ONCE or seen.whole >= 2 and AGAIN or TWICE
  local answer, err
  for _, how in ipairs(ways) do
    self.next.waits, self.next.ends, seen.shown = false, nil, nil
    answer, err = find[self.reconcile.strategy](self, how)
    if err or answer and answer.outcome == "done" and answer.record then break end
  end
  return answer, err
end

--- Returns the answer of a reading that is not whole.
function Question:doubt(records)
  self.seen.doubted = not self.seen.shown.is_over -- to ask again for what has no end is of no use
  local answer = undecided(records, "incomplete", self.seen.shown.incomplete)
  answer.incomplete = true
  return answer
end

--- Returns the earliest time in the history's reach; 0 for an unknown reach.
function Question:earliest()
  return window_reader.default(operations.by_name[self.reconcile.lookup].window, self.service:now()) or 0
end

-- The reach of a history that no document gives: others show as much by default.
local UNDOCUMENTED_REACH_MS = 7 * 86400000

-- Returns whether the list does not reach back to the call.
local function is_out_of_reach(question)
  -- planned calls are asked about as far as the history reaches
  if question.window.is_planned or question.reconcile.strategy == "state"
    or not reading.is_history(question.reconcile) then
    return false
  end
  local earliest = question:earliest()
  if earliest == 0 then earliest = question.service:now() - UNDOCUMENTED_REACH_MS end
  return (question.window.since or question.intent.sent_at) < earliest + reading.WIDE_MS + 3600000
end

--- Returns whether a call may be decided early. To a call that only content identifies an equal record may come.
function M.decides_early(question)
  local reconcile = question.reconcile
  if reconcile.generated_id then return question.intent.params[reconcile.client_id] ~= nil end
  return not reconcile.match_on or reconcile.strategy == "conversion"
end

--------------------------------------------------------------------------------------------------------------- the loop

-- The clock may be set during so many readings: a service whose time is another one at each answer sets it at each.
local READINGS_WHILE_SET = 10

-- Asks once. Returns a reconciliation; nil where it is to be asked again; or nil and an error.
local function ask_once(question)
  local service = question.service
  local now, correction = service:now(), service:correction()
  local answer, err = question:read()
  if err then return nil, err end
  local is_set = service:correction() ~= correction or service:now() < now
  if is_set and not question.window.is_planned then -- it is of no matter to what spans months
    -- the clock was wrong when the reading began, which may have been too early
    question.next.while_set = question.next.while_set + 1
    if question.next.while_set < READINGS_WHILE_SET then return nil end
    return undecided({}, "clock")
  end
  if answer or not (question.seen.late and question:is_due()) or question.next.waits then return answer end
  return find.missing(question)
end

local LONGEST_PAUSE_MS = 30000 -- between two readings after the deadline

-- Returns the pause before the next reading: each is twice the one before, and begins anew at the deadline. Shared
-- readings are made at the same times.
local function pause_before_next(question)
  local now, following = question.service:now(), question.next
  local left, ms = question.deadline - now, 1
  if left > 0 then
    ms, following.pause_ms = math.min(following.pause_ms, left), following.pause_ms * 2
  elseif question.seen.doubted then
    ms = question.poll_ms
  elseif following.waits then
    ms, following.late_pause_ms = following.late_pause_ms, math.min(following.late_pause_ms * 2, LONGEST_PAUSE_MS)
    ms = math.min(ms, (following.ends or math.huge) - now)
  end
  if not question.service.readings or left <= 0 then return math.max(1, ms) end
  return ms + (question.poll_ms - (now + ms) % question.poll_ms) % question.poll_ms
end

-- A call stamped further ahead was stamped while a clock was wrong.
local MAX_AHEAD_MS = 3600000

-- Asks early about a call that lies ahead, so that the service sets a wrong clock right. Returns the answer of a call
-- that still lies too far ahead; nil; or nil and an error.
local function answer_ahead(question)
  local function ahead_ms() return question.intent.sent_at - question.service:now() end
  if ahead_ms() <= question.before then return nil end
  local answer, err = ask_once(question)
  if err or ahead_ms() <= MAX_AHEAD_MS then return nil, err end
  return answer or undecided({}, "clock")
end

local function ask_until_decided(question)
  local service = question.service
  if is_out_of_reach(question) then
    return undecided({}, "incomplete", "it is too long ago: nothing shows that " .. question.reconcile.lookup
      .. " reaches back that far")
  end
  local far, problem = answer_ahead(question)
  if far or problem then return far, problem end
  local incomplete, is_early = 0, M.decides_early(question)
  question.next.pause_ms = is_early and question.poll_ms or math.huge
  question.next.late_pause_ms = question.poll_ms
  while true do
    local answer, err
    if is_early or question:is_due() then answer, err = ask_once(question) end
    if err then return nil, err end
    incomplete = incomplete + (question.seen.doubted and 1 or 0)
    if answer and not (question.seen.doubted and incomplete < reading.INCOMPLETE_READINGS) then return answer end
    local is_over = question:is_due() and not question.next.waits
    if question.options.wait == false and not is_over then
      answer = undecided({}, "early")
      answer.not_before = math.max(question.deadline, service:now() + question.poll_ms)
      return answer
    end
    service:pause(pause_before_next(question))
  end
end

---------------------------------------------------------------------------------------------------- what callers call

-- Deletes a key whose secret is lost, and makes it again.
local function recreate(question, answer)
  local undo = operations.by_name[question.reconcile.delete_operation]
  local params = { subAccount = question.intent.params.subAccount, apiKey = answer.record.apiKey }
  local ok, err = question.service:read(undo, params)
  if not ok and err.outcome == "unknown" then
    local undone = M.reconcile(question.service, err.intent, question.options)
    ok = undone and undone.outcome == "done"
  end
  if not ok then return nil, err end
  local record
  record, err = question.service:read(question.row, question.intent.params)
  if not record then return nil, err end
  return { outcome = "done", record = record, replaced = answer.record.apiKey }
end

-- Keeps the answer in the journal. Returns the answer, or the journal's where that knows more; nil where the record has
-- an owner by now; or nil and an error.
local function keep(question, answer)
  local service, intent, payment = question.service, question.intent, question.window.payment
  if answer.not_before then return answer end
  local change = payment and payment:after(answer.outcome, answer.reason)
  if change == false then return answer end
  local verdict, message = service.journal:reconciled(intent, answer, change)
  if not verdict then return nil, intents.journal_error("unknown", message) end
  if verdict.is_taken then return nil end
  -- the same may have been sent again since then, and the record be of that call
  if verdict.is_over then
    return { outcome = "not_done", reason = "it was found before that it was not executed, and an equal call was sent" }
  end
  return verdict.done_before and { outcome = "done", record = verdict.record, reason = "its answer is in the journal" }
    or answer
end

-- Returns the records of an answer, the likest first, before the journal keeps some and callers print them.
local function sorted(question, records)
  local intent = question.intent
  local sent_at = not question.window.is_planned and intent.sent_at or nil
  return candidates.sorted(records, intent.operation, intent.params, sent_at)
end

local MOST_OWNERS = 10 -- that may take the records which answer a question, until it is left undecided

local function ask_and_keep(question)
  for _ = 1, MOST_OWNERS do
    local answer, err = ask_until_decided(question)
    if not answer then return nil, err end
    answer.candidates = answer.candidates and sorted(question, answer.candidates)
    answer, err = keep(question, answer)
    if answer or err then return answer, err end
  end
  return keep(question, undecided({}, "rival"))
end

------------------------------------------------------------------------------------------ for want of a later call

--- Keeps in mind which calls are undecided for want of a later call of their kind. Returns these, by id.
---@param waiting table|false
---@return table|false waiting
function M.note_next(waiting, unreconciled, answer)
  local intent = errors.is(unreconciled) and unreconciled.intent or unreconciled
  if not intent.id or answer.why ~= "next" then return waiting end
  waiting = waiting or {}
  waiting[intent.id] = { intent = intent }
  return waiting
end

--- Notes that a call was answered, and takes those that may be asked about: a later call was answered so long before
--- that its record must be visible. Returns their intents.
---@param client purser.Client  its inner state
function M.due(client, row)
  local due, now, waiting = {}, client:now(), client._next
  local visible_ms = reading.visible_ms(client._recv_window or 5000, client._visibility_delay_ms)
  for id, one in pairs(waiting) do
    one.answered_at = one.answered_at or row.full_name == one.intent.operation and now or nil
    local is_due = one.answered_at and now >= one.answered_at + visible_ms
    if is_due then due[#due + 1], waiting[id] = one.intent, nil end
  end
  return due
end

-- Returns the row and the intent of what is to be reconciled; or nil and an error.
local function take(service, unreconciled)
  if errors.is(unreconciled) then
    if not unreconciled.intent then
      return nil, errors.argument(nil, "the error has no intent: it is that of a read, or of no call", "call it again")
    end
    unreconciled = unreconciled.intent
  end
  local row, intent, hint = intents.row_of(unreconciled)
  if not row then return nil, errors.argument(nil, intent, hint) end
  if intent.account and not service:signs_as(intent.account) then
    return nil, errors.argument(nil, ('it was signed by account "%s", whose records this client may not see')
      :format(tostring(intent.account)), ("reconcile it with that account's client (where it is one account with a new "
      .. 'key, give the client account = "%s")'):format(tostring(intent.account)))
  end
  intent.account = intent.account or service.account -- by which it is known what its other calls made
  return row, intent
end

-- Returns an intent with the id, attempts and times that the journal knows; or nil and an error where the journal has
-- another call under the id. An unknown call, of another program perhaps, is recorded: its key is used from now on.
local function identified(service, row, intent, is_payment)
  local known, message = service.journal:call_of(intent)
  if message then return nil, intents.journal_error("unknown", message) end
  if is_payment then
    intent.earlier = known and known.earlier
    return intent
  end
  if not known then
    intent.id, intent.recv_window = intent.id or intents.new_id(), intent.recv_window or service.recv_window
    local ok, problem, holder = service.journal:begin(intent, row, false, intents.own_key(row, intent.params))
    if not ok and not holder and not errors.is(problem) then
      return nil, intents.journal_error("unknown", tostring(problem)) -- its key would be free
    end
    known = holder
  end
  if not known then return intent end
  if known.operation ~= intent.operation or known.digest ~= digests.likeness(row, intent.params) then
    return nil, errors.argument(nil, "reconcile: the intent is not the call that the journal has under its id",
      "give the one of journal:entries()")
  end
  intent.id, intent.attempt, intent.sent_at = known.id, known.intent.attempt, known.sent_at
  intent.recv_window, intent.host, intent.signer = known.recv_window, known.intent.host, known.signer
  intent.earlier = known.earlier
  return intent
end

--- Reconciles an error of unknown outcome, or an intent. Users call client:reconcile.
---@param unreconciled purser.Error|purser.Intent
---@return purser.Reconciliation|nil, purser.Error|nil
function M.reconcile(service, unreconciled, options, window)
  options = options or {}
  local wrong = errors.option(option_schema.check(options, rules, "reconcile option"))
  if wrong then return nil, wrong end
  if errors.is(unreconciled) and unreconciled.outcome ~= "unknown" then
    return { outcome = "not_done", reason = unreconciled.message }
  end
  local row, intent, problem = take(service, unreconciled)
  if not row then return nil, intent end
  if not window or (intent.attempt or 0) > 1 then intent, problem = identified(service, row, intent, window) end
  if not intent then return nil, problem end
  if intent.host and intent.host ~= service.host then
    return nil, errors.argument(nil, ("it was sent to %s, of which the service that this client asks shows nothing")
      :format(tostring(intent.host)), "reconcile it with a client of that service")
  end
  local question = M.question(service, row, intent, options, window)
  local answer, err = ask_and_keep(question)
  if not answer then return nil, err end
  if answer.secret_lost and options.recreate then return recreate(question, answer) end
  return answer
end

return M
