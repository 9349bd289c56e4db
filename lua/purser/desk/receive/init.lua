-- SPDX-License-Identifier: MIT
--- Money in: each deposit is credited once, to the right customer, or a person is asked. See docs/desk/receive.md.
--- `purser receive` and purser.receive are the callers.
---
---     local receive = assert(purser.receive.open { sqlite = "deposits.db", client = client, receivers = {
---       shop = { command = "./credit.sh" } } })
---     assert(receive:begin { customers = "customer,address\nalice,0x8f3b...\n" })
---     assert(receive:run {})
---
--- The files in reading order: reader (readings of the service as values), identity (the deposit of a record), judge
--- (credit, or ask a person), look (the lease, and the loop), customers (the owner of an address), lists (for a
--- person), store (the database).

local core = require "purser.core"
local customers = require "purser.desk.receive.customers"
local errors = require "purser.client.call.errors"
local judges = require "purser.desk.receive.judge"
local lists = require "purser.desk.receive.lists"
local looks = require "purser.desk.receive.look"
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

local rules = { sqlite = "string", postgresql = "table", client = "any", receivers = "table", coin = "string",
  sub_accounts = "boolean", poll_ms = { 1, 3600000 } }

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
  local store, err = stores.open(options)
  if not store then return nil, err end
  local self = setmetatable({ store = store, client = options.client, senders = senders, coin = options.coin,
    sub_accounts = options.sub_accounts, poll = options.poll_ms or 10000,
    reader = options.client and readers.new(options.client, options),
    token = assert(core.random_token(16)) }, Receive)
  self.clock = options.client and function() return options.client:now() end or core.now_ms
  if self.client then -- what the database is of
    local request = self.client:prepare "ping"
    self.place = { account = tostring(self.client:account()), service = request and request.url:match "^%a+://[^/]+"
      or "", filter = (self.coin or "") .. (self.sub_accounts and " of sub-accounts" or "") }
  end
  return self
end

---@class purser.ReceiveBegun
---@field old integer      deposits that had succeeded before, which are not credited
---@field pending integer  deposits that will be credited when they succeed
---@field asked integer    deposits that a person is asked about

--- Keeps the place, with one whole reading: what has succeeded by now is not credited. `again` is for a database that
--- was put back: what has succeeded by now, and is not credited in it, is asked of a person.
---@param params { customers: string|nil, again: boolean|nil }|nil  customers: the text of a customers' file
---@return purser.ReceiveBegun|nil begun, purser.Error|nil err
function Receive:begin(params) return looks.begin(self, params) end

---@class purser.ReceiveEvent
---@field id string    the same for ever
---@field kind "credit"|"reversed"
---@field body string  what a receiver gets: one JSON object

--- Returns the events that a look would make now, and the deposits that a person would be asked about besides those of
--- the list: { deposit, amount, coin, why }. Keeps nothing.
---@param params { customers: string|nil }|nil  customers: in place of those that are kept
---@return purser.ReceiveEvent[]|nil events, table[]|purser.Error asked  nil and an error where it cannot look
function Receive:preview(params) return looks.preview(self, params) end

---@class purser.ReceiveRun
---@field customers string|nil     the text of a customers' file
---@field deadline_ms integer|nil  ends after so long. Default: never; 0 looks once
---@field made (fun(event: purser.ReceiveEvent))|nil
---@field delivered (fun(name: string, event: table, ok: boolean, message: string|nil))|nil
---@field problem (fun(err: purser.Error))|nil  a look that failed for a reason that passes

--- Looks and hands over, again and again.
---@param params purser.ReceiveRun|nil
---@return true|nil ok, purser.Error|nil err
function Receive:run(params) return looks.run(self, params or {}) end

--- Ends a line of the list: give CUSTOMER, same DEPOSIT, refuse, or seen.
---@param dp string
---@param verb "give"|"same"|"refuse"|"seen"
---@param with string|nil  the customer, or the deposit
---@param by string|nil    who says so
---@return true|nil ok, purser.Error|nil err
function Receive:settle(dp, verb, with, by)
  return self.store:write(function(book) return judges.settle(book, dp, verb, with, by or "", self.clock()) end)
end

--- Lets a receiver get events again: of a deposit, of an id, or those since a time (epoch ms). Returns how many.
---@param receiver string
---@param what string|integer
---@return integer|nil count, purser.Error|nil err
function Receive:replay(receiver, what)
  return self.store:write(function(book) return book.outbox:replay(book, receiver, what, self.clock()) end)
end

--- Renames a receiver; without `new`, removes the receiver and the waiting events.
---@param old string
---@param new string|nil
---@return true|nil ok, purser.Error|nil err
function Receive:rename(old, new)
  return self.store:write(function(book) return book.outbox:rename(book, old, new) end)
end

--- Sends a receiver `dp_test/credit` of 0, once.
---@param name string
---@return true|nil ok, string|purser.Error|nil message
function Receive:test(name)
  local sender = self.senders[name]
  if not sender then return nil, errors.argument("name", ("no receiver %s is given"):format(name)) end
  local text = judges.event({ dp = "dp_test", customer = "test", paid_coin = "TEST", network = "TEST",
    paid_amount = "0", address = "", memo = "", tx = "", time = 0 }, "credit")
  return sender:deliver(text, core.decode(text))
end

--- Notes that an address is a customer's.
---@param customer string
---@param address string
---@param memo string|nil
---@return true|nil ok, purser.Error|nil err
function Receive:note_address(customer, address, memo)
  local row, message = customers.row { customer = customer, address = address, memo = memo }
  if not row then return nil, errors.argument("address", message) end
  return self.store:write(function(book) return customers.add(book, row, "made") end)
end

--- Returns what a person should look at in the addresses of a customers' file, or of the customers that are kept:
--- { customer, line, warnings }. With a client the contracts of the coins count that a row or the option `coin` names.
---@param text string|nil  of a customers' file
---@return table[]|nil rows, purser.Error|nil err
function Receive:warnings(text)
  local rows, message = customers.warnings(self.store, text, self.coin, self.client and function()
    return self.client.wallet:coins()
  end)
  if rows then return rows end
  return nil, text and errors.argument(nil, message) or stores.problem(message)
end

--- Returns the deposits that a person has to end: { deposit, amount, coin, why, since, verbs }.
---@return table[]|nil lines, purser.Error|nil err
function Receive:list() return lists.of(self.store) end

--- Returns what waits for each receiver: { receiver, waiting, since, due, error }, times as text.
---@return table[]|nil rows, purser.Error|nil err
function Receive:deliveries()
  local went, rows = pcall(self.store.outbox.waiting, self.store.outbox, self.store)
  if not went then return nil, stores.problem(rows) end
  return rows
end

--- Adds up by coin: { coin, received, credited, reversed, person, refused, pending, adds_up }, and what does not fit.
---@return table[]|nil sums, purser.Error|nil err
function Receive:check() return lists.check(self.store) end

--- Closes the database.
function Receive:close() self.store:close() end

return M
