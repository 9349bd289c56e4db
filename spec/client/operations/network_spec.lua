-- SPDX-License-Identifier: MIT
-- Networks by their names, addresses in answers, and whom a call pays.

local address = require "purser.client.operations.network"
local operations = require "purser.client.operations"

local EVM, TRON = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

-- The text with another character in its middle, one of the same alphabet.
local function mistyped(text)
  local at = math.floor(#text / 2)
  return text:sub(1, at - 1) .. (text:sub(at, at) == "4" and "5" or "4") .. text:sub(at + 1)
end

describe("an address", function()
  it("in an answer is of the coin and the network that were asked for, by any of their names", function()
    local coin = { coin = "USDT", networkList = { { netWork = "TRX", network = "Tron(TRC20)" },
      { netWork = "ETH", network = "Ethereum(ERC20)" } } }
    local function why(asked, shown, of) return address.answer_problem(asked, shown, of) end
    local asked = { coin = "USDT", network = "TRX" }
    for _, name in ipairs { "TRX", "Tron(TRC20)", "TRC20", "tron" } do
      for _, of in ipairs { coin, false } do
        assert.is_nil(why(asked, { coin = "USDT-TRX", network = name, address = TRON }, of or nil))
      end
    end
    assert.is_nil(why({ coin = "USDT" }, { coin = "USDT", network = "TRX", address = TRON }, coin))
    assert.is_nil(why({ coin = "USDT" }, { address = "x" }))
    assert.equal("USDT was asked for, and the answer is of the coin BTC", why(asked, { coin = "BTC", address = TRON }))
    for _, of in ipairs { coin, false } do
      assert.equal("TRX was asked for, and the answer is of the network ETH",
        why(asked, { coin = "USDT", netWork = "ETH", address = TRON }, of or nil))
    end
    assert.equal("TRX was asked for, and the answer is of the network NEW",
      why(asked, { network = "NEW", address = TRON }))
    assert.is_nil(why({ coin = "X", network = "New Chain(NEW)" }, { network = "NEW", address = "x" }))
    assert.is_nil(why({ coin = "X", network = "New Chain(NEW)" }, { network = "Other(NEW)", address = "x" }))
    assert.is_nil(why({ coin = "X", network = "New Chain(N1)" }, { network = "newchain", address = "x" }))
    assert.is_not_nil(why({ coin = "X", network = "New Chain(N1)" }, { network = "Other(N2)", address = "x" }))
    assert.is_nil(address.answer_problem({ coin = "X", network = "N1" }, { network = "N2", address = "x" }, nil, true))
    assert.is_not_nil(address.answer_problem(asked, { network = "ETH", address = TRON }, nil, true))
    assert.equal("the answer shows no address", why(asked, { coin = "USDT", network = "TRX", address = "" }, coin))
    assert.matches("one of Ethereum", why(asked, { coin = "USDT", network = "TRX", address = EVM }, coin))
    assert.matches("one of Ethereum", why(asked, { coin = "USDT", network = "TRX", address = EVM }))
    assert.matches("has not the form", why(asked, { coin = "USDT", network = "TRX", address = "short" }, coin))
    assert.is_nil(why(asked, { coin = "USDT", network = "TRX", address = "short" })) -- the service may know more forms
    assert.is_nil(why(asked, { coin = "USDT", network = "TRX", address = mistyped(TRON) }))
    assert.matches("one of Ethereum", why({ coin = "USDT" }, { netWork = "TRX", address = EVM }))
    assert.is_nil(address.other_coin("USDT-TRX", "usdt"))
    assert.is_nil(address.other_coin("USDT", nil))
  end)

  it("is of one network by any of its names: by the coin's list, else by those that everybody has", function()
    for name, value in pairs { trx = "TRX", ["TRC-20"] = "TRX", ["Tron(TRC20)"] = "TRX", tron = "TRX",
      ["Avalanche C Chain(AVAX CCHAIN)"] = "AVAX_CCHAIN", AVAX_CCHAIN = "AVAX_CCHAIN", TON = "TONCOIN",
      ["Toncoin(TON)"] = "TONCOIN", ["BNB Smart Chain(BEP20)"] = "BSC", [" (ERC20)"] = "ETH" } do
      assert.equal(value, address.value(name), name)
    end
    for _, name in ipairs { "", "()", "NEW", "New Chain(NEW)", "Optimism(ETH)", "New(ERC20)", "Tron(New)" } do
      assert.is_nil(address.value(name), name)
    end
    local coin = { coin = "X", networkList = { { netWork = "NEW", network = "New Chain(N1)" },
      { netWork = "ERC20", network = "Other" }, { netWork = "TRX", network = "Tron(TRC20)" } } }
    for _, case in ipairs { { true, "TRX", "trx" }, { true, "TRX", "TRC20" }, { true, "TRX", "Tron(TRC20)" },
      { false, "TRX", "ETH" }, { nil, "TRX", "NEW" }, { nil, "NEW", "N1" }, { nil, "", "TRX" }, { true, "new", "NEW" },
      { true, "NEW", "N1", coin }, { false, "TRX", "N1", coin }, { false, "ERC20", "NEW", coin },
      { nil, "ETH", "NEW", coin }, { nil, "Z", "NEW", coin }, { true, "TRX", "TRC20", { coin = "Y" } } } do
      local expected, one, other, of = case[1], case[2], case[3], case[4]
      assert.equal(expected, address.same(one, other, of), one .. " " .. other)
      assert.equal(expected, address.same(other, one, of), other .. " " .. one)
    end
  end)

  it("belongs to the network that one of its names finds", function()
    local trx, eth = { netWork = "TRX", network = "Tron(TRC20)" }, { netWork = "ETH", network = "Ethereum(ERC20)" }
    local coin = { coin = "USDT", networkList = { trx, eth, { netWork = "X1", network = "Same(S)" },
      { netWork = "X2", network = "Same(S)" } } }
    for name, network in pairs { TRX = trx, ["Tron(TRC20)"] = trx, trc20 = trx, ["ERC-20"] = eth, ethereum = eth } do
      assert.equal(network, address.find(coin, name))
    end
    for name, message in pairs { s = "the network s may be X1 (Same(S)), X2 (Same(S)); say which",
      zz = "USDT has no network zz; it has TRX (Tron(TRC20)), ETH (Ethereum(ERC20)), X1 (Same(S)), X2 (Same(S))",
      ["-"] = "the network must be named by a text" } do
      assert.same({ nil, message }, { address.find(coin, name) })
    end
    local close = { coin = "X", networkList = { { netWork = "A-B", network = "One" },
      { netWork = "AB", network = "Two" } } }
    assert.equal("Two", address.find(close, "AB").network)
    assert.equal("One", address.find(close, "A-B").network)
    assert.equal("the network a.b may be A-B (One), AB (Two); say which", select(2, address.find(close, "a.b")))
    for _, network in ipairs(close.networkList) do network.netWork = nil end
    close.networkList[1].network, close.networkList[2].network = "New (Chain)", "new-chain"
    assert.equal(close.networkList[1], address.find(close, "New (Chain)"))
    assert.equal(close.networkList[2], address.find(close, "new-chain"))
    assert.equal("X has no network z; it has ? (?)", select(2, address.find({ coin = "X", networkList = { {} } }, "z")))
    assert.same({ nil, "the network must be named by a text" }, { address.find(coin, 7) })
    assert.equal(trx, address.find { coin = "USDT", networkList = { trx } })
    assert.matches("^USDT travels on 4 networks; name one of TRX %(Tron%(TRC20%)%), ", select(2, address.find(coin)))
    assert.matches("^X travels on 0 networks", select(2, address.find { coin = "X" }))
  end)
end)

describe("a destination", function()
  local function of(name, params) return address.destination(operations.by_name[name], params) end

  it("is whom a call pays, with all that tells it from another", function()
    assert.same({ kind = "address", address = "T1", memo = "7", network = "trx", contract = "c", account = "text:t1",
      parts = { "7:text:T1|7", "TRX", "c" } },
      of("wallet.withdraw", { address = "T1", memo = "7", netWork = "trx", contractAddress = "c" }))
    assert.same({ kind = "address", address = "T1", account = "text:t1", parts = { "7:text:T1", "", "" } },
      of("wallet.withdraw", { address = "T1", memo = "" }))
    assert.same({ kind = "user", address = "u", account = "u", parts = { "u", "MOBILE", "86" } },
      of("wallet.internal_transfer", { toAccount = "u", toAccountType = "MOBILE", areaCode = "86" }))
    assert.same({ kind = "user", address = "u", account = "u", parts = { "u", "", "" } },
      of("wallet.internal_transfer", { toAccount = "u" }))
    assert.same({ kind = "sub_account", address = "a", account = "a", parts = { "a" } },
      of("broker.transfer", { toAccount = "a" }))
    assert.same({ kind = "sub_account", address = "", account = "", parts = { "" } }, of("broker.transfer", {}))
    assert.is_nil(of("wallet.withdraw", {}))
    assert.is_nil(of("wallet.coins", {}))
  end)

  it("has its memo behind a colon where it travels so, and nowhere else", function()
    local ripple = "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf"
    for _, text in ipairs { "T1:7", ripple .. ":7" } do
      local front = text:sub(1, -3)
      local found = of("broker.withdraw", { address = text, network = "XRP" })
      assert.same({ front, "7", text }, { found.address, found.memo, found.text })
      assert.equal(of("wallet.withdraw", { address = front, memo = "7" }).parts[1], found.parts[1])
      found = of("wallet.withdraw", { address = text, netWork = "XRP" })
      assert.same({ text, nil, nil }, { found.address, found.memo, found.text })
    end
    local found = of("broker.withdraw", { address = "T1:", network = "XRP" })
    assert.same({ "T1:", nil, nil }, { found.address, found.memo, found.text })
  end)

  it("is an account, whatever the memo and the spelling", function()
    local account = address.account_of
    assert.equal(account(EVM), account(EVM:lower()))
    assert.equal("text:t1", account "T1:7")
    assert.equal("text:alice", account "alice")
    assert.equal(account "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf", account "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf:7")
    assert.not_equal(account(EVM), account(TRON))
  end)

  it("is read from the book of addresses with its memo, in either member", function()
    local saved = address.saved_address
    assert.same({ address = "T1", memo = "7", network = "Tron(TRC20)" },
      saved { address = "T1", memo = "7", network = "Tron(TRC20)" })
    assert.same({ address = "T1", memo = "8", network = "TRX" },
      saved { address = "T1", memo = "", addressTag = "8", network = "TRX" })
    assert.same({ address = "T1", network = "TRX" },
      saved { address = "T1", memo = "", addressTag = "", network = "TRX" })
  end)
end)
