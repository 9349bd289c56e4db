-- SPDX-License-Identifier: MIT
-- Runs a policy over what the journal says was sent, by time, with the sums and known addresses of then. What nobody
-- wrote down (the service's address book, who made a plan) is not judged, and counted as such.

local decimal = require "purser.decimal"
local errors = require "purser.call.errors"
local option_schema = require "purser.util.option_schema"
local policy = require "purser.signed.policy"
local rules = require "purser.signed.rules"
local utc = require "purser.util.utc"

local M = {}

local HOUR = 3600000
local SPENT_NOTHING = { rejected = true, not_sent = true, not_done = true }

---@class purser.TryOptions
---@field journal purser.Journal
---@field account string
---@field policy string      its text
---@field since integer|nil  epoch ms: older calls count for sums and known addresses alone

---@class purser.Trial
---@field payments integer
---@field first integer|nil      epoch ms
---@field last integer|nil
---@field unasked integer        allowed without anybody's word
---@field asked table<string, integer>    approvals by group, one a place
---@field busiest { day: string, asked: integer }|nil
---@field waited integer         held back for some hours
---@field refused integer
---@field refused_by table<string, integer>  by rule; "" where no rule allows it
---@field not_judged integer     a rule asks what nobody wrote down

local try_rules = { journal = "table", account = "string", policy = "string", since = "any" }

-- The calls that were sent by then: sums by hour, and when each destination was first paid.
local function new_world() return { sums = {}, first = {} } end

local function name_of(coin, destination) return coin .. "\n" .. destination end

local function note(world, call)
  local to = call.destination
  if to ~= "" and call.done then world.first[to] = world.first[to] or call.now end
  local coin = call.amount and call.coins and #call.coins == 1 and call.coins[1]
  if not coin then return end
  local hour = math.floor(call.now / HOUR)
  for _, destination in ipairs { "", call.destination ~= "" and call.destination or nil } do
    local name = name_of(coin, destination)
    world.sums[name] = world.sums[name] or {}
    local hours = world.sums[name]
    hours[hour] = hours[hour] or {}
    hours[hour][call.operation] = (hours[hour][call.operation] or decimal "0") + call.amount
  end
end

local function sum_of(world, call, limit)
  local hours = world.sums[name_of(limit.coin, limit.per == "destination" and call.destination or "")] or {}
  local total, last = decimal "0", math.floor(call.now / HOUR)
  for hour = last - limit.hours, last do
    for operation, amount in pairs(hours[hour] or {}) do
      if rules.counts(limit, operation) then total = total + amount end
    end
  end
  return total
end

-- Everybody has signed, and nobody waits: what is refused then no word of anybody lets through.
local function everybody(given)
  local all = {}
  for person in pairs(given.people) do all[person] = true end
  return all
end

local function count(map, name, by) map[name] = (map[name] or 0) + (by or 1) end

local function judge_one(trial, given, call, all, days)
  for _, rule in ipairs(given.rules) do
    if rules.matches(rule, call, given) == nil then
      trial.not_judged = trial.not_judged + 1
      break
    end
  end
  local decision = rules.decide(given, call)
  if decision.ok then
    trial.unasked = trial.unasked + 1
    return
  end
  local places = decision.asked
  call.signed, call.waited_ms = all, 0
  local waits = not rules.decide(given, call).ok
  call.waited_ms = math.huge
  local with_all = rules.decide(given, call)
  if not with_all.ok then
    trial.refused = trial.refused + 1
    for _, name in ipairs(with_all.forbidden) do count(trial.refused_by, name) end
    for _, name in ipairs(with_all.forbidden[1] and {} or with_all.unmet) do count(trial.refused_by, name) end
    if not with_all.forbidden[1] and not with_all.unmet[1] then count(trial.refused_by, "") end
    return
  end
  if waits then trial.waited = trial.waited + 1 end
  local asked, day = {}, utc.text(call.now):sub(1, 10)
  for _, approvals in ipairs(places) do
    for _, place in ipairs(approvals) do asked[place.group] = math.max(asked[place.group] or 0, place.count) end
  end
  for group, number in pairs(asked) do
    count(trial.asked, group, number)
    count(days, day, number)
  end
end

--- Runs a policy over the journal; see purser.approvals.
function M.run(options)
  local message, name, hint = option_schema.check(options, try_rules, "option of approvals.try")
  if message then return nil, errors.option(message, name, hint) end
  local given
  given, message = policy.read(options.policy or "")
  if not given then return nil, errors.argument("policy", "the policy cannot be read: " .. message) end
  local trial = { payments = 0, unasked = 0, asked = {}, waited = 0, refused = 0, refused_by = {}, not_judged = 0 }
  local world, all, days = new_world(), everybody(given), {}
  local since = options.since or 0
  local ok, raised = pcall(function()
    for entry in options.journal:each_entry { account = options.account } do
      local call = next(entry.intent.params) and rules.call(entry.intent.operation, entry.intent.params)
      if call and not SPENT_NOTHING[entry.state] then
        call.now, call.queue, call.maker_unknown = entry.intent.sent_at, entry.queue or "", true
        call.known_since, call.done = world.first[call.destination] or false, entry.state == "done"
        function call.sum(limit) return sum_of(world, call, limit) end
        if call.now >= since then
          trial.payments, trial.first, trial.last = trial.payments + 1, trial.first or call.now, call.now
          judge_one(trial, given, call, all, days)
        end
        note(world, call)
      end
    end
  end)
  if not ok then
    if not errors.is(raised) then error(raised, 0) end
    return nil, raised
  end
  for day, number in pairs(days) do
    local busiest = trial.busiest
    if not busiest or number > busiest.asked or number == busiest.asked and day < busiest.day then
      trial.busiest = { day = day, asked = number }
    end
  end
  return trial
end

return M
