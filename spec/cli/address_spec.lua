-- SPDX-License-Identifier: MIT
-- `purser address check`: what an address is, and whether it is one of a network, without a key and a service.

local at_shell = require "at_shell"
local command = require "command"

describe("purser address check", function()
  local function check(...) return command.run { "address", "check", ... } end

  it("says what an address is", function()
    local code, out, err = check "EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N"
    assert.same({ 0, "" }, { code, err })
    assert.matches("^plain    ton  ton:0:83dfd552%x+\ngood\n$", out)
    code, out = check "Nothing!"
    assert.equal(0, code)
    assert.matches("^no family of addresses has this text\nwarning", out)
    for network, text in pairs { FOO = "garbage", TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t = "TRX" } do -- the second swapped
      code, out = check(text, network)
      assert.equal(0, code)
      assert.equal(("not judged for %s"):format(network), out:match "([^\n]+)\n$")
    end
  end)

  it("says whether an address and a memo are of a network, and what cures a mistake", function()
    local code, out = check("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "SOL")
    assert.equal(2, code)
    assert.matches("\nerror    the address is one of Tron, and none of SOL; name the network TRX", out)
    assert.matches("\nrefused for SOL\n$", out)
    code, out = check("XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC", "XRP")
    assert.equal(2, code)
    assert.matches("write rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf and memo 1\n", out)
    code, out = check("rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf", "XRP", "--memo", "007")
    assert.equal(0, code)
    assert.matches('warning  the memo "007" is the same as "7"', out, 1, true)
  end)

  it("reads the coin's networks of the service where --coin names it", function()
    local at = at_shell({ "--seed", "4" }, { balances = { USDT = "1" } })
    local contract = "0xdAC17F958D2ee523a2206206994597C13D831ec7"
    local code, out, err = at.run("address", "check", contract, "ETH", "--coin", "USDT")
    local plain = select(2, command.run { "address", "check", contract, "ETH" })
    local other, _, why = at.run("address", "check", contract, "XRP", "--coin", "USDT")
    local asked = at.received "wallet.coins"
    at.stop()
    assert.same({ 0, "" }, { code, err })
    assert.matches("warning  the address is the contract of USDT, not a person", out, 1, true)
    assert.is_nil(plain:find("contract of USDT", 1, true)) -- that is known by the service's list alone
    assert.equal(2, other)
    assert.matches("XRP", why)
    assert.is_true(asked > 0)
  end)

  it("says the same as JSON, and repeats no secret key", function()
    local code, out = check("rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf", "XRP", "--memo", "nan", "--json")
    assert.equal(2, code)
    assert.matches('"code": "address.memo"', out, 1, true)
    assert.matches('"state": "refused"', out, 1, true)
    for _, form in ipairs { "--json", "--memo=1" } do
      code, out = check("5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ", "BTC", form)
      assert.equal(2, code)
      assert.is_nil(out:find("5Hue", 1, true))
    end
  end)
end)
