-- SPDX-License-Identifier: MIT
-- What `purser` offers besides the operations: help, operations, doctor, completion; and how it reads times.

local command = require "command"
local core = require "purser.core"
local files = require "files"
local operations = require "purser.api.operations"
local values = require "purser.cli.values"

local function run_shell(line)
  local pipe = assert(io.popen(line .. " 2>&1; echo \"exit $?\"", "r"))
  local text = pipe:read("*a")
  pipe:close()
  return tonumber(text:match("exit (%d+)\n$")), text
end

describe("purser --help", function()
  it("has a text for every operation, every parameter an option", function()
    for _, row in ipairs(operations.list) do
      local code, out, err = command.run { row.group, row.name, "--help" }
      assert.equal(0, code, err)
      assert.is_truthy(out:find(row.id .. " " .. row.method, 1, true), row.full_name)
      for _, param in ipairs(row.params) do
        assert.is_truthy(out:find("--" .. param[1] .. " <", 1, true), row.full_name .. " " .. param[1])
      end
      assert.equal(row.effect ~= "read", out:find("--yes", 1, true) ~= nil)
    end
  end)

  it("names a page of help that exists after a word that does not", function()
    local function advice(...)
      local _, _, err = command.run { ... }
      return (err:match "purser: `([^`]*)` shows what can be given")
    end
    assert.equal("purser --help", advice("walet", "coins"))
    assert.equal("purser wallet --help", advice("wallet", "withdrow"))
    assert.equal("purser wallet withdraw --help", advice("wallet", "withdraw", "--coin", "USDT"))
  end)

  it("shows the plain password among the parameters", function()
    local _, out = command.run { "broker", "withdraw", "--help" }
    assert.is_truthy(out:match("Parameters:.*%-%-funds_password <source>.*\nConnection:"))
  end)

  it("lists all operations of a group with their summaries", function()
    local code, out = command.run { "broker", "--help" }
    assert.equal(0, code)
    for _, row in ipairs(operations.groups.broker) do assert.is_truthy(out:find(row.name, 1, true)) end
  end)

  it("says what the exit codes mean", function()
    local code, out = command.run { "--help" }
    assert.equal(0, code)
    assert.is_truthy(out:find("4 OUTCOME UNKNOWN", 1, true))
  end)

  it("knows the version", function()
    local code, out = command.run { "--version" }
    assert.equal(0, code)
    assert.equal("purser " .. require "purser.version" .. "\n", out)
  end)
end)

describe("purser operations", function()
  it("lists all forty, and those that only the live service has", function()
    local code, out = command.run { "operations" }
    assert.equal(0, code)
    for _, row in ipairs(operations.every) do assert.is_truthy(out:find("\n" .. row.id .. " ", 1, true), row.id) end
  end)

  it("lists those whose facts contain a word", function()
    local code, out = command.run { "operations", "SPOT_DEAL_READ" }
    assert.equal(0, code)
    assert.is_truthy(out:find("conversion_history", 1, true))
    local _, lines = out:gsub("\n", "")
    assert.equal(3, lines)
  end)

  it("shows everything about one, by name, id or command", function()
    local _, by_id = command.run { "operations", "c15" }
    for _, name in ipairs { "wallet.internal_transfer", "wallet internal_transfer", "wallet internal-transfer" } do
      local code, out = command.run { "operations", name }
      assert.equal(0, code)
      assert.equal(by_id, out)
    end
    assert.is_truthy(by_id:find("toAccountType  yes       EMAIL, UID, MOBILE", 1, true), by_id)
    assert.is_truthy(by_id:find("do not run it again", 1, true))
  end)

  it("writes JSON", function()
    local code, out = command.run { "operations", "--format", "json" }
    assert.equal(0, code)
    assert.equal(45, #core.decode(out))
  end)

  it("suggests the nearest name", function()
    local code, _, err = command.run { "operations", "wallet.withdrwa" }
    assert.equal(2, code)
    assert.is_truthy(err:find('did you mean "wallet.withdraw"', 1, true), err)
  end)
end)

describe("the host that doctor looks at", function()
  local doctor = require "purser.cli.doctor"

  local function warning(url, profile)
    local found
    doctor.check_host({ add = function(_, state, topic, text) found = state .. " " .. topic .. ": " .. text end },
      { profile = assert(require "purser.api.resolve_profile"(profile)) }, url)
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

describe("purser completion", function()
  it("writes a script that bash accepts and completes with", function()
    local path = os.tmpname()
    local code, script = command.run { "completion", "bash" }
    assert.equal(0, code)
    files.write(path, script)
    local status, said = run_shell("bash -n " .. path)
    assert.equal(0, status, said)
    local purser = os.tmpname() -- the command as it runs here: its own first line names one Lua
    files.write(purser, ("#!/bin/sh\nexec %s bin/purser \"$@\"\n"):format(os.getenv "LUA" or "lua5.4"))
    run_shell("chmod 755 " .. purser)
    local function complete(...)
      local words = { ... }
      local quoted = {}
      for i, word in ipairs(words) do quoted[i] = command.quote(word) end
      local line = [[bash -c '. %s; COMP_WORDS=(%s); COMP_CWORD=%d; _purser; printf "%%s\n" "${COMPREPLY[@]}"']]
      local _, text = run_shell(line:format(path, (table.concat(quoted, " "):gsub("'", "\"")), #words - 1))
      return text
    end
    for words, expected in pairs {
      ["wallet withdra"] = "withdraw\nwithdrawal_history\nwithdrawal_addresses\nwithdraw_legacy\n",
      ["wallet withdraw --netW"] = "--netWork\n", ["wallet withdraw --netWork T"] = "TRX\nTONCOIN\n",
      ["wallet transfer --fromAccountType F"] = "FUTURES\n", ["wallet withdraw --coin USDC"] = "USDC\n",
      ["wallet coins --columns networkList.withdrawF"] = "networkList.withdrawFee\n",
      ["wallet deposit_history --status 1"] = "1\n10\n11\n12\n", ["pay"] = "payouts\n", ["payouts r"] = "run\n"
        .. "report\nretry\n", ["wait w"] = "withdrawal\n", ["fleet d"] = "distribute\n", ["journal l"] = "list\n",
      ["wallet deposit_history --filter stat"] = "status=\n", -- bash cuts what follows at the =
      ["wallet deposit_history --filter status = SU"] = "SUCCESS\n", ["wallet coins --filter coin = USDC"] = "USDC\n",
      ["wallet coins --columns coin,networkList.withdrawF"] = "coin,networkList.withdrawFee\n",
      ["wait withdrawal x --goal s"] = "success\nsent\n", ["wait deposit x --goal s"] = "seen\n",
      ["export wallet.dep"] = "wallet.deposit_history\n", ["operations wallet.withdrawal_h"] =
        "wallet.withdrawal_history\n", ["payouts x --operation wallet.withdraw_"] = "wallet.withdraw_legacy\n",
      ["export wallet.deposit_history --filter status = REF"] = "REFUND\n", ["help wallet withdraw_"] =
        "withdraw_legacy\n",
    } do
      local list = { purser }
      for word in words:gmatch "%S+" do list[#list + 1] = word end
      assert.equal(expected, (complete((table.unpack or unpack)(list)):gsub("exit 0\n", "")), words) -- luacheck: ignore
    end
    os.remove(purser)
    os.remove(path)
  end)

  it("writes a script that zsh accepts, where there is a zsh", function()
    local code, script = command.run { "completion", "zsh" }
    assert.equal(0, code)
    assert.is_truthy(script:find("#compdef purser", 1, true))
    if run_shell "command -v zsh" ~= 0 then return end
    local path = os.tmpname()
    files.write(path, script)
    local status, said = run_shell("zsh -n " .. path)
    os.remove(path)
    assert.equal(0, status, said)
  end)

  it("knows no other shell", function()
    assert.equal(2, (command.run { "completion", "tcsh" }))
  end)
end)

describe("purser doctor", function()
  local service, account

  setup(function()
    service = require("service").start { "--seed", "6" }
    account = assert(service.world:account { name = "Acme", role = "main", balances = { USDT = "10" } })
  end)

  teardown(function() service.stop() end)

  local function doctor(environment, ...)
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
    local code, findings, out = doctor { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key }
    assert.equal(0, code)
    for _, topic in ipairs { "keys", "service", "tls", "clock", "key", "permissions", "weights" } do
      assert.equal("ok", findings[topic].state, topic)
    end
    assert.is_nil(out:find(account.secret_key, 1, true))
    assert.is_nil(out:find(account.api_key, 1, true))
  end)

  it("only reads", function()
    for name in pairs(service.world:counts()) do assert.equal("read", operations.by_name[name].effect) end
  end)

  it("names the missing permissions", function()
    local narrow = assert(service.world:account { name = "Narrow", permissions = "SPOT_DEAL_READ" })
    local code, findings = doctor { PURSER_API_KEY = narrow.api_key, PURSER_SECRET_KEY = narrow.secret_key }
    assert.equal(0, code)
    assert.equal("warn", findings.permissions.state)
    assert.equal("missing: SPOT_ACCOUNT_READ, SPOT_WITHDRAW_READ, SPOT_TRANSFER_READ", findings.permissions.text)
  end)

  it("shows the days, the IP list and the permissions of the key where the profile has them", function()
    local function under(fields)
      local named = assert(service.world:account(fields))
      local code, findings, out = doctor({ PURSER_API_KEY = named.api_key, PURSER_SECRET_KEY = named.secret_key },
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
    assert.same({ "ok", "1 addresses" }, { findings["ip list"].state, findings["ip list"].text })
    findings = under { name = "Reader", permissions = "SPOT_ACCOUNT_READ" }
    assert.equal("ok", findings["ip list"].state)
    local other = require("service").start { "--key-days", "10" }
    assert(other.world:account { name = "Old", api_key = "mx0oldoldold", secret_key = "x" })
    local _, told = doctor({ PURSER_API_KEY = "mx0oldoldold", PURSER_SECRET_KEY = "x" }, "--profile", "mexc",
      "--base-url", other.url)
    other.stop()
    assert.same({ "warn", "VALID; it ends in 10 days" }, { told.key.state, told.key.text })
  end)

  it("distinguishes a wrong secret from an unknown key, each with its cure", function()
    local code, findings = doctor { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = "wrong" }
    assert.equal(1, code)
    assert.is_truthy(findings.key.cure:find("secret key is not the one", 1, true))
    code, findings = doctor { PURSER_API_KEY = "mx0unknown", PURSER_SECRET_KEY = "wrong" }
    assert.equal(1, code)
    assert.is_truthy(findings.key.cure:find("does not know this API key", 1, true))
  end)

  it("finds a key that is bound to another address", function()
    local bound = assert(service.world:account { name = "Bound", ip = "203.0.113.7" })
    local code, findings = doctor { PURSER_API_KEY = bound.api_key, PURSER_SECRET_KEY = bound.secret_key }
    assert.equal(1, code)
    assert.is_truthy(findings.key.cure:find("add the address", 1, true))
  end)

  it("finds that nobody listens", function()
    local code, findings = doctor { PURSER_API_KEY = "a", PURSER_SECRET_KEY = "b",
      PURSER_BASE_URL = "http://127.0.0.1:1" }
    assert.equal(3, code)
    assert.is_truthy(findings.service.cure:find("port", 1, true))
  end)

  it("finds that there are no keys", function()
    local code, findings = doctor {}
    assert.equal(2, code)
    assert.is_truthy(findings.keys.text:find("PURSER_API_KEY", 1, true))
  end)

  it("measures a clock that is off", function()
    service.world:advance(7000)
    local code, findings = doctor { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key }
    assert.equal(1, code)
    assert.equal("fail", findings.clock.state)
    local ms = tonumber(findings.clock.text:match("(%d+) ms behind"))
    assert.is_true(ms > 6000 and ms < 8000)
    assert.is_truthy(findings.clock.cure:find("timedatectl", 1, true))
  end)
end)

describe("a time on the command line", function()
  local NOW = 1700000000000

  it("is a duration before now, a date, or milliseconds", function()
    local cases = {
      ["now"] = NOW, ["30d"] = NOW - 30 * 86400000, ["12h"] = NOW - 12 * 3600000, ["90m"] = NOW - 90 * 60000,
      ["45s"] = NOW - 45000, ["2w"] = NOW - 14 * 86400000, ["1699999999999"] = 1699999999999,
      ["1970-01-01"] = 0, ["2000-02-29"] = 951782400000, ["2024-03-01"] = 1709251200000,
      ["2023-11-14T22:13:20Z"] = NOW, ["2023-11-14 22:13:20"] = NOW, ["2023-11-15T00:13:20+02:00"] = NOW,
      ["2023-11-14T16:43:20-0530"] = NOW, ["2023-11-14T22:13:20.5"] = NOW + 500, ["2023-11-14T22:13"] = NOW - 20000,
    }
    for text, ms in pairs(cases) do assert.equal(ms, values.time(text, NOW), text) end
  end)

  it("is nothing else", function()
    for _, text in ipairs { "", "d", "-1d", "1.5d", "1y", "2023-02-29", "1900-02-29", "2023-13-01", "2023-00-10",
      "2023-01-32", "2023-1-1", "2023-01-01T25:00", "2023-01-01T10", "2023-01-01T10:60", "2023-01-01T10:00X",
      "2023-01-01T10:00+25:00", "170000000000", "17000000000000", "2023-01-01T10:00:61" } do
      local ms, message = values.time(text, NOW)
      assert.is_nil(ms, text)
      assert.is_truthy(message:find("is not a time", 1, true))
    end
  end)

  it("is shown in UTC", function()
    assert.equal("2023-11-14 22:13:20", values.show_time(NOW))
    assert.equal("2023-11-14 22:13:20.007", values.show_time(NOW + 7))
  end)
end)
