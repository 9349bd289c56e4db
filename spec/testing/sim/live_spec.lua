-- SPDX-License-Identifier: MIT
-- Operations of the live service beyond the interface document: off by default, read exactly, and of the right account.

local core = require "purser.core"
local live = require "purser.testing.sim.live"
local operations = require "purser.client.operations"
local purser = require "purser"
local simulated = require "simulated"

local DAY = 86400000

local function world(profile, fields)
  local sim = purser.sim.new {}
  local account = { role = "main", balances = { USDT = "100.10" } }
  for name, value in pairs(fields or {}) do account[name] = value end
  account = assert(sim:account(account))
  local client = simulated.client(sim, account, { profile = profile })
  return sim, client, account
end

describe("an operation of the live service alone", function()
  it("is off in the profile default, and sends nothing", function()
    local sim, client, account = world("default")
    local params = { api_key = { accessKey = account.api_key },
      change_api_key = { apiKey = account.api_key, ipWhiteList = "127.0.0.1" } }
    for _, row in ipairs(operations.groups.live) do
      local result, err = client.live[row.name](client.live, params[row.name])
      assert.is_nil(result)
      assert.same({ "config", "not_sent" }, { err.kind, err.outcome })
      assert.matches("live_operations", err.hint)
      assert.is_nil((client:prepare(row.full_name, params[row.name])))
      result, err = client:call(row.full_name, params[row.name])
      assert.is_nil(result)
      assert.equal("not_sent", err.outcome)
    end
    assert.same({}, sim:requests())
  end)

  it("is none of the 40", function()
    for _, row in ipairs(operations.list) do assert.is_nil(row.live) end
    assert.equal(5, #operations.groups.live)
  end)

  it("shows the balances, the user id and how far the account is identified", function()
    local _, client = world("mexc")
    local account = assert(client.live:account())
    assert.same({ "100.1", "0", true }, { account.balances[1].free, account.balances[1].locked, account.canWithdraw })
    assert.equal("10000001", assert(client.live:uid()).uid)
    assert.equal("3", assert(client.live:kyc_status()).status)
  end)

  it("shows the days that a key has left, and changes its IP list, after which it does not end", function()
    local sim, client, account = world { base = "default", live_operations = true }
    local function key() return assert(client.live:api_key { accessKey = account.api_key }) end
    assert.equal(90, key().remainingValidity)
    sim:advance(80 * DAY)
    assert.same({ 10, "VALID", "" }, { key().remainingValidity, key().status, key().ipWhiteList })
    local changed = assert(client.live:change_api_key { apiKey = account.api_key, ipWhiteList = { "127.0.0.1" } })
    assert.same({ "127.0.0.1", account.api_key }, { changed.ipWhiteList, changed.accessKey })
    sim:advance(400 * DAY)
    assert.equal(-999, key().remainingValidity)
  end)

  it("of a key of another account is rejected", function()
    local sim, client = world "mexc"
    local other = assert(sim:account {})
    local result, err = client.live:api_key { accessKey = other.api_key }
    assert.is_nil(result)
    assert.same({ "rejected", "730706" }, { err.outcome, err.code })
  end)

  it("is executed once more when its answer was lost and it is reconciled", function()
    local sim, client, account = world "mexc"
    sim:fault { kind = "lost_answer", operation = "live.change_api_key" }
    local result, err = client.live:change_api_key { apiKey = account.api_key, ipWhiteList = "127.0.0.1" }
    assert.is_nil(result)
    assert.equal("unknown", err.outcome)
    local answer = assert(client:reconcile(err))
    assert.equal("done", answer.outcome)
    assert.equal("127.0.0.1", assert(client.live:api_key { accessKey = account.api_key }).ipWhiteList)
  end)

  it("answers what other programs read first: a market a coin with a price, and no contracts", function()
    local sim = purser.sim.new {}
    local function get(path) return sim:handle { method = "GET", target = path, headers = {}, body = "" } end
    local info = assert(core.decode(get("/api/v3/exchangeInfo").body))
    local symbols = {}
    for _, market in ipairs(info.symbols) do symbols[market.symbol] = market.baseAsset end
    assert.same({ "BTC", nil, nil }, { symbols.BTCUSDT, symbols.USDTUSDT, symbols.OLDCUSDT })
    assert.equal(sim:now(), info.serverTime)
    assert.equal('{"success":true,"code":0,"data":[]}', get("/api/v1/contract/detail").body)
    assert.is_nil(live.market(sim, "/api/v3/depth"))
    assert.equal(404, sim:handle({ method = "POST", target = "/api/v3/exchangeInfo", headers = {}, body = "" }).status)
  end)
end)
