-- SPDX-License-Identifier: MIT
-- The plan of a fleet: what the service lists, and the steps that are missing. Its functions take a purser.Fleet.

local diff = require "purser.desk.fleet.diff"
local errors = require "purser.client.call.errors"
local plain_text = require "purser.client.util.plain_text"

local M = {}

---@class purser.FleetPlan
---@field steps purser.FleetStep[]
---@field orphans purser.FleetKey[]    keys whose secret was lost; only where the vault knows
---@field unmanaged purser.FleetKey[]  keys that are not declared: they stay
---@field warnings string[]
---@field changes integer              how many steps are not mere repeats
local Plan = { __name = "purser.fleet.plan" }
Plan.__index = Plan

local function find_accounts(self)
  local found, operation = {}, self.group .. ".list_sub_accounts"
  local walk = self.client:each(operation)
  while true do
    local account, err = walk:next()
    if err then return nil, err end
    if not account then return found end
    if not account.subAccount then
      return nil, errors.undecodable(operation, "the list has a sub-account without a name")
    end
    found[account.subAccount] = account
  end
end

local step_words = {
  create_account = "create the account", enable_futures = "enable futures", create_key = "create the key",
  delete_key = "delete the key",
}

function Plan:__tostring()
  local lines = {}
  local function add(text) lines[#lines + 1] = plain_text.clean(text) end
  for _, step in ipairs(self.steps) do
    local what = step.what:find("_key$") and (' "%s"'):format(step.note) or ""
    local why = step.why and (" (%s)"):format(step.why) or step.repeats and " (again does no harm)" or ""
    add(("%s: %s%s%s"):format(step.account, step_words[step.what], what, why))
  end
  if #lines == 0 then add "everything is as declared" end
  for _, key in ipairs(self.unmanaged) do
    add(('note: %s has the key "%s", which is not declared; it stays'):format(key.account, key.note))
  end
  for _, warning in ipairs(self.warnings) do add("note: " .. warning) end
  return table.concat(lines, "\n")
end

--- Returns all that a plan will do, as a text.
function M.whole(plan)
  local lines = { tostring(plan) }
  for i, step in ipairs(plan.steps) do lines[i + 1] = step.apiKey or "" end
  return table.concat(lines, "\n")
end

local function read_plan(self)
  local found, err = find_accounts(self)
  if not found then return nil, err end
  local plan = setmetatable({ steps = {}, orphans = {}, unmanaged = {}, warnings = {}, changes = 0 }, Plan)
  for _, account in ipairs(self.accounts) do
    local there, keys = found[account.name], {}
    if there and not there.isFreeze then
      keys, err = self.client[self.group]:list_api_keys { subAccount = account.name }
      if not keys then return nil, err end
    end
    err = diff.account(plan, account, there, keys, self.vault.holds)
    if err then return nil, err end
  end
  for _, step in ipairs(plan.steps) do
    if not step.repeats then plan.changes = plan.changes + 1 end
  end
  return plan
end

--- Reads once, or, when something is to be created, a second time: a list may lack what a run just before has created,
--- and that must not be created twice. A list that is read a delay later shows all that was there at the first reading.
---@param read fun(fleet: purser.Fleet): table|nil, purser.Error|nil  returns a plan, or a list of steps
function M.read_until_sure(self, read)
  local found, err = read(self)
  if not found then return nil, err end
  local delay, creates = self.client:settings().visibility_delay_ms, false
  for _, step in ipairs(found.steps or found) do creates = creates or step.what:find "^create_" end
  if not creates or delay == 0 then return found end
  self.client:sleep(delay)
  return read(self)
end

--- Returns the plan of a fleet; or nil and an error.
function M.read(self) return M.read_until_sure(self, read_plan) end

return M
