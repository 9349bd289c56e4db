-- SPDX-License-Identifier: MIT
-- The outbox of a database: an event waits for each named receiver, from the event's transaction until the receiver has
-- it. Events of one subject go in order; subjects wait for none.

local core = require "purser.core"
local names_of = require "purser.client.util.names_of"
local sinks = require "purser.client.transport.sinks"

local Outbox = {}
Outbox.__index = Outbox

local M = {}

local LONGEST_MS = 3600000
local BATCH = 50
local SHARE_MS = 20000 -- of a receiver in a round without a budget

--- Name, columns, and the number of key columns.
M.tables = { { "receiver", "name", 1 }, { "event", "id kind subject seq created body raw", 1 },
  { "delivery", "receiver id subject seq created due attempts error", 2 } }

local statements = {
  add = "INSERT INTO %s_receiver VALUES ($1) ON CONFLICT DO NOTHING",
  event = "INSERT INTO %s_event VALUES ($1, $2, $3, $4, $5, $6, $7)",
  due = [[INSERT INTO %s_delivery (receiver, id, subject, seq, created, due, attempts, error)
    SELECT name, $1, $2, $3, $4, $5, '0', '' FROM %s_receiver]],
  ready = [[SELECT d.id AS id, d.due AS due, d.attempts AS attempts, e.body AS body, e.kind AS kind
    FROM %s_delivery AS d JOIN %s_event AS e ON e.id = d.id WHERE d.receiver = $1 AND (d.due <= $2 OR d.due > $3)
    AND NOT EXISTS (
      SELECT 1 FROM %s_delivery AS o WHERE o.receiver = d.receiver AND o.subject = d.subject AND o.seq < d.seq)
    ORDER BY d.due, d.seq LIMIT ]] .. BATCH,
  lanes = "SELECT DISTINCT receiver FROM %s_delivery WHERE due <= $1 OR due > $2",
  claim = "UPDATE %s_delivery SET due = $1 WHERE receiver = $2 AND id = $3 AND due = $4",
  done = "DELETE FROM %s_delivery WHERE receiver = $1 AND id = $2",
  failed = "UPDATE %s_delivery SET attempts = $1, due = $2, error = $3 WHERE receiver = $4 AND id = $5",
  waiting = [[SELECT r.name AS receiver, CAST((SELECT count(*) FROM %s_delivery AS c WHERE c.receiver = r.name) AS TEXT)
    AS waiting, min(d.created) AS since, min(d.due) AS due, max(d.error) AS error FROM %s_receiver AS r
    LEFT JOIN %s_delivery AS d ON d.receiver = r.name GROUP BY r.name ORDER BY r.name]],
  known = "SELECT name FROM %s_receiver WHERE name = $1",
  since = "SELECT id, subject, seq FROM %s_event WHERE created >= $1 ORDER BY seq",
  named = "SELECT id, subject, seq FROM %s_event WHERE $1 IN (id, subject) ORDER BY seq",
  again = "INSERT INTO %s_delivery VALUES ($1, $2, $3, $4, $5, $6, '0', '') ON CONFLICT (receiver, id) DO UPDATE SET "
    .. "due = excluded.due",
  drop = "DELETE FROM %s_receiver WHERE name = $1",
  rename = "UPDATE %s_delivery SET receiver = $1 WHERE receiver = $2",
  forget = "DELETE FROM %s_delivery WHERE receiver = $1",
}

local function must(rows, message)
  if not rows then error("the database: " .. tostring(message), 0) end
  return rows, message
end

local function time_text(ms) return ("%013d"):format(ms) end

---@class purser.Receiver: purser.SinkOptions
---@field deliver nil|(fun(self: table, text: string, event: table): any, string|nil)  instead of command and webhook:
--- returns true when it has the event for good

--- Returns senders by receiver; or nil and a message.
---@param receivers table<string, purser.Receiver>|nil
---@return table<string, purser.Sink>|nil senders, string|nil message
function M.senders(receivers)
  local senders = {}
  for name, options in pairs(receivers or {}) do
    if type(name) ~= "string" or not name:find "^%a[%w_-]*$" or #name > 40 then
      return nil, ("a receiver's name is of letters, digits, _ and -; %q is not"):format(tostring(name))
    end
    local sender, message = options, nil
    if type(options) ~= "table" then message = "it is no table" end
    if not message and not options.deliver then sender, message = sinks.new(options) end
    if message then return nil, ("receiver %s: %s"):format(name, message) end
    senders[name] = sender
  end
  return senders
end

---@param prefix string  of the tables' names
---@param claim_ms integer|nil  how long an event is left alone by other senders while one sends it
function M.new(prefix, claim_ms)
  local self = setmetatable({ claim_ms = claim_ms, sql = {}, served = "" }, Outbox)
  for name, text in pairs(statements) do self.sql[name] = text:gsub("%%s", prefix) end
  return self
end

--- Adds an event and its deliveries in the transaction that the event tells of.
---@param tx table
---@param event { id: string, kind: string, subject: string, seq: string, at: string, body: string, raw: string }
function Outbox:emit(tx, event)
  tx:rows(self.sql.event, event.id, event.kind, event.subject, event.seq, event.at, event.body, event.raw)
  tx:rows(self.sql.due, event.id, event.subject, event.seq, event.at, event.at)
end

-- Hands an event over. Returns whether the receiver has it, and the receiver's words; nil where another sender has it.
local function hand_over(self, store, name, sender, event, clock)
  if self.claim_ms then
    local _, changed = must(store:rows(self.sql.claim, time_text(clock() + self.claim_ms), name, event.id, event.due))
    if changed ~= 1 then return nil end
  end
  local ok, message = sender:deliver(event.body, core.decode(event.body))
  if ok then
    must(store:rows(self.sql.done, name, event.id))
    return true
  end
  local attempts = tonumber(event.attempts)
  must(store:rows(self.sql.failed, ("%d"):format(attempts + 1),
    time_text(clock() + math.min(LONGEST_MS, 1000 * 2 ^ math.min(attempts, 12))),
    (tostring(message):gsub("%c", " ")), name, event.id))
  return false, message
end

-- A time further ahead was written by a wrong clock.
local function due_times(clock)
  local now = clock()
  return time_text(now), time_text(now + LONGEST_MS)
end

-- Hands a receiver's due events over, for the receiver's share of the round. Returns whether the receiver is asked
-- again in this round: not after failures that took the share.
local function serve(self, store, name, sender, clock, round)
  local starts, taken = clock(), 0
  for _, event in ipairs(must(store:rows(self.sql.ready, name, due_times(clock)))) do
    local began = clock()
    if began - starts > round.share then break end
    if round.keep then round.keep() end
    local ok, message = hand_over(self, store, name, sender, event, clock)
    if ok then
      taken = taken + 1
    elseif ok == false then
      round.failed, round.lost[name] = round.failed + 1, (round.lost[name] or 0) + clock() - began
    end
    if round.delivered and ok ~= nil then round.delivered(name, event, ok, message) end
  end
  round.taken = round.taken + taken
  return taken > 0 and (round.lost[name] or 0) < round.share
end

-- Returns the receivers with due events. The receiver that follows the last one served is first.
local function lanes_of(self, store, senders, clock)
  local is_due, first, rest = {}, {}, {}
  for _, row in ipairs(must(store:rows(self.sql.lanes, due_times(clock)))) do is_due[row.receiver] = true end
  for _, name in ipairs(names_of(senders)) do
    if is_due[name] then table.insert(name > self.served and first or rest, name) end
  end
  for _, name in ipairs(rest) do first[#first + 1] = name end
  return first
end

--- Hands over what is due, in turn: each receiver has an equal share of `budget_ms`, and no receiver whose
--- failures took the share is asked again in this round. The round ends with the budget, and the next one begins with
--- the receiver that follows. Raises where the database fails. Returns how many events were taken, and how many not.
---@param store table
---@param senders table<string, purser.Sink>  by the receiver's name
---@param clock fun(): integer
---@param options { budget_ms: integer|nil, keep: fun()?, delivered: (fun(name: string, event: table, ok: boolean))? }
---@return integer taken, integer failed
function Outbox:deliver(store, senders, clock, options)
  local lanes, budget = lanes_of(self, store, senders, clock), options.budget_ms
  local round = { taken = 0, failed = 0, share = budget and budget / #lanes or SHARE_MS, lost = {}, keep = options.keep,
    delivered = options.delivered }
  local ends = clock() + (budget or math.huge)
  while lanes[1] do
    local left = {}
    for _, name in ipairs(lanes) do
      if clock() > ends then return round.taken, round.failed end
      self.served = name
      if serve(self, store, name, senders[name], clock, round) then left[#left + 1] = name end
    end
    lanes = left
  end
  return round.taken, round.failed
end

--- Keeps events for further receivers from now on.
function Outbox:add(tx, names)
  for _, name in ipairs(names) do tx:rows(self.sql.add, name) end
end

--- Returns the waiting deliveries by receiver: { receiver, waiting, since, due, error }.
function Outbox:waiting(store) return (must(store:rows(self.sql.waiting))) end

--- Lets events go again: of a subject or id, or since a time. Returns how many.
function Outbox:replay(tx, receiver, what, now)
  if not tx:rows(self.sql.known, receiver)[1] then return nil, ("there is no receiver %s"):format(receiver) end
  local at, is_time = time_text(now), type(what) == "number"
  local events = tx:rows(is_time and self.sql.since or self.sql.named, is_time and time_text(what) or what)
  for _, event in ipairs(events) do
    tx:rows(self.sql.again, receiver, event.id, event.subject, event.seq, at, at)
  end
  return #events
end

--- Forgets a receiver and its deliveries, or renames it. Returns true; or nil and a message.
function Outbox:rename(tx, old, new)
  local _, changed = tx:rows(self.sql.drop, old)
  if changed ~= 1 then return nil, ("there is no receiver %s"):format(old) end
  if new then
    self:add(tx, { new })
    tx:rows(self.sql.rename, new, old)
  else
    tx:rows(self.sql.forget, old)
  end
  return true
end

return M
