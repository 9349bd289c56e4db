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
