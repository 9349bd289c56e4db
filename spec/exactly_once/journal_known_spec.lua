-- SPDX-License-Identifier: MIT
-- What a journal knows of the records that its calls made: by these a look can show that a history counts time as its
-- clock does, after a restart too, and asks for the call's own window only.

local purser = require "purser"

local OPERATION, HISTORY = "sub_account.transfer", "sub_account.transfer_history"

local sim, account, path, journal, client

local function open()
  journal = assert(purser.journal.open { sqlite = path })
  client = assert(purser.new { base_url = "http://localhost", api_key = account.api_key,
    secret_key = account.secret_key, transport = sim:transport(), clock = function() return sim:now() end,
    retry = false, rate_limit = false, journal = journal, account = "treasury" })
end

local function restart()
  client:close()
  journal:close()
  open()
end

before_each(function()
  path = os.tmpname()
  sim = purser.sim.new { seed = 5 }
  account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "100000" } })
  assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
  open()
end)

after_each(function()
  client:close()
  journal:close()
  for _, suffix in ipairs { "", "-wal", "-shm", ".kept" } do os.remove(path .. suffix) end
end)

local function move(amount, id)
  return client.sub_account:transfer { toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT",
    asset = "USDT", amount = amount, clientTranId = id }
end

local function received()
  local count = sim:counts()[HISTORY]
  return count and count.received or 0
end

describe("a look after a restart", function()
  -- Makes so many transfers, a second apart, and looks for one that never arrived. Returns how often it asked.
  local function requests(count)
    for i = 1, count do
      assert(move(("1.%05d"):format(i)))
      sim:advance(1000)
    end
    sim:fault { kind = "reset", when = "before", operation = "transfer" }
    local _, err = move "2"
    assert.equal("unknown", err.outcome)
    local before = received()
    restart()
    assert.equal("not_done", assert(client:reconcile(err.intent)).outcome)
    return received() - before
  end

  it("asks for the window of the call alone, however long its history is", function()
    local few = requests(60)
    assert.equal(few, requests(700))
  end)

  it("asks for the hours around it where the journal knows none of its records", function()
    local known = requests(60)
    client:close()
    journal:close()
    for _, suffix in ipairs { "", "-wal", "-shm", ".kept" } do os.remove(path .. suffix) end
    open()
    assert.is_true(requests(0) > known)
  end)
end)

describe("a record is known", function()
  local function known(operation, first, last)
    return assert(journal:known_records(client:account(), operation or OPERATION, first or sim:now() - 60000,
      last or sim:now() + 60000, 5000))
  end

  it("with when the call was sent that made it", function()
    local at = sim:now()
    local made = assert(move "1")
    assert.same({ [made.tranId] = at }, known())
  end)

  it("only of the account, of the operation, and near either end of the window", function()
    local made = assert(move "1")
    assert.is_nil(next(known "wallet.transfer"))
    assert.is_nil(next(assert(journal:known_records("other", OPERATION, sim:now() - 60000, sim:now() + 60000,
      5000))))
    local hour = 3600000
    assert.is_nil(next(known(nil, sim:now() - hour, sim:now() + hour)))
    assert.is_nil(next(known(nil, sim:now() + 1000, sim:now() + hour)))
    assert.is_number(known(nil, sim:now() - hour, sim:now() + 1000)[made.tranId])
    assert.is_number(known(nil, sim:now() - 1000, sim:now() + hour)[made.tranId])
  end)

  it("only where no equal call can have made it", function()
    assert(move "1")
    sim:fault { kind = "reset", when = "before", operation = "transfer" }
    assert.is_nil((move "1.0"))
    assert.is_nil(next(known()))
  end)

  it("when it was found by the call's own id, and not when it was found by its content", function()
    sim:fault { kind = "lost_answer", operation = "sub_account.transfer" }
    local _, err = move "1"
    local found = assert(client:reconcile(err)).record
    assert.is_number(known()[found.tranId])
    sim:fault { kind = "lost_answer", operation = "wallet.transfer" }
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }
    _, err = client.wallet:transfer(params)
    assert.equal("done", assert(client:reconcile(err)).outcome)
    assert.is_nil(next(known "wallet.transfer"))
    params.amount = "3"
    local made = assert(client.wallet:transfer(params))
    assert.is_number(known("wallet.transfer")[made.tranId])
  end)
end)
