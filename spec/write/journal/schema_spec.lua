-- SPDX-License-Identifier: MIT
-- Rows that accounts and workers have of their own.

local purser = require "purser"

local path

before_each(function() path = os.tmpname() end)

after_each(function()
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
end)

describe("two accounts with one journal", function()
  it("may use the same key in the same queue, and each has its own payment", function()
    local journal = assert(purser.journal.open { sqlite = path })
    local params = { toAccount = "d", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "2" }
    for _, account in ipairs { "treasury", "second" } do
      local client = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s",
        journal = journal, account = account })
      local payouts = assert(purser.payouts.new { client = client, journal = journal })
      assert.is_true(payouts:add("rent", "sub_account.transfer", params))
      assert.is_false(payouts:add("rent", "sub_account.transfer", params))
      assert.equal(1, assert(payouts:report()).waiting)
    end
    assert.equal("2", assert(journal.db:rows "SELECT CAST(count(*) AS TEXT) AS n FROM purser_calls")[1].n)
    journal:close()
  end)
end)
