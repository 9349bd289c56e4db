-- SPDX-License-Identifier: MIT
-- Addresses: their form on each chain, one for each account, coin and network, and the saved ones.

local addresses = require "purser.testing.sim.addresses"
local coins = require "purser.testing.sim.coins"
local address = require "purser.address"
local made_address = require "made_address"
local purser = require "purser"
local signed = require "signed"
local simulated = require "simulated"

local ask, get, rejection = signed.ask, signed.get, signed.rejection

describe("deposit addresses", function()
  local sim, house

  before_each(function()
    sim = purser.sim.new { seed = 11 }
    house = assert(sim:account { role = "main" })
  end)

  it("have one address a coin and network, the same ever after", function()
    local params = { coin = "USDT", network = "Ethereum(ERC20)" }
    local first, again = get(sim, house, "C6", params), get(sim, house, "C6", params)
    assert.equal(first.address, again.address)
    assert.is_truthy(first.address:find("^0x%x+$"))
    assert.equal(1, #get(sim, house, "C7", { coin = "USDT" }))
    assert.same({}, get(sim, house, "C7", { coin = "USDT", network = "Tron(TRC20)" }))
    assert.equal("10216", rejection(sim, house, "C6", { coin = "EOS", network = "EOS" }))
  end)

  it("are one for all coins and networks of a form where the option says so, and another for each account", function()
    for _, variant in ipairs { "document", "live" } do
      local shared = purser.sim.new { seed = 11, shared_addresses = true, variant = variant }
      local first, second = assert(shared:account { role = "main" }), assert(shared:account { role = "main" })
      local function made(account, coin, network)
        local client = simulated.client(shared, account)
        return assert(client.wallet:create_deposit_address { coin = coin, network = network })
      end
      local evm = made(first, "USDT", "Ethereum(ERC20)").address
      assert.equal(evm, made(first, "USDT", "BNB Smart Chain(BEP20)").address)
      assert.equal(evm, made(first, "USDC", "Ethereum(ERC20)").address)
      assert.equal(variant == "document", evm == made(first, "USDT", "Ethereum(ERC20)").address)
      assert.matches("^T", made(first, "USDT", "Tron(TRC20)").address)
      assert.are_not.equal(evm, made(second, "USDT", "Ethereum(ERC20)").address)
      assert.equal(made(first, "XRP", "Ripple(XRP)").address, made(second, "XRP", "Ripple(XRP)").address)
      local again = purser.sim.restore(shared:snapshot())
      assert(again:deposit { address = evm, coin = "USDC", network = "ETH", amount = "9" })
      assert(again:deposit { address = evm, coin = "USDT", network = "BSC", amount = "9" })
    end
    assert.are_not.equal(get(sim, house, "C6", { coin = "USDT", network = "Ethereum(ERC20)" }).address,
      get(sim, house, "C6", { coin = "USDC", network = "Ethereum(ERC20)" }).address)
  end)

  it("keeps saved withdrawal addresses, in pages (C8)", function()
    for i = 1, 12 do
      local fields = { account = house.uid, coin = "USDT", network = "TRX",
        address = made_address("trx", i) }
      if i > 10 then
        fields = { account = house.uid, coin = "XLM", network = "XLM", address = made_address("xlm", i), memo = "m" }
      end
      assert(sim:save_address(fields))
    end
    local page = ask(sim, house, "C8")
    assert.same({ 12, 2, 1, 10 }, { page.totalRecords, page.totalPageNum, page.page, #page.data })
    local lumens = ask(sim, house, "C8", { coin = "XLM" }).data
    assert.same({ 2, "Stellar(XLM)", "m", "m" }, { #lumens, lumens[1].network, lumens[1].memo, lumens[1].addressTag })
    assert.is_nil((sim:save_address { account = house.uid, coin = "USDT", network = "TRX", address = "0x1" }))
  end)
end)

describe("the form of an address", function()
  local function network(coin, short) return coins.by_name[coin].by_short[short] end

  it("that the simulator draws fits its own network, and has a memo where one is needed", function()
    for seed = 1, 3 do
      local sim = purser.sim.new { seed = seed }
      local owner = sim.accounts.by_id[assert(sim:account {}).uid]
      local neighbour = sim.accounts.by_id[assert(sim:account {}).uid]
      for _, coin in pairs(coins.by_name) do
        for _, chain in ipairs(coin.networks) do
          local record = addresses.of_account(sim, owner, chain)
          assert.is_true(addresses.is_valid(chain, record.address), chain.long .. " " .. record.address)
          local judged = address.check { address = record.address, memo = record.memo, network = chain.public }
          assert.equal("good", judged.state, record.address) -- a plan rejects a wrong checksum
          assert.equal(chain.memo ~= nil, record.memo ~= nil, chain.long)
          assert.is_true(record.memo == nil or addresses.is_valid_memo(chain, record.memo), chain.long)
          assert.equal(record, addresses.find(sim, chain, record.address, record.memo))
          assert.equal(record, addresses.of_account(sim, owner, chain))
          local other = addresses.of_account(sim, neighbour, chain)
          assert.are_not.same({ record.address, record.memo }, { other.address, other.memo })
        end
      end
    end
  end)

  it("is that of its chain, to the last character", function()
    local evm, tron, bitcoin = network("USDT", "ETH"), network("USDT", "TRX"), network("BTC", "BTC")
    for _, case in ipairs {
      { evm, "0x" .. ("ab"):rep(20), true }, { evm, "0x" .. ("ab"):rep(19) .. "a", false },
      { evm, "0x" .. ("ab"):rep(20) .. "a", false }, { evm, "0x" .. ("ag"):rep(20), false },
      { evm, ("ab"):rep(21), false }, { evm, "", false },
      { tron, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", true }, { tron, "T" .. ("0"):rep(33), false },
      { tron, "T" .. ("z"):rep(33), false }, { tron, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6tt", false },
      { tron, "tR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", false },
      { tron, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t\n", false }, { tron, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", false },
      { bitcoin, "bc1" .. ("q"):rep(39), false },
      { bitcoin, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", true },
      { bitcoin, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", true },
      { bitcoin, "1" .. ("z"):rep(25), false },
      { bitcoin, "1111111111111111111114oLvT2", true },
      { bitcoin, "2" .. ("z"):rep(34), false },
      { bitcoin, "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7", false },
    } do
      assert.equal(case[3], addresses.is_valid(case[1], case[2]), case[1].long .. " " .. case[2])
    end
  end)

  it("has a memo of digits on Ripple, of any text on Stellar, and none elsewhere", function()
    local ripple, stellar = network("XRP", "XRP"), network("XLM", "XLM")
    for _, case in ipairs {
      { ripple, "1234567890", true }, { ripple, "4294967296", false }, { ripple, "12a", false }, { ripple, "", false },
      { stellar, ("m"):rep(28), true }, { stellar, ("m"):rep(29), false }, { network("USDT", "TRX"), "1", false },
    } do
      assert.equal(case[3], addresses.is_valid_memo(case[1], case[2]), case[1].long .. " " .. case[2])
    end
  end)
end)

describe("a saved address", function()
  it("counts for its coin, network, address and memo alone", function()
    local sim = purser.sim.new {}
    local who = sim.accounts.by_id[assert(sim:account { name = "Who" }).uid]
    local other = sim.accounts.by_id[assert(sim:account {}).uid]
    local place = made_address("xlm", 1)
    assert(sim:save_address { account = "Who", coin = "XLM", network = "Stellar(XLM)", address = place, memo = "7" })
    local lumens, tron = coins.network("XLM", "XLM", true), coins.network("TRX", "TRX", true)
    assert.is_true(addresses.is_saved(sim, who, lumens, place, "7"))
    for _, case in ipairs { { who, lumens, place }, { who, lumens, place, "8" }, { other, lumens, place, "7" },
      { who, tron, place, "7" }, { who, lumens, made_address("xlm", 2), "7" } } do
      assert.is_false(addresses.is_saved(sim, case[1], case[2], case[3], case[4]))
    end
    assert.is_nil((sim:save_address { account = "Who", coin = "NOPE", network = "TRX", address = place }))
    assert.is_nil((sim:save_address { account = "Who", coin = "TRX", network = "TRX", address = place }))
  end)
end)
