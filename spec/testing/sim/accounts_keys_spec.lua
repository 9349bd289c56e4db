-- SPDX-License-Identifier: MIT
-- API keys: made, listed, deleted, and how long they live.

local accounts = require "purser.testing.sim.accounts"
local purser = require "purser"
local signed = require "signed"

local ask, get, rejection = signed.ask, signed.get, signed.rejection
local DAY = 86400000

describe("keys of sub-accounts", function()
  local sim, house, params

  before_each(function()
    sim = purser.sim.new { seed = 2 }
    house = assert(sim:account { role = "broker" })
    get(sim, house, "A2", { subAccount = "desk0001", note = "n" })
    params = { subAccount = "desk0001", note = "robot", permissions = "SPOT_ACCOUNT_READ,SPOT_TRANSFER_READ" }
  end)

  it("work from their creation to their deletion", function()
    params.ip = "127.0.0.1"
    local made = get(sim, house, "A5", params)
    local robot = { api_key = made.apikey, secret_key = made.secretKey }
    assert(get(sim, robot, "C12"))
    assert.equal("700007", rejection(sim, robot, "C1"))
    assert.equal("700006", rejection(sim, robot, "C12", nil, { ip = "10.0.0.9" }))
    get(sim, house, "A7", { subAccount = "desk0001", apiKey = made.apikey })
    assert.equal("10072", rejection(sim, robot, "C12"))
    assert.equal("730706", rejection(sim, house, "A7", { subAccount = "desk0001", apiKey = made.apikey }))
  end)

  it("are listed without their secret, with what they were made with", function()
    local made = get(sim, house, "B3", params)
    for _, id in ipairs { "A6", "B4" } do
      local answer, response = ask(sim, house, id, { subAccount = "desk0001" })
      local key = answer.subAccount[1]
      assert.same({ "robot", made.apiKey, params.permissions, "", sim:now() },
        { key.note, key.apiKey, key.permissions, key.ip, key.creatTime })
      assert.is_nil(response.body:find(made.secretKey, 1, true))
    end
  end)

  it("are at most 30 a sub-account (730705)", function()
    for _ = 1, 30 do get(sim, house, "A5", params) end
    assert.equal("730705", rejection(sim, house, "A5", params))
    local first = get(sim, house, "A6", { subAccount = "desk0001" }).subAccount[1]
    get(sim, house, "A7", { subAccount = "desk0001", apiKey = first.apiKey })
    assert(get(sim, house, "A5", params))
  end)

  it("are deleted only through the sub-account they belong to", function()
    get(sim, house, "A2", { subAccount = "desk0002", note = "n" })
    local made = get(sim, house, "A5", params)
    assert.equal("730706", rejection(sim, house, "A7", { subAccount = "desk0002", apiKey = made.apikey }))
    assert.equal("730706", rejection(sim, house, "A7", { subAccount = "desk0001", apiKey = house.api_key }))
  end)
end)

describe("a key without an IP list", function()
  local function world(options)
    local sim = purser.sim.new(options)
    return sim, assert(sim:account { role = "main" })
  end

  it("ends after 90 days, one with a list does not", function()
    local sim, house = world {}
    local safe = assert(sim:account { role = "main", ip = "127.0.0.1" })
    sim:advance(90 * DAY - 1)
    assert(get(sim, house, "C5"))
    sim:advance(1)
    assert.equal("10072", rejection(sim, house, "C5"))
    assert(get(sim, safe, "C5"))
  end)

  it("ends after as many days as the switch says, or never", function()
    local sim, house = world { key_days = 2 }
    sim:advance(2 * DAY)
    assert.equal("10072", rejection(sim, house, "C5"))
    sim, house = world { key_days = 0 }
    sim:advance(4000 * DAY)
    assert(get(sim, house, "C5"))
  end)
end)

describe("a public key", function()
  it("has 8 to 64 letters and digits", function()
    for _, case in ipairs { { "abcdEF12", true }, { "abcdEF1", false }, { ("a"):rep(64), true },
      { ("a"):rep(65), false }, { "abcd-F12", false }, { "abcdEF12\n", false }, { "", false } } do
      assert.equal(case[2], accounts.is_api_key(case[1]), case[1])
    end
  end)

  it("has so many days left, rounded up, until it has none, and no number of them with an IP list", function()
    local sim = purser.sim.new { key_days = 2 }
    local function left(more) return accounts.days_left(sim, { time = sim:now() - more }) end
    assert.same({ 2, 2, 1, 1, 0, 0 }, { left(0), left(DAY - 1), left(DAY), left(2 * DAY - 1), left(2 * DAY),
      left(9 * DAY) })
    assert.is_nil(accounts.days_left(sim, { time = 0, ip = "127.0.0.1" }))
  end)
end)
