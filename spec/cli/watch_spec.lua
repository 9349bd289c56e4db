-- SPDX-License-Identifier: MIT
-- `purser watch account`: what changes is told once, over runs that share a state; numbers for Prometheus.
-- make test: 8 s, waits

local at_shell = require "at_shell"
local core = require "purser.core"
local files = require "files"

describe("purser watch account", function()
  local at

  setup(function() at = at_shell({ "--seed", "4" }, { role = "broker", name = "Acme", balances = { USDT = "10" } }) end)
  teardown(function() at.stop() end)

  local function watch(...) return at.run("watch", "account", ...) end

  it("tells what is bad, once over runs with a state, and of each change", function()
    assert(at.world:account { name = "desk1xxxx", role = "sub", parent = at.account.uid, balances = { USDT = "5" } })
    local state, got = at.file(), at.file()
    local words = { "--below", "desk1xxxx/USDT=6", "--state", state, "--run", "cat >>" .. got }
    local code, out, err = watch((table.unpack or unpack)(words)) -- luacheck: ignore
    assert.same({ 0, "" }, { code, err })
    assert.matches("^%d+%-%d+%-%d+ .-  balance of desk1xxxx/USDT: below 6\n$", out)
    assert.same({ 0, "", "" }, { watch((table.unpack or unpack)(words)) }) -- luacheck: ignore
    local events = {}
    for line in io.lines(got) do events[#events + 1] = core.decode(line) end
    assert.equal(1, #events)
    assert.equal("below 6", events[1].state)
    assert(at.world:deposit { account = "desk1xxxx", coin = "USDT", network = "Tron(TRC20)", amount = "2" })
    at.world:advance(3600000)
    code, out = watch((table.unpack or unpack)(words)) -- luacheck: ignore
    assert.equal(0, code)
    assert.matches(": below 6 %-> enough\n$", out)
  end)

  it("ends with 3 where something could not be read or told, and tries that again", function()
    local state = at.file()
    local code, _, err = watch("--network", "USDT/NONE", "--state", state, "--run", "exit 1")
    assert.equal(3, code)
    assert.matches("withdrawals of USDT/NONE was not told", err)
    code = watch("--network", "USDT/NONE", "--state", state, "--run", "true")
    assert.equal(0, code)
  end)

  it("posts to a receiver of an own authority by --ca-file, and names that option where the authority lacks", function()
    local own = require("stage").new(nil)
    local peer, made = own.start()
    peer:tls(made.path "good.crt", made.path "good.key")
    local words = { "--network", "USDT/NONE", "--webhook", peer:url "https" .. "/", "--secret-file",
      files.private "one that both know" }
    local code, _, err = watch((table.unpack or unpack)(words)) -- luacheck: ignore
    assert.equal(3, code)
    assert.matches("was not told: the server's certificate is not accepted: .* named by %-%-ca%-file", err)
    words[#words + 1], words[#words + 2] = "--ca-file", made.path "ca.crt"
    code, _, err = watch((table.unpack or unpack)(words)) -- luacheck: ignore
    assert.same({ 0, "" }, { code, err })
    own.stop()
  end)

  it("takes no option that tells of news alone where nothing keeps the look before", function()
    for _, words in ipairs { { "--above", "USDT=1" }, { "--permissions" } } do
      at.rejected({ "watch", "account", (table.unpack or unpack)(words) }, -- luacheck: ignore
        words[1] .. " tells what is new since the look before", "give --state FILE, or --every DURATION")
    end
    local state = at.file()
    assert.same({ 0, "", "" }, { watch("--above", "USDT=1", "--state", state) })
    assert(at.world:deposit { account = "Acme", coin = "USDT", network = "Tron(TRC20)", amount = "2" })
    local code, out = watch("--above", "USDT=1", "--state", state)
    assert.equal(0, code)
    assert.matches("deposit of USDT", out)
  end)

  it("writes numbers for Prometheus", function()
    local path = at.file()
    assert.equal(0, (watch("--network", "USDT/TRX", "--metrics", path)))
    assert.matches('purser_requests_total{operation="wallet.coins",outcome="done"} 1\n', files.read(path))
  end)

  it("rejects what it does not understand, and makes no journal", function()
    for mistake, message in pairs { ["--below USDT"] = "name=value", ["--below USDT=x"] = "write USDT=500",
      ["--stuck x"] = "--stuck: 'x' is no duration", ["--every x"] = "give 45s",
      ["--webhook https://hooks.example.com/"] = "needs --secret-file",
      ["--journal /no/such/file"] = "there is no journal", [""] = "nothing is watched" } do
      local words = { "watch", "account" }
      for word in mistake:gmatch "%S+" do words[#words + 1] = word end
      at.rejected(words, message)
    end
  end)
end)
