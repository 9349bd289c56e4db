-- SPDX-License-Identifier: MIT
-- The ways to reconcile. Each looks once and returns a reconciliation; NOTHING_YET when another look might show more;
-- or nil and an error. `look.late` is true once a record that exists must be seen.

local compare = require "purser.write.reconcile.compare"
local conversion = require "purser.write.reconcile.conversion"
local intents = require "purser.write.intent"
local looks = require "purser.write.reconcile.look"
local operations = require "purser.api.operations"
local queries = require "purser.write.reconcile.queries"
local readings = require "purser.write.reconcile.readings"

local agrees, may_agree = compare.agrees, compare.may_agree
local contradicts, is_blank = compare.contradicts, compare.is_blank
local undecided, NOTHING_YET, RETRY_LOOK = looks.undecided, looks.NOTHING_YET, looks.RETRY_LOOK

local M = {}

-- Handles cannot be mistaken, so they are looked for with this much to spare.
local HANDLE_MARGIN_MS = 60000
local HANDLE_AFTER_MS = 3600000

local function has_failed(look, record)
  return look.reconcile.failed_status ~= nil and record.status == look.reconcile.failed_status
end

-- Words by which services say that nothing was transferred. The document has none of them.
local FAILURES = { "FAIL", "REJECT", "CANCEL", "ERROR", "REVERS", "REFUND", "RETURN" }
local FAILED_OTHERWISE = "the service shows it with a status by which it may have failed"

local function may_have_failed(look, record)
  local status = look.reconcile.failed_status and type(record.status) == "string" and record.status:upper() or ""
  for _, word in ipairs(FAILURES) do
    if status:find(word, 1, true) then return true end
  end
  return false
end

-- What a record that was found says.
local function found(look, record)
  if has_failed(look, record) then
    return { outcome = "not_done", record = record, reason = "the service kept it, as failed" }
  end
  if may_have_failed(look, record) then return undecided({ record }, FAILED_OTHERWISE) end
  return { outcome = "done", record = record }
end

local MISNAMED = "the service shows a record whose name may be the one that was sent"

-- What a look says that found records which may be the call's, and none that certainly is.
local function nothing_but(look, candidates, reason)
  if #candidates == 0 or not look.late then return NOTHING_YET end
  return undecided(candidates, reason)
end

-- What it means that a late look shows nothing: `not_done`. A list that was asked for by the name of a sub-account
-- shows nothing, too, where the service spells that name in another way. Then it is RETRY_LOOK: the next look asks in
-- that spelling, or without a name that is listed nowhere.
function M.missing(look)
  if look.reading and look.reading.incomplete then return look:doubt(look.reading, {}) end
  local asked, again = queries.ask(look), false
  for _, name in ipairs(look.reconcile.accounts and { "subAccount", "fromAccount", "toAccount" } or {}) do
    local spelled, err = asked[name], nil
    if spelled then spelled, err = queries.spelling_of(look, spelled) end
    if err and not queries.MAY_NOT_LIST[err.code] then return nil, err end
    if err then
      return undecided({}, "nothing shows how the service spells the sub-account, because they cannot be listed: "
        .. err.message)
    elseif spelled == false and name == "subAccount" or look.spelled[name] == false then
      return undecided({}, ("no sub-account is listed as %s, so what is listed for that name proves nothing")
        :format(name))
    end
    again, look.spelled[name] = again or spelled ~= asked[name], spelled
  end
  return again and RETRY_LOOK or { outcome = "not_done" }
end

-- How many equal calls may have made one of these records: those without a known end, and those that got the id of a
-- record that is not here. One of the latter may be too new to be listed; then there is more to wait for. Also the ids
-- that belong to them. Nil and an error when the journal cannot be read.
local function equal_calls_among(look, records)
  local claimed, open = look:equal_calls()
  if not claimed then return nil, open end
  local listed = {}
  for _, record in ipairs(records) do listed[intents.id_of(record) or ""] = true end
  for id, sent_at in pairs(claimed) do
    if not listed[id] and sent_at + look.service.recv_window + look.later >= look.first and sent_at <= look.last then
      open = open + 1
      look.deadline = math.max(look.deadline, sent_at + look.visible_ms)
    end
  end
  look.late = look.late and look.read_at >= look.deadline
  return claimed, open
end

-- Whether a call that is not equal may have made a record: it is known to have, or as far as its content shows.
local function may_have_made(other, record)
  local params, reconcile = other.intent.params, operations.by_name[other.intent.operation].reconcile
  if other.id then return other.id == intents.id_of(record) end
  local sent, shown = reconcile.generated_id and params[reconcile.client_id], record[reconcile.client_id]
  if sent and not is_blank(shown) and not compare.may_be_id(sent, shown) then return false end
  for _, name in ipairs(reconcile.copy_params or {}) do
    local requested, at = params[name], record[name]
    if requested ~= nil and not is_blank(at) and not compare.may_name(requested, at) then return false end
  end
  return may_agree(params, record, reconcile.match_on)
end

-- Adds the records that certainly belong to calls which are not equal to those that are claimed. Returns whether one of
-- the others may have made a record: a function; or nil and an error.
local function claim_for_others(look, claimed)
  local others, err = look:other_calls()
  if not others then return nil, err end
  for _, other in ipairs(others) do
    if other.id and other.is_certain then claimed[other.id] = claimed[other.id] or other.intent.sent_at end
  end
  return function(records)
    for _, record in ipairs(records) do
      for _, other in ipairs(others) do
        if may_have_made(other, record) then return true end
      end
    end
    return false
  end
end

-- The records that agree with the call, those that may, and those that may where the history is shifted by some hours.
local function compared(look, reading, claimed)
  local reconcile, params = look.reconcile, look.intent.params
  local exact, near, shifted = {}, {}, {}
  for _, record in ipairs(reading.records) do
    local shift = not claimed[intents.id_of(record) or ""] and may_agree(params, record, reconcile.candidate_on
      or reconcile.match_on)
      and look:shift_of(record, reading, claimed)
    if shift == 0 then
      near[#near + 1] = record
      local has_no_id = not reconcile.generated_id or is_blank(record[reconcile.client_id]) -- as the call has none
      if has_no_id and agrees(params, record, reconcile.match_on) then exact[#exact + 1] = record end
    elseif shift then
      shifted[#shifted + 1] = record
    end
  end
  return exact, near, shifted
end

-- What a late look says that found no record of equal content in the window of the call.
local function nothing_near(look, shifted)
  if #shifted > 0 then return undecided(shifted, looks.SHIFTED) end
  local misplaced, err = look:misplaced()
  if err then return nil, err end
  return misplaced and undecided({}, looks.MISPLACED) or NOTHING_YET
end

local FORGOTTEN = "it is so long ago that this client has forgotten which calls it made then, and one of them could "
  .. "have made it as well; a journal forgets none"

local function match_once(look, narrow)
  local reading, err, why = look:list(look.first, look.last, narrow)
  if not reading then return nil, err, why end
  local claimed, open = equal_calls_among(look, reading.records)
  if not claimed then return nil, open end
  local may_be_of_others, problem = claim_for_others(look, claimed)
  if not may_be_of_others then return nil, problem end
  local exact, near, shifted = compared(look, reading, claimed)
  if #near == 0 and look.late and not narrow then return nothing_near(look, shifted) end
  if #near == 0 or not look.late then return NOTHING_YET end
  if reading.incomplete then return look:doubt(reading, near) end
  if look:has_forgotten_calls() then return undecided(near, FORGOTTEN) end
  if may_be_of_others(near) then return undecided(near, "another call could have made it as well") end
  if #exact == 1 and #near == 1 and open == 0 then return found(look, exact[1]) end
  if open > 0 then return undecided(near, "an equal call without a known end could have made it as well") end
  return undecided(near, #exact > 1 and "more than one record matches" or "a record matches in part")
end

function M.match(look)
  return look:narrow_then_broad(match_once)
end

local UNNAMED = "the service shows a record of equal content without any id, which may be this call's"
local SPELLED = "the service shows a record of equal content whose id may be the one that was sent, in another spelling"

-- The records that show the id of the call, or one that may be it, and those without one. Of a shared reading they are
-- found by an index.
local function with_id(look, reading)
  local name = look.reconcile.client_id
  if not reading.shared then return reading.records end
  return readings.alike(reading.shared, name, look.intent.params[name])
end

-- The records of equal content that do not show the id, and why they may be the call's.
local function unnamed_among(look, reading, claimed)
  local name, params = look.reconcile.client_id, look.intent.params
  local unnamed, reason = {}, UNNAMED
  for _, record in ipairs(with_id(look, reading)) do
    local shown = record[name]
    local may_be = shown ~= params[name] and (is_blank(shown) or compare.may_be_id(params[name], shown))
    if may_be and not claimed[intents.id_of(record) or ""] and not has_failed(look, record)
      and may_agree(params, record, look.reconcile.match_on) and look:shift_of(record, reading, claimed) then
      unnamed[#unnamed + 1] = record
      if not is_blank(shown) then reason = SPELLED end
    end
  end
  return unnamed, reason
end

local VANISHED = "the service showed a record that may be the call's, and shows it no more"

-- Notes the records that may be the call's before one must be visible.
local function note_seen(look, records)
  look.seen = look.seen or {}
  for _, record in ipairs(records) do look.seen[intents.id_of(record) or ""] = record end
  look.seen[""] = nil
end

-- Those of them that the reading does not show.
local function vanished_from(look, reading)
  local left, list = {}, {}
  for id, record in pairs(look.seen or {}) do left[id] = record end
  for _, record in ipairs(next(left) and reading.records or {}) do left[intents.id_of(record) or ""] = nil end
  for _, record in pairs(left) do list[#list + 1] = record end
  return list
end

-- What a look says of the records that do not show the call's id.
local function judge_unnamed(look, reading, claimed)
  local unnamed, reason = unnamed_among(look, reading, claimed)
  if not look.late then
    note_seen(look, unnamed)
  elseif #unnamed == 0 then
    local vanished = vanished_from(look, reading)
    if vanished[1] then return undecided(vanished, VANISHED) end
  end
  return nothing_but(look, unnamed, reason)
end

local function handle_once(look, narrow)
  local name, params = look.reconcile.client_id, look.intent.params
  local last = math.min(look.service:now() + HANDLE_MARGIN_MS, look.deadline + HANDLE_AFTER_MS)
  local reading, err, why = look:list(look.first, last, narrow)
  if not reading then return nil, err, why end
  local claimed, open = look:equal_calls()
  if not claimed then return nil, open end
  local other
  for _, record in ipairs(with_id(look, reading)) do
    if record[name] == params[name] then
      local matches = not contradicts(params, record)
      if matches and not has_failed(look, record) and not may_have_failed(look, record) then
        return found(look, record)
      end
      if not other or not matches then other = record end
    end
  end
  -- An id that failed may be taken again, so another record of it may be on its way.
  if other and not look.late and not has_failed(look, other) then note_seen(look, { other }) end
  if not other or not look.late then return judge_unnamed(look, reading, claimed) end
  if contradicts(params, other) then return undecided({ other }, "the id was used for another payment") end
  if reading.incomplete then return look:doubt(reading, { other }) end
  return found(look, other)
end

function M.client_id(look)
  if not look.intent.params[look.reconcile.client_id] then return M.match(look) end
  return look:narrow_then_broad(handle_once)
end

local UNDATED = "the service shows the name, and not when it was taken, so it may have been taken before the call"
local LATER = "the name was taken later than the call can have taken it"

-- Whose a record is that shows the requested name: a name can be taken only once. Returns an answer; or nil, and why
-- nothing is proven.
local function holder_of_name(look, reading, record)
  local at = record[look.reconcile.time_member]
  if type(at) ~= "number" then return nil, UNDATED end
  if at >= look.first and at <= look.last then return { outcome = "done", record = record } end
  if look:shift_of(record, reading, {}) then return nil, looks.SHIFTED end
  if at > look.last then return nil, LATER end
  return { outcome = "not_done", record = record, reason = "the name had been taken before" }
end

local function name_once(look, narrow)
  local name, time = look.reconcile.client_id, look.reconcile.time_member
  local requested, candidates, reason = look.intent.params[name], {}, MISNAMED
  local reading, err, why = look:list(0, 0, narrow)
  if not reading then return nil, err, why end
  for _, record in ipairs(reading.records) do
    local at, shown = record[time], record[name]
    local is_older = type(at) == "number" and at < look.first
    if shown == requested then
      local answer, doubt = holder_of_name(look, reading, record)
      if answer then return answer end
      candidates[#candidates + 1], reason = record, doubt
    elseif not is_older and (is_blank(shown) or compare.may_be_id(requested, shown)) then
      candidates[#candidates + 1] = record
    end
  end
  return nothing_but(look, candidates, reason)
end

function M.name(look)
  return look:narrow_then_broad(name_once)
end

function M.token(look)
  local answer, err, why = M.match(look)
  if answer and answer.outcome == "done" then answer.secret_lost = true end
  return answer, err, why
end

-- Whether a record is in the state that the call requested.
local states = {}

function states.present(_, record)
  if record then return { outcome = "done", record = record } end
  return NOTHING_YET
end

-- What is missing early may be too new to be listed; only later is it gone.
function states.absent(look, record)
  if not record and look.late then
    local answer, err, why = M.missing(look)
    if answer and answer.outcome == "not_done" then return { outcome = "done" } end
    return answer, err, why
  end
  if record and look.late then return { outcome = "not_done", record = record } end
  return NOTHING_YET
end

local CANCELLED = 9
local TOO_FAR = { [5] = true, [6] = true, [7] = true, [8] = true } -- packaged, sent, ended
local NOT_YET = { [1] = true, [2] = true, [3] = true, [4] = true, [10] = true } -- it could still be cancelled

-- A withdrawal that is not shown any more, or is in a state that no document names, may have been cancelled.
function states.cancelled(look, record)
  local status = record and record.status
  if status == CANCELLED then return { outcome = "done", record = record } end
  if TOO_FAR[status] then
    return { outcome = "not_done", record = record, reason = "the withdrawal has gone too far" }
  end
  if not look.late then return NOTHING_YET end
  if NOT_YET[status] then return { outcome = "not_done", record = record } end
  if not record then return undecided({}, "the service does not show the withdrawal, which may have been cancelled") end
  return undecided({ record }, "the service shows the withdrawal in no state that says whether it was cancelled")
end

local NINETY_DAYS = 90 * 86400000

-- Whether a record that does not show the name that is looked for may be it: names are left out, hidden in part or cut.
local function may_be_named(shown, requested)
  return is_blank(shown) or tostring(shown):find("*", 1, true) ~= nil or compare.may_be_id(requested, shown)
end

local function state_once(look, narrow)
  local name = look.reconcile.client_id
  local now = look.service:now()
  local reading, err, why = look:list(now - NINETY_DAYS + 60000, now, narrow)
  if not reading then return nil, err, why end
  local record
  local candidates = {}
  for _, other in ipairs(reading.records) do
    local shown, requested = other[name], look.intent.params[name]
    if shown == requested then
      record = other
    elseif may_be_named(shown, requested) then
      candidates[#candidates + 1] = other
    end
  end
  if not record and #candidates > 0 then return nothing_but(look, candidates, MISNAMED) end
  return states[look.reconcile.target_state](look, record)
end

function M.state(look)
  return look:narrow_then_broad(state_once)
end

-- Doing it twice is the same as doing it once.
M["repeat"] = function(look)
  local record, err = look.service:read(look.row, look.intent.params)
  if record then return { outcome = "done", record = record } end
  if err.outcome == "rejected" and err.kind ~= "throttled" then
    return { outcome = "not_done", reason = "it was rejected when it was repeated: " .. err.message }
  end
  return nil, err
end

-- Nothing identifies it. A record that carries the same remark reconciles that it was done; nothing ever reconciles
-- that it was not.
function M.nothing(look)
  local answer, err, why = M.match(look)
  if not answer then
    if err and err.phase == "journal" then return nil, err end
    return undecided({}, "nothing identifies it, and the history cannot be read: " .. (err and err.message or why))
  end
  if answer.outcome == "done" and not look.intent.params.remark then
    return undecided({ answer.record }, "one record matches, but without a remark nothing says that it is this one")
  end
  if answer == NOTHING_YET and look.late then
    return undecided({}, "nothing identifies it but its remark; a person must look")
  end
  return answer
end

M.conversion = conversion

-- Only their content identifies these calls: an equal record may come until the deadline.
local only_late = { match = true, token = true, nothing = true }

--- Whether a look may decide before a record that exists must be seen.
function M.decides_early(look)
  if look.reconcile.strategy == "client_id" then return look.intent.params[look.reconcile.client_id] ~= nil end
  return not only_late[look.reconcile.strategy]
end

return M
