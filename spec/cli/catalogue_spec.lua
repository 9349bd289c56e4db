-- SPDX-License-Identifier: MIT
-- The operations as the command sees them: what `purser.operations` shows.

local catalogue = require "purser.cli.catalogue"
local operations = require "purser.client.operations"

describe("the catalogue", function()
  it("has the operations of the document, and those of the live service besides", function()
    assert.equal(#operations.list, #catalogue.list)
    assert.is_true(#catalogue.every > #catalogue.list and catalogue.every[#catalogue.every].live)
    assert.equal(#catalogue.every, #catalogue.names(function() return true end))
    assert.equal("live.account", catalogue.find "live account".full_name)
  end)

  it("finds an operation as people write it", function()
    for _, text in ipairs { "wallet withdraw", "wallet:withdraw", "wallet/withdraw", "wallet.withdraw" } do
      assert.equal("C2", catalogue.find(text).id)
    end
    assert.equal("wallet.internal_transfer", catalogue.find "wallet internal-transfer".full_name)
    assert.is_nil(catalogue.find "wallet.nothing")
  end)

  it("knows which operations make a key, whose secret is shown once, and which withdraw", function()
    local keys, withdrawals = {}, {}
    for _, row in ipairs(catalogue.every) do
      if catalogue.creates_key(row) then keys[#keys + 1] = row.full_name end
      if catalogue.withdraws(row) then withdrawals[#withdrawals + 1] = row.full_name end
    end
    table.sort(keys)
    table.sort(withdrawals)
    assert.same({ "broker.create_api_key", "sub_account.create_api_key" }, keys)
    assert.same({ "broker.withdraw", "wallet.withdraw", "wallet.withdraw_legacy" }, withdrawals)
  end)

  it("has words for a parameter where its row or its name says more than its kind", function()
    local withdraw = catalogue.by_name["wallet.withdraw"]
    assert.equal("such as USDT", withdraw.by_name.coin.help)
    assert.is_nil(catalogue.by_name["wallet.deposit_history"].by_name.limit.help)
    assert.equal("integer from 1", catalogue.by_name["wallet.deposit_history"].by_name.limit.rule)
    for name, rule in pairs { ["wallet.deposit_history limit"] = "integer from 1; at most 1000; default 1000",
      ["sub_account.balances accountType"] = "SPOT, FUTURES; only SPOT is supported by the service",
      ["wallet.withdraw coin"] = "such as USDT", ["sub_account.create_api_key ip"] =
      "IP addresses, a list or comma-separated; at most 20" } do
      local operation, param = name:match "(%S+) (%S+)"
      assert.equal(rule, catalogue.rule(catalogue.by_name[operation].by_name[param]))
    end
    assert.matches("^status number, or its name: APPLY, .*MANUAL; withdrawal status$",
      catalogue.rule(catalogue.by_name["wallet.withdrawal_history"].by_name.status))
  end)

  it("says where an operation stands that was named without its group", function()
    assert.equal("an operation comes after its group: `purser wallet coins`", catalogue.hint "coins")
    assert.matches("^there are `purser sub_account balances`, ", catalogue.hint "balance")
    assert.equal("did you mean `purser help credentials`?", catalogue.hint "credential")
    assert.is_nil(catalogue.hint "nothing")
  end)
end)
