-- SPDX-License-Identifier: MIT
-- The steps of a fleet: an account and a key are made once, and no secret is lost or shown.

local fleets = require "fleet_world"
local private = require "purser.client.util.private"

local READ = { "SPOT_ACCOUNT_READ" }

describe("a fleet", function()
  it("does not take another account for one whose making was lost", function()
    local sim, fleet, client = fleets.world()
    local state = private.states[client]
    local inner = state._transport
    sim:fault { kind = "reset", when = "before", operation = "sub_account.create_sub_account", times = 1 }
    state._transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
      local answer, err = inner:send(request)
      local is_asked = request.operation == "sub_account.list_sub_accounts" and request.target:find "subAccount="
      if is_asked then answer.body = '[{"subAccount":"another0001","createTime":1700000000000}]' end
      return answer, err
    end }
    assert(fleet:apply())
    local names = {}
    for _, one in ipairs(sim:state().accounts) do names[one.name or ""] = true end
    assert.is_true(names.traders01) -- it was not made at first, so it was made again
  end)

  it("replaces a key whose permissions or addresses changed", function()
    local _, fleet, client, secrets = fleets.world()
    assert(fleet:apply())
    fleet.accounts[2].keys[1] = { note = "trading", permissions = READ }
    assert.equal(2, assert(fleet:plan()).changes)
    assert(fleet:apply())
    local keys = assert(client.sub_account:list_api_keys { subAccount = "traders02" })
    assert.same({ 1, "SPOT_ACCOUNT_READ" }, { #keys, keys[1].permissions })
    assert.truthy(secrets[keys[1].apiKey])
  end)

  it("deletes a key at once that the vault does not take, and shows no secret", function()
    local given
    for _, store in ipairs {
      function(secret) given = secret.secretKey error("no room for " .. secret.secretKey) end,
      function(secret) given = secret.secretKey return false end,
      function(secret) given = secret.secretKey return nil, "the disk is full" end,
    } do
      local _, fleet, client = fleets.world { vault = store }
      local done, err = fleet:apply()
      assert.is_nil(done)
      assert.is_nil(tostring(err):find(given, 1, true))
      assert.same({ "workflow", "rejected", "create_key" }, { err.kind, err.outcome, err.details.step.what })
      assert.same({}, assert(client.sub_account:list_api_keys { subAccount = "traders01" }))
      assert.is_nil(err.details.step.secretKey)
    end
  end)

  it("has no key without its secret when an answer is lost and the key shows up late", function()
    local sim, fleet, client, secrets = fleets.world { lag = 60000 }
    private.states[client]._visibility_delay_ms = 60000
    sim:fault { kind = "lost_answer", operation = "sub_account.create_api_key", times = 1 }
    assert(fleet:apply())
    sim:advance(60000)
    local keys = assert(client.sub_account:list_api_keys { subAccount = "traders01" })
    assert.equal(2, #keys)
    for _, key in ipairs(keys) do assert.is_truthy(secrets[key.apiKey]) end
  end)

  -- Lets a fleet's client see lists of keys changed by `change(answer)`; nil and an error where it returns none.
  local function with_lists(client, change)
    local state = private.states[client]
    local inner = state._transport
    state._transport = { sleep = function(_, ms) inner:sleep(ms) end, send = function(_, request)
      local answer, err = inner:send(request)
      if request.operation == "sub_account.list_api_keys" then return change(answer, request) end
      return answer, err
    end }
  end

  it("does not take a key for deleted that is listed in another way", function()
    for _, fault in ipairs { { kind = "reset", when = "before" }, { kind = "reject", code = "730706" } } do
      local sim, fleet, client = fleets.world()
      assert(fleet:apply())
      fleet.accounts[2].keys[1] = { note = "trading", permissions = READ }
      fault.operation, fault.times = "sub_account.delete_api_key", 1
      sim:fault(fault)
      local is_deleting = false
      with_lists(client, function(answer)
        is_deleting = is_deleting or fleets.received(sim, "sub_account.create_api_key") == 4
        if is_deleting then answer.body = answer.body:gsub('"apiKey":"(%w%w%w%w)[^"]*"', '"apiKey":"%1****"') end
        return answer
      end)
      local done, err = fleet:apply()
      assert.is_nil(done)
      assert.same({ "unknown", "delete_key" }, { err.outcome, err.details.step.what })
    end
  end)

  it("deletes a key again whose deletion was certainly not executed, once", function()
    for times, expected in ipairs { "done", "rejected" } do
      local sim, fleet, client = fleets.world()
      assert(fleet:apply())
      fleet.accounts[2].keys[1] = { note = "trading", permissions = READ }
      sim:fault { kind = "reset", when = "before", operation = "sub_account.delete_api_key", times = times }
      local done, err = fleet:apply()
      assert.equal(expected, done and "done" or err.outcome)
      assert.equal(times, #assert(client.sub_account:list_api_keys { subAccount = "traders02" }))
    end
  end)

  it("makes no second key while the first, whose secret was lost, cannot be deleted", function()
    local sim, fleet, client, secrets = fleets.world()
    sim:fault { kind = "lost_answer", operation = "sub_account.create_api_key", times = 1 }
    sim:fault { kind = "reject", operation = "sub_account.delete_api_key", times = 1 }
    local done, err = fleet:apply()
    assert.is_nil(done)
    assert.same({ "rejected", "create_key" }, { err.outcome, err.details.step.what })
    assert.equal(1, fleets.received(sim, "sub_account.create_api_key"))
    assert(fleet:apply())
    local keys = assert(client.sub_account:list_api_keys { subAccount = "traders01" })
    assert.equal(2, #keys)
    for _, key in ipairs(keys) do assert.is_truthy(secrets[key.apiKey]) end
  end)

  it("makes no second key where no list shows whether the first was made", function()
    local sim, fleet, client = fleets.world()
    sim:fault { kind = "lost_answer", operation = "sub_account.create_api_key", times = 1 }
    local is_away = true
    with_lists(client, function(answer)
      if not is_away then return answer end
      return { status = 503, body = "", headers = "" }
    end)
    local done, err = fleet:apply()
    assert.is_nil(done)
    assert.same({ "unknown", "create_key" }, { err.outcome, err.details.step.what })
    assert.equal(1, fleets.received(sim, "sub_account.create_api_key"))
    is_away = false
    assert(fleet:apply())
    assert.equal(2, #assert(client.sub_account:list_api_keys { subAccount = "traders01" }))
  end)
end)
