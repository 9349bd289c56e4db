-- SPDX-License-Identifier: MIT
-- Files with the key of one account. (spec/cli/credentials_spec.lua has what the command makes of them,
-- spec/client/util/secrets_spec.lua where the secret is in memory.)

local core = require "purser.core"
local files = require "files"
local key_file = require "purser.client.util.key_file"

local folder, path

setup(function()
  folder = files.folder()
  path = folder .. "/keys"
end)
teardown(function() files.remove(folder) end)
before_each(function() os.remove(path) end)

local function read(text)
  os.remove(path)
  assert(core.write_new(path, text))
  return key_file.read(path)
end

describe("a file of keys", function()
  it("gives what was written, and the secret as an object that shows nothing", function()
    assert.is_true(key_file.write(path, { api_key = "mx0=#k\195\169y", secret_key = "hidden", profile = "mexc",
      base_url = "https://x.example" }))
    local keys = assert(key_file.read(path))
    assert.same({ "mx0=#k\195\169y", "mexc", "https://x.example", path },
      { keys.api_key, keys.profile, keys.base_url, keys.source })
    assert.equal("userdata", type(keys.secret))
    assert.is_nil(tostring(keys.secret):find("hidden", 1, true))
    assert.equal(tonumber("600", 8), core.file_mode(path) % 512)
  end)

  it("takes the place of another only where that is asked for", function()
    local keys = { api_key = "k", secret_key = "s" }
    assert.is_true(key_file.write(path, keys))
    local ok, message = key_file.write(path, { api_key = "other", secret_key = "s" })
    assert.is_nil(ok)
    assert.matches("exists", message)
    assert.equal("k", assert(key_file.read(path)).api_key)
    assert.is_true(key_file.write(path, { api_key = "other", secret_key = "s" }, true))
    assert.equal("other", assert(key_file.read(path)).api_key)
  end)

  it("is not written of values that would be another line or none, and no message quotes one", function()
    for _, change in ipairs { { secret_key = "hidden\nbase_url = x" }, { secret_key = "hidden word" },
      { secret_key = "hidden\0" }, { secret_key = "" }, { secret_key = 5 }, { api_key = "hidden\t" },
      { secret_key = false }, { profile = "hid den" } } do
      local keys = { api_key = "hiddenkey", secret_key = "hiddensecret" }
      for name, value in pairs(change) do keys[name] = value end
      local ok, message = key_file.write(path, keys)
      assert.is_nil(ok)
      assert.matches("^" .. next(change) .. " ", message)
      assert.is_nil(message:find("hid", 1, true))
    end
    for _, name in ipairs { "api_key", "secret_key" } do
      local keys = { api_key = "k", secret_key = "s" }
      keys[name] = nil
      assert.equal(name .. " is missing; give it", select(2, key_file.write(path, keys)))
    end
    assert.is_nil(core.file_mode(path))
  end)

  it("needs a key and a secret", function()
    for _, text in ipairs { "api_key = k\n", "secret_key = s\n", "profile = mexc\n" } do
      local keys, message = read(text)
      assert.is_nil(keys)
      assert.equal(path .. " has no key, or no secret; give the lines api_key = ... and secret_key = ..., or "
        .. "credentials_command = ...", message)
    end
  end)
end)

describe("a file with a credentials_command", function()
  local command = "credentials_command = printf 'api_key=k\\nsecret_key=s\\n%s'\n"

  it("has the keys that the command writes, and the service that one of the two names", function()
    local keys = assert(read(command:format "base_url=https://a.example\\n" .. "profile = mexc\n"))
    assert.same({ "k", "https://a.example", "mexc", path }, { keys.api_key, keys.base_url, keys.profile, keys.source })
  end)

  it("has no key of its own, and neither command nor file overrules the other's service", function()
    local plain = command:format ""
    for text, message in pairs {
      [plain .. "api_key = other\n"] = "gives a credentials_command and a key of its own; remove one of them",
      [plain .. "secret_key = other\n"] = "gives a credentials_command and a key of its own; remove one of them",
      [command:format "base_url=https://a.example\\n" .. "base_url = https://a.example\n"] = "both give base_url",
      [command:format "profile=mexc\\n" .. "profile = mexc\n"] = "both give profile",
      [command:format "credentials_command=true\\n"] = "writes another credentials_command",
      ["credentials_command = printf ''\n"] = "has no key, or no secret",
      ["credentials_command = exit 3\n"] = "the credentials_command of " .. path .. ": ",
    } do
      local keys, why = read(text)
      assert.is_nil(keys)
      assert.matches(message, why, 1, true)
    end
  end)

  it("is no name of a file, whatever it begins with", function()
    local keys, message = key_file.read "|echo api_key = k"
    assert.is_nil(keys)
    assert.matches("No such file", message, 1, true)
  end)
end)
