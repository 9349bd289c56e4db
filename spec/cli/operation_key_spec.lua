-- SPDX-License-Identifier: MIT
-- The same command line twice, with a journal: one call, and both print its result.

local at_shell = require "at_shell"
local files = require "files"

local unpack = table.unpack or unpack -- luacheck: ignore

describe("a command line that is run again", function()
  local at, journal

  setup(function() at = at_shell({ "--seed", "5" }, { role = "broker", balances = { USDT = "1000" } }) end)
  teardown(function() at.stop() end)
  before_each(function()
    journal = os.tmpname()
    os.remove(journal)
  end)
  after_each(function() files.remove_database(journal) end)

  local function run(amount, ...)
    return at.run("wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset", "USDT",
      "--amount", amount, "--yes", ...)
  end

  it("makes a call with a key once, and prints the first one's result", function()
    local given, before = { "--key", "sweep-1", "--journal", journal }, at.received "wallet.transfer"
    local code, first, err = run("1", unpack(given))
    assert.equal(0, code, err)
    local second, _
    code, second, err = run("1.0", unpack(given))
    assert.same({ 0, first }, { code, second })
    assert.truthy(err:find("nothing was sent: this call was made before", 1, true), err)
    code, _, err = run("2", unpack(given))
    assert.equal(2, code)
    assert.truthy(err:find('the key "sweep-1" was used', 1, true), err)
    assert.equal(1, at.received "wallet.transfer" - before)
  end)

  it("finds out first what became of a lost one, and says that a call is open", function()
    local given, before = { "--key", "sweep-2", "--journal", journal }, at.received "wallet.transfer"
    assert(at.world:fault { kind = "lost_answer", operation = "wallet.transfer" })
    assert.equal(4, (run("3", unpack(given))))
    local code, _, err = run("3", unpack(given))
    assert.equal(0, code, err)
    assert.truthy(err:find("the journal holds 1 open call of this account: `purser journal recover", 1, true), err)
    assert.equal(1, at.received "wallet.transfer" - before)
  end)

  it("prints the first one's result, though nothing could be sent now: what is planned is not what was done", function()
    local before = at.received "wallet.withdraw"
    local function pay(...)
      return at.run("wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--amount", "20", "--withdrawOrderId",
        "invoice-1", "--address", "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7", "--journal", journal, "--yes", ...)
    end
    local code, first, err = pay()
    assert.equal(0, code, err)
    local second
    code, second, err = pay "--require-saved-address" -- and nobody saved it
    assert.same({ 0, first }, { code, second }, err)
    local fault = assert(at.world:fault { kind = "reject", operation = "wallet.coins", probability = 1 })
    code, second, err = pay()
    assert.same({ 0, first }, { code, second }, err)
    assert(at.world:disarm(fault))
    assert.equal(1, at.received "wallet.withdraw" - before)
  end)

  it("says that a journal is new, however quiet: in another folder the same name is another journal", function()
    local given = { "--key", "sweep-4", "--journal", journal, "--quiet" }
    local _, _, err = run("1", unpack(given))
    assert.matches("the journal %S+ is new: it knows of no call that was made before", err)
    assert.equal("", select(3, run("1", unpack(given))))
  end)

  it("needs a journal for its key", function()
    local code, _, err = run("1", "--key", "sweep-3")
    assert.equal(2, code)
    assert.truthy(err:find("--key needs --journal FILE", 1, true), err)
  end)
end)
