-- SPDX-License-Identifier: MIT
--- Approvals: plans that persons sign, and the policy that says who has to. See docs/approvals.md.
---
---     local text = assert(purser.approvals.plan { client = client, policy = folder, queue = "june",
---       journal_id = assert(journal:id()), payments = list, maker = "carol" })
---     print(purser.approvals.show(text)) -- what the signers read
---     assert(purser.approvals.add { client = client, journal = journal, policy = folder, plan = text,
---       signatures = { alice, bob } })
---
--- The client has the option `policy`. It checks each call right before it is sent; nothing here is needed for that.

local check = require "purser.approvals.check"
local errors = require "purser.call.errors"
local make = require "purser.approvals.make"
local policy = require "purser.write.guard.policy"
local review = require "purser.approvals.review"
local try = require "purser.approvals.try"

---@class purser.modules.approvals
local M = {}

--- Writes the plan of a list of payments. Returns its text; or nil and an error.
---@param options purser.PlanOptions
---@return string|nil text, purser.Error|nil err
function M.plan(options) return make.plan(options) end

--- The review of a plan: what is odd first. Returns it; or nil and an error.
---@param text string
---@param options purser.ReviewOptions|nil
---@return string|nil review, purser.Error|nil err
function M.show(text, options) return review.show(text, options) end

--- What the rows of a plan pay, as `known` of a later review: what a person signed is that person's own record.
---@param text string
---@param now integer  epoch ms
---@return purser.KnownPayment[]|nil known, purser.Error|nil err
function M.facts(text, now) return review.facts(text, now) end

--- The payments that a journal holds as made, as `known` of a review.
---@param journal purser.Journal
---@param account string
---@return purser.KnownPayment[] known
function M.known_of(journal, account) return review.known_of(journal, account) end

--- Who signed a plan, and what that is worth under a policy. Returns it; or nil and an error.
---@param text string
---@param signatures string[]  as `ssh-keygen -Y sign` writes them
---@param folder string        of the policy
---@return purser.Verified|nil verified, purser.Error|nil err
function M.verify(text, signatures, folder) return make.verify(text, signatures, folder) end

--- What a signature says of a text: "approve", "withdraw" or "made"; or nil and an error where it is none.
---@param text string
---@param signature string
---@return string|nil kind, purser.Error|nil err
function M.kind(text, signature) return make.kind(text, signature) end

--- Installs a version of a policy that all have signed whom it and the version before name. Returns its number; or nil
--- and an error. A payer that runs obeys it once any client with the folder was made over the same journal.
---@param options purser.InstallOptions
---@return integer|nil version, purser.Error|nil err
function M.install(options) return make.install(options) end

--- The lines of an `allowed_signers` file, with which `ssh-keygen -Y verify` checks signatures without Purser.
---@param text string  of the policy
---@return string|nil lines, purser.Error|nil err
function M.signers(text)
  local given, message = policy.read(text)
  if not given then return nil, errors.argument("policy", "the policy cannot be read: " .. message) end
  return policy.signers(given)
end

--- Gives a payer a plan and signatures on it, also withdrawals; what it had already stays. Returns what is known of the
--- plan then; or nil and an error, and then nothing is added.
---@param options purser.AddOptions
---@return purser.Verified|nil verified, purser.Error|nil err
function M.add(options) return make.add(options) end

--- The plans of an account, newest first: who signed each, and what it lacks.
---@param options purser.PayerOptions
---@return purser.PlanStatus[]|nil plans, purser.Error|nil err
function M.status(options) return make.status(options) end

--- What is odd about a policy: rules that never match, places nobody can fill; and what it loosens against another.
---@param text string      of the policy
---@param against string|nil  of another one
---@return purser.PolicyFindings|nil findings, purser.Error|nil err
function M.check(text, against) return check.check(text, against) end

--- Runs a policy over what was really paid. Returns the figures; or nil and an error.
---@param options purser.TryOptions
---@return purser.Trial|nil trial, purser.Error|nil err
function M.try(options) return try.run(options) end

return M
