-- SPDX-License-Identifier: MIT
-- The outbox: each event waits for each named receiver from the transaction that made it until the receiver says that
-- it has it. Events of one deposit go in their order; another deposit waits for none of them.

local core = require "purser.core"
local stores = require "purser.desk.receive.store"

local M = {}

local LONGEST_MS = 3600000
local BATCH = 50

local READY = [[SELECT d.id AS id, d.attempts AS attempts, e.body AS body, e.kind AS kind FROM purser_receive_delivery
  AS d JOIN purser_receive_event AS e ON e.id = d.id WHERE d.receiver = $1 AND d.due <= $2 AND NOT EXISTS (
    SELECT 1 FROM purser_receive_delivery AS o WHERE o.receiver = d.receiver AND o.dp = d.dp AND o.seq < d.seq)
  ORDER BY d.due, d.seq LIMIT ]] .. BATCH

local function must(rows, message)
  if not rows then error("the database: " .. tostring(message), 0) end
  return rows
end

-- Hands one event over, and notes what became of it. Returns whether the receiver has it, and its words.
local function hand_over(store, name, sender, event, clock)
  local ok, message = sender:deliver(event.body, core.decode(event.body))
  if ok then
    must(store:rows("DELETE FROM purser_receive_delivery WHERE receiver = $1 AND id = $2", name, event.id))
    return true
  end
  local attempts = tonumber(event.attempts)
  must(store:rows("UPDATE purser_receive_delivery SET attempts = $1, due = $2, error = $3 WHERE receiver = $4 AND "
    .. "id = $5", ("%d"):format(attempts + 1),
    stores.time_text(clock() + math.min(LONGEST_MS, 1000 * 2 ^ math.min(attempts, 12))),
    (tostring(message):gsub("%c", " ")), name, event.id))
  return false, message
end

--- Hands over what is due. It ends after `budget_ms`, so that a slow receiver keeps nobody from reading. Raises where
--- the database fails. Returns how many events were taken, and how many were not.
---@param store table
---@param senders table<string, purser.Sink>  by the receiver's name
---@param clock fun(): integer
---@param options { budget_ms: integer|nil, keep: (fun())|nil, told: (fun(name: string, event: table, ok: boolean))? }
---@return integer taken, integer failed
function M.deliver(store, senders, clock, options)
  local taken, failed, began, names = 0, 0, clock(), {}
  for name in pairs(senders) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    repeat
      local progress = 0
      for _, event in ipairs(must(store:rows(READY, name, stores.time_text(clock())))) do
        if clock() - began > (options.budget_ms or math.huge) then return taken, failed end
        if options.keep then options.keep() end
        local ok, message = hand_over(store, name, senders[name], event, clock)
        if ok then taken, progress = taken + 1, progress + 1 else failed = failed + 1 end
        if options.told then options.told(name, event, ok, message) end
      end
    until progress == 0
  end
  return taken, failed
end

--- Keeps events for these receivers from now on.
function M.add(book, names)
  for _, name in ipairs(names) do
    book:rows("INSERT INTO purser_receive_receiver VALUES ($1) ON CONFLICT DO NOTHING", name)
  end
end

--- Returns what waits, by receiver: { receiver, waiting, since, due, error }.
function M.waiting(store)
  return must(store:rows [[SELECT r.name AS receiver, count(d.id) || '' AS waiting, min(d.created) AS since,
    min(d.due) AS due, max(d.error) AS error FROM purser_receive_receiver AS r LEFT JOIN purser_receive_delivery AS d
    ON d.receiver = r.name GROUP BY r.name ORDER BY r.name]])
end

--- Lets events go again: all of a deposit or of an id, or those made since a time. Returns how many.
function M.replay(book, receiver, what, now)
  if not book:rows("SELECT name FROM purser_receive_receiver WHERE name = $1", receiver)[1] then
    return nil, ("there is no receiver %s"):format(receiver)
  end
  local at = stores.time_text(now)
  local events
  local find = "SELECT id, dp, seq FROM purser_receive_event WHERE %s ORDER BY seq"
  if type(what) == "number" then
    events = book:rows(find:format "created >= $1", stores.time_text(what))
  else
    events = book:rows(find:format "id = $1 OR dp = $2", what, what)
  end
  for _, event in ipairs(events) do
    book:rows("INSERT INTO purser_receive_delivery VALUES ($1, $2, $3, $4, $5, $6, '0', '') ON CONFLICT (receiver, id) "
      .. "DO UPDATE SET due = $7", receiver, event.id, event.dp, event.seq, at, at, at)
  end
  return #events
end

--- Forgets a receiver and what waits for it, or gives it another name.
function M.rename(book, old, new)
  local _, changed = book:rows("DELETE FROM purser_receive_receiver WHERE name = $1", old)
  if changed ~= 1 then return nil, ("there is no receiver %s"):format(old) end
  if new then
    M.add(book, { new })
    book:rows("UPDATE purser_receive_delivery SET receiver = $1 WHERE receiver = $2", new, old)
  else
    book:rows("DELETE FROM purser_receive_delivery WHERE receiver = $1", old)
  end
  return true
end

return M
