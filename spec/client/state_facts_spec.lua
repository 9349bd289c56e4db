-- SPDX-License-Identifier: MIT
-- Facts that programs on top of a client ask it for: whether a value fits, how far back a history reaches, its options.

local own = require "own_journal"
local purser = require "purser"
local recorder = require "recorder"

local DAY = 86400000

describe("client:check_value", function()
  local client, transport = recorder.new()

  it("says of a value what the call would say, and sends nothing", function()
    assert.is_true(client:check_value("wallet.withdraw", "amount", "1.50"))
    for _, case in ipairs { { "amount", "1e3" }, { "amount", 0.1 }, { "memo", "a\nb" }, { "address", "" } } do
      local fits, message, hint = client:check_value("wallet.withdraw", case[1], case[2])
      assert.is_nil(fits)
      local params = { coin = "USDT", netWork = "TRX", amount = "1", address = "T1234567890123456789" }
      params[case[1]] = case[2]
      local _, err = client.wallet:withdraw(params)
      assert.equal(err.message, ('parameter "%s" %s'):format(case[1], message))
      assert.equal(err.hint, hint)
    end
    assert.equal(0, #transport.requests)
  end)

  it("takes no value where none is required", function()
    assert.is_true(client:check_value("wallet.withdraw", "memo", nil))
    assert.same({ nil, "is missing" }, { client:check_value("wallet.withdraw", "amount", nil) })
  end)

  it("knows no other operation and no other parameter", function()
    assert.matches('operation "wallet.withdrw" is not known', select(2, client:check_value("wallet.withdrw", "a", 1)))
    assert.matches('is not known.*"amount"', select(2, client:check_value("wallet.withdraw", "amuont", 1)))
    assert.equal("is not known", select(2, client:check_value("ping", "a", 1)))
  end)
end)

describe("client:earliest", function()
  local now = 1700000000000
  local client = recorder.new { clock = function() return now end }

  it("is where a walk without a beginning begins", function()
    for _, name in ipairs { "wallet.deposit_history", "wallet.withdrawal_history", "broker.all_deposit_history" } do
      local from = tostring(client:each(name)):match "from (%d+)"
      assert.equal(from, ("%d"):format(client:earliest(name)))
    end
    assert.equal(client:earliest("wallet.deposit_history") - DAY, client:earliest("wallet.deposit_history", now - DAY))
  end)

  it("is nothing where the service documents none", function()
    for _, row in ipairs(purser.operations) do
      if not row.window then assert.is_nil(client:earliest(row.full_name), row.full_name) end
    end
    assert.is_nil(client:earliest "ping")
    assert.is_nil(client:earliest "no.such")
  end)
end)

describe("client:settings", function()
  it("has the account, whether there is a journal, and the visibility delay, in a table of its own", function()
    assert.same({ base_url = "https://service.example", has_journal = false, visibility_delay_ms = 60000 },
      recorder.new():settings())
    local journal = own.begin()
    local client = recorder.new { journal = journal, account = "treasury", visibility_delay_ms = 5 }
    client:settings().account = "another"
    assert.same({ account = "treasury", base_url = "https://service.example", has_journal = true,
      visibility_delay_ms = 5 }, client:settings())
    own.finish()
  end)

end)
