-- SPDX-License-Identifier: MIT
-- Reads the service's list of deposits: two hours at each look, two days each half hour, all each twelve hours, at the
-- start and after an error. Records have one fingerprint where spelling alone differs: `0x` and `:0` of a transaction,
-- an address of one payee, `address:memo`, zeros at the end of an amount, names of a network.

local decimal = require "purser.decimal"
local digest = require "purser.client.util.digest"
local errors = require "purser.client.call.errors"
local json = require "purser.json"
local purser_address = require "purser.address"
local states = require "purser.client.operations.states"
local utc = require "purser.client.util.utc"

local M = {}

local LATEST = 1e13 -- times are kept as 13 digits

local function text_of(value)
  local text = value == nil and "" or tostring(value)
  return (text:gsub("%z", "\\0")) -- neither database keeps a zero byte
end

--- Returns a record as JSON, without members that are tables.
function M.raw(v)
  local flat = {}
  for name, value in pairs(v.shown) do
    if type(value) ~= "table" then flat[name] = value end
  end
  local went, text = pcall(json.encode, next(flat) ~= nil and flat or json.object {})
  return went and text or "{}"
end

--- Returns an address and its memo as values: each equal for equal payees, whatever the spelling.
---@param address any
---@param memo any
---@return string at, string memo
function M.place(address, memo) return purser_address.place(text_of(address), text_of(memo)) end

--- Returns a record as values. Without a transaction the time belongs to the fingerprint.
---@param record table           of C4 or A11
---@param network_of fun(coin: string, name: string): string, string  coin and network by one name each
---@return table
function M.value(record, network_of)
  local v = { address = text_of(record.address), shown = record }
  v.coin, v.network = network_of(text_of(record.coin), text_of(record.network))
  v.at, v.memo = M.place(record.address, record.memo)
  v.tx = text_of(record.txId):lower():gsub("^0x", ""):gsub(":%d+$", "")
  local time = tonumber(record.insertTime) or 0
  v.time = time >= 0 and time < LATEST and math.floor(time) or 0
  v.status, v.kind = text_of(record.status), states.credit(record.status)
  local amount = decimal(text_of(record.amount))
  v.amount = amount and tostring(amount) or text_of(record.amount)
  if not amount or amount:sign() < 1 then v.kind = "ask" end
  v.fingerprint = digest.id("deposit", v.coin, v.network, v.tx, v.at, v.memo, v.amount,
    v.tx == "" and tostring(v.time) or "")
  return v
end

local MIN, HOUR, DAY = 60000, 3600000, 86400000
local MARGIN_MS = 540000 -- the walk takes a while

local Reader = {}
Reader.__index = Reader

-- Returns a record's coin and network by their canonical names, or as shown where the service does not know them. The
-- live service shows a coin of several networks with the network, as USDT-TRX.
local function named(self, coin, network)
  local function find(name, of)
    local found, err = self.client.wallet:find_network { coin = name, network = of, max_age_ms = DAY }
    if not found and err.kind ~= "argument" and err.outcome ~= "rejected" then error(err, 0) end
    return found
  end
  local name = network ~= "" and network or nil
  local found = name and find(coin, name)
  if not found and coin:find("-", 2, true) then
    local front, behind = coin:match "^(.-)%-(.+)$"
    found = find(front, name or behind) or find(front, behind)
  end
  if not found then return coin, network end
  return found.coin, found.netWork or found.network
end

local function name_of(self, coin, network)
  local key = digest.id("coin", coin, network)
  local known = self.names[key]
  if not known or self.client:now() - known.at > DAY then
    local one, other = named(self, coin, network)
    known = { coin = one, network = other, at = self.client:now() }
    self.names[key] = known
  end
  return known.coin, known.network
end

-- Returns how far back a look goes.
local function depth_of(self, now)
  if not self.ok_at then return now - 90 * DAY end
  local from = math.min(now, self.ok_at) - 2 * HOUR
  if math.abs(now - self.ok_at) > 30 * MIN or now - self.wide_at > 30 * MIN or now < self.wide_at then
    from = math.min(now, self.ok_at) - 2 * DAY
  end
  if now - self.deep_at > 12 * HOUR or now < self.deep_at then from = now - 90 * DAY end
  return math.min(from, self.need or from)
end

--- Reads. Returns a reading for identity.take; or nil and an error.
function Reader:read(is_first)
  if not self.ok_at then
    local corrected, err = self.client:sync_clock()
    if not corrected then return nil, err end
  end
  local now = self.client:now()
  local deepest = math.max(now - 90 * DAY, self.client:earliest(self.operation, now) + MARGIN_MS)
  local from = is_first and deepest or math.max(deepest, depth_of(self, now))
  self.ok_at = nil -- the next reading is deep, unless this one is taken whole
  local walk = self.client:each(self.operation, { from = from, coin = self.coin })
  local values = {}
  while true do
    local record, err = walk:next()
    if err then return nil, err end
    if not record then break end
    local went, value = pcall(M.value, record, function(coin, network) return name_of(self, coin, network) end)
    if not went then
      if type(value) == "string" then error(value, 0) end
      return nil, value
    end
    values[#values + 1] = value
  end
  return { at = now, from = from, deepest = deepest, values = values, is_first = is_first }
end

--- Notes that a reading was taken whole, and how far back the next one has to go (`need`).
function Reader:took(reading)
  self.need, self.ok_at = reading.need, reading.at
  local is_deep = reading.from <= reading.deepest
  if is_deep or reading.from <= reading.at - 2 * DAY then self.wide_at = reading.at end
  if is_deep then self.deep_at = reading.at end
end

--- Returns an error where the service no longer shows all that lies between the last reading and this one.
function M.gap(book, reading)
  local last = tonumber(book:meta "read" or book:meta "since")
  book:set_meta("read", reading.at)
  if reading.from <= last or reading.from > reading.deepest then return nil end
  return errors.new { kind = "workflow", outcome = "unknown", message = ("from %s to %s nothing was read, and the "
    .. "service shows that time no more: look for deposits of it by hand"):format(utc.text(last),
    utc.text(reading.from)) }
end

---@param client purser.Client
---@param options { coin: string|nil, sub_accounts: boolean|nil }
function M.new(client, options)
  return setmetatable({ client = client, coin = options.coin, names = {},
    operation = options.sub_accounts and "broker.all_deposit_history" or "wallet.deposit_history" }, Reader)
end

return M
