-- SPDX-License-Identifier: MIT
-- Runs a policy over past calls of a journal, by time, with the sums and known addresses of then. Unrecorded facts (a
-- plan's maker, the service's saved addresses) are not judged, and counted so.

local decimal = require "purser.decimal"
local errors = require "purser.client.call.errors"
local names_of = require "purser.client.util.names_of"
local option_schema = require "purser.client.util.option_schema"
local planned = require "purser.write.planned"
local policy = require "purser.desk.approvals.policy"
local rules = require "purser.desk.approvals.rules"

local M = {}

local HOUR = 3600000

---@class purser.TryOptions
---@field journal purser.Journal
---@field account string
---@field policy string      the text
---@field since integer|nil  epoch ms: older calls count for sums and known addresses alone

---@class purser.Trial
---@field payments integer
---@field first integer|nil      epoch ms
---@field last integer|nil
---@field unasked integer        allowed without a signature
---@field asked table<string, integer>    approvals by group, one a place
---@field busiest { day: string, asked: integer }|nil
---@field waited integer         held back for some hours
---@field refused integer
---@field refused_by table<string, integer>  by rule; "" where no rule allows the call
---@field not_judged integer

local try_rules = { journal = "table", account = "string", policy = "string", since = "any" }

local function count(map, name, by) map[name] = (map[name] or 0) + (by or 1) end

-- Notes a sent call: sums by coin, place and hour, and the first payment of a destination.
local function note(world, call, is_done)
  if is_done then world.first[call.place_paid] = world.first[call.place_paid] or call.now end
  local coin, places = rules.counted(call)
  for _, place in ipairs(places or {}) do
    local name, hour = coin .. "\n" .. place, math.floor(call.now / HOUR)
    local hours = world.sums[name] or {}
    world.sums[name], hours[hour] = hours, hours[hour] or {}
    hours[hour][call.operation] = (hours[hour][call.operation] or decimal "0") + call.amount
  end
end

local function sum_of_hours(hours, first, last, limit)
  local total = decimal "0"
  for hour = first, last do
    for operation, amount in pairs(hours[hour] or {}) do
      if rules.counts(limit, operation) then total = total + amount end
    end
  end
  return total
end

-- Returns the sum of a limit's hours. Calls come by time, so earlier hours are added up once.
local function sum_of(world, call, limit)
  local last, name = math.floor(call.now / HOUR), limit.coin .. "\n"
    .. (limit.per == "destination" and call.place or "")
  local hours, over = world.sums[name] or {}, world.over[limit] or {}
  world.over[limit] = over
  if not over[name] or over[name].hour ~= last then
    over[name] = { hour = last, sum = sum_of_hours(hours, last - limit.hours, last - 1, limit) }
  end
  return over[name].sum + sum_of_hours(hours, last, last, limit)
end

-- Judges a call without signatures, then with everybody's, then after any wait: a call refused even then is refused.
local function judge(trial, given, call, days)
  local applying, is_unsure = rules.applying(given, call)
  if is_unsure then trial.not_judged = trial.not_judged + 1 end
  local decision = rules.decide(given, call, applying)
  if decision.ok then return count(trial, "unasked") end
  call.signed, call.waited_ms = given.people, 0
  local waits = not rules.decide(given, call, applying).ok
  call.waited_ms = math.huge
  local at_last = rules.decide(given, call, applying)
  if not at_last.ok then
    trial.refused = trial.refused + 1
    local names = at_last.forbidden[1] and at_last.forbidden or at_last.unmet
    for _, name in ipairs(names[1] and names or { "" }) do count(trial.refused_by, name) end
    return
  end
  if waits then trial.waited = trial.waited + 1 end
  local asked = {}
  for _, approvals in ipairs(decision.asked) do
    for _, place in ipairs(approvals) do asked[place.group] = math.max(asked[place.group] or 0, place.count) end
  end
  for group, number in pairs(asked) do
    count(trial.asked, group, number)
    count(days, given.zone:date(call.now), number)
  end
end

local function run(trial, given, options, days)
  local world = { sums = {}, first = {}, over = {} }
  for entry in options.journal:each_entry() do
    local is_kept = next(entry.intent.params) ~= nil
    local call = entry.is_counted and rules.call(entry.intent.operation, entry.intent.params)
    if call and not is_kept and entry.intent.sent_at >= (options.since or 0) then -- pruned
      trial.not_judged = trial.not_judged + 1
    elseif call and is_kept then
      call.now, call.queue = entry.intent.sent_at, entry.queue or ""
      call.place_paid = (entry.intent.host or "") .. "\n" .. call.destination -- known at one service alone
      call.known_since = world.first[call.place_paid] or false
      function call.sum(limit) return sum_of(world, call, limit) end
      if call.now >= (options.since or 0) then
        trial.payments, trial.first, trial.last = trial.payments + 1, trial.first or call.now, call.now
        judge(trial, given, call, days)
      end
      note(world, call, planned.is_made(entry))
    end
  end
end

--- Runs a policy over the journal; see purser.approvals.
function M.run(options)
  local message, name, hint = option_schema.check(options, try_rules, "option of approvals.try")
  if message then return nil, errors.option(message, name, hint) end
  local given
  given, message = policy.read(options.policy or "")
  if not given then return nil, errors.argument("policy", "the policy cannot be read: " .. message) end
  local own = options.journal:account()
  if own and options.account and own ~= options.account then
    return nil, errors.argument("account", ('the journal is of account "%s"'):format(own), "give that, or its journal")
  end
  local trial = { payments = 0, unasked = 0, asked = {}, waited = 0, refused = 0, refused_by = {}, not_judged = 0 }
  local days = {}
  local ok, raised = pcall(run, trial, given, options, days)
  if not ok and not errors.is(raised) then error(raised, 0) end
  if not ok then return nil, raised end
  for _, day in ipairs(names_of(days)) do
    if not trial.busiest or days[day] > trial.busiest.asked then trial.busiest = { day = day, asked = days[day] } end
  end
  return trial
end

return M
