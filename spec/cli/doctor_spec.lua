-- SPDX-License-Identifier: MIT
-- `purser doctor`: the clock, the key, its permissions and the host, each finding with its cure.

local command = require "command"
local core = require "purser.core"
local doctor = require "purser.cli.doctor"
local facts = require "purser.client.operations.facts"
local operations = require "purser.client.operations"
local profile_rules = require "purser.client.operations.profile_rules"

describe("the facts that doctor calls contested", function()
  it("are weights and pools, and a window that another source has otherwise", function()
    local fact, found = facts.windows["wallet.deposit_history"], {}
    finally(function() fact[2], fact.means = nil, nil end)
    fact[2], fact.means = { { default_days = 3, retention_days = 30 }, "somebody", "2026-11" }, "older ones may lack"
    doctor.check_contested({ add = function(_, _, _, text) found[#found + 1] = text end },
      { profile = assert(profile_rules.resolve "mexc") })
    local addresses = table.remove(found, 3)
    assert.matches("^the most IP addresses of a key is 20 here, and by others 10 %(the vendor's FAQ", addresses)
    assert.same({ "the weight of broker.transfer", "the weight of sub_account.transfer",
      "the window of wallet.deposit_history is default_days 7, max_window_days 7, retention_days 90 here, and by "
      .. "others default_days 3, retention_days 30 (somebody, 2026-11): older ones may lack",
      "the weight in 10 s of pool ip" }, { found[1]:match "^(.-) is", found[2]:match "^(.-) is", found[3],
      found[4]:match "^(.-) is" })
  end)
end)

describe("the host that doctor looks at", function()
  local function warning(url, profile)
    local found
    doctor.check_host({ add = function(_, state, topic, text) found = state .. " " .. topic .. ": " .. text end },
      { profile = assert(profile_rules.resolve(profile)) }, url)
    return found
  end

  it("is one of the profile's own, or of this machine", function()
    for _, profile in ipairs { "default", "mexc" } do
      for _, url in ipairs { "https://api.mexc.com/api/v3/ping", "https://API.MEXC.COM:443/", "http://127.0.0.1:8080/x",
        "http://[::1]:8080/x", "http://localhost/x" } do
        assert.is_nil(warning(url, profile), url)
      end
    end
    assert.is_nil(warning("https://proxy.example/x", { base = "mexc", hosts = { ["proxy.example"] = true } }))
  end)

  it("is warned of where it only looks like one", function()
    for _, host in ipairs { "api.rnexc.com", "api.mexc.co", "api.mexc.com.example", "api-mexc.com", "api.mexc.corn" } do
      local said = warning("https://" .. host .. "/x", "mexc")
      assert.matches("warn host: " .. host .. " is not on the list", said, 1, true)
    end
    assert.matches("looks like api.mexc.com", warning("https://api.rnexc.com/x", "default"), 1, true)
    assert.matches("api.mexc.com is not", warning("https://api.mexc.com/x",
      { base = "mexc", hosts = { ["proxy.example"] = true } }), 1, true)
  end)
end)

describe("purser doctor", function()
  local service, account

  setup(function()
    service = require("service").start { "--seed", "6" }
    account = assert(service.world:account { name = "Acme", role = "main", balances = { USDT = "10" } })
  end)

  teardown(function() service.stop() end)

  local function run_doctor(environment, ...)
    environment.PURSER_BASE_URL = environment.PURSER_BASE_URL or service.url
    local code, out, err = command.run({ "doctor", "--format", "json", ... }, environment)
    assert.equal("", err)
    local findings = {}
    for _, finding in ipairs(core.decode(out)) do
      local topic = finding.topic
      if not findings[topic] or finding.state ~= "ok" then findings[topic] = finding end
    end
    return code, findings, out
  end

  it("finds nothing wrong where nothing is", function()
    local code, findings, out = run_doctor({ PURSER_API_KEY = account.api_key,
      PURSER_SECRET_KEY = account.secret_key }, "--facts")
    assert.equal(0, code)
    for _, topic in ipairs { "keys", "service", "tls", "clock", "key", "permissions", "contested" } do
      assert.equal("ok", findings[topic].state, topic)
    end
    assert.matches("the weight of broker.transfer is %d+ here, and by others ", findings.contested.text)
    for mine, others in out:gmatch "is (%d+) here, and by others ([^:]*)" do
      assert.is_nil((" " .. others):find("%f[%d]" .. mine .. " %("), others) -- its own reading is no other's
    end
    assert.is_nil(out:find(account.secret_key, 1, true))
    assert.is_nil(out:find(account.api_key, 1, true))
  end)

  it("only reads", function()
    for name in pairs(service.world:counts()) do assert.equal("read", operations.by_name[name].effect) end
  end)

  it("names the missing permissions", function()
    local narrow = assert(service.world:account { name = "Narrow", permissions = "SPOT_DEAL_READ" })
    local code, findings = run_doctor { PURSER_API_KEY = narrow.api_key, PURSER_SECRET_KEY = narrow.secret_key }
    assert.equal(0, code)
    assert.equal("warn", findings.permissions.state)
    assert.equal("missing: SPOT_ACCOUNT_READ, SPOT_WITHDRAW_READ, SPOT_TRANSFER_READ", findings.permissions.text)
    local none = assert(service.world:account { name = "None", permissions = "CONTRACT_DEAL_READ" })
    local _, out = command.run({ "doctor" }, { PURSER_BASE_URL = service.url, PURSER_API_KEY = none.api_key,
      PURSER_SECRET_KEY = none.secret_key })
    assert.is_nil(out:find("granted", 1, true))
  end)

  it("shows the days, the IP list and the permissions of the key where the profile has them", function()
    local function under(fields)
      local named = assert(service.world:account(fields))
      local code, findings, out = run_doctor({ PURSER_API_KEY = named.api_key, PURSER_SECRET_KEY = named.secret_key },
        "--profile", "mexc", "--base-url", service.url)
      assert.equal(0, code, out)
      assert.is_nil(out:find(named.api_key, 1, true))
      return findings, out
    end
    local findings, out = under { name = "Open" }
    assert.matches("VALID; it ends in 90 days", out, 1, true)
    assert.matches("on record: .*SPOT_WITHDRAW_WRITE", out)
    assert.equal("warn", findings["ip list"].state)
    findings, out = under { name = "Safe", ip = "127.0.0.1" }
    assert.matches("VALID; it does not end", out, 1, true)
    assert.same({ "ok", "1 address" }, { findings["ip list"].state, findings["ip list"].text })
    findings = under { name = "Reader", permissions = "SPOT_ACCOUNT_READ" }
    assert.equal("ok", findings["ip list"].state)
    local other = require("service").start { "--set", "key_days=10" }
    assert(other.world:account { name = "Old", api_key = "mx0oldoldold", secret_key = "x" })
    local _, told = run_doctor({ PURSER_API_KEY = "mx0oldoldold", PURSER_SECRET_KEY = "x" }, "--profile", "mexc",
      "--base-url", other.url)
    other.stop()
    assert.same({ "warn", "VALID; it ends in 10 days" }, { told.key.state, told.key.text })
  end)

  it("distinguishes a wrong secret from an unknown key, each with its cure", function()
    local code, findings = run_doctor { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = "wrong" }
    assert.equal(1, code)
    assert.is_truthy(findings.key.cure:find("secret key is not the one", 1, true))
    code, findings = run_doctor { PURSER_API_KEY = "mx0unknown", PURSER_SECRET_KEY = "wrong" }
    assert.equal(1, code)
    assert.is_truthy(findings.key.cure:find("check the API key", 1, true))
  end)

  it("finds a key that is bound to another address", function()
    local bound = assert(service.world:account { name = "Bound", ip = "203.0.113.7" })
    local code, findings = run_doctor { PURSER_API_KEY = bound.api_key, PURSER_SECRET_KEY = bound.secret_key }
    assert.equal(1, code)
    assert.is_truthy(findings.key.cure:find("add the address", 1, true))
  end)

  it("prints the columns that are asked for, and what passes a filter, as a table", function()
    local _, out = command.run({ "doctor", "--columns", "topic,state", "--filter", "topic=clock" },
      { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key, PURSER_BASE_URL = service.url })
    assert.equal("topic  state\n-----  -----\nclock  ok\n", out)
  end)

  it("finds that nobody listens", function()
    local code, findings = run_doctor { PURSER_API_KEY = "a", PURSER_SECRET_KEY = "b",
      PURSER_BASE_URL = "http://127.0.0.1:1" }
    assert.equal(3, code)
    assert.is_truthy(findings.service.cure:find("--base-url", 1, true))
  end)

  it("finds that there are no keys", function()
    local code, findings = run_doctor {}
    assert.equal(2, code)
    assert.is_truthy(findings.keys.text:find("PURSER_API_KEY", 1, true))
  end)

  it("measures a clock that is off", function()
    service.world:advance(7000)
    local code, findings = run_doctor { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key }
    assert.equal(1, code)
    assert.equal("fail", findings.clock.state)
    local ms = tonumber(findings.clock.text:match("(%d+) ms behind"))
    assert.is_true(ms > 6000 and ms < 8000)
    assert.is_truthy(findings.clock.cure:find("timedatectl", 1, true))
  end)
end)
