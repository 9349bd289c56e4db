-- SPDX-License-Identifier: MIT
-- Fleets: what is declared is planned and made, and goes on where it was stopped.

local fleets = require "fleet_world"
local private = require "purser.client.util.private"
local purser = require "purser"
local recorder = require "recorder"

for _, group in ipairs { "sub_account", "broker" } do
  describe("a fleet of group " .. group, function()
    it("is planned, made, and then as declared", function()
      local _, fleet, client, secrets = fleets.world { group = group }
      local plan = assert(fleet:plan())
      assert.equal(table.concat({ "traders01: create the account", 'traders01: create the key "trading"',
        'traders01: create the key "reports"', "traders02: create the account", 'traders02: create the key "trading"' },
        "\n"), tostring(plan))
      assert.equal(5, #assert(fleet:apply()))
      assert.equal(3, fleets.size(secrets))
      for api_key, secret in pairs(secrets) do
        local sub = assert(purser.new { base_url = "http://localhost", api_key = api_key,
          secret_key = secret.secretKey, transport = private.states[client]._transport,
          clock = function() return client:now() end })
        local _, err = sub.wallet:convertible_balances()
        -- bound to another address; or lacking a permission
        assert.equal(secret.note == "reports" and "700006" or "700007", err.code)
      end
      assert.equal("everything is as declared", tostring(assert(fleet:plan())))
      assert.same({}, assert(fleet:apply()))
    end)
  end)
end

describe("a fleet", function()
  it("gives each secret to a vault that is a function, and names the key of it", function()
    local secrets = {}
    local _, fleet = fleets.world { vault = function(secret) secrets[#secrets + 1] = secret.apiKey return true end }
    local made = {}
    for _, step in ipairs(assert(fleet:apply())) do made[#made + 1] = step.apiKey end
    assert.equal(3, #secrets)
    assert.same(secrets, made)
  end)

  it("counts the changes of a plan without what is done again", function()
    local _, fleet = fleets.world { group = "broker",
      accounts = { { name = "traders01", note = "n", futures = true } } }
    local plan = assert(fleet:plan())
    assert.same({ 1, 2 }, { plan.changes, #plan.steps })
    assert.equal(2, #assert(fleet:apply(plan)))
    plan = assert(fleet:plan())
    assert.same({ 0, "traders01: enable futures (again does no harm)" }, { plan.changes, tostring(plan) })
  end)

  it("goes on where it was stopped, whichever request fails", function()
    for _, fault in ipairs { "reject", "lost_answer" } do
      for strike = 1, 9 do
        local sim, fleet, client, secrets = fleets.world()
        local rounds, calls, inner, armed = 0, 0, private.states[client]._transport, true
        private.states[client]._transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
          calls = calls + 1
          if armed and calls == strike then sim:fault { kind = fault, times = 1 } end
          return inner:send(request)
        end }
        repeat
          rounds = rounds + 1
          assert(rounds < 5)
        until fleet:apply()
        armed = false
        assert.equal(0, assert(fleet:plan()).changes)
        assert.same({}, assert(fleet:plan()).orphans)
        assert.equal(3, fleets.size(secrets))
        local keys = 0
        for _, name in ipairs { "traders01", "traders02" } do
          keys = keys + #assert(client.sub_account:list_api_keys { subAccount = name })
        end
        assert.equal(3, keys, ("%s at request %d"):format(fault, strike)) -- no key is left whose secret was lost
      end
    end
  end)

  it("makes the steps that were shown, and none where others are due by now", function()
    local _, fleet, client, secrets = fleets.world()
    local shown = assert(fleet:plan())
    assert(client.sub_account:create_sub_account { subAccount = "traders02", note = "second desk" })
    local done, err = fleet:apply(shown)
    assert.is_nil(done)
    assert.same({ "workflow", "not_sent", 0 }, { err.kind, err.outcome, fleets.size(secrets) })
    assert.matches("other steps are due than were shown", err.message)
    assert.equal(4, #assert(fleet:apply(assert(fleet:plan()))))
  end)

  it("deletes no key where the vault does not say whether it has the secret", function()
    local problem, secrets = nil, {}
    local sim, fleet = fleets.world { vault = { store = function(secret) secrets[secret.apiKey] = secret end,
      holds = function(api_key)
        if problem then return nil, problem end
        return secrets[api_key]
      end } }
    assert(fleet:apply())
    problem = "sealed: s3cret"
    for _, act in ipairs { "plan", "apply", "rotate", "retire" } do
      local result, err = fleet[act](fleet)
      assert.is_nil(result)
      assert.same({ "workflow", "not_sent" }, { err.kind, err.outcome })
      assert.matches('does not say whether it has the secret of the key "trading #%w+" of traders01', err.message)
      assert.is_nil(tostring(err):find("s3cret", 1, true))
    end
    assert.equal(0, sim:counts()["sub_account.delete_api_key"] and 1 or 0)
    problem = nil
    assert.same({}, assert(fleet:apply()))
  end)

  it("has a name, and methods that say how they are called", function()
    local _, fleet = fleets.world()
    assert.equal("purser.fleet (2 accounts)", tostring(fleet))
    assert.equal("purser.fleet", getmetatable(fleet).__name)
    assert.error_matches(function() fleet.plan() end, "call it with a colon: fleet:plan(...)", 1, true)
  end)

  it("reports every problem of a declaration at once", function()
    local fleet, err = purser.fleet.new { client = recorder.new(), vault = 1, accounts = {
      { name = "short", note = "x", keys = { { note = "a#b", permissions = { "SPOT_FLY" } }, { nots = "x" } } },
      { name = "traders01", note = "n", futures = true }, { name = "traders01", note = "n" },
    } }
    assert.is_nil(fleet)
    for _, part in ipairs { "vault is missing", "8 to 32 letters", "must not hold #", "SPOT_FLY", '"nots" is not known',
      "only a broker enables futures", "traders01 is there twice", "note is missing" } do
      assert.truthy(err.message:find(part, 1, true), part .. " in " .. err.message)
    end
    fleet, err = purser.fleet.new { client = recorder.new(), accounts = {} }
    assert.same({ nil, "config" }, { fleet, err.kind }) -- one problem alone
  end)
end)
