-- SPDX-License-Identifier: MIT
-- Findings about addresses, word by word; shapes of mistyped texts; accounts that nobody has; and networks that only
-- their own contracts describe.

local address = require "purser.address"
local made_address = require "made_address"
local network_table = require "purser.client.operations.network_table"

local TRON, EVM = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "0x52908400098527886e0f7030069857d2e4169ee7"
local RIPPLE, STELLAR = "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf", "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
local MUXED = "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ"
local UQ = "UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI"

local BYRON = "DdzFFzCqrhsf6hiTYkK5gBAhVDwg3SiaHiEL9wZLYU3WqLUpx6DP5ZRJr4rtNRXbVNfk89FCHCDR365647os9AEJ8MK"
  .. "ZNvG7UKTpythG"

-- Returns a list's findings as texts behind their codes.
local function said(list)
  local texts = {}
  for i, one in ipairs(list) do texts[i] = one.code .. ": " .. tostring(one) end
  return texts
end

local function found(given)
  local result = address.check(given)
  return result.state, said(result.problems), said(result.warnings), result
end

local function three(given)
  local state, problems, warnings = found(given)
  return { state, problems, warnings }
end

describe("a mistyped address", function()
  -- family, an address, and how many characters may be lost and added before the text has another shape
  local shapes = {
    { "xrp", RIPPLE, 9, 1 }, { "ada", BYRON, 14, 6 }, { "trx", TRON, 1, 1 },
    { "xrp", "X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ", 1, 1 },
    { "btc", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", 8, 1 }, { "ltc", "LaMT348PWRnrqeeWArpwQPbuanpXDZGEUz", 1, 1 },
    { "doge", "DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L", 1, 1 }, { "xlm", STELLAR, 1, 1 }, { "xlm", MUXED, 1, 1 },
    { "ton", UQ, 1, 1 }, { "stx", "SP2J6ZY48GV1EZ5V2V5RB9MP66SW86PYKKNRV9EJ7", 3, 1 },
    { "xtz", "tz1VSUr8wwNhLAzempoch5d6hLRiTh8Cjcjb", 1, 1 }, { "zec", "t1Hsc1LR8yKnbbe3twRp88p6vFfC5t7DLbs", 1, 1 },
    { "algo", "7777777777777777777777777777777777777777777777777774MSJUVU", 0, 0 },
    { "dash", "XdAUmwtig27HBG6WfYyHAzP8n6XC9jESEw", 0, 0 },
    { "xno", "nano_3t6k35gi95xu6tergt6p69ck76ogmitsa8mnijtpxm9fkcm736xtoncuohr3", 5, 5 },
    { "xno", "xrb_3t6k35gi95xu6tergt6p69ck76ogmitsa8mnijtpxm9fkcm736xtoncuohr3", 4, 6 },
    { "fil", "f1abjxfbp274xpdqcpuaykwkfb43omjotacm2p3za", 1, 49 },
    { "kas", "kaspa:qpauqsvk7yf9unexwmxsnmg547mhyga37csh0kj53q6xxgl24ydxjsgzthw5j", 7, 8 },
    { "bch", "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a", 4, 26 },
    { "cosmos", "cosmos1fl48vsnmsdzcv85q5d2q4z5ajdha8yu34mf0eh", 7, 30 },
    { "ada", "addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8", 8, 62 },
    { "ltc", "ltc1qg42tkwuuxefutzxezdkdel39gfstuap288mfea", 3, 47 },
    { "btc", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", 28, 48 },
    { "btc", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", 28, 48 },
  }

  it("is told by its shape, which has lengths", function()
    for _, shape in ipairs(shapes) do
      local family, text, lost, more = (table.unpack or unpack)(shape)
      local function wrong(n) -- a character is another one, and n are lost or added
        local last = text:sub(-1) == "Q" and "R" or text:find "%l" and "q" or "Q"
        if text:sub(-1) == last then last = "z" end
        local front = text:sub(1, -2)
        return n < 0 and front:sub(1, n - 1) .. last or front .. last:rep(n + 1)
      end
      assert.is_nil(address.mistyped(text) == family and address.read(text)[1] or nil, text)
      for _, n in ipairs { -lost, 0, more } do assert.equal(family, address.mistyped(wrong(n)), wrong(n)) end
      for _, n in ipairs { -lost - 1, more + 1 } do assert.not_equal(family, address.mistyped(wrong(n)), wrong(n)) end
    end
    assert.equal("evm", address.mistyped "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD")
    for _, text in ipairs { EVM, TRON, "anything", "", "vitalik.eth" } do assert.is_nil(address.mistyped(text)) end
  end)

  it("is refused for its network, for another one of its kind, and without a network", function()
    local wrong = TRON:sub(1, -2) .. "u"
    local checksum = "address.checksum: the checksum of the address is wrong, so a character of it is; copy it "
      .. "again from "
      .. "where it comes from"
    assert.same({ "refused", { checksum }, {} }, three { address = wrong, network = "TRX" })
    assert.same({ "refused", { checksum }, {} }, three { address = wrong })
    assert.same({ "doubtful", {}, { checksum } }, three { address = wrong, as_is = true })
    assert.same({ "refused", { "address.other_network: the address has the shape of one of Tron with a wrong "
      .. "character, "
      .. "and is none of SOL; check the network, and copy the address again" }, {} },
      three { address = wrong, network = "SOL" })
    local letters = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD"
    assert.same({ "refused", { checksum }, {} }, three { address = letters })
    assert.same({ "refused", { checksum }, {} }, three { address = letters, network = "RBTC" })
    assert.same({ "refused", { "address.form: the address has not the form of an address of TRX; check the address "
      .. "and the "
      .. "network" }, {} }, three { address = "cosmos1fl48vsnmsdzcv85q5d2q4z5ajdha8yu34mf0eq", network = "TRX" })
  end)
end)

describe("a finding", function()
  it("says what the text is, and what to do", function()
    for _, case in ipairs {
      { { address = "0x" .. ("2"):rep(64), network = "ETH" }, "address.other_network: 64 digits behind 0x are a "
        .. "transaction or an address of another network, and no address of ETH; ask the payee for an address" },
      { { address = "vitalik.eth", network = "ETH" }, "address.form: the address is a name, and the service pays "
        .. "addresses; ask the payee for the address" },
      { { address = "short", network = "ETH" }, "address.form: the address has not the form of an address of ETH; "
        .. "check "
        .. "the address and the network" },
      { { address = TRON, network = "SOL" }, "address.other_network: the address is one of Tron, and none of SOL; name "
        .. "the network TRX, or ask the payee for an address of SOL" },
      { { address = EVM, network = "TRX" }, "address.other_network: the address is one of Ethereum and the "
        .. "networks like "
        .. "it, and none of TRX; check the network, or ask the payee for an address of TRX" },
      { { address = "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7", network = "SOL" },
        "address.other_network: the address is one of a test network of Bitcoin, and none of SOL; check the "
          .. "network, or "
        .. "ask the payee for an address of SOL" },
      { { address = "stake1uyehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gh6ffgw", network = "SOL" },
        "address.other_network: the address is a reward address, which nobody can pay, and none of SOL; check the "
          .. "network, "
        .. "or ask the payee for an address of SOL" },
      { { address = "stake1uyehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gh6ffgw", network = "ADA" },
        "address.form: the text is a reward address, which nobody can pay; ask the payee for an address" },
      { { address = "kQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqKYH", network = "TONCOIN" },
        "address.test: the address is of a test network, where nothing has a value; ask the payee for another" },
      { { address = MUXED, network = "XLM" }, 'address.memo_inside: the address is an M-address, which holds the '
        .. 'account '
        .. 'and an id; give address = "' .. STELLAR .. '" and memo = "0"' },
      { { address = "41a614f803b6fd780986a42c78ec9c7f77e6ded13c", network = "TRX" },
        'address.form: the address is the hexadecimal form, which has no checksum; give "' .. TRON .. '"' },
      { { address = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ", network = "BTC" },
        "address.secret: this is a SECRET KEY and no address; whoever read it can move its funds; move the funds "
          .. "of that "
        .. "key, and ask the payee for an address" },
      { { address = RIPPLE, network = "XRP", memo = "x" }, 'address.memo: the memo "x" is no number from 0 to '
        .. '4294967295; '
        .. "the network has such numbers alone" },
      { { address = RIPPLE, memo = "4294967296" }, 'address.memo: the memo "4294967296" is no number from 0 to '
        .. '4294967295; '
        .. "the network has such numbers alone" },
      { { address = "a b" }, "address.form: no network has an address with blanks or characters that are not "
        .. "ASCII; copy "
        .. "it again from its source" },
    } do
      local state, problems = found(case[1])
      assert.same({ "refused", { case[2] } }, { state, problems })
    end
    for _, case in ipairs {
      { { address = "0x1", network = "APTOS" }, "address.rare: the address is unusual for APTOS: zeros in front "
        .. "are left "
        .. "out, or a character is lost; ask the payee for the usual form" },
      { { address = EVM, network = "HBAR" }, "address.rare: the address is unusual for HBAR: a form that wallets "
        .. "show, and "
        .. "the service may not take; ask the payee for the usual form" },
      { { address = "??" }, "address.form: no known network has such an address; name the "
        .. "network" },
      { { address = RIPPLE, network = "XRP", memo = "007" }, 'address.memo: the memo "007" is the same as "7"; '
        .. 'zeros in '
        .. "front do not travel: it is a number" },
    } do
      local state, problems, warnings = found(case[1])
      assert.same({ "doubtful", {}, case[2] }, { state, problems, warnings[1] })
    end
    assert.equal("a; b", tostring(setmetatable({ message = "a", hint = "b" },
      getmetatable(address.check({ address = "" }).problems[1]))))
  end)

  it("has cures that can be pasted, and whether the text is whole elsewhere", function()
    local _, _, _, result = found { address = MUXED, network = "XLM" }
    assert.same({ { address = STELLAR, memo = "0" }, address.payee(MUXED) }, { result.cures, result.payee })
    _, _, _, result = found { address = TRON, network = "SOL" }
    assert.same({ {}, true }, { result.cures, result.problems[1].is_whole })
    _, _, _, result = found { address = TRON:sub(1, -2) .. "u", network = "SOL" }
    assert.is_nil(result.problems[1].is_whole)
    _, _, _, result = found { address = RIPPLE, network = "XRP", memo = "007" }
    assert.equal(address.payee(RIPPLE, "7"), result.payee)
    for network, text in pairs { XRP = RIPPLE, XLM = STELLAR, TONCOIN = UQ, NEW = RIPPLE, [1] = RIPPLE } do
      result = address.check { address = text, memo = "77", network = network ~= 1 and network or nil }
      assert.same({ "good", address.payee(text, "77") }, { result.state == "doubtful" and "good" or result.state,
        result.payee })
      assert.not_equal(address.payee(text), result.payee)
    end
    assert.is_nil(address.check({ address = "SHORT", network = "XRP" }).payee)
    assert.equal(1, address.reader_version) -- rises with each text that is read as another payee
  end)
end)

describe("a payee", function()
  it("is a text of the account and the memo, with the account's length in front", function()
    local account = address.read(RIPPLE)[1].payee
    assert.equal(("%d:%s|7"):format(#account, account), address.payee(RIPPLE, "007"))
    assert.equal(("%d:%s"):format(#account, account), address.payee(RIPPLE))
    assert.equal("7:text:T1|7", address.payee("T1", "7"))
    assert.equal("9:text:T1:7", address.payee "T1:7")
    assert.equal("7:text:t1|7", address.payee("T1:7", nil, true))
    assert.equal("9:text:t1:7|8", address.payee("T1:7", "8", true))
    assert.equal("8:text:t1:", address.payee("T1:", nil, true))
    local function of(memo) return { address = RIPPLE, memo = memo } end
    assert.same({ true, false, false }, { address.same(of "7", of "07"), address.same(of "7", of "8"),
      address.same(of "7", RIPPLE) })
    assert.is_true(address.same(of(), RIPPLE))
    assert.is_true(address.same("A=", "a=", true))
    assert.is_false(address.same("A=", "a="))
  end)
end)

describe("a look-alike", function()
  it("shares both ends behind the front that its kind has, and is another account", function()
    for text, ends in pairs { [EVM] = "52909ee7", [UQ] = "cd39qebi", [TRON] = "tr7nlj6t", [RIPPLE] = "rgwrqypf",
      ["kaspa:qpauqsvk7yf9unexwmxsnmg547mhyga37csh0kj53q6xxgl24ydxjsgzthw5j"] = "pauqhw5j",
      ["bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"] = "w508f3t4",
      ["cosmos1fl48vsnmsdzcv85q5d2q4z5ajdha8yu34mf0eh"] = "fl48f0eh",
      ["nano_3t6k35gi95xu6tergt6p69ck76ogmitsa8mnijtpxm9fkcm736xtoncuohr3"] = "t6k3ohr3",
      ["addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8"] = "vx2fhrl8", ["abcdefghijkl"] = "abcdijkl",
      ["0xab1f" .. ("2"):rep(36)] = "ab1f2222" } do
      assert.equal(ends, address.ends(text), text)
    end
    for _, text in ipairs { "", "short", "abcdefghijk", "0xabcdefghijk", "bc1qabcdefghijk" } do
      assert.is_nil(address.ends(text), text)
    end
    local alike, in_capitals = "0x5290" .. ("1"):rep(32) .. "9ee7", EVM:upper():gsub("^0X", "0x")
    local list = { { address = alike }, { address = in_capitals }, { address = "short" }, { address = in_capitals },
      { address = "0x5290" .. ("2"):rep(32) .. "9ee7" } }
    local look_alike = address.look_alikes(list)
    assert.same({ list[1], true }, { look_alike(EVM) })
    assert.same({ list[2], true }, { look_alike(alike) })
    assert.same({ list[1], false }, { look_alike("0x5290" .. ("3"):rep(32) .. "9ee7") })
    for _, other in ipairs { "0x5291" .. ("1"):rep(32) .. "9ee7", "0x5290" .. ("1"):rep(32) .. "9ee6", "short",
      "short1" } do
      local alike_one, is_own = look_alike(other)
      assert.same({ "nil", false }, { tostring(alike_one), is_own }, other)
    end
  end)

  it("is told by the account that is given with it, and by letters that may count", function()
    local look_alike = address.look_alikes { { address = "No-Network-Has-This" }, { address = EVM, place = "one" } }
    assert.equal("No-Network-Has-This", look_alike("no-network-has-this").address)
    assert.equal(EVM, look_alike(EVM, "two").address)
    assert.is_nil((look_alike(EVM, "one")))
    assert.is_nil((look_alike "No-Network-Has-This"))
  end)
end)

describe("a text of several readings", function()
  it("is the account of the reading that is no mere pattern", function()
    local hex = "11111111e828d7e9fcfe8db5d323c7735957eedf" -- 32 bytes of base58 as well
    assert.same({ "sol", "evm" }, { address.read(hex)[1].family, address.read(hex)[2].family })
    assert.equal(address.payee("0x" .. hex), address.payee(hex))
  end)

  it("has no two of one network", function()
    local texts = { ("a1"):rep(32), "0x" .. ("a1"):rep(32), "a1b2.near", "abcdefghijkl", "0.0.123", ("1"):rep(32), UQ,
      BYRON }
    for line in io.lines "spec/golden/addresses.tsv" do texts[#texts + 1] = line:match "[^\t]+$" end
    for _, text in ipairs(texts) do
      local readings = address.read(text)
      for _, row in ipairs(readings[2] and network_table.list() or {}) do
        local count, families = 0, " " .. table.concat(row.families, " ") .. " "
        for _, one in ipairs(readings) do
          local is_of_polkadot = one.family:find "^ss58/" and families:find(" ss58/", 1, true)
          if is_of_polkadot or families:find(" " .. one.family .. " ", 1, true) then count = count + 1 end
        end
        assert.is_true(count < 2, text .. " on " .. row.value)
      end
    end
  end)

  it("is cut at a colon where the whole is none, and the front no name of a chain", function()
    assert.same({ "some", "7" }, { address.parts_of_unread "some:7" })
    assert.same({ "some", "" }, { address.parts_of_unread "some:" })
    for _, text in ipairs { "kaspa:qq", "Bitcoin:x", "some", ":7", "0:" .. ("1"):rep(64), RIPPLE } do
      assert.same({}, { address.parts_of_unread(text) }, text)
    end
    assert.same({ RIPPLE, "7" }, { (address.apart(RIPPLE .. ":7")), (select(2, address.apart(RIPPLE .. ":7"))) })
    for _, text in ipairs { RIPPLE .. ":" .. RIPPLE, "bitcoin:1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu", "SOME:7", RIPPLE,
      RIPPLE .. ":" } do
      assert.same({}, { address.apart(text) }, text)
    end
  end)
end)

describe("an account of nobody", function()
  it("is told in every spelling", function()
    for _, text in ipairs { "1nc1nerator11111111111111111111111111111111",
      "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
      "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb", "So11111111111111111111111111111111111111112",
      "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL", "rrrrrrrrrrrrrrrrrNAMEtxvNvQ", "rrrrrrrrrrrrrrrrrrrrBZbvji",
      "rrrrrrrrrrrrrrrrrrrrrhoLvTp", "SP000000000000000000002Q6VF78",
      "EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9c",
      "0:" .. ("0"):rep(64), "0xdead000000000000000042069420694206942069", "0x00000000000000000000000000000000000000ff",
      "1BitcoinEaterAddressDontSendf59kuE", ("1"):rep(32), "0x" .. ("0"):rep(62) .. "ff" } do
      local _, _, warnings, result = found { address = text }
      local last = result.warnings[#result.warnings]
      assert.equal("address.nobody", last and last.code, text .. table.concat(warnings))
      assert.equal("nobody has the key of this address: what is sent there is lost", tostring(last))
    end
    for _, text in ipairs { "0x0000000000000000000000000000000000000100", RIPPLE, made_address("sol", 1) } do
      assert.same({}, address.check({ address = text }).warnings, text)
    end
  end)
end)

describe("the contract of a coin", function()
  it("is told as no person, on any network", function()
    local coin = { coin = "USDT", networkList = { { netWork = "ETH", contract = "" },
      { netWork = "TRX", contract = TRON } } }
    assert.same({ "doubtful", {}, { "address.contract: the address is the contract of USDT, not a person; ask the "
      .. "payee for "
      .. "an address of their own" } }, three { address = TRON, network = "TRX", coin = coin })
    assert.same({ "good", {}, {} }, three { address = made_address("trx", 1), network = "TRX", coin = coin })
  end)
end)

describe("a network that only its own contract describes", function()
  local function judged(contract, text, name)
    local network = { netWork = name or "NEW", network = "New Chain", contract = contract }
    local state, problems, warnings = found { address = text, network = network }
    assert.same({}, problems)
    return state, warnings[1]
  end

  it("tells an address that is not of the contract's family", function()
    local usdt = "0xdac17f958d2ee523a2206206994597c13d831ec7"
    assert.equal("good", (judged(usdt, EVM)))
    assert.same({ "doubtful", "address.other_network: contracts of NEW are of Ethereum and the networks like it, "
      .. "and the "
      .. "address is not; check the network" }, { judged(usdt, "anything") })
    assert.same({ "doubtful", "address.other_network: the address is one of Tron; the form of addresses of NEW is not "
      .. "known; "
      .. "check the network" }, { judged(usdt, TRON) })
    assert.same({ "doubtful", "address.other_network: the address is one of a test network; the form of addresses of "
      .. "NEW is "
      .. "not known; check the "
      .. "network" }, { judged("", "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7") })
    assert.equal("good", (judged(TRON, TRON)))
    assert.equal("doubtful", (judged(TRON, EVM)))
    assert.equal("good", (judged("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", made_address("sol", 7))))
    assert.equal("doubtful", (judged("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", EVM)))
    assert.equal("good", (judged("0.0.456858", "0.0.123")))
    assert.equal("doubtful", (judged("0.0.456858", "anything")))
    assert.equal("good", (judged("0x1::coin::COIN", "0x" .. ("a1"):rep(32))))
    assert.equal("doubtful", (judged("0x1::coin::COIN", EVM)))
    assert.equal("doubtful", (judged(EVM .. "::coin::COIN", EVM)))
    for _, contract in ipairs { "", "1002000", "BTC" } do
      assert.equal("good", (judged(contract, "anything")), contract)
      assert.equal("good", (judged(contract, EVM)), contract)
    end
    assert.equal("good", (judged(nil, "anything")))
  end)

  it("tells 64 digits, which are a transaction, but where the network's own addresses have this form", function()
    local digits = ("a1"):rep(32)
    local expected = { "doubtful", "address.other_network: 64 digits are a transaction on most networks, and the form "
      .. "of addresses of NEW is not known; ask the payee for the address" }
    for _, text in ipairs { digits, "0x" .. digits, digits:upper() } do
      assert.same(expected, { judged(nil, text) })
      assert.same(expected, { judged("1002000", text) })
      assert.equal("doubtful", (judged(EVM, text)))
      assert.equal("doubtful", found({ address = text, network = "HIVE" }), text) -- in the table without families
      assert.equal("good", (judged(("b2"):rep(32), text)))
    end
    assert.equal("good", (judged("0x" .. ("b2"):rep(32), "0x" .. digits)))
    assert.equal("good", (judged("0x1::coin::COIN", "0x" .. digits)))
    for _, network in ipairs { "APTOS", "SUI", "IOTA", "MOVEMENT" } do
      assert.equal("good", found { address = "0x" .. digits, network = network }, network)
    end
    assert.equal("good", found { address = digits, network = "NEAR" })
    for _, network in ipairs { "ETH", "TRX", "BTC", "SOL", "XRP" } do
      assert.equal("refused", found { address = "0x" .. digits, network = network }, network)
    end
    for _, text in ipairs { digits .. "a", digits:sub(2), "0x" .. digits .. "a", "x" .. digits } do
      assert.equal("good", (judged(nil, text)))
    end
  end)

  it("has a name by either of its members", function()
    for _, network in ipairs { { netWork = "SOL" }, { network = "Solana(SOL)" }, "SOL" } do
      local _, problems = found { address = TRON, network = network }
      local name = type(network) == "table" and (network.netWork or network.network) or network
      assert.matches("none of " .. name .. ";", problems[1], 1, true)
    end
  end)
end)
