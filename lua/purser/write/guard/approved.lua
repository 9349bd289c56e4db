-- SPDX-License-Identifier: MIT
-- The check right before sending: the call as it travels is in a plan that today's policy accepts, or the policy asks
-- nobody. It stands in the transaction that records the call, so what committed first holds: a withdrawal of an
-- approval and a new policy keep out what was not recorded before them.
--
-- A process verifies a plan and a signature once. Each transaction looks for new statements and for a new policy.

local approval_rows = require "purser.write.guard.approval_rows"
local core = require "purser.core"
local errors = require "purser.call.errors"
local history = require "purser.history"
local operations = require "purser.api.operations"
local plan_text = require "purser.write.guard.plan_text"
local policy = require "purser.write.guard.policy"
local policy_chain = require "purser.write.guard.policy_chain"
local rules = require "purser.write.guard.rules"
local sshsig = require "purser.write.guard.sshsig"
local suggest = require "purser.util.suggest"
local utc = require "purser.util.utc"

---@class purser.Approved
---@field folder string
---@field account string
---@field base_url string
---@field chain purser.PolicyChain
---@field private plans table<string, table>  by digest: what was verified
local Approved = {}
Approved.__index = Approved

--- What is signed for what.
---@type table<string, string>
local NAMESPACES = { approve = "purser-plan-1", withdraw = "purser-plan-withdraw-1", made = "purser-plan-made-1" }
local M = { NAMESPACES = NAMESPACES }

local concat, format, match, sub, upper = table.concat, string.format, string.match, string.sub, string.upper

local DAY, SLACK_MS = 86400000, 60000

local messages = {
  missing = "it waits for approval",
  expired = "its plan has expired; make it again with the same keys, and have it signed",
  withdrawn = "the approval of its plan was withdrawn", changed = "it is not as its plan says",
  account = "its plan is for another account", queue = "its plan is for another queue",
  journal = "its plan is for another journal", service = "its plan is for another service",
  policy = "its plan names a policy that this one did not replace", signature = "a signature is not over this plan",
  rollback = "the account was under a newer policy than the folder holds",
  clock = "this machine's clock is behind the newest call in the journal", rule = "the policy forbids it",
  stranger = "a signature is by a key that the policy does not name",
  maker = "the maker of a plan does not approve it", same_person = "one person signed twice, and counts once",
}

--- The error of what approvals do not let through.
---@param code string      missing, expired, withdrawn, changed, ...
---@param more string|nil  what there is to add
---@param details table|nil
---@return purser.Error
function M.error(code, more, details)
  local err = errors.argument(nil, messages[code] .. (more and ": " .. more or ""))
  err.code = "approval." .. code
  err.details = details
  return err
end

----------------------------------------------------------------------------------------------- a plan and its signers

--- Where a plan does not belong: a code, or nil.
---@param place { account: string, journal: string, base_url: string, queue: string|nil }
---@return string|nil code
function M.misplaced(plan, place)
  local head = plan.head
  if head.account ~= place.account then return "account" end
  if place.queue and head.queue ~= place.queue then return "queue" end
  if head.journal ~= place.journal then return "journal" end
  if head.base_url ~= place.base_url then return "service" end
end

--- Whether a plan names a policy of the chain.
function M.names_policy(plan, chain)
  local version, digest = match(plan.head.policy, "^(%d+) (%x+)$")
  local named = chain.versions[tonumber(version)]
  return named ~= nil and named.digest == digest
end

--- What a signature on a plan is of: { kind, key }; or nil and a code.
function M.statement_of(text, armoured)
  local signature = sshsig.read(armoured)
  if not signature then return nil, "signature" end
  for kind, namespace in pairs(NAMESPACES) do
    if sshsig.verify(signature, namespace, text) then return { kind = kind, key = signature.public.key } end
  end
  return nil, "signature"
end

---@class purser.Signers
---@field signed table<string, boolean>  who approves
---@field withdrawn string|nil           who withdrew
---@field maker string|nil               the maker, where the signature says so
---@field problems table[]               { code, person }: what counts for nothing

--- Who says what of a plan, by a policy. The maker's own approval is none.
---@param head table   the plan's
---@param chain purser.PolicyChain
---@param statements table[]  { kind, key } | { code }
---@return purser.Signers
function M.signers(head, chain, statements)
  local found = { signed = {}, problems = {} }
  local function ignore(code, person) found.problems[#found.problems + 1] = { code = code, person = person } end
  for _, statement in ipairs(statements) do
    local person = chain.latest.by_key[statement.key or ""]
    if statement.kind == "withdraw" then person = person or chain.ever[statement.key] end
    if statement.code then ignore(statement.code)
    elseif not person then ignore "stranger"
    elseif statement.kind == "withdraw" then found.withdrawn = person
    elseif statement.kind == "made" then
      if person == head.maker then found.maker = person else ignore("maker", person) end
    elseif person == head.maker then ignore("maker", person)
    elseif found.signed[person] then ignore("same_person", person)
    else found.signed[person] = true end
  end
  return found
end

--- Reads the signatures on a plan's text. `known` keeps what was found, by signature.
---@param text fun(): string  the plan's; asked for only where there is something new
---@return table[] statements
function M.statements(text, signatures, known)
  local list = {}
  for i, armoured in ipairs(signatures) do
    if not known[armoured] then
      local statement, code = M.statement_of(text(), armoured)
      known[armoured] = statement or { code = code }
    end
    list[i] = known[armoured]
  end
  return list
end

------------------------------------------------------------------------------------------------------ at the sending

local function reject(tx, row, err)
  err.operation, err.details = row.full_name, err.details or {}
  err.details.code, err.code = err.code, "guard.approval"
  tx:reject(err)
end

-- What is kept of a plan: its head, when it ends, what each key stands for, and the signatures that were checked.
local function load_plan(self, tx, digest, queue)
  local text = approval_rows.plan_text(tx, digest)
  local plan = text and plan_text.digest(text) == digest and plan_text.read(text)
  if not plan then return { problem = "changed", contents = {} } end
  local kept = { head = plan.head, ends = plan.ends, contents = {}, known = {}, problem = M.misplaced(plan,
    { account = self.account, journal = self.journal_id, base_url = self.base_url, queue = queue }) }
  for key, row in pairs(plan.by_key) do kept.contents[key] = plan_text.content(row.operation, row.params) end
  return kept
end

-- What a plan has to say of a call: nil where it is not about it; else a code, or what the signers say.
local function judge_plan(self, tx, stored, call, key)
  local plan = self.plans[stored.digest] or load_plan(self, tx, stored.digest, call.queue)
  local first = next(plan.contents)
  if first and next(plan.contents, first) then self.plans[stored.digest] = plan end -- a single row is not met again
  if not plan.contents[key] then return nil end
  if plan.problem then return plan.problem end
  if plan.contents[key] ~= plan_text.content(call.operation, call.params) then return "changed" end
  if call.now >= plan.ends then return "expired" end
  if not M.names_policy(plan, self.chain) then return "policy" end
  local function text() return approval_rows.plan_text(tx, stored.digest) end
  local signers = M.signers(plan.head, self.chain,
    M.statements(text, approval_rows.statements(tx, stored.digest), plan.known))
  if signers.withdrawn then return "withdrawn", nil, signers.withdrawn end
  call.signed, call.maker, call.waited_ms = signers.signed, signers.maker, call.now - tonumber(stored.added_at)
  return nil, rules.decide(self.chain.latest, call)
end

local function names_of(set) return concat(suggest.names_of(set), " ") end

--- What a list of places asks for, as text: "treasury 2, finance 1".
---@return string
function M.places_text(approvals)
  local parts = {}
  for i, place in ipairs(approvals) do parts[i] = format("%s %d", place.group, place.count) end
  return concat(parts, ", ")
end

-- The plan of one row that has to be signed before a single call; nil where none can be.
local function plan_of_call(self, call, key)
  local latest = self.chain.latest
  return (plan_text.write({ account = self.account, queue = "", journal = self.journal_id, base_url = self.base_url,
    policy = format("%d %s", latest.version, latest.digest), maker = "this-call",
    not_after = sub(utc.text(call.now + latest.plan_days * DAY), 1, 10) },
    { { key = key, operation = call.operation, params = call.params } }))
end

-- Why a decision is against a call.
local function refusal(self, decision, call, key)
  local version, details = format("policy %d", self.chain.latest.version), { due_in = decision.due_in }
  if decision.forbidden[1] then
    details.rules = decision.forbidden
    return M.error("rule", format("%s, %s", version, concat(decision.forbidden, ", ")), details)
  end
  if not decision.unmet[1] then
    details.rules = {}
    return M.error("rule", version .. " has no rule that allows it", details)
  end
  local asked, signed = {}, names_of(call.signed)
  for i, places in ipairs(decision.asked) do
    asked[i] = decision.unmet[i] .. (places[1] and " (" .. M.places_text(places) .. ")" or "")
  end
  details.rules = decision.unmet
  details.plan = call.queue == "" and key ~= "" and plan_of_call(self, call, key) or nil
  local err = M.error("missing", format("%s, %s; signed by %s", version, concat(asked, ", "),
    signed ~= "" and signed or "nobody"), details)
  if details.plan then
    err.hint = "have err.details.plan signed, add it (`purser approvals add`), and repeat the call with its key"
  elseif call.queue == "" then
    err.hint = "give the call a key (`key` in its options), so that a plan can name it"
  end
  return err
end

-- Reads the folder again where another process has installed a newer version than this one knows.
local function refresh(self, tx, row)
  local installed = approval_rows.policy(tx, self.account)
  local latest = self.chain.latest
  if installed and installed.version == latest.version and installed.digest == latest.digest then return end
  local chain, message = policy_chain.open(self.folder, self.account)
  if not chain then reject(tx, row, M.error("policy", message)) end
  local problem = approval_rows.install(tx, self.account, chain)
  if problem then reject(tx, row, M.error(problem, format("the journal is at version %d", installed.version))) end
  self.chain = chain
end

-- Now: the latest of what stamps the call and of the newest call, which counts only where it is near.
local function now_of(tx, row, intent)
  local newest, sent_at = approval_rows.newest(tx, intent.id), intent.sent_at
  if not newest or newest > sent_at + DAY then return sent_at end
  if newest > sent_at + SLACK_MS then reject(tx, row, M.error "clock") end
  return math.max(newest, sent_at)
end

local BOOK_MS = 600000

--- Reads the service's address book where a rule asks for it: before a withdrawal, once in ten minutes. One that cannot
--- be read leaves such rules without an answer.
---@param client purser.State
function M.read_book(self, client, row)
  local now = core.monotonic_ms()
  local is_fresh = self.book_at and now - self.book_at < BOOK_MS
  if not self.chain.latest.asks_book or not row.moves or row.moves.to ~= "address" or is_fresh then return end
  local walk, err = history.walk(client, operations.by_name["wallet.withdrawal_addresses"])
  local book, saved = {}, nil
  repeat
    if walk then saved, err = walk:next() end
    if saved then
      local memo = saved.memo ~= "" and saved.memo or saved.addressTag or ""
      local name = format("%s\n%s", tostring(saved.address), memo)
      book[name] = book[name] or {}
      book[name][upper(tostring(saved.network))] = true
    end
  until not saved
  self.book, self.book_at = not err and book or nil, not err and now or nil
end

-- Whether a call pays a saved address; nil where the book is not known, or has it under another network's name.
local function is_saved(book, call)
  local moves, params = call.row.moves, call.params
  if not book or not moves or moves.to ~= "address" then return nil end
  local networks = book[format("%s\n%s", params[moves.address], params[moves.memo] or "")]
  return networks ~= nil and (networks[upper(params[moves.network] or "")] or nil)
end

-- The best of what the plans say: a decision that lets the call through, with its plan; else the last reason.
local function find_approval(self, tx, call, key)
  local last
  for _, stored in ipairs(key ~= "" and approval_rows.plans(tx, self.account, call.queue, key) or {}) do
    local code, decision, who = judge_plan(self, tx, stored, call, key)
    if decision and decision.ok then return decision, stored.digest end
    if decision then last = { decision = decision, signed = call.signed }
    elseif code then last = { err = M.error(code, who and "by " .. who or nil) } end
  end
  call.signed, call.maker, call.waited_ms = {}, nil, nil
  local decision = rules.decide(self.chain.latest, call)
  if decision.ok then return decision, "" end
  if not last then last = { decision = decision, signed = {} } end
  call.signed = last.signed or {}
  return nil, nil, last.err or refusal(self, last.decision, call, key)
end

local function check(self, tx, intent, row, queue, key)
  if intent.extra then reject(tx, row, M.error("rule", "what `extra_params` do cannot be judged")) end
  refresh(self, tx, row)
  local call = rules.call(row.full_name, plan_text.params(row, intent.params))
  local account = self.account
  call.now, call.queue = now_of(tx, row, intent), queue
  call.known_since = self.chain.latest.asks_known and call.destination ~= ""
    and approval_rows.known_since(tx, account, call.destination) or false
  call.saved = is_saved(self.book, call)
  function call.sum(limit) return approval_rows.sum(tx, account, call, limit) end
  local decision, plan, err = find_approval(self, tx, call, key)
  if not decision then reject(tx, row, err) end
  approval_rows.sent(tx, account, intent.id, call, plan, names_of(call.signed), format("%d", self.chain.latest.version))
end

--- Checks a call within the transaction that records it, or ends the transaction with the rejection. An account that
--- was once under a policy is never served without one.
---@param approved purser.Approved|nil  the client's
---@param payment table|nil  of purser.payouts
---@param key table|nil      of a single call
function M.admit(tx, intent, row, approved, payment, key)
  if approved then
    approval_rows.lock(tx)
    return check(approved, tx, intent, row, payment and payment.queue or "", payment and payment.key
      or key and key.name or "")
  end
  local installed = approval_rows.policy(tx, intent.account or "")
  if installed then
    local err = M.error("policy", format("the account is under policy %d, and this client has none", installed.version))
    err.hint = 'give the client the option policy = "FOLDER"'
    reject(tx, row, err)
  end
end

---@param chain purser.PolicyChain
local function install(self, journal, chain)
  return journal.db:transaction(function(tx)
    approval_rows.lock(tx)
    local problem = approval_rows.install(tx, self.account, chain)
    if problem then tx:reject(messages[problem]) end
    return true
  end)
end

--- Makes what checks the calls of a client by the policy in a folder, and writes into the journal which it is. Returns
--- nil, a message and what to do where that cannot be.
---@param client_options table  those of purser.new
---@param base_url string       where the client's calls go
---@return purser.Approved|nil, string|nil, string|nil
function M.new(client_options, base_url)
  local folder, account, journal = client_options.policy, client_options.account, client_options.journal
  if not journal then
    return nil, "a policy needs a journal, which holds what was approved", "give the option journal"
  end
  if not account or account == "" then
    return nil, "a policy is of an account that has a name", 'give the option "account"'
  end
  local chain, message = policy_chain.open(folder, account)
  if not chain then return nil, message, "install it with `purser policy install`" end
  local self = setmetatable({ folder = folder, account = account, base_url = base_url, chain = chain, plans = {} },
    Approved)
  local ok
  self.journal_id, message = journal:id()
  if self.journal_id then ok, message = install(self, journal, chain) end
  if not ok then return nil, "the policy cannot be used with this journal: " .. tostring(message) end
  return self
end

M.policy, M.rows = policy, approval_rows

return M
