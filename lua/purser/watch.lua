--- Watching deposits: each new one, and each change of its state, once; across restarts with a cursor.
--
--     for event in client.wallet:watch_deposits { cursor = load(), poll_ms = 10000 } do
--       if event.deposit.status == 5 then credit(event.deposit) end
--       save(event.cursor)
--     end
--
-- event: `kind` ("new" or "changed"), `deposit`, `before` (the state it had), `cursor`. A program that ends between
-- `credit` and `save` meets the event again, so `credit` has to bear that, or both have to happen in one transaction.
--
-- A cursor is a plain string with the state of every deposit that is young or still may change; an older one in a final
-- state is forgotten. In a `for` an error that does not pass raises.

local allowed = require "purser.allowed"
local core = require "purser.core"
local errors = require "purser.errors"
local history = require "purser.history"
local keys = require "purser.history.key"
local operations = require "purser.operations"

local M = {}

local DAY = 86400000
local ROW = operations.by_name["wallet.deposit_history"]
local key_of = keys.of(ROW.paging)

-- success, rejected, refunded, invalid, returned: nothing comes behind these.
local final = { [5] = true, [7] = true, [8] = true, [10] = true, [12] = true }

---@class purser.Watch
local Watch = { __name = "purser.watch" }
Watch.__index = Watch

local rules = {
  coin = "string", cursor = "string", since = allowed.TIME, poll_ms = { 0 }, settle_ms = { 0 }, timeout_ms = { 0 },
}

local function text_of(self)
  local parts, names = {}, {}
  for digits in pairs(self.known) do names[#names + 1] = digits end
  table.sort(names)
  for i, digits in ipairs(names) do
    local entry = self.known[digits]
    parts[i] = ("%s:%d:%s"):format(digits, entry.time, entry.states)
  end
  return ("purser1;watch;%d;%s"):format(self.since, table.concat(parts, ","))
end

local function read_cursor(self, text)
  local since, list = text:match("^purser1;watch;(%d%d%d%d%d%d%d%d%d%d%d%d%d);([%x:,%-%.]*)$")
  if not since then return "is not a cursor of watch_deposits" end
  self.since = math.floor(tonumber(since))
  for digits, time, states in list:gmatch("(%x+):(%d+):([%d%-%.]+)") do
    self.known[digits] = { time = math.floor(tonumber(time)), states = states }
  end
end

-- The states of the deposits of one key (two that look the same are told apart by their number alone), oldest first.
local function split(states)
  local list = {}
  for state in (states or ""):gmatch("[^%.]+") do list[#list + 1] = state end
  return list
end

-- Looks once: collects the events since the last look.
local function look(self)
  local now = self.client:now()
  local walk = history.each(self.client, ROW.full_name, { from = self.since + 1, coin = self.coin })
  local found, order = {}, {}
  while true do
    local record, err = walk:next()
    if err then return err end
    if not record then break end
    local digest, problem = core.md5_hex((key_of(record)))
    if not digest then return errors.config("deposits cannot be told apart: " .. problem) end
    local digits = digest:sub(1, 16)
    if not found[digits] then
      found[digits] = {}
      order[#order + 1] = digits
    end
    table.insert(found[digits], record)
  end
  for _, digits in ipairs(order) do
    local before = split(self.known[digits] and self.known[digits].states)
    local states = {}
    for i, state in ipairs(before) do states[i] = state end
    for i, record in ipairs(found[digits]) do
      local state = ("%d"):format(type(record.status) == "number" and record.status or 0)
      if before[i] ~= state then
        states[i] = state
        self.events[#self.events + 1] = { kind = before[i] and "changed" or "new", deposit = record, digits = digits,
          before = before[i] and tonumber(before[i]), states = table.concat(states, ".") }
      end
    end
  end
  self.looked_at = now
end

-- Forgets what is old and final; the next look begins behind it. Only between looks, when all events are delivered.
local function forget(self)
  local horizon = self.looked_at - self.settle_ms
  for _, entry in pairs(self.known) do
    for _, state in ipairs(split(entry.states)) do
      if not final[tonumber(state)] then horizon = math.min(horizon, entry.time - 1) end
    end
  end
  -- What the service no longer tells of cannot be watched.
  horizon = math.max(horizon, self.looked_at - 90 * DAY + 600000)
  if horizon <= self.since then return end
  self.since = horizon
  for digits, entry in pairs(self.known) do
    if entry.time <= horizon then self.known[digits] = nil end
  end
end

local function deliver(self)
  local event = table.remove(self.events, 1)
  if not event then return nil end
  self.known[event.digits] = { time = event.deposit.insertTime, states = event.states }
  event.digits, event.states = nil, nil
  event.cursor = text_of(self)
  return event
end

--- The next event. It waits for one; when `timeout_ms` was given and is over, it returns nil. Nil and an error for a
--- failure that does not pass; called again it tries again.
---@return table|nil event, purser.Error|nil err
function Watch:next()
  if self.problem then return nil, self.problem end
  while true do
    local event = deliver(self)
    if event then return event end
    if self.looked_at then
      forget(self)
      if self.deadline and self.client:now() >= self.deadline then return nil end
      self.client:sleep(math.max(1, math.min(self.poll_ms, (self.deadline or math.huge) - self.client:now())))
    end
    local err = look(self)
    -- The first look may have set the client's clock right, so the time counts from there.
    self.deadline = self.deadline or (self.timeout_ms and self.client:now() + self.timeout_ms)
    if err then
      if not err.retryable then return nil, err end
      self.looked_at = self.looked_at or self.since
      if err.retry_after then self.client:sleep(err.retry_after * 1000) end
    end
  end
end

--- As an iterator: raises the error.
function Watch:__call()
  local event, err = self:next()
  if err then error(err, 0) end
  return event
end

--- Where the watch stands, as a plain string.
function Watch:cursor()
  return text_of(self)
end

--- Watches deposits (C4). Parameters: `cursor`, `since` (epoch ms where a watch without a cursor begins; default: now),
--- `coin`, `poll_ms` (10000), `settle_ms` (600000: how late a deposit may show up), `timeout_ms` (without it the watch
--- goes on for ever).
---@param client purser.Client
---@param params table|nil
function M.deposits(client, params)
  local self = setmetatable({ client = client, events = {}, known = {} }, Watch)
  params = params or {}
  local complaint, name = allowed.check(params, rules, "parameter")
  if complaint then
    self.problem = errors.argument(name, complaint)
    return self
  end
  self.coin, self.poll_ms, self.settle_ms = params.coin, params.poll_ms or 10000, params.settle_ms or 600000
  self.timeout_ms = params.timeout_ms
  self.since = (params.since or client:now()) - 1
  complaint = params.cursor and read_cursor(self, params.cursor)
  if complaint then self.problem = errors.argument("cursor", 'parameter "cursor" ' .. complaint) end
  return self
end

return M
