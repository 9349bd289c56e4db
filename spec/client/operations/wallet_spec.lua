-- SPDX-License-Identifier: MIT
-- The rows of the group wallet.

local contract_rows = require "contract_rows"
local operations = require "purser.client.operations"

local rows = operations.by_name

describe("the rows of the wallet", function()
  contract_rows.of(it, "wallet", {
    withdraw = "transfer address", withdraw_legacy = "transfer address", cancel_withdrawal = "change",
    create_deposit_address = "create", transfer = "transfer own", convert = "transfer none",
    internal_transfer = "transfer user",
  })

  it("name a withdrawal by an id of the client's, which finds it again", function()
    for _, name in ipairs { "wallet.withdraw", "wallet.withdraw_legacy" } do
      local reconcile = rows[name].reconcile
      assert.same({ "client_id", "withdrawOrderId", true },
        { reconcile.strategy, reconcile.client_id, reconcile.generated_id })
      assert.equal("wallet.withdrawal_history", reconcile.lookup)
    end
  end)

  it("find a transfer without such an id by all that it says", function()
    for name, moved in pairs {
      ["wallet.transfer"] = { "amount", "asset", "fromAccountType", "toAccountType" },
      ["wallet.internal_transfer"] = { "amount", "asset", "toAccount", "toAccountType" },
    } do
      local match_on = { (table.unpack or unpack)(rows[name].reconcile.match_on) } -- luacheck: ignore
      table.sort(match_on)
      assert.same({ "match", moved }, { rows[name].reconcile.strategy, match_on })
    end
  end)

  it("ask for the windows of histories that the document allows", function()
    for name, days in pairs { ["wallet.deposit_history"] = 90, ["wallet.withdrawal_history"] = 90 } do
      assert.same({ default_days = 7, max_window_days = 7, retention_days = days }, rows[name].window)
    end
    assert.same({ default_days = 7, retention_months = 6 }, rows["wallet.transfer_history"].window)
  end)
end)
