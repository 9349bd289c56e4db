-- SPDX-License-Identifier: MIT
-- `purser payouts` with the name of another account than the journal's: a list under a wrong name was paid once more.

local command = require "command"
local files = require "files"

local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

describe("a list of another account's journal", function()
  local service, keys, folder, path

  setup(function()
    service = require("service").start { "--seed", "12" }
    local account = assert(service.world:account { role = "main", balances = { USDT = "5000" } })
    keys = { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key, PURSER_BASE_URL = service.url }
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir -m 700 " .. folder))
    path = folder .. "/list.csv"
    files.write(path, "key,coin,network,address,amount\ninv-1,USDT,TRX," .. TRON .. ",20\n")
  end)
  teardown(function()
    os.execute("rm -rf " .. folder)
    service.stop()
  end)

  local function words(account, ...)
    keys.PURSER_ACCOUNT = account -- whose name the keys of the environment have
    return { "payouts", path, "--operation", "wallet.withdraw", "--journal", folder .. "/j.db", ... }
  end
  local function sent() return (service.world:counts()["wallet.withdraw"] or { received = 0 }).received end

  it("is not paid, and nothing is shown of the account: the error names both, and the cure", function()
    assert.equal(0, (command.run(words("treasury", "--yes"), keys)))
    assert.equal(1, sent())
    local other = 'j.db is the journal of account "treasury", and this client is account "treasuri"'
    local code, _, err = command.run(words("treasuri", "--yes"), keys)
    assert.equal(2, code)
    assert.matches(other, err, 1, true)
    assert.matches("`purser journal rename treasuri`", err, 1, true)
    assert.equal(1, sent())
    for _, action in ipairs { "status", "report" } do
      keys.PURSER_ACCOUNT = "treasuri"
      code, _, err = command.run({ "payouts", action, "--journal", folder .. "/j.db" }, keys)
      assert.equal(2, code)
      assert.matches(other, err, 1, true)
      keys.PURSER_ACCOUNT = "treasury"
      assert.equal(0, (command.run({ "payouts", action, "--journal", folder .. "/j.db" }, keys)))
    end
  end)

  -- It waited a minute, ended with 4, and left the payments taken.
  it("is not begun with the keys of another user: nothing is taken, and the error says whose they are", function()
    local list = folder .. "/other.csv"
    files.write(list, "key,coin,network,address,amount\ninv-2,USDT,TRX," .. TRON .. ",21\n")
    local own = { PURSER_PROFILE = "mexc", PURSER_ACCOUNT = "treasury", PURSER_JOURNAL = folder .. "/own.db",
      PURSER_API_KEY = keys.PURSER_API_KEY, PURSER_SECRET_KEY = keys.PURSER_SECRET_KEY,
      PURSER_BASE_URL = keys.PURSER_BASE_URL }
    assert.equal(0, (command.run({ "wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", TRON,
      "--amount", "20", "--yes" }, own)))
    local other, before = assert(service.world:account { role = "main", balances = { USDT = "5000" } }), sent()
    own.PURSER_API_KEY, own.PURSER_SECRET_KEY = other.api_key, other.secret_key
    for _, action in ipairs { "plan", "run" } do
      local line = { "payouts", action, list, "--operation", "wallet.withdraw" }
      line[#line + 1] = action == "run" and "--yes" or nil
      local code, out, err = command.run(line, own)
      assert.same({ 2, "" }, { code, out })
      assert.matches("the service says that this API key is of user", err, 1, true)
      assert.matches("nothing was sent", err, 1, true)
      assert.is_nil(err:find("waiting", 1, true), err)
    end
    assert.equal(before, sent())
    local _, _, err = command.run({ "payouts", "report" }, own)
    assert.matches("holds no payment", err, 1, true)
  end)
end)
