-- SPDX-License-Identifier: MIT
-- The command line against the simulator over real HTTP: one process a test, judged by its exit code and its output.

local command = require "command"
local core = require "purser.core"
local files = require "files"

local unpack = table.unpack or unpack -- luacheck: ignore
local SECRET_WORDS = { "secret_key", "signature=%x" }

describe("purser GROUP OPERATION", function()
  local service, account, keys, uid

  setup(function()
    service = require("service").start { "--seed", "5" }
    account = assert(service.world:account {
      name = "Acme", role = "broker", balances = { USDT = "1000.000000000000000001", TRX = "3.5", BTC = "2" },
    })
    uid = account.uid
    keys = { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key, PURSER_BASE_URL = service.url }
  end)

  teardown(function() service.stop() end)

  before_each(function() service.world:disarm() end)

  after_each(function() assert(service.world:verify()) end)

  local function purser(...) return command.run({ ... }, keys) end

  local function count(operation)
    local counts = service.world:counts()[operation]
    return counts and counts.received or 0, counts and counts.applied or 0
  end

  local function address()
    local code, out = purser("wallet", "create_deposit_address", "--coin", "USDT", "--network", "Tron(TRC20)", "--yes",
      "--format", "csv")
    assert.equal(0, code)
    return out:match("\n([^,]+),")
  end

  local function no_secret_in(...)
    for _, text in ipairs { ... } do
      assert.is_nil(text:find(account.secret_key, 1, true))
      for _, word in ipairs(SECRET_WORDS) do assert.is_nil(text:find(word)) end
    end
  end

  describe("formats", function()
    it("writes JSON with the members in the document's order and exact amounts", function()
      local code, out, err = purser("wallet", "convertible_balances", "--format", "json")
      assert.equal(0, code)
      assert.equal("", err)
      local names = {}
      for name in out:match("{(.-)}"):gmatch('"(%w+)":') do names[#names + 1] = name end
      assert.same({ "convertPlatformToken", "convertUsdt", "balance", "asset" }, { unpack(names, 1, 4) })
      local balances = {}
      for _, record in ipairs(core.decode(out)) do balances[record.asset] = record.balance end
      assert.equal("1000.000000000000000001", balances.USDT)
    end)

    it("writes CSV with a header that does not depend on the records", function()
      local code, out = purser("wallet", "deposit_history", "--format", "csv", "--coin", "DOGE")
      assert.equal(0, code)
      assert.equal("amount,coin,network,status,address,addressTag,txId,unlockConfirm,confirmTimes,insertTime,memo\n",
        out)
    end)

    it("gives nested records a line each", function()
      local code, out = purser("wallet", "coins", "--format", "csv", "--columns",
        "coin,networkList.netWork,networkList.withdrawFee")
      assert.equal(0, code)
      assert.is_truthy(out:find("\nUSDT,TRX,1\n", 1, true))
      assert.is_truthy(out:find("\nUSDT,ETH,3.2\n", 1, true))
    end)

    it("writes a table whose amounts end in one column", function()
      local code, out = purser("wallet", "convertible_balances", "--columns", "asset,balance")
      assert.equal(0, code)
      local ends = {}
      for line in out:gmatch("[^\n]+") do ends[#ends + 1] = #line end
      assert.is_true(#ends >= 4)
      for _, length in ipairs(ends) do assert.equal(ends[1], length) end
    end)

    it("says so when there is nothing", function()
      local code, out = purser("wallet", "deposit_history", "--coin", "DOGE")
      assert.equal(0, code)
      assert.equal("(none)\n", out)
    end)
  end)

  describe("histories", function()
    local to

    setup(function()
      to = address()
      local now = service.world:refresh()
      for days = 0, 29 do
        assert(service.world:deposit { address = to, coin = "USDT", network = "TRX",
          amount = ("%d.5"):format(100 + days), time = now - days * 86400000 - 3600000 })
      end
    end)

    it("walks windows of seven days, and every record comes once", function()
      local before = count "wallet.deposit_history"
      local code, out = purser("wallet", "deposit_history", "--coin", "USDT", "--since", "35d", "--format", "json")
      assert.equal(0, code)
      assert.equal(6, count "wallet.deposit_history" - before) -- each a little shorter: its edges are asked for, too
      local seen = {}
      for _, record in ipairs(core.decode(out)) do
        assert.is_nil(seen[record.amount])
        seen[record.amount] = true
      end
      for days = 0, 29 do assert.is_true(seen[("%d.5"):format(100 + days)]) end
    end)

    it("stops at --limit records, the newest ones", function()
      local before = count "wallet.deposit_history"
      local code, out = purser("wallet", "deposit_history", "--since", "30d", "--limit", "3", "--format", "csv",
        "--columns", "amount")
      assert.equal(0, code)
      assert.equal(1, count "wallet.deposit_history" - before)
      assert.equal("amount\n100.5\n101.5\n102.5\n", out)
    end)

    it("rejects what lies beyond the reach, before anything is sent", function()
      local before = count "wallet.deposit_history"
      local code, _, err = purser("wallet", "deposit_history", "--since", "91d")
      assert.equal(2, code)
      assert.is_truthy(err:find("reaches back 90 days", 1, true))
      assert.equal(before, (count "wallet.deposit_history"))
    end)

    it("lists exactly as far as the service reaches, and says from where", function()
      local code, out, err = purser("wallet", "deposit_history", "--since", "90d", "--format", "csv",
        "--columns", "amount")
      assert.equal(0, code)
      assert.is_truthy(err:find("reaches back 90 days; this lists from ", 1, true))
      local _, lines = out:gsub("\n", "")
      assert.equal(31, lines)
    end)

    it("takes dates", function()
      local code, out = purser("wallet", "deposit_history", "--since", "2001-09-10", "--until", "2001-09-12T00:00:00Z",
        "--dry-run")
      assert.equal(0, code)
      assert.is_truthy(out:find("startTime=1000080000000&endTime=1000252800000", 1, true))
    end)

    it("shows progress on a terminal, and only there", function()
      local code, shown = command.run_on_terminal({ "wallet", "deposit_history", "--since", "30d" }, keys)
      assert.equal(0, code)
      assert.is_truthy(shown:find("records, back to", 1, true))
      local _, _, err = purser("wallet", "deposit_history", "--since", "30d")
      assert.equal("", err)
    end)

    it("fetches every page with --all", function()
      for i = 1, 12 do
        assert.equal(0, (purser("sub_account", "create_sub_account", "--subAccount", ("pageaccount%02d"):format(i),
          "--note", "n", "--yes")))
      end
      local code, out = purser("sub_account", "list_sub_accounts", "--limit", "5", "--all", "--format", "csv")
      assert.equal(0, code)
      local _, lines = out:gsub("\npageaccount", "")
      assert.equal(12, lines)
    end)

    it("fetches every page with --all where the service reports a total, too", function()
      for i = 1, 5 do
        assert.equal(0, (purser("wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES",
          "--asset", "USDT", "--amount", "0.000" .. i, "--yes")))
      end
      local before = count "wallet.transfer_history"
      local code, out = purser("wallet", "transfer_history", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES",
        "--size", "2", "--all", "--format", "json", "--since", "1d")
      assert.equal(0, code)
      local answer = core.decode(out)
      assert.equal(5, answer.total)
      for i, row in ipairs(answer.rows) do assert.equal("0.000" .. 6 - i, row.amount) end -- the newest first
      assert.equal(3, count "wallet.transfer_history" - before)
      code, out = purser("wallet", "withdrawal_addresses", "--limit", "1", "--all", "--format", "json")
      assert.equal(0, code)
      assert.equal(core.decode(out).totalRecords, #core.decode(out).data)
    end)
  end)

  describe("exit codes", function()
    local withdraw = { "wallet", "withdraw", "--coin", "USDT", "--netWork", "TRX", "--amount", "10" }

    local function arguments(...)
      local words = { unpack(withdraw) }
      for _, word in ipairs { ... } do words[#words + 1] = word end
      return words
    end

    it("1: rejected by the service, with what to do", function()
      local code, out, err = command.run({ "wallet", "coins" }, {
        PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = "wrong", PURSER_BASE_URL = service.url })
      assert.equal(1, code)
      assert.equal("", out)
      assert.is_truthy(err:find("code 700002", 1, true))
      assert.is_truthy(err:find("the secret key is not the one of this API key", 1, true))
      local name = { "broker", "create_sub_account", "--subAccount", "desk0730", "--note", "n", "--yes" }
      assert.equal(0, (purser(unpack(name))))
      code, out, err = purser(unpack(name))
      assert.equal("", out)
      assert.equal(1, code)
      assert.is_truthy(err:find("; choose another name [code 730101", 1, true))
    end)

    it("1: rejected because of too many requests, and for how long", function()
      assert(service.world:fault { kind = "throttle", operation = "wallet.transfer", retry_after = 7 })
      local before = count "wallet.transfer"
      local code, out, err = purser("wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES",
        "--asset", "USDT", "--amount", "1", "--yes")
      assert.same({ 1, "" }, { code, out })
      assert.is_truthy(err:find("retry after 7 s, outcome rejected", 1, true), err)
      assert.equal(1, count "wallet.transfer" - before)
    end)

    it("2: bad input, and nothing reaches the service", function()
      local before = #service.world:requests()
      local cases = {
        { { "wallet", "coins", "--colour", "red" }, "unknown option" },
        { { "wallet", "withdrow" }, "did you mean" },
        { { "wallet", "withdraw", "--coin", "USDT" }, "missing option" },
        { arguments("--address", "T", "--amount", "5", "--yes"), "is given more than once; give it once" },
        { { "wallet", "deposit_history", "--limit", "1001" }, "at most 1000" },
        { { "wallet", "deposit_history", "--since", "yesterday" }, "--since is not a time" },
        { { "wallet", "deposit_history", "--since", "1d", "--startTime", "1700000000000" }, "say the same" },
        { { "wallet", "transfer", "--fromAccountType", "SPOTS", "--toAccountType", "FUTURES", "--asset", "USDT",
          "--amount", "1", "--yes" }, "must be one of" },
        { { "wallet", "convert", "--asset", "A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P", "--yes" }, "at most 15" },
        { { "wallet", "coins", "--extra", "novalue" }, "name=value" },
        { { "wallet", "coins", "--timeout", "0" }, "seconds" },
        { { "wallet", "coins", "--credentials", "/nonexistent/keys" },
          "purser: /nonexistent/keys cannot be read: No such file or directory\n" },
        { { "wallet", "coins", "--base-url", "http://192.0.2.1" }, "https" },
        { {}, "command is required" },
      }
      for _, case in ipairs(cases) do
        local code, out, err = command.run(case[1], keys)
        assert.equal(2, code, table.concat(case[1], " ") .. ": " .. err)
        assert.equal("", out)
        assert.is_truthy(err:find(case[2], 1, true), err)
      end
      assert.equal(before, #service.world:requests())
    end)

    it("3: not sent, when nobody listens", function()
      local code, _, err = purser("wallet", "coins", "--base-url", "http://127.0.0.1:1", "--timeout", "2")
      assert.equal(3, code)
      assert.is_truthy(err:find("outcome not_sent", 1, true))
    end)

    it("4: OUTCOME UNKNOWN, with the command that reconciles it; the withdrawal is sent once", function()
      local to = address()
      local received, applied = count "wallet.withdraw"
      assert(service.world:fault { kind = "lost_answer", operation = "wallet.withdraw" })
      local code, out, err = command.run(arguments("--address", to, "--yes"), keys)
      assert.equal(4, code)
      assert.equal("", out)
      assert.is_truthy(err:find("OUTCOME UNKNOWN", 1, true))
      assert.is_truthy(err:find("purser wallet withdrawal_history --coin USDT --since 1h", 1, true), err)
      local id = err:match("withdrawOrderId (%w+) was added")
      assert.equal(32, #id)
      local more_received, more_applied = count "wallet.withdraw"
      assert.equal(received + 1, more_received)
      assert.equal(applied + 1, more_applied)

      local reconciled
      code, reconciled = purser("wallet", "withdrawal_history", "--coin", "USDT", "--since", "1h", "--format", "csv",
        "--columns", "withdrawOrderId")
      assert.equal(0, code)
      assert.is_truthy(reconciled:find(id, 1, true))
      no_secret_in(out, err)
    end)

    it("5: done, but standard output is full", function()
      if not io.open("/dev/full") then return end
      local environment = {}
      for name, value in pairs(keys) do environment[#environment + 1] = name .. "=" .. value end
      local _, _, status = os.execute(("env %s %s bin/purser wallet coins >/dev/full 2>/dev/null"):format(
        table.concat(environment, " "), os.getenv "LUA" or "lua5.4"))
      if status then assert.equal(5, status) end -- 5.1 has another form of answer
    end)
  end)

  describe("confirmation", function()
    local transfer = { "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES",
      "--asset", "BTC", "--amount", "0.1" }

    it("is rejected where there is no terminal to ask on", function()
      local before = count "wallet.transfer"
      local code, _, err = command.run(transfer, keys, "yes\n")
      assert.equal(2, code)
      assert.is_truthy(err:find("give --yes", 1, true))
      assert.equal(before, (count "wallet.transfer"))
    end)

    it("goes on after yes, having shown what it would do", function()
      local _, before = count "wallet.transfer"
      local code, shown = command.run_on_terminal(transfer, keys, "yes\n")
      assert.equal(0, code)
      assert.is_truthy(shown:find("This moves money at " .. service.url, 1, true))
      assert.is_truthy(shown:find("amount%s+| 0%.1"))
      assert.is_truthy(shown:find("service%s+| http://127.0.0.1:%d+ %(from PURSER_BASE_URL%)"))
      assert.is_truthy(shown:find("key%s+| " .. account.api_key:sub(1, 5) .. "%.%.%." .. account.api_key:sub(-3)))
      assert.is_truthy(shown:find("tranId", 1, true))
      local _, after = count "wallet.transfer"
      assert.equal(before + 1, after)
    end)

    it("sends nothing after anything else", function()
      local before = count "wallet.transfer"
      for _, typed in ipairs { "no\n", "y\n", "\n", "\4" } do
        local code, shown = command.run_on_terminal(transfer, keys, typed)
        assert.equal(2, code)
        assert.is_truthy(shown:find("nothing was sent", 1, true))
      end
      assert.equal(before, (count "wallet.transfer"))
    end)
  end)

  describe("--dry-run", function()
    it("prints the signed request with key and signature masked, and sends nothing", function()
      local before = #service.world:requests()
      local code, out, err = purser("broker", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "SPOT",
        "--toAccount", "shop", "--asset", "USDT", "--amount", "1", "--dry-run")
      assert.equal(0, code)
      assert.equal(1, (out:find("POST " .. service.url .. "/api/v3/broker/sub-account/universalTransfer?", 1, true)))
      assert.is_truthy(out:find("&signature=***\n", 1, true))
      assert.is_truthy(out:find("X-MEXC-APIKEY: ***\n", 1, true))
      assert.is_truthy(out:find('"asset":"USDT","amount":"1"', 1, true))
      assert.is_nil(out:find(account.api_key, 1, true))
      assert.equal(before, #service.world:requests())
      no_secret_in(out, err)
    end)

    it("masks passwords, in plain and hashed", function()
      local hash = core.md5_hex "hunter2"
      for _, option in ipairs { { "--funds_password", "hunter2" }, { "--password", hash } } do
        local environment = { FUNDS = option[2] }
        for name, value in pairs(keys) do environment[name] = value end
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
      local code, out, err = purser("broker", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", "T",
        "--amount", "1", "--funds_password", "hunter2", "--dry-run")
      assert.equal(2, code)
      assert.is_truthy(err:find("env:NAME or file:PATH", 1, true))
      assert.is_nil((out .. err):find("hunter2", 1, true))
    end)

    it("rejects a password in what is no regular file, without waiting for a pipe that nothing writes to", function()
      local pipe = os.tmpname()
      os.remove(pipe)
      assert(os.execute("mkfifo -m 600 " .. pipe))
      local code, _, err = purser("broker", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", "T",
        "--amount", "1", "--funds_password", "file:" .. pipe, "--dry-run")
      os.remove(pipe)
      assert.equal(2, code)
      assert.is_truthy(err:find(pipe .. " is not a regular file", 1, true), err)
    end)

    it("sends what this version does not know with --extra", function()
      local code, out = purser("wallet", "coins", "--extra", "fresh=a b", "--dry-run")
      assert.equal(0, code)
      assert.is_truthy(out:find("?fresh=a%20b&", 1, true))
    end)

    it("accepts kebab-case for the interface's spelling", function()
      local code, out = purser("wallet", "deposit-history", "--start-time", "1700000000000", "--dry-run")
      assert.equal(0, code)
      assert.is_truthy(out:find("startTime=1700000000000", 1, true))
    end)
  end)

  describe("keys in a file", function()
    local path

    before_each(function()
      path = os.tmpname()
      files.write(path, ("# main\napi_key = %s\nsecret_key=%s\nbase_url = %s\n"):format(account.api_key,
        account.secret_key, service.url))
    end)

    after_each(function() os.remove(path) end)

    it("are used when only their owner can read them", function()
      os.execute("chmod 600 " .. path)
      local code = command.run { "wallet", "convertible_balances", "--credentials", path }
      assert.equal(0, code)
    end)

    it("are rejected, with the cure, when others could", function()
      for _, mode in ipairs { "640", "604", "620" } do
        os.execute(("chmod %s %s"):format(mode, path))
        local code, out, err = command.run { "wallet", "coins", "--credentials", path }
        assert.equal(2, code)
        assert.is_truthy(err:find("chmod 600 " .. path, 1, true))
        no_secret_in(out, (err:gsub("secret_key", "")))
      end
    end)

    it("are not looked for in a folder, and nobody is asked to chmod one", function()
      local code, _, err = command.run { "wallet", "coins", "--credentials", "/tmp" }
      assert.equal(2, code)
      assert.is_truthy(err:find("/tmp is not a regular file", 1, true))
      assert.is_nil(err:find("chmod", 1, true))
    end)

    it("are never quoted when a line cannot be understood", function()
      files.write(path, "apikey " .. account.secret_key .. "\n")
      os.execute("chmod 600 " .. path)
      local code, out, err = command.run { "wallet", "coins", "--credentials", path }
      assert.equal(2, code)
      assert.is_truthy(err:find("line 1", 1, true))
      assert.is_nil((out .. err):find(account.secret_key, 1, true))
    end)
  end)

  describe("the secret of a new key", function()
    local name = "secretaccount1"
    local create = { "sub_account", "create_api_key", "--subAccount", name, "--note", "till", "--permissions",
      "SPOT_ACCOUNT_READ", "--yes" }

    setup(function()
      assert.equal(0, (purser("sub_account", "create_sub_account", "--subAccount", name, "--note", "n", "--yes")))
    end)

    local function with(...)
      local words = { unpack(create) }
      for _, word in ipairs { ... } do words[#words + 1] = word end
      return words
    end

    it("would be lost, so the key is not made without a place for it", function()
      local before = count "sub_account.create_api_key"
      local code, _, err = command.run(create, keys)
      assert.equal(2, code)
      assert.is_truthy(err:find("--secret-file FILE or --show-secret", 1, true))
      assert.equal(before, (count "sub_account.create_api_key"))
    end)

    it("is written to a new file that works as --credentials, and is not shown", function()
      local path = os.tmpname()
      os.remove(path)
      local code, out = command.run(with("--secret-file", path, "--format", "json"), keys)
      assert.equal(0, code)
      assert.equal("***", core.decode(out).secretKey)
      assert.equal(tonumber("600", 8), (core.file_mode(path)))
      assert.is_nil(out:find(files.read(path):match("secret_key = (%w+)"), 1, true))
      code = command.run({ "wallet", "convertible_balances", "--credentials", path, "--base-url", service.url })
      assert.equal(0, code)

      local before = count "sub_account.create_api_key"
      local again, _, err = command.run(with("--secret-file", path), keys) -- never over an old file
      assert.equal(2, again)
      assert.is_truthy(err:find("nothing was sent", 1, true))
      assert.equal(before, (count "sub_account.create_api_key"))
      os.remove(path)
    end)

    it("leaves no file behind when the key was rejected", function()
      local path = os.tmpname()
      os.remove(path)
      assert(service.world:fault { kind = "reject", operation = "sub_account.create_api_key", code = "730705" })
      assert.equal(1, (command.run(with("--secret-file", path), keys)))
      assert.is_nil(core.file_mode(path))
    end)

    it("is shown when that is asked for", function()
      local code, out = command.run(with("--show-secret", "--format", "json"), keys)
      assert.equal(0, code)
      assert.is_truthy(#core.decode(out).secretKey > 10)
    end)
  end)

  it("never shows a terminal what the service sends to control it", function()
    local text = require("purser.cli.output").render({ result = { list = "sub_account" } },
      { { subAccount = "a\27[2Jb\194\155c\nd", uid = uid } }, "table")
    assert.is_truthy(text:find("a\\x1B[2Jb\\u{9B}c\\x0Ad", 1, true))
  end)
end)
