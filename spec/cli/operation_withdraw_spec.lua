-- SPDX-License-Identifier: MIT
-- Looks before money leaves: what is read and shown.

local at_shell = require "at_shell"
local core = require "purser.core"

local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"
local EVM = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"

describe("purser wallet withdraw", function()
  local at

  setup(function() at = at_shell({ "--seed", "3" }, { role = "broker", balances = { USDT = "5000", BTC = "1" } }) end)
  teardown(function() at.stop() end)

  local function sent() return (at.received "wallet.withdraw") end
  local function withdraw(...)
    return at.run("wallet", "withdraw", "--coin", "USDT", "--address", TRON, "--amount", "20", ...)
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

  it("says all that is wrong, and sends nothing", function()
    local before = sent()
    local code, _, err = at.run("wallet", "withdraw", "--coin", "USDT", "--netWork", "TRX", "--address", EVM,
      "--amount", "5.0000005", "--yes")
    assert.equal(2, code)
    for _, text in ipairs { "error: the amount 5.0000005 is below the minimum of 10", "no multiple of 0.000001",
      "error: the address is one of Ethereum", "nothing was sent" } do
      assert.is_truthy(err:find(text, 1, true), text .. " in " .. err)
    end
    local _, out = at.run("wallet", "withdraw", "--coin", "USDT", "--netWork", "TRX", "--address", EVM, "--amount",
      "5", "--yes", "--json")
    local failure = core.decode(out).error
    assert.same({ "argument", "not_sent" }, { failure.kind, failure.outcome })
    assert.matches("^Withdrawal of 5 USDT: nothing was sent: .*; the amount 5 is below the minimum of 10$",
      failure.message)
    assert.equal(before, sent())
  end)

  it("says what is odd, also where nobody is asked", function()
    local _, _, err = at.run("wallet", "withdraw", "--coin", "USDT", "--network", "BSC", "--address", EVM, "--amount",
      "20", "--memo", "7", "--yes")
    assert.matches("warning: a memo is given, though addresses of this network are not shared", err, 1, true)
  end)

  it("takes every spelling of a network and a coin in small letters", function()
    for _, name in ipairs { "TRX", "trc20", "TRC-20", "Tron(TRC20)", "tron" } do
      local before = sent()
      local code, out, err = at.run("wallet", "withdraw", "--coin", "usdt", "--network", name, "--address", TRON,
        "--amount", "20", "--yes")
      assert.equal(0, code, err)
      assert.matches("%x%x%x%x%x%x%x%x", out)
      assert.is_truthy(err:find("Withdrawal of 20 usdt over TRX (Tron(TRC20))", 1, true), err)
      assert.equal(before + 1, sent())
    end
    for _, name in ipairs { "TRX", "trc20", "Tron(TRC20)" } do
      local code, out, err = at.run("wallet", "create_deposit_address", "--coin", "USDT", "--network", name, "--yes")
      assert.equal(0, code, err)
      assert.matches("T%w+", out)
      code, out, err = at.run("wallet", "deposit_addresses", "--coin", "USDT", "--network", name)
      assert.equal(0, code, err)
      assert.matches("Tron%(TRC20%)", out)
      local status, _, message = at.run("wallet", "withdraw_legacy", "--coin", "USDT", "--network", name, "--address",
        TRON, "--amount", "20", "--yes")
      assert.equal(0, status, message)
    end
    local code, _, err = at.run("wallet", "deposit_addresses", "--coin", "USDT", "--network", "TRC21")
    assert.equal(2, code)
    assert.matches("USDT has no network TRC21; it has ", err)
  end)

  it("asks with network, fee, amount that arrives, account, key, service and the address in full", function()
    local before = sent()
    local code, shown = at.on_terminal("no\n", "wallet", "withdraw", "--coin", "USDT", "--netWork", "trc20",
      "--address", TRON, "--amount", "20", "--extra", "includeFee=true")
    assert.equal(2, code)
    for _, text in ipairs { "  extra            | includeFee = true\n",
      "This moves money at " .. at.url .. ":\n", "| " .. at.url .. " (from ",
      "| treasury\n", "| " .. TRON .. "\n", "| TRX (Tron(TRC20))\n",
      "| 1 USDT, assumed to come on top; with the amount 21\n",
      "| 20 USDT; 19 if the service takes the fee", "| 10 to 10000000, in steps of 0.000001\n",
      "(from PURSER_API_KEY" } do
      assert.is_truthy(shown:find(text, 1, true), text .. " in " .. shown)
    end
    assert.equal(before, sent())
  end)

  it("sends it without the coins with --without-coins, for a key that may not read them", function()
    assert(at.world:fault { kind = "reject", operation = "wallet.coins", code = "700007", times = 1 })
    local before = sent()
    local code, _, err = withdraw("--netWork", "TRX", "--yes")
    assert.equal(1, code)
    assert.matches("%-%-without%-coins sends it, with fee, minimum and network not checked", err)
    assert(at.world:fault { kind = "reject", operation = "wallet.coins", code = "700002", times = 1 })
    assert.is_nil(select(3, withdraw("--netWork", "TRX", "--yes")):find("--without", 1, true)) -- a wrong key
    assert.equal(before, sent())
    local reads = at.received "wallet.coins"
    code, _, err = withdraw("--netWork", "TRX", "--yes", "--without-coins")
    assert.same({ 0, before + 1, reads }, { code, sent(), (at.received "wallet.coins") })
    assert.is_truthy(err:find("warning: the coin was not looked up: fee, minimum, maximum, network and the need of a "
      .. "memo are not checked", 1, true), err)
  end)

  -- Whoever mistyped an address is not led to lose the funds.
  it("sends no address whose form or checksum is wrong, unless it is told to with --address-as-is", function()
    local before = sent()
    for _, address in ipairs { EVM, "treasury", (TRON:gsub("7$", "8")) } do
      local function pay(...)
        return at.run("wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", address, "--yes", ...)
      end
      for _, more in ipairs { {}, { "--without-coins" } } do
        local code, _, err = pay("--amount", "20", more[1])
        assert.equal(2, code)
        assert.matches("error: the .*address", err)
        assert.is_nil(err:find("--address-as-is", 1, true)) -- no message leads to funds that are lost
      end
      assert.equal(2, (pay("--amount", "5", "--address-as-is"))) -- below the minimum: all else is checked
      assert.equal(before, sent())
    end
    local _, _, err = at.run("wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", EVM, "--amount",
      "20", "--yes", "--address-as-is")
    assert.matches("warning: the address is one of Ethereum", err)
    assert.equal(before + 1, sent())
  end)

  it("looks the address up among the saved ones when that is asked for", function()
    local code, _, err = withdraw("--netWork", "TRX", "--yes", "--require-saved-address")
    assert.equal(2, code)
    assert.matches("not among the saved addresses", err)
  end)
end)
