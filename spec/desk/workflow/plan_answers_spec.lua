-- SPDX-License-Identifier: MIT
-- An answer must be the answer to the question: a deposit address of another coin or network, or of a form that the
-- network cannot have, is no success; each name of the right network is one.

local json = require "purser.json"
local simulated = require "simulated"

local sim, client = simulated.world({ seed = 1 }, { role = "main", balances = { USDT = "1000" } },
  { rate_limit = false })

-- Answers of C7 and of C6 that the service is made to give; nil: its own.
local answers = {}

local function client_of(account)
  local inner = sim:transport()
  return simulated.client(sim, account, { rate_limit = false, transport = {
    send = function(_, request)
      local body = answers[request.operation]
      if body then return { status = 200, headers = {}, body = body } end
      return inner:send(request)
    end,
    sleep = function(_, ms) return inner.sleep and inner:sleep(ms) end,
  } })
end

local networks = {}
for _, coin in ipairs(assert(client.wallet:coins())) do
  for _, network in ipairs(coin.networkList) do
    networks[#networks + 1] = { coin = coin.coin, short = network.netWork, long = network.network }
  end
end

local account = assert(sim:account { role = "main", name = "asker" })
local asker = client_of(account)

-- Returns a good address of each network, as the simulator makes it.
for _, network in ipairs(networks) do
  local made = client.wallet:create_deposit_address { coin = network.coin, network = network.long }
  network.address, network.memo = made and made.address, made and made.memo
end

local function record(coin, name, address)
  return json.encode(json.object { { "coin", coin }, { "network", name }, { "address", address } })
end

-- Plans and executes with one answer of C7 and one of C6. Returns the address, or nil and the error's outcome.
local function try(network, c7, c6)
  answers["wallet.deposit_addresses"], answers["wallet.create_deposit_address"] = c7, c6
  local plan, err = asker.wallet:plan_create_deposit_address { coin = network.coin, network = network.short }
  local made
  if plan then made, err = plan:execute() end
  answers = {}
  return made and made.address, err
end

describe("A deposit address", function()
  it("of another coin or network is never taken for the one that was asked for", function()
    local swapped = 0
    for _, one in ipairs(networks) do
      for _, other in ipairs(networks) do
        if one.address and other.address and (one.coin ~= other.coin or one.short ~= other.short) then
          local text = record(other.coin, other.long, other.address)
          assert.is_nil((try(one, "[" .. text .. "]")))
          local address, err = try(one, "[]", text)
          assert.is_nil(address)
          assert.equal("unknown", err.outcome)
          swapped = swapped + 2
        end
      end
    end
    assert.is_true(swapped > 1000, swapped)
  end)

  it("by each name of the right network is one", function()
    for _, one in ipairs(networks) do
      for _, name in ipairs { one.short, one.long } do
        if one.address then
          assert.equal(one.address, (try(one, "[" .. record(one.coin, name, one.address) .. "]")))
          assert.equal(one.address, (try(one, "[]", record(one.coin, name, one.address))))
        end
      end
    end
  end)

  it("whose form the network cannot have is none", function()
    local tron = { coin = "USDT", short = "TRX", long = "Tron(TRC20)" }
    local _, err = try(tron, "[]", record("USDT", "Tron(TRC20)", "0x77ad45e34337f5e8a7f1cf29590b15b548a57e5f"))
    assert.equal("unknown", err.outcome)
    assert.matches("has the form of Ethereum", err.message)
  end)

  it("is not the first of several: all are shown, and a person chooses", function()
    local one = networks[1]
    answers["wallet.deposit_addresses"] = ("[%s,%s]"):format(record(one.coin, one.long, one.address),
      record(one.coin, one.long, one.address))
    local plan = assert(asker.wallet:plan_create_deposit_address { coin = one.coin, network = one.short })
    answers = {}
    assert.is_false(plan.ok)
    assert.matches("there are 2 addresses", plan.problems[1])
    assert.is_nil((plan:execute()))
  end)

  it("is refused by the plain calls, too: C6 and A8 end unknown, C7 and A9 with an error", function()
    local counts = {}
    local function call(group, name, params, text)
      answers[group .. "." .. name] = text
      local made, err = asker[group][name](asker[group], params)
      answers = {}
      counts[group .. name] = (counts[group .. name] or 0) + 1
      return made, err
    end
    for _, one in ipairs(networks) do
      for _, group in ipairs(one.address and { "wallet", "broker" } or {}) do
        local asked = { coin = one.coin, network = one.long }
        for _, name in ipairs { one.long, one.short } do
          assert.truthy(call(group, "create_deposit_address", asked, record(one.coin, name, one.address)), name)
          assert.truthy(call(group, "deposit_addresses", { coin = one.coin },
            "[" .. record(one.coin, name, one.address) .. "]"), name)
        end
        for _, other in ipairs(networks) do
          if other.address and (one.coin ~= other.coin or one.short ~= other.short) then
            local text = record(other.coin, other.long, other.address)
            local made, err = call(group, "create_deposit_address", asked, text)
            assert.is_nil(made)
            assert.equal("unknown", err.outcome)
            made, err = call(group, "deposit_addresses", { coin = one.coin }, "[" .. text .. "]")
            assert.equal(one.coin == other.coin, made ~= nil)
            assert.equal(one.coin == other.coin, err == nil)
          end
        end
      end
    end
    for _, count in pairs(counts) do assert.is_true(count > 500, count) end
  end)
end)
