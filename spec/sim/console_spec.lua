-- SPDX-License-Identifier: MIT
-- The simulator's page as HTTP: who gets it, what it holds, and which wrong signatures it can explain. The page in a
-- browser is tested by `make console-test`.

local console = require "purser.sim.console"
local core = require "purser.core"
local purser = require "purser"

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

  it("is one file that may load nothing from elsewhere", function()
    local page = ask "/console"
    assert.equal(200, page.status)
    assert.is_truthy(page.headers["Content-Security-Policy"]:find("default-src 'none'", 1, true))
    assert.is_nil(page.body:find("https?://"))
    assert.is_nil(page.body:find("innerHTML", 1, true))
    assert.is_truthy(page.body:find("<title>Purser simulator</title>", 1, true))
  end)

  it("is for this machine and its own name alone", function()
    for _, target in ipairs { "/console", "/console/data", "/console/catalogue" } do
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

  it("offers all operations and coins", function()
    local offered = assert(core.decode(ask("/console/catalogue").body))
    assert.equal(40, #offered.operations)
    assert.equal("USDT", offered.coins[1].coin)
  end)
end)

describe("a wrong signature", function()
  local sim, account

  before_each(function()
    sim = purser.sim.new { seed = 1 }
    account = assert(sim:account { name = "Acme", role = "broker" })
  end)

  -- Sends `query` under the signature of `text`, and returns how the request is remembered.
  local function send(query, text, change, body)
    local signer = assert(core.signer("hmac-sha256", account.secret_key))
    local signature = (change or tostring)(signer:sign(text))
    local response = sim:handle {
      method = body and "POST" or "GET", ip = "127.0.0.1", body = body or "",
      target = (body and "/api/v3/broker/sub-account/futures" or "/api/v3/capital/deposit/hisrec") .. "?" .. query
        .. "&signature=" .. signature,
      headers = { ["x-mexc-apikey"] = account.api_key, ["content-type"] = "application/json" },
    }
    local all = sim:requests()
    return all[#all], response
  end

  local function query_of(sim_now)
    return ("coin=A%%2CB&limit=5&recvWindow=5000&timestamp=%d"):format(sim_now)
  end

  it("is explained when it belongs to a usual mistake", function()
    local query = query_of(sim:now())
    local stamp = ("&timestamp=%d"):format(sim:now())
    local cases = {
      { "&" .. query, "a leading &" },
      { (query:gsub("%%2C", ",")), "the values before they were percent-encoded" },
      { (query:gsub("%%2C", "%%2c")), "percent-encoding in lower case" },
      { (query:gsub("&timestamp=%d+", "")), "everything but the timestamp" },
      { "coin=A%2CB&limit=5" .. stamp, "everything but recvWindow" },
      { "/api/v3/capital/deposit/hisrec?" .. query, "the path, too" },
      { "", "an empty text" },
    }
    for _, case in ipairs(cases) do
      local request = send(query, case[1])
      assert.equal("700002", request.code)
      assert.equal(case[1], request.signed_received)
      assert.equal(case[2], request.mistake)
      assert.equal(query, request.signed_expected)
    end
  end)

  it("is explained when the body was signed, and when it came in upper case", function()
    local query, body = ("timestamp=%d"):format(sim:now()), '{"subAccount":"shop"}'
    assert.equal("the query and the body", send(query, query .. body, nil, body).mistake)
    assert.equal("the body alone", send(query, body, nil, body).mistake)
    assert.equal("the right text, in upper-case hexadecimal", send(query, query, string.upper).mistake)
  end)

  it("is left unexplained when another secret made it", function()
    local query = query_of(sim:now())
    local request = send(query, query, function() return ("0"):rep(64) end)
    assert.equal("700002", request.code)
    assert.equal(query, request.signed_expected)
    assert.is_nil(request.signed_received)
    assert.is_nil(request.mistake)
  end)

  it("is no longer one when the right text is signed", function()
    local query = query_of(sim:now())
    local request, response = send(query, query)
    assert.not_equal("700002", request.code)
    assert.is_nil(request.signed_expected)
    assert.is_nil(response.body:find("Signature", 1, true))
  end)
end)
