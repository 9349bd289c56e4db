-- SPDX-License-Identifier: MIT
-- Releases: changes of the form of records. A service may change while a program runs, or write some records by another
-- path; histories then show new records in a form that earlier records do not have.
--
-- A release is plain data in the simulator's list. Each altered record keeps a copy of the release, so earlier records
-- stay as they were, and a snapshot contains all that is needed.

local decimal = require "purser.decimal"
local option_schema = require "purser.client.util.option_schema"

local M = {}

-- alter[word](shown, record, value): changes a record as a history shows it. The names are those of every history.
local alter = {}

function alter.coin(shown)
  for _, name in ipairs { "coin", "asset" } do
    if shown[name] then shown[name] = shown[name] .. "-" .. (shown.netWork or "TRX") end
  end
end

function alter.payee(shown)
  for _, name in ipairs { "address", "toAccount" } do
    if shown[name] then shown[name] = shown[name]:sub(1, 4) .. "****" .. shown[name]:sub(-4) end
  end
end

function alter.amount(shown, record)
  if record.fee then shown.amount = tostring(decimal(record.amount) - record.fee) end
end

function alter.own_ids(shown) shown.withdrawOrderId, shown.clientTranId = nil, nil end

local words = { coin = { "suffix" }, payee = { "masked" }, amount = { "net" }, own_ids = { "none" } }

local rules = {
  at = { 0, option_schema.EXACT, says = "a time in epoch milliseconds" }, above = "string", ids = { "again" },
  later_ms = { 0, option_schema.EXACT },
}
for word, values in pairs(words) do rules[word] = values end

--- Returns how a record of a history is shown.
function M.shown(record, shown)
  local form = record.release
  if not form then return shown end
  for word in pairs(words) do
    if form[word] then alter[word](shown, record) end
  end
  if record.shown_id then
    local name = shown.tranId and "tranId" or "id"
    shown[name] = record.shown_id
  end
  return shown
end

--- Notes at a new record the last release that is in force for it. `all` are the history's records before it.
function M.note(releases, record, all)
  local form
  for _, release in ipairs(releases) do
    local is_path = not release.above or decimal(record.amount or "0"):compare(release.above) > 0
    if record.time >= release.at and is_path then form = release end
  end
  if not form then return end
  record.release, record.time = form, record.time + (form.later_ms or 0)
  if form.ids then
    local number = 1
    for _, earlier in ipairs(all) do
      if earlier.shown_id then number = number + 1 end
    end
    record.shown_id = all[number] and all[number].id or nil
  end
end

---@class purser.SimReleaseOptions
---@field at integer|nil        epoch ms from which on it holds. Default: now
---@field above string|nil      of amounts above this alone: a second path, such as one with an approval
---@field coin "suffix"|nil     the coin with its network behind: USDT-TRX
---@field payee "masked"|nil    address or account with its middle hidden
---@field amount "net"|nil      a withdrawal less its fee
---@field own_ids "none"|nil    without withdrawOrderId and clientTranId
---@field ids "again"|nil       the service's ids begin again with those of its first records
---@field later_ms integer|nil  the record is written so much later, and has that time

---@class purser.Sim
local methods = {}
M.methods = methods

--- Changes the form of the withdrawals and transfers that are made from a moment on. The last release that fits a
--- record counts; one without words of a form brings the first form back.
---@param fields purser.SimReleaseOptions|nil
---@return table|nil release, string|nil message
function methods:release(fields)
  local release = {}
  local message = option_schema.text(fields or {}, rules, "word of a release")
  if message then return nil, message end
  for name, value in pairs(fields or {}) do release[name] = value end
  if release.above and not decimal(release.above) then return nil, "above must be the text of a decimal" end
  release.at = release.at or self:now()
  self.releases[#self.releases + 1] = release
  return release
end

return M
