-- SPDX-License-Identifier: MIT
-- Accounts of a journal, and their gates. A name leads to an account, and never joins two: restrictions follow the API
-- key. A gate is what a room on top has to say before a call is sent. The module registers each gate by its name; the
-- journal asks the gates of an account in the transaction that records the call.
--
-- A gate answers yes with the columns of the call's row, or no with an error. Whatever else happens (a raised error, a
-- table that cannot be read, a signature that cannot be checked) ends the transaction: nothing is sent or remembered.
-- An account needs a gate for ever, from the first client on that brought the gate.

local lazy = require "purser.client.util.lazy"
local registered = require "purser.write.registered"
local errors = lazy "purser.client.call.errors"
local digest = lazy "purser.client.util.digest"
local intents = lazy "purser.write.intent"
local names_of = lazy "purser.client.util.names_of"
local spending = lazy "purser.write.guard.spending"

local M = {}

local format = string.format

M.LOCK = 7078806 -- a join and a new limit wait for the calls that begin, and they wait for those

--- The need of an account that was joined with another: no client brings that gate.
M.JOINED = "joined"

local LOCK = 7078811 -- held while the tables of gates are made

--------------------------------------------------------------------------------------------------------- accounts

--- Returns whether an account's name is a digest of its API key: no person gave a name.
function M.is_unnamed(tx, account, key)
  return account == key.unnamed or tx:rows([[SELECT account FROM purser_accounts WHERE identity = $1
    AND account = identity]], account)[1] ~= nil
end

--- Returns the account that a name was joined with; nil for none.
---@return string|nil account
function M.joined_with(tx, name)
  local row = tx:rows("SELECT account FROM purser_joins WHERE name = $1", name)[1]
  return row and row.account
end

--- Returns the names that were joined with an account, directly or by others.
---@return string[] names
function M.joined(tx, account)
  local names, at = { account }, 0
  while at < #names do
    at = at + 1
    for _, row in ipairs(tx:rows("SELECT name FROM purser_joins WHERE account = $1 AND name <> $1", names[at])) do
      names[#names + 1] = row.name
    end
  end
  table.remove(names, 1)
  return names
end

--- Makes sure that an API key signs for one account alone, and writes the limits that a client brings, in a transaction
--- that outlives a rejection. Returns true; or nil and an error or a message, and then nothing may be sent.
---@param limits table<string, purser.StandingLimit>|nil
function M.identify(self, account, identity, limits)
  self.identified = self.identified or setmetatable({}, { __mode = "k" }) -- by key, and by the table of limits
  local known = self.identified
  if known[identity] == account and (not limits or known[limits] == account) then return true end
  local ok, problem = self.db:transaction(function(tx)
    local joined = M.joined_with(tx, account)
    if joined then
      tx:reject(intents.other_account(joined, account, identity, "nothing was sent: this name is that"))
    end
    tx:rows("INSERT INTO purser_accounts (identity, account, added_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      identity, account, intents.time_text(tx:now()))
    local owner = tx:rows("SELECT account FROM purser_accounts WHERE identity = $1", identity)[1]
    if owner.account ~= account then
      tx:reject(intents.other_account(owner.account, account, identity, "nothing was sent: this API key is that"))
    end
    if limits and next(limits) then
      tx:lock(M.LOCK) -- a call that begins read no limit, and no sum has it yet
      spending.keep(tx, account, limits)
    end
    return true
  end)
  if ok then self.identified[identity] = account end
  if ok and limits then self.identified[limits] = account end
  return ok, problem
end

--- Returns whether a person joined a name, or the digest of an API key, with an account; or nil and a message.
---@param db table  or a transaction of it
---@return boolean|nil is_joined, string|nil message
function M.is_joined(db, name, account)
  local rows, message = db:rows("SELECT person FROM purser_joins WHERE name = $1 AND account = $2", name, account)
  if not rows then return nil, message end
  return rows[1] ~= nil
end

------------------------------------------------------------------------------------------------------------ gates

---@class purser.Gate
---@field tables string[]  statements that make the gate's own tables where they are missing
---@field open fun(options: table, base_url: string): table|nil, string|nil, string|nil  makes what a client brings:
--- `install(tx)` writes what is in force, or returns why that cannot be; `admit(tx, intent, row, facts)` returns
--- columns, or nil and an error; `before(client, row, params)` reads what a transaction is too late for
---@field refuse fun(tx: table, account: string): purser.Error  the error of a client that brings none
---@field count fun(tx: table, row: table<string, string>, sign: integer)  counts a recorded call again, or no longer
---@field prune fun(tx: table, before: string)

-- Makes a gate's tables, and writes the account's need. No later failure takes the need back.
local function need(options, name, gate, opened)
  local journal, account, ok, message = options.journal, options.account, true, nil
  if options.api_key then ok, message = journal:identify(account, digest.account_of(options.api_key)) end
  if not ok then return "the " .. registered[name].option .. " cannot be used: " .. tostring(message) end
  ok, message = journal.db:transaction(function(tx)
    tx:lock(LOCK)
    for _, sql in ipairs(gate.tables) do tx:rows(sql) end
    tx:rows("INSERT INTO purser_needs (account, gate) VALUES ($1, $2) ON CONFLICT DO NOTHING", account, name)
    local problem = opened:install(tx)
    if problem then tx:reject(problem) end
    return true
  end)
  if ok then return nil end
  return "the " .. registered[name].option .. " cannot be used with this journal: " .. tostring(message)
end

--- Makes a client's gates, by name; or returns nil, a message and the cure.
---@param options table  those of purser.new
---@param host string|nil  of the service
---@return table<string, table>|nil gates, string|nil message, string|nil hint
function M.open(options, base_url, host)
  local brought = {}
  for _, name in ipairs(names_of(registered)) do
    local gate = registered[name].gate
    if options[registered[name].option] ~= nil then
      local opened, message, hint = gate.open(options, base_url, host)
      message = message or need(options, name, gate, opened)
      if message then return nil, message, hint end
      brought[name] = opened
    end
  end
  return brought
end

local function needed(tx, account)
  local names = {}
  for _, row in ipairs(tx:rows("SELECT gate FROM purser_needs WHERE account = $1", account)) do
    local known = registered[row.gate]
    if row.gate == M.JOINED then
      tx:reject(errors.new { kind = "config", outcome = "not_sent", phase = "journal", code = "journal.other_account",
        message = format('nothing was sent: the account "%s" was joined with another, whose name this client lacks',
          account) })
    end
    if not known then tx:reject(format('the account needs the gate "%s", which is not loaded', row.gate)) end
    names[row.gate] = known.gate
  end
  return names
end

-- Ends the transaction where a key signs for an account without a need beside an account with one, or for an account
-- without a spending limit beside an account with one, unless a person told the two apart.
local function check_apart(tx, account, intent)
  local gated = tx:rows("SELECT account FROM purser_needs WHERE gate <> $1 ORDER BY account LIMIT 1", M.JOINED)[1]
  local other = gated and gated.account or spending.limited_beside(tx, account)
  if other and not M.is_joined(tx, intent.signer or "", account) then
    tx:reject(intents.not_apart(other, account, intent.signer))
  end
end

--- Asks an account's gates about a call before its row is written. A gate's no ends the transaction.
---@param brought table<string, table>  by the client
---@param facts { queue: string, key: string }
---@return table<string, string> columns
function M.admit(tx, brought, intent, row, facts)
  local columns, account = {}, intent.account or ""
  local gates = needed(tx, account)
  if not next(gates) then check_apart(tx, account, intent) end
  for name, gate in pairs(gates) do
    local said, err
    if brought[name] then
      said, err = brought[name]:admit(tx, intent, row, facts)
    else
      err = gate.refuse(tx, account)
    end
    if not said then
      tx:reject(errors.is(err) and err or format('the gate "%s" did not answer', name))
    end
    for column, value in pairs(said) do columns[column] = value end
  end
  return columns
end

--- Counts a call that was executed after all (1), or no longer (-1).
---@param row table<string, string>  of purser_calls
function M.count(tx, row, sign)
  for _, gate in pairs(needed(tx, row.account)) do gate.count(tx, row, sign) end
end

function M.prune(tx, before)
  for _, row in ipairs(tx:rows "SELECT DISTINCT gate FROM purser_needs") do
    local known = registered[row.gate]
    if known then known.gate.prune(tx, before) end
  end
end

return M
