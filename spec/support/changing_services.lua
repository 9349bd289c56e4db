-- SPDX-License-Identifier: MIT
-- Services that change: how a service shows its records is a matter of time, of the amount, or of chance. The worlds of
-- changing_worlds.lua make payments at them.
--
--     local service = changing_services.draw("release", random, now)
--     service:shown(entry, now)   the record of an entry of the ledger, as a list of that time shows the entry

local M = {}

local MINUTE, HOUR = 60000, 3600000

--- The operations by which payments are made: the names of their parameters, and of what a record shows.
M.families = {
  withdrawal = { group = "wallet", name = "withdraw", path = "/api/v3/capital/withdraw", record_id = "id",
    list = "/api/v3/capital/withdraw/history", client_id = "withdrawOrderId", time = "applyTime", coin = "coin",
    payee = "address", fixed = { netWork = "TRX" } },
  sub_account = { group = "sub_account", name = "transfer", path = "/api/v3/capital/sub-account/universalTransfer",
    client_id = "clientTranId", record_id = "tranId", time = "timestamp", coin = "asset", payee = "toAccount",
    fixed = { fromAccountType = "SPOT", toAccountType = "SPOT" } },
  user = { group = "wallet", name = "internal_transfer", path = "/api/v3/capital/transfer/internal",
    record_id = "tranId", time = "timestamp", coin = "asset", payee = "toAccount",
    fixed = { toAccountType = "EMAIL" } },
  own = { group = "wallet", name = "transfer", path = "/api/v3/capital/transfer", record_id = "tranId",
    time = "timestamp", coin = "asset", fixed = { fromAccountType = "SPOT", toAccountType = "FUTURES" } },
}

---@class changing.Service
---@field kind string       one of M.KINDS
---@field family table      of M.families
---@field shows_ids boolean the caller's ids
---@field switch integer    when it changes, epoch ms
---@field span integer      of the world, ms
---@field fee number
---@field cut number        amounts from here on go another way
---@field wait integer      ms until a record is settled, moved or approved
---@field blip integer      ms until a release is rolled back, or an outage ends
---@field member string     that a release alters
---@field members string[]  that another release alters together
---@field code string       by which the service rejects during an incident
---@field lag integer       ms until a record is visible
local Service = {}
Service.__index = Service

-- Alters a member; `record` has the members payee, amount, coin, time and id.
local alter = {
  payee = function(self, record)
    record.payee = self.family.client_id == "clientTranId" and record.payee .. "@sub"
      or record.payee:sub(1, 3) .. "****" .. record.payee:sub(-3)
  end,
  amount = function(self, record, sent)
    record.amount = self.family.client_id == "clientTranId" and ("%.2f"):format(math.floor(sent * 100) / 100)
      or ("%.8f"):format(sent - self.fee):gsub("%.?0+$", "")
  end,
  coin = function(_, record) record.coin = record.coin .. "-TRX" end,
  time = function(_, record) record.time = record.time - record.time % MINUTE + 8 * HOUR end,
}

-- Each changes a record of which `sent` is the amount. `entry.dice` is drawn once for each entry.
local changes = {}

function changes.plain() end

-- A person approves large amounts, and then another program writes the record.
function changes.approval(self, record, sent, entry, now)
  if sent < self.cut then return end
  record.id = nil
  if now - entry.made > self.wait then record.time = entry.made + self.wait end
end

-- Payees inside the platform are shown in another form; the others pay a fee.
function changes.insiders(self, record, sent)
  if record.payee:byte(-1) % 2 == 0 then
    record.payee = "uid" .. record.payee:reverse():sub(1, 8)
  else
    alter.amount(self, record, sent)
  end
end

function changes.release(self, record, sent, entry)
  if entry.made < self.switch then return end
  alter[self.member](self, record, sent)
end

function changes.twomembers(self, record, sent, entry)
  if entry.made < self.switch then return end
  for _, name in ipairs(self.members) do alter[name](self, record, sent) end
  record.id = nil
end

-- A release that is rolled back.
function changes.blip(self, record, sent, entry)
  if entry.made < self.switch or entry.made >= self.switch + self.blip then return end
  alter[self.member](self, record, sent)
  record.id = nil
end

-- A release that reaches one machine after another, within an hour.
function changes.canary(self, record, sent, entry)
  if entry.dice * HOUR < entry.made - self.switch then alter[self.members[1]](self, record, sent) end
end

-- Two ways inside the service, by chance; from a moment on one alone.
function changes.centres(self, record, sent, entry)
  if entry.made < self.switch and entry.dice >= 0.5 then return end
  alter[self.member](self, record, sent)
  record.time = record.time - record.time % 1000 - HOUR
  record.id = record.id and record.id:upper()
end

-- Old records come out of another table.
function changes.archive(self, record, sent, entry, now)
  if now - entry.made <= self.wait then return end
  alter[self.member](self, record, sent)
  record.id = nil
  if self.member ~= "amount" then record.amount = ("%.18f"):format(sent):sub(1, 24) end
end

-- Under way as sent; afterwards net, with the time of the end.
function changes.settle(self, record, sent, entry, now)
  if now - entry.made <= self.wait then return end
  alter.amount(self, record, sent)
  record.time = entry.made + self.wait
end

-- Summer time ends: all records, by the time of the look.
function changes.zone(self, record, _, _, now)
  if now >= self.switch then record.time = record.time + HOUR end
end

-- Times of a batch; large amounts less a fee.
function changes.batch(self, record, sent, entry, now)
  local at = entry.made - entry.made % (10 * MINUTE) + 10 * MINUTE
  record.time = at > now and entry.made or at
  if sent >= self.cut then alter.amount(self, record, sent) end
end

-- These show records as sent: ids of records begin again, requests do not arrive, or are executed and rejected; some
-- answers, or all from a moment on, name no record.
changes.renumber, changes.brownout, changes.incident = changes.plain, changes.plain, changes.plain
changes.garbled, changes.orders = changes.plain, changes.plain

--- Returns the id that the answer to a payment names.
function Service:answered(entry)
  if self.kind == "garbled" and entry.dice < 0.1 then return ("1234567890"):rep(4) end
  return (self.kind == "orders" and entry.made >= self.switch and "order-" or "") .. entry.number
end

M.KINDS = { "plain", "approval", "insiders", "release", "twomembers", "blip", "canary", "centres", "archive", "settle",
  "zone", "batch", "renumber", "brownout", "incident", "garbled", "orders" }

local function amount_of(text) return tonumber(text) end

--- Returns the record of an entry { made, number, params, dice }, as a list shows the entry now.
function Service:shown(entry, now)
  local family, params = self.family, entry.params
  local record = { id = self.shows_ids and family.client_id and params[family.client_id] or nil, time = entry.made,
    coin = params[family.coin]:upper(), amount = params.amount, payee = family.payee and params[family.payee] }
  if family.payee then changes[self.kind](self, record, amount_of(params.amount), entry, now) end
  local shown = { [family.record_id] = entry.number, amount = record.amount, [family.coin] = record.coin,
    [family.time] = record.time }
  if family.client_id then shown[family.client_id] = record.id end
  if family.payee then shown[family.payee] = record.payee end
  if family.record_id == "id" then
    shown.network, shown.status = "Tron(TRC20)", 7
  else
    shown.status, shown.fromAccount = "SUCCESS", params.fromAccount
    shown.fromAccountType, shown.toAccountType = params.fromAccountType, params.toAccountType
  end
  return shown
end

local TWO = { { "payee", "amount" }, { "coin", "payee" }, { "time", "payee" }, { "coin", "time" },
  { "amount", "time" } }

--- Draws a service.
---@param random fun(n: integer): integer  from 1 to n
---@param now integer
function M.draw(kind, random, now)
  local function pick(list) return list[random(#list)] end
  local span = pick { 10 * MINUTE, HOUR, 6 * HOUR, 30 * HOUR }
  local family = pick { "withdrawal", "withdrawal", "sub_account", "user", "user" }
  return setmetatable({ kind = kind, family = M.families[family], shows_ids = random(3) == 1, span = span,
    switch = now + random(span), fee = pick { 1, 0.5, 2 }, cut = pick { 50, 300, 500 },
    wait = pick { 2 * MINUTE, 20 * MINUTE, HOUR }, blip = pick { 2 * MINUTE, 30 * MINUTE, 2 * HOUR },
    member = pick { "payee", "amount", "coin" }, members = pick(TWO),
    code = pick { "700003", "10101", "700004", "30016" }, lag = pick { 500, 500, 20000 } }, Service)
end

--- Returns a service that shows all as it was sent.
function M.plain(family, shows_ids, span, lag)
  return setmetatable({ kind = "plain", family = M.families[family], shows_ids = shows_ids, span = span,
    switch = math.huge, blip = 0, lag = lag }, Service)
end

return M
