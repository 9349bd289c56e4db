-- SPDX-License-Identifier: MIT
-- `purser fleet`: sub-accounts as a file declares them.
-- make test: 3 s

local at_shell = require "at_shell"
local command = require "command"
local core = require "purser.core"
local files = require "files"
local purser = require "purser"

local SHARED = 420 -- octal 644

local HEAD = "key,operation,fromAccount,fromAccountType,toAccount,toAccountType,asset,amount\n"

describe("purser fleet", function()
  local at, client

  setup(function()
    at = at_shell({ "--seed", "9" }, { role = "broker", email = "a@example.org", balances = { USDT = "1000" } })
    client = assert(purser.new { base_url = at.url, api_key = at.account.api_key, secret_key = at.account.secret_key })
  end)
  teardown(function()
    client:close()
    at.stop()
  end)

  it("sweeps nothing, and the run of that list ends with 0", function()
    local declared = at.file '{"accounts": []}'
    local list, journal = at.file(), at.file()
    assert.equal(0, (at.run("fleet", "sweep", declared, "--name", "june", "--output", list)))
    local function run(file, ...) return at.run("payouts", "run", file, "--journal", journal, "--yes", ...) end
    local code, out, err = run(list)
    assert.equal(0, code, err)
    assert.matches("%f[%d]0%f[%D]", out)
    assert.truthy(err:find(list .. " was written without payments: nothing is to be moved", 1, true), err)
    assert.is_nil(core.file_mode(journal)) -- nothing was sent
    assert.equal(0, (at.run("payouts", "plan", list, "--journal", journal)))
    code, out, err = run(list, "--format", "json")
    assert.equal(0, code, err)
    assert.matches('"total": 0', out)
    code, out, err = run(list, "--expect-count", "1")
    assert.equal("", out)
    assert.equal(2, code)
    assert.matches("the list has 0 payments", err)
    local text = files.read(list)
    for _, cut in ipairs { HEAD, text:sub(1, -2), HEAD .. "# none\n" } do
      code, out, err = run(at.file(cut))
      assert.same({ 2, "" }, { code, out })
      assert.matches("has no payment", err)
    end
  end)

  it("makes what a file declares, and shows no secret", function()
    local declared = at.file [[{"accounts": [{"name": "commands01", "note": "n",
      "keys": [{"note": "bot", "permissions": ["SPOT_DEAL_READ"]}]}]}]]
    local secrets, _ = at.file(), nil
    local code, out, err = at.run("fleet", "plan", declared, "--secrets", secrets)
    assert.equal(0, code, err)
    assert.equal('commands01: create the account\ncommands01: create the key "bot"\n', out)
    code, _, err = at.run("fleet", "apply", declared, "--secrets", secrets)
    assert.equal(2, code)
    assert.matches("give %-%-yes", err)
    code, out, err = at.run("fleet", "apply", declared, "--secrets", secrets, "--yes")
    assert.equal(0, code, err)
    assert.matches("\ncommands01  create_account  n\ncommands01  create_key      bot\n$", out)
    local secret = assert(files.read(secrets):match "^%w+\t(%w+)\tcommands01\tbot\thttp://127%.0%.0%.1:%d+\n$")
    assert.is_nil((out .. err):find(secret, 1, true))
    code, out = at.run("fleet", "plan", declared, "--secrets", secrets)
    assert.same({ 0, "everything is as declared\n" }, { code, out })
    code, out = at.run("fleet", "rotate", declared, "--secrets", secrets, "--max-age", "0", "--yes")
    assert.equal(0, code)
    assert.matches("\ncommands01  create_key  bot   rotation\n$", out)
    code, out, err = at.run("fleet", "rotate", declared, "--secrets", secrets, "--max-age", "8h", "--yes")
    assert.same({ 0, "no key is due\n" }, { code, out }, err)
    code, out, err = at.run("fleet", "rotate", declared, "--secrets", secrets, "--ends-within", "14d", "--yes")
    assert.same({ 0, "no key is due\n" }, { code, out }, err)
    code, out = at.run("fleet", "retire", declared, "--secrets", secrets, "--overlap", "0", "--yes")
    assert.equal(0, code)
    assert.matches("\ncommands01  delete_key  bot #%w+ ", out)
    assert(client:sync_clock())
    assert(client.sub_account:transfer { toAccount = "commands01", fromAccountType = "SPOT", toAccountType = "SPOT",
      asset = "USDT", amount = "5.25" })
    local list, journal = at.file(), at.file()
    code, _, err = at.run("fleet", "sweep", declared, "--name", "june", "--leave", "0.25", "--output", list)
    assert.equal(0, code)
    assert.matches("1 payment; next: purser payouts run " .. list, err, 1, true)
    code, _, err = at.run("payouts", "run", list, "--journal", journal, "--yes")
    assert.equal(0, code, err)
    code, out = at.run("fleet", "sweep", declared, "--name", "june", "--leave", "0.25")
    assert.same({ 0, HEAD .. "# no payments: nothing is to be moved\n" }, { code, out })
    code, out = at.run("fleet", "distribute", declared, "--name", "july", "--asset", "USDT", "--to", "commands01=2")
    assert.same({ 0, "july-commands01-USDT,sub_account.transfer,,SPOT,commands01,SPOT,USDT,2" },
      { code, out:match "\n([^\n]*)" })
    code, _, err = at.run("fleet", "plan", at.file '{"accounts": [{"nam": 1}]}', "--secrets", secrets)
    assert.equal(2, code)
    assert.matches('"nam" is not known', err)
    local others = { [at.file '{"account": []}'] = 'member "account" is not known (did you mean "accounts"?)',
      [at.file "[1"] = "is not the JSON of an object: ",
      ["/nonexistent"] = "/nonexistent cannot be read: No such file" }
    for path, words in pairs(others) do
      code, _, err = at.run("fleet", "plan", path, "--secrets", secrets)
      assert.equal(2, code)
      assert.matches(words, err, 1, true)
    end
    os.execute("chmod 644 " .. secrets)
    code, _, err = at.run("fleet", "plan", declared, "--secrets", secrets)
    assert.equal(2, code)
    assert.matches("run: chmod 600 " .. secrets, err, 1, true)
  end)

  local declared

  setup(function()
    declared = at.file [[{"accounts": [{"name": "mistakes01", "note": "n",
      "keys": [{"note": "bot", "permissions": ["SPOT_DEAL_READ"]}]}]}]]
  end)

  it("rejects a file of secrets that others can read", function()
    local secrets = at.file "key\tsecret\tmistakes01\tbot\n"
    os.execute(("chmod %o %s"):format(SHARED, secrets))
    at.rejected({ "fleet", "apply", declared, "--secrets", secrets, "--yes" }, "can be used by others", "chmod 600")
  end)

  it("makes no file of secrets where none is needed", function()
    local secrets = at.file()
    for _, action in ipairs { "plan", "retire" } do
      at.run("fleet", action, declared, "--secrets", secrets, "--yes")
      assert.is_nil(io.open(secrets), action)
    end
  end)

  it("takes durations and amounts only", function()
    local secrets = at.file()
    for _, text in ipairs { "x", "90", "1e2d", ".5d" } do
      at.rejected({ "fleet", "rotate", declared, "--secrets", secrets, "--yes", "--max-age", text }, "is no duration")
    end
    for _, amount in ipairs { "x", "1,5", "1e2" } do
      at.rejected({ "fleet", "sweep", declared, "--name", "x", "--leave", amount }, "is not an amount")
    end
  end)

  it("asks with the address of the service", function()
    local code, shown = command.run_on_terminal({ "fleet", "apply", declared, "--secrets", at.file() },
      at.with { LUA_INIT = command.SHORT_SLEEPS }, "no\n")
    assert.equal(2, code)
    assert(shown:find("This makes it so at " .. at.url, 1, true), shown)
  end)

  it("names each key before the question of rotate and retire, and touches no other", function()
    assert(client:sync_clock())
    assert(client.sub_account:create_sub_account { subAccount = "mistakes01", note = "n" })
    local function new_key(note)
      return assert(client.sub_account:create_api_key { subAccount = "mistakes01", note = note,
        permissions = { "SPOT_DEAL_READ" } }).apiKey
    end
    local old, secrets = new_key "bot", at.file ""
    local code, shown = at.on_terminal("no\n", "fleet", "rotate", declared, "--secrets", secrets, "--max-age", "0")
    assert.equal(2, code, shown)
    assert(shown:find(('mistakes01: create the key "bot" (rotation), beside "bot": %s\n'):format(old), 1, true), shown)
    assert(shown:find("This makes keys at " .. at.url, 1, true), shown)
    assert.equal(1, #assert(client.sub_account:list_api_keys { subAccount = "mistakes01" }))
    local second, newest = new_key "bot", new_key "bot"
    local words = { "fleet", "retire", declared, "--secrets", secrets, "--overlap", "0" }
    local paths = { at.file "", at.file "" }
    local delete = command.line({ "sub_account", "delete_api_key", "--subAccount", "mistakes01", "--apiKey", old,
      "--yes" }, at.keys)
    code, shown = command.shell(("(until grep -q 'Type yes' %s; do sleep 0.05; done; %s >%s 2>&1; echo yes) | "
      .. "script -q -f -e -c %s %s"):format(paths[1], delete, paths[2], command.quote(command.line(words, at.keys)),
      paths[1]))
    assert.equal(3, code, shown) -- a key that was shown is gone
    shown = shown:gsub("%s+", " ")
    for _, key in ipairs { old, second } do
      assert(shown:find(('mistakes01: delete the key "bot" (rotation): %s'):format(key), 1, true), shown)
    end
    assert(shown:find('changed since it was shown, so not done: mistakes01: delete the key "bot" (rotation): ' .. old,
      1, true), shown)
    local left = assert(client.sub_account:list_api_keys { subAccount = "mistakes01" })
    assert.same({ 1, newest }, { #left, left[1].apiKey })
  end)

  it("deletes no key for a secrets file that is not there, and makes none", function()
    local own, secrets, none = at.file [[{"accounts": [{"name": "secrets001", "note": "n",
      "keys": [{"note": "bot", "permissions": ["SPOT_DEAL_READ"]}]}]}]], at.file(), at.file()
    local code, _, err = at.run("fleet", "apply", own, "--secrets", secrets, "--yes")
    assert.equal(0, code, err)
    at.rejected({ "fleet", "apply", own, "--secrets", none, "--yes" }, "fleet apply: there is no " .. none,
      "the secrets of keys that are there (1) would be lost")
    assert.is_nil(io.open(none))
    assert(client:sync_clock())
    assert.equal(1, #assert(client.sub_account:list_api_keys { subAccount = "secrets001" }))
  end)

  it("does not wait for a file of secrets that is a pipe", function()
    local pipe = at.file()
    assert(os.execute("mkfifo -m 600 " .. pipe))
    local file, message = require("purser.client.util.files").open_private(pipe, "a+b")
    assert.is_nil(file)
    assert.matches("is not a regular file", message)
  end)
end)
