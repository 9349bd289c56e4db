-- SPDX-License-Identifier: MIT
-- The journal's database: its tables, opening and pruning. Every column is text: LuaDBI reads 64-bit integers as 32-bit
-- ones. Times are 13 digits of epoch milliseconds, ordered as texts; amounts are decimals.

local arrival = require "purser.write.arrival"
local core = require "purser.core"
local database = require "purser.client.util.database"
local errors = require "purser.client.call.errors"
local home = require "purser.write.journal.home"
local intents = require "purser.write.intent"
local lazy = require "purser.client.util.lazy"
local option_schema = require "purser.client.util.option_schema"
local policy = require "purser.write.policy"
local postgresql = require "purser.client.util.database.postgresql"
local tables = require "purser.client.util.database.tables"
local spending = lazy "purser.write.guard.spending"
local upgrade = lazy "purser.write.journal.upgrade"
local version = require "purser.version"


local M = {
  version = home.VERSION,
  OLDEST = 8, -- the first version of a release: each later Purser opens it
}

-- A planned payment, a call under way and a finished call are rows of one table; a queue is the rows with its name.
-- `state` is the latest attempt's, `stage` a payment's place in its queue. `attempt` numbers sendings for good; `tries`
-- begins anew when a person puts a payment back.
local calls = [[CREATE TABLE purser_calls (id TEXT PRIMARY KEY,
  operation TEXT NOT NULL,
  history TEXT NOT NULL,                -- the list that shows the record it makes; '' where it makes none
  key TEXT NOT NULL,                    -- by which it is used once: the caller's, or its own id; '' where it has none
  form TEXT NOT NULL DEFAULT '',        -- the key's, or a payment's name, in letters of no case and width
  content TEXT NOT NULL,                -- a digest of what the key stands for
  params TEXT NOT NULL, digest TEXT NOT NULL, -- equal calls have the same digest
  state TEXT NOT NULL,                  -- planned, open, unknown, done, rejected, not_sent, not_done, undecided
  attempt TEXT NOT NULL DEFAULT '0',    -- how often it was sent in all
  first_sent_at TEXT NOT NULL DEFAULT '', sent_at TEXT NOT NULL DEFAULT '', recv_window TEXT NOT NULL DEFAULT '0',
  plan TEXT NOT NULL DEFAULT '', approved_by TEXT NOT NULL DEFAULT '', -- of an approval: the digest, and persons
  policy TEXT NOT NULL DEFAULT '',      -- the version that let it through
  destination TEXT NOT NULL DEFAULT '', -- a digest of whom it pays, under a policy
  record_id TEXT NOT NULL DEFAULT '', record TEXT NOT NULL DEFAULT '',
  answered TEXT NOT NULL DEFAULT '',    -- of a call that was made: 'yes', its answer named the record; 'found', the
                                        -- record shows its id; 'no', nothing but the record's content
  message TEXT NOT NULL DEFAULT '', ended_at TEXT NOT NULL DEFAULT '',
  queue TEXT NOT NULL DEFAULT '', payment TEXT NOT NULL DEFAULT '', -- its name in the queue
  stage TEXT NOT NULL DEFAULT '',       -- waiting, taken (until the lease ends), sent, done, failed, undecided, dropped
  added_at TEXT NOT NULL DEFAULT '',
  due_at TEXT NOT NULL DEFAULT '',      -- when it may be sent; '' at once
  blocked TEXT NOT NULL DEFAULT '',     -- 'yes' until something changes
  rejected TEXT NOT NULL DEFAULT '',    -- 'yes': it is looked for by its id before it counts as failed
  disowned TEXT NOT NULL DEFAULT '',    -- 'yes': a person said that its content was not made, without proof.
                                        -- 'other': that of content which it had before
  tries TEXT NOT NULL DEFAULT '0',      -- how often it was sent since it was added, or put back
  worker TEXT NOT NULL DEFAULT '', lease_until TEXT NOT NULL DEFAULT '',
  host TEXT NOT NULL DEFAULT '',        -- of the service that the latest attempt was sent to
  signer TEXT NOT NULL DEFAULT '',      -- a digest of the API key that signed it
  why TEXT NOT NULL DEFAULT '')]]       -- of undecided calls: the word of the reason (match.lua)

-- A call's row has its latest attempt and end. Each that another one replaced has a row here, added once and gone with
-- its call.
local attempts = [[CREATE TABLE purser_attempts (call TEXT NOT NULL, number TEXT NOT NULL, host TEXT NOT NULL,
  signer TEXT NOT NULL, sent_at TEXT NOT NULL, recv_window TEXT NOT NULL, plan TEXT NOT NULL, approved_by TEXT NOT NULL,
  state TEXT NOT NULL, answered TEXT NOT NULL, record_id TEXT NOT NULL, message TEXT NOT NULL,
  ended_at TEXT NOT NULL)]]

-- The numbers of each process's commits: a journal with fewer than a process remembers lacks commits.
local generations = [[CREATE TABLE purser_generations (name TEXT PRIMARY KEY, generation TEXT NOT NULL,
  changed_at TEXT NOT NULL)]]

-- The index of calls without a known end holds nothing else: no statistics make a database read all rows. Queries have
-- this condition word by word. SQLite would make a table of a list after IN for each row that is written.
M.UNDECIDED = "(state = 'open' OR state = 'unknown' OR state = 'undecided')"

-- A key, a payment and a record have one row each, in whatever process.
local indexes = {
  "CREATE UNIQUE INDEX purser_calls_form ON purser_calls (form) WHERE form <> '' AND queue = ''",
  "CREATE INDEX purser_calls_key ON purser_calls (key) WHERE key <> ''",
  "CREATE UNIQUE INDEX purser_calls_client_id ON purser_calls (key, operation) WHERE key <> '' AND queue <> ''",
  "CREATE UNIQUE INDEX purser_calls_payment ON purser_calls (form, queue) WHERE queue <> ''",
  "CREATE INDEX purser_calls_name ON purser_calls (payment, queue) WHERE queue <> ''",
  "CREATE UNIQUE INDEX purser_calls_record ON purser_calls (record_id, history) WHERE record_id <> '' "
    .. "AND history <> ''",
  "CREATE INDEX purser_calls_undecided ON purser_calls (sent_at, id) WHERE " .. M.UNDECIDED,
  "CREATE INDEX purser_calls_time ON purser_calls (sent_at, id)",
  "CREATE INDEX purser_calls_state ON purser_calls (state, sent_at, id)",
  "CREATE INDEX purser_calls_digest ON purser_calls (digest, sent_at)",
  "CREATE INDEX purser_calls_answered ON purser_calls (operation, sent_at) WHERE answered <> ''",
  "CREATE INDEX purser_calls_destination ON purser_calls (destination, sent_at) WHERE destination <> ''",
  "CREATE INDEX purser_attempts_call ON purser_attempts (call, sent_at)",
  "CREATE INDEX purser_calls_stage ON purser_calls (queue, stage, blocked, due_at) WHERE queue <> ''",
}

local function create(tx)
  -- a witness (purser.payouts.history_check) must not be kept with the journal that it speaks for
  if tx:has "purser_marks" then tx:reject "it is the witness file of a journal" end
  local id, why = core.random_token(24)
  if not id then tx:reject("no random id could be made: " .. tostring(why)) end
  tx:rows "CREATE TABLE purser_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
  tx:rows(calls)
  tx:rows(attempts)
  for _, sql in ipairs(indexes) do tx:rows(sql) end
  -- the limits that clients brought (no person), and persons' words on them (no amount: none); none is changed
  tx:rows [[CREATE TABLE purser_limits (at TEXT PRIMARY KEY, asset TEXT NOT NULL, period_ms TEXT NOT NULL,
    amount TEXT NOT NULL, person TEXT NOT NULL)]]
  -- what calls of one content are charged to limits, and the sums of periods by their number
  tx:rows [[CREATE TABLE purser_charges (call TEXT NOT NULL, content TEXT NOT NULL, asset TEXT NOT NULL,
    amount TEXT NOT NULL, at TEXT NOT NULL)]]
  tx:rows "CREATE INDEX purser_charges_call ON purser_charges (call)"
  tx:rows "CREATE INDEX purser_charges_time ON purser_charges (asset, at)"
  tx:rows [[CREATE TABLE purser_spending (asset TEXT NOT NULL, period_ms TEXT NOT NULL, number TEXT NOT NULL,
    amount TEXT NOT NULL, PRIMARY KEY (asset, period_ms))]]
  tx:rows(generations)
  -- a person's words about attempts of calls; none is changed or taken away
  tx:rows [[CREATE TABLE purser_words (id TEXT PRIMARY KEY, call TEXT NOT NULL, attempt TEXT NOT NULL,
    word TEXT NOT NULL, person TEXT NOT NULL, at TEXT NOT NULL, record_id TEXT NOT NULL)]]
  tx:rows "CREATE INDEX purser_words_call ON purser_words (call, at)"
  -- the API keys, by their digests, that signed; the user that the service says ('-': does not say); who vouched, when
  tx:rows [[CREATE TABLE purser_keys (identity TEXT PRIMARY KEY, added_at TEXT NOT NULL, uid TEXT NOT NULL,
    person TEXT NOT NULL, at TEXT NOT NULL)]]
  -- messages that programs sent to whoever pays
  tx:rows [[CREATE TABLE purser_log (id TEXT PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL, tool TEXT NOT NULL,
    reference TEXT NOT NULL, outcome TEXT NOT NULL)]]
  tx:rows(arrival.TABLE)
  tx:rows("INSERT INTO purser_meta (name, value) VALUES ('version', $1), ('journal_id', $2), ('first', $3), "
    .. "('reader', $4)", ("%d"):format(M.version), id, version, home.READER)
end

local HOME = "purser_meta" -- the table that a journal has

-- Returns whose the journal is. Ends the transaction for a journal that this Purser cannot read.
local function check(tx)
  local text = tx:meta "version"
  local number = text and text:find "^[1-9]%d*$" and tonumber(text)
  if not number then tx:reject "it holds no version, so it is not a journal of Purser's" end
  if number > home.VERSION then
    tx:reject { text = ("it is of version %d, and this Purser knows %d"):format(number, home.VERSION),
      hint = "use the newer Purser", code = "journal.version" }
  elseif number < M.OLDEST then
    tx:reject { text = ("it is of version %d, of a Purser before 0.1"):format(number),
      hint = "tools/convert-7 makes a journal of it that knows its used keys; a new journal knows none",
      code = "journal.version" }
  end
  return home.read(tx)
end

local SET = { home = HOME, lock = 7078801, check = check, create = create,
  is_due = function(own) return upgrade.is_due(own) end,
  upgrade = function(tx, own)
    tx:lock(home.LOCK) -- no call begins meanwhile
    upgrade.run(tx, own)
  end }

--- Makes the tables in an empty database, and brings a journal's to the present version. Returns true; or nil and a
--- message: a text, or a table with `text` and `hint`.
function M.prepare(db) return tables.prepare(db, SET) end

---------------------------------------------------------------------------------------------------------------- opening

local options_ = {
  sqlite = "string", postgresql = "table", lock_timeout_ms = { 0, 2 ^ 31 - 1 }, sleep = "function",
}

local function error_of(options)
  local message, name, hint = option_schema.check(options, options_, "journal option")
  if not message and options.postgresql then
    message, name, hint = option_schema.check(options.postgresql, postgresql.rules, "postgresql option")
  end
  if message then return message, hint, name end
  if (options.sqlite == nil) == (options.postgresql == nil) then
    return "journal.open has no database, or two", "give sqlite = path or postgresql = {...}"
  end
  return options.postgresql and postgresql.message(options.postgresql)
end

-- A cut file is a journal all the same, and SQLite's word its only sign. No hint leads to a new journal, which knows no
-- call.
local function hint_of(message)
  if message:find("connection", 1, true) then return nil end -- the database was not even seen
  if message:find("disk is full", 1, true) or message:find("disk I/O", 1, true) then
    return "make room on the disk of this journal, and run this again"
  end
  if message:find("malformed", 1, true) then
    return "restore it from a copy (docs/write/journal.md); what was open is in the service's histories"
  end
  return intents.lock_hint(message) or "give the database of the journal"
end

local function name_of(options)
  return options.sqlite and ('the journal "%s"'):format(options.sqlite) or "the journal"
end

-- Connects to a journal's database. Returns the database; false for a missing file where `is_look`; or nil and an
-- error.
local function connect(options, is_look)
  local wrong, advice, option = error_of(options)
  if wrong then return nil, errors.config(wrong, advice, option) end
  if is_look and options.sqlite and select(3, core.file_mode(options.sqlite)) == true then return false end
  local db, message, hint = database.open(options, HOME)
  if db then
    db.strict = true
    return db
  end
  local what, cure = message:match "^(.*); (.-)$"
  return nil, errors.config(name_of(options) .. " cannot be opened: " .. (what or message),
    hint or cure or hint_of(message))
end

--- Does what purser.journal.exists says.
function M.exists(options)
  local db, err = connect(options, true)
  if not db then return db, err end
  local is_there, message = db:transaction(function(tx) return tx:has(HOME) end, true)
  db:close()
  if is_there == nil then return nil, errors.config(name_of(options) .. " cannot be read: " .. message) end
  return is_there
end

--- Returns the database of a journal, whose tables are made where there are none; or nil and an error.
function M.open(options)
  local db, err = connect(options)
  if not db then return nil, err end
  local ok, message = M.prepare(db)
  if not ok then
    db:close()
    return nil, errors.config(name_of(options) .. " cannot be used: " .. (message.text or message),
      message.hint or hint_of(message.text or message), nil, message.code)
  end
  db:count_commits()
  db.label = options.sqlite or "the journal"
  return db
end

---------------------------------------------------------------------------------------------------------------- pruning

-- Deletes rows that are decided and old, a thousand in a step. Those stay that may reconcile an equal open call, and
-- payments that are not done. Of used keys the key, content and result stay: a key is used once for ever.

local DAY = 86400000
local REACH_DAYS = 184 -- six months: the service shows transfers for as long, and reconciling looks for them
local STEP = 1000

local rules = { before = option_schema.TIME }

-- The empty text keeps the index of digests out: equal calls may be many, and undecided ones are few.
local is_over = " WHERE id = $1 AND NOT (" .. M.UNDECIDED .. [[)
  AND NOT EXISTS (SELECT 1 FROM purser_calls AS other WHERE other.digest || '' = purser_calls.digest
    AND ]] .. M.UNDECIDED .. ")"

local OF_NONE = " WHERE call = $1 AND NOT EXISTS (SELECT 1 FROM purser_calls WHERE id = $2)"
local delete_call = "DELETE FROM purser_calls" .. is_over
local delete_attempts = "DELETE FROM purser_attempts" .. OF_NONE
local delete_arrival = "DELETE FROM purser_arrivals" .. OF_NONE
local empty_call = "UPDATE purser_calls SET params = '{}', message = ''" .. is_over .. " AND params <> '{}'"

-- One step. Returns how many calls it deleted or emptied, and how many payments; and where the next step begins.
local function prune_calls(tx, before, from)
  local page = tx:rows(([[SELECT sent_at, id, key, queue, stage, added_at FROM purser_calls WHERE sent_at < $1
    AND (sent_at, id) > ($2, $3) ORDER BY sent_at, id LIMIT %d]]):format(STEP), before, from.sent_at, from.id)
  local counts = { calls = 0, payments = 0 }
  for _, row in ipairs(page) do
    local is_payment = row.queue ~= ""
    local may_go = not is_payment or row.stage == "done" and row.added_at < before
    if may_go then
      local sql = not is_payment and row.key == "" and delete_call or empty_call
      local word = is_payment and "payments" or "calls"
      counts[word] = counts[word] + select(2, tx:rows(sql, row.id))
      if sql == delete_call then
        tx:rows(delete_attempts, row.id, row.id)
        tx:rows(delete_arrival, row.id, row.id)
      end
    end
  end
  return counts, #page == STEP and page[#page] or nil
end

-- The numbers of processes that are gone. One that is still there finds by `pruned_before` why its own is missing.
local function prune_generations(tx, before)
  tx:rows("DELETE FROM purser_meta WHERE name = 'pruned_before' AND value < $1", before)
  tx:rows("INSERT INTO purser_meta (name, value) VALUES ('pruned_before', $1) ON CONFLICT DO NOTHING", before)
  tx:rows("DELETE FROM purser_generations WHERE name LIKE 'process %' AND changed_at < $1", before)
end

--- Does what journal:prune says. Returns nil and a message where it fails, and which option is wrong, with a hint.
function M.prune(db, options)
  local message, name, hint = option_schema.check(options, rules, "option")
  if message then return nil, message, name, hint end
  if not options.before then return nil, 'option "before" is missing', "before", "give a time in epoch milliseconds" end
  if options.before > core.now_ms() - REACH_DAYS * DAY then
    return nil, "younger calls may still have to be reconciled", "before",
      ("before must be at least %d days back"):format(REACH_DAYS)
  end
  local before = intents.time_text(options.before)
  local sums, from = { intents = 0, payments = 0 }, { sent_at = "", id = "" }
  while from do
    local counts, following = db:transaction(function(tx) return prune_calls(tx, before, from) end)
    if not counts then return nil, following end
    sums.intents, sums.payments, from = sums.intents + counts.calls, sums.payments + counts.payments, following
  end
  return db:transaction(function(tx)
    prune_generations(tx, before)
    policy.prune(tx, before)
    spending.prune(tx, before)
    return sums
  end)
end

return M
