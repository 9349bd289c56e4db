-- SPDX-License-Identifier: MIT
-- An independent client against the simulator: `make ccxt-test`. The npm package ccxt, unchanged, runs its unified
-- methods on the live form of the answers; what each did is asked of the simulator.
-- make ccxt-test: 20 s

local core = require "purser.core"
local decimal = require "purser.decimal"
local purser = require "purser"
local service = require "service"

local PAYEE = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"

describe("ccxt, unchanged", function()
  local running
  after_each(function()
    if running then running.stop() end
  end)

  for _, fee in ipairs { "on_top", "inside" } do
    it("runs its unified methods against the simulator, with the fee " .. fee, function()
      running = service.start { "--variant", "live", "--profile", "mexc", "--set", "fee=" .. fee,
        "--set", "saved_addresses_only=true" }
      local world = running.world
      local account = assert(world:account { name = "House", role = "main", balances = { USDT = "100.5" } })
      assert(world:save_address { account = "House", coin = "USDT", network = "TRX", address = PAYEE })
      local deposit = assert(world:deposit { account = "House", coin = "USDT", network = "TRX", amount = "7.25",
        time = world:now() - 3600000, tx_id = "ab12" })
      local command = ("cd build/ccxt && exec node unified.mjs '%s' '%s' '%s' '%s' ../../docs/coming-from-ccxt.md 2>&1")
        :format(running.url, account.api_key, account.secret_key, PAYEE)
      local pipe = assert(io.popen(command))
      local output = pipe:read "*a"
      pipe:close()
      local results = core.decode(output)
      assert(type(results) == "table", output)

      assert.is_true(results.markets > 10)
      assert.equal("107.75", results.free)
      assert.equal(deposit.address, results.address)
      assert.equal("TRC20", results.network)
      assert.same({ { "ab12", "7.25", "ok" } }, results.deposits) -- ccxt leaves the number of the output out
      assert.equal(results.withdrawal, results.withdrawals[1][1])
      assert.equal("pending", results.withdrawals[1][2])
      assert.equal(32, #results.transfer)

      local client = assert(purser.new { base_url = running.url, profile = "mexc", api_key = account.api_key,
        secret_key = account.secret_key, clock = function() return world:now() end })
      local record = assert(client.wallet:withdrawal_history())[1]
      assert.same({ results.withdrawal, PAYEE }, { record.id, record.address })
      assert.equal(decimal "20", decimal(record.amount))
      assert.equal("5", assert(client.wallet:get_transfer { tranId = results.transfer }).amount)
      local balance = assert(client.live:account()).balances[1]
      assert.equal(fee == "inside" and "82.75" or "81.75", balance.free)
      client:close()
      assert(world:verify())
    end)
  end
end)
