-- SPDX-License-Identifier: MIT
-- The simulator's page as HTTP: who gets it, what it holds, and which wrong signatures it can explain. The page in a
-- browser is tested by `make console-test`.

local console = require "purser.testing.sim.console"
local core = require "purser.core"
local purser = require "purser"

local unpack = table.unpack or unpack

describe("GET /console", function()
  local sim, handler, account

  before_each(function()
    sim = purser.sim.new { seed = 1 }
    handler = console.handler(sim)
    account = assert(sim:account { name = "Acme", role = "broker", balances = { USDT = "10.5" } })
  end)

  local function ask(target, changes)
    local request = { method = "GET", target = target, headers = { host = "127.0.0.1:8080" }, body = "",
      ip = "127.0.0.1" }
    for name, value in pairs(changes or {}) do request[name] = value end
    return handler(request)
  end

  it("is a page and its script, which may load nothing from elsewhere", function()
    local page, script = ask "/console", ask "/console/page.js"
    for _, part in ipairs { page, script } do
      assert.equal(200, part.status)
      assert.is_truthy(part.headers["Content-Security-Policy"]:find("default-src 'none'", 1, true))
      assert.is_truthy(part.headers["Content-Security-Policy"]:find("script-src 'self'", 1, true))
      assert.is_nil(part.body:find("https?://"))
      assert.is_nil(part.body:find("innerHTML", 1, true))
    end
    assert.is_truthy(page.body:find("<title>Purser simulator</title>", 1, true))
    assert.is_truthy(page.body:find('src="/console/page.js"', 1, true))
    assert.equal("text/javascript; charset=utf-8", script.headers["Content-Type"])
  end)

  it("is for this machine and its own name alone", function()
    for _, target in ipairs { "/console", "/console/page.js", "/console/data", "/console/catalogue" } do
      assert.equal(403, ask(target, { ip = "192.0.2.7" }).status)
      assert.equal(403, ask(target, { headers = { host = "rebound.example" } }).status)
    end
  end)

  it("takes nothing but GET, and knows no other path", function()
    assert.equal(405, ask("/console", { method = "POST", headers = { host = "localhost", ["content-type"] =
      "application/json" } }).status)
    assert.equal(404, ask("/console/other").status)
    assert.is_false(console.is_for { target = "/consolez" })
  end)

  it("shows requests whose bytes are not UTF-8, and goes on", function()
    sim:handle { method = "GET", target = "/api/v3/ping?\255&password=\254x", headers = {}, body = "" }
    local page = ask "/console/data"
    assert.equal(200, page.status)
    assert.equal("/api/v3/ping?\\xFF&password=***", core.decode(page.body).requests[1].target)
  end)

  it("has the state as data: exact balances, requests with numbers, what is armed", function()
    sim:fault { kind = "reject", operation = "wallet.coins" }
    local client = assert(purser.new { base_url = "http://127.0.0.1", transport = sim:transport(), retry = false,
      clock = function() return sim:now() end, api_key = account.api_key, secret_key = account.secret_key })
    assert(client.wallet:convertible_balances())
    assert.is_nil((client.wallet:coins()))
    local data = assert(core.decode(ask("/console/data").body))
    assert.equal("10.5", data.accounts[1].spot[1].free)
    assert.equal(1, data.requests[1].number)
    assert.equal("wallet.coins", data.requests[2].operation)
    assert.equal("reject", data.requests[2].fault)
    assert.equal(1, data.injected)
    assert.is_true(data.sound)
    assert.is_nil(ask("/console/data").body:find(account.secret_key, 1, true))
    assert.is_nil(ask("/console/data").body:find(account.api_key, 1, true))
  end)

  local function client_of(owner)
    return assert(purser.new { base_url = "http://127.0.0.1", transport = sim:transport(), retry = false,
      clock = function() return sim:now() end, api_key = owner.api_key, secret_key = owner.secret_key })
  end

  it("has the answer of a rejected request and what cures it, and none of an applied one", function()
    local client = client_of(account)
    assert.is_nil((client.broker:sub_account_status { subAccount = "nosuchDesk" }))
    local key = assert(client.broker:create_sub_account { subAccount = "longEnough1", note = "a" })
      and assert(client.broker:create_api_key { subAccount = "longEnough1", note = "a",
        permissions = { "SPOT_ACCOUNT_READ" } })
    sim:fault { kind = "server_error", operation = "wallet.coins" }
    assert.is_nil((client.wallet:coins()))
    local body = ask("/console/data").body
    local rejected, made, created, failed = unpack(assert(core.decode(body)).requests)
    assert.is_truthy(rejected.answer:find('"code":140001', 1, true))
    assert.equal(require("purser.codes").get("140001").cure, rejected.cure)
    assert.is_nil(made.answer)
    assert.is_nil(created.answer)
    assert.equal("fault", failed.outcome)
    assert.is_string(failed.answer)
    assert.is_nil(body:find(key.secretKey, 1, true))
    assert.is_nil(body:find(key.apiKey, 1, true))
  end)

  it("masks a funds password in an answer that quotes the request", function()
    local hash = ("0123456789abcdef"):rep(2)
    sim:handle { method = "GET", headers = { ["x-mexc-apikey"] = account.api_key }, body = "",
      target = ("/api/v3/capital/deposit/hisrec?password=%s&timestamp=%d&signature=0"):format(hash, sim:now()) }
    local body = ask("/console/data").body
    assert.is_truthy(assert(core.decode(body)).requests[1].answer:find("password=***", 1, true))
    assert.is_nil(body:find(hash, 1, true))
  end)

  it("offers all operations and coins", function()
    local offered = assert(core.decode(ask("/console/catalogue").body))
    assert.equal(#purser.operations, #offered.operations)
    assert.equal("USDT", offered.coins[1].coin)
  end)
end)
