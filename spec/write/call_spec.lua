-- SPDX-License-Identifier: MIT
-- Answers that are whole and well-formed, and another call's: of a transport that mixes them up or hands one out twice,
-- or of somebody in between. A call that moves funds does not take them for its own.

local core = require "purser.core"
local own_journal = require "own_journal"
local private = require "purser.client.util.private"
local purser = require "purser"
local simulated = require "simulated"

local ID = ("Ab3"):rep(10) .. "Zz"

local sim, account

before_each(function()
  sim, account = simulated.broker(nil, { futures_balances = { USDT = "100" } })
end)

-- A client whose transport answers by `answer(number, request, send)`; `number` counts what is no read.
local function client_with(answer, options)
  local number = 0
  return simulated.client(sim, account, options, { rate_limit = false, retry = false,
    transport = simulated.transport(sim, function(request, inner)
      if request.method == "GET" then return inner:send(request) end
      number = number + 1
      return answer(number, request, function() return inner:send(request) end)
    end) })
end

local function move(client, amount, fields)
  return client.sub_account:transfer(simulated.transfer(amount, fields))
end

local function is_unknown(result, err, words)
  assert.is_nil(result)
  assert.same({ "decode", "unknown", "decode", false }, { err.kind, err.outcome, err.phase, err.retryable })
  assert.matches(words, err.message)
  assert.is_table(err.intent)
end

-- A client whose every call is answered as the first one was.
local function client_with_one_answer()
  local first
  return client_with(function(_, _, send)
    first = first or send()
    return first
  end)
end

describe("an answer that was given before", function()
  for _, carried_out in ipairs { true, false } do
    it("is not that of a second call, which was " .. (carried_out and "" or "not ") .. "executed", function()
      local first
      local client = client_with(function(number, _, send)
        if number == 1 then
          first = send()
          return first
        end
        if carried_out then send() end
        return first
      end)
      local made = assert(move(client, "5"))
      local result, err = move(client, "6")
      is_unknown(result, err, "carries the id of a record that belongs to another call")
      local answer = assert(client:reconcile(err))
      assert.equal(carried_out and "done" or "not_done", answer.outcome)
      if carried_out then assert.are_not.equal(made.tranId, answer.record.tranId) end
    end)
  end

  -- A service that answers twice on a kept connection: the second answer meets the next request there, whoever sent it.
  it("is not that of a call of another client of the same transport; of another origin it may be", function()
    local service, answer = sim:transport(), nil
    local transport = { send = function(_, request)
      answer = answer or service:send(request)
      return answer
    end }
    local function new(base_url)
      return assert(purser.new { base_url = base_url, api_key = account.api_key, secret_key = account.secret_key,
        transport = transport, clock = function() return sim:now() end, retry = false, rate_limit = false })
    end
    local first, second, other = new "http://localhost", new "http://localhost", new "http://127.0.0.1"
    local made = assert(move(first, "5"))
    local result, err = move(second, "6")
    is_unknown(result, err, "carries the id of a record that belongs to another call")
    assert.equal(made.tranId, assert(move(other, "6")).tranId)
  end)

  it("is not that of an equal call without an id either", function()
    local client = client_with_one_answer()
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }
    assert(client.wallet:transfer(params))
    local result, err = client.wallet:transfer(params)
    is_unknown(result, err, "another call")
    assert.equal("not_done", assert(client:reconcile(err)).outcome)
  end)

  it("is not that of a call of another operation", function()
    local client = client_with_one_answer()
    assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" })
    local result, err = move(client, "5")
    is_unknown(result, err, "another call")
  end)

  it("is not that of a second key of the same note", function()
    local first
    local client = client_with(function(_, _, send)
      local answer = send()
      first = first or answer
      return first
    end)
    local key = { subAccount = "tradingdesk1", note = "bot", permissions = "SPOT_DEAL_READ" }
    assert(client.sub_account:create_api_key(key))
    local result, err = client.sub_account:create_api_key(key)
    is_unknown(result, err, "another call")
  end)

  it("may be given again to who asks with the same id, as services do", function()
    local client = client_with_one_answer()
    assert(move(client, "5", { clientTranId = ID }))
    assert(move(client, "5", { clientTranId = ID }))
  end)
end)

describe("an answer that shows", function()
  local function answers(members)
    return client_with(function()
      return { status = 200, headers = "", body = ('{"tranId":"77",%s}'):format(members) }
    end)
  end

  it("another id, amount or asset than was sent is not believed", function()
    for words, members in pairs { ["another clientTranId"] = '"clientTranId":"x"', ["another amount"] = '"amount":"50"',
      ["another asset"] = '"asset":"BTC"' } do
      local result, err = move(answers(members), "5")
      is_unknown(result, err, words)
    end
  end)

  it("another coin, address or name than was sent is not believed, whatever was called", function()
    local payee = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"
    local payment = { coin = "USDT", netWork = "TRX", address = payee, amount = "20", withdrawOrderId = "invoice-1" }
    for words, case in pairs {
      ["another coin"] = { "wallet.withdraw", payment, '{"id":"w1","coin":"BTC"}' },
      ["another address"] = { "wallet.withdraw", payment,
        '{"id":"w1","address":"TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"}' },
      ["another withdrawOrderId"] = { "wallet.withdraw", payment, '{"id":"w1","withdrawOrderId":"invoice-2"}' },
      ["another amount"] = { "wallet.withdraw", payment, '{"id":"w1","amount":"much"}' },
      ["another subAccount"] = { "sub_account.create_sub_account", { subAccount = "desk00001", note = "n" },
        '{"subAccount":"desk00002"}' },
      ["another id"] = { "wallet.cancel_withdrawal", { id = "w1" }, '{"id":"w2"}' },
      ["another asset"] = { "wallet.convert", { asset = "BTC,ETH" }, '{"successList":["DOGE"],"totalConvert":"1"}' },
    } do
      local function answer() return { status = 200, headers = "", body = case[3] } end
      local result, err = client_with(answer):call(case[1], case[2])
      is_unknown(result, err, words)
      -- the answer to a request that another program sent is judged by the same rule
      local info, client = {}, client_with(answer)
      assert(client:prepare(case[1], case[2], { info = info }))
      result, err = client:parse(case[1], 200, case[3], "", info.intent)
      is_unknown(result, err, words)
      assert.is_string(err.advice)
    end
  end)

  it("that of a request whose intent was written by hand is kept as its call's", function()
    local journal = own_journal.begin()
    finally(own_journal.finish)
    for _, client in ipairs { simulated.client(sim, account, { journal = journal, account = "acme" }),
      simulated.client(sim, account) } do
      local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = 2 }
      for i, sent_at in ipairs { 1795424400000, 1795424400000, 1795424500000 } do
        local intent = { operation = "wallet.transfer", params = params, sent_at = sent_at }
        local body = i == 3 and '{"tranId":"h2"}' or '{"tranId":"h1"}'
        assert(client:parse("wallet.transfer", 200, body, "", intent))
        assert.is_nil(intent.id)
      end
      is_unknown(nil, select(2, client:parse("wallet.transfer", 200, '{"tranId":"h1"}', "", {
        operation = "wallet.transfer", params = params, sent_at = 1795424600000 })), "another call")
      for _, sent_at in ipairs { 1795424400000.5, "now", 17 } do
        assert(client:parse("wallet.transfer", 200, '{"tranId":"h1"}', "", { operation = "wallet.transfer",
          params = params, sent_at = sent_at }))
      end
    end
    local states = {}
    for i, entry in ipairs(assert(journal:entries())) do states[i] = entry.state end
    assert.same({ "done", "done", "unknown" }, states)
  end)

  it("the record of an earlier call is no answer to a prepared request either", function()
    local client = client_with(function(_, _, send) return send() end)
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }
    local made, one, other = assert(client.wallet:transfer(params)), {}, {}
    assert(client:prepare("wallet.transfer", params, { info = one }))
    assert(client:prepare("wallet.transfer", params, { info = other }))
    local body = ('{"tranId":"%s"}'):format(made.tranId)
    is_unknown(nil, select(2, client:parse("wallet.transfer", 200, body, "", one.intent)), "another call")
    assert(client:parse("wallet.transfer", 200, '{"tranId":"t2"}', "", one.intent))
    assert(client:parse("wallet.transfer", 200, '{"tranId":"t2"}', "", one.intent))
    local _, err = client:parse("wallet.transfer", 200, '{"tranId":"t2"}', "", other.intent)
    is_unknown(nil, err, "another call")
  end)

  it("what was sent in other words is", function()
    local payee = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"
    local client = client_with(function()
      local body = ('{"id":"w1","coin":"usdt","address":"%s:7","amount":20.00}'):format(payee)
      return { status = 200, headers = "", body = body }
    end)
    assert(client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = payee, memo = "7", amount = "20" })
    assert(move(answers '"amount":"5.00","asset":"usdt"', "5"))
    assert(move(answers '"amount":5.0', "5"))
    assert(move(answers(('"clientTranId":"%s"'):format(ID)), "5", { clientTranId = ID }))
  end)
end)

describe("a new key with a text that cannot be kept", function()
  it("is no success, and the advice is to delete it", function()
    for _, members in ipairs { '"apiKey":"mx0KEY\\nbase_url = https://evil.example","secretKey":"s"',
      '"apiKey":"mx0KEY","secretKey":"s\\u001b[2J"', '"apiKey":"mx0KEY","secretKey":"s\\u202e"' } do
      local client = client_with(function() return { status = 200, headers = "", body = "{" .. members .. "}" } end)
      for _, group in ipairs { "sub_account", "broker" } do
        local result, err = client[group]:create_api_key { subAccount = "tradingdesk1", note = "bot",
          permissions = "SPOT_DEAL_READ" }
        is_unknown(result, err, "delete this key")
        assert.is_nil(err.message:find("[%c]"))
        assert.is_nil(err.message:find("evil", 1, true))
      end
    end
  end)
end)

describe("a list of several records", function()
  it("is no answer to a call that makes one", function()
    for _, body in ipairs { '[{"tranId":"1"},{"tranId":"2"}]',
      '{"code":"0","data":[{"tranId":"1"},{"tranId":"2"}]}' } do
      local client = client_with(function() return { status = 200, headers = "", body = body } end)
      local result, err = move(client, "5")
      is_unknown(result, err, "more than one record")
    end
    assert(move(client_with(function() return { status = 200, headers = "", body = '[{"tranId":"1"}]' } end), "5"))
  end)
end)

-- The answer of a call that is under way comes to another one first, which was not executed: whichever is written
-- first, nothing shows whose it is.
describe("an answer that comes to another call before its own has it", function()
  local PARAMS = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "7" }
  local others = {
    ["of the same operation"] = function(client) return client.wallet:transfer(PARAMS, { key = "other" }) end,
    ["of another operation"] = function(client) return move(client, "7") end,
  }

  for name, other in pairs(others) do
    for _, kind in ipairs { "memory", "a database" } do
      it("is believed by neither, " .. name .. ", with a journal in " .. kind, function()
        local journal = kind ~= "memory" and own_journal.begin() or nil
        if journal then finally(own_journal.finish) end
        local client, result, err, is_over
        client = simulated.client(sim, account, { rate_limit = false, retry = false, journal = journal,
          account = "acme" }, { transport = { sleep = function(_, ms) sim:transport():sleep(ms) end,
          send = function(_, request)
            local inner = sim:transport()
            if request.method == "GET" or is_over then return inner:send(request) end
            is_over = true
            local began = core.now_ms()
            repeat until core.now_ms() > began -- so that what ends from now on ends after this call began
            local response = inner:send(request) -- the own call's, while the other one is handed its answer
            local transport = private.states[client]._transport
            private.states[client]._transport = { send = function() return response end }
            assert(other(client))
            private.states[client]._transport = transport
            return response
          end } })
        result, err = client.wallet:transfer({ fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
          amount = "3" }, { key = "own" })
        is_unknown(result, err, "another call")
        assert.equal("done", assert(client:reconcile(err)).outcome)
        if name == "of the same operation" then
          assert(other(client)) -- with its key: it is found not to have been executed, and sent
          assert.equal(2, simulated.counted(sim, "wallet.transfer", "applied"))
        elseif journal then
          local recovered = assert(journal:recover(client))
          assert.same({ 1, "not_done" }, { #recovered, recovered[1].answer.outcome })
        end
      end)
    end
  end
end)

-- The answer of a call that was lost came to another call instead, which was not executed.
describe("an answer that came to another call in place of its own", function()
  local others = {
    ["of the same operation"] = function(client) return move(client, "7", { clientTranId = ID }) end,
    ["of another operation"] = function(client)
      return client.wallet:transfer({ fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
        amount = "7" }, { key = "other" })
    end,
  }

  for name, other in pairs(others) do
    for _, kind in ipairs { "memory", "a database" } do
      it("is not that call's once the record is found to be the first one's, " .. name .. ", with a journal in "
        .. kind, function()
        local journal = kind ~= "memory" and own_journal.begin() or nil
        if journal then finally(own_journal.finish) end
        local kept
        local client = client_with(function(number, _, send)
          if number == 1 then
            kept = send()
            return nil, { reason = "lost", sent = true, message = "lost" }
          end
          return number == 2 and kept or send()
        end, { journal = journal, account = "acme" })
        local _, err = move(client, "3")
        assert.equal("unknown", err.outcome)
        local false_one = assert(other(client))
        local answer = assert(client:reconcile(err))
        assert.same({ "done", false_one.tranId }, { answer.outcome, answer.record.tranId })
        assert.are_not.equal(false_one.tranId, assert(other(client)).tranId) -- it is found not to be made, and sent
      end)
    end
  end
end)

