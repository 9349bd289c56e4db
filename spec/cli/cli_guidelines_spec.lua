-- SPDX-License-Identifier: MIT
-- The points of clig.dev against the command, each with a line of what it prints: { point, words, exit code, where,
-- line }.
-- make test: 9 s, waits, on lua5.4 and luajit

local command = require "command"
local eventually = require "eventually"
local files = require "files"

local TRANSFER = "wallet transfer --fromAccountType SPOT --toAccountType FUTURES --asset USDT --amount 1"

local points = {
  { "help by -h, --help, help and help CMD", "-h", 0, "out", "Usage: purser" },
  { "help by -h, --help, help and help CMD", "help", 0, "out", "Usage: purser" },
  { "help by -h, --help, help and help CMD", "help wallet withdraw", 0, "out", "Usage: purser wallet withdraw" },
  { "help when nothing is given, in groups", "", 0, "out", "\nPay:\n   wallet  " },
  { "examples in the help", "help", 0, "out", "purser wallet deposit_history --coin USDT --since 30d" },
  { "examples in the help", "help wallet withdraw", 0, "out", "Example: purser wallet withdraw --coin USDT" },
  { "a link to the documentation", "help wallet withdraw", 0, "out", "docs/operations/wallet.md" },
  { "the version", "--version", 0, "out", "purser 0" },
  { "the version", "version", 0, "out", "purser 0" },
  { "the version", "-v", 0, "out", "purser 0" },
  { "suggest what was meant", "wallet withdrow", 2, "err", "did you mean 'withdraw'?" },
  { "all that is missing at once", "wallet withdraw", 2, "err", "missing options '--coin', '--address', '--amount'" },
  { "options in any place", "--columns asset wallet convertible_balances", 0, "out", "asset" },
  { "results on stdout, messages on stderr", "wallet deposit_history --coin DOGE", 0, "out", "(none)" },
  { "machine-readable output", "wallet convertible_balances --json", 0, "out", '"asset": "USDT"' },
  { "machine-readable output", "wallet convertible_balances --csv", 0, "out", "convertPlatformToken,convertUsdt" },
  { "machine-readable errors", "wallet coins --json --base-url http://127.0.0.1:1", 3, "out",
    '"outcome":"not_sent","operation":"wallet.coins"' },
  { "filters in the tool", "wallet coins --filter coin=USDT --filter netWork=TRX --csv --columns coin,netWork", 0,
    "out", "coin,networkList.netWork\nUSDT,TRX\n" },
  { "the next step after a success", "broker create_sub_account --subAccount desk01 --note n --yes", 0, "err",
    "next: purser broker create_api_key --subAccount desk01" },
  { "-q leaves such notes out", "broker create_sub_account --subAccount desk02 --note n --yes -q", 0, "err", "" },
  { "never ask without a terminal", TRANSFER, 2, "err", "there is no terminal to confirm it on; give --yes" },
  { "--dry-run", TRANSFER .. " --dry-run", 0, "out", "signature=***" },
  { "--debug, without secrets", TRANSFER .. " --yes --debug", 0, "err",
    "debug: POST /api/v3/capital/transfer (wallet.transfer, attempt 1)" },
  { "secrets not as arguments", "help credentials", 0, "out", "--credentials FILE, or - for standard input" },
  { "exit codes are documented", "help", 0, "out", "130  interrupted" },
  { "completion", "completion bash", 0, "out", "complete -F _purser purser" },
}

describe("clig.dev:", function()
  local service, account, keys

  setup(function()
    service = require("service").start { "--seed", "5" }
    account = assert(service.world:account { role = "broker", balances = { USDT = "1000" } })
    keys = { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key, PURSER_BASE_URL = service.url }
  end)
  teardown(function() service.stop() end)

  for _, point in ipairs(points) do
    it(point[1] .. ": purser " .. point[2], function()
      local words = {}
      for word in point[2]:gmatch "%S+" do words[#words + 1] = word end
      local code, out, err = command.run(words, keys)
      assert.equal(point[3], code, err)
      local text = point[4] == "out" and out or err
      assert.is_truthy(text:find(point[5], 1, true), point[5] .. "\nis not in\n" .. text)
      if point[5] == "" then assert.equal("", text) end
      assert.is_nil((out .. err):find(account.secret_key, 1, true))
    end)
  end

  -- Returns what a terminal of so many columns shows.
  local function shown(columns, words)
    local _, text = command.shell(("script -q -e -c %s /dev/null"):format(command.quote(
      ("stty cols %d; exec env %s=%s %s=%s %s=%s %s bin/purser %s"):format(columns, "PURSER_API_KEY", account.api_key,
      "PURSER_SECRET_KEY", account.secret_key, "PURSER_BASE_URL", service.url, os.getenv "LUA" or "lua5.4", words))))
    return (text:gsub("\r", ""):gsub("\27%[%d+m", ""))
  end

  it("output fits the terminal, and nothing is shortened", function()
    local address = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"
    assert.equal(0, (command.run({ "wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", address,
      "--amount", "20", "--yes" }, keys)))
    for _, columns in ipairs { 80, 140 } do
      for _, words in ipairs { "wallet withdrawal_history", "wallet coins --filter coin=USDT", "operations",
        "operations wallet.withdraw", "help", "help payouts", "help wallet withdraw" } do
        local text = shown(columns, words)
        for line in text:gmatch "[^\n]+" do
          if not line:find "^if unknown" and not line:find "^result:" and not line:find "^txId " then
            assert.is_true(#line <= columns, columns .. ": " .. line)
          end
        end
        if words:find "withdrawal_history" then assert.is_truthy(text:find(address, 1, true), text) end
      end
    end
    assert.matches("status +%u+", shown(80, "wallet withdrawal_history"))
  end)

  it("withdrawals and deposits are tables in 80 columns, their ids and addresses whole", function()
    for amount = 21, 23 do
      assert.equal(0, (command.run({ "wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address",
        "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7", "--amount", tostring(amount), "--yes" }, keys)))
      assert(service.world:deposit { account = account.uid, coin = "USDT", network = "Tron(TRC20)",
        amount = tostring(amount) })
    end
    local text = shown(80, "wallet withdrawal_history")
    assert.matches("\n%d%d%d%d%-%d%d%-%d%d %d%d:%d%d +USDT +23  %u+ +%x+\n", text)
    assert.matches("too narrow for all columns", text)
    assert.matches("\n%d%d%d%d%-%d%d%-%d%d %d%d:%d%d +USDT +23  %u+ +T%w+\n", shown(80, "wallet deposit_history"))
    assert.matches("status +%u+", shown(30, "wallet withdrawal_history"))
    for line in text:gmatch "[^\n]+" do assert.is_true(#line <= 80 or line:find "^purser: " ~= nil, line) end
  end)

  it("messages fit the terminal, and a command in one is copied as it stands", function()
    for _, words in ipairs { "payouts run nowhere.csv --operation wallet.withdrw --journal x", "login a/b",
      "wallet withdraw --coin USDT --network TRX --address T1 --amount 1,5 --yes", "journal show nothing --journal x",
      "payouts status", "wallet transfer_history --base-url http://127.0.0.1:1",
      "broker create_api_key --subAccount a --yes" } do
      local text = shown(80, words)
      assert.matches("purser: ", text)
      for line in text:gmatch "[^\n]+" do assert.is_true(#line <= 80, words .. ": " .. line) end
    end
  end)

  it("help fits the terminal", function()
    for _, columns in ipairs { 80, 100 } do
      for _, words in ipairs { "--help", "help wallet withdraw", "help credentials", "sim --help", "payouts --help" } do
        for line in shown(columns, words):gmatch "[^\n]+" do
          assert.is_true(#line <= columns, columns .. ": " .. line)
        end
      end
    end
  end)

  it("a file of --output is whole or not there", function()
    local path = os.tmpname()
    files.write(path, "before")
    assert.equal(3, (command.run({ "wallet", "coins", "--output", path, "--base-url", "http://127.0.0.1:1" }, keys)))
    assert.equal("before", files.read(path))
    local code, out = command.run({ "wallet", "coins", "--output", path, "--csv" }, keys)
    assert.same({ 0, "" }, { code, out })
    assert.matches("^coin,", files.read(path))
    os.remove(path)
  end)

  it("Ctrl-C ends at once with 130 and says what had happened; with 4 where a write call is open", function()
    local path = os.tmpname()
    local function received(operation) return (service.world:counts()[operation] or { received = 0 }).received end
    assert(service.world:fault { kind = "slow", operation = "wallet.coins", delay_ms = 600000, times = 1 })
    local earlier = received "wallet.coins"
    local child = command.start({ "wallet", "coins" }, keys, path)
    eventually(function() return received "wallet.coins" > earlier end)
    child.kill "INT"
    assert.matches("purser: interrupted; one request was sent, which changed nothing\n", files.read(path))

    assert(service.world:fault { kind = "slow", operation = "wallet.transfer", delay_ms = 600000, times = 1 })
    local before = received "wallet.transfer"
    local words = { "--yes" }
    for word in TRANSFER:gmatch "%S+" do table.insert(words, #words, word) end
    child = command.start(words, keys, path)
    eventually(function() return received "wallet.transfer" ~= before end)
    child.kill "INT"
    assert.matches("OUTCOME UNKNOWN", files.read(path), 1, true)
    os.remove(path)
  end)
end)
