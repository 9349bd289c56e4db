-- SPDX-License-Identifier: MIT
-- Checks a call right before sending: the call, as it travels, is in a plan that today's policy accepts, or the policy
-- asks nobody. The check stands in the transaction that records the call, so the first commit holds: a withdrawal or a
-- new policy stops every later call. A process verifies each plan and signature once.

local approval_rows = require "purser.desk.approvals.approval_rows"
local core = require "purser.core"
local lists = require "purser.desk.approvals.lists"
local names_of = require "purser.client.util.names_of"
local operations = require "purser.client.operations"
local plan_text = require "purser.desk.approvals.plan_text"
local planned = require "purser.write.planned"
local policy_chain = require "purser.desk.approvals.policy_chain"
local rules = require "purser.desk.approvals.rules"
local signers = require "purser.desk.approvals.signers"

-- Has folder, account, base_url, host, chain, kept_in (a journal), plans (verified, by digest), sent_before (the first
-- policy), book and coins (lists of the service, if read) and read_at (monotonic times of the lists).
---@class purser.PlansKept
---@field journal_id string
local Approved = { __name = "purser.plans" }
Approved.__index = Approved

---@class purser.ApprovedGate  belongs to a client: users hold `kept` alone
local Gate = {}
Gate.__index = Gate

local M = {}

local concat, format = table.concat, string.format

local DAY, SLACK_MS = 86400000, 60000

-- Returns a plan as signed; one without rows where the text is another.
local function load_plan(tx, digest)
  local text = approval_rows.plan_text(tx, digest)
  local plan = text and plan_text.read(text)
  if not plan or plan.digest ~= digest then return { rows = {}, by_key = {} } end
  plan.statements = {} -- what its signatures say, by their digests
  return plan
end

-- Returns what the signatures on a plan say; new signatures are read and checked. Returns nil and a message where one
-- cannot be judged, as it may withdraw the plan; a failure is not remembered.
local function statements_of(tx, plan, ids)
  local list = {}
  for i, id in ipairs(ids) do
    if not plan.statements[id] then
      for _, armoured in ipairs(approval_rows.signatures(tx, plan.digest)) do
        local digest = plan_text.digest(armoured)
        local statement, message = plan.statements[digest], nil
        if not statement then statement, message = signers.statement(plan.text, armoured) end
        if not statement then return nil, message end
        plan.statements[digest] = statement
      end
    end
    if not plan.statements[id] then return nil, "the signature " .. id .. " is not as it was added to the journal" end
    list[i] = plan.statements[id]
  end
  return list
end

-- Returns the plan of a single call with a key; nil for any other call.
local function plan_of(self, call)
  return call.queue == "" and call.key ~= "" and signers.write(self, "", "this-call", { { key = call.key,
    operation = call.operation, params = call.params, word = call.word } }, call.now) or nil
end

-- Judges a call by a plan that has its key. Returns a decision; or nil and an error.
local function judge_by(self, tx, plan, stored, call, row)
  local code = signers.misfit(plan, self, call.queue, call.now)
    or not plan_text.is_of(row, call.operation, call.params) and "changed"
  if code then return nil, signers.error(code) end
  if row.word ~= call.word then
    return nil, signers.error("repeated", nil, { plan = plan_of(self, call), word = call.word })
  end
  local statements, message = statements_of(tx, plan, stored.statements)
  if not statements then return nil, signers.error("unchecked", message) end
  local found = signers.of(plan.head, self.chain, statements)
  if found.withdrawn then return nil, signers.error("withdrawn", "by " .. found.withdrawn) end
  call.signed, call.maker, call.waited_ms = found.signed, found.maker, call.now - stored.added_at
  local decision = rules.decide(self.chain.latest, call)
  decision.signed = found.signed
  return decision
end

local function list_of(set) return concat(names_of(set), " ") end

local function refusal(self, decision, call)
  local version, details = format("policy %d", self.chain.latest.version), { due_in = decision.due_in }
  if decision.forbidden[1] or not decision.unmet[1] then
    details.rules = decision.forbidden
    return signers.error("rule", version .. (decision.forbidden[1] and ", " .. concat(decision.forbidden, ", ")
      or " has no rule that allows it"), details)
  end
  local asked, signed = {}, list_of(decision.signed or {})
  for i, places in ipairs(decision.asked) do
    asked[i] = decision.unmet[i] .. (places[1] and " (" .. signers.places_text(places) .. ")" or "")
  end
  details.rules, details.plan = decision.unmet, plan_of(self, call)
  local err = signers.error("missing", format("%s, %s; signed by %s", version, concat(asked, ", "),
    signed ~= "" and signed or "nobody"), details)
  if call.queue == "" and call.key == "" then
    err.hint = "give the call a key (`key` in its options), so that a plan can name it"
  end
  return err
end

-- Reads the folder again where another process installed a newer version; `reads` writes nothing. Returns nil, or an
-- error.
local function refresh(self, tx, installed, reads)
  local latest = self.chain.latest
  if installed and installed.version == latest.version and installed.digest == latest.digest then return nil end
  local chain, message = policy_chain.open(self.folder, self.account)
  if not chain then return signers.error("policy", message) end
  local problem = (reads and approval_rows.problem or approval_rows.install)(tx, chain)
  if problem then return signers.error(problem, format("the journal is at version %d", installed.version)) end
  self.chain = chain
end

-- Returns now: the later of a call's stamp and the newest call, unless that is a day ahead; nil where this machine's
-- clock is behind.
local function now_of(newest, sent_at)
  if not newest or newest > sent_at + DAY then return sent_at end
  if newest <= sent_at + SLACK_MS then return math.max(newest, sent_at) end
end

-- Returns the digest of the newest plan that lets a call through, "" where none is needed; or nil and the error of the
-- newest plan with its key.
local function find_approval(self, tx, known, call)
  local first, err
  for _, stored in ipairs(known.plans) do
    local plan = self.plans[stored.digest] or load_plan(tx, stored.digest)
    if #plan.rows > 1 then self.plans[stored.digest] = plan end -- a single row is not met again
    local row = plan.by_key[call.key]
    local decision, problem
    if row then decision, problem = judge_by(self, tx, plan, stored, call, row) end
    if decision and decision.ok then return stored.digest end
    if not first and not err then first, err = decision, problem end
  end
  call.signed, call.maker, call.waited_ms = {}, nil, nil
  local decision = rules.decide(self.chain.latest, call)
  if decision.ok then return "" end
  return nil, err or refusal(self, first or decision, call)
end

-- Returns the call that may be sent, with the columns of its row; or nil and an error. `reads` only looks, and keeps
-- nobody waiting.
local function check(self, tx, intent, row, facts, reads)
  if intent.extra then return nil, signers.error("rule", "what `extra_params` do cannot be judged") end
  local call, asked = rules.call(row.full_name, plan_text.params(row, intent.params)), {}
  if not reads then approval_rows.lock(tx) end
  local known = approval_rows.known(tx, facts, call.destination)
  local err = refresh(self, tx, known.policy, reads)
  if err then return nil, err end
  call.now, call.queue, call.key = now_of(known.newest, intent.sent_at), facts.queue, facts.key
  if not call.now then return nil, signers.error "clock" end
  call.known_since, call.book, call.word = known.known_since or false, self.book, known.word
  call.listed = self.coins and call.coins and self.coins[call.coins[1]]
  function call.sum(limit) return approval_rows.sum(tx, call, limit, asked) end
  local plan
  plan, err = find_approval(self, tx, known, call)
  if not plan then
    err.details = err.details or {}
    err.details.is_of_sums = next(asked) ~= nil or nil
    return nil, err
  end
  call.columns = { destination = call.destination, plan = plan, approved_by = list_of(call.signed),
    policy = format("%d", self.chain.latest.version) }
  return call
end

local function of_guard(err)
  err.details = err.details or {}
  err.details.code, err.code = err.code, "guard.approval"
  if err.details.plan then
    err.hint = "have err.details.plan signed, add it (`purser approvals add`), and repeat the call with its key"
  end
  return err
end

--- Judges a call in the transaction that records the call, before its row is written, and counts it in the policy's
--- sums. Returns the columns of the row; or nil and an error.
function Gate:admit(tx, intent, row, facts)
  local approved = self.kept
  local call, err = check(approved, tx, intent, row, facts)
  if not call then
    err.operation = row.full_name
    return nil, of_guard(err)
  end
  if approved.chain.latest.asks_sums then approval_rows.charge(tx, call, intent.sent_at) end
  return call.columns
end

--- Returns the error of a client without a policy, for an account that was under one.
function M.refuse(tx)
  local under = approval_rows.policy(tx)
  local err = signers.error("policy", format("the account is under policy %d, and this client has none",
    under and under.version or 0))
  err.hint = 'give the client the option policy = "FOLDER"'
  return of_guard(err)
end

--- Reads lists of the service before the transaction, which keeps other hosts waiting; and what became of the first
--- withdrawals to the destination, where a rule asks since when the destination is known.
function Gate:before(client, row, params)
  local kept = self.kept
  lists.read(kept, client, row, params)
  if not (kept.chain.latest.asks_known and row.moves and row.moves.to == "address") then return end
  local call = rules.call(row.full_name, plan_text.params(row, params))
  planned.look_at_destination(client, kept.kept_in, call.destination)
end

--- Returns the journal that keeps the plans.
---@return purser.Journal
function Approved:journal() return self.kept_in end

--- Takes a plan with signatures; what the journal has stays. Returns what all signatures on the plan are worth; or nil
--- and an error, and nothing is kept. A signature of nobody is an error.
---@param text string
---@param armoured string[]
---@param now integer  epoch ms
---@param enqueue fun(plan: purser.SignedPlan): any, purser.Error|nil  adds the payments of a new plan
---@return purser.Verified|nil verified, purser.Error|nil err
function Approved:add(text, armoured, now, enqueue)
  local plan, message = plan_text.read(text)
  if not plan then return signers.refuse("changed", message) end
  local code = signers.misfit(plan, self, nil, now) or plan.head.queue == "" and #plan.rows ~= 1 and "queue"
  if code then return signers.refuse(code) end
  local brought, unchecked = signers.verified(plan, self.chain, armoured)
  if not brought then return nil, unchecked end
  for _, problem in ipairs(brought.problems) do
    if problem.code == "signature" or problem.code == "stranger" then
      return signers.refuse(problem.code, format("signature %d: %s", problem.number, problem.message
        or signers.error(problem.code).message))
    end
  end
  local db, known, verified = self.kept_in.db
  known, message = db:transaction(function(tx) return { approval_rows.plan_text(tx, plan.digest) } end, true)
  if known and not known[1] and plan.head.queue ~= "" then
    local ok, err = enqueue(plan)
    if not ok then return nil, err end
  end
  if known then
    verified, message = db:transaction(function(tx)
      approval_rows.lock(tx)
      approval_rows.add(tx, plan, armoured)
      local found, err = signers.verified(plan, self.chain, approval_rows.signatures(tx, plan.digest))
      return found or tx:reject(err.message)
    end)
  end
  if verified then return verified end
  return signers.refuse("journal", "the journal cannot be written: " .. tostring(message))
end

-- Returns why unsent rows of a plan would not be sent now: how many rows, by the reason.
local function unmet_of(self, tx, plan, now)
  local unmet, queue = {}, plan.head.queue
  for _, row in ipairs(plan.rows) do
    local id, was_sent = approval_rows.call_of(tx, queue, row.key)
    if not was_sent then
      local may, err = check(self, tx, { params = row.params, sent_at = now, host = self.host },
        operations.by_name[row.operation], { queue = queue, key = row.key, call = id }, true)
      if not may then unmet[err.message] = (unmet[err.message] or 0) + 1 end
    end
  end
  return unmet
end

---@class purser.PlanStatus: purser.Verified
---@field expired boolean
---@field unmet table<string, integer>  how many rows would not be sent, by the reason; empty for an ended plan
---@field rows integer

--- Returns the account's plans, newest first, judged as a sending at this time; or nil and a message.
---@param now integer  epoch ms
---@return purser.PlanStatus[]|nil plans, string|nil message
function Approved:stored(now)
  return self.kept_in.db:transaction(function(tx)
    local list = {}
    for _, stored in ipairs(approval_rows.stored(tx)) do
      local plan = plan_text.read(approval_rows.plan_text(tx, stored.digest))
      if plan and plan.digest == stored.digest then
        local status, err = signers.verified(plan, self.chain, approval_rows.signatures(tx, plan.digest))
        if not status then tx:reject(err.message) end
        status.expired, status.rows = now >= plan.ends, #plan.rows
        status.unmet = (status.expired or status.withdrawn) and {} or unmet_of(self, tx, plan, now)
        list[#list + 1] = status
      end
    end
    return list
  end, true)
end

--- Makes the gate of a client by the policy in a folder; or returns nil, a message and a hint.
function M.open(client_options, base_url, host)
  local folder, account, journal = client_options.policy, client_options.account, client_options.journal
  if not journal then
    return nil, "a policy needs a journal, which holds what was approved", "give the option journal"
  end
  if not account or account == "" then
    return nil, "a policy is of an account that has a name", 'give the option "account"'
  end
  local chain, message = policy_chain.open(folder, account)
  if not chain then return nil, message, "install it with `purser policy install`" end
  local self = setmetatable({ folder = folder, account = account, base_url = base_url, host = host or "",
    chain = chain, plans = {}, read_at = {}, kept_in = journal }, Approved)
  self.journal_id, message = journal:id()
  if self.journal_id then self.sent_before, message = approval_rows.survey(journal.db, core.now_ms()) end
  if self.sent_before == nil then return nil, "the policy cannot be used with this journal: " .. tostring(message) end
  return setmetatable({ kept = self }, Gate)
end

--- Writes into the journal which policy the account is under. Returns a message where that cannot be.
function Gate:install(tx)
  local problem = approval_rows.install(tx, self.kept.chain, self.kept.sent_before)
  return problem and signers.error(problem).message or nil
end

M.tables, M.count, M.prune = approval_rows.TABLES, approval_rows.recharge, approval_rows.prune
M.read_again = approval_rows.read_again

return M
