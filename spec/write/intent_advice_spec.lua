-- SPDX-License-Identifier: MIT
-- Advice for a call that ends with an unknown outcome. A sentence that invites to run a payment again is a payment made
-- twice.

local intents = require "purser.write.intent"
local operations = require "purser.client.operations"

local function of(name, values) return intents.advice(operations.by_name[name], values) end

describe("the advice", function()
  it("is never to run a call again, but for those that twice are as once", function()
    for _, row in ipairs(operations.list) do
      local text = intents.advice(row, {})
      if row.effect == "read" then
        assert.is_nil(text)
      elseif row.reconcile.strategy == "repeat" then
        assert.equal("it may be run again: doing it twice is the same as once", text)
      else
        assert.is_nil(text:find("may be run again", 1, true), row.full_name)
        local is_state = row.reconcile.strategy == "state" -- no harm comes from running it again
        assert.equal(not is_state, text:find("do not run it again", 1, true) ~= nil, row.full_name)
        assert.truthy(text:find(row.reconcile.lookup, 1, true), row.full_name)
        assert.is_nil(text:find "[{}]", row.full_name)
      end
    end
  end)

  it("names the id that was sent; without one it names what has to be equal", function()
    assert.equal('do not run it again: client:reconcile(err) looks in wallet.withdrawal_history for withdrawOrderId '
      .. '"order-1"', of("wallet.withdraw", { withdrawOrderId = "order-1" }))
    assert.equal("do not run it again: client:reconcile(err) looks in wallet.withdrawal_history for the one record "
      .. "with the same coin, address, amount, memo", of("wallet.withdraw", {}))
    assert.equal("client:reconcile(err) looks in wallet.withdrawal_history whether id \"w1\" is as requested",
      of("wallet.cancel_withdrawal", { id = "w1" }))
  end)

  it("says that the secret of a new key is lost", function()
    assert.matches('for the key with note "bot"; its secret is lost, so it has to be deleted before another is made$',
      of("broker.create_api_key", { note = "bot" }))
  end)

  it("shows four letters from either end of an API key, and nothing of a short one", function()
    for key, shown in pairs { mx0vglABCDEFGHIJ = "mx0v...GHIJ", ["1234567890123"] = "1234...0123",
      ["123456789012"] = "..." } do
      local text = of("broker.delete_api_key", { apiKey = key })
      assert.truthy(text:find(('apiKey "%s"'):format(shown), 1, true), text)
      assert.is_nil(text:find(key, 1, true))
    end
    assert.truthy(of("wallet.withdraw", { withdrawOrderId = "mx0vglABCDEFGHIJ" }):find("mx0vglABCDEFGHIJ", 1, true))
  end)

  it("says how to write the intent by hand where only the caller knows what was sent", function()
    assert.equal('do not run it again: client:reconcile { operation = "wallet.withdraw", params = what was sent, '
      .. "sent_at = its timestamp } looks in wallet.withdrawal_history for the withdrawOrderId that was sent, or "
      .. "without one for the same coin, address, amount, memo", of("wallet.withdraw", nil))
    assert.matches("for the key with the note that was sent;", of("broker.create_api_key", nil))
  end)

  it("leaves to a person what nothing identifies", function()
    assert.matches("nothing identifies it but its remark; a person must look in wallet.withdrawal_history",
      of("broker.withdraw", {}))
  end)
end)
