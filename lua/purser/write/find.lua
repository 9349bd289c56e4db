-- SPDX-License-Identifier: MIT
-- The ways to find out what became of a call, by the strategies of rows: by its id or content; a name, a key or a
-- state; a conversion. Each way asks once, and returns an answer; nil when another question might show more; or nil and
-- an error. `question.seen.late` is true once a record
-- that exists must be seen.

local answers = require "purser.write.answers"
local match = require "purser.write.match"
local networks = require "purser.client.operations.network"
local operations = require "purser.client.operations"
local reading = require "purser.write.reading"

local M = {}

local undecided, is_blank = match.undecided, answers.is_blank

-- Returns a way that asks for the call's own id first, where the list can be asked for that, and then for all.
local function by_id_first(once)
  return function(question, how)
    local reconcile, is_planned = question.reconcile, question.window.is_planned
    local is_first = how == "early" or how == "wide" and not is_planned
    local has_filter = reconcile.narrow and question.intent.params[reconcile.client_id] ~= nil
    if is_first and has_filter and not question.service.readings then
      local answer, err = once(question, "id")
      if err or answer and answer.outcome ~= "undecided" or not question.seen.late then return answer, err end
    end
    return once(question, how)
  end
end

-- Returns the answer of records that may be the call's.
local function nothing_but(question, candidates, why)
  return question.seen.late and candidates[1] and undecided(candidates, why) or nil
end

--- Finds a call by the id that it carries; where the service does not show that, by content.
M.match = by_id_first(match.find)
M.client_id = M.match

---------------------------------------------------------------------------------------------------------------- a name

-- Returns whether a shown name may be the requested one: absent, masked, cut, or with other signs in between.
local function may_be_name(requested, shown)
  if is_blank(shown) or tostring(shown):find("*", 1, true) or answers.is_loosely(tostring(shown), requested) then
    return true
  end
  local a, b = requested:lower():gsub("[^a-z0-9]", ""), tostring(shown):lower():gsub("[^a-z0-9]", "")
  return a:find(b, 1, true) ~= nil or b:find(a, 1, true) ~= nil
end

-- Returns whether a record shows the requested name; nil where the name may be: networks have several names.
local function is_named(record, name, requested)
  if record[name] == requested then return true end
  if name ~= "network" and not may_be_name(requested, record[name]) then return false end
  for _, member in ipairs(name == "network" and { "network", "netWork" } or {}) do
    if not is_blank(record[member]) then
      local is_same = networks.same(requested, tostring(record[member]))
      if is_same ~= nil then return is_same end
    end
  end
end

-- Returns the records that show the name of the call, and those whose name may be it; or nil and an error.
local function named(question, how, first, last)
  local shown, err = reading.of(question, how, first, last)
  if not shown then return nil, err end
  question:unite(shown)
  local name, found, similar = question.reconcile.client_id, {}, {}
  for _, record in ipairs(question.seen.union.records) do
    local is_own = is_named(record, name, question.intent.params[name])
    if is_own then found[#found + 1] = record elseif is_own == nil then similar[#similar + 1] = record end
  end
  return found, similar
end

local SHIFTED_MS = 14 * 3600000 -- by how much
local QUARTER_MS = 900000 -- by whole quarters of an hour time zones differ

-- Returns whether a time lies in the call's window if it is counted in another time zone.
local function may_be_shifted(question, at)
  local shift = math.floor((at - question.first) / QUARTER_MS) * QUARTER_MS
  return shift ~= 0 and at - shift <= question.last and math.abs(shift) <= SHIFTED_MS
end

-- Returns what a record says that shows the requested name, which can be taken only once; nil where nothing is proven.
local function judge_holder(question, record)
  local at = record[question.reconcile.time_member]
  if type(at) ~= "number" or at > question.last then return nil end
  if at >= question.first then return { outcome = "done", record = record } end
  if may_be_shifted(question, at) then return nil end
  return { outcome = "not_done", record = record, reason = "the name had been taken before" }
end

M.name = by_id_first(function(question, how)
  local holders, similar = named(question, how, 0, 0)
  if not holders then return nil, similar end
  for _, record in ipairs(holders) do
    local answer = judge_holder(question, record)
    if answer then return answer end
  end
  if holders[1] then return nothing_but(question, holders, "times") end
  local candidates = {}
  for _, record in ipairs(similar) do
    local at = record[question.reconcile.time_member]
    if type(at) ~= "number" or at >= question.first then candidates[#candidates + 1] = record end
  end
  return nothing_but(question, candidates, "similar")
end)

----------------------------------------------------------------------------------------------------------------- a key

function M.token(question, how)
  local answer, err = M.match(question, how)
  if answer and answer.outcome == "done" then answer.secret_lost = true end
  return answer, err
end

------------------------------------------------------------------------------------------------------------ missing

-- Judges a list that was asked for by the name of a sub-account of unproved spelling: that list proves nothing. Returns
-- an answer; nil, perhaps to ask with another spelling; or nil and an error.
local function judge_spelling(question)
  local reconcile, again = question.reconcile, false
  local asked = reading.question(reconcile, question.intent.params, question.seen.spelled)
  local function run(row, params) return question.service:read(row, params) end
  for _, name in ipairs(reconcile.accounts and { "subAccount", "fromAccount", "toAccount" } or {}) do
    local spelled, err = asked[name], nil
    if spelled then
      spelled, err = reading.spelling_of(run, reconcile.accounts, spelled, question.service.readings)
    end
    if err and not reading.MAY_NOT_LIST[err.code] then return nil, err end
    if err then
      return undecided({}, "incomplete", "nothing shows how the service spells the sub-account, because they cannot "
        .. "be listed: " .. err.message)
    elseif spelled == false and name == "subAccount" or question.seen.spelled[name] == false then
      return undecided({}, "incomplete", ("no sub-account is listed as %s, so what is listed for it proves nothing")
        :format(question.intent.params[name] or spelled))
    end
    again, question.seen.spelled[name] = again or spelled ~= asked[name], spelled
  end
  question.next.waits = again
end

--- Returns the answer of a late, whole reading without the record: `not_done`, unless the question hid the record; or
--- nil and an error.
function M.missing(question)
  local shown = question.seen.shown
  if shown and shown.incomplete then return question:doubt {} end
  if not (shown and shown.records[1]) then -- what is shown for a name shows that it is spelled so
    local answer, err = judge_spelling(question)
    if answer or err or question.next.waits then return answer, err end
  end
  return { outcome = "not_done" }
end

--------------------------------------------------------------------------------------------------------------- a state

-- Each returns an answer by the requested state and the record, or none.
local states = {}

function states.present(_, record)
  return record and { outcome = "done", record = record } or nil
end

-- A record that is missing early may be too new to be listed.
function states.absent(question, record)
  if not question.seen.late then return nil end
  if record then return { outcome = "not_done", record = record } end
  local answer, err = M.missing(question)
  if answer and answer.outcome == "not_done" then return { outcome = "done" } end
  return answer, err
end

local CANCELLED = 9
local TOO_FAR = { [5] = true, [6] = true, [7] = true, [8] = true } -- packaged, sent, ended
local NOT_YET = { [1] = true, [2] = true, [3] = true, [4] = true, [10] = true } -- it could still be cancelled

-- A withdrawal that is not shown any more, or is in a state that no document names, may have been cancelled.
function states.cancelled(question, record)
  local status = record and record.status
  if status == CANCELLED then return { outcome = "done", record = record } end
  if TOO_FAR[status] then
    return { outcome = "not_done", record = record, reason = "the withdrawal has gone too far" }
  end
  if not question.seen.late then return nil end
  if NOT_YET[status] then return { outcome = "not_done", record = record } end
  return undecided({ record }, "state")
end

local NINETY_DAYS = 90 * 86400000

M.state = by_id_first(function(question, how)
  local now, first, last = question.service:now(), 0, 0 -- of a list without windows
  if reading.is_history(question.reconcile) then first, last = now - NINETY_DAYS + 60000, now end
  local found, similar = named(question, how, first, last)
  if not found then return nil, similar end
  local own = found[#found]
  if own and question.seen.late and not reading.with_id(question.seen.shown, question.reconcile.client_id,
    own[question.reconcile.client_id])[1] then
    question.seen.doubted = true
    return undecided({ own }, "vanished")
  end
  if not found[1] and similar[1] then return nothing_but(question, similar, "similar") end
  return states[question.reconcile.target_state](question, own)
end)

-------------------------------------------------------------------------------------------------------------- the rest

-- Doing it twice is the same as doing it once.
M["repeat"] = function(question)
  local record, err = question.service:read(question.row, question.intent.params)
  if record then return { outcome = "done", record = record } end
  if err.outcome == "rejected" and err.kind ~= "throttled" then
    return { outcome = "not_done", reason = "it was rejected when it was repeated: " .. err.message }
  end
  return nil, err
end

-- A record with the call's remark shows `done`; nothing ever shows `not_done`.
function M.nothing(question, how)
  local answer, err = M.match(question, how)
  if answer and answer.outcome == "done" and not question.intent.params.remark then
    return undecided({ answer.record }, "remark")
  end
  if answer or question.window.is_planned or err and err.phase == "journal" then return answer, err end
  if err then return undecided({}, "incomplete", "the history cannot be read: " .. err.message) end
  if not question.seen.late or question.next.waits then return nil end
  return undecided({}, "remark")
end

---------------------------------------------------------------------------------------------------------- a conversion

-- Neither batches nor answers have an id, so another call for coins of a batch may have made it.
local coins_of = answers.coins_of

-- Returns whether a batch may be of a call for these coins: it holds no other. One that shows no coins may be of any.
local function may_hold(batch, coins)
  for _, detail in ipairs(batch.convertDetails or {}) do
    if not is_blank(detail.asset) and not coins[detail.asset:upper()] then return false end
  end
  return true
end

-- Returns the batches of the call's window that may be its, and those of other times.
local function matching(question, shown)
  local asked, found, elsewhere = coins_of(question.intent.params), {}, {}
  for _, batch in ipairs(shown.records) do
    local at = may_hold(batch, asked) and batch[question.reconcile.time_member]
    if at and at >= question.first and at <= question.last then
      found[#found + 1] = batch
    elseif at and may_be_shifted(question, at) then
      elsewhere[#elsewhere + 1] = batch
    end
  end
  return found, elsewhere
end

-- Returns what is concluded from one batch that matches.
local function judge_batch(question, batch)
  if #(batch.convertDetails or {}) == 0 then
    return undecided({ batch }, "similar")
  end
  local first, last = question.first - question.visible_ms, question.last
  local calls, err = question.claims:open_calls(first, last, question.later)
  if not calls then return nil, err end
  local made
  made, err = question.claims:made_calls(first, last)
  if not made then return nil, err end
  for _, call in ipairs(made) do calls[#calls + 1] = call end
  for _, call in ipairs(calls) do
    if may_hold(batch, coins_of(call.params)) then
      return undecided({ batch }, "rival")
    end
  end
  if question.claims:has_forgotten(question.first, question.later) then
    return undecided({ batch }, "forgotten")
  end
  return { outcome = "done", record = batch }
end

-- Returns what the coins of a conversion say where no batch matches: one that can still be converted was not.
local function ask_coins(question)
  local function run(...) return question.service:read(...) end
  local coins, err = reading.all(run, operations.by_name[question.reconcile.second_list], {}, 0, 0)
  if not coins then return nil, err end
  local asked = coins_of(question.intent.params)
  for _, coin in ipairs(coins) do
    if asked[tostring(coin.asset):upper()] and not coin.code then return { outcome = "not_done" } end
  end
  return undecided({}, "state")
end

function M.conversion(question, how)
  local shown, err = reading.of(question, how)
  if not shown or not question.seen.late then return nil, err end
  question:unite(shown)
  local found, elsewhere = matching(question, question.seen.union)
  if shown.incomplete then return question:doubt(found) end
  if #found > 1 then return undecided(found, "similar") end
  if found[1] then return judge_batch(question, found[1]) end
  if elsewhere[1] then return undecided(elsewhere, "times") end
  if question.window.was_rejected then return { outcome = "not_done" } end -- made again, it converts what is left
  return ask_coins(question)
end

return M
