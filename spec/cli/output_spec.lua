-- SPDX-License-Identifier: MIT
-- Results as text: a table for people, JSON and CSV for programs.

local at_shell = require "at_shell"
local core = require "purser.core"
local operations = require "purser.cli.catalogue"
local output = require "purser.cli.output"

local unpack = table.unpack or unpack -- luacheck: ignore

describe("a result as text", function()
  local at

  setup(function() at = at_shell({ "--seed", "5" }, { role = "broker",
    balances = { USDT = "1000.000000000000000001", TRX = "3.5", BTC = "2" } }) end)
  teardown(function() at.stop() end)

  it("writes JSON with the members by name and exact amounts", function()
    local code, out, err = at.run("wallet", "convertible_balances", "--format", "json")
    assert.equal(0, code)
    assert.equal("", err)
    local names = {}
    for name in out:match("{(.-)}"):gmatch('"(%w+)":') do names[#names + 1] = name end
    assert.same({ "asset", "balance", "code", "convertPlatformToken" }, { unpack(names, 1, 4) })
    local balances = {}
    for _, record in ipairs(core.decode(out)) do balances[record.asset] = record.balance end
    assert.equal("1000.000000000000000001", balances.USDT)
  end)

  it("writes CSV with a header that does not depend on the records", function()
    local code, out = at.run("wallet", "deposit_history", "--format", "csv", "--coin", "DOGE")
    assert.equal(0, code)
    assert.equal("amount,coin,network,status,address,addressTag,txId,unlockConfirm,confirmTimes,insertTime,memo\n",
      out)
  end)

  it("gives nested records a line each", function()
    local code, out = at.run("wallet", "coins", "--format", "csv", "--columns",
      "coin,networkList.netWork,networkList.withdrawFee")
    assert.equal(0, code)
    assert.is_truthy(out:find("\nUSDT,TRX,1\n", 1, true))
    assert.is_truthy(out:find("\nUSDT,ETH,3.2\n", 1, true))
  end)

  it("writes a table whose amounts end in one column", function()
    local code, out = at.run("wallet", "convertible_balances", "--columns", "asset,balance")
    assert.equal(0, code)
    local ends = {}
    for line in out:gmatch("[^\n]+") do ends[#ends + 1] = #line end
    assert.is_true(#ends >= 4)
    for _, length in ipairs(ends) do assert.equal(ends[1], length) end
  end)

  it("says so when there is nothing", function()
    local code, out = at.run("wallet", "deposit_history", "--coin", "DOGE")
    assert.equal(0, code)
    assert.equal("(none)\n", out)
  end)

  it("rejects columns that do not exist, before anything is sent", function()
    local before = #at.world:requests()
    at.rejected({ "wallet", "coins", "--columns", "coin,withdrawfee" }, 'there is no "withdrawfee"',
      'did you mean "withdrawFee"', "networkList.netWork")
    at.rejected({ "wallet", "coins", "--columns", "coin", "--format", "json" }, "--columns is for table and csv")
    at.rejected({ "wallet", "coins", "--columns", " , " }, "--columns names none")
    at.rejected({ "wallet", "deposit_history", "--columns", "nope" }, 'there is no "nope"', "insertTime")
    at.rejected({ "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset", "USDT",
      "--amount", "1", "--yes", "--columns", "id" }, "there are tranId")
    assert.equal(before, #at.world:requests())
  end)

  it("takes a member of a nested list by its own name", function()
    local code, out = at.run("wallet", "coins", "--columns", "coin,netWork", "--format", "csv")
    assert.equal(0, code)
    assert.matches("^coin,networkList%.netWork\nUSDT,TRX\n", out)
  end)

  it("never shows a terminal what the service sends to control it", function()
    local text = output.render(operations.by_name["broker.list_sub_accounts"],
      { { subAccount = "a\27[2Jb\194\155c\nd", uid = "17" } }, { format = "table" })
    assert.is_truthy(text:find("a\\x1B[2Jb\\u{9B}c\\x0Ad", 1, true))
  end)
end)

describe("records as text", function()
  local COINS, ADDRESSES = operations.by_name["wallet.coins"], operations.by_name["wallet.withdrawal_addresses"]
  local DEPOSITS = operations.by_name["wallet.deposit_history"]
  local coins = { { coin = "USDT", networkList = { { netWork = "TRX", withdrawFee = "1" },
    { netWork = "ETH", withdrawFee = "3.20" } } }, { coin = "BTC", networkList = {} } }

  it("have members by name, and those that no shape knows", function()
    assert.equal('{"aa":{"x":[1,2],"y":true},"coin":"BTC","networkList":[],"zz":"9007199254740993"}\n',
      output.json { zz = "9007199254740993", coin = "BTC", aa = { y = true, x = { 1, 2 } }, networkList = {} })
    assert.equal('{"data":[],"more":1,"page":1,"totalRecords":0}\n', (output.render(ADDRESSES,
      { data = {}, page = 1, totalRecords = 0, more = 1 }, { format = "json" }):gsub("[ \n]", "") .. "\n"))
  end)

  it("of a list within a record are a line each; a record without one keeps its line", function()
    assert.equal("coin,networkList.netWork,networkList.withdrawFee\nUSDT,TRX,1\nUSDT,ETH,3.20\nBTC,,\n",
      output.render(COINS, coins, { format = "csv",
        shown = { "coin", "networkList.netWork", "networkList.withdrawFee" } }))
  end)

  -- The coins and networks that pass, as text.
  local function passing(...)
    local filters, names = {}, {}
    for i, text in ipairs { ... } do filters[i] = { text:match "^([^=]+)=(.*)$" } end
    output.check({ filter = filters, format = "csv" }, { output.group(output.members(COINS)) })
    for _, record in ipairs(output.records(COINS, coins, { filter = filters })) do
      names[#names + 1] = record.coin
      for _, network in ipairs(record.networkList) do names[#names + 1] = network.netWork end
    end
    return table.concat(names, " ")
  end

  it("are those that pass every filter, with the nested ones that pass", function()
    assert.equal("USDT TRX ETH BTC", passing())
    assert.equal("USDT TRX ETH", passing "coin=USDT")
    assert.equal("USDT ETH", passing "netWork=ETH")
    assert.equal("USDT ETH", passing("coin=USDT", "networkList.withdrawFee=3.20"))
    assert.equal("", passing("netWork=ETH", "withdrawFee=1")) -- of one network, and not of the coin
    assert.equal("", passing "coin=usdt")
    assert.equal(2, #coins[1].networkList) -- what was given is not changed
  end)

  it("pass by the name of their state, too", function()
    local list = { { status = 5, coin = "A" }, { status = 99, coin = "B" }, { coin = "C" } }
    for filter, coin in pairs { ["status=5"] = "A", ["status=success"] = "A", ["status=99"] = "B",
      ["status="] = "C" } do
      local found = output.records(DEPOSITS, list, { filter = { { filter:match "^([^=]+)=(.*)$" } } })
      assert.same({ 1, coin }, { #found, found[1].coin }, filter)
    end
  end)
end)
