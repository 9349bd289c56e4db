-- SPDX-License-Identifier: MIT
-- Who says what about a plan: signatures, judged by a policy. Persons count, not keys or signatures.

local errors = require "purser.client.call.errors"
local names_of = require "purser.client.util.names_of"
local plan_text = require "purser.desk.approvals.plan_text"
local sshsig = require "purser.desk.approvals.sshsig"
local utc = require "purser.client.util.utc"

local M = {}

local concat, format, match, sub = table.concat, string.format, string.match, string.sub

local DAY = 86400000

--- The namespace of each purpose.
M.NAMESPACES = { approve = "purser-plan-1", withdraw = "purser-plan-withdraw-1", made = "purser-plan-made-1" }

local messages = {
  missing = "it waits for approval",
  expired = "its plan has expired; make it again with the same keys, and have it signed",
  withdrawn = "the approval of its plan was withdrawn", changed = "it is not as its plan says",
  account = "its plan is for another account", queue = "its plan is for another queue",
  journal = "its plan is for another journal", service = "its plan is for another service",
  policy = "its plan names a policy that this one did not replace", signature = "a signature is not over this plan",
  unchecked = "a signature could not be checked",
  plan_days = "it ends later than the policy's plan_days allow; make it again with a nearer day, and have it signed",
  rollback = "the account was under a newer policy than the folder holds",
  clock = "this machine's clock is behind the newest call in the journal", rule = "the policy forbids it",
  stranger = "a signature is by a key that the policy does not name",
  repeated = "a person said that it was not made, so it needs another plan, which names that word",
  maker = "the maker of a plan does not approve it", same_person = "one person signed twice, and counts once",
}

--- Returns the error of a code such as "missing", with more words.
---@return purser.Error
function M.error(code, more, details)
  local err = errors.argument(nil, messages[code] .. (more and ": " .. more or ""))
  err.code, err.details = "approval." .. code, details
  return err
end

--- Returns nil and the error of a code, with another message.
---@return nil, purser.Error
function M.refuse(code, message)
  local err = M.error(code)
  err.message = message or err.message
  return nil, err
end

local function last_day(chain, now) return sub(utc.text(now + chain.latest.plan_days * DAY), 1, 10) end

--- Writes the plan of a payer { account, journal_id, base_url, chain }, until the policy's last day or an earlier
--- `until_day`. Queue "": of one call.
---@return string|nil text, string|nil message
function M.write(payer, queue, maker, rows, now, until_day)
  local latest, last = payer.chain.latest, last_day(payer.chain, now)
  if until_day and until_day > last then return nil, format("%s (%s)", messages.plan_days, last) end
  return plan_text.write({ account = payer.account, queue = queue, journal = payer.journal_id, maker = maker,
    base_url = payer.base_url, policy = format("%d %s", latest.version, latest.digest),
    not_after = until_day or last }, rows)
end

--- Tells whether a plan names a policy of the chain.
function M.names_policy(plan, chain)
  local version, digest = match(plan.head.policy, "^(%d+) (%x+)$")
  local named = chain.versions[tonumber(version)]
  return named ~= nil and named.digest == digest
end

--- Returns the code of why a plan does not belong to a payer; nil where the plan does. Queue nil is any.
---@return string|nil code
function M.misfit(plan, payer, queue, now)
  local head = plan.head
  return head.account ~= payer.account and "account" or queue and head.queue ~= queue and "queue"
    or head.journal ~= payer.journal_id and "journal" or head.base_url ~= payer.base_url and "service"
    or now >= plan.ends and "expired" or head.not_after > last_day(payer.chain, now) and "plan_days"
    or not M.names_policy(plan, payer.chain) and "policy" or nil
end

--- Reads a signature on a plan: { kind, key }; kind "approve", "withdraw" or "made", nil for a signature of another
--- text; `message` for no signature at all. Returns nil and a message where it could not be checked: nobody may keep
--- that as an answer.
---@return { kind: string|nil, key: string|nil, message: string|nil }|nil statement, string|nil message
function M.statement(text, armoured)
  local signature, message = sshsig.read(armoured)
  for kind, namespace in pairs(signature and M.NAMESPACES or {}) do
    local is_good, problem = sshsig.verify(signature, namespace, text)
    if problem then return nil, problem end
    if is_good then return { kind = kind, key = signature.public.key } end
  end
  return { message = message }
end

---@class purser.UselessSignature
---@field code string         signature, stranger, maker or same_person
---@field number integer      of the signature
---@field person string|nil
---@field message string|nil  why the text is no signature at all

--- Returns who says what about a plan: `signed` (approving persons by name), `withdrawn` and `maker` (a person),
--- `problems` (of purser.UselessSignature). The maker's own approval is void.
function M.of(head, chain, statements)
  local found = { signed = {}, problems = {} }
  for i, statement in ipairs(statements) do
    local key, kind, code = statement.key or "", statement.kind, nil
    local person, names = chain.latest.by_key[key], chain.ever[key] or {}
    local is_maker = names[head.maker] -- under an older name, too
    if kind == "withdraw" then person = person or names_of(names)[1] end
    if not kind then code = "signature"
    elseif not person then code = "stranger"
    elseif kind == "withdraw" then found.withdrawn = person
    elseif kind == "made" and is_maker then found.maker = person
    elseif kind == "made" or is_maker then code = "maker"
    elseif found.signed[person] then code = "same_person"
    else found.signed[person] = true end
    if code then
      found.problems[#found.problems + 1] = { code = code, person = person, number = i, message = statement.message }
    end
  end
  return found
end

---@class purser.Verified
---@field plan purser.SignedPlan
---@field signed string[]        approving persons
---@field withdrawn string|nil   who withdrew the plan
---@field made_by string|nil     the maker, if the maker signed
---@field problems purser.UselessSignature[]

--- Returns what signatures on a plan are worth; or nil and an error where one could not be checked.
---@return purser.Verified|nil verified, purser.Error|nil err
function M.verified(plan, chain, armoured)
  local statements = {}
  for i, each in ipairs(armoured) do
    local statement, message = M.statement(plan.text, each)
    if not statement then return M.refuse("unchecked", message) end
    statements[i] = statement
  end
  local found = M.of(plan.head, chain, statements)
  return { plan = plan, signed = names_of(found.signed), withdrawn = found.withdrawn, made_by = found.maker,
    problems = found.problems }
end

--- Returns places as text: "treasury 2, finance 1".
function M.places_text(approvals)
  local parts = {}
  for i, place in ipairs(approvals) do parts[i] = format("%s %d", place.group, place.count) end
  return concat(parts, ", ")
end

return M
