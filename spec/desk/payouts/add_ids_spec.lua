-- SPDX-License-Identifier: MIT
-- The ids by which the service distinguishes payments: each payment has its own, whatever becomes of the journal.

local at = require "payouts_setting"

local payouts

before_each(function()
  at.begin()
  payouts = at.payouts_with()
end)
after_each(at.finish)

describe("the id of a payment", function()
  it("comes from account, queue and key, whatever the content and the journal", function()
    local function id_of(options, key, amount)
      at.client = at.client_with { account = options.account or "treasury" }
      payouts = at.payouts_with { queue = options.queue }
      assert(payouts:add(key, at.TRANSFER, at.move(amount)))
      for _, payment in ipairs(assert(payouts:list())) do
        if payment.key == key then return payment.params.clientTranId end
      end
    end
    local id = id_of({}, "a", "1")
    assert.matches("^%w+$", id)
    assert.equal(32, #id)
    local others = { id_of({}, "b", "1"), id_of({ queue = "june" }, "a", "1") }
    at.lose_journal()
    others[3] = id_of({ account = "second" }, "a", "1")
    local seen = { [id] = true }
    for _, other in ipairs(others) do
      assert.is_nil(seen[other])
      seen[other] = true
    end
    at.lose_journal()
    assert.equal(id, id_of({}, "a", "2"))
  end)

  it("is not mistaken by names that run together", function()
    local function id_of(name, key)
      payouts = at.payouts_with { queue = name }
      assert(payouts:add(key, at.TRANSFER, at.move "1"))
      return assert(payouts:list())[1].params.clientTranId
    end
    assert.are_not.equal(id_of("a", "1:bc"), id_of("a1:b", "c"))
  end)
end)

describe("two payments with one id", function()
  it("are an error when they are added, whichever list they are in", function()
    local id = ("x"):rep(32)
    assert(payouts:add("a", at.TRANSFER, at.move("1", { clientTranId = id })))
    assert.is_false(payouts:add("a", at.TRANSFER, at.move("1", { clientTranId = id })))
    local added, err = payouts:add("b", at.TRANSFER, at.move("2", { clientTranId = id }))
    assert.is_nil(added)
    assert.matches('that of payment "a"', err.message)
    err = select(2, payouts:add("a", at.TRANSFER, at.move("1", { clientTranId = ("z"):rep(32) })))
    assert.matches("other content: clientTranId was x+, is z+; put the old value back", err.message)
    local other = ("y"):rep(32)
    added, err = at.payouts_with { queue = "second" }:add_all {
      { key = "c", operation = at.TRANSFER, params = at.move("1", { clientTranId = other }) },
      { key = "d", operation = at.TRANSFER, params = at.move("1", { clientTranId = other }) },
    }
    assert.is_nil(added)
    assert.matches('payment "d".* that of payment "c"', err.message)
    assert.equal(1, assert(payouts:report()).total)
    added, err = at.payouts_with { queue = "second" }:add("a", at.TRANSFER, at.move("1", { clientTranId = id }))
    assert.is_nil(added)
    assert.matches('that of payment "a"', err.message)
  end)

  it("are found whatever characters the id has, and an id that is only alike is another", function()
    local function order(id)
      return { coin = "USDT", address = "an-address", netWork = "TRX", amount = "1", withdrawOrderId = id }
    end
    for i, id in ipairs { "a%b", "a_b", 'a"b', "a\\b", "a'b", "aXb" } do
      assert.is_true(payouts:add("k" .. i, "wallet.withdraw", order(id)), id)
      local added, err = payouts:add("again", "wallet.withdraw", order(id))
      assert.is_nil(added)
      assert.matches(('that of payment "k%d"'):format(i), err.message)
    end
  end)
end)

describe("an id of one's own", function()
  local ID = ("z"):rep(32)

  it("is of a payment or of a call, and not of both", function()
    payouts = at.payouts_with()
    local params = at.move("5", { clientTranId = ID })
    assert(payouts:add("a", at.TRANSFER, params))
    local _, err = at.client.sub_account:transfer(params)
    assert.same({ "not_sent", "journal.used" }, { err.outcome, err.code })
    assert.matches('that of payment "a" of the queue "default"', err.message)
    local other = at.move("5", { clientTranId = ("y"):rep(32) })
    assert(at.client.sub_account:transfer(other))
    _, err = payouts:add("b", at.TRANSFER, other)
    assert.matches('its clientTranId "yyyy.*" is that of a call', err.message)
    assert.equal(1, at.counted(at.TRANSFER, "received"))
  end)

  it("leads to a payment that a history showed: its record is owned, though the journal lacks the call", function()
    at.add(payouts, 1, 1)
    at.set "state = 'done', stage = 'done', record_id = 'r7'"
    local owner = assert(at.journal:owners("record_id", "treasury", { "r7" }, { [at.TRANSFER] = true })).r7
    assert.same({ "done", false, at.TRANSFER }, { owner.state, owner.answered, owner.operation })
    assert.same({}, assert(at.journal:owners("record_id", "treasury", { "r7" }, { ["wallet.withdraw"] = true })))
  end)
end)
