-- SPDX-License-Identifier: MIT
-- Histories that show a record for a while, and not when it must be visible.

local listing_service = require "listing_service"
local operations = require "purser.client.operations"
local page_of = require "paged_list"
local reconcile = require "purser.write.reconcile"

local NOW = 1700000000000
local ID = ("Ab3"):rep(10) .. "Zz"

local calls = {
  ["wallet.withdraw"] = { coin = "USDT", address = "TSample", amount = "5", withdrawOrderId = ID },
  ["sub_account.transfer"] = { clientTranId = ID, fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
    amount = "5" },
}

-- The answer of a reconciliation that begins with the call. `shown(record, is_early)` changes the record that the
-- history shows, or leaves it out.
local function reconciled(operation, shown)
  local row, service = operations.by_name[operation], nil
  service = listing_service(function(through, asked)
    local record = { tranId = "t1", id = "t1", status = "SUCCESS", [row.reconcile.time_member] = NOW + 400 }
    for name, value in pairs(calls[operation]) do record[name] = value end
    return page_of(through, { shown(record, service.now() < NOW + 9000) }, row.reconcile.time_member, asked)
  end, { now = NOW })
  return assert(reconcile.reconcile(service,
    { operation = operation, params = calls[operation], sent_at = NOW, recv_window = 5000 }))
end

for operation in pairs(calls) do
  local client_id = operations.by_name[operation].reconcile.client_id

  describe(operation .. " is undecided where a record vanished", function()
    local function check(change)
      local answer = reconciled(operation, function(record, is_early)
        change(record)
        return is_early and record or nil
      end)
      assert.are.equal("undecided", answer.outcome)
      assert.are.equal("t1", answer.candidates[1].tranId)
    end

    it("that did not show its id", function() check(function(record) record[client_id] = nil end) end)

    it("that showed its id and another amount", function() check(function(record) record.amount = "7" end) end)
  end)

  describe(operation, function()
    it("is done where a record vanished that showed its id, in whatever letters' case", function()
      for _, change in ipairs { tostring, string.lower, string.upper } do
        assert.are.equal("done", reconciled(operation, function(record, is_early)
          record[client_id] = change(record[client_id])
          return is_early and record or nil
        end).outcome)
      end
    end)

    it("is undecided where a record turns out to show another id, which no witness proves", function()
      assert.are.equal("undecided", reconciled(operation, function(record, is_early)
        record[client_id] = not is_early and ("Xy9"):rep(10) .. "Ww" or nil
        return record
      end).outcome)
    end)
  end)
end
