-- SPDX-License-Identifier: MIT
-- The commands of whole workflows: export, wait, withdraw-plan, fleet.

local command = require "command"
local files = require "files"
local purser = require "purser"
local start = require("service").start

local ADDRESS = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"
local DAY = 86400000

describe("purser", function()
  local service, account, environment, client, made

  setup(function()
    service = start {}
    account = assert(service.world:account { role = "broker", email = "a@example.org", balances = { USDT = "1000" } })
    environment = { PURSER_BASE_URL = service.url, PURSER_API_KEY = account.api_key,
      PURSER_SECRET_KEY = account.secret_key }
    client = assert(purser.new { base_url = service.url, api_key = account.api_key, secret_key = account.secret_key })
    made = {}
  end)

  teardown(function()
    client:close()
    service.stop()
    for _, path in ipairs(made) do os.remove(path) end
  end)

  local function run(...) return command.run({ ... }, environment) end

  local function temporary(text)
    local path = os.tmpname()
    made[#made + 1] = path
    if text then files.write(path, text) else os.remove(path) end
    return path
  end

  describe("export", function()
    local times = {}

    setup(function()
      assert(client:sync_clock())
      local now = client:now()
      for i = 1, 700 do
        times[i] = now - 80 * DAY + i * 60000 * 60 * 2
        assert(service.world:deposit { account = account.uid, coin = "USDT", network = "TRX", amount = "12.50",
          time = times[i] })
      end
    end)

    it("writes every record once, as CSV and as JSON lines", function()
      local code, out, err = run("export", "wallet.deposit_history", "--columns", "insertTime,amount")
      assert.equal(0, code, err)
      local lines = {}
      for line in out:gmatch("[^\n]+") do lines[#lines + 1] = line end
      assert.equal(701, #lines)
      assert.equal("insertTime,amount", lines[1])
      for i = 1, 700 do assert.equal(("%d,12.5"):format(times[i]), lines[i + 1]) end
      code, out = run("export", "wallet.deposit_history", "--format", "json", "--since",
        ("%d"):format(times[699]), "--param", "coin=USDT")
      assert.equal(0, code)
      local _, count = out:gsub('{"amount":"12.5","coin":"USDT"[^\n]*}\n', "")
      assert.equal(2, count)
      code, out = run("export", "broker.list_sub_accounts")
      assert.same({ 0, "subAccount,note,timestamp\n" }, { code, out })
    end)

    it("goes on with a cursor: together the runs hold each record once", function()
      local cursor = temporary()
      local code, out, err = run("export", "wallet.deposit_history", "--cursor", cursor)
      assert.equal(0, code, err)
      assert.equal(701, select(2, out:gsub("\n", "")))
      assert.same({ 0, "", "" }, { run("export", "wallet.deposit_history", "--cursor", cursor) })
      assert(service.world:deposit { account = account.uid, coin = "USDT", network = "TRX", amount = "3" })
      code, out = run("export", "wallet.deposit_history", "--cursor", cursor)
      assert.equal(0, code)
      assert.matches("^3,USDT,[^\n]*\n$", out)
    end)

    it("has no cursor next to a state, in which a record may come later", function()
      local cursor = temporary()
      local code, out, err = run("export", "wallet.deposit_history", "--param", "status=5", "--cursor", cursor)
      assert.same({ 2, "" }, { code, out })
      assert.matches("--cursor has no meaning together with `status`", err, 1, true)
    end)

    it("writes its cursor through no link that lies next to it", function()
      local cursor, diary = temporary(), temporary()
      files.write(diary, "my diary")
      assert(os.execute(("ln -sf %s %s.new"):format(diary, cursor)))
      assert.equal(0, (run("export", "wallet.deposit_history", "--cursor", cursor)))
      os.remove(cursor .. ".new")
      assert.equal("my diary", files.read(diary))
      assert.is_true(#files.read(cursor) > 0)
    end)

    it("does not begin again when its cursor cannot be read", function()
      local code, out, err = run("export", "wallet.deposit_history", "--cursor", "/tmp")
      assert.same({ 2, "" }, { code, out })
      assert.matches("--cursor /tmp cannot be read: Is a directory", err, 1, true)
    end)

    it("says what cannot be exported, and what lies beyond the reach", function()
      assert.equal(2, (run("export", "wallet.coins")))
      local code, _, err = run("export", "wallet.deposit_history", "--since", "95d")
      assert.equal(2, code)
      assert.matches("beyond the reach of this history", err)
      assert.equal(2, (run("export", "wallet.deposit_history", "--param", "coin")))
    end)
  end)

  it("a workflow that is rejected with any code of the service ends with 1, and not with an error of its own",
    function()
    for _, code in ipairs { "10101", "10099", "30000", "x" } do
      assert(service.world:fault { kind = "reject", operation = "wallet.coins", code = code, times = 1 })
      local exit_code, _, err = run("withdraw-plan", "--coin", "USDT", "--address", ADDRESS, "--amount", "20")
      assert.equal(1, exit_code, err)
      assert.is_truthy(err:find("code " .. code .. ",", 1, true), err)
    end
  end)

  it("withdraw-plan reports every problem, and makes the withdrawal when asked", function()
    local arguments = { "withdraw-plan", "--coin", "USDT", "--network", "trc20", "--address", ADDRESS, "--amount" }
    local function plan(amount, ...)
      local all = { (table.unpack or unpack)(arguments) } -- luacheck: ignore
      for _, word in ipairs { amount, ... } do all[#all + 1] = word end
      return command.run(all, environment)
    end
    local code, out = plan "5.0000005"
    assert.equal(2, code)
    assert.matches("error    the amount 5.0000005 is below the minimum of 10\n", out)
    assert.matches("error    the amount 5.0000005 is no multiple of 0.000001", out)
    code, out = plan "20.5"
    assert.equal(0, code)
    assert.matches("ok       no problem found\n$", out)
    local _, err
    code, _, err = plan("20.5", "--execute")
    assert.equal(2, code)
    assert.matches("give %-%-yes", err)
    assert.is_nil(service.world:counts()["wallet.withdraw"])
    code, out, err = plan("20.5", "--execute", "--yes")
    assert.equal(0, code, err)
    assert.matches("by it the withdrawal can be found afterwards", err)
    local id = assert(out:match("(%x%x%x%x%x%x%x%x%x%x+)\n*$"), out)

    code, _, err = run("wait", "withdrawal", id, "--deadline", "1s")
    assert.equal(3, code)
    assert.matches("after 1000 ms", err)
    service.world:advance(3600000)
    code, out, err = run("wait", "withdrawal", id, "--format", "json")
    assert.equal(0, code, err)
    assert.matches('"status": 7', out)
    code = run("wait", "withdrawal", id, "--goal", "cancelled")
    assert.equal(1, code)
    code = run("wait", "withdrawal", id, "--deadline", "soon")
    assert.equal(2, code)
  end)

  it("fleet makes what a file declares, and shows no secret", function()
    local declared = temporary [[{"accounts": [{"name": "commands01", "note": "n",
      "keys": [{"note": "bot", "permissions": ["SPOT_DEAL_READ"]}]}]}]]
    local secrets = temporary()
    local _
    local code, out, err = run("fleet", "plan", declared, "--secrets", secrets)
    assert.equal(0, code, err)
    assert.equal('commands01: create the account\ncommands01: create the key "bot"\n', out)
    code, _, err = run("fleet", "apply", declared, "--secrets", secrets)
    assert.equal(2, code)
    assert.matches("give %-%-yes", err)
    code, out, err = run("fleet", "apply", declared, "--secrets", secrets, "--yes")
    assert.equal(0, code, err)
    assert.equal("commands01: create_account n\ncommands01: create_key bot\n", out)
    local secret = assert(files.read(secrets):match "^%w+\t(%w+)\tcommands01\tbot\thttp://127%.0%.0%.1:%d+\n$")
    assert.is_nil((out .. err):find(secret, 1, true))
    code, out = run("fleet", "plan", declared, "--secrets", secrets)
    assert.same({ 0, "everything is as declared\n" }, { code, out })
    code, out = run("fleet", "rotate", declared, "--secrets", secrets, "--days", "0", "--yes")
    assert.same({ 0, "commands01: create_key bot\n" }, { code, out })
    code, out, err = run("fleet", "rotate", declared, "--secrets", secrets, "--days", "0.3", "--yes")
    assert.same({ 0, "" }, { code, out }, err)
    code, out, err = run("fleet", "rotate", declared, "--secrets", secrets, "--ends-within", "14", "--yes")
    assert.same({ 0, "" }, { code, out }, err)
    code, out = run("fleet", "retire", declared, "--secrets", secrets, "--days", "0", "--yes")
    assert.equal(0, code)
    assert.matches("^commands01: delete_key bot #%w+\n$", out)
    code, out = run("fleet", "orphans", declared, "--secrets", secrets)
    assert.same({ 0, "" }, { code, out })
    assert(client:sync_clock())
    assert(client.sub_account:transfer { toAccount = "commands01", fromAccountType = "SPOT", toAccountType = "SPOT",
      asset = "USDT", amount = "5.25" })
    code, out = run("fleet", "sweep", declared, "--secrets", secrets, "--leave", "0.25", "--yes")
    assert.same({ 0, "commands01 -> parent  5 USDT  (done)\n" }, { code, out })
    code, _, err = run("fleet", "plan", temporary '{"accounts": [{"nam": 1}]}', "--secrets", secrets)
    assert.equal(2, code)
    assert.matches('"nam" is not known', err)
    local others = { [temporary '{"account": []}'] = 'member "account" is not known (did you mean "accounts"?)',
      [temporary "[1"] = "is not the JSON of an object: ",
      ["/nonexistent"] = "/nonexistent cannot be read: No such file" }
    for path, words in pairs(others) do
      code, _, err = run("fleet", "plan", path, "--secrets", secrets)
      assert.equal(2, code)
      assert.matches(words, err, 1, true)
    end
    os.execute("chmod 644 " .. secrets)
    code, _, err = run("fleet", "plan", declared, "--secrets", secrets)
    assert.equal(2, code)
    assert.matches("run: chmod 600 " .. secrets, err, 1, true)
  end)
end)
