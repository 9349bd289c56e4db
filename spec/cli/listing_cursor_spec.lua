-- SPDX-License-Identifier: MIT
-- A history with --cursor: every record of a history once, and the cursor by which the next run continues.

local at_shell = require "at_shell"
local files = require "files"
local purser = require "purser"

local DAY = 86400000

describe("a history with --cursor", function()
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

  local function follow(...) return at.run("wallet", "deposit_history", ...) end

  it("writes every record once, as CSV and as JSON lines", function()
    local code, out, err = follow("--columns", "insertTime,amount", "--cursor", at.file())
    assert.equal(0, code, err)
    local lines = {}
    for line in out:gmatch("[^\n]+") do lines[#lines + 1] = line end
    assert.equal(701, #lines)
    assert.equal("insertTime,amount", lines[1])
    for i = 1, 700 do assert.equal(("%d,12.5"):format(times[i]), lines[i + 1]) end
    code, out = follow("--json", "--startTime", ("%d"):format(times[699]), "--coin", "USDT", "--cursor", at.file())
    assert.equal(0, code)
    local _, count = out:gsub('{[^\n]*"amount":"12.5"[^\n]*"coin":"USDT"[^\n]*}\n', "")
    assert.equal(2, count)
    code, out = at.run("broker", "list_sub_accounts", "--all", "--csv")
    assert.same({ 0, "subAccount,note,timestamp\n" }, { code, out })
  end)

  it("goes on with a cursor: together the runs hold each record once", function()
    local cursor = at.file()
    local code, out, err = follow("--cursor", cursor)
    assert.equal(0, code, err)
    assert.equal(701, select(2, out:gsub("\n", "")))
    assert.same({ 0, "", "" }, { follow("--cursor", cursor) })
    assert(at.world:deposit { account = at.account.uid, coin = "USDT", network = "TRX", amount = "3" })
    code, out = follow("--cursor", cursor)
    assert.equal(0, code)
    assert.matches("^3,USDT,[^\n]*\n$", out)
  end)

  it("has no cursor next to a state, in which a record may come later", function()
    local cursor = at.file()
    local code, out, err = follow("--status", "5", "--cursor", cursor)
    assert.same({ 2, "" }, { code, out })
    assert.matches("--cursor has no meaning together with `status`", err, 1, true)
  end)

  it("writes its cursor through no link that lies next to it", function()
    local cursor, diary = at.file(), at.file()
    files.write(diary, "my diary")
    assert(os.execute(("ln -sf %s %s.new"):format(diary, cursor)))
    assert.equal(0, (follow("--cursor", cursor)))
    os.remove(cursor .. ".new")
    assert.equal("my diary", files.read(diary))
    assert.is_true(#files.read(cursor) > 0)
  end)

  it("does not begin again when its cursor cannot be read", function()
    local code, out, err = follow("--cursor", "/tmp")
    assert.same({ 2, "" }, { code, out })
    assert.matches("--cursor /tmp cannot be read: Is a directory", err, 1, true)
  end)
end)
