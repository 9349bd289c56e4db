-- SPDX-License-Identifier: MIT
-- Intents that come from a file, another process or a person: what may be looked for, and what would find nothing.

local intents = require "purser.write.intent"

local NOW = 1700000000000
local move = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }

local function intent(fields)
  local all = { operation = "wallet.transfer", params = move, sent_at = NOW, recv_window = 5000 }
  for name, value in pairs(fields or {}) do all[name] = value end
  return all
end

local function without(name)
  local all = intent()
  all[name] = nil
  return all
end

describe("an intent", function()
  it("is rejected with the reason and the cure, where a look by it would prove nothing", function()
    for _, case in ipairs {
      { nil, "no intent", "give an error" }, { "wallet.transfer", "no intent" }, { {}, "no intent" },
      { without "params", "no intent" }, { intent { params = "amount=2" }, "no intent" },
      { without "sent_at", "no intent" }, { intent { sent_at = tostring(NOW) }, "no intent" },
      { intent { sent_at = NOW + 0.5 }, "no intent" },
      { intent { sent_at = math.floor(NOW / 1000) }, "13 digits", "seconds times 1000" },
      { intent { sent_at = NOW * 1000 }, "13 digits" }, { intent { sent_at = 1e13 }, "13 digits" },
      { intent { sent_at = 1e12 - 1 }, "13 digits" },
      { intent { recv_window = 0 }, "recv_window" }, { intent { recv_window = -60000 }, "recv_window" },
      { intent { recv_window = "5000" }, "recv_window" }, { intent { recv_window = 0.5 }, "recv_window" },
      { intent { operation = "wallet.transfers" }, 'did you mean "wallet.transfer"' },
      { without "operation", '"nil" is not known' },
      { intent { operation = "wallet.coins", params = {} }, "is a read", "call it again" },
      { intent { params = { amount = "2" } }, "required" },
      { intent { params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = 1.5 } },
        "float" },
    } do
      local row, message, hint = intents.row_of(case[1])
      assert.is_nil(row)
      assert.matches(case[2], message)
      if case[3] then assert.matches(case[3], hint) end
    end
  end)

  it("is the same one where it was written as it travelled", function()
    local given = intent()
    local row, taken = intents.row_of(given)
    assert.equal("wallet.transfer", row.full_name)
    assert.same(given, taken)
    assert.equal(without("recv_window").sent_at, select(2, intents.row_of(without "recv_window")).sent_at)
    assert.truthy((intents.row_of(intent { sent_at = 1e12 })))
  end)

  it("that a person wrote is taken as it travelled, in a copy", function()
    local given = intent { operation = "wallet.convert", params = { asset = { "BTC", "ETH" } }, id = "i" }
    local _, taken = intents.row_of(given)
    assert.same({ operation = "wallet.convert", params = { asset = "BTC,ETH" }, sent_at = NOW, recv_window = 5000,
      id = "i" }, taken)
    assert.same({ asset = { "BTC", "ETH" } }, given.params)
  end)

  it("may hold parameters that the operation does not know", function()
    local params = { tag = "7" }
    for name, value in pairs(move) do params[name] = value end
    local _, taken = intents.row_of(intent { params = params })
    assert.equal("7", taken.params.tag)
  end)
end)
