-- SPDX-License-Identifier: MIT
--- Alerts: tells each change of an account once, by a command or a signed webhook, across restarts.
--
--     local alerts = assert(purser.monitor.alerts(client, { networks = { "USDT/TRX" }, below = { USDT = "500" },
--       journal = journal, state = "alerts.json", command = "mail -s purser ops@example.com" }))
--     while true do alerts:check() client:sleep(60000) end
--
-- An event is in the state file before it is handed over, and leaves the file when it was taken: each event is told at
-- least once, in order, always with one id. The first check tells only what is bad.

local conditions = require "purser.desk.monitor.conditions"
local digest = require "purser.client.util.digest"
local errors = require "purser.client.call.errors"
local files = require "purser.client.util.files"
local json = require "purser.json"
local names_of = require "purser.client.util.names_of"
local option_schema = require "purser.client.util.option_schema"
local sinks = require "purser.client.transport.sinks"

local M = {}

---@class purser.AlertOptions: purser.SinkOptions
---@field networks string[]|nil              COIN/NETWORK: withdrawals or deposits close or open
---@field below table<string, string>|nil    a free balance falls below: { USDT = "500", ["desk1/USDT"] = "20" }
---@field above table<string, string>|nil    a deposit is above an amount: { USDT = "1000" }
---@field key_days integer|nil               the key ends within so many days
---@field permissions boolean|nil            the permissions or the IP list of the key change
---@field journal purser.Journal|nil         a write call is undecided, or stuck
---@field stuck_ms integer|nil               how long a call may have no known end. Default: 600000
---@field state string|nil                   file that keeps what was told. Default: none, in memory

---@class purser.AlertEvent
---@field id string          the same whenever this event is told, and no other event's
---@field at integer         epoch ms
---@field account string
---@field condition string   such as "withdrawals of USDT/TRX"
---@field state string       such as "closed"
---@field before string|nil  the state that was told last
---@field is_bad boolean     a person should look
---@field text string        a sentence with the figures of now

---@class purser.Alerts
local Alerts = { __name = "purser.alerts" }
Alerts.__index = Alerts

local rules = { networks = "table", below = "table", above = "table", key_days = { 1 }, permissions = "boolean",
  journal = "table", stuck_ms = { 1 }, state = "string", command = "string", webhook = "string", secret = "any",
  ca_file = "string", ca_path = "string", ca_pem = "string" }

local FAILURES = 2 -- readings of a source in a row until their failure is told

-- Returns the sources to read: { name, read }.
local function sources_of(self, options)
  local list, client = {}, self.client
  local below, above = conditions.by_asset(options.below), conditions.by_asset(options.above)
  local function add(name, wanted, read) list[#list + 1] = wanted and { name = name, read = read } or nil end
  add("networks", options.networks, function() return conditions.networks(client, options.networks) end)
  add("balances", below, function() return conditions.balances(client, below) end)
  add("deposits", above, function() return conditions.deposits(client, above) end)
  add("key", options.key_days or options.permissions, function() return conditions.key(client, options) end)
  add("journal", options.journal, function()
    return conditions.calls(client, options.journal, options.stuck_ms or 600000)
  end)
  return list
end

-- Returns what is kept: { account, told = { [condition] = { state, source } }, failures = { [source] = n }, waiting =
-- events that were not taken yet, the oldest first, last = the number of the last event }; or nil and a message.
local function read_state(path, account)
  local fresh = { account = account, told = {}, failures = {}, waiting = {}, last = 0 }
  if not path then return fresh end
  local kept, message, is_missing = files.read_object(path)
  if is_missing then return fresh end
  if not kept then return nil, message end
  if kept.account ~= account or type(kept.told) ~= "table" or type(kept.failures) ~= "table"
    or type(kept.waiting) ~= "table" or type(kept.last) ~= "number" then
    return nil, path .. " is not the state of alerts of this account; name another file"
  end
  return kept
end

local function keep(self)
  if not self.path then return true end
  local kept = { account = self.kept.account, waiting = json.list(self.kept.waiting), last = self.kept.last }
  for _, name in ipairs { "told", "failures" } do
    kept[name] = next(self.kept[name]) and self.kept[name] or json.object {}
  end
  return files.replace(self.path, json.encode(kept) .. "\n")
end

local SETTLED = "settled"

-- Adds a condition's event to the waiting events, unless the state was sent before, or the first state is not bad. A
-- first state also counts after an event of the condition `news_of`. An event's number is the time or greater, so no
-- number repeats, even without a file.
local function note(self, condition, source)
  local kept, at = self.kept, self.client:now()
  local told = kept.told[condition.name]
  if told and told.state == condition.state then return end
  kept.told[condition.name] = condition.state ~= SETTLED and { state = condition.state, source = source,
    time = condition.time } or nil
  local is_news = condition.is_bad or condition.news_of and kept.told[condition.news_of]
  if not told and not is_news then return end
  kept.last = math.max(at, kept.last + 1)
  kept.waiting[#kept.waiting + 1] = { id = ("al_%s_%d"):format(digest.of(kept.account .. "\n" .. condition.name):sub(1,
    16), kept.last), at = at, account = kept.account, condition = condition.name, state = condition.state,
    before = told and told.state, is_bad = condition.is_bad, text = condition.text }
end

local ORDER = { "id", "at", "account", "condition", "state", "before", "is_bad", "text" }

-- Hands over the waiting events, the oldest first, up to the first failure. Returns the taken events, and a message.
local function hand_over(self)
  local events, waiting = {}, self.kept.waiting
  while waiting[1] do
    local event, members = waiting[1], {}
    for i, name in ipairs(ORDER) do members[i] = { name, event[name] } end
    if self.sink then
      local ok, message = self.sink:deliver(json.encode(json.object(members)))
      if not ok then return events, ("%s was not told: %s"):format(event.condition, message) end
    end
    events[#events + 1] = table.remove(waiting, 1)
  end
  return events
end

-- Forgets the deposits that were told and are older than what is read.
local function forget_old(self)
  local oldest = self.client:now() - conditions.KEPT_MS
  for _, name in ipairs(names_of(self.kept.told)) do
    local time = self.kept.told[name].time
    if time and time < oldest then self.kept.told[name] = nil end
  end
end

-- Adds the calls that were told and are no longer in the list: they are settled.
local function add_settled(self, list, source)
  local shown = {}
  for _, condition in ipairs(list) do shown[condition.name] = true end
  for _, name in ipairs(names_of(self.kept.told)) do
    if self.kept.told[name].source == source and not shown[name] and name:find "^call " then
      list[#list + 1] = { name = name, state = SETTLED, is_bad = false, text = name .. " has a known end now" }
    end
  end
end

-- Returns the conditions of a source, with its own; and a message where it could not be read.
local function read(self, source)
  local went, list, err = pcall(source.read)
  if not went then list, err = nil, list end -- a source that raises ends no other
  local failures = list and 0 or (self.kept.failures[source.name] or 0) + 1
  self.kept.failures[source.name] = failures > 0 and failures or nil
  list = list or {}
  if not err and source.name == "journal" then add_settled(self, list, source.name) end
  if failures == 0 or failures >= FAILURES then
    table.insert(list, 1, { name = "reading of " .. source.name, state = err and "failed" or "works",
      is_bad = err ~= nil, text = err and tostring(err) or ("%s can be read"):format(source.name) })
  end
  return list, err and ("%s could not be read: %s"):format(source.name, tostring(err))
end

--- Reads the sources, and tells what changed. Returns the events that were told, and messages of what could not be
--- read, told or kept; the next check tries again.
---@return purser.AlertEvent[] events, string[] problems
function Alerts:check()
  local problems = {}
  for _, source in ipairs(self.sources) do
    local list, problem = read(self, source)
    problems[#problems + 1] = problem
    for _, condition in ipairs(list) do note(self, condition, source.name) end
  end
  forget_old(self)
  local function keep_all()
    local ok, message = keep(self)
    if not ok then problems[#problems + 1] = ("%s cannot be written: %s"):format(self.path, tostring(message)) end
    return ok
  end
  local was_kept = keep_all() -- where the disk is full, the events are told all the same
  local events, problem = hand_over(self)
  problems[#problems + 1] = problem
  if was_kept and events[1] then keep_all() end
  return events, problems
end

--- Makes the alerts of an account.
---@param client purser.Client
---@param options purser.AlertOptions
---@return purser.Alerts|nil alerts, purser.Error|nil err
function M.new(client, options)
  local message, name, hint = option_schema.check(options, rules, "option of alerts")
  if message then return nil, errors.option(message, name, hint) end
  local err = errors.no_client(client, "monitor.alerts") or conditions.check(client, options)
  if err then return nil, err end
  local self = setmetatable({ client = client, path = options.state }, Alerts)
  if options.command or options.webhook then
    self.sink, message = sinks.new(options)
    if not self.sink then return nil, errors.config("alerts: " .. message) end
  end
  self.kept, message = read_state(options.state, client:account())
  if not self.kept then return nil, errors.config("alerts: " .. message) end
  self.sources = sources_of(self, options)
  if #self.sources == 0 then
    return nil, errors.config("alerts: nothing is watched; give networks, below, above, key_days, permissions or "
      .. "journal")
  end
  return self
end

return M
