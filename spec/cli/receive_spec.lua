-- SPDX-License-Identifier: MIT
-- `purser receive` over a simulator: a merchant's day, exit codes, and processes that are killed.
-- make test: 6 s, waits

local at_shell = require "at_shell"
local command = require "command"
local core = require "purser.core"
local eventually = require "eventually"
local files = require "files"

local HOUR = 3600000
local unpack = table.unpack or unpack -- luacheck: ignore

describe("purser receive", function()
  local at, db

  before_each(function()
    at = at_shell({ "--seed", "4" }, { role = "main", balances = {} })
    db = "sqlite:" .. at.folder() .. "/d.db"
  end)
  after_each(function()
    os.execute("rm -rf " .. at.folder())
    at.stop()
  end)

  local function receive(action, ...) return at.run("receive", action, ...) end

  local function deposit(amount, coin, network)
    assert(at.world:deposit { account = at.account.uid, coin = coin or "USDT", network = network or "Tron(TRC20)",
      amount = amount })
  end

  it("credits, asks, and adds up", function()
    local got = at.file()
    local shop = "shop=cat >>" .. got
    assert.equal(2, (receive("run", "--to", db, "--once")))
    local code, out, err = receive("begin", "--to", db)
    assert.equal(0, code, err)
    assert.matches("0 deposits of before now, not credited; 0 pending, credited when they succeed", out)
    code, out, err = receive("address", "alice", "USDT", "--to", db)
    assert.same({ 2, "" }, { code, out })
    assert.matches("missing argument 'network'", err, 1, true)
    code, out = receive("address", "alice", "USDT", "TRX", "--to", db)
    assert.same({ 0, true }, { code, out:find "^T%w+\n$" == 1 })
    deposit "250"
    deposit("1", "BTC", "Bitcoin(BTC)")
    assert(at.world:advance(HOUR))
    for _ = 1, 2 do -- nothing is kept
      code, out, err = receive("run", "--to", db, "--dry-run")
      assert.same({ 6, true }, { code, out:find "credit +dp_%x+  alice  250 USDT  TRX" ~= nil })
      assert.matches("a person would be asked about dp_%x+: 1 BTC  no customer has this address and memo", err)
      assert.is_nil(err:find("wait for a person", 1, true))
    end
    code, out, err = receive("run", "--to", db, "--once", "--run", shop)
    assert.equal(6, code, err)
    assert.matches("deposits that wait for a person: 1: `purser receive list", (select(3, receive("run", "--to", db,
      "--dry-run"))), 1, true)
    assert.matches("credit +dp_%x+  alice  250 USDT  TRX", out)
    local event = core.decode(files.read(got))
    assert.same({ event.deposit .. "/credit", "alice", "250" }, { event.id, event.customer, event.amount })
    code, out = receive("list", "--to", db)
    assert.equal(6, code)
    local printed = assert(out:match "purser receive (settle dp_%x+ refuse [^\n]+)")
    assert.same({ 0, "", "" }, { receive("list", "--to", db, "--coin", "USDT") })
    assert.equal(6, (receive("list", "--to", db, "--coin", "BTC")))
    local words = {}
    for word in printed:gmatch "%S+" do words[#words + 1] = word end
    assert.equal(0, (receive((table.unpack or unpack)(words)))) -- luacheck: ignore
    assert.equal(0, (receive("list", "--to", db)))
    assert.matches("^BTC[^\n]+refused 1 [^\n]+\n$", select(2, receive("check", "--to", db, "--coin", "BTC")))
    code, out = receive("address", "alice", "USDT", "TRX", "--to", db, "--json")
    assert.same({ 0, "alice" }, { code, core.decode(out).customer })
    code, out = receive("check", "--to", db)
    assert.equal(0, code)
    assert.matches("USDT  received 250 = credited 250", out)
  end)

  it("names the file of a wrong line", function()
    local path = at.file("customer,address\nann,TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STn\n")
    for _, given in ipairs { { "begin" }, { "run", "--once", "--run", "shop=cat" },
      { "run", "--dry-run" } } do
      local code, out, err = receive(given[1], "--to", db, "--customers", path, unpack(given, 2))
      assert.same({ 2, "" }, { code, out })
      assert.is_truthy(err:gsub("%s+", " "):find("purser: " .. path .. ": line 2: the address", 1, true), err)
      if given[1] == "begin" then assert.equal(0, (receive("begin", "--to", db))) end
    end
  end)

  it("warns of addresses in a customers' file as of those in a list", function()
    local path = at.file "customer;address;coins\na;TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t;USDT\nb;No-Network;\nc;No-Net;\n"
    local contract = "warning: customer \"a\": the address is the contract of USDT"
    for _, given in ipairs { { "begin" }, { "run", "--dry-run" }, { "run", "--once", "--run", "shop=cat" } } do
      local code, out, err = receive(given[1], "--to", db, "--customers", path, unpack(given, 2))
      assert.equal(0, code, out .. err)
      err = err:gsub("%s+", " ")
      assert.matches(path .. ":2: " .. contract, err, 1, true)
      assert.matches(path .. ":3: warning: 2 customers (lines 3-4): the address is an address of no", err, 1, true)
    end
    local code, _, err = receive("check", "--to", db)
    assert.equal(0, code)
    assert.matches('warning: 2 customers, such as customer "b": the address is an', err:gsub("%s+", " "), 1, true)
  end)

  it("shows what a look would credit and keeps nothing; a second process ends with 3", function()
    local got = at.file ""
    assert.equal(0, (receive("begin", "--to", db)))
    assert.equal(0, (receive("address", "alice", "USDT", "TRX", "--to", db)))
    deposit "250"
    assert(at.world:advance(HOUR))
    local shop = "shop=cat >>" .. got
    local code, out, err = receive("run", "--to", db, "--dry-run", "--run", shop)
    assert.equal(0, code, err)
    assert.matches("^[%d:]+  credit    dp_%x+  alice  250 USDT  TRX\n$", out)
    assert.equal("", files.read(got))
    local process = command.start({ "receive", "run", "--to", db, "--run", shop }, at.keys)
    eventually(function() return files.read(got) ~= "" end)
    code, out, err = receive("run", "--to", db, "--once")
    process.kill "KILL"
    assert.same({ 3, "", "purser: another process reads into this database\n" }, { code, out, err })
    assert.equal(1, select(2, files.read(got):gsub("\n", "")))
  end)

  it("gives a second customer another address where the service makes more than one", function()
    local live = at_shell({ "--seed", "4", "--variant", "live" }, { role = "main", balances = {} })
    finally(live.stop)
    local function address(customer)
      local code, out, err = live.run("receive", "address", customer, "USDT", "TRX", "--to", db)
      assert.equal(0, code, err)
      return out
    end
    local alice, bob = address "alice", address "bob"
    assert.not_equal(alice, bob)
    assert.same({ alice, bob }, { address "alice", address "bob" })
    assert.equal(0, (receive("address", "alice", "USDT", "TRX", "--to", db .. "2"))) -- the document's own makes one
    local code, _, err = receive("address", "bob", "USDT", "TRX", "--to", db .. "2")
    assert.equal(2, code)
    assert.matches("belong to alice at the same time", err)
  end)

  it("sends a receiver a test, and says whether it was taken", function()
    assert.equal(0, (receive("begin", "--to", db)))
    local got = at.file ""
    assert.same({ 0, "shop took dp_test/credit\n", "" }, { receive("test", "shop", "--to", db, "--run",
      "shop=cat >>" .. got) })
    assert.matches('"id":"dp_test/credit"', files.read(got), 1, true)
    local code, out, err = receive("test", "shop", "--to", db, "--run", "shop=exit 3")
    assert.same({ 1, "" }, { code, out })
    assert.matches("^purser: shop: the command ended with status", err)
    at.rejected({ "receive", "receivers", "rename", "shop", "--to", db }, "give rename OLD NEW, or drop NAME")
    at.rejected({ "receive", "receivers", "drop", "shop", "shop2", "--to", db }, "give rename OLD NEW, or drop NAME")
  end)

  it("says with 5 that an event waits, and that its receiver is not named", function()
    assert.equal(0, (receive("begin", "--to", db)))
    assert.equal(0, (receive("address", "alice", "USDT", "TRX", "--to", db)))
    deposit "5"
    assert(at.world:advance(HOUR))
    local code, _, err = receive("run", "--to", db, "--once", "--run", "shop=exit 7")
    assert.equal(5, code, err)
    assert.matches("shop did not take dp_%x+/credit: the command ended with status", err)
    code, _, err = receive("run", "--to", db, "--once")
    assert.equal(5, code)
    assert.matches("this receiver is not on the command line", err)
    assert.equal(5, (receive("deliveries", "--to", db)))
    assert.equal(0, (receive("receivers", "drop", "shop", "--to", db)))
    assert.equal(0, (receive("deliveries", "--to", db)))
  end)

  it("loses and doubles nothing where it is killed", function()
    local got = at.file ""
    assert.equal(0, (receive("begin", "--to", db)))
    assert.equal(0, (receive("address", "alice", "USDT", "TRX", "--to", db)))
    for i = 1, 12 do deposit(("%d"):format(i)) end
    assert(at.world:advance(HOUR))
    for i = 1, 4 do
      local process = command.start({ "receive", "run", "--to", db, "--every", "1s", "--run",
        "shop=cat >>" .. got .. "; sleep 0.02" }, at.keys)
      core.sleep_ms(60 * i)
      process.kill "KILL"
      assert(at.world:advance(60000)) -- the lease ends
    end
    at.world:advance(HOUR)
    local code, _, err = receive("run", "--to", db, "--deadline", "2s", "--every", "1s", "--run", "shop=cat >>" .. got)
    assert.equal(0, code, err)
    local amounts = {}
    for line in io.lines(got) do
      local event = core.decode(line)
      assert.is_true(amounts[event.amount] == nil or amounts[event.amount] == event.id)
      amounts[event.amount] = event.id
    end
    for i = 1, 12 do assert.is_truthy(amounts[tostring(i)], i) end
    assert.matches("received 78 = credited 78", (select(2, receive("check", "--to", db))))
  end)
end)
