-- SPDX-License-Identifier: MIT
-- Rotation of keys: a second key next to each, and the old key goes later.

local diff = require "purser.desk.fleet.diff"
local errors = require "purser.client.call.errors"
local option_schema = require "purser.client.util.option_schema"
local plans = require "purser.desk.fleet.plan"

local M = {}

local rules = { rotate = { account = "string", note = "string", max_age_ms = { 0 }, ends_within_ms = { 0 } },
  retire = { account = "string", note = "string", overlap_ms = { 0 } } }

-- Returns an error of the options; "nothing to do" for an unknown account would look like done.
local function check_choice(self, given, known)
  local err, found = errors.option(option_schema.check(given, known, "option")), not given.account
  for _, account in ipairs(self.accounts) do found = found or account.name == given.account end
  return err or not found and errors.option(("%s is no account of this fleet"):format(given.account), "account",
    "give the name of one") or nil
end

-- Calls `visit(account, declared key, live keys)` for the keys that `given` selects, until one returns an error.
local function each_declared(self, given, visit)
  for _, account in ipairs(self.accounts) do
    if not given.account or given.account == account.name then
      local keys, err = self.client[self.group]:list_api_keys { subAccount = account.name }
      if not keys then return err end
      local sorted
      sorted, err = diff.sort_out(account, keys, self.vault.holds)
      if not sorted then return err end
      for _, declared in ipairs(account.keys or {}) do
        if not given.note or given.note == declared.note then
          err = visit(account, declared, sorted.live[declared.note])
          if err then return err end
        end
      end
    end
  end
end

local DAY_MS, FOR_EVER = 86400000, -999

-- Returns how long a key is valid by the service's record, in ms; nil without a record; nil and an error where unknown.
local function time_left(self, key)
  if not self.client.profile.live_operations then return nil end
  local record, err = self.client:call("live.api_key", { accessKey = key.apiKey })
  if not record then return nil, err.outcome ~= "rejected" and err or nil end
  local days = record.remainingValidity
  if type(days) ~= "number" then return nil end
  return days == FOR_EVER and math.huge or days * DAY_MS
end

-- Tells whether a key is too old or ends soon; nil and an error where that is unknown. Without a service's record a
-- key without an IP list ends after the profile's `key_days`.
local function is_due(self, key, given)
  local age = self.client:now() - (key.createTime or 0)
  if not given.ends_within_ms then return age >= (given.max_age_ms or 0) end
  if given.max_age_ms and age >= given.max_age_ms then return true end
  local left, err = time_left(self, key)
  if err then return nil, err end
  if left then return left <= given.ends_within_ms end
  return (key.ip or "") == "" and age >= self.client.profile.key_days * DAY_MS - given.ends_within_ms
end

local tasks = {}

-- Plans a second key beside the only key of a note, if the key is due.
function tasks.rotate(self, given, add, account, declared, live)
  if #live ~= 1 then return nil end
  local due, err = is_due(self, live[1], given)
  if due then add(account, { what = "create_key", key = declared, note = declared.note, beside = live[1] }, live[1]) end
  return err
end

-- Each key with a younger one goes, once the younger is old enough.
function tasks.retire(self, given, add, account, _, live)
  local made_at, overlap = #live > 1 and live[1].createTime, given.overlap_ms or DAY_MS
  for i = 2, made_at and made_at <= self.client:now() - overlap and #live or 0 do
    add(account, { what = "delete_key", apiKey = live[i].apiKey, note = live[i].note }, live[i])
  end
end

--- Returns the plan of a rotation or retirement; or nil and an error. See purser.fleet.
function M.plan(self, task, given)
  if not rules[task] then return nil, errors.option("the task is unknown", "task", 'give "rotate" or "retire"') end
  local err, plan = check_choice(self, given, rules[task]), plans.new(task, given)
  if err then return nil, err end
  local function add(account, step, key)
    step.account, step.why = account.name, "rotation"
    step.seen = table.concat({ key.permissions or "", key.ip or "", tostring(key.createTime) }, "|")
    plan.steps[#plan.steps + 1] = step
  end
  err = each_declared(self, given, function(...) return tasks[task](self, given, add, ...) end)
  if err then return nil, err end
  return plan
end

return M
