-- SPDX-License-Identifier: MIT
-- Which API key signs for which account of a journal. A name leads to an account, and never joins two: restrictions
-- follow the key.

local intents = require "purser.write.intent"

local time_text = intents.time_text

local M = {}

--- Returns whether the name of an account is that of an API key, for want of one that a person gave.
function M.is_unnamed(tx, account, key)
  return account == key.unnamed or tx:rows([[SELECT account FROM purser_accounts WHERE identity = $1
    AND account = identity]], account)[1] ~= nil
end

--- Makes sure that an API key signs for one account alone, in a transaction of its own: a call that is rejected later
--- does not take that back. A new key under a known name is one more of that account's. Returns true; or nil and an
--- error or a message, and then nothing may be sent.
---@param identity string  a digest of the API key
function M.identify(self, account, identity)
  self.identified = self.identified or {}
  if self.identified[identity] == account then return true end
  local ok, problem = self.db:transaction(function(tx)
    local joined = tx:rows("SELECT account FROM purser_joins WHERE name = $1", account)[1]
    if joined and joined.account ~= account then
      tx:reject(intents.other_account(joined.account, account, identity, "nothing was sent: this name is that"))
    end
    tx:rows("INSERT INTO purser_accounts (identity, account, added_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      identity, account, time_text(tx:now()))
    local known = tx:rows("SELECT account FROM purser_accounts WHERE identity = $1", identity)[1]
    if known.account ~= account then
      tx:reject(intents.other_account(known.account, account, identity, "nothing was sent: this API key is that"))
    end
    return true
  end)
  if ok then self.identified[identity] = account end
  return ok, problem
end

--- Returns whether a person said that an API key is of an account; or nil and a message.
function M.is_joined(self, name, account)
  local rows, message = self.db:rows("SELECT person FROM purser_joins WHERE name = $1 AND account = $2", name, account)
  if not rows then return nil, message end
  return rows[1] ~= nil
end

return M
