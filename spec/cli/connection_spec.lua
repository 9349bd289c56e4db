-- SPDX-License-Identifier: MIT
-- The client that the options make: the service is that of one source, the nearest, and it is shown before anything is
-- signed; the journal and the guard rails are those that were named, or nothing is sent.

local at_shell = require "at_shell"
local command = require "command"
local connection = require "purser.cli.connection"
local files = require "files"
local purser = require "purser"

local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"
local LIVE = require("purser.client.operations.profile_rules").resolve("mexc").base_url:match "^%a+://[^/]+"
local SIM, OTHER, THIRD = "http://127.0.0.1:8081", "http://127.0.0.1:8082", "http://127.0.0.1:8083"

after_each(files.remove_kept)

local function keys_file(more)
  return files.private("api_key = mx0file\nsecret_key = filesecret\n" .. (more or ""))
end

describe("a journal that cannot be used", function()
  it("is another file, or a damaged database that is named with its fault", function()
    for text, is_other in pairs { ["key,coin\n"] = true, ["SQLite format 3\0damaged"] = false, [""] = false } do
      local problem = connection.journal_problem(files.private(text), { message = "it is damaged", kind = "journal" })
      assert.equal(is_other, problem:find("is another file", 1, true) ~= nil, problem)
      assert.equal(not is_other, problem:find("it is damaged", 1, true) ~= nil, problem)
    end
  end)
end)

describe("a command that is refused", function()
  local at
  setup(function() at = at_shell() end)
  teardown(function() at.stop() end)

  it("makes no journal", function()
    local journal = at.folder() .. "/new.db"
    local nowhere = at.with { PURSER_BASE_URL = false }
    local withdraw = { "wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", TRON, "--amount", "20" }
    for words, message in pairs {
      [{ nowhere, "--yes" }] = "which service?", [{ at.keys }] = "give --yes",
      [{ at.keys, "--yes", "--memo", "" }] = "memo",
      [{ at.keys, "--yes", "--base-url", "http://example.org" }] = "http",
      [{ at.keys, "--yes", "--guard", "/nonexistent" }] = "No such file",
    } do
      local line = { (table.unpack or unpack)(withdraw) } -- luacheck: ignore
      for i = 2, #words do line[#line + 1] = words[i] end
      line[#line + 1], line[#line + 2] = "--journal", journal
      local code, _, err = command.run(line, words[1])
      assert.equal(2, code, err)
      assert.matches(message, err, 1, true)
      assert.is_nil(io.open(journal), message)
    end
    assert.equal(0, (at.received "wallet.withdraw"))
  end)

  it("watches without the journal of PURSER_JOURNAL that is not made yet, and not without a typed one", function()
    local journal = at.folder() .. "/later.db"
    local words = { "watch", "account", "--network", "USDT/TRX" }
    local code, _, err = command.run(words, at.with { PURSER_JOURNAL = journal })
    assert.equal(0, code)
    assert.equal(("purser: there is no journal %s yet; watch goes on without it\n"):format(journal), err)
    words[#words + 1], words[#words + 2] = "--journal", journal
    code, _, err = command.run(words, at.keys)
    assert.equal(2, code)
    assert.matches("watch: there is no journal " .. journal, err, 1, true)
    assert.is_nil(io.open(journal))
  end)

  it("takes the file of the account in a folder, and none where no account is named", function()
    local folder = at.folder()
    local function transfer(journal, account)
      return command.run({ "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset",
        "USDT", "--amount", "1", "--yes" }, at.with { PURSER_JOURNAL = journal, PURSER_ACCOUNT = account })
    end
    for _, journal in ipairs { folder .. "/", folder, "sqlite:" .. folder } do
      local code, _, err = transfer(journal, "treasury")
      assert.equal(0, code, err)
    end
    local code, text = command.run({ "journal", "list", "--csv", "--journal", folder }, { PURSER_ACCOUNT = "treasury" })
    assert.same({ 0, 4 }, { code, select(2, text:gsub("\n", "\n")) })
    assert.is_truthy(io.open(folder .. "/treasury.db"))
    local err, _
    for account, message in pairs { [""] = "no account is named", ["a/b"] = "makes no name of a file" } do
      code, _, err = transfer(folder, account)
      assert.equal(2, code)
      assert.matches(message, err, 1, true)
    end
    code, _, err = transfer(folder .. "/none/", "treasury")
    assert.equal(2, code)
    assert.matches("there is no such folder", err, 1, true)
    -- a journal of the environment that is not made yet is left out by a look, as a file's is
    code, _, err = command.run({ "watch", "account", "--network", "USDT/TRX" },
      at.with { PURSER_JOURNAL = folder, PURSER_ACCOUNT = "new" })
    assert.equal(0, code)
    assert.matches("there is no journal " .. folder .. "/new.db yet", err, 1, true)
    assert.is_nil(io.open(folder .. "/new.db"))
  end)

  it("names the option that a missing policy was given by", function()
    local code, _, err = at.run("approvals", "status", "--policy", "/nopolicies", "--journal", at.folder() .. "/p")
    assert.equal(2, code)
    assert.matches("\npurser: %-%-policy /nopolicies/1.json cannot be read", err)
  end)

  it("makes no journal before a person says yes, and leaves no file that stood in for one", function()
    local journal, list = at.folder() .. "/asked.db", at.file("key,coin,network,address,amount\na,USDT,TRX," .. TRON
      .. ",20\n")
    local bad, fleet = at.file("key,coin,network,address,amount\na,USDT,TRX," .. TRON .. ",20x\n"),
      at.file '{"accounts": [{"name": "noaccount1", "note": "n"}]}'
    local runs = { { "payouts", "run", list, "--operation", "wallet.withdraw" },
      { "wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", TRON, "--amount", "20" },
      { "fleet", "apply", fleet, "--secrets", at.file() } }
    for _, words in ipairs(runs) do
      words[#words + 1], words[#words + 2] = "--journal", journal
      local code, shown = at.on_terminal("no\n", (table.unpack or unpack)(words)) -- luacheck: ignore
      assert.equal(2, code, shown)
      assert(shown:find("not confirmed; nothing was sent", 1, true), shown)
      assert.is_nil(io.open(journal), words[1])
    end
    local names, made = {}, os.tmpname
    os.tmpname = function() -- luacheck: ignore
      names[#names + 1] = made()
      return names[#names]
    end
    local code, _, err = command.run({ "payouts", "run", bad, "--operation", "wallet.withdraw", "--journal", journal,
      "--yes" }, at.keys)
    os.tmpname = made -- luacheck: ignore
    assert.equal(2, code)
    assert.matches("1 of 1 payment has errors; nothing was sent", err, 1, true)
    assert.is_nil(io.open(journal))
    for _, name in ipairs(names) do
      for _, suffix in ipairs { "", "-wal", "-shm" } do assert.is_nil(io.open(name .. suffix), name) end
    end
    runs[2][#runs[2] + 1] = "--yes"
    assert.equal(0, (at.run((table.unpack or unpack)(runs[2])))) -- luacheck: ignore
    assert.is_truthy(io.open(journal))
  end)

  it("names in a printed command what this one was given, a read no journal and no policy", function()
    local options = { journal = "a b.db", policy = "p", account = "main", credentials = "k", base_url = "http://h",
      profile = "mexc", timeout = 5 }
    local shared = " --account main --credentials k --base-url http://h --profile mexc"
    assert.equal(" --journal 'a b.db' --policy p" .. shared, connection.words(options))
    assert.equal(shared, connection.words(options, true))
    assert.equal("", connection.words {})
  end)

  -- The plan of the stand-in had no odd payment, and its screen was that of the plan which had one.
  it("pays nothing that is odd in the journal which another program made before the yes", function()
    local path, list = at.folder() .. "/met.db", at.file("key,fromAccountType,toAccountType,asset,amount\n"
      .. "a,SPOT,FUTURES,USDT,20\n")
    local made = os.tmpname
    os.tmpname = function() -- luacheck: ignore
      if not debug.traceback():find "cli/connection.lua" then return made() end
      os.tmpname = made -- luacheck: ignore
      local journal = assert(purser.journal.open { sqlite = path })
      local client = assert(purser.new { base_url = at.url, api_key = at.account.api_key, account = "treasury",
        secret_key = at.account.secret_key, journal = journal })
      assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
        amount = "20" })
      journal:close()
      return made()
    end
    local before = select(2, at.received "wallet.transfer")
    local code, _, err = command.run({ "payouts", "run", list, "--operation", "wallet.transfer", "--journal", path,
      "--yes" }, at.keys)
    os.tmpname = made -- luacheck: ignore
    assert.equal(3, code, err)
    assert.matches("an equal payment was sent on [^\n]*: 20 USDT", err)
    assert.equal(before + 1, (select(2, at.received "wallet.transfer")))
  end)

  it("is a write under a policy without a journal; a read needs neither journal nor account", function()
    local keys = at.with { PURSER_POLICY = at.folder() .. "/policy" }
    local function run(...) return command.run({ ... }, keys) end
    local code, _, err = run("wallet", "coins")
    assert.equal(0, code, err)
    code, _, err = run("fleet", "plan", at.file '{"accounts": []}', "--secrets", at.file())
    assert.equal(0, code, err)
    code, _, err = run("wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset",
      "USDT", "--amount", "1", "--yes")
    assert.equal(2, code)
    assert.matches("a policy needs a journal", err, 1, true)
    code, _, err = run("address", "USDT", "TRX") -- which would make one
    assert.equal(2, code)
    assert.matches("only reads", err, 1, true)
    assert.equal(0, (at.received "wallet.create_deposit_address"))
  end)
end)

describe("the service that the keys go to", function()
  local function goes_to(url, source, words, environment)
    local code, out, err = command.dry_run(words, environment)
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

  it("is never that of --profile alone where PURSER_BASE_URL or the file names another", function()
    for other, words in pairs { [SIM] = { "--profile", "mexc" }, [OTHER] = { "--profile", "mexc", "--credentials",
      keys_file("base_url = " .. OTHER .. "\n") } } do
      local code, out, err = command.dry_run(words, { PURSER_BASE_URL = SIM })
      assert.same({ 2, "" }, { code, out })
      assert.matches("two services are named: --profile mexc is " .. LIVE, err, 1, true)
      assert.matches(other, err, 1, true)
    end
    goes_to(LIVE, "--profile", { "--profile", "mexc" }, { PURSER_BASE_URL = LIVE })
  end)

  it("is that of --base-url before all others, and a profile of elsewhere is not mixed in", function()
    goes_to(THIRD, "--base-url", { "--base-url", THIRD, "--credentials", keys_file("base_url = " .. OTHER .. "\n") },
      { PURSER_BASE_URL = SIM })
    goes_to(THIRD, "--base-url and --profile", { "--base-url", THIRD, "--profile", "mexc" })
    local code, _, err = command.dry_run({ "--profile", "default" }, { PURSER_BASE_URL = SIM })
    assert.equal(2, code)
    assert.is_truthy(err:find("--base-url is missing", 1, true) and err:find("comes from --profile", 1, true), err)
  end)

  it("is that of the environment when nothing nearer names one; an empty variable counts as not set", function()
    goes_to(SIM, "PURSER_BASE_URL", {}, { PURSER_BASE_URL = SIM })
    goes_to(SIM, "PURSER_BASE_URL", { "--credentials", keys_file() }, { PURSER_BASE_URL = SIM })
    goes_to(SIM, "PURSER_BASE_URL", {}, { PURSER_BASE_URL = SIM, PURSER_PROFILE = "" })
    goes_to(LIVE, "PURSER_PROFILE", {}, { PURSER_BASE_URL = "", PURSER_PROFILE = "mexc" })
    local code, _, err = command.dry_run({}, { PURSER_BASE_URL = "" })
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
    code, shown = command.run_on_terminal({ "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType",
      "FUTURES", "--asset", "USDT", "--amount", "1", "--credentials", keys, "--base-url", SIM }, {}, "") -- Ctrl-D
    assert.equal(2, code)
    assert.matches("Type yes to do it: [^\n]*\npurser: not confirmed; nothing was sent\n", shown)
    local _, out = command.run({ "doctor" }, { PURSER_API_KEY = "k", PURSER_SECRET_KEY = "s",
      PURSER_BASE_URL = "http://127.0.0.1:1" })
    assert.is_truthy(out:find("from PURSER_API_KEY and PURSER_SECRET_KEY\n", 1, true), out)
    assert.is_truthy(out:find("http://127.0.0.1:1, from PURSER_BASE_URL\n", 1, true), out)
  end)
end)

describe("the safeguards of --journal and --guard", function()
  local at

  setup(function() at = at_shell({ "--seed", "3" }, { role = "broker", balances = { USDT = "5000" } }) end)
  teardown(function() at.stop() end)

  it("is judged by all guard rails of --guard, with the journal that they need", function()
    local folder = at.folder()
    files.write(folder .. "/guard.json", '{"max_amount":{"USDT":"500"},"no_duplicates":true,'
      .. '"spending_limit":{"USDT":{"amount":"45","period_ms":86400000}}}')
    local function guarded(amount, ...)
      return at.run("wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", TRON, "--amount", amount,
        "--guard", folder .. "/guard.json", "--journal", folder .. "/journal.db", "--account", "treasury", ...)
    end
    local before = at.received "wallet.withdraw"
    local code, _, err = guarded("20", "--dry-run")
    assert.equal(0, code, err)
    assert.equal(before, (at.received "wallet.withdraw"))
    code, _, err = guarded("20", "--yes")
    assert.equal(0, code, err)
    at.world:fault { kind = "lost_answer", operation = "wallet.withdraw" }
    assert.equal(4, (guarded("20", "--yes")))
    code, _, err = guarded("20", "--yes")
    assert.equal(2, code, err)
    assert.matches("rejected by the guard rail no_duplicates", err, 1, true)
    code, _, err = guarded("21", "--yes")
    assert.equal(2, code, err)
    assert.matches("rejected by the guard rail spending_limit", err, 1, true)
    assert.equal(before + 2, (at.received "wallet.withdraw"))
  end)

  local function transfer(amount, ...)
    return at.run("wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset", "USDT",
      "--amount", amount, "--yes", ...)
  end

  it("are all those of several files: a second --guard, and PURSER_GUARD, add rules and take none away", function()
    local small = at.file '{"max_amount":{"USDT":"5"}}'
    local listed = at.file '{"max_amount":{"USDT":"50"},"sub_accounts":[]}'
    for _, order in ipairs { { small, listed }, { listed, small } } do
      local code, _, err = transfer("6", "--guard", order[1], "--guard", order[2])
      assert.equal(2, code)
      assert.matches("rejected by the guard rail max_amount: 6 USDT is more than 5", err, 1, true)
      assert.equal(0, (transfer("1", "--guard", order[1], "--guard", order[2])))
    end
    local code, _, err = command.run({ "wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES",
      "--asset", "USDT", "--amount", "6", "--yes", "--guard", listed }, at.with { PURSER_GUARD = small })
    assert.equal(2, code)
    assert.matches("is more than 5", err, 1, true)
  end)

  it("warns of guard rails without a rule", function()
    local path = at.file "{}"
    local code, _, err = transfer("1", "--guard", path, "--quiet")
    assert.equal(0, code)
    assert.matches("--guard " .. path .. " sets no rules", err, 1, true)
  end)

  it("rejects a guard rail that is null, or there twice, or in a file that others can change", function()
    local before = at.received "wallet.transfer"
    for text, expected in pairs { ['{"read_only":null}'] = "read_only is null",
      ['{"read_only":true,"read_only":false}'] = "read_only is there twice" } do
      local code, _, err = transfer("1", "--guard", at.file(text))
      assert.equal(2, code)
      assert.matches(expected, err, 1, true)
    end
    local path = at.file '{"max_amount":{"USDT":"5"}}'
    os.execute("chmod 666 " .. path)
    local code, _, err = transfer("1", "--guard", path)
    assert.equal(2, code)
    assert.matches("can be changed by others", err, 1, true)
    assert.equal(before, at.received "wallet.transfer")
  end)

  it("rejects guard rails that are a list: [] would be none, and the money would move", function()
    local path = at.file "[]"
    local before = at.received "wallet.transfer"
    local code, _, err = at.run("wallet", "transfer", "--fromAccountType", "SPOT", "--toAccountType", "FUTURES",
      "--asset", "USDT", "--amount", "1", "--yes", "--guard", path)
    assert.equal(2, code)
    assert.is_truthy(err:find(path .. " is not the JSON of an object", 1, true), err)
    assert.equal(before, at.received "wallet.transfer")
  end)
end)

describe("an --account without a name", function()
  it("is rejected with a file of keys, too: a queue would keep its payments under no name", function()
    local code, out, err = command.dry_run({ "--credentials", keys_file(), "--account", "" }, { PURSER_BASE_URL = SIM })
    assert.same({ 2, "" }, { code, out })
    assert.is_truthy(err:find("--account is empty; give the name of an account, or leave it out", 1, true), err)
  end)
end)
