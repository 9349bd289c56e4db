-- SPDX-License-Identifier: MIT
-- `purser payouts` with the name of another account than the journal knows: a list is paid once more only when a person
-- has said so.

local command = require "command"
local files = require "files"

local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

describe("an account that has no payments in a queue where another has some", function()
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

  it("pays no list without a question, and shows whose payments there are", function()
    assert.equal(0, (command.run(words("treasury", "--yes"), keys)))
    assert.equal(1, sent())
    local code, _, err = command.run(words("treasuri", "--yes"), keys)
    assert.equal(2, code)
    assert.matches('the account "treasuri" has no payments in the queue "default" of %S+, which holds those of '
      .. '"treasury" %(1%); correct the account, or give a queue', err)
    assert.equal(1, sent())

    local shown
    code, shown = command.run_on_terminal(words "treasuri", keys, "no\n")
    assert.equal(2, code)
    assert.matches('warning +| the account "treasuri" has no payments', shown)
    assert.equal(1, sent())

    for _, action in ipairs { "status", "report" } do
      keys.PURSER_ACCOUNT = "treasuri"
      code, _, err = command.run({ "payouts", action, "--journal", folder .. "/j.db" }, keys)
      assert.equal(2, code)
      assert.matches('the account "treasuri" has no payments', err)
      keys.PURSER_ACCOUNT = "treasury"
      _, _, err = command.run({ "payouts", action, "--journal", folder .. "/j.db" }, keys)
      assert.is_nil(err:find("has no payments", 1, true))
    end
  end)

  it("pays it in a queue of its own", function()
    -- the keys of another account: that of the first shows an equal payment, which a person would have to judge
    local account = assert(service.world:account { role = "main", balances = { USDT = "5000" } })
    keys.PURSER_API_KEY, keys.PURSER_SECRET_KEY = account.api_key, account.secret_key
    local before = sent()
    assert.equal(0, (command.run(words("savings", "--queue", "savings", "--yes"), keys)))
    assert.equal(before + 1, sent())
  end)
end)
