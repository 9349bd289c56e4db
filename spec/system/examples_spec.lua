-- SPDX-License-Identifier: MIT
-- The programs in examples/ run against the simulator, and their output is what the world they found demands.
-- make test: 3 s

local purser = require "purser"
local new_client = require("simulated_time").new
local plain, start = require("service").plain, require("service").start

local read, temporary = require("files").read, require("files").temporary

local DAY = 86400000
local SPOT = "SPOT"
local PRIVATE = 384 -- octal 600

-- A service whose clock stands still unless it is "real", a broker's account in it, and what runs an example with its
-- key.
local function open(balances, clock)
  local service = start { "--clock", clock or "virtual" }
  local world = service.world
  local account = assert(world:account {
    name = "Acme", role = "broker", email = "treasury@acme.example", balances = balances or { USDT = "1000" },
  })
  local fixture = { service = service, world = world, account = account }
  fixture.client = assert(new_client {
    base_url = service.url, api_key = account.api_key, secret_key = account.secret_key,
  })

  -- The command line that runs an example with this account's key, and further variables.
  function fixture.command(arguments, variables)
    local words = { variables or "", "LUA_INIT=@spec/support/simulated_time.lua PURSER_BASE_URL=", service.url,
      " PURSER_API_KEY=", account.api_key, " PURSER_SECRET_KEY=", account.secret_key, " ",
      os.getenv "LUA" or "lua5.4", " ", arguments }
    return table.concat(words)
  end

  --- Runs an example. Returns what it printed (errors too) and its exit code.
  function fixture.run(arguments, variables)
    local pipe = assert(io.popen(fixture.command(arguments, variables) .. " 2>&1; echo exit $?"))
    local output = pipe:read "*a"
    pipe:close()
    local text, code = output:match "^(.-)exit (%d+)\n$"
    return text, tonumber(code)
  end

  finally(function() -- a test has one such function only
    if fixture.before_stop then fixture.before_stop() end
    fixture.client:close()
    service.stop()
  end)
  return fixture
end

local function sub_account(fixture, name, asset, amount)
  assert(fixture.client.sub_account:create_sub_account { subAccount = name, note = name })
  assert(fixture.client.sub_account:transfer {
    toAccount = name, fromAccountType = SPOT, toAccountType = SPOT, asset = asset, amount = amount,
  })
  fixture.service.show_records()
end

local function free(fixture, name, asset)
  for _, balance in ipairs(assert(fixture.client.sub_account:balances { subAccount = name, accountType = SPOT })) do
    if balance.asset == asset then return balance.free end
  end
end

describe("provision.lua", function()
  it("makes the accounts and keys of a list, and the second time nothing", function()
    local fixture = open()
    local list = temporary("desknorth1,north,SPOT_ACCOUNT_READ SPOT_TRANSFER_READ,127.0.0.1\n"
      .. "desksouth1,south,SPOT_ACCOUNT_READ,\n")
    local keys = temporary()
    os.remove(keys) -- made by the program, for nobody else
    local arguments = ("examples/provision.lua %s %s"):format(list, keys)

    assert.same({ "2 sub-accounts requested: 2 made, 2 keys made\n", 0 }, { fixture.run(arguments) })
    local lines = {}
    for key, secret, name in read(keys):gmatch "([^\t]+)\t([^\t]+)\t([^\t]+)\t[^\n]+\n" do
      lines[#lines + 1] = name
      local own = assert(purser.new { base_url = fixture.service.url, api_key = key, secret_key = secret,
        clock = function() return fixture.world:now() end })
      assert(own.wallet:convertible_balances()) -- the key works, with the permission it was given
      local _, err = own.wallet:coins()
      assert.equal("700007", err.code)
    end
    assert.same({ "desknorth1", "desksouth1" }, lines)
    assert.equal(PRIVATE, require("purser.core").file_mode(keys) % 512)

    assert.same({ "2 sub-accounts requested: 0 made, 0 keys made\n", 0 }, { fixture.run(arguments) })
    assert.same({ 2, 2 }, { fixture.world:counts()["sub_account.create_sub_account"].applied,
      fixture.world:counts()["sub_account.create_api_key"].applied })
    os.remove(list)
    os.remove(keys)
  end)

  it("keeps no secret in a file that others can use, and makes no key then", function()
    local fixture = open()
    local list, keys = temporary "desknorth1,north,SPOT_ACCOUNT_READ,\n", temporary()
    assert(os.execute("chmod 644 " .. keys))
    local output, code = fixture.run(("examples/provision.lua %s %s"):format(list, keys))
    assert.equal(2, code)
    assert.matches("can be used by others.*; run: chmod 600", output)
    assert.is_nil(fixture.world:counts()["sub_account.create_api_key"])
    os.remove(list)
    os.remove(keys)
  end)

  it("makes a key again whose answer was lost, and leaves no other behind", function()
    local fixture = open()
    local list, keys = temporary "desknorth1,north,SPOT_ACCOUNT_READ,\n", temporary()
    assert(fixture.world:fault { kind = "lost_answer", operation = "sub_account.create_api_key", times = 1 })
    local output, code = fixture.run(("examples/provision.lua %s %s"):format(list, keys))
    assert.same({ "1 sub-accounts requested: 1 made, 1 keys made\n", 0 }, { output, code })
    fixture.service.show_records()
    local there = assert(fixture.client.sub_account:list_api_keys { subAccount = "desknorth1" })
    assert.equal(1, #there)
    assert.same({ there[1].apiKey, "desknorth1" }, { read(keys):match "^([^\t]+)\t[^\t]+\t([^\t]+)\t[^\n]*\n$" })
    os.remove(list)
    os.remove(keys)
  end)

  it("stops where it is rejected, and goes on from there", function()
    local fixture = open()
    local keys = temporary()
    local list = temporary "desknorth1,north,SPOT_ACCOUNT_READ,\ndesksouth1,south,SPOT_ACCOUNT_READ,\n"
    local command = ("examples/provision.lua %s %s"):format(list, keys)
    assert(fixture.world:fault { kind = "reject", operation = "sub_account.create_api_key", skip = 1 })
    local output, code = fixture.run(command)
    assert.equal(1, code, output)
    assert.matches("2 sub%-accounts requested: 2 made, 1 keys made\n", output)
    assert.matches("sub_account.create_api_key: .*outcome rejected", output)
    assert.same({ "2 sub-accounts requested: 0 made, 1 keys made\n", 0 }, { fixture.run(command) })
    assert.equal(2, select(2, read(keys):gsub("\n", "")))
    os.remove(list)
    os.remove(keys)
  end)
end)

describe("sweep.lua", function()
  it("shows what it would move, and moves nothing without --yes", function()
    local fixture = open()
    sub_account(fixture, "desknorth1", "USDT", "100.25")
    local before = fixture.world:counts()["sub_account.transfer"].applied
    local output, code = fixture.run "examples/sweep.lua"
    assert.same({ "desknorth1 -> parent  100.25 USDT  (planned)\n1 transfers to the parent; --yes makes them\n", 0 },
      { output, code })
    output, code = fixture.run "examples/sweep.lua --help"
    assert.equal(2, code)
    assert.matches("^usage: sweep.lua", output)
    assert.equal(before, fixture.world:counts()["sub_account.transfer"].applied)
  end)

  it("moves everything to the parent", function()
    local fixture = open { USDT = "1000", BTC = "1" }
    sub_account(fixture, "desknorth1", "USDT", "100.25")
    sub_account(fixture, "desksouth1", "BTC", "0.125")
    local output, code = fixture.run "examples/sweep.lua --yes"
    assert.equal(0, code, output)
    assert.matches("^desknorth1 +100%.25 USDT  %d+\ndesksouth1 +0%.125 BTC  %d+\n"
      .. "total 0%.125 BTC\ntotal 100%.25 USDT\n$", output)
    assert(fixture.world:verify())
  end)

  it("leaves what it is asked to leave, and other assets alone", function()
    local fixture = open { USDT = "1000", BTC = "1" }
    sub_account(fixture, "desknorth1", "USDT", "100.25")
    sub_account(fixture, "desksouth1", "BTC", "0.125")
    local output, code = fixture.run "examples/sweep.lua USDT 10 --yes"
    assert.equal(0, code, output)
    assert.matches("total 90%.25 USDT\n$", output)
    assert.same({ "10", "0.125" }, { free(fixture, "desknorth1", "USDT"), free(fixture, "desksouth1", "BTC") })
  end)

  it("moves once when the answer is lost", function()
    local fixture = open()
    sub_account(fixture, "desknorth1", "USDT", "100.25")
    assert(fixture.world:fault { kind = "lost_answer", operation = "sub_account.transfer", times = 1 })
    local before = fixture.world:counts()["sub_account.transfer"].applied
    local output, code = fixture.run "examples/sweep.lua --yes"
    assert.equal(0, code, output)
    assert.matches("total 100%.25 USDT\n$", output)
    assert.equal(before + 1, fixture.world:counts()["sub_account.transfer"].applied)
  end)

  it("stops at what is rejected, and moves the rest when it is run again", function()
    local fixture = open()
    sub_account(fixture, "desknorth1", "USDT", "100.25")
    sub_account(fixture, "desksouth1", "USDT", "7")
    assert(fixture.world:fault { kind = "reject", operation = "sub_account.transfer", skip = 1 })
    local output, code = fixture.run "examples/sweep.lua --yes"
    assert.equal(1, code, output)
    assert.matches("desknorth1 +100%.25 USDT  %d+\n", output)
    assert.matches("desksouth1, 7 USDT: sub_account.transfer: ", output)
    output, code = fixture.run "examples/sweep.lua --yes"
    assert.equal(0, code, output)
    assert.matches("^desksouth1 +7 USDT  %d+\ntotal 7 USDT\n$", output)
  end)
end)

-- Deposits over three months, one of them with a memo that a spreadsheet would run, and a withdrawal.
local function three_months(fixture)
  local client, world = fixture.client, fixture.world
  local own = assert(client.wallet:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" })
  local first = world:now()
  for i = 1, 4 do
    assert(world:deposit { address = own.address, coin = "USDT", network = own.network, amount = i .. ".5" })
    assert(world:advance(20 * DAY))
  end
  local address = own.address:sub(1, -4) .. "abc"
  assert(world:save_address { account = fixture.account.uid, coin = "USDT", network = own.network, address = address })
  assert(client.wallet:withdraw {
    coin = "USDT", netWork = "TRX", address = address, amount = "33.25", withdrawOrderId = "=1+1",
  })
  assert(world:advance(DAY))
  return first
end

describe("export_csv.lua", function()
  it("writes every deposit and withdrawal of three months once, in order", function()
    local fixture = open()
    local first = three_months(fixture)
    local output, code = fixture.run "examples/export_csv.lua"
    assert.equal(0, code, output)
    local lines = {}
    for line in plain(output):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
    assert.equal("time,kind,coin,network,amount,fee,status,address,memo,transaction,order", lines[1])
    assert.equal(6, #lines)
    for i = 1, 4 do
      local time = plain(purser.utc.text(first + (i - 1) * 20 * DAY))
      local requested = ("%s,deposit,USDT,Tron(TRC20),%d.5,0,5,"):format(time, i)
      assert.equal(requested, lines[i + 1]:sub(1, #requested))
    end
    assert.matches(",withdrawal,USDT,.*,33%.25,.*,7,.*,'=1%+1$", lines[6])
  end)
end)

describe("convert_dust.lua", function()
  local dust = {}
  for _, asset in ipairs { "DOGE", "XRP", "TRX" } do dust[asset] = "1.5" end
  dust.USDT = "1000"

  it("only shows what it would do, unless asked to do it", function()
    local fixture = open(dust)
    local output, code = fixture.run "examples/convert_dust.lua"
    assert.equal(0, code, output)
    assert.matches("3 coins could be converted", output)
    assert.is_nil(fixture.world:counts()["wallet.convert"])
    output, code = fixture.run "examples/convert_dust.lua --yes"
    assert.equal(0, code, output)
    fixture.service.show_records()
    local batch = assert(fixture.client.wallet:conversion_history()).data[1]
    assert(output:find(("3 coins converted into %s, fees %s\n"):format(batch.totalConvert, batch.totalFee), 1, true),
      output)
    assert(fixture.world:verify())
  end)

  it("takes 15 coins a call, and leaves what cannot be converted", function()
    local many = { USDT = "1000", OLDC = "3" }
    local coins = { "BTC", "ETH", "BNB", "XRP", "XLM", "TON", "TRX", "SOL", "DOGE", "LTC", "ADA", "MATIC", "LINK",
      "UNI", "AAVE", "ARB", "OP", "AVAX" }
    for _, coin in ipairs(coins) do many[coin] = "0.0001" end
    local fixture = open(many)
    local output, code = fixture.run "examples/convert_dust.lua --yes"
    assert.equal(0, code, output)
    assert.matches(#coins .. " coins converted into ", output)
    assert.is_nil(output:find("OLDC", 1, true))
    assert.same({ received = 2, applied = 2 }, fixture.world:counts()["wallet.convert"])
    fixture.service.show_records()
    local batches = assert(fixture.client.wallet:conversion_history { limit = 10 }).data
    assert.same({ 3, 15 }, { #batches[1].convertDetails, #batches[2].convertDetails })
  end)

  it("stops when nobody knows what became of a batch", function()
    local fixture = open(dust)
    assert(fixture.world:fault { kind = "lost_answer", operation = "wallet.convert", times = 1 })
    local output, code = fixture.run "examples/convert_dust.lua --yes"
    assert.equal(4, code)
    assert.matches("looks in wallet.conversion_history", output)
    assert.equal(1, fixture.world:counts()["wallet.convert"].received)
  end)
end)

describe("watch_deposits.lua", function()
  it("prints a deposit when it appears, and again when it has arrived", function()
    local fixture = open()
    local own = assert(fixture.client.wallet:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" })
    local pipe = assert(io.popen(fixture.command "examples/watch_deposits.lua 0.05 4000" .. " 2>&1 & echo $!; wait"))
    local pid = pipe:read "*l"
    function fixture.before_stop()
      os.execute("kill " .. pid .. " 2>/dev/null")
      pipe:close()
    end
    assert(fixture.world:deposit { address = own.address, coin = "USDT", network = own.network, amount = "12.5" })
    assert.matches("12%.5 USDT on Tron%(TRC20%)  PENDING", plain(pipe:read "*l"))
    assert(fixture.world:advance(2 * 3600000))
    local line
    repeat line = pipe:read "*l" until not line or line:find "SUCCESS"
    assert.matches("12%.5 USDT on Tron%(TRC20%)  SUCCESS", plain(line))
  end)
end)

describe("treasury_report.lua", function()
  it("writes one page with the balances and flows in it, and nothing from elsewhere", function()
    local fixture = open()
    sub_account(fixture, "desknorth1", "USDT", "100.25")
    three_months(fixture)
    local path = temporary()
    local output, code = fixture.run("examples/treasury_report.lua " .. path)
    assert.equal(0, code, output)
    assert.matches(": 1 assets, %d months of flows\n$", output)
    local page = read(path)
    os.remove(path)
    for _, requested in ipairs { "Balances of USDT", ">desknorth1</text>", ">100.25</text>",
      "Deposits and withdrawals of USDT", ">33.25</text>", "<svg viewBox=" } do
      assert(page:find(requested, 1, true), requested)
    end
    assert.is_nil(page:find "https?://")
    assert.is_nil(page:find "<script")
    local opened, closed = select(2, page:gsub("<[a-z]+[ >]", "")), select(2, page:gsub("</[a-z]+>", ""))
    local empty = select(2, page:gsub("<rect[^>]*/>", "")) + select(2, page:gsub("<meta[^>]*>", ""))
    assert.is_true(opened - empty == closed)
  end)

  it("shows what is locked of the main account where the profile has its balances", function()
    local fixture = open { USDT = "100" }
    local own = assert(fixture.client.wallet:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" })
    local address = own.address:sub(1, -4) .. "abc"
    assert(fixture.world:save_address { account = fixture.account.uid, coin = "USDT", network = own.network,
      address = address })
    assert(fixture.client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = address, amount = "33.25" })
    local path, profile = temporary(), "PURSER_PROFILE=mexc "
    for part, amount in pairs { [profile] = ">100</text>", [""] = ">%d%d%.%d*</text>" } do
      local output, code = fixture.run("examples/treasury_report.lua " .. path, part)
      assert.equal(0, code, output)
      assert.matches('>main account</text><rect [^>]*class="own"/><text [^>]*' .. amount, read(path))
    end
    os.remove(path)
  end)

  it("shows markup in a text of the service as text", function()
    local fixture = open()
    local name = [[<img src=x onerror=alert(1)>'"&--></style><script>alert(1)</script>]]
    assert(fixture.world:account { name = name, role = "sub", parent = fixture.account.uid, balances = { USDT = "7" } })
    assert(fixture.world:advance(60000)) -- where a new record is not listed at once
    local path = temporary()
    local output, code = fixture.run("examples/treasury_report.lua " .. path)
    assert.equal(0, code, output)
    local page = read(path)
    os.remove(path)
    assert(page:find("&lt;img src=x onerror=alert(1)&gt;", 1, true))
    assert.is_nil(page:find "<img")
    assert.is_nil(page:find "<script")
    assert.equal(1, select(2, page:gsub("</style>", "")))
  end)
end)

describe("payouts.lua", function()
  local function files(text)
    local list, journal = temporary(text), os.tmpname()
    os.remove(journal)
    return list, journal, function()
      os.remove(list)
      for _, suffix in ipairs { "", "-wal", "-shm", ".witness", ".witness-wal", ".witness-shm" } do
        os.remove(journal .. suffix)
      end
      os.execute(("rm -f '%s'.witness-worker-*"):format(journal))
    end
  end

  it("pays each line once, whatever happens to the answers and however often it is started", function()
    local fixture = open()
    sub_account(fixture, "desknorth1", "USDT", "3") -- 1 could be 0.25 rounded: a new journal leaves that to a person
    local list, journal, remove = files("# March\ninvoice-1,desknorth1,USDT,10.5\ninvoice-2,desknorth1,USDT,0.25\n")
    fixture.before_stop = remove
    assert(fixture.world:fault { kind = "lost_answer", operation = "sub_account.transfer", times = 1 })
    local before = fixture.world:counts()["sub_account.transfer"].applied
    for round = 1, 2 do
      local output, code = fixture.run("examples/payouts.lua " .. list .. " " .. journal)
      assert.equal((round == 1 and "2 added, 0 known" or "0 added, 2 known") .. "\n2 done, 0 failed, 0 undecided\n",
        output)
      assert.equal(0, code)
    end
    assert.equal(before + 2, fixture.world:counts()["sub_account.transfer"].applied)
    assert.equal("13.75", free(fixture, "desknorth1", "USDT"))
  end)

  it("says what was rejected, and rejects a key with other content", function()
    local fixture = open()
    sub_account(fixture, "desknorth1", "USDT", "1")
    local list, journal, remove = files "a,desknorth1,USDT,5000\n"
    fixture.before_stop = remove
    local output, code = fixture.run("examples/payouts.lua " .. list .. " " .. journal)
    assert.equal(1, code, output)
    assert.matches("0 done, 1 failed, 0 undecided\nfailed a 5000 USDT to desknorth1: ", output)
    local file = assert(io.open(list, "w"))
    file:write "a,desknorth1,USDT,50\n"
    file:close()
    output, code = fixture.run("examples/payouts.lua " .. list .. " " .. journal)
    assert.equal(2, code)
    assert.matches("other content", output)
  end)
end)
