-- SPDX-License-Identifier: MIT
-- `purser operations`: what operations there are, and everything about one of them.

local command = require "command"
local core = require "purser.core"
local operations = require "purser.client.operations"

describe("purser operations", function()
  it("lists every operation, and those that only the live service has", function()
    local code, out = command.run { "operations" }
    assert.equal(0, code)
    for _, row in ipairs(operations.every) do assert.is_truthy(out:find("\n" .. row.id .. " ", 1, true), row.id) end
  end)

  it("lists those whose facts contain a word", function()
    local code, out = command.run { "operations", "SPOT_DEAL_READ" }
    assert.equal(0, code)
    assert.is_truthy(out:find("conversion_history", 1, true))
    local _, lines = out:gsub("\n", "")
    assert.equal(3, lines)
  end)

  it("shows everything about one, by name, id or command", function()
    local _, by_id = command.run { "operations", "c15" }
    for _, name in ipairs { "wallet.internal_transfer", "wallet internal_transfer", "wallet internal-transfer" } do
      local code, out = command.run { "operations", name }
      assert.equal(0, code)
      assert.equal(by_id, out)
    end
    assert.matches("%-%-toAccountType <choice>%s+EMAIL, UID, MOBILE", by_id)
    for _, part in ipairs { "C15 POST /api/v3/capital/transfer/internal", "Result: one record: tranId",
      "Outcome unknown: do not run it again" } do assert.is_truthy(by_id:find(part, 1, true), part) end
  end)

  it("writes JSON", function()
    local code, out = command.run { "operations", "--format", "json" }
    assert.equal(0, code)
    assert.equal(#operations.every, #core.decode(out))
  end)

  it("suggests the nearest name", function()
    local code, _, err = command.run { "operations", "wallet.withdrwa" }
    assert.equal(2, code)
    assert.is_truthy(err:find('did you mean "wallet.withdraw"', 1, true), err)
  end)
end)
