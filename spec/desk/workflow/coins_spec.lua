-- SPDX-License-Identifier: MIT
-- The coin configuration, and networks by the names that people use.

local coins = require "purser.desk.workflow.coins"
local networks = require "purser.client.operations.network"
local simulated = require "simulated"

-- A client at the time `client.time` whose coin configuration is this list; `client.reads` counts.
local function client_of(list)
  local client = { time = 1000, reads = 0, wallet = {} }
  function client:now() return self.time end
  function client.wallet.coins()
    client.reads = client.reads + 1
    if list then return list end
    return nil, { message = "no" }
  end
  return client
end

describe("the coin configuration", function()
  it("is read again when it is too old, and when the clock was set back", function()
    local client = client_of { { coin = "A" }, { coin = "B", name = "Bee" }, { name = "without a coin" } }
    local all, read_at = coins.read(client, 100)
    assert.same({ { A = { coin = "A" }, B = { coin = "B", name = "Bee" } }, 1000 }, { all, read_at })
    for _, case in ipairs { { 1100, 1 }, { 1101, 2 }, { 1100, 3 }, { 1101, 3 } } do
      client.time = case[1]
      assert(coins.read(client, 100))
      assert.equal(case[2], client.reads)
    end
    client.time = 1100
    assert(coins.read(client, 0))
    assert.equal(3, client.reads)
    client.time = 1101
    assert(coins.read(client, 0))
    assert.equal(4, client.reads)
  end)

  it("is that of each client, and an error is not remembered", function()
    local one, other = client_of { { coin = "A" } }, client_of()
    assert(coins.read(one, 100))
    for reads = 1, 2 do
      assert.same({ nil, { message = "no" } }, { coins.read(other, 100) })
      assert.equal(reads, other.reads)
    end
  end)

  it("has a coin by its name, in capitals or not, and the nearest for another", function()
    local all = { USDT = { coin = "USDT" }, eCash = { coin = "eCash" } }
    assert.equal(all.USDT, coins.find(all, "usdt"))
    assert.equal(all.eCash, coins.find(all, "eCash"))
    assert.equal(all.eCash, coins.find(all, "ECASH")) -- the service may spell its coins in small letters
    local both = { xBTC = { coin = "xBTC" }, XBTC = { coin = "XBTC" } }
    assert.equal(both.xBTC, coins.find(both, "xBTC"))
    assert.equal(both.XBTC, coins.find(both, "XBTC"))
    assert.matches("may be one of 2", select(2, coins.find(both, "xbtc")))
    local none, message = coins.find(all, "USTD")
    assert.is_nil(none)
    assert.matches('the coin USTD does not exist.*"USDT"', message)
    assert.matches("the coin 5 does not exist", select(2, coins.find(all, 5)))
  end)
end)

describe("the names of networks", function()
  local coin = { coin = "X", networkList = {
    { netWork = "ARB", network = "Arbitrum One(ARB)" }, { netWork = "ETH", network = "Ethereum(ERC20)" },
    { netWork = "ZK", network = "Era(ERC20)" },
  } }

  it("are distinguished or not resolved", function()
    assert.equal("ARB", networks.find(coin, "arbitrum one").netWork)
    assert.equal("ETH", networks.find(coin, "Ethereum").netWork)
    assert.equal("ZK", networks.find(coin, "Era(ERC20)").netWork)
    local network, message = networks.find(coin, "ERC20")
    assert.is_nil(network)
    assert.equal("the network ERC20 may be ETH (Ethereum(ERC20)), ZK (Era(ERC20)); say which", message)
    for _, name in ipairs { "-", "", 5, "TRX" } do assert.is_nil((networks.find(coin, name))) end
    assert.matches("X has no network TRX; it has ARB %(Arbitrum One%(ARB%)%), ", select(2, networks.find(coin, "TRX")))
  end)

  it("need not be given where there is only one", function()
    local only = { coin = "X", networkList = { { netWork = "ARB" } } }
    assert.equal("ARB", networks.find(only).netWork)
    assert.matches("X travels on 3 networks; name one of ARB", select(2, networks.find(coin)))
    assert.is_nil((networks.find { coin = "X" }))
  end)
end)

describe("client.wallet:find_network", function()
  it("finds a network by any name, and says what is wrong with another", function()
    local _, client = simulated.world({}, { role = "main" })
    for _, name in ipairs { "trc20", "TRX", "Tron(TRC20)", "TRC-20" } do
      local network = assert(client.wallet:find_network { coin = "usdt", network = name })
      assert.same({ "TRX", "Tron(TRC20)" }, { network.netWork, network.network })
    end
    for parameter, given in pairs { coin = { "USTD", "TRX" }, network = { "USDT", "trc21" } } do
      local none, err = client.wallet:find_network { coin = given[1], network = given[2] }
      assert.is_nil(none)
      assert.same({ "argument", "not_sent", parameter }, { err.kind, err.outcome, err.parameter })
    end
  end)
end)
