-- SPDX-License-Identifier: MIT
--- Approvals: plans that persons sign, and the policy that says who has to. See docs/approvals.md.
---
---     local text = assert(purser.approvals.plan { client = client, policy = folder, queue = "june",
---       journal_id = assert(journal:id()), payments = list, maker = "carol" })
---     print(purser.approvals.show(text)) -- what the signers read
---     assert(purser.approvals.add { client = payer, plan = text, signatures = { alice, bob } })
---
--- The payer's client has the option `policy`. It checks each call right before it is sent.

local check = require "purser.approvals.check"
local errors = require "purser.call.errors"
local names_of = require "purser.util.names_of"
local option_schema = require "purser.util.option_schema"
local payouts = require "purser.payouts"
local plan_text = require "purser.signed.plan_text"
local policy_chain = require "purser.signed.policy_chain"
local review = require "purser.approvals.review"
local rules = require "purser.signed.rules"
local signers = require "purser.signed.signers"
local try = require "purser.approvals.try"
local utc = require "purser.util.utc"

---@class purser.modules.approvals
local M = {}

local DAY = 86400000

local function bad(code, message)
  local err = message and errors.argument(nil, message) or signers.error(code)
  err.code = "approval." .. code
  return nil, err
end

-- Returns the client among these options; or nil and an error.
local function client_of(options, known, name)
  local message, option, hint = option_schema.check(options, known, "option of approvals." .. name)
  local client = not message and options.client
  if not message and not (client and client.settings) then
    message, option = ("approvals.%s has no client"):format(name), "client"
  end
  if message then return nil, errors.option(message, option, hint) end
  return client
end

-- Returns the plans that a payer's client has, and which payer that is, with its policy; or nil and an error.
local function plans_of(options, known, name)
  local client, err = client_of(options, known, name)
  if not client then return nil, err end
  local plans = client:plans()
  if not plans then
    return nil, errors.option("the client of approvals." .. name .. " has no policy", "client",
      'give it the options journal, account and policy = "FOLDER"')
  end
  local payer = plans:payer()
  local chain, message = policy_chain.open(payer.policy, payer.account)
  if not chain then return bad("policy", message) end
  payer.chain = chain
  return plans, payer
end

----------------------------------------------------------------------------------------------------------- the plan

---@class purser.PlanOptions
---@field client purser.Client     whose account and service the plan is for
---@field payments { key: string, operation: string, params: table, payee: string|nil }[]
---@field maker string             who makes it; the maker does not approve it
---@field queue string|nil         Default: "default"
---@field policy string            its folder
---@field journal_id string        of the payer's journal: journal:id()
---@field until_day string|nil     the last day, such as 2026-11-30. Default: today and the policy's plan_days

local plan_rules = { client = "table", payments = "table", maker = "string", queue = "string", policy = "string",
  journal_id = "string", until_day = "string" }

--- Writes the plan of a list of payments. Returns its text; or nil and an error.
---@param options purser.PlanOptions
---@return string|nil text, purser.Error|nil err
function M.plan(options)
  local client, err = client_of(options, plan_rules, "plan")
  if not client then return nil, err end
  local settings, queue = client:settings(), options.queue or "default"
  local account = settings.account
  local chain, problem = policy_chain.open(options.policy or "", account)
  if not chain then return bad("policy", problem) end
  if not options.journal_id then
    return bad("journal", "the plan needs the id of the payer's journal (journal:id())")
  end
  local rows = {}
  for i, each in ipairs(options.payments or {}) do
    if type(each) ~= "table" then
      return nil, errors.argument("payments", ("payment %d of the list is a %s"):format(i, type(each)))
    end
    local params
    params, err = payouts.params(account, queue, each.key, each.operation, each.params)
    if not params then return nil, err end
    rows[i] = { key = each.key, operation = each.operation, params = params, payee = each.payee }
  end
  local text
  text, problem = plan_text.write({ account = account, queue = queue, journal = options.journal_id,
    maker = options.maker or "", base_url = settings.base_url,
    policy = ("%d %s"):format(chain.latest.version, chain.latest.digest),
    not_after = options.until_day or utc.text(client:now() + chain.latest.plan_days * DAY):sub(1, 10) }, rows)
  if not text then return bad("changed", "the plan cannot be written: " .. problem) end
  return text
end

--- Returns the review of a plan, what is odd first; or nil and an error.
---@param text string
---@param options purser.ReviewOptions|nil
---@return string|nil review, purser.Error|nil err
function M.show(text, options) return review.show(text, options) end

------------------------------------------------------------------------------------------------------ the signatures

---@class purser.Verified
---@field plan purser.SignedPlan
---@field signed string[]        persons whose approval counts
---@field withdrawn string|nil   who withdrew it
---@field made_by string|nil     the maker, where the signature says so
---@field problems { code: string, person: string|nil }[]  signatures that count for nothing
---@field added boolean|nil      whether anything was new

local function verified(plan, chain, signatures)
  local statements = {}
  for i, armoured in ipairs(signatures) do statements[i] = signers.statement(plan.text, armoured) end
  local found = signers.of(plan.head, chain, statements)
  return { plan = plan, signed = names_of(found.signed), withdrawn = found.withdrawn, made_by = found.maker,
    problems = found.problems }
end

--- Returns who signed a plan, and what that is worth under a policy; or nil and an error.
---@param text string
---@param signatures string[]  as `ssh-keygen -Y sign` writes them
---@param folder string        of the policy
---@return purser.Verified|nil verified, purser.Error|nil err
function M.verify(text, signatures, folder)
  if not option_schema.matches(signatures, option_schema.TEXTS) then
    return nil, errors.argument("signatures", "the signatures are no plain list of texts")
  end
  local plan, message = plan_text.read(text)
  if not plan then return bad("changed", message) end
  local chain
  chain, message = policy_chain.open(folder, plan.head.account)
  if not chain or not signers.names_policy(plan, chain) then return bad("policy", message) end
  return verified(plan, chain, signatures)
end

----------------------------------------------------------------------------------------------------------- the payer

-- Returns the rule that forbids a row at all times and with any signature, or nil. What only time or a sum forbids is
-- left to the sending.
local function forbidden(chain, row, queue, now)
  local call = rules.call(row.operation, row.params)
  call.now, call.queue = now, queue
  for _, rule in ipairs(chain.latest.rules) do
    local waits = rule.when.days or rule.when.hours or rule.when.sum_over
    for _, conditions in ipairs(rule.unless) do waits = waits or next(conditions) end
    if rule.effect == "forbid" and not waits and rules.matches(rule, call, chain.latest) then return rule.name end
  end
end

-- Returns why a plan is not for this payer, as a code and perhaps a message; nil where it is.
local function misfit(payer, plan, now)
  local code = signers.misfit(plan, payer, nil, now) or plan.head.queue == "" and #plan.rows ~= 1 and "queue"
  if code then return code end
  for _, row in ipairs(plan.rows) do
    local rule = forbidden(payer.chain, row, plan.head.queue, now)
    if rule then return "rule", ('the policy forbids row "%s": %s'):format(row.key, rule) end
  end
end

---@class purser.PayerOptions
---@field client purser.Client    the payer's, with a policy

---@class purser.AddOptions: purser.PayerOptions
---@field plan string             the text
---@field signatures string[]|nil

--- Gives a payer a plan and signatures on it, also withdrawals; what it had already stays. Returns what is known of the
--- plan then; or nil and an error, and then no plan is added.
---@param options purser.AddOptions
---@return purser.Verified|nil verified, purser.Error|nil err
function M.add(options)
  local plans, payer = plans_of(options, { client = "table", plan = "string", signatures = option_schema.TEXTS }, "add")
  if not plans then return nil, payer end
  local plan, message = plan_text.read(options.plan or "")
  if not plan then return bad("changed", message) end
  local signatures = options.signatures or {}
  local code, why = misfit(payer, plan, options.client:now())
  if code then return bad(code, why) end
  for _, each in ipairs(verified(plan, payer.chain, signatures).problems) do -- what is of no use to anybody is not kept
    if each.code == "signature" or each.code == "stranger" then return bad(each.code) end
  end
  if plan.head.queue ~= "" then
    local queue, err = payouts.new { client = options.client, journal = payer.journal, queue = plan.head.queue,
      worker = "approvals" }
    local counts = queue
    if queue then counts, err = queue:add_all(plan.rows) end -- what the queue has already stays
    if not counts then return nil, err end
  end
  local added
  added, message = plans:keep(plan, signatures)
  if not added then return bad("journal", "the journal cannot be written: " .. tostring(message)) end
  local result = verified(plan, payer.chain, added.signatures)
  result.added = added.is_new
  return result
end

---@class purser.PlanStatus: purser.Verified
---@field expired boolean
---@field unmet table<string, integer>  rows that would not be sent now, by the reason
---@field rows integer

--- Returns the plans of an account, newest first: who signed each, and what it lacks; or nil and an error.
---@param options purser.PayerOptions
---@return purser.PlanStatus[]|nil plans, purser.Error|nil err
function M.status(options)
  local kept, payer = plans_of(options, { client = "table" }, "status")
  if not kept then return nil, payer end
  local now, plans = options.client:now(), {}
  local stored, message = kept:stored(now)
  if not stored then return bad("journal", tostring(message)) end
  for i, each in ipairs(stored) do
    plans[i] = verified(each.plan, payer.chain, each.signatures)
    plans[i].expired, plans[i].rows, plans[i].unmet = now >= each.plan.ends, #each.plan.rows, each.unmet
  end
  return plans
end

---------------------------------------------------------------------------------------------------------- the policy

--- Returns what is odd about a policy (rules that never match, places nobody can fill) and what it loosens against
--- another; or nil and an error.
---@param text string      of the policy
---@param against string|nil  of another one
---@return purser.PolicyFindings|nil findings, purser.Error|nil err
function M.check(text, against) return check.check(text, against) end

--- Runs a policy over what was really paid. Returns the figures; or nil and an error.
---@param options purser.TryOptions
---@return purser.Trial|nil trial, purser.Error|nil err
function M.try(options) return try.run(options) end

return M
