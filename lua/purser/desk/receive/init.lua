-- SPDX-License-Identifier: MIT
--- Money in: each deposit is credited once, to the right customer, or a person is asked. See docs/desk/receive.md.
---
---     local receive = assert(purser.receive.open { sqlite = "deposits.db", client = client, receivers = {
---       shop = { command = "./credit.sh" } } })
---     assert(receive:begin { customers = "customer,address\nalice,0x8f3b...\n" })
---     assert(receive:run {})

local core = require "purser.core"
local customers = require "purser.desk.receive.customers"
local decimal = require "purser.decimal"
local errors = require "purser.client.call.errors"
local identity = require "purser.desk.receive.identity"
local judges = require "purser.desk.receive.judge"
local lists = require "purser.desk.receive.lists"
local names_of = require "purser.client.util.names_of"
local option_schema = require "purser.client.util.option_schema"
local outbox = require "purser.client.transport.outbox"
local readers = require "purser.desk.receive.reader"
local stores = require "purser.desk.receive.store"

---@class purser.modules.receive
local M = {}

---@class purser.Receive
local Receive = { __name = "purser.receive" }
Receive.__index = Receive

---@class purser.ReceiveOptions
---@field sqlite string|nil                  a file; made when it is missing
---@field postgresql purser.PostgresqlOptions|nil
---@field client purser.Client|nil           to read with; lists and settling need none
---@field receivers table<string, purser.Receiver>|nil  by name
---@field coin string|nil                    of this coin alone
---@field sub_accounts boolean|nil           those of all sub-accounts (A11, three days back), and not the own ones
---@field poll_ms integer|nil                pause between two looks. Default: 10000
---@field lease_ms integer|nil               after so long without a word another process may read. Default: 45000

local rules = { sqlite = "string", postgresql = "table", client = "any", receivers = "table", coin = "string",
  sub_accounts = "boolean", poll_ms = { 1, 3600000 }, lease_ms = { 1, 3600000 } }
local BUDGET_MS = 20000 -- for receivers between two looks
local PREVIEW = "nothing is kept"

local function problem_of(message) return errors.config("the deposits: " .. tostring(message)) end

-- Returns what a database is of: account, service and filter.
local function place_of(self)
  if not self.client then return nil end
  local request = self.client:prepare "ping"
  return { account = tostring(self.client:account()), service = request and request.url:match "^%a+://[^/]+" or "",
    filter = (self.coin or "") .. (self.sub_accounts and " of sub-accounts" or "") }
end

--- Opens the database. Returns an object; or nil and an error of kind "config".
---@param options purser.ReceiveOptions
---@return purser.Receive|nil receive, purser.Error|nil err
function M.open(options)
  local message, name, hint = option_schema.check(options, rules, "option")
  if not message and (options.sqlite == nil) == (options.postgresql == nil) then
    message, name = "give sqlite = FILE or postgresql = {...}, one of them", "sqlite"
  end
  if message then return nil, errors.config(message, hint, name) end
  local senders
  senders, message = outbox.senders(options.receivers)
  if not senders then return nil, errors.config(message, nil, "receivers") end
  local store
  store, message = stores.open(options)
  if not store then return nil, problem_of(message) end
  local self = setmetatable({ store = store, client = options.client, senders = senders, coin = options.coin,
    sub_accounts = options.sub_accounts, poll = options.poll_ms or 10000, lease_ms = options.lease_ms or 45000,
    reader = options.client and readers.new(options.client, options),
    token = assert(core.random_token(16)) }, Receive)
  self.clock = options.client and function() return options.client:now() end or core.now_ms
  self.place = place_of(self)
  return self
end

-- Runs `fn(book)` in one transaction. Returns what it returns; or nil and an error.
local function write(self, fn, owner)
  local refused
  local value, message = self.store:write(function(book)
    local result, why = fn(book)
    if result == nil and why then
      refused = why
      book.tx:reject(why)
    end
    return result
  end, owner)
  if value ~= nil then return value end
  return nil, refused and errors.argument(nil, refused) or problem_of(message)
end

-- Returns why the database is not that of this client; or nil.
local function mismatch(self, book)
  if not book:meta "since" then return "no place is kept; run `purser receive begin` first" end
  for name, value in pairs(self.place or {}) do
    local kept = book:meta(name)
    if kept ~= value then
      return ("the database is of the %s %q, and this is %q"):format(name, tostring(kept), value)
    end
  end
end

-- Checks that the database is of this client, and puts a file's customers in the place of those before.
local function enter(self, book, params)
  local why = mismatch(self, book)
  if why then return nil, why end
  return customers.replace(book, params and params.customers)
end

---@class purser.ReceiveBegun
---@field old integer      deposits that had succeeded before, which are not credited
---@field pending integer  deposits that will be credited when they succeed

--- Keeps the place, with one whole reading: what has succeeded by now is not credited.
---@param params { customers: string|nil }|nil  customers: the text of a customers' file
---@return purser.ReceiveBegun|nil begun, purser.Error|nil err
function Receive:begin(params)
  if not self.client then return nil, errors.config("a client is needed to begin", nil, "client") end
  local reading, err = self.reader:read(true)
  if not reading then return nil, err end
  return write(self, function(book)
    if book:meta "since" then return nil, "the place is kept already" end
    for name, value in pairs(self.place) do book:set_meta(name, value) end
    book:set_meta("since", reading.at)
    book.outbox:add(book, names_of(self.senders))
    local ok, why = customers.replace(book, params and params.customers)
    if not ok then return nil, why end
    identity.take(book, reading)
    local begun = { old = 0, pending = 0 }
    for _, value in ipairs(reading.values) do
      local name = value.kind == "credit" and "old" or value.kind == "pending" and "pending"
      if name then begun[name] = begun[name] + 1 end
    end
    return begun
  end)
end

--- Takes the lease, and keeps events for the receivers that are named. `customers` takes the place of those before.
---@param params { customers: string|nil }|nil
---@return true|nil ok, purser.Error|nil err  the code "held": another process reads into this database
function Receive:take_lease(params)
  local corrected, late = self.client:sync_clock() -- the lease counts by the service's time
  if not corrected then return nil, late end
  local ok, holder = self.store:lease(self.token, self.clock(), self.lease_ms)
  if not ok then
    if not tostring(holder):find "^%S+ %d+$" then return nil, problem_of(holder) end
    local err = errors.config "another process reads into this database"
    err.code = "held"
    return nil, err
  end
  local taken, err = write(self, function(book)
    book.outbox:add(book, names_of(self.senders))
    return enter(self, book, params)
  end, self.token)
  if not taken then self:release() end
  return taken, err
end

--- Gives the lease up.
function Receive:release()
  if self.store:write(function() return true end, self.token) then self.store:lease(self.token, 0, 0) end
end

-- Says that this process still reads.
local function keep(self)
  local ok, holder = self.store:lease(self.token, self.clock(), self.lease_ms)
  if not ok then error(errors.config("the deposits: " .. tostring(holder)), 0) end
end

---@class purser.ReceiveEvent
---@field id string    the same for ever
---@field kind "credit"|"reversed"
---@field body string  what a receiver gets: one JSON object

-- Takes a reading into the database, in one transaction. Returns true; or nil and an error.
local function take(self, reading, events, params, is_preview)
  return write(self, function(book)
    local ok, why = enter(self, book, params)
    if not ok then return nil, why end
    book.events = events
    reading.need = identity.take(book, reading)
    if is_preview then return nil, PREVIEW end
    self.gap = self.gap or readers.gap(book, reading)
    return true
  end, not is_preview and self.token or nil)
end

--- Reads once, and takes what is shown. Returns the events that were made.
---@return purser.ReceiveEvent[]|nil events, purser.Error|nil err
function Receive:look()
  local events = {}
  for _ = 1, 3 do
    local reading, err = self.reader:read()
    local ok = reading
    if reading then ok, err = take(self, reading, events) end
    if not ok then return nil, err end
    self.reader:took(reading)
    if not reading.need or reading.need >= reading.from then break end -- deeper is needed at once
  end
  return events
end

--- Returns the events that a look would make now, and keeps nothing.
---@param params { customers: string|nil }|nil  customers: in place of those that are kept
---@return purser.ReceiveEvent[]|nil events, purser.Error|nil err
function Receive:preview(params)
  local reading, err = self.reader:read()
  if not reading then return nil, err end
  local events = {}
  local _, why = take(self, reading, events, params, true)
  if why.message ~= PREVIEW then return nil, why end
  return events
end

--- Hands over what is due.
---@param told (fun(name: string, event: table, ok: boolean, message: string|nil))|nil
---@return integer|nil taken, integer|purser.Error failed
function Receive:deliver(told)
  local went, taken, failed = pcall(self.store.outbox.deliver, self.store.outbox, self.store, self.senders, self.clock,
    { budget_ms = BUDGET_MS, keep = function() keep(self) end, told = told })
  if went then return taken, failed end
  return nil, errors.is(taken) and taken or problem_of(taken)
end

---@class purser.ReceiveRun
---@field customers string|nil     the text of a customers' file
---@field deadline_ms integer|nil  ends after so long. Default: never; 0 looks once
---@field made (fun(event: purser.ReceiveEvent))|nil
---@field told (fun(name: string, event: table, ok: boolean, message: string|nil))|nil
---@field problem (fun(err: purser.Error))|nil  a look that failed for a reason that passes

-- Looks and hands over until the deadline. Returns true; or nil and an error.
local function go(self, params)
  local err
  local deadline = params.deadline_ms and self.clock() + params.deadline_ms or math.huge
  while true do
    local went, problem = pcall(keep, self)
    if not went then return nil, errors.is(problem) and problem or problem_of(problem) end
    local events
    events, err = self:look()
    if err and not err.retryable then return nil, err end
    err = err or self.gap
    if err and params.problem then params.problem(err) end
    if err == self.gap then err, self.gap = nil, nil end
    for _, event in ipairs(events or {}) do
      if params.made then params.made(event) end
    end
    local taken
    taken, problem = self:deliver(params.told)
    if not taken then return nil, problem end
    local left = deadline - self.clock()
    if left <= 0 then break end
    self.client:sleep(math.max(1, math.min(self.poll, left)))
  end
  return not err or nil, err
end

--- Looks and hands over, again and again.
---@param params purser.ReceiveRun|nil
---@return true|nil ok, purser.Error|nil err
function Receive:run(params)
  local ok, err = self:take_lease(params)
  if not ok then return nil, err end
  ok, err = go(self, params or {})
  self:release()
  return ok, err
end

--- Ends a line of the list: give CUSTOMER, same DEPOSIT, refuse, or seen.
---@param dp string
---@param verb "give"|"same"|"refuse"|"seen"
---@param with string|nil  the customer, or the deposit
---@param by string|nil    who says so
---@return true|nil ok, purser.Error|nil err
function Receive:settle(dp, verb, with, by)
  return write(self, function(book)
    return judges.settle(book, dp, verb, with, by or "", self.clock())
  end)
end

--- Lets a receiver get events again: of a deposit, of an id, or those since a time (epoch ms). Returns how many.
---@param receiver string
---@param what string|integer
---@return integer|nil count, purser.Error|nil err
function Receive:replay(receiver, what)
  return write(self, function(book) return book.outbox:replay(book, receiver, what, self.clock()) end)
end

--- Gives a receiver another name, or forgets it and what waits for it.
---@param old string
---@param new string|nil
---@return true|nil ok, purser.Error|nil err
function Receive:rename(old, new)
  return write(self, function(book) return book.outbox:rename(book, old, new) end)
end

--- Sends a receiver `dp_test/credit` of 0, once.
---@param name string
---@return true|nil ok, string|purser.Error|nil message
function Receive:test(name)
  local sender = self.senders[name]
  if not sender then return nil, errors.argument("name", ("no receiver %s is given"):format(name)) end
  return sender:deliver(lists.TEST, core.decode(lists.TEST))
end

--- Notes that an address is a customer's.
---@param customer string
---@param address string
---@param memo string|nil
---@return true|nil ok, purser.Error|nil err
function Receive:note_address(customer, address, memo)
  local row, message = customers.row { customer = customer, address = address, memo = memo }
  if not row then return nil, errors.argument("address", message) end
  return write(self, function(book) return customers.add(book, row, "made") end)
end

--- Returns the deposits that a person has to end: { deposit, amount, coin, why, since, verbs }.
---@return table[]|nil lines, purser.Error|nil err
function Receive:list() return lists.of(self.store, problem_of) end

--- Returns what waits for each receiver: { receiver, waiting, since, due, error }, times as text.
---@return table[]|nil rows, purser.Error|nil err
function Receive:deliveries()
  local went, rows = pcall(self.store.outbox.waiting, self.store.outbox, self.store)
  if not went then return nil, problem_of(rows) end
  return rows
end

--- Adds up by coin: { coin, received, credited, reversed, person, refused, pending, adds_up }, and what does not fit.
---@return table[]|nil sums, purser.Error|nil err
function Receive:check() return lists.check(self.store, problem_of, decimal) end

--- Closes the database.
function Receive:close() self.store:close() end

return M
