-- SPDX-License-Identifier: MIT
-- Who says what of a plan: its signatures, by a policy. Persons count, not keys or signatures.

local errors = require "purser.call.errors"
local sshsig = require "purser.signed.sshsig"

local M = {}

local concat, format, match = table.concat, string.format, string.match

--- The namespace of each purpose for which a plan is signed.
---@type table<string, string>
M.NAMESPACES = { approve = "purser-plan-1", withdraw = "purser-plan-withdraw-1", made = "purser-plan-made-1" }

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

--- Returns the error of what approvals do not let through.
---@param code string      missing, expired, withdrawn, changed, ...
---@param more string|nil  what there is to add
---@param details table|nil
---@return purser.Error
function M.error(code, more, details)
  local is_file = code == "changed" and more -- of a file, where `more` says it all
  local err = errors.argument(nil, is_file or messages[code] .. (more and ": " .. more or ""))
  err.code, err.details = "approval." .. code, details
  return err
end

--- Returns whether a plan names a policy of the chain.
---@return boolean
function M.names_policy(plan, chain)
  local version, digest = match(plan.head.policy, "^(%d+) (%x+)$")
  local named = chain.versions[tonumber(version)]
  return named ~= nil and named.digest == digest
end

--- Returns the code of why a plan does not belong to a payer at this time; nil where it does.
---@param plan { head: table, ends: integer }
---@param payer { account: string, journal_id: string, base_url: string, chain: purser.PolicyChain }
---@param queue string|nil  nil: any
---@return string|nil code
function M.misfit(plan, payer, queue, now)
  local head = plan.head
  return head.account ~= payer.account and "account" or queue and head.queue ~= queue and "queue"
    or head.journal ~= payer.journal_id and "journal" or head.base_url ~= payer.base_url and "service"
    or now >= plan.ends and "expired" or not M.names_policy(plan, payer.chain) and "policy" or nil
end

---@class purser.Statement
---@field kind string|nil  "approve", "withdraw" or "made"; nil where it is none on this plan
---@field key string|nil   the 32 bytes of the key

--- Reads a signature on the text of a plan.
---@return purser.Statement
function M.statement(text, armoured)
  local signature = sshsig.read(armoured)
  for kind, namespace in pairs(signature and M.NAMESPACES or {}) do
    if sshsig.verify(signature, namespace, text) then return { kind = kind, key = signature.public.key } end
  end
  return {}
end

---@class purser.Signers
---@field signed table<string, boolean>  who approves
---@field withdrawn string|nil           who withdrew
---@field maker string|nil               the maker, where the signature says so
---@field problems { code: string, person: string|nil }[]  what counts for nothing

--- Returns who says what of a plan, by a policy. The maker's own approval is none.
---@param head table   the plan's
---@param chain purser.PolicyChain
---@param statements purser.Statement[]
---@return purser.Signers
function M.of(head, chain, statements)
  local found = { signed = {}, problems = {} }
  local function ignore(code, person) found.problems[#found.problems + 1] = { code = code, person = person } end
  for _, statement in ipairs(statements) do
    local kind, person = statement.kind, chain.latest.by_key[statement.key or ""]
    if kind == "withdraw" then person = person or chain.ever[statement.key] end
    if not kind then ignore "signature"
    elseif not person then ignore "stranger"
    elseif kind == "withdraw" then found.withdrawn = person
    elseif kind == "made" and person == head.maker then found.maker = person
    elseif kind == "made" or person == head.maker then ignore("maker", person)
    elseif found.signed[person] then ignore("same_person", person)
    else found.signed[person] = true end
  end
  return found
end

--- Returns what a list of places asks for, as text: "treasury 2, finance 1".
---@return string
function M.places_text(approvals)
  local parts = {}
  for i, place in ipairs(approvals) do parts[i] = format("%s %d", place.group, place.count) end
  return concat(parts, ", ")
end

return M
