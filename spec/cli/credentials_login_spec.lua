-- SPDX-License-Identifier: MIT
-- `purser login`: a key kept in a file that only this user can read, and the sources that are nearer or farther.

local at_shell = require "at_shell"
local command = require "command"
local core = require "purser.core"
local files = require "files"
local purser = require "purser"

describe("purser login", function()
  local at

  setup(function() at = at_shell({ "--seed", "5" }, { role = "broker", balances = { USDT = "1000" } }) end)
  teardown(function() at.stop() end)

  it("keeps keys, and a flag beats the environment", function()
    local folder = os.tmpname()
    os.remove(folder)
    local code, _, err = command.run({ "login", "treasury", "--base-url", at.url }, { XDG_CONFIG_HOME = folder },
      at.account.api_key .. "\n" .. at.account.secret_key .. "\n")
    assert.equal(0, code, err)
    local path = folder .. "/purser/treasury.keys"
    assert.equal(tonumber("600", 8), (core.file_mode(path)))
    code, _, err = command.run({ "wallet", "convertible_balances", "--account", "treasury" },
      { XDG_CONFIG_HOME = folder, PURSER_API_KEY = "other", PURSER_SECRET_KEY = "wrong" })
    assert.equal(0, code, err)
    code, _, err = command.run({ "login", "treasury" }, { XDG_CONFIG_HOME = folder }, "a\nb\n")
    assert.equal(2, code)
    assert.matches("give %-%-replace", err)
    local text = files.read(path)
    assert.equal(0, (command.run({ "wallet", "convertible_balances" }, { PURSER_CREDENTIALS = path,
      HOME = "/nonexistent" })))
    assert.equal(0, (command.process({ "wallet", "convertible_balances", "--credentials", "-" }, {}, text)))
    files.write(folder .. "/command.keys", "credentials_command = cat " .. path .. "\n")
    os.execute("chmod 600 " .. folder .. "/command.keys")
    assert.equal(0, (command.run({ "wallet", "convertible_balances" },
      { PURSER_CREDENTIALS = folder .. "/command.keys" })))
    code, _, err = command.run({ "wallet", "convertible_balances" }, { PURSER_CREDENTIALS = "|cat " .. path })
    assert.equal(2, code)
    assert.matches("No such file", err)
    os.execute(("mkdir %s/service && cp %s %s/service/purser"):format(folder, path, folder))
    local handed = { CREDENTIALS_DIRECTORY = folder .. "/service", XDG_CONFIG_HOME = folder .. "/none" }
    assert.equal(0, (command.run({ "wallet", "convertible_balances" }, handed)))
    handed.PURSER_API_KEY, handed.PURSER_SECRET_KEY, handed.PURSER_BASE_URL = "other", "wrong", at.url -- nearer
    assert.equal(1, (command.run({ "wallet", "convertible_balances" }, handed)))
    handed = { CREDENTIALS_DIRECTORY = folder .. "/purser", XDG_CONFIG_HOME = folder .. "/none" } -- another's
    files.write(folder .. "/none", "")
    code, _, err = command.run({ "wallet", "convertible_balances" }, handed)
    assert.equal(2, code)
    assert.matches("no keys", err)
    os.execute("rm -rf " .. folder)
  end)

  it("lets the secret go that it reads beside the service of a replaced key", function()
    local read, closed = core.read_credentials, 0
    local folder = files.folder()
    finally(function()
      core.read_credentials = read
      files.remove(folder)
    end)
    core.read_credentials = function()
      return { profile = "mexc", secret = { close = function() closed = closed + 1 end } }
    end
    local environment = { XDG_CONFIG_HOME = folder, HOME = folder }
    assert.equal(0, (command.run({ "login", "old" }, environment, "mx0a\nsecret\n")))
    assert.equal(0, (command.run({ "login", "old", "--replace" }, environment, "mx0b\nsecret2\n")))
    assert.equal(1, closed)
    assert.matches("profile = mexc", files.read(folder .. "/purser/old.keys"), 1, true)
  end)

  it("replaces a key, and keeps its service unless that is given anew", function()
    local folder = os.tmpname()
    os.remove(folder)
    finally(function() os.execute("rm -rf " .. folder) end)
    local home = { XDG_CONFIG_HOME = folder }
    local keys = at.account.api_key .. "\n" .. at.account.secret_key .. "\n"
    assert.equal(0, (command.run({ "login", "desk", "--base-url", at.url, "--profile", "mexc" }, home, "old\nold\n")))
    assert.equal(0, (command.run({ "login", "desk", "--replace" }, home, keys)))
    local path = folder .. "/purser/desk.keys"
    assert.equal(("base_url = %s\nprofile = mexc\n"):format(at.url), assert(files.read(path)):match "^(.-)api_key")
    assert.equal(0, (command.run({ "wallet", "convertible_balances", "--account", "desk" }, home)))
    assert.equal(0, (command.run({ "login", "desk", "--replace", "--profile", "default" }, home, keys)))
    assert.equal("profile = default\n", assert(files.read(path)):match "^(.-)api_key")
    files.write(path, "nothing\n")
    local code, _, err = command.run({ "login", "desk", "--replace" }, home, keys)
    assert.equal(2, code)
    assert.matches("give --base-url or --profile", err, 1, true)
    assert.equal("nothing\n", files.read(path))
    assert.equal(0, (command.run({ "login", "desk", "--replace", "--base-url", at.url }, home, keys)))
  end)

  it("keeps keys of the default account, which do not sign for a named one that has none", function()
    local folder = os.tmpname()
    os.remove(folder)
    finally(function() os.execute("rm -rf " .. folder) end)
    local home = { XDG_CONFIG_HOME = folder, PURSER_BASE_URL = at.url }
    assert.equal(0, (command.run({ "login" }, home, at.account.api_key .. "\n" .. at.account.secret_key .. "\n")))
    assert.equal(0, (command.run({ "wallet", "convertible_balances" }, home)))
    assert.equal(0, (command.run({ "wallet", "convertible_balances", "--account", "default" }, home)))
    local code, _, err = command.run({ "wallet", "convertible_balances", "--account", "tresury" }, home)
    assert.equal(2, code)
    local missing = ("--account tresury has no keys: there is no %s/purser/tresury.keys; `purser login tresury`")
      :format(folder)
    assert.is_truthy(err:find(missing, 1, true), err)
  end)

  it("is what an account needs that was named, whatever keys the environment has: they may be another's", function()
    local folder = os.tmpname()
    os.remove(folder)
    finally(function() os.execute("rm -rf " .. folder) end)
    local login = { XDG_CONFIG_HOME = folder }
    assert.equal(0, (command.run({ "login", "watch_only" }, login, "mx0watch\nsecret\n")))
    local _, _, unnamed = command.run({ "wallet", "coins" }, login)
    assert.matches("no keys: .*, or give %-%-account, of which there are keys: watch_only\n", unnamed)
    local journal = folder .. "/journal.db"
    assert(purser.journal.open { sqlite = journal }):close()
    local received = at.received "wallet.transfer"
    local transfer = { "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset", "USDT", "--amount", "1" }
    for _, words in ipairs { { "wallet", "transfer", "--yes", (table.unpack or unpack)(transfer) }, { "wallet", "coins" }, -- luacheck: ignore
      { "doctor" }, { "payouts", "status", "--journal", journal } } do
      words[#words + 1], words[#words + 2] = "--account", "watch_onyl"
      local code, out, err = command.run(words, at.with(login))
      assert.equal(2, code, out)
      assert.matches('--account watch_onyl has no keys (did you mean "watch_only"?)', out .. err, 1, true)
      assert.matches("PURSER_ACCOUNT=watch_onyl", out .. err, 1, true)
    end
    assert.equal(received, (at.received "wallet.transfer"))
    local code, _, err = command.run({ "wallet", "coins", "--account", "tresury" }, at.with { HOME = folder })
    assert.equal(2, code)
    assert.matches('--account tresury has no keys (did you mean "treasury"?)', err, 1, true)
    assert.equal(0, (command.run({ "wallet", "coins", "--account", "treasury" }, at.with(login))))
    code, _, err = command.run({ "wallet", "coins" }, { XDG_CONFIG_HOME = folder, PURSER_ACCOUNT = "watch_onyl" })
    assert.equal(2, code)
    assert.matches('PURSER_ACCOUNT watch_onyl has no keys (did you mean "watch_only"?)', err, 1, true)
  end)

  describe("in a folder of its own", function()
    local folder

    before_each(function()
      folder = os.tmpname()
      os.remove(folder)
    end)
    after_each(function() os.execute("rm -rf " .. folder) end)

    local function login(typed, ...)
      return command.run({ "login", ... }, { XDG_CONFIG_HOME = folder }, typed)
    end

    it("keeps nothing of what is no key: a missing line, a blank or a control character in it", function()
      for _, typed in ipairs { "", "key\n", "\nsecret\n", "key\n  \n", "ke y\nsecret\n", "key\nsec\tret\n",
        "k\27y\nsecret\n", "key\nsecret\rprofile = mexc\n" } do
        local code, out, err = login(typed)
        assert.same({ 2, "" }, { code, out })
        assert.matches("nothing was kept", err, 1, true)
        assert.is_nil(err:find("sec\tret", 1, true))
        assert.is_nil(core.file_mode(folder .. "/purser/default.keys"))
      end
    end)

    it("takes no name that leaves the folder", function()
      for _, name in ipairs { "../x", "a/b", ".x", "-x y", "a b" } do
        local code, _, err = login("key\nsecret\n", "--", name)
        assert.equal(2, code)
        assert.matches("login: .* is no name of an account; use letters, digits, _ and %-\n$", err)
      end
      assert.is_nil(core.file_mode(folder))
    end)

    it("replaces a key with --replace alone, whole, with the service that was named", function()
      assert.equal(0, (login("key1\nsecret1\n", "desk", "--profile", "mexc")))
      assert.equal(2, (login("key2\nsecret2\n", "desk")))
      local path = folder .. "/purser/desk.keys"
      assert.matches("secret_key = secret1", files.read(path), 1, true)
      assert.equal(0, (login(" key2 \n secret2 \n", "desk", "--replace", "--base-url", "http://127.0.0.1:1")))
      assert.same({ "key2", "secret2", "http://127.0.0.1:1", nil }, { files.read(path):match "api_key = (%S+)\n",
        files.read(path):match "secret_key = (%S+)\n", files.read(path):match "base_url = (%S+)\n",
        files.read(path):match "profile" })
      assert.equal(384, (core.file_mode(path) % 512)) -- octal 600
    end)

  end)
end)
