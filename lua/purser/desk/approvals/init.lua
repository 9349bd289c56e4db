-- SPDX-License-Identifier: MIT
--- Approvals: plans that persons sign, and the policy that names the persons. See docs/desk/approvals.md.
---
---     local text = assert(purser.approvals.plan { client = client, policy = folder, queue = "june",
---       journal_id = assert(journal:id()), payments = list, maker = "carol" })
---     print(purser.approvals.show(text)) -- what the signers read
---     assert(purser.approvals.add { client = payer, plan = text, signatures = { alice, bob } })
---
--- The payer's client has the option `policy`, and checks each call right before sending.

local approval_rows = require "purser.desk.approvals.approval_rows"
local check = require "purser.desk.approvals.check"
local errors = require "purser.client.call.errors"
local option_schema = require "purser.client.util.option_schema"
local payouts = require "purser.desk.payouts"
local plan_text = require "purser.desk.approvals.plan_text"
local planned = require "purser.write.planned"
local policy_chain = require "purser.desk.approvals.policy_chain"
local review = require "purser.desk.approvals.review"
local signers = require "purser.desk.approvals.signers"
local try = require "purser.desk.approvals.try"

---@class purser.modules.approvals
local M = {}

local function client_of(options, known, name)
  local message, option, hint = option_schema.check(options, known, "option of approvals." .. name)
  local err = errors.option(message, option, hint) or errors.no_client(options.client, "approvals." .. name)
  return not err and options.client or nil, err
end

local function plans_of(options, known, name)
  local client, err = client_of(options, known, name)
  local plans = client and client:plans()
  return plans, not plans and (err or errors.option("the client of approvals." .. name .. " has no policy", "client",
    'give it the options journal, account and policy = "FOLDER"')) or nil
end

---@class purser.PlanOptions
---@field client purser.Client     of the plan's account and service
---@field payments { key: string, operation: string, params: table, payee: string|nil, word: string|nil }[]
---@field maker string             a person, who does not approve the plan
---@field queue string|nil         Default: "default"
---@field policy string            the policy's folder
---@field journal_id string        of the payer's journal: journal:id()
---@field journal purser.Journal|nil  the payer's: payments that a person said were not made get that word
---@field until_day string|nil     the last day, such as 2026-11-30. Default: today and the policy's plan_days

local plan_rules = { client = "table", payments = "table", maker = "string", queue = "string", policy = "string",
  journal_id = "string", journal = "table", until_day = "string" }

-- Writes into rows the words by which payments may be made again. Returns nil; or an error.
local function name_words(journal, queue, rows)
  return select(2, planned.within(journal, function(tx)
    for _, row in ipairs(rows) do
      local call = approval_rows.call_of(tx, queue, row.key)
      row.word = row.word or planned.standing_word(tx, call)
    end
    return true
  end, true))
end

--- Writes the plan of a list of payments. Returns its text; or nil and an error.
---@param options purser.PlanOptions
---@return string|nil text, purser.Error|nil err
function M.plan(options)
  local client, err = client_of(options, plan_rules, "plan")
  if not client then return nil, err end
  local settings, queue = client:settings(), options.queue or "default"
  local account = settings.account
  local chain, problem = policy_chain.open(options.policy or "", account)
  if not chain then return signers.refuse("policy", problem) end
  if not (options.journal_id or ""):find("^" .. ("%w"):rep(24) .. "$") then
    return signers.refuse("journal", "the plan needs the id of the payer's journal, 24 letters and digits (journal:id)")
  end
  local rows = {}
  for i, each in ipairs(options.payments or {}) do
    if type(each) ~= "table" then
      return nil, errors.argument("payments", ("payment %d of the list is a %s"):format(i, type(each)))
    end
    local params, wrong = payouts.params(account, queue, each.key, each.operation, each.params)
    if not params then return nil, wrong end
    rows[i] = { key = each.key, operation = each.operation, params = params, payee = each.payee, word = each.word }
  end
  if options.journal then err = name_words(options.journal, queue, rows) end
  if err then return nil, err end
  local text
  text, problem = signers.write({ account = account, journal_id = options.journal_id, chain = chain,
    base_url = settings.base_url }, queue, options.maker or "", rows, client:now(), options.until_day)
  if not text then return signers.refuse("changed", "the plan cannot be written: " .. problem) end
  return text
end

--- Returns the review of a plan, odd rows first; or nil and an error.
---@type fun(text: string, options: purser.ReviewOptions|nil): string|nil, purser.Error|nil
M.show = review.show

--- Returns who signed a plan, and what the signatures are worth under a policy; or nil and an error.
---@param text string
---@param signatures string[]  as `ssh-keygen -Y sign` writes them
---@param folder string        of the policy
---@return purser.Verified|nil verified, purser.Error|nil err
function M.verify(text, signatures, folder)
  if not option_schema.matches(signatures, option_schema.TEXTS) then
    return nil, errors.argument("signatures", "the signatures are no plain list of texts")
  end
  local plan, message = plan_text.read(text)
  if not plan then return signers.refuse("changed", message) end
  local chain
  chain, message = policy_chain.open(folder, plan.head.account)
  if not chain or not signers.names_policy(plan, chain) then return signers.refuse("policy", message) end
  return signers.verified(plan, chain, signatures)
end

---@class purser.PayerOptions
---@field client purser.Client    the payer's, with a policy

---@class purser.AddOptions: purser.PayerOptions
---@field plan string             the text
---@field signatures string[]|nil

--- Gives a payer a plan and signatures (or withdrawals); known ones stay. Returns what all signatures are worth; or nil
--- and an error, and nothing is added.
---@param options purser.AddOptions
---@return purser.Verified|nil verified, purser.Error|nil err
function M.add(options)
  local plans, err = plans_of(options, { client = "table", plan = "string", signatures = option_schema.TEXTS }, "add")
  if not plans then return nil, err end
  return plans:add(options.plan or "", options.signatures or {}, options.client:now(), function(plan)
    local queue, problem = payouts.new { client = options.client, journal = plans:journal(), queue = plan.head.queue,
      worker = "approvals" }
    if not queue then return nil, problem end
    return queue:add_all(plan.rows) -- what the queue has already stays
  end)
end

--- Returns an account's plans, newest first: who signed each, and what lacks; or nil and an error.
---@param options purser.PayerOptions
---@return purser.PlanStatus[]|nil plans, purser.Error|nil err
function M.status(options)
  local plans, err = plans_of(options, { client = "table" }, "status")
  if not plans then return nil, err end
  local list, message = plans:stored(options.client:now())
  if not list then return signers.refuse("journal", tostring(message)) end
  return list
end

--- Returns what is odd about a policy, and what the policy loosens against another; or nil and an error.
---@type fun(text: string, against: string|nil): purser.PolicyFindings|nil, purser.Error|nil
M.check = check.check

--- Runs a policy over past payments. Returns the figures; or nil and an error.
---@type fun(options: purser.TryOptions): purser.Trial|nil, purser.Error|nil
M.try = try.run

return M
