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
    assert.truthy(err:find('the key "sweep-1" is that of wallet.transfer, 1 USDT, done', 1, true), err)
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

  local function withdraw(setting, operation, network, ...)
    return setting.run("wallet", operation, "--coin", "USDT", "--network", network, "--amount", "20",
      "--address", "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7", "--journal", journal, ...)
  end

  -- Guard rails, the plan, the question and the look-up of the network came first: each exits with 2 or 3.
  it("prints the first one's result, whatever has changed: nothing is checked of a call that was made", function()
    local read_only = at.file '{"read_only": true}'
    local invoice, before = { "--withdrawOrderId", "invoice-1" }, at.received "wallet.withdraw"
    local code, first, err = withdraw(at, "withdraw", "trc20", "--yes", unpack(invoice))
    assert.equal(0, code, err)
    local reads = at.received "wallet.coins"
    for _, changed in ipairs { { "--guard", read_only }, { "--require-saved-address" }, { "--no-input" }, {} } do
      local words = { unpack(invoice) }
      for _, word in ipairs(changed) do words[#words + 1] = word end
      local again, out, problem = withdraw(at, "withdraw", "trc20", unpack(words))
      assert.same({ 0, first }, { again, out }, problem)
    end
    assert.same({ 1, 0 }, { at.received "wallet.withdraw" - before, at.received "wallet.coins" - reads })
    code = withdraw(at, "withdraw", "TRX", "--yes", unpack(invoice)) -- another word for the same network is looked up
    assert.equal(0, code)
    code, first, err = withdraw(at, "withdraw", "BSC", "--yes", unpack(invoice))
    assert.same({ 2, "" }, { code, first }, err)
  end)

  it("gives an operation with an id one by its key, and needs no service for the first one's result", function()
    local other = at_shell({ "--seed", "5" }, { role = "broker", balances = { USDT = "1000" } })
    local results = {}
    for _, operation in ipairs { "withdraw", "withdraw_legacy" } do
      local code, out, err = withdraw(other, operation, "TRX", "--key", operation, "--yes")
      assert.equal(0, code, err)
      results[operation] = out
    end
    assert(other.world:fault { kind = "lost_answer", operation = "wallet.withdraw" })
    assert.equal(4, (withdraw(other, "withdraw", "TRX", "--key", "lost", "--yes")))
    other.stop()
    for operation, out in pairs(results) do
      local code, again, err = withdraw(other, operation, "TRX", "--key", operation, "--yes")
      assert.same({ 0, out }, { code, again }, err)
    end
    local code, _, err = withdraw(other, "withdraw", "TRX", "--key", "lost", "--yes")
    assert.equal(4, code, err) -- 3 would say that it was not sent
    assert.truthy(err:find("OUTCOME UNKNOWN", 1, true), err)
    code, _, err = withdraw(other, "withdraw", "TRX", "--key", "new", "--yes")
    assert.equal(3, code, err)
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
