-- SPDX-License-Identifier: MIT
-- `purser export`: every record of a history once, and the cursor by which the next run continues.

local at_shell = require "at_shell"
local command = require "command"
local files = require "files"
local purser = require "purser"

local DAY = 86400000

describe("purser export", function()
  local at, client
  local times = {}

  setup(function()
    at = at_shell(nil, { role = "broker", email = "a@example.org", balances = { USDT = "1000" } })
    client = assert(purser.new { base_url = at.url, api_key = at.account.api_key, secret_key = at.account.secret_key })
    assert(client:sync_clock())
    local now = client:now()
    for i = 1, 700 do
      times[i] = now - 80 * DAY + i * 60000 * 60 * 2
      assert(at.world:deposit { account = at.account.uid, coin = "USDT", network = "TRX", amount = "12.50",
        time = times[i] })
    end
  end)

  teardown(function()
    client:close()
    at.stop()
  end)

  it("writes every record once, as CSV and as JSON lines", function()
    local code, out, err = at.run("export", "wallet.deposit_history", "--columns", "insertTime,amount")
    assert.equal(0, code, err)
    local lines = {}
    for line in out:gmatch("[^\n]+") do lines[#lines + 1] = line end
    assert.equal(701, #lines)
    assert.equal("insertTime,amount", lines[1])
    for i = 1, 700 do assert.equal(("%d,12.5"):format(times[i]), lines[i + 1]) end
    code, out = at.run("export", "wallet.deposit_history", "--format", "json", "--since",
      ("%d"):format(times[699]), "--param", "coin=USDT")
    assert.equal(0, code)
    local _, count = out:gsub('{[^\n]*"amount":"12.5"[^\n]*"coin":"USDT"[^\n]*}\n', "")
    assert.equal(2, count)
    code, out = at.run("export", "broker.list_sub_accounts")
    assert.same({ 0, "subAccount,note,timestamp\n" }, { code, out })
  end)

  it("goes on with a cursor: together the runs hold each record once", function()
    local cursor = at.file()
    local code, out, err = at.run("export", "wallet.deposit_history", "--cursor", cursor)
    assert.equal(0, code, err)
    assert.equal(701, select(2, out:gsub("\n", "")))
    assert.same({ 0, "", "" }, { at.run("export", "wallet.deposit_history", "--cursor", cursor) })
    assert(at.world:deposit { account = at.account.uid, coin = "USDT", network = "TRX", amount = "3" })
    code, out = at.run("export", "wallet.deposit_history", "--cursor", cursor)
    assert.equal(0, code)
    assert.matches("^3,USDT,[^\n]*\n$", out)
  end)

  it("has no cursor next to a state, in which a record may come later", function()
    local cursor = at.file()
    local code, out, err = at.run("export", "wallet.deposit_history", "--param", "status=5", "--cursor", cursor)
    assert.same({ 2, "" }, { code, out })
    assert.matches("--cursor has no meaning together with `status`", err, 1, true)
  end)

  it("writes its cursor through no link that lies next to it", function()
    local cursor, diary = at.file(), at.file()
    files.write(diary, "my diary")
    assert(os.execute(("ln -sf %s %s.new"):format(diary, cursor)))
    assert.equal(0, (at.run("export", "wallet.deposit_history", "--cursor", cursor)))
    os.remove(cursor .. ".new")
    assert.equal("my diary", files.read(diary))
    assert.is_true(#files.read(cursor) > 0)
  end)

  it("does not begin again when its cursor cannot be read", function()
    local code, out, err = at.run("export", "wallet.deposit_history", "--cursor", "/tmp")
    assert.same({ 2, "" }, { code, out })
    assert.matches("--cursor /tmp cannot be read: Is a directory", err, 1, true)
  end)

  it("says what cannot be exported, and what lies beyond the reach", function()
    assert.equal(2, (at.run("export", "wallet.coins")))
    local code, _, err = at.run("export", "wallet.deposit_history", "--since", "95d")
    assert.equal(2, code)
    assert.matches("beyond the reach of this history", err)
    assert.equal(2, (at.run("export", "wallet.deposit_history", "--param", "coin")))
  end)

  it("names the histories, and how a parameter that is missing is given", function()
    at.rejected({ "export", "wallet.deposits_history" }, 'did you mean "wallet.deposit_history"', "broker.rebates")
    for history, advice in pairs {
      ["wallet.conversion_history"] = "--since", ["wallet.transfer_history"] = "--param fromAccountType=...",
    } do
      local code, _, err = command.run({ "export", history }, at.keys)
      assert.equal(2, code)
      assert(err:find("give it as " .. advice, 1, true), err)
    end
    local code, out = at.run("export", "wallet deposit-history", "--columns", "amount", "--param", "coin=DOGE")
    assert.same({ 0, "amount\n" }, { code, out })
  end)

  it("rejects a parameter that is given twice, as one of the two would win without a word", function()
    at.rejected({ "export", "wallet.transfer_history", "--param", "fromAccountType=SPOT", "--param",
      "fromAccountType=FUTURES", "--param", "toAccountType=SPOT" }, "--param gives fromAccountType twice")
  end)
end)
