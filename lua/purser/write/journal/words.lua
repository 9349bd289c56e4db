-- SPDX-License-Identifier: MIT
-- Words of persons about calls. A word ends an attempt that nothing proves; it is kept, and proves nothing.

local calls = require "purser.write.journal.calls"
local core = require "purser.core"
local errors = require "purser.client.call.errors"
local gates = require "purser.write.gates"
local intents = require "purser.write.intent"
local option_schema = require "purser.client.util.option_schema"

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

local NEWEST = "SELECT id, word, at FROM purser_words WHERE call = $1 ORDER BY at DESC LIMIT 1"

--- Returns the id of a person's word by which a call may be sent again: the newest one, where that says that the call
--- was not made; nil where none stands. A plan that names the word cannot have been signed before it.
---@param call string  the id of its row
---@return string|nil word
function M.standing(tx, call)
  local newest = tx:rows(NEWEST, call)[1]
  return newest and newest.word == "not_done" and newest.id or nil
end

-- Returns when a word is said: later than the one before, whatever this machine's clock says.
local function time_of_word(tx, call)
  local newest = tx:rows(NEWEST, call)[1]
  return time_text(math.max(tx:now(), newest and tonumber(newest.at) + 1 or 0))
end

--- Ends the latest attempt of a call by a person's word, which is kept with who said so and when. The word is no proof:
--- sums go on counting the call, and under a policy another attempt needs a plan that was added after the word. Returns
--- true; or nil and an error.
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
    local token, message = core.random_token(24)
    if not token then tx:reject("no random id could be made: " .. tostring(message)) end
    tx:rows([[INSERT INTO purser_words (id, call, attempt, word, person, at, record_id)
      VALUES ($1, $2, $3, $4, $5, $6, $7)]], token, id, row.attempt, word.outcome, word.by, time_of_word(tx, id),
      word.record_id or "")
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
  if ok then return true end
  return nil, errors.is(problem) and problem or intents.journal_error("not_sent", tostring(problem))
end

return M
