-- SPDX-License-Identifier: MIT
--- Fleets: sub-accounts with their keys, declared; what is missing is planned, made, and can be gone on with.
--
--     local fleet = assert(purser.fleet.new {
--       client = client, group = "sub_account",                 -- or "broker"
--       vault = { store = function(secret) ... end, holds = function(api_key) ... end },
--       accounts = {
--         { name = "traders01", note = "first desk", keys = {
--           { note = "trading", permissions = { "SPOT_DEAL_READ", "SPOT_DEAL_WRITE" }, ip = { "203.0.113.7" } } } },
--       },
--     })
--     print(assert(fleet:plan()))
--     assert(fleet:apply())
--
-- The vault gets each secret at once: { account, note, apiKey, secretKey, permissions, ip }. It returns when the secret
-- is safe, and raises (or returns false) when it is not: the key is then deleted. `holds` says whether it has the
-- secret of a key; with it, keys whose secret was lost are found by their note, and deleted. Nothing here prints or
-- keeps a secret.

local views = require "purser.client.util.views"
local option_schema = require "purser.client.util.option_schema"
local core = require "purser.core"
local spec = require "purser.desk.fleet.spec"
local diff = require "purser.desk.fleet.diff"
local errors = require "purser.client.call.errors"
local transfers = require "purser.desk.fleet.transfers"
local plain_text = require "purser.client.util.plain_text"

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

---@class purser.FleetPlan
---@field steps purser.FleetStep[]
---@field orphans purser.FleetKey[]    keys whose secret was lost; only where the vault knows
---@field unmanaged purser.FleetKey[]  keys that are not declared: they stay
---@field warnings string[]
---@field changes integer              how many steps are not mere repeats
local Plan = { __name = "purser.fleet.plan" }
Plan.__index = Plan

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
  return ("purser.fleet (%d accounts)"):format(#self.accounts)
end

local function api(self) return self.client[self.group] end

-- Returns how long a new account or key may be missing from lists.
local function delay_of(self) return self.client:settings().visibility_delay_ms end

-- Reads once, or, when something is to be created, a second time: a list may lack what a run just before has created,
-- and that must not be created twice. A list that is read a delay later shows all that was there at the first reading.
-- `read` returns what `creates` takes, or nil and an error.
local function read_until_sure(self, read, creates)
  local found, err = read()
  if not found then return nil, err end
  if not creates(found) or delay_of(self) == 0 then return found end
  self.client:sleep(delay_of(self))
  return read()
end

local function has_creation(steps)
  for _, step in ipairs(steps) do
    if step.what:find "^create_" then return true end
  end
  return false
end

----------------------------------------------------------------------------------------------------------- planning

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

local function failure(outcome, operation, message, hint)
  return errors.new { kind = "workflow", outcome = outcome, phase = "fleet", operation = operation, message = message,
    hint = hint }
end

local function unsaid(problem) return failure("not_sent", nil, problem, "make the vault readable, and run it again") end

local function read_plan(self)
  local found, err = find_accounts(self)
  if not found then return nil, err end
  local plan = setmetatable({ steps = {}, orphans = {}, unmanaged = {}, warnings = {}, changes = 0 }, Plan)
  for _, account in ipairs(self.accounts) do
    local there, keys = found[account.name], {}
    if there and not there.isFreeze then
      keys, err = api(self):list_api_keys { subAccount = account.name }
      if not keys then return nil, err end
    end
    local problem = diff.account(plan, account, there, keys, self.vault.holds)
    if problem then return nil, unsaid(problem) end
  end
  for _, step in ipairs(plan.steps) do
    if not step.repeats then plan.changes = plan.changes + 1 end
  end
  return plan
end

--- The steps that make it as declared. `steps`, `orphans` (keys whose secret was lost; only where the vault knows),
--- `unmanaged` (keys that are not declared: they stay), `warnings`, and `changes`: how many steps are not mere repeats.
--- When something is missing, it reads twice, the client's `visibility_delay_ms` apart.
---@return purser.FleetPlan|nil plan, purser.Error|nil err
function Fleet:plan()
  return read_until_sure(self, function() return read_plan(self) end,
    function(plan) return has_creation(plan.steps) end)
end

--- Keys of this fleet whose secret was lost: { account, note, apiKey } each.
---@return purser.FleetKey[]|nil orphans, purser.Error|nil err
function Fleet:orphans()
  if not self.vault.holds then
    return nil, errors.config("the vault does not know which secrets it has", "give it `holds`", "vault")
  end
  local plan, err = self:plan()
  return plan and plan.orphans, err
end

--------------------------------------------------------------------------------------------------------- the steps

local steps = {}

local NO_SUCH_KEY = "730706" -- it is gone already, or its name is shown in another way than the service takes it

-- Makes a write call, and once more where it was certainly not executed. What a list lacks may exist all the same, be
-- listed late, or be shown in another way, so client:reconcile finds out about a lost answer. Returns the result, or
-- the record that shows it, {} where there is none; or nil and an error.
---@param what string  what is to happen, in words
local function make(self, name, params, what, again)
  local result, err = api(self)[name](api(self), params)
  if result or err.outcome ~= "unknown" and err.code ~= NO_SUCH_KEY then return result, err end
  local intent = err.intent or { operation = ("%s.%s"):format(self.group, name), params = params,
    sent_at = self.client:now() }
  local answer, problem = self.client:reconcile(intent)
  if not answer or answer.outcome == "undecided" then
    return nil, failure("unknown", intent.operation, ("it is not known whether %s: %s"):format(what,
      answer and answer.reason or problem.message), "look for it, then run it again")
  end
  if answer.outcome == "done" then return answer.record or {} end
  if not again then return make(self, name, params, what, true) end
  return nil, failure("rejected", intent.operation, ("it did not happen that %s: %s"):format(what, err.message))
end

function steps.create_account(self, step)
  return make(self, "create_sub_account", { subAccount = step.account, note = step.note or step.account },
    ("the account %s was made"):format(step.account))
end

function steps.enable_futures(self, step)
  return api(self):enable_futures { subAccount = step.account }
end

function steps.delete_key(self, step)
  return make(self, "delete_api_key", { subAccount = step.account, apiKey = step.apiKey },
    ("the key of %s was deleted"):format(step.account))
end

-- Gives the secret to the vault. Returns nil, or what went wrong; whatever the vault says of it is not repeated, for it
-- may quote the secret.
local function store(self, step, key)
  local ok, kept, problem = pcall(self.vault.store, {
    account = step.account, note = step.key.note, apiKey = key.apiKey, secretKey = key.secretKey,
    permissions = key.permissions, ip = key.ip,
  })
  if ok and (kept or kept == nil and problem == nil) then return nil end
  return ok and "the vault did not take the secret" or "the vault raised an error"
end

function steps.create_key(self, step, again)
  local mark, wrong = core.random_token(8)
  if not mark then return nil, errors.config("no random text could be made: " .. tostring(wrong)) end
  local note = ("%s #%s"):format(step.key.note, mark)
  local key, err = make(self, "create_api_key", { subAccount = step.account, note = note,
    permissions = step.key.permissions, ip = step.key.ip }, ("the key %q of %s was made"):format(note, step.account))
  if not key then return nil, err end
  local message = key.secretKey and store(self, step, key)
  step.apiKey = key.apiKey
  if key.secretKey and not message then return true end
  local gone, problem = steps.delete_key(self, { account = step.account, apiKey = key.apiKey })
  if message then
    return nil, failure(gone and "rejected" or "unknown", nil, ("%s; the new key %s of %s %s"):format(message,
      key.apiKey, step.account, gone and "was deleted" or "could not be deleted"))
  end
  if not gone then return nil, problem end -- its answer was lost, and with it its secret
  if again then
    return nil, failure("rejected", nil, "no answer showed the secret of a key that was made; the key was deleted")
  end
  return steps.create_key(self, step, true)
end

local function public(step)
  return { what = step.what, account = step.account, note = step.note, apiKey = step.apiKey, why = step.why }
end

-- Does the steps in order. Returns those that were done; or nil and an error with `details.done`.
local function execute(self, list)
  local done = {}
  for _, step in ipairs(list) do
    local ok, err = steps[step.what](self, step)
    if not ok then
      err.details = { done = done, step = public(step) }
      return nil, err
    end
    done[#done + 1] = public(step)
  end
  return done
end

local function text_of(plan)
  local lines = { tostring(plan) }
  for i, step in ipairs(plan.steps) do lines[i + 1] = step.apiKey or "" end
  return table.concat(lines, "\n")
end

--- Makes it as declared. Returns the steps that were done; or nil and an error whose `details` are `done` and `step`.
--- Nothing is undone: the next apply continues, because it plans by what is there.
---@param shown purser.FleetPlan|nil  nothing is done where other steps are due by now than a person saw
---@return purser.FleetStep[]|nil done, purser.Error|nil err
function Fleet:apply(shown)
  local plan, err = self:plan()
  if not plan then return nil, err end
  if shown and text_of(shown) ~= text_of(plan) then
    return nil, failure("not_sent", nil, "other steps are due than were shown; nothing was done", "plan it again")
  end
  return execute(self, plan.steps)
end

------------------------------------------------------------------------------------------------------------ rotation

local function check_options(given, rules)
  return errors.option(option_schema.check(given, rules, "option"))
end

local rotate_rules = { account = "string", note = "string", max_age_ms = { 0 }, ends_within_ms = { 0 } }
local retire_rules = { account = "string", note = "string", overlap_ms = { 0 } }

-- The same, and the account that is named must be one of the fleet: "nothing to do" would look like done.
local function check_choice(self, given, rules)
  local err, found = check_options(given, rules), not given.account
  for _, account in ipairs(self.accounts) do found = found or account.name == given.account end
  return err or not found and errors.option(("%s is no account of this fleet"):format(given.account), "account",
    "give the name of one") or nil
end

-- Calls `visit(account, declared key, live keys)` for the keys that `given.account` and `given.note` select.
local function each_declared(self, given, visit)
  for _, account in ipairs(self.accounts) do
    if not given.account or given.account == account.name then
      local keys, err = api(self):list_api_keys { subAccount = account.name }
      if not keys then return err end
      local sorted, problem = diff.sort_out(account, keys, self.vault.holds)
      if not sorted then return unsaid(problem) end
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

--- Makes a second key next to each that is older than `max_age_ms` (0: all), or ends within `ends_within_ms` (as the
--- service has it on record where the profile has `live_operations`, else because it has no IP list), or those of one
--- `account` and `note`. The old ones stay until retire(). A key that has a younger one already is left alone, so that
--- it can be continued.
---@param given { account: string|nil, note: string|nil, max_age_ms: integer|nil, ends_within_ms: integer|nil }|nil
---@return purser.FleetStep[]|nil done, purser.Error|nil err
function Fleet:rotate(given)
  given = given or {}
  local err = check_choice(self, given, rotate_rules)
  if err then return nil, err end
  local list
  list, err = read_until_sure(self, function() return read_rotation(self, given) end, has_creation)
  if not list then return nil, err end
  return execute(self, list)
end

--- Deletes every key that has a younger one of its note, once the younger is `overlap_ms` old (default: a day).
---@param given { account: string|nil, note: string|nil, overlap_ms: integer|nil }|nil
---@return purser.FleetStep[]|nil done, purser.Error|nil err
function Fleet:retire(given)
  given = given or {}
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
  return execute(self, list)
end

------------------------------------------------------------------------------------------------------------ balances

local function names_of(self)
  local names = {}
  for i, account in ipairs(self.accounts) do names[i] = account.name end
  return names
end

---@class purser.FleetSweep
---@field to "parent"
---@field name string
---@field leave purser.amount|table<string, purser.amount>|nil
---@field assets string[]|nil

--- Returns the payments that bring the spot balances of the fleet to the parent: `leave` (a decimal, or one by asset)
--- stays in each account, `assets` limits the list. Give them to payouts:plan. Their keys begin with `name`.
---@param given purser.FleetSweep
---@return purser.PlannedPayment[]|nil payments, purser.Error|nil err
function Fleet:sweep(given)
  return transfers.sweep(self.client, self.group, names_of(self), given)
end

--- Returns the payments that bring an `asset` from the parent to the fleet: `amounts` by account name, or `each` for
--- all. Give them to payouts:plan. Their keys begin with `name`: under it nothing is moved twice.
---@param given { asset: string, name: string, amounts: table<string, purser.amount>|nil, each: purser.amount|nil }
---@return purser.PlannedPayment[]|nil payments, purser.Error|nil err
function Fleet:distribute(given)
  return transfers.distribute(self.group, names_of(self), given)
end

views.check_colon(Fleet, "fleet")

return M
