-- SPDX-License-Identifier: MIT
-- Names of states: the same that parameters take and the simulator shows.

local parameters = require "purser.client.operations.parameters"
local purser = require "purser"
local simulated = require "simulated"

local states = purser.states

describe("a state", function()
  it("has a name for each number that a parameter takes, and the name leads back", function()
    for _, kind in ipairs { "deposit", "withdrawal" } do
      local names = parameters.choices[kind .. "_states"]
      assert.same(names, states.list(kind))
      for number, name in ipairs(names) do
        assert.equal(name, states.name(kind, number))
        assert.equal(number, states.number(kind, name))
      end
    end
    assert.equal("SUCCESS", states.name("deposit", 5))
    assert.equal("SUCCESS", states.name("withdrawal", 7))
  end)

  it("is understood as records show it: a number, its digits or its name", function()
    for _, shown in ipairs { 5, "5", "SUCCESS" } do
      assert.equal("SUCCESS", states.name("deposit", shown))
      assert.equal(5, states.number("deposit", shown))
    end
  end)

  it("names each record that the simulator shows", function()
    local sim = purser.sim.new()
    local account = sim:account { role = "broker", email = "a@example.org" }
    local client = simulated.client(sim, account)
    for number, name in ipairs(states.list "deposit") do
      local deposit = assert(sim:deposit { account = account.uid, coin = "USDT", network = "TRX", amount = "5" })
      assert(sim:set_deposit(deposit.id, name))
      local found = assert(client.wallet:deposit_history { status = name })
      assert.equal(1, #found)
      assert.equal(number, found[1].status)
      assert.equal(name, states.name("deposit", found[1].status))
    end
  end)

  it("that is not known is no name, and the message says which are", function()
    for _, wrong in ipairs { 0, 13, -1, 1.5, "13", "", "SUCCES", "success", true } do
      local name, message = states.name("deposit", wrong)
      assert.is_nil(name)
      assert.is_truthy(message:find("states.name: ", 1, true))
    end
    assert.is_nil((states.name("deposit", nil)))
    local _, message = states.number("deposit", "SUCCES")
    assert.is_truthy(message:find("SUCCESS", 1, true))
    _, message = states.number("withdrawal", 11)
    assert.is_truthy(message:find("give 1 to 10", 1, true))
    for _, kind in ipairs { "transfer", "", false } do
      assert.is_nil((states.name(kind, 5)))
      assert.is_nil((states.list(kind)))
    end
  end)

  it("list is the caller's own", function()
    states.list("deposit")[5] = "LOST"
    assert.equal("SUCCESS", states.name("deposit", 5))
  end)
end)

describe("the names of states in a call", function()
  local function sent(operation, params)
    local target
    local client = assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret",
      transport = { send = function(_, request)
        target = request.target
        return { status = 200, headers = "", body = "[]" }
      end } })
    local result, err = client:call(operation, params)
    return result and target:match("status=([^&]*)"), err
  end

  it("are sent as they are to the broker's histories, and as numbers to the wallet's", function()
    assert.equal("PENDING", sent("broker.deposit_history", { status = "PENDING" }))
    assert.equal("4", sent("broker.all_deposit_history", { status = 4 }))
    assert.equal("4", sent("wallet.deposit_history", { status = "PENDING" }))
    assert.equal("7", sent("wallet.withdrawal_history", { status = "SUCCESS" }))
    local _, err = sent("wallet.deposit_history", { status = "CANCEL" })
    assert.equal("argument", err.kind)
  end)

  it("are understood by the simulator", function()
    local sim = purser.sim.new { start_time = 1700000000000 }
    local broker = sim:account { role = "broker", email = "b@example.org" }
    local client = simulated.client(sim, broker)
    assert.same({}, assert(client.broker:all_deposit_history { status = "SUCCESS" }))
  end)
end)

describe("a deposit's state", function()
  it("means for who credits it what these say", function()
    local credit, found = require("purser.client.operations.states").credit, {}
    for state = 0, 13 do found[#found + 1] = credit(state) end
    assert.equal("ask pending pending pending pending credit pending refused refused pending refused pending ask ask",
      table.concat(found, " "))
    assert.same({ "credit", "credit", "ask", "ask" }, { credit "5", credit "SUCCESS", credit(nil), credit "NEW" })
  end)
end)
