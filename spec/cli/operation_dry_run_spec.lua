-- SPDX-License-Identifier: MIT
-- `--dry-run`: the signed request as text, without what must not be seen.

local at_shell = require "at_shell"
local command = require "command"
local core = require "purser.core"
local catalogue = require "purser.cli.catalogue"
local operation = require "purser.cli.operation"
local profile_rules = require "purser.client.operations.profile_rules"

describe("--dry-run", function()
  local at

  setup(function() at = at_shell({ "--seed", "5" }, { role = "broker", balances = { USDT = "1000" } }) end)
  teardown(function() at.stop() end)

  local function no_secret_in(...)
    local text = table.concat { ... }
    for _, word in ipairs { at.account.secret_key, "secret_key", "signature=%x" } do assert.is_nil(text:find(word)) end
  end

  it("prints the signed request with key and signature masked, and sends nothing", function()
    local before = #at.world:requests()
    local code, out, err = at.run("broker", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "SPOT",
      "--toAccount", "shop", "--asset", "USDT", "--amount", "1", "--dry-run")
    assert.equal(0, code)
    assert.equal(1, (out:find("POST " .. at.url .. "/api/v3/broker/sub-account/universalTransfer?", 1, true)))
    assert.is_truthy(out:find("&signature=***\n", 1, true))
    assert.is_truthy(out:find("X-MEXC-APIKEY: ***\n", 1, true))
    assert.is_truthy(out:find('"asset":"USDT","amount":"1"', 1, true))
    assert.is_nil(out:find(at.account.api_key, 1, true))
    assert.equal(before, #at.world:requests())
    no_secret_in(out, err)
  end)

  it("says what is not looked up", function()
    local address = { "--coin", "USDT", "--network", "TRX", "--dry-run" }
    local said = { [{ "deposit_addresses" }] = "; the network is looked up only when it is sent",
      [{ "withdraw", "--address", "T1", "--amount", "20" }] = "; coin, network and address are not checked: --plan "
        .. "checks them" }
    for words, text in pairs(said) do
      for _, word in ipairs(address) do words[#words + 1] = word end
      local code, _, err = at.run("wallet", (table.unpack or unpack)(words)) -- luacheck: ignore
      assert.equal(0, code, err)
      assert.matches(("nothing is sent to %s (from PURSER_BASE_URL) with the keys from PURSER_API_KEY and "
        .. "PURSER_SECRET_KEY%s\n"):format(at.url, text), err, 1, true)
    end
    assert.matches("with the keys from PURSER_API_KEY and PURSER_SECRET_KEY\n", select(3, at.run("wallet", "coins",
      "--dry-run")), 1, true)
  end)

  it("masks passwords, in plain and hashed", function()
    local hash = core.md5_hex "hunter2"
    for _, option in ipairs { { "--funds_password", "hunter2" }, { "--password", hash } } do
      local environment = at.with { FUNDS = option[2] }
      for _, format in ipairs { "table", "json" } do
        local code, out, err = command.run({ "broker", "withdraw", "--coin", "USDT", "--network", "TRX",
          "--address", "T", "--amount", "1", option[1], "env:FUNDS", "--dry-run", "--format", format }, environment)
        assert.equal(0, code, err)
        assert.is_truthy(out:find("password", 1, true))
        assert.is_nil(out:find(hash, 1, true))
        assert.is_nil(out:find("hunter2", 1, true))
        no_secret_in(out, err)
      end
    end
  end)

  it("rejects a password that is typed, without repeating it", function()
    local code, out, err = at.run("broker", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", "T",
      "--amount", "1", "--funds_password", "hunter2", "--dry-run")
    assert.equal(2, code)
    assert.is_truthy(err:find("env:NAME or file:PATH", 1, true))
    assert.is_nil((out .. err):find("hunter2", 1, true))
  end)

  it("rejects a password in what is no regular file, without waiting for a pipe that nothing writes to", function()
    local pipe = at.file()
    assert(os.execute("mkfifo -m 600 " .. pipe))
    local code, _, err = at.run("broker", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", "T",
      "--amount", "1", "--funds_password", "file:" .. pipe, "--dry-run")
    assert.equal(2, code)
    assert.is_truthy(err:find(pipe .. " is not a regular file", 1, true), err)
  end)

  it("sends what this version does not know with --extra", function()
    local code, out = at.run("wallet", "coins", "--extra", "fresh=a b", "--dry-run")
    assert.equal(0, code)
    assert.is_truthy(out:find("?fresh=a%20b&", 1, true))
  end)

  it("accepts kebab-case for the interface's spelling", function()
    local code, out = at.run("wallet", "deposit-history", "--start-time", "1700000000000", "--dry-run")
    assert.equal(0, code)
    assert.is_truthy(out:find("startTime=1700000000000", 1, true))
  end)
end)

describe("a request as text", function()
  local profile = assert(profile_rules.resolve "default")
  local row = catalogue.by_name["broker.withdraw"]
  local HASH = ("0f"):rep(16)

  it("has a mask wherever a password, a signature or a key stands, and all else as it is sent", function()
    local request = { method = "POST", url = ("http://h/p?%s=abcdef&password=%s&note=password"):format(
      profile.signature_name, HASH), body = ('{"amount":"1","password":"%s"}'):format(HASH),
      headers = { [profile.key_header:upper()] = "mx0key", ["content-type"] = "application/json" } }
    for _, format in ipairs { "table", "json" } do
      local text = operation.request_text(request, row, profile, format)
      for _, hidden in ipairs { HASH, "abcdef", "mx0key" } do assert.is_nil(text:find(hidden, 1, true), text) end
      assert.matches("&note=password", text, 1, true)
      assert.matches("application/json", text, 1, true)
    end
    assert.equal(("POST http://h/p?%s=***&password=***&note=password\n%s: ***\ncontent-type: application/json\n\n"
      .. '{"amount":"1","password":"***"}\n'):format(profile.signature_name, profile.key_header:upper()),
      operation.request_text(request, row, profile, "table"))
  end)

  it("ends after its headers where it has no body", function()
    assert.equal("GET http://h/p\n", operation.request_text({ method = "GET", url = "http://h/p", body = "",
      headers = {} }, row, profile, "table"))
  end)
end)
