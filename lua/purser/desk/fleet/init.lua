-- SPDX-License-Identifier: MIT
--- Fleets: sub-accounts with their keys, declared; what is missing is planned and made; see docs/desk/fleets.md.
--
-- The vault gets each secret at once: { account, note, apiKey, secretKey, permissions, ip }. It returns when the secret
-- is safe, and raises (or returns false) otherwise: the key is then deleted. `holds` says whether the vault has the
-- secret of a key. Nothing here prints or keeps a secret.
--
-- The files in reading order: spec (the declaration), diff (the service against the declaration), plan, steps (what
-- apply does), rotation, transfers (sweep and distribute), vault (secrets in a file).

local errors = require "purser.client.call.errors"
local plain_text = require "purser.client.util.plain_text"
local plans = require "purser.desk.fleet.plan"
local rotation = require "purser.desk.fleet.rotation"
local spec = require "purser.desk.fleet.spec"
local steps = require "purser.desk.fleet.steps"
local transfers = require "purser.desk.fleet.transfers"
local views = require "purser.client.util.views"

---@class purser.modules.fleet
local M = {}

---@class purser.Fleet
local Fleet = { __name = "purser.fleet" }
Fleet.__index = Fleet

---@class purser.FleetStep
---@field what "create_account"|"enable_futures"|"create_key"|"delete_key"
---@field account string
---@field note string|nil    of the key
---@field apiKey string|nil
---@field why string|nil
---@field repeats boolean|nil  it may be done already, and does no harm

---@class purser.FleetKey
---@field account string
---@field note string
---@field apiKey string

--- Checks a declaration. Returns the fleet, or nil and an error that reports every problem of it.
---@param given purser.FleetOptions
---@return purser.Fleet|nil fleet, purser.Error|nil err
function M.new(given)
  local problems = spec.check(given)
  if #problems > 0 then return nil, errors.config(table.concat(problems, "; ")) end
  local vault = type(given.vault) == "function" and { store = given.vault } or given.vault
  return setmetatable({ client = given.client, group = given.group or "sub_account", vault = vault,
    accounts = given.accounts or {} }, Fleet)
end

function Fleet:__tostring()
  return ("purser.fleet (%s)"):format(plain_text.counted(#self.accounts, "account"))
end

--- Reads what is due, and changes nothing: the steps that make the fleet as declared, or those of rotate or retire.
--- tostring() names each account and key.
---@param task "rotate"|"retire"|nil
---@param given table|nil  the options of that method
---@return purser.FleetPlan|nil plan, purser.Error|nil err
function Fleet:plan(task, given)
  local plan, err
  if task == nil then plan, err = plans.read(self) else plan, err = rotation.plan(self, task, given or {}) end
  if not plan then return nil, err end
  plan.read_at = self.client:now()
  for _, step in ipairs(plan.steps) do plan.changes = plan.changes + (step.repeats and 0 or 1) end
  return plan
end

local function apply(self, is_shown, plan, err)
  if not plan then return nil, err end
  local list, since = plans.steps_now(self, plan, is_shown)
  if not list then return nil, since end
  local done, problem = steps.execute(self, list)
  return done, problem, since
end

--- Does the steps of a plan. Before a step that creates, reads the lists again, `visibility_delay_ms` of the client
--- after the first reading, because a list may lack a new entry. Returns the steps done; or nil and an error whose
--- `details` are `done` and `step`. No step is undone: the next apply plans from the present state and continues.
---@param shown purser.FleetPlan|nil  nothing is done where other steps are due by now than a person saw; of a rotation
--- the steps that differ are left out, and returned as texts
---@return purser.FleetStep[]|nil done, purser.Error|nil err, string[]|nil left_out
function Fleet:apply(shown)
  if shown then return apply(self, true, shown) end
  return apply(self, false, self:plan())
end

--- Creates a second key beside each due key, of all accounts or of one `account` and `note`. A key is due when older
--- than `max_age_ms` (0: always), or when the key ends within `ends_within_ms`. The end is the service's, where the
--- profile has `live_operations`; else a key without an IP list ends after the profile's `key_days`. Old keys stay
--- until retire(). A key with a younger one is skipped, so a rotation can be continued.
---@param given { account: string|nil, note: string|nil, max_age_ms: integer|nil, ends_within_ms: integer|nil }|nil
---@return purser.FleetStep[]|nil done, purser.Error|nil err
function Fleet:rotate(given) return apply(self, false, self:plan("rotate", given)) end

--- Deletes every key that has a younger one of its note, once the younger is `overlap_ms` old (default: a day).
---@param given { account: string|nil, note: string|nil, overlap_ms: integer|nil }|nil
---@return purser.FleetStep[]|nil done, purser.Error|nil err
function Fleet:retire(given) return apply(self, false, self:plan("retire", given)) end

---@class purser.FleetSweep
---@field to "parent"
---@field name string
---@field leave purser.amount|table<string, purser.amount>|nil
---@field assets string[]|nil

--- Returns the payments that bring the spot balances of the fleet to the parent: `leave` (a decimal, or one by asset)
--- stays in each account, `assets` limits the list. Give them to payouts:plan. Their keys begin with `name`.
---@param given purser.FleetSweep
---@return purser.PlannedPayment[]|nil payments, purser.Error|nil err
function Fleet:sweep(given) return transfers.sweep(self, given) end

--- Returns the payments that bring an `asset` from the parent to the fleet: `amounts` by account name, or `each` for
--- all. Give them to payouts:plan. Their keys begin with `name`: under it nothing is moved twice.
---@param given { asset: string, name: string, amounts: table<string, purser.amount>|nil, each: purser.amount|nil }
---@return purser.PlannedPayment[]|nil payments, purser.Error|nil err
function Fleet:distribute(given) return transfers.distribute(self, given) end

views.check_colon(Fleet, "fleet")

return M
