-- SPDX-License-Identifier: MIT
-- What the command looks up and shows before money leaves.

local command = require "command"
local files = require "files"
local terminal = require "purser.cli.terminal"

local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"
local EVM = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"

describe("purser wallet withdraw", function()
  local service, keys

  setup(function()
    service = require("service").start { "--seed", "3" }
    local account = assert(service.world:account { role = "broker", balances = { USDT = "5000", BTC = "1" } })
    keys = { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key, PURSER_BASE_URL = service.url }
  end)
  teardown(function() service.stop() end)

  local function purser(...) return command.run({ ... }, keys) end
  local function sent(name) return (service.world:counts()[name or "wallet.withdraw"] or { received = 0 }).received end
  local function withdraw(...)
    return purser("wallet", "withdraw", "--coin", "USDT", "--address", TRON, "--amount", "20", ...)
  end

  it("sends nothing without a network where the coin has several, and --yes changes nothing about that", function()
    local before = sent()
    for _, flags in ipairs { { "--yes" }, {} } do
      local code, out, err = withdraw(flags[1])
      assert.same({ 2, "" }, { code, out })
      assert.matches("USDT travels on 7 networks; name one of .*TRX %(Tron%(TRC20%)%)",
        err)
    end
    assert.equal(before, sent())
  end)

  it("is judged by all guard rails of --guard, with the journal that they need", function()
    local folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir -m 700 " .. folder))
    files.write(folder .. "/guard.json", '{"max_amount":{"USDT":"500"},"no_duplicates":true,'
      .. '"spending_limit":{"USDT":{"amount":"45","period_ms":86400000}}}')
    local function guarded(...)
      return withdraw("--network", "TRX", "--guard", folder .. "/guard.json", "--journal", folder .. "/journal.db",
        "--account", "treasury", ...)
    end
    local before = sent()
    local code, _, err = guarded("--dry-run")
    assert.equal(0, code, err)
    assert.equal(before, sent())
    code, _, err = guarded "--yes"
    assert.equal(0, code, err)
    service.world:fault { kind = "lost_answer", operation = "wallet.withdraw" }
    assert.equal(4, (guarded "--yes"))
    code, _, err = guarded "--yes"
    assert.equal(2, code, err)
    assert.matches("rejected by the guard rail no_duplicates", err, 1, true)
    code, _, err = purser("wallet", "withdraw", "--coin", "USDT", "--address", TRON, "--amount", "21", "--network",
      "TRX", "--guard", folder .. "/guard.json", "--journal", folder .. "/journal.db", "--account", "treasury", "--yes")
    assert.equal(2, code, err)
    assert.matches("rejected by the guard rail spending_limit", err, 1, true)
    assert.equal(before + 2, sent())
    os.execute("rm -rf " .. folder)
  end)

  it("says all that is wrong, and sends nothing", function()
    local before = sent()
    local code, _, err = purser("wallet", "withdraw", "--coin", "USDT", "--netWork", "TRX", "--address", EVM,
      "--amount", "5.0000005", "--yes")
    assert.equal(2, code)
    for _, text in ipairs { "error: the amount 5.0000005 is below the minimum of 10", "no multiple of 0.000001",
      "warning: the address has the form of Ethereum", "nothing was sent" } do
      assert.is_truthy(err:find(text, 1, true), text .. " in " .. err)
    end
    assert.equal(before, sent())
  end)

  it("takes every spelling of a network and a coin in small letters", function()
    for _, name in ipairs { "TRX", "trc20", "TRC-20", "Tron(TRC20)", "tron" } do
      local before = sent()
      local code, out, err = purser("wallet", "withdraw", "--coin", "usdt", "--network", name, "--address", TRON,
        "--amount", "20", "--yes")
      assert.equal(0, code, err)
      assert.matches("%x%x%x%x%x%x%x%x", out)
      assert.is_truthy(err:find("Withdrawal of 20 usdt over TRX (Tron(TRC20))", 1, true), err)
      assert.equal(before + 1, sent())
    end
    for _, name in ipairs { "TRX", "trc20", "Tron(TRC20)" } do
      local code, out, err = purser("wallet", "create_deposit_address", "--coin", "USDT", "--network", name, "--yes")
      assert.equal(0, code, err)
      assert.matches("T%w+", out)
      code, out, err = purser("wallet", "deposit_addresses", "--coin", "USDT", "--network", name)
      assert.equal(0, code, err)
      assert.matches("Tron%(TRC20%)", out)
      local status, _, message = purser("wallet", "withdraw_legacy", "--coin", "USDT", "--network", name, "--address",
        TRON, "--amount", "20", "--yes")
      assert.equal(0, status, message)
    end
    local code, _, err = purser("wallet", "deposit_addresses", "--coin", "USDT", "--network", "TRC21")
    assert.equal(2, code)
    assert.matches("USDT has no network TRC21; it has ", err)
  end)

  it("asks with network, fee, amount that arrives, account, key, service and the address in full", function()
    local before = sent()
    local code, shown = command.run_on_terminal({ "wallet", "withdraw", "--coin", "USDT", "--netWork", "trc20",
      "--address", TRON, "--amount", "20" }, keys, "no\n")
    assert.equal(2, code)
    for _, text in ipairs { "This moves money at " .. service.url .. ":\n", "| " .. service.url .. " (from ",
      "| the one that the key belongs to\n", "| " .. TRON .. "\n", "| TRX (Tron(TRC20))\n",
      "| 1 USDT, assumed to come on top; with the amount 21\n",
      "| 20 USDT; 19 if the service takes the fee", "| 10 to 10000000, in steps of 0.000001\n",
      "(from PURSER_API_KEY" } do
      assert.is_truthy(shown:find(text, 1, true), text .. " in " .. shown)
    end
    assert.equal(before, sent())
  end)

  it("sends it as typed with --unchecked, for a key that may not read the coins", function()
    assert(service.world:fault { kind = "reject", operation = "wallet.coins", code = "700007", times = 1 })
    local before = sent()
    local code, _, err = withdraw("--netWork", "TRX", "--yes")
    assert.equal(1, code)
    assert.matches("%-%-unchecked sends it as typed", err)
    assert.equal(before, sent())
    assert.equal(0, (withdraw("--netWork", "TRX", "--yes", "--unchecked")))
    assert.equal(before + 1, sent())
  end)

  it("looks the address up among the saved ones when that is asked for", function()
    local code, _, err = withdraw("--netWork", "TRX", "--yes", "--require-saved-address")
    assert.equal(2, code)
    assert.matches("not among the saved addresses", err)
  end)
end)

describe("a question", function()
  -- The lines of a field as a terminal of that width shows them, wrapped where it must.
  local function shown(label, value, width)
    local lines = {}
    for line in (terminal.field(label, value, width) .. "\n"):gmatch "(.-)\n" do lines[#lines + 1] = line end
    return lines
  end

  it("keeps every part of a value behind its bar: no text of a stranger looks like a field", function()
    local forged = "  address          | TAttacker"
    for _, value in ipairs {
      ("x"):rep(200) .. forged, "a" .. (" "):rep(70) .. forged, "a\n" .. forged, "a\r" .. forged,
      "a\27[1G" .. forged, ("\228\184\173"):rep(60) .. forged, "\226\128\174" .. forged,
    } do
      for _, width in ipairs { 40, 80, 140 } do
        for i, line in ipairs(shown("memo", value, width)) do
          assert.equal(i == 1 and "  memo             | " or (" "):rep(19) .. "| ", line:sub(1, 21))
          local _, wide = line:gsub("[\194-\244][\128-\191]+", "")
          local _, ascii = line:gsub("[%z\1-\127]", "")
          assert.is_true(ascii + 2 * wide <= math.max(width, 41), line)
          assert.is_nil(line:find "[%c]")
        end
      end
    end
  end)

  it("shows all of an address, however narrow the terminal is", function()
    local text = {}
    for i, line in ipairs(shown("address", ("0123456789"):rep(12), 60)) do text[i] = line:sub(22) end
    assert.equal(("0123456789"):rep(12), table.concat(text))
  end)
end)
