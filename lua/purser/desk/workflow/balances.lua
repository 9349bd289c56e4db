-- SPDX-License-Identifier: MIT
--- The balances of all sub-accounts: B2, and B8 for each account.

local errors = require "purser.client.call.errors"

---@class purser.SubAccountBalance: purser.record.balance
---@field subAccount string

---@class purser.BalanceWalk
---@overload fun(): purser.SubAccountBalance
local BalanceWalk = { __name = "purser.balance_walk" }
BalanceWalk.__index = BalanceWalk

local M = {}

local LIST, BALANCES = "sub_account.list_sub_accounts", "sub_account.balances"

-- Reads the next account and its balances. Returns true; nil at the end; or nil and an error.
local function read_account(self)
  local account, err = self.account, nil
  if not account then account, err = self.accounts:next() end
  if not account then return nil, err end
  if not account.subAccount then return nil, errors.undecodable(LIST, "the list has a sub-account without a name") end
  self.account = account -- a repetition goes on here
  local list
  list, err = self.client.sub_account:balances({ subAccount = account.subAccount, accountType = "SPOT" })
  for _, balance in ipairs(list or {}) do
    if not balance.asset then return nil, errors.undecodable(BALANCES, "the list has a balance without an asset") end
  end
  if not list then return nil, err end
  self.balances, self.name, self.account = list, account.subAccount, nil
  return true
end

--- The next balance; nil at the end; nil and an error. Called again after an error it retries.
---@return purser.SubAccountBalance|nil balance, purser.Error|nil err
function BalanceWalk:next()
  while not self.balances[1] do
    local ok, err = read_account(self)
    if not ok then return nil, err end
  end
  local balance = table.remove(self.balances, 1)
  return { subAccount = self.name, asset = balance.asset, free = balance.free, locked = balance.locked }
end

BalanceWalk.__call = errors.iterate

--- The spot balances of all sub-accounts of this account, each with its `subAccount`.
---@param params? purser.sub_account.each_sub_account.params  which accounts
---@return purser.BalanceWalk
function M.each(client, params)
  return setmetatable({ client = client, balances = {}, accounts = client:each(LIST, params) }, BalanceWalk)
end

return M
