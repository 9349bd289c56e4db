-- SPDX-License-Identifier: MIT
--- Planned calls: write calls that stand in the journal before they are sent, as payments of a queue. A room on top
--- plans, takes, sends and ends planned calls by these names alone, and owns the stage, due time and lease of their
--- rows.

local arrival = require "purser.write.arrival"
local call = require "purser.write.call"
local candidates = require "purser.write.candidates"
local calls = require "purser.write.journal.calls"
local core = require "purser.core"
local digests = require "purser.write.digests"
local errors = require "purser.client.call.errors"
local home = require "purser.write.journal.home"
local hooks = require "purser.client.call.hooks"
local intents = require "purser.write.intent"
local operations = require "purser.client.operations"
local payees = require "purser.write.payees"
local private = require "purser.client.util.private"
local reading = require "purser.write.reading"
local service_clock = require "purser.client.call.clock"
local spending = require "purser.write.guard.spending"
local setbacks = require "purser.client.call.setbacks"
local validate = require "purser.client.call.validate"
local words = require "purser.write.journal.words"

---@class purser.modules.planned
---@field MADE string  the condition of a row whose call was made: of a withdrawal, seen to be sent
---@field UNDONE table<string, true>  the states of calls that certainly made no record
---@field is_left fun(row: table, now: integer): boolean  whether a sent payment is no worker's until it is due
---@field COUNTED string  the condition of a row that counts in sums
---@field WAS_SENT string  the condition of a row whose call this journal sent
---@field ARRIVAL string  the column of what a done call's record showed later; NULL without a look
---@field KEPT_PLANS string  the query for the plans that let an attempt of a call through that is not pruned
local M = {}

----------------------------------------------------------------------------------------------------------- the rows

--- Returns a time as the rows keep it.
---@type fun(ms: integer): string
M.time_text = intents.time_text

--- Changes rows by a condition with `?` for each of the further values. Returns how many.
---@type fun(tx: table, set: table<string, string>, where: string, ...: string): integer
M.update = calls.update

--- Returns the row of a call, locked; nil where there is none.
---@type fun(tx: table, id: string): table<string, string>|nil
M.locked = calls.locked

--- Writes an end in a locked row, counts it in sums, and keeps the end before.
---@type fun(tx: table, known: table<string, string>, ending: table)
M.write_end = calls.write_end

--- Keeps what a locked row was sent as, before another content takes its place. Returns the columns of a row that was
--- never sent.
---@type fun(tx: table, row: table<string, string>): table<string, string>
M.set_aside = calls.set_aside

--- Returns the columns of a stage.
---@type fun(tx: table, change: purser.Stage): table<string, string>
M.staged = calls.staged

--- Returns the records that a row's undecided call may have made, the likest first; nil for none.
---@type fun(row: table<string, string>): purser.Candidate[]|nil
M.candidates = candidates.of

--- Returns an operation by its full name, to be read only; nil for none.
---@type fun(operation: string): table|nil
function M.operation(operation) return operations.by_name[operation] end

--- Checks parameters. Returns them as they travel; or nil and an error.
---@param operation string
---@param params table
---@return table<string, string>|nil values, purser.Error|nil err
function M.check(operation, params) return validate.check(operations.by_name[operation], params) end

--- Returns what is one name in whatever letters.
---@type fun(name: string): string
M.form = digests.form

--- Returns whether a text has a sign that joins the letter before it.
---@type fun(name: string): boolean
M.is_decomposed = digests.is_decomposed

--- Returns whether an entry of journal:entries is the call of a payment: the content is compared, not the key.
---@param entry purser.JournalEntry
---@param operation string
---@param params table
---@return boolean
function M.is_same(entry, operation, params)
  local row = operations.by_name[operation]
  return row ~= nil and entry.intent.operation == operation
    and intents.is_same_content(entry.content, digests.content(row, validate.check(row, params) or params))
end

--- Returns a digest of parameters, the same for all spellings.
---@type fun(operation: string, params: table<string, string>): string
function M.content(operation, params) return digests.content(operations.by_name[operation], params) end

--- Returns the name of which a client's ids at the service are made.
---@type fun(client: purser.Client): string
function M.ids_of(client) return call.ids_of(private.state_of(client)) end

--- Returns the id by which the service knows a payment of a queue.
---@type fun(account: string, queue: string, key: string): string
M.id_of_payment = digests.id_of_payment

--- Returns the columns of a call.
---@param operation string
---@param params table<string, string>
---@param key string|nil  the id by which the service distinguishes it
---@return table<string, string> columns
function M.columns(operation, params, key)
  local row = operations.by_name[operation]
  return { operation = operation, params = intents.encode { params = params }, key = key or "",
    content = digests.content(row, params), digest = digests.likeness(row, params), history = intents.makes_in(row) }
end

--- Adds a row. Returns whether it was added: not where another has its key, or its place in a queue.
---@type fun(tx: table, columns: table<string, string>): boolean
function M.insert(tx, columns)
  local id, message = core.random_token(24)
  if not id then tx:reject("no random id could be made: " .. tostring(message)) end
  local call_ = calls.call_with_key(tx, columns)
  if call_ then tx:reject(intents.key_of_call(call_, columns.payment)) end
  columns.id, columns.state = id, "planned"
  return calls.insert(tx, columns)
end

--- Returns why the journal would refuse calls now, by their places in the list: a payment's key is that of a single
--- call, or a limit is exceeded, together with the calls before it. Nothing is kept. Nil and an error where the journal
--- cannot be read.
---@param client purser.Client
---@param journal purser.Journal
---@param list { operation: string, params: table, id: string|nil, queue: string|nil, payment: string|nil }[]
---@return table<integer, purser.Error>|nil refusals, purser.Error|nil err
function M.refusals(client, journal, list)
  local guard, found = private.state_of(client)._guard, {}
  local brought, own, message = guard and guard.limits or {}, home.read(journal.db)
  if not own then return nil, M.error(message) end
  local is_limited = next(brought) ~= nil or next((spending.limits(own))) ~= nil
  local _, problem = journal.db:transaction(function(tx)
    for i, one in ipairs(list) do
      local row, other = operations.by_name[one.operation], nil
      if one.payment then
        other = calls.call_with_key(tx, { key = one.id or "", queue = one.queue or "", payment = one.payment })
      end
      found[i] = other and intents.key_of_call(other, one.payment) or is_limited and spending.admit(tx, own,
        { params = one.params, sent_at = client:now() }, row, { id = "of a plan", content = tostring(i) }, brought)
        or nil
    end
    tx:reject(found) -- undoes the charges
  end, not is_limited)
  if problem ~= found then return nil, M.error(problem) end
  return found
end

--- Returns the row of an equal call without a known end, an undecided one first, locked; nil for none.
---@type fun(tx: table, operation: string, params: table<string, string>, now: integer): table<string, string>|nil
function M.equal_call(tx, operation, params, now)
  local rows = calls.equal_calls(tx, digests.likeness(operations.by_name[operation], params), "", now,
    calls.for_update[tx.db.name])
  for _, row in ipairs(rows) do
    if row.state == "undecided" then return row end
  end
  return rows[1]
end

--- Returns the id of the person's word that lets a call be sent again; nil for none.
---@type fun(tx: table, call: string): string|nil
M.standing_word = words.standing

M.KEPT_PLANS = [[SELECT plan FROM purser_calls WHERE plan <> '' AND params <> '{}' UNION SELECT attempt.plan FROM
  purser_attempts AS attempt JOIN purser_calls AS one ON one.id = attempt.call WHERE one.params <> '{}']]

M.MADE, M.ARRIVAL, M.COUNTED, M.WAS_SENT = arrival.MADE, arrival.NAMED, intents.COUNTED, intents.WAS_SENT
M.UNDONE, M.is_left = intents.UNDONE, intents.is_left

--- Returns whether an entry of journal:entries was made: of a withdrawal, seen to be sent.
---@type fun(entry: purser.JournalEntry): boolean
M.is_made = arrival.is_made

--- Returns what became of a done call: accepted, sent, failed or cancelled. Reads the history at most once a minute.
---@type fun(client: purser.Client, journal: purser.Journal, entry: purser.JournalEntry): string|nil, purser.Error|nil
M.look = arrival.look

--- Looks at the oldest withdrawals to a destination whose end was not seen.
---@type fun(client: purser.Client, journal: purser.Journal, destination: string)
M.look_at_destination = arrival.look_at_destination

--- Returns a function from an address to the warnings that each plan shows: the address of another row, or a payee of
--- the last half year, has the same ends alone. Nil and an error where the journal, by default the client's own, cannot
--- be read.
---@param client purser.Client
---@param journal purser.Journal|nil
---@param plan purser.ShownAddress[]|nil  what is paid beside
---@return (fun(address: any): string[])|nil look_alikes, purser.Error|nil err
function M.look_alikes(client, journal, plan)
  local state = private.state_of(client)
  return payees.of(journal or state and state._journal, client:now(), plan)
end

--- Keeps the state of a withdrawal's record that a client saw, in the client's journal.
---@param client purser.Client
---@param record table
function M.note(client, record)
  local state = private.state_of(client)
  if state then arrival.note(state._journal, record, client:now()) end
end

--- Returns the record ids of accepted withdrawals whose end was not seen.
---@type fun(journal: purser.Journal): string[]|nil, purser.Error|nil
M.awaited = arrival.awaited

--- Keeps the state of a withdrawal's record in a journal.
---@type fun(journal: purser.Journal, record: table, now: integer)
M.note_in = arrival.note

--- Ends the transaction where the journal is of another account or service than the client's.
---@type fun(tx: table, client: purser.Client)
function M.enter(tx, client) home.enter(tx, client:account(), private.state_of(client)._host) end

--- Makes sure, before anything is taken, that a client's journal is for the client and its API key. Returns true, also
--- where the service cannot say now whose key it is: a sending asks again. Nil and an error for another's key.
---@param client purser.Client
---@param is_look boolean|nil  nothing is to be written
---@return true|nil ok, purser.Error|nil err
function M.identify(client, is_look)
  local ok, problem = call.identify(private.state_of(client), is_look, true)
  if ok or errors.is(problem) and problem.code == "journal.key_unknown" then return true end
  return nil, M.error(problem)
end

--- Returns a record's id; nil for none.
---@type fun(record: table): string|nil
M.record_id = intents.id_of

--- Returns the error of a failed transaction. A message may have its cure behind a semicolon.
---@param problem any
---@return purser.Error
function M.error(problem)
  return errors.is(problem) and problem or intents.journal_error("not_sent", tostring(problem),
    not tostring(problem):find("; ", 1, true) and "make the journal readable and writable, then run it again: what "
      .. "was sent is found by it" or nil)
end

--- Runs fn(tx) in a transaction. Returns its result; or nil and an error.
---@param journal purser.Journal
---@param fn fun(tx: table): any
---@param reads boolean|nil  `fn` only reads: it does not wait for what others write
---@return any result, purser.Error|nil err
function M.within(journal, fn, reads)
  local result, problem = journal.db:transaction(fn, reads)
  if result == nil then return nil, M.error(problem) end
  return result
end

----------------------------------------------------------------------------------------------------------- the client

--- Returns whether the client records what it sends in this journal.
---@type fun(client: purser.Client, journal: purser.Journal): boolean
function M.has_journal(client, journal)
  local state = private.state_of(client)
  return state ~= nil and state._journal == journal
end

--- Sends a planned call, and writes its end with that of `planned:after(outcome, message, err)`. Returns as an
--- operation does.
---@param client purser.Client
---@param planned { operation: string, params: table, id: string, attempt: integer, attempts: integer, worker: string }
---@param info table  gets the call's `intent`, and `journal_error` where its end could not be written
---@return any result, purser.Error|nil err
function M.send(client, planned, info)
  local value, err = call.run(private.state_of(client), operations.by_name[planned.operation], planned.params,
    { info = info }, planned)
  return value, err
end

--- Returns whether a rejection was for the clock, which is right by now.
---@param err purser.Error|nil
---@return boolean
function M.was_too_late(err) return err ~= nil and err.code == service_clock.OUTSIDE_WINDOW end

--- Returns whether each copy of a request gets a rejection.
---@type fun(err: purser.Error): boolean
M.is_of_each_copy = intents.is_of_each_copy

--- Returns the client's recv_window, and how long after its stamp a request's record must be visible (ms).
---@param client purser.Client
---@return integer recv_window, integer visible_ms
function M.times(client)
  local window = private.state_of(client)._recv_window or 5000
  return window, reading.visible_ms(window, client:settings().visibility_delay_ms)
end

--- Returns in words how long calls wait for the rate limit; nil for less than a second.
---@type fun(client: purser.Client): string|nil
function M.wait_text(client)
  local ms = setbacks.room_ms(private.state_of(client))
  return ms and ms >= 1000 and hooks.room_text(ms) or nil
end

--- Returns readings of histories that several questions share, of one time (epoch ms) or each of its own; or readings
--- that a store keeps, of all that was made since `first`.
---@type fun(as_of: integer|nil, first: integer|nil, store: table|nil): table
M.readings = reading.share

return M
