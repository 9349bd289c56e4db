-- SPDX-License-Identifier: MIT
-- The rows of the group sub_account.

local contract_rows = require "contract_rows"
local operations = require "purser.client.operations"

describe("the rows of sub-accounts", function()
  contract_rows.of(it, "sub_account", {
    create_sub_account = "create", create_api_key = "create", delete_api_key = "change",
    transfer = "transfer sub_account",
  })

  it("are signed by the main account's key alone", function()
    for _, row in ipairs(operations.groups.sub_account) do assert.equal("main", row.signer, row.full_name) end
  end)

  it("transfer from and to the parent where no account is named, as those of the broker do", function()
    local own, brokers = operations.by_name["sub_account.transfer"], operations.by_name["broker.transfer"]
    assert.same(brokers.moves, own.moves)
    assert.same({ "fromAccountType", "toAccountType", "asset", "amount" }, own.required)
    assert.same({ "fromAccount", "toAccount" }, own.moves.sub_accounts)
  end)
end)
