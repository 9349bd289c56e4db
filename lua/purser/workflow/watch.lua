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
local option_schema = require "purser.util.option_schema"
local errors = require "purser.call.errors"
local history = require "purser.history"
local record_id = require "purser.history.record_id"
local retention = require "purser.history.retention"
local operations = require "purser.api.operations"

local M = {}

local DAY = 86400000
-- success, rejected, refunded, invalid, returned: nothing comes after these.
local final = { [5] = true, [7] = true, [8] = true, [10] = true, [12] = true }
-- What may come before success, and 0 for what is no number. After success such a state is an old answer, of a part of
-- the service that lags.
local SUCCESS = 5
local early = { [0] = true, [1] = true, [2] = true, [3] = true, [4] = true, [6] = true, [9] = true, [11] = true }
local MAX_PAUSE_MS = 3 * DAY

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

-- The states of the deposits of one key: equal deposits cannot be distinguished, so only how many are in which state
-- counts.
local function split(states)
  local list = {}
  for state in (states or ""):gmatch("[^%.]+") do list[#list + 1] = tonumber(state) end
  return list
end

local function state_of(record)
  return type(record.status) == "number" and record.status >= 0 and record.status or 0
end

-- A state that a deposit has after it was successful is kept with a minus: success is not reported a second time.
local function kept_state(before, state)
  return (before == SUCCESS or (before or 0) < 0) and state ~= SUCCESS and -state or state
end

-- Whether a state that is shown is an old answer about a deposit of that kept state.
local function is_old_answer(kept, shown)
  return kept == SUCCESS and early[shown] or kept < 0 and (early[shown] or shown == SUCCESS)
end

-- Takes one entry out of `list` that matches; returns it, or nil.
local function take(list, matches)
  for i, entry in ipairs(list) do
    if matches(entry) then return table.remove(list, i) end
  end
end

-- What happened to the deposits of one key: a list of { record, before = the state it had, or nil when it is new }.
-- States that are there before and now are those of the same deposits; whichever is shown first means nothing.
local function changes(before, records)
  local left, came, found = {}, {}, {}
  for i, state in ipairs(before) do left[i] = state end
  for _, record in ipairs(records) do
    local state = state_of(record)
    if not take(left, function(other) return math.abs(other) == state end) then came[#came + 1] = record end
  end
  for i = #came, 1, -1 do
    local shown = state_of(came[i])
    if take(left, function(kept) return is_old_answer(kept, shown) end) then table.remove(came, i) end
  end
  table.sort(left)
  table.sort(came, function(a, b) return state_of(a) < state_of(b) end)
  for i, record in ipairs(came) do found[i] = { record = record, before = left[i] } end
  return found
end

-- How what distinguishes deposits is compared: a service may show a deposit in another spelling later, and its success
-- must not be reported again. Deposits that are equal but for the rest are counted, so nothing is lost by it.
local alike = {
  coin = function(text) return tostring(text):upper() end,
  network = function() end,
  address = function(text) return tostring(text):lower() end,
  memo = function(text) return text ~= "" and text or nil end,
  amount = function(text) return tostring(decimal(tostring(text)) or text) end,
  txId = function(text) return (tostring(text):gsub(":%d+$", "")) end, -- the number of an output may be added
}

-- Returns the key of a deposit, whatever the spelling.
local function key_of(self, record)
  local plain = {}
  for _, name in ipairs(self.row.paging.key) do
    local value, rule = record[name], alike[name]
    if value ~= nil and rule then value = rule(value) end
    plain[name] = value
  end
  return (self.key_of(plain))
end

-- Adds the events of one key.
local function add_events(self, digits, before, records)
  local states = {}
  for i, state in ipairs(before) do states[i] = state end
  for _, change in ipairs(changes(before, records)) do
    if change.before then
      take(states, function(state) return state == change.before end)
    end
    states[#states + 1] = kept_state(change.before, state_of(change.record))
    table.sort(states)
    self.events[#self.events + 1] = { kind = change.before and "changed" or "new", deposit = change.record,
      digits = digits, before = change.before and math.abs(change.before), states = table.concat(states, ".") }
  end
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
  local walk = history.each(self.client, self.row.full_name,
    { from = self.since + 1, coin = self.coin, shows_at_least = self.shows_at_least })
  local found, order = {}, {}
  while true do
    local record, err = walk:next()
    if err then return err end
    if not record then break end
    local key = key_of(self, record)
    if not found[key] then
      found[key] = {}
      order[#order + 1] = key
    end
    table.insert(found[key], record)
  end
  for _, key in ipairs(order) do
    local digits = record_id.digest(key)
    add_events(self, digits, split(self.known[digits] and self.known[digits].states), found[key])
  end
  note_time(self, now)
end

-- Forgets what is old and final; the next look begins behind it. Only between looks, when all events are delivered.
local function forget(self)
  local horizon = self.looked_at - self.late_arrival_ms
  for _, entry in pairs(self.known) do
    for _, state in ipairs(split(entry.states)) do
      if not final[math.abs(state)] then horizon = math.min(horizon, entry.time - 1) end
    end
  end
  -- What the service no longer shows cannot be watched.
  horizon = math.max(horizon, retention.earliest(self.row.window, self.looked_at) + 600000)
  if horizon <= self.since then return end
  self.since = horizon
  for digits, entry in pairs(self.known) do
    if entry.time <= horizon then self.known[digits] = nil end
  end
end

-- An address by which a sub-account is found, with its memo where it has one.
local function name_key(address, memo)
  return tostring(address):lower() .. (memo and memo ~= "" and ":" .. tostring(memo) or "")
end

-- { name = address or { addresses } } as address -> name; nil and a message.
local function names_by_address(sub_accounts)
  local names = {}
  for name, addresses in pairs(sub_accounts or {}) do
    for _, address in ipairs(type(addresses) == "table" and addresses or { addresses }) do
      local key = type(address) == "string" and address:lower()
      if type(name) ~= "string" or not key or names[key] then
        return nil, 'parameter "sub_accounts" is { name = address or { addresses } }, each address once'
      end
      names[key] = name
    end
  end
  return names
end

local function deliver(self)
  local event = table.remove(self.events, 1)
  if not event then return nil end
  self.known[event.digits] = { time = event.deposit.insertTime, states = event.states }
  event.digits, event.states = nil, nil
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

--- Where the watch stands, as a plain string.
---@return string
function Watch:cursor()
  return text_of(self)
end

local function argument_error(row, name, message, hint)
  local err = errors.argument(name, message, hint)
  err.operation = row.group .. ".watch_deposits"
  return err
end

local function watch(client, row, params)
  local self = setmetatable({ client = client, row = row, key_of = record_id.of(row.paging), events = {}, known = {} },
    Watch)
  params = params or {}
  local message, name, hint = option_schema.check(params, rules, "parameter")
  if not message then
    self.names, message = names_by_address(params.sub_accounts)
    name = "sub_accounts"
  end
  if message then
    self.problem = argument_error(row, name, message, hint)
    return self
  end
  self.coin, self.poll_ms, self.late_arrival_ms = params.coin, params.poll_ms or 10000, params.late_arrival_ms or 600000
  self.deadline_ms, self.shows_at_least = params.deadline_ms, params.shows_at_least
  self.begins_now = not params.since and not params.cursor
  self.since = (params.since or client:now()) - 1
  message = params.cursor and read_cursor(self, params.cursor)
  if message then
    self.problem = argument_error(row, "cursor", 'parameter "cursor" ' .. message, "give a text of watch:cursor()")
  end
  return self
end

--- Watches deposits (C4).
---@param client purser.Client
---@param params purser.WatchParams|nil
---@return purser.Watch
function M.deposits(client, params)
  return watch(client, operations.by_name["wallet.deposit_history"], params)
end

--- The same for the deposits of all sub-accounts (A11), and `sub_accounts`, by whose addresses an event is named.
---@param client purser.Client
---@param params purser.SubAccountWatchParams|nil
---@return purser.Watch
function M.sub_account_deposits(client, params)
  return watch(client, operations.by_name["broker.all_deposit_history"], params)
end

return M
