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
end)
