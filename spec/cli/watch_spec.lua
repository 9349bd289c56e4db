-- SPDX-License-Identifier: MIT
-- `purser watch deposits`: each deposit and each change of one, once, also over two runs with a cursor.
-- make test: 11 s, waits

local at_shell = require "at_shell"
local core = require "purser.core"
local files = require "files"

describe("purser watch deposits", function()
  local at

  setup(function() at = at_shell({ "--seed", "4" }, { role = "main", balances = {} }) end)
  teardown(function() at.stop() end)

  local function deposit(amount, time)
    assert(at.world:deposit { account = at.account.uid, coin = "USDT", network = "Tron(TRC20)", amount = amount,
      time = time })
  end

  local function watch(...) return at.run("watch", "deposits", "--deadline", "1s", ...) end

  it("prints what came since --since, as text, JSON and CSV, with times as --time says", function()
    local ms = at.world:refresh() - 3600000
    deposit("1.50", ms)
    local code, out, err = watch("--since", "2h")
    assert.equal(0, code, err)
    assert.matches("^%d+%-%d+%-%d+ %d+:%d+:%d+.- +new +1%.5 USDT over Tron%(TRC20%)  5 SUCCESS  to T%w+\n$", out)
    code, out = watch("--since", "2h", "--json")
    assert.equal(0, code)
    local event = core.decode(out)
    assert.same({ "new", ms, "1.5", 5, nil },
      { event.kind, event.insertTime, event.amount, event.status, event.before })
    code, out = watch("--since", "2h", "--csv", "--time", "iso")
    assert.equal(0, code)
    assert.matches("^kind,insertTime,amount,coin,[^\n]*\nnew,%d+%-%d+%-%d+T[%d:.]+Z,1.5,USDT,", out)
    code, out = watch("--since", "2h", "--time", "ms")
    assert.equal(0, code)
    assert.matches("^" .. ("%d"):format(ms) .. "  new", out)
    assert.same({ 0, "", "" }, { watch() }) -- from now on
  end)

  it("continues at its cursor: together the runs print each deposit once", function()
    local cursor = at.file()
    local code, out = watch("--since", "2h", "--cursor", cursor, "--csv")
    assert.equal(0, code)
    assert.matches("^kind,insertTime,[^\n]*\nnew,%d+,1.5,[^\n]*\n$", out)
    deposit "2"
    code, out = watch("--cursor", cursor, "--csv")
    assert.equal(0, code)
    assert.matches("^new,%d+,2,[^\n]*\n$", out) -- no header: it is appended to the same file
    assert.same({ 0, "", "" }, { watch("--cursor", cursor, "--csv") })
    files.write(cursor, "nonsense\n")
    at.rejected({ "watch", "deposits", "--cursor", cursor }, "cursor")
    assert.equal("nonsense\n", files.read(cursor))
  end)

  it("prints those of one coin alone with --coin", function()
    assert.same({ 0, "", "" }, { watch("--since", "2h", "--coin", "BTC") })
    assert.equal(2, select(2, select(2, watch("--since", "2h", "--coin", "USDT")):gsub("\n", "")))
  end)

  it("rejects what it cannot mean, before anything is sent", function()
    local before = #at.world:requests()
    for given, message in pairs { ["--poll 0s"] = "--poll: '0s' is no duration; give 45s", ["--poll x"] = "--poll: 'x'",
      ["--since soon"] = '--since: "soon" is not a time',
      ["--addresses f"] = "--addresses is for --sub-accounts", ["--cursor /"] = "--cursor / cannot be read",
      ["--sub-accounts --addresses /nowhere"] = "--addresses /nowhere cannot be read",
      ["--cursor /nowhere/x"] = "--cursor /nowhere/x cannot be written" } do
      local words = { "watch", "deposits", "--deadline", "1s" }
      for word in given:gmatch "%S+" do words[#words + 1] = word end
      at.rejected(words, message)
    end
    at.rejected({ "watch", "deposits", "--deadline", "5" }, "--deadline: '5' is no duration")
    assert.equal(before, #at.world:requests())
  end)
end)
