-- SPDX-License-Identifier: MIT
-- One journal and two services, such as a simulator and the live one. A call that was lost at one was looked for at the
-- other, found not to have been made, and made a second time.

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
  it("is not looked for at another, and not made there", function()
    sims[LIVE]:fault { kind = "lost_answer", operation = "transfer" }
    local _, lost = move(client_at(LIVE))
    assert.equal("unknown", lost.outcome)
    for _, problem in ipairs { select(2, client_at(HERE):reconcile(lost)),
      assert(journal:recover(client_at(HERE)))[1].err, (select(2, move(client_at(HERE)))) } do
      assert.matches("it was sent to api.example", problem.message, 1, true)
    end
    assert.equal("unknown", assert(journal:entries())[1].state)
    local info = {}
    assert(move(client_at(LIVE), info))
    assert.same({ true, 1, 0 }, { info.repeated, applied(LIVE), applied(HERE) })
  end)

  it("has no result at another", function()
    assert(move(client_at(HERE)))
    local _, err = move(client_at(LIVE))
    assert.same({ "unknown", "journal.unknown" }, { err.outcome, err.code })
    assert.same({ 1, 0 }, { applied(HERE), applied(LIVE) })
  end)

  it("and was not executed may be made at another, and is looked for there from then on", function()
    sims[LIVE]:fault { kind = "reject", code = "10072", message = "no", operation = "transfer", times = 1 }
    assert.equal("rejected", select(2, move(client_at(LIVE))).outcome)
    assert(move(client_at(HERE)))
    assert.equal("localhost", assert(journal:entries())[1].intent.host)
  end)

  it("and was rejected there, perhaps a second copy of it, is not made at another", function()
    sims[LIVE]:fault { kind = "reject", code = "10101", message = "no", operation = "transfer", times = 1 }
    assert.equal("rejected", select(2, move(client_at(LIVE))).outcome)
    local _, err = move(client_at(HERE))
    assert.equal("unknown", err.outcome)
    assert.matches("it was sent to api.example", err.message, 1, true)
    assert(move(client_at(LIVE)))
    assert.same({ 1, 0 }, { applied(LIVE), applied(HERE) })
  end)

  it("is found by another port of this machine, which a test's service has after a restart", function()
    sims[HERE]:fault { kind = "lost_answer", operation = "transfer" }
    local _, lost = move(client_at(HERE))
    assert.equal("done", assert(client_at(HERE, "http://localhost:9000"):reconcile(lost)).outcome)
    local names = {}
    for i, url in ipairs { "https://API.example:443", "https://[2001:db8::1]", "http://[::1]:80" } do
      local info = {}
      assert(client_at(LIVE, url):prepare("sub_account.transfer", simulated.transfer "5", { info = info }))
      names[i] = info.intent.host
    end
    assert.same({ "api.example", "[2001:db8::1]", "localhost" }, names)
  end)
end)
