-- SPDX-License-Identifier: MIT
-- The words that an agent reads of a payment, and for each what the agent may do next.

local data = require "purser.desk.agent.data"

local M = {}

local NEVER = "never pay under another reference"

M.next = {
  accepted = "the service took the payment; call status later: sent, failed or cancelled is the end",
  sent = "nothing: the payment is made",
  failed = "tell the person: the service took the payment, and the payment failed later; a new payment needs a new "
    .. "reference of the person",
  cancelled = "tell the person: the payment was taken back; a new payment needs a new reference of the person",
  rejected = "tell the person why; once the cause is gone, propose and pay again under the same reference",
  refused = "tell the person why; propose again, with what was wrong made right",
  ["needs a person"] = "ask the person; once the person has acted, pay again under the same reference",
  unknown = "call status with the same reference; " .. NEVER,
  undecided = "tell the person, who has to look at the service; " .. NEVER,
  none = "propose, then pay",
}

--- Returns a result of this word, with what the agent may do next.
---@param state string
---@param reason string|nil
---@param more table|nil  further members
function M.result(state, reason, more)
  local result = { state = state, reason = reason and data.text(reason) or nil, next = M.next[state] }
  for name, value in pairs(more or {}) do result[name] = value end
  return result
end

-- The words of a journal's entry that is not done.
local OF_ENTRY = { rejected = "rejected", not_sent = "rejected", not_done = "rejected", undecided = "undecided" }
local REASONS = { rejected = "the payment was not made", undecided = "nobody can tell whether the payment was made",
  unknown = "the payment was sent, and its end is not known" }

--- Returns what an entry of the journal says of a payment. What the service said is in `data`.
---@param entry purser.Entry
---@param seen string|nil       the word of a later look at an accepted payment
---@param problem purser.Error|nil  why there was no later look
function M.of_entry(entry, seen, problem)
  if entry.state == "done" then
    return M.result(seen or entry.arrival or "accepted",
      problem and "the history could not be read: " .. data.of_error(problem).reason,
      { data = (data.harmless(entry.record or {})) })
  end
  local word = OF_ENTRY[entry.state] or "unknown"
  return M.result(word, REASONS[word], { data = entry.message and { said = data.text(entry.message) } or nil })
end

--- Returns what an error of a call says of a payment.
---@param err purser.Error
function M.of_error(err)
  local about, plan = data.of_error(err), err.details and err.details.plan
  if plan then
    return M.result("needs a person", about.reason, { plan = plan, code = about.code,
      next = "a person signs `plan` (purser approve) and adds it (purser approvals add); then pay again" })
  end
  local word = (err.outcome == "unknown" or err.outcome == "rejected") and err.outcome or "refused"
  return M.result(word, about.reason, { code = about.code, data = about.data })
end

return M
