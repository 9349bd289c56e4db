-- SPDX-License-Identifier: MIT
-- Changes that no operation tells of: a trade, a rebate that grows, a record that vanishes from its history.

local purser = require "purser"
local simulated = require "simulated"

describe("changes without a record", function()
  local sim, house, client

  before_each(function()
    sim = purser.sim.new { seed = 4 }
    house = assert(sim:account { role = "broker", name = "House", email = "house@mail.example",
      balances = { USDT = "100", SHIB = "9" } })
    client = simulated.client(sim, house)
  end)

  it("trade: balances change, and the books are right before and after a snapshot", function()
    local balances = assert(sim:trade { account = "House", changes = { USDT = "-25.5", MX = "10" } })
    assert.same({ { asset = "MX", free = "10", locked = "0" }, { asset = "SHIB", free = "9", locked = "0" },
      { asset = "USDT", free = "74.5", locked = "0" } }, balances)
    assert.same({ {}, {} }, { client.wallet:deposit_history(), client.wallet:withdrawal_history() })
    assert(sim:verify())
    assert(purser.sim.restore(sim:snapshot()):verify())
  end)

  it("trade: nothing changes where one amount is missing or is none", function()
    for changes, wrong in pairs {
      [{ MX = "5", USDT = "-100.1" }] = "has less USDT", [{ MX = 5 }] = "change of MX must be the text of a decimal,",
    } do
      local balances, message = sim:trade { account = "House", changes = changes }
      assert.is_nil(balances)
      assert.is_truthy(message:find(wrong, 1, true), message)
    end
    assert.equal("100", sim:state().accounts[1].spot[2].free)
    assert.is_nil(sim:state().accounts[1].spot[3])
  end)

  it("rebate: grows where the day, the user, the asset and the type are the same", function()
    local function rebate(changes)
      local fields = { account = "House", asset = "USDT", amount = "0.5", uid = "77", grows = true }
      for name, value in pairs(changes) do fields[name] = value end
      return assert(sim:rebate(fields)).amount
    end
    assert.same({ "0.5", "1.25" }, { rebate {}, rebate { amount = "0.75" } })
    assert.same({ "0.5", "0.5", "0.5" },
      { rebate { uid = "78" }, rebate { type = "futures" }, rebate { asset = "MX" } })
    sim:advance(86400000)
    assert.same({ "0.5", "0.5" }, { rebate {}, rebate { grows = false } })
    assert.equal(6, client.broker:rebates().totalRecords)
  end)

  local function spot_to_futures(amount)
    return { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = amount and "USDT", amount = amount }
  end

  -- Kind of a record -> how one is made (returns its id), and how its history is listed.
  local kinds = {
    deposit = {
      function(amount)
        return assert(sim:deposit { account = "House", coin = "USDT", network = "TRX", amount = amount }).id
      end,
      function() return client.wallet:deposit_history() end,
    },
    withdrawal = {
      function(amount)
        return client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = amount,
          address = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC" }.id
      end,
      function() return client.wallet:withdrawal_history() end,
    },
    ["transfer to a sub-account"] = {
      function(amount) return client.broker:transfer(simulated.transfer(amount)).tranId end,
      function()
        return client.broker:transfer_history { toAccount = "tradingdesk1", fromAccountType = "SPOT",
          toAccountType = "SPOT" }
      end,
    },
    ["transfer to futures"] = {
      function(amount) return client.wallet:transfer(spot_to_futures(amount)).tranId end,
      function() return client.wallet:transfer_history(spot_to_futures()).rows end,
    },
    ["internal transfer"] = {
      function(amount)
        return client.wallet:internal_transfer { toAccountType = "EMAIL", toAccount = "payee@mail.example",
          asset = "USDT", amount = amount }.tranId
      end,
      function() return client.wallet:internal_transfer_history({ limit = 10 }).data end,
    },
    conversion = {
      function()
        assert(sim:trade { account = "House", changes = { XLM = "1" } })
        client.wallet:convert { asset = "XLM" }
        return client.wallet:conversion_history({ limit = 10 }).data[1].convertDetails[1].id
      end,
      function() return client.wallet:conversion_history({ limit = 10 }).data end,
    },
    rebate = {
      function(amount) return assert(sim:rebate { account = "House", asset = "MX", amount = amount }).id end,
      function() return client.broker:rebates().data end,
    },
  }

  for kind, functions in pairs(kinds) do
    it("hide: a record vanishes, and comes back into its place: " .. kind, function()
      local make, list = functions[1], functions[2]
      assert(sim:account { role = "sub", parent = house.uid, name = "tradingdesk1" })
      assert(sim:account { role = "main", email = "payee@mail.example" })
      local ids = {}
      for i, amount in ipairs { "10", "11", "12" } do
        ids[i] = make(amount) -- at one time, so that the order shows each one's place
      end
      local all = list()
      assert.equal(3, #all)
      assert.same({ id = ids[2], hidden = true }, sim:hide(ids[2]))
      assert.same({ all[1], all[3] }, list())
      assert(sim:verify())
      sim = purser.sim.restore(sim:snapshot())
      client = simulated.client(sim, house)
      assert.same({ all[1], all[3] }, list())
      assert.same({ id = ids[2], hidden = false }, sim:hide(ids[2], false))
      assert.same(all, list())
    end)
  end

  it("hide: an internal transfer is gone from the payee's history as well", function()
    local payee = simulated.client(sim, assert(sim:account { role = "main", email = "payee@mail.example" }))
    local id = kinds["internal transfer"][1] "1"
    assert.equal(id, payee.wallet:internal_transfer_history().data[1].tranId)
    assert(sim:hide(id))
    assert.same({}, payee.wallet:internal_transfer_history().data)
    assert.same({}, payee.wallet:internal_transfer_history({ tranId = id }).data)
  end)

  it("hide: one transfer asked for by its id is gone as well, here and after a snapshot", function()
    local id = kinds["transfer to futures"][1] "1"
    assert.equal(id, client.wallet:get_transfer({ tranId = id }).tranId)
    assert(sim:hide(id))
    assert.equal("22222", select(2, client.wallet:get_transfer { tranId = id }).code)
    sim = purser.sim.restore(sim:snapshot())
    client = simulated.client(sim, house)
    assert.same({}, kinds["transfer to futures"][2]())
  end)

  it("hide: says what it cannot hide: an account, a key, and what is none", function()
    for _, id in ipairs { "0", house.uid, house.api_key } do
      assert.same({ nil, "there is no such record" }, { sim:hide(id) })
    end
    assert.matches("hidden", select(2, sim:hide("0", "false")))
  end)
end)
