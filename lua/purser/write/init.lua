-- SPDX-License-Identifier: MIT
-- The room of writing: a call that changes something happens once. The client hands such calls to the functions here;
-- module.lua ties them. Read the files in this order:
--
--   intent      a call as data: operation, parameters, time, host; its digest and its content
--   journal/    the rows of calls, in SQLite, PostgreSQL or memory
--   guard/      limits that a client's owner sets; checked before a call is sent
--   call        a call from its check to its end: looked up, guarded, kept, sent, ended
--   reconcile   the question what became of a call whose answer was lost, with find, match and verdict
--   planned     the same question of payments that nobody knows to be sent

local call = require "purser.write.call"
local lazy = require "purser.client.util.lazy"
local intents = require "purser.write.intent"
local guard = lazy "purser.write.guard"
local home = lazy "purser.write.journal.home"

local M = {
  send = call.write, recall = call.recall, prepare = call.prepare, preview = call.preview, reconcile = call.reconcile,
  believe_prepared = call.believe_prepared, signer_of = call.signer_of, advice = intents.advice,
}

--- Returns why a client of an account and a service cannot use a journal, and the cure; nil where it can.
---@return string|nil message, string|nil hint, string|nil option, string|nil code
function M.check_journal(journal, account, host)
  if not account or account == "" then
    return "the journal is of one account, and no account is named",
      "give the option account: a name of yours that stays when the key changes", "account"
  end
  local own, message = home.read(journal.db)
  if not own then return "the journal cannot be read: " .. message end
  journal.ids = own.ids
  local refusal = home.refusal(journal.db, own, account, host)
  if refusal then return refusal.message, refusal.hint, "journal", refusal.code end
end

--- Makes the guard of a client.
---@return purser.Guard|nil guard, string|nil message, string|nil hint
function M.make_guard(...) return guard.new(...) end

return M
