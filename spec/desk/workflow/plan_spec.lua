-- SPDX-License-Identifier: MIT
-- Plans: names of networks resolved, every problem at once, and nothing executed twice.

local purser = require "purser"
local simulated = require "simulated"
local stub_client = require "stub_client"

local NOW = 1700000000000
local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

local function world(balances)
  return simulated.world({ start_time = NOW, record_requests = 50 },
    { role = "main", email = "a@example.org", balances = balances or { USDT = "1000", XRP = "500" } })
end

local function received(sim, name) return (sim:counts()[name] or { received = 0 }).received end

describe("plan_withdraw", function()
  it("resolves the network, knows the fee, prints well and is executed", function()
    local sim, client = world()
    local plan = assert(client.wallet:plan_withdraw { coin = "USDT", network = "trc-20", address = TRON,
      amount = "20.50" })
    assert.is_true(plan.ok)
    assert.equal("TRX", plan.params.netWork)
    assert.same({ "1", "21.5" }, { plan.fee, plan.total })
    assert.equal(table.concat({
      "Withdrawal of 20.50 USDT", "  network  TRX (Tron(TRC20))", "  to       " .. TRON,
      "  limits   10 to 10000000, in steps of 0.000001",
      "  fee      1 USDT, assumed to come on top; with the amount 21.5",
      "  arrives  20.5 USDT; 19.5 if the service takes the fee out of the amount, which it does not document",
      "  ok       no problem found" }, "\n"), tostring(plan))
    local info = {}
    local result = assert(plan:execute { key = "invoice-1", info = info }) -- the plan gave it no second key
    local id = info.intent.params.withdrawOrderId
    assert.equal(result.id, assert(client.wallet:wait_withdrawal { withdrawOrderId = id }).id)
    assert.equal(1, received(sim, "wallet.withdraw"))
  end)

  it("is none where the coins cannot be read, and has a problem with an amount of 0", function()
    local sim, client = world()
    local none = { coin = "USDT", network = "TRX", address = TRON, amount = "0" }
    assert.matches("the amount 0 is not positive", assert(client.wallet:plan_withdraw(none)).problems[1])
    for _, name in ipairs { "plan_withdraw", "plan_create_deposit_address" } do
      local _, err = client.wallet[name](client.wallet, { coin = "USDT", max_age_ms = -1 })
      assert.equal("max_age_ms", err.parameter)
      assert(client.wallet[name](client.wallet, { coin = "USDT", network = "TRX", max_age_ms = 0 }))
    end
    none.max_age_ms = 0
    sim:advance(1)
    sim:fault { kind = "reject", operation = "wallet.coins", code = "700007", times = 9 }
    local plan, err = client.wallet:plan_withdraw(none)
    assert.same({ nil, "wallet.coins" }, { plan, err.operation })
  end)

  it("names the network as each operation does", function()
    local _, client = world()
    for operation, name in pairs { ["wallet.withdraw"] = { netWork = "TRX" },
      ["wallet.withdraw_legacy"] = { network = "Tron(TRC20)" }, ["broker.withdraw"] = { network = "Tron(TRC20)" } } do
      local plan = assert(client.wallet:plan_withdraw({ coin = "USDT", network = "trc20", address = TRON,
        amount = "20" }, operation))
      assert.same({ name.netWork, name.network }, { plan.params.netWork, plan.params.network })
    end
    local both = { coin = "USDT", network = "TRX", netWork = "TRC20", address = TRON, amount = "20" }
    assert.is_true(assert(client.wallet:plan_withdraw(both)).ok)
    both.netWork = "ETH"
    assert.same({ "network and netWork name two networks; give one" },
      assert(client.wallet:plan_withdraw(both)).problems)
    both.network = "NONE"
    assert.matches("USDT has no network NONE", assert(client.wallet:plan_withdraw(both)).problems[1])
  end)

  it("can ask for the fee inside the amount, and says what arrives", function()
    local sim, client = world()
    local plan = assert(client.wallet:plan_withdraw { coin = "USDT", network = "TRX", address = TRON, amount = "20",
      includeFee = true })
    assert.same({ "1", "20", "19" }, { plan.fee, plan.total, plan.arrives })
    assert.matches("asked for inside the amount; 19 arrives", tostring(plan), 1, true)
    assert(plan:execute())
    assert.matches("&includeFee=true", sim:requests()[#sim:requests()].target, 1, true)
    assert.equal("980", sim:state().accounts[1].spot[1].free)
    assert(sim:verify())
  end)

  it("compares the sum with the balance where the profile shows it", function()
    local sim, _, owner = world { USDT = "20" }
    local function plan_under(profile, fee_inside)
      local client = simulated.client(sim, owner, { profile = profile })
      return assert(client.wallet:plan_withdraw { coin = "USDT", network = "TRX", address = TRON, amount = "20",
        includeFee = fee_inside })
    end
    assert.is_true(plan_under("default").ok)
    assert.same({ "the balance of 20 USDT is less than 21" }, plan_under("mexc").problems)
    assert.is_true(plan_under("mexc", true).ok)
    sim:fault { kind = "server_error", operation = "live.account", times = 9, when = "before", status = 500 }
    local plan = plan_under "mexc"
    assert.is_true(plan.ok)
    assert.matches("the balance cannot be read", plan.warnings[1], 1, true)
  end)

  -- The age of such a plan was counted from before its clock was set right, so it was too old at once.
  it("is not old because the clock was wrong when it was made", function()
    local sim, _, owner = world()
    local client = assert(purser.new { base_url = "http://localhost", api_key = owner.api_key,
      secret_key = owner.secret_key, transport = sim:transport(), clock = function() return sim:now() - 1800000 end })
    local plan = assert(client.wallet:plan_withdraw { coin = "USDT", network = "trc-20", address = TRON,
      amount = "20.50" })
    assert(plan:execute())
  end)

  it("reports every problem at once", function()
    local _, client = world()
    local plan = assert(client.wallet:plan_withdraw { coin = "XRP", network = "XRP", address = "r abc",
      amount = "0.0000005", require_saved_address = true, contractAddress = "0x1" })
    assert.is_false(plan.ok)
    local text = tostring(plan)
    for _, part in ipairs { "holds a blank", "needs a memo", "below the minimum of 20", "no multiple of 0.000001",
      "the next below is 0", "not among the saved addresses", "contractAddress is not that of XRP" } do
      assert.truthy(text:find(part, 1, true), part .. " in\n" .. text)
    end
    assert.equal(6, #plan.problems)
    local result, err = plan:execute()
    assert.is_nil(result)
    assert.equal("not_sent", err.outcome)
  end)

  it("reports what is wrong with each single thing", function()
    local _, client = world()
    for _, case in ipairs {
      { { coin = "USTD" }, "the coin USTD does not exist (did you mean \"USDT\"?)" },
      { { network = false }, "USDT travels on 7 networks" },
      { { network = "TRC21" }, "USDT has no network TRC21" },
      { { network = "AVAX_CCHAIN" }, "are suspended: Withdrawals are suspended." },
      { { amount = "10000000.1" }, "above the maximum" },
      { { amount = "1e3" }, "no exact decimal" },
      { { amount = "0123" }, "begins with 0 and another digit" },
      { { amount = 20.5 }, "no exact decimal" },
      { { amount = "-5" }, "not positive" },
      { { address = false }, "the address is missing" },
      { { coin = "XRP", network = "XRP", memo = " " }, "the memo begins or ends with a blank" },
      { { coin = "XRP", network = "XRP", memo = "12 " }, "the memo begins or ends with a blank" },
      { { coin = "XRP", network = "XRP", memo = "" }, "the memo is empty" },
      { { coin = "TON", network = "TON", address = "UQabc:12345" }, 'address = "UQabc" and memo = "12345"' },
    } do
      local given = { coin = "USDT", network = "TRX", address = TRON, amount = "20" }
      for name, value in pairs(case[1]) do given[name] = value or nil end
      local plan = assert(client.wallet:plan_withdraw(given))
      assert.is_false(plan.ok)
      assert.truthy(table.concat(plan.problems, "; "):find(case[2], 1, true), tostring(plan))
    end
    local plan, err = client.wallet:plan_withdraw { coin = "USDT", adress = TRON }
    assert.is_nil(plan)
    assert.truthy(err.message:find('did you mean "address"', 1, true))
  end)

  it("rejects an address whose form or checksum cannot be that of the network, unless it is told not to", function()
    local _, client = world()
    local function problems(given)
      given.amount = given.amount or "20"
      local plan = assert(client.wallet:plan_withdraw(given))
      assert.equal(#plan.problems == 0, plan.ok)
      return table.concat(plan.problems, "; ")
    end
    assert.matches("one of Tron, and none of ETH", problems { coin = "USDT", network = "ETH",
      address = TRON })
    assert.matches("has not the form of an address of TRX", problems { coin = "USDT", network = "TRX",
      address = "treasury" })
    assert.equal("", problems { coin = "USDT", network = "trc20", address = TRON })
    for _, mistyped in ipairs {
      { coin = "USDT", network = "trc20", address = (TRON:gsub("7$", "8")) },
      { coin = "XRP", network = "XRP", memo = "1", amount = "30", address = "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTx" },
    } do
      assert.matches("checksum of the address is wrong", problems(mistyped), 1, true)
      mistyped.unchecked_address = true
      assert.equal("", problems(mistyped))
      assert.matches("\n  ok       no error found; read the warnings first$",
        tostring(assert(client.wallet:plan_withdraw(mistyped))))
    end
  end)

  it("requires what a withdrawal needs, in words of its own, and takes a coin in small letters", function()
    local _, client = world()
    local plan = assert(client.wallet:plan_withdraw {})
    assert.equal("the coin is missing; give coin = \"USDT\" or another; the address is missing; the amount is missing",
      table.concat(plan.problems, "; "))
    assert.equal("Withdrawal of ? ?", tostring(plan):match "^[^\n]*")
    plan = assert(client.wallet:plan_withdraw { coin = "usdt", network = "Tron(TRC20)", address = TRON, amount = "20" })
    assert.is_true(plan.ok)
    assert.same({ "USDT", "TRX" }, { plan.params.coin, plan.params.netWork })
    plan = assert(client.wallet:plan_withdraw { coin = "USDT", address = TRON, amount = "20" })
    assert.is_false(plan.ok)
    assert.matches("USDT travels on 7 networks", plan.problems[1], 1, true)
  end)

  it("knows the saved addresses", function()
    local sim, client, owner = world()
    for i = 1, 120 do
      assert(sim:save_address { account = owner.uid, coin = "USDT", network = "ETH", address = ("0x%040d"):format(i) })
    end
    local given = { coin = "USDT", network = "erc20", address = ("0x%040d"):format(119), amount = "25",
      require_saved_address = true }
    assert.is_true(assert(client.wallet:plan_withdraw(given)).ok)
    given.network = "BEP20"
    assert.is_false(assert(client.wallet:plan_withdraw(given)).ok)
  end)

  it("takes the tag of a saved address for its memo", function()
    local _, client = world()
    local call = client.call
    stub_client.of(client)
    local function is_saved(memo, tag, given_memo)
      client.call = function(self, name, params, opts)
        if name ~= "wallet.withdrawal_addresses" then return call(self, name, params, opts) end
        local saved = { coin = "XRP", network = "XRP", address = "rShared", memo = memo, addressTag = tag }
        return { data = params.page == 1 and { saved } or {}, totalRecords = 1, totalPageNum = 1, page = params.page }
      end
      local plan = assert(client.wallet:plan_withdraw { coin = "XRP", network = "XRP", address = "rShared",
        amount = "50", memo = given_memo, require_saved_address = true })
      return not table.concat(plan.problems):find("not among the saved addresses", 1, true)
    end
    assert.is_true(is_saved("7", nil, "7") and is_saved(nil, "7", "7") and is_saved("", "7", "7"))
    assert.is_true(is_saved("", "", nil) and is_saved(nil, nil, nil))
    assert.is_false(is_saved(nil, "7", nil) or is_saved("", "7", nil) or is_saved("7", "7", nil))
    assert.is_false(is_saved(nil, "7", "8"))
  end)

  it("reads the coin configuration once in a while", function()
    local sim, client = world()
    local given = { coin = "USDT", network = "TRX", address = TRON, amount = "20" }
    for _ = 1, 5 do assert(client.wallet:plan_withdraw(given)) end
    assert.equal(1, received(sim, "wallet.coins"))
    sim:advance(300001)
    local plan = assert(client.wallet:plan_withdraw(given))
    assert.equal(2, received(sim, "wallet.coins"))
    sim:advance(300001)
    local result, err = plan:execute()
    assert.is_nil(result)
    assert.truthy(err.message:find("the plan is 300 s old", 1, true))
  end)

  it("is never executed twice, least of all when nobody knows whether it was", function()
    local sim, client = world()
    local given = { coin = "USDT", network = "TRX", address = TRON, amount = "20" }
    local plan = assert(client.wallet:plan_withdraw(given))
    sim:fault { kind = "lost_answer", operation = "wallet.withdraw", times = 1 }
    local result, err = plan:execute()
    assert.is_nil(result)
    assert.equal("unknown", err.outcome)
    result, err = plan:execute()
    assert.is_nil(result)
    assert.truthy(err.message:find("reconcile that first", 1, true))
    plan = assert(client.wallet:plan_withdraw(given))
    sim:fault { kind = "reject", operation = "wallet.withdraw", times = 1 }
    assert.is_nil((plan:execute()))
    assert(plan:execute()) -- it was rejected, so it may be retried
    result, err = plan:execute()
    assert.is_nil(result)
    assert.truthy(err.message:find("already", 1, true))
    assert.equal(3, received(sim, "wallet.withdraw"))
  end)
end)

describe("plan_create_deposit_address", function()
  it("finds the long name, and does not make an address that exists", function()
    local sim, client = world()
    local plan = assert(client.wallet:plan_create_deposit_address { coin = "USDT", network = "TRX" })
    assert.equal("Tron(TRC20)", plan.params.network)
    local made = assert(plan:execute())
    plan = assert(client.wallet:plan_create_deposit_address { coin = "USDT", network = "trc20" })
    assert.truthy(tostring(plan):find("exists   " .. made.address, 1, true))
    assert.equal(made.address, assert(plan:execute()).address)
    assert.equal(1, received(sim, "wallet.create_deposit_address"))
  end)

  it("reports that deposits are suspended, and that senders need the memo", function()
    local _, client = world()
    local plan = assert(client.wallet:plan_create_deposit_address { coin = "EOS" })
    assert.truthy(plan.problems[1]:find("deposits of EOS on EOS are suspended: Under maintenance.", 1, true))
    plan = assert(client.wallet:plan_create_deposit_address { coin = "XRP" })
    assert.truthy(tostring(plan):find("senders must give the memo", 1, true))
  end)
end)
