-- SPDX-License-Identifier: MIT
-- The programs in examples/ run against the simulator, and their output is what the world they found demands.
-- make test: 3 s

local new_client = require("simulated_time").new
local start = require("service").start

local read, temporary = require("files").read, require("files").temporary

local DAY = 86400000
local SPOT = "SPOT"

-- A service whose clock stands still, a broker's account in it, and what runs an example with its key.
local function open(balances)
  local service = start { "--clock", "virtual" }
  local world = service.world
  local account = assert(world:account {
    name = "Acme", role = "broker", email = "treasury@acme.example", balances = balances or { USDT = "1000" },
  })
  local fixture = { service = service, world = world, account = account }
  fixture.client = assert(new_client {
    base_url = service.url, api_key = account.api_key, secret_key = account.secret_key,
  })

  --- Runs an example with this account's key, and further variables. Returns what it printed (errors too) and its exit
  --- code.
  function fixture.run(arguments, variables)
    local words = { variables or "", "LUA_INIT=@spec/support/simulated_time.lua PURSER_BASE_URL=", service.url,
      " PURSER_API_KEY=", account.api_key, " PURSER_SECRET_KEY=", account.secret_key, " ",
      os.getenv "LUA" or "lua5.4", " ", arguments, " 2>&1; echo exit $?" }
    local pipe = assert(io.popen(table.concat(words)))
    local output = pipe:read "*a"
    pipe:close()
    local text, code = output:match "^(.-)exit (%d+)\n$"
    return text, tonumber(code)
  end

  finally(function()
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

describe("sweep.lua", function()
  local SWEEP = "examples/sweep.lua june %s"

  -- Runs the example with a journal of its own, as often as there are words.
  local function sweep(fixture, ...)
    local journal, output, code = os.tmpname(), nil, nil
    os.remove(journal)
    for _, words in ipairs { ... } do output, code = fixture.run(SWEEP:format(journal) .. words) end
    return output, code
  end

  it("shows what it would move, and moves nothing without --yes", function()
    local fixture = open()
    sub_account(fixture, "desknorth1", "USDT", "100.25")
    sub_account(fixture, "desksouth1", "USDT", "7.5")
    local before = fixture.world:counts()["sub_account.transfer"].applied
    local output, code = sweep(fixture, "")
    assert.same({ "desknorth1 -> parent  100.25 USDT\ndesksouth1 -> parent  7.5 USDT\ntotal 107.75 USDT\n"
      .. "2 transfers to the parent; --yes makes them\n", 0 }, { output, code })
    output, code = fixture.run "examples/sweep.lua --help"
    assert.equal(2, code)
    assert.matches("^usage: sweep.lua", output)
    assert.equal(before, fixture.world:counts()["sub_account.transfer"].applied)
  end)

  it("leaves what it is asked to leave, and other assets alone", function()
    local fixture = open { USDT = "1000", BTC = "1" }
    sub_account(fixture, "desknorth1", "USDT", "100.25")
    sub_account(fixture, "desksouth1", "BTC", "0.125")
    local output, code = sweep(fixture, " USDT 10 --yes")
    assert.equal(0, code, output)
    assert.matches("total 90%.25 USDT\n1 made", output)
    assert.same({ "10", "0.125" }, { free(fixture, "desknorth1", "USDT"), free(fixture, "desksouth1", "BTC") })
    output, code = sweep(fixture, " USDT 5 --yes") -- a name again, with a journal that does not know it
    assert.equal(4, code, output)
    assert.equal("10", free(fixture, "desknorth1", "USDT"))
    assert(fixture.world:verify())
  end)

  it("moves once when the answer is lost, and when it is run again", function()
    local fixture = open()
    sub_account(fixture, "desknorth1", "USDT", "100.25")
    assert(fixture.world:fault { kind = "lost_answer", operation = "sub_account.transfer", times = 1 })
    local before = fixture.world:counts()["sub_account.transfer"].applied
    local output, code = sweep(fixture, " --yes", " --yes")
    assert.same({ "nothing to move\n", 0 }, { output, code })
    assert.equal(before + 1, fixture.world:counts()["sub_account.transfer"].applied)
  end)

  it("moves the rest where one is rejected, and says so", function()
    local fixture = open()
    sub_account(fixture, "desknorth1", "USDT", "100.25")
    sub_account(fixture, "desksouth1", "USDT", "7")
    assert(fixture.world:fault { kind = "reject", operation = "sub_account.transfer", times = 1 })
    local output, code = sweep(fixture, " --yes")
    assert.equal(1, code, output)
    assert.matches("1 made, 1 failed", output)
    output, code = sweep(fixture, " --yes")
    assert.equal(0, code, output)
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
  local address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"
  assert(world:save_address { account = fixture.account.uid, coin = "USDT", network = own.network, address = address })
  assert(client.wallet:withdraw {
    coin = "USDT", netWork = "TRX", address = address, amount = "33.25", withdrawOrderId = "=1+1",
  })
  assert(world:advance(DAY))
  return first
end

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
    for _, requested in ipairs { "<figcaption>USDT</figcaption>", ">desknorth1</text>",
      ">100.25</text>", ">main account</text>", " in</text>", ">33.25</text>", "<svg viewBox=" } do
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
    local address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"
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

  -- Returns the bars of an asset's chart as { [label] = { width, amount } }.
  local function bars_of(page, asset)
    local svg, bars = page:match("<figcaption>" .. asset .. "</figcaption>(<svg.-</svg>)"), {}
    for text, width, amount in (svg or ""):gmatch(
      '>([^<]*)</text><rect [^>]*width="([%d.]+)"[^>]*/><text[^>]*>([^<]*)<') do
      bars[text] = { tonumber(width), amount }
    end
    return bars
  end

  it("draws an asset on one scale, and leaves out neither MX nor the main account", function()
    local fixture = open { USDT = "1000", MX = "250" }
    sub_account(fixture, "desknorth1", "USDT", "100.25")
    sub_account(fixture, "desksouth1", "MX", "50")
    three_months(fixture)
    local path = temporary()
    local output, code = fixture.run("examples/treasury_report.lua " .. path, "PURSER_PROFILE=mexc ")
    assert.equal(0, code, output)
    local page = read(path)
    local usdt, mx = bars_of(page, "USDT"), bars_of(page, "MX")
    assert.same({ { 185, "200" }, { 46.25, "50" } }, { mx["main account"], mx.desksouth1 })
    assert.is_nil(page:find("shows what can be converted alone", 1, true))
    local unit = usdt["main account"][1] / tonumber(usdt["main account"][2])
    for text, bar in pairs(usdt) do
      assert.is_true(math.abs(bar[1] - math.max(1, unit * tonumber(bar[2]))) < 0.1, text)
    end
    output, code = fixture.run("examples/treasury_report.lua " .. path)
    assert.equal(0, code, output)
    page = read(path)
    assert.truthy(page:find("no MX, and nothing that is locked", 1, true)) -- no operation of the document shows it
    assert.equal("50", bars_of(page, "MX").desksouth1[2])
    assert.same({ 0, "not shown" }, bars_of(page, "MX")["main account"])
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

