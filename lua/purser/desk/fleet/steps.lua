-- SPDX-License-Identifier: MIT
-- The steps of a fleet: each is a write call that is made once.

local core = require "purser.core"
local errors = require "purser.client.call.errors"

local M = {}

local steps = {}

local NO_SUCH_KEY = "730706" -- gone already, or listed under another form of its name

local function failure(outcome, operation, message, hint)
  return errors.new { kind = "workflow", outcome = outcome, phase = "fleet", operation = operation, message = message,
    hint = hint }
end

-- Makes a write call, and once more where it was certainly not executed: client:reconcile finds out about lost answers,
-- because a list may lack what exists. Returns the result, or the record, {} without one; or nil and an error.
---@param what string  the effect, in words
local function make(self, name, params, what, again)
  local operation = self.group .. "." .. name
  local result, err = self.client:call(operation, params)
  if result or err.outcome ~= "unknown" and err.code ~= NO_SUCH_KEY then return result, err end
  local intent = err.intent or { operation = operation, params = params, sent_at = self.client:now() }
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
  return self.client:call(self.group .. ".enable_futures", { subAccount = step.account })
end

function steps.delete_key(self, step)
  return make(self, "delete_api_key", { subAccount = step.account, apiKey = step.apiKey },
    ("the key of %s was deleted"):format(step.account))
end

-- Gives the secret to the vault. Returns nil, or a message without the vault's words, which may quote the secret.
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

--- Does the steps in order. Returns them; or nil and an error with `details.done`.
function M.execute(self, list)
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

return M
