-- SPDX-License-Identifier: MIT
--- The books: a copy of an account's histories in SQLite or PostgreSQL that keeps every change, and statements that add
--- up. See docs/desk/books.md.
---
---     local books = assert(purser.books.open { sqlite = "books.db", client = parent, keys = { desk1 = sub_client } })
---     local report = assert(books:sync())
---     print(assert(books:statement { from = "2026-10-01", to = "2026-11-01", format = "hledger" }))

local core = require "purser.core"
local days = require "purser.desk.books.days"
local errors = require "purser.client.call.errors"
local model = require "purser.desk.books.model"
local names_of = require "purser.client.util.names_of"
local option_schema = require "purser.client.util.option_schema"
local outbox = require "purser.client.transport.outbox"
local owners = require "purser.desk.books.owners"
local reach = require "purser.desk.books.reach"
local record = require "purser.desk.books.record"
local sinks = require "purser.client.transport.sinks"
local sources = require "purser.desk.books.sources"
local stores = require "purser.desk.books.store"
local sync = require "purser.desk.books.sync"
local writers = require "purser.desk.books.writers"
local zones = require "purser.client.util.zone"

---@class purser.modules.books
local M = {}

---@class purser.Books
local Books = { __name = "purser.books" }
Books.__index = Books

---@class purser.BooksOptions
---@field sqlite string|nil                  a file; a missing file is made
---@field postgresql purser.PostgresqlOptions|nil
---@field client purser.Client|nil           of the account's own key; `sync` needs the client
---@field keys table<string, purser.Client>|nil  a client of each sub-account, by name
---@field journal purser.Journal|nil         owners of its calls are read soon; gets their ends
---@field journals table<string, purser.Journal>|nil  of sub-accounts, by name
---@field account string|nil                 the account's name in the books. Default: "Account"
---@field pairs string[][]|nil               { from, to }: sub-accounts whose transfers are looked for
---@field identities table<string, string>|nil  other users' names of an owner (UID, e-mail): "Main" or a sub-account
---@field addresses table<string, string>|nil  deposit address (or address:memo) -> "Main" or a sub-account
---@field address_coins string[]|nil         coins whose deposit addresses are read, once a day
---@field since_ms integer|nil               span of the first reading. Default: 180 days
---@field every_ms integer|nil               time between readings of an owner with news. Default: 60000
---@field receivers table<string, purser.Receiver>|nil  by name: each change goes there as an event
---@field fee "on_top"|"inside"|nil          the place of a withdrawal's fee that nothing shows
---@field zone string|nil                     whose days count: UTC (default), +02:00, Europe/Berlin

local rules = { sqlite = "string", postgresql = "table", client = "any", keys = "table", account = "string",
  journal = "table", journals = "table", pairs = "table", identities = "table", addresses = "table",
  receivers = "table", address_coins = option_schema.TEXTS, since_ms = { 0, option_schema.EXACT },
  every_ms = { 1000, 86400000 }, fee = { "on_top", "inside" }, zone = "string" }

local function owner_of(name) return name == "Main" and name or sources.owner_name(name) end

--- Opens the books; or returns nil and an error of kind "config".
---@param options purser.BooksOptions
---@return purser.Books|nil books, purser.Error|nil err
function M.open(options)
  local message, name, hint = option_schema.check(options, rules, "option")
  if message then return nil, errors.config(message, hint, name) end
  if (options.sqlite == nil) == (options.postgresql == nil) then
    message, name = "give sqlite = FILE or postgresql = {...}, one of them", "sqlite"
  end
  local account = options.account or "Account"
  if not message and not account:find "^[A-Z][A-Za-z0-9-]*$" then
    message, name = "option account is no name of letters, digits and hyphens that begins with a capital", "account"
  end
  for _, pair in ipairs(options.pairs or {}) do
    local is_pair = option_schema.matches(pair, option_schema.TEXTS) and #pair == 2
    if not is_pair then message, name = "one of option pairs is not { FROM, TO }", "pairs" end
  end
  if message then return nil, errors.config(message, hint, name) end
  local zone, senders, store
  zone, message = zones.open(options.zone or "UTC")
  if not zone then return nil, errors.config(message, nil, "zone") end
  senders, message = outbox.senders(options.receivers)
  if not senders then return nil, errors.config(message, nil, "receivers") end
  store, message = stores.open(options)
  if not store then return nil, errors.config("the books cannot be opened: " .. message) end
  local self = setmetatable({ store = store, senders = senders, account = account, days = days.of(zone),
    journals = { Main = options.journal }, last_calls = {}, pairs = {}, unreached = 0, fee = options.fee,
    address_coins = options.address_coins or {}, since = options.since_ms or 180 * sources.DAY,
    every = options.every_ms or 60000, keys = options.keys or {}, identities = {}, addresses = options.addresses or {},
    main = { name = "Main", is_main = true, client = options.client } }, Books)
  for _, pair in ipairs(options.pairs or {}) do self.pairs[table.concat(pair, " ")] = pair end
  for sub, journal in pairs(options.journals or {}) do self.journals[owner_of(sub)] = journal end
  for text, owner in pairs(options.identities or {}) do self.identities[text] = owner_of(owner) end
  self.clock = options.client and function() return options.client:now() end or core.now_ms
  self.is_own = function(text) return text and self.identities[tostring(text)] or "" end
  self.asset = function(coin) return owners.asset_of(self, coin) end
  self.by_address = function(deposit)
    local owner = self.addresses[("%s:%s"):format(tostring(deposit.address), tostring(deposit.memo))]
      or self.addresses[tostring(deposit.address)]
    return owner and owner_of(owner) or ""
  end
  local went, problem = pcall(store.add_receivers, store, names_of(senders))
  if not went then return nil, errors.config(tostring(problem), nil, "receivers") end
  return self
end

-- The methods raise errors; the end of this file returns the errors.
local function fail(name, ...) error(errors.argument(name, ...), 0) end

---@class purser.BooksReport
---@field owners integer      owners with a list that was read
---@field changes integer     new or changed records
---@field problems table[]    unread lists: { owner, list, message, is_rejected }
---@field next_due integer    epoch ms: the next time of an owner

---@class purser.BooksSyncParams
---@field due boolean|nil     skips owners that are not due
---@field again boolean|nil   of a database that was put back: its revisions go on behind those that were lost
---@field progress (fun(owner: string, at: integer, of: integer))|nil

--- Reads all lists of the keys. Unread lists are in `problems`, and gaps in each statement.
---@param params purser.BooksSyncParams|nil
---@return purser.BooksReport|nil report, purser.Error|nil err
function Books:sync(params)
  params = params or {}
  if not self.main.client then error(errors.config("the books were opened without a client", nil, "client"), 0) end
  local now = self.main.client:now()
  if params.again then self.store:begin_again(now) end
  local report = { owners = 0, changes = 0, problems = {} }
  self.problems, self.unreached = report.problems, 0
  owners.note_calls(self, now)
  if not self.owners or now - self.owners_at >= sync.LONGEST or not params.due then
    self.owners, self.owners_at = owners.list(self), now
  end
  for i, owner in ipairs(self.owners) do
    if not params.due or owners.take_due(self, owner, now) then
      if params.progress then params.progress(owner.name, i, #self.owners) end
      local changes, is_read = sync.owner(self, owner)
      report.owners, report.changes = report.owners + (is_read and 1 or 0), report.changes + changes
    end
  end
  owners.note_arrivals(self, now)
  reach.keep(self)
  self.store:note()
  local due = self.store:rows("SELECT min(due) AS due FROM purser_books_owner WHERE account = $1", self.account)[1]
  report.next_due = math.floor(tonumber(due.due) or now)
  return report
end

---@class purser.StatementParams
---@field from string|integer   a date, a time or epoch ms; counts
---@field to string|integer     does not count
---@field rev integer|nil       a revision of the books. Default: the newest
---@field write fun(text: string)|nil  gets the text in parts; may raise to end the statement
---@field format "hledger"|"beancount"|"csv"|"jsonl"|"rotki"|"html"|nil  Default: "hledger" (ledger, too)

local function time_of(self, name, value)
  local ms, message = value, nil
  if type(value) == "string" then ms, message = self.days.zone:ms(value) end
  if type(ms) == "number" and ms >= 1e12 and ms < 1e13 then return record.time_text(math.floor(ms)) end
  fail(name, ('"%s" is no time: %s'):format(name, message and message:gsub("^utc%.ms: ", "")
    or "give 2026-10-31 or epoch ms"))
end

--- Writes a statement. Returns the text (empty for `write`) and the statement's data; or nil and an error.
---@param params purser.StatementParams
---@return string|nil text, table|purser.Error made
function Books:statement(params)
  local from, to = time_of(self, "from", params.from), time_of(self, "to", params.to)
  if to <= from then fail("to", 'the span is empty: "to" is not later than "from"') end
  local write = writers[params.format or "hledger"]
  if not write then fail("format", "format is none of hledger, beancount, csv, jsonl, rotki, html") end
  local newest = self.store:note(true) -- before a statement carries the revision
  local rev = params.rev and ("%012d"):format(params.rev) or newest
  if rev > newest then fail("rev", ("the books have no revision %d: the newest is %d"):format(params.rev, newest)) end
  for _, back in ipairs(self.store:put_back(newest)) do
    if rev > back.last and rev < back.first then
      fail("rev", ("revision %d was lost when an older copy of the books was put back on %s"):format(params.rev,
        self.days:date(back.at)))
    end
  end
  local made = model.statement(self, from, to, rev)
  local texts = {}
  write(made, params.write or function(text) texts[#texts + 1] = text end)
  return table.concat(texts), made
end

--- Goes through the records by time, each a table of texts by column; `raw` is the service's.
---@param entity string|nil  one kind: deposit, withdrawal, transfer ...
---@return fun(): table|nil
function Books:each(entity) return self.store:each(self.account, entity or "") end

local function record_of(self, id, entity)
  local rows = type(id) == "string" and id:find "^%x+$" and #id >= 6 and self.store:rows(
    "SELECT rid, entity, class, asset FROM purser_books_record WHERE account = $1 AND rid >= $2 AND rid < $3 LIMIT 2",
    self.account, id, id .. "g") or {}
  if #rows ~= 1 then
    fail("id", ("%s records begin with the id %s"):format(#rows == 0 and "no" or "several", tostring(id)))
  end
  if entity and rows[1].entity ~= entity then fail("id", ("%s is a %s, no %s"):format(id, rows[1].entity, entity)) end
  return rows[1]
end

local function say(self, verb, rid, value)
  self.store:write(function(tx, rev)
    tx:rows("INSERT INTO purser_books_word (account, rev, at, verb, rid, value) VALUES ($1, $2, $3, $4, $5, $6)",
      self.account, rev(), record.time_text(math.floor(tx:now())), verb, rid, value)
  end)
  self.store:note()
  return true
end

--- Says how a record ended that the service no longer shows.
---@param id string  or a beginning of one id
---@param how "success"|"failed"
---@return true|nil done, purser.Error|nil err
function Books:settle(id, how)
  if how ~= "success" and how ~= "failed" then fail("how", "how a record ended is neither success nor failed") end
  local found = record_of(self, id)
  if record.is_final(found.class) then fail("id", "the record is final by itself") end
  return say(self, "settle", found.rid, how)
end

--- Says that a deposit is the other side of a withdrawal.
---@param withdrawal string
---@param deposit string
---@return true|nil done, purser.Error|nil err
function Books:match(withdrawal, deposit)
  local from, to = record_of(self, withdrawal, "withdrawal"), record_of(self, deposit, "deposit")
  if from.asset ~= to.asset then
    fail("deposit", ("the withdrawal is of %s, and the deposit is of %s"):format(from.asset, to.asset))
  end
  return say(self, "match", from.rid, to.rid)
end

--- Says that a withdrawal went to somebody else.
---@param withdrawal string
---@return true|nil done, purser.Error|nil err
function Books:outside(withdrawal) return say(self, "outside", record_of(self, withdrawal, "withdrawal").rid, "") end

-- Returns what was not read of the open days before a time, as lines. Days before the account's first readings belong
-- to no books.
local function unread_before(self, closed, time)
  local from = closed or reach.begins(self) or record.time_text(0)
  return reach.lines(self.days, reach.unread(self, self.store:rev(), from, time))
end

--- Closes all days before a day: their statements keep their bytes, and later news are corrections on that day. Days
--- that were not read whole stay open, unless a person says `unread`.
---@param ends string|integer  the first open day
---@param params? { unread: boolean|nil }
---@return true|nil done, purser.Error|nil err
function Books:close_before(ends, params)
  local time = time_of(self, "ends", ends)
  if tonumber(time) > self.clock() then fail("ends", "what lies before that day is not over") end
  local last = self.store:rows("SELECT max(ends) AS ends FROM purser_books_period WHERE account = $1", self.account)[1]
  if last.ends and last.ends >= time then fail("ends", ("it is closed up to %s"):format(self.days:date(last.ends))) end
  local unread = params and params.unread and {} or unread_before(self, last.ends, time)
  if unread[1] then
    error(errors.argument("ends", table.concat(unread, "; "), "sync first, or close the days unread"), 0)
  end
  self.store:write(function(tx, rev)
    tx:rows("INSERT INTO purser_books_period (account, ends, rev) VALUES ($1, $2, $3)", self.account, time, rev())
  end)
  self.store:note()
  return true
end

--- Returns the open gaps: { owner, list, starts, ends, why }, times as text; and the list that was read the least far:
--- { owner, list, read_to }. An account of which a list was never read has one gap, of every list, without times.
---@return table[]|nil gaps, table|purser.Error|nil least
function Books:gaps() return reach.open(self) end

--- Sends due events to the receivers of these books.
---@param params? { budget_ms: integer|nil }  a limit in ms. Default: until nothing is due
---@return integer|nil delivered, integer|purser.Error failed  counts of events; failed ones are sent again
function Books:deliver(params)
  self.store:note() -- before an event leaves
  return self.store.outbox:deliver(self.store, self.senders, self.clock, params or {})
end

--- Returns what waits for each receiver: { receiver, waiting, since, due, error }, times as text.
---@param params? { forget: string|nil }  a receiver to forget with its events
---@return table[]|nil receivers, purser.Error|nil err
function Books:events(params)
  local outbox_of, refused = self.store.outbox, nil
  if params and params.forget then
    self.store:write(function(tx) refused = select(2, outbox_of:rename(tx, params.forget)) end)
  end
  if refused then fail("forget", refused) end
  return outbox_of:waiting(self.store)
end

for name, method in pairs(Books) do
  if type(method) == "function" then
    Books[name] = function(...)
      local went, first, second = pcall(method, ...)
      if went then return first, second end
      if errors.is(first) then return nil, first end
      error(first, 0) -- of a caller's function, or a fault of ours: no refusal
    end
  end
end

--- Tells whether the owner of a secret sent a webhook's event, at most five minutes ago.
--- `head` is Purser-Signature of the request's head; `now` in epoch s.
---@type fun(secret: string|userdata, head: string, body: string, now: integer|nil): boolean
M.verify = sinks.verify

--- Closes the database.
function Books:close() self.store:close() end

return M
