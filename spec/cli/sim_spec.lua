-- SPDX-License-Identifier: MIT
-- `purser sim`, started for real: it listens, answers over HTTP, misbehaves on demand, keeps its state, and ends.
-- make test: 5 s, waits

local core = require "purser.core"
local eventually = require "eventually"
local files = require "files"
local faults = require "purser.testing.sim.faults"
local purser = require "purser"
local service = require "service"
local socket = require "socket"

local function client_of(world, url, account, options)
  local made = {
    base_url = url, api_key = account.api_key, secret_key = account.secret_key, timeout_ms = 20000,
    clock = function() return world:now() end, rate_limit = false,
  }
  for name, value in pairs(options or {}) do made[name] = value end
  return assert(purser.new(made))
end

describe("purser sim", function()
  local running

  local function start(...)
    running = service.start(...)
    return running, running.world
  end

  after_each(function()
    if running then running.stop() end
    running = nil
  end)

  it("listens on a free port, answers, and ends when it is asked to", function()
    local sim, world = start()
    assert.matches("^purser sim listening on http://127%.0%.0%.1:%d+$", sim.lines[1])
    local account = assert(world:account { name = "Acme", role = "broker", balances = { USDT = "1000.5" } })
    local client = client_of(world, sim.url, account)
    assert.is_true(assert(client:ping()))
    assert.is_true(#assert(client.wallet:coins()) > 0)
    assert(client.broker:create_sub_account { subAccount = "commanddesk1", note = "desk" })
    assert(client.broker:transfer {
      toAccount = "commanddesk1", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "0.5",
    })
    local balances = assert(client.sub_account:balances { subAccount = "commanddesk1", accountType = "SPOT" })
    assert.equal("0.5", balances[1].free)
    assert.is_true(assert(world:verify()))
    assert.equal(1, assert(world:counts())["broker.transfer"].applied)
    assert.equal("wallet.coins", (function()
      for _, request in ipairs(assert(world:requests())) do
        if request.operation == "wallet.coins" then return request.operation end
      end
    end)())
    client:close()
    assert.equal(0, sim.stop())
    local again, message = purser.sim.connect(sim.url)
    assert.is_nil(again)
    assert.matches(sim.url, message, 1, true)
  end)

  for _, signal in ipairs { "INT", "TERM" } do
    it("ends cleanly on SIG" .. signal, function()
      local sim = start()
      sim.signal(signal)
      assert.equal(0, sim.wait())
    end)
  end

  it("ends by itself when nobody asks", function()
    local started = core.monotonic_ms()
    local sim = service.launch { "--port", "0", "--idle-timeout", "1s" }
    sim.pipe:close()
    assert.equal("exit 0", sim.lines[#sim.lines])
    assert.is_true(core.monotonic_ms() - started >= 1000)
  end)

  it("prints the demo account's keys, and they work", function()
    local sim, world = start({ "--demo" }, "secret_key")
    local printed = table.concat(sim.lines, "\n")
    local account = {
      api_key = printed:match("api_key    = (%S+)"), secret_key = printed:match("secret_key = (%S+)"),
    }
    local client = client_of(world, sim.url, account)
    assert.is_true(#assert(client.wallet:convertible_balances()) > 0)
    assert.equal("1250.5", assert(client.wallet:deposit_history { coin = "USDT" })[1].amount)
    assert.is_true(world:verify())
    client:close()
  end)

  it("takes every option of purser.sim.new", function()
    local _, world = start { "--clock", "virtual", "--set", "start_time=1700000000000", "--profile", "mexc", "--set",
      "visibility_delay_ms=60000", "--set", "transfer_wait_ms=1000", "--set", "repeated_ids=reject", "--set",
      "fee=inside", "--set", "max_sub_accounts=1", "--set", "key_days=2", "--set", "record_requests=3", "--set",
      "saved_addresses_only=true", "--variant", "live" }
    assert.equal(1700000000000, world:now())
    local account = assert(world:account { name = "House", balances = { USDT = "100" } })
    local client = client_of(world, world.url, account, { profile = "mexc", generate_ids = false })
    assert(client.sub_account:create_sub_account { subAccount = "onlydesk1", note = "x" })
    local more, err = client.sub_account:create_sub_account { subAccount = "otherdesk", note = "x" }
    assert.is_nil(more)
    assert.matches("At most 1", err.message, 1, true)
    assert.same({}, assert(client.sub_account:list_sub_accounts()))
    local payment = { coin = "USDT", netWork = "TRX", address = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC", amount = "20",
      withdrawOrderId = "a" }
    local _, unsaved = client.wallet:withdraw(payment)
    assert.equal("10212", unsaved.code)
    payment.withdrawOrderId = "b" -- a rejected id would be looked for until the clock shows its record
    assert(world:save_address { account = "House", coin = "USDT", network = "TRX", address = payment.address })
    assert(client.wallet:withdraw(payment))
    local _, repeated = client_of(world, world.url, account, { profile = "mexc" }).wallet:withdraw(payment)
    assert.equal("33333", repeated.code)
    assert.equal("80", assert(client.live:account()).balances[1].free)
    local own = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" }
    assert(client.wallet:transfer(own))
    assert(world:advance(60000))
    assert.equal("SUCCESS", assert(client.wallet:transfer_history {
      fromAccountType = "SPOT", toAccountType = "FUTURES" }).rows[1].status)
    assert.equal(3, #assert(world:requests()))
    assert(world:advance(2 * 86400000))
    local _, ended = client.wallet:coins()
    assert.equal("10072", ended.code)
    client:close()
  end)

  it("keeps its state in a file, and one demo account in it", function()
    local path = os.tmpname()
    os.remove(path)
    local sim, world = start({ "--state", path, "--clock", "virtual", "--seed", "5", "--demo" }, "secret_key")
    local keys = table.concat(sim.lines, "\n", 3)
    local account = assert(world:account { name = "Acme", role = "broker", balances = { USDT = "7.25" } })
    local client = client_of(world, sim.url, account)
    assert(client.sub_account:create_sub_account { subAccount = "statedesk01", note = "x" })
    local later = assert(world:advance(3600000))
    client:close()
    assert.equal(0, sim.stop())

    sim, world = start({ "--state", path, "--demo" }, "secret_key")
    assert.equal(keys, table.concat(sim.lines, "\n", 3))
    assert.equal(2, #assert(world:state()).accounts - 1) -- Acme, its sub-account, and the demo account once
    assert.equal(later, world:now())
    client = client_of(world, sim.url, account)
    assert.equal("statedesk01", assert(client.sub_account:list_sub_accounts {})[1].subAccount)
    assert.is_true(assert(world:verify()))
    client:close()
    sim.stop()
    os.remove(path)
  end)

  it("answers in the form that --variant names, and the client reads the same", function()
    local sim, world = start { "--variant", "live", "--clock", "virtual" }
    local account = assert(world:account { name = "Acme", role = "broker", balances = { USDT = "10" } })
    local client = client_of(world, sim.url, account)
    assert(client.sub_account:create_sub_account { subAccount = "variantdesk1", note = "n" })
    local made = assert(client.sub_account:transfer {
      toAccount = "variantdesk1", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "2.50",
    })
    local record = assert(client.sub_account:transfer_history {
      toAccount = "variantdesk1", fromAccountType = "SPOT", toAccountType = "SPOT",
    })[1]
    assert.equal(made.tranId, record.tranId)
    local rejected = select(2, client.sub_account:create_sub_account { subAccount = "variantdesk1", note = "n" })
    assert.same({ "api", "rejected", "730101", 200 },
      { rejected.kind, rejected.outcome, rejected.code, rejected.http_status })
    client:close()
  end)

  it("says what is wrong with its arguments", function()
    local function rejected(...)
      local ended = service.launch { ... }
      ended.pipe:close()
      return table.concat(ended.lines, "\n")
    end
    assert.matches("live", rejected("--port", "0", "--variant", "liv"), 1, true)
    assert.matches("is not a whole number", rejected("--seed", "x"), 1, true)
    assert.matches('did you mean "fee"', rejected("--port", "0", "--set", "fees=inside"), 1, true)
    for _, port in ipairs { "65536", "x", "1.5" } do
      assert.matches('"' .. port .. '" is no port.*exit 2', rejected("--port", port))
    end
    assert.matches("unknown option '%-%-prot'", rejected("--prot", "1"))
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write("{\"half\":\n") -- a state is a JSON document a line
    file:close()
    assert.matches("is no state of a simulator: line 1 is not the JSON of an object: .* at byte 8\nexit 2",
      rejected("--port", "0", "--state", path))
    -- Found out at the end only, when what had happened was lost.
    local nowhere = path .. "/state.json"
    assert.matches("^purser: %-%-state " .. nowhere:gsub("%p", "%%%0") .. " cannot be written: .*exit 2$",
      rejected("--port", "0", "--idle-timeout", "20s", "--state", nowhere))
    os.remove(path)
    assert.matches("%-%-state %. cannot be read: Is a directory\nexit 2$",
      rejected("--port", "0", "--idle-timeout", "20s", "--state", "."))
  end)

  -- A path that is no text could not be quoted as JSON, and that error ended the simulator.
  it("lives on after requests that are no text", function()
    local sim, world = start { "--demo" }
    local port = tonumber(sim.url:match "(%d+)$")
    local function ask(line, host)
      local connection = assert(socket.connect("127.0.0.1", port))
      connection:send(("%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"):format(line, host or "localhost"))
      local answer = connection:receive "*a"
      connection:close()
      return answer
    end
    for _, target in ipairs { "/sim/\255", "/console/\255", "/api/v3/\255" } do
      assert.matches("^HTTP/1.1 4%d%d ", ask("GET " .. target))
    end
    assert.matches("^HTTP/1.1 4%d%d ", ask("G\255T /sim/state"))
    assert.matches("^HTTP/1.1 %d%d%d ", ask("G\255T /api/v3/time"))
    for _, target in ipairs { "/api/v3/time?\255=1", "/console/data", "/sim/requests" } do
      assert.matches("^HTTP/1.1 200 ", ask("GET " .. target))
    end
    assert.is_true(assert(world:verify()))
    assert.equal(0, sim.stop())
  end)

  it("answers the service's paths under its own name alone, unless it is asked otherwise", function()
    local function status_of(sim, host)
      local connection = assert(socket.connect("127.0.0.1", tonumber(sim.url:match "(%d+)$")))
      connection:send(("GET /api/v3/time HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"):format(host))
      local answer = connection:receive "*a"
      connection:close()
      return answer:match "^HTTP/1.1 (%d+)"
    end
    local sim = start()
    assert.equal("200", status_of(sim, "localhost:" .. sim.url:match "(%d+)$"))
    for _, host in ipairs { "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "" } do
      assert.equal("403", status_of(sim, host))
    end
    sim.stop()
    assert.equal("200", status_of(start { "--any-host" }, "sim.example:8080"))
  end)

  -- It wrote `FILE.new` whatever that was, and through a link.
  it("keeps its state without touching another file, and the state is private", function()
    local folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir " .. folder))
    files.write(folder .. "/books.new", "precious")
    files.write(folder .. "/diary", "my diary")
    assert(os.execute(("ln -s diary %s/linked.new"):format(folder)))
    for _, name in ipairs { "books", "linked" } do
      start({ "--state", folder .. "/" .. name }).stop()
      assert.equal(384, (core.file_mode(folder .. "/" .. name))) -- octal 600: it holds secret keys
    end
    assert.equal("precious", files.read(folder .. "/books.new"))
    assert.equal("my diary", files.read(folder .. "/diary"))
    local names = assert(io.popen("ls " .. folder)):read "*a"
    os.execute("rm -r " .. folder)
    assert.equal("books\nbooks.new\ndiary\nlinked\nlinked.new\n", names)
  end)

  it("says when the port is taken", function()
    local sim = start()
    local second = service.launch { "--port", sim.url:match("(%d+)$") }
    second.pipe:close()
    assert.matches("exit 1", second.lines[#second.lines], 1, true)
    assert.matches("^purser: .*give another %-%-port", second.lines[1])
    local open = service.launch { "--port", "0", "--host", "0.0.0.0" }
    open.pipe:close()
    assert.matches("give --host 127.0.0.1", open.lines[1], 1, true)
    assert.equal("exit 1", open.lines[2])
  end)

  it("prints an address that works with IPv6, too", function()
    local came, sim, world = pcall(start, { "--host", "::1" })
    if not came then return assert.matches("cannot listen", sim) end -- a machine without IPv6
    assert.matches("^http://%[::1%]:%d+$", sim.url)
    local account = assert(world:account { role = "main", balances = { USDT = "1" } })
    local client = client_of(world, sim.url, account)
    assert(client.wallet:coins())
    client:close()
  end)

  it("can keep its own door shut", function()
    local ended = service.launch({ "--port", "0", "--no-control", "--idle-timeout", "20s" }, "listening on")
    local url = ended.lines[1]:match("http://%S+")
    local world, message = purser.sim.connect(url)
    os.execute("kill -TERM " .. ended.pid)
    for _ in ended.pipe:lines() do end
    ended.pipe:close()
    assert.is_nil(world)
    assert.matches("HTTP 4", message)
  end)
end)

describe("a world over HTTP", function()
  it("has every method of the in-process simulator that tests use, with the same effect", function()
    local running = service.start { "--clock", "virtual", "--seed", "9" }
    local inside = purser.sim.new { clock = "virtual", seed = 9 }
    local function story(world, transport)
      local seen = {}
      local function note(...) seen[#seen + 1] = { ... } end
      local acme = assert(world:account { name = "Acme", role = "broker", balances = { USDT = "100" } })
      note(acme)
      note(world:deposit { account = acme.uid, coin = "USDT", network = "Tron(TRC20)", amount = "5.5" })
      note(world:rebate { account = acme.uid, asset = "USDT", amount = "3.1415", uid = acme.uid })
      note(world:save_address { account = acme.uid, coin = "USDT", network = "Tron(TRC20)", address = "nonsense" })
      note(world:freeze(acme.uid), world:freeze(acme.uid, false))
      local before = world:now()
      assert(world:advance(7200000) or true)
      note(world:now() - before)
      local client = client_of(world, running.url, acme, { transport = transport })
      note(client.wallet:deposit_history {})
      local drawn = assert(client.wallet:withdraw {
        coin = "USDT", netWork = "TRX", amount = "20", withdrawOrderId = "drawn",
        address = assert(client.wallet:create_deposit_address { coin = "USDT", network = "Tron(TRC20)" }).address,
      })
      note(assert(world:set_withdrawal(drawn.id, "FAILED")).status)
      note(world:set_withdrawal("0", 8))
      note(world:fail_transfer "0")
      assert(world:fault { kind = "throttle", operation = "wallet.coins", probability = 0.25 })
      note(world:armed_faults())
      client.wallet:coins()
      assert(world:disarm() or true)
      note(world:armed_faults(), #world:faults())
      note(world:counts(), world:verify())
      note(world:state().accounts)
      client:close()
      return seen
    end
    local near = story(inside, inside:transport())
    local far = story(running.world)
    running.stop()
    assert.same(near, far)
  end)
end)

describe("a fault over HTTP", function()
  local sim, world, account, client

  setup(function()
    sim = service.start { "--clock", "virtual" }
    world = sim.world
    account = assert(world:account { name = "Acme", role = "broker", balances = { USDT = "1000" } })
    client = client_of(world, sim.url, account)
    assert(client.sub_account:create_sub_account { subAccount = "faultdesk001", note = "n" })
  end)

  teardown(function()
    client:close()
    sim.stop()
  end)

  -- Transfers one unit while the fault is armed: result, error, and whether the service applied it.
  local function meet(spec)
    spec.operation = "sub_account.transfer"
    assert(world:fault(spec))
    local before = assert(world:counts())["sub_account.transfer"]
    local result, err = client.sub_account:transfer({
      toAccount = "faultdesk001", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "1",
    }, spec.delay_ms and { timeout_ms = 2000 })
    local after = assert(world:counts())["sub_account.transfer"]
    local injected = assert(world:faults())
    local record = injected[#injected]
    assert.equal(spec.kind, record.kind)
    assert.equal(after.applied - (before and before.applied or 0), record.applied and 1 or 0)
    assert(world:disarm())
    return result, err, record.applied
  end

  -- Judgement that the client must come to: kind and outcome, and whether it was applied in truth.
  local expectations = {
    { { kind = "reject", code = 10101 }, "api", "rejected", false },
    { { kind = "lost_answer" }, "transport", "unknown", true },
    { { kind = "reset", when = "before" }, "transport", "unknown", false },
    { { kind = "reset", when = "after" }, "transport", "unknown", true },
    { { kind = "truncate" }, "transport", "unknown", true },
    { { kind = "slow", delay_ms = 600000 }, "transport", "unknown", true },
    { { kind = "throttle" }, "throttled", "rejected", false },
    { { kind = "ban", retry_after = 5 }, "throttled", "rejected", false },
    { { kind = "server_error", status = 500, when = "after" }, "api", "unknown", true },
    { { kind = "server_error", status = 502, when = "before" }, "http", "unknown", false },
    { { kind = "garbage", form = "html" }, "throttled", "unknown", false },
    { { kind = "garbage", form = "html", when = "after" }, "throttled", "unknown", true },
    { { kind = "garbage", form = "empty" }, "decode", "unknown", true },
    { { kind = "garbage", form = "invalid_utf8" }, "decode", "unknown", true },
    { { kind = "garbage", form = "deep" }, "decode", "unknown", true },
    { { kind = "garbage", form = "huge" }, "decode", "unknown", true },
    { { kind = "garbage", form = "wrong_types" }, "decode", "unknown", true },
  }

  for _, expectation in ipairs(expectations) do
    local spec, kind, outcome, truth = expectation[1], expectation[2], expectation[3], expectation[4]
    it(("%s %s"):format(spec.kind, table.concat({ spec.form or spec.status or "", spec.when }, " ")), function()
      local result, err, applied = meet(spec)
      assert.is_nil(result)
      assert.same({ kind, outcome, truth }, { err.kind, err.outcome, applied }, tostring(err))
      if spec.retry_after then assert.equal(spec.retry_after, err.retry_after) end
    end)
  end

  it("slow in drops is only slow", function()
    local result, err, applied = meet { kind = "slow", drip_ms = 5, drip_bytes = 4 }
    assert.is_table(result, tostring(err))
    assert.is_true(applied)
  end)

  it("slow by an hour is over when the clock is an hour on", function()
    assert(world:fault { kind = "slow", delay_ms = 3600000, operation = "sub_account.transfer" })
    local function received() return assert(world:counts())["sub_account.transfer"].received end
    local before, result, err = received(), nil, nil
    local own = client_of(world, sim.url, account, { transport = assert(purser.transport.multi()) })
    purser.run(function()
      local task = purser.spawn(function()
        result, err = own.sub_account:transfer {
          toAccount = "faultdesk001", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "1" }
      end)
      eventually(function() return received() > before end, purser.sleep)
      assert.is_nil(result)
      assert(world:advance(3600000))
      purser.join(task)
    end)
    own:close()
    assert.is_table(result, tostring(err))
  end)

  it("long numbers stay exact", function()
    local result = assert(meet { kind = "garbage", form = "long_numbers" })
    assert.equal(("1234567890"):rep(4), result.tranId)
  end)

  it("by chance, and none of it costs a unit", function()
    for _, kind in ipairs { "reset", "server_error", "lost_answer" } do
      assert(world:fault { kind = kind, probability = 0.2, operation = "transfer" })
    end
    local seen = #assert(world:faults())
    for _ = 1, 40 do
      client.sub_account:transfer {
        toAccount = "faultdesk001", fromAccountType = "SPOT", toAccountType = "SPOT", asset = "USDT", amount = "0.01",
      }
    end
    assert(world:disarm())
    assert.is_true(#assert(world:faults()) > seen + 5)
    assert.is_true(assert(world:verify()))
    local applied = 0
    for _, count in pairs(assert(world:counts())) do applied = applied + count.applied end
    assert.is_true(applied > 0)
  end)

  it("that does not exist is rejected by name", function()
    local ok, message = world:fault { kind = "reject", operation = "wallet.withdrw" }
    assert.is_nil(ok)
    assert.matches("did you mean \"wallet.withdraw\"?", message, 1, true)
  end)

  it("a request that a gateway repeats is executed twice, and the second answer is handed on", function()
    local result, err, applied = meet { kind = "repeat" }
    assert.same({ true, true }, { result ~= nil and err == nil, applied })
  end)

  it("every kind is met above", function()
    local met = { ["repeat"] = true }
    for _, expectation in ipairs(expectations) do met[expectation[1].kind] = true end
    for _, kind in ipairs(faults.kinds) do assert.is_true(met[kind], kind) end
  end)
end)
