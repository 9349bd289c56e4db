-- SPDX-License-Identifier: MIT
-- One API key signs for one account of a journal, and a key is used once by what may be one account.

local own = require "own_journal"
local purser = require "purser"
local simulated = require "simulated"

local TRANSFER = "sub_account.transfer"
local sim, account, journal

before_each(function()
  sim, account = simulated.broker(nil, { balances = { USDT = "100000" }, futures_balances = { USDT = "100" } })
  journal = own.begin()
end)
after_each(own.finish)

local function applied() return simulated.counted(sim, TRANSFER, "applied") end

-- An id of the length that the service wants.
local function id_of(name) return (name:gsub("%W", "") .. ("0"):rep(32)):sub(1, 32) end

local function move(client, amount, name, opts)
  return client.sub_account:transfer(simulated.transfer(amount, { clientTranId = name and id_of(name) }), opts)
end

-- A variable of the environment that a timer lacks took the name of the account away, and the payment was made again.
describe("a key that the same account used under another name", function()
  local unnamed = { retry = false, rate_limit = false }

  local function client_under(name, of)
    return simulated.client(sim, of or account, unnamed, { journal = journal, account = name })
  end

  -- Another account of the service.
  local function another(name)
    local made = assert(sim:account { name = "Acme " .. name, role = "broker", balances = { USDT = "1000" } })
    assert(sim:account { name = "tradingdesk1", role = "sub", parent = made.uid })
    return made
  end

  it("is rejected where one of the two is but a digest of the API key", function()
    for first, second in pairs { treasury = false, [false] = "other" } do
      local id, of = "invoice-" .. tostring(first), another(tostring(first))
      assert(move(client_under(first or nil, of), "5", id))
      for _, amount in ipairs { "5.0", "6" } do -- whatever the key stands for
        local _, err = move(client_under(second or nil, of), amount, id)
        assert.same({ "not_sent", "journal.other_account" }, { err.outcome, err.code })
        assert.matches(('account = "%s"'):format(client_under(first or nil, of):account()), err.hint, 1, true)
      end
    end
    assert.equal(2, applied())
  end)

  it("is rejected where neither has a name, and the API key is a new one, whatever the key stands for", function()
    assert(move(client_under(), "5", "invoice-1"))
    local _, err = move(client_under(nil, another "new"), "6", "invoice-1")
    assert.same({ "not_sent", "journal.other_account" }, { err.outcome, err.code })
    assert.equal(1, applied())
  end)

  it("is none of this API key: one key signs for one account, also where the first call was not made", function()
    local guard = { max_amount = { USDT = "1" } }
    assert(move(client_under "treasury", "5", "invoice-1"))
    for _, name in ipairs { false, "Treasury" } do
      local other = simulated.client(sim, account, unnamed, { journal = journal, account = name or nil, guard = guard })
      local _, err = move(other, "1", "invoice-2")
      assert.same({ "not_sent", "journal.other_account" }, { err.outcome, err.code })
    end
    local new = another "new"
    assert(move(client_under("treasury", new), "5", "invoice-3")) -- a new key under a known name
    assert.equal("journal.other_account", select(2, move(client_under("elsewhere", new), "5", "invoice-4")).code)
    assert.equal(2, applied())
  end)

  -- The name was misspelt in a timer's environment, and the payment was made again.
  it("is rejected where this API key has signed under the other name", function()
    assert(move(client_under "treasury", "5", "invoice-1"))
    local _, err = move(client_under "Treasury", "5", "invoice-1")
    assert.same({ "not_sent", "journal.other_account" }, { err.outcome, err.code })
    assert.matches('this API key is that of account "treasury", and this client is account "Treasury"', err.message)
    assert.equal("journal.other_account", select(2, move(client_under "Treasury", "5", "invoice-2")).code)
    assert.equal(1, applied())
  end)

  -- The name was that of the key before the last, so that nothing showed the first one's name: it was paid again.
  it("is rejected where the API key was changed twice, by a client that goes on", function()
    local keys = account
    local client = assert(purser.new { base_url = "http://localhost", transport = sim:transport(), journal = journal,
      clock = function() return sim:now() end, credentials = function() return keys.api_key, keys.secret_key end,
      rate_limit = false, retry = false })
    assert(move(client, "5", "invoice-1"))
    for i, id in ipairs { "invoice-2", "invoice-1" } do
      keys = assert(sim:account { name = "Acme " .. i, role = "broker", balances = { USDT = "1000" } })
      assert(sim:account { name = "tradingdesk2" .. i, role = "sub", parent = keys.uid })
      local _, err = move(client, "5", id)
      if id == "invoice-1" then assert.same({ "not_sent", "journal.other_account" }, { err.outcome, err.code }) end
    end
    assert.equal(1, applied())
  end)

  it("is used by each of two that have names and other API keys", function()
    assert(move(client_under "treasury", "5", "invoice-1"))
    assert(move(client_under("second", another "second"), "7", "invoice-1"))
    local other = assert(sim:account { role = "main", balances = { USDT = "10" } })
    assert.equal("rejected", select(2, move(client_under("other", other), "6", "invoice-1")).outcome)
    assert.equal(2, applied())
  end)
end)
