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
  local at, to
  setup(function()
    at = at_shell({ "--seed", "61" }, { role = "broker", balances = { USDT = "900000" } })
    to = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"
    assert(at.world:fault { kind = "reject", operation = "wallet.transfer", times = 100000 })
  end)
  teardown(function() at.stop() end)

  local amount = 20

  -- Returns the lines of a list, and a kind for each key: of an undecided one a withdrawal by hand has the content.
  local function draw(random)
    local lines, kinds = { "key,operation,coin,asset,network,address,amount,fromAccountType,toAccountType" }, {}
    local some = { "made", "failed", "undecided", "dropped" }
    for i = 1, 1 + random(4) do
      amount = amount + 1
      local kind, key = some[random(random(2) == 1 and 1 or #some)], "p" .. i
      kinds[key] = kind
      if kind == "made" or kind == "undecided" then
        lines[#lines + 1] = ("%s,wallet.withdraw,USDT,,TRX,%s,%d,,"):format(key, to, amount)
        if kind == "undecided" then
          assert.equal(0, (at.run("wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", to,
            "--amount", ("%d"):format(amount), "--yes")))
        end
      else
        lines[#lines + 1] = ("%s,wallet.transfer,,USDT,,,%d,SPOT,FUTURES"):format(key, amount)
      end
    end
    return table.concat(lines, "\n") .. "\n", kinds
  end

  -- Returns the code that the page says, by the states that a report shows.
  local function documented(journal)
    local has = {}
    local _, out = at.run("payouts", "report", "--journal", journal, "--json")
    for _, payment in ipairs(core.decode(out)) do has[payment.state] = true end
    return (has.undecided or has.sent) and 4 or has.failed and 1 or has.waiting and 3 or 0
  end

  it("end with the documented code, with the file and without, and again", function()
    local seen = {}
    for seed = 1, 6 do
      local random = seeded(seed)
      local text, kinds = draw(random)
      local list, journal = at.file(text), at.file()
      local function run(...) return at.run("payouts", "run", ...) end
      local with = { list, "--journal", journal, "--yes", "--allow-equal" }
      run((table.unpack or unpack)(with)) -- luacheck: ignore
      for key, kind in pairs(kinds) do
        if kind == "dropped" then at.run("payouts", "drop", key, "--journal", journal, "--yes", "--by", "alice") end
      end
      local expected = documented(journal)
      seen[expected] = true
      for round = 1, 2 do
        local code, _, err = run((table.unpack or unpack)(with)) -- luacheck: ignore
        assert.equal(expected, code, ("%d %d %s%s"):format(seed, round, text, err))
        code, _, err = run("--journal", journal, "--yes")
        assert.equal(expected, code, ("%d %d without the file %s%s"):format(seed, round, text, err))
        assert.equal(expected, (at.run("payouts", "status", "--journal", journal)))
      end
      files.remove_database(journal)
    end
    assert.same({ [0] = true, true, nil, nil, true }, seen)
  end)

  it("are not done while a limit holds payments back", function()
    local guard, journal = at.file '{"spending_limit": {"USDT": {"amount": "70", "period_ms": 86400000}}}', at.file()
    local list = at.file(("key,coin,network,address,amount\na,USDT,TRX,%s,51\nb,USDT,TRX,%s,52\n"):format(to, to))
    local with = { "--journal", journal, "--guard", guard, "--yes" }
    local unpack = table.unpack or unpack -- luacheck: ignore
    assert.equal(3, (at.run("payouts", "run", list, "--operation", "wallet.withdraw", unpack(with))))
    assert.equal(3, (at.run("payouts", "run", unpack(with))))
    assert.equal(3, (at.run("payouts", "run", list, "--operation", "wallet.withdraw", unpack(with))))
    files.remove_database(journal)
  end)

  it("are an error of the name where there is none", function()
    local journal = at.file()
    local list = at.file(("key,coin,network,address,amount\na,USDT,TRX,%s,53\n"):format(to))
    assert.equal(0, (at.run("payouts", "run", list, "--operation", "wallet.withdraw", "--journal", journal, "--yes")))
    assert.equal(0, (at.run("payouts", "run", "--journal", journal, "--yes")))
    assert.equal(2, (at.run("payouts", "run", "--queue", "jun", "--journal", journal, "--yes")))
    files.remove_database(journal)
  end)
end)
