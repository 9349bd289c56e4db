-- SPDX-License-Identifier: MIT
-- Keys of a fleet that are replaced in time: a second key next to each, and the old one goes later.

local diff = require "purser.desk.fleet.diff"
local errors = require "purser.client.call.errors"
local option_schema = require "purser.client.util.option_schema"
local plans = require "purser.desk.fleet.plan"
local steps = require "purser.desk.fleet.steps"

local M = {}

local rotate_rules = { account = "string", note = "string", max_age_ms = { 0 }, ends_within_ms = { 0 } }
local retire_rules = { account = "string", note = "string", overlap_ms = { 0 } }

-- Checks options. The account that is named must be one of the fleet: "nothing to do" would look like done.
local function check_choice(self, given, rules)
  local err, found = errors.option(option_schema.check(given, rules, "option")), not given.account
  for _, account in ipairs(self.accounts) do found = found or account.name == given.account end
  return err or not found and errors.option(("%s is no account of this fleet"):format(given.account), "account",
    "give the name of one") or nil
end

-- Calls `visit(account, declared key, live keys)` for the keys that `given.account` and `given.note` select.
local function each_declared(self, given, visit)
  for _, account in ipairs(self.accounts) do
    if not given.account or given.account == account.name then
      local keys, err = self.client[self.group]:list_api_keys { subAccount = account.name }
      if not keys then return err end
      local sorted
      sorted, err = diff.sort_out(account, keys, self.vault.holds)
      if not sorted then return err end
      for _, declared in ipairs(account.keys or {}) do
        if not given.note or given.note == declared.note then visit(account, declared, sorted.live[declared.note]) end
      end
    end
  end
end

local DAY_MS, FOR_EVER = 86400000, -999

-- For how long the service has it on record that a key is valid, in ms; nil where it does not say, and nil and an error
-- where that cannot be known now.
local function time_left(self, key)
  if not self.client.profile.live_operations then return nil end
  local record, err = self.client:call("live.api_key", { accessKey = key.apiKey })
  if not record then return nil, err.outcome ~= "rejected" and err or nil end
  local days = record.remainingValidity
  if type(days) ~= "number" then return nil end
  return days == FOR_EVER and math.huge or days * DAY_MS
end

-- Tells whether a key has to be replaced: it is older than `max_age_ms`, or ends soon. Where the service does not
-- say when it ends, a key without an IP list ends after the profile's `key_days`. Nil and an error when that cannot be
-- read.
local function is_due(self, key, given)
  local age = self.client:now() - (key.createTime or 0)
  if not given.ends_within_ms then return age >= (given.max_age_ms or 0) end
  if given.max_age_ms and age >= given.max_age_ms then return true end
  local left, err = time_left(self, key)
  if err then return nil, err end
  if left then return left <= given.ends_within_ms end
  return (key.ip or "") == "" and age >= self.client.profile.key_days * DAY_MS - given.ends_within_ms
end

-- The steps of a rotation; nil and an error.
local function read_rotation(self, given)
  local list, problem = {}, nil
  local err = each_declared(self, given, function(account, declared, live)
    if problem or #live ~= 1 then return end
    local due
    due, problem = is_due(self, live[1], given)
    if due then
      list[#list + 1] = { what = "create_key", account = account.name, key = declared, note = declared.note,
        why = "rotation" }
    end
  end)
  if err or problem then return nil, err or problem end
  return list
end

--- Makes a second key next to each that is due; see purser.fleet.
function M.rotate(self, given)
  local err = check_choice(self, given, rotate_rules)
  if err then return nil, err end
  local list
  list, err = plans.read_until_sure(self, function() return read_rotation(self, given) end)
  if not list then return nil, err end
  return steps.execute(self, list)
end

--- Deletes every key that has a younger one; see purser.fleet.
function M.retire(self, given)
  local err = check_choice(self, given, retire_rules)
  if err then return nil, err end
  local list = {}
  err = each_declared(self, given, function(account, _, live)
    local made_at, overlap = #live > 1 and live[1].createTime, given.overlap_ms or 86400000
    if made_at and made_at <= self.client:now() - overlap then
      for i = 2, #live do
        list[#list + 1] = { what = "delete_key", account = account.name, apiKey = live[i].apiKey, note = live[i].note,
          why = "rotation" }
      end
    end
  end)
  if err then return nil, err end
  return steps.execute(self, list)
end

return M
