-- SPDX-License-Identifier: MIT
-- Whose books they are: the parent, its sub-accounts, and what others call them.

local record = require "purser.books.record"
local sources = require "purser.books.sources"
local sync = require "purser.books.sync"

local M = {}

--- Returns the asset that a coin of a history is: live ones carry their network, as USDT-TRX. What the service lists as
--- a coin stays whole. Raises the error of a call that fails.
function M.asset_of(self, coin)
  local name = tostring(coin)
  if not name:find("-", 1, true) then return name end
  if not self.coins then
    local list, err = self.main.client:call "wallet.coins"
    if not list then error(err, 0) end
    self.coins = {}
    for _, one in ipairs(list) do self.coins[one.coin] = true end
  end
  return self.coins[name] and name or name:match "^(.+)%-[^-]*$" or name
end

-- The sub-accounts by whichever operation the key may use; nil and an error.
local function list_subs(self)
  local err
  for _, group in ipairs(self.group and { self.group } or { "broker", "sub_account" }) do
    local found
    found, err = self.main.client:each(group .. ".list_sub_accounts"):collect()
    if found then
      self.group = group
      return found
    end
    if err.outcome ~= "rejected" then return nil, err end
  end
  return nil, err
end

local SUBS = { list = "sub_accounts" }

--- Opens or ends the gap of a sub-account that has no key of its own.
function M.note_key(self, owner)
  local list = { list = "key" }
  local state = sync.state_of(self, owner, list)
  local now = self.main.client:now()
  if not owner.client and state.error == "" then
    sync.note_gap(self, owner, list, state, now - self.since, { message = "the sub-account's own key is not at hand: "
      .. "its withdrawals, conversions and transfers with others are not read" })
  elseif owner.client and state.error ~= "" then
    assert(sync.end_gap(self, owner, list))
  end
end

--- Returns the owners there are; what cannot be listed is a problem of the run.
function M.list(self)
  local owners, by_name, now = { self.main }, {}, self.main.client:now()
  local found, err = list_subs(self)
  local rows, context = {}, { account = self.account, owner = "Main", asset = self.asset,
    source = sync.source_name(self, self.main, SUBS) }
  for _, sub in ipairs(found or {}) do
    for _, row in ipairs(record.rows("sub_account", sub, context)) do rows[#rows + 1] = row end
    local name = sub.subAccount
    local owner = { name = sources.owner_name(name), sub = name, client = self.keys[name] }
    owners[#owners + 1], by_name[sub.subAccount] = owner, owner
    self.identities[sub.subAccount] = self.identities[sub.subAccount] or owner.name
    if sub.uid then self.identities[tostring(sub.uid)] = owner.name end
  end
  for name, client in pairs(self.keys) do
    if not by_name[name] then
      owners[#owners + 1] = { name = sources.owner_name(name), sub = name, client = client }
    end
  end
  table.sort(owners, function(a, b)
    if a.is_main ~= b.is_main then return a.is_main or false end
    return a.name < b.name
  end)
  if found then sync.keep_plain(self, SUBS, rows, now)
  else sync.note_gap(self, self.main, SUBS, sync.state_of(self, self.main, SUBS), now - self.since, err) end
  local uid = not self.uid and self.main.client:call "live.uid"
  if uid then self.uid, self.identities[tostring(uid.uid)] = true, "Main" end
  return owners
end

--- Tells whether an owner is due, and takes it: another run that asks meanwhile finds it taken.
function M.take_due(self, owner, now)
  local _, changed = self.store.db:rows("UPDATE purser_books_owner SET due = $1 WHERE account = $2 AND owner = $3 "
    .. "AND due <= $4", record.time_text(now + self.every), self.account, owner.name, record.time_text(now))
  if changed == 1 then return true end
  return not self.store:rows("SELECT due FROM purser_books_owner WHERE account = $1 AND owner = $2", self.account,
    owner.name)[1]
end

return M
