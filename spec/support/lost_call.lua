-- SPDX-License-Identifier: MIT
--- A lost withdrawal, or transfer to another user, of 20 USDT: what is shown, what else was sent, and the word.
--
--     local lost = require "lost_call"
--     local word = lost.ask(lost.PAY, { lost.record("w1", lost.PAY, 400) }, { { lost.PAY, 10, "w1" } })

local copy_of = require "copy_of"
local listing_service = require "listing_service"
local operations = require "purser.client.operations"
local own_calls = require "own_calls"
local reconcile = require "purser.write.reconcile"

local M = {}

M.NOW, M.MINUTE, M.HOUR = 1700000000000, 60000, 3600000
M.ROW = operations.by_name["wallet.withdraw"]
M.PAY = { coin = "USDT", netWork = "TRX", address = "Tshop", amount = "20" }
M.MOVE = { toAccountType = "EMAIL", toAccount = "a@b.example", asset = "USDT", amount = "20" }

-- An answered call to the same payee, and its record; and the same of a call that was made later.
M.small = { copy_of(M.PAY, { amount = "1" }), -M.MINUTE, "w0" }
M.late = { copy_of(M.PAY, { amount = "2" }), 30000, "w9" }

--- The record of a withdrawal, or of a transfer to another user.
function M.record(id, of, at, fields)
  local shown = { id = id, tranId = id, applyTime = M.NOW + at, timestamp = M.NOW + at,
    status = of.asset and "SUCCESS" or 7 }
  for _, name in ipairs { "coin", "address", "amount", "memo", "toAccountType", "toAccount", "asset" } do
    shown[name] = of[name]
  end
  return copy_of(shown, fields or {})
end

--- Asks for a lost call. `answered`: { params, when, record id, operation or nil }; in `more` may be `open`, each
--- { params, when, state }, a `window`, and `change(journal)`. Returns what reconciling does, the service, and how
--- often it was read.
function M.reconciled(params, records, answered, more)
  more = more or {}
  local row = params.toAccount and operations.by_name["wallet.internal_transfer"]
    or params.asset and operations.by_name["wallet.transfer"] or M.ROW
  local known = own_calls.new()
  for i, call in ipairs(answered or {}) do
    own_calls.note(known, operations.by_name[call[4] or row.full_name],
      { params = call[1], sent_at = M.NOW + call[2], recv_window = 5000, id = "k" .. i }, call[3])
  end
  for i, call in ipairs(more.open or {}) do
    local one = own_calls.note(known, row, { params = call[1], sent_at = M.NOW + call[2], recv_window = 5000,
      id = "o" .. i })
    one.state, one.rejected = call[3], call[3] == "rejected" or nil
  end
  if more.change then more.change(known) end
  local reads = 0
  local service = listing_service(function(of, asked)
    reads = reads + 1
    local shown = type(records) == "function" and records(reads, asked) or records
    if (asked.page or 1) > 1 then shown = {} end
    return of.result.page and { data = shown, totalRecords = #shown } or shown
  end, { journal = known, now = M.NOW + 100 })
  local intent = { operation = row.full_name, params = params, sent_at = M.NOW, recv_window = 5000, id = "lost" }
  local answer, err = reconcile.reconcile(service, intent, nil, more.window)
  return answer, err, service, reads
end

--- The same. Returns the word with that of its reason, the answer, the service, and how often it was read.
function M.ask(...)
  local answer, err, service, reads = M.reconciled(...)
  assert(answer, err)
  local why = answer.reason and " " .. (answer.reason:match "^%l[%l ]*" or "") or ""
  return answer.outcome .. why, answer, service, reads
end

M.small_shown = M.record("w0", M.small[1], -M.MINUTE + 400)
M.late_shown = M.record("w9", M.late[1], 30400)

return M
