-- SPDX-License-Identifier: MIT
-- The plan of a fleet: the steps that are due by the service's lists.

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
---@field task "rotate"|"retire"|nil   nil: the fleet as declared
---@field given table|nil              the options of the task
---@field read_at integer              epoch ms
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

local function line_of(step)
  local key, old = step.what:find "_key$" and (' "%s"'):format(step.note) or "", step.beside
  local why = step.why and (" (%s)"):format(step.why) or step.repeats and " (again does no harm)" or ""
  return plain_text.clean(("%s: %s%s%s%s"):format(step.account, step_words[step.what], key, why,
    step.apiKey and ": " .. step.apiKey or old and (', beside "%s": %s'):format(old.note, old.apiKey) or ""))
end

function Plan:__tostring()
  local lines = {}
  for i, step in ipairs(self.steps) do lines[i] = line_of(step) end
  if #lines == 0 then lines[1] = self.task and "no key is due" or "everything is as declared" end
  for _, key in ipairs(self.unmanaged) do
    lines[#lines + 1] = plain_text.clean(('note: %s has the key "%s", which is not declared; it stays'):format(
      key.account, key.note))
  end
  for _, warning in ipairs(self.warnings) do lines[#lines + 1] = plain_text.clean("note: " .. warning) end
  return table.concat(lines, "\n")
end

---@return purser.FleetPlan
function M.new(task, given)
  return setmetatable({ steps = {}, orphans = {}, unmanaged = {}, warnings = {}, changes = 0, task = task,
    given = given }, Plan)
end

--- Returns the plan that makes a fleet as declared; or nil and an error.
function M.read(self)
  local found, err = find_accounts(self)
  if not found then return nil, err end
  local plan = M.new()
  for _, account in ipairs(self.accounts) do
    local there, keys = found[account.name], {}
    if there and not there.isFreeze then
      keys, err = self.client[self.group]:list_api_keys { subAccount = account.name }
      if not keys then return nil, err end
    end
    err = diff.account(plan, account, there, keys, self.vault.holds)
    if err then return nil, err end
  end
  return plan
end

-- Returns whether the steps wait until lists show whatever existed when the plan was read.
local function waits(plan)
  if plan.orphans[1] then return true end
  for _, step in ipairs(plan.steps) do
    if step.what:find "^create_" then return true end
  end
  return false
end

-- Returns the steps of a list that another has, too, and adds the others to `since`.
local function split(steps, others, since, why)
  local common, set = {}, {}
  for _, step in ipairs(others) do set[line_of(step) .. (step.seen or "")] = true end
  for _, step in ipairs(steps) do
    local line = line_of(step)
    if set[line .. (step.seen or "")] then common[#common + 1] = step
    else since[#since + 1] = why .. ", so not done: " .. line end
  end
  return common
end

--- Reads again before anything is created, before a key goes whose secret another process may be storing, or where a
--- person saw the plan. Returns the steps to do, and texts of those that differ from what was shown: a rotation leaves
--- them out, a declaration has an error then.
function M.steps_now(self, plan, is_shown)
  local delay = waits(plan) and self.client:settings().visibility_delay_ms
  if not delay and not is_shown then return plan.steps, {} end
  if delay then self.client:sleep(math.max(0, math.min(plan.read_at + delay - self.client:now(), delay))) end
  local now, err = self:plan(plan.task, plan.given)
  if not now then return nil, err end
  if not is_shown then return now.steps, {} end
  local since = {}
  local steps = split(now.steps, plan.steps, since, "not shown")
  split(plan.steps, now.steps, since, "changed since it was shown")
  if plan.task or not since[1] then return steps, since end
  return nil, errors.new { kind = "workflow", outcome = "not_sent", phase = "fleet", hint = "plan it again",
    message = "other steps are due than were shown; nothing was done" }
end

return M
