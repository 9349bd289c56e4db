-- SPDX-License-Identifier: MIT
-- Which API key signs for which account of a journal. A name leads to an account, and never joins two: restrictions
-- follow the key.

local intents = require "purser.write.intent"
local lazy = require "purser.client.util.lazy"
local spending = lazy "purser.write.guard.spending"

local time_text = intents.time_text

local M = { LOCK = 7078806 } -- a join waits for the calls that begin, and they wait for the join

--- Returns whether the name of an account is that of an API key, for want of one that a person gave.
function M.is_unnamed(tx, account, key)
  return account == key.unnamed or tx:rows([[SELECT account FROM purser_accounts WHERE identity = $1
    AND account = identity]], account)[1] ~= nil
end

--- Returns the account that a name was joined with; nil where it was with none.
---@return string|nil account
function M.joined_with(tx, name)
  local row = tx:rows("SELECT account FROM purser_joins WHERE name = $1", name)[1]
  return row and row.account
end

--- Makes sure that an API key signs for one account alone, and writes the limits that a client brings, in a transaction
--- of its own: a call that is rejected later does not take that back. A new key under a known name is one more of that
--- account's. Returns true; or nil and an error or a message, and then nothing may be sent.
---@param identity string  a digest of the API key
---@param limits table<string, purser.StandingLimit>|nil
function M.identify(self, account, identity, limits)
  self.identified = self.identified or setmetatable({}, { __mode = "k" }) -- by key, and by the table of limits
  local known = self.identified
  if known[identity] == account and (not limits or known[limits] == account) then return true end
  local ok, problem = self.db:transaction(function(tx)
    local joined = M.joined_with(tx, account)
    if joined then
      tx:reject(intents.other_account(joined, account, identity, "nothing was sent: this name is that"))
    end
    tx:rows("INSERT INTO purser_accounts (identity, account, added_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      identity, account, time_text(tx:now()))
    local owner = tx:rows("SELECT account FROM purser_accounts WHERE identity = $1", identity)[1]
    if owner.account ~= account then
      tx:reject(intents.other_account(owner.account, account, identity, "nothing was sent: this API key is that"))
    end
    if limits then spending.keep(tx, account, limits) end
    return true
  end)
  if ok then self.identified[identity] = account end
  if ok and limits then self.identified[limits] = account end
  return ok, problem
end

--- Returns whether a person said that a name, or the digest of an API key, is of an account; or nil and a message.
---@param db table  or a transaction of it
---@return boolean|nil is_joined, string|nil message
function M.is_joined(db, name, account)
  local rows, message = db:rows("SELECT person FROM purser_joins WHERE name = $1 AND account = $2", name, account)
  if not rows then return nil, message end
  return rows[1] ~= nil
end

return M
