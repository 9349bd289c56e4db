-- SPDX-License-Identifier: MIT
-- make test-all: 90 s, waits
-- A journal on a PostgreSQL server, as the commands of several hosts share it: each payment is made once, and each
-- command prints the same result. `tools/setup torture` installs the server.

local at_shell = require "at_shell"
local command = require "command"
local core = require "purser.core"
local files = require "files"

local postgresql = dofile "spec/torture/postgresql.lua"

local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"
local unpack = table.unpack or unpack -- luacheck: ignore

describe("--journal postgresql:DATABASE", function()
  local folder, server, at, environment

  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir -m 755 " .. folder))
    server = postgresql.start(folder)
    at = at_shell({ "--seed", "29" }, { role = "main", balances = { USDT = "5000" } })
    for _, name in ipairs { "one", "list", "mute" } do
      assert.equal(0, (command.shell(("psql -q -h %s -p %d -U %s postgres -c 'CREATE DATABASE %s' 2>&1"):format(
        server.options.host, server.options.port, server.options.user, name))))
    end
  end)
  teardown(function()
    if at then at.stop() end
    server.stop "immediate"
    os.execute("rm -rf " .. folder)
  end)

  -- A new journal leaves to a person what may be a record of the account that it does not know: each has its own.
  before_each(function()
    local account = assert(at.world:account { role = "main", balances = { USDT = "5000" } })
    environment = at.with { PGHOST = server.options.host, PGPORT = ("%d"):format(server.options.port),
      PGUSER = server.options.user, PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key }
  end)
  after_each(function() assert(at.world:verify()) end)

  -- Runs one command line in so many processes at once. Returns what each ended with: { code =, out =, err = }.
  local function at_once(count, words)
    local path = folder .. "/run"
    local script = command.line(words, environment)
    assert(command.shell(("for i in $(seq %d); do (%s >%s.$i.out 2>%s.$i.err </dev/null; echo $? >%s.$i.code) & done; "
      .. "wait"):format(count, script, path, path, path)))
    local runs = {}
    for i = 1, count do
      local function read(name) return files.read(("%s.%d.%s"):format(path, i, name)) end
      runs[i] = { code = tonumber(read "code"), out = read "out", err = read "err" }
    end
    return runs
  end

  local function run(...) return command.process({ ... }, environment) end

  local function applied() return select(2, at.received "wallet.withdraw") end

  it("makes one payment of five commands at once, and of a sixth", function()
    local words = { "wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--address", TRON, "--amount", "20",
      "--withdrawOrderId", "invoice-1", "--journal", "postgresql:one", "--yes", "--json" }
    local before = applied()
    local runs = at_once(5, words)
    local code, out, err = run(unpack(words))
    runs[6] = { code = code, out = out, err = err }
    for _, one in ipairs(runs) do assert.same({ 0, runs[1].out }, { one.code, one.out }, one.err) end
    assert.is_string(core.decode(out).id)
    assert.equal(1, applied() - before)

    code, out, err = run("journal", "list", "--journal", "postgresql:one", "--json")
    assert.equal(0, code, err)
    local entries = core.decode(out)
    assert.same({ 1, "done", "invoice-1" }, { #entries, entries[1].state, entries[1].params.withdrawOrderId })
    environment.PURSER_JOURNAL = "postgresql:one"
    assert.equal(0, (run("journal", "recover")))
    environment.PURSER_JOURNAL = nil
  end)

  it("pays each payment of a list once, by two commands at once and a third", function()
    local list, count, before = { "key,coin,network,address,amount\n" }, 12, applied()
    for i = 1, count do list[i + 1] = ("inv-%d,USDT,TRX,%s,%d\n"):format(i, TRON, 20 + i) end
    files.write(folder .. "/list.csv", table.concat(list))
    local words = { "payouts", "run", folder .. "/list.csv", "--operation", "wallet.withdraw", "--journal",
      "postgresql:list", "--yes" }
    local runs = at_once(2, words)
    local code, _, err = run(unpack(words))
    runs[3] = { code = code, err = err }
    for _, one in ipairs(runs) do assert.equal(0, one.code, one.err) end
    assert.equal(count, applied() - before)
    local out
    code, out, err = run("payouts", "status", "--journal", "postgresql:list", "--json")
    assert.equal(0, code, err)
    assert.equal(count, core.decode(out).done)
  end)

  it("is made by no command that looks at it", function()
    for _, words in ipairs { { "journal", "list" }, { "journal", "recover" }, { "payouts", "status" },
      { "watch", "account", "--below", "USDT=1" } } do
      words[#words + 1], words[#words + 2] = "--journal", "postgresql:mute"
      local code, out, err = run(unpack(words))
      assert.same({ 2, "" }, { code, out }, err)
      assert.matches("there is no journal postgresql:mute", err, 1, true)
    end
    for _, words in ipairs { { "journal", "list" }, { "payouts", "run", "--yes" }, { "wallet", "transfer",
      "--fromAccountType", "SPOT", "--toAccountType", "FUTURES", "--asset", "USDT", "--amount", "1", "--yes" } } do
      words[#words + 1], words[#words + 2] = "--journal", "postgresql:nowhere"
      local code, _, err = run(unpack(words))
      assert.equal(2, code)
      assert.matches("the journal cannot be opened: ", err, 1, true)
    end
  end)
end)
