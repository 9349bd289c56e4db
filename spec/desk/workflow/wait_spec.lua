-- SPDX-License-Identifier: MIT
-- Waiting for withdrawals and transfers: on the simulator's clock, so no time passes.

local errors = require "purser.client.call.errors"
local purser = require "purser"
local simulated = require "simulated"
local wait = require "purser.desk.workflow.wait"

local NOW, MINUTE = 1700000000000, 60000
local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

local function world(options)
  options = options or {}
  return simulated.world({ start_time = NOW, visibility_delay_ms = options.lag,
    transfer_wait_ms = options.transfer_wait },
    { role = "main", email = "a@example.org", balances = { USDT = "1000" } }, { rate_limit = false })
end

local function withdraw(client, order_id)
  return assert(client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = TRON, amount = "20",
    withdrawOrderId = order_id }).id
end

describe("wait_withdrawal", function()
  it("waits through all states until success", function()
    local sim, client = world()
    local id = withdraw(client)
    local record = assert(client.wallet:wait_withdrawal(id))
    assert.equal(7, record.status)
    assert.equal(id, record.id)
    assert.is_true(sim:now() > NOW + 2 * MINUTE)
    assert.is_true(sim:counts()["wallet.withdrawal_history"].received < 20) -- it looks less and less often
  end)

  it("looks from a time on, then at the time of the record that was found", function()
    local walks, client = {}, { now = function() return NOW end, sleep = function() end }
    function client.each(_, operation, given)
      walks[#walks + 1] = { operation, given.from, given.to or "now", given.coin, given.shows_at_least or "unknown" }
      local records = { { id = "w1", status = #walks == 3 and 7 or 3, applyTime = 5 } }
      if #walks == 1 then records = {} end
      return { next = function() return table.remove(records) end }
    end
    local found = assert(wait.withdrawal(client, "w1", { since = NOW, coin = "USDT" }))
    assert.equal(7, found.status)
    local history = "wallet.withdrawal_history"
    assert.same({ { history, NOW, "now", "USDT", "unknown" }, { history, NOW, "now", "USDT", "unknown" },
      { history, 5, 5, "USDT", 1000 } }, walks)
  end)

  it("ends in each of these states, and waits ten minutes for them unless told otherwise", function()
    local ends = { success = { [7] = "done", [8] = "failed", [9] = "failed" },
      sent = { [6] = "done", [7] = "done", [8] = "failed", [9] = "failed" },
      final = { [7] = "done", [8] = "done", [9] = "done" },
      cancelled = { [6] = "failed", [7] = "failed", [8] = "failed", [9] = "done" } }
    for goal, verdicts in pairs(ends) do
      for status = 1, 10 do
        local now = NOW
        local client = { now = function() return now end, sleep = function(_, ms) now = now + ms end }
        function client.each()
          local records = { { id = "w1", status = status, applyTime = NOW } }
          return { next = function() return table.remove(records) end }
        end
        local found, err = wait.withdrawal(client, "w1", { goal = goal })
        local outcome = err and err.outcome
        assert.same({ goal, status, verdicts[status] or "unknown" }, { goal, status, found and "done"
          or outcome == "rejected" and "failed" or outcome })
        assert.equal(outcome == "unknown" and NOW + 600000 or NOW, now)
      end
    end
  end)

  it("is content with less, when asked", function()
    local _, client = world()
    assert.equal(6, assert(client.wallet:wait_withdrawal(withdraw(client), { goal = "sent", max_ms = 5000 })).status)
  end)

  it("finds it by the caller's own id, and when it shows up late", function()
    local _, client = world { lag = 20000 }
    withdraw(client, "order-1")
    assert.equal("order-1", assert(client.wallet:wait_withdrawal { withdrawOrderId = "order-1" }).withdrawOrderId)
  end)

  it("ends at once when the goal can no longer be reached", function()
    local sim, client = world()
    local id = withdraw(client)
    assert(sim:set_withdrawal(id, "FAILED"))
    local record, err = client.wallet:wait_withdrawal(id)
    assert.is_nil(record)
    assert.same({ "workflow", "rejected", 8 }, { err.kind, err.outcome, err.details.record.status })
    assert.truthy(tostring(err):find("is FAILED (state 8)", 1, true))
    assert.is_true(sim:now() < NOW + 2000)
    assert.equal(8, assert(client.wallet:wait_withdrawal(id, { goal = "final" })).status)
    local other = withdraw(client)
    assert(client.wallet:cancel_withdrawal { id = other })
    assert.equal(9, assert(client.wallet:wait_withdrawal(other, { goal = "cancelled" })).status)
    record, err = client.wallet:wait_withdrawal(id, { goal = "cancelled" })
    assert.is_nil(record)
    assert.equal("rejected", err.outcome)
  end)

  it("ends at its deadline, with the last state seen", function()
    local sim, client = world()
    local record, err = client.wallet:wait_withdrawal(withdraw(client), { deadline_ms = 40000 })
    assert.is_nil(record)
    assert.equal("unknown", err.outcome)
    assert.is_true(err.retryable)
    assert.equal(5, err.details.record.status)
    assert.matches("withdrawal %x+ is [%u_]+ %(state 5%) after 40000 ms$", tostring(err)) -- its end is not "unknown"
    assert.equal(NOW + 40000, sim:now())
    record, err = client.wallet:wait_withdrawal("nosuch", { deadline_ms = 5000 })
    assert.is_nil(record)
    assert.matches("was not found after 5000 ms [outcome unknown]", tostring(err), 1, true)
    local id = withdraw(client)
    local function break_it()
      sim:fault { kind = "server_error", operation = "wallet.withdrawal_history", times = 99 }
    end
    err = select(2, client.wallet:wait_withdrawal(id, { deadline_ms = 5000, progress = break_it }))
    assert.matches("is %u+ %(state %d%) after 5000 ms; the last read failed: ", tostring(err))
    assert.is_nil(tostring(err):find("outcome", 1, true))
  end)

  it("tells a progress function what it waits for, the state and record seen last, and the time left", function()
    local _, client = world()
    local id, seen = withdraw(client), {}
    client.wallet:wait_withdrawal(id, { deadline_ms = 3000, progress = function(at) seen[#seen + 1] = at end })
    assert.same({ "withdrawal " .. id, id, 3000, "nil" }, { seen[1].what, seen[1].record.id, seen[1].left_ms,
      tostring(seen[1].error) })
    assert.matches("^is [%u_]+ %(state %d%)$", seen[1].state)
    assert.is_true(seen[2].left_ms < 3000)
  end)

  it("reads again after a failure that passes, and ends at one that does not", function()
    local sim, client = world()
    local id = withdraw(client)
    sim:fault { kind = "server_error", operation = "wallet.withdrawal_history", times = 8 }
    assert.equal(7, assert(client.wallet:wait_withdrawal(id)).status)
    sim:fault { kind = "reject", code = "700007", operation = "wallet.withdrawal_history", times = 1 }
    local _, err = client.wallet:wait_withdrawal(id)
    assert.equal("700007", err.code)
  end)

  it("rejects what it does not know", function()
    local _, client = world()
    for _, case in ipairs {
      { "id", { gaol = "sent" }, 'did you mean "goal"' }, { "id", { goal = "sending" }, "one of cancelled, final" },
      { "id", { deadline_ms = 1.5 }, "whole number" }, { {}, nil, "give the id" }, { 17, nil, "give the id" },
    } do
      local _, err = client.wallet:wait_withdrawal(case[1], case[2])
      assert.equal("argument", err.kind)
      assert.truthy(tostring(err):find(case[3], 1, true), tostring(err))
    end
  end)
end)

describe("wait_transfer", function()
  it("waits for a transfer between spot and futures", function()
    local _, client = world { transfer_wait = 90000, lag = 2000 }
    local id = assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = "5" }).tranId
    assert.equal("SUCCESS", assert(client.wallet:wait_transfer(id)).status)
  end)

  it("ends when it failed", function()
    local sim, client = world { transfer_wait = 90000 }
    local id = assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = "5" }).tranId
    assert(sim:fail_transfer(id))
    local _, err = client.wallet:wait_transfer(id)
    assert.truthy(tostring(err):find("is FAILED", 1, true))
  end)

  it("waits for a transfer of the family by its clientTranId", function()
    local _, client = world { lag = 10000 }
    for group in pairs { sub_account = 1, broker = 1, wallet = 1 } do
      local value, err = client[group]:wait_transfer({ clientTranId = "x" }, { deadline = 1 })
      assert.same({ nil, "deadline" }, { value, err.option })
    end
    assert(client.sub_account:create_sub_account { subAccount = "traders01", note = "n" })
    local transfer = { toAccount = "traders01", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
      amount = "5", clientTranId = purser.client_id() }
    assert(client.sub_account:transfer(transfer))
    assert.equal(transfer.clientTranId, assert(client.sub_account:wait_transfer(transfer)).clientTranId)
  end)
end)

describe("wait_for", function()
  it("waits for anything that can be read", function()
    local sim, client = world()
    sim:advance(17)
    local time = assert(client:wait_for {
      what = "the next minute", first_ms = 1000,
      read = function() return client:server_time() end,
      judge = function(now) return now >= NOW + MINUTE and "done" end,
    })
    assert.is_true(time >= NOW + MINUTE)
    local _, err = client:wait_for { read = function() return 1 end }
    assert.truthy(errors.is(err) and err.message:find('"judge" is required', 1, true))
  end)
end)

