-- SPDX-License-Identifier: MIT
-- `purser sync`, `purser statement` and `purser books` against a simulator, from a shell's point of view.
-- make test: 8 s

local command = require "command"
local core = require "purser.core"
local files = require "files"
local purser = require "purser"
local service = require "service"

local unpack = table.unpack or unpack -- luacheck: ignore
local sim, account, sub, environment

setup(function()
  sim = service.start()
  account = assert(sim.world:account { role = "main", balances = { USDT = "100" } })
  sub = assert(sim.world:account { role = "sub", name = "desk1", parent = account.uid, balances = { USDT = "7" } })
end)

teardown(function() sim.stop() end)

local function run(...) return command.run({ ... }, environment) end

describe("purser sync", function()
  local database

  before_each(function()
    database = files.new_path()
    environment = { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key, PURSER_BASE_URL = sim.url,
      PURSER_BOOKS = "sqlite:" .. database }
  end)
  after_each(files.remove_kept)

  -- A vault with the key of the sub-account.
  local function vault()
    local path = files.new_path()
    local made = assert(purser.vault.open(path, { base_url = sim.url }))
    made.store { account = "desk1", note = "books", apiKey = sub.api_key, secretKey = sub.secret_key }
    made:close()
    return path
  end

  it("reads all that the keys may read, sends events, and says what it could not read", function()
    local log = files.new_path ""
    assert(sim.world:deposit { account = sub.uid, coin = "USDT", network = "TRX", amount = "3" })
    local code, out, err = run("sync", "--run", "shop=cat >>" .. log)
    assert.equal(0, code, err)
    assert.matches("^owners read: 2; records that are new or changed: %d+\n$", out)
    assert.matches("Sub%-desk1: key was not read", err)
    code, out, err = run("sync", "--secrets", vault(), "--json")
    assert.equal(5, code, err)
    assert.matches("shop: 1 wait since.*this receiver is not on the command line", err)
    local shown = core.decode(out)
    assert.same({ 2, 1, 0 }, { shown.owners, shown.changes, #shown.problems })
    assert.truthy(files.read(log):find("sub_account.new", 1, true))
    code, out = run("books", "deliveries", "--csv")
    assert.equal(0, code)
    assert.matches('shop,1,', out) -- the deposit waits for a run that has the receiver
  end)

  it("names the account in the books as the shell names it, and a statement finds it by that name", function()
    environment.PURSER_ACCOUNT = "treasury_2"
    assert.equal(0, (run "sync"))
    assert(sim.world:deposit { account = account.uid, coin = "USDT", network = "TRX", amount = "4" })
    assert.equal(0, (run "sync"))
    local span = { "--from", "2020-01-01", "--to", "2035-01-01" }
    local function statement(...)
      local words = { "statement", unpack(span) }
      for _, word in ipairs { ... } do words[#words + 1] = word end
      return run(unpack(words))
    end
    local code, out, err = statement()
    assert.same({ 0, "" }, { code, err })
    assert.matches("statement of Treasury%-2", out)
    environment.PURSER_ACCOUNT = nil
    assert.equal(out, select(2, statement("--account", "treasury_2")))
    code, out, err = statement()
    assert.equal(0, code)
    assert.matches("statement of Account", out)
    assert.truthy(err:find("the books hold no record of Account; --account names another", 1, true), err)
    assert.matches("statement of Account%-7", (select(2, statement("--account", "_7"))))
    environment.PURSER_ACCOUNT = "treasury"
    local keys = files.new_path("api_key = " .. account.api_key .. "\nsecret_key = " .. account.secret_key .. "\n")
    os.execute("chmod 600 " .. keys)
    assert.equal(0, (run("sync", "--credentials", keys))) -- whose account nobody named
    assert.equal("", select(3, statement("--account", "default")))
  end)

  it("reads addresses of the coins that are named, and takes a journal", function()
    local address = assert(purser.new { base_url = sim.url, api_key = account.api_key,
      secret_key = account.secret_key }).wallet:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" }
    local journal = files.new_path()
    local code, _, err = run("sync", "--addresses", "USDT,BTC", "--journal", journal, "-q")
    assert.equal(2, code) -- a misspelt one would know of no payment under way
    assert.matches("sync: there is no journal " .. journal, err, 1, true)
    assert(purser.journal.open { sqlite = journal }):close()
    code, _, err = run("sync", "--addresses", "USDT,BTC", "--journal", journal, "-q")
    assert.equal(2, code)
    assert.matches("no account is named", err, 1, true)
    environment.PURSER_ACCOUNT = "main"
    code, _, err = run("sync", "--addresses", "USDT,BTC", "--journal", journal, "-q")
    assert.equal(0, code, err)
    local books = assert(purser.books.open { sqlite = database, account = "Main" })
    local found = books:each "address"()
    assert.same({ assert(address).address, "Main" }, { found.address, found.to_owner })
    books:close()
  end)

  it("ends with 1 where the service rejects a list, and with 3 where it cannot be reached", function()
    sim.world:fault { kind = "reject", code = "700007", operation = "wallet.withdrawal_history", times = 1 }
    assert.equal(1, (run "sync"))
    environment.PURSER_BASE_URL = "http://127.0.0.1:1"
    local code, out = run "sync"
    assert.same({ 3, "owners read: 0; records that are new or changed: 0\n" }, { code, out })
  end)

  it("takes no database that it does not know, and no duration that is none", function()
    environment.PURSER_BOOKS = nil
    for _, words in ipairs { { "sync" }, { "sync", "--books", "redis://localhost" }, { "books", "gaps" },
      { "sync", "--books", "sqlite:" .. database, "--every", "often" },
      { "sync", "--books", "sqlite:" .. database, "--webhook", "shop=https://example.org" } } do
      assert.equal(2, (command.run(words, environment)))
    end
  end)
end)
