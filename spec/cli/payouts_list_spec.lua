-- SPDX-License-Identifier: MIT
-- A list: names that are shown and never sent, what is expected of it, standard input, and files that are one.

local at_shell = require "at_shell"
local command = require "command"
local core = require "purser.core"
local files = require "files"

local TO = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"
local TEXT = ("key,name,coin,network,address,amount\na,Ann,USDT,TRX,%s,20\nb,Bob,USDT,TRX,%s,31.5\n"):format(TO, TO)

describe("a list of payments", function()
  local at, list
  setup(function() at = at_shell({ "--seed", "63" }, { role = "broker", balances = { USDT = "5000" } }) end)
  teardown(function() at.stop() end)
  before_each(function() list = at.file(TEXT) end)

  local function plan(...) return at.run("payouts", "plan", list, "--operation", "wallet.withdraw", ...) end

  it("shows the column name, and does not send it", function()
    local code, out, err = plan()
    assert.equal(0, code, err)
    assert.matches("line  key  name  amount  asset  network  to\n.*2  a    Ann       20  USDT   TRX      T", out)
    local _, rows = plan "--json"
    assert.equal("Ann", core.decode(rows)[1].name)
    local journal = at.file()
    assert.equal(0, (at.run("payouts", "run", list, "--operation", "wallet.withdraw", "--journal", journal, "--yes")))
    files.remove_database(journal)
  end)

  it("is refused before the screen where it is not the expected one", function()
    assert.equal(0, (plan("--expect-count", "2", "--expect-sum", "USDT=51.50")))
    for _, case in ipairs { { "--expect-count", "3", "the list has 2 payments, and --expect-count says 3" },
      { "--expect-sum", "USDT=52", "the list pays 51.5 USDT, and --expect-sum says 52" },
      { "--expect-sum", "XRP=1", "the list pays 0 XRP" }, { "--expect-sum", "USDT=x", "ASSET=AMOUNT" } } do
      local code, out, err = plan(case[1], case[2])
      assert.same({ 2, "" }, { code, out })
      assert.is_truthy(err:find(case[3], 1, true), err)
    end
  end)

  -- 15.5 that was cut to 15 passed without a word.
  it("is odd where its last line has no line end, unless the sums are as expected", function()
    local journal, cut = at.file(), TEXT:sub(1, -4)
    local ODD = '3: odd: payment "b": its line has no line end, and a list that was cut looks so'
    local function shown(text, ...)
      local words = { "payouts", "plan", "-", "--operation", "wallet.withdraw", ... }
      local code, _, err = command.run(words, at.keys, text)
      assert.equal(0, code, err)
      return err:find(ODD, 1, true) ~= nil
    end
    for text, is_odd in pairs { [cut] = true, [TEXT:sub(1, -2)] = true, [TEXT] = false, [TEXT .. "\n"] = false,
      [TEXT:gsub("\n", "\r\n")] = false, [TEXT .. "# the end"] = false } do
      files.write(list, text)
      local code, _, err = plan()
      assert.equal(0, code, err)
      assert.equal(is_odd, err:find(ODD, 1, true) ~= nil, err)
      assert.equal(is_odd, shown(text))
    end
    assert.is_false(shown(cut, "--expect-sum", "USDT=51"))
    assert.is_true(shown(cut, "--expect-count", "2")) -- the count says nothing of the amount
    files.write(list, cut)
    local before = at.received "wallet.withdraw"
    local code, _, err = at.run("payouts", "run", list, "--operation", "wallet.withdraw", "--journal", journal, "--yes")
    assert.equal(3, code, err)
    assert.is_truthy(err:find(ODD, 1, true), err)
    assert.equal(before, (at.received "wallet.withdraw"))
  end)

  it("comes from standard input, too", function()
    local code, out, err = command.run({ "payouts", "plan", "-", "--operation", "wallet.withdraw" }, at.keys, TEXT)
    assert.equal(0, code, err)
    assert.is_truthy(out:find("standard input", 1, true) or out:find("-: 2 payments to send", 1, true), out)
  end)

  -- user 4: ./t.csv wrote over the list t.csv.
  it("is not written over, by whatever name", function()
    local folder, name = list:match "^(.*/)([^/]*)$"
    local hard, soft = at.file(), at.file()
    assert(os.execute(("ln %s %s && ln -s %s %s"):format(list, hard, list, soft)))
    for _, other in ipairs { list, folder .. "./" .. name, hard, soft } do
      local code, _, err = plan("--output", other)
      assert.equal(2, code)
      assert.is_truthy(err:find("<file> and --output name one file", 1, true), err)
    end
    assert.equal(TEXT, files.read(list))
  end)
end)

describe("a database of another kind", function()
  local at
  setup(function() at = at_shell({ "--seed", "64" }, { role = "main", balances = { USDT = "100" } }) end)
  teardown(function() at.stop() end)

  it("is refused with the name of its kind", function()
    local journal, books = at.file(), at.file()
    assert.equal(0, (at.run("wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset",
      "USDT", "--amount", "1", "--yes", "--journal", journal)))
    assert.equal(0, (at.run("sync", "--books", "sqlite:" .. books)))
    local code, _, err = at.run("sync", "--books", "sqlite:" .. journal)
    assert.equal(2, code)
    assert.is_truthy(err:find("is a journal; give the books of `purser sync`", 1, true), err)
    code, _, err = at.run("journal", "list", "--journal", books)
    assert.equal(2, code)
    assert.is_truthy(err:find("is the books of `purser sync`; give a journal", 1, true), err)
    files.remove_database(journal)
    files.remove_database(books)
  end)
end)

describe("a key whose journal was lost", function()
  local at
  setup(function() at = at_shell({ "--seed", "65" }, { role = "broker", balances = { USDT = "5000" } }) end)
  teardown(function() at.stop() end)

  -- user 18: a single payment was made again under the same id.
  it("is looked for by its id before anything is sent", function()
    local function pay(amount)
      local journal = at.file()
      local code, out, err = at.run("wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", TO,
        "--amount", amount, "--yes", "--key", "rent", "--journal", journal)
      files.remove_database(journal)
      return code, out, err, (at.received "wallet.withdraw")
    end
    local code, out, err, sent = pay "20"
    assert.same({ 0, 1 }, { code, sent }, err)
    local id = out:match "%x+\n"
    code, out, err, sent = pay "20.0"
    assert.same({ 0, 1 }, { code, sent }, err)
    assert.is_truthy(out:find(id:sub(1, -2), 1, true), out)
    assert.is_truthy(err:find("the journal is new, and the service has this call already", 1, true), err)
    code, out, err, sent = pay "21"
    assert.same({ 2, 1, "" }, { code, sent, out }, err)
    assert.is_truthy(err:find("the key rent was used before the journal was made", 1, true), err)
    assert(at.world:fault { kind = "reject", operation = "wallet.withdrawal_history", times = 1 })
    code, out, err, sent = pay "20"
    assert.same({ 1, 1, "" }, { code, sent, out }, err)
  end)
end)
