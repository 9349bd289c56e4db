-- SPDX-License-Identifier: MIT
-- A record of a deposit as values. Records that differ by spelling alone have one face: by `0x` and `:0` of a
-- transaction, capitals and prefix of an address, `address:memo`, zeros at the end of an amount, names of a network.

local decimal = require "purser.decimal"
local digest = require "purser.client.util.digest"
local json = require "purser.json"
local states = require "purser.client.operations.states"

local M = {}

local LATEST = 1e13 -- times are kept as 13 digits
local PREFIXED = 12 -- characters behind a colon: more are an address, fewer may be a memo

local function text_of(value)
  local text = value == nil and "" or tostring(value)
  return (text:gsub("%z", "\\0")) -- neither database keeps a zero byte
end

--- Returns a record as JSON, without members that are tables.
function M.raw(v)
  local flat = {}
  for name, value in pairs(v.record) do
    if type(value) ~= "table" then flat[name] = value end
  end
  local went, text = pcall(json.encode, next(flat) ~= nil and flat or json.object {})
  return went and text or "{}"
end

--- Returns an address as a value, and its memo, which may stand behind the address.
---@param address any
---@param memo any
---@return string at, string memo
function M.place(address, memo)
  address, memo = text_of(address), text_of(memo)
  address = address:gsub("^%a+:(%w+)$", function(rest) return #rest > PREFIXED and rest or nil end)
  local front, behind = address:match "^(.-):(.+)$"
  if front then
    address = front
    if memo == "" then memo = behind end
  end
  return address:lower(), memo
end

--- Returns a record as values. Without a transaction the time belongs to the face.
---@param record table           of C4 or A11
---@param network_of fun(coin: string, name: string): string, string  coin and network by one name each
---@return table
function M.value(record, network_of)
  local v = { address = text_of(record.address), record = record }
  v.coin, v.network = network_of(text_of(record.coin), text_of(record.network))
  v.at, v.memo = M.place(record.address, record.memo)
  v.tx = text_of(record.txId):lower():gsub("^0x", ""):gsub(":%d+$", "")
  local time = tonumber(record.insertTime) or 0
  v.time = time >= 0 and time < LATEST and math.floor(time) or 0
  v.state, v.kind = text_of(record.status), states.credit(record.status)
  local amount = decimal(text_of(record.amount))
  v.amount = amount and tostring(amount) or text_of(record.amount)
  if not amount or amount:sign() < 1 then v.kind = "ask" end
  v.face = digest.id("deposit", v.coin, v.network, v.tx, v.at, v.memo, v.amount, v.tx == "" and tostring(v.time) or "")
  return v
end

return M
