-- SPDX-License-Identifier: MIT
-- Words of persons: about calls and limits. A word is kept; it ends an attempt, and proves nothing.

local calls = require "purser.write.journal.calls"
local core = require "purser.core"
local decimal = require "purser.decimal"
local errors = require "purser.client.call.errors"
local home = require "purser.write.journal.home"
local intents = require "purser.write.intent"
local lazy = require "purser.client.util.lazy"
local option_schema = require "purser.client.util.option_schema"
local spending = lazy "purser.write.guard.spending"

local time_text = intents.time_text

local M = {}

---@class purser.Word  of a person who knows what became of a call
---@field outcome "done"|"not_done"
---@field by string              who says so
---@field record_id string|nil   of the record that it made
---@field now integer|nil        the service's time, epoch ms. Default: this machine's

local word_rules = { outcome = { "done", "not_done" }, by = option_schema.NAME, record_id = "string", now = "any" }

-- Returns why no person's word can end a row's latest attempt; nil where it can.
local function unsettled(tx, row, now)
  if row.state == "planned" and (row.queue == "" or row.stage == "waiting") then return "it was never sent" end
  if row.state == "done" and row.answered ~= "no" then return "its answer or its id says that it was made" end
  local is_at_work = row.stage == "taken" or row.stage == "sent" and not intents.is_left(row, tx:now())
  if is_at_work then return "a run of its queue is finding out what became of it" end
  local is_over = intents.UNDONE[row.state] or row.recv_window == "0" -- it was never sent
    or now > tonumber(row.sent_at) + tonumber(row.recv_window)
  return not is_over and "the service may take the request yet" or nil
end

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
    if row then why = unsettled(tx, row, word.now or core.now_ms()) end
    if why then tx:reject(refuse(why)) end
    keep(tx, row, word)
    local is_done = word.outcome == "done"
    calls.write_end(tx, row, { state = not is_done and intents.UNDONE[row.state] and row.state or word.outcome,
      record_id = record_id, record = record_id and { id = record_id }, disowned = not is_done and "yes" or nil,
      message = ("%s said that it was %s"):format(word.by, is_done and "executed" or "not executed") })
    return true
  end)
  if not ok and not errors.is(problem) and calls.is_taken(tostring(problem)) then
    return nil, refuse(('the record "%s" is that of another call'):format(record_id))
  end
  return answer(ok, problem)
end

local limit_rules = { asset = option_schema.NAME, amount = "any", period_ms = { 1000, option_schema.EXACT },
  by = option_schema.NAME }

--- Does what journal:limit says.
function M.limit(self, limit)
  local wrong, option, hint = option_schema.check(limit, limit_rules, "journal:limit")
  local amount = not wrong and limit.amount ~= nil and type(limit.amount) ~= "number" and decimal(limit.amount) or nil
  if not wrong and (limit.amount ~= nil and not (amount and amount:sign() >= 0)) then
    wrong, option, hint = "journal:limit has an amount that is none", "amount", "give a decimal as a string"
  elseif not wrong and not (limit.asset and limit.by) then
    wrong, option = "journal:limit needs an asset and who says so", "by"
  end
  if wrong then return nil, errors.option(wrong, option, hint) end
  return answer(self.db:transaction(function(tx)
    local why = spending.set(tx, { asset = limit.asset, amount = amount, period_ms = limit.period_ms }, limit.by,
      home.read)
    if why then tx:reject(errors.argument(nil, why)) end
    return true
  end))
end

return M
