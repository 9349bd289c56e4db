-- SPDX-License-Identifier: MIT
--- Finds out what became of a call whose outcome is unknown.
--
--     local result, err = client.wallet:withdraw { ... }
--     if err and err.outcome == "unknown" then
--       local answer = assert(client:reconcile(err))
--       -- { outcome = "done", record = ... }, { outcome = "not_done" } or { outcome = "undecided", candidates = ... }
--     end
--
-- `not_done` is a promise, so it is waited for: the service takes a request until it is `recv_window` old, and a new
-- record may take a while (`visibility_delay_ms`) to be seen. Only when both have passed and the record is still
-- missing was nothing done. What the row's `reconcile` says decides where to look and what has to be equal; where two
-- records match, nobody guesses.

local option_schema = require "purser.util.option_schema"
local check_intent = require "purser.write.reconcile.check_intent"
local errors = require "purser.call.errors"
local failure = require "purser.write.journal.failure"
local intents = require "purser.write.intent"
local looks = require "purser.write.reconcile.look"
local operations = require "purser.api.operations"
local recent_calls = require "purser.write.reconcile.recent_calls"
local strategies = require "purser.write.reconcile.strategies"

local NOTHING_YET, RETRY_LOOK = looks.NOTHING_YET, looks.RETRY_LOOK

local M = {}

---@class purser.Reconciliation
---@field outcome "done"|"not_done"|"undecided"
---@field record table|nil        done: what the service keeps of it
---@field candidates table[]|nil  undecided: the records that might be it
---@field reason string|nil       undecided, not_done: why
---@field secret_lost boolean|nil  done: the key was made, and its secret is lost
---@field replaced string|nil      done: the key with the lost secret, deleted in favour of `record`
---@field not_before integer|nil   undecided with wait = false: when to ask next, epoch ms

---@class purser.ReconcileOptions
---@field visibility_delay_ms integer|nil   how long a new record may be missing from lists (default: the client's)
---@field skew_ms integer|nil  by how much records' times may differ from the service's clock (default 5000)
---@field poll_ms integer|nil  pause after the first look (default 1000); each later one is twice as long
---@field wait boolean|nil     false: do not wait, answer undecided with not_before instead
---@field recreate boolean|nil   a key whose secret was lost is deleted and made again

local rules = { visibility_delay_ms = { 0 }, skew_ms = { 0 }, poll_ms = { 0 }, wait = "boolean", recreate = "boolean" }

--- What is wrong with options of reconcile, and with which; or nil.
---@return string|nil message, string|nil name, string|nil hint
function M.check_options(options)
  return option_schema.check(options, rules, "reconcile option")
end

-- Deletes a key whose secret is lost, and makes it again.
local function recreate(look, answer)
  local undo = operations.by_name[look.reconcile.delete_operation]
  local params = { subAccount = look.intent.params.subAccount, apiKey = answer.record.apiKey }
  local ok, err = look.service:read(undo, params)
  if not ok and err.outcome == "unknown" then
    local undone = M.reconcile(look.service, err.intent, look.options)
    ok = undone and undone.outcome == "done"
  end
  if not ok then return nil, err end
  local record
  record, err = look.service:read(look.row, look.intent.params)
  if not record then return nil, err end
  return { outcome = "done", record = record, replaced = answer.record.apiKey }
end

----------------------------------------------------------------------------------------------------- the loop

-- How many looks the clock may be set at: a service whose time is another one at each answer sets it at each.
local LOOKS_WHILE_SET = 10

-- One look: a reconciliation, NOTHING_YET or RETRY_LOOK; or nil and an error.
local function look_once(look)
  local now, correction = look.service:now(), look.service:correction()
  look:begin()
  local answer, err, why = strategies[look.reconcile.strategy](look)
  if answer and (look.service:correction() ~= correction or look.service:now() < now) then
    -- The clock was wrong when the look began, which may have been too early.
    look.while_set = (look.while_set or 0) + 1
    if look.while_set < LOOKS_WHILE_SET then return NOTHING_YET end
    return looks.undecided({}, "the clock was set during each look, so nothing shows when the record must be visible")
  end
  if answer == NOTHING_YET and look.late then answer, err, why = strategies.missing(look) end
  if not answer and why then return looks.undecided({}, why) end
  return answer, err
end

-- How many looks must say that a list cannot be shown to be complete. One answer that belongs to another request says
-- so, too.
local LOOKS_AT_INCOMPLETE = 3

-- How long to wait for the next look. Of those before the deadline each waits twice as long as the one before: what the
-- first do not find is rarely found by the next. Looks that share their readings are made at the same times, so that
-- one reading serves them.
local function pause_before_next(look, now)
  local left = look.deadline - now
  local ms = math.max(1, left > 0 and math.min(look.pause_ms, left) or look.doubted and look.poll_ms or 1)
  look.pause_ms = look.pause_ms * 2
  if not look.service.readings or left <= 0 then return ms end
  return ms + (look.poll_ms - (now + ms) % look.poll_ms) % look.poll_ms
end

-- How far ahead of the clock a call may have been stamped so that it is waited for. What lies further ahead was stamped
-- while a clock was wrong.
local MAX_AHEAD_MS = 3600000

-- What to answer of a call that lies too far ahead. The clock here may be the wrong one: an early look lets the service
-- set it right. Nothing, where the call is to be waited for; nil and an error where the look failed.
local function answer_far_ahead(look)
  local function ahead_ms() return look.intent.sent_at - look.service:now() end
  if ahead_ms() <= MAX_AHEAD_MS then return nil end
  local answer, err = look_once(look)
  if not answer then return nil, err end
  if answer ~= NOTHING_YET and answer ~= RETRY_LOOK then return answer end
  if ahead_ms() <= MAX_AHEAD_MS then return nil end
  return looks.undecided({}, ("the call was stamped %d s ahead of the clock, so one of the clocks was wrong, and "
    .. "nothing shows when the record must be visible"):format(math.floor(ahead_ms() / 1000)))
end

local function look_until_decided(look)
  if look:is_out_of_reach() then
    return looks.undecided({}, "it is too long ago: nothing shows that " .. look.reconcile.lookup
      .. " reaches back that far")
  end
  local far, problem = answer_far_ahead(look)
  if far or problem then return far, problem end
  local incomplete, decides_early = 0, strategies.decides_early(look)
  look.pause_ms = decides_early and look.poll_ms or math.huge
  while true do
    local answer, err = NOTHING_YET, nil
    if decides_early or look.service:now() >= look.deadline then answer, err = look_once(look) end
    if not answer then return nil, err end
    incomplete = incomplete + (look.doubted and 1 or 0)
    local decided = answer ~= NOTHING_YET and answer ~= RETRY_LOOK
    if decided and not (look.doubted and incomplete < LOOKS_AT_INCOMPLETE) then return answer end
    local now = look.service:now()
    if look.options.wait == false and now < look.deadline then
      local early = looks.undecided({}, "it is too early to say that it was not done")
      early.not_before = look.deadline
      return early
    end
    look.service:pause(pause_before_next(look, now))
  end
end

local function argument_error(message, hint)
  return nil, errors.argument(nil, message, hint)
end

-- Keeps in the journal what was found. Returns the answer, which is another where the journal knows more; or nil and an
-- error.
local function keep(service, intent, answer)
  if service.memory and not answer.not_before then service.memory:reconciled(intent, answer) end
  if not (service.journal and intent.id) or answer.not_before then return answer end
  local ok, other = service.journal:reconciled(intent, answer)
  if not ok then return nil, failure.error("unknown", other) end
  return other and { outcome = "done", record = other, reason = "its answer is in the journal" } or answer
end

-- The row and the intent of what is to be reconciled; or nil and an error.
local function take(service, unreconciled)
  if errors.is(unreconciled) then
    if not unreconciled.intent then
      return argument_error("the error has no intent: it is that of a read, or of no call", "call it again")
    end
    unreconciled = unreconciled.intent
  end
  local row, intent, hint = check_intent.row_of(unreconciled)
  if not row then return argument_error(intent, hint) end
  if intent.account and not service:signs_as(intent.account) then
    return argument_error(('it was signed by account "%s", whose records this client may not see')
      :format(tostring(intent.account)), ("reconcile it with that account's client (where it is one account with a new "
      .. 'key, give the client account = "%s")'):format(tostring(intent.account)))
  end
  return row, intent
end

--- Reconciles an error of unknown outcome, or an intent. Users call client:reconcile.
---@param service purser.reconcile.Service
---@param unreconciled purser.Error|purser.Intent
---@param options purser.ReconcileOptions|nil
---@return purser.Reconciliation|nil, purser.Error|nil
function M.reconcile(service, unreconciled, options)
  options = options or {}
  local wrong = errors.option(M.check_options(options))
  if wrong then return nil, wrong end
  if errors.is(unreconciled) and unreconciled.outcome ~= "unknown" then
    return { outcome = "not_done", reason = unreconciled.message }
  end
  local row, intent = take(service, unreconciled)
  if not row then return nil, intent end
  local look = looks.new(service, row, intent, options)
  local answer, err = look_until_decided(look)
  if not answer then return nil, err end
  answer, err = keep(service, intent, answer)
  if not answer then return nil, err end
  if answer.outcome ~= "undecided" then
    local id, over = answer.record and intents.id_of(answer.record), answer.outcome == "not_done"
    local entry = recent_calls.note(service.recent_calls, row, intent, id, over)
    entry.by_content = not intents.has_own_id(row, intent.params)
  end
  if answer.secret_lost and options.recreate then return recreate(look, answer) end
  return answer
end

return M
