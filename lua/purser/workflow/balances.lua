-- SPDX-License-Identifier: MIT
--- The balances of all sub-accounts, one after the other: B2, and B8 for each account.
--
--     for balance in client.sub_account:each_balance() do print(balance.subAccount, balance.asset, balance.free) end

local errors = require "purser.call.errors"
local history = require "purser.history"
local operations = require "purser.api.operations"

---@class purser.SubAccountBalance: purser.record.balance
---@field subAccount string

---@class purser.BalanceWalk
---@field private client purser.Client
---@field private accounts purser.Walk
---@field private account string|nil   whose balances were read, or are read next
---@field private balances purser.record.balance[]|nil
---@field private at integer
---@overload fun(): purser.SubAccountBalance
local BalanceWalk = { __name = "purser.balance_walk" }
BalanceWalk.__index = BalanceWalk

local M = {}

--- The next account of a walk over sub-accounts; nil at the end; nil and an error, also for one without a name.
---@param accounts purser.Walk
function M.next_account(accounts)
  local account, err = accounts:next()
  if not account or account.subAccount then return account, err end
  return nil, errors.undecodable(accounts.source.row.full_name, "the list has a sub-account without a name")
end

--- The spot balances of one sub-account (B8), each with its asset; or nil and an error.
---@param client purser.Client
---@param account string
---@return purser.record.balance[]|nil balances, purser.Error|nil err
function M.read(client, account)
  local list, err = client.sub_account:balances { subAccount = account, accountType = "SPOT" }
  for _, balance in ipairs(list or {}) do
    if not balance.asset then
      return nil, errors.undecodable("sub_account.balances", "the list has a balance without an asset")
    end
  end
  return list, err
end

-- The next account, then its balances; nil at the end; nil and an error. A repetition continues where it failed.
local function read_account(self)
  if not self.account then
    local account, err = M.next_account(self.accounts)
    if not account then return nil, err end
    self.account = account.subAccount
  end
  local list, err = M.read(self.client, self.account)
  if not list then return nil, err end
  self.balances, self.at = list, 0
  return true
end

--- The next balance; nil at the end; nil and an error. Called again after an error it retries.
---@return purser.SubAccountBalance|nil balance, purser.Error|nil err
function BalanceWalk:next()
  while true do
    if not self.balances then
      local ok, err = read_account(self)
      if not ok then return nil, err end
    end
    self.at = self.at + 1
    local balance = self.balances[self.at]
    if balance then
      return { subAccount = self.account, asset = balance.asset, free = balance.free, locked = balance.locked }
    end
    self.balances, self.account = nil, nil
  end
end

BalanceWalk.__call = errors.iterate

--- The spot balances of all sub-accounts of this account, each with its `subAccount`.
---@param params? purser.sub_account.each_sub_account.params  which accounts
---@return purser.BalanceWalk
function M.each(client, params)
  return setmetatable({ client = client, at = 0,
    accounts = history.walk(client, operations.by_name["sub_account.list_sub_accounts"], params) }, BalanceWalk)
end

return M
