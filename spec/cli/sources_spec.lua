-- SPDX-License-Identifier: MIT
-- Where the keys go, and where they come from: one source each, the nearest one, and it is shown before anything is
-- signed. What is written to files with keys is the command's own.

local command = require "command"
local core = require "purser.core"
local eventually = require "eventually"
local files = require "files"

local LUA = os.getenv "LUA" or "lua5.4"
local LIVE = require("purser.api.resolve_profile")("mexc").base_url:match "^%a+://[^/]+"
local SIM, OTHER, THIRD = "http://127.0.0.1:8081", "http://127.0.0.1:8082", "http://127.0.0.1:8083"

local made
before_each(function() made = {} end)
after_each(function() for _, path in ipairs(made) do os.remove(path) end end)

local function keep(path)
  made[#made + 1] = path
  return path
end

local function keys_file(more, mode)
  local path = keep(files.temporary("api_key = mx0file\nsecret_key = filesecret\n" .. (more or "")))
  os.execute(("chmod %s %s"):format(mode or "600", path))
  return path
end

local function new_path()
  local path = keep(os.tmpname())
  os.remove(path)
  return path
end

local IN_ENVIRONMENT = { PURSER_API_KEY = "mx0environment", PURSER_SECRET_KEY = "environmentsecret" }

-- Prepares a request and sends nothing. `environment` is added to keys.
local function dry_run(words, environment)
  local all, variables = { "wallet", "deposit_history", "--dry-run" }, { PURSER_PROFILE = "" }
  for _, word in ipairs(words) do all[#all + 1] = word end
  for name, value in pairs(IN_ENVIRONMENT) do variables[name] = value end
  for name, value in pairs(environment) do variables[name] = value end
  return command.run(all, variables)
end

describe("the service that the keys go to", function()
  local function goes_to(url, source, words, environment)
    local code, out, err = dry_run(words, environment or {})
    assert.equal(0, code, err)
    assert.equal("GET " .. url .. "/", out:sub(1, #url + 5))
    local place = ("nothing is sent to %s (from %s) with the keys from "):format(url, source)
    assert.is_truthy(err:find(place, 1, true), err)
  end

  it("regression: is that of the file, when PURSER_BASE_URL still names a simulator", function()
    local live, own = keys_file "profile = mexc\n", keys_file("base_url = " .. OTHER .. "\n")
    goes_to(LIVE, live, { "--credentials", live }, { PURSER_BASE_URL = SIM })
    goes_to(OTHER, own, { "--credentials", own }, { PURSER_BASE_URL = SIM, PURSER_PROFILE = "mexc" })
  end)

  it("regression: is that of --profile, whatever PURSER_BASE_URL and the file say", function()
    goes_to(LIVE, "--profile", { "--profile", "mexc" }, { PURSER_BASE_URL = SIM })
    goes_to(LIVE, "--profile", { "--profile", "mexc", "--credentials", keys_file("base_url = " .. OTHER .. "\n") },
      { PURSER_BASE_URL = SIM })
  end)

  it("is that of --base-url before all others, and a profile of elsewhere is not mixed in", function()
    goes_to(THIRD, "--base-url", { "--base-url", THIRD, "--credentials", keys_file("base_url = " .. OTHER .. "\n") },
      { PURSER_BASE_URL = SIM })
    goes_to(THIRD, "--base-url and --profile", { "--base-url", THIRD, "--profile", "mexc" })
    local code, _, err = dry_run({ "--profile", "default" }, { PURSER_BASE_URL = SIM })
    assert.equal(2, code)
    assert.is_truthy(err:find("\"base_url\" is missing", 1, true) and err:find("comes from --profile", 1, true), err)
  end)

  it("is that of the environment when nothing nearer names one; an empty variable counts as not set", function()
    goes_to(SIM, "PURSER_BASE_URL", {}, { PURSER_BASE_URL = SIM })
    goes_to(SIM, "PURSER_BASE_URL", { "--credentials", keys_file() }, { PURSER_BASE_URL = SIM })
    goes_to(SIM, "PURSER_BASE_URL", {}, { PURSER_BASE_URL = SIM, PURSER_PROFILE = "" })
    goes_to(LIVE, "PURSER_PROFILE", {}, { PURSER_BASE_URL = "", PURSER_PROFILE = "mexc" })
    local code, _, err = dry_run({}, { PURSER_BASE_URL = "" })
    assert.equal(2, code)
    assert.is_truthy(err:find("which service?", 1, true))
  end)

  it("is named by the question and by doctor, with its source", function()
    local keys = keys_file()
    local code, shown = command.run_on_terminal({ "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType",
      "FUTURES", "--asset", "USDT", "--amount", "1", "--credentials", keys, "--base-url", SIM }, {}, "no\n")
    assert.equal(2, code)
    assert.is_truthy(shown:find("This moves money at " .. SIM .. ":\n", 1, true), shown)
    assert.is_truthy(shown:find("| " .. SIM .. " (from --base-url)\n", 1, true), shown)
    assert.is_truthy(shown:find(" (from " .. keys .. ")\n", 1, true), shown)
    local _, out = command.run({ "doctor" }, { PURSER_API_KEY = "k", PURSER_SECRET_KEY = "s",
      PURSER_BASE_URL = "http://127.0.0.1:1" })
    assert.is_truthy(out:find("from PURSER_API_KEY and PURSER_SECRET_KEY\n", 1, true), out)
    assert.is_truthy(out:find("http://127.0.0.1:1, from PURSER_BASE_URL\n", 1, true), out)
  end)
end)

describe("the keys", function()
  it("come both from one source: never the key of a file with the secret of the environment", function()
    for _, text in ipairs { "api_key = mx0file\n", "secret_key = filesecret\n" } do
      local path = keep(files.temporary(text))
      os.execute("chmod 600 " .. path)
      local code, _, err = dry_run({ "--credentials", path }, { PURSER_BASE_URL = SIM })
      assert.equal(2, code)
      assert.is_truthy(err:find("give the lines api_key = ... and secret_key = ...", 1, true), err)
    end
  end)

  local function file_with(text)
    local path = keep(files.temporary(text))
    os.execute("chmod 600 " .. path)
    return path
  end

  it("are what the credentials_command of a file writes, with the service that the file names", function()
    local inner = file_with("api_key = mx0inner\nsecret_key = innersecret\n")
    local path = file_with("base_url = " .. OTHER .. "\ncredentials_command = cat " .. inner .. "\n")
    local code, out, err = dry_run({ "--credentials", path }, { PURSER_API_KEY = "k", PURSER_SECRET_KEY = "s" })
    assert.equal(0, code, err)
    assert.is_truthy(err:find(OTHER .. " (from " .. path .. ") with the keys from " .. path, 1, true), err)
    assert.is_nil((out .. err):find("innersecret", 1, true))
  end)

  it("of a credentials_command are of that command alone, which must succeed and name no other command", function()
    local inner = file_with("api_key = k\nsecret_key = innersecret\nbase_url = " .. SIM .. "\n")
    local command_line = "credentials_command = cat " .. inner .. "\n"
    local loop = file_with(command_line)
    for text, expected in pairs {
      ["api_key = k\n" .. command_line] = "gives a credentials_command and a key of its own",
      ["base_url = " .. OTHER .. "\n" .. command_line] = "both give base_url",
      ["credentials_command = false\n"] = "failed",
      ["credentials_command = cat " .. loop .. "\n"] = "writes another credentials_command",
      ["credentials_command = echo api_key = k\n"] = "has no key, or no secret",
    } do
      local code, out, err = dry_run({ "--credentials", file_with(text) }, { PURSER_BASE_URL = SIM })
      assert.equal(2, code, expected)
      assert.is_truthy(err:find(expected, 1, true), err)
      assert.is_nil((out .. err):find("innersecret", 1, true))
    end
    local code, _, err = command.run({ "wallet", "coins", "--credentials", "-", "--base-url", SIM }, {}, command_line)
    assert.equal(2, code)
    assert.is_truthy(err:find("which only a file may", 1, true), err)
  end)

  it("are those of the file when the environment has others", function()
    local _, _, err = dry_run({ "--credentials", keys_file() }, { PURSER_BASE_URL = SIM })
    assert.is_truthy(err:find("with the keys from /", 1, true), err)
  end)
end)

-- Starts a command that waits, and searches its memory for a text once it waits.
describe("the secret of a command that is at work", function()
  local service, account

  setup(function()
    service = require("service").start()
    account = assert(service.world:account { role = "main", balances = { USDT = "10" } })
  end)

  teardown(function() service.stop() end)

  local function received()
    local counts = service.world:counts()["wallet.withdrawal_history"]
    return counts and counts.received or 0
  end

  local function copies_of(text, pid)
    local environment = io.open(("/proc/%s/environ"):format(pid), "rb")
    local found, memory = 0, io.open(("/proc/%s/mem"):format(pid), "rb")
    if environment then
      found = environment:read("*a"):find(text, 1, true) and 1 or 0
      environment:close()
    end
    if not memory then return found, false end
    for line in io.lines(("/proc/%s/maps"):format(pid)) do
      local from, to, mode, name = line:match "^(%x+)%-(%x+) (%S+) %S+ %S+ %S+%s*(.*)$"
      local size = tonumber(to, 16) - tonumber(from, 16)
      if mode:sub(1, 1) == "r" and not name:find "^%[v" and size < 2 ^ 32 then -- but a sanitizer's shadow
        memory:seek("set", tonumber(from, 16))
        local bytes = memory:read(size) or ""
        local _, stop = bytes:find(text, 1, true)
        while stop do
          found = found + 1
          _, stop = bytes:find(text, stop + 1, true)
        end
      end
    end
    memory:close()
    return found, true
  end

  local function search(text, words, environment)
    local before, line = received(), ""
    for name, value in pairs(environment) do line = line .. command.quote(name .. "=" .. value) .. " " end
    local pipe = assert(io.popen((
      "echo $$; exec env %s %s bin/purser wait withdrawal nobodyhasthis --deadline 5m %s 2>&1")
      :format(line, LUA, words)))
    local pid = pipe:read "*l"
    eventually(function() return received() ~= before end)
    local found, was_read = copies_of(text, pid)
    local owner = assert(io.popen("stat -c %U /proc/" .. pid .. "/mem")):read "*l"
    os.execute("kill " .. pid)
    pipe:close()
    return found, was_read, owner
  end

  -- Each process may read the other's memory here only as root; everybody else is rejected, which is what is requested.
  if io.open "/proc/self/maps" then
    it("is nowhere in its memory or environment when it comes from a file, and no other process reads it", function()
      local path = keep(files.temporary(("api_key = %s\nsecret_key = %s\n"):format(account.api_key,
        account.secret_key)))
      os.execute("chmod 600 " .. path)
      local found, _, owner = search(account.secret_key, "--credentials " .. path, { PURSER_BASE_URL = service.url })
      assert.same({ 0, "root" }, { found, owner })
    end)

    -- a sanitizer's runtime has a copy of the environment of its own
    local unless_sanitized = (os.getenv "LD_PRELOAD" or ""):find "asan" and function() end or it
    unless_sanitized("is nowhere when it comes from the environment", function()
      local found, _, owner = search(account.secret_key, "", { PURSER_BASE_URL = service.url,
        PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key })
      assert.same({ 0, "root" }, { found, owner })
    end)

    it("the search finds what is there", function()
      local found, was_read = search("nobodyhasthis", "", { PURSER_BASE_URL = service.url,
        PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key })
      assert.is_true(found > 0 or not was_read)
    end)
  end
end)

describe("a file of keys that the command writes", function()
  local create = { "sub_account", "create_api_key", "--subAccount", "tradingdesk1", "--note", "n", "--permissions",
    "SPOT_ACCOUNT_READ", "--yes", "--secret-file" }

  local function make(answer, path)
    local text = keep(files.temporary(answer))
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
    assert.equal(("# a key of sub-account tradingdesk1\nbase_url = %s\napi_key = mx0KEY\nsecret_key = s3cret\n")
      :format(url), files.read(path))
    assert.equal(tonumber("600", 8), (core.file_mode(path)))
    assert.is_nil((out .. err):find("s3cret", 1, true))
  end)

  it("is never one that was there, nor one that a link leads to", function()
    local path, diary = new_path(), keep(files.temporary "precious")
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

describe("core.file_mode of an open file", function()
  it("judges what was opened, and not what has its name by now", function()
    local path, other = keys_file(), keys_file("", "644")
    local file = assert(io.open(path, "rb"))
    assert(os.rename(other, path))
    assert.equal(tonumber("600", 8), (core.file_mode(file)))
    assert.equal(tonumber("644", 8), (core.file_mode(path)))
    assert.is_true(core.sync_file(file, "/tmp"))
    assert.is_nil((core.sync_file(file, "/nonexistent")))
    file:close()
    assert.is_false((pcall(core.file_mode, file)))
    assert.is_false((pcall(core.sync_file, file)))
    assert.is_false((pcall(core.file_mode, core.decimal "1")))
  end)
end)

describe("core.write_private", function()
  it("makes a file of this user alone, whole and on the disk, and takes no file that is there", function()
    local path, link = new_path(), new_path()
    local text = ("a\0b"):rep(100000)
    assert.is_true(core.write_private(path, text))
    assert.equal(text, files.read(path))
    assert.equal(tonumber("600", 8), (core.file_mode(path)))
    local ok, reason = core.write_private(path, "other")
    assert.is_nil(ok)
    assert.matches("exists", reason)
    assert(os.execute(("ln -s %s %s"):format(new_path(), link)))
    assert.is_nil((core.write_private(link, "other")))
    assert.is_nil((core.write_private(path .. "/below", "other")))
    assert.equal(text, files.read(path))
  end)

  it("leaves nothing when the disk takes only a part", function()
    local path = new_path()
    local _, shown = command.shell(("(ulimit -f 1; trap '' XFSZ; %s -e %s)"):format(LUA, command.quote(([[
      print(require("purser.core").write_private(%q, ("x"):rep(1000000)))]]):format(path))))
    assert.matches("^nil\t.*[Ff]ile", shown)
    assert.is_nil(core.file_mode(path))
  end)
end)

describe("the secrets file of a fleet", function()
  it("is not waited for when it is a pipe", function()
    local pipe = keep(os.tmpname())
    os.remove(pipe)
    assert(os.execute("mkfifo -m 600 " .. pipe))
    local file, message = require("purser.util.files").open_private(pipe, "a+b")
    assert.is_nil(file)
    assert.matches("is not a regular file", message)
  end)
end)

describe("the modules of the command", function()
  it("write to the standard streams in one place", function()
    local pipe = assert(io.popen [[grep -lE 'io\.(write|stdout:write|stderr:write|stdin:read)|print\(' \
      lua/purser/cli/*.lua]])
    assert.equal("lua/purser/cli/terminal.lua\n", pipe:read "*a")
    pipe:close()
  end)
end)
