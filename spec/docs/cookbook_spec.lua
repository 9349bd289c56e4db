-- SPDX-License-Identifier: MIT
-- The programs of docs/cookbook.md, each run as a program against a simulator that loses answers, rejects and breaks.
-- make test: 8 s, on lua5.4 and luajit

package.path = "tools/?.lua;" .. package.path

local files = require "files"
local furnish = require("docs.run").furnish
local start = require("service").start

local MAX_LINES = 45

-- Read by each program before its own lines: it waits for no real time, and the simulator's clock goes along.
local SKIPS = [[
local skipped_time = require "skipped_time"
require("purser.core").sleep_ms = skipped_time.sleep
local control = require "purser.testing.sim.control"
skipped_time.services[{ world = assert(control.connect(os.getenv "PURSER_BASE_URL")) }] = true
]]

-- A service with a broker's account, and what runs a program with the key of it.
local function open()
  local service = start()
  local directory = os.tmpname()
  os.remove(directory)
  assert(os.execute("mkdir " .. directory))
  finally(function()
    service.stop()
    os.execute("rm -rf " .. directory)
  end)
  local fixture = furnish(service)
  fixture.world, fixture.directory = service.world, directory

  function fixture.command(arguments)
    return ("LUA_PATH=\"spec/support/?.lua;$LUA_PATH\" PURSER_BASE_URL=%s PURSER_PROFILE=%s PURSER_API_KEY=%s "
      .. "PURSER_SECRET_KEY=%s exec %s -e '%s' examples/cookbook/%s"):format(service.url, fixture.profile or "default",
      fixture.main.api_key, fixture.main.secret_key, os.getenv "LUA" or "lua5.4", SKIPS,
      (arguments:gsub("@", directory .. "/")))
  end

  function fixture.run(arguments)
    service.show_records()
    local pipe = assert(io.popen(("(%s) 2>&1; echo exit $?"):format(fixture.command(arguments))))
    local text, code = pipe:read("*a"):match "^(.-)exit (%d+)\n$"
    pipe:close()
    return text, tonumber(code)
  end

  function fixture.applied(operation)
    local counts = fixture.world:counts()[operation]
    return counts and counts.applied or 0
  end
  return fixture
end

local function count(text, pattern) return select(2, text:gsub(pattern, "")) end

describe("the cookbook", function()
  it("has seven programs of less than 45 lines, each named on its page", function()
    local pipe, page, programs = assert(io.popen "ls examples/cookbook/*.lua"), files.read "docs/cookbook.md", 0
    for path in pipe:lines() do
      programs = programs + 1
      local text = files.read(path)
      assert(count(text, "\n") < MAX_LINES, path)
      assert(page:find("](../" .. path .. ")", 1, true), path .. " is not on the page")
    end
    pipe:close()
    assert.equal(7, programs)
  end)

  it("report: every balance, deposit and withdrawal, though reads fail on the way", function()
    local fixture = open()
    assert(fixture.client.wallet:withdraw {
      coin = "USDT", netWork = "TRX", address = fixture.saved_address, amount = "15",
    })
    assert(fixture.world:fault { kind = "server_error", when = "before", operation = "wallet.deposit_history" })
    assert(fixture.world:fault { kind = "truncate", operation = "sub_account.balances" })
    local text, code = fixture.run "report.lua"
    assert.equal(0, code, text)
    assert.matches("^kind,time,account,coin,amount,status\n", text)
    assert.matches("\nfree,%d+%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d%d%dZ,tradingdesk1,USDT,500,\n", text)
    assert.matches("\ndeposit,[^,]+,main,USDT[-TRX]*,1250.50*,%u[%u_]+\n", text)
    assert.matches("\nwithdrawal,[^,]+,main,USDT[-TRX]*,15[.0]*,%u[%u_]+\n", text)
    fixture.profile = "mexc"
    text, code = fixture.run "report.lua"
    assert.equal(0, code, text)
    assert.matches("\nfree,[^,]+,main,USDT,[%d.]+,\nlocked,[^,]+,main,USDT,1[56],\n", text)
  end)

  it("report: no output where something cannot be read", function()
    local fixture = open()
    assert(fixture.world:fault { kind = "reject", operation = "wallet.withdrawal_history" })
    local text, code = fixture.run "report.lua"
    assert.equal(1, code)
    assert.equal(0, count(text, "kind,time"))
  end)

  it("payouts: each payment once, though answers are lost and the program is killed in the middle", function()
    local fixture = open()
    local lines, PAYMENTS, SENT = {}, 12, 5
    for i = 1, PAYMENTS do lines[i] = ("invoice-%d,tradingdesk1,USDT,1.%d\n"):format(i, i) end
    files.write(fixture.directory .. "/list", table.concat(lines))
    local before = fixture.applied "sub_account.transfer" + fixture.applied "broker.transfer"
    assert(fixture.world:fault { kind = "lost_answer", operation = "sub_account.transfer", times = 2 })
    assert(fixture.world:fault {
      kind = "throttle", operation = "sub_account.transfer", skip = SENT - 2, probability = 1,
    })
    local pipe = assert(io.popen("echo $$; " .. fixture.command "payouts.lua @list @journal" .. " 2>&1"))
    local pid = assert(tonumber(pipe:read "*l"))
    local function sent() return fixture.applied "sub_account.transfer" + fixture.applied "broker.transfer" - before end
    repeat -- no more get through, so the program cannot end
      local alive = os.execute("kill -0 " .. pid .. " 2>/dev/null")
      assert(alive == true or alive == 0, "the program ended by itself")
    until sent() >= SENT
    os.execute("kill -KILL " .. pid)
    pipe:close()
    assert(fixture.world:disarm())
    assert.equal(SENT, sent())

    local text, code = fixture.run "payouts.lua @list @journal"
    assert.same({ "12 done, 0 failed, 0 undecided\n", 0 }, { text, code })
    assert.equal(PAYMENTS, sent())
    assert(fixture.world:verify())
  end)

  it("onboarding: 20 accounts with one key each, though answers are lost, and nothing the second time", function()
    local fixture = open()
    local names, ACCOUNTS = {}, 20
    for i = 1, ACCOUNTS do names[i] = ("onboarded%02d\n"):format(i) end
    files.write(fixture.directory .. "/names", table.concat(names))
    assert(fixture.world:fault { kind = "lost_answer", operation = "sub_account.create_sub_account", skip = 3 })
    assert(fixture.world:fault { kind = "lost_answer", operation = "sub_account.create_api_key", skip = 7 })
    local text, code = fixture.run "onboarding.lua @names @secrets"
    assert.equal(0, code, text)
    text, code = fixture.run "onboarding.lua @names @secrets"
    assert.same({ "", 0 }, { text, code })
    local held = files.read(fixture.directory .. "/secrets")
    assert.equal(ACCOUNTS, count(held, "\n"))
    for i = 1, ACCOUNTS do
      local name = ("onboarded%02d"):format(i)
      local keys = assert(fixture.client.sub_account:list_api_keys { subAccount = name })
      assert.equal(1, #keys)
      assert(held:find(keys[1].apiKey .. "\t[^\t]+\t" .. name), name)
    end
    assert(os.execute("chmod 644 " .. fixture.directory .. "/secrets"))
    text, code = fixture.run "onboarding.lua @names @secrets"
    assert.equal(1, code)
    assert.matches("can be used by others.*chmod 600", text)
  end)

  it("deposits: each in the database once, across restarts and failing reads", function()
    local fixture = open()
    local own = assert(fixture.client.wallet:deposit_addresses { coin = "USDT" })[1]
    files.write(fixture.directory .. "/customers", "customer,address\nalice," .. own.address .. "\n")
    local text, code = fixture.run "deposits.lua @deposits.db @money.db begin @customers"
    assert.equal(0, code, text)
    local credited = 0
    local function round(amount)
      assert(fixture.world:deposit { address = own.address, coin = "USDT", network = own.network, amount = amount })
      assert(fixture.world:advance(3600000))
      assert(fixture.world:fault { kind = "server_error", when = "before", operation = "wallet.deposit_history" })
      text, code = fixture.run "deposits.lua @deposits.db @money.db run 1"
      assert.equal(0, code, text)
      credited = credited + count(text, "\n")
    end
    round "3.5"
    assert.equal(2, credited) -- one was pending at the begin
    round "4.25"
    round "5.75"
    assert.equal(4, credited)
    local db = assert(require("DBI").Connect("SQLite3", fixture.directory .. "/money.db"))
    local statement = assert(db:prepare "SELECT customer || ' ' || amount FROM money ORDER BY amount")
    assert(statement:execute())
    local rows = {}
    for row in statement:rows() do rows[#rows + 1] = row[1] end
    db:close()
    assert.same({ "alice 1250.5", "alice 3.5", "alice 4.25", "alice 5.75" }, rows)
  end)

  it("books: a page that says what could not be read, and the same page in a second run", function()
    local fixture = open()
    local command = "books.lua @books.db 2023-01-01 2030-01-01"
    assert(fixture.world:fault { kind = "reject", code = "700007", operation = "wallet.withdrawal_history" })
    local page, code = fixture.run(command)
    assert.equal(0, code, page)
    assert.matches("Main: withdrawal was not read", page)
    assert.matches("<li>Main, withdrawal, from [%d-]+ to now: The key lacks the permission.<", page)
    page = fixture.run(command)
    assert.falsy(page:find("Main, withdrawal", 1, true))
    local again = fixture.run(command)
    assert.equal(page, again)
  end)

  it("withdraw: one withdrawal of an order, though its answer is lost and the program is started again", function()
    local fixture = open()
    local command = "withdraw.lua @journal order-1 USDT trc20 " .. fixture.saved_address .. " 20 0"
    assert(fixture.world:fault { kind = "lost_answer", operation = "wallet.withdraw" })
    local text, code = fixture.run(command)
    local id = text:match "\nwithdrawal (%x+)\n"
    assert(id, text)
    assert.equal(1, code) -- it may wait for no second
    assert.matches("no problem found", text)
    assert(fixture.world:advance(3600000))
    text, code = fixture.run(command:gsub(" 0$", " 60"))
    assert.equal(0, code, text)
    assert.matches("^withdrawal " .. id .. "\n%x+[:%d]*\n$", text)
    assert.equal(1, fixture.applied "wallet.withdraw")
    text, code = fixture.run("withdraw.lua @journal order-2 USDT trc20 " .. fixture.saved_address .. " 0.0000001")
    assert.equal(1, code)
    assert.matches("is below the minimum", text)
    assert.equal(1, fixture.applied "wallet.withdraw")
  end)

  it("dust: converts nothing without --yes, and shows what it would convert", function()
    local fixture = open()
    local text, code = fixture.run "dust.lua MX"
    assert.equal(0, code, text)
    assert.matches("\n%-%-yes converts what is shown\n", "\n" .. text)
    assert.equal(0, fixture.applied "wallet.convert")
  end)

  it("prints the usage of each program that needs arguments", function()
    local fixture = open()
    for _, name in ipairs { "books", "deposits", "onboarding", "payouts", "withdraw" } do
      local text, code = fixture.run(name .. ".lua")
      assert.equal(2, code, text)
      assert.matches("^usage: " .. name .. "%.lua %u", text)
      assert.truthy(files.read "docs/cookbook.md":find(text:match "^usage: ([^\n]+)", 1, true), text)
    end
  end)

  it("dust: converts once though the answer is lost, and adds up rebates exactly", function()
    local fixture = open()
    for _, amount in ipairs { "0.1", "0.2", "0.00000001" } do
      assert(fixture.world:rebate { account = fixture.main.uid, asset = "USDT", amount = amount, uid = "20000001" })
    end
    assert(fixture.world:fault { kind = "lost_answer", operation = "wallet.convert" })
    local text, code = fixture.run "dust.lua MX --yes"
    assert.equal(0, code, text)
    assert.matches("an answer was lost\tdone\n", text)
    assert.matches("rebates\tUSDT\t0.30000001\n", text)
    assert.equal(1, fixture.applied "wallet.convert")
  end)
end)
