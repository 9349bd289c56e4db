-- SPDX-License-Identifier: MIT
-- The exit code of a run is that of the worst end of the rows of its screen, with the file and without.
-- make test: 30 s

local at_shell = require "at_shell"
local core = require "purser.core"
local ends = require "purser.cli.ends"
local files = require "files"
local seeded = require "seeded"

describe("the ends of a screen", function()
  it("make the exit code of the worst, and a row without an end is not done", function()
    assert.equal(0, ends.code {})
    for _, case in ipairs { { 0, "made", "made before", "dropped" }, { 3, "made", "waiting" }, { 3, "held", "made" },
      { 1, "waiting", "rejected", "made" }, { 4, "rejected", "undecided", "made" }, { 3, "made", "not tried" } } do
      assert.equal(table.remove(case, 1), ends.code(case))
    end
    local rows = { "a", "b", "c" }
    local made = ends.of_rows(rows, function(row) return ({ a = "done", b = "a new state" })[row] end)
    assert.same({ "made", "not tried", "not tried" }, made)
    assert.equal(3, ends.code(made))
  end)

  it("stand in the page as the code has them", function()
    assert.is_truthy(files.read "docs/cli/command-line.md":find(ends.table(), 1, true), ends.table())
  end)
end)

describe("queues drawn at random", function()
  -- Records that no payment of the journal explains make later payments undecided, so all have one journal.
  local at, to, journal
  setup(function()
    at = at_shell({ "--seed", "61" }, { role = "broker", balances = { USDT = "900000" } })
    to = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"
    assert(at.world:fault { kind = "reject", operation = "wallet.transfer", times = 100000 })
    journal = at.file()
  end)
  teardown(function()
    files.remove_database(journal)
    at.stop()
  end)

  local amount = 20

  -- Returns the lines of a list, and a kind for each key.
  local function draw(random)
    local lines, kinds = { "key,operation,coin,asset,network,address,amount,fromAccountType,toAccountType" }, {}
    local some = { "made", "failed", "dropped" }
    for i = 1, 1 + random(4) do
      amount = amount + 1
      local kind, key = some[random(random(2) == 1 and 1 or #some)], "p" .. i
      kinds[key] = kind
      if kind == "made" then
        lines[#lines + 1] = ("%s,wallet.withdraw,USDT,,TRX,%s,%d,,"):format(key, to, amount)
      else
        lines[#lines + 1] = ("%s,wallet.transfer,,USDT,,,%d,SPOT,FUTURES"):format(key, amount)
      end
    end
    return table.concat(lines, "\n") .. "\n", kinds
  end

  -- Returns the code that the page says, by the states that a report shows.
  local function documented(queue)
    local has = {}
    local _, out = at.run("payouts", "report", "--journal", journal, "--queue", queue, "--json")
    for _, payment in ipairs(core.decode(out)) do has[payment.state] = true end
    return (has.undecided or has.sent) and 4 or has.failed and 1 or has.waiting and 3 or 0
  end

  it("are not done while a limit holds payments back", function()
    local guard = at.file '{"spending_limit": {"USDT": {"amount": "700", "period_ms": 86400000}}}'
    local list = at.file(("key,coin,network,address,amount\na,USDT,TRX,%s,510\nb,USDT,TRX,%s,520\n"):format(to, to))
    local with = { "--journal", journal, "--queue", "limited", "--guard", guard, "--yes" }
    local unpack = table.unpack or unpack -- luacheck: ignore
    assert.equal(3, (at.run("payouts", "run", list, "--operation", "wallet.withdraw", unpack(with))))
    assert.equal(3, (at.run("payouts", "run", unpack(with))))
    assert.equal(3, (at.run("payouts", "run", list, "--operation", "wallet.withdraw", unpack(with))))
    assert.equal(2, (at.run("payouts", "run", "--queue", "limitd", "--journal", journal, "--yes"))) -- there is none
  end)

  it("end with the documented code, with the file and without, and again", function()
    local seen = {}
    for seed = 1, 4 do
      local random = seeded(seed)
      local text, kinds = draw(random)
      local list, queue = at.file(text), "q" .. seed
      local function run(...) return at.run("payouts", "run", "--journal", journal, "--queue", queue, "--yes", ...) end
      local with = { list, "--allow-odd" }
      run((table.unpack or unpack)(with)) -- luacheck: ignore
      for key, kind in pairs(kinds) do
        if kind == "dropped" then
          at.run("payouts", "drop", key, "--journal", journal, "--queue", queue, "--yes", "--by", "alice")
        end
      end
      for round = 1, 2 do
        local code, _, err = run((table.unpack or unpack)(with)) -- luacheck: ignore
        local expected = documented(queue) -- after the run, which makes what waited
        seen[expected] = true
        assert.equal(expected, code, ("%d %d %s%s"):format(seed, round, text, err))
        code, _, err = run()
        assert.equal(documented(queue), code, ("%d %d without the file %s%s"):format(seed, round, text, err))
        assert.equal(code, (at.run("payouts", "status", "--journal", journal, "--queue", queue)))
      end
    end
    assert.same({ [0] = true, true }, seen)
  end)

  -- user 3: `run --queue` of undecided payments ended with 0.
  it("end with 4 while a payment is undecided, with the file and without", function()
    assert.equal(0, (at.run("wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", to, "--amount",
      "4000", "--yes")))
    local fresh = at.file()
    local list = at.file(("key,coin,network,address,amount\na,USDT,TRX,%s,4000\n"):format(to))
    for _, file in ipairs { list, false, list, false } do
      local words = { "payouts", "run", "--journal", fresh, "--yes", file or "--allow-odd" }
      if file then words[#words + 1], words[#words + 2] = "--operation", "wallet.withdraw" end
      assert.equal(4, (at.run((table.unpack or unpack)(words)))) -- luacheck: ignore
    end
    assert.equal(4, (at.run("payouts", "status", "--journal", fresh)))
    files.remove_database(fresh)
  end)
end)
