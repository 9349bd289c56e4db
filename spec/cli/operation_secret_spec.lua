-- SPDX-License-Identifier: MIT
-- The secret of a new key, which the service shows once, and the file that keeps it.

local at_shell = require "at_shell"
local command = require "command"
local core = require "purser.core"
local files = require "files"

local unpack = table.unpack or unpack -- luacheck: ignore
local LUA = os.getenv "LUA" or "lua5.4"

local new_path = files.new_path

after_each(files.remove_kept)

describe("the secret of a new key", function()
  local name = "secretaccount1"
  local create = { "sub_account", "create_api_key", "--subAccount", name, "--note", "till", "--permissions",
    "SPOT_ACCOUNT_READ", "--yes" }

  local at

  setup(function()
    at = at_shell({ "--seed", "5" }, { role = "broker", balances = { USDT = "1000" } })
    assert.equal(0, (at.run("sub_account", "create_sub_account", "--subAccount", name, "--note", "n", "--yes")))
  end)
  teardown(function() at.stop() end)

  local function with(...)
    local words = { unpack(create) }
    for _, word in ipairs { ... } do words[#words + 1] = word end
    return words
  end

  it("would be lost, so the key is not made without a place for it", function()
    local before = at.received "sub_account.create_api_key"
    local code, _, err = command.run(create, at.keys)
    assert.equal(2, code)
    assert.is_truthy(err:find("--secret-file FILE or --show-secret", 1, true))
    assert.equal(before, (at.received "sub_account.create_api_key"))
  end)

  -- The file of the first run kept its repetition from printing the key.
  it("is where the first run with its key wrote it, or lost", function()
    local path, journal = new_path(), at.file()
    local given = { "--journal", journal, "--key", "till-1" }
    local code, out = command.run(with("--secret-file", path, unpack(given)), at.keys)
    assert.equal(0, code)
    local written, before = files.read(path), at.received "sub_account.create_api_key"
    local again, shown, err = command.run(with("--secret-file", path, unpack(given)), at.keys)
    assert.equal(0, again, err)
    assert.equal(out:match "mx0%w+", shown:match "mx0%w+")
    assert.equal(written, files.read(path))
    for _, other in ipairs { { "--secret-file", new_path() }, { "--show-secret" } } do
      code, shown, err = command.run(with(other[1], other[2] or "--yes", unpack(given)), at.keys)
      assert.equal(5, code, err)
      assert.equal(out:match "mx0%w+", shown:match "mx0%w+")
      assert.truthy(err:find("the secret is lost; delete the key with", 1, true), err)
    end
    assert.equal(before, (at.received "sub_account.create_api_key"))
    files.remove_database(journal)
  end)

  it("is written to a new file that works as --credentials, and is not shown", function()
    local path = os.tmpname()
    os.remove(path)
    local code, out = command.run(with("--secret-file", path, "--format", "json"), at.keys)
    assert.equal(0, code)
    assert.equal("***", core.decode(out).secretKey)
    assert.equal(tonumber("600", 8), (core.file_mode(path)))
    assert.is_nil(out:find(files.read(path):match("secret_key = (%w+)"), 1, true))
    code = command.run({ "wallet", "convertible_balances", "--credentials", path, "--base-url", at.url })
    assert.equal(0, code)

    local before = at.received "sub_account.create_api_key"
    local again, _, err = command.run(with("--secret-file", path), at.keys) -- never over an old file
    assert.equal(2, again)
    assert.is_truthy(err:find("nothing was sent", 1, true))
    assert.equal(before, (at.received "sub_account.create_api_key"))
    os.remove(path)
  end)

  it("leaves no file behind when the key was rejected", function()
    local path = os.tmpname()
    os.remove(path)
    assert(at.world:fault { kind = "reject", operation = "sub_account.create_api_key", code = "730705" })
    assert.equal(1, (command.run(with("--secret-file", path), at.keys)))
    assert.is_nil(core.file_mode(path))
  end)

  it("is shown when that is asked for", function()
    local code, out = command.run(with("--show-secret", "--format", "json"), at.keys)
    assert.equal(0, code)
    assert.is_truthy(#core.decode(out).secretKey > 10)
  end)
end)

describe("a file of keys that the command writes", function()
  local create = { "sub_account", "create_api_key", "--subAccount", "tradingdesk1", "--note", "n", "--permissions",
    "SPOT_ACCOUNT_READ", "--yes", "--secret-file" }

  local function make(answer, path)
    local text = new_path(answer)
    local pipe = assert(io.popen(("echo $$; exec %s spec/support/fixed_service.lua %s"):format(LUA, text)))
    local pid, port = pipe:read "*l", pipe:read "*l"
    local words, url = {}, "http://127.0.0.1:" .. port
    for i, word in ipairs(create) do words[i] = word end
    words[#words + 1] = path
    local code, out, err = command.run(words, { PURSER_API_KEY = "k", PURSER_SECRET_KEY = "s", PURSER_BASE_URL = url })
    os.execute("kill " .. pid)
    pipe:close()
    return code, out, err, url
  end

  local ANSWER = '{"subAccount":"tradingdesk1","note":"n","apiKey":"%s","secretKey":"%s","permissions":"x","ip":"",'
    .. '"createTime":1}'

  it("regression: is not made of a key or a secret with a line break, which would name another service", function()
    for _, pair in ipairs { { "mx0KEY\\nbase_url = https://evil.example", "s3cret" },
      { "mx0KEY", "s\\rprofile = mexc" } } do
      local path = new_path()
      local code, out, err = make(ANSWER:format(pair[1], pair[2]), path)
      assert.equal(4, code)
      assert.is_nil(core.file_mode(path))
      assert.is_nil((out .. err):find("\nbase_url", 1, true))
      assert.is_truthy(err:find("holds a control character", 1, true), err)
    end
  end)

  it("names the service that the command was given", function()
    local path = new_path()
    local code, out, err, url = make(ANSWER:format("mx0KEY", "s3cret"), path)
    assert.equal(0, code, err)
    assert.equal(("base_url = %s\napi_key = mx0KEY\nsecret_key = s3cret\n")
      :format(url), files.read(path))
    assert.equal(tonumber("600", 8), (core.file_mode(path)))
    assert.is_nil((out .. err):find("s3cret", 1, true))
  end)

  it("is never one that was there, nor one that a link leads to", function()
    local path, diary = new_path(), new_path "precious"
    os.execute(("ln -s %s %s"):format(diary, path))
    local code, _, err = make("{}", path)
    assert.equal(2, code)
    assert.is_truthy(err:find("nothing was sent", 1, true), err)
    assert.equal("precious", files.read(diary))
  end)

  it("is not written when the answer has no secret, and the key's deletion is advised", function()
    local path = new_path()
    local code, _, err = make('{"subAccount":"tradingdesk1","note":"n","apiKey":"mx0KEY","permissions":"x"}', path)
    assert.equal(5, code, err)
    assert.is_truthy(err:find("delete the key with: purser sub_account delete_api_key", 1, true), err)
    assert.is_nil(core.file_mode(path))
  end)
end)
