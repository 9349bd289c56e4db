-- SPDX-License-Identifier: MIT
-- Keys in files of this user alone: what is stored is on the disk and found again, and no secret is shown.

local as_root = require "as_root" (it, pending)
local command = require "command"
local core = require "purser.core"
local files = require "files"
local purser = require "purser"
local simulated = require "simulated"

local SECRET = "vaultsecretworthnothing000000012"

local new_path = files.new_path

after_each(files.remove_kept)

local function private(text, mode)
  local path = new_path()
  assert(core.write_new(path, text))
  if mode then assert(os.execute(("chmod %s %s"):format(mode, path))) end
  return path
end

local function signature(secret) return core.signer("hmac-sha256", secret):sign "x" end

local function key(api_key, more)
  local secret = { apiKey = api_key, secretKey = SECRET, account = "traders01", note = "trading" }
  for name, value in pairs(more or {}) do secret[name] = value end
  return secret
end

local function rejected(pattern, value, message)
  assert.is_nil(value)
  assert.matches(pattern, message)
  assert.is_nil(message:find(SECRET, 1, true))
end

describe("a vault in a file", function()
  as_root("is neither another user's nor behind a link of one, which could lead to any file of this user", function()
    local path, link = private "another private file", new_path()
    os.remove(link)
    assert(os.execute(("ln -s %s %s && chown -h 65534 %s"):format(path, link, link)))
    rejected("is a link of another user", purser.vault.open(link))
    assert.equal("another private file", files.read(path))
    assert(os.execute("chown 65534 " .. path))
    rejected("belongs to another user", purser.vault.open(path))
    rejected("belongs to another user", purser.vault.open(path, { read_only = true }))
  end)

  it("is made for this user alone, and has each key on the disk when store returns", function()
    local path = new_path()
    local vault = assert(purser.vault.open(path, { base_url = "http://localhost" }))
    assert.equal(tonumber("600", 8), (core.file_mode(path)))
    assert.same({}, vault:list())
    vault.store(key "mx0A")
    vault.store(key("mx0B", { note = "a\tb\n", account = "traders02" }))
    assert.equal(2, select(2, files.read(path):gsub("\n", "")))
    local other = assert(purser.vault.open(path))
    for _, known in ipairs { vault, other } do
      assert.is_true(known.holds "mx0A")
      assert.is_true(known.holds "mx0B")
      assert.is_false(known.holds "mx0")
      assert.same({ { api_key = "mx0A", account = "traders01", note = "trading", base_url = "http://localhost" },
        { api_key = "mx0B", account = "traders02", note = "a\\x09b\\x0A", base_url = "http://localhost" } },
        known:list())
    end
    other:close()
    vault:close()
  end)

  it("asks the system to write each key to the disk before store returns", function()
    local vault, sync_file, synced = assert(purser.vault.open(new_path())), core.sync_file, 0
    finally(function() core.sync_file = sync_file end)
    function core.sync_file(...)
      synced = synced + 1
      return sync_file(...)
    end
    vault.store(key "mx0key1")
    assert.equal(1, synced)
    function core.sync_file() return nil, "no space" end
    assert.has_error(function() vault.store(key "mx0key2") end)
    assert.is_false(vault.holds "mx0key2")
    vault:close()
  end)

  it("has the keys that another process stored since it was opened", function()
    local path = new_path()
    local vault, other = assert(purser.vault.open(path)), assert(purser.vault.open(path))
    other.store(key "mx0key1")
    assert.is_true(vault.holds "mx0key1")
    assert.is_false(vault.holds "mx0key2")
    vault:close()
    other:close()
  end)

  it("stores nothing where its file was moved or replaced meanwhile", function()
    local path = new_path()
    local vault = assert(purser.vault.open(path))
    assert(os.rename(path, path .. ".moved"))
    assert.has_error(function() vault.store(key "mx0key1") end)
    assert.has_error(function() vault.holds "mx0key1" end)
    assert.equal("", files.read(path .. ".moved"))
    vault:close()
    os.remove(path .. ".moved")
  end)

  it("gives a key back as options of a client, its secret as an object", function()
    local vault = assert(purser.vault.open(new_path(), { base_url = "http://127.0.0.1:1" }))
    vault.store(key "mx0A")
    vault.store(key("mx0B", { secretKey = "another" }))
    local keys = assert(vault:keys "mx0A")
    assert.equal("userdata", type(keys.secret_key))
    assert.equal(signature(SECRET), signature(keys.secret_key))
    assert.equal(signature "another", signature(assert(vault:keys "mx0B").secret_key))
    local client = assert(purser.new(keys))
    assert.is_truthy(client:prepare("wallet.deposit_history", {}))
    rejected("has no secret of the key mx0", vault:keys "mx0")
    vault:close()
    assert.is_nil(tostring(vault):find(SECRET, 1, true))
  end)

  it("regression: does not count a key whose line was cut off, and writes the next one on a line of its own", function()
    local line = ("mx0A\t%s\ttraders01\ttrading\t\n"):format(SECRET)
    for cut = 1, #"mx0B\t" + #SECRET do
      local path = private(line .. ("mx0B\t%s\t"):format(SECRET):sub(1, cut))
      local vault = assert(purser.vault.open(path))
      assert.is_false(vault.holds "mx0B", cut)
      vault.store(key "mx0C")
      vault:close()
      vault = assert(purser.vault.open(path, { read_only = true }))
      assert.same({ true, false, true }, { vault.holds "mx0A", vault.holds "mx0B", vault.holds "mx0C" })
      assert.equal(signature(SECRET), signature(assert(vault:keys "mx0C").secret_key))
    end
  end)

  it("takes no file that holds other things: each key of the fleet would count as lost", function()
    for _, text in ipairs { "key,coin,amount\na,USDT,20\n", '{"accounts": []}', "api_key = mx0A\n" } do
      for _, options in ipairs { {}, { read_only = true } } do
        local vault, message = purser.vault.open(private(text), options)
        assert.is_nil(vault)
        assert.matches("holds no key; name the file of secrets, or an empty one", message, 1, true)
      end
    end
    assert(purser.vault.open(private "")):close()
  end)

  it("lets its file go when it is closed", function()
    local vault = assert(purser.vault.open(new_path()))
    local file = vault.file
    vault:close()
    assert.equal("closed file", io.type(file))
    vault:close()
    assert.error_matches(function() vault.store(key "mx0A") end, "the vault is closed", 1, true)
  end)

  it("makes no file and stores nothing when it is read_only", function()
    local path = new_path()
    local vault = assert(purser.vault.open(path, { read_only = true }))
    assert.same({}, vault:list())
    assert.is_false(vault.holds "mx0A")
    local ok, message = pcall(vault.store, key "mx0A")
    assert.is_false(ok)
    assert.matches("read_only", message)
    assert.is_nil(core.file_mode(path))
  end)

  it("raises rather than store what is no key, or after it was closed", function()
    local path = new_path()
    local vault = assert(purser.vault.open(path))
    for _, wrong in ipairs { key "", key "a\tb", key "a\nb", key "a b", key("a", { secretKey = SECRET .. "\t" }),
      key("a", { secretKey = "" }), key("a", { secretKey = 5 }), {} } do
      local ok, message = pcall(vault.store, wrong)
      assert.is_false(ok)
      assert.is_nil(message:find(SECRET, 1, true))
    end
    assert.is_false((pcall(vault.store, nil)))
    vault:close()
    local ok, message = pcall(vault.store, key "mx0A")
    assert.is_false(ok)
    assert.matches("closed", message)
    assert.equal("", files.read(path))
  end)

  it("raises when the disk takes only a part, so that the key counts as lost", function()
    local path = new_path()
    local _, shown = command.shell(("(ulimit -f 1; trap '' XFSZ; %s -e %s)"):format(os.getenv "LUA" or "lua5.4",
      command.quote(([[local vault = assert(require("purser").vault.open(%q))
      for i = 1, 1000 do
        local key = "mx0KEY" .. i
        if not pcall(vault.store, { apiKey = key, secretKey = "secret" .. i }) then
          vault:close()
          print(i, assert(require("purser").vault.open(%q, { read_only = true })).holds(key)) os.exit(0)
        end
      end]]):format(path, path))))
    assert.matches("^%d+\tfalse\n", shown)
  end)

  it("that others can use, or that is no file, is rejected", function()
    for _, mode in ipairs { "640", "604", "660", "644" } do
      local path = private(("mx0A\t%s\t\n"):format(SECRET), mode)
      rejected("can be used by others.*chmod 600", purser.vault.open(path))
      rejected("can be used by others.*chmod 600", purser.vault.open(path, { read_only = true }))
    end
    rejected("", purser.vault.open "/")
    rejected("", purser.vault.open "/nonexistent/vault")
    rejected("the path is a nil", purser.vault.open(nil))
    rejected("reads_only", purser.vault.open(new_path(), { reads_only = true }))
  end)

  it("keeps the keys of a fleet over its runs", function()
    local sim, path = purser.sim.new(), new_path()
    local owner = sim:account { role = "broker", email = "a@example.org" }
    local client = simulated.client(sim, owner)
    local function run()
      local vault = assert(purser.vault.open(path))
      local fleet = assert(purser.fleet.new { client = client, vault = vault, accounts = {
        { name = "traders01", note = "first desk", keys = {
          { note = "reports", permissions = { "SPOT_ACCOUNT_READ" } } } },
      } })
      return assert(fleet:apply()), vault
    end
    local steps, vault = run()
    assert.equal(2, #steps)
    vault:close()
    steps, vault = run()
    assert.same({}, steps)
    local entry = assert(vault:list())[1]
    assert.equal("traders01", entry.account)
    local keys = assert(vault:keys(entry.api_key))
    keys.base_url, keys.transport, keys.clock = "http://localhost", sim:transport(), function() return sim:now() end
    local _, err = assert(purser.new(keys)).wallet:deposit_addresses { coin = "USDT" }
    assert.equal("700007", err.code) -- the signature counts, and the key's permissions do not cover it
    vault:close()
  end)
end)

describe("the keys of one account in a file", function()
  it("are written for this user alone and read back, the secret as an object", function()
    local path = new_path()
    local keys = { api_key = "mx0A", secret_key = SECRET, base_url = "http://127.0.0.1:1", profile = "default" }
    assert.is_true(purser.vault.write_keys(path, keys))
    assert.equal(tonumber("600", 8), (core.file_mode(path)))
    local found = assert(purser.vault.read_keys(path))
    assert.equal(signature(SECRET), signature(found.secret_key))
    found.secret_key, keys.secret_key = nil, nil
    assert.same(keys, found)
    assert.is_truthy(purser.new(assert(purser.vault.read_keys(path))))
  end)

  it("are those that the command reads and writes", function()
    local path = new_path()
    assert.is_true(purser.vault.write_keys(path, { api_key = "mx0A", secret_key = SECRET }))
    local credentials = require "purser.cli.credentials"
    local found = assert(credentials.find { credentials = path })
    assert.equal("mx0A", found.api_key)
    assert.equal(signature(SECRET), signature(found.secret))
  end)

  it("take the place of others only when that is asked for", function()
    local path = private "old"
    rejected("exists", purser.vault.write_keys(path, { api_key = "mx0A", secret_key = SECRET }))
    assert.equal("old", files.read(path))
    assert.is_true(purser.vault.write_keys(path, { api_key = "mx0A", secret_key = SECRET }, { replace = true }))
    assert.equal("mx0A", assert(purser.vault.read_keys(path)).api_key)
  end)

  it("are rejected with what is wrong, and no secret is quoted", function()
    local path = new_path()
    for pattern, keys in pairs {
      ["api_key"] = { secret_key = SECRET }, ["secret_key"] = { api_key = "k" },
      ["blank or a control"] = { api_key = "k", secret_key = SECRET .. "\nbase_url = http://evil.example" },
      ["secret"] = { api_key = "k", secret = SECRET }, ["string"] = { api_key = "k", secret_key = io.stdout },
    } do
      rejected(pattern, purser.vault.write_keys(path, keys))
      assert.is_nil(core.file_mode(path))
    end
    rejected("", purser.vault.write_keys(path, nil))
    rejected("can be used by others", purser.vault.read_keys(private(("api_key = k\nsecret_key = %s\n"):format(SECRET),
      "644")))
    rejected("no key, or no secret", purser.vault.read_keys(private "api_key = k\n"))
    rejected("the path is a nil", purser.vault.read_keys(nil))
  end)

  it("are never taken from a command or from standard input by their path", function()
    local proof = new_path()
    rejected("cannot be read", purser.vault.read_keys("|touch " .. proof))
    assert.is_nil(core.file_mode(proof))
    rejected("cannot be read", purser.vault.read_keys "-")
  end)
end)
