-- SPDX-License-Identifier: MIT
--- Watching deposits: each new one, and each change of its state, once; across restarts with a cursor.
--
--     for event in client.wallet:watch_deposits { cursor = load(), poll_ms = 10000 } do
--       if event.deposit.status == 5 then credit(event.deposit) end
--       save(event.cursor)
--     end
--
-- client.broker:watch_deposits does the same for the deposits of all sub-accounts (A11, three days back). No member of
-- these records is documented to name the sub-account: give `sub_accounts`, { name = address or { addresses } } (an
-- address with a memo is "address:memo"), and the event carries `sub_account`.
--
-- event: `kind` ("new" or "changed"), `deposit`, `before` (the state it had), `cursor`. A program that ends between
-- `credit` and `save` meets the event again, so `credit` has to bear that, or both have to happen in one transaction.
--
-- A cursor is a plain string with the state of every deposit that is young or still may change; an older one in a final
-- state is forgotten. In a `for` an error that does not pass raises.

local decimal = require "purser.decimal"
local option_schema = require "purser.client.util.option_schema"
local digest = require "purser.client.util.digest"
local errors = require "purser.client.call.errors"

local M = {}

local DAY = 86400000
-- success, rejected, refunded, invalid, returned: nothing comes after these.
local final = { [5] = true, [7] = true, [8] = true, [10] = true, [12] = true }
-- States that may come before success; 0 stands for no number. After success such a state is an old answer, of a part
-- of the service that lags.
local SUCCESS = 5
local early = { [0] = true, [1] = true, [2] = true, [3] = true, [4] = true, [6] = true, [9] = true, [11] = true }
local MAX_PAUSE_MS = 3 * DAY
local MARGIN_MS = 540000 -- the next look begins this much later than the earliest time

---@class purser.WatchParams
---@field cursor string|nil   of an earlier watch: continues there
---@field since integer|nil   epoch ms where a watch without a cursor begins. Default: now
---@field coin string|nil
---@field poll_ms integer|nil          pause between two looks. Default: 10000
---@field late_arrival_ms integer|nil  how late a deposit may show up. Default: 600000
---@field deadline_ms integer|nil      ends the watch. Default: none
---@field shows_at_least integer|nil   how many records the service is known to show at once

---@class purser.SubAccountWatchParams: purser.WatchParams
---@field sub_accounts table<string, string|string[]>|nil  addresses by the name of their sub-account

---@class purser.DepositEvent
---@field kind "new"|"changed"
---@field deposit purser.record.deposit
---@field before integer|nil  changed: the state it had
---@field sub_account string|nil
---@field cursor string       of the watch after this event

---@class purser.Watch
---@overload fun(): purser.DepositEvent|nil
local Watch = { __name = "purser.watch" }
Watch.__index = Watch

local rules = {
  sub_accounts = "table", coin = "string", cursor = "string", since = option_schema.TIME, poll_ms = { 0 },
  late_arrival_ms = { 0 }, deadline_ms = { 0 },
  shows_at_least = { 1, option_schema.EXACT },
}

-- self.known: digest of a key -> a list of { time =, state = }, one for each deposit.

local function text_of(self)
  local parts = {}
  for digits, entries in pairs(self.known) do
    for _, entry in ipairs(entries) do parts[#parts + 1] = ("%s:%d:%d"):format(digits, entry.time, entry.state) end
  end
  table.sort(parts)
  return ("purser1;watch;%d;%s"):format(self.since, table.concat(parts, ","))
end

local function remember(self, digits, entry)
  self.known[digits] = self.known[digits] or {}
  table.insert(self.known[digits], entry)
end

-- Reads a cursor. Returns what is wrong with it, with the name of the parameter and a hint; or nothing.
local function read_cursor(self, text)
  local since, list = text:match("^purser1;watch;(%d%d%d%d%d%d%d%d%d%d%d%d%d);([%x:,%-]*)$")
  if not since then
    return 'parameter "cursor" is not a cursor of watch_deposits', "cursor", "give a text of watch:cursor()"
  end
  self.since = math.floor(tonumber(since))
  for digits, time, state in list:gmatch("(%x+):(%d+):(%-?%d+)") do
    remember(self, digits, { time = math.floor(tonumber(time)), state = math.floor(tonumber(state)) })
  end
end

local function state_of(record)
  return type(record.status) == "number" and record.status >= 0 and record.status or 0
end

-- A state that a deposit has after it was successful is kept with a minus: success is not reported a second time.
local function kept_state(before, state)
  return (before == SUCCESS or (before or 0) < 0) and state ~= SUCCESS and -state or state
end

-- Returns whether a state that is shown is an old answer about a deposit of that kept state.
local function is_old_answer(kept, shown)
  return kept == SUCCESS and early[shown] or kept < 0 and (early[shown] or shown == SUCCESS)
end

-- Takes the entry out of `list` whose state matches and whose time is nearest; returns it, or nil.
local function take(list, time, matches)
  local best
  for i, entry in ipairs(list) do
    if matches(entry.state) and (not best or math.abs(entry.time - time) < math.abs(list[best].time - time)) then
      best = i
    end
  end
  return best and table.remove(list, best)
end

-- Returns what happened to the deposits of one key, which cannot be distinguished, so that only how many are in which
-- state counts: a list of { record, entry = what was known of it, or nil when it is new }. Those whose state was known
-- are the same deposits, whichever is shown first; their entries take the time that is shown now.
local function changes(entries, records)
  local left, came, found = {}, records, {}
  for i, entry in ipairs(entries) do left[i] = entry end
  for _, rule in ipairs { function(kept, shown) return math.abs(kept) == shown end, is_old_answer } do
    local others = {}
    for _, record in ipairs(came) do
      local shown = state_of(record)
      local entry = take(left, record.insertTime, function(kept) return rule(kept, shown) end)
      if entry then entry.time = record.insertTime else others[#others + 1] = record end
    end
    came = others
  end
  table.sort(left, function(a, b) return a.state < b.state end)
  table.sort(came, function(a, b) return state_of(a) < state_of(b) end)
  for i, record in ipairs(came) do found[i] = { record = record, entry = left[i] } end
  return found
end

-- An amount as it is compared: a service may cut its places, or show what a float makes of it.
local function amount_of(text)
  local digits, exponent = tostring(text):match "^([%d.]+)[eE]%+?(%-?%d%d?)$"
  local amount, power = decimal(digits or tostring(text)), math.floor(tonumber(exponent) or 0)
  if not amount then return tostring(text) end
  local tens = decimal("1" .. ("0"):rep(math.abs(power)))
  amount = power < 0 and amount:div(tens, 20) or amount * tens
  return tostring(amount:round(6, "half_up"))
end

-- Returns the key of a deposit: its transaction, address and amount, in whatever spelling. A service may show coin,
-- network, memo and time in another way later, and its success must not be reported again. Deposits that are equal but
-- for these are counted, so nothing is lost by it. One without a transaction has its time as well.
local function key_of(record, without)
  local transaction = without and "" or tostring(record.txId or ""):lower():gsub("^0x", ""):gsub(":%d+$", "")
  local address = tostring(record.address or ""):lower()
  local memo = ":" .. tostring(record.memo or ""):lower()
  if memo ~= ":" and address:sub(-#memo) == memo then address = address:sub(1, -#memo - 1) end
  return digest.of(table.concat({ transaction, address, amount_of(record.amount),
    transaction == "" and tostring(record.insertTime) or "" }, "\30")):sub(1, 16)
end

-- Returns what is known of the deposits of a key. One that had no transaction, and is not shown without it any more, is
-- known by its time.
local function known_of(self, digits, records, found)
  for _, record in ipairs(records) do
    local without = key_of(record, true)
    if not found[without] then
      for _, entry in ipairs(self.known[without] or {}) do remember(self, digits, entry) end
      self.known[without] = nil
    end
  end
  return self.known[digits] or {}
end

-- Notes when a look began. A clock that was set back during the look was ahead, so nothing is forgotten by it; and a
-- watch that began at that time begins now.
local function note_time(self, began)
  local now = self.client:now()
  if now < began then
    if self.begins_now and not self.looked_at then self.since = math.min(self.since, now - 1) end
    began = self.looked_at or self.since
  end
  self.looked_at = began
end

-- Looks once: collects the events since the last look.
local function look(self)
  local now = self.client:now()
  local walk = self.client:each(self.operation,
    { from = self.since + 1, coin = self.coin, shows_at_least = self.shows_at_least })
  local found, order = {}, {}
  while true do
    local record, err = walk:next()
    if err then return err end
    if not record then break end
    local digits = key_of(record)
    if not found[digits] then
      found[digits] = {}
      order[#order + 1] = digits
    end
    table.insert(found[digits], record)
  end
  for _, digits in ipairs(order) do
    for _, change in ipairs(changes(known_of(self, digits, found[digits], found), found[digits])) do
      local entry = change.entry
      self.events[#self.events + 1] = { kind = entry and "changed" or "new", deposit = change.record, digits = digits,
        entry = entry, before = entry and math.abs(entry.state) }
    end
  end
  note_time(self, now)
end

-- Forgets what is old and final; the next look begins behind it. Only between looks, when all events are delivered.
local function forget(self)
  local horizon = self.looked_at - self.late_arrival_ms
  for _, entries in pairs(self.known) do
    for _, entry in ipairs(entries) do
      if not final[math.abs(entry.state)] then horizon = math.min(horizon, entry.time - 1) end
    end
  end
  -- A deposit that the service no longer shows cannot be watched.
  horizon = math.max(horizon, self.client:earliest(self.operation, self.looked_at) + MARGIN_MS)
  if horizon <= self.since then return end
  self.since = horizon
  for digits, entries in pairs(self.known) do
    for i = #entries, 1, -1 do
      if entries[i].time <= horizon then table.remove(entries, i) end
    end
    if not entries[1] then self.known[digits] = nil end
  end
end

-- An address by which a sub-account is found, with its memo where it has one.
local function name_key(address, memo)
  return tostring(address):lower() .. (memo and memo ~= "" and ":" .. tostring(memo) or "")
end

-- Notes { name = address or { addresses } } as address -> name. Returns what is wrong with it, and the name of the
-- parameter; or nothing.
local function name_addresses(self, sub_accounts)
  self.names = {}
  for name, addresses in pairs(sub_accounts or {}) do
    for _, address in ipairs(type(addresses) == "table" and addresses or { addresses }) do
      local key = type(address) == "string" and address:lower()
      if type(name) ~= "string" or not key or self.names[key] then
        return 'parameter "sub_accounts" is { name = address or { addresses } }, each address once', "sub_accounts"
      end
      self.names[key] = name
    end
  end
end

local function deliver(self)
  local event = table.remove(self.events, 1)
  if not event then return nil end
  local entry = event.entry or {}
  if not event.entry then remember(self, event.digits, entry) end
  entry.time, entry.state = event.deposit.insertTime, kept_state(entry.state, state_of(event.deposit))
  event.digits, event.entry = nil, nil
  event.sub_account = event.deposit.subAccount or self.names[name_key(event.deposit.address, event.deposit.memo)]
    or self.names[name_key(event.deposit.address)]
  event.cursor = text_of(self)
  return event
end

-- Sleeps, but not beyond the end of the watch, nor for ever.
local function pause(self, ms)
  local left = (self.deadline or math.huge) - self.client:now()
  self.client:sleep(math.max(1, math.min(ms, left, MAX_PAUSE_MS)))
end

--- The next event. It waits for one; when `deadline_ms` was given and is over, it returns nil. Nil and an error for a
--- failure that does not pass; called again it retries.
---@return purser.DepositEvent|nil event, purser.Error|nil err
function Watch:next()
  if self.problem then return nil, self.problem end
  while true do
    local event = deliver(self)
    if event then return event end
    if self.looked_at then
      forget(self)
      if self.deadline and self.client:now() >= self.deadline then return nil end
      pause(self, self.poll_ms)
    end
    local err = look(self)
    -- The first look may have set the client's clock right, so the time counts from there.
    self.deadline = self.deadline or (self.deadline_ms and self.client:now() + self.deadline_ms)
    if err then
      if not err.retryable then return nil, err end
      self.looked_at = self.looked_at or self.since
      if err.retry_after then pause(self, err.retry_after * 1000) end
    end
  end
end

Watch.__call = errors.iterate

--- Returns where the watch stands, as a plain string.
---@return string
function Watch:cursor()
  return text_of(self)
end

local function watch(client, operation, params)
  local self = setmetatable({ client = client, operation = operation, events = {}, known = {} }, Watch)
  local message, name, hint = option_schema.check(params or {}, rules, "parameter")
  params = not message and params or {}
  self.since = (params.since or client:now()) - 1
  if not message then message, name = name_addresses(self, params.sub_accounts) end
  if not message and params.cursor then message, name, hint = read_cursor(self, params.cursor) end
  if message then
    self.problem = errors.argument(name, message, hint)
    self.problem.operation = operation:gsub("%..*", ".watch_deposits")
  end
  self.coin, self.poll_ms, self.late_arrival_ms = params.coin, params.poll_ms or 10000, params.late_arrival_ms or 600000
  self.deadline_ms, self.shows_at_least = params.deadline_ms, params.shows_at_least
  self.begins_now = not params.since and not params.cursor
  return self
end

--- Watches deposits (C4).
---@param client purser.Client
---@param params purser.WatchParams|nil
---@return purser.Watch
function M.deposits(client, params)
  return watch(client, "wallet.deposit_history", params)
end

--- The same for the deposits of all sub-accounts (A11), and `sub_accounts`, by whose addresses an event is named.
---@param client purser.Client
---@param params purser.SubAccountWatchParams|nil
---@return purser.Watch
function M.sub_account_deposits(client, params)
  return watch(client, "broker.all_deposit_history", params)
end

return M
