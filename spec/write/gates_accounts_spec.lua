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

-- Another account of the service.
local function another(name)
  local made = assert(sim:account { name = "Acme " .. name, role = "broker", balances = { USDT = "1000" } })
  assert(sim:account { name = "tradingdesk1", role = "sub", parent = made.uid })
  return made
end

local function move(client, amount, name, opts)
  return client.sub_account:transfer(simulated.transfer(amount, { clientTranId = name and id_of(name) }), opts)
end

-- A new key of a limited account spent without the limit where a script left the account's name out.
describe("a spending limit", function()
  local function client_under(name, of, amount)
    return simulated.client(sim, of, { retry = false, rate_limit = false }, { journal = journal, account = name,
      guard = amount and { spending_limit = { USDT = amount } } or nil })
  end

  it("stops other accounts until a person told the two apart, but those with a limit", function()
    assert(move(client_under("acme", account, "10"), "4"))
    local other = another "Other"
    for name, of in pairs { [false] = another "Unnamed", other = other } do
      local _, err = move(client_under(name or nil, of), "1")
      assert.same({ "journal.other_account", "not_sent" }, { err.code, err.outcome })
      assert.matches('may be of account "acme", which is under a policy or a limit', err.message)
      if name then assert.is_true(journal:join(err.hint:match "journal join (%x+) other", name, "alice")) end
    end
    assert(move(client_under("other", other), "1"))
    assert(move(client_under("acme", account), "1"))
    assert(move(client_under("third", another "Third", "5"), "1"))
    assert.equal(4, applied())
  end)

  it("stops nobody any more once a person ended the limit", function()
    assert(move(client_under("acme", account, "10"), "4"))
    assert(journal:limit("acme", { asset = "USDT", by = "alice" }))
    assert(move(client_under("other", another "Other"), "1"))
  end)
end)

-- A variable of the environment that a timer lacks took the name of the account away, and the payment was made again.
describe("a key that the same account used under another name", function()
  local unnamed = { retry = false, rate_limit = false }

  local function client_under(name, of)
    return simulated.client(sim, of or account, unnamed, { journal = journal, account = name })
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

  -- Without proof the history of another account showed that nothing was done, and the payment was made again there.
  describe("by a new API key under its name", function()
    local NEW = "mx0renewed"

    -- A client of the same account by another API key: the service takes both.
    local function renewed()
      local inner = sim:transport()
      local transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
        local headers, copy = {}, {}
        for name, value in pairs(request) do copy[name] = value end
        for name, value in pairs(request.headers or {}) do headers[name] = value == NEW and account.api_key or value end
        copy.headers = headers
        return inner:send(copy)
      end }
      return simulated.client(sim, account, unnamed, { journal = journal, account = "treasury", api_key = NEW,
        transport = transport })
    end

    local function lose(client, amount)
      sim:fault { kind = "lost_answer", operation = "transfer" }
      assert.equal("unknown", select(2, move(client, amount, nil, { key = "lost" })).outcome)
      sim:advance(120000)
    end

    it("is not known by the history of an account that shows nothing of this one", function()
      lose(client_under "treasury", "5")
      local other = client_under("treasury", another "second")
      local _, err = move(other, "5", nil, { key = "lost" })
      assert.matches("stranger: another API key signed it", err.message)
      assert.equal(1, applied())
      assert(move(other, "7")) -- its own records prove nothing
      _, err = move(other, "5", nil, { key = "lost" })
      assert.matches("stranger: another API key signed it", err.message)
      assert.equal(2, applied())
    end)

    it("is known once a person said that the key is of the account", function()
      sim:fault { kind = "reset", operation = "transfer" }
      assert.equal("unknown", select(2, move(client_under "treasury", "5", nil, { key = "lost" })).outcome)
      sim:advance(120000)
      local client = renewed()
      local _, err = move(client, "5", nil, { key = "lost" })
      local digest, name = err.message:match "purser journal join (%x+) (%w+)"
      assert.is_true(journal:join(digest, name, "alice"))
      assert(move(client, "5", nil, { key = "lost" }))
      assert.equal(1, applied())
      local row = assert(journal.db:rows "SELECT attempt, signer FROM purser_calls")[1]
      assert.same({ "2", digest }, { row.attempt, row.signer }) -- of the attempt that was made
    end)

    it("is found where the service shows a record of the account", function()
      assert(move(client_under "treasury", "1"))
      lose(client_under "treasury", "5")
      assert(move(renewed(), "5", nil, { key = "lost" }))
      assert.equal(2, applied())
    end)
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

-- A second API key of the same account, and a variable of the environment that a timer lacks: no policy was asked.
describe("an API key in a journal with an account under a policy", function()
  local digest = require "purser.client.util.digest"
  local setting, ssh_keys = require "approvals_setting", require "ssh_keys"

  before_each(function() setting.begin {} end)
  after_each(setting.finish)
  teardown(ssh_keys.remove)

  local function client_of(name, api_key)
    return (assert(setting.client { account = name, policy = false, api_key = api_key }))
  end

  it("signs for another account once a person said so, under a name", function()
    local row = setting.row("a", "10")
    assert.equal("approval.missing", select(2, setting.send(row)).details.code)
    for i, name in ipairs { "desk", "desk", "third" } do
      local client, identity = client_of(name, "key" .. i), digest.account_of("key" .. i)
      local value, err = setting.send(row, client)
      assert.is_nil(value)
      assert.same({ "not_sent", "journal.other_account" }, { err.outcome, err.code })
      assert.matches(("purser journal join %s %s`"):format(identity, name), err.hint, 1, true)
      assert(setting.journal:join(identity, name, "alice"))
      assert(setting.send(setting.row("b" .. i, "10"), client))
    end
    assert.equal(3, #setting.sent)
    local _, err = setting.send(row, client_of(false, "key4"))
    local identity = digest.account_of "key4"
    assert.matches(("and give it an account: `purser journal join %s ACCOUNT`"):format(identity), err.hint, 1, true)
    assert.equal("argument", select(2, setting.journal:join(identity, identity, "alice")).kind)
    assert(setting.journal:join(identity, "fourth", "alice"))
    assert(setting.send(row, client_of("fourth", "key4")))
  end)

  it("signs for the account that had the key before the policy once a person said so, too", function()
    setting.finish()
    setting.begin {}
    assert(setting.send(setting.row("a", "10"), client_of("desk", "key2")))
    assert(setting.client())
    local _, err = setting.send(setting.row("b", "10"), client_of("desk", "key2"))
    assert.equal("journal.other_account", err.code)
    assert(setting.journal:join(digest.account_of "key2", "desk", "alice"))
    assert(setting.send(setting.row("b", "10"), client_of("desk", "key2")))
  end)
end)
