-- SPDX-License-Identifier: MIT
-- The rules for every text that travels.

local text = require "purser.client.operations.text"

describe("a text", function()
  it("travels as it is, whatever characters it is made of", function()
    for _, value in ipairs { "a", "USDT", "a b", "\195\164", "\240\159\152\128", "&=?#%", '"\\', ("x"):rep(1024) } do
      assert.equal(value, (text.clean_text(value)))
    end
  end)

  it("says of itself whether it is of letters and digits alone", function()
    assert.is_true(select(3, text.clean_text "USDT1"))
    for _, value in ipairs { "a b", "a-b", "\195\164" } do assert.is_nil((select(3, text.clean_text(value)))) end
  end)

  it("is rejected with what is wrong and what to do", function()
    for value, message in pairs {
      [""] = "is empty", [("x"):rep(1025)] = "is 1025 bytes long", ["a\0b"] = "holds a control character",
      ["a\127"] = "holds a control character", ["\n"] = "holds a control character", ["\255"] = "is not valid UTF-8",
      ["\192\128"] = "is not valid UTF-8", ["a\237\160\128"] = "is not valid UTF-8",
      ["\244\144\128\128"] = "is not valid UTF-8", [true] = "is a boolean", [print] = "is a function",
      [1.5] = "is a float", [1 / 0] = "is a float", [2 ^ 70] = "is a float",
    } do
      local result, why, hint = text.clean_text(value)
      assert.is_nil(result)
      assert.matches(message, why, 1, true)
      assert.is_string(hint)
    end
  end)
end)

describe("the digits of a number", function()
  it("are exact, or there are none", function()
    for number, digits in pairs { [0] = "0", [7] = "7", [-3] = "-3", [9007199254740991] = "9007199254740991" } do
      assert.equal(digits, text.digits_of(number))
      assert.equal(digits, (text.clean_text(number)))
    end
    for _, number in ipairs { 1.5, -0.1, 1 / 0, -1 / 0, 0 / 0, 2 ^ 60 } do assert.is_nil(text.digits_of(number)) end
  end)
end)

describe("one of a few texts", function()
  it("is that text, and any other is rejected with all that are allowed", function()
    local names = text.choices.account_types
    assert.equal("FUTURES", text.one_of("FUTURES", names))
    for value, message in pairs { SPOTT = 'is "SPOTT" (did you mean "SPOT"?)', spot = 'is "spot"', x = 'is "x"' } do
      local result, why, hint = text.one_of(value, names)
      assert.is_nil(result)
      assert.equal(message, why:sub(1, #message))
      assert.equal("allowed are SPOT, FUTURES", hint)
    end
  end)

  it("is a state whose place in the list is its number", function()
    for number, name in pairs { [4] = "PENDING", [5] = "SUCCESS", [7] = "REJECTED", [12] = "COMPLETED" } do
      assert.equal(name, text.choices.deposit_states[number])
    end
    for number, name in pairs { [1] = "APPLY", [7] = "SUCCESS", [8] = "FAILED", [9] = "CANCEL" } do
      assert.equal(name, text.choices.withdrawal_states[number])
    end
  end)

  it("is a permission that the document lists, in this order", function()
    local own = "SPOT_ACCOUNT_READ SPOT_ACCOUNT_WRITE SPOT_DEAL_READ SPOT_DEAL_WRITE CONTRACT_ACCOUNT_READ "
      .. "CONTRACT_ACCOUNT_WRITE CONTRACT_DEAL_READ CONTRACT_DEAL_WRITE SPOT_TRANSFER_READ SPOT_TRANSFER_WRITE"
    assert.equal(own, table.concat(text.choices.permissions, " "))
    assert.equal(own .. " SPOT_WITHDRAW_READ SPOT_WITHDRAW_WRITE SPOT_DEPOSIT_READ SPOT_DEPOSIT_WRITE",
      table.concat(text.choices.broker_permissions, " "))
    assert.same({ { "SPOT", "FUTURES" }, { "EMAIL", "UID", "MOBILE" } }, { text.choices.account_types,
      text.choices.identifier_types })
  end)
end)
