-- SPDX-License-Identifier: MIT
-- A journal to which something happens: its file is removed, others write to it, what it knows is disputed.

local purser = require "purser"
local simulated = require "simulated"

local sim, account, path, journal, client

local function open() return assert(purser.journal.open { sqlite = path }) end

local function client_with(options)
  return simulated.client(sim, account, { retry = false, rate_limit = false, journal = journal, account = "treasury" },
    options)
end

local function remove_files()
  for _, suffix in ipairs { "", "-wal", "-shm", ".kept" } do os.remove(path .. suffix) end
end

before_each(function()
  path = os.tmpname()
  sim, account = simulated.broker()
  journal = open()
  client = client_with()
end)

after_each(function()
  journal:close()
  remove_files()
end)

local function move(amount, opts)
  return client.sub_account:transfer(simulated.transfer(amount), opts)
end

local function received() return simulated.counted(sim, "sub_account.transfer", "received") end

describe("a journal whose file", function()
  it("was removed keeps calls from being sent that nobody could find again", function()
    assert(move "1")
    os.remove(path)
    local result, err = move "2"
    assert.is_nil(result)
    assert.same({ "not_sent", "journal" }, { err.outcome, err.phase })
    assert.matches("removed or replaced", err.message)
    assert.equal(1, received())
    assert.matches("removed or replaced", select(2, purser.payouts.new { client = client, journal = journal }).message)
  end)

  it("was replaced does so, too, until it is put back", function()
    assert(os.rename(path, path .. ".kept"))
    assert(io.open(path, "w")):close()
    assert.matches("removed or replaced", select(2, move "2").message)
    assert(os.rename(path .. ".kept", path))
    assert(move "2")
  end)

  it("was removed while a call was under way does not lose its result", function()
    local inner, info = sim:transport(), {}
    client = client_with { transport = { send = function(_, request)
      os.remove(path)
      return inner:send(request)
    end } }
    assert(move("1", { info = info }))
    assert.matches("removed or replaced", info.journal_error)
  end)
end)

describe("a version", function()
  for _, text in ipairs { "0", "-1", "0.5", "1.0", "0x1", "", "one" } do
    it(('"%s" is none of a journal'):format(text), function()
      assert(journal.db:rows("UPDATE purser_meta SET value = $1", text))
      local opened, err = purser.journal.open { sqlite = path }
      assert.is_nil(opened)
      assert.matches("no version", err.message)
    end)
  end
end)

describe("what was answered to one process", function()
  it("is not undone by another that looked for it in vain", function()
    -- one process waits for its answer, another finds the open entry and reconciles it, and the service shows records
    -- late
    sim, account = simulated.broker { seed = 5, visibility_delay_ms = 60000 }
    sim:advance(120000)
    client = client_with { guard = { spending_limit = { USDT = "5" } } }
    local done = assert(move "4")
    local intent = assert(journal:entries())[1].intent
    local other = open()
    local answer = assert(client_with { journal = other }:reconcile(intent))
    assert.same({ "done", done.tranId }, { answer.outcome, answer.record.tranId })
    assert.equal("done", assert(journal:entries())[1].state)
    assert.equal("guard.spending_limit", select(2, move "2").code) -- and what it spent is not given back
    other:close()
  end)
end)

describe("two processes at one journal", function()
  -- Each makes calls of its own, at the same time; between them they may move 30.
  local program = [[
    local purser = require "purser"
    -- two halves of one service, each of which gives ids of its own
    local sim = purser.sim.new { start_time = 1700000000000 + %d * 1000000 }
    local account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "1000" } })
    assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
    local journal = assert(purser.journal.open { sqlite = "%s", lock_timeout_ms = 600000 })
    local client = assert(purser.new { base_url = "http://localhost", api_key = account.api_key, rate_limit = false,
      secret_key = account.secret_key, transport = sim:transport(), clock = function() return sim:now() end,
      journal = journal, account = "treasury", guard = { spending_limit = { USDT = "30" } } })
    local made = 0
    for i = 1, 40 do
      if client.sub_account:transfer { toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT",
        asset = "USDT", amount = "1" } then made = made + 1 end
    end
    print(made)
  ]]

  it("share a spending limit to the last unit, and lose no entry", function()
    local pipes, total = {}, 0
    for i = 1, 2 do
      local name = os.tmpname()
      local file = assert(io.open(name, "w"))
      file:write(program:format(i, path))
      file:close()
      pipes[i] = assert(io.popen(("%s %s; rm %s"):format(os.getenv "LUA" or "lua5.4", name, name)))
    end
    for _, pipe in ipairs(pipes) do
      total = total + tonumber(pipe:read "*l")
      pipe:close()
    end
    assert.equal(30, total)
    assert.equal(30, #assert(journal:entries { state = "done" }))
    assert.equal(30, #assert(journal:entries()))
  end)
end)

describe("two spellings of one amount", function()
  it("are not taken for one another's record", function()
    client = client_with()
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }
    sim:fault { kind = "reset", when = "before", operation = "wallet.transfer" }
    local _, err = client.wallet:transfer(params)
    params.amount = "2.0"
    assert(client.wallet:transfer(params))
    assert.equal("not_done", assert(client:reconcile(err)).outcome)
  end)
end)

describe("an amount that no decimal holds", function()
  it("is rejected before a guard rail has to compare it", function()
    client = client_with { guard = { max_amount = { USDT = "10" } } }
    for _, amount in ipairs { ("1"):rep(300), "0." .. ("0"):rep(290) .. "1" } do
      local result, err = move(amount)
      assert.is_nil(result)
      assert.same({ "argument", "amount" }, { err.kind, err.parameter })
    end
  end)
end)

