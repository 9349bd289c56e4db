-- SPDX-License-Identifier: MIT
--- Waits for a withdrawal, a transfer, or anything that can be read. Deposits are credited by purser.receive.
--
-- A wait reads less and less often. It ends with the record at its goal; with an error where the goal can no longer be
-- reached (outcome "rejected") or the time is over (outcome "unknown"): `details.record` is the last record. A read is
-- repeated after a retryable error alone.

local errors = require "purser.client.call.errors"
local names_of = require "purser.client.util.names_of"
local option_schema = require "purser.client.util.option_schema"
local planned = require "purser.write.planned"
local states = require "purser.client.operations.states"

---@class purser.WaitTimes
---@field deadline_ms integer|nil  ends the wait. Default: 600000
---@field first_ms integer|nil     the first pause. Default: 1000
---@field max_ms integer|nil       the longest pause. Default: 30000
---@field progress fun(at: purser.WaitProgress)|nil  called after each read that ends nothing

---@class purser.WaitProgress
---@field what string             what is waited for
---@field state string|nil        its state, in words
---@field record table|nil        what was read last
---@field left_ms integer         until the deadline
---@field error purser.Error|nil  of the read, when it failed

---@class purser.WaitOptions: purser.WaitTimes
---@field read fun(): any, purser.Error|nil    returns a value, or nil and an error; nil alone: nothing yet
---@field judge fun(value: any): string|nil, string|nil  returns "done", "failed" or nothing, and words for the message
---@field what string|nil                      a name for messages

---@class purser.WaitWithdrawalOptions: purser.WaitTimes
---@field goal "success"|"sent"|"final"|"cancelled"|nil  "sent": it has left; "final": in any way. Default: "success"
---@field since integer|nil  epoch ms from where it is looked for. Default: 7 days ago
---@field coin string|nil    fewer records to look through

---@class purser.TransferSought  the parameters that a transfer was made with
---@field clientTranId string
---@field fromAccountType purser.account_types
---@field toAccountType purser.account_types
---@field fromAccount string|nil
---@field toAccount string|nil
---@field asset string|nil
---@field amount string|nil

local M = {}

local DAY = 86400000
local defaults = { deadline_ms = 600000, first_ms = 1000, max_ms = 30000 }
local GROWTH = 1.5
local MAX_SHOWN = 1000 -- by C5 at once

local function failure(outcome, message, record, retryable)
  return errors.new { kind = "workflow", outcome = outcome, phase = "wait", message = message,
    details = { record = record }, retryable = retryable }
end

-- Returns the times and the other options; or nil and an argument error.
local function take_times(options, own)
  options = options or {}
  local rules, times, rest = { progress = "function" }, {}, {}
  for name, rule in pairs(own or {}) do rules[name] = rule end
  for name, value in pairs(defaults) do rules[name], times[name] = { 1 }, value end
  local message, name, hint = option_schema.check(options, rules, "option")
  if message then return nil, errors.option(message, name, hint) end
  for word, value in pairs(options) do (defaults[word] and times or rest)[word] = value end
  return times, rest
end

-- Reads until judge(value) says "done" or "failed". `progress` is called after each read that ends nothing.
local function wait(client, times, what, read, judge, progress)
  local deadline, pause = nil, times.first_ms
  local value, words, last_err
  while true do
    local now_value, err = read()
    if err and not err.retryable then return nil, err end
    last_err = err
    if now_value ~= nil then
      local verdict
      value = now_value
      verdict, words = judge(value)
      if verdict == "done" then return value end
      if verdict == "failed" then return nil, failure("rejected", ("%s %s"):format(what, words), value) end
    end
    -- The first read may have set the client's clock right, so the time counts from there.
    deadline = deadline or client:now() + times.deadline_ms
    local left = deadline - client:now()
    if left <= 0 then break end
    if err and err.retry_after then pause = math.max(pause, err.retry_after * 1000) end
    if progress then progress { what = what, state = words, record = value, left_ms = left, error = err } end
    client:sleep(math.max(1, math.min(pause, left)))
    pause = math.min(math.floor(pause * GROWTH), times.max_ms)
  end
  local state = words or (value ~= nil and "was not as requested") or "was not found"
  return nil, failure("unknown", ("%s %s after %d ms%s"):format(what, state, times.deadline_ms,
    last_err and "; the last read failed: " .. tostring(last_err.message) or ""), value, true)
end

--- Waits until `judge` accepts what `read` returns.
---@param client purser.Client
---@param options purser.WaitOptions
---@return any value, purser.Error|nil err
function M.wait_for(client, options)
  local times, rest = take_times(options, { read = "function", judge = "function", what = "string" })
  if not times then return nil, rest end
  for _, name in ipairs { "read", "judge" } do
    if not rest[name] then
      return nil, errors.option(('option "%s" is required'):format(name), name, "give a function")
    end
  end
  return wait(client, times, rest.what or "what was waited for", rest.read, rest.judge, rest.progress)
end

-- goal -> state -> verdict; what is not named is waited through.
local withdrawal_goals = {
  success = { [7] = "done", [8] = "failed", [9] = "failed" },
  sent = { [6] = "done", [7] = "done", [8] = "failed", [9] = "failed" },
  final = { [7] = "done", [8] = "done", [9] = "done" },
  cancelled = { [9] = "done", [6] = "failed", [7] = "failed", [8] = "failed" },
}
local withdrawal_rules = { goal = names_of(withdrawal_goals), since = option_schema.TIME, coin = "string" }

-- Returns a function that finds the withdrawal whose `member` is `value` from `since` on, and later in its millisecond.
-- A withdrawOrderId may be used again after a failure: a failed record counts where no other matches.
local function finder(client, member, value, since, coin)
  local at
  return function()
    -- In the millisecond of a found record, `shows_at_least` skips the proof that the list is complete: the code below
    -- concludes nothing from a missing record.
    local walk, failed = client:each("wallet.withdrawal_history", { coin = coin, from = at or since, to = at,
      shows_at_least = at and MAX_SHOWN or nil }), nil
    while true do
      local record, err = walk:next()
      if err or not record then return not err and failed or nil, err end
      if record[member] == value and member ~= "id" and (record.status == 8 or record.status == 9) then
        failed = record
      elseif record[member] == value then
        at = record.applyTime
        return record
      end
    end
  end
end

--- Waits for a withdrawal (C5), by its id, or by the `withdrawOrderId` you gave it.
---@param client purser.Client
---@param id string|{ id: string|nil, withdrawOrderId: string|nil }
---@param options purser.WaitWithdrawalOptions|nil
---@return purser.record.withdrawal|nil withdrawal, purser.Error|nil err
function M.withdrawal(client, id, options)
  local times, rest = take_times(options, withdrawal_rules)
  if not times then return nil, rest end
  local member, value = "id", id
  if type(id) == "table" then
    member = id.id and "id" or "withdrawOrderId"
    value = id[member]
  end
  if type(value) ~= "string" or value == "" then
    return nil, errors.argument("id", "wait_withdrawal has no withdrawal to wait for",
      "give the id of one, or { withdrawOrderId = ... }")
  end
  return wait(client, times, "withdrawal " .. value, finder(client, member, value,
    rest.since or client:now() - 7 * DAY, rest.coin), function(record)
    planned.note(client, record)
    local name = states.name("withdrawal", record.status) or "in a state that is not known"
    return withdrawal_goals[rest.goal or "success"][record.status], ("is %s (state %s)"):format(name,
      tostring(record.status))
  end, rest.progress)
end

local transfer_verdicts = { SUCCESS = "done", FAILED = "failed" }

local function judge_transfer(record)
  return transfer_verdicts[record.status], ("is %s"):format(tostring(record.status))
end

local RECORD_UNKNOWN = "22222"

--- Waits for a transfer between the spot and futures accounts (C9) to succeed, by its tranId (C11).
---@param client purser.Client
---@param tran_id string
---@param options purser.WaitTimes|nil
---@return purser.record.wallet_transfer|nil transfer, purser.Error|nil err
function M.transfer(client, tran_id, options)
  local times, rest = take_times(options)
  if not times then return nil, rest end
  return wait(client, times, "transfer " .. tostring(tran_id), function()
    local record, err = client.wallet:get_transfer { tranId = tran_id }
    if err and err.code == RECORD_UNKNOWN then return nil end -- records show up late
    return record, err
  end, judge_transfer, rest.progress)
end

local function family_transfer(group)
  return function(client, requested, options)
    local times, rest = take_times(options)
    if not times then return nil, rest end
    if type(requested) ~= "table" or not requested.clientTranId then
      return nil, errors.argument("clientTranId", "wait_transfer has no transfer to wait for", "give its clientTranId, "
        .. "fromAccountType, toAccountType and, where it had them, fromAccount and toAccount")
    end
    local query = {}
    for _, name in ipairs { "clientTranId", "fromAccountType", "toAccountType", "fromAccount", "toAccount" } do
      query[name] = requested[name]
    end
    return wait(client, times, "transfer " .. tostring(requested.clientTranId), function()
      local list, err = client[group]:transfer_history(query)
      if not list then return nil, err end
      local failed
      for _, record in ipairs(list) do
        if record.clientTranId == requested.clientTranId then
          if transfer_verdicts[record.status] ~= "failed" then return record end
          failed = record -- the id may have been used again
        end
      end
      return failed
    end, judge_transfer, rest.progress)
  end
end

--- Waits for a transfer between the parent and a sub-account (A13, B6) to succeed: give the parameters of the transfer.
---@param client purser.Client
---@param transfer purser.TransferSought
---@param options purser.WaitTimes|nil
---@return purser.record.sub_account_transfer|nil transfer, purser.Error|nil err
M.broker_transfer = family_transfer "broker"

--- Waits for a transfer between the parent and a sub-account (B6) to succeed: give the parameters of the transfer.
---@param client purser.Client
---@param transfer purser.TransferSought
---@param options purser.WaitTimes|nil
---@return purser.record.sub_account_transfer|nil transfer, purser.Error|nil err
M.sub_account_transfer = family_transfer "sub_account"

return M
