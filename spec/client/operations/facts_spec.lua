-- SPDX-License-Identifier: MIT
-- The facts beyond the interface document, transcribed a second time: each reading with its source and its date.

local codes = require "purser.codes"
local facts = require "purser.client.operations.facts"
local operations = require "purser.client.operations"
local profiles = require "purser.client.operations.profiles"
local purser = require "purser"
local shapes = require "purser.client.operations.shapes"

-- The findings, by kind and name: each reading as value, source, date.
local READINGS = {
  weights = {
    ["broker.transfer"] = "50 assumed 2026-11, 1 ccxt 2026-09",
    ["sub_account.transfer"] = "50 gocryptotrader 2026-09, 1 Mexc.Net 2026-09",
    ["wallet.transfer"] = "50 ccxt 2026-09",
    ["wallet.deposit_history"] = "10 ccxt 2026-09",
    ["wallet.withdraw_legacy"] = "10 gocryptotrader 2026-09",
  },
  pools = {
    ip = "300 gocryptotrader 2026-09, 500 vendor 2026-09, 200 Mexc.Net 2026-01",
    account = "500 gocryptotrader 2026-09",
  },
  limits = { max_recv_window = "60000 vendor 2026-09", key_days = "90 vendor 2026-09" },
}

describe("The facts beyond the document", function()
  it("are these readings, each with its source and its date, and contested ones say what that means", function()
    for kind, expected in pairs(READINGS) do
      local names = {}
      for name, fact in pairs(facts[kind]) do
        names[name] = true
        local at = 0
        for reading in assert(expected[name], name):gmatch "[^,]+" do
          at = at + 1
          local value, source, date = reading:match "(%d+) (%S+) (%S+)"
          assert.equal(tonumber(value), fact[at][1])
          assert.truthy(fact[at][2]:find(source, 1, true), fact[at][2])
          assert.equal(date, fact[at][3])
        end
        assert.equal(at, #fact)
        assert.equal(at > 1, fact.means ~= nil, name)
      end
      for name in pairs(expected) do assert.is_true(names[name], name) end
    end
  end)

  it("are in force in the profile of the live service", function()
    for name, fact in pairs(facts.weights) do
      assert.truthy(operations.by_name[name])
      assert.equal(fact[1][1], profiles.mexc.weights[name])
    end
    for name, fact in pairs(facts.pools) do assert.equal(fact[1][1], profiles.mexc.pools[name].capacity) end
    for name, fact in pairs(facts.limits) do assert.equal(fact[1][1], profiles.default[name]) end
  end)

  it("have the windows of histories, which the rows take from there, each with its source and its date", function()
    local count = 0
    for _, row in ipairs(operations.every) do
      local fact = facts.windows[row.full_name]
      assert.equal(fact and fact[1][1], row.window)
      for _, reading in ipairs(fact or {}) do
        assert.is_true(#reading[2] > 3 and reading[3]:find "^20%d%d%-%d%d$" ~= nil)
        count = count + 1
      end
    end
    assert.equal(7, count)
  end)

  it("name members of records that the document lacks", function()
    local members = { withdrawal = "netWork explorerUrl", withdrawal_address = "netWork chainNames chainDisplayName",
      deposit_address = "netWork", network = "depositPreConfirms", convertible_balance = "currencyId" }
    for shape, fact in pairs(facts.members) do
      assert.equal(members[shape], fact[1])
      assert.is_true(#fact[2] > 3 and fact[3]:find "^20%d%d%-%d%d$" ~= nil)
      for name in fact[1]:gmatch "%S+" do
        for _, field in ipairs(shapes[shape]) do assert.are_not.equal(name, field[1]) end
      end
      members[shape] = nil
    end
    assert.same({}, members)
  end)
end)

describe("Other forms of what is shown", function()
  local client = assert(purser.new { base_url = "https://service.example", api_key = "key", secret_key = "secret",
    transport = { send = function() error "nothing is sent here" end } })

  it("are read as they are shown", function()
    local seen = {}
    for operation, members in pairs(facts.forms) do
      for member, form in pairs(members) do
        assert.is_true(#form[2] > 3 and form[3]:find "^20%d%d%-%d%d$" ~= nil)
        local records = assert(client:parse(operation, 200, ('[{"%s":"%s"}]'):format(member, form[1])))
        assert.equal(form[1], records[1][member])
        seen[#seen + 1] = form[1]
      end
    end
    table.sort(seen)
    assert.same({ "1/1", "USDT-ETH" }, seen)
  end)

  it("leave an error its code and message", function()
    assert.is_true(#facts.error_members.announcement[1] > 3)
    local _, err = client:parse("wallet.deposit_history", 500,
      '{"code":500,"message":"Under maintenance","announcement":"https://service.example/a"}')
    assert.same({ "500", "Under maintenance" }, { err.code, err.message })
  end)
end)

describe("Other spellings of members", function()
  it("are read by the shapes", function()
    local read = {}
    for _, field in ipairs(shapes.live_api_key) do
      for _, alias in ipairs(field.aliases or {}) do read[alias] = field[1] end
    end
    assert.same({ apikey = "accessKey" }, read)
    assert.equal("apikey", facts.spellings.live_api_key[1])
  end)
end)

describe("The codes", function()
  -- Every code of the vendor's table that these operations may answer, and those that others met, transcribed.
  local KNOWN = [[-2011 26 400 401 403 429 500 503 504 602 10001 10007 10015 10072 10073 10095 10096 10097 10098 10099
    10100 10101 10102 10103 10200 10201 10202 10206 10211 10212 10216 10219 10222 10232 10255 10259 10265 10268 16021
    20001 20002 22222 30004 30005 33333 44444 60005 70011 140001 140002 152073 700001 700002 700003 700004 700005
    700006 700007 700008 700013 730000 730001 730002 730003 730100 730101 730600 730601 730602 730603 730700 730701
    730702 730703 730704 730705 730706 730707]]

  it("are these, each with a meaning, a cure, who answers it, and one source of a date", function()
    local known, sourced = {}, {}
    for code in KNOWN:gmatch "%S+" do known[code] = true end
    for _, source in ipairs(codes.sources) do
      assert.truthy(source[2]:find "^20%d%d%-%d%d$")
      for code in source[3]:gmatch "%S+" do
        assert.is_nil(sourced[code], code)
        sourced[code] = ("%s, %s"):format(source[1], source[2])
      end
    end
    for code, entry in pairs(codes.list) do
      assert(known[code], code .. ": not among the codes transcribed here")
      assert.is_true(#entry.meaning > 5 and #entry.cure > 3 and #entry.on > 0, code)
      assert.equal(sourced[code], entry.source, code)
      assert(entry.source, code .. ": no source in M.sources of codes.lua")
      known[code] = nil
    end
    assert.same({}, known)
  end)

  it("say of an amount above a maximum that parts of it can be withdrawn: a certain rejection", function()
    assert.matches("in parts of at most the network's `withdrawMax`", codes.get("10255").cure)
    assert.is_nil(profiles.default.unknown_codes["10255"])
    for _, code in ipairs { "10255", "16021", "30004" } do
      assert.matches("2026%-08$", codes.get(code).source)
    end
  end)
end)
