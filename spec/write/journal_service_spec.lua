-- SPDX-License-Identifier: MIT
-- One journal and two services, such as a simulator and the live one: a call is looked for where it was sent. Looked
-- for at the other it was found not to have been made, and was made a second time; and a payment that was made at a
-- simulator was the result of the same call at the live service.

local own = require "own_journal"
local purser = require "purser"
local simulated = require "simulated"

local A, B = "http://localhost:1", "http://localhost:2"
local sims, accounts, journal

before_each(function()
  sims, accounts, journal = {}, {}, own.begin()
  for url, seed in pairs { [A] = 5, [B] = 6 } do
    sims[url], accounts[url] = simulated.broker { seed = seed }
    sims[url]:advance(seed * 100) -- so that their ids differ
  end
end)
after_each(own.finish)

local function client_at(url, options)
  return simulated.client(sims[url], accounts[url], { base_url = url, retry = false, rate_limit = false,
    journal = journal, account = "treasury" }, options)
end

local function move(client, amount, id, info)
  local params = simulated.transfer(amount, { clientTranId = id and (id .. ("0"):rep(32)):sub(1, 32) })
  return client.sub_account:transfer(params, { info = info })
end

local function applied(url) return simulated.counted(sims[url], "sub_account.transfer", "applied") end

local function lose(url, amount, id)
  sims[url]:fault { kind = "lost_answer", operation = "transfer" }
  local _, err = move(client_at(url), amount, id)
  assert.equal("unknown", err.outcome)
  return err
end

local function elsewhere(err, sent, asked)
  assert.same({ "journal.other_service", "not_sent" }, { err.code, err.outcome })
  assert.matches(("at %s, and this client is at %s"):format(sent, asked), err.message, 1, true)
end

describe("a call", function()
  it("is not looked for at another service than it was sent to", function()
    local err = lose(A, "5", "a1")
    elsewhere(select(2, client_at(B):reconcile(err)), A, B)
    elsewhere(assert(journal:recover(client_at(B)))[1].err, A, B)
    elsewhere(select(2, client_at(B, { journal = purser.journal.nothing }):reconcile(err)), A, B) -- by its intent
    local info = {}
    assert(move(client_at(A), "5", "a1", info))
    assert.same({ true, 1 }, { info.repeated, applied(A) })
  end)

  it("that was made at one service is not the result of the same at another", function()
    assert(move(client_at(A), "5", "a1"))
    elsewhere(select(2, move(client_at(B), "5", "a1")), A, B)
    lose(A, "5", "a2")
    elsewhere(select(2, move(client_at(B), "5", "a2")), A, B)
    assert.same({ 2, 0 }, { applied(A), applied(B) })
    assert.equal(A, assert(journal:entries())[1].intent.service)
  end)

  it("that was not executed at one is sent to another, and looked for there", function()
    assert.equal("rejected", select(2, move(client_at(A), "5000", "a1")).outcome)
    assert.equal("rejected", select(2, move(client_at(B), "5000", "a1")).outcome)
    assert.equal(B, assert(journal:entries())[1].intent.service)
    elsewhere(select(2, client_at(A):reconcile(assert(journal:entries())[1].intent)), B, A)
  end)

  -- Of two equal open calls, and one that was made, the history of one service showed one: nothing could be decided.
  it("leaves its record to no equal call of another service, and no witness of another is missed", function()
    local options = { generate_ids = false }
    local function lost_at(url)
      sims[url]:fault { kind = "lost_answer", operation = "transfer" }
      return select(2, move(client_at(url, options), "7"))
    end
    assert(move(client_at(A), "9", "a1"))
    lost_at(A)
    local answer = assert(client_at(B, options):reconcile(lost_at(B)))
    assert.equal("done", answer.outcome)
  end)
end)

describe("a queue", function()
  it("whose payments were made at one service is not run at another", function()
    local function queue_at(url)
      local queue = assert(purser.payouts.new { client = client_at(url), journal = journal, worker = "one", idle_ms = 1,
        history_check = "never" })
      assert(queue:add("p1", "sub_account.transfer", simulated.transfer "5") ~= nil)
      return queue
    end
    assert.equal(1, assert(queue_at(A):run()).done)
    elsewhere(select(2, queue_at(B):run()), A, B)
    assert.equal(1, assert(journal:move_service(A, B)))
    assert.equal(1, assert(queue_at(B):run()).done)
    assert.same({ 1, 0 }, { applied(A), applied(B) })
  end)
end)

describe("a journal", function()
  it("of the version before gets the column, and looks for its calls anywhere", function()
    lose(A, "5", "a1")
    assert(journal.db:rows "ALTER TABLE purser_calls DROP COLUMN service")
    assert(journal.db:rows "UPDATE purser_meta SET value = '2' WHERE name = 'version'")
    for _ = 1, 2 do
      journal:close()
      journal = assert(purser.journal.open { sqlite = own.path })
      own.journal = journal
    end
    assert.is_nil(assert(journal:entries())[1].intent.service)
    assert.equal("done", assert(journal:recover(client_at(A)))[1].answer.outcome)
    assert(move(client_at(A), "6", "a2"))
    local services = {}
    for _, entry in ipairs(assert(journal:entries())) do services[entry.key:sub(1, 2)] = entry.intent.service end
    assert.same({ a2 = A }, services)
  end)

  it("is told that a service has another address", function()
    local err = lose(A, "5", "a1")
    assert.equal(1, assert(journal:move_service(A, B)))
    sims[B], accounts[B] = sims[A], accounts[A]
    assert.equal("done", assert(client_at(B):reconcile(err)).outcome) -- whose intent has the old one
    assert.same({}, journal:recover(client_at(B)))
    journal:close()
    assert.equal("config", select(2, journal:move_service(A, B)).kind)
  end)
end)
