-- SPDX-License-Identifier: MIT
-- An intent: a write call as data, recorded before the first byte leaves; an unknown outcome is reconciled by its
-- intent. Both kinds of journals share the digests, states and errors of this file.

local core = require "purser.core"
local digests = require "purser.write.digests"
local errors = require "purser.client.call.errors"
local json = require "purser.json"
local operations = require "purser.client.operations"
local pipeline = require "purser.client.call.pipeline"
local option_schema = require "purser.client.util.option_schema"
local suggest = require "purser.client.util.suggest"
local validate = require "purser.client.call.validate"

local M = {}

local find, format, gmatch, gsub = string.find, string.format, string.gmatch, string.gsub
local sub = string.sub

---@class purser.Intent
---@field operation string       full name
---@field params table<string, string|boolean>  what travelled; a password is left out
---@field extra string[]|nil     names of parameters that the operation does not know; their values may be secrets
---@field sent_at integer        the request's timestamp, epoch ms
---@field recv_window integer    milliseconds: the service rejects an older request
---@field host string|nil        of the service that it was sent to
---@field account string|nil     which key signed: a digest of the API key, never the key
---@field signer string|nil      that digest, where the account has a name as well
---@field id string|nil          of this call: a copy of the intent is that of the same call, in a journal as well
---@field attempt integer|nil    there: how often the call was sent by then

---@return string|nil id, string|nil message
function M.new_id() return core.random_token(24) end

--- Returns the intent of a call with these checked values, but for passwords.
---@param values table<string, any>
---@param extra string[]|nil the names of parameters that the row does not know
function M.new(row, values, extra, sent_at, recv_window, account, id)
  local params = {}
  for _, name in ipairs(row.names) do
    if row.by_name[name][2] ~= "md5" then params[name] = values[name] end
  end
  return { operation = row.full_name, params = params, extra = extra, sent_at = sent_at, recv_window = recv_window,
    account = account, id = id }
end

--- Returns the id of a record, in answers and histories; nil for none.
---@return string|nil
function M.id_of(record)
  local id = record.tranId or record.id or record.apiKey
  return id ~= "" and id or nil
end

M.history_of, M.makes_in = digests.history_of, digests.makes_in

---@return table<string, boolean>
function M.shown_in(history)
  local names = {}
  for _, row in ipairs(operations.list) do
    if history and M.makes_in(row) == history then names[row.full_name] = true end
  end
  return names
end

---@return string
function M.encode(intent)
  return json.encode(next(intent.params) and intent.params or json.object {})
end

M.MAX_WINDOW_MS = 60000 -- no request is accepted for longer

--- Returns a time as tables keep times: 13 digits, ordered as texts. Times out of range become the first or last.
---@param ms integer  epoch milliseconds
---@return string
function M.time_text(ms)
  return format("%013d", math.min(math.max(0, ms), 9999999999999))
end

--- Returns the key of a call that carries the caller's id; nil for any other call.
---@return { name: string, content: string }|nil
function M.own_key(row, params)
  local id = row.reconcile.generated_id and params[row.reconcile.client_id]
  return id and { name = id, content = digests.content(row, params) } or nil
end

--- Returns the one of calls of equal content and time that an intent written by hand means: no other id than its own
--- identifies it.
---@param calls purser.Call[]
---@return purser.Call|nil
function M.meant(row, intent, calls)
  local key = M.own_key(row, intent.params)
  for _, call in ipairs(calls) do
    if not key or call.key == key.name or call.params[row.reconcile.client_id] == key.name then return call end
  end
end

--- The states of calls that certainly made no record, and may be sent again.
M.UNDONE = { planned = true, rejected = true, not_sent = true, not_done = true }

--- Returns whether a key may be sent again: its call was certainly not executed. A rejection speaks of the copy that
--- was judged, and a gateway may send two: such a call is looked for first.
function M.is_free(call) return M.UNDONE[call.state] and not call.rejected end

--- For so long after its stamp a rejected call is looked for where another call depends on it: a history of any service
--- shows as much.
M.DOUBTED_MS = 7 * 86400000

--- The condition of the rows of purser_calls that this journal sent. Others have no window: of a payment that a look
--- found, or may have found, `sent_at` is the time by which it counts.
M.WAS_SENT = "recv_window <> '0'"

--- The condition of the rows of purser_calls that were rejected and not looked for: another copy may be executed.
M.IN_DOUBT = "state = 'rejected' AND rejected = 'yes'"

--- The condition of the rows of purser_calls that M.counts takes.
M.COUNTED = "state <> 'planned' AND (state NOT IN ('rejected', 'not_sent', 'not_done') OR disowned = 'yes' "
  .. "OR rejected = 'yes')"

--- Returns whether a row counts in sums: nothing proves that its call was not executed. A rejection that may be that of
--- a second copy proves nothing until the call was looked for.
---@param row table<string, string>
---@return boolean
function M.counts(row)
  return row.state ~= "planned" and (not M.UNDONE[row.state] or row.disowned == "yes" or row.rejected == "yes")
end

--- Returns whether a payment that was sent, and is to be looked for at a later time, is no worker's until then.
---@param row table  of the journal, or a payment
---@param now integer  epoch ms
---@return boolean
function M.is_left(row, now) return row.worker == "" and (tonumber(row.due_at) or 0) > now end

M.UNDECIDED = { open = true, unknown = true, undecided = true }

-- The states that an end may replace; any other end replaces all but `done`.
local over = { unknown = { open = true, unknown = true }, undecided = M.UNDECIDED }

---@class purser.Verdict  what is made of an end that a process reports
---@field counts boolean|nil       it is written
---@field done_before boolean|nil  the call is known to be done, though this says that it was not
---@field record table|nil         then: its record
---@field is_over boolean|nil      the call is known not to have been executed, though a record agrees with it
---@field is_taken boolean|nil     the record belongs to another call; nothing is written

-- Returns how surely an end names its record: 0 not, 1 by content, 2 by answer or id.
local function sureness(ending) return ending.record_id and (ending.answered and 2 or 1) or 0 end

--- Decides whether a reported end replaces the recorded end. After `not_done` the caller may have sent an equal call,
--- so content alone cannot turn `not_done` into `done` while such a call is open. An end that names its record less
--- surely replaces no `done`.
---@param later integer       by how many attempts that is later than the one that ended
---@param ending { state: string, record_id: string|nil, answered: string|false }
---@param has_open_equal fun(): boolean
---@return purser.Verdict
function M.judge_end(known, later, ending, has_open_equal)
  local is_done = known.state == "done"
  if ending.state == "done" then
    local is_over = not ending.answered and (later > 0 or known.state == "not_done" and has_open_equal())
    local is_less = is_done and sureness(ending) < sureness(known)
    return { counts = later == 0 and not is_over and not is_less or nil, is_over = is_over or nil }
  elseif is_done then
    local is_other = ending.state ~= "unknown" and ending.state ~= "undecided"
    return { done_before = is_other or nil, record = is_other and (known.record or {}) or nil }
  end
  local is_over = not over[ending.state] or over[ending.state][known.state] or known.rejected
  return { counts = later == 0 and is_over or nil }
end

-- These speak of the request's bytes, or of its key: each copy gets the same answer. (Of an address that is not on the
-- key's list, 700006, another copy may have come from a listed one.)
local OF_EACH_COPY = {}
for code in gmatch("401 602 10001 10007 10015 10072 10095 10096 10097 10102 10103 10222 10232 10268 44444 140001 "
  .. "700001 700002 700005 700007 700008 700013", "%d+") do OF_EACH_COPY[code] = true end

--- Returns whether each copy of a request gets this rejection.
---@param err purser.Error
---@return boolean
function M.is_of_each_copy(err) return err.kind == "api" and OF_EACH_COPY[tostring(err.code)] == true end

-- Returns whether a rejection may be of a second copy, the first of which was executed.
local function may_be_of_a_copy(intent, err)
  local row = operations.by_name[intent.operation]
  return err ~= nil and err.outcome == "rejected" and not err.is_explained
    and (err.kind == "throttled" or err.kind == "api" and not M.is_of_each_copy(err))
    and M.makes_in(row) ~= "" and row.reconcile.strategy ~= "nothing"
end

--- Returns whether two contents are equal. A content is one digest, or two where missing values were completed.
---@return boolean
function M.is_same_content(content, other)
  for digest_ in gmatch(content, "%S+") do
    if find(other, digest_, 1, true) then return true end
  end
  return false
end

-- Returns a call in a few words: its operation, what it moves, and its state.
local function told(known)
  local row, params = operations.by_name[known.operation], known.params
  if type(params) == "string" then params = core.decode(params) end
  local moves = row and row.moves or {}
  local amount, asset = params[moves.amount], params[moves.asset]
  return format("%s%s, %s", known.operation, amount and asset and format(", %s %s", amount, asset) or "", known.state)
end

--- Returns the error of a key that stands for other content, or is written otherwise; nil for the same.
---@return purser.Error|nil
function M.other_content(known, key, row)
  if known.key == key.name and M.is_same_content(known.content, key.content) then return nil end
  local spelled = known.key ~= key.name and format('"%s" in other letters, ', known.key) or ""
  return errors.new { kind = "argument", outcome = "not_sent", phase = "journal", operation = row.full_name,
    code = "journal.other_content", details = { key = key.name, call = known.id },
    message = format('the key "%s" is %sthat of %s; nothing was sent', key.name, spelled, told(known)),
    hint = format("where this is that payment, repeat it as it was (`purser journal show %s`); where it is another "
      .. "step of one job, give it a key of its own, as %s/2", known.id, key.name) }
end

--- Returns the error of a key that is a payment's name or id.
---@param row table
---@param known table<string, string>  the payment's row
---@return purser.Error
function M.key_of_payment(row, known, key)
  return errors.new { kind = "argument", outcome = "not_sent", phase = "journal", operation = row.full_name,
    code = "journal.used", details = { key = key, call = known.id },
    message = format('the key "%s" is that of payment "%s" of the queue "%s"; nothing was sent', key, known.payment,
      known.queue), hint = "let the queue make it, or give this call another key" }
end

--- Returns the error of a payment whose name or id is the key of a single call, or another payment's in other letters.
---@return purser.Error
function M.key_of_call(known, key)
  local what = known.queue ~= "" and format('that of payment "%s" in other letters', known.payment)
    or format("that of %s", told(known))
  return errors.new { kind = "argument", outcome = "not_sent", phase = "journal", code = "journal.used",
    details = { key = key, call = known.id },
    message = format('the key "%s" is %s; the payment is not added', key, what),
    hint = format("where that is this payment, take the payment out of the list (`purser journal show %s`); where "
      .. "it is owed besides, give it a key of its own", known.id) }
end

--- Returns the error of a question that the journal refused, or could not answer.
function M.error_of(problem) return errors.is(problem) and problem or M.journal_error("unknown", tostring(problem)) end

--- Returns whether a record shows the call's own id, in any letters' case: keys that look alike are one.
---@param intent purser.Intent|purser.Call
---@return boolean
function M.shows_id(intent, record)
  local row = operations.by_name[intent.operation]
  local name = row and row.reconcile and row.reconcile.client_id
  return name ~= nil and type(record) == "table" and intent.params[name] ~= nil
    and digests.form(tostring(record[name])) == digests.form(tostring(intent.params[name]))
end

--- Keeps the end of a call, in either kind of journal. Returns true; nil and a message; or false for another call's
--- record, and then nothing is written.
---@param change purser.Stage|nil  what becomes of the payment that it is of
---@return boolean|nil ok, string|nil message
function M.finish(journal, intent, value, err, change)
  local verdict, problem = journal:end_call(intent, { state = not err and "done" or err.outcome, record = value,
    answered = not err and "yes", rejected = may_be_of_a_copy(intent, err), message = err and err.message,
    change = change })
  if not verdict then return nil, problem end
  return not verdict.is_taken
end

local CLOCKS_DIFFER_MS = 60000 -- the machine's and the service's

--- Keeps the answer of a reconciliation. Returns a verdict; or nil and a message.
---@return purser.Verdict|nil verdict, string|nil message
function M.reconciled(journal, intent, answer, change)
  local record, shows_id = answer.record, M.shows_id(intent, answer.record)
  local ending = { state = answer.outcome, record = record, message = answer.reason, answered = shows_id and "found",
    candidates = answer.outcome == "undecided" and answer.candidates or nil, why = answer.why, change = change }
  local verdict, problem = journal:end_call(intent, ending)
  local id = answer.outcome == "done" and type(record) == "table" and M.id_of(record)
  if not verdict or not id then return verdict, problem end
  -- a record with this call's id is its own, whatever an answer named; so is one of another history
  if shows_id or not verdict.is_taken then journal:contest(intent, tostring(id), intent.sent_at - CLOCKS_DIFFER_MS) end
  if shows_id and verdict.is_taken then verdict, problem = journal:end_call(intent, ending) end
  if shows_id and verdict and verdict.is_taken then -- an earlier call has the record's id, which was used anew
    ending.is_renumbered = true
    return journal:end_call(intent, ending)
  end
  return verdict, problem
end

-------------------------------------------------------------------------------- from a file, another process or by hand

--- Returns the row of a caller's intent, and a copy of the intent as it was sent; or nil, a message and what to do.
---@return table|nil row, purser.Intent|string intent_or_message, string|nil hint
function M.row_of(given)
  local intent = {}
  for name, value in next, type(given) == "table" and given or {} do intent[name] = value end
  if type(intent.params) ~= "table" or type(intent.sent_at) ~= "number"
    or intent.sent_at ~= math.floor(intent.sent_at) then
    return nil, "what is to be reconciled is no intent",
      "give an error of unknown outcome, or an intent { operation, params, sent_at }"
  end
  local row = operations.by_name[intent.operation]
  if not row then
    local name = tostring(intent.operation)
    return nil, format('operation "%s" is not known%s', name, suggest.among(name, operations.by_name))
  end
  if row.effect == "read" then return nil, intent.operation .. " is a read", "call it again" end
  if intent.sent_at < 1e12 or intent.sent_at >= 1e13 then
    return nil, "the intent's sent_at does not have 13 digits", "give epoch milliseconds (seconds times 1000)"
  end
  local window = intent.recv_window
  if window ~= nil and not option_schema.matches(window, { 1 }) then
    return nil, "the intent's recv_window is no whole number", "give milliseconds"
  end
  local known, params = {}, {}
  for name, value in next, intent.params do
    params[name] = value
    if row.by_name[name] then known[name] = value end
  end
  local values, err = validate.check(row, known)
  if not values then return nil, err.message, err.hint end
  for name, value in pairs(values) do
    if params[name] ~= nil then params[name] = value end
  end
  intent.params = params
  return row, intent
end

----------------------------------------------------------------------------------------------------- an unknown outcome

-- {look}: who looks; {lookup}: where; {which}: for what.
local advice = {
  client_id = "do not run it again: {look} {lookup} for {which}",
  name = "do not run it again: {look} {lookup} for {which}",
  token = "do not run it again: {look} {lookup} for the key with {which}; "
    .. "its secret is lost, so it has to be deleted before another is made",
  match = "do not run it again: {look} {lookup} for the one record with the same {which}",
  state = "{look} {lookup} whether {which} is as requested",
  ["repeat"] = "it may be run again: doing it twice is the same as once",
  nothing = "do not run it again by machine: nothing identifies it but its remark; a person must look in {lookup}",
}
advice.conversion = advice.match

-- Only its caller knows the intent of an answer for client:parse.
local BY_HAND = 'client:reconcile { operation = "%s", params = what was sent, sent_at = its timestamp }'

-- Returns enough of an API key to know it by: no log may hold the whole.
local function shown(name, value)
  if name ~= "apiKey" then return value end
  return #value > 12 and sub(value, 1, 4) .. "..." .. sub(value, -4) or "..."
end

local function which(reconcile, values)
  local client_id, equal = reconcile.client_id, reconcile.match_on and table.concat(reconcile.match_on, ", ")
  if client_id and not values then
    local sent = format("the %s that was sent", client_id)
    return reconcile.generated_id and format("%s, or without one for the same %s", sent, equal) or sent,
      reconcile.strategy
  elseif client_id and values[client_id] then
    return format('%s "%s"', client_id, shown(client_id, values[client_id])), reconcile.strategy
  end
  return equal or "", reconcile.strategy == "client_id" and "match" or reconcile.strategy
end

--- Returns what to do about an unknown outcome, as a sentence without its full stop; nil for a read.
---@param values table<string, any>|nil  what was sent, by name; nil where only the caller knows
---@return string|nil
function M.advice(row, values)
  local reconcile = row.reconcile
  if not reconcile then return nil end
  local found, way = which(reconcile, values)
  local look = (values and "client:reconcile(err)" or format(BY_HAND, row.full_name)) .. " looks in"
  local words = { look = look, lookup = reconcile.lookup, which = found }
  return (gsub(advice[way], "{(%l+)}", words))
end

--------------------------------------------------------------------------------------------------- a journal that fails

--- Returns what to do about a database that another connection locked for too long; nil for any other failure.
---@return string|nil hint
function M.lock_hint(message)
  if find(message, "database is locked", 1, true) or find(message, "due to lock timeout", 1, true) then
    return "another program writes to it: wait until that has ended, or end it, and run this again; `lock_timeout_ms` "
      .. "of journal.open allows a longer wait"
  end
end

--- Returns the error of a call that the journal could not record.
---@return purser.Error
function M.unrecorded(row, problem)
  if errors.is(problem) then
    problem.operation = problem.operation or row.full_name
    return problem
  end
  return errors.new { kind = "config", outcome = "not_sent", phase = "journal", operation = row.full_name,
    retryable = true, message = "nothing was sent, because the journal could not record it first: " .. problem,
    hint = M.lock_hint(tostring(problem)) }
end

--- Returns the error of a call whose key belongs to a call of unknown outcome.
---@return purser.Error
function M.undecided(row, known, reason, candidates)
  return errors.new { kind = "workflow", outcome = "unknown", phase = "journal", operation = row.full_name,
    code = "journal.unknown", intent = known.intent, details = { candidates = candidates, call = known.id },
    advice = M.advice(row, known.params), message = format('nothing was sent now; the call with the key "%s" was sent '
      .. "before, and what became of it is not known: %s", known.key or "", reason) }
end

--- Makes sure that a journal is for a client and its API key. Asks the service for the key's user, where the profile
--- can. Returns true; or nil and an error or a message.
---@param identity string          a digest of the API key
---@param is_look boolean|nil      nothing is sent
---@param is_call boolean|nil      then: a call asks what its key stands for
function M.identify(journal, client, identity, is_look, is_call)
  local row = client.profile.live_operations and operations.by_name["live.uid"]
  local function uid_of()
    local answer, err = pipeline.run(client, row)
    if not answer then return nil, err end
    return tostring(answer.uid)
  end
  local account, host = client:account(), client._host
  if is_look then return journal:look(account, identity, host, row and uid_of, is_call) end
  return journal:identify(account, identity, client._guard and client._guard.limits, host, row and uid_of)
end

--- Returns the error of a journal whose statement failed.
---@param hint string|nil          where the database was not locked
---@return purser.Error
function M.journal_error(outcome, message, hint)
  return errors.new { kind = "config", outcome = outcome, phase = "journal", message = "journal: " .. message,
    hint = M.lock_hint(message) or hint }
end

return M
