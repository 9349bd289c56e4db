-- SPDX-License-Identifier: MIT
--- Converts small balances into the platform token: C13 takes 15 at a time.

local option_schema = require "purser.client.util.option_schema"
local decimal = require "purser.decimal"
local errors = require "purser.client.call.errors"

---@class purser.ConversionReport
---@field converted string[]  the coins
---@field failed purser.record.failed_conversion[]
---@field skipped { asset: string, balance: string, code: string|nil, message: string }[]
---@field totalConvert string|nil  of all batches; nil where a batch did not show an amount
---@field convertFee string|nil
---@field batches integer

local M = {}

local BATCH = 15
local rules = { only = option_schema.TEXTS, except = option_schema.TEXTS }

local function set_of(list)
  local set = list and {}
  for _, coin in ipairs(list or {}) do set[coin:upper()] = true end
  return set
end

-- Returns the convertible balances, and the others with a reason; or nil and an error.
local function sort_out(balances, only, except)
  local requested, skipped = {}, {}
  for _, entry in ipairs(balances) do
    local code, reason = entry.code, nil
    if not entry.asset then
      return nil, errors.undecodable("wallet.convertible_balances", "the list has a balance without an asset")
    end
    if code ~= nil and code ~= "" and code ~= "0" and code ~= "200" then
      reason = entry.message or "the service gave no reason"
    elseif except and except[entry.asset:upper()] or only and not only[entry.asset:upper()] then
      code, reason = nil, "not asked for"
    end
    if reason then
      skipped[#skipped + 1] = { asset = entry.asset, balance = entry.balance, code = code, message = reason }
    else
      requested[#requested + 1] = entry.asset
    end
  end
  table.sort(requested)
  return requested, skipped
end

local function add(report, answer)
  for _, asset in ipairs(answer.successList or {}) do report.converted[#report.converted + 1] = asset end
  for _, failed in ipairs(answer.failedList or {}) do report.failed[#report.failed + 1] = failed end
  for _, member in ipairs { "totalConvert", "convertFee" } do
    local value = report[member] and decimal.shown(answer[member])
    report[member] = value and tostring(decimal(report[member]) + value) or nil
  end
  report.batches = report.batches + 1
end

--- Converts every convertible small balance (C12, C13): `only` and `except` are lists of coins. A batch that fails is
--- the last: the `details` of its error have the `report` so far and the batch's `assets`. With outcome "unknown" look
--- in conversion_history before you convert those again.
---@param client purser.Client
---@param params { only: string[]|nil, except: string[]|nil }|nil
---@param opts purser.CallOptions|nil
---@return purser.ConversionReport|nil report, purser.Error|nil err
function M.convert_all(client, params, opts)
  params = params or {}
  local message, name, hint = option_schema.check(params, rules, "parameter")
  if message then return nil, errors.argument(name, message, hint) end
  local balances, err = client.wallet:convertible_balances()
  if not balances then return nil, err end
  local requested, skipped = sort_out(balances, set_of(params.only), set_of(params.except))
  if not requested then return nil, skipped end
  local report = { converted = {}, failed = {}, skipped = skipped, totalConvert = "0", convertFee = "0", batches = 0 }
  for first = 1, #requested, BATCH do
    local batch = {}
    for i = first, math.min(#requested, first + BATCH - 1) do batch[#batch + 1] = requested[i] end
    local answer
    answer, err = client.wallet:convert({ asset = batch }, opts)
    if not answer then
      err.details = { report = report, assets = batch }
      return nil, err
    end
    add(report, answer)
  end
  return report
end

return M
