-- SPDX-License-Identifier: MIT
-- A key is used once: a call is sent again with it only where it is known not to have been executed.

local own = require "own_journal"
local parameters = require "purser.client.operations.parameters"
local purser = require "purser"
local simulated = require "simulated"

local TRANSFER = "sub_account.transfer"
local sim, account, journal

local function client_of(options)
  return simulated.client(sim, account, { retry = false, rate_limit = false, journal = journal,
    account = "treasury" }, options)
end

before_each(function()
  sim, account = simulated.broker(nil, { balances = { USDT = "100000" }, futures_balances = { USDT = "100" } })
  journal = own.begin()
end)
after_each(own.finish)

local function applied() return simulated.counted(sim, TRANSFER, "applied") end

local function received() return simulated.counted(sim, TRANSFER, "received") end

-- An id of the length that the service wants.
local function id_of(name) return (name:gsub("%W", "") .. ("0"):rep(32)):sub(1, 32) end

local function move(client, amount, name, opts)
  return client.sub_account:transfer(simulated.transfer(amount, { clientTranId = name and id_of(name) }), opts)
end

-- Expects that a call was not sent, for the reason that a code names. Returns its error.
local function refused(code, value, err)
  assert.is_nil(value)
  assert.same({ "not_sent", code }, { err.outcome, err.code })
  return err
end

for name, in_memory in pairs { ["with a journal"] = false, ["without one"] = true } do
  describe("a second call with the same id, " .. name, function()
    local client

    before_each(function()
      if in_memory then journal = nil end
      client = client_of()
    end)

    it("returns the first one's result, and sends nothing", function()
      local info, first = {}, assert(move(client, "5", "invoice-1"))
      assert.same(first, assert(move(client, "5.0", "invoice-1", { info = info })))
      assert.same({ true, 1, 1 }, { info.repeated, received(), applied() })
      assert(move(client, "5", "invoice-2", { info = info }))
      assert.is_nil(info.repeated)
    end)

    -- One member that JSON could not hold, an empty table in a table, took the whole answer out of the journal.
    it("returns its id, whatever else the service adds to its answer", function()
      sim, account = simulated.broker({ variant = "live" }, { balances = { USDT = "100000" } })
      client = client_of()
      local first, id = assert(move(client, "5", "invoice-1")), nil
      for member, value in pairs(assert(move(client, "5", "invoice-1"))) do
        assert.same(first[member], value)
        id = id or member == "tranId" and value
      end
      assert.is_string(id)
      assert.equal(1, applied())
    end)

    it("is rejected where its content is another", function()
      assert(move(client, "5", "invoice-1"))
      local err = refused("journal.other_content", move(client, "6", "invoice-1"))
      assert.matches('the key "invoice10+" is that of sub_account.transfer, 5 USDT, done', err.message)
      assert.equal(1, received())
    end)

    -- The same id in the other operation that makes the same records was another key, and was executed once more.
    it("is rejected in another operation whose records are in the same list", function()
      assert(move(client, "5", "invoice-1"))
      refused("journal.other_content",
        client.broker:transfer(simulated.transfer("5", { clientTranId = id_of "invoice-1" })))
      local paid = { coin = "USDT", address = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE", amount = "20",
        withdrawOrderId = "invoice-2" }
      assert(client.wallet:withdraw_legacy(paid))
      refused("journal.other_content", client.wallet:withdraw(paid))
      assert.equal(0, simulated.counted(sim, "wallet.withdraw", "received"))
    end)

    for what, case in pairs {
      ["finds out first what became of a lost one that was executed"] = { received = 1, is_repeated = true,
        fault = { kind = "lost_answer", operation = "transfer" } },
      ["sends where the lost one was not executed"] = { received = 2,
        fault = { kind = "reset", when = "before", operation = "transfer" } },
    } do
      it(what, function()
        sim:fault(case.fault)
        assert.equal("unknown", select(2, move(client, "5", "invoice-1")).outcome)
        local info = {}
        assert.truthy(assert(move(client, "5", "invoice-1", { info = info })).tranId)
        assert.same({ case.is_repeated, case.received, 1 }, { info.repeated, received(), applied() })
      end)
    end

    it("sends where the first was rejected", function()
      local _, err = move(client, "1000000", "invoice-1")
      assert.equal("rejected", err.outcome)
      _, err = move(client, "1000000", "invoice-1")
      assert.same({ "rejected", 2 }, { err.outcome, received() })
    end)

    it("is looked for first where the rejection may be of a second copy, the first of which was executed", function()
      for i, code in ipairs { "10101", "700003", "700004", "429" } do
        local id, rejects = "invoice-" .. i, true
        local repeating = client_of { transport = simulated.transport(sim, function(request, inner)
          local response, failure = inner:send(request)
          if not rejects or request.operation ~= TRANSFER then return response, failure end
          rejects = false
          return { status = 400, headers = "", body = ('{"code":%s,"msg":"Rejected."}'):format(code) }
        end) }
        assert.equal("rejected", select(2, move(repeating, "5", id)).outcome)
        local info = {}
        assert.is_string(assert(move(repeating, "5", id, { info = info })).tranId)
        assert.same({ true, i, i }, { info.repeated, received(), applied() })
      end
    end)

    it("reports an unknown outcome where it cannot be looked for", function()
      sim:fault { kind = "lost_answer", operation = "transfer" }
      move(client, "5", "invoice-1")
      sim:fault { kind = "server_error", probability = 1 }
      local _, err = move(client, "5", "invoice-1")
      assert.same({ "unknown", "journal.unknown", 1 }, { err.outcome, err.code, received() })
      assert.equal(id_of "invoice-1", err.intent.params.clientTranId)
    end)
  end)
end

describe("an operation without an id", function()
  local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }

  it("takes a key as an option", function()
    local client = client_of()
    local first = assert(client.wallet:transfer(params, { key = "sweep-1" }))
    local info = {}
    assert.same(first, assert(client.wallet:transfer(params, { key = "sweep-1", info = info })))
    assert.is_true(info.repeated)
    assert(client.wallet:transfer(params, { key = "sweep-2" }))
    assert(client.wallet:transfer(params))
    assert.equal(3, simulated.counted(sim, "wallet.transfer", "applied"))
    local keys = {}
    for _, entry in ipairs(assert(journal:entries())) do keys[entry.key or ""] = entry.state end
    assert.same({ ["sweep-1"] = "done", ["sweep-2"] = "done", [""] = "done" }, keys)
  end)

  -- The id with a blank behind it was another key, and the payment was made again.
  it("takes no id of a withdrawal that looks like another", function()
    local client, before = client_of(), simulated.counted(sim, "wallet.withdraw", "received")
    for _, id in ipairs { "invoice-1 ", " invoice-1", "invoice-1\194\160", "invoice\226\128\139-1" } do
      local _, err = client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20", withdrawOrderId = id,
        address = "TSampLeAddress" }
      assert.same({ "not_sent", "withdrawOrderId" }, { err.outcome, err.parameter })
    end
    assert.equal(before, simulated.counted(sim, "wallet.withdraw", "received"))
  end)

  it("takes no key that cannot be read", function()
    local client = client_of()
    for _, key in ipairs { "", "a\n", " a", ("x"):rep(201) } do
      local _, err = client.wallet:transfer(params, { key = key })
      assert.same({ "not_sent", "key" }, { err.outcome, err.option })
    end
  end)
end)

-- A rule, a limit or a check that was changed since kept a repetition from the first one's result: it ended as not_sent
-- though the payment was made.
describe("a call that was made is answered by its result, and nothing is sent, though today", function()
  -- Makes it, and returns a function that makes it again with a client of other options, which cannot send.
  local function of_yesterday(id)
    local first = assert(move(client_of(), "5", id))
    return function(options)
      local info = {}
      options.transport = { sleep = function() error "it waited" end, send = function() error "it was sent" end }
      assert.same(first, assert(move(client_of(options), "5", id, { info = info })))
      assert.is_true(info.repeated)
      assert.equal(id_of(id), info.intent.params.clientTranId)
    end
  end

  for name, guard in pairs { read_only = { read_only = true }, max_amount = { max_amount = { USDT = "1" } },
    sub_accounts = { sub_accounts = {} }, spending_limit = { spending_limit = { USDT = "1" } },
    addresses = { addresses = {} } } do
    it("the guard rail " .. name .. " forbids it", function()
      of_yesterday "invoice-1" { guard = guard }
    end)
  end

  it("a check rejects one of its parameters", function()
    local same_today, kind, value = of_yesterday "invoice-1", parameters.kinds.client_id, nil
    local check = kind.check
    function kind.check(text) -- luacheck: ignore
      value = text
      return nil, "is out of fashion", "take another"
    end
    finally(function() kind.check = check end)
    same_today {}
    assert.equal(id_of "invoice-1", value)
    local _, err = move(client_of(), "6", "invoice-1") -- what was not made is rejected
    assert.same({ "not_sent", "clientTranId" }, { err.outcome, err.parameter })
  end)

  it("the funds password is another, or is not given", function()
    local of_sub = assert(sim:account { name = "desk2", role = "sub", parent = account.uid,
      balances = { USDT = "100" } })
    local client = client_of { api_key = of_sub.api_key, secret_key = of_sub.secret_key, account = "desk2" }
    local params = { coin = "USDT", network = "Tron(TRC20)", address = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE",
      amount = "20", funds_password = "correct horse" }
    local first, info = assert(client.broker:withdraw(params, { key = "invoice-1" })), {}
    for _, password in ipairs { "battery staple", false } do
      params.funds_password = password or nil
      assert.same(first, assert(client.broker:withdraw(params, { key = "invoice-1", info = info })))
      assert.is_true(info.repeated)
    end
  end)

  it("a plan finds problems with it", function()
    local client, info = client_of(), {}
    local function plan(saved)
      return assert(client.wallet:plan_withdraw { coin = "USDT", network = "TRX", amount = "20",
        address = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7", require_saved_address = saved })
    end
    local first = assert(plan():execute { key = "invoice-1" })
    local today = plan(true)
    assert.is_false(today.ok)
    assert.same(first, assert(today:execute { key = "invoice-1", info = info }))
    assert.is_true(info.repeated)
    assert.matches("the plan has problems", select(2, today:execute { key = "invoice-2" }).message)
  end)

  it("a parameter is wrong that was not there: that is another call", function()
    local client = client_of()
    assert(move(client, "5", "invoice-1"))
    local _, err = client.sub_account:transfer(simulated.transfer("5", { clientTranId = id_of "invoice-1", no = 1.5 }))
    assert.same({ "not_sent", "no" }, { err.outcome, err.parameter })
    assert.equal(1, received())
  end)

  it("the rate limit has no room, the clock cannot be read, and there are no keys", function()
    local same_today = of_yesterday "invoice-1"
    local store = { transact = function() return nil, "it is gone" end, close = function() end }
    same_today { rate_limit = assert(purser.rate_limit { store = store }) }
    same_today { clock = function() error "no clock" end }
    local info, keys = {}, { account.api_key, account.secret_key }
    local client = assert(purser.new { base_url = "http://localhost", transport = sim:transport(), journal = journal,
      account = "treasury", clock = function() return sim:now() end,
      credentials = function() return keys[1], keys[2] end })
    assert(move(client, "5", "invoice-2"))
    keys = {}
    assert(move(client, "5", "invoice-2", { info = info }))
    assert.is_true(info.repeated)
  end)
end)

-- The signed request of a payment that was made would have made it a second time.
describe("client:prepare", function()
  it("makes no request whose key was used, by a call or by such a request", function()
    local client, params = client_of(), simulated.transfer("5", { clientTranId = id_of "invoice-1" })
    local info = {}
    assert(client:prepare(TRANSFER, params, { info = info }))
    assert.equal("open", assert(journal:entries { id = info.intent.id })[1].state)
    refused("journal.used", client:prepare(TRANSFER, params))
    sim:advance(60000) -- nobody sent it
    assert(client.sub_account:transfer(params))
    refused("journal.used", client:prepare(TRANSFER, params))
    params.amount = "6"
    refused("journal.other_content", client:prepare(TRANSFER, params))
    params.clientTranId = nil
    assert(client.sub_account:transfer(params, { key = "invoice-2" }))
    refused("journal.used", client:prepare(TRANSFER, params, { key = "invoice-2" }))
    assert(client:prepare(TRANSFER, params, { key = "invoice-3", info = info }))
    assert.equal(32, #info.intent.params.clientTranId) -- by which it is found
  end)

  it("makes none where the journal cannot say, and recall does not know", function()
    local client, params = client_of(), simulated.transfer "5"
    assert(move(client, "5", "invoice-1"))
    local db = journal.db
    local rows = db.rows
    for _, name in ipairs { "prepare", "recall" } do
      local failed = false
      db.rows = function(self, sql, ...)
        if failed or not sql:find("purser_calls", 1, true) then return rows(self, sql, ...) end
        failed = true
        return nil, "disk I/O error"
      end
      local value, err = client[name](client, TRANSFER, params, { key = "invoice-1" })
      db.rows = nil
      assert.same({ true, nil, name == "recall" and "unknown" or "not_sent" }, { failed, value, err.outcome })
    end
  end)

  it("previews a request that lets nobody in, and records nothing", function()
    local client = client_of()
    local request = assert(client:preview(TRANSFER, simulated.transfer "5"))
    assert.matches("signature=%.%.%.$", request.url)
    for _, value in pairs(request.headers) do assert.not_equal(account.api_key, value) end
    assert.same({}, assert(journal:entries()))
    assert.matches("signature=%.%.%.$", assert(client:preview "wallet.coins").url)
  end)
end)

describe("client:recall", function()
  it("says what became of a call, and makes none", function()
    local client, params = client_of(), simulated.transfer("5", { clientTranId = id_of "invoice-1" })
    local function recall(given) return client:recall(TRANSFER, given or params) end
    assert.same({}, { recall() })
    assert.same({}, { client:recall "wallet.coins" })
    local first = assert(client.sub_account:transfer(params))
    assert.same(first, recall())
    assert.is_nil((recall(simulated.transfer("6", { clientTranId = id_of "invoice-1" }))))
    assert.equal(1, received())
    local lost = simulated.transfer("5", { clientTranId = id_of "invoice-2" })
    sim:fault { kind = "lost_answer", operation = "transfer" }
    client.sub_account:transfer(lost)
    assert.truthy(recall(lost).tranId)
    sim:fault { kind = "reset", when = "before", operation = "transfer" }
    lost.clientTranId = id_of "invoice-3"
    client.sub_account:transfer(lost)
    assert.is_nil((recall(lost)))
    assert.equal(2, applied())
    assert.equal("argument", select(2, client:recall "wallet.nothing").kind)
  end)

  it("knows what was asked for, where that was completed", function()
    local client, info = client_of(), {}
    local asked, sent = { coin = "USDT", network = "trc20", address = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE",
      amount = "20" }, {}
    for name, value in pairs(asked) do sent[name] = value end
    sent.network = "Tron(TRC20)"
    assert(client.wallet:withdraw_legacy(sent, { key = "invoice-1", asked = asked }))
    for _, params in ipairs { asked, sent } do
      assert(client.wallet:withdraw_legacy(params, { key = "invoice-1", info = info }))
      assert.is_true(info.repeated)
    end
    asked.network = "TRX"
    refused("journal.other_content", client.wallet:withdraw_legacy(asked, { key = "invoice-1" }))
    assert.equal(1, simulated.counted(sim, "wallet.withdraw_legacy", "received"))
  end)
end)

describe("an operation with an id", function()
  it("gets the same one each time from a key", function()
    local client, info = client_of(), {}
    assert(move(client, "5", nil, { key = "invoice-1", info = info }))
    local id = info.intent.params.clientTranId
    journal:close()
    journal = own.begin()
    assert(move(client_of(), "5", nil, { key = "invoice-1", info = info }))
    assert.equal(id, info.intent.params.clientTranId)
    assert.equal(32, #id)
  end)

  it("is not answered by the payment of a queue that has it, made or not", function()
    local client = client_of()
    local payouts = assert(purser.payouts.new { client = client, journal = journal, worker = "one", idle_ms = 1,
      history_check = "never" })
    assert(payouts:add("p1", TRANSFER, simulated.transfer("5", { clientTranId = id_of "invoice-1" })))
    for _ = 1, 2 do
      refused("journal.used", move(client, "5", "invoice-1"))
      assert.same({}, { client:recall(TRANSFER, simulated.transfer("5", { clientTranId = id_of "invoice-1" })) })
      assert.equal(1, assert(payouts:run()).done)
    end
    assert.equal(1, applied())
  end)

  it("does not take a key as well", function()
    local _, err = move(client_of(), "5", "invoice-1", { key = "another" })
    assert.matches("two keys, `clientTranId` and the option `key`", err.message)
    assert.equal(0, received())
  end)
end)

describe("a key", function()
  -- One invoice number for a transfer and a withdrawal was two payments, each made once.
  it("is one payment's, over all operations and in whatever letters", function()
    local client = client_of()
    assert(move(client, "5", nil, { key = "Inv-9" }))
    local err = refused("journal.other_content", client.wallet:transfer({ fromAccountType = "SPOT",
      toAccountType = "FUTURES", asset = "USDT", amount = "5" }, { key = "Inv-9" }))
    assert.matches('the key "Inv-9" is that of sub_account.transfer, 5 USDT, done', err.message, 1, true)
    assert.matches("give it a key of its own, as Inv-9/2", err.hint, 1, true)
    for _, key in ipairs { "inv-9", "INV-9", "\239\188\169nv-9" } do
      err = select(2, move(client, "5", nil, { key = key }))
      assert.matches(('the key "%s" is "Inv-9" in other letters'):format(key), err.message, 1, true)
    end
    assert(move(client, "5", nil, { key = "inv-9/2" }))
    err = select(2, move(client, "5", nil, { key = "e\204\129" }))
    assert.matches("joins the letter before it", err.message)
    assert.equal(2, received())
  end)

  it("that another process has under way is waited for, and then gives the first one's result", function()
    local client, second = client_of(), client_of()
    local result, info = nil, {}
    local first = client_of { transport = simulated.transport(sim, function(request, inner)
      local answer = inner:send(request)
      -- what the second one does while the first waits for its answer
      coroutine.wrap(function() result = assert(move(second, "5", "invoice-1", { info = info })) end)()
      return answer
    end) }
    assert(move(first, "5", "invoice-1"))
    assert.truthy(result.tranId)
    assert.same({ true, 1 }, { info.repeated, received() })
    client:close()
  end)

  it("of a call that a killed process left open is looked for before anything is sent", function()
    local client = client_of()
    sim:fault { kind = "lost_answer", operation = "transfer" }
    move(client, "5", "invoice-1")
    assert(journal.db:rows "UPDATE purser_calls SET state = 'open', message = '', ended_at = ''")
    local info = {}
    assert(move(client_of(), "5", "invoice-1", { info = info }))
    assert.same({ true, 1, 1 }, { info.repeated, received(), applied() })
    assert.equal("done", assert(journal:entries())[1].state)
  end)
end)

-- A gateway sent the request twice: the second one was rejected since the first had been executed.
describe("a rejection that says that something is there, or of a code that nobody knows,", function()
  for _, body in ipairs { '{"code":33333,"msg":"clientTranId already exists"}', '{"code":987654,"msg":"no"}' } do
    it("proves nothing of a call that carries an id: " .. body, function()
      local client = client_of { transport = simulated.transport(sim, function(request, inner)
        local response, failure = inner:send(request)
        if request.method ~= "POST" or not response then return response, failure end
        return { status = 400, headers = "", body = body }
      end) }
      local _, err = move(client, "5", "invoice-1")
      assert.equal("unknown", err.outcome)
      local info = {}
      assert(move(client_of(), "5", "invoice-1", { info = info }))
      assert.same({ true, 1 }, { info.repeated, applied() })
    end)
  end
end)

describe("a key of a call and the key of a payment", function()
  local function payouts()
    return assert(purser.payouts.new { client = client_of(), journal = journal, worker = "w" })
  end

  it("are one: whichever door comes second is shut", function()
    local params = simulated.transfer "5"
    assert(client_of().sub_account:transfer(params, { key = "inv-1" }))
    refused("journal.used", payouts():add("inv-1", TRANSFER, params))
    assert(payouts():add("inv-2", TRANSFER, params))
    refused("journal.used", client_of().sub_account:transfer(params, { key = "inv-2" }))
    assert.equal(1, received())
    assert(payouts():run())
    assert.equal(2, applied())
  end)
end)
