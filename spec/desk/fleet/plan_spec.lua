-- SPDX-License-Identifier: MIT
-- The plan of a fleet: what is there, what is lost, and what is missing.

local fleets = require "fleet_world"
local private = require "purser.client.util.private"
local purser = require "purser"
local stub_client = require "stub_client"

local NOW = 1700000000000
local DAY = 86400000
local READ = { "SPOT_ACCOUNT_READ" }
local TRADE = { "SPOT_DEAL_READ", "SPOT_DEAL_WRITE" }

describe("a fleet", function()
  it("finds keys whose secret was lost by their note, and deletes them", function()
    local sim, fleet, client, secrets = fleets.world()
    assert(fleet:apply())
    local lost = assert(client.sub_account:create_api_key { subAccount = "traders01", note = "trading #aaaaaaaa",
      permissions = TRADE })
    assert(client.sub_account:create_api_key { subAccount = "traders01", note = "by hand", permissions = READ })
    assert.same({ { account = "traders01", note = "trading #aaaaaaaa", apiKey = lost.apiKey } },
      assert(fleet:plan()).orphans)
    local plan = assert(fleet:plan())
    assert.truthy(tostring(plan):find('delete the key "trading #aaaaaaaa" (its secret was lost)', 1, true))
    assert.truthy(tostring(plan):find('note: traders01 has the key "by hand", which is not declared', 1, true))
    assert.equal(1, #assert(fleet:apply()))
    assert.equal(3, fleets.size(secrets))
    assert.equal(1, fleets.received(sim, "sub_account.delete_api_key"))
  end)

  -- A key is in the list before its answer came to the process that made it, and so before its secret is in the vault.
  it("deletes no key whose secret another process stores right after it was listed", function()
    local sim, fleet, client, secrets = fleets.world()
    assert(fleet:apply())
    local made = assert(client.sub_account:create_api_key { subAccount = "traders01", note = "trading #aaaaaaaa",
      permissions = TRADE })
    local holds = fleet.vault.holds
    fleet.vault.holds = function(api_key)
      local is_held = holds(api_key)
      if api_key == made.apiKey then secrets[api_key] = made end
      return is_held
    end
    assert.same({}, assert(fleet:apply()))
    assert.equal(0, fleets.received(sim, "sub_account.delete_api_key"))
  end)

  it("is made once by runs that follow each other at once, though lists show accounts and keys late", function()
    for _, lag in ipairs { 0, 2000, 3000 } do
      local sim, fleet, client, secrets = fleets.world { lag = lag }
      local function next_run() -- another process: it knows what the vault holds
        return assert(purser.fleet.new { client = client, vault = fleet.vault, accounts = fleet.accounts })
      end
      assert.equal(5, #assert(fleet:apply()))
      assert.same({}, assert(next_run():apply()))
      assert.equal("everything is as declared", tostring(assert(next_run():plan())))
      fleet.accounts[2].keys[2] = { note = "reports", permissions = READ }
      assert.equal(1, #assert(fleet:apply()))
      assert.same({}, assert(next_run():apply()))
      sim:advance(40 * DAY)
      assert.equal(4, #assert(fleet:rotate { max_age_ms = 30 * DAY }))
      assert.same({}, assert(next_run():rotate { max_age_ms = 30 * DAY }))
      assert.equal(8, fleets.size(secrets))
      assert.equal(8, fleets.received(sim, "sub_account.create_api_key"))
    end
  end)

  it("is not planned from a list that has an account without a name", function()
    for group in pairs { sub_account = 1, broker = 1 } do
      local _, fleet = fleets.world { group = group }
      fleet.client = stub_client.of { now = function() return NOW end,
        call = function(_, _, params) return params.page == 1 and { { note = "n" } } or {} end }
      local plan, err = fleet:plan()
      assert.is_nil(plan)
      assert.same({ "decode", group .. ".list_sub_accounts" }, { err.kind, err.operation })
    end
  end)

  it("is no plan where the vault does not know whether it has a secret", function()
    local _, fleet = fleets.world()
    assert(fleet:apply())
    fleet.vault.holds = function() return nil, "sealed" end
    local plan, err = fleet:plan()
    assert.is_nil(plan)
    assert.same({ "workflow", "not_sent", "fleet" }, { err.kind, err.outcome, err.phase })
  end)

  it("is read again before something is created, as long after the first reading as lists may lag", function()
    local _, fleet, client = fleets.world()
    local slept, sleep = {}, private.states[client]._transport.sleep
    private.states[client]._transport.sleep = function(self, ms)
      slept[#slept + 1] = ms
      return sleep(self, ms)
    end
    local plan = assert(fleet:plan())
    assert.same({}, slept)
    client:sleep(20000)
    assert(fleet:apply(plan))
    assert.same({ 20000, 40000 }, slept)
    assert(fleet:apply())
    assert.equal(2, #slept) -- nothing is created
  end)

  it("names each step that differs from what was shown, and leaves out those of a rotation", function()
    local plans = require "purser.desk.fleet.plan"
    local function plan_of(...)
      local plan = plans.new("retire")
      for i, key in ipairs { ... } do
        plan.steps[i] = { what = "delete_key", account = "a", note = "n", apiKey = key }
      end
      return plan
    end
    local steps, since = plans.steps_now({ plan = function() return plan_of("k1", "k2", "k3") end },
      plan_of("k2", "k4", "k5"), true)
    assert.same({ 1, "k2" }, { #steps, steps[1].apiKey })
    local line = '%s, so not done: a: delete the key "n": %s'
    assert.same({ line:format("not shown", "k1"), line:format("not shown", "k3"),
      line:format("changed since it was shown", "k4"), line:format("changed since it was shown", "k5") }, since)
  end)

  it("enables futures for a broker's accounts, and leaves frozen ones alone", function()
    local sim, fleet = fleets.world { group = "broker",
      accounts = { { name = "traders01", note = "n", futures = true } } }
    assert(fleet:apply())
    assert.equal(1, fleets.received(sim, "broker.enable_futures"))
    assert.equal(0, assert(fleet:plan()).changes)
    local _, other = fleets.world {}
    assert(other:apply())
    private.states[other.client]._transport.sim:freeze "traders02"
    assert.truthy(tostring(assert(other:plan())):find("traders02 is frozen", 1, true))
  end)
end)
