-- SPDX-License-Identifier: MIT
-- A write call, from its parameters to its outcome: begin -> send -> verify -> finish. The pipeline checks and builds
-- the request; the call is guarded, recorded, sent once, and ends with a result or an error that reports the outcome.
--
-- A key (the caller's id, or opts.key) is used once: the second call with a key sends nothing, and gets the first one's
-- outcome. The key is looked up first: parameters, guard rails, rate limit, clock and network may give another answer
-- today than at the key's first use.

local answers = require "purser.write.answers"
local core = require "purser.core"
local digest = require "purser.client.util.digest"
local digests = require "purser.write.digests"
local errors = require "purser.client.call.errors"
local intents = require "purser.write.intent"
local memory = require "purser.write.journal.memory"
local names_of = require "purser.client.util.names_of"
local pipeline = require "purser.client.call.pipeline"
local reading = require "purser.write.reading"
local rejected_calls = require "purser.write.rejected"
local reconcile_calls = require "purser.write.reconcile"
local schedule = require "purser.schedule"
local setbacks = require "purser.client.call.setbacks"
local validate = require "purser.client.call.validate"

-- Loaded now: once a request left, the host may have no descriptor for the files that reconcile it.
require "purser.client.operations.write_kinds"
require "purser.client.call.failure"
require "purser.client.call.hooks"
require "purser.client.call.rate_limit.blocks"
require "purser.client.call.record"
require "purser.client.call.retry"
require "purser.client.call.unsigned"
require "purser.client.util.suggest"
require "purser.client.util.utc"
require "purser.codes"
assert(require "purser.client.operations".list)

local M = {}

--- Returns the journal of a client: its own, or one in memory.
function M.journal_of(client)
  client._memory = client._memory or not client._journal and memory.of(client._transport, client._origin)
  return client._journal or client._memory
end

local function no_random(row, message)
  return errors.new { kind = "config", outcome = "not_sent", phase = "build", operation = row.full_name,
    message = "nothing was sent, because no random id could be made: " .. tostring(message) .. "; check OpenSSL" }
end

--- Returns the name of which a client's ids at the service are made: the first that its journal had.
---@return string
function M.ids_of(client) return client._journal and client._journal.ids or client:account() end

--- Returns a digest of the API key that signs a client's calls: also the name of an account that was given none.
---@return string
function M.signer_of(client)
  if not client._api_key and client._credentials then pipeline.refresh_credentials(client) end
  client._unnamed = client._unnamed or digest.account_of(client._api_key or "")
  return client._unnamed
end

-- Returns what a key stands for: the values sent, and the values asked for where these were completed.
local function content_of(row, values, asked)
  local content = digests.content(row, values)
  if not asked then return content end
  local checked, _, given = validate.check(row, asked)
  local first = digests.content(row, checked or given)
  return first == content and content or content .. " " .. first
end

-- Makes the id of a call where the caller gave none. Returns the caller's key, nil where there is none; or nil and an
-- error.
local function make_key(client, row, values, opts)
  local name, key = row.reconcile.generated_id and row.reconcile.client_id, opts.key
  local id = name and values[name]
  if key and id then
    return nil, errors.option(("the call has two keys, `%s` and the option `key`"):format(name), "key",
      "give one of them")
  end
  if client._credentials and (key or id) then pipeline.refresh_credentials(client) end -- they may be new ones
  if name and not id and client._generate_ids then
    local made, message = key and digests.id_of_key(M.ids_of(client), row.full_name, key), nil
    if not made then made, message = core.random_token(32) end
    if not made then return nil, no_random(row, message) end
    values[name] = made
  end
  key = key or id
  if key and digests.is_decomposed(key) then
    return nil, errors.option(('the key "%s" has a sign that joins the letter before it, and would be two keys')
      :format(key), "key", "write each letter as one sign (normal form C)")
  end
  if opts.equal_since and not (key and client._journal and row.moves) then
    return nil, errors.option("nothing can ask for equal transfers", "equal_since",
      "give the client a journal, and a transfer or withdrawal a key")
  end
  return key and { name = key, content = content_of(row, values, opts.asked), equal_since = opts.equal_since }
end

--- Returns the intent of a call with these values; or nil and an error.
function M.intent_of(client, row, values, opts)
  local profile = client.profile
  local id, message = intents.new_id()
  if not id then return nil, no_random(row, message) end
  local intent = intents.new(row, values, opts.extra_params and names_of(opts.extra_params),
    values[profile.timestamp_name], values[profile.recv_window_name] or 5000, client:account(), id)
  intent.host, intent.signer = client._host, M.signer_of(client)
  return intent
end

---@class purser.WriteCall: purser.Sending  a call under way, and what is known of it
---@field payment table|false  of a queue: payment:after(outcome, message, err) returns what becomes of it
---@field sent boolean      the transport has been called
---@field began integer     the machine's clock before it was sent, epoch ms
---@field began_monotonic integer  the monotonic time then, ms
---@field process integer   the one that sends it: a child that is forked off by a hook must not
---@field unread string|false  why nothing shows whose record its answer names
---@field kept boolean      its end has been written
---@field watch table|false  calls the hook `after`, where there are hooks
---@field lost purser.Error the error of a call whose end is not known
local WriteCall = {}
WriteCall.__index = WriteCall

--- Makes sure that the journal is for the client and its API key: see journal/home.lua.
function M.identify(client, is_look, is_call)
  return intents.identify(M.journal_of(client), client, M.signer_of(client), is_look, is_call)
end
local identify = M.identify

-- Records a call. Returns the call; or nil and an error; or nil, nil and the call with the same key. Allocates all that
-- the end needs: once the request has left, memory may be short.
local function begin(client, row, values, opts, payment, key)
  local intent, rejected = M.intent_of(client, row, values, opts)
  if not intent then return nil, rejected end
  local lost = errors.new { kind = "transport", outcome = "unknown", phase = "receive", operation = row.full_name,
    message = "", advice = intents.advice(row, values), intent = intent }
  local call = setmetatable({ state = client, row = row, info = opts.info, intent = intent, payment = payment or false,
    sent = false, value = false, err = false, unread = false, kept = false, watch = false, lost = lost,
    began = core.now_ms(), began_monotonic = core.monotonic_ms(), process = core.process_id() }, WriteCall)
  client._accounts = client._accounts or {}
  client._accounts[intent.account] = true
  if opts.info then rawset(opts.info, "intent", intent) end -- no code of the caller runs before it is written down
  local ok, problem = identify(client) -- again: the credentials may be new ones
  local known
  if ok then ok, problem, known = M.journal_of(client):begin(intent, row, client._guard or nil, key, payment) end
  if ok then return call end
  if opts.info then rawset(opts.info, "intent", known and known.intent) end
  if known then return nil, nil, known end
  return nil, intents.unrecorded(row, problem)
end

local function not_its_own(row, why)
  return errors.new { kind = "decode", outcome = "unknown", phase = "decode", operation = row.full_name,
    message = "the answer is not that of this call: " .. why }
end

-- Returns the error of an answer that names another call's record. Where that call ended since this one began, nothing
-- shows the owner: neither answer is believed, and the histories decide.
local function contested(client, row, intent, id, began)
  M.journal_of(client):contest(intent, tostring(id), began)
  return not_its_own(row, "it carries the id of a record that belongs to another call")
end

local MIXED_UP_MS = 3600000 -- how old an answer may be that comes to another call

-- Returns whether an answer names a record that another call made lately; or nil and a message.
local function is_mixed_up(client, row, intent, id)
  if not id or intents.makes_in(row) == "" then return false end
  local owners, message = M.journal_of(client):owners("record_id", intent.account, { id })
  local owner = owners and owners[tostring(id)]
  if not owner then return owners and false, message end
  return owner.id ~= intent.id and owner.sent_at >= intent.sent_at - MIXED_UP_MS
end

-- Returns the result of a write call; or nil and an error of unknown outcome for another call's answer, of a proxy or a
-- transport that mixes answers up; or the result, nil and the journal's message where nothing shows the owner.
local function believe(client, row, intent, began, value, err, response)
  if not value then return value, err end
  local why = answers.doubt_of_result(row, intent.params, value, response)
  if why then return nil, not_its_own(row, why) end
  local id = intents.id_of(value)
  local is_anothers, unread = is_mixed_up(client, row, intent, id)
  if is_anothers then return nil, contested(client, row, intent, id, began) end
  return value, nil, unread
end

--- Judges the response of a call, and keeps the judgement.
function WriteCall:verify(value, err, response)
  value, err, self.unread = believe(self.state, self.row, self.intent, self.began, value, err, response)
  self.value, self.err = value, err
  return value, err
end

local NEVER = math.huge -- another program sent it: nothing shows which calls ended before that

--- Judges the answer of a request that client:prepare made, and keeps the end. An intent written by hand may lack its
--- id, account and window; an intent without a time is not kept.
function M.believe_prepared(client, row, intent, value, err)
  local is_whole, sent = intents.row_of(intent)
  if not is_whole then return believe(client, row, { params = intent.params, sent_at = NEVER }, NEVER, value, err) end
  sent.account, sent.recv_window = sent.account or client:account(), sent.recv_window or client._recv_window or 5000
  sent.host = sent.host or client._host
  local journal = M.journal_of(client)
  local known = journal:call_of(sent)
  sent.id = sent.id or known and known.id or intents.new_id()
  local unread
  value, err, unread = believe(client, row, sent, NEVER, value, err)
  if unread then return value, err end
  local is_known = known or journal:begin(sent, row, false, intents.own_key(row, sent.params))
    or journal:begin(sent, row, false)
  if is_known and journal:finish(sent, value, err) == false then
    return nil, contested(client, row, sent, intents.id_of(value), NEVER)
  end
  return value, err
end

-- Writes the end. Returns false where another call was given the record meanwhile.
local function write_end(self, value, err)
  local outcome, payment = err and err.outcome or "done", self.payment
  local ok, problem = nil, value and self.unread
  if not problem then
    ok, problem = M.journal_of(self.state):finish(self.intent, value, err,
      payment and payment:after(outcome, err and err.message or "", err))
  end
  if ok == nil and self.info then self.info.journal_error = problem end
  self.kept = ok ~= false
  return ok
end

--- Keeps the end. A call that was done stays done where the journal fails: recover reconciles its open intent.
function WriteCall:finish(value, err)
  if write_end(self, value, err) == false then
    self.value, self.err = nil, contested(self.state, self.row, self.intent, intents.id_of(value), self.began)
    value, err = self.value, self.err
    write_end(self, value, err)
  end
  return value, err
end

-- Asks again about calls that were undecided for want of a later call of their kind, once the record of such a call
-- must be visible.
local function ask_next(client, row)
  for _, intent in ipairs(reconcile_calls.due(client, row)) do M.reconcile(client, intent, { wait = false }) end
end

-- Sends the call once, and keeps the end.
function WriteCall:send(request)
  local value, err = pipeline.attempt(self.state, self.row, request, 1, self.info, self)
  if err and setbacks.learn(self.state, pipeline.run, err, request) then
    setbacks.explain(self.state, err, self.intent.sent_at, self.began, self.began_monotonic, self.intent.recv_window)
  end
  value, err = self:finish(value, err)
  if value ~= nil then
    if self.state._next then schedule.protect(ask_next, self.state, self.row) end
    return value
  end
  if err.outcome == "unknown" then err.advice, err.intent = self.lost.advice, self.intent end
  return nil, err
end

local function explain(lost, text, raised)
  lost.message = text .. ": " .. tostring(raised)
end

-- Returns the end of a call during which something was raised. Memory may be short: allocations may fail.
local function after_raising(call, raised)
  local value, err, lost = call.value, call.err, call.lost
  if value then
    err = nil
  elseif err and err.outcome ~= "unknown" then
    value = nil
  else
    local may_have_left = call.sent or call.process ~= core.process_id()
    local text = may_have_left and "an error was raised after the request may have left, so its outcome is unknown"
      or "nothing was sent: an error was raised before it could be"
    lost.message = text
    if not may_have_left then
      lost.outcome, lost.phase, lost.retryable, lost.advice, lost.intent = "not_sent", "send", true, nil, nil
    end
    pcall(explain, lost, text, raised)
    value, err = nil, lost
  end
  if not call.kept then
    local went, ended, problem = pcall(call.finish, call, value, err)
    if went then value, err = ended, problem elseif call.info then pcall(rawset, call.info, "journal_error", ended) end
  end
  if call.watch then pcall(call.watch.report_end, call.watch, err, lost) end
  return value, err
end

-- Returns the call that was made with a key, or may have been; false for none; nil and an error where the journal
-- cannot be read, or the call has other content.
local function used(client, row, key)
  local known, message = M.journal_of(client):used(client:account(), key.name)
  if known == nil then return nil, intents.journal_error("not_sent", tostring(message)) end
  if not known or intents.is_free(known) then return false end
  local other = intents.other_content(known, key, row)
  if other then return nil, other end
  return known
end

-- Checks a call, and looks its key up in any case. Returns the values that travel and their layout, or nil and an
-- error; the key; and the call with the same key.
---@param is_look boolean|nil  nothing is to be sent
local function take(client, row, params, opts, payment, is_look)
  local values, layout, given = pipeline.check_call(client, row, params, opts)
  if not (values or given) then return nil, layout end
  local key, problem = make_key(client, row, values or given, opts)
  if values and problem then return nil, problem end
  if payment or not key then return values, layout end -- the key of a payment is its row's
  local ok, stranger = identify(client, true, not is_look) -- another account's call is no answer
  if not ok then return nil, intents.unrecorded(row, stranger) end
  local known, err = used(client, row, key)
  if known == nil and (values or err.code ~= "journal.other_content") then return nil, err end
  if not known then return values, layout, key end
  if opts.info then rawset(opts.info, "intent", known.intent) end
  return values, layout, key, known
end

-- Checks a call, builds its request by `make`, and records the call. Returns the call and its request; or nil, nil, an
-- error, and the call with the same key.
local function open(client, row, params, opts, payment, make)
  local values, layout, key, used_before = take(client, row, params, opts, payment)
  if used_before then return nil, nil, nil, used_before end
  if not values then return nil, nil, layout end
  local rejection = client._guard and client._guard:check(row, values)
  if rejection then return nil, nil, rejection end
  if client._guard then client._guard:before(client, row, values) end
  if client._clock.offset then setbacks.attend_clock(client, pipeline.run, row) end
  local ok, unknown = identify(client) -- before the request is stamped: the service may be asked
  if not ok then return nil, nil, intents.unrecorded(row, unknown) end
  local request, err = make(client, row, layout, values, opts)
  if not request then return nil, nil, err end
  local call, problem, known = begin(client, row, values, opts, payment, key)
  if call then return call, request end
  setbacks.give_back(client, request)
  return nil, nil, problem, known
end

-- Does what `open` does, and once more where a look for rejected calls makes room.
local function open_with_room(client, ...)
  local call, request, problem, known = open(client, ...)
  if call or not rejected_calls.make_room(client, problem, M.reconcile) then return call, request, problem, known end
  return open(client, ...)
end

--- Signs a write call for another program, and records the call as if it were sent here. A client without a journal
--- records nothing. Returns the request; or nil and an error.
---@return table|nil request, purser.Error|nil err
function M.prepare(client, row, params, opts)
  if client._journal or type(opts) == "table" and opts.equal_since then
    local _, request, err, known = open_with_room(client, row, params, opts, nil, pipeline.build)
    if known then
      err = errors.new { kind = "argument", outcome = "not_sent", phase = "journal", operation = row.full_name,
        code = "journal.used", hint = "client:recall says what became of it",
        message = ('the key "%s" was used: this call was made, or may have been'):format(known.key) }
    elseif err then
      err.operation = err.operation or row.full_name
    end
    return request, err
  end
  local request, err, values = M.preview(client, row, params, opts)
  if request and opts.info then opts.info.intent, err = M.intent_of(client, row, values, opts) end
  if err then return nil, err end
  return request
end

--- Builds the request of a write call without the journal. The request must not leave. Returns the request; or nil and
--- an error; and the values that travel.
function M.preview(client, row, params, opts)
  local values, layout = pipeline.check_call(client, row, params, opts)
  if not values then return nil, layout end
  local rejection = client._guard and client._guard:check(row, values)
  if rejection then return nil, rejection end
  local request, err = pipeline.build(client, row, layout, values, opts)
  if not request then err.operation = row.full_name end
  return request, err, values
end

--- Runs a write call; the arguments are those of pipeline.run. An error raised after the recording becomes a result or
--- an error with the outcome (but in a coroutine on Lua 5.1 that is no task of purser.schedule).
---@param payment table|nil  the payment of purser.payouts that it belongs to
---@return any result, purser.Error|nil err, purser.Call|nil known  nil, nil and the call that has the key already
function M.run(client, row, params, opts, payment)
  opts = opts or pipeline.no_options
  local call, request, problem, known = open_with_room(client, row, params, opts, payment, pipeline.next_request)
  if not call then return nil, problem, known end
  local ok, value, err = schedule.protect(call.send, call, request)
  if ok then return value, err end
  return after_raising(call, value)
end

-------------------------------------------------------------------------------------------- what reconciling asks of it

---@class purser.reconcile.Service
---@field host string                    no other shows anything of what was sent to it
---@field visibility_delay_ms integer             how long a new record may be missing from lists
---@field signer string                  a digest of the API key by which the histories are read
---@field readings purser.evidence.Readings|nil  that were given
---@field recent purser.evidence.Readings|nil    of the client's questions before
local Service = {}
Service.__index = Service

---@param readings table|nil  what several calls that are reconciled share: see reading.lua
---@return purser.reconcile.Service
function M.service_of(client, readings)
  return setmetatable({ client = client, journal = M.journal_of(client), host = client._host, readings = readings,
    visibility_delay_ms = client._visibility_delay_ms, recv_window = client._recv_window or 5000,
    account = client:account(), signer = M.signer_of(client) }, Service)
end

--- Does what client:reconcile says.
---@param unreconciled purser.Error|purser.Intent
---@param options purser.ReconcileOptions|nil
---@param window purser.reconcile.Window|nil
---@return purser.Reconciliation|nil answer, purser.Error|nil err
function M.reconcile(client, unreconciled, options, window)
  local ok, problem = identify(client, true)
  if not ok then return nil, intents.error_of(problem) end
  local service = M.service_of(client, window and window.readings)
  service.recent = reading.recent(client, service.signer)
  local answer, err = reconcile_calls.reconcile(service, unreconciled, options, window)
  if answer and not window then client._next = reconcile_calls.note_next(client._next, unreconciled, answer) end
  return answer, err
end

--- Runs an operation as the client does.
function Service:read(row, params)
  if row.effect ~= "read" then return M.run(self.client, row, params) end
  return pipeline.run(self.client, row, params, pipeline.settles, answers.verify)
end

--- Returns the service's time, as far as it is known.
function Service:now() return (assert(self.client._clock:read())) end

--- Returns the correction of the client's clock; nil for none.
function Service:correction() return self.client._clock.offset or nil end

function Service:pause(ms) setbacks.pause(self.client, ms) end

--- Returns whether the client signs for an account, or did.
function Service:signs_as(account)
  return account == self.client:account() or self.client._accounts and self.client._accounts[account] == true
end

------------------------------------------------------------------------------------------------- a key used before

local LONGEST_LOOK_MS = 500

-- Waits while another process or task has the call under way.
local function await_end(client, known)
  local journal, ms, waited = M.journal_of(client), 20, 0
  local ends = known.sent_at + client._timeout_ms
  while known.state == "open" and waited < client._timeout_ms and client:now() < ends do
    setbacks.pause(client, ms)
    waited, ms = waited + ms, math.min(ms * 2, LONGEST_LOOK_MS)
    local message
    known, message = journal:call_of(known.intent)
    if not known then return nil, message or "the call is no longer in the journal" end
  end
  return known
end

-- Returns the result of the call with the key; nil and an error; or nothing for a call that was not executed.
local function settle(client, row, known, info)
  local message
  known, message = await_end(client, known)
  if not known then return nil, intents.journal_error("unknown", message) end
  local service = M.service_of(client)
  local is_here = not known.intent.host or known.intent.host == service.host
  local result = known.state == "done" and is_here and (known.record or {})
  if not result and not intents.is_free(known) then
    local answer, err = reconcile_calls.reconcile(service, known.intent, nil,
      known.rejected and { was_rejected = true } or nil)
    local why = err and "it cannot be looked for now: " .. err.message
      or answer.outcome == "undecided" and answer.reason
    if why then return nil, intents.undecided(row, known, why, answer and answer.candidates) end
    result = answer.outcome == "done" and (answer.record or {})
    local now = not result and M.journal_of(client):call_of(known.intent)
    if now and not intents.is_free(now) then
      return nil, intents.undecided(row, known, "the journal does not have that it was not executed")
    end
  end
  if result and info then info.repeated = true end
  return result or nil
end

--- Returns the result of the call that was made with this key; nil and an error, of unknown outcome, or of a key that
--- stands for another call; or nothing for a key that is free.
---@return any result, purser.Error|nil err
function M.recall(client, row, params, opts)
  local _, err, _, known = take(client, row, params, opts or pipeline.no_options, nil, true)
  if known then return settle(client, row, known, opts and opts.info) end
  if not errors.is(err) or err.phase ~= "journal" then return nil end
  if err.kind == "config" or not err.code then err.outcome, err.operation = "unknown", row.full_name end
  return nil, err
end

--- Makes a write call. A used key is sent again only where its call is known not to have been executed.
---@return any result, purser.Error|nil err
function M.write(client, row, params, opts)
  local value, err, known
  repeat
    value, err, known = M.run(client, row, params, opts)
    if known then value, err = settle(client, row, known, opts and opts.info) end
  until value ~= nil or err
  return value, err
end

return M
