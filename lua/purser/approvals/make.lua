-- SPDX-License-Identifier: MIT
-- Makes plans, and brings plans and signatures to the payer.

local approval_rows = require "purser.write.guard.approval_rows"
local approved = require "purser.write.guard.approved"
local errors = require "purser.call.errors"
local files = require "purser.util.files"
local option_schema = require "purser.util.option_schema"
local payouts = require "purser.payouts"
local plan_text = require "purser.write.guard.plan_text"
local policy = require "purser.write.guard.policy"
local policy_chain = require "purser.write.guard.policy_chain"
local rules = require "purser.write.guard.rules"
local suggest = require "purser.util.suggest"
local utc = require "purser.util.utc"

local M = {}

local DAY = 86400000

local function bad(code, message)
  local err = message and errors.argument(nil, message) or approved.error(code)
  err.code = "approval." .. code
  return nil, err
end

-- Where a client's calls go, as a plan names it; nil where it is no client.
local function base_url_of(client)
  local request = type(client) == "table" and type(client.prepare) == "function" and client:prepare "ping"
  return request and request.url:match "^(.-)/api/v3/ping"
end

---@class purser.PayerOptions
---@field client purser.Client    the payer's
---@field journal purser.Journal
---@field policy string           its folder

local payer_rules = { client = "table", journal = "table", policy = "string", plan = "string", signatures = "table" }

-- What decides at the payer, as its client has it; or nil and an error.
local function payer_of(options, name)
  local message, option, hint = option_schema.check(options, payer_rules, "option of approvals." .. name)
  local base_url = not message and base_url_of(options.client)
  if not message and not base_url then message, option = ("approvals.%s has no client"):format(name), "client" end
  if message then return nil, errors.option(message, option, hint) end
  local own
  own, message, hint = approved.new({ policy = options.policy or "", account = options.client:account(),
    journal = options.journal }, base_url)
  if not own then return nil, errors.argument(nil, message, hint) end
  return own
end

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

--- Writes a plan; see purser.approvals.
function M.plan(options)
  local message, name, hint = option_schema.check(options, plan_rules, "option of approvals.plan")
  local base_url = not message and base_url_of(options.client)
  if not message and not base_url then message, name = "approvals.plan has no client", "client" end
  if message then return nil, errors.option(message, name, hint) end
  local account = options.client:account()
  local chain, problem = policy_chain.open(options.policy or "", account)
  if not chain then return bad("policy", problem) end
  if not options.journal_id then
    return bad("journal", "the plan needs the id of the payer's journal (journal:id())")
  end
  local queue = options.queue or "default"
  local rows = {}
  for i, each in ipairs(options.payments or {}) do
    local params, err = payouts.params(account, queue, each.key, each.operation, each.params)
    if not params then return nil, err end
    rows[i] = { key = each.key, operation = each.operation, params = params, payee = each.payee }
  end
  local text
  text, problem = plan_text.write({ account = account, queue = queue, journal = options.journal_id,
    maker = options.maker or "", base_url = base_url,
    policy = ("%d %s"):format(chain.latest.version, chain.latest.digest),
    not_after = options.until_day or utc.text(options.client:now() + chain.latest.plan_days * DAY):sub(1, 10) }, rows)
  if not text then return bad("changed", "the plan cannot be written: " .. problem) end
  return text
end

---@class purser.Verified
---@field plan purser.SignedPlan
---@field signed string[]        persons whose approval counts
---@field withdrawn string|nil   who withdrew it
---@field made_by string|nil     the maker, where the signature says so
---@field problems { code: string, person: string|nil }[]  signatures that count for nothing
---@field added boolean|nil      whether anything was new

local function verified(plan, chain, signatures, known)
  local signers = approved.signers(plan.head, chain,
    approved.statements(function() return plan.text end, signatures, known or {}))
  return { plan = plan, signed = suggest.names_of(signers.signed), withdrawn = signers.withdrawn,
    made_by = signers.maker, problems = signers.problems, set = signers.signed }
end

--- Who signed a plan; see purser.approvals.
function M.verify(text, signatures, folder)
  local plan, message = plan_text.read(text)
  if not plan then return bad("changed", message) end
  local chain
  chain, message = policy_chain.open(folder, plan.head.account)
  if not chain or not approved.names_policy(plan, chain) then return bad("policy", message) end
  return verified(plan, chain, signatures)
end

-- What an account may pay at no time with any signature: the rule that forbids it, or nil. What only time or a sum
-- forbids is left to the sending.
local function forbidden(chain, row, queue, now)
  local call = rules.call(row.operation, row.params)
  call.now, call.queue, call.signed, call.maker = now, queue, {}, nil
  function call.sum() return nil end
  for _, rule in ipairs(chain.latest.rules) do
    local waits = rule.when.days or rule.when.hours or rule.when.sum_over
    for _, conditions in ipairs(rule.unless) do waits = waits or next(conditions) end
    if rule.effect == "forbid" and not waits and rules.matches(rule, call, chain.latest) then return rule.name end
  end
end

-- Why a plan is not for this payer; nil where it is.
local function misfit(own, plan, now)
  local code = approved.misplaced(plan, { account = own.account, journal = own.journal_id, base_url = own.base_url })
    or now >= plan.ends and "expired" or not approved.names_policy(plan, own.chain) and "policy"
  if code then return code end
  if plan.head.queue == "" and #plan.rows ~= 1 then return "queue" end
  for _, row in ipairs(plan.rows) do
    local rule = forbidden(own.chain, row, plan.head.queue, now)
    if rule then return "rule", ('the policy forbids row "%s": %s'):format(row.key, rule) end
  end
end

---@class purser.AddOptions: purser.PayerOptions
---@field plan string             the text
---@field signatures string[]|nil

-- The rows as payments of their queue: what the queue has already stays.
local function add_payments(client, journal, plan)
  if plan.head.queue == "" then return true end
  local queue, err = payouts.new { client = client, journal = journal, queue = plan.head.queue, worker = "approvals" }
  if not queue then return nil, err end
  return queue:add_all(plan.rows)
end

--- Brings a plan to the payer; see purser.approvals.
function M.add(options)
  local own, problem = payer_of(options, "add")
  if not own then return nil, problem end
  local journal = options.journal
  local plan, message = plan_text.read(options.plan or "")
  if not plan then return bad("changed", message) end
  local code
  code, message = misfit(own, plan, options.client:now())
  if code then return bad(code, message) end
  local known, signatures = {}, options.signatures or {}
  local result = verified(plan, own.chain, signatures, known)
  for _, each in ipairs(result.problems) do -- what is of no use to anybody is not kept
    if each.code == "signature" or each.code == "stranger" then return bad(each.code) end
  end
  local counts, err = add_payments(options.client, journal, plan)
  if not counts then return nil, err end
  local all
  all, message = journal.db:transaction(function(tx)
    approval_rows.lock(tx)
    local added = approval_rows.add_plan(tx, plan)
    for _, armoured in ipairs(signatures) do
      local kind, key = known[armoured].kind, known[armoured].key
      added = approval_rows.add_statement(tx, plan.digest, plan_text.digest(armoured), kind,
        own.chain.latest.by_key[key] or own.chain.ever[key], armoured) or added
    end
    return { added = added, statements = approval_rows.statements(tx, plan.digest) }
  end)
  if not all then return bad("journal", "the journal cannot be written: " .. tostring(message)) end
  result = verified(plan, own.chain, all.statements, known)
  result.added = all.added
  return result
end

--- What a signature is of; see purser.approvals.
function M.kind(text, armoured)
  local statement, code = approved.statement_of(text, armoured)
  if not statement then return bad(code) end
  return statement.kind
end

---@class purser.InstallOptions
---@field policy string            the folder
---@field account string
---@field text string              of the new version
---@field signatures string[]

--- Installs a version of a policy; see purser.approvals.
function M.install(options)
  local new, message = policy.read(options.text)
  if not new then return bad("policy", message) end
  local at, chain = ("%s/%d"):format(options.policy, new.version), nil
  if new.version > 1 then chain, message = policy_chain.open(options.policy, options.account) end
  if new.version > 1 and not chain then return bad("policy", message) end
  if new.account ~= options.account then return bad "account" end
  if files.read(at .. ".json") then return bad("policy", at .. ".json is there already") end
  local signatures = table.concat(options.signatures)
  message = policy_chain.problem(new, chain and chain.latest, signatures)
  if message then return bad("policy", message) end
  local ok
  ok, message = files.replace(at .. ".sigs", signatures)
  if ok then ok, message = files.replace(at .. ".json", options.text) end
  if not ok then return bad("policy", message) end
  return new.version
end

---@class purser.PlanStatus: purser.Verified
---@field expired boolean
---@field unmet table<string, integer>  rows that wait, by rule and what it asks for
---@field rows integer

-- How many rows wait for which rule.
local function unmet_of(own, plan, result, now)
  local found = {}
  for _, row in ipairs(plan.rows) do
    local call = rules.call(row.operation, row.params)
    call.now, call.queue, call.signed, call.maker = now, plan.head.queue, result.set, result.made_by
    function call.sum() return nil end
    local decision = rules.decide(own.chain.latest, call)
    for i, name in ipairs(decision.ok and {} or decision.unmet) do
      local text = name .. ": " .. approved.places_text(decision.asked[i])
      found[text] = (found[text] or 0) + 1
    end
  end
  return found
end

--- The plans of the client's account; see purser.approvals.
function M.status(options)
  local own, problem = payer_of(options, "status")
  if not own then return nil, problem end
  local now = options.client:now()
  local stored, message = options.journal.db:transaction(function(tx)
    local list = tx:rows("SELECT digest, text FROM purser_plans WHERE account = $1 ORDER BY added_at DESC, digest",
      own.account)
    for _, row in ipairs(list) do row.statements = approval_rows.statements(tx, row.digest) end
    return list
  end)
  if not stored then return bad("journal", tostring(message)) end
  local plans = {}
  for _, row in ipairs(stored) do
    local plan = plan_text.read(row.text)
    if plan and plan.digest == row.digest then
      local result = verified(plan, own.chain, row.statements)
      result.expired, result.rows = now >= plan.ends, #plan.rows
      result.unmet = unmet_of(own, plan, result, now)
      plans[#plans + 1] = result
    end
  end
  return plans
end

return M
