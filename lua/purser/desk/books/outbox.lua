-- SPDX-License-Identifier: MIT
-- The outbox: each change is a row for each sink in the transaction that made it, until the sink has it. So an event
-- comes at least once, whenever a program ends; and never before an earlier one of its record.

local record = require "purser.desk.books.record"
local sinks = require "purser.client.transport.sinks"

local M = {}

local LEASE, LONGEST, PATIENCE = 60000, 3600000, 3 * 86400000
local PARKED = "9999999999999" -- due never: a person has to look
local BATCH = 100
local PATIENT_FOR = 10 -- failures in a row; then the receiver is taken to be down, and asked again in the next round

local READY = [[SELECT rid, n, rev, created, attempts, body FROM purser_books_delivery AS d
  WHERE sink = $1 AND due <= $2 AND lease < $3 AND NOT EXISTS (SELECT 1 FROM purser_books_delivery AS e
    WHERE e.sink = d.sink AND e.rid = d.rid AND e.rev < d.rev)
  ORDER BY rev, rid LIMIT ]] .. BATCH

local time_text = record.time_text

--- Makes the senders of a list of { command } or { webhook, secret }, and begins to keep events for new ones. Returns
--- nil and a message where one cannot be.
function M.open(store, list)
  local senders = {}
  for i, options in ipairs(list) do
    local sender, message = sinks.new(options)
    if not sender then return nil, message end
    senders[i] = { name = options.webhook or options.command, sender = sender }
    store:rows("INSERT INTO purser_books_sink (sink) VALUES ($1) ON CONFLICT DO NOTHING", senders[i].name)
  end
  store.sinks = {}
  for i, row in ipairs(store:rows "SELECT sink FROM purser_books_sink ORDER BY sink") do store.sinks[i] = row.sink end
  return senders
end

-- Takes an event, so that another sender leaves it alone while this one sends it.
local function take(store, sink, event, now)
  local _, changed = store:rows("UPDATE purser_books_delivery SET lease = $1 WHERE sink = $2 AND rid = $3 AND "
    .. "n = $4 AND lease < $5", time_text(now + LEASE), sink, event.rid, event.n, time_text(now))
  return changed == 1
end

-- Sends one event. Returns true where the receiver has it.
local function send(store, sink, event, now)
  local ok, message = sink.sender:deliver(event.body)
  if ok then
    store:rows("DELETE FROM purser_books_delivery WHERE sink = $1 AND rid = $2 AND n = $3", sink.name, event.rid,
      event.n)
    return true
  end
  local attempts = tonumber(event.attempts)
  local due = time_text(now + math.min(LONGEST, 1000 * 2 ^ math.min(attempts, 12)))
  if now - tonumber(event.created) > PATIENCE then due = PARKED end
  store:rows("UPDATE purser_books_delivery SET attempts = $1, due = $2, lease = '', error = $3 WHERE sink = $4 AND "
    .. "rid = $5 AND n = $6", ("%d"):format(attempts + 1), due, (tostring(message):gsub("%z", " ")), sink.name,
    event.rid, event.n)
  return false
end

--- Sends what is due, oldest first, until nothing is left that may go. Returns how many were delivered, and how many
--- failed. `clock` returns the time, which goes on while a receiver takes its own.
function M.deliver(store, senders, clock)
  local delivered, failed = 0, 0
  for _, sink in ipairs(senders) do
    local row = 0 -- of failures
    repeat
      local now = time_text(clock())
      local events, any = store:rows(READY, sink.name, now, now), false
      for _, event in ipairs(events) do
        if row < PATIENT_FOR and take(store, sink.name, event, clock()) then
          if send(store, sink, event, clock()) then any, delivered, row = true, delivered + 1, 0
          else failed, row = failed + 1, row + 1 end
        end
      end
    until not any or row == PATIENT_FOR
  end
  return delivered, failed
end

--- Returns what waits, by sink: { sink, waiting, parked, oldest, error }.
function M.waiting(store)
  return store:rows([[SELECT s.sink AS sink, count(d.rid) || '' AS waiting,
    sum(CASE WHEN d.due = '9999999999999' THEN 1 ELSE 0 END) || '' AS parked, min(d.created) AS oldest,
    max(d.error) AS error FROM purser_books_sink AS s LEFT JOIN purser_books_delivery AS d ON d.sink = s.sink
    GROUP BY s.sink ORDER BY s.sink]])
end

--- Lets what is parked or waits go at once.
function M.retry(store)
  store:rows("UPDATE purser_books_delivery SET due = created, lease = '' WHERE due > created")
end

--- Forgets a sink and what waits for it. Returns whether there was one.
function M.forget(store, sink)
  store:rows("DELETE FROM purser_books_delivery WHERE sink = $1", sink)
  local _, changed = store:rows("DELETE FROM purser_books_sink WHERE sink = $1", sink)
  return changed == 1
end

return M
