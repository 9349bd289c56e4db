-- SPDX-License-Identifier: MIT
-- Takes readings into the database, by the one process with the lease, and hands events over between two readings. Each
-- function takes a purser.Receive.

local customers = require "purser.desk.receive.customers"
local errors = require "purser.client.call.errors"
local identity = require "purser.desk.receive.identity"
local lists = require "purser.desk.receive.lists"
local names_of = require "purser.client.util.names_of"
local readers = require "purser.desk.receive.reader"
local stores = require "purser.desk.receive.store"

local M = {}

local LEASE_MS = 45000
local BUDGET_MS = 20000 -- for receivers between two looks
local PREVIEW = "nothing is kept"

-- Checks that the database is this client's, and replaces the customers of an earlier file.
local function enter(self, book, params)
  if not book:meta "since" then return nil, "no place is kept; run `purser receive begin` first" end
  for name, value in pairs(self.place or {}) do
    local kept = book:meta(name)
    if kept ~= value then
      return nil, ("the database is of the %s %q, and this is %q"):format(name, tostring(kept), value)
    end
  end
  return customers.replace(book, params and params.customers)
end

-- Takes or prolongs the lease. Returns true; or nil and an error.
local function keep(self) return self.store:lease(self.token, self.clock(), LEASE_MS) end

-- Keeps the place of a reading, in its transaction. Returns what it counts; or nil and a message.
local function take_place(self, book, reading, params)
  local is_kept = book:meta "since" ~= nil
  if is_kept and not params.again then
    return nil, "the place is kept already; after a copy of the database was put back, begin again (`--again`)"
  end
  if params.again and not is_kept then return nil, "no place is kept yet; begin without --again" end
  for name, value in pairs(is_kept and {} or self.place) do book:set_meta(name, value) end
  book:set_meta("since", reading.at)
  book.witness:renew(book.tx)
  book.outbox:add(book, names_of(self.senders))
  local ok, why = enter(self, book, params)
  if not ok then return nil, why end
  book.asked = {}
  identity.take(book, reading)
  local begun = { old = 0, pending = 0, asked = #book.asked }
  for _, value in ipairs(reading.values) do
    local name = value.kind == "credit" and "old" or value.kind == "pending" and "pending"
    if name then begun[name] = begun[name] + 1 end
  end
  return begun
end

--- Keeps the place, with one whole reading. `again`: of a database that was put back.
function M.begin(self, params)
  params = params or {}
  if not self.client then return nil, errors.config("a client is needed to begin", nil, "client") end
  local reading, err = self.reader:read(true)
  if not reading then return nil, err end
  reading.is_first, reading.is_again = not params.again, params.again
  local begun, ok
  if params.again then
    ok, err = keep(self)
    if not ok then return nil, err end
  end
  begun, err = self.store:write(function(book) return take_place(self, book, reading, params) end,
    params.again and self.token or nil)
  if params.again then M.release(self) end
  if not begun then return nil, err end
  ok, err = self.store:note(true)
  if not ok then return nil, err end
  return begun
end

--- Takes the lease, and keeps events for the receivers.
function M.take_lease(self, params)
  local corrected, late = self.client:sync_clock() -- the lease counts by the service's time
  if not corrected then return nil, late end
  local taken, err = keep(self)
  if not taken then return nil, err end
  taken, err = self.store:write(function(book)
    local entered, why = enter(self, book, params)
    if entered then entered, why = book:is_newest() end
    if not entered then return nil, why end
    book.outbox:add(book, names_of(self.senders))
    if book:rows("SELECT name FROM purser_receive_receiver LIMIT 1")[1] then return true end
    return nil, "no receiver has a name yet, so nobody would get a credit; give one"
  end, self.token)
  if not taken then M.release(self) end
  return taken, err
end

function M.release(self)
  if self.store:write(function() return true end, self.token) then self.store:lease(self.token, 0, 0) end
end

-- Takes a reading, in one transaction. Returns true; or nil and an error.
local function take(self, reading, events, params, asked)
  return self.store:write(function(book)
    local ok, why = enter(self, book, params)
    if ok and not asked then ok, why = book:is_newest() end -- a copy may be written over the rows meanwhile
    if not ok then return nil, why end
    book.events, book.asked = events, asked
    reading.need = identity.take(book, reading)
    if asked then return nil, PREVIEW end
    self.gap = self.gap or readers.gap(book, reading)
    return true
  end, not asked and self.token or nil)
end

--- Reads, and takes the reading; reads deeper where a record waits. Returns the new events; or nil and an error.
function M.look(self)
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

--- Returns the events that a look would make now, and the lines that the look would add to a person's list; keeps
--- nothing. Returns nil and an error where it cannot look.
function M.preview(self, params)
  local reading, err = self.reader:read()
  if not reading then return nil, err end
  local events, asked = {}, {}
  local _, why = take(self, reading, events, params, asked)
  if why.message ~= PREVIEW then return nil, why end
  for i, row in ipairs(asked) do
    asked[i] = { deposit = row.dp, amount = row.amount, coin = row.coin, why = lists.whys[row.ask] }
  end
  return events, asked
end

-- Hands over what is due. Returns how many events were taken; or nil and an error.
local function deliver(self, delivered)
  local function say()
    local ok, err = keep(self)
    if ok then ok, err = self.store:note() end -- before an event leaves
    if not ok then error(err, 0) end
  end
  local went, taken = pcall(self.store.outbox.deliver, self.store.outbox, self.store, self.senders, self.clock,
    { budget_ms = BUDGET_MS, keep = say, delivered = delivered })
  if went then return taken end
  return nil, errors.is(taken) and taken or stores.problem(taken)
end

-- Looks and hands over until the deadline. Returns true; or nil and an error.
local function go(self, params)
  local err
  local deadline = params.deadline_ms and self.clock() + params.deadline_ms or math.huge
  while true do
    local ok, problem = keep(self)
    if not ok then return nil, problem end
    local events
    events, err = M.look(self)
    if err and not err.retryable then return nil, err end
    err = err or self.gap
    if err and params.problem then params.problem(err) end
    if err == self.gap then err, self.gap = nil, nil end
    for _, event in ipairs(events or {}) do
      if params.made then params.made(event) end
    end
    local taken
    taken, problem = deliver(self, params.delivered)
    if not taken then return nil, problem end
    local left = deadline - self.clock()
    if left <= 0 then break end
    self.client:sleep(math.max(1, math.min(self.poll, left)))
  end
  return not err or nil, err
end

--- Looks and hands over, again and again, with the lease.
function M.run(self, params)
  local ok, err = M.take_lease(self, params)
  if not ok then return nil, err end
  ok, err = go(self, params)
  M.release(self)
  return ok, err
end

return M
