-- SPDX-License-Identifier: MIT
-- Digests that journals of all releases keep, compared with the literals of spec/golden/digests.lua.

local digest = require "purser.client.util.digest"
local digests = require "purser.write.digests"
local operations = require "purser.client.operations"
local own = require "own_journal"
local purser = require "purser"
local rules = require "purser.desk.approvals.rules"
local simulated = require "simulated"

local golden = dofile "spec/golden/digests.lua"

describe("a digest that journals keep", function()
  it("has ten literals of each kind", function()
    for _, kind in ipairs { "calls", "identities", "ids_of_keys", "ids_of_payments" } do
      assert.equal(10, #golden[kind], kind)
    end
  end)

  for i, call in ipairs(golden.calls) do
    it(("is what it was, of call %d, a %s"):format(i, call.operation), function()
      local row = operations.by_name[call.operation]
      assert.equal(call.content, digests.content(row, call.params))
      assert.equal(call.likeness, digests.likeness(row, call.params))
      assert.equal(call.destination, rules.call(call.operation, call.params).destination)
    end)
  end

  it("is what it was, of API keys, and of ids of keys and of payments", function()
    for _, one in ipairs(golden.identities) do assert.equal(one[2], digest.account_of(one[1])) end
    for _, one in ipairs(golden.ids_of_keys) do assert.equal(one[4], digests.id_of_key(one[1], one[2], one[3])) end
    for _, one in ipairs(golden.ids_of_payments) do
      assert.equal(one[4], digests.id_of_payment(one[1], one[2], one[3]))
    end
  end)
end)

describe("a call of a client with a journal", function()
  local sim, account, client, journal
  local withdrawal = golden.calls[1]

  before_each(function()
    sim, journal = purser.sim.new { seed = 7 }, own.begin()
    account = assert(sim:account { role = "main", balances = { USDT = "100" } })
    client = simulated.client(sim, account, { account = "treasury", journal = journal, rate_limit = false })
  end)
  after_each(own.finish)

  local function row_of(field, value)
    return assert(journal.db:rows(("SELECT * FROM purser_calls WHERE %s = $1"):format(field), value))[1]
  end

  it("has the id and the content of its key", function()
    local info = {}
    client.wallet:withdraw(withdrawal.params, { key = "inv-1", info = info })
    assert.equal(golden.ids_of_keys[1][4], info.intent.params.withdrawOrderId)
    local row = row_of("key", "inv-1")
    assert.equal(withdrawal.content, row.content)
    assert.equal(withdrawal.likeness, row.digest)
    assert.equal(digest.account_of(account.api_key), row.signer)
  end)

  it("has the id of a payment, in a queue", function()
    local queue = assert(purser.payouts.new { client = client, journal = journal })
    assert(queue:add("inv-1", withdrawal.operation, withdrawal.params))
    local payment = assert(queue:find("inv-1"))
    assert.equal(golden.ids_of_payments[1][4], payment.client_id)
    assert.equal(withdrawal.content, payment.content)
    assert.equal(withdrawal.likeness, row_of("payment", "inv-1").digest)
  end)
end)

describe("a key", function()
  it("has one form in capitals, in small letters and in full width", function()
    for _, pair in ipairs { { "Inv-1", "inv-1" }, { "\195\156b\195\169", "\195\188b\195\169" },
      { "\239\188\161\239\188\170", "aj" }, { "\208\144\208\175", "\208\176\209\143" } } do
      assert.equal(pair[2], digests.form(pair[1]))
    end
  end)
end)
