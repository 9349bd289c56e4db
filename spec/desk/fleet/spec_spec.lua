-- SPDX-License-Identifier: MIT
-- Declarations of fleets: every problem is found before anything is asked of the service.

local purser = require "purser"
local spec = require "purser.desk.fleet.spec"

local client = assert(purser.new { base_url = "http://localhost", api_key = "key", secret_key = "secret" })

-- A declaration without a problem, changed by `change`.
local function declared(change)
  local given = { client = client, vault = function() end, accounts = { { name = "traders01", note = "n", keys = {
    { note = "bot", permissions = { "SPOT_DEAL_READ" }, ip = { "203.0.113.7" } }, { note = "books", permissions = {
      "SPOT_ACCOUNT_READ" } } } } } }
  if change then change(given, given.accounts[1], given.accounts[1].keys) end
  return given
end

describe("a declaration", function()
  it("that is right has no problem, nor has one without accounts or keys", function()
    assert.same({}, spec.check(declared()))
    assert.same({}, spec.check(declared(function(given) given.accounts = nil end)))
    assert.same({}, spec.check(declared(function(_, account) account.keys = nil end)))
    assert.same({}, spec.check(declared(function(given, account) given.group, account.futures = "broker", true end)))
    assert.same({}, spec.check(declared(function(given) given.vault = { store = print } end)))
  end)

  for what, case in pairs {
    ["no client"] = { function(given) given.client = nil end, "fleet: client is missing" },
    ["a client of another make"] = { function(given) given.client = {} end, "is not one that purser.new made" },
    ["a restricted client"] = { function(given) given.client = assert(purser.restricted(client, { "wallet.*" })) end,
      "is not one that purser.new made" },
    ["a vault that keeps nothing"] = { function(given) given.vault = { holds = print } end, "fleet: vault is missing" },
    ["a group of another name"] = { function(given) given.group = "wallet" end,
      'fleet: group is "wallet"; it must be "sub_account" or "broker"' },
    ["a group that is no text"] = { function(given) given.group = true end,
      'fleet: group is a boolean; it must be "sub_account" or "broker"' },
    ["accounts by name"] = { function(given, account) given.accounts = { traders01 = account } end,
      "fleet: accounts is no plain list" },
    ["a gap in its accounts"] = { function(given, account) given.accounts = { account, nil, account } end,
      "fleet: accounts is no plain list" },
    ["keys by name"] = { function(_, account, keys) account.keys = { bot = keys[1] } end,
      "account traders01: keys is no plain list" },
    ["an account that is a text"] = { function(given) given.accounts[2] = "desk" end, "account 2 must be a table" },
    ["an account twice"] = { function(given, account) given.accounts[2] = { name = account.name, note = "n" } end,
      "account traders01 is there twice" },
    ["a name that cannot be"] = { function(_, account) account.name = "desk" end, "8 to 32 letters and digits" },
    ["no name"] = { function(_, account) account.name = nil end, "account 1: name is missing" },
    ["a misspelt member"] = { function(_, account) account.kyes = {} end, 'did you mean "keys"' },
    ["futures without a broker"] = { function(_, account) account.futures = true end, "only a broker enables futures" },
    ["a key that is a text"] = { function(_, _, keys) keys[1] = "bot" end, "key 1 must be a table" },
    ["two keys of one note"] = { function(_, _, keys) keys[2].note = "bot" end, 'the note "bot" is there twice' },
    ["a note with the sign of marks"] = { function(_, _, keys) keys[1].note = "bot #1" end, "must not hold #" },
    ["a key without permissions"] = { function(_, _, keys) keys[1].permissions = nil end, "permissions is missing" },
    ["a permission that there is not"] = { function(_, _, keys) keys[1].permissions = { "SPOT_FLY" } end, "SPOT_FLY" },
    ["a text for permissions"] = { function(_, _, keys) keys[1].permissions = "SPOT_DEAL_READ" end, '"permissions"' },
  } do
    it("with " .. what .. " has that problem", function()
      local problems = table.concat(spec.check(declared(case[1])), "; ")
      assert.truthy(problems:find(case[2], 1, true), problems)
    end)
  end

  it("says a problem of many accounts once, with how many there are", function()
    local given = declared()
    for i = 1, 50 do
      given.accounts[i] = { name = ("traders%02d"):format(i), note = "n",
        keys = { { note = "bot", permissions = { "SPOT_FLY" } } } }
    end
    local problems = spec.check(given)
    assert.equal(1, #problems)
    assert.matches("^account traders01 key 1: .*SPOT_FLY.* %(and 49 more like that%)$", problems[1])
  end)

  it("that is no table has that problem alone", function()
    for _, given in ipairs { 5, "x", false } do assert.same({ "a fleet is declared by a table" }, spec.check(given)) end
  end)
end)
