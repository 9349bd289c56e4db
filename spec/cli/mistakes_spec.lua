-- SPDX-License-Identifier: MIT
-- What people get wrong on a command line, and what they are notified. Nothing of it may move money.

local command = require "command"
local files = require "files"

local SHARED = 420 -- octal 644

describe("purser", function()
  local service, account, keys, made

  setup(function()
    service = require("service").start { "--seed", "9" }
    account = assert(service.world:account { name = "Acme", role = "broker", balances = { USDT = "1000" } })
    keys = { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key, PURSER_BASE_URL = service.url }
    made = {}
  end)

  teardown(function()
    service.stop()
    for _, path in ipairs(made) do os.remove(path) end
  end)

  local function without(name, value)
    local copy = {}
    for key, text in pairs(keys) do copy[key] = text end
    copy[name] = value
    return copy
  end

  local function temporary(text)
    local path = files.temporary(text)
    made[#made + 1] = path
    return path
  end

  local function received(operation)
    local counts = service.world:counts()[operation]
    return counts and counts.received or 0, counts and counts.applied or 0
  end

  local function rejected(words, ...)
    local code, out, err = command.run(words, keys)
    assert.equal(2, code, table.concat(words, " ") .. ": " .. err)
    assert.equal("", out)
    for _, text in ipairs { ... } do assert(err:find(text, 1, true), err) end
  end

  it("says where an operation stands that was named without its group", function()
    rejected({ "withdraw" }, "an operation comes after its group", "`purser wallet withdraw`",
      "`purser broker withdraw`")
    rejected({ "wallet", "withdrawal" }, "did you mean `purser wallet withdraw`?", "`purser wallet --help`")
    rejected({ "fleet", "plna", "x" }, "'plan', 'apply'", "`purser fleet --help`")
  end)

  it("rejects columns that do not exist, before anything is sent", function()
    local before = #service.world:requests()
    rejected({ "wallet", "coins", "--columns", "coin,withdrawfee" }, 'there is no "withdrawfee"',
      'did you mean "withdrawFee"', "networkList.netWork")
    rejected({ "wallet", "coins", "--columns", "coin", "--format", "json" }, "--columns is for table and csv")
    rejected({ "wallet", "coins", "--columns", " , " }, "--columns names none")
    rejected({ "export", "wallet.deposit_history", "--columns", "nope" }, 'there is no "nope"', "insertTime")
    rejected({ "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset", "USDT",
      "--amount", "1", "--yes", "--columns", "id" }, "there are tranId")
    assert.equal(before, #service.world:requests())
  end)

  it("takes a member of a nested list by its own name", function()
    local code, out = command.run({ "wallet", "coins", "--columns", "coin,netWork", "--format", "csv" }, keys)
    assert.equal(0, code)
    assert.matches("^coin,networkList%.netWork\nUSDT,TRX\n", out)
  end)

  it("names the histories, and how a parameter that is missing is given", function()
    rejected({ "export", "wallet.deposits_history" }, 'did you mean "wallet.deposit_history"', "broker.rebates")
    for history, advice in pairs {
      ["wallet.conversion_history"] = "--since", ["wallet.transfer_history"] = "--param fromAccountType=...",
    } do
      local code, _, err = command.run({ "export", history }, keys)
      assert.equal(2, code)
      assert(err:find("give it as " .. advice, 1, true), err)
    end
    local code, out = command.run({ "export", "wallet deposit-history", "--columns", "amount" }, keys)
    assert.same({ 0, "amount\n" }, { code, out })
  end)

  it("names the variable that is missing or empty, and the ways to name a service", function()
    for _, case in ipairs {
      { without("PURSER_SECRET_KEY", ""), "PURSER_SECRET_KEY is not set" },
      { without("PURSER_API_KEY", nil), "PURSER_API_KEY is not set" },
      { {}, "no keys: name a file with --credentials, set PURSER_API_KEY and PURSER_SECRET_KEY, or" },
      { without("PURSER_BASE_URL", nil), "--base-url (or PURSER_BASE_URL)" },
      { without("PURSER_BASE_URL", nil), "--profile mexc" },
    } do
      local code, _, err = command.run({ "wallet", "coins" }, case[1])
      assert.equal(2, code)
      assert(err:find(case[2], 1, true), err)
    end
    local _, _, err = command.run({ "wallet", "coins", "--base-url", "http://192.0.2.1" }, keys)
    assert.is_nil(err:find("allow_insecure", 1, true)) -- no option permits it here
  end)

  it("rejects an empty name of a file, as an empty variable gives it, before anything is sent", function()
    for option, words in pairs {
      ["--credentials"] = { "wallet", "coins", "--credentials", "" },
      ["--output"] = { "wallet", "coins", "--output", "" },
      ["--cursor"] = { "export", "wallet.deposit_history", "--since", "1d", "--cursor", "" },
      ["--guard"] = { "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset",
        "USDT", "--amount", "1", "--yes", "--guard", "" },
    } do
      local code, out, err = command.run(words, keys)
      assert.same({ 2, "" }, { code, out }, option)
      assert.is_truthy(err:find("purser: " .. option, 1, true), err)
      assert.is_truthy(err:find("empty", 1, true) or err:find("names no file", 1, true), err)
    end
  end)

  it("rejects guard rails that are a list: [] would be none, and the money would move", function()
    local path = temporary "[]"
    local before = received "wallet.transfer"
    local code, _, err = command.run({ "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES",
      "--asset", "USDT", "--amount", "1", "--yes", "--guard", path }, keys)
    assert.equal(2, code)
    assert.is_truthy(err:find(path .. " is not the JSON of an object", 1, true), err)
    assert.equal(before, received "wallet.transfer")
  end)

  it("names the source of a key that cannot be, and the service only where it is at fault", function()
    local _, _, err = command.run({ "wallet", "coins" }, without("PURSER_API_KEY", "mx0 key"))
    assert.is_truthy(err:find("holds a blank (the keys come from PURSER_API_KEY and PURSER_SECRET_KEY)", 1, true), err)
    assert.is_nil(err:find("PURSER_BASE_URL", 1, true))
  end)

  it("takes the options of all commands before the command", function()
    local store = "sqlite:" .. temporary()
    local code, _, err = command.run({ "--rate-limit", store, "--timeout", "9", "wallet", "coins" }, keys)
    assert.same({ 0, "" }, { code, err })
  end)

  -- The connection got the number of the closed stream, and the result was written into it.
  it("ends with 5 when standard output is closed", function()
    local words = {}
    for name, value in pairs(keys) do words[#words + 1] = name .. "=" .. value end
    local path = temporary()
    os.execute(("%s %s bin/purser wallet coins >&- 2>/dev/null; echo $? > %s"):format(table.concat(words, " "),
      os.getenv "LUA" or "lua5.4", path))
    assert.equal("5\n", files.read(path))
  end)

  describe("--reconcile", function()
    before_each(function() service.world:disarm() end)

    it("ends with 0 and the record, when it was executed", function()
      assert(service.world:fault { kind = "lost_answer", operation = "sub_account.create_sub_account" })
      local code, out, err = command.run({ "sub_account", "create_sub_account", "--subAccount", "settled01", "--note",
        "n", "--yes", "--reconcile", "--format", "json" }, keys)
      assert.equal(0, code, err)
      assert.equal("settled01", assert(require("purser.core").decode(out)).subAccount)
      assert(err:find("it was executed, once", 1, true), err)
      assert.is_nil(err:find("client:reconcile", 1, true)) -- that is for programs
    end)

    -- Most of these are known after seconds alone, so the client is none here.
    local function reconciled(operation, ...)
      local said, results = {}, { ... }
      local row = require("purser.api.operations").by_name[operation]
      local err = require("purser.call.errors").new { kind = "transport", outcome = "unknown", message = "lost",
        advice = "client:reconcile(err) looks in wallet.somewhere" }
      local stderr, stdout = io.stderr, io.stdout
      local pen = { write = function(_, ...) said[#said + 1] = table.concat { ... } return true end,
        flush = function() return true end }
      io.stderr, io.stdout = pen, pen -- luacheck: ignore 122
      local ok, code = pcall(require("purser.cli.reconcile").run,
        { reconcile = function() return results[1], results[2] end }, row, { subAccount = "settled01" }, err, "csv")
      io.stderr, io.stdout = stderr, stdout -- luacheck: ignore 122
      assert(ok, code)
      return code, table.concat(said)
    end

    it("ends with 3, when it was not executed", function()
      local code, said = reconciled("wallet.transfer", { outcome = "not_done", reason = "the service says FAILED" })
      assert.equal(3, code)
      assert(said:find("it was not executed: the service says FAILED; it may be run again", 1, true), said)
    end)

    it("ends with 4, when it cannot be decided or looked for", function()
      local code, said = reconciled("wallet.transfer",
        { outcome = "undecided", reason = "two fit", candidates = { 1, 2 } })
      assert.equal(4, code)
      assert(said:find("it cannot be decided: two fit (2 records might be it)", 1, true), said)
      assert(said:find("UNKNOWN: lost; do not run it again: look in wallet.transfer_history for", 1, true), said)
      code, said = reconciled("wallet.transfer", nil, "no network")
      assert.equal(4, code)
      assert(said:find("it could not be looked for: no network", 1, true), said)
    end)

    it("ends with 5 and the way to delete it, when the secret of a new key is lost", function()
      local code, said = reconciled("sub_account.create_api_key",
        { outcome = "done", secret_lost = true, record = { apiKey = "mx0", note = "n" } })
      assert.equal(5, code)
      assert(said:find("delete_api_key --subAccount settled01 --apiKey mx0", 1, true), said)
    end)
  end)

  describe("sim", function()
    it("says what to do about a port in use and about other hosts", function()
      local code, _, err = command.run { "sim", "--port", service.url:match ":(%d+)$" }
      assert.equal(1, code)
      assert(err:find("give another --port", 1, true), err)
      code, _, err = command.run { "sim", "--port", "0", "--host", "0.0.0.0" }
      assert.equal(1, code)
      assert(err:find("give --host 127.0.0.1", 1, true), err)
    end)
  end)

  describe("fleet", function()
    local declared

    setup(function()
      declared = temporary [[{"accounts": [{"name": "mistakes01", "note": "n",
        "keys": [{"note": "bot", "permissions": ["SPOT_DEAL_READ"]}]}]}]]
    end)

    it("rejects a file of secrets that others can read", function()
      local secrets = temporary "key\tsecret\tmistakes01\tbot\n"
      os.execute(("chmod %o %s"):format(SHARED, secrets))
      rejected({ "fleet", "apply", declared, "--secrets", secrets, "--yes" }, "can be used by others", "chmod 600")
    end)

    it("makes no file of secrets where none is needed", function()
      local secrets = temporary()
      os.remove(secrets)
      for _, action in ipairs { "plan", "orphans", "retire", "sweep" } do
        command.run({ "fleet", action, declared, "--secrets", secrets, "--yes" }, keys)
        assert.is_nil(io.open(secrets), action)
      end
    end)

    it("takes numbers of days and amounts only", function()
      local secrets = temporary()
      for _, days in ipairs { "x", "999999999", "1e2", ".5" } do
        rejected({ "fleet", "rotate", declared, "--secrets", secrets, "--yes", "--days", days }, "such as 90 or 0.5")
      end
      local code, shown = command.run_on_terminal(
        { "fleet", "rotate", declared, "--secrets", secrets, "--days", "0.5" }, keys, "no\n")
      assert.equal(2, code)
      assert(shown:find("older than 0.5 days", 1, true), shown)
      for _, amount in ipairs { "x", "1,5", "1e2" } do
        rejected({ "fleet", "sweep", declared, "--secrets", secrets, "--yes", "--leave", amount }, "is not an amount")
      end
    end)

    it("asks with the address of the service", function()
      local code, shown = command.run_on_terminal({ "fleet", "apply", declared, "--secrets", temporary() }, keys,
        "no\n")
      assert.equal(2, code)
      assert(shown:find("This makes it so at " .. service.url, 1, true), shown)
    end)
  end)

  it("withdraw-plan shows its plan once on a terminal, and at which service it would be executed", function()
    local code, shown = command.run_on_terminal({ "withdraw-plan", "--coin", "USDT", "--network", "trc20", "--address",
      "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7", "--amount", "20", "--execute" }, keys, "no\n")
    assert.equal(2, code)
    local _, times = shown:gsub("Withdrawal of 20 USDT", "")
    assert.equal(1, times)
    assert(shown:find("This moves money at " .. service.url, 1, true), shown)
    assert.equal(0, (received "wallet.withdraw"))
  end)

  -- The last, for it moves the clock on.
  it("ends with 130 when it is interrupted and with 70 when it fails itself, and says what had happened", function()
    for problem, expected in pairs {
      boom = { 70, "stopped by an error of its own: " }, ["interrupted!"] = { 130, "purser: interrupted; " },
    } do
      local init = [[package.preload["purser.cli.operations"] = function()
        return { summary = "", define = function() end, start = function() error "]] .. problem .. [[" end }
      end]]
      local code, out, err = command.run({ "operations" }, { LUA_INIT = init })
      assert.same({ expected[1], "" }, { code, out })
      assert(err:find(expected[2], 1, true), err)
      assert(err:find("nothing was sent", 1, true), err)
    end
    for _, name in ipairs { "argparse", "purser.cli", "purser.decimal", "purser.cli.terminal" } do
      local code, _, err = command.run({ "operations" },
        { LUA_INIT = ([[package.preload["%s"] = function() error("interrupted!", 0) end]]):format(name) })
      assert.equal(130, code, name)
      assert(err:find("interrupted; nothing was sent", 1, true), err)
    end
  end)

  it("does what is no read although the clocks differ: rejected once, applied once", function()
    assert(service.world:advance(3600000))
    local _, before = received "wallet.transfer"
    local code, out, err = command.run({ "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType",
      "FUTURES", "--asset", "USDT", "--amount", "1", "--yes" }, keys)
    assert.equal(0, code, err)
    assert.matches("tranId", out)
    assert.matches("clock is %d+ ms from this machine's", err)
    local _, after = received "wallet.transfer"
    assert.equal(before + 1, after)
  end)
end)
