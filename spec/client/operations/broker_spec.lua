-- SPDX-License-Identifier: MIT
-- The rows of the group broker.

local contract_rows = require "contract_rows"
local operations = require "purser.client.operations"

describe("the rows of the broker", function()
  contract_rows.of(it, "broker", {
    create_sub_account = "create", create_api_key = "create", delete_api_key = "change",
    create_deposit_address = "create", withdraw = "transfer address", transfer = "transfer sub_account",
    enable_futures = "change",
  })

  it("are signed by the parent's key, but for deposits and withdrawals of the sub-account whose key signs", function()
    local of_sub_account = {}
    for _, row in ipairs(operations.groups.broker) do
      if row.signer == "sub" then of_sub_account[#of_sub_account + 1] = row.id end
    end
    assert.same({ "A8", "A9", "A10", "A12" }, of_sub_account)
  end)

  it("make a client's id for a transfer, and none for a withdrawal, which has no parameter for it", function()
    local rows = operations.by_name
    assert.is_true(rows["broker.transfer"].reconcile.generated_id)
    assert.equal("nothing", rows["broker.withdraw"].reconcile.strategy)
    assert.is_nil(rows["broker.withdraw"].by_name.withdrawOrderId)
  end)
end)
