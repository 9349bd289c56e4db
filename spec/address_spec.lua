-- SPDX-License-Identifier: MIT
-- Addresses as values: 79 networks with every spelling of each payee, the mistakes that people report, memos, and one
-- definition of the same payee. The vectors of the standards are in spec/c/test_address.c.

local address = require "purser.address"
local network_table = require "purser.client.operations.network_table"

local UQ, EQ = "UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI", "EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N"
local PLAIN_TON = "EQDtFpEwcFAEcRe5mLVh2N6C0x+/hJEM7W61/JLnSF74p4q2"
local TRON, EVM = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "0x52908400098527886e0f7030069857d2e4169ee7"
local RIPPLE, STELLAR = "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf", "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"

local function check(network, text, memo, coin)
  return address.check { network = network, address = text, memo = memo, coin = coin }
end

-- Returns state, and code and text of the first finding.
local function judged(network, text, memo, coin)
  local result = check(network, text, memo, coin)
  local found = result.problems[1] or result.warnings[1]
  return result.state, found and found.code, found and tostring(found)
end

local function verdict(...)
  local state, code = judged(...)
  return { state, code }
end

-- Returns the networks, each with its payees: lists of spellings.
local function spellings()
  local networks, order = {}, {}
  for line in io.lines "spec/golden/addresses.tsv" do
    local network, payee, text = line:match "^([^#\t]+)\t(%d+)\t(.+)$"
    if network and not networks[network] then
      networks[network], order[#order + 1] = {}, network
    end
    if network then
      networks[network][payee] = networks[network][payee] or {}
      table.insert(networks[network][payee], text)
    end
  end
  return networks, order
end

describe("an address of 79 networks", function()
  local networks, order = spellings()

  it("is one payee in each spelling, another than each other payee's, and never refused", function()
    local texts = 0
    for _, network in ipairs(order) do
      local seen = {}
      for payee, list in pairs(networks[network]) do
        local one = address.payee(list[1])
        assert.is_nil(seen[one], network .. " " .. payee)
        seen[one] = true
        for _, text in ipairs(list) do
          assert.equal(one, address.payee(text), network .. " " .. text)
          assert.not_equal("refused", (judged(network, text)), network .. " " .. text)
          texts = texts + 1
        end
      end
    end
    assert.same({ 79, 507 }, { #order, texts })
  end)

  it("with another character is no other payee's, where there is a checksum", function()
    local missed, tried = 0, 0
    for _, network in ipairs(order) do
      for _, list in pairs(networks[network]) do
        local text = list[1]
        local reading = address.read(text)[1]
        for at = 1, reading.is_checked and #text or 0, 3 do
          local wrong = text:sub(1, at - 1) .. (text:sub(at, at) == "4" and "5" or "4") .. text:sub(at + 1)
          local result = check(network, wrong)
          tried = tried + 1
          missed = missed + (result.state ~= "refused" and not address.same(text, wrong) and 1 or 0)
        end
      end
    end
    assert.is_true(tried > 1500)
    assert.is_true(missed <= 1, missed) -- SS58 has 16 bits: one in 65536
  end)

  it("of another network is refused, unless its wallets show that form", function()
    -- network -> those whose forms it has as well
    local alike = { DOGE = "DGB", BSV = "BCH BTC", NEO = "ONT", ONT = "NEO", BTC = "BCH BSV LTC", LTC = "BCH QTUM",
      QTUM = "LTC", DGB = "BCH DOGE LTC", BCH = "BSV BTC LTC", APTOS = "STARKNET SUI", SUI = "APTOS STARKNET",
      EOS = "NEAR WAX", WAX = "EOS NEAR", NEAR = "EOS WAX FLOW" }
    local evm, ss58 = { NEAR = 1, HBAR = 1, FIL = 1, SEI = 1, KAVA = 1, INJ = 1, ONE = 1, FLOW = 1 }, {}
    local function is_evm(network) return network_table.row_of(network).families[1] == "evm" end
    for _, network in ipairs(order) do
      if is_evm(network) then evm[network] = 1 end
      if network_table.row_of(network).families[1]:find "^ss58" then ss58[network] = 1 end
    end
    local taken = {}
    for _, network in ipairs(order) do
      local may = " " .. (alike[network] or "") .. " "
      for _, other in ipairs(order) do
        local is_one = network == other or may:find(" " .. other .. " ", 1, true) or evm[network] and evm[other]
          or ss58[network] and ss58[other]
        for _, list in pairs(is_one and {} or networks[other]) do
          for _, text in ipairs(list) do
            if (judged(network, text)) ~= "refused" then taken[#taken + 1] = network .. " " .. text end
          end
        end
      end
    end
    assert.same({}, taken)
  end)
end)

describe("a mistake that people report", function()
  it("is refused, and named with its cure", function()
    for _, case in ipairs {
      { "SOL", TRON, "other_network", "one of Tron, and none of SOL; name the network TRX" },
      { "SOL", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "other_network", "one of Bitcoin" },
      { "SOL", "osmo1jvyxa7nrtmzpr5mzejq94y7zxxe3yrycz72sfz", "other_network", "name the network OSMO" },
      { "DOGE", "ATXDJeb9MvxpBccnhZq6F1zuwsg7QkYn3M", "other_network", "name the network NEO" },
      { "ETH", "0x5aaEB6053f3e94c9b9a09f33669435E7ef1bEAeD", "other_network", "one of Rootstock" },
      { "ETH", "0x2222222222222222222222222222222222222222222222222222222222222222", "other_network", "a transaction" },
      { "TRX", TRON:gsub("t$", "u"), "checksum", "copy it again" },
      { "TONCOIN", EQ:gsub("N$", "M"), "checksum", "copy it again" },
      { "XLM", STELLAR:gsub("Z$", "A"), "checksum", "copy it again" },
      { "ETH", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD", "checksum", "copy it again" },
      { "BTC", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd", "checksum", "copy it again" },
      { "TONCOIN", "kQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqKYH", "test", "test network" },
      { "BTC", "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7", "test", "test network" },
      { "XRP", "XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC", "memo_inside",
        'give address = "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf" and memo = "1"' },
      { "ETH", "0X52908400098527886E0F7030069857D2E4169EE7", "form",
        'give "0x52908400098527886E0F7030069857D2E4169EE7"' },
      { "TRX", "41a614f803b6fd780986a42c78ec9c7f77e6ded13c", "form", 'give "' .. TRON .. '"' },
      { "DOT", "HNZata7iMYWmk5RvZRTiAsSDhV8366zq2YGb3tLH5Upf74F", "form",
        'give "15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5"' },
      { "ADA", "stake1uyehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gh6ffgw", "form", "nobody can pay" },
      { "ETH", "vitalik.eth", "form", "ask the payee for the address" },
      { "ETH", "short", "form", "has not the form" }, { "ETH", "", "form", "blanks" },
      { "ETH", EVM .. " ", "form", "blanks" }, { "TRX", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6\209\130", "form", "ASCII" },
    } do
      local state, code, text = judged(case[1], case[2])
      assert.same({ "refused", "address." .. case[3] }, { state, code }, case[2])
      assert.matches(case[4], text, 1, true)
    end
  end)

  it("of a secret key is refused without a word of it, on any network and with the way out", function()
    local key = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ"
    for _, network in ipairs { "BTC", "TRX", "NEW" } do
      local result = address.check { address = key, network = network, as_is = true }
      assert.equal("refused", result.state)
      assert.equal("address.secret", result.problems[1].code)
      assert.is_nil(tostring(result.problems[1]):find(key:sub(1, 8), 1, true))
      assert.is_nil(result.payee)
    end
  end)

  it("of a form is a warning alone with the way out, and for a network that is not certain", function()
    assert.equal("doubtful", address.check { address = TRON, network = "SOL", as_is = true }.state)
    assert.equal("doubtful", address.check { address = "XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC",
      network = "XRP", as_is = true }.state)
    assert.equal("doubtful", (judged("AKT", TRON)))
    assert.equal("doubtful", (judged("TON", TRON)))
    assert.equal("refused", (judged("TON", TRON, nil, { coin = "TON" })))
    assert.equal("refused", (judged({ netWork = "TON", network = "Toncoin(TON)" }, TRON)))
  end)

  it("of what wallets show, and the service may not take, is a warning", function()
    for _, case in ipairs { { "ASTAR", "15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5" },
      { "DOT", "5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY" }, { "HBAR", EVM }, { "FIL", EVM }, { "SEI", EVM },
      { "NEAR", "aurora" }, { "BCH", "1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu" }, { "BTC", "bc1pfeessrawgf" },
      { "APTOS", "0x1" }, { "XLM", "CABQGAYDAMBQGAYDAMBQGAYDAMBQGAYDAMBQGAYDAMBQGAYDAMBQGCK3" } } do
      local state, code = judged(case[1], case[2])
      assert.same({ "doubtful", "address.rare" }, { state, code }, case[2])
    end
    for _, case in ipairs { { "TONCOIN", PLAIN_TON }, { "BTC", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4" },
      { "RBTC", "0x5aaEB6053f3e94c9b9a09f33669435E7ef1bEAeD" }, { "XMR", "4LL9oSLmtpccfufTMvppY6JwXNouMBzSkbLYfpAV5Us"
        .. "x3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2bYXZKKQePHES9khPK" } } do
      assert.equal("good", (judged(case[1], case[2])), case[2])
    end
  end)

  it("of the coin's own contract, or an account of nobody, is a warning", function()
    local coin = { coin = "USDT", networkList = { { netWork = "TRX", network = "Tron(TRC20)", contract = TRON },
      { netWork = "ETH", network = "Ethereum(ERC20)", contract = "0xdac17f958d2ee523a2206206994597c13d831ec7" } } }
    assert.same({ "doubtful", "address.contract" }, verdict("TRX", TRON, nil, coin))
    assert.same({ "doubtful", "address.contract" },
      verdict("BSC", "0xdAC17F958D2ee523a2206206994597C13D831ec7", nil, coin))
    assert.equal("good", (judged("TRX", "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7", nil, coin)))
    for network, text in pairs { ETH = "0x0000000000000000000000000000000000000000",
      BSC = "0x000000000000000000000000000000000000dEaD", SOL = ("1"):rep(32), XRP = "rrrrrrrrrrrrrrrrrrrrBZbvji",
      BTC = "1111111111111111111114oLvT2", APTOS = "0x0", TRX = "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb" } do
      local result = check(network, text)
      assert.equal("doubtful", result.state, text)
      assert.equal("address.nobody", result.warnings[#result.warnings].code, text)
    end
  end)
end)

describe("a network that is not in the table", function()
  it("never refuses an address, and warns by its contract or another network's checksum", function()
    assert.equal("good", (judged("NEW", "anything")))
    assert.equal("good", (judged("NEW", EVM)))
    assert.same({ "doubtful", "address.other_network" }, verdict("NEW", TRON))
    local new = { netWork = "NEW", network = "New Chain(NEW)", contract = "0xdac17f958d2ee523a2206206994597c13d831ec7" }
    assert.equal("good", (judged(new, EVM)))
    assert.same({ "doubtful", "address.other_network" }, verdict(new, TRON))
    assert.equal("doubtful", (judged(new, "anything")))
    for _, contract in ipairs { "1002000", "31566704", "", "TN3W4H6rK2ce4vX9YnFQHwKENnHjoxbm9", "BTC" } do
      assert.equal("good", (judged({ netWork = "NEW", contract = contract }, "anything")), contract)
    end
    assert.equal("doubtful", (judged({ netWork = "N", contract = "0x2::sui::SUI" }, EVM)))
    assert.equal("good", (judged({ netWork = "N", contract = "0x2::sui::SUI" }, "0x" .. ("a1"):rep(32))))
  end)
end)

describe("the same payee", function()
  it("is one text in any spelling", function()
    for _, pair in ipairs {
      { { UQ }, { EQ } }, { { "XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC" }, { RIPPLE, "1" } },
      { { RIPPLE, "7" }, { RIPPLE, "007" } }, { { RIPPLE .. ":12345" }, { RIPPLE, "12345" } },
      { { "binancecleos:12345" }, { "binancecleos", "12345" } }, { { RIPPLE .. ":7" }, { RIPPLE, "7" } },
      { { EVM .. ":987654" }, { EVM:upper():gsub("^0X", "0x"), "987654" } }, { { EVM, "" }, { EVM } },
      { { "0xdac17f958d2ee523a2206206994597c13d831ec7" }, { "xdcdac17f958d2ee523a2206206994597c13d831ec7" } },
      { { "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ" }, { STELLAR, "0" } },
      { { RIPPLE, 7 }, { RIPPLE, "7" } }, { { "evm:" .. EVM }, { EVM } },
      { { "bitcoin:1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu" }, { "1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu" } },
    } do
      local one, other = pair[1], pair[2]
      assert.equal(address.payee(one[1], one[2]), address.payee(other[1], other[2]))
      assert.is_true(address.same({ address = one[1], memo = one[2] }, { address = other[1], memo = other[2] }))
    end
  end)

  it("is not another one's", function()
    for _, pair in ipairs {
      { { RIPPLE, "0" }, { RIPPLE } }, { { STELLAR, "007" }, { STELLAR, "7" } },
      { { STELLAR, "AbC" }, { STELLAR, "abc" } },
      { { RIPPLE, "4294967296" }, { RIPPLE, "0" } }, { { "abcdefghijkl", "7" }, { "abcdefghijk", "l7" } },
      { { "name", "a|b" }, { "name|a", "b" } }, { { "kaspa", "qqqqqqqqqqqqqqqqqq" }, { "kaspa:qqqqqqqqqqqqqqqqqq" } },
      { { "bitcoin", "1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu" }, { "bitcoin:1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu" } },
      { { "f01729" }, { "f1729" } }, { { "0.0.123" }, { "0.0.1230" } }, { { "" , "7" }, { "7" } },
      { { "Ef8zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzM0vF" }, { "0:" .. ("33"):rep(32) } },
      { { "Qwertz!" }, { "qwertz!" } },
      { { "TMuA6YqfCeX8EhbfYEg5y7S4DqzSJireY9" }, { "ASH41gtWftHvhuYhZz1jj7ee7z9vp9D9wk" } },
    } do
      local one, other = pair[1], pair[2]
      assert.not_equal(address.payee(one[1], one[2]), address.payee(other[1], other[2]))
    end
    assert.equal(address.payee("Qwertz!", nil, true), address.payee("qwertz!", nil, true))
    assert.not_equal(address.payee("Qwertz!", "A", true), address.payee("Qwertz!", "a", true))
  end)

  it("is looked like by an address with its ends alone", function()
    local other = TRON:sub(1, 4) .. "XXXXXXXXXX" .. TRON:sub(-4)
    local function alike(one, two) return (address.look_alikes { { address = one } }(two)) ~= nil end
    assert.is_true(alike(TRON, other))
    assert.is_false(alike(TRON, TRON))
    assert.is_false(alike(EQ, UQ))
    assert.is_false(alike("short", "short"))
    assert.is_nil(address.ends "elevenchars")
    assert.equal("twelhars", address.ends "twelve_chars")
  end)
end)

describe("a memo", function()
  it("has the form of its network", function()
    for _, case in ipairs { { "XRP", "7", "good" }, { "XRP", "4294967295", "good" }, { "XRP", "4294967296", "refused" },
      { "XRP", "tag:12345", "refused" }, { "XRP", "12345.0", "refused" }, { "XRP", "nan", "refused" },
      { "XRP", "007", "doubtful" }, { "XRP", "0", "good" }, { "ICP", "18446744073709551615", "good" },
      { "ICP", "18446744073709551616", "refused" }, { "XLM", ("a"):rep(28), "good" },
      { "XLM", ("a"):rep(29), "refused" },
      { "XLM", ("a1"):rep(32), "good" }, { "TONCOIN", ("a"):rep(124), "doubtful" },
      { "EOS", ("a"):rep(257), "refused" },
      { "HBAR", ("\195\169"):rep(51), "refused" }, { "TRX", "1", "good" }, { "XLM", " a", "refused" },
      { "XLM", "104448.0", "doubtful" } } do
      assert.equal(case[3], (address.judge_memo(case[1], case[2])), case[1] .. " " .. case[2])
    end
    assert.same({ "refused", "address.memo" }, verdict("XRP", RIPPLE, "nan"))
    assert.equal("doubtful", address.check { network = "XRP", address = RIPPLE, memo = "nan", as_is = true }.state)
  end)
end)

describe("an address without a network", function()
  it("is read, and refused only where its checksum is wrong", function()
    assert.equal("good", (judged(nil, EVM)))
    assert.same({ "refused", "address.checksum" }, verdict(nil, (TRON:gsub("t$", "u"))))
    assert.same({ "doubtful", "address.form" }, verdict(nil, "Nothing!"))
    assert.same({}, address.read(7))
  end)
end)
