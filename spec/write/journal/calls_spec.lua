-- SPDX-License-Identifier: MIT
-- A journal knows of other calls: which can have made a record as well, and when those were sent whose records are
-- known. With these a look can show, after a restart too, that a history counts time as its clock does.

local purser = require "purser"
local simulated = require "simulated"

local HISTORY = "sub_account.transfer_history"

local sim, account, path, journal, client

local function open()
  journal = assert(purser.journal.open { sqlite = path })
  client = simulated.client(sim, account, { retry = false, rate_limit = false, journal = journal,
    account = "treasury" })
end

local function restart()
  client:close()
  journal:close()
  open()
end

before_each(function()
  path = os.tmpname()
  sim, account = simulated.broker(nil, { balances = { USDT = "100000" } })
  open()
end)

after_each(function()
  client:close()
  journal:close()
  for _, suffix in ipairs { "", "-wal", "-shm", ".kept" } do os.remove(path .. suffix) end
end)

local function move(amount, id)
  return client.sub_account:transfer(simulated.transfer(amount, { clientTranId = id }))
end

local function received() return simulated.counted(sim, HISTORY, "received") end

describe("a look after a restart", function()
  -- Makes so many transfers, a second apart, and looks for one that never arrived. Returns how often it asked.
  local function requests(count, outcome)
    for i = 1, count do
      assert(move(("1.%05d"):format(i)))
      sim:advance(1000)
    end
    sim:fault { kind = "reset", when = "before", operation = "transfer" }
    local _, err = move "2"
    assert.equal("unknown", err.outcome)
    local before = received()
    restart()
    assert.equal(outcome or "not_done", assert(client:reconcile(err.intent)).outcome)
    return received() - before
  end

  it("asks for the window of the call alone, however long its history is", function()
    local few = requests(60)
    assert.equal(few, requests(700))
  end)

  it("asks for the hours around it where the journal knows none of its records", function()
    local known = requests(700)
    client:close()
    journal:close()
    for _, suffix in ipairs { "", "-wal", "-shm", ".kept" } do os.remove(path .. suffix) end
    open()
    assert.is_true(requests(0, "undecided") > known) -- nobody claims the records of the other journal
  end)
end)

describe("a journal with a queue", function()
  it("says which ids are those of its payments, of one account and of some operations", function()
    local payouts = assert(purser.payouts.new { client = client, journal = journal })
    local id = ("Ab3"):rep(10) .. "Zz"
    assert(payouts:add("p1", "sub_account.transfer", simulated.transfer("1", { clientTranId = id })))
    local names = { ["sub_account.transfer"] = true }
    local ids = { id, id:lower() }
    local planned = assert(journal:owners("key", "treasury", ids, names))[id]
    assert.same({ "sub_account.transfer", id }, { planned.operation, planned.params.clientTranId })
    assert.same({}, assert(journal:owners("key", "other", ids, names)))
    assert.same({}, assert(journal:owners("key", "treasury", ids, { ["wallet.withdraw"] = true })))
  end)
end)
