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
local check_intent = require "purser.exactly_once.reconcile.check_intent"
local compare = require "purser.exactly_once.reconcile.compare"
local errors = require "purser.call.errors"
local intents = require "purser.exactly_once.intent"
local operations = require "purser.api.operations"
local queries = require "purser.exactly_once.reconcile.queries"
local recent_calls = require "purser.exactly_once.reconcile.recent_calls"
local full_list = require "purser.exactly_once.reconcile.full_list"

local M = {}

---@class purser.Reconciliation
---@field outcome "done"|"not_done"|"undecided"
---@field record table|nil        done: what the service keeps of it
---@field candidates table[]|nil  undecided: the records that might be it
---@field reason string|nil       undecided, not_done: why
---@field secret_lost boolean|nil  done: the key was made, and nobody will ever know its secret
---@field replaced string|nil      done: the key with the lost secret, deleted in favour of `record`
---@field not_before integer|nil   undecided with wait = false: when to ask again, epoch ms

---@class purser.ReconcileOptions
---@field visibility_delay_ms integer|nil   how long a new record may be missing from lists (default: the client's)
---@field skew_ms integer|nil  by how much records' times may differ from the service's clock (default 5000)
---@field poll_ms integer|nil  pause between two looks (default 1000)
---@field wait boolean|nil     false: do not wait, answer undecided with not_before instead
---@field recreate boolean|nil   a key whose secret was lost is deleted and made again

local rules = { visibility_delay_ms = { 0 }, skew_ms = { 0 }, poll_ms = { 0 }, wait = "boolean", recreate = "boolean" }

--- What is wrong with options of reconcile, and with which; or nil.
---@return string|nil message, string|nil name
function M.check_options(options)
  return option_schema.check(options, rules, "reconcile option")
end

-- Ids cannot be mistaken, so they are looked for with this much to spare.
local ID_MARGIN_MS = 60000
local ID_AFTER_MS = 3600000
-- The service takes a timestamp that is up to a second ahead of its clock, so by its clock we may be early by as much.
local AHEAD_MS = 1000

local agrees, may_agree, within = compare.agrees, compare.may_agree, compare.within
local contradicts, is_blank = compare.contradicts, compare.is_blank

local function journal_error(message)
  return errors.new { kind = "config", outcome = "unknown", phase = "journal",
    message = "journal: " .. message }
end

------------------------------------------------------------------------------------------------------ looking

-- Lists records between two times. Of a list that cannot be shown to be complete `look.incomplete` says why: what is in
-- it is there, and what is not in it may be there all the same. Nil, nil and why when there is no such list at all.
local function list(look, first, last, narrow)
  local through = operations.by_name[look.reconcile.lookup]
  local records, err, why = full_list.all(look.read, through, queries.ask(look, narrow), first, last,
    look.reconcile.time_member)
  look.incomplete = records and why
  return records, err, why
end

local function undecided(candidates, reason)
  return { outcome = "undecided", candidates = candidates, reason = reason }
end

local function has_failed(look, record)
  return look.reconcile.failed_status ~= nil and record.status == look.reconcile.failed_status
end

-- What a record that was found says.
local function found(look, record)
  if has_failed(look, record) then
    return { outcome = "not_done", record = record, reason = "the service kept it, as failed" }
  end
  return { outcome = "done", record = record }
end

local NOTHING_YET, RETRY_LOOK = {}, {}

-- Looks by a narrow question, which finds most records with one request; and where that shows nothing, and a record
-- that exists must be seen, by the broad one.
local function narrow_then_broad(look, way)
  local answer, err, why = way(look, true)
  if answer ~= NOTHING_YET or not look.late or queries.are_same(look) then return answer, err, why end
  return way(look, false)
end

-- What a look says that found records which may be the call's, and none that certainly is.
local function nothing_but(look, candidates, reason)
  if #candidates == 0 or not look.late then return NOTHING_YET end
  return undecided(candidates, reason)
end

-- The codes by which the service says for good that this key does not list sub-accounts: it lacks a permission, or its
-- account is no broker. Any other rejection may pass, so it is an error of the look.
local MAY_NOT_LIST = { ["700007"] = true, ["730603"] = true }

-- What it means that a late look shows nothing: `not_done`. A list that was asked for by the name of a sub-account
-- shows nothing, too, where the service spells that name in another way. Then it is RETRY_LOOK: the next look asks in
-- that spelling, or without a name that is listed nowhere.
local function missing(look)
  if look.incomplete then return undecided({}, look.incomplete) end
  local asked, again = queries.ask(look), false
  for _, name in ipairs(look.reconcile.accounts and { "subAccount", "fromAccount", "toAccount" } or {}) do
    local spelled, err = asked[name], nil
    if spelled then spelled, err = queries.spelling_of(look, spelled) end
    if err and not MAY_NOT_LIST[err.code] then return nil, err end
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

-- The strategies. Each looks once and returns a reconciliation; NOTHING_YET when another look might show more;
-- or nil and an error. `look.late` is true once a record that exists must be seen.
local strategies = {}

-- How many equal calls may have made one of these records: those without a known end, and those that got the id of a
-- record that is not here. One of the latter may be too new to be listed; then there is more to wait for. Also the ids
-- that belong to them. Nil and an error when the journal cannot be read.
local function equal_calls_among(look, records, first, last)
  local claimed, open = look.equal_calls(first)
  if not claimed then return nil, journal_error(open) end
  local listed = {}
  for _, record in ipairs(records) do listed[intents.id_of(record) or ""] = true end
  for id, sent_at in pairs(claimed) do
    if not listed[id] and sent_at >= first and sent_at <= last then
      open = open + 1
      look.deadline = math.max(look.deadline, sent_at + look.visible_ms)
    end
  end
  look.late = look.late and look.now() >= look.deadline
  return claimed, open
end

local function by_match(look)
  local reconcile, params = look.reconcile, look.intent.params
  local first = look.intent.sent_at - AHEAD_MS - look.skew_ms
  local last = look.last
  local records, err, why = list(look, first, last)
  if not records then return nil, err, why end
  local claimed, open = equal_calls_among(look, records, first, last)
  if not claimed then return nil, open end
  local exact, near = {}, {}
  for _, record in ipairs(records) do
    if within(record, reconcile.time_member, first, last) and not claimed[intents.id_of(record) or ""]
      and may_agree(params, record, reconcile.candidate_on or reconcile.match_on) then
      near[#near + 1] = record
      if agrees(params, record, reconcile.match_on) then exact[#exact + 1] = record end
    end
  end
  if #near == 0 or not look.late then return NOTHING_YET end
  if look.incomplete then return undecided(near, look.incomplete) end
  if #exact == 1 and #near == 1 and open == 0 then return found(look, exact[1]) end
  if open > 0 then return undecided(near, "an equal call without a known end could have made it as well") end
  return undecided(near, #exact > 1 and "more than one record matches" or "a record matches in part")
end

strategies.match = by_match

local UNNAMED = "the service shows a record of equal content without any id, which may be this call's"
local SPELLED = "the service shows a record of equal content whose id may be the one that was sent, in another spelling"

local function by_client_id(look, narrow)
  local name, params = look.reconcile.client_id, look.intent.params
  local first = look.intent.sent_at - AHEAD_MS - look.skew_ms
  local last = math.min(look.now() + ID_MARGIN_MS, look.deadline + ID_AFTER_MS)
  local records, err, why = list(look, first, last, narrow)
  if not records then return nil, err, why end
  local claimed, open = look.equal_calls(first)
  if not claimed then return nil, journal_error(open) end
  local other
  local unnamed, reason = {}, UNNAMED
  for _, record in ipairs(records) do
    if record[name] == params[name] then
      local matches = not contradicts(params, record)
      if matches and not has_failed(look, record) then return found(look, record) end
      if not other or not matches then other = record end
    elseif (is_blank(record[name]) or compare.may_be_id(params[name], record[name]))
      and within(record, look.reconcile.time_member, first, look.last)
      and not claimed[intents.id_of(record) or ""] and not has_failed(look, record)
      and may_agree(params, record, look.reconcile.match_on) then
      unnamed[#unnamed + 1] = record
      if not is_blank(record[name]) then reason = SPELLED end
    end
  end
  -- An id that failed may be taken again, so another record of it may be on its way.
  if not other or not look.late then return nothing_but(look, unnamed, reason) end
  if contradicts(params, other) then return undecided({ other }, "the id was used for another payment") end
  if look.incomplete then return undecided({ other }, look.incomplete) end
  return found(look, other)
end

function strategies.client_id(look)
  if not look.intent.params[look.reconcile.client_id] then return by_match(look) end
  return narrow_then_broad(look, by_client_id)
end

-- A name can be taken only once, so a record of that name is ours unless it is older than the call.
local function by_name(look, narrow)
  local name, time = look.reconcile.client_id, look.reconcile.time_member
  local requested, candidates = look.intent.params[name], {}
  local records, err, why = list(look, 0, 0, narrow)
  if not records then return nil, err, why end
  for _, record in ipairs(records) do
    local at, shown = record[time], record[name]
    local is_older = type(at) == "number" and at < look.intent.sent_at - AHEAD_MS - look.skew_ms
    if shown == requested then
      if not is_older then return { outcome = "done", record = record } end
      return { outcome = "not_done", record = record, reason = "the name had been taken before" }
    elseif not is_older and (is_blank(shown) or tostring(shown):lower() == requested:lower()) then
      candidates[#candidates + 1] = record
    end
  end
  return nothing_but(look, candidates, "the service shows a record whose name may be the one that was sent")
end

function strategies.name(look)
  return narrow_then_broad(look, by_name)
end

function strategies.token(look)
  local answer, err, why = by_match(look)
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
    local answer, err, why = missing(look)
    if answer and answer.outcome == "not_done" then return { outcome = "done" } end
    return answer, err, why
  end
  if record and look.late then return { outcome = "not_done", record = record } end
  return NOTHING_YET
end

local CANCELLED, PACKAGING = 9, 5

function states.cancelled(look, record)
  if not record then return NOTHING_YET end
  if record.status == CANCELLED then return { outcome = "done", record = record } end
  local beyond = type(record.status) == "number" and record.status >= PACKAGING and record.status <= 8
  if beyond or look.late then
    return { outcome = "not_done", record = record,
      reason = beyond and "the withdrawal has gone too far" or nil }
  end
  return NOTHING_YET
end

local NINETY_DAYS = 90 * 86400000

-- Whether a record that does not show the name that is looked for may be it: names are left out, or hidden in part.
local function may_be_named(shown, requested)
  return is_blank(shown)
    or type(shown) == "string" and (shown:find("*", 1, true) ~= nil or shown:lower() == requested:lower())
end

local function by_state(look, narrow)
  local name = look.reconcile.client_id
  local now = look.now()
  local records, err, why = list(look, now - NINETY_DAYS + 60000, now, narrow)
  if not records then return nil, err, why end
  local record
  local candidates = {}
  for _, other in ipairs(records) do
    local shown, requested = other[name], look.intent.params[name]
    if shown == requested then
      record = other
    elseif may_be_named(shown, requested) then
      candidates[#candidates + 1] = other
    end
  end
  if not record and #candidates > 0 then
    return nothing_but(look, candidates, "the service shows a record whose name may be the one that was sent")
  end
  return states[look.reconcile.target_state](look, record)
end

function strategies.state(look)
  return narrow_then_broad(look, by_state)
end

-- Doing it twice is the same as doing it once.
strategies["repeat"] = function(look)
  local record, err = look.read(look.row, look.intent.params)
  if record then return { outcome = "done", record = record } end
  if err.outcome == "rejected" and err.kind ~= "throttled" then
    return { outcome = "not_done", reason = "it was rejected when it was repeated: " .. err.message }
  end
  return nil, err
end

-- Nothing identifies it. A record that carries the same remark reconciles that it was done; nothing ever reconciles
-- that it was not.
function strategies.nothing(look)
  local answer, err, why = by_match(look)
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

local function coins_of(intent)
  local coins = {}
  for coin in intent.params.asset:upper():gmatch "[^,]+" do coins[coin] = true end
  return coins
end

-- Whether a batch may be of a call for these coins: it holds no other. One that shows no coins may be of any.
local function may_hold(batch, coins)
  for _, detail in ipairs(batch.convertDetails or {}) do
    if not is_blank(detail.asset) and not coins[detail.asset:upper()] then return false end
  end
  return true
end

-- C13: a batch whose coins were all asked for; where there is none, the coins themselves say whether there is still
-- something to convert. Neither batches nor answers have an id, so another call for coins of a batch may have made it.
function strategies.conversion(look)
  local first = look.intent.sent_at - AHEAD_MS - look.skew_ms
  local last = look.last
  local batches, err, why = list(look, first, last)
  if not batches then return nil, err, why end
  local asked, matching = coins_of(look.intent), {}
  for _, batch in ipairs(batches) do
    if within(batch, look.reconcile.time_member, first, last) and may_hold(batch, asked) then
      matching[#matching + 1] = batch
    end
  end
  local claimed, open = look.equal_calls(first)
  if not claimed then return nil, journal_error(open) end
  if not look.late then return NOTHING_YET end
  if look.incomplete then return undecided(matching, look.incomplete) end
  if #matching > 1 then return undecided(matching, "more than one batch matches") end
  local batch = matching[1]
  if batch then
    if #(batch.convertDetails or {}) == 0 then
      return undecided(matching, "a batch that shows no coins matches in part")
    end
    local others = recent_calls.others(look.host.recent_calls, look.row, look.intent, first, last)
    for _, other in ipairs(others) do
      if may_hold(batch, coins_of(other)) then open = open + 1 end
    end
    if open > 0 then return undecided(matching, "another conversion of these coins could have made it as well") end
    return { outcome = "done", record = batch }
  end
  local coins
  coins, err = look.read(operations.by_name[look.reconcile.second_list], {})
  if not coins then return nil, err end
  for _, coin in ipairs(coins) do
    if asked[tostring(coin.asset):upper()] and not coin.code then return { outcome = "not_done" } end
  end
  return undecided({}, "no batch shows it, but none of the coins can be converted any more")
end

------------------------------------------------------------------------------------------- deleting an orphan

-- Deletes a key whose secret is lost, and makes it again.
local function recreate(look, answer)
  local undo = operations.by_name[look.reconcile.delete_operation]
  local params = { subAccount = look.intent.params.subAccount, apiKey = answer.record.apiKey }
  local ok, err = look.read(undo, params)
  if not ok and err.outcome == "unknown" then
    local undone = M.reconcile(look.host, err.intent, look.options)
    ok = undone and undone.outcome == "done"
  end
  if not ok then return nil, err end
  local record
  record, err = look.read(look.row, look.intent.params)
  if not record then return nil, err end
  return { outcome = "done", record = record, replaced = answer.record.apiKey }
end

----------------------------------------------------------------------------------------------------- the loop

-- How long a history is relied on whose reach is documented nowhere: what others show by default.
local UNDOCUMENTED_REACH_DAYS = 7

-- Too long ago for the list that would show it.
local function out_of_reach(look)
  local through = operations.by_name[look.reconcile.lookup]
  if not through or look.reconcile.strategy == "state" or not (through.paging and through.paging.time_member) then
    return false
  end
  local window = through.window or {}
  local days = window.retention_days or window.retention_months and window.retention_months * 30
    or UNDOCUMENTED_REACH_DAYS
  return look.intent.sent_at < look.now() - days * 86400000 + 3600000
end

-- One look: a reconciliation, NOTHING_YET or RETRY_LOOK; or nil and an error.
local function look_once(look)
  local now, correction = look.now(), look.correction()
  look.late, look.incomplete = now >= look.deadline, nil
  local answer, err, why = strategies[look.reconcile.strategy](look)
  if answer and (look.correction() ~= correction or look.now() < now) then
    return NOTHING_YET -- the clock was wrong when the look began, which may have been too early
  end
  if answer == NOTHING_YET and look.late then answer, err, why = missing(look) end
  if not answer and why then return undecided({}, why) end
  return answer, err
end

-- How many looks must say that a list cannot be shown to be complete. One answer that belongs to another request says
-- so, too.
local LOOKS_AT_INCOMPLETE = 3

local function look_until_decided(look)
  if out_of_reach(look) then
    return undecided({}, "it is too long ago: nothing shows that " .. look.reconcile.lookup
      .. " reaches back that far")
  end
  local incomplete = 0
  while true do
    local answer, err = look_once(look)
    if not answer then return nil, err end
    local doubted = answer.outcome == "undecided" and look.incomplete ~= nil
    incomplete = incomplete + (doubted and 1 or 0)
    local decided = answer ~= NOTHING_YET and answer ~= RETRY_LOOK
    if decided and not (doubted and incomplete < LOOKS_AT_INCOMPLETE) then return answer end
    local now = look.now()
    if look.options.wait == false and now < look.deadline then
      local early = undecided({}, "it is too early to say that it was not done")
      early.not_before = look.deadline
      return early
    end
    local left = look.deadline - now
    look.pause(math.max(1, left > 0 and math.min(look.poll_ms, left) or doubted and look.poll_ms or 1))
  end
end

local function argument_error(message)
  return nil, errors.argument(nil, message)
end

--- Reconciles an intent for `host`: { run = fn(row, params), now = fn, pause = fn(ms), recent_calls, journal,
--- visibility_delay_ms, recv_window }, and where there are any: correction = fn, by how much the clock was set right,
--- and signs_as = fn(name), whether this client's key is of that account.
-- Users call client:reconcile.
---@return purser.Reconciliation|nil, purser.Error|nil
function M.reconcile(host, intent, options)
  options = options or {}
  local message, name = M.check_options(options)
  if message then return nil, errors.argument(name, message) end
  if errors.is(intent) then
    if intent.outcome ~= "unknown" then return { outcome = "not_done", reason = intent.message } end
    if not intent.intent then return argument_error "the error has no intent: it is that of a read, or of no call" end
    intent = intent.intent
  end
  local row
  row, intent = check_intent.row_of(intent)
  if not row then return argument_error(intent) end
  if intent.account and host.signs_as and not host.signs_as(intent.account) then
    return argument_error(('it was signed by account "%s", whose records this client may not see; reconcile it with '
      .. 'that account\'s client (where it is one account with a new key, give the client account = "%s")')
      :format(tostring(intent.account), tostring(intent.account)))
  end
  local look = {
    host = host, row = row, reconcile = row.reconcile, intent = intent, options = options, read = host.run,
      now = host.now,
    correction = host.correction or function() end, pause = host.pause, skew_ms = options.skew_ms or 5000,
    poll_ms = math.max(1, options.poll_ms or 1000), spelled = {},
    visible_ms = (intent.recv_window or host.recv_window) + AHEAD_MS + (options.visibility_delay_ms
      or host.visibility_delay_ms),
    equal_calls = function(first)
      if host.journal and intent.id then return host.journal:equal_calls(intent, first) end
      return recent_calls.of(host.recent_calls, row, intent, first)
    end,
  }
  look.deadline = intent.sent_at + look.visible_ms
  look.last = look.deadline + look.skew_ms
  local answer, err = look_until_decided(look)
  if not answer then return nil, err end
  if host.journal and intent.id and not answer.not_before then
    local ok, other = host.journal:reconciled(intent, answer)
    if not ok then return nil, journal_error(other) end
    if other then answer = { outcome = "done", record = other, reason = "its answer is in the journal" } end
  end
  if answer.outcome ~= "undecided" then
    recent_calls.note(host.recent_calls, row, intent, answer.record and intents.id_of(answer.record),
      answer.outcome == "not_done")
  end
  if answer.secret_lost and options.recreate then return recreate(look, answer) end
  return answer
end

return M
