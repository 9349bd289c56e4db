-- SPDX-License-Identifier: MIT
-- client.broker:watch_deposits: the deposits of all sub-accounts, each named by its address.

local purser = require "purser"

local NOW = 1700000000000

describe("client.broker:watch_deposits", function()
  local sim, client, addresses

  before_each(function()
    sim = purser.sim.new { start_time = NOW }
    local broker = sim:account { role = "broker", balances = { USDT = "1000" } }
    local function client_of(key, secret)
      return assert(purser.new { base_url = "http://localhost", api_key = key, secret_key = secret,
        transport = sim:transport(), clock = function() return sim:now() end })
    end
    client, addresses = client_of(broker.api_key, broker.secret_key), {}
    for _, name in ipairs { "desk01", "desk02" } do
      assert(client.broker:create_sub_account { subAccount = name, note = "n" })
      local key = assert(client.broker:create_api_key { subAccount = name, note = "k",
        permissions = { "SPOT_DEPOSIT_READ", "SPOT_DEPOSIT_WRITE" } })
      local sub = client_of(key.apiKey, key.secretKey)
      addresses[name] = assert(sub.broker:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" }).address
    end
  end)

  local function deposit(name, amount)
    assert(sim:deposit { address = addresses[name], coin = "USDT", network = "TRX", amount = amount })
    sim:advance(3600000)
  end

  local function events(params)
    params.sub_accounts, params.poll_ms, params.deadline_ms = params.sub_accounts or addresses, 1000, 2000
    local list, cursor = {}, nil
    for event in client.broker:watch_deposits(params) do
      list[#list + 1] = ("%s %s %s"):format(event.kind, event.sub_account or "?", event.deposit.amount)
      cursor = event.cursor
    end
    table.sort(list)
    return list, cursor
  end

  it("names the sub-account of each, once, across restarts", function()
    deposit("desk01", "5")
    deposit("desk02", "7")
    local list, cursor = events { since = NOW }
    assert.same({ "new desk01 5", "new desk02 7" }, list)
    assert.same({}, (events { cursor = cursor }))
    deposit("desk02", "8")
    assert.same({ "new desk02 8" }, (events { cursor = cursor }))
    assert.same({ "new ? 5", "new desk02 7", "new desk02 8" },
      (events { since = NOW, sub_accounts = { desk02 = { addresses.desk02 } } }))
  end)

  it("rejects names that are none, and one address of two names", function()
    for _, wrong in ipairs { { desk01 = 5 }, { "T1" }, { a = "T1", b = "t1" } } do
      local event, err = client.broker:watch_deposits({ sub_accounts = wrong }):next()
      assert.is_nil(event)
      assert.matches("sub_accounts", err.message)
    end
  end)
end)
