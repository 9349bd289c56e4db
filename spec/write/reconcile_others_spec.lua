-- SPDX-License-Identifier: MIT
-- Records of other calls, which a call without an id must not take for its own.

local purser = require "purser"
local simulated = require "simulated"

local ADDRESS = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"

local sim, inner, client, journal, held, key_of, on_sleep

-- A transport whose write calls may be held back: `held` gets the request, and the caller loses the answer.
local function holding()
  local function sleep(_, ms)
    inner:sleep(ms)
    local fn = on_sleep and table.remove(on_sleep, 1)
    if fn then fn() end
  end
  return { sleep = sleep, send = function(_, request)
    if request.method == "GET" or not held then return inner:send(request) end
    local copy = {}
    for name, value in pairs(request) do copy[name] = value end
    held[#held + 1] = copy
    return nil, { kind = "transport", outcome = "unknown", message = "lost" }
  end }
end

local function begin(path)
  held, on_sleep = false, nil
  sim, key_of = simulated.broker(nil, { futures_balances = { USDT = "100" } })
  inner = sim:transport()
  journal = path and assert(purser.journal.open { sqlite = path }) or nil
  client = simulated.client(sim, key_of, { transport = holding(), retry = false, rate_limit = false,
    journal = journal, account = "treasury", generate_ids = false })
end

-- Makes a call whose request is held back. Returns its error and the request.
local function lose(operation, params)
  held = {}
  local _, err = client:call(operation, params)
  local request = held[1]
  held = false
  assert.equal("unknown", err.outcome)
  return err, request
end

local transfer = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }

local function withdrawal(fields)
  local params = { coin = "USDT", netWork = "TRX", address = ADDRESS, amount = "20" }
  for name, value in pairs(fields) do params[name] = value end
  return params
end

for _, with_journal in ipairs { false, true } do
  describe(with_journal and "with a journal" or "without a journal", function()
    local path

    before_each(function()
      path = with_journal and os.tmpname()
      if path then os.remove(path) end
      begin(path)
    end)

    after_each(function()
      if not path then return end
      journal:close()
      for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
    end)

    for _, gap in ipairs { 6500, 8000, 10500 } do
      it(("an equal call that was sent %d ms before, and executed late, is one of two"):format(gap), function()
        local first, request = lose("wallet.transfer", transfer)
        inner:sleep(4900)
        assert.equal(200, inner:send(request).status)
        inner:sleep(gap - 4900)
        local second = lose("wallet.transfer", transfer)
        local outcomes = {}
        for _, err in ipairs { second, first } do
          local answer = assert(client:reconcile(err))
          outcomes[answer.outcome] = (outcomes[answer.outcome] or 0) + 1
        end
        assert.same({ done = 1, not_done = 1 }, outcomes) -- equal calls are fungible
      end)
    end

    it("an equal call so long ago that its record cannot be in the window does not matter", function()
      lose("wallet.transfer", transfer)
      inner:sleep(60000)
      local _, request = lose("wallet.transfer", transfer)
      assert.equal(200, inner:send(request).status)
      inner:sleep(60000)
      local last = lose("wallet.transfer", transfer)
      assert.equal("not_done", assert(client:reconcile(last)).outcome)
    end)

    it("the record of a call that differs in what no record shows is not this call's", function()
      assert(client.wallet:withdraw(withdrawal { remark = "rent" }))
      inner:sleep(500)
      local err = lose("wallet.withdraw", withdrawal { remark = "tax" })
      assert.equal("not_done", assert(client:reconcile(err)).outcome)
    end)

    it("nor while that call has no known end", function()
      local _, request = lose("wallet.withdraw", withdrawal { remark = "rent" })
      assert.equal(200, inner:send(request).status)
      local answer = assert(client:reconcile((lose("wallet.withdraw", withdrawal { remark = "tax" }))))
      assert.equal("undecided", answer.outcome)
      assert.equal(1, #answer.candidates)
    end)

    -- No call was answered, so nothing proves that the amount is shown as it was sent.
    it("a record that agrees with another open call is waited for until that call is found to own it", function()
      local err = lose("wallet.transfer", transfer)
      local owner, request = lose("wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES",
        asset = "USDT", amount = "7" })
      assert.equal(200, inner:send(request).status)
      on_sleep = { function() end, function() assert.equal("done", assert(client:reconcile(owner)).outcome) end }
      assert.equal("not_done", assert(client:reconcile(err)).outcome)
      assert.same({}, on_sleep)
    end)

    if with_journal then
      it("and recover finds the call first that can be decided", function()
        lose("wallet.transfer", transfer)
        local _, request = lose("wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES",
          asset = "USDT", amount = "7" })
        assert.equal(200, inner:send(request).status)
        inner:sleep(60000)
        local began, outcomes = sim:now(), {}
        for i, found in ipairs(assert(journal:recover(client))) do outcomes[i] = found.answer.outcome end
        assert.same({ "not_done", "done" }, outcomes)
        assert.is_true(sim:now() - began < 60000)
      end)
    end

    it("and a person decides where nobody finds out about that call", function()
      local err = lose("wallet.transfer", transfer)
      local _, request = lose("wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES",
        asset = "USDT", amount = "7" })
      assert.equal(200, inner:send(request).status)
      local answer = assert(client:reconcile(err))
      assert.equal("undecided", answer.outcome)
      assert.matches("^%(7, 8%)", answer.reason)
    end)

    it("the record of another operation of the same history is not this call's", function()
      local order = withdrawal { network = "Tron(TRC20)", remark = "rent" }
      order.netWork = nil
      assert(client.wallet:withdraw_legacy(order))
      inner:sleep(500)
      assert.equal("not_done", assert(client:reconcile((lose("wallet.withdraw", withdrawal {})))).outcome)
    end)

    it("a record that shows the id of another call is not that of a call without one", function()
      local _, request = lose("wallet.withdraw", withdrawal { withdrawOrderId = "order-1" })
      assert.equal(200, inner:send(request).status)
      local answer = assert(client:reconcile((lose("wallet.withdraw", withdrawal {}))))
      assert.equal("not_done", answer.outcome) -- it belongs to the call whose id it shows
    end)

    it("the API key of a call that differs in its permissions is not this call's", function()
      local key = { subAccount = "tradingdesk1", note = "bot", permissions = "SPOT_ACCOUNT_READ" }
      assert(client.sub_account:create_api_key(key))
      inner:sleep(500)
      key.permissions = "SPOT_ACCOUNT_READ,SPOT_ACCOUNT_WRITE"
      local answer = assert(client:reconcile((lose("sub_account.create_api_key", key))))
      assert.equal("not_done", answer.outcome)
    end)

    it("the record of an equal transfer by the other group's operation is not this call's", function()
      local move = { toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT",
        amount = "2" }
      assert(client.broker:transfer(move))
      inner:sleep(500)
      assert.equal("not_done", assert(client:reconcile((lose("sub_account.transfer", move)))).outcome)
      inner:sleep(60000)
      local _, request = lose("sub_account.transfer", move)
      assert.equal(200, inner:send(request).status)
      assert.equal("undecided", assert(client:reconcile((lose("broker.transfer", move)))).outcome)
    end)

    it("a record that shows an id may be of a program that gives ids", function()
      local err = lose("wallet.withdraw", withdrawal {})
      local other = simulated.client(sim, key_of)
      assert(other.wallet:withdraw(withdrawal { withdrawOrderId = "order-of-another-program" }))
      local answer = assert(client:reconcile(err))
      assert.equal("undecided", answer.outcome)
      assert.equal(1, #answer.candidates)
    end)

    it("the record of an equal call that this client made hours ago is not this call's", function()
      assert(client.wallet:transfer(transfer))
      inner:sleep(500)
      local err = lose("wallet.transfer", transfer)
      for _ = 1, 3 do
        inner:sleep(3600000)
        assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
          amount = "3" })
      end
      local outcome = assert(client:reconcile(err)).outcome
      if path then assert.equal("not_done", outcome) else assert.not_equal("done", outcome) end
    end)

    -- An intent that is written by hand, as the advice of an error says, names no account. What the client's other
    -- calls had made was not known of it, and it was said to be done by one of their records.
    it("the record of another call is not that of an intent without an account", function()
      local first = { operation = "wallet.transfer", params = transfer, sent_at = sim:now() }
      assert(client.wallet:transfer(transfer))
      first.id = "by hand"
      assert.equal("not_done", assert(client:reconcile(first)).outcome)
      -- and one that is found by such an intent is no later call's
      inner:sleep(100000)
      local elsewhere = simulated.client(sim, key_of, { rate_limit = false })
      local by_hand = { operation = "wallet.transfer", params = transfer, sent_at = sim:now() }
      local record = assert(elsewhere.wallet:transfer(transfer))
      assert.equal(record.tranId, assert(client:reconcile(by_hand)).record.tranId)
      by_hand.sent_at = by_hand.sent_at + 1
      assert.equal("not_done", assert(client:reconcile(by_hand)).outcome)
    end)

    it("a request that another program sent uses its key", function()
      local order = withdrawal { withdrawOrderId = "order-1" }
      for _, loses in ipairs { false, true } do
        order.withdrawOrderId = "order-" .. tostring(loses)
        local info = {}
        local request = assert(client:prepare("wallet.withdraw", order, { info = info }))
        local response = assert(inner:send { method = request.method, base_url = "http://localhost", body = "",
          target = request.url:match "^http://localhost(.*)$", headers = request.headers, operation = "x" })
        if loses then
          assert.equal("done", assert(client:reconcile(info.intent)).outcome)
        else
          assert(client:parse("wallet.withdraw", response.status, response.body, response.headers, info.intent))
        end
        assert(client.wallet:withdraw(order, { info = info }))
        assert.is_true(info.repeated)
      end
      assert.equal(2, simulated.counted(sim, "wallet.withdraw", "applied"))
    end)

    it("calls of other content are no doubt", function()
      lose("wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "3" })
      lose("wallet.withdraw", withdrawal { amount = "55" })
      local err, request = lose("wallet.transfer", transfer)
      assert.equal(200, inner:send(request).status)
      assert.equal("done", assert(client:reconcile(err)).outcome)
      err, request = lose("wallet.withdraw", withdrawal {})
      assert.equal(200, inner:send(request).status)
      assert.equal("done", assert(client:reconcile(err)).outcome)
    end)
  end)
end
