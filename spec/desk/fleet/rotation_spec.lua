-- SPDX-License-Identifier: MIT
-- Keys of a fleet that are replaced before they end, or by the clock.

local fleets = require "fleet_world"

local DAY = 86400000

describe("a fleet", function()
  it("rotates keys with an overlap", function()
    local sim, fleet, client, secrets = fleets.world()
    assert(fleet:apply())
    sim:advance(40 * DAY)
    local rotated_at = sim:now()
    assert.same({}, assert(fleet:rotate { max_age_ms = 90 * DAY }))
    assert.equal(3, #assert(fleet:rotate { max_age_ms = 30 * DAY }))
    assert.same({}, assert(fleet:rotate { max_age_ms = 30 * DAY })) -- again does nothing
    assert.equal(6, fleets.size(secrets))
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
    local sim, fleet, client = fleets.world()
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

  it("rotates keys by the days that the service has on record", function()
    local sim, fleet, client = fleets.world { profile = { live_operations = true } }
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

  it("does what was shown: a key that came or changed since is left alone, and named", function()
    local sim, fleet, client, secrets = fleets.world { profile = { live_operations = true } }
    sim.keys.all[1].ip = "127.0.0.1"
    assert(fleet:apply())
    sim:advance(40 * DAY)
    local plan = assert(fleet:plan("rotate", { max_age_ms = 30 * DAY }))
    local first = assert(client.sub_account:list_api_keys { subAccount = "traders02" })[1]
    assert.matches(('traders02: create the key "trading" (rotation), beside "%s": %s'):format(first.note, first.apiKey),
      tostring(plan), 1, true)
    assert.same({ 3, 3, "rotate" }, { #plan.steps, plan.changes, plan.task })
    assert(client.live:change_api_key { apiKey = first.apiKey, ipWhiteList = "127.0.0.1" })
    local reports = assert(client.sub_account:list_api_keys { subAccount = "traders01" })
    for _, key in ipairs(reports) do
      if key.note:find "^reports" then
        assert(client.sub_account:delete_api_key { subAccount = "traders01", apiKey = key.apiKey })
      end
    end
    local done, err, left_out = fleet:apply(plan)
    assert.same({ 1, "traders01", "trading" }, { #done, done[1].account, done[1].note }, err)
    assert.same({ 3, 4 }, { #left_out, fleets.size(secrets) })
    assert.matches("^not shown, so not done: traders02: ", left_out[1])
    assert.matches('^changed since it was shown, so not done: traders01: create the key "reports"', left_out[2])
    assert.matches('^changed since it was shown, so not done: traders02: ', left_out[3])
    sim:advance(DAY)
    plan = assert(fleet:plan "retire")
    assert.same({ 1, "delete_key" }, { #plan.steps, plan.steps[1].what })
    assert.same({}, (fleet:plan("retire", { overlap_ms = 2 * DAY })).steps)
    local newer = assert(client.sub_account:create_api_key { subAccount = "traders02", note = "trading",
      permissions = { "SPOT_DEAL_READ", "SPOT_DEAL_WRITE" } })
    sim:advance(DAY)
    assert.equal(2, #assert(fleet:plan "retire").steps) -- that of traders02, too
    done, err, left_out = fleet:apply(plan)
    assert.same({ 1, "traders01" }, { #done, done[1].account }, err)
    assert.matches("^not shown, so not done: traders02: delete the key ", left_out[1])
    assert.equal(2, #assert(client.sub_account:list_api_keys { subAccount = "traders02" }), newer.apiKey)
    local none
    none, err = fleet:plan "rotat"
    assert.same({ "nil", "task" }, { type(none), err.option })
  end)

  it("retires what a younger key replaced a day ago, unless it is told otherwise", function()
    local sim, fleet = fleets.world()
    assert(fleet:apply())
    sim:advance(DAY)
    assert.equal(1, #assert(fleet:rotate { account = "traders02" }))
    sim:advance(DAY - 1)
    assert.same({}, assert(fleet:retire()))
    sim:advance(1)
    assert.equal(1, #assert(fleet:retire()))
  end)

  it("rejects an account that it does not have, for nothing to do would look like done", function()
    local sim, fleet = fleets.world()
    for _, name in ipairs { "rotate", "retire" } do
      local done, err = fleet[name](fleet, { account = "traders1" })
      assert.is_nil(done)
      assert.same({ "account", "traders1 is no account of this fleet" }, { err.option, err.message })
      assert(fleet:apply())
      assert.same({}, fleet[name](fleet, { account = "traders01", note = "no such note" }))
    end
    assert.equal(3, fleets.received(sim, "sub_account.create_api_key"))
  end)
end)
