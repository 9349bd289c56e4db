-- SPDX-License-Identifier: MIT
-- These might make reconcile say "not done" of a payment that was made, or "done" of one that was not.

local errors = require "purser.client.call.errors"
local purser = require "purser"
local reconcile = require "purser.write.reconcile"
local simulated = require "simulated"

local NOW = 1700000000000
local TRON_ADDRESS = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"

local sim, account, skew

local function client_with(options)
  return simulated.client(sim, account, { clock = function() return sim:now() + skew end, retry = false,
    rate_limit = false }, options)
end

before_each(function()
  sim, account = simulated.broker(nil, { futures_balances = { USDT = "100" } })
  skew = 0
end)

local function lose(client, fault)
  fault.operation = "wallet.transfer"
  sim:fault(fault)
  local _, err = client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
    amount = "2" }
  assert.equal("unknown", err.outcome)
  return err
end

describe("a clock that is set between the call and the look", function()
  for _, jump in ipairs { 3600000, 2500, -3600000 } do
    it(("by %d ms does not make reconcile conclude early"):format(jump), function()
      local client = client_with()
      local err, sent = lose(client, { kind = "reset", when = "before" }), sim:now()
      skew = jump
      assert.equal("not_done", assert(client:reconcile(err)).outcome)
      assert.is_true(sim:now() >= sent + 9000)
    end)
  end

  it("while the records are read, too", function()
    local client = client_with { transport = simulated.transport(sim, function(request, inner)
      if request.method == "GET" then skew = 0 end
      return inner:send(request)
    end) }
    local err = lose(client, { kind = "reset", when = "before" })
    local sent = sim:now()
    skew = 900000
    assert.equal("not_done", assert(client:reconcile(err)).outcome)
    assert.is_true(sim:now() >= sent + 9000)
  end)

  it("is an error where the clock must not be set right", function()
    local client = client_with { correct_clock = false }
    local err = lose(client, { kind = "reset", when = "before" })
    skew = 3600000
    local answer, problem = client:reconcile(err)
    assert.is_nil(answer)
    assert.equal("700003", problem.code)
  end)

  it("back by two hours, after a call that was stamped by it, does not make reconcile wait for hours", function()
    local client = client_with { correct_clock = false }
    skew = 2 * 3600000
    local err = lose(client, { kind = "reset", when = "before" })
    skew = 0
    local began = sim:now()
    local answer = assert(client:reconcile(err))
    assert.equal("undecided", answer.outcome)
    assert.matches("^clock: ", answer.reason)
    assert.is_true(sim:now() - began < 60000)
    sim:advance(2 * 3600000)
    assert.equal("not_done", assert(client:reconcile(err)).outcome)
  end)

  it("is set right before a call is found to lie ahead", function()
    local client = client_with()
    local err, sent = lose(client, { kind = "lost_answer" }), sim:now()
    skew = -20 * 3600000 -- the program was started again on a machine whose clock is behind
    assert.equal("done", assert(client_with():reconcile(err)).outcome)
    assert.is_true(sim:now() - sent < 90000)
  end)

  it("does not keep wait = false waiting", function()
    local client = client_with()
    local err = lose(client, { kind = "reset", when = "before" })
    skew = 3600000
    local answer = assert(client:reconcile(err, { wait = false }))
    assert.equal("undecided", answer.outcome)
    assert.is_number(answer.not_before)
  end)
end)

-- Reconciles an intent where the service's lists say `answer(params)`, long after the call.
local function reconciled(operation, params, answer, fields)
  local now = NOW + 60000
  local intent = { operation = operation, params = params, sent_at = NOW, recv_window = 5000 }
  for name, value in pairs(fields or {}) do intent[name] = value end
  return reconcile.reconcile({ read = function(_, row, asked) return answer(asked, row) end,
    now = function() return now end,
    correction = function() end, pause = function(_, ms) now = now + ms end, visibility_delay_ms = 3000,
      recv_window = 5000,
    journal = require("own_calls").new() }, intent)
end

local ID = ("Ab3"):rep(10) .. "Zz"
local transfer = { clientTranId = ID, fromAccountType = "SPOT", toAccountType = "SPOT", toAccount = "tradingdesk1",
  asset = "USDT", amount = "2" }
local withdrawal = { withdrawOrderId = "invoice-1", coin = "USDT", netWork = "TRX", address = TRON_ADDRESS,
  amount = "20" }

local function record(fields)
  local all = { clientTranId = ID, tranId = "1", asset = "USDT", amount = "2", status = "SUCCESS", timestamp = NOW }
  for name, value in pairs(fields) do all[name] = value end
  return all
end

-- Answers with these records on the first page.
local function first_page(records)
  return function(asked) return asked.page == 1 and records or {} end
end

describe("an id", function()
  it("that failed and was taken again is done", function()
    for _, list in ipairs {
      { record { status = "FAILED" }, record { tranId = "2", timestamp = NOW + 1 } },
      { record { tranId = "2" }, record { status = "FAILED", timestamp = NOW + 1 } },
    } do
      local answer = assert(reconciled("sub_account.transfer", transfer, first_page(list)))
      assert.same({ "done", "2" }, { answer.outcome, answer.record.tranId })
    end
    local answer = assert(reconciled("sub_account.transfer", transfer, first_page { record { status = "FAILED" } }))
    assert.same({ "not_done", "1" }, { answer.outcome, answer.record.tranId })
  end)

  it("that the user gave two payments does not make one pass for the other", function()
    local other = { id = "w", withdrawOrderId = "invoice-1", coin = "USDT", address = TRON_ADDRESS, amount = "10",
      transactionFee = "1", applyTime = NOW }
    local function answer_to(fields)
      local shown = {}
      for name, value in pairs(other) do shown[name] = value end
      for name, value in pairs(fields) do shown[name] = value end
      return assert(reconciled("wallet.withdraw", withdrawal, function() return { shown } end))
    end
    for _, fields in ipairs { {}, { amount = "20", address = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7" },
      { amount = "20", coin = "USDC" } } do
      local answer = answer_to(fields)
      assert.equal("undecided", answer.outcome)
      assert.matches("used for another payment", answer.reason)
      assert.equal("w", answer.candidates[1].id)
    end
    for _, fields in ipairs { { amount = "20.0" }, { amount = "19" }, { amount = "20", address = TRON_ADDRESS:lower() },
      { amount = "20", coin = "usdt" }, { amount = "20", coin = "USDT-TRX" }, { amount = "20", coin = "" },
      { amount = "20", address = TRON_ADDRESS .. ":77" }, { amount = "20", address = "TQrY****4STm" } } do
      assert.equal("done", answer_to(fields).outcome, fields.address)
    end
  end)
end)

describe("a record that nothing but its content identifies", function()
  local move = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "usdt", amount = "2" }

  it("is a candidate when only upper and lower case differ", function()
    local found = { tranId = "1", fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2.0",
      status = "SUCCESS", timestamp = NOW }
    local function answer(asked) return { rows = asked.page == 1 and { found } or {}, total = 1 } end
    assert.equal("done", assert(reconciled("wallet.transfer", move, answer)).outcome) -- case is no difference
    move.asset = "USDT"
    assert.equal("done", assert(reconciled("wallet.transfer", move, answer)).outcome)
  end)
end)

describe("a list that is not shown to be complete", function()
  -- A service that caps its pages, and does not turn them.
  local function stands_still(records) return function() return records end end

  it("does not say that what it lacks was not done", function()
    local others = {}
    for i = 1, 10 do others[i] = record { clientTranId = "x" .. i, tranId = tostring(i) } end
    local answer = assert(reconciled("sub_account.transfer", transfer, stands_still(others)))
    assert.equal("undecided", answer.outcome)
    assert.matches("seems not to turn its pages", answer.reason)
    local name = { subAccount = "freshdesk01", note = "desk" }
    answer = assert(reconciled("sub_account.create_sub_account", name, stands_still { { subAccount = "other0001" } }))
    assert.equal("undecided", answer.outcome)
  end)

  it("proves what is in it all the same", function()
    local answer = assert(reconciled("sub_account.transfer", transfer, stands_still { record {} }))
    assert.equal("done", answer.outcome)
    local name = { subAccount = "freshdesk01", note = "desk" }
    answer = assert(reconciled("sub_account.create_sub_account", name,
      stands_still { { subAccount = "freshdesk01", createTime = NOW } }))
    assert.equal("done", answer.outcome)
  end)

  it("leaves a single match undecided where only content identifies it", function()
    local move = { fromAccountType = "SPOT", toAccountType = "SPOT", toAccount = "tradingdesk1", asset = "USDT",
      amount = "2" }
    local answer = assert(reconciled("sub_account.transfer", move, stands_still { record {} }))
    assert.equal("undecided", answer.outcome)
    assert.equal(1, #answer.candidates)
  end)

  it("is found out where the service shows fewer records at once than the document says", function()
    local list = {}
    for i = 1, 57 do list[i] = { id = tostring(i), withdrawOrderId = "n" .. i, coin = "USDT", applyTime = NOW + i } end
    list[3].withdrawOrderId = "invoice-1" -- among the oldest, and the newest are shown
    for _, ascending in ipairs { false, true } do
      local asked_for = 0
      local function capped(asked)
        asked_for = asked_for + 1
        local shown = {}
        for i = 1, #list do
          local one = list[ascending and #list + 1 - i or i]
          if one.applyTime >= asked.startTime and one.applyTime <= asked.endTime then table.insert(shown, 1, one) end
        end
        while #shown > 20 do table.remove(shown) end
        return shown
      end
      assert.equal("done", assert(reconciled("wallet.withdraw", withdrawal, capped)).outcome)
      assert.is_true(asked_for < 30, asked_for)
    end
  end)
end)

describe("reconcile rejects", function()
  local function message(fields)
    local answer, err = reconciled("sub_account.transfer", transfer, first_page {}, fields)
    assert.is_nil(answer)
    assert.equal("argument", err.kind)
    return err.message
  end

  it("an intent whose times make no sense", function()
    assert.matches("13 digits", message { sent_at = 1700000000 })
    assert.matches("recv_window", message { recv_window = -60000 })
    assert.matches("recv_window", message { recv_window = "5000" })
  end)

  it("the intent of another account, which would find nothing", function()
    local err = lose(client_with { account = "treasury" }, { kind = "lost_answer" })
    local other = assert(sim:account { name = "Other", role = "broker", balances = { USDT = "9" } })
    local stranger = client_with { api_key = other.api_key, secret_key = other.secret_key }
    local answer, rejection = stranger:reconcile(err)
    assert.is_nil(answer)
    assert.equal("argument", rejection.kind)
    assert.matches('account "treasury"', rejection.message)
    assert.equal("done", assert(client_with { account = "treasury" }:reconcile(err)).outcome)
    assert.is_true(errors.is(err))
  end)

  it("not what this client signed before its key was changed", function()
    local keys = { account.api_key, account.secret_key }
    local client = assert(purser.new { base_url = "http://localhost", transport = sim:transport(), rate_limit = false,
      credentials = function() return keys[1], keys[2] end, clock = function() return sim:now() end })
    local err = lose(client, { kind = "lost_answer" })
    local new = require("purser.testing.sim.accounts").add_key(sim, sim.accounts.by_id[account.uid],
      { permissions = require("purser.testing.sim.rules").all_permissions, note = "second key" })
    keys = { new.api_key, new.secret_key }
    assert.equal("done", assert(client:reconcile(err)).outcome)
  end)
end)
