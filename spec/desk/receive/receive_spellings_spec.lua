-- SPDX-License-Identifier: MIT
-- purser.receive over a simulator that shares addresses, and shows outputs, late records and other spellings: what
-- comes in is credited once.

local files = require "files"
local receive_world = require "receive_world"

local MIN, HOUR = 60000, 3600000

for _, variant in ipairs { "document", "live" } do
  describe("purser.receive at a service of the form " .. variant, function()
    after_each(files.remove_kept)

    local world, customers

    local function begin(coin, network)
      world = receive_world.new(nil, { shared_addresses = true, variant = variant })
      local address = assert(world.client.wallet:create_deposit_address { coin = coin, network = network })
      customers = ("customer,address,memo,coins\nalice,%s,%s,\n"):format(address.text or address.address,
        address.memo or "")
      assert(world.receive:begin { customers = customers })
    end

    -- Looks so often that nothing waits for a further look any more.
    local function look()
      for _ = 1, 6 do
        assert(world.receive:run { customers = customers, deadline_ms = 0 })
        world.sim:advance(30 * MIN)
      end
    end

    local function credits()
      local list = {}
      for _, event in ipairs(world.got) do
        assert.same({ "credit", "alice" }, { event.kind, event.customer })
        list[#list + 1] = ("%s %s %s"):format(event.amount, event.coin, event.network)
      end
      table.sort(list)
      return table.concat(list, ", ")
    end

    it("credits each coin and network of one shared address to its customer", function()
      begin("USDT", "Ethereum(ERC20)")
      for coin, network in pairs { USDT = "BSC", USDC = "ETH", BNB = "BSC" } do
        world.deposit("30", { coin = coin, network = network })
      end
      look()
      assert.equal("30 BNB BSC, 30 USDC ETH, 30 USDT BSC", credits())
      assert.same({}, world.receive:list())
    end)

    it("credits each output of one transaction, equal ones and two coins as well", function()
      begin("USDT", "Tron(TRC20)")
      for output, coin in ipairs { "USDT", "USDT", "TRX" } do
        world.deposit("30", { coin = coin, tx_id = "ab:" .. output - 1 })
      end
      look()
      assert.equal("30 TRX TRX, 30 USDT TRX, 30 USDT TRX", credits())
      assert.same({}, world.receive:list())
    end)

    it("credits a deposit that comes late into the history, or comes back into it", function()
      begin("USDT", "Tron(TRC20)")
      look()
      world.deposit("30", { time = world.sim:now() - 100 * MIN })
      local hidden = world.deposit "31".id
      assert(world.sim:hide(hidden))
      look()
      assert.equal("30 USDT TRX", credits())
      assert(world.sim:hide(hidden, false))
      look()
      assert.equal("30 USDT TRX, 31 USDT TRX", credits())
    end)

    it("credits nothing again that is spelled otherwise later", function()
      begin("USDT", "Ethereum(ERC20)")
      local shown = world.deposit("30", { network = "ETH", tx_id = ("ab"):rep(32) })
      world.sim:advance(HOUR)
      look()
      for _, members in ipairs { { txId = "0x" .. ("AB"):rep(32) }, { txId = ("ab"):rep(32) .. ":0" },
        { network = "ETH" }, { network = "Ethereum(ERC20)", coin = "USDT-ETH" }, { amount = "30.000" },
        { address = shown.address:upper():gsub("^0X", "0x") }, { address = "ethereum:" .. shown.address } } do
        assert(world.sim:respell(shown.id, members))
        look()
        assert.equal("30 USDT ETH", credits())
        assert.same({}, world.receive:list())
      end
    end)

    it("credits nothing again whose memo moves, and asks where the memo is another", function()
      begin("XRP", "Ripple(XRP)")
      local shown = world.deposit("30", { coin = "XRP", network = "XRP" })
      look()
      local joined = shown.address .. ":" .. shown.memo
      for i, members in ipairs { { address = joined, memo = "", addressTag = "" },
        { memo = "", addressTag = "" } } do
        assert(world.sim:respell(shown.id))
        look()
        assert(world.sim:respell(shown.id, members))
        look()
        assert.equal("30 XRP XRP", credits())
        assert.equal(i - 1, #world.receive:list())
      end
    end)
  end)
end
