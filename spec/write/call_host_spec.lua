-- SPDX-License-Identifier: MIT
-- One journal and two services, such as a simulator and the live one. A call that was lost at one was looked for at the
-- other, found not to have been made, and made a second time. So a journal is of one service.

local own = require "own_journal"
local simulated = require "simulated"

local LIVE, HERE = "https://api.example", "http://127.0.0.1:8000"
local sims, accounts, journal

before_each(function()
  sims, accounts, journal = {}, {}, own.begin()
  for url, seed in pairs { [LIVE] = 5, [HERE] = 6 } do sims[url], accounts[url] = simulated.broker { seed = seed } end
end)
after_each(own.finish)

local function client_at(url, base_url)
  return simulated.client(sims[url], accounts[url], { base_url = base_url or url, retry = false, rate_limit = false,
    journal = journal, account = "treasury" })
end

local function move(client, info)
  return client.sub_account:transfer(simulated.transfer("5", { clientTranId = ("a"):rep(32) }), { info = info })
end

local function applied(url) return simulated.counted(sims[url], "sub_account.transfer", "applied") end

describe("a call that was sent to one host", function()
  it("is not looked for at another, and not made there: the journal is of one service", function()
    sims[LIVE]:fault { kind = "lost_answer", operation = "transfer" }
    local here = client_at(HERE) -- made before anything was sent
    local _, lost = move(client_at(LIVE))
    assert.equal("unknown", lost.outcome)
    local _, moved = move(here)
    assert.same({ "not_sent", "journal.other_service" }, { moved.outcome, moved.code })
    for _, problem in ipairs { select(2, here:reconcile(lost)), select(2, journal:recover(here)) } do
      assert.equal("unknown", problem.outcome)
      assert.matches("api.example", problem.message, 1, true)
      assert.not_matches("nothing was sent", problem.message, 1, true)
    end
    assert.equal("unknown", assert(journal:entries())[1].state)
    local info = {}
    assert(move(client_at(LIVE), info))
    assert.same({ true, 1, 0 }, { info.repeated, applied(LIVE), applied(HERE) })
  end)

  it("is found at another once a person said that the service moved there", function()
    sims[LIVE]:fault { kind = "lost_answer", operation = "transfer" }
    local _, lost = move(client_at(LIVE))
    assert(journal:moved("api2.example", "alice"))
    local client = client_at(LIVE, "https://api2.example")
    local intent = assert(journal:entries())[1].intent
    assert.same({ "api2.example", "done" }, { intent.host, assert(client:reconcile(intent)).outcome })
    assert.equal("api.example", lost.intent.host)
  end)

  it("is found by another port of this machine, which a test's service has after a restart", function()
    sims[HERE]:fault { kind = "lost_answer", operation = "transfer" }
    local _, lost = move(client_at(HERE))
    assert.equal("done", assert(client_at(HERE, "http://localhost:9000"):reconcile(lost)).outcome)
    own.finish()
    local names = {}
    for i, url in ipairs { "https://API.example:443", "https://[2001:db8::1]", "http://[::1]:80" } do
      journal = own.begin()
      local info = {}
      assert(client_at(LIVE, url):prepare("sub_account.transfer", simulated.transfer "5", { info = info }))
      names[i] = info.intent.host
      if i < 3 then own.finish() end
    end
    assert.same({ "api.example", "[2001:db8::1]", "localhost" }, names)
  end)
end)
