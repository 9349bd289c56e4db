-- SPDX-License-Identifier: MIT
-- The simulator's page as HTTP: who gets it, what it holds, and which wrong signatures it can explain. The page in a
-- browser is tested by `make console-test`.

local console = require "purser.sim.console"
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

  it("lists deposits, withdrawals, transfers of each kind and keys, the newest first", function()
    local payee = assert(sim:account { name = "Payee", role = "user", email = "p@acme.example" })
    local client = client_of(account)
    assert(sim:deposit { account = account.uid, coin = "USDT", network = "Tron(TRC20)", amount = "99" })
    sim:advance(1000)
    assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" })
    sim:advance(1000)
    assert(client.broker:create_sub_account { subAccount = "longEnough1", note = "a" })
    assert(client.broker:transfer { toAccount = "longEnough1", fromAccountType = "SPOT", toAccountType = "SPOT",
      asset = "USDT", amount = "2", clientTranId = ("m"):rep(32) })
    sim:advance(1000)
    assert(client.wallet:internal_transfer { toAccountType = "UID", toAccount = payee.uid, asset = "USDT",
      amount = "0.5" })
    sim:advance(86400000)
    local id = assert(client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = "T" .. ("a"):rep(33),
      amount = "10", withdrawOrderId = "w1" }).id
    local records = assert(core.decode(ask("/console/data").body)).records
    assert.equal("5 SUCCESS", records.deposits[1].status)
    assert.equal("99", records.deposits[1].amount)
    assert.same({ "Payee SPOT", "longEnough1 SPOT", "Acme FUTURES" },
      { records.transfers[1].to, records.transfers[2].to, records.transfers[3].to })
    assert.equal(("m"):rep(32), records.transfers[2].client_id)
    assert.same({ id, "1 APPLY", true, "w1" }, { records.withdrawals[1].id, records.withdrawals[1].status,
      records.withdrawals[1].can_fail, records.withdrawals[1].order_id })
    assert.equal(2, #records.keys)
    assert(sim:fail_withdrawal(id))
    local failed = assert(core.decode(ask("/console/data").body)).records.withdrawals[1]
    assert.same({ "8 FAILED", false }, { failed.status, failed.can_fail })
  end)

  it("lists the latest fifty of a kind", function()
    for i = 1, 60 do
      assert(sim:deposit { account = account.uid, coin = "USDT", network = "Tron(TRC20)", amount = tostring(100 + i) })
    end
    local deposits = assert(core.decode(ask("/console/data").body)).records.deposits
    assert.same({ 50, "160", "111" }, { #deposits, deposits[1].amount, deposits[50].amount })
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
