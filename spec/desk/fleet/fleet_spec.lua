-- SPDX-License-Identifier: MIT
-- Fleets: what is declared is planned and made; no secret is lost or shown; no transfer is made twice.

local private = require "purser.client.util.private"
local purser = require "purser"
local recorder = require "recorder"
local simulated = require "simulated"
local stub_client = require "stub_client"

local NOW, DAY = 1700000000000, 86400000
local READ, TRADE = { "SPOT_ACCOUNT_READ" }, { "SPOT_DEAL_READ", "SPOT_DEAL_WRITE" }

local function world(options)
  options = options or {}
  local sim = purser.sim.new { start_time = NOW, record_requests = 50, visibility_delay_ms = options.lag }
  local owner = sim:account { role = "broker", email = "a@example.org", balances = { USDT = "1000", BTC = "2" } }
  local client = simulated.client(sim, owner, { profile = options.profile })
  local secrets = {}
  local vault = {
    store = function(secret) secrets[secret.apiKey] = secret end,
    holds = function(api_key) return secrets[api_key] ~= nil end,
  }
  local fleet = assert(purser.fleet.new { client = client, group = options.group, vault = options.vault or vault,
    accounts = options.accounts or {
      { name = "traders01", note = "first desk", keys = { { note = "trading", permissions = TRADE },
        { note = "reports", permissions = READ, ip = { "203.0.113.7" } } } },
      { name = "traders02", note = "second desk", keys = { { note = "trading", permissions = TRADE } } },
    } })
  return sim, fleet, client, secrets
end

local function received(sim, name) return (sim:counts()[name] or { received = 0 }).received end

local function size(map)
  local count = 0
  for _ in pairs(map) do count = count + 1 end
  return count
end

for _, group in ipairs { "sub_account", "broker" } do
  describe("a fleet of group " .. group, function()
    it("is planned, made, and then as declared", function()
      local _, fleet, client, secrets = world { group = group }
      local plan = assert(fleet:plan())
      assert.equal(table.concat({ "traders01: create the account", 'traders01: create the key "trading"',
        'traders01: create the key "reports"', "traders02: create the account", 'traders02: create the key "trading"' },
        "\n"), tostring(plan))
      assert.equal(5, #assert(fleet:apply()))
      assert.equal(3, size(secrets))
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
  it("goes on where it was stopped, whichever request fails", function()
    for _, fault in ipairs { "reject", "lost_answer" } do
      for strike = 1, 9 do
        local sim, fleet, client, secrets = world()
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
        assert.same({}, assert(fleet:orphans()))
        assert.equal(3, size(secrets))
        local keys = 0
        for _, name in ipairs { "traders01", "traders02" } do
          keys = keys + #assert(client.sub_account:list_api_keys { subAccount = name })
        end
        assert.equal(3, keys, ("%s at request %d"):format(fault, strike)) -- no key is left whose secret was lost
      end
    end
  end)

  it("does not take another account for one whose making was lost", function()
    local sim, fleet, client = world()
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

  it("finds no lost secret where the vault does not know which secrets it has", function()
    local _, fleet = world { vault = { store = function() end } }
    local orphans, err = fleet:orphans()
    assert.is_nil(orphans)
    assert.same({ "config", "vault" }, { err.kind, err.option })
    assert.matches("the vault does not know which secrets it has", err.message)
  end)

  it("finds keys whose secret was lost by their note, and deletes them", function()
    local sim, fleet, client, secrets = world()
    assert(fleet:apply())
    local lost = assert(client.sub_account:create_api_key { subAccount = "traders01", note = "trading #aaaaaaaa",
      permissions = TRADE })
    assert(client.sub_account:create_api_key { subAccount = "traders01", note = "by hand", permissions = READ })
    assert.same({ { account = "traders01", note = "trading #aaaaaaaa", apiKey = lost.apiKey } },
      assert(fleet:orphans()))
    local plan = assert(fleet:plan())
    assert.truthy(tostring(plan):find('delete the key "trading #aaaaaaaa" (its secret was lost)', 1, true))
    assert.truthy(tostring(plan):find('note: traders01 has the key "by hand", which is not declared', 1, true))
    assert.equal(1, #assert(fleet:apply()))
    assert.equal(3, size(secrets))
    assert.equal(1, received(sim, "sub_account.delete_api_key"))
  end)

  it("replaces a key whose permissions or addresses changed", function()
    local _, fleet, client, secrets = world()
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
      local _, fleet, client = world { vault = store }
      local done, err = fleet:apply()
      assert.is_nil(done)
      assert.is_nil(tostring(err):find(given, 1, true))
      assert.same({ "workflow", "rejected", "create_key" }, { err.kind, err.outcome, err.details.step.what })
      assert.same({}, assert(client.sub_account:list_api_keys { subAccount = "traders01" }))
      assert.is_nil(err.details.step.secretKey)
    end
  end)

  it("rotates keys with an overlap", function()
    local sim, fleet, client, secrets = world()
    assert(fleet:apply())
    sim:advance(40 * DAY)
    local rotated_at = sim:now()
    assert.same({}, assert(fleet:rotate { max_age_ms = 90 * DAY }))
    assert.equal(3, #assert(fleet:rotate { max_age_ms = 30 * DAY }))
    assert.same({}, assert(fleet:rotate { max_age_ms = 30 * DAY })) -- again does nothing
    assert.equal(6, size(secrets))
    assert.equal(0, assert(fleet:plan()).changes)
    assert.same({}, assert(fleet:retire { overlap_ms = DAY }))
    sim:advance(DAY)
    local done = assert(fleet:retire { overlap_ms = DAY, account = "traders01" })
    assert.same({ "delete_key", "delete_key" }, { done[1].what, done[2].what })
    local keys = assert(client.sub_account:list_api_keys { subAccount = "traders01" })
    assert.equal(2, #keys)
    for _, key in ipairs(keys) do assert.is_true(key.createTime >= rotated_at) end
  end)

  it("rotates keys without an IP list before they end, and no others", function()
    local sim, fleet, client = world()
    assert(fleet:apply())
    local parent = sim.keys.all[1]
    parent.ip = "127.0.0.1"
    sim:advance(75 * DAY)
    assert.same({}, assert(fleet:rotate { ends_within_ms = 14 * DAY }))
    sim:advance(2 * DAY)
    local done = assert(fleet:rotate { ends_within_ms = 14 * DAY })
    assert.same({ 2, "trading", "trading" }, { #done, done[1].note, done[2].note })
    assert.same({}, assert(fleet:rotate { ends_within_ms = 14 * DAY }))
    assert.equal(3, #assert(client.sub_account:list_api_keys { subAccount = "traders01" }))
  end)

  it("is made once by runs that follow each other at once, though lists show accounts and keys late", function()
    for _, lag in ipairs { 0, 2000, 3000 } do
      local sim, fleet, client, secrets = world { lag = lag }
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
      assert.equal(8, size(secrets))
      assert.equal(8, received(sim, "sub_account.create_api_key"))
    end
  end)

  it("makes the steps that were shown, and none where others are due by now", function()
    local _, fleet, client, secrets = world()
    local shown = assert(fleet:plan())
    assert(client.sub_account:create_sub_account { subAccount = "traders02", note = "second desk" })
    local done, err = fleet:apply(shown)
    assert.is_nil(done)
    assert.same({ "workflow", "not_sent", 0 }, { err.kind, err.outcome, size(secrets) })
    assert.matches("other steps are due than were shown", err.message)
    assert.equal(4, #assert(fleet:apply(assert(fleet:plan()))))
  end)

  it("deletes no key where the vault does not say whether it has the secret", function()
    local problem, secrets = nil, {}
    local sim, fleet = world { vault = { store = function(secret) secrets[secret.apiKey] = secret end,
      holds = function(api_key)
        if problem then return nil, problem end
        return secrets[api_key]
      end } }
    assert(fleet:apply())
    problem = "sealed: s3cret"
    for _, act in ipairs { "plan", "apply", "rotate", "retire", "orphans" } do
      local result, err = fleet[act](fleet)
      assert.is_nil(result)
      assert.same({ "workflow", "not_sent" }, { err.kind, err.outcome })
      assert.matches('does not say whether it has the secret of the key "trading #%w+" of traders01', err.message)
      assert.is_nil(tostring(err):find("s3cret", 1, true))
    end
    assert.equal(0, received(sim, "sub_account.delete_api_key"))
    problem = nil
    assert.same({}, assert(fleet:apply()))
  end)

  it("has no key without its secret when an answer is lost and the key shows up late", function()
    local sim, fleet, client, secrets = world { lag = 60000 }
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
      local sim, fleet, client = world()
      assert(fleet:apply())
      fleet.accounts[2].keys[1] = { note = "trading", permissions = READ }
      fault.operation, fault.times = "sub_account.delete_api_key", 1
      sim:fault(fault)
      local is_deleting = false
      with_lists(client, function(answer)
        is_deleting = is_deleting or received(sim, "sub_account.create_api_key") == 4
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
      local sim, fleet, client = world()
      assert(fleet:apply())
      fleet.accounts[2].keys[1] = { note = "trading", permissions = READ }
      sim:fault { kind = "reset", when = "before", operation = "sub_account.delete_api_key", times = times }
      local done, err = fleet:apply()
      assert.equal(expected, done and "done" or err.outcome)
      assert.equal(times, #assert(client.sub_account:list_api_keys { subAccount = "traders02" }))
    end
  end)

  it("makes no second key while the first, whose secret was lost, cannot be deleted", function()
    local sim, fleet, client, secrets = world()
    sim:fault { kind = "lost_answer", operation = "sub_account.create_api_key", times = 1 }
    sim:fault { kind = "reject", operation = "sub_account.delete_api_key", times = 1 }
    local done, err = fleet:apply()
    assert.is_nil(done)
    assert.same({ "rejected", "create_key" }, { err.outcome, err.details.step.what })
    assert.equal(1, received(sim, "sub_account.create_api_key"))
    assert(fleet:apply())
    local keys = assert(client.sub_account:list_api_keys { subAccount = "traders01" })
    assert.equal(2, #keys)
    for _, key in ipairs(keys) do assert.is_truthy(secrets[key.apiKey]) end
  end)

  it("makes no second key where no list shows whether the first was made", function()
    local sim, fleet, client = world()
    sim:fault { kind = "lost_answer", operation = "sub_account.create_api_key", times = 1 }
    local is_away = true
    with_lists(client, function(answer)
      if not is_away then return answer end
      return { status = 503, body = "", headers = "" }
    end)
    local done, err = fleet:apply()
    assert.is_nil(done)
    assert.same({ "unknown", "create_key" }, { err.outcome, err.details.step.what })
    assert.equal(1, received(sim, "sub_account.create_api_key"))
    is_away = false
    assert(fleet:apply())
    assert.equal(2, #assert(client.sub_account:list_api_keys { subAccount = "traders01" }))
  end)

  it("rotates keys by the days that the service has on record", function()
    local sim, fleet, client = world { profile = { live_operations = true } }
    assert(fleet:apply())
    local parent = sim.keys.all[1]
    parent.ip = "127.0.0.1"
    sim:advance(77 * DAY)
    sim:fault { kind = "reset", when = "before", operation = "live.api_key", times = 9 }
    local done, err = fleet:rotate { ends_within_ms = 14 * DAY }
    assert.same({ nil, "live.api_key" }, { done, err.operation }) -- not known is not "not yet"
    sim:disarm()
    local key = assert(client.sub_account:list_api_keys { subAccount = "traders02" })[1]
    assert(client.live:change_api_key { apiKey = key.apiKey, ipWhiteList = "127.0.0.1" }) -- it does not end any more
    done = assert(fleet:rotate { ends_within_ms = 14 * DAY })
    assert.same({ 1, "traders01", "trading" }, { #done, done[1].account, done[1].note })
    sim:fault { kind = "reject", operation = "live.api_key" }
    assert.same({}, assert(fleet:rotate { ends_within_ms = 14 * DAY })) -- by its list of addresses
  end)

  it("rejects an account that it does not have, for nothing to do would look like done", function()
    local sim, fleet = world()
    for _, name in ipairs { "rotate", "retire" } do
      local done, err = fleet[name](fleet, { account = "traders1" })
      assert.is_nil(done)
      assert.same({ "account", "traders1 is no account of this fleet" }, { err.option, err.message })
      assert(fleet:apply())
      assert.same({}, fleet[name](fleet, { account = "traders01", note = "no such note" }))
    end
    assert.equal(3, received(sim, "sub_account.create_api_key"))
  end)

  it("is not planned from a list that has an account without a name", function()
    for group in pairs { sub_account = 1, broker = 1 } do
      local _, fleet = world { group = group }
      fleet.client = stub_client.of { call = function() return { { note = "n" } } end, now = function() return NOW end }
      local plan, err = fleet:plan()
      assert.is_nil(plan)
      assert.same({ "workflow", group .. ".list_sub_accounts" }, { err.kind, err.operation })
    end
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
  end)

  it("enables futures for a broker's accounts, and leaves frozen ones alone", function()
    local sim, fleet = world { group = "broker", accounts = { { name = "traders01", note = "n", futures = true } } }
    assert(fleet:apply())
    assert.equal(1, received(sim, "broker.enable_futures"))
    assert.equal(0, assert(fleet:plan()).changes)
    local _, other = world {}
    assert(other:apply())
    private.states[other.client]._transport.sim:freeze "traders02"
    assert.truthy(tostring(assert(other:plan())):find("traders02 is frozen", 1, true))
  end)
end)
