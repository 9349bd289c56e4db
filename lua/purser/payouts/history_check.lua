-- SPDX-License-Identifier: MIT
-- What the service already holds of a queue, for a journal that may lack its last commits: one that is new, that was
-- restored, or whose connection was opened again. Before the first payment of a kind is sent, the history that would
-- show it is walked once, after a pause that makes everything visible that could have been sent just before.
--
-- A record that carries a payment's id is that payment. Where records carry no ids, one of equal content that no known
-- call has made may be the payment, so a person decides.

local compare = require "purser.write.reconcile.compare"
local core = require "purser.core"
local errors = require "purser.call.errors"
local intents = require "purser.write.intent"
local operations = require "purser.api.operations"
local private = require "purser.util.private"
local queue = require "purser.payouts.queue"
local reading = require "purser.write.evidence.reading"
local retention = require "purser.history.retention"
local schedule = require "purser.schedule"
local service = require "purser.write.service"
local witness = require "purser.payouts.witness"

local M = {}

local DAY = 86400000
local SLICE_MS = 30 * DAY    -- of a history that may be asked for as a whole, so that not all of it is held at once
local CLOCK_SET_MS = 30000   -- a clock that was set by as much while a history was read may have cut it short
local OVERLAP_MS = 2 * DAY   -- of two slices: bounds counted in whole days would leave out what lies between them
local MAX_SLEEP_MS = 1000
local REJECTIONS = 10          -- one after the other, until what was asked for is at fault

--- Lets `ms` pass, by the clock of the client's transport, unless the run ends.
function M.sleep(self, ms)
  while ms > 0 and not self.stopping and not self.problem do
    local slice = math.min(ms, MAX_SLEEP_MS)
    self.client:sleep(slice)
    schedule.sleep(0) -- a transport that blocks lets no other task work while it sleeps
    ms = ms - slice
  end
end

--- How long after a request was stamped its record must be visible (ms).
function M.visible_ms(self)
  local client, options = service.of(private.state_of(self.client)), self.reconcile_options or {}
  return reading.visible_ms(client.recv_window, options.visibility_delay_ms or client.visibility_delay_ms)
end

--- The earliest time that is looked at in the history that would show a payment.
function M.earliest(self, reconcile)
  local window, now = operations.by_name[reconcile.lookup].window, self.client:now()
  local earliest = retention.earliest(window, now)
  return math.max(now - self.look_back_days * DAY, earliest and earliest + retention.MARGIN_MS or 0)
end

--- Whether an error concerns all calls alike, so that retrying without a change is of no use.
function M.ends_run(err) return err.kind == "config" or err.kind == "closed" end

-- Whether a read was rejected for what it asks, as far as one answer shows.
local function is_rejection(err) return err.kind == "argument" or err.kind == "api" and err.outcome == "rejected" end

local function fail(self, message)
  self.problem = self.problem or ("the witness file: " .. tostring(message))
end

local function new_state(self, newest)
  self.payouts.history = { connection = self.journal.db.handle, newest = newest, groups = {},
    sleep_ms = newest and 0 or M.visible_ms(self) }
  if self.scope and not newest then
    local ok, message = witness.forget(self)
    if not ok then fail(self, message) end
  end
  return self.history
end

-- What is known of the histories, for the connection that the journal has now: another one may be to another journal.
local function state_of(self)
  local state = self.history
  if state and state.connection == self.journal.db.handle then return state end
  return new_state(self, false)
end

--- Notes that a run begins. Returns nothing, or a problem.
function M.begin(self)
  if not self.witness_db then return nil end
  local newest, problem = witness.begin(self)
  if newest == nil then return problem end
  self.began_newest = newest
  if newest and not self.history then new_state(self, true) end
end

--- Notes that a run has ended well. Returns nothing, or a problem.
function M.finish(self)
  if not self.witness_db then return nil end
  local is_unlooked = self.history_check == "never" and not self.began_newest
  local ok, message = (is_unlooked and witness.finish_unlooked or witness.finish)(self)
  if not ok then return "the witness file: " .. tostring(message) end
end

---------------------------------------------------------------------------------------------------- reading a history

-- The parameters of the history that would show a payment, without its id; and those that name accounts.
local function question(reconcile, params)
  local asked, has_names = {}, false
  for _, name in ipairs(reconcile.copy_params or {}) do
    if name ~= reconcile.client_id and params[name] ~= nil then
      asked[name] = params[name]
      has_names = has_names or name == "fromAccount" or name == "toAccount"
    end
  end
  return asked, has_names
end

local function group_of(self, state, reconcile, params)
  local asked, has_names = question(reconcile, params)
  local parts = { reconcile.lookup }
  for name, value in pairs(asked) do parts[#parts + 1] = ("%s=%s"):format(name, tostring(value)) end
  table.sort(parts)
  local key = table.concat(parts, "\n")
  local group = state.groups[key]
  if not group then
    group = { key = key, reconcile = reconcile, asked = asked, has_names = has_names, found = {}, named = {},
      unnamed = {} }
    state.groups[key] = group
    if self.scope and state.newest then
      local kept, message = witness.kept(self, key)
      if message then fail(self, message) end
      if kept then
        group.found, group.named, group.unnamed = kept.found, kept.named, kept.unnamed
        group.rejection, group.read = kept.rejection, true
      end
    end
  end
  return group
end

-- What of a record is a text, a number or a truth: the rest compares with nothing, and may be large.
local function plain(record)
  local kept = {}
  for name, value in pairs(record) do
    if type(value) ~= "table" and type(value) ~= "userdata" then kept[name] = value end
  end
  return kept
end

-- Keeps a record under what its content may be.
local function note_content(list, record)
  for _, key in ipairs(compare.content_keys(record)) do
    list[key] = list[key] or {}
    table.insert(list[key], record)
  end
end

-- What of a record with an id decides whether it is a payment's whose id it shows in another spelling.
local function content_of(reconcile, record)
  local kept = { id = intents.id_of(record), amount = record.amount, transactionFee = record.transactionFee,
    [reconcile.client_id] = record[reconcile.client_id], [reconcile.time_member] = record[reconcile.time_member] }
  for _, name in ipairs(reconcile.match_on) do kept[name] = record[name] end
  return plain(kept)
end

-- Of records that show one id, one that did not fail counts: it proves that the payment was made.
local function note(group, record)
  local reconcile = group.reconcile
  local client_id = reconcile.client_id and record[reconcile.client_id]
  local has_failed = reconcile.failed_status ~= nil and record.status == reconcile.failed_status
  if client_id and client_id ~= "" then
    local at = record[reconcile.time_member]
    if has_failed and group.found[client_id] then return end
    group.found[client_id] = type(at) == "number" and at or 0
    if not has_failed then note_content(group.named, content_of(reconcile, record)) end
  elseif not has_failed then
    note_content(group.unnamed, plain(record))
  end
end

local function give_up(self, group, message)
  self.problem = errors.new { kind = "workflow", outcome = "not_sent", code = "payouts.history", message =
    ("payouts: whether payments were made before cannot be looked for in %s: %s; they were not sent")
    :format(group.reconcile.lookup, message),
    hint = 'make the history readable, or set history_check = "never" where you know that the journal lacks nothing' }
end

--- After a read that failed: "ended" when the run ends by it, "rejected" when the service rejects for good; nil when it
--- is to be retried, after a pause. `failures` = { tries, rejections } counts them.
function M.after_failure(self, failures, err)
  if M.ends_run(err) then
    self.problem = err
    return "ended"
  end
  failures.tries = failures.tries + 1
  failures.rejections = is_rejection(err) and failures.rejections + 1 or 0
  if failures.rejections >= REJECTIONS then return "rejected" end
  M.sleep(self, math.floor(math.min(30000, self.retry_ms * 2 ^ math.min(failures.tries, 10))))
end

-- Reads until it succeeds, the service rejects for good, or the run ends. Returns the records; or nil and the
-- rejection.
local function insist(self, group, through, asked, first, last)
  local client = self.client
  local function call(row, params) return reading.ask(client.call, client, row.full_name, params) end
  local failures = { tries = 0, rejections = 0 }
  while not self.stopping and not self.problem do
    local records, err, why = reading.all(call, through, asked, first, last, group.reconcile.time_member)
    if records and not why then return records end
    if not err then return give_up(self, group, why) end
    local over = M.after_failure(self, failures, err)
    if over then return nil, over == "rejected" and err or nil end
  end
end

-- An account that the service does not know is a matter of its payments alone, when the history without it can be read.
local function after_rejection(self, group, through, rejection, first, last)
  local general = {}
  for name, value in pairs(group.asked) do
    if name ~= "fromAccount" and name ~= "toAccount" then general[name] = value end
  end
  if group.has_names and insist(self, group, through, general, first, last) then
    group.rejection, group.read = rejection.message, true
  elseif not self.stopping and not self.problem then
    give_up(self, group, rejection.message)
  end
end

-- Reads all of a history with these parameters. Returns whether it was read; or nil, as far as after_rejection says.
local function read_with(self, group, asked)
  local through, now = operations.by_name[group.reconcile.lookup], self.client:now()
  local first = M.earliest(self, group.reconcile)
  local slice = retention.max_window(through.window) or SLICE_MS
  local newest = now + reading.WIDE_MS -- a filter in another zone, or by days, would hide the newest
  while true do
    local last = math.min(first + slice, newest)
    local records, rejection = insist(self, group, through, asked, first, last)
    if rejection then return after_rejection(self, group, through, rejection, first, last) end
    if not records then return end
    for _, record in ipairs(records) do note(group, record) end
    if last >= newest then return true end
    first = last - OVERLAP_MS
  end
end

-- How the service spells the name of a sub-account. Returns it; nil and why that cannot be known; nothing when the run
-- ends.
local function spelling_of(self, group, name)
  local client, failures = self.client, { tries = 0, rejections = 0 }
  local function list(row, params) return reading.ask(client.call, client, row.full_name, params) end
  while not self.stopping and not self.problem do
    local spelled, err = reading.spelling_of(list, group.reconcile.accounts, name)
    if spelled then return spelled end
    if spelled == false then return nil, ("no sub-account is listed as %s"):format(name) end
    if reading.MAY_NOT_LIST[err.code] or M.after_failure(self, failures, err) == "rejected" then
      return nil, ("nothing shows how the service spells the sub-account %s, because they cannot be listed: %s")
        :format(name, err.message)
    end
  end
end

-- A history that shows nothing may filter by names as the service spells them. Returns what to ask for in that
-- spelling, nil where it was asked for, and why that cannot be known.
local function respelled(self, group)
  local asked, differs = {}, false
  for name, value in pairs(group.asked) do
    asked[name] = value
    if name == "fromAccount" or name == "toAccount" then
      local spelled, why = spelling_of(self, group, value)
      if not spelled then return nil, why end
      asked[name], differs = spelled, differs or spelled ~= value
    end
  end
  return differs and asked or nil
end

local function read_all(self, group)
  local all = read_with(self, group, group.asked)
  if not all or not group.has_names or next(group.found) or next(group.unnamed) then return all end
  local asked, why = respelled(self, group)
  if why then group.rejection = why end
  if self.stopping or self.problem or not asked then return not self.stopping and not self.problem end
  return read_with(self, group, asked)
end

-- By how much the client's clock differs from one that is never set.
local function clock_error(self) return self.client:now() - core.monotonic_ms() end

local READINGS = 3 -- at most, of a history during which the clock was set

-- The pause before the first reading; the reason, which a terminal may cut at its width, begins with how long it takes.
local function await_visibility(self, state)
  local left = state.sleep_ms
  while left > 0 and not self.stopping and not self.problem do
    self.waiting_for = ("%d s until all that was sent before is visible; the journal cannot show that it is the newest")
      :format(math.ceil(left / 1000))
    M.sleep(self, math.min(left, MAX_SLEEP_MS))
    left = left - MAX_SLEEP_MS
  end
end

local function read(self, state, group)
  group.reading = true
  await_visibility(self, state)
  if not self.stopping and not self.problem then state.sleep_ms = 0 end
  self.waiting_for = group.reconcile.lookup .. " is read for payments that the journal may lack"
  local tries = 0
  while not group.read and not self.problem and not self.stopping do
    group.found, group.named, group.unnamed, group.rejection, tries = {}, {}, {}, nil, tries + 1
    local before = clock_error(self)
    local all = read_all(self, group)
    local set_by = clock_error(self) - before
    group.read = group.read or all and (tries == READINGS or math.abs(set_by) < CLOCK_SET_MS)
  end
  self.waiting_for, group.reading = nil, false
  if not group.read or not self.scope then return end
  local ok, message = witness.keep(self, group.key, group, function()
    return self.history == state and state.connection == self.journal.db.handle
  end)
  if not ok then fail(self, message) end
end

------------------------------------------------------------------------------------------------------- what it says

local AMOUNT = { "amount" } -- counts here for withdrawals as well, since there may be many to one address

local function may_be_of(payment, record, reconcile)
  return compare.may_agree(payment.params, record, reconcile.candidate_on or reconcile.match_on or {})
    and compare.may_agree(payment.params, record, AMOUNT)
end

-- The records of equal content that show no id, where those count; and those that show the payment's id in another
-- spelling.
local function equal_records(self, group, payment)
  local list, id, name = {}, payment.client_id, group.reconcile.client_id
  for _, key in ipairs(compare.content_lookups(payment.params)) do
    for _, record in ipairs(self.unidentified ~= "pay" and group.unnamed[key] or {}) do
      if may_be_of(payment, record, group.reconcile) then list[#list + 1] = record end
    end
    for _, record in ipairs(id and group.named[key] or {}) do
      if compare.may_be_id(id, record[name]) and may_be_of(payment, record, group.reconcile) then
        list[#list + 1] = record
      end
    end
  end
  return list
end

-- The records of equal content that no call known to the journal has made, and an equal call without a known end (see
-- queue.equal_call); or nil and a problem. The call is looked for first: once it has ended its record is known.
local function candidates_of(self, group, payment)
  local list = equal_records(self, group, payment)
  if not list[1] then return list end
  local found, problem = self.journal.db:transaction(function(tx)
    local equal = queue.equal_call(tx, self, payment)
    return { equal = equal, records = queue.unclaimed(tx, self, payment, list) }
  end)
  if not found then return nil, problem end
  return found.records, found.equal
end

local function describe(reconcile, records)
  local words = {}
  for i = 1, math.min(3, #records) do
    words[i] = ("%s at %s"):format(tostring(intents.id_of(records[i]) or "no id"),
      tostring(records[i][reconcile.time_member]))
  end
  return table.concat(words, ", ") .. (#records > 3 and (" and %d more"):format(#records - 3) or "")
end

-- A payment whose history shows a record of equal content, by no known call.
local function doubtful(group, records, equal)
  if equal and equal.in_queue then
    return { stage = "waiting", due_in = 500, message = ('equal payment "%s" is looked for'):format(equal.payment) }
  end
  return { stage = "undecided", message = ("%s holds a record of equal content that no call in the journal has made "
    .. "(%s), so it may have been paid already"):format(group.reconcile.lookup, describe(group.reconcile, records)) }
end

-- What the record says that carries the payment's id.
local function by_id(self, payment, at)
  local now = self.client:now()
  local intent = { operation = payment.operation, params = payment.params, recv_window = 1, account = self.account,
    sent_at = at > 1e12 and math.min(at, now) or now }
  local failures = { tries = 0, rejections = 0 }
  while not self.stopping and not self.problem do
    local answer, err = self.client:reconcile(intent, self.reconcile_options)
    if answer and answer.outcome == "done" then
      return { stage = "done", record_id = intents.id_of(answer.record) or "", record = answer.record }
    elseif answer and answer.outcome == "not_done" and not answer.record then
      return { stage = "undecided", message = "a record with its id was seen, and is no longer shown" }
    elseif answer and answer.outcome == "undecided" then
      return { stage = "undecided", message = "a record carries its id: " .. answer.reason }
    elseif answer then
      return nil -- the service kept it as failed, so it may be sent again
    end
    local over = M.after_failure(self, failures, err)
    if over == "rejected" then
      return { stage = "undecided", message = "a record carries its id, and cannot be read: " .. err.message }
    elseif over then
      return nil
    end
  end
end

local function judge(self, group, payment)
  local at = payment.client_id and group.found[payment.client_id]
  if at then
    local change = by_id(self, payment, at)
    if change and change.stage == "undecided" and payment.approved then return nil end
    return change
  end
  if payment.approved then return nil end
  if group.rejection then
    return { stage = "undecided", message = "whether it was made before cannot be looked for: " .. group.rejection }
  end
  local records, second = candidates_of(self, group, payment)
  if not records then
    self.problem = second
  elseif records[1] then
    return doubtful(group, records, second)
  end
end

--- What the histories say of a payment that this worker has taken: nil when nothing keeps it from being paid, or a
--- change for queue.move. To be asked before it is sent; the run may have ended by then (self.stopping, self.problem).
function M.look(self, payment)
  local reconcile = operations.by_name[payment.operation].reconcile
  -- a conversion pays nobody, and converts only what is left
  if self.history_check == "never" or reconcile.strategy == "conversion" then return nil end
  while not self.stopping and not self.problem do
    local state = state_of(self)
    local group = group_of(self, state, reconcile, payment.params)
    if group.read then return judge(self, group, payment) end
    if group.reading then schedule.sleep(self.idle_ms) else read(self, state, group) end
  end
end

return M
