-- SPDX-License-Identifier: MIT
-- The lists that an owner's records come from: whose key reads each, how far it reaches back, and how far behind the
-- newest record it is read again.

local M = {}

local HOUR, DAY = 3600000, 86400000

M.HOUR, M.DAY = HOUR, DAY

local pairs_of_places = { { "SPOT", "SPOT" }, { "SPOT", "FUTURES" }, { "FUTURES", "SPOT" }, { "FUTURES", "FUTURES" } }

--- Returns the name of an owner in the books: "" is the parent.
---@param sub string
---@return string
function M.owner_name(sub) return sub == "" and "Main" or "Sub-" .. sub end

-- The lists that an owner's own key shows.
local function own_lists(owner)
  local lists = {
    { list = "deposit", entity = "deposit", operation = "wallet.deposit_history", reach = 90 * DAY, back = 6.9 * DAY,
      chunk = 6.9 * DAY, quick = { limit = 1000 }, instead = not owner.is_main and "broker.deposit_history" or nil },
    { list = "withdrawal", entity = "withdrawal", operation = "wallet.withdrawal_history", reach = 90 * DAY,
      back = 6.9 * DAY, chunk = 6.9 * DAY, quick = { limit = 1000 } },
    { list = "internal_transfer", entity = "internal_transfer", operation = "wallet.internal_transfer_history",
      quick = { limit = 100 } },
    { list = "conversion", entity = "conversion", operation = "wallet.conversion_history",
      quick = { limit = 1000 }, whole_below = 1 }, -- a page holds one where its size is not heeded
  }
  for _, places in ipairs { pairs_of_places[2], pairs_of_places[3] } do
    lists[#lists + 1] = { list = ("transfer %s %s"):format(places[1], places[2]), entity = "transfer",
      operation = "wallet.transfer_history", reach = 178 * DAY, quick = { size = 100 }, from = owner.name,
      to = owner.name, params = { fromAccountType = places[1], toAccountType = places[2] } }
  end
  for _, list in ipairs(lists) do list.client = owner.client end
  return lists
end

-- The transfers between two accounts of a parent; "" names the parent itself.
local function family_lists(books, from, to)
  local lists = {}
  for _, places in ipairs(pairs_of_places) do
    lists[#lists + 1] = { list = ("family %s>%s %s %s"):format(from, to, places[1], places[2]), entity = "transfer",
      operation = books.group .. ".transfer_history", client = books.main.client,
      from = M.owner_name(from), to = M.owner_name(to),
      params = { fromAccount = from ~= "" and from or nil, toAccount = to ~= "" and to or nil,
        fromAccountType = places[1], toAccountType = places[2] } }
  end
  return lists
end

local function append(lists, more)
  for _, list in ipairs(more) do lists[#lists + 1] = list end
end

--- Returns the lists of one owner: { list, entity, operation, client, params, reach, back, chunk, from, to }.
function M.of(books, owner)
  local lists = owner.client and own_lists(owner) or {}
  if owner.is_main and books.group == "broker" then
    append(lists, {
      { list = "broker_deposits", entity = "deposit", operation = "broker.all_deposit_history", reach = 3 * DAY,
        back = 3 * DAY, client = owner.client },
      { list = "rebate", entity = "rebate", operation = "broker.rebates", client = owner.client, back = 2 * DAY,
        is_daily = true } })
  elseif not owner.is_main and books.group then
    append(lists, family_lists(books, "", owner.sub))
    append(lists, family_lists(books, owner.sub, ""))
    for _, pair in ipairs(books.pairs) do
      if pair[1] == owner.sub then append(lists, family_lists(books, pair[1], pair[2])) end
    end
  end
  for _, list in ipairs(lists) do list.back = list.back or DAY end
  return lists
end

return M
