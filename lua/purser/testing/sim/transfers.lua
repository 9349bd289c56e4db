-- SPDX-License-Identifier: MIT
-- Transfers between a parent and its sub-accounts (A13, B6: `family`), between the spot and futures accounts of one
-- user (C9: `wallet`), and to another user of the platform (C15: `internal`), a record of both.

local accounts = require "purser.testing.sim.accounts"
local clock = require "purser.testing.sim.clock"
local coins = require "purser.testing.sim.coins"
local core = require "purser.core"
local decimal = require "purser.decimal"
local history = require "purser.testing.sim.history"
local ledger = require "purser.testing.sim.ledger"
local rejection = require "purser.testing.sim.rejection"
local releases = require "purser.testing.sim.releases"
local rules = require "purser.testing.sim.rules"

-- Returns the list of a family's transfer: the direction between accounts and business accounts.
local function direction(parent, from, to, from_type, to_type)
  return table.concat({ parent, from, to, from_type, to_type }, "|")
end

-- Ends a waiting C9 transfer: "SUCCESS" pays it, "FAILED" gives it back.
local function finish(sim, id, status)
  local record = sim.wallet_transfers.by_id[id]
  if not record or record.status ~= "WAIT" then return nil, "there is no such waiting transfer" end
  return sim.wallet_transfers:change(record, { status = status })
end

local M = { histories = {
  family_transfers = {
    is_released = true,
    keys = function(record)
      return direction(record.parent, record.from, record.to, record.from_type, record.to_type)
    end,
    moves = function(record, move)
      move(record.asset, decimal(record.amount), ledger.place(record.from, record.from_type),
        ledger.place(record.to, record.to_type))
    end,
  },
  wallet_transfers = {
    is_released = true,
    keys = function(record) return direction(record.uid, "", "", record.from_type, record.to_type) end,
    moves = function(record, move)
      if record.status == "FAILED" then return end
      move(record.asset, decimal(record.amount), ledger.place(record.uid, record.from_type),
        record.status == "WAIT" and ledger.place(record.uid, record.from_type, "locked")
        or ledger.place(record.uid, record.to_type))
    end,
    due = function(sim, id) finish(sim, id, "SUCCESS") end,
  },
  internal_transfers = {
    is_released = true,
    keys = function(record) return record.from, record.to end,
    moves = function(record, move)
      move(record.asset, decimal(record.amount), ledger.place(record.from, "SPOT"), ledger.place(record.to, "SPOT"))
    end,
  },
} }

-- Returns the next transfer id: more digits than a double can hold; or, in the live form and unless `is_number`, 32
-- hexadecimal digits.
local function next_id(sim, is_number)
  local number = 1 + #sim.family_transfers.all + #sim.wallet_transfers.all + #sim.internal_transfers.all
  local digits = ("%d%06d"):format(sim:now(), number % 1000000)
  if is_number or not sim.is_live then return digits end
  return core.md5_hex(("%d %s"):format(sim.seed, digits))
end

-- Returns a transfer with the members of all histories and answers.
local function public(record, sim)
  local by_uid = sim.accounts.by_id
  return {
    tranId = record.id, clientTranId = record.client_id, asset = record.asset, amount = record.amount,
    fromAccountType = record.from_type, toAccountType = record.to_type, status = record.status,
    fromAccount = record.from and accounts.display_name(by_uid[record.from]), timestamp = record.time,
    toAccount = record.to_account or record.to and accounts.display_name(by_uid[record.to]),
  }
end

-- Makes the record of a transfer, and returns the answer to it.
local function enter(sim, records, values, record)
  coins.check(values.asset)
  record.asset, record.amount, record.time = values.asset, tostring(values.amount), sim:now()
  record.status = record.status or "SUCCESS"
  if not records:enter(record) then rejection.raise "10101" end
  return { tranId = record.shown_id or record.id }
end

-- Returns one side of a family transfer: the parent when no name is given.
local function side(sim, parent, name, business, row)
  local account = name and accounts.sub(sim, parent, name) or parent
  if name and account.frozen then rejection.raise "140002" end
  if business == "FUTURES" and not accounts.has_futures(sim, account) then
    rejection.raise(rules.bad_value(row), ("The futures business of %s is not enabled"):format(account.name))
  end
  return account
end

local function transfer(sim, parent, values, row)
  if not values.fromAccount and not values.toAccount then
    rejection.raise("700004", "fromAccount or toAccount must be sent, but both were empty/null")
  end
  local from = side(sim, parent, values.fromAccount, values.fromAccountType, row)
  local to = side(sim, parent, values.toAccount, values.toAccountType, row)
  if from == to and values.fromAccountType == values.toAccountType then
    rejection.raise(rules.bad_value(row), "The transfer has the same source and destination")
  end
  coins.check(values.asset)
  local client_id = values.clientTranId
  local own_id = client_id and parent.uid .. "|" .. client_id
  if own_id and sim.options.repeated_ids == "reject" and sim.family_transfers.used[own_id] then
    rejection.raise(rules.bad_value(row), "clientTranId was used before")
  end
  return enter(sim, sim.family_transfers, values, {
    parent = parent.uid, id = next_id(sim, row.id == "B6"), client_id = client_id, own_id = own_id, from = from.uid,
    to = to.uid, from_type = values.fromAccountType, to_type = values.toAccountType,
  })
end

-- A1, B7: an account that is not named is the parent.
local function family_history(sim, parent, values)
  local from = values.fromAccount and accounts.sub(sim, parent, values.fromAccount) or parent
  local to = values.toAccount and accounts.sub(sim, parent, values.toAccount) or parent
  local requested = values.clientTranId
  local key = direction(parent.uid, from.uid, to.uid, values.fromAccountType, values.toAccountType)
  return (sim.family_transfers:list(sim, key, values.startTime, values.endTime, values, public,
    requested and function(record) return record.client_id == requested end))
end

---@class purser.Sim
local methods = {}
M.methods = methods

--- Ends a transfer that waits (option transfer_wait_ms) as failed; its funds come back.
---@param id string
---@return any ended, string|nil message
function methods:fail_transfer(id)
  self:run_due()
  return finish(self, id, "FAILED")
end

local function wallet_transfer(sim, account, values, row)
  if values.fromAccountType == values.toAccountType then
    rejection.raise("33333", "fromAccountType and toAccountType are the same")
  end
  coins.check(values.asset)
  if not accounts.has_futures(sim, account) then
    rejection.raise(rules.bad_value(row), "The futures business of the account is not enabled")
  end
  local wait, id = sim.options.transfer_wait_ms, next_id(sim)
  local answer = enter(sim, sim.wallet_transfers, values, {
    uid = account.uid, id = id, from_type = values.fromAccountType, to_type = values.toAccountType,
    status = wait > 0 and "WAIT" or "SUCCESS",
  })
  if wait > 0 then sim.schedule:add(sim:now() + wait, "wallet_transfers", id) end
  return answer
end

local function wallet_history(sim, account, values)
  local first, last = history.six_months(sim:now(), values)
  local key = direction(account.uid, "", "", values.fromAccountType, values.toAccountType)
  local records, total = sim.wallet_transfers:list(sim, key, first, last, values, public)
  return { rows = records, total = total }
end

local function wallet_one(sim, account, values)
  local record, seen = sim.wallet_transfers.by_id[values.tranId], sim:visible()
  if not record or record.hidden or record.uid ~= account.uid or record.time < clock.months_before(sim:now(), 6)
    or seen and record.time > seen then
    rejection.raise "22222"
  end
  return releases.shown(record, public(record, sim))
end

local function internal_transfer(sim, account, values)
  local payee = accounts.by_identifier(sim, values.toAccountType, values.toAccount, values.areaCode)
  if not payee then rejection.raise("22222", "The user does not exist") end
  if payee.frozen then rejection.raise "730100" end
  if payee.uid == account.uid then
    rejection.raise("33333", "The transfer has the same source and destination")
  end
  return enter(sim, sim.internal_transfers, values, {
    id = next_id(sim), from = account.uid, to = payee.uid, to_type = values.toAccountType,
    to_account = values.toAccount,
  })
end

local function internal_history(sim, account, values)
  local first, last = history.default_seven_days(sim:now(), values)
  local records, total = sim.internal_transfers:list(sim, account.uid, first, last, values, public,
    values.tranId and function(record) return record.id == values.tranId end)
  return history.page_result(records, total or #records, values)
end

M.handlers = {
  A13 = transfer, B6 = transfer, A1 = family_history, B7 = family_history, C9 = wallet_transfer, C10 = wallet_history,
  C11 = wallet_one, C15 = internal_transfer, C16 = internal_history,
}

return M
