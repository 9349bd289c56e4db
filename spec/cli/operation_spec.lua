-- SPDX-License-Identifier: MIT
-- The command line against the simulator over real HTTP: one process a test, judged by its exit code and its output.

local at_shell = require "at_shell"
local command = require "command"

local unpack = table.unpack or unpack -- luacheck: ignore
local TRANSFER = { "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset", "USDT",
  "--amount", "1", "--yes" }

describe("purser GROUP OPERATION", function()
  local at

  setup(function() at = at_shell({ "--seed", "5" }, { role = "broker", balances = { USDT = "1000" } }) end)
  teardown(function() at.stop() end)

  before_each(function() at.world:disarm() end)
  after_each(function() assert(at.world:verify()) end)

  local function no_secret_in(...)
    local text = table.concat { ... }
    for _, word in ipairs { at.account.secret_key, "secret_key", "signature=%x" } do assert.is_nil(text:find(word)) end
  end

  describe("exit codes", function()
    local withdraw = { "wallet", "withdraw", "--coin", "USDT", "--netWork", "TRX", "--amount", "10" }

    local function arguments(...)
      local words = { unpack(withdraw) }
      for _, word in ipairs { ... } do words[#words + 1] = word end
      return words
    end

    it("1: rejected by the service, with what to do", function()
      local code, out, err = command.run({ "wallet", "coins" }, {
        PURSER_API_KEY = at.account.api_key, PURSER_SECRET_KEY = "wrong", PURSER_BASE_URL = at.url })
      assert.equal(1, code)
      assert.equal("", out)
      assert.is_truthy(err:find("code 700002", 1, true))
      assert.is_truthy(err:find("the secret key is not the one of this API key", 1, true))
      local name = { "broker", "create_sub_account", "--subAccount", "desk0730", "--note", "n", "--yes" }
      assert.equal(0, (at.run(unpack(name))))
      code, out, err = at.run(unpack(name))
      assert.equal("", out)
      assert.equal(1, code)
      assert.is_truthy(err:find("; choose another name [code 730101", 1, true))
    end)

    it("1: rejected because of too many requests, and for how long", function()
      assert(at.world:fault { kind = "throttle", operation = "wallet.transfer", retry_after = 7 })
      local before = at.received "wallet.transfer"
      local code, out, err = at.run(unpack(TRANSFER))
      assert.same({ 1, "" }, { code, out })
      assert.is_truthy(err:find("retry after 7 s, outcome rejected", 1, true), err)
      assert.equal(1, at.received "wallet.transfer" - before)
    end)

    it("2: bad input, and nothing reaches the service", function()
      local before = #at.world:requests()
      local cases = {
        { { "wallet", "coins", "--colour", "red" }, "unknown option" },
        { { "wallet", "withdrow" }, "did you mean" },
        { { "wallet", "withdraw", "--coin", "USDT" }, "missing option" },
        { arguments("--address", "T", "--amount", "5", "--yes"), "is given more than once; give it once" },
        { { "wallet", "deposit_history", "--limit", "1001" }, "at most 1000" },
        { { "wallet", "deposit_history", "--since", "yesterday" }, '--since: "yesterday" is not a time' },
        { { "wallet", "deposit_history", "--since", "1d", "--startTime", "1700000000000" }, "say the same" },
        { { "wallet", "transfer", "--fromAccountType", "SPOTS", "--toAccountType", "FUTURES", "--asset", "USDT",
          "--amount", "1", "--yes" }, "is none of 'SPOT'" },
        { { "wallet", "convert", "--asset", "A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P", "--yes" }, "at most 15" },
        { { "wallet", "coins", "--extra", "novalue" }, "name=value" },
        { { "wallet", "coins", "--timeout", "0" }, "is no duration" },
        { { "wallet", "coins", "--credentials", "/nonexistent/keys" },
          "purser: --credentials /nonexistent/keys cannot be read: No such file or directory\n" },
        { { "wallet", "coins", "--base-url", "http://192.0.2.1" }, "https" },
        { { "wallet" }, "command is required" },
      }
      for _, case in ipairs(cases) do
        local code, out, err = command.run(case[1], at.keys)
        assert.equal(2, code, table.concat(case[1], " ") .. ": " .. err)
        assert.equal("", out)
        assert.is_truthy(err:find(case[2], 1, true), err)
      end
      assert.equal(before, #at.world:requests())
    end)

    it("3: not sent, when nobody listens", function()
      local code, _, err = at.run("wallet", "coins", "--base-url", "http://127.0.0.1:1", "--timeout", "2s")
      assert.equal(3, code)
      assert.is_truthy(err:find("outcome not_sent", 1, true))
    end)

    it("4: OUTCOME UNKNOWN, with the command that reconciles it; the withdrawal is sent once", function()
      local _, made = at.run("wallet", "create_deposit_address", "--coin", "USDT", "--network", "Tron(TRC20)", "--yes",
        "--csv")
      local to = made:match "\n([^\n,]+),"
      local received, applied = at.received "wallet.withdraw"
      assert(at.world:fault { kind = "lost_answer", operation = "wallet.withdraw" })
      local code, out, err = command.run(arguments("--address", to, "--yes"), at.keys)
      assert.equal(4, code)
      assert.equal("", out)
      assert.is_truthy(err:find("OUTCOME UNKNOWN", 1, true))
      assert.is_truthy(err:find("purser wallet withdrawal_history --coin USDT --since 1h", 1, true), err)
      local id = err:match("withdrawOrderId (%w+) was added")
      assert.equal(32, #id)
      local more_received, more_applied = at.received "wallet.withdraw"
      assert.equal(received + 1, more_received)
      assert.equal(applied + 1, more_applied)

      local reconciled
      code, reconciled = at.run("wallet", "withdrawal_history", "--coin", "USDT", "--since", "1h", "--format", "csv",
        "--columns", "withdrawOrderId")
      assert.equal(0, code)
      assert.is_truthy(reconciled:find(id, 1, true))
      no_secret_in(out, err)
    end)

    it("5: done, but standard output is full", function()
      if not io.open("/dev/full") then return end
      local environment = {}
      for name, value in pairs(at.keys) do environment[#environment + 1] = name .. "=" .. value end
      local _, _, status = os.execute(("env %s %s bin/purser wallet coins >/dev/full 2>/dev/null"):format(
        table.concat(environment, " "), os.getenv "LUA" or "lua5.4"))
      if status then assert.equal(5, status) end -- 5.1 has another form of answer
    end)
  end)

  -- The last, for it moves the clock on.
  it("executes a write call although the clocks differ: received once, applied once", function()
    assert(at.world:advance(3600000))
    local received, applied = at.received "wallet.transfer"
    local code, out, err = at.run(unpack(TRANSFER))
    assert.equal(0, code, err)
    assert.matches("tranId", out)
    assert.same({ received + 1, applied + 1 }, { at.received "wallet.transfer" })
  end)
end)
