-- SPDX-License-Identifier: MIT
-- Finding a call by its id, or else by its content. Each way asks once and returns an answer; NOTHING_YET when another
-- question might show more; or nil and an error. `question.late` is true once a record that exists must be seen.

local compare = require "purser.write.evidence.compare"
local find_content = require "purser.write.find_content"
local reading = require "purser.write.evidence.reading"
local operations = require "purser.api.operations"
local witnesses_of_none = require("purser.write.evidence.claims").NONE

local M = {}

local NOTHING_YET, ASK_AGAIN = find_content.NOTHING_YET, find_content.ASK_AGAIN
local undecided, has_failed = find_content.undecided, find_content.has_failed
local may_have_failed = find_content.may_have_failed

local REUSED = "(7) a record carries its id, which was used for another payment"

-- Returns whether a list shows windows of time.
local function is_by_time(question)
  local paging = operations.by_name[question.reconcile.lookup].paging
  return paging ~= nil and paging.time_member ~= nil
end

-- Asks for the call's window and what lies near it. What that shows to be done is; anything else is concluded from it
-- where answered calls show that nothing of it is hidden, and otherwise from the widest window.
local function ask_late(question, judge)
  local shown, err, why
  if is_by_time(question) and not question.window.is_planned then
    shown, err, why = reading.of(question, question.first, question.last, "near")
    if not shown then return nil, err, why end
    local answer, problem = judge(question, shown)
    if not answer or answer.outcome == "done" then return answer, problem end
    if reading.is_exact(question, shown, find_content.witnesses(question, shown)) then return answer end
    question.doubted, question.waits = false, false
  end
  shown, err, why = reading.of(question, question.first, question.last, "wide")
  if not shown then return nil, err, why end
  return judge(question, shown)
end

--- Finds the one record that agrees in all that can be compared.
function M.match(question)
  if question.late then return ask_late(question, find_content.judge) end
  if question.asks_early then
    local shown, err, why = reading.of(question, question.first, question.last, "early")
    if not shown then return nil, err, why end
  end
  return NOTHING_YET
end

--------------------------------------------------------------------------------------------------------------- by id

-- Returns the answer of a record that shows the call's own id, and is good; or nil, and one that is not.
local function judge_own(question, shown, witnesses)
  local name, params, other, contradicts = question.reconcile.client_id, question.intent.params, nil, false
  for _, record in ipairs(reading.with_id(shown, name, params[name])) do
    local is_another = compare.contradicts(params, record, witnesses)
    if not is_another and not has_failed(question, record) and not may_have_failed(question, record) then
      return find_content.found(question, record)
    end
    if not other or is_another then other, contradicts = record, is_another end
  end
  return nil, other, contradicts
end

-- Notes the records that may be the call's in another form: they may be gone when one must be visible.
local function note_alike(question, shown, other)
  -- an id that failed may be taken again, so another record of it may be on its way
  if other and not has_failed(question, other) then find_content.note_seen(question, { other }) end
  local records, name = {}, question.reconcile.client_id
  for _, record in ipairs(shown.records) do
    local at = record[question.reconcile.time_member]
    local is_near = type(at) == "number" and at >= question.first and at <= question.last
    local id = record[name]
    if is_near and (compare.is_blank(id) or id ~= question.intent.params[name]
      and compare.may_be_id(question.intent.params[name], id)) then
      local verdict = compare.judge(question.reconcile, question.intent.params, record, witnesses_of_none, "near")
      local is_alike = verdict == "same" or verdict == "may"
      if is_alike and not has_failed(question, record) then records[#records + 1] = record end
    end
  end
  local unclaimed, err = question.claims:unclaimed(records)
  if not unclaimed then return nil, err end
  find_content.note_seen(question, unclaimed)
  return NOTHING_YET
end

local AFTER_MS = 3600000 -- an id cannot be mistaken, so it is looked for with this much to spare
local MARGIN_MS = 60000

local function ask_early(question, how)
  local last = math.min(question.service:now() + MARGIN_MS, question.deadline + AFTER_MS)
  local shown, err, why = reading.of(question, question.first, math.max(last, question.first), how)
  if not shown then return nil, err, why end
  local answer, other = judge_own(question, shown, witnesses_of_none)
  if answer then return answer end
  return note_alike(question, shown, other)
end

-- Returns what a late reading says of a call that carries an id.
local function judge_id(question, shown)
  local witnesses, err = find_content.witnesses(question, shown)
  if not witnesses then return nil, err end
  local answer, other, contradicts = judge_own(question, shown, witnesses)
  if answer then return answer end
  if not other then return find_content.judge(question, shown) end
  if contradicts then return undecided({ other }, REUSED) end
  if shown.incomplete then return question:doubt(shown, { other }) end
  return find_content.found(question, other)
end

--- Finds a call by the id that it carries; where the service does not show that, by content.
function M.client_id(question)
  if question.intent.params[question.reconcile.client_id] == nil then return M.match(question) end
  local by_id = not question.service.readings and reading.has_id_filter(question.reconcile)
  if by_id or not question.late then
    local answer, err, why = ask_early(question, by_id and "id" or "early")
    if answer ~= NOTHING_YET or not question.late then return answer, err, why end
  end
  return ask_late(question, judge_id)
end

------------------------------------------------------------------------------------------------------------ missing

-- Returns ASK_AGAIN or an answer where the list was asked for by the name of a sub-account: it shows nothing, too,
-- where the service spells that name in another way.
local function judge_spelling(question)
  local reconcile, again = question.reconcile, false
  local asked = reading.question(reconcile, question.intent.params, question.spelled)
  local function run(row, params) return question.service:read(row, params) end
  for _, name in ipairs(reconcile.accounts and { "subAccount", "fromAccount", "toAccount" } or {}) do
    local spelled, err = asked[name], nil
    if spelled then
      spelled, err = reading.spelling_of(run, reconcile.accounts, spelled, question.service.readings)
    end
    if err and not reading.MAY_NOT_LIST[err.code] then return nil, err end
    if err then
      return undecided({}, "(6) nothing shows how the service spells the sub-account, because they cannot be listed: "
        .. err.message)
    elseif spelled == false and name == "subAccount" or question.spelled[name] == false then
      return undecided({}, ("(6) no sub-account is listed as %s, so what is listed for that name proves nothing")
        :format(question.intent.params[name] or spelled))
    end
    again, question.spelled[name] = again or spelled ~= asked[name], spelled
  end
  return again and ASK_AGAIN or nil
end

--- Returns what it means that a late, whole reading shows nothing: `not_done`, unless it was asked for in a way that
--- hides the record; or nil and an error.
function M.missing(question)
  local shown = question.shown
  if shown and shown.incomplete then return question:doubt(shown, {}) end
  if not (shown and shown.records[1]) then -- what is shown for a name shows that it is spelled so
    local answer, err = judge_spelling(question)
    if answer or err then return answer, err end
  end
  return { outcome = "not_done" }
end

return M
