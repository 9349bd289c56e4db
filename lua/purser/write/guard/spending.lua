-- SPDX-License-Identifier: MIT
-- The spending limits of accounts, in the journal. A client's limits are written for its account before its first
-- write, and hold for each later write of the account, whoever sends it. Of two limits of an asset over one period the
-- lower holds, until a person's word sets another.
--
-- `purser_charges` has a row for each asset that a call moves under a limit; `purser_spending` keeps a period's sum.

local core = require "purser.core"
local decimal = require "purser.decimal"
local errors = require "purser.client.call.errors"
local operations = require "purser.client.operations"
local intents = require "purser.write.intent"

local M = {}

local find, floor, format, gmatch, match = string.find, math.floor, string.format, string.gmatch, string.match
local upper = string.upper

local time_text = intents.time_text
local LOCK = 7078802
local OF_CALL = " FROM purser_charges WHERE call = $1 AND content = $2"

--- Keeps other hosts from charging until the transaction ends.
function M.lock(tx) tx:lock(LOCK) end

---@class purser.StandingLimit
---@field asset string
---@field period_ms integer
---@field amount purser.decimal

---@return purser.Error
function M.reject(row, rule, message, hint)
  local err = errors.argument(nil, format("rejected by the guard rail %s: %s", rule, message), hint)
  err.operation, err.code = row.full_name, "guard." .. rule
  return err
end

--- Returns the assets that a call's own parameter names. Only a conversion's list has commas.
function M.assets_of(row, params)
  if not row.moves then return {} end
  local text = upper(params[row.moves.asset])
  if row.by_name[row.moves.asset][2] ~= "coins" then return { text } end
  local list = {}
  for asset in gmatch(text, "[^,]+") do list[#list + 1] = asset end
  return list
end

--- Returns why no limit of an asset can be obeyed; nil where it can. A service may read "USDT " or "U%53DT" as USDT,
--- and shows USDT-TRX for USDT.
---@param limited table<string, any>  by asset
---@return string|nil message, string|nil hint
function M.unreadable(row, params, asset, limited)
  if find(asset, "[^A-Z0-9_.-]") or not limited[asset] and limited[match(asset, "^(.*)%-")] then
    return "the asset has a network, or a sign that is no letter of ASCII, digit, _, . or -",
      "write it as the service does"
  end
  if limited[asset] and not (row.moves.amount and params[row.moves.amount]) then
    return "the operation does not say how much " .. asset .. " it moves"
  end
end

------------------------------------------------------------------------------------------------------------ the limits

local function key_of(asset, period_ms) return format("%s %d", asset, period_ms) end

--- Adds a limit, unless a stricter one stands. Returns whether it was added.
---@param limits table<string, purser.StandingLimit>  by asset and period
---@param limit purser.StandingLimit
function M.restrict(limits, limit)
  local key = key_of(limit.asset, limit.period_ms)
  if limits[key] and limits[key].amount:compare(limit.amount) <= 0 then return false end
  limits[key] = limit
  return true
end

--- Returns the journal's limits by asset and period: a person's last word, and lower ones that clients brought since.
---@param own purser.JournalHome
---@return table<string, purser.StandingLimit> limits, string|nil newest  when the newest was written
---@return table<string, true> brought  by asset, period and amount: the limits that clients ever brought
function M.limits(own)
  local limits, newest, brought = {}, nil, {}
  for _, row in ipairs(own.limits) do
    newest = row.at
    local asset, amount, key = row.name, row.value, key_of(row.name, tonumber(row.period_ms))
    if row.person ~= "" then limits[key] = nil else brought[key .. " " .. amount] = true end
    if amount ~= "" then
      M.restrict(limits, { asset = asset, period_ms = tonumber(row.period_ms), amount = decimal(amount) })
    end
  end
  return limits, newest, brought
end

-- Writes a limit as the newest, whatever the machine's clock says. Without an amount the limit ends.
local function write(tx, limit, person, newest)
  local at = time_text(math.max(tx:now(), newest and tonumber(newest) + 1 or 0))
  tx:rows("INSERT INTO purser_limits (asset, period_ms, amount, person, at) VALUES ($1, $2, $3, $4, $5)",
    limit.asset, format("%d", limit.period_ms), limit.amount and tostring(limit.amount) or "", person, at)
  tx:rows("DELETE FROM purser_spending WHERE asset = $1", limit.asset) -- counted anew
  return at
end

--- Writes a client's limits that are stricter than its account's. The limit that a person's word overruled is no news:
--- a script would take the word back at each start.
---@param brought table<string, purser.StandingLimit>
---@param read fun(tx: table): purser.JournalHome
function M.keep(tx, brought, read)
  M.lock(tx)
  local limits, newest, known = M.limits(read(tx))
  for key, limit in pairs(brought) do
    local is_news = not known[key .. " " .. tostring(limit.amount)]
    if is_news and M.restrict(limits, limit) then newest = write(tx, limit, "", newest) end
  end
end

--- Writes a person's word on a limit. Returns nil; or why not.
---@param given { asset: string, amount: purser.decimal|nil, period_ms: integer|nil }  no amount: none
---@return string|nil problem
function M.set(tx, given, person, read)
  M.lock(tx)
  local limits, newest = M.limits(read(tx))
  local found, periods = nil, {}
  for _, limit in pairs(limits) do
    if limit.asset == upper(given.asset) then
      periods[#periods + 1] = format("%s in %d ms", tostring(limit.amount), limit.period_ms)
      if limit.period_ms == (given.period_ms or limit.period_ms) then found = limit end
    end
  end
  table.sort(periods)
  if not found or not given.period_ms and periods[2] then
    return format('the account has %s of %s', found and "several limits" or "no such limit", given.asset)
      .. (periods[1] and ": " .. table.concat(periods, ", ") or "")
  end
  write(tx, { asset = found.asset, period_ms = found.period_ms, amount = given.amount }, person, newest)
end

--------------------------------------------------------------------------------------------------------------- the sums

-- Adds an amount to the kept sums of a time.
local function add(tx, asset, at, amount)
  for _, row in ipairs(tx:rows("SELECT period_ms, number, amount FROM purser_spending WHERE asset = $1", asset)) do
    if floor(at / row.period_ms) == tonumber(row.number) then
      tx:rows("UPDATE purser_spending SET amount = $1 WHERE asset = $2 AND period_ms = $3",
        tostring(decimal(row.amount):add(amount)), asset, row.period_ms)
    end
  end
end

local function charge(tx, call, asset, amount, at)
  tx:rows("INSERT INTO purser_charges (call, content, asset, amount, at) VALUES ($1, $2, $3, $4, $5)",
    call.id, call.content, asset, amount, time_text(at))
  add(tx, asset, at, amount)
end

-- Charges a call that says how much it moves.
local function charge_row(tx, call, params, at)
  local moves = operations.by_name[call.operation].moves
  local amount = moves and moves.amount and params[moves.amount]
  if amount then charge(tx, call, upper(params[moves.asset]), amount, at) end
end

-- Charges the calls of a span that were recorded while no limit of their asset stood, all but one.
local function charge_earlier(tx, first, last, but)
  for _, row in ipairs(tx:rows([[SELECT * FROM purser_calls WHERE sent_at >= $1 AND sent_at < $2
    AND id <> $3 AND NOT EXISTS (SELECT 1 FROM purser_charges AS made WHERE made.call = purser_calls.id
    AND made.content = purser_calls.content)]], first, last, but)) do
    if intents.counts(row) then charge_row(tx, row, core.decode(row.params), tonumber(row.sent_at)) end
  end
end

-- Returns the sum of a period, without a call that begins; the sum is kept from then on.
local function spent(tx, asset, period_ms, at, call)
  local number, period = format("%d", floor(at / period_ms)), format("%d", period_ms)
  local kept = tx:rows("SELECT number, amount FROM purser_spending WHERE asset = $1 AND period_ms = $2", asset,
    period)[1]
  if kept and kept.number == number then return decimal(kept.amount) end
  local begins = floor(at / period_ms) * period_ms
  local total, first, last = decimal "0", time_text(begins), time_text(begins + period_ms)
  charge_earlier(tx, first, last, call.id)
  for _, row in ipairs(tx:rows("SELECT amount FROM purser_charges WHERE asset = $1 AND at >= $2 AND at < $3", asset,
    first, last)) do
    total = total:add(row.amount)
  end
  tx:rows([[INSERT INTO purser_spending (asset, period_ms, number, amount) VALUES ($1, $2, $3, $4)
    ON CONFLICT (asset, period_ms) DO UPDATE SET number = excluded.number, amount = excluded.amount]], asset, period,
    number, tostring(total))
  return total
end

-- Returns the rejection of a call that exceeds a limit.
local function exceeded(row, limit, own, amount, sum)
  local text = format("%s %s would exceed %s in this period, of which %s are spent, by %s", amount, limit.asset,
    tostring(limit.amount), tostring(sum), tostring(sum:add(amount) - limit.amount))
  if not own or own.amount:compare(limit.amount) > 0 then
    text = format("%s; the journal holds its account to %s in %d ms, and a person's word changes the limit: "
      .. "`purser journal limit %s AMOUNT`", text, tostring(limit.amount), limit.period_ms, limit.asset)
  end
  return M.reject(row, "spending_limit", text)
end

--- Charges a call to the limits of its account and its client. Returns the rejection of a call that exceeds one; the
--- caller then ends the transaction, which undoes the charges.
---@param call { id: string, content: string }  its row: the content of a payment may change
---@param brought table<string, purser.StandingLimit>
---@param own purser.JournalHome
---@return purser.Error|nil rejection
function M.admit(tx, own, intent, row, call, brought)
  local amount, limits = row.moves and row.moves.amount and intent.params[row.moves.amount], M.limits(own)
  for _, limit in pairs(brought) do M.restrict(limits, limit) end
  if not next(limits) then return nil end
  M.lock(tx)
  local limited = {}
  for _, limit in pairs(limits) do limited[limit.asset] = true end
  local assets = M.assets_of(row, intent.params)
  if assets[1] and intent.extra and intent.extra[1] and not next(brought) then -- a guard with limits judged them itself
    return M.reject(row, "spending_limit", 'the account has limits, and what the parameter "' .. intent.extra[1]
      .. '" does cannot be judged', "leave `extra_params` out")
  end
  for _, asset in ipairs(assets) do
    for key, limit in pairs(limits) do
      if limit.asset == asset then
        local sum = amount and spent(tx, asset, limit.period_ms, intent.sent_at, call)
        if sum and sum:add(amount):compare(limit.amount) > 0 then
          return exceeded(row, limit, brought[key], amount, sum)
        end
      end
    end
    local message, hint = M.unreadable(row, intent.params, asset, limited)
    if message then return M.reject(row, "spending_limit", message, hint) end
    if limited[asset] then charge(tx, call, asset, amount, intent.sent_at) end
  end
end

--- Charges a call that was executed, as a record or a late answer shows, as of a time.
function M.charge_found(tx, call, params, at)
  if tx:rows("SELECT call" .. OF_CALL, call.id, call.content)[1] then return end
  M.lock(tx)
  charge_row(tx, call, params, at)
end

--- Takes back the charges of a call's present content.
---@param call table<string, string>  its row
function M.release(tx, call)
  local charges = tx:rows("SELECT asset, amount, at" .. OF_CALL, call.id, call.content)
  if not charges[1] then return end
  M.lock(tx)
  tx:rows("DELETE" .. OF_CALL, call.id, call.content)
  for _, of in ipairs(charges) do add(tx, of.asset, of.at, -decimal(of.amount)) end
end

--- Gives the charges of a call's present content to another call.
---@param call table<string, string>  its row
---@param id string
function M.hand_over(tx, call, id)
  tx:rows("UPDATE purser_charges SET call = $1 WHERE call = $2 AND content = $3", id, call.id, call.content)
end

--- Deletes the charges before a time, but for those of a period that holds the time.
---@param before string  of time_text
function M.prune(tx, before)
  for _, of in ipairs(tx:rows("SELECT DISTINCT asset FROM purser_charges WHERE at < $1", before)) do
    local first = tonumber(before)
    for _, limit in ipairs(tx:rows("SELECT period_ms FROM purser_limits WHERE asset = $1", of.asset)) do
      first = math.min(first, floor(before / limit.period_ms) * limit.period_ms)
    end
    tx:rows("DELETE FROM purser_charges WHERE asset = $1 AND at < $2", of.asset, time_text(first))
  end
end

return M
