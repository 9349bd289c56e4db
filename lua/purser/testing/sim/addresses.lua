-- SPDX-License-Identifier: MIT
-- Addresses: the forms of each chain, deposit addresses of accounts, and saved withdrawal addresses.

local accounts = require "purser.testing.sim.accounts"
local coins = require "purser.testing.sim.coins"
local core = require "purser.core"
local history = require "purser.testing.sim.history"
local digest = require "purser.client.util.digest"
local purser_address = require "purser.address"
local prng = require "purser.testing.sim.prng"
local rejection = require "purser.testing.sim.rejection"

local function owner_key(uid, coin, network) return uid .. "|" .. coin .. "|" .. network end

-- Returns the key of records that may share an address of a form: records with a memo share among all accounts, other
-- records within one account.
local function shared_key(uid, form) return ("shared %s %s"):format(uid or "", form) end

local M = { histories = {
  deposit_addresses = { keys = function(record)
    return owner_key(record.uid, record.coin, record.network),
      owner_key(record.address .. ":" .. (record.memo or ""), record.coin, record.network),
      shared_key(record.memo == nil and record.uid, record.form)
  end },
  saved_addresses = { keys = function(record) return record.uid end },
} }

-- form -> a family and kind of address, and how many characters are drawn: their digest is the account.
local forms = {
  tron = { "trx", "", 33 }, bitcoin = { "btc", "w0", 38 }, litecoin = { "ltc", "w0", 38 },
  dogecoin = { "doge", "", 33 },
  ripple = { "xrp", "", 33 }, solana = { "sol", "", 44, 32 }, stellar = { "xlm", "", 55, 32 },
  ton = { "ton", "0", 46, 32 },
  cardano = { "ada", "", 98, 28, "\97" },
}

--- Tells whether an address can be one of this network: the simulator refuses what a check of the address refuses.
function M.is_valid(network, address)
  return purser_address.check({ address = address, network = network.public }).state ~= "refused"
end

--- Tells whether a memo can be one of this network.
function M.is_valid_memo(network, memo)
  return network.memo ~= nil and purser_address.judge_memo(network.public, memo) ~= "refused"
end

local function draw(sim, network)
  local form = forms[network.form]
  if not form then
    return network.form == "evm" and "0x" .. sim.dice:text(40, prng.HEX)
      or sim.dice:text(12, "abcdefghijklmnopqrstuvwxyz12345")
  end
  local hex = digest.of(sim.dice:text(form[3], prng.LETTERS_AND_DIGITS)):sub(1, 2 * (form[4] or 20))
  local account = hex:gsub("%x%x", function(two) return string.char(tonumber(two, 16)) end)
  return core.address_write(form[1], form[2], (form[5] or "") .. account)
end

local function public(record)
  return {
    address = record.address, coin = record.coin, network = record.network, memo = record.memo,
    netWork = coins.short_id(record.coin, record.network),
  }
end

--- Returns the deposit address of an account for a coin on a network, made at the first use or where a new address
--- `is_wanted`. A chain with memos has one address of the platform, and a memo for each account. With the option
--- shared_addresses the coins and networks of an account have one address where its form is the same.
function M.of_account(sim, account, network, is_wanted)
  local book = sim.deposit_addresses
  local known = book:of(owner_key(account.uid, network.coin, network.long))
  if known[1] and not is_wanted then return known[#known] end
  local is_shared = network.memo or sim.options.shared_addresses
  local alike = is_shared and book:of(shared_key(not network.memo and account.uid, network.form)) or {}
  local shared = alike[#alike]
  if shared and M.find(sim, network, shared.address) then shared = nil end -- a further address is wanted
  return book:add {
    uid = account.uid, coin = network.coin, network = network.long, form = network.form, time = sim:now(),
    address = shared and shared.address or draw(sim, network),
    memo = network.memo and ("%d"):format(100000 + #book.all) or nil,
  }
end

--- Returns the record of a deposit address, with its owner; nil when it is none of the platform's.
function M.find(sim, network, address, memo)
  return sim.deposit_addresses:of(owner_key(address .. ":" .. (memo or ""), network.coin, network.long))[1]
end

--- Returns a coin's network by the long name, or the first network; rejects an unknown name.
function M.find_network(coin, name)
  coins.check(coin)
  local known = coins.by_name[coin]
  return known.by_long[name or known.networks[1].long]
    or rejection.raise("10232", ("The network %s of %s does not exist"):format(name, coin))
end

local function create(sim, account, values)
  local network = M.find_network(values.coin, values.network)
  if not network.public.depositEnable then
    rejection.raise("10216", "Deposits of this coin on this network are suspended")
  end
  return public(M.of_account(sim, account, network, sim.is_live))
end

local function list(sim, account, values)
  local network, found = M.find_network(values.coin, values.network), {}
  for _, each in ipairs(values.network and { network } or coins.by_name[values.coin].networks) do
    for _, record in ipairs(sim.deposit_addresses:of(owner_key(account.uid, each.coin, each.long))) do
      found[#found + 1] = public(record)
    end
  end
  return found
end

---@class purser.Sim
local methods = {}
M.methods = methods

---@class purser.SimAddressOptions
---@field account string|table
---@field coin string
---@field network string  long name or short id
---@field address string
---@field memo string|nil

local rules = { account = "string or table", coin = "string", network = "string", address = "string", memo = "string" }

--- Saves a withdrawal address in an account's address book.
---@param fields purser.SimAddressOptions
---@return table|nil address, string|nil message
function methods:save_address(fields)
  local account, message = accounts.named(self, "save_address", fields, rules)
  if not account then return nil, message end
  if not fields.address then return nil, "a saved address needs an address" end
  local network = coins.network(fields.coin, fields.network, true)
  if not network then return nil, "the coin or its network does not exist" end
  if not M.is_valid(network, fields.address) then return nil, "the address does not fit the network" end
  return self.saved_addresses:add {
    uid = account.uid, coin = network.coin, network = network.long, address = fields.address, addressTag = fields.memo,
    memo = fields.memo, time = self:now(),
  }
end

--- Tells whether an account saved this address.
function M.is_saved(sim, account, network, address, memo)
  for _, record in ipairs(sim.saved_addresses:of(account.uid)) do
    if record.coin == network.coin and record.network == network.long and record.address == address
      and (record.memo or "") == (memo or "") then
      return true
    end
  end
  return false
end

local function list_saved(sim, account, values)
  local found = {}
  for _, record in ipairs(sim.saved_addresses:of(account.uid)) do
    if not values.coin or values.coin == record.coin then found[#found + 1] = record end
  end
  return history.page_result(history.cut(found, values), #found, values)
end

M.handlers = { A8 = create, C6 = create, A9 = list, C7 = list, C8 = list_saved }

return M
