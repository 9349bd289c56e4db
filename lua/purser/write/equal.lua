-- SPDX-License-Identifier: MIT
-- Equal transfers of a journal: as much of a coin to the same payee, whatever the remark, the network and the spelling
-- of the address. The option `equal_since` of a call asks in the transaction that records the call, so two programs
-- never pass the question together.

local arrival = require "purser.write.arrival"
local decimal = require "purser.decimal"
local core = require "purser.core"
local digests = require "purser.write.digests"
local errors = require "purser.client.call.errors"
local intents = require "purser.write.intent"
local operations = require "purser.client.operations"

local M = {}

local LOCK = 7078812 -- held from the question to the row

-- All spellings of an amount have its digits: the database leaves most rows of a long journal out.
local PAGE = 1000
local SENT = [[SELECT id, key, form, payment, queue, operation, params, sent_at FROM purser_calls
  WHERE sent_at >= $1 AND (sent_at, id) > ($2, $3) AND params LIKE $4 AND ]] .. intents.COUNTED .. [[
  AND COALESCE(]] .. arrival.COLUMN .. [[, '') NOT IN ('failed', 'cancelled')
  ORDER BY sent_at, id LIMIT ]] .. PAGE

-- Returns what equal transfers share.
local function face_of(row, params)
  local shown = {}
  for name, value in pairs(params) do shown[name] = name ~= "remark" and value or nil end
  return digests.likeness(row, shown)
end

local function amount_of(row, params)
  local amount = row.moves and params[row.moves.amount]
  return amount and tostring(decimal(amount))
end

-- Returns whether a row's call is of the amount and the face.
local function is_equal(found, amount, face)
  local row, params = operations.by_name[found.operation], core.decode(found.params)
  return row ~= nil and type(params) == "table" and amount_of(row, params) == amount and face_of(row, params) == face
end

local function refusal(row, found)
  local under = found.queue ~= "" and ('payment "%s" of the queue "%s"'):format(found.payment, found.queue)
    or found.key ~= "" and ('the key "%s"'):format(found.key) or "no key"
  return errors.new { kind = "argument", outcome = "not_sent", phase = "journal", operation = row.full_name,
    code = "journal.equal", details = { call = found.id, key = found.queue == "" and found.key or found.payment },
    message = ("an equal transfer was made, or may have been, under %s; nothing was sent"):format(under),
    hint = ("where this is that payment, nothing is to do (`purser journal show %s`); where it is owed besides, make "
      .. "it without `equal_since`"):format(found.id) }
end

--- Ends the transaction where an equal transfer of another key was made since a time, or may have been.
---@param key { name: string, equal_since: integer }
function M.check(tx, intent, row, key)
  tx:lock(LOCK)
  local amount, face = amount_of(row, intent.params), face_of(row, intent.params)
  local form, since = digests.form(key.name), intents.time_text(key.equal_since)
  local digits = amount and '%"amount"%' .. amount:gsub("^0+", "") .. "%" or "%"
  local last = { sent_at = "", id = "" }
  while last do
    local page = tx:rows(SENT, since, last.sent_at, last.id, digits)
    for _, found in ipairs(page) do
      local is_own = found.queue == "" and found.form == form and form ~= ""
      if not is_own and is_equal(found, amount, face) then tx:reject(refusal(row, found)) end
    end
    last = page[PAGE]
  end
end

return M
