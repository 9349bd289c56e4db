-- SPDX-License-Identifier: MIT
-- The command as a whole: what it says of words that it does not know, and how it ends.

local at_shell = require "at_shell"
local command = require "command"
local files = require "files"

describe("purser", function()
  local at

  setup(function() at = at_shell({ "--seed", "9" }, { role = "broker", balances = { USDT = "1000" } }) end)
  teardown(function() at.stop() end)

  it("says where an operation stands that was named without its group", function()
    at.rejected({ "--versoin" }, "unknown option '--versoin'; did you mean '--version'?")
    at.rejected({ "withdraw" }, "an operation comes after its group", "`purser wallet withdraw`",
      "`purser broker withdraw`")
    at.rejected({ "wallet", "withdrawal" }, "did you mean 'withdraw'?", "`purser wallet --help`")
    at.rejected({ "fleet", "plna", "x" }, "did you mean 'plan'", "`purser fleet --help`")
  end)

  it("rejects an empty name of a file, as an empty variable gives it, before anything is sent", function()
    for option, words in pairs {
      ["--credentials"] = { "wallet", "coins", "--credentials", "" },
      ["--output"] = { "wallet", "coins", "--output", "" },
      ["--cursor"] = { "wallet", "deposit_history", "--since", "1d", "--cursor", "" },
      ["--journal"] = { "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset",
        "USDT", "--amount", "1", "--yes", "--journal", "" },
      ["--guard"] = { "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset",
        "USDT", "--amount", "1", "--yes", "--guard", "" },
    } do
      local code, out, err = command.run(words, at.keys)
      assert.same({ 2, "" }, { code, out }, option)
      assert.is_truthy(err:find("purser: " .. option, 1, true), err)
      assert.is_truthy(err:find "empty" or err:find "names no file", err)
    end
  end)

  it("takes the options of all commands before the command", function()
    local store = "sqlite:" .. at.file()
    local code, _, err = command.run({ "--rate-limit", store, "--timeout", "9s", "wallet", "coins" }, at.keys)
    assert.same({ 0, "" }, { code, err })
  end)

  -- The connection got the number of the closed stream, and the result was written into it.
  it("ends with 5 when standard output is closed", function()
    local words = {}
    for name, value in pairs(at.keys) do words[#words + 1] = name .. "=" .. value end
    local path = at.file()
    os.execute(("%s %s bin/purser wallet coins >&- 2>/dev/null; echo $? > %s"):format(table.concat(words, " "),
      os.getenv "LUA" or "lua5.4", path))
    assert.equal("5\n", files.read(path))
  end)

  it("leaves the file of --output as it was when nothing was printed for it", function()
    local path = at.file "the report of yesterday"
    for _, words in ipairs { { "payouts", "status" }, { "payouts", "report", "--filter", "nmae=x" },
      { "journal", "list", "--journal", "/nonexistent" }, { "doctor", "--filter", "nothing=1" } } do
      words[#words + 1], words[#words + 2] = "--output", path
      at.rejected(words, "--output " .. path .. " was left as it was")
      assert.equal("the report of yesterday", files.read(path))
    end
    local code, out = command.run({ "doctor", "--output", path }, { PURSER_BASE_URL = at.url })
    assert.same({ 2, "" }, { code, out })
    assert.matches("^fail  keys", files.read(path)) -- what it found is its result, whatever the code
  end)

  it("leaves it as it was when a list broke off after it had begun", function()
    local path, own = at.file "the deposits of yesterday", { PURSER_BASE_URL = at.url }
    for name, value in pairs(at.keys) do own[name] = own[name] or value end
    for i = 1, 3 do
      assert(at.world:deposit { account = at.account.uid, coin = "USDT", network = "Tron(TRC20)", amount = "2" .. i })
    end
    for _, words in ipairs { { "wallet", "deposit_history", "--since", "20d", "--cursor", at.file() },
      { "wallet", "deposit_history", "--since", "20d", "--all" } } do
      assert(at.world:fault { kind = "reject", operation = "wallet.deposit_history", skip = 1, times = 50 })
      words[#words + 1], words[#words + 2] = "--output", path
      local code = command.run(words, own)
      assert.is_true(code == 1 or code == 3, code)
      assert.equal("the deposits of yesterday", files.read(path))
      at.world:disarm()
    end
  end)

  it("ends with 130 when it is interrupted and with 70 when it fails itself, and says what had happened", function()
    for problem, expected in pairs {
      boom = { 70, "stopped by an error of its own: " }, ["interrupted!"] = { 130, "purser: interrupted; " },
    } do
      local init = [[package.preload["purser.cli.operations"] = function()
        return { grammar = function() return {} end, say = function() error "]] .. problem .. [[" end }
      end]]
      local code, out, err = command.process({ "operations" }, { LUA_INIT = init })
      assert.same({ expected[1], "" }, { code, out })
      assert(err:find(expected[2], 1, true), err)
      assert(err:find("nothing was sent", 1, true), err)
    end
    for _, name in ipairs { "purser.cli", "purser.cli.grammar", "purser.json", "purser.cli.terminal" } do
      local code, _, err = command.process({ "operations" },
        { LUA_INIT = ([[package.preload["%s"] = function() error("interrupted!", 0) end]]):format(name) })
      assert.equal(130, code, name)
      assert(err:find("interrupted; nothing was sent", 1, true), err)
    end
  end)
end)
