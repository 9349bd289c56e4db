-- SPDX-License-Identifier: MIT
-- Services that show more than one payment with one id.

local listing_service = require "listing_service"
local operations = require "purser.client.operations"
local page_of = require "paged_list"
local reading = require "purser.write.reading"
local reconcile = require "purser.write.reconcile"

local NOW = 1700000000000
local ID = ("Ab3"):rep(10) .. "Zz"

local calls = {
  { "wallet.withdraw", { coin = "USDT", address = "TSample", amount = "20", withdrawOrderId = ID } },
  { "sub_account.transfer", { clientTranId = ID, fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = "20" } },
  { "broker.transfer", { clientTranId = ID, fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = "20" } },
  { "wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "20" } },
  { "wallet.internal_transfer", { toAccountType = "EMAIL", toAccount = "a@b.example", asset = "USDT", amount = "20" } },
}

-- The records of payments that were made a second apart, each of another amount; the one in the middle is `params`.
local function records_of(row, params, id_of, newest_first)
  local records = {}
  for i = -30, 30 do
    local record = { status = "SUCCESS", [row.reconcile.time_member] = NOW + i * 1000 + 400 }
    for name, value in pairs(params) do record[name] = value end
    if i ~= 0 then
      record.amount = ("7%d"):format(i + 40)
      record.clientTranId, record.withdrawOrderId = params.clientTranId and "other " .. i,
        params.withdrawOrderId and "other " .. i
    end
    record.id, record.tranId = id_of(i), id_of(i)
    table.insert(records, newest_first and 1 or #records + 1, record)
  end
  return records
end

local function service_of(row, records)
  return listing_service(function(through, asked)
    return page_of(through, records, row.reconcile.time_member, asked)
  end)
end

for _, call in ipairs(calls) do
  local operation, params = call[1], call[2]
  describe(operation .. " is done", function()
    local function check(id_of)
      local row = operations.by_name[operation]
      for _, newest_first in ipairs { true, false } do
        for _, shared in ipairs { false, true } do
          local service = service_of(row, records_of(row, params, id_of, newest_first))
          if shared then
            service.readings = reading.share(service.now())
            service.readings:expect(NOW)
          end
          local answer = assert(reconcile.reconcile(service, { operation = operation, params = params, sent_at = NOW,
            recv_window = 5000 }))
          assert.equal("done", answer.outcome)
          assert.equal("20", answer.record.amount)
        end
      end
    end

    it("where all records show one id", function() check(function() return "0" end) end)

    it("where its record shows the id of another payment", function()
      check(function(i) return "t" .. (i == 0 and -5 or i) end)
    end)
  end)
end
