-- SPDX-License-Identifier: MIT
-- Whom a journal's withdrawals paid lately. An address whose ends alone agree with a payee's is often made to be taken
-- for that payee's.

local address = require "purser.address"
local arrival = require "purser.write.arrival"
local core = require "purser.core"
local intents = require "purser.write.intent"
local operations = require "purser.client.operations"

local M = {}

local DAYS, DAY_MS, MOST = 184, 86400000, 10000 -- as far as a journal keeps what a call carried

local PAID = [[SELECT operation, params FROM purser_calls WHERE sent_at >= $1 AND ]] .. arrival.TRAVELS
  .. [[ AND state = 'done' AND COALESCE(]] .. arrival.COLUMN .. [[, '') NOT IN ('failed', 'cancelled')
  ORDER BY sent_at DESC LIMIT ]] .. MOST

local function address_of(found)
  local row, params = operations.by_name[found.operation], core.decode(found.params)
  return row and row.moves and type(params) == "table" and params[row.moves.address] or nil
end

--- Returns a function from an address to the payee of the last half year whose ends alone are the same; nil from it for
--- any other, and for a payee. Nil and an error where the journal cannot be read.
---@param journal purser.Journal|nil  without one no payee is known
---@param now integer  epoch ms
---@return (fun(address: string): string|nil)|nil look_alike, purser.Error|nil err
function M.of(journal, now)
  local rows, message = {}, nil
  if journal then rows, message = journal.db:rows(PAID, intents.time_text(now - DAYS * DAY_MS)) end
  if not rows then return nil, intents.journal_error("not_sent", tostring(message)) end
  local is_paid, by_ends = {}, {}
  for _, found in ipairs(rows) do
    local text = address_of(found)
    local ends = text and address.ends(text)
    if ends and not is_paid[text] then
      by_ends[ends] = by_ends[ends] or {}
      table.insert(by_ends[ends], text)
      is_paid[text] = true
    end
  end
  return function(text)
    local alike = by_ends[address.ends(text) or ""] or {}
    for _, other in ipairs(alike) do
      if address.same(text, other, true) then return nil end
    end
    return alike[1]
  end
end

return M
