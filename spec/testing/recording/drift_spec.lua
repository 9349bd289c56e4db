-- SPDX-License-Identifier: MIT
-- A service that answers as the simulator does shows no difference; each way in which an
-- answer can differ is found and named; the report holds no value of an answer.
-- make test: 8 s, on lua5.4 and luajit

local drift = require "purser.testing.recording.drift"
local purser = require "purser"
local reads = require "purser.testing.recording.drift.reads"

-- Returns a simulator with records, and the result of comparing it, each answer passed through `change(operation,
-- response)`.
local function compare(change, variant, profile, ip)
  local sim = purser.sim.new { seed = 23, variant = variant or "document", profile = profile }
  local owner = assert(sim:account { name = "Planted01", role = "broker", email = "owner@planted.example",
    balances = { USDT = "5000.125" }, ip = ip })
  local inner = sim:transport()
  local changed = { send = function(_, request)
    local response, failure = inner:send(request)
    if response and change then change(request.operation, response) end
    return response, failure
  end }
  local capture = reads.capture(changed)
  local options = { base_url = "http://127.0.0.1:1", transport = inner, profile = profile, retry = false,
    rate_limit = false, api_key = owner.api_key, secret_key = owner.secret_key,
    clock = function() return sim:now() end }
  local maker = assert(purser.new(options))
  assert(maker.sub_account:create_sub_account { subAccount = "hiddenname01", note = "a hidden note" })
  assert(maker.sub_account:transfer { toAccount = "hiddenname01", fromAccountType = "SPOT", toAccountType = "SPOT",
    asset = "USDT", amount = "77.125" })
  assert(maker.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
    amount = "66.625" })
  assert(maker.wallet:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" })
  assert(sim:deposit { account = owner.uid, coin = "USDT", network = "Tron(TRC20)", amount = "1234.5" })
  sim:advance(3600000)
  options.transport = capture
  local client = assert(purser.new(options))
  return assert(drift.compare(client, capture, profile)), sim, owner
end

local function has(result, operation, kind, path)
  for _, finding in ipairs(result.findings) do
    if finding.operation == operation and finding.kind == kind and (not path or finding.path == path) then
      return finding
    end
  end
end

-- Changes the bodies of one operation by a pattern, or fails where it matches nothing.
local function edit(operation, pattern, with)
  local edited = 0
  return function(name, response)
    if name ~= operation then return end
    local body, count = response.body:gsub(pattern, with)
    response.body, edited = body, edited + count
  end, function() return edited end
end

describe("a comparison of answers", function()
  it("finds no difference in the simulator's own answers, in both forms", function()
    for _, variant in ipairs { "document", "live" } do
      local result = compare(nil, variant)
      assert.same({}, result.findings)
      assert.equal(19, result.compared + #result.skipped)
      assert.is_true(result.compared >= 18)
    end
  end)

  it("compares what only the live service has where the profile allows it, too", function()
    for _, ip in ipairs { "", "127.0.0.1,198.51.100.7" } do
      local result = compare(nil, "live", "mexc", ip ~= "" and ip or nil)
      assert.same({}, result.findings)
      assert.same({ #reads.list, 0 }, { result.compared, #result.skipped })
    end
    local result = compare(function(name, response)
      if name == "live.account" then response.body = response.body:gsub('"locked":"[%d.]+"', '"lockedAmount":"0"') end
      if name == "live.api_key" then response.body = response.body:gsub('"remainingValidity":%d+', '%0.5') end
    end, "live", "mexc")
    assert(has(result, "live.account", "new member", "answer.balances[].lockedAmount"), (result.findings[1] or {}).path)
    assert(has(result, "live.account", "missing member", "answer.balances[].locked"))
    assert(has(result, "live.api_key", "other form", "answer.remainingValidity"), (result.findings[1] or {}).path)
  end)

  local HISTORY = "wallet.deposit_history"
  local planted = {
    { "a new member", HISTORY, "new member", "answer[].transactionTime", '"coin":', '"transactionTime":"5","coin":' },
    { "a member that is missing", HISTORY, "missing member", "answer[].txId", '"txId":"[^"]*",', "" },
    { "a member with another name", HISTORY, "new member", "answer[].depositTime", '"insertTime"', '"depositTime"' },
    { "a number in the place of a text", HISTORY, "other type", "answer[].amount", '"amount":"([%d.]+)"',
      '"amount":%1' },
    { "a text in the place of a number", HISTORY, "other type", "answer[].insertTime", '"insertTime":(%d+)',
      '"insertTime":"%1"' },
    { "an object in the place of a text", HISTORY, "other type", "answer[].coin", '"coin":("[^"]*")',
      '"coin":{"name":%1}' },
    { "null where there always was a value", HISTORY, "other type", "answer[].status", '"status":%d+',
      '"status":null' },
    { "a number with an exponent", HISTORY, "other form", "answer[].amount", '"amount":"[%d.]+"', '"amount":"1E-7"' },
    { "a time in seconds", HISTORY, "other form", "answer[].insertTime", '"insertTime":(%d%d%d%d%d%d%d%d%d%d)%d%d%d',
      '"insertTime":%1' },
    { "an id of another form", "wallet.transfer_history", "other form", nil, '"tranId":"?%d+"?',
      '"tranId":"0a1b2c3d4e5f60718293a4b5c6d7e8f9"' },
    { "another wrapper", HISTORY, "other type", "answer", "^(.*)$", '{"code":0,"data":%1}' },
    { "an answer that is no JSON", HISTORY, "other form", "answer", "^.*$", "<html>down</html>" },
    { "an error of another form", "sub_account.balances", "new member", "answer.remark", '^{', '{"remark":"x",' },
    { "another code", "sub_account.balances", "other code", "code", '"code":"?[%d]+"?', '"code":987654' },
  }

  for _, case in ipairs(planted) do
    it("finds " .. case[1], function()
      local change, edited = edit(case[2], case[5], case[6])
      local result = compare(change)
      assert.is_true(edited() > 0)
      assert(has(result, case[2], case[3], case[4]), (result.findings[1] or {}).path)
    end)
  end

  it("finds another status and content type", function()
    local result = compare(function(name, response)
      if name == "wallet.coins" then response.status, response.headers["content-type"] = 201, "text/html" end
    end)
    assert.equal("201", has(result, "wallet.coins", "other status").found)
    assert.equal("text/html", has(result, "wallet.coins", "other header", "content-type").found)
  end)

  it("names a new member as the service does, and hides what no name of a member looks like", function()
    local long = "a" .. ("b"):rep(40)
    local result = compare(function(name, response)
      if name ~= HISTORY then return end
      response.body = response.body:gsub('"coin":', ('"travelRuleState":1,"trx1":1,"%s":1,"coin":'):format(long))
    end)
    assert(has(result, HISTORY, "new member", "answer[].travelRuleState"))
    local new = 0
    for _, finding in ipairs(result.findings) do
      assert.is_nil(finding.path:find("trx1", 1, true) or finding.path:find(long, 1, true), finding.path)
      new = new + (finding.kind == "new member" and 1 or 0)
    end
    assert.equal(3, new)
  end)

  it("finds that something is answered where it was rejected", function()
    local result = compare(function(name, response)
      if name == "wallet.get_transfer" then response.status, response.body = 200, "{}" end
    end)
    assert(has(result, "wallet.get_transfer", "other code"))
  end)

  it("says which reads the key may not make, and compares the others", function()
    local result = compare(function(name, response)
      if name and name:find "^broker%." then
        response.status, response.body = 400, '{"code":730603,"msg":"not a broker"}'
      end
    end)
    assert.equal(3, #result.skipped)
    assert.same({}, result.findings)
  end)

  it("shows no value that stands where a name, a code or a header should", function()
    local secrets = { "hiddenname01", "mx0vglSECRETkeySECRET", "TSecretAddressOfAPerson1234567890ab" }
    local result = compare(function(name, response)
      response.headers["x-mbx-" .. secrets[1]], response.headers["x-mbx-used-weight-1m"] = secrets[2], secrets[2]
      response.headers["content-type"] = "text/" .. secrets[1]
      if name == "wallet.coins" then response.body = ('{"code":"%s","msg":"%s"}'):format(secrets[2], secrets[3]) end
      if name == "wallet.deposit_history" then
        response.body = response.body:gsub('"coin":', '"' .. secrets[1] .. '":{"' .. secrets[3] .. '":1},"coin":')
      end
    end)
    assert(has(result, "wallet.coins", "other code"))
    assert(has(result, "wallet.deposit_history", "new member"))
    for _, finding in ipairs(result.findings) do
      for _, secret in ipairs(secrets) do
        for name, text in pairs(finding) do assert.is_nil(text:find(secret, 1, true), name .. ": " .. text) end
      end
    end
  end)
end)
