-- SPDX-License-Identifier: MIT
--- The journal: what an operation is about to do is written down before the first byte leaves, and how it ended after.
--
--     local journal = assert(purser.journal.open { sqlite = "journal.db" })
--     local client = assert(purser.new { ..., journal = journal })
--     assert(journal:recover(client)) -- reconciles what a crash left open
--
-- SQLite (with a write-ahead log and a flush at every commit) for one host, PostgreSQL where several hosts share it.
-- Nothing is sent that cannot be recorded. Passwords and secret keys are never written.

local arrival = require "purser.write.arrival"
local calls = require "purser.write.journal.calls"
local facts = require "purser.write.journal.facts"
local views = require "purser.client.util.views"
local candidates = require "purser.write.candidates"
local core = require "purser.core"
local errors = require "purser.client.call.errors"
local home = require "purser.write.journal.home"
local intents = require "purser.write.intent"
local option_schema = require "purser.client.util.option_schema"
local private = require "purser.client.util.private"
local schema = require "purser.write.journal.schema"
local words = require "purser.write.journal.words"

local time_text = intents.time_text
local unpack = table.unpack or unpack -- luacheck: ignore

---@class purser.Journal
local Journal = { __name = "purser.journal" }
Journal.__index = Journal

---@class purser.modules.journal
local M = {}

-- Calls, reconciling and queues ask a journal by these names, as in memory.lua.
local asked = { call_of = facts.call_of_intent, identify = home.identify, look = home.look }
for _, name in ipairs { "begin", "end_call", "finish", "reconciled", "contest", "owners", "open_calls", "made_calls",
  "rejected_calls", "used" } do
  asked[name] = calls[name] or facts[name]
end
function asked:is_vouched(identity) return home.is_vouched(self.db, identity) end
setmetatable(Journal, { __index = asked })

--- Ends the latest attempt of a call by a person's word, which is kept with who said so and when. The word is no proof:
--- sums go on counting the call. Refused while the service may take the request yet, and against an answer or an id.
--- Returns true; or nil and an error.
---@param id string  of the entry's intent
---@param word purser.Word
---@return true|nil ok, purser.Error|nil err
function Journal:settle(id, word) return words.settle(self, id, word) end

--- Keeps a person's word that an API key, by its digest, is of the journal's account: absence in its histories counts
--- then. Returns true; or nil and an error.
---@param identity string
---@param by string  who says so
---@return true|nil ok, purser.Error|nil err
function Journal:vouch(identity, by) return home.vouch(self, identity, by) end

--- Keeps a person's word that the journal's account has another name. Ids at the service are made of the first name for
--- ever. Refused under a policy, whose signed files have the name. Returns true; or nil and an error.
---@param name string
---@param by string  who says so
---@return true|nil ok, purser.Error|nil err
function Journal:rename(name, by) return home.rename(self, name, by) end

--- Keeps a person's word that the service has another host: what was sent to the old one is looked for there. Returns
--- true; or nil and an error.
---@param host string  as in the error of a client: without a port where that is the scheme's own
---@param by string    who says so
---@return true|nil ok, purser.Error|nil err
function Journal:moved(host, by) return home.moved(self, host, by) end

--- Returns the error of a client that may not look into this journal: the client is of another account or service; nil
--- where it may.
---@param client purser.Client
---@return purser.Error|nil
function Journal:refusal(client)
  local own, message = home.read(self.db)
  if not own then return intents.journal_error("unknown", message) end
  return home.refusal(self.db, own, client:account(), private.state_of(client)._host, true)
end

--- Returns the name of the journal's account, and the host of its service; nil where nothing was ever sent, nil and an
--- error where the journal cannot be read.
---@return string|nil account, string|purser.Error|nil service
function Journal:account()
  local own, message = home.read(self.db)
  if not own then return nil, intents.journal_error("unknown", message) end
  return own.account, own.service
end

--- Keeps a person's word that an account has another spending limit of an asset, or none. A client that brings
--- another, lower one lowers it again. Returns true; or nil and an error.
---@param limit { asset: string, amount: string|purser.decimal|nil, period_ms: integer|nil, by: string }  no amount: the
--- limit ends; the period where the asset has limits of several
---@return true|nil ok, purser.Error|nil err
function Journal:limit(limit) return words.limit(self, limit) end

----------------------------------------------------------------------------------------------------- what users call

local function problem(message)
  return nil, intents.journal_error("not_sent", message)
end

--- Returns the journal's own id, which a copy has from its original; or nil and an error.
---@return string|nil id, purser.Error|nil err
function Journal:id()
  local rows, message = self.db:rows "SELECT value FROM purser_meta WHERE name = 'journal_id'"
  if not rows then return problem(message) end
  if not rows[1] then return problem "it has no id; it was changed by another program" end
  return rows[1].value
end

local function entry_of(row)
  return {
    intent = facts.intent_of(row), state = row.state, record = candidates.record_of(row),
    candidates = candidates.of(row), why = row.why ~= "" and row.why or nil,
    payment = row.payment ~= "" and row.payment or nil,
    message = row.message ~= "" and row.message or nil, queue = row.queue ~= "" and row.queue or nil,
    key = row.key ~= "" and row.queue == "" and row.key or nil, -- that of a payment is the queue's
    is_counted = intents.counts(row), content = row.content, arrival = row.state == "done" and row.arrival or nil,
  }
end

-- The message of an end by a person's word is that of words.lua.
local EARLIER = [[SELECT number, sent_at, NULLIF(signer, '') AS signer, state, NULLIF(message, '') AS message,
  (SELECT min(person) FROM purser_words AS said WHERE said.call = attempt.call AND said.attempt = attempt.number
  AND message = person || ' said that it was ' || CASE word WHEN 'done' THEN '' ELSE 'not ' END || 'executed') AS person
  FROM purser_attempts AS attempt WHERE call = $1 ORDER BY sent_at, ended_at]]

---@class purser.JournalAttempt  of a call before the latest, or an end that another one replaced
---@field number integer
---@field sent_at integer     epoch ms
---@field signer string|nil   a digest of the API key
---@field state string        how it ended
---@field message string|nil
---@field person string|nil   by whose word it ended

---@class purser.JournalEntry
---@field intent purser.Intent
---@field key string|nil     the caller's: it is used once
---@field queue string|nil   of purser.payouts
---@field state "open"|"unknown"|"done"|"rejected"|"not_sent"|"not_done"|"undecided"
---@field record table|nil   what the service answered, or what it keeps
---@field why string|nil      undecided: the word of its reason, of docs/write/outcomes.md
---@field candidates purser.Candidate[]|nil  undecided: the records that may be its own, the likest first
---@field payment string|nil  its key in the queue
---@field message string|nil
---@field content string      a digest of what the key stands for
---@field arrival "accepted"|"sent"|"failed"|"cancelled"|nil  what the record of a done call showed later; nil without
--- a look
---@field is_counted boolean  in sums: nothing proves that it was not made, though a person may say so
---@field earlier purser.JournalAttempt[]|nil  where the filter names an id or a key

local filter_rules = {
  state = { "open", "unknown", "done", "rejected", "not_sent", "not_done", "undecided" },
  id = "string", key = "string", payment = "string", limit = { 1, 2 ^ 31 - 1 }, after = "table",
}

local ACCOUNT = "(SELECT value FROM purser_meta WHERE name = 'account') AS account"

-- The query for a filter, and its values.
local function query_of(filter)
  local conditions, values = {}, {}
  for _, name in ipairs { "id", "key", "payment", "state" } do
    if filter[name] then
      values[#values + 1] = filter[name]
      conditions[#values] = ("%s = $%d"):format(name, #values)
    end
  end
  if filter.key then conditions[#conditions + 1] = "key <> ''" end -- word by word as in its index
  if intents.UNDECIDED[filter.state] then conditions[#conditions + 1] = schema.UNDECIDED end
  local after = filter.after and filter.after.intent
  if after then
    conditions[#conditions + 1] = ("(sent_at, id) > ($%d, $%d)"):format(#values + 1, #values + 2)
    values[#values + 1], values[#values + 2] = time_text(after.sent_at), after.id
  end
  -- what was never sent is no call yet; a payment is one of its queue
  conditions[#conditions + 1] = filter.payment and "queue <> ''" or "sent_at <> ''"
  local limit = filter.limit and (" LIMIT %d"):format(filter.limit) or ""
  return "SELECT *, " .. ACCOUNT .. ", " .. arrival.NAMED .. " FROM purser_calls WHERE "
    .. table.concat(conditions, " AND ") .. " ORDER BY sent_at, id" .. limit, values
end

---@class purser.Recovered
---@field intent purser.Intent
---@field answer purser.Reconciliation|nil
---@field err purser.Error|nil  why it could not be looked for; its outcome is the call's, "unknown"

---@class purser.JournalFilter
---@field state "open"|"unknown"|"done"|"rejected"|"not_sent"|"not_done"|"undecided"|nil
---@field id string|nil
---@field key string|nil                the caller's, or an id that the service knows
---@field payment string|nil            the key of a payment in a queue: also of one that was never sent
---@field limit integer|nil             at most so many; without it all of them, in memory
---@field after purser.JournalEntry|nil only what comes after this one

--- Returns the entries, oldest first: all of them, or those that the filter lets through.
---@param filter purser.JournalFilter|nil
---@return purser.JournalEntry[]|nil entries, purser.Error|nil err
function Journal:entries(filter)
  filter = filter or {}
  local wrong, name, hint = option_schema.check(filter, filter_rules, "filter of journal:entries")
  if not wrong and filter.after and not (filter.after.intent and filter.after.intent.id) then
    wrong, name, hint = "filter of journal:entries: after is no entry", "after", "give one of journal:entries()"
  end
  if wrong then return nil, errors.option(wrong, name, hint) end
  local sql, values = query_of(filter)
  local rows, message = self.db:rows(sql, unpack(values))
  if not rows then return problem(message) end
  for i, row in ipairs(rows) do
    rows[i] = entry_of(row)
    local earlier = {}
    if filter.id or filter.key or filter.payment then earlier, message = self.db:rows(EARLIER, row.id) end
    if not earlier then return problem(message) end
    for j, one in ipairs(earlier) do
      earlier[j] = { number = tonumber(one.number), sent_at = tonumber(one.sent_at), signer = one.signer,
        state = one.state, message = one.message, person = one.person }
    end
    rows[i].earlier = earlier[1] and earlier
  end
  return rows
end

local PAGE = 500

--- Returns an iterator over the entries, oldest first, with no more than a page of them in memory:
---
---     for entry in journal:each_entry { state = "done" } do ... end
---
--- It raises an error of kind "config" where they cannot be read.
---@param filter purser.JournalFilter|nil
---@return fun(): purser.JournalEntry|nil next
function Journal:each_entry(filter)
  local requested = { limit = PAGE }
  for name, value in pairs(filter or {}) do requested[name] = value end
  local page, at = nil, 0
  return function()
    if page and at == #page then
      if #page < requested.limit then return nil end
      page = nil
    end
    if not page then
      local err
      page, err = self:entries(requested)
      if not page then error(err, 0) end
      at, requested.after = 0, page[#page] or requested.after
    end
    at = at + 1
    return page[at]
  end
end

--- Deletes what was sent before a time and is decided, what payments that were made then carried, and signed plans that
--- are over; keys of payments stay, so that none is made a second time. `before` is at least 184 days back. Returns {
--- intents =, payments = }, how many were deleted or made smaller; or nil and an error; then it may be called again.
---@param options { before: integer }  epoch ms
---@return { intents: integer, payments: integer }|nil counts, purser.Error|nil err
function Journal:prune(options)
  local counts, message, name, hint = schema.prune(self.db, options)
  if name then return nil, errors.option("journal:prune: " .. message, name, hint) end
  if not counts then return problem(message) end
  return counts
end

---@class purser.OpenCount
---@field calls integer     outside of queues: recover finds out about them
---@field payments integer  of queues: the next run of their queue does
---@field queues table<string, integer>  of which queue how many

--- Returns how many calls have no known end.
---@return purser.OpenCount|nil count, purser.Error|nil err
function Journal:open_count()
  local rows, message = self.db:rows("SELECT queue FROM purser_calls WHERE " .. schema.UNDECIDED .. " ORDER BY sent_at")
  if not rows then return problem(message) end
  local count = { calls = 0, payments = 0, queues = {} }
  for _, row in ipairs(rows) do
    if row.queue == "" then
      count.calls = count.calls + 1
    else
      count.payments = count.payments + 1
      count.queues[row.queue] = (count.queues[row.queue] or 0) + 1
    end
  end
  return count
end

--- Reconciles what was left open under this client's key: after a crash, or after an unknown outcome that was not
--- reconciled. Payments of purser.payouts are left to their queue. Returns a list of { intent, answer | err }; or nil
--- and an error.
---@param client purser.Client
---@param options purser.ReconcileOptions|nil
---@return purser.Recovered[]|nil recovered, purser.Error|nil err
function Journal:recover(client, options)
  if not private.state_of(client) then
    return nil, errors.argument(nil, "journal:recover has no client", "give the one whose calls are to be reconciled")
  end
  local refusal = self:refusal(client)
  if refusal then return nil, refusal end
  local rows, message = self.db:rows("SELECT *, " .. ACCOUNT .. " FROM purser_calls WHERE " .. schema.UNDECIDED
    .. " AND (state <> 'undecided' OR why = 'next') AND queue = '' ORDER BY sent_at, id")
  if not rows then return problem(message) end
  local reconciled, at_once = {}, { wait = false }
  for name, value in pairs(options or {}) do
    if name ~= "wait" then at_once[name] = value end
  end
  -- the first round decides without waiting: other calls would wait for its end
  for _, given in ipairs { at_once, options or {} } do
    for i, row in ipairs(rows) do
      local before = reconciled[i]
      if not before or before.answer and before.answer.not_before then
        local intent = facts.intent_of(row)
        local answer, err = client:reconcile(intent, given)
        if err then err.outcome = "unknown" end -- as of the call: the outcome was that of the look
        reconciled[i] = { intent = intent, answer = answer, err = err }
      end
    end
  end
  return reconciled
end

---@class purser.LogEntry
---@field at integer         epoch ms, of this machine
---@field who string         the program
---@field tool string
---@field reference string   of the payment; empty where the message names none
---@field outcome string     "begun" until the message is answered

--- Adds a message of a program to the log, before the message is obeyed: purser.agent does. Returns the entry's id; or
--- nil and an error: then the message must not be obeyed.
---@param entry purser.LogEntry
---@return string|nil id, purser.Error|nil err
function Journal:log(entry)
  local id, message = self.db:transaction(function(tx)
    local token, why = core.random_token(24)
    if not token then tx:reject(why) end
    tx:rows("INSERT INTO purser_log (id, at, who, tool, reference, outcome) VALUES ($1, $2, $3, $4, $5, $6)", token,
      time_text(entry.at), entry.who, entry.tool, entry.reference, entry.outcome)
    return token
  end)
  if not id then return problem(tostring(message)) end
  return id
end

--- Keeps how a message of the log ended.
---@param id string       of journal:log
---@param outcome string
---@return true|nil ok, string|nil message
function Journal:end_log(id, outcome)
  return self.db:transaction(function(tx)
    tx:rows("UPDATE purser_log SET outcome = $1 WHERE id = $2", outcome, id)
    return true
  end)
end

--- Returns the log, oldest first; an empty list where no program ever wrote to the log.
---@return purser.LogEntry[]|nil entries, purser.Error|nil err
function Journal:logged()
  local rows, message = self.db:rows "SELECT at, who, tool, reference, outcome FROM purser_log ORDER BY at, id"
  if not rows then return problem(message) end
  for i, row in ipairs(rows) do
    rows[i] = { at = assert(tonumber(row.at)), who = row.who, tool = row.tool, reference = row.reference,
      outcome = row.outcome }
  end
  return rows
end

--- Closes the connection. May be called again.
function Journal:close()
  self.db:close()
end

function Journal:__tostring()
  return ("purser.journal (%s%s)"):format(self.db.name, self.db.closed and ", closed" or "")
end
Journal.__gc = Journal.close
Journal.__close = Journal.close

---@class purser.JournalOptions  one of the first two is required
---@field sqlite string|nil           a path
---@field postgresql purser.PostgresqlOptions|nil
---@field lock_timeout_ms integer|nil how long SQLite's lock is waited for. Default: 5000
---@field sleep fun(ms: integer)|nil  by which coroutines of this host wait: without it a wait for SQLite's lock stops
--- the thread

--- Tells whether there is a journal already, and makes none: of SQLite a file, on a server the tables. Returns nil and
--- an error of kind "config" where that cannot be seen.
---@param options purser.JournalOptions
---@return boolean|nil is_there, purser.Error|nil err
function M.exists(options) return schema.exists(options) end

--- Opens a journal, and makes its tables when the database is new. A server that is not this machine must show a
--- certificate with its name (sslmode "verify-full"), unless allow_insecure = true. Returns it; or nil and an error of
--- kind "config".
---@param options purser.JournalOptions
---@return purser.Journal|nil journal, purser.Error|nil err
function M.open(options)
  local db, err = schema.open(options)
  if not db then return nil, err end
  return setmetatable({ db = db, unwritten = {} }, Journal)
end

views.check_colon(Journal, "journal")

return M
