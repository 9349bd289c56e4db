-- SPDX-License-Identifier: MIT
-- The owners of books: the parent, its sub-accounts, and other names of each.

local names_of = require "purser.client.util.names_of"
local planned = require "purser.write.planned"
local reach = require "purser.desk.books.reach"
local record = require "purser.desk.books.record"
local sources = require "purser.desk.books.sources"
local sync = require "purser.desk.books.sync"

local M = {}

--- Returns the asset of a coin: live histories add a network, as USDT-TRX, to coins of the service's list. Raises the
--- error of a call.
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

--- Returns the owners. An unread list is a problem of the run.
function M.list(self)
  local owners, by_name = { self.main }, {}
  local list = sources.sub_accounts(self)
  local was_read = sync.read_list(self, self.main, list, { changes = 0 })
  if was_read then self.group = list.operation:match "^[^.]+" end
  for _, sub in ipairs(self.store:rows("SELECT sid, client_id, time FROM purser_books_sub_account WHERE "
    .. "account = $1 AND missing_since = '' ORDER BY sid", self.account)) do -- of the newest list that was read
    by_name[sub.sid] = { name = sources.owner_name(sub.sid), sub = sub.sid, created = sub.time }
    self.identities[sub.sid] = self.identities[sub.sid] or by_name[sub.sid].name
    if sub.client_id ~= "" then self.identities[sub.client_id] = by_name[sub.sid].name end
  end
  for name, client in pairs(self.keys) do
    by_name[name] = by_name[name] or { name = sources.owner_name(name), sub = name }
    by_name[name].client = client
  end
  local shown = {}
  for _, name in ipairs(names_of(by_name)) do
    owners[#owners + 1], shown[by_name[name].name] = by_name[name], true
  end
  if was_read then reach.leave_out(self, shown, self.main.client:now()) end
  local uid = not self.uid and self.main.client:call "live.uid"
  if uid then self.uid, self.identities[tostring(uid.uid)] = true, "Main" end
  return owners
end

local function open_payments(journal)
  local open = {}
  for _, state in ipairs { "open", "unknown", "undecided" } do
    for entry in journal:each_entry { state = state } do
      open[#open + 1] = entry.intent.params.amount and entry or nil
    end
  end
  return open
end

-- Takes the payments and calls of a journal, whose account is an owner's.
local function take_journal(self, owner, journal, now)
  local id, err = journal:id() -- another machine's journal does not show these
  if not id then error(err, 0) end
  local account = journal:account()
  if account then self.identities[account] = self.identities[account] or owner end
  sync.read_list(self, self.main, { list = "calls " .. id:sub(1, 8), entity = "call", is_state = true,
    client = self.main.client, records = function() return open_payments(journal) end }, { changes = 0 })
  for entry in journal:each_entry { after = self.last_calls[id] } do
    self.last_calls[id] = entry
    local params, names = entry.intent.params, { self.identities[entry.intent.account] or owner }
    if params.fromAccount and params.toAccount then
      self.pairs[params.fromAccount .. " " .. params.toAccount] = { params.fromAccount, params.toAccount }
    end
    for _, member in ipairs { "fromAccount", "toAccount", "subAccount" } do
      names[#names + 1] = params[member] and sources.owner_name(params[member])
    end
    for _, name in ipairs(now - entry.intent.sent_at < sources.DAY and names or {}) do
      self.store:rows("UPDATE purser_books_owner SET due = $1, every = $2, hot_until = $3 WHERE account = $4 AND "
        .. "owner = $5", record.time_text(now), record.time_text(self.every), record.time_text(now + sources.DAY),
        self.account, name)
    end
  end
end

--- Takes from the journals the payments without a known end, and the calls since the last look: their owners are due
--- soon, and their pairs of sub-accounts are looked for.
function M.note_calls(self, now)
  if not next(self.journals) then return end
  self.identities[self.main.client:account()] = "Main"
  for name, client in pairs(self.keys) do self.identities[client:account()] = sources.owner_name(name) end
  for _, owner in ipairs(names_of(self.journals)) do take_journal(self, owner, self.journals[owner], now) end
end

--- Lets the journals know what became of accepted withdrawals, by the books: also where a run was killed, or a journal
--- is named for the first time.
function M.note_arrivals(self, now)
  for _, owner in ipairs(names_of(self.journals)) do
    local journal = self.journals[owner]
    local ids, err = planned.awaited(journal)
    if not ids then error(err, 0) end
    for _, id in ipairs(ids) do
      local rid = record.rid({ account = self.account, entity = "withdrawal", identity = id }, 1)
      local row = self.store:rows("SELECT state FROM purser_books_record WHERE rid = $1", rid)[1]
      if row then planned.note_in(journal, { id = id, status = row.state }, now) end
    end
  end
end

--- Tells whether an owner is due, and takes the owner: another run finds the owner taken.
function M.take_due(self, owner, now)
  local _, changed = self.store:rows("UPDATE purser_books_owner SET due = $1 WHERE account = $2 AND owner = $3 "
    .. "AND due <= $4", record.time_text(now + self.every), self.account, owner.name, record.time_text(now))
  if changed == 1 then return true end
  return not self.store:rows("SELECT due FROM purser_books_owner WHERE account = $1 AND owner = $2", self.account,
    owner.name)[1]
end

return M
