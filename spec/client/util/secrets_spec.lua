-- SPDX-License-Identifier: MIT
-- Secrets that are read in C: where they may come from, what is rejected and in which words, and that no other byte of
-- the process holds them. What is searched is the memory of a child, so that the specs may know what they search for.

local certificates = require "certificates"
local as_root = require "as_root" (it, pending)
local core = require "purser.core"
local files = require "files"
local peers = require "peer"
local purser = require "purser"

local LUA = os.getenv "LUA" or "lua5.4"
local SECRET = "filesecretworthnothing0000012345"

local private, new_path = files.private, files.new_path

after_each(files.remove_kept)

local function shell(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local output = pipe:read "*a"
  pipe:close()
  return output
end

local function rejected(pattern, value, message)
  assert.is_nil(value)
  assert.matches(pattern, message)
  assert.is_nil(message:find("secretworth", 1, true))
end

describe("core.read_secret", function()
  it("reads a key as core.signer takes one, without the blanks and line ends around it", function()
    local requested = core.signer("hmac-sha256", SECRET):sign "x"
    for _, text in ipairs { SECRET, SECRET .. "\n", " " .. SECRET .. "\t\r\n\n", "\n" .. SECRET } do
      local secret = assert(core.read_secret(private(text)))
      assert.equal(requested, core.signer("hmac-sha256", secret):sign "x")
      secret:close()
    end
  end)

  it("never shows it, and wipes it when it is closed", function()
    local secret = assert(core.read_secret(private(SECRET)))
    assert.equal("purser.secret", tostring(secret))
    local used = core.secret_memory().used
    local signer = assert(core.signer("hmac-sha256", secret))
    for _ = 1, 3 do secret:close() end
    assert.equal("purser.secret (closed)", tostring(secret))
    assert.is_true(core.secret_memory().used > 0 and used > 0)
    assert.equal(64, #signer:sign "x")
    local ok, message = pcall(core.signer, "hmac-sha256", secret)
    assert.is_false(ok)
    assert.matches("the secret is closed", message)
  end)

  it("rejects a file that others can use, and what is no regular file", function()
    for _, mode in ipairs { "644", "640", "604", "620", "602", "611", "777" } do
      local path = private(SECRET, mode)
      rejected("^" .. path:gsub("%p", "%%%0") .. " can be used by others %(mode " .. mode
        .. "%), so its secrets are not safe; run: chmod 600 ", core.read_secret(path))
    end
    rejected("is not a regular file", core.read_secret "/dev/zero")
    rejected("is not a regular file", core.read_secret "/")
    rejected("cannot be read: No such file", core.read_secret(new_path()))
  end)

  as_root("rejects a file of another user", function()
    local theirs = private(SECRET)
    assert.equal("", shell("chown 65534 " .. theirs))
    rejected("belongs to another user", core.read_secret(theirs))
  end)

  it("regression: does not wait for a pipe that nothing writes to", function()
    local pipe = new_path()
    shell("mkfifo -m 600 " .. pipe)
    rejected("is not a regular file", core.read_secret(pipe))
    rejected("is not a regular file", core.read_credentials(pipe))
  end)

  it("takes 64 KiB and not a byte more", function()
    assert(core.read_secret(private(("k"):rep(65536)))):close()
    rejected("is too long", core.read_secret(private(("k"):rep(65537))))
  end)

  it("rejects what is no key", function()
    rejected("is empty", core.read_secret(private ""))
    rejected("is empty", core.read_secret(private " \n"))
    rejected("holds a line break or another control character", core.read_secret(private(SECRET .. "\n" .. SECRET)))
    rejected("holds a line break or another control character", core.read_secret(private(SECRET .. "\0")))
  end)

  it("regression: judges the file that it opened, whatever the name leads to by then", function()
    local ours, theirs, link = private "ours000000000000", private("theirs0000000000", "644"), new_path()
    local turn = ("ln -sfn %%s %s.new; mv -T %s.new %s"):format(link, link, link)
    local flip = ("while [ -e %s ]; do %s; %s; done"):format(ours, turn:format(theirs), turn:format(ours))
    shell(("(%s) >/dev/null 2>&1 &"):format(flip))
    local requested, seen = core.signer("hmac-sha256", "ours000000000000"):sign "x", { ours = 0, rejected = 0 }
    while seen.ours < 20 or seen.rejected < 20 do
      local secret, message = core.read_secret(link)
      if secret then
        assert.equal(requested, core.signer("hmac-sha256", secret):sign "x")
        seen.ours = seen.ours + 1
      elseif message:find "used by others" then
        seen.rejected = seen.rejected + 1
      end
    end
    os.remove(ours)
  end)
end)

describe("core.read_credentials", function()
  it("gives the entries of the file, and the secret as an object", function()
    local found = assert(core.read_credentials(private("# a key\n\napi_key = mx0KEY \r\nsecret_key=" .. SECRET
      .. "\n  base_url = http://127.0.0.1:1/x?a=b\nprofile = mexc")))
    assert.equal("purser.secret", tostring(found.secret))
    assert.equal(core.signer("hmac-sha256", SECRET):sign "x", core.signer("hmac-sha256", found.secret):sign "x")
    found.secret = nil
    assert.same({ api_key = "mx0KEY", base_url = "http://127.0.0.1:1/x?a=b", profile = "mexc" }, found)
    assert.same({ api_key = "k" }, core.read_credentials(private "api_key = k"))
    assert.same({}, core.read_credentials(private ""))
  end)

  it("reads the secret from the file that secret_key_file names", function()
    local path = private(SECRET .. "\n")
    local found = assert(core.read_credentials(private("api_key = k\nsecret_key_file = " .. path .. "\n")))
    assert.equal(core.signer("hmac-sha256", SECRET):sign "x", core.signer("hmac-sha256", found.secret):sign "x")
    assert.equal(path, found.secret_key_file)
    rejected("can be used by others", core.read_credentials(private("secret_key_file = " .. private(SECRET, "644"))))
  end)

  it("says which line is wrong, and quotes nothing of it", function()
    for _, line in ipairs { SECRET, "secret = " .. SECRET, "secret_key =", "= " .. SECRET, "secret_key " .. SECRET } do
      rejected("line 2 is not of the form `name = value` with name api_key, secret_key, secret_key_file, "
        .. "credentials_command, base_url or profile", core.read_credentials(private("api_key = k\n" .. line .. "\n")))
    end
    rejected("line 1 begins with a byte order mark; save the file without it",
      core.read_credentials(private "\239\187\191api_key = k\n"))
    for _, quote in ipairs { "'", '"' } do
      rejected("line 2 has quotes around its value; remove them",
        core.read_credentials(private("api_key = k\nsecret_key = " .. quote .. SECRET .. quote .. "\n")))
    end
    rejected("secret_key in .* holds a line break or another control character",
      core.read_credentials(private("secret_key = " .. SECRET .. "\27[2J\n")))
  end)

  it("regression: rejects a name that stands there twice, which a forged line could be", function()
    rejected("line 2 gives base_url again; remove one",
      core.read_credentials(private "base_url = https://a.example\nbase_url = https://evil.example\n"))
    rejected("line 3 gives secret_key again", core.read_credentials(private("secret_key = a\n\nsecret_key = b")))
    rejected("line 2 gives secret_key again", core.read_credentials(private("secret_key = a\nsecret_key_file = b")))
    rejected("line 2 gives secret_key again", core.read_credentials(private("secret_key_file = a\nsecret_key = b")))
  end)

  it("takes what a command writes, if it ends well, and quotes nothing of it", function()
    local path = private("api_key = k\nsecret_key = " .. SECRET .. "\n")
    local found = assert(core.read_credentials("|cat " .. path))
    assert.equal(core.signer("hmac-sha256", SECRET):sign "x", core.signer("hmac-sha256", found.secret):sign "x")
    rejected("^the command for the credentials failed; run it", core.read_credentials("|cat " .. path .. "; exit 3 # "
      .. SECRET))
    rejected("^the command for the credentials line 1 is not of the form", core.read_credentials("|echo " .. SECRET))
    for _, command in ipairs { "|head -c 100000 /dev/zero 2>/dev/null", "|cat /dev/zero 2>/dev/null" } do
      rejected("^the command for the credentials is too long", core.read_credentials(command))
    end
  end)

  it("takes it where the process ignores the ends of its children, as a program inherits it", function()
    local path = private("api_key = k\nsecret_key = " .. SECRET .. "\n")
    local code = ("local core = require 'purser.core' for _, command in ipairs { '|cat %s', '|cat %s; exit 3' } do "
      .. "print(core.read_credentials(command) and 'taken' or 'rejected') end"):format(path, path)
    assert.equal("taken\nrejected\n", shell(("bash -c \"trap '' CHLD; exec %s -e \\\"%s\\\"\""):format(LUA, code)))
  end)

  it("reads standard input to its end", function()
    local code = "local core = require 'purser.core' local keys, message = core.read_credentials '-' "
      .. "print(keys and core.signer('hmac-sha256', keys.secret):sign 'x' or message)"
    local expected = core.signer("hmac-sha256", SECRET):sign "x"
    local pieces = "(printf 'api_key = k\\nsecret_'; printf 'key = %s\\n') | %s -e \"%s\""
    assert.equal(expected .. "\n", shell(pieces:format(SECRET, LUA, code)))
    assert.matches("^standard input line 1 is not of the form", shell(("echo x | %s -e \"%s\""):format(LUA, code)))
  end)

  it("distinguishes a file that is not there from one that cannot be used", function()
    assert.is_true(select(3, core.read_credentials(new_path())))
    assert.is_false(select(3, core.read_credentials "/dev/zero"))
  end)
end)

describe("core.read_private", function()
  it("gives the text of a file that nobody else can use", function()
    assert.equal("line\n\0" .. SECRET, core.read_private(private("line\n\0" .. SECRET)))
    assert.equal("", core.read_private(private ""))
    assert.equal(100000, #core.read_private(private(("k"):rep(100000)), 100000))
    rejected("is too long", core.read_private(private(("k"):rep(100001)), 100000))
    rejected("is too long", core.read_private(private(("k"):rep(65537))))
    rejected("can be used by others %(mode 640%)", core.read_private(private(SECRET, "640")))
    rejected("is not a regular file", core.read_private "/dev/zero")
    assert.is_true(select(3, core.read_private(new_path())))
  end)
end)

describe("purser.new", function()
  local function new(options)
    options.base_url, options.api_key = "http://127.0.0.1:1", "mx0KEY"
    return purser.new(options)
  end

  local function signature_of(client)
    local request = assert(client:prepare("wallet.deposit_history", {}))
    client:close()
    local query, signature = request.url:match "%?(.*)&signature=(%x+)$"
    return signature == core.signer("hmac-sha256", SECRET):sign(query)
  end

  it("takes the secret from a file, or as an object for any number of clients", function()
    local path = private(SECRET .. "\n")
    assert.is_true(signature_of(assert(new { secret_key_file = path })))
    local secret = assert(purser.secrets.from_file(path))
    assert.is_true(signature_of(assert(new { secret_key = secret })))
    assert.is_true(signature_of(assert(new { secret_key = secret })))
    secret:close()
    local client, err = new { secret_key = secret }
    assert.is_nil(client)
    assert.equal("config", err.kind)
    assert.matches("was closed", err.message)
  end)

  it("takes an object from a credentials function", function()
    local secret = assert(purser.secrets.from_file(private(SECRET)))
    local client = assert(purser.new { base_url = "http://127.0.0.1:1",
      credentials = function() return "mx0KEY", secret end })
    assert.is_true(signature_of(client))
  end)

  it("says which option is wrong, and quotes no secret", function()
    local function config(pattern, options)
      local client, err = new(options)
      assert.equal("config", err.kind)
      rejected(pattern, client, err.message .. "; " .. (err.hint or ""))
    end
    config('^"secret_key_file": .* can be used by others', { secret_key_file = private(SECRET, "644") })
    local keys_file = private("api_key = k\nsecret_key = " .. SECRET)
    config("purser.vault.read_keys reads one with", { secret_key_file = keys_file })
    config('^"secret_key_env": the variable PURSER_NOT_SET is not set', { secret_key_env = "PURSER_NOT_SET" })
    config('^"secret_key" and "secret_key_file" are given together; give one of them$',
      { secret_key = SECRET, secret_key_file = "x" })
    config('^"secret_key_file" and "secret_key_env" are given together; give one of them$',
      { secret_key_env = "X", secret_key_file = "x" })
    config('; give either "credentials" or "api_key" and "secret_key_env"$',
      { credentials = function() end, secret_key_env = "X" })
    config('"secret_key" is neither a string nor a secret', { secret_key = io.stdout })
  end)
end)

-- Counts how often a child that runs `code` with the file `arg[1]`, and waits, holds each text: in memory that goes
-- into a core dump, in memory that does not, and in its environment.
local function search(code, path, needles, environment)
  local gate, output, script, variables = new_path(), new_path(), private(code), private(environment or "")
  shell("mkfifo -m 600 " .. gate)
  shell(("(set -a; . %s; set +a; exec %s %s %s %s) >%s 2>&1 </dev/null &"):format(variables, LUA, script, path, gate,
    output))
  local open_gate = assert(io.open(gate, "w")) -- opens when the child does, after its work
  local pid = files.read(output):match "^(%d+) ready\n$"
  local found = { dumped = 0, kept_out = 0, environ = 0 }
  if pid then
    local regions = {}
    for line in io.lines("/proc/" .. pid .. "/smaps") do
      local from, to, mode, name = line:match "^(%x+)%-(%x+) (%S+) %S+ %S+ %S+%s*(.*)$"
      if from then regions[#regions + 1] = { tonumber(from, 16), tonumber(to, 16), mode, name }
      elseif line:find "^VmFlags:" then regions[#regions].kept_out = line:find " dd" ~= nil end
    end
    local memory = assert(io.open("/proc/" .. pid .. "/mem", "rb"))
    for _, region in ipairs(regions) do
      local size = region[2] - region[1]
      if region[3]:sub(1, 1) == "r" and not region[4]:find "^%[v" and size < 2 ^ 32 then -- but a sanitizer's shadow
        memory:seek("set", region[1])
        local bytes = memory:read(size) or ""
        for _, needle in ipairs(needles) do
          local place = region.kept_out and "kept_out" or "dumped"
          local _, stop = bytes:find(needle, 1, true)
          while stop do
            found[place] = found[place] + 1
            _, stop = bytes:find(needle, stop + 1, true)
          end
        end
      end
    end
    memory:close()
    for _, needle in ipairs(needles) do
      if files.read("/proc/" .. pid .. "/environ"):find(needle, 1, true) then found.environ = found.environ + 1 end
    end
  end
  open_gate:close()
  assert.is_truthy(pid, files.read(output))
  return found
end

local WAIT = [[
  collectgarbage() collectgarbage()
  io.stdout:write(io.open("/proc/self/stat"):read "*n", " ready\n") io.stdout:flush()
  local gate = io.open(arg[2]) gate:read "*a"
]]
local CLIENT = [[
  local purser = require "purser"
  local client = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", %s })
  for _ = 1, 3 do assert(client:prepare("wallet.deposit_history", {})) end
]] .. WAIT

-- Returns what SHA-256 makes of SECRET's two pads, all that an HMAC key is in use: whoever has them signs as the key
-- does. As the words lie in memory, on processors of either byte order.
local function hmac_states()
  local states = {}
  for _, words in ipairs { "d1132e22 98efdac8 17f3b561 86132672 f50545c5 0c892943 dc2c680a 81e17995",
    "8afa7411 7072873e 42ba00d8 d79ef13a 49fe4a50 a4041513 b962572a dc8f31f1" } do
    local big, little = "", ""
    for word in words:gmatch "%x+" do
      local bytes = word:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end)
      big, little = big .. bytes, little .. bytes:reverse()
    end
    states[#states + 1], states[#states + 2] = big, little
  end
  return states
end

local has_proc = io.open "/proc/self/smaps" ~= nil

if has_proc then
  describe("the memory of a process", function()
    it("holds a secret that Lua read: so the search finds what is there", function()
      local found = search("local file = io.open(arg[1]) local secret = file:read '*l' file:close()\n"
        .. CLIENT:format "secret_key = secret", private(SECRET .. "\n"), { SECRET })
      assert.is_true(found.dumped > 0)
    end)

    it("holds no copy of the secret that secret_key_file names", function()
      assert.same({ dumped = 0, kept_out = 0, environ = 0 },
        search(CLIENT:format "secret_key_file = arg[1]", private(SECRET .. "\n"), { SECRET, SECRET:sub(1, 16) }))
    end)

    it("holds the states of an HMAC key once each, where no core dump has them, and not after the close", function()
      local path = private(SECRET .. "\n")
      local code = CLIENT:format "secret_key_file = arg[1]"
      assert.same({ dumped = 0, kept_out = 2, environ = 0 }, search(code, path, hmac_states()))
      code = code:gsub("collectgarbage", "client:close() collectgarbage", 1)
      assert.same({ dumped = 0, kept_out = 0, environ = 0 }, search(code, path, hmac_states()))
    end)

    -- a sanitizer's runtime has a copy of the environment of its own, and keeps what OpenSSL frees
    local is_sanitized = (os.getenv "LD_PRELOAD" or ""):find "asan"
    local unless_sanitized = is_sanitized and function() end or it
    unless_sanitized("holds no copy of the secret that secret_key_env names, nor does its environment", function()
      local needle = "envsecret" .. "worthnothing00000099999"
      local code = CLIENT:format("secret_key_env = 'PURSER_TEST_SECRET'"):gsub("collectgarbage",
        "assert(not os.getenv 'PURSER_TEST_SECRET') collectgarbage", 1)
      assert.same({ dumped = 0, kept_out = 0, environ = 0 },
        search(code, "-", { needle }, "PURSER_TEST_SECRET=" .. needle .. "\n"))
    end)

    it("holds a secret of a credentials file once, in memory that no core dump has", function()
      local code = "local core = require 'purser.core' local keys = assert(core.read_credentials(arg[1]))\n"
      local path = private("api_key = k\nsecret_key = " .. SECRET .. "\n")
      local found = search(code .. WAIT .. "keys.secret:close()", path, { SECRET })
      assert.same({ dumped = 0, kept_out = 1, environ = 0 }, found)
    end)

    it("holds a secret of a vault once, in memory that no core dump has, and none when the keys are listed", function()
      local list = "local vault = assert(require 'purser.desk.fleet.vault'.open(arg[1])) assert(#vault:list() == 2)\n"
      local path = private(("mx0A\t%s\tdesk\tbot\t\nmx0B\tother\tdesk\tbooks\t"):format(SECRET))
      local found = search(list .. WAIT .. "vault:close()", path, { SECRET, SECRET:sub(1, 16) })
      assert.same({ dumped = 0, kept_out = 0, environ = 0 }, found)
      found = search(list .. "local keys = assert(vault:keys 'mx0A')\n" .. WAIT .. "keys.secret_key:close()", path,
        { SECRET })
      assert.same({ dumped = 0, kept_out = 1, environ = 0 }, found)
    end)
  end)
end

describe("core.secret_memory", function()
  it("says how large the locked heap is, and what is in use of it", function()
    local before = core.secret_memory()
    assert.is_true(before.size >= 2 ^ 20)
    local signers = {}
    for i = 1, 10 do signers[i] = core.signer("hmac-sha256", SECRET) end
    local during = core.secret_memory()
    assert.is_true(during.used + during.ordinary > before.used + before.ordinary)
    for i = 1, 10 do signers[i]:close() end
    assert.equal(before.used, core.secret_memory().used)
    assert.equal(before.ordinary, core.secret_memory().ordinary)
  end)
end)

describe("a client a sub-account", function()
  it("regression: leaves room for TLS, with 40,000 keys open", function()
    local tls, peer = certificates.make { good = { alt = "IP:127.0.0.1" } }, peers.start()
    peer:tls(tls.path "good.crt", tls.path "good.key")
    peer:script "head body ok"
    local signers = {}
    for i = 1, 40000 do signers[i] = assert(core.signer("hmac-sha256", SECRET)) end
    local client = assert(purser.new { base_url = peer:url "https", ca_file = tls.path "ca.crt", api_key = "k",
      secret_key = SECRET, retry = false })
    assert.is_true(client:ping())
    client:close()
    for _, signer in ipairs(signers) do signer:close() end
    peer:stop()
    certificates.remove(tls)
  end)
end)

describe("core.harden_process", function()
  it("keeps the process from leaving a core dump, or being read by others of its user", function()
    local status = shell(LUA .. [[ -e 'local core = require "purser.core" assert(core.harden_process())
      local pid = io.open("/proc/self/stat"):read "*n"
      os.execute("grep -h core /proc/" .. pid .. "/limits; stat -c %U /proc/" .. pid .. "/mem")']])
    if has_proc then assert.matches("Max core file size +0 +0 +bytes *\nroot\n", status) end
  end)
end)
