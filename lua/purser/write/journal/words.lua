-- SPDX-License-Identifier: MIT
-- Words of persons: about calls, joined accounts and limits. A word is kept; it ends an attempt, and proves nothing.

local calls = require "purser.write.journal.calls"
local core = require "purser.core"
local decimal = require "purser.decimal"
local errors = require "purser.client.call.errors"
local gates = require "purser.write.gates"
local intents = require "purser.write.intent"
local lazy = require "purser.client.util.lazy"
local option_schema = require "purser.client.util.option_schema"
local schema = require "purser.write.journal.schema"
local spending = lazy "purser.write.guard.spending"

local time_text = intents.time_text

local M = {}

---@class purser.Word  of a person who knows what became of a call
---@field outcome "done"|"not_done"
---@field by string              who says so
---@field record_id string|nil   of the record that it made
---@field now integer|nil        the service's time, epoch ms. Default: this machine's

local word_rules = { outcome = { "done", "not_done" }, by = option_schema.NAME, record_id = "string", now = "any" }

local function is_proved(row) return row.state == "planned" or intents.SPENT_NOTHING[row.state] end

-- Returns why no person's word can end a row's latest attempt; nil where it can.
local function unsettled(row, now)
  if row.state == "planned" and (row.queue == "" or row.stage == "waiting") then return "it was never sent" end
  if row.state == "done" and row.answered ~= "no" then return "its answer or its id says that it was made" end
  if row.stage == "sent" or row.stage == "taken" then return "a run of its queue is finding out what became of it" end
  local is_over = is_proved(row) or now > tonumber(row.sent_at) + tonumber(row.recv_window)
  return not is_over and "the service may take the request yet" or nil
end

local join_rules = { name = option_schema.NAME, account = option_schema.NAME, by = option_schema.NAME }

local function answer(ok, problem)
  if ok then return true end
  return nil, errors.is(problem) and problem or intents.journal_error("not_sent", tostring(problem))
end

local NEWEST = "SELECT id, word, at FROM purser_words WHERE call = $1 ORDER BY at DESC LIMIT 1"

--- Returns the id of the newest word of a call, if the word is `not_done`; nil otherwise. A plan that names the word
--- was signed after it.
---@param call string  the id of its row
---@return string|nil word
function M.standing(tx, call)
  local newest = tx:rows(NEWEST, call)[1]
  return newest and newest.word == "not_done" and newest.id or nil
end

-- Keeps a word as the newest, whatever the machine's clock says.
local function keep(tx, row, word)
  local token, message = core.random_token(24)
  if not token then tx:reject("no random id could be made: " .. tostring(message)) end
  local newest = tx:rows(NEWEST, row.id)[1]
  tx:rows([[INSERT INTO purser_words (id, call, attempt, word, person, at, record_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7)]], token, row.id, row.attempt, word.outcome, word.by,
    time_text(math.max(tx:now(), newest and tonumber(newest.at) + 1 or 0)), word.record_id or "")
end

--- Does what journal:settle says.
function M.settle(self, id, word)
  local wrong, name, hint = option_schema.check(word, word_rules, "word of journal:settle")
  if not wrong and not (word.outcome and word.by) then
    wrong, name = "journal:settle needs an outcome and who says so", "by"
  end
  if wrong then return nil, errors.option(wrong, name, hint) end
  local record_id = word.outcome == "done" and word.record_id or nil
  local function refuse(why) return errors.argument(nil, ("the call %s cannot be settled: %s"):format(id, why)) end
  local ok, problem = self.db:transaction(function(tx)
    local row, why = calls.locked(tx, id), "the journal has no such entry"
    if row then why = unsettled(row, word.now or core.now_ms()) end
    if why then tx:reject(refuse(why)) end
    keep(tx, row, word)
    local is_done = word.outcome == "done"
    calls.write_end(tx, row, { state = not is_done and is_proved(row) and row.state or word.outcome,
      record_id = record_id, record = record_id and { id = record_id }, disowned = not is_done and "yes" or nil,
      message = ("%s said that it was %s"):format(word.by, is_done and "executed" or "not executed") })
    return true
  end)
  if not ok and not errors.is(problem) and calls.is_taken(tostring(problem)) then
    return nil, refuse(('the record "%s" is that of another call'):format(record_id))
  end
  return answer(ok, problem)
end

local function unjoined(tx, name, account)
  local joined = gates.joined_with(tx, account)
  if joined then return ('"%s" is joined with "%s"'):format(account, joined) end
  local need = tx:rows("SELECT gate FROM purser_needs WHERE account = $1", name)[1]
  if need and need.gate ~= gates.JOINED then return ('"%s" needs the gate "%s"'):format(name, need.gate) end
  if name:find "^%x+$" == nil and not tx:rows([[SELECT account FROM purser_accounts WHERE account = $1 UNION
    SELECT account FROM purser_calls WHERE account = $1]], name)[1] then
    return ('the journal has no account "%s"'):format(name)
  end
  local open = tx:rows("SELECT id FROM purser_calls WHERE account = $1 AND (" .. schema.UNDECIDED
    .. " OR stage IN ('taken', 'sent')) LIMIT 1", name)[1]
  if open then return ("the call %s has no known end"):format(open.id) end
  local both = tx:rows([[SELECT one.id FROM purser_calls AS one JOIN purser_calls AS other ON other.account = $2
    AND (one.key <> '' AND other.key = one.key AND other.operation = one.operation
      OR one.queue <> '' AND other.queue = one.queue AND other.payment = one.payment
      OR one.record_id <> '' AND other.record_id = one.record_id AND other.history = one.history)
    WHERE one.account = $1 LIMIT 1]], name, account)[1]
  if both then return ("a key, a payment or a record of the call %s is one of both"):format(both.id) end
end

-- Gives an account all that a name has, which no client may use from then on.
local function unite(tx, name, account)
  spending.unite(tx, name, account)
  for _, row in ipairs(tx:rows("SELECT * FROM purser_calls WHERE account = $1", name)) do
    local of_account = setmetatable({ account = account, state = "planned" }, { __index = row }) -- new to its gates
    if intents.counts(row) then gates.count(tx, of_account, 1) end
  end
  tx:rows("UPDATE purser_calls SET account = $1 WHERE account = $2", account, name)
  tx:rows("UPDATE purser_accounts SET account = $1 WHERE account = $2 OR identity = $2", account, name)
  tx:rows("INSERT INTO purser_needs (account, gate) VALUES ($1, $2) ON CONFLICT DO NOTHING", name, gates.JOINED)
end

--- Does what journal:join says.
function M.join(self, name, account, by)
  local given = { name = name, account = account, by = by }
  local wrong, option, hint = option_schema.check(given, join_rules, "journal:join")
  if not wrong and not (name and account and by and name ~= account) then
    wrong, option = "journal:join needs two names and who says so", "account"
  end
  if wrong then return nil, errors.option(wrong, option, hint) end
  local ok, problem = self.db:transaction(function(tx)
    tx:lock(gates.LOCK)
    local why = unjoined(tx, name, account)
    if why then tx:reject(errors.argument(nil, ('"%s" is not joined with "%s": %s'):format(name, account, why))) end
    unite(tx, name, account)
    tx:rows("INSERT INTO purser_joins (name, account, person, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING", name,
      account, by, time_text(tx:now()))
    return true
  end)
  return answer(ok, problem)
end

local limit_rules = { asset = option_schema.NAME, amount = "any", period_ms = { 1000, option_schema.EXACT },
  by = option_schema.NAME }

--- Does what journal:limit says.
function M.limit(self, account, limit)
  local wrong, option, hint = option_schema.check(limit, limit_rules, "journal:limit")
  local amount = not wrong and limit.amount ~= nil and type(limit.amount) ~= "number" and decimal(limit.amount) or nil
  if not wrong and (limit.amount ~= nil and not (amount and amount:sign() >= 0)) then
    wrong, option, hint = "journal:limit has an amount that is none", "amount", "give a decimal as a string"
  elseif not wrong and not (type(account) == "string" and limit.asset and limit.by) then
    wrong, option = "journal:limit needs an account, an asset and who says so", "by"
  end
  if wrong then return nil, errors.option(wrong, option, hint) end
  return answer(self.db:transaction(function(tx)
    local joined = gates.joined_with(tx, account)
    local why = joined and ('"%s" is joined with "%s"'):format(account, joined)
      or spending.set(tx, account, { asset = limit.asset, amount = amount, period_ms = limit.period_ms }, limit.by)
    if why then tx:reject(errors.argument(nil, why)) end
    return true
  end))
end

return M
