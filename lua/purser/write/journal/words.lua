-- SPDX-License-Identifier: MIT
-- Words of persons: about calls, and about accounts that are one. A word ends an attempt that nothing proves; it is
-- kept, and proves nothing.

local calls = require "purser.write.journal.calls"
local core = require "purser.core"
local errors = require "purser.client.call.errors"
local gates = require "purser.write.gates"
local intents = require "purser.write.intent"
local option_schema = require "purser.client.util.option_schema"
local schema = require "purser.write.journal.schema"

local time_text = intents.time_text

local M = {}

---@class purser.Word  of a person who knows what became of a call
---@field outcome "done"|"not_done"
---@field by string              who says so
---@field record_id string|nil   of the record that it made
---@field now integer|nil        the service's time, epoch ms. Default: this machine's

local word_rules = { outcome = { "done", "not_done" }, by = option_schema.NAME, record_id = "string", now = "any" }

-- Returns why a person's word cannot end the latest attempt of a row; nil where it can.
local function unsettled(row, now)
  if row.state == "planned" then return "it was never sent" end
  if row.state == "done" and row.answered ~= "no" then return "its answer or its id says that it was made" end
  if row.stage == "sent" or row.stage == "taken" then return "a run of its queue is finding out what became of it" end
  if intents.SPENT_NOTHING[row.state] then return nil end
  if now <= tonumber(row.sent_at) + tonumber(row.recv_window) then return "the service may take the request yet" end
end

local join_rules = { name = option_schema.NAME, account = option_schema.NAME, by = option_schema.NAME }

local function answer(ok, problem)
  if ok then return true end
  return nil, errors.is(problem) and problem or intents.journal_error("not_sent", tostring(problem))
end

local NEWEST = "SELECT id, word, at FROM purser_words WHERE call = $1 ORDER BY at DESC LIMIT 1"

--- Returns the id of a person's word by which a call may be sent again: the newest one, where that says that the call
--- was not made; nil where none stands. A plan that names the word cannot have been signed before it.
---@param call string  the id of its row
---@return string|nil word
function M.standing(tx, call)
  local newest = tx:rows(NEWEST, call)[1]
  return newest and newest.word == "not_done" and newest.id or nil
end

--- Keeps a word, as said later than the one before, whatever this machine's clock says.
---@param row table<string, string>  of the call
---@param word purser.Word
function M.keep(tx, row, word)
  local token, message = core.random_token(24)
  if not token then tx:reject("no random id could be made: " .. tostring(message)) end
  local newest = tx:rows(NEWEST, row.id)[1]
  tx:rows([[INSERT INTO purser_words (id, call, attempt, word, person, at, record_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7)]], token, row.id, row.attempt, word.outcome, word.by,
    time_text(math.max(tx:now(), newest and tonumber(newest.at) + 1 or 0)), word.record_id or "")
end

--- Ends the latest attempt of a call by a person's word, which is kept with who said so and when. The word is no proof:
--- sums go on counting the call, and under a policy another attempt needs a plan that names the word. Returns true; or
--- nil and an error.
---@param id string  of the journal's entry
---@param word purser.Word
---@return true|nil ok, purser.Error|nil err
---@param self purser.Journal
function M.settle(self, id, word)
  local wrong, name, hint = option_schema.check(word, word_rules, "word of journal:settle")
  if not wrong and not (word.outcome and word.by) then
    wrong, name = "journal:settle needs an outcome and who says so", "by"
  end
  if wrong then return nil, errors.option(wrong, name, hint) end
  local ok, problem = self.db:transaction(function(tx)
    local row = tx:rows("SELECT * FROM purser_calls WHERE id = $1" .. calls.for_update[tx.db.name], id)[1]
    local why
    if row then why = unsettled(row, word.now or core.now_ms()) else why = "the journal has no such entry" end
    if why then tx:reject(errors.argument(nil, ("the call %s cannot be settled: %s"):format(id, why))) end
    M.keep(tx, row, word)
    local is_done = word.outcome == "done"
    local state = not is_done and intents.SPENT_NOTHING[row.state] and row.state or word.outcome -- a proved end stays
    local set = { state = state, answered = is_done and "no" or "", record_id = is_done and word.record_id or "",
      ended_at = time_text(core.now_ms()), disowned = is_done and row.disowned or "yes",
      message = ('%s said that it was %s'):format(word.by, is_done and "executed" or "not executed") }
    if is_done and row.queue ~= "" then set.stage, set.worker = "done", "" end
    if not calls.counts(row) then gates.count(tx, row, 1) end
    calls.update(tx, set, "id = ?", id)
    return true
  end)
  return answer(ok, problem)
end

--- Returns the names that were joined with an account, and with those.
---@return string[] names
function M.joined(tx, account)
  local names, at = { account }, 0
  while at < #names do
    at = at + 1
    for _, row in ipairs(tx:rows("SELECT name FROM purser_joins WHERE account = $1", names[at])) do
      names[#names + 1] = row.name
    end
  end
  table.remove(names, 1)
  return names
end

local function unjoined(tx, name, account)
  local joined = tx:rows("SELECT account FROM purser_joins WHERE name = $1", account)[1]
  if joined and joined.account ~= account then return ('"%s" is joined with "%s"'):format(account, joined.account) end
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

--- Keeps a person's word that an account of this journal, or an API key by its digest, is another account of it: used
--- keys, payments and sums are those of one account from then on. Refused while a call of the first has no known end,
--- where both used one key, and where the first needs a gate: join the other way round. Returns true; or nil and an
--- error.
---@param name string     of the account that is joined, or the digest of an API key
---@param account string  that goes on
---@param by string       who says so
---@return true|nil ok, purser.Error|nil err
---@param self purser.Journal
function M.join(self, name, account, by)
  local given = { name = name, account = account, by = by }
  local wrong, option, hint = option_schema.check(given, join_rules, "journal:join")
  if not wrong and not (name and account and by and name ~= account) then
    wrong, option = "journal:join needs two names and who says so", "account"
  end
  if wrong then return nil, errors.option(wrong, option, hint) end
  local ok, problem = self.db:transaction(function(tx)
    local why = unjoined(tx, name, account)
    if why then tx:reject(errors.argument(nil, ('"%s" is not joined with "%s": %s'):format(name, account, why))) end
    for _, row in ipairs(tx:rows("SELECT * FROM purser_calls WHERE account = $1", name)) do
      local of_account = setmetatable({ account = account, state = "planned" }, { __index = row }) -- new to its gates
      if calls.counts(row) then gates.count(tx, of_account, 1) end
    end
    tx:rows("UPDATE purser_calls SET account = $1 WHERE account = $2", account, name)
    tx:rows("UPDATE purser_accounts SET account = $1 WHERE account = $2 OR identity = $2", account, name)
    tx:rows "DELETE FROM purser_spending" -- is added up again
    tx:rows("INSERT INTO purser_joins (name, account, person, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING", name,
      account, by, time_text(tx:now()))
    tx:rows("INSERT INTO purser_needs (account, gate) VALUES ($1, $2) ON CONFLICT DO NOTHING", name, gates.JOINED)
    return true
  end)
  return answer(ok, problem)
end

return M
