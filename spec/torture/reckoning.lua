-- SPDX-License-Identifier: MIT
-- The reckoning: the service's ledger and the journal have to agree, payment by payment.
--
--     local reckoning = Reckoning.new { simulator =, client =, payouts =, journal =, started = }
--     reckoning:failed(list)  -- what was rejected is not at the service
--     reckoning:all()         -- at the end: every payment once, none lost, no unit created or destroyed
--     reckoning.problems      -- what does not hold

local core = require "purser.core"
local decimal = require "purser.decimal"
local operations = require "purser.client.operations"
local reading = require "purser.write.reading"
local world = dofile "spec/torture/world.lua"

local Reckoning = {}
Reckoning.__index = Reckoning

function Reckoning.new(fields)
  fields.problems = {}
  return setmetatable(fields, Reckoning)
end

function Reckoning:problem(text, ...)
  self.problems[#self.problems + 1] = text:format(...)
end

local TRIES = 100 -- the reckoning's own reads meet faults as well while there are any

local function insist(fn, ...)
  local value, err, why
  for _ = 1, TRIES do
    value, err, why = fn(...)
    if value then return value end
  end
  error(tostring(err or why), 0)
end

--- Puts payments back that were rejected. Of equal ones that nothing identifies the machine may not be able to tell.
function Reckoning:put_back(list)
  local keys, twins, forced = {}, {}, {}
  for _, payment in ipairs(list) do
    local group = world.is_twin(payment) and twins or keys
    group[#group + 1] = payment.key
    if group == twins then forced[#forced + 1] = payment end
  end
  local _, others = self.payouts:retry_all(twins, { force = true })
  assert(next(others) == nil, next(others))
  if self.approve and forced[1] then self.approve(forced) end
  for _ = 1, TRIES do
    others = select(2, self.payouts:retry_all(keys))
    keys = {}
    for key in pairs(others) do keys[#keys + 1] = key end
    table.sort(keys)
    if #keys == 0 then return end
  end
  for key, err in pairs(others) do self:problem("%s cannot be put back: %s", key, tostring(err)) end
end

-- All records the service keeps of payments, by what identifies them (a client_id, or an amount that occurs once) ->
-- how many, and the total.
local function read_histories(self)
  local function read(row, params) return self.client:call(row.full_name, params) end
  local found, total = {}, {}
  self.ids = {}
  local function take(operation, through, params, member, time_name)
    local records = insist(reading.all, read, operations.by_name[through], params, self.started - 60000,
      core.now_ms() + 60000, time_name)
    total[operation] = (total[operation] or 0) + #records
    for _, record in ipairs(records) do
      local id = operation .. " " .. (record[member] or "none")
      found[id] = (found[id] or 0) + 1
      self.ids[record.tranId or record.id] = true
    end
  end
  for _, name in ipairs(world.sub_names()) do
    take("sub_account.transfer", "sub_account.transfer_history",
      { fromAccountType = "SPOT", toAccountType = "SPOT", toAccount = name }, "clientTranId", "timestamp")
  end
  take("wallet.withdraw", "wallet.withdrawal_history", { coin = "USDT" }, "withdrawOrderId", "applyTime")
  take("wallet.internal_transfer", "wallet.internal_transfer_history", {}, "amount", "timestamp")
  return found, total
end

local function id_of(payment)
  local client_id = operations.by_name[payment.operation].reconcile.client_id
  return payment.operation .. " " .. payment.params[client_id or "amount"]
end

-- Who received how much by the list of payments that are done.
local function add_up(done)
  local sums = {}
  for _, payment in ipairs(done) do
    local to = payment.params.toAccount
    if to then sums[to] = (sums[to] or decimal "0") + payment.params.amount end
  end
  return sums
end

-- Returns whether a call of the payment's operation was answered before the payment was judged, whose record shows how
-- the service shows records with parts of a unit, as unique payments have: the whole amount of twins shows no such
-- thing. An answer of garbage names none.
local function has_witness(self, payment)
  for _, row in ipairs(assert(self.journal.db:rows("SELECT record_id, params FROM purser_calls WHERE operation = $1 "
    .. "AND answered IN ('yes', 'found') AND ended_at < (SELECT ended_at FROM purser_calls WHERE id = $2)",
    payment.operation, payment.id))) do
    if self.ids[row.record_id] and not world.is_twin { params = core.decode(row.params) } then return true end
  end
  return false
end

-- Returns true if a payment may be undecided although nothing is equal to it: the journal lacks its record, which has
-- no id; or the service hid members of the records that would prove it; or no record is a witness; or another record of
-- a payment to a user differs in one member.
local function is_explained(self, payment)
  local row = operations.by_name[payment.operation]
  local has_id = row.reconcile.client_id ~= nil
  -- without an id it waits a while for a call that may own its record, and for records that are missing
  local why = payment.why
  local has_waited = why == "rival" or why == "stale" or why == "next" or row.moves.to ~= "own" and why == "similar"
  return self.lacks and not has_id or self.noise and self.noise:explains(row)
    or not has_id and (has_waited or not has_witness(self, payment))
end

-- Equal payments that nothing identifies: how many there are is checked with the totals.
local function check_payments(self, list, found)
  local done, undecided = {}, {}
  for _, payment in ipairs(list) do
    local times = found[id_of(payment)] or 0
    local unique = not world.is_twin(payment)
    if payment.state == "done" then
      done[#done + 1] = payment
      if times ~= 1 and unique then self:problem("%s is done, and the service has it %d times", payment.key, times) end
    elseif payment.state == "undecided" then
      undecided[#undecided + 1] = payment
      if unique and not is_explained(self, payment) then
        self:problem("%s (%s) is undecided, and has no twin: %s", payment.key, payment.operation, payment.message)
      end
    else
      self:problem("%s is %s: %s", payment.key, payment.state, tostring(payment.message))
      if times ~= 0 and unique then
        self:problem("%s is %s, and the service has it %d times", payment.key, payment.state, times)
      end
    end
  end
  return done, undecided
end

local function check_totals(self, done, undecided, total)
  local counts = assert(self.simulator:counts())
  local by_operation, open = {}, {}
  for _, payment in ipairs(done) do
    by_operation[payment.operation] = (by_operation[payment.operation] or 0) + 1
  end
  for _, payment in ipairs(undecided) do open[payment.operation] = (open[payment.operation] or 0) + 1 end
  for operation, number in pairs(total) do
    local known = by_operation[operation] or 0
    if number < known or number > known + (open[operation] or 0) then
      self:problem("%s: the service keeps %d, the journal says %d are done", operation, number, known)
    end
    local applied = counts[operation] and counts[operation].applied or 0
    if applied ~= number then self:problem("%s: %d were applied and %d are kept", operation, applied, number) end
  end
end

local function check_balances(self, done, undecided)
  local sums, open = add_up(done), add_up(undecided)
  for _, account in ipairs(assert(self.simulator:state()).accounts) do
    local name = account.email or account.name
    local expected = sums[name]
    local held = decimal "0"
    for _, balance in ipairs(account.spot) do
      if balance.asset == "USDT" then held = held + balance.free end
    end
    local surplus = account.role ~= "broker" and not world.is_other(name) and held - (expected or "0") or decimal "0"
    -- Lua 5.1 compares two decimals, not a decimal and a text
    if surplus:sign() < 0 or (surplus - (open[name] or "0")):sign() > 0 then
      self:problem("%s holds %s and should hold %s, and %s undecided", name, tostring(held), tostring(expected or "0"),
        tostring(open[name] or "0"))
    end
  end
end

--- Checks payments that were rejected, and may be put back therefore: the service has none of them.
function Reckoning:failed(list)
  local found = read_histories(self)
  for _, payment in ipairs(list) do
    local times = found[id_of(payment)] or 0
    if times ~= 0 and not world.is_twin(payment) then
      self:problem("%s was rejected (%s), and the service has it %d times", payment.key, payment.message, times)
    end
  end
end

-- Returns why a payment may be undecided, by the rehearsal's own account; the service shows `times` records of it.
local function cause_of(self, payment, times)
  local where = self.lacks and "journal lost" or "journal whole"
  if world.is_twin(payment) then return where .. ", an equal payment, and nothing identifies either" end
  if self.lacks and times > 0 then return where .. ", made by an attempt that it alone knew" end
  if self.lacks then return where .. ", not made, and it alone knew whose the record is that resembles it" end
  if not has_witness(self, payment) then return where .. ", no other call was answered" end
  return where .. ", the service hid members of records"
end

--- Checks everything, when nothing is in flight any more. Returns how many payments are done and how many undecided,
--- and how many of these there are by cause, and there by reason.
---@return integer done, integer undecided, table<string, table<string, integer>> causes
function Reckoning:all()
  local sound, wrong = self.simulator:verify()
  if not sound then self:problem("the simulator's books: %s", wrong) end
  assert(self.journal:recover(self.client)) -- what belongs to no payment: keys that a death left open
  local list = assert(self.payouts:list())
  local found, total = read_histories(self)
  local done, undecided = check_payments(self, list, found)
  check_totals(self, done, undecided, total)
  check_balances(self, done, undecided)
  for _, name in ipairs { "open", "unknown" } do
    local left = #assert(self.journal:entries { state = name })
    if left > 0 then self:problem("%d journal entries are still %s", left, name) end
  end
  local causes = {}
  for _, payment in ipairs(undecided) do
    local cause = cause_of(self, payment, found[id_of(payment)] or 0)
    local reason = payment.operation .. ": " .. tostring(payment.message):gsub(":.*", "")
    causes[cause] = causes[cause] or {}
    causes[cause][reason] = (causes[cause][reason] or 0) + 1
  end
  return #done, #undecided, causes
end

--- Checks the payments of another account that shared the journal, the queue's name and the keys: each once.
function Reckoning:other(client, payouts, count)
  local list = assert(payouts:list())
  if #list ~= count then self:problem("the other account has %d payments of %d", #list, count) end
  local function read(row, params) return client:call(row.full_name, params) end
  local found = {}
  for _, record in ipairs(insist(reading.all, read, operations.by_name["broker.transfer_history"],
    { fromAccountType = "SPOT", toAccountType = "SPOT", toAccount = list[1].params.toAccount }, self.started - 60000,
    core.now_ms() + 60000, "timestamp")) do
    found[record.clientTranId] = (found[record.clientTranId] or 0) + 1
  end
  for _, payment in ipairs(list) do
    local times = found[payment.params.clientTranId] or 0
    local undecided = payment.state == "undecided" and times <= 1 and is_explained(self, payment)
    if not undecided and (times ~= (payment.state == "done" and 1 or 0)
      or payment.state ~= "done" and payment.state ~= "failed") then
      self:problem("the other account's %s is %s (%s), and the service has it %d times", payment.key, payment.state,
        tostring(payment.message), times)
    end
  end
end

--- Checks the keys of a list of { note, sub-account }: each is at the service once, and it is the one whose secret was
--- kept (`kept[note]`).
function Reckoning:keys(list, kept)
  for _, key in ipairs(list) do
    local note, sub = key[1], key[2]
    local found = {}
    for _, record in ipairs(insist(self.client.sub_account.list_api_keys, self.client.sub_account,
      { subAccount = sub })) do
      if record.note == note then found[#found + 1] = record.apiKey end
    end
    if #found ~= 1 or found[1] ~= kept[note] then
      self:problem("key %s: the service has %d of that note, kept was %s", note, #found,
        found[1] == kept[note] and "the first" or "another")
    end
  end
end

return Reckoning
