-- SPDX-License-Identifier: MIT
-- "Not now" speaks of the copy of a request that was judged: a payment is looked for before it is sent again.

local at = require "payouts_setting"

local TRANSFER, OWN = at.TRANSFER, "wallet.transfer"

before_each(function() at.begin { balance = "1000" } end)
after_each(at.finish)

local function not_now(status, retry_after)
  return { status = status, headers = retry_after and { ["Retry-After"] = retry_after } or {},
    body = '{"code":429,"msg":"too many requests"}' }
end

-- A client whose service gets each payment, and answers those of `is_bad(number)` by `answer`; the first copy of such a
-- request is executed where `is_executed`.
local function client_with(answer, is_bad, is_executed, options)
  local number = 0
  options = options or {}
  options.transport = at.transport(function(request, inner)
    if request.operation ~= TRANSFER and request.operation ~= OWN then return inner:send(request) end
    number = number + 1
    if not is_bad(number) then return inner:send(request) end
    if is_executed then inner:send(request) end
    return answer
  end)
  at.client = at.client_with(options)
end

local function first(number) return number == 1 end
local function always() return true end

local function params_of(operation, amount) return operation == TRANSFER and at.move(amount) or at.own(amount) end

describe("a payment whose second copy is answered by", function()
  for name, answer in pairs { ["429"] = not_now(429, "0"), ["418"] = not_now(418, "0"), ["a code"] = not_now(400),
    ["429 without a word"] = { status = 429, headers = {}, body = "" } } do
    for _, operation in ipairs { TRANSFER, OWN } do
      it(("%s is made once: %s"):format(name, operation), function()
        client_with(answer, first, true)
        local payouts = at.payouts_with { history_check = "never" }
        assert(payouts:add("a", operation, params_of(operation, "5")))
        assert.equal(1, assert(payouts:run()).done)
        assert.equal(1, at.counted(operation, "applied"))
      end)
    end
  end

  it("a stamp that is too old, where the clock is wrong by less than the window, is made once", function()
    local number = 0
    at.client = at.client_with { clock = function() return at.sim:now() - 3000 end,
      transport = at.transport(function(request, inner)
        if request.operation ~= TRANSFER then return inner:send(request) end
        number = number + 1
        local response = inner:send(request)
        return number == 1 and { status = 400, headers = {}, body = '{"code":700003,"msg":"too late"}' } or response
      end) }
    local payouts = at.payouts_with { history_check = "never" }
    assert(payouts:add("a", TRANSFER, at.move "5"))
    assert.equal(1, assert(payouts:run()).done)
    assert.equal(1, at.counted(TRANSFER, "applied"))
  end)
end)

describe("a call whose stamp is ahead of the service's time", function()
  local function passed_until_made(ahead_ms)
    local client = at.client_with { clock = function() return at.sim:now() + ahead_ms end }
    local began, _, err = at.sim:now(), client:call(TRANSFER, at.move "5", { key = "k" .. ahead_ms })
    assert.equal("rejected", err.outcome)
    assert(client:call(TRANSFER, at.move "5", { key = "k" .. ahead_ms }))
    return at.sim:now() - began
  end

  it("is made at once where no copy of it can wait so long, and else once it was looked for", function()
    assert.equal(0, passed_until_made(7200000))
    assert.equal(0, passed_until_made(302000))
    assert.is_true(passed_until_made(3000) > 60000) -- a gateway's second copy would be taken after three seconds
  end)
end)

describe("a payment that is told not now", function()
  it("is sent again once it was looked for", function()
    for _, operation in ipairs { TRANSFER, OWN } do
      client_with(not_now(429, "0"), first, false)
      local payouts = at.payouts_with { history_check = "never", queue = operation }
      assert(payouts:add("a", operation, params_of(operation, "5")))
      local reads = at.counted(operation .. "_history", "received")
      assert.equal(1, assert(payouts:run()).done)
      assert.equal(1, at.counted(operation, "applied"))
      assert.is_true(at.counted(operation .. "_history", "received") > reads)
    end
  end)

  it("fails after so many attempts", function()
    client_with(not_now(429, "0"), always, false)
    local payouts = at.payouts_with { history_check = "never", attempts = 3 }
    assert(payouts:add("a", TRANSFER, at.move "5"))
    assert.equal(1, assert(payouts:run()).failed)
    local payment = assert(payouts:find "a")
    assert.equal(3, payment.attempt)
    assert.matches("gave up after 3 attempts: .*too many requests", payment.message)
  end)

  it("is looked for, and sent again, by a later run where this one ends before", function()
    for _, is_executed in ipairs { true, false } do
      client_with(not_now(429, "0"), first, is_executed)
      local reconcile, payouts = at.client.reconcile, nil
      at.client.reconcile = function() payouts:stop() return nil, { message = "the program ends" } end
      payouts = at.payouts_with { history_check = "never", queue = tostring(is_executed) }
      assert(payouts:add("a", TRANSFER, at.move "5"))
      assert.equal(1, assert(payouts:run()).sent)
      local applied = at.counted(TRANSFER, "applied")
      at.client.reconcile = reconcile
      payouts = at.payouts_with { history_check = "never", queue = tostring(is_executed) }
      assert.equal(1, assert(payouts:run()).done)
      assert.equal(is_executed and 0 or 1, at.counted(TRANSFER, "applied") - applied)
    end
  end)

  it("keeps no run waiting for an hour, and is taken over when that has passed", function()
    client_with(not_now(429, "3600"), first, true)
    local payouts = at.payouts_with { history_check = "never" }
    assert(payouts:add("a", TRANSFER, at.move "5"))
    local began = at.sim:now()
    assert.equal(1, assert(payouts:run()).sent)
    assert.is_true(at.sim:now() - began < 60000)
    assert.equal(1, assert(payouts:run()).sent) -- nobody's yet
    at.set "due_at = '1'"
    assert.equal(1, assert(payouts:run()).done)
    assert.equal(1, at.counted(TRANSFER, "applied"))
  end)

  for name, act in pairs {
    drop = function(payouts, options) return payouts:drop("a", options) end,
    retry = function(payouts, options) return payouts:retry("a", options) end,
    settle = function(payouts, options) return payouts:settle("a", "r1", options) end,
  } do
    it(("is a person's to %s while no worker looks for it"):format(name), function()
      client_with(not_now(429, "172800"), first, false)
      local payouts = at.payouts_with { history_check = "never" }
      assert(payouts:add("a", TRANSFER, at.move "5"))
      assert.equal(1, assert(payouts:run()).sent)
      assert.is_true(act(payouts, name ~= "settle" and { force = true, by = "alice" } or { by = "alice" }))
      assert.equal(({ drop = "dropped", retry = "waiting", settle = "done" })[name], assert(payouts:find "a").state)
      assert(payouts:run())
      assert.equal(name == "retry" and 1 or 0, at.counted(TRANSFER, "applied"))
    end)
  end

  it("is dropped where a look shows that it was not made, and not where it was", function()
    for number, is_executed in ipairs { false, true } do
      client_with(not_now(429, "172800"), first, is_executed)
      local payouts, key = at.payouts_with { history_check = "never" }, "k" .. number
      assert(payouts:add(key, TRANSFER, at.move "5"))
      assert.equal(1, assert(payouts:run()).sent)
      at.sim:advance(60000)
      local ok, err = payouts:drop(key)
      assert.same({ not is_executed, is_executed and "payouts.done" or nil }, { ok == true, err and err.code })
    end
  end)

  it("is no person's once a worker has taken it over", function()
    client_with(not_now(429, "172800"), first, true)
    local payouts = at.payouts_with { history_check = "never" }
    assert(payouts:add("a", TRANSFER, at.move "5"))
    assert.equal(1, assert(payouts:run()).sent)
    local seen = assert(payouts:find "a")
    at.set "worker = 'other', lease_until = '99999999999999'"
    assert.is_false(payouts:drop(seen, { force = true, by = "alice" }))
    assert.equal("sent", assert(payouts:find "a").state)
  end)

  it("counts in a limit until the look has ended", function()
    client_with(not_now(429, "3600"), first, true, { guard = { spending_limit = { USDT = "8" } } })
    local payouts = at.payouts_with { history_check = "never", concurrency = 1 }
    at.add(payouts, 5, 6)
    at.set "due_at = '9' WHERE payment = 'invoice-6'" -- the other one goes first
    local report = assert(payouts:run())
    assert.same({ 1, 1 }, { report.sent, report.blocked }) -- and the run ends
    assert.equal(1, at.counted(TRANSFER, "applied"))
  end)
end)

describe("a queue of a hundred payments with ids", function()
  -- A reading is shared while the client's clock goes as the machine's does.
  it("reads its history a few times more where some are told not now, however many", function()
    at.finish()
    at.begin { balance = "1000", clock = "real" }
    local HISTORY, reads = TRANSFER .. "_history", {}
    for _, every in ipairs { 1000, 20, 4 } do
      client_with(not_now(429, "0"), function(number) return number <= 100 and number % every == 0 end, false,
        { recv_window = 500, visibility_delay_ms = 0 })
      local payouts = at.payouts_with { history_check = "never", queue = "every " .. every }
      local list = {}
      for i = 1, 100 do list[i] = { key = "k" .. i, operation = TRANSFER, params = at.move "1" } end
      assert(payouts:add_all(list))
      local before = at.counted(HISTORY, "received")
      assert.equal(100, assert(payouts:run()).done)
      reads[#reads + 1] = at.counted(HISTORY, "received") - before
    end
    assert.equal(0, reads[1])
    assert.is_true(reads[2] <= 8 and reads[3] <= 8, table.concat(reads, " "))
  end)
end)
