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

local SAID = "only the ends of the address are those of %s, which %s: compare every character"

--- Returns a function from an address to the warnings that each plan shows: the address of another row, or a payee of
--- the last half year, has the same ends alone. A payee is no look-alike of a payee. Nil and an error where the journal
--- cannot be read.
---@param journal purser.Journal|nil  without one no payee is known
---@param now integer  epoch ms
---@param plan purser.ShownAddress[]|nil
---@return (fun(address: any): string[])|nil look_alikes, purser.Error|nil err
function M.of(journal, now, plan)
  local rows, message = {}, nil
  if journal then rows, message = journal.db:rows(PAID, intents.time_text(now - DAYS * DAY_MS)) end
  if not rows then return nil, intents.journal_error("not_sent", tostring(message)) end
  local paid = {}
  for _, found in ipairs(rows) do
    local text = address_of(found)
    if text then paid[#paid + 1] = { address = text } end
  end
  local of_plan, of_payees = address.look_alikes(plan or {}), address.look_alikes(paid)
  return function(text)
    local texts = {}
    if type(text) ~= "string" then return texts end
    local planned, payee, is_payee = of_plan(text), of_payees(text)
    if planned then texts[1] = SAID:format(planned.address, "is in the plan") end
    if payee and not is_payee then texts[#texts + 1] = SAID:format(payee.address, "was paid before") end
    return texts
  end
end

return M
