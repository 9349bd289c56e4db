-- SPDX-License-Identifier: MIT
-- Histories that count the bounds they are asked for in whole days, of any zone: what they hide was executed.

local listing_service = require "listing_service"
local operations = require "purser.client.operations"
local page_of = require "paged_list"
local own_calls = require "own_calls"
local reconcile = require "purser.write.reconcile"

local HOUR, DAY = 3600000, 86400000
local MIDNIGHT = 19675 * DAY
local ID = ("Ab3"):rep(10) .. "Zz"

local calls = {
  { "wallet.withdraw", { coin = "USDT", address = "TSample", amount = "20", withdrawOrderId = ID } },
  { "sub_account.transfer", { clientTranId = ID, fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = "20" } },
  { "wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "20" } },
  { "wallet.internal_transfer", { toAccountType = "EMAIL", toAccount = "a@b.example", asset = "USDT", amount = "20" } },
}

local function record_of(row, params, id, at)
  local record = { status = "SUCCESS", id = id, tranId = id, [row.reconcile.time_member] = at }
  for name, value in pairs(params) do record[name] = value end
  return record
end

-- An earlier call of the same operation, whose record is known.
local function note_known(known, row, params, sent_at)
  local other = {}
  for name, value in pairs(params) do other[name] = value end
  other.amount = "7"
  if row.reconcile.generated_id then other[row.reconcile.client_id] = ("k"):rep(32) end
  local intent = { operation = row.full_name, params = other, sent_at = sent_at, recv_window = 5000 }
  own_calls.note(known, row, intent, "K")
  return record_of(row, other, "K", sent_at + 300)
end

-- A service whose history rounds its bounds by `round`.
local function service_of(row, records, known, now, round)
  local time = row.reconcile.time_member
  return listing_service(function(through, asked)
    return page_of(through, records, time, asked, round(asked.startTime, asked.endTime))
  end, { now = now, journal = known })
end

local function down(at, zone) return math.floor((at + zone) / DAY) * DAY - zone end
local function up(at, zone) return math.ceil((at + zone) / DAY) * DAY - zone end

local roundings = { ["both down"] = { down, down }, ["both up"] = { up, up }, ["to the middle"] = { up, down },
  ["to the outside"] = { down, up } }

for name, rounds in pairs(roundings) do
  for _, call in ipairs(calls) do
    it(("%s is never not_done where a history rounds its bounds %s"):format(call[1], name), function()
      local row, params = operations.by_name[call[1]], call[2]
      for _, zone in ipairs { 0, 8 * HOUR, -5 * HOUR } do
        local function round(first, last) return rounds[1](first, zone), rounds[2](last, zone) end
        for hour = 0, 23 do
          for _, later in ipairs { 10000, 40 * HOUR } do
            for _, has_known in ipairs { false, true } do
              local sent_at, known = MIDNIGHT + hour * HOUR + 5000, own_calls.new()
              local records = { record_of(row, params, "R", sent_at + 300) }
              if has_known then records[2] = note_known(known, row, params, sent_at - 20000) end
              local answer, err = reconcile.reconcile(service_of(row, records, known, sent_at + later, round),
                { operation = row.full_name, params = params, sent_at = sent_at, recv_window = 5000 })
              assert.is_true(err ~= nil or answer.outcome ~= "not_done")
            end
          end
        end
      end
    end)
  end
end
