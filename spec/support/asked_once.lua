-- SPDX-License-Identifier: MIT
-- Reconciles a call by what is read once, early or late.

local copy_of = require "copy_of"
local listing_service = require "listing_service"
local operations = require "purser.client.operations"
local reconcile = require "purser.write.reconcile"

local NOW = 1700000000000
local LATE = NOW + 60000

-- Looks once for a call of NOW; `shown` is what the list shows: records, or a function.
local function look_once(operation, params, shown, at, fields)
  local row = operations.by_name[operation]
  local service = listing_service(type(shown) == "function" and shown or function(of, asked)
    if of.name == "list_sub_accounts" and of.full_name ~= row.reconcile.lookup then
      return asked.page == 1 and { { subAccount = "Desk" } } or {}
    end
    local records = (asked.page or 1) == 1 and shown or {}
    if of.result.rows then return { rows = records, total = #shown } end
    return of.result.page and { data = records, totalRecords = #shown } or records
  end, copy_of({ now = at or LATE }, fields))
  local intent = { operation = operation, params = params, sent_at = NOW, recv_window = 5000, id = "i" }
  local look = reconcile.question(service, row, intent, {}, fields and fields.window)
  local answer, err = look:read()
  return answer, err, look
end

-- The outcome of that: a word; "nothing yet".
local function outcome(...)
  local answer, err = look_once(...)
  return answer and answer.outcome or err and err.message or "nothing yet", answer
end

return { look_once = look_once, outcome = outcome }
