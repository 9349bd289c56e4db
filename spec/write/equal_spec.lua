-- SPDX-License-Identifier: MIT
-- Which transfers of a journal are equal, and the option that refuses one in the transaction that records the call.

local equal = require "purser.write.equal"
local json = require "purser.json"
local operations = require "purser.client.operations"
local own = require "own_journal"
local purser = require "purser"
local simulated = require "simulated"

local AT = 1700000000000

describe("an equal transfer", function()
  local payment = { coin = "USDT", netWork = "TRX", address = "TPayee", amount = "20" }
  local path

  before_each(function()
    path = select(2, own.begin())
  end)

  after_each(own.finish)

  -- Returns the refusal of a payment under a key.
  local function asked(key, since, operation, params)
    operation = operation or "wallet.withdraw"
    local ok, problem = own.journal.db:transaction(function(tx)
      equal.check(tx, { operation = operation, params = params or payment }, operations.by_name[operation],
        { name = key, equal_since = since or AT - 1000 })
      return true
    end)
    return not ok and problem or nil
  end

  local function write(id, more)
    more.params = json.encode(more.params or payment)
    more.operation = more.operation or "wallet.withdraw"
    own.within(function(tx) own.write(tx, id, AT, more) end)
  end

  for _, case in ipairs {
    { true, {} }, { true, { amount = "20.00" } }, { true, { withdrawOrderId = "other" } }, { true, { remark = "x" } },
    { true, { coin = "usdt" } }, { false, { amount = "20.01" } }, { false, { address = "TOther" } },
    { false, { memo = "7" } }, { true, { netWork = "ETH" } }, { true, { contractAddress = "TToken" } },
    { true, { netWork = false, network = "Tron(TRC20)" }, "wallet.withdraw_legacy" },
    { true, { netWork = false, network = "Tron(TRC20)" }, "broker.withdraw" },
    { false, { amount = "21" }, "broker.withdraw" }, { false, {}, "wallet.internal_transfer" },
  } do
    local operation = case[3] or "wallet.withdraw"
    local name, value = next(case[2])
    it(("is %s with %s %s by %s"):format(case[1] and "one" or "none", name or "no", value or "change", operation),
      function()
      local other = {}
      for member, text in pairs(payment) do other[member] = text end
      for member, text in pairs(case[2]) do other[member] = text or nil end
      write("a", { operation = operation, params = other, key = "inv-1" })
      local refused = asked "inv-2"
      assert.equal(case[1] and "journal.equal" or nil, refused and refused.code)
    end)
  end

  it("counts unless nothing was sent for certain", function()
    for i, case in ipairs { { true, { state = "done" } }, { true, { state = "open" } }, { true, { state = "unknown" } },
      { true, { state = "undecided" } }, { false, { state = "planned" } }, { false, { state = "rejected" } },
      { false, { state = "not_sent" } }, { false, { state = "not_done" } },
      { true, { state = "rejected", rejected = "yes" } }, { true, { state = "not_done", disowned = "yes" } } } do
      local params = { coin = "USDT", netWork = "TRX", address = "TPayee", amount = tostring(i) }
      case[2].params, case[2].key = params, "inv-" .. i
      local state = case[2].state
      write("id" .. i, case[2])
      assert.equal(case[1], asked("other", nil, nil, params) ~= nil, state)
    end
  end)

  it("is no other where the key is its own, and counts from the given time on", function()
    write("a", { key = "Inv-1", state = "done" })
    assert.is_nil(asked "inv-1")
    assert.is_nil(asked("inv-2", AT + 1))
    local refused = asked("inv-2", AT)
    assert.same({ "not_sent", "a", "Inv-1" }, { refused.outcome, refused.details.call, refused.details.key })
    write("b", { params = { coin = "USDT", netWork = "TRX", address = "TQueued", amount = "1" }, queue = "june",
      payment = "inv-9", stage = "done" })
    refused = asked("inv-9", nil, nil, { coin = "USDT", address = "TQueued", amount = "1.0" })
    assert.matches('payment "inv-9" of the queue "june"', refused.message, 1, true)
  end)

  it("is found behind thousands of others", function()
    own.within(function(tx)
      for i = 1, 2100 do
        own.write(tx, ("%05d"):format(i), AT + i % 7, { operation = "wallet.withdraw", params = i == 2099
          and '{"coin":"USDT","address":"TPayee","amount":"20.0"}' or '{"coin":"USDT","address":"T","amount":"20"}' })
      end
    end)
    assert.equal("02099", asked("inv").details.call)
  end)

  it("ends one of two calls that ask at once, of two programs", function()
    local sim = purser.sim.new { seed = 63 }
    local account = assert(sim:account { role = "main", balances = { USDT = "1000" } })
    local journals, clients = { own.journal, assert(purser.journal.open { sqlite = path }) }, {}
    for i, journal in ipairs(journals) do
      clients[i] = simulated.client(sim, account, { journal = journal, account = "treasury" })
    end
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5" }
    local since = sim:now() - 1000
    assert(clients[1].wallet:transfer(params, { key = "inv-1", equal_since = since }))
    local _, err = clients[2].wallet:transfer(params, { key = "inv-2", equal_since = since })
    assert.same({ "journal.equal", "not_sent", "inv-1" }, { err.code, err.outcome, err.details.key })
    assert(clients[2].wallet:transfer(params, { key = "inv-1", equal_since = since })) -- the same, again
    assert.equal(1, simulated.counted(sim, "wallet.transfer", "applied"))
    assert(clients[2].wallet:transfer(params, { key = "inv-2" })) -- nobody asks
    journals[2]:close()
  end)

  it("cannot be asked for without a key, a journal, or a transfer", function()
    local sim, client = simulated.broker()
    local account = assert(sim:account { role = "main", balances = { USDT = "10" } })
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "5" }
    for _, case in ipairs { { {}, "key" }, { { journal = own.journal, account = "a" }, nil } } do
      client = simulated.client(sim, account, case[1])
      for _, call in ipairs { function(...) return client.wallet:transfer(...) end,
        function(...) return client:prepare("wallet.transfer", ...) end } do
        local _, err = call(params, { key = case[2], equal_since = AT })
        assert.same({ "argument", "equal_since" }, { err.kind, err.option })
      end
    end
    local _, err = client.sub_account:create_sub_account({ subAccount = "desktwelve", note = "x" },
      { key = "k", equal_since = AT })
    assert.equal("equal_since", err.option)
  end)
end)
