-- SPDX-License-Identifier: MIT
-- The lists of an owner's records: the key that reads each list, its reach, and the span that is read again.

local errors = require "purser.client.call.errors"
local names_of = require "purser.client.util.names_of"

local M = {}

local HOUR, DAY = 3600000, 86400000
local WEEK = math.floor(6.9 * DAY) -- in one request, whatever the service takes for seven days

M.HOUR, M.DAY, M.WEEK, M.KEY = HOUR, DAY, WEEK, "key"

--- Returns the name of an owner in the books: "" is the parent.
function M.owner_name(sub) return sub == "" and "Main" or "Sub-" .. sub end

local function own_lists(owner, coins)
  local lists = {
    { list = "deposit", entity = "deposit", operation = "wallet.deposit_history", reach = 90 * DAY, back = WEEK,
      instead = not owner.is_main and "broker.deposit_history" or nil },
    { list = "withdrawal", entity = "withdrawal", operation = "wallet.withdrawal_history", reach = 90 * DAY,
      back = WEEK },
    { list = "internal_transfer", entity = "internal_transfer", operation = "wallet.internal_transfer_history" },
    { list = "conversion", entity = "conversion", operation = "wallet.conversion_history" },
  }
  for _, from in ipairs { "SPOT", "FUTURES" } do
    local to = from == "SPOT" and "FUTURES" or "SPOT"
    lists[#lists + 1] = { list = ("transfer %s %s"):format(from, to), entity = "transfer",
      operation = "wallet.transfer_history", reach = 178 * DAY, from = owner.name, to = owner.name,
      params = { fromAccountType = from, toAccountType = to } }
  end
  if coins[1] then
    lists[#lists + 1] = { list = "saved addresses", entity = "address", operation = "wallet.withdrawal_addresses",
      is_state = true, every = DAY, from = owner.name }
  end
  for _, coin in ipairs(coins) do
    lists[#lists + 1] = { list = "address " .. coin, entity = "address", operation = "wallet.deposit_addresses",
      instead = not owner.is_main and "broker.deposit_addresses" or nil, params = { coin = coin }, is_state = true,
      every = DAY, is_one_answer = true, to = owner.name }
  end
  for _, list in ipairs(lists) do list.client = owner.client end
  return lists
end

-- Adds the lists of transfers between two accounts; "" is the parent.
local function family_lists(lists, books, from, to)
  for _, from_place in ipairs { "SPOT", "FUTURES" } do
    for _, to_place in ipairs { "SPOT", "FUTURES" } do
      lists[#lists + 1] = { list = ("family %s>%s %s %s"):format(from, to, from_place, to_place), entity = "transfer",
        operation = books.group .. ".transfer_history", from = M.owner_name(from), to = M.owner_name(to),
        params = { fromAccount = from ~= "" and from or nil, toAccount = to ~= "" and to or nil,
          fromAccountType = from_place, toAccountType = to_place } }
    end
  end
end

--- Returns the list of the sub-accounts.
function M.sub_accounts(books)
  return { list = "sub_accounts", entity = "sub_account", client = books.main.client, is_state = true,
    operation = (books.group or "broker") .. ".list_sub_accounts",
    instead = not books.group and "sub_account.list_sub_accounts" or nil }
end

--- Returns the lists of one owner: { list, entity, operation, client, params, reach, back, from, to }. A list with
--- `is_state` shows the state of now. `every` bounds how often a list is asked for.
function M.of(books, owner)
  local lists = owner.client and own_lists(owner, books.address_coins) or {}
  if owner.is_main and books.group == "broker" then
    lists[#lists + 1] = { list = "broker_deposits", entity = "deposit", operation = "broker.all_deposit_history",
      reach = 3 * DAY, back = 3 * DAY }
    lists[#lists + 1] = { list = "rebate", entity = "rebate", operation = "broker.rebates", back = 2 * DAY,
      shows_days = true }
  end
  if owner.sub then -- a list without records, whose gap says that the key is missing
    lists[#lists + 1] = { list = M.KEY, is_state = true, every = owner.client and DAY, records = function()
      return owner.client and {} or error(errors.config "its own key is not at hand", 0)
    end }
  end
  if owner.sub and books.group then
    lists[#lists + 1] = { list = "api_keys", entity = "api_key", operation = books.group .. ".list_api_keys",
      params = { subAccount = owner.sub }, is_state = true, every = DAY, is_one_answer = true, to = owner.name }
    if books.group == "broker" then
      lists[#lists + 1] = { list = "status", entity = "status", operation = "broker.sub_account_status",
        params = { subAccount = owner.sub }, is_state = true, every = DAY, is_one_answer = true, is_lone = true,
        to = owner.name }
    end
    family_lists(lists, books, "", owner.sub)
    family_lists(lists, books, owner.sub, "")
    for _, name in ipairs(names_of(books.pairs)) do
      local pair = books.pairs[name]
      if pair[1] == owner.sub then family_lists(lists, books, pair[1], pair[2]) end
    end
  end
  for _, list in ipairs(lists) do list.back, list.client = list.back or DAY, list.client or books.main.client end
  return lists
end

return M
