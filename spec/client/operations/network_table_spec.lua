-- SPDX-License-Identifier: MIT
-- The table of networks: each row is whole, each name is one network's, and only certain rows refuse.

local network_table = require "purser.client.operations.network_table"

describe("The table of networks", function()
  it("has one row for each name, with a certainty, and families where it is certain", function()
    local seen, certain = {}, 0
    for _, row in ipairs(network_table.list()) do
      for name in row.names:gmatch "%S+" do
        name = network_table.plain(name)
        assert.is_nil(seen[name], name)
        seen[name] = true
      end
      assert.is_truthy(row.certainty:find "^[ABC]$")
      if row.certainty == "A" then
        assert.is_truthy(row.families[1] and row.source ~= "", row.value)
        certain = certain + 1
      end
    end
    assert.is_true(certain > 80 and #network_table.list() > 170, certain .. " " .. #network_table.list())
  end)

  it("finds a row by any name of the service's record, the surest first", function()
    local function of(network, coin)
      local row, is_sure = network_table.row_of(network, coin)
      return { row and row.value, is_sure }
    end
    for _, case in ipairs {
      { "TRX", "TRX", true }, { { netWork = "ERC-20" }, "ETH", true }, { { network = "Ethereum(ERC20)" }, "ETH", true },
      { { network = "Any (ERC20)" }, "ETH", true }, { { netWork = "?", network = "Polygon(Matic)" }, "MATIC", true },
      { { netWork = "TRX", network = "Ethereum(ERC20)" }, "TRX", true }, { "AKT", "AKT", false },
      { { netWork = "TRX", network = "Bitcoin" }, "TRX", false }, { "TON", "TONCOIN", false },
      { { netWork = "TON", network = "Toncoin(TON)" }, "TONCOIN", true }, { "TONCOIN", "TONCOIN", true },
      { { netWork = "TON", network = "Tokamak" }, "TONCOIN", false }, { "NEW", nil, false }, { {}, nil, false },
    } do
      assert.same({ case[2], case[3] }, of(case[1]))
    end
    assert.same({ "TONCOIN", true }, of("TON", { coin = "TON" }))
    assert.same({ "TONCOIN", false }, of("TON", { coin = "USDT" }))
  end)

  it("has words for families, and the network that a family is of", function()
    assert.equal("Tron", network_table.words "trx")
    assert.equal("NEO", network_table.words "neo")
    assert.equal("a network of Polkadot's kind", network_table.words "ss58/9999")
    assert.equal("unknown", network_table.words "unknown")
    assert.equal("TRX", network_table.home_of "trx")
    assert.is_nil(network_table.home_of "evm")
    assert.is_nil(network_table.home_of "unknown")
  end)
end)
