-- SPDX-License-Identifier: MIT
-- A rejection may be that of a second copy: the call counts in limits until it was looked for, and a call for which a
-- limit has no room beside looks.

local at = require "payouts_setting"

local OWN = "wallet.transfer"

before_each(function() at.begin { balance = "1000" } end)
after_each(at.finish)

-- A client under a limit of 8, or a guard, whose first transfer is answered with a rejection, and executed where
-- `is_executed`.
local function client_with(is_executed, answer, guard)
  local number = 0
  guard = guard or { spending_limit = { USDT = "8" } }
  return at.client_with { guard = guard, transport = at.transport(function(request, inner)
    number = number + (request.operation == OWN and 1 or 0)
    if request.operation ~= OWN or number > 1 then return inner:send(request) end
    if is_executed then inner:send(request) end
    return answer or { status = 400, headers = {}, body = '{"code":10101,"msg":"no"}' }
  end) }
end

describe("a rejected call", function()
  for name, options in pairs { ["with a key"] = { key = "first" }, ["without one"] = {} } do
    it(name .. " that was executed leaves no room in a limit", function()
      local client = client_with(true)
      assert.equal("rejected", select(2, client.wallet:transfer(at.own "5", options)).outcome)
      local _, err = client.wallet:transfer(at.own "6", { key = "second" })
      assert.same({ "guard.spending_limit", 1 }, { err.code, at.counted(OWN, "applied") })
      assert.equal("done", assert(at.journal:entries())[1].state)
      assert(client.wallet:transfer(at.own "3", { key = "third" }))
    end)

    it(name .. " that was not executed leaves its room to the next, which looks", function()
      local client = client_with(false)
      assert.equal("rejected", select(2, client.wallet:transfer(at.own "5", options)).outcome)
      assert.is_true(assert(at.journal:entries())[1].is_counted)
      local began = at.sim:now()
      assert(client.wallet:transfer(at.own "3", { key = "beside" })) -- there is room: nothing is read
      assert.equal(began, at.sim:now())
      assert(client.wallet:transfer(at.own "5", { key = "second" }))
      assert.same({ 1, 2 }, { #assert(at.journal:entries { state = "not_done" }), at.counted(OWN, "applied") })
    end)
  end

  it("leaves its room at once where each copy gets the same answer", function()
    local client = client_with(false, { status = 400, headers = {}, body = '{"code":700002,"msg":"no"}' })
    assert.equal("rejected", select(2, client.wallet:transfer(at.own "5")).outcome)
    assert.is_false(assert(at.journal:entries())[1].is_counted)
    assert(client.wallet:transfer(at.own "8"))
  end)

  it("leaves none where the caller's address is not on the key's list: another copy may have come from one", function()
    local client = client_with(true, { status = 400, headers = {}, body = '{"code":700006,"msg":"no"}' })
    assert.equal("rejected", select(2, client.wallet:transfer(at.own "5", { key = "k" })).outcome)
    assert(client.wallet:transfer(at.own "5", { key = "k" }))
    assert.equal(1, at.counted(OWN, "applied"))
  end)

  it("is looked for by a prepared call and by a payment of a queue as well", function()
    at.client = client_with(false)
    assert.equal("rejected", select(2, at.client.wallet:transfer(at.own "5")).outcome)
    assert(at.client:prepare(OWN, at.own "5", { key = "prepared" }))
    at.client = client_with(false)
    assert.equal("rejected", select(2, at.client.wallet:transfer(at.own "2")).outcome)
    local payouts = at.payouts_with { history_check = "never" }
    assert(payouts:add("a", OWN, at.own "3"))
    assert.equal(1, assert(payouts:run()).done)
  end)

  it("keeps no equal payment of a queue waiting", function()
    at.client = client_with(false, nil, { no_duplicates = true })
    assert.equal("rejected", select(2, at.client.wallet:transfer(at.own "4")).outcome)
    local payouts = at.payouts_with { history_check = "never" }
    assert(payouts:add("b", OWN, at.own "4"))
    assert.equal(1, assert(payouts:run()).done)
  end)

  for name, is_executed in pairs { executed = true, ["not executed"] = false } do
    it(("that was %s is an equal call without an end until it was looked for"):format(name), function()
      local client = client_with(is_executed, nil, { no_duplicates = true })
      assert.equal("rejected", select(2, client.wallet:transfer(at.own "2")).outcome)
      local done, err = client.wallet:transfer(at.own "2")
      assert.same({ not is_executed, is_executed and "guard.no_duplicates" or nil, 1 },
        { done ~= nil, err and err.code, at.counted(OWN, "applied") })
      assert.equal(is_executed and 0 or 1, #assert(at.journal:entries { state = "not_done" }))
    end)
  end

  it("goes on counting where it cannot be looked for", function()
    local client = client_with(false)
    assert.equal("rejected", select(2, client.wallet:transfer(at.own "5")).outcome)
    at.sim:fault { kind = "reject", operation = "wallet.transfer_history", code = "700007", times = 100 }
    local _, err = client.wallet:transfer(at.own "6")
    assert.same({ "guard.spending_limit", 0 }, { err.code, at.counted(OWN, "applied") })
  end)
end)
