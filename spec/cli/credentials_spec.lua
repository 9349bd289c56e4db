-- SPDX-License-Identifier: MIT
-- The keys: where they come from, the nearest source alone, and what is no source.

local at_shell = require "at_shell"
local command = require "command"
local files = require "files"

local SIM, OTHER = "http://127.0.0.1:8081", "http://127.0.0.1:8082"

local private = files.private

after_each(files.remove_kept)

describe("the keys", function()
  it("come both from one source: never the key of a file with the secret of the environment", function()
    for _, text in ipairs { "api_key = mx0file\n", "secret_key = filesecret\n" } do
      local code, _, err = command.dry_run({ "--credentials", private(text) }, { PURSER_BASE_URL = SIM })
      assert.equal(2, code)
      assert.is_truthy(err:find("give the lines api_key = ... and secret_key = ...", 1, true), err)
    end
  end)

  it("are what the credentials_command of a file writes, with the service that the file names", function()
    local inner = private("api_key = mx0inner\nsecret_key = innersecret\n")
    local path = private("base_url = " .. OTHER .. "\ncredentials_command = cat " .. inner .. "\n")
    local code, out, err = command.dry_run({ "--credentials", path }, { PURSER_API_KEY = "k", PURSER_SECRET_KEY = "s" })
    assert.equal(0, code, err)
    assert.is_truthy(err:find(OTHER .. " (from " .. path .. ") with the keys from " .. path, 1, true), err)
    assert.is_nil((out .. err):find("innersecret", 1, true))
  end)

  it("of the environment are in no child's environment", function()
    local shown = private ""
    local path = private("credentials_command = { tr '\\0' '\\n' < /proc/self/environ; env; } >" .. shown
      .. "; echo api_key = k; echo secret_key = s\n")
    local code, _, err = command.process({ "wallet", "coins", "--dry-run", "--credentials", path, "--base-url", SIM },
      { PURSER_API_KEY = "mx0inherited", PURSER_SECRET_KEY = "inheritedsecret", PURSER_ACCOUNT = "treasury" })
    assert.equal(0, code, err)
    assert.matches("PURSER_ACCOUNT=treasury", files.read(shown), 1, true)
    assert.is_nil(files.read(shown):find("inherited", 1, true))
  end)

  it("of a credentials_command are of that command alone, which must succeed and name no other command", function()
    local inner = private("api_key = k\nsecret_key = innersecret\nbase_url = " .. SIM .. "\n")
    local command_line = "credentials_command = cat " .. inner .. "\n"
    local loop = private(command_line)
    for text, expected in pairs {
      ["api_key = k\n" .. command_line] = "gives a credentials_command and a key of its own",
      ["base_url = " .. OTHER .. "\n" .. command_line] = "both give base_url",
      ["credentials_command = false\n"] = "failed",
      ["credentials_command = cat " .. loop .. "\n"] = "writes another credentials_command",
      ["credentials_command = echo api_key = k\n"] = "has no key, or no secret",
    } do
      local code, out, err = command.dry_run({ "--credentials", private(text) }, { PURSER_BASE_URL = SIM })
      assert.equal(2, code, expected)
      assert.is_truthy(err:find(expected, 1, true), err)
      assert.is_nil((out .. err):find("innersecret", 1, true))
    end
    local words = { "wallet", "coins", "--credentials", "-", "--base-url", SIM }
    local code, _, err = command.process(words, {}, command_line)
    assert.equal(2, code)
    assert.is_truthy(err:find("which only a file may", 1, true), err)
  end)

  it("are those of the file when the environment has others", function()
    local path = private "api_key = mx0file\nsecret_key = filesecret\n"
    local _, _, err = command.dry_run({ "--credentials", path }, { PURSER_BASE_URL = SIM })
    assert.is_truthy(err:find("with the keys from /", 1, true), err)
  end)

  it("are asked for by the name of the variable that is missing or empty, and so is the service", function()
    local WITHOUT_SERVICE = { PURSER_API_KEY = "k", PURSER_SECRET_KEY = "s" }
    for _, case in ipairs {
      { { PURSER_API_KEY = "k", PURSER_SECRET_KEY = "", PURSER_BASE_URL = SIM }, "PURSER_SECRET_KEY is not set" },
      { { PURSER_SECRET_KEY = "s", PURSER_BASE_URL = SIM }, "PURSER_API_KEY is not set" },
      { {}, "no keys: name a file with --credentials, set PURSER_API_KEY and PURSER_SECRET_KEY, or" },
      { {}, "`purser sim --demo` has keys to play with" },
      { WITHOUT_SERVICE, "--base-url (or PURSER_BASE_URL)" },
      { WITHOUT_SERVICE, "--profile mexc" },
    } do
      local code, _, err = command.run({ "wallet", "coins" }, case[1])
      assert.equal(2, code)
      assert(err:find(case[2], 1, true), err)
    end
    local _, _, err = command.run({ "wallet", "coins", "--base-url", "http://192.0.2.1" }, WITHOUT_SERVICE)
    assert.is_nil(err:find("allow_insecure", 1, true)) -- no option permits it here
  end)

  it("are named with their source where they cannot be keys; the service is not at fault there", function()
    local _, _, err = command.run({ "wallet", "coins" }, { PURSER_API_KEY = "mx0 key",
      PURSER_SECRET_KEY = "s", PURSER_BASE_URL = SIM })
    assert.is_truthy(err:find("holds a blank (the keys come from PURSER_API_KEY and PURSER_SECRET_KEY)", 1, true), err)
    assert.is_nil(err:find("PURSER_BASE_URL", 1, true))
  end)
end)

describe("an account without keys", function()
  it("is named with the nearest known name: those of login, and that of the environment", function()
    local home = files.folder()
    finally(function() files.remove(home) end)
    assert(os.execute("mkdir -p " .. home .. "/purser"))
    files.write(home .. "/purser/treasury.keys", "")
    local environment = { XDG_CONFIG_HOME = home, PURSER_ACCOUNT = "savings", PURSER_API_KEY = "mx0k",
      PURSER_SECRET_KEY = "s" }
    for typed, meant in pairs { treasuri = "treasury", saving = "savings" } do
      local code, _, err = command.run({ "wallet", "coins", "--account", typed, "--profile", "mexc" }, environment)
      assert.equal(2, code)
      assert.matches(('--account %s has no keys (did you mean "%s"?): there is no %s/purser/%s.keys; `purser login %s` '
        .. "makes it; if the keys of the environment are this account's, say so with PURSER_ACCOUNT=%s"):format(typed,
        meant, home, typed, typed, typed), err, 1, true)
    end
  end)
end)

describe("a source of keys that cannot be looked up", function()
  it("is an error, and never makes room for the keys of another account", function()
    local folder = files.folder()
    local text = "api_key = mx0default\nsecret_key = secret\nbase_url = " .. SIM .. "\n"
    local function make(name) return assert(os.execute(("mkdir -p -m 700 %s/%s"):format(folder, name))) end
    make "home/.config/purser"
    make "creds"
    assert(os.rename(private(text), folder .. "/home/.config/purser/default.keys"))
    local home = folder .. "/home"
    local function dry_run(variables)
      variables.HOME, variables.PURSER_API_KEY, variables.PURSER_SECRET_KEY = home, false, false
      return command.dry_run({}, variables)
    end
    assert.equal(0, (dry_run {})) -- the control
    assert.equal(0, (dry_run { CREDENTIALS_DIRECTORY = folder .. "/creds" })) -- the folder has no key
    for _, link in ipairs { "creds/purser", "home/.config/purser/treasury.keys" } do
      assert(os.execute(("ln -s %s/not-mounted %s/%s"):format(folder, folder, link)))
    end
    for _, variables in ipairs { { CREDENTIALS_DIRECTORY = folder .. "/creds" },
      { CREDENTIALS_DIRECTORY = folder .. "/not-mounted" },
      { PURSER_ACCOUNT = "treasury" } } do
      local code, _, err = dry_run(variables)
      assert.equal(2, code, err)
      assert.is_nil(err:find("mx0default", 1, true))
      assert.matches("cannot be read", err)
    end
    local code, _, err = command.dry_run({ "--account", "treasury" }, { HOME = home, PURSER_ACCOUNT = "treasury",
      PURSER_API_KEY = "mx0environment", PURSER_SECRET_KEY = "s", PURSER_BASE_URL = SIM })
    assert.same({ 2, true }, { code, err:find("treasury.keys cannot be read", 1, true) ~= nil }, err)
    files.remove(folder)
  end)
end)

describe("keys in a file", function()
  local at

  setup(function() at = at_shell({ "--seed", "5" }, { role = "broker", balances = { USDT = "1000" } }) end)
  teardown(function() at.stop() end)

  local path

  before_each(function()
    path = os.tmpname()
    files.write(path, ("# main\napi_key = %s\nsecret_key=%s\nbase_url = %s\n"):format(at.account.api_key,
      at.account.secret_key, at.url))
  end)

  after_each(function() os.remove(path) end)

  it("are used when only their owner can read them", function()
    os.execute("chmod 600 " .. path)
    local code = command.run { "wallet", "convertible_balances", "--credentials", path }
    assert.equal(0, code)
  end)

  it("are rejected, with the cure, when others could", function()
    for _, mode in ipairs { "640", "604", "620" } do
      os.execute(("chmod %s %s"):format(mode, path))
      local code, out, err = command.run { "wallet", "coins", "--credentials", path }
      assert.equal(2, code)
      assert.is_truthy(err:find("chmod 600 " .. path, 1, true))
      for _, word in ipairs { at.account.secret_key, "signature=%x" } do assert.is_nil((out .. err):find(word)) end
    end
  end)

  it("are not looked for in a folder, and nobody is asked to chmod one", function()
    local code, _, err = command.run { "wallet", "coins", "--credentials", "/tmp" }
    assert.equal(2, code)
    assert.is_truthy(err:find("/tmp is not a regular file", 1, true))
    assert.is_nil(err:find("chmod", 1, true))
  end)

  it("are never quoted when a line cannot be understood", function()
    files.write(path, "apikey " .. at.account.secret_key .. "\n")
    os.execute("chmod 600 " .. path)
    local code, out, err = command.run { "wallet", "coins", "--credentials", path }
    assert.equal(2, code)
    assert.is_truthy(err:find("line 1", 1, true))
    assert.is_nil((out .. err):find(at.account.secret_key, 1, true))
  end)
end)
