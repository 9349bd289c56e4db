-- SPDX-License-Identifier: MIT
-- The policy of a journal, which a room on top judges. From the first client on that brought a policy, no call of the
-- journal is recorded without the policy's yes. The module names that room (`use`); the journal asks in the transaction
-- that records the call.
--
-- The policy answers yes with the columns of the call's row, or no with an error. All else that happens (a raised
-- error, a table that cannot be read, a signature that cannot be checked) ends the transaction: nothing is sent or
-- remembered.

local lazy = require "purser.client.util.lazy"
local digest = lazy "purser.client.util.digest"
local errors = lazy "purser.client.call.errors"
local home = lazy "purser.write.journal.home"

local M = {}

local LOCK = 7078811 -- held while the tables are made

---@class purser.PolicyRoom
---@field tables string[]  statements that make the room's own tables where they are missing
---@field open fun(options: table, base_url: string, host: string|nil): table|nil, string|nil, string|nil  makes what a
--- client brings: `install(tx)` writes what is in force, or returns why that cannot be; `admit(tx, intent, row, facts)`
--- returns columns, or nil and an error; `before(client, row, params)` reads what a transaction is too late for
---@field refuse fun(tx: table): purser.Error  the error of a client that brings none
---@field count fun(tx: table, row: table<string, string>, sign: integer)  counts a recorded call again, or no longer
---@field read_again fun(tx: table)  makes destinations, and what is counted by them, anew
---@field prune fun(tx: table, before: string)

---@type purser.PolicyRoom
local room

--- Names the room that judges.
---@param judge purser.PolicyRoom
function M.use(judge) room = judge end

-- Makes the tables, and writes that the journal is under a policy. No later failure takes that back.
local function install(options, opened, host)
  local journal, account, ok, message = options.journal, options.account, true, nil
  if options.api_key then ok, message = journal:identify(account, digest.account_of(options.api_key), nil, host) end
  if not ok then return "the policy cannot be used: " .. tostring(message) end
  ok, message = journal.db:transaction(function(tx)
    tx:lock(LOCK)
    for _, sql in ipairs(room.tables) do tx:rows(sql) end
    home.enter(tx, account, host)
    tx:rows "INSERT INTO purser_meta (name, value) VALUES ('gate', 'policy') ON CONFLICT DO NOTHING"
    local problem = opened:install(tx)
    if problem then tx:reject(problem) end
    return true
  end)
  if not ok then return "the policy cannot be used with this journal: " .. tostring(message) end
end

--- Opens the policy of a client's options; nil for none. A failure gives nil, a message and the cure.
---@param options table  those of purser.new
---@param host string|nil  of the service
---@return table|nil policy, string|nil message, string|nil hint
function M.open(options, base_url, host)
  if options.policy == nil then return nil end
  local opened, message, hint = room.open(options, base_url, host)
  message = message or install(options, opened, host)
  if message then return nil, message, hint end
  return opened
end

--- Asks the policy about a call before its row is written. A no ends the transaction.
---@param own purser.JournalHome
---@param brought table|nil  the client's policy
---@param facts { queue: string, key: string, call: string }
---@return table<string, string> columns
function M.admit(tx, own, brought, intent, row, facts)
  if not own.gate then return {} end
  local columns, err
  if brought then columns, err = brought:admit(tx, intent, row, facts) else err = room.refuse(tx) end
  if columns then return columns end
  tx:reject(errors.is(err) and err or "the policy did not answer")
end

local function is_needed(tx) return tx:meta "gate" ~= nil end

--- Counts a call that was executed after all (1), or no longer (-1).
---@param row table<string, string>  of purser_calls
function M.count(tx, row, sign)
  if is_needed(tx) then room.count(tx, row, sign) end
end

--- Reads the destinations of kept calls again, by a newer reader of addresses.
function M.read_again(tx) room.read_again(tx) end

function M.prune(tx, before)
  if is_needed(tx) then room.prune(tx, before) end
end

return M
