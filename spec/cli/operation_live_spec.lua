-- SPDX-License-Identifier: MIT
-- The commands of what the live service has beyond the document: made from the rows as all others, and asking as
-- they do.

local command = require "command"
local core = require "purser.core"
local operations = require "purser.client.operations"

describe("purser live", function()
  local service, account, keys

  setup(function()
    service = require("service").start { "--seed", "5", "--profile", "mexc" }
    account = assert(service.world:account { role = "main", balances = { USDT = "1000.000000000000000001" } })
    keys = { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key, PURSER_BASE_URL = service.url,
      PURSER_PROFILE = "mexc" }
  end)

  teardown(function() service.stop() end)

  before_each(function() service.world:disarm() end)

  local function purser(...) return command.run({ ... }, keys) end

  local function change(...)
    return { "live", "change_api_key", "--apiKey", account.api_key, "--ipWhiteList", "127.0.0.1,127.0.0.2", ... }
  end

  local function changes() return (service.world:counts()["live.change_api_key"] or { received = 0 }).received end

  local function ip_list()
    local code, out = purser("live", "api-key", "--accessKey", account.api_key, "--json")
    assert.equal(0, code)
    return assert(core.decode(out)).ipWhiteList
  end

  it("shows the account, its key, its identity and its id", function()
    local code, out, err = purser("live", "account", "--json")
    assert.same({ 0, "" }, { code, err })
    local balance = assert(core.decode(out)).balances[1]
    assert.same({ "USDT", "1000.000000000000000001", "0" }, { balance.asset, balance.free, balance.locked })
    code, out = purser("live", "kyc_status", "--csv")
    assert.same({ 0, "status\n3\n" }, { code, out })
    code, out = purser("live", "uid")
    assert.same({ 0, "uid  " .. account.uid .. "\n" }, { code, out })
    code, out = purser("live", "api_key", "--accessKey", account.api_key)
    assert.equal(0, code)
    assert.matches("\nremainingValidity +90\n", out)
    assert.is_nil(out:find(account.secret_key, 1, true))
  end)

  it("asks before it changes a key, and sends nothing without an answer, after a no, and in a dry run", function()
    local code, _, err = purser((table.unpack or unpack)(change())) -- luacheck: ignore
    assert.equal(2, code)
    assert.matches("live.change_api_key is a write call: there is no terminal to confirm it on; give --yes", err, 1,
      true)
    local shown
    code, shown = command.run_on_terminal(change(), keys, "no\n")
    assert.equal(2, code)
    assert.matches("127.0.0.1,127.0.0.2", shown, 1, true)
    local out
    code, out, err = command.run(change "--dry-run", keys)
    assert.equal(0, code)
    assert.matches("nothing is sent to " .. service.url, err, 1, true)
    assert.matches("^POST http://[^ ]+/api/v3/apiKeyInfo%?apiKey=.*&signature=%*%*%*\n", out)
    assert.equal(0, changes())
  end)

  it("changes the IP list of a key, and says what to do when its answer is lost", function()
    assert.equal("", ip_list())
    assert(service.world:fault { kind = "lost_answer", operation = "live.change_api_key", times = 1 })
    local code, _, err = command.run(change "--yes", keys)
    assert.equal(4, code)
    assert.matches("it may be run again: doing it twice is the same as once", err, 1, true)
    assert.equal("127.0.0.1,127.0.0.2", ip_list())
    local out
    code, out = command.run(change("--yes", "--json"), keys)
    assert.equal(0, code)
    assert.same({ account.api_key, "127.0.0.1,127.0.0.2", -999 }, { core.decode(out).accessKey,
      core.decode(out).ipWhiteList, core.decode(out).remainingValidity })
    assert(service.world:fault { kind = "lost_answer", operation = "live.change_api_key", times = 1 })
    code, _, err = command.run(change("--yes", "--reconcile"), keys)
    assert.equal(0, code, err)
    assert.equal(4, changes()) -- the last was executed once more
  end)

  it("sends nothing where the profile does not allow them, and names the cure", function()
    local other = { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key,
      PURSER_BASE_URL = service.url }
    local before = changes()
    for _, words in ipairs { { "live", "uid" }, { "live", "uid", "--dry-run" }, change "--yes", change "--dry-run" } do
      local code, out, err = command.run(words, other)
      assert.same({ 2, "" }, { code, out })
      assert.matches("--profile mexc is the LIVE service, with real funds", err, 1, true)
    end
    assert.equal(before, changes())
  end)

  it("stands in the help, the list of operations and the completion as the others do", function()
    local code, out = command.run { "live", "--help" }
    assert.equal(0, code)
    local _, listed = command.run { "operations" }
    local _, completed = command.run { "completion", "--words", "--", "live", "" }
    for _, row in ipairs(operations.groups.live) do
      assert.matches("\n +" .. row.name .. " ", out)
      assert.matches("\n" .. row.id .. " +live " .. row.name .. " ", listed)
      assert.matches(row.name .. "\n", completed, 1, true)
      assert.matches(row.path, select(2, command.run { "live", row.name, "--help" }), 1, true)
      assert.matches("mexc, or one with live_operations", select(2, command.run { "operations", row.id }), 1, true)
    end
    local _, _, err = command.run { "kyc_status" }
    assert.matches("`purser live kyc_status`", err, 1, true)
  end)
end)
