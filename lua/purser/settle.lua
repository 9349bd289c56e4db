--- Finds out what became of a call whose outcome is unknown.
--
--     local result, err = client.wallet:withdraw { ... }
--     if err and err.outcome == "unknown" then
--       local answer = assert(client:settle(err))
--       -- { outcome = "done", record = ... }, { outcome = "not_done" } or { outcome = "undecided", candidates = ... }
--     end
--
-- `not_done` is a promise, so it is waited for: the service takes a request until it is `recv_window` old, and a new
-- record may take a while (`lag_ms`) to be seen. Only when both have passed and the record is still missing was
-- nothing done. What the row's `settle` says decides where to look and what has to be equal; where two records fit,
-- nobody guesses.

local allowed = require "purser.allowed"
local check = require "purser.check"
local decimal = require "purser.decimal"
local errors = require "purser.errors"
local intents = require "purser.intent"
local operations = require "purser.operations"
local rivals = require "purser.settle.rivals"
local scan = require "purser.settle.scan"

local M = {}

---@class purser.Settlement
---@field outcome "done"|"not_done"|"undecided"
---@field record table|nil        done: what the service keeps of it
---@field candidates table[]|nil  undecided: the records that might be it
---@field reason string|nil       undecided, not_done: why
---@field secret_lost boolean|nil  done: the key was made, and nobody will ever know its secret
---@field replaced string|nil      done: the key with the lost secret, deleted in favour of `record`
---@field not_before integer|nil   undecided with wait = false: when to ask again, epoch ms

---@class purser.SettleOptions
---@field lag_ms integer|nil   how long a new record may be missing from lists (the client's visibility_lag_ms)
---@field skew_ms integer|nil  by how much records' times may differ from the service's clock (default 5000)
---@field poll_ms integer|nil  pause between two looks (default 1000)
---@field wait boolean|nil     false: do not wait, answer undecided with not_before instead
---@field remake boolean|nil   a key whose secret was lost is deleted and made again

local rules = { lag_ms = { 0 }, skew_ms = { 0 }, poll_ms = { 0 }, wait = "boolean", remake = "boolean" }

--- What is wrong with options of settle, and with which; or nil.
---@return string|nil complaint, string|nil name
function M.check_options(options)
  return allowed.check(options, rules, "settle option")
end

-- Handles cannot be mistaken, so they are looked for with this much to spare.
local HANDLE_MARGIN_MS = 60000
local HANDLE_AFTER_MS = 3600000
-- The service takes a timestamp that is up to a second ahead of its clock, so by its clock we may be early by as much.
local AHEAD_MS = 1000

---------------------------------------------------------------------------------------------------- comparing

local function same_amount(wanted, found)
  local a, b = decimal(wanted), decimal(found)
  return a ~= nil and b ~= nil and a == b
end

-- Whether a record shows what the intent's parameters said. A parameter that was not given may be anything. `nearly`
-- ignores upper and lower case, which the service may ignore as well.
local function agrees(params, record, names, nearly)
  for _, name in ipairs(names) do
    local wanted, shown = params[name], record[name]
    if wanted ~= nil and wanted ~= shown and not (name == "amount" and same_amount(wanted, shown))
      and not (nearly and tostring(wanted):lower() == tostring(shown):lower()) then
      return false
    end
  end
  return true
end

-- Whether a record that carries the right id shows another payment all the same: the id was used for two. An amount may
-- be shown without the fee that it was asked for with, and an address with its memo.
local function contradicts(params, record)
  local wanted, shown = decimal(params.amount), decimal(record.amount)
  if wanted and shown and wanted ~= shown then
    local fee = decimal(record.transactionFee)
    if not fee or shown + fee ~= wanted then return true end
  end
  local address = params.address
  return type(address) == "string" and type(record.address) == "string"
    and not record.address:lower():find(address:lower(), 1, true)
end

local function within(record, time_name, first, last)
  local at = record[time_name]
  return type(at) ~= "number" or (at >= first and at <= last)
end

local function journal_error(message)
  return errors.new { kind = "config", outcome = "unknown", phase = "journal",
    message = "journal: " .. message }
end

------------------------------------------------------------------------------------------------------ looking

-- What the operation that lists is asked for.
local function question(look)
  local params = {}
  for _, name in ipairs(look.settle.pass or {}) do params[name] = look.intent.params[name] end
  return params
end

-- Lists records between two times. Of a list that cannot be shown to be complete `look.incomplete` says why: what is in
-- it is there, and what is not in it may be there all the same. Nil, nil and why when there is no such list at all.
local function list(look, first, last)
  local records, err, why = scan.all(look.read, operations.by_name[look.settle.through], question(look), first, last,
    look.settle.time)
  look.incomplete = records and why
  return records, err, why
end

local function undecided(candidates, reason)
  return { outcome = "undecided", candidates = candidates, reason = reason }
end

local function has_failed(look, record)
  return look.settle.failed ~= nil and record.status == look.settle.failed
end

-- What a record that was found says.
local function found(look, record)
  if has_failed(look, record) then
    return { outcome = "not_done", record = record, reason = "the service kept it, as failed" }
  end
  return { outcome = "done", record = record }
end

local NOTHING_YET = {}

-- The ways to settle. Each looks once and returns a settlement; NOTHING_YET when another look might show more; or nil
-- and an error. `look.late` is true once a record that exists must be seen.
local ways = {}

-- How many equal calls may have made one of these records: those without a known end, and those that were told of a
-- record that is not here. One of the latter may be too new to be listed; then there is more to wait for. Also the ids
-- that belong to them. Nil and an error when the journal cannot be read.
local function rivals_among(look, records, first, last)
  local claimed, open = look.rivals(first)
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
  local settle, params = look.settle, look.intent.params
  local first = look.intent.sent_at - AHEAD_MS - look.skew_ms
  local last = look.last
  local records, err, why = list(look, first, last)
  if not records then return nil, err, why end
  local claimed, open = rivals_among(look, records, first, last)
  if not claimed then return nil, open end
  local exact, near = {}, {}
  for _, record in ipairs(records) do
    if within(record, settle.time, first, last) and not claimed[intents.id_of(record) or ""]
      and agrees(params, record, settle.near or settle.on, true) then
      near[#near + 1] = record
      if agrees(params, record, settle.on) then exact[#exact + 1] = record end
    end
  end
  if #near == 0 or not look.late then return NOTHING_YET end
  if look.incomplete then return undecided(near, look.incomplete) end
  if #exact == 1 and #near == 1 and open == 0 then return found(look, exact[1]) end
  if open > 0 then return undecided(near, "an equal call without a known end could have made it as well") end
  return undecided(near, #exact > 1 and "more than one record fits" or "a record fits in part")
end

ways.match = by_match

function ways.handle(look)
  local name = look.settle.handle
  local handle = look.intent.params[name]
  if not handle then return by_match(look) end
  local first = look.intent.sent_at - AHEAD_MS - look.skew_ms
  local last = math.min(look.now() + HANDLE_MARGIN_MS, look.deadline + HANDLE_AFTER_MS)
  local records, err, why = list(look, first, last)
  if not records then return nil, err, why end
  local other
  for _, record in ipairs(records) do
    if record[name] == handle then
      local fits = not contradicts(look.intent.params, record)
      if fits and not has_failed(look, record) then return found(look, record) end
      if not other or not fits then other = record end
    end
  end
  -- An id that failed may be taken again, so another record of it may be on its way.
  if not other or not look.late then return NOTHING_YET end
  if contradicts(look.intent.params, other) then return undecided({ other }, "the id was used for another payment") end
  if look.incomplete then return undecided({ other }, look.incomplete) end
  return found(look, other)
end

-- A name can be taken only once, so a record of that name is ours unless it is older than the call.
function ways.name(look)
  local name, time = look.settle.handle, look.settle.time
  local records, err, why = list(look, 0, 0)
  if not records then return nil, err, why end
  for _, record in ipairs(records) do
    if record[name] == look.intent.params[name] then
      local at = record[time]
      if type(at) == "number" and at < look.intent.sent_at - AHEAD_MS - look.skew_ms then
        return { outcome = "not_done", record = record, reason = "the name had been taken before" }
      end
      return { outcome = "done", record = record }
    end
  end
  return NOTHING_YET
end

function ways.token(look)
  local answer, err, why = by_match(look)
  if answer and answer.outcome == "done" then answer.secret_lost = true end
  return answer, err, why
end

-- Whether a record is in the state that the call wanted.
local states = {}

function states.present(_, record)
  if record then return { outcome = "done", record = record } end
  return NOTHING_YET
end

-- What is missing early may be too new to be listed; only later is it gone.
function states.absent(look, record)
  if not record and look.late and not look.incomplete then return { outcome = "done" } end
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

function ways.state(look)
  local name = look.settle.handle
  local now = look.now()
  local records, err, why = list(look, now - NINETY_DAYS + 60000, now)
  if not records then return nil, err, why end
  local record
  for _, other in ipairs(records) do
    if look.intent.params[name] == other[name] then record = other end
  end
  return states[look.settle.wanted](look, record)
end

-- Doing it twice is the same as doing it once.
ways["repeat"] = function(look)
  local record, err = look.read(look.row, look.intent.params)
  if record then return { outcome = "done", record = record } end
  if err.outcome == "rejected" and err.kind ~= "throttled" then
    return { outcome = "not_done", reason = "it was refused when it was repeated: " .. err.message }
  end
  return nil, err
end

-- Nothing identifies it. A record that carries the same remark settles that it was done; nothing ever settles that it
-- was not.
function ways.nothing(look)
  local answer, err, why = by_match(look)
  if not answer then
    if err and err.phase == "journal" then return nil, err end
    return undecided({}, "nothing identifies it, and the history cannot be read: " .. (err and err.message or why))
  end
  if answer.outcome == "done" and not look.intent.params.remark then
    return undecided({ answer.record }, "one record fits, but without a remark nothing says that it is this one")
  end
  if answer == NOTHING_YET and look.late then
    return undecided({}, "nothing identifies it but its remark; a person must look")
  end
  return answer
end

-- C13: a batch whose coins were all asked for; where there is none, the coins themselves say whether there is still
-- something to convert.
function ways.conversion(look)
  local first = look.intent.sent_at - AHEAD_MS - look.skew_ms
  local last = look.last
  local batches, err, why = list(look, first, last)
  if not batches then return nil, err, why end
  local asked, fitting = {}, {}
  for coin in look.intent.params.asset:gmatch("[^,]+") do asked[coin] = true end
  for _, batch in ipairs(batches) do
    local fits = batch.convertDetails and #batch.convertDetails > 0 and within(batch, look.settle.time, first, last)
    for _, detail in ipairs(batch.convertDetails or {}) do fits = fits and asked[detail.asset] end
    if fits then fitting[#fitting + 1] = batch end
  end
  if not look.late then return NOTHING_YET end
  if look.incomplete then return undecided(fitting, look.incomplete) end
  if #fitting == 1 then return { outcome = "done", record = fitting[1] } end
  if #fitting > 1 then return undecided(fitting, "more than one batch fits") end
  local coins
  coins, err = look.read(operations.by_name[look.settle.also], {})
  if not coins then return nil, err end
  for _, coin in ipairs(coins) do
    if asked[coin.asset] and not coin.code then return { outcome = "not_done" } end
  end
  return undecided({}, "no batch shows it, but none of the coins can be converted any more")
end

------------------------------------------------------------------------------------------- deleting an orphan

-- Deletes a key whose secret is lost, and makes it again.
local function remake(look, answer)
  local undo = operations.by_name[look.settle.undo]
  local params = { subAccount = look.intent.params.subAccount, apiKey = answer.record.apiKey }
  local ok, err = look.read(undo, params)
  if not ok and err.outcome == "unknown" then
    local undone = M.settle(look.host, err.intent, look.options)
    ok = undone and undone.outcome == "done"
  end
  if not ok then return nil, err end
  local record
  record, err = look.read(look.row, look.intent.params)
  if not record then return nil, err end
  return { outcome = "done", record = record, replaced = answer.record.apiKey }
end

----------------------------------------------------------------------------------------------------- the loop

-- Too long ago for the list that would show it.
local function out_of_reach(look)
  local through = operations.by_name[look.settle.through]
  local window = through and through.window or {}
  local days = window.reach_days or window.reach_months and window.reach_months * 30
  return look.settle.by ~= "state" and days and look.intent.sent_at < look.now() - days * 86400000 + 3600000
end

local function look_until_decided(look)
  if out_of_reach(look) then
    return undecided({}, "it is too long ago: " .. look.settle.through .. " does not reach back that far")
  end
  while true do
    local now, told = look.now(), look.correction()
    look.late = now >= look.deadline
    local answer, err, why = ways[look.settle.by](look)
    if not answer then
      if why then return undecided({}, why) end
      return nil, err
    end
    if look.correction() ~= told or look.now() < now then
      answer = NOTHING_YET -- the clock was wrong when the look began, which may have been too early
    elseif answer == NOTHING_YET and look.late then
      return look.incomplete and undecided({}, look.incomplete) or { outcome = "not_done" }
    end
    if answer ~= NOTHING_YET then return answer end
    now = look.now()
    if look.options.wait == false and now < look.deadline then
      local early = undecided({}, "it is too early to say that it was not done")
      early.not_before = look.deadline
      return early
    end
    look.pause(math.max(1, math.min(look.poll_ms, look.deadline - now)))
  end
end

local function complain(message)
  return nil, errors.argument(nil, message)
end

-- The row and the parameters of an intent that a caller may have read from anywhere; or nil and a complaint.
local function check_intent(intent)
  if type(intent) ~= "table" or type(intent.params) ~= "table" or type(intent.sent_at) ~= "number"
    or intent.sent_at ~= math.floor(intent.sent_at) then
    return nil, "settle takes an error of unknown outcome, or an intent { operation, params, sent_at }"
  end
  local row = operations.by_name[intent.operation]
  if not row then return nil, ('operation "%s" is not known'):format(tostring(intent.operation)) end
  if row.effect == "read" then return nil, intent.operation .. " is a read; run it again" end
  if intent.sent_at < 1e12 or intent.sent_at >= 1e13 then
    return nil, "the intent's sent_at does not have 13 digits; it is epoch milliseconds (seconds times 1000)"
  end
  local window = intent.recv_window
  if window ~= nil and not allowed.fits(window, { 1 }) then
    return nil, "the intent's recv_window must be a whole number of milliseconds"
  end
  local known = {}
  for name, value in pairs(intent.params) do
    if row.by_name[name] then known[name] = value end
  end
  local _, err = check.check(row, known)
  if err then return nil, err.message end
  return row
end

--- Settles an intent for `host`: { run = fn(row, params), now = fn, pause = fn(ms), rivals, journal, lag_ms,
--- recv_window }, and where there are any: correction = fn, by how much the clock was set right, and
--- signs_as = fn(name), whether this client's key is of that account.
-- Users call client:settle.
---@return purser.Settlement|nil, purser.Error|nil
function M.settle(host, intent, options)
  options = options or {}
  local complaint, name = M.check_options(options)
  if complaint then return nil, errors.argument(name, complaint) end
  if errors.is(intent) then
    if intent.outcome ~= "unknown" then return { outcome = "not_done", reason = intent.message } end
    if not intent.intent then return complain "the error has no intent: it is that of a read, or of no call" end
    intent = intent.intent
  end
  local row
  row, complaint = check_intent(intent)
  if not row then return complain(complaint) end
  if intent.account and host.signs_as and not host.signs_as(intent.account) then
    return complain(('it was signed by account "%s", whose records this client may not see; settle it with that '
      .. 'account\'s client (where it is one account with a new key, give the client account = "%s")')
      :format(tostring(intent.account), tostring(intent.account)))
  end
  local look = {
    host = host, row = row, settle = row.settle, intent = intent, options = options, read = host.run, now = host.now,
    correction = host.correction or function() end, pause = host.pause, skew_ms = options.skew_ms or 5000,
    poll_ms = math.max(1, options.poll_ms or 1000),
    visible_ms = (intent.recv_window or host.recv_window) + AHEAD_MS + (options.lag_ms or host.lag_ms),
    rivals = function(first)
      if host.journal and intent.id then return host.journal:rivals(intent, first) end
      return rivals.of(host.rivals, row, intent, first)
    end,
  }
  look.deadline = intent.sent_at + look.visible_ms
  look.last = look.deadline + look.skew_ms
  local answer, err = look_until_decided(look)
  if not answer then return nil, err end
  if host.journal and intent.id and not answer.not_before then
    local ok, other = host.journal:settled(intent, answer)
    if not ok then return nil, journal_error(other) end
    if other then answer = { outcome = "done", record = other, reason = "its answer is in the journal" } end
  end
  if answer.outcome ~= "undecided" then
    rivals.note(host.rivals, row, intent, answer.record and intents.id_of(answer.record), answer.outcome == "not_done")
  end
  if answer.secret_lost and options.remake then return remake(look, answer) end
  return answer
end

return M
