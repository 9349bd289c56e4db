-- SPDX-License-Identifier: MIT
-- What is loaded when: nothing behind a write call that reconciling needs, and nothing at all after
-- purser.preload. Each check is a process of its own.

local lua = os.getenv "LUA" or "lua5.4"

local function run(script)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(script)
  file:close()
  local pipe = assert(io.popen(("%s %s 2>&1"):format(lua, path)))
  local text = pipe:read "*a"
  pipe:close()
  os.remove(path)
  return text
end

-- `close_files()` leaves a Lua that can open no file and find no module. The simulator stands for the service; with
-- `lose` set its answer to a write is lost, executed or not.
local PRELUDE = [[
  local purser = require "purser"
  local function close_files()
    for i = #(package.searchers or package.loaders), 2, -1 do (package.searchers or package.loaders)[i] = nil end
    io.open, io.lines, io.popen, loadfile, dofile = nil, nil, nil, nil, nil
    package.searchpath, package.loadlib = nil, nil
    require("purser.core").library = nil
  end
  local sim, account, client, lose
  local function start()
    sim = purser.sim.new { seed = 11 }
    account = assert(sim:account { name = "Acme", role = "broker", email = "acme@mail.example",
      balances = { USDT = "1000", DOGE = "20", ADA = "3" } })
    local sub = assert(sim:account { name = "tradingdesk1", role = "sub", parent = account.uid })
    assert(sub)
    local service = sim:transport()
    local transport = { sleep = function(_, ms) return service:sleep(ms) end, send = function(_, request)
      local how = request.method ~= "GET" and lose
      if not how then return service:send(request) end
      close_files()
      lose = nil
      if how == "executed" then service:send(request) end
      return nil, { kind = "transport", outcome = "unknown", phase = "receive", sends = 1, message = "lost" }
    end }
    client = assert(purser.new { base_url = "http://localhost", api_key = account.api_key,
      secret_key = account.secret_key, transport = transport, clock = function() return sim:now() end,
      rate_limit = false })
  end
]]

local calls = {
  { "wallet.withdraw", [[{ coin = "USDT", netWork = "TRX", address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm",
    amount = "20" }]] },
  { "wallet.transfer", [[{ fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "2" }]] },
  { "wallet.convert", [[{ asset = { "DOGE", "ADA" } }]] },
  { "wallet.create_deposit_address", [[{ coin = "USDT", network = "Tron(TRC20)" }]] },
  { "broker.create_api_key", [[{ subAccount = "tradingdesk1", note = "bot", permissions = "SPOT_DEAL_READ" }]] },
  { "sub_account.transfer", [[{ toAccount = "tradingdesk1", fromAccountType = "SPOT", toAccountType = "SPOT",
    asset = "USDT", amount = "7.5" }]] },
}

describe("before the first write call is sent", function()
  for _, call in ipairs(calls) do
    for how, outcome in pairs { executed = "done", ["not executed"] = "not_done" } do
      it(("all is loaded that reconciles a lost %s that was %s"):format(call[1], how), function()
        assert.equal(outcome .. "\n", run(PRELUDE .. ([[
          start()
          lose = %q
          local group, name = ("%s"):match "(.*)%%.(.*)"
          local _, err = client[group][name](client[group], %s)
          assert(not lose and err.outcome == "unknown", tostring(err))
          print(assert(client:reconcile(err)).outcome)
        ]]):format(how, call[1], call[2])))
      end)
    end
  end

  it("all is loaded for a lookup that fails, waits for the rate limit and sets the clock right", function()
    assert.equal("done\t0\n", run(PRELUDE .. [[
      start()
      local service, lost, waits = sim:transport(), false, 0
      local rejections = { { status = 502, body = "<html>", headers = "" },
        { status = 400, body = '{"code":700003,"msg":"outside of the window"}', headers = "" } }
      local transport = { sleep = function(_, ms) return service:sleep(ms) end, send = function(_, request)
        if request.method ~= "GET" then
          close_files()
          service:send(request)
          lost = true
          return nil, { kind = "transport", outcome = "unknown", phase = "receive", sends = 1, message = "lost" }
        end
        if lost and request.target:find "signature" and rejections[1] then return table.remove(rejections, 1) end
        return service:send(request)
      end }
      client = assert(purser.new { base_url = "http://localhost", api_key = account.api_key,
        secret_key = account.secret_key, transport = transport, clock = function() return sim:now() end,
        rate_limit = { pools = { ip = { capacity = 1, window_ms = 1000 } }, now = function() return sim:now() end },
        hooks = { wait = function() waits = waits + 1 end } })
      local _, err = client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20",
        address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm" }
      local answer = assert(client:reconcile(err))
      assert(waits > 0)
      print(answer.outcome, #rejections)
    ]]))
  end)
end)

describe("a write call", function()
  it("ends with an error where no file can be opened any more, before it is sent or prepared", function()
    local problem = "config\tnot_sent\tmodule 'purser.write.reconcile.modules' not found\n"
    assert.equal(problem .. problem .. "0\n", run(PRELUDE .. [[
      start()
      assert(client.wallet:coins())
      close_files()
      local withdrawal = { coin = "USDT", netWork = "TRX", amount = "20",
        address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm" }
      for _, call in ipairs {
        function() return client.wallet:withdraw(withdrawal) end,
        function() return client:prepare("wallet.withdraw", withdrawal) end,
      } do
        local value, err = call()
        assert(value == nil)
        print(err.kind, err.outcome, err.message:match "cannot be loaded: (.*)")
      end
      print(sim:counts()["wallet.withdraw"] and sim:counts()["wallet.withdraw"].received or 0)
    ]]))
  end)

  it("is prepared with all that reconciles it, for the caller sends it", function()
    assert.equal("unknown\tdone\n", run(PRELUDE .. [[
      start()
      local info = {}
      local request = assert(client:prepare("wallet.withdraw", { coin = "USDT", netWork = "TRX", amount = "20",
        address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm" }, { info = info }))
      assert(sim:transport():send { method = request.method, target = request.url:match "localhost(/.*)",
        headers = request.headers, body = request.body })
      close_files()
      local value, err = client:parse("wallet.withdraw", 502, "<html>", {}, info)
      assert(value == nil)
      print(err.outcome, assert(client:reconcile(err)).outcome)
    ]]))
  end)
end)

describe("a read call", function()
  -- The client's first call ends as `answer` says, after which no file can be opened; `reader` is loaded before.
  local function first_call(answer, report, reader)
    return run(PRELUDE .. ([[
      if %s then require "purser.call.failure" end
      package.loaded["purser.codes"] = nil
      local count = 0
      local client = assert(purser.new { base_url = "http://localhost", api_key = "k", secret_key = "s", retry = false,
        transport = { sleep = function() end, send = function()
          count = count + 1
          close_files()
          return %s
        end } })
      local value, err = client.wallet:deposit_history()
      assert(value == nil)
      %s
    ]]):format(tostring(reader or false), answer, report))
  end

  it("that was not sent reports that where nothing can be loaded any more", function()
    assert.equal("not_sent\tno descriptor left\tnot_sent\t2\n", first_call(
      [[nil, { kind = "transport", outcome = "not_sent", message = "no descriptor left" }]],
      [[local _, second = client.wallet:coins() print(err.outcome, err.message, second.outcome, count)]]))
  end)

  it("that is rejected by a pause reports that, and keeps it", function()
    assert.equal("throttled\trejected\tnot_sent\t1\n", first_call(
      [[{ status = 429, body = "", headers = { ["retry-after"] = "5" } }]],
      [[local _, second = client.wallet:coins() print(err.kind, err.outcome, second.outcome, count)]], true))
    assert.equal("asked for a pause of 5 s\t1\n", first_call(
      [[{ status = 429, body = "", headers = { ["retry-after"] = "5" } }]], [[
        _, err = client.wallet:coins()
        print(err.message:match "asked for a pause of %d s", count)
      ]], true))
  end)

  it("reports that the clock was not corrected where what corrects it cannot be loaded", function()
    assert.equal("rejected\tthe clock was not corrected: module 'purser.schedule' not found\n", first_call(
      [[{ status = 400, body = '{"code":700003,"msg":"outside"}', headers = {} }]],
      [[print(err.outcome, err.message:match "the clock was not corrected.*")]], true))
  end)

  it("has the hint about its window where that about the code cannot be loaded", function()
    assert.equal("a window is at most 7 days here: `each_deposit` walks longer ones\n", first_call(
      [[{ status = 400, body = '{"code":33333,"msg":"window"}', headers = {} }]], "print(err.hint)", true))
  end)

  it("ends with an error where its answer is a rejection and no file can be opened any more", function()
    assert.equal("decode\tunknown\twhat reads it cannot be loaded\n", run(PRELUDE .. [[
      local client = assert(purser.new { base_url = "http://localhost", api_key = "k", secret_key = "s", transport = {
        send = function()
          close_files()
          return { status = 400, body = '{"code":1,"msg":"no"}', headers = "" }
        end } })
      local value, err = client.wallet:coins()
      assert(value == nil and tostring(err) ~= "")
      print(err.kind, err.outcome, err.message:match "what reads it cannot be loaded")
    ]]))
  end)

  -- A client whose first answer is this one, and that can open no file from then on.
  local function after(answer, script, before)
    return run(PRELUDE .. (before or "") .. ([[
      require "purser.call.failure"
      local client = assert(purser.new { base_url = "http://localhost", api_key = "k", secret_key = "s", transport = {
        sleep = function() end,
        send = function()
          close_files()
          return %s
        end }, rate_limit = { pools = { ip = { capacity = 1, window_ms = 60000 } } } })
      local value, err = client.wallet:coins()
    ]]):format(answer) .. script)
  end
  local EMPTY = '{ status = 200, body = "[]", headers = "" }'

  it("ends with an error where the clock is wrong and no file can be opened any more", function()
    assert.equal("700003\trejected\tthe clock was not corrected\n",
      after([[{ status = 400, body = '{"code":700003,"msg":"outside"}', headers = "" }]], [[
        assert(value == nil and tostring(err) ~= "")
        print(err.code, err.outcome, err.message:match "the clock was not corrected")
      ]]))
  end)

  it("ends with an error where a parameter is not listed and no file can be opened any more", function()
    assert.equal("config\tnot_sent\tcannot be loaded\nconfig\tnot_sent\tcannot be loaded\n", after(EMPTY, [[
      for _, given in ipairs { { { cion = "USDT" } }, { {}, { extra_params = { fresh = "1" } } } } do
        value, err = client.wallet:deposit_history(given[1], given[2])
        assert(value == nil and tostring(err) ~= "")
        print(err.kind, err.outcome, err.message:match "cannot be loaded")
      end
    ]]))
  end)

  it("ends with an error where it has to pause and no file can be opened any more", function()
    assert.equal("throttled\trejected\n", after('{ status = 429, body = "{}", headers = "" }', [[
      assert(value == nil and tostring(err) ~= "")
      print(err.kind, err.outcome)
    ]]))
  end)

  it("ends with an error where its result is a record that no file can be opened for any more", function()
    assert.equal("decode\tunknown\tcannot be loaded\n", run(PRELUDE .. [[
      require "purser.call.failure"
      package.loaded["purser.call.record"] = nil
      local client = assert(purser.new { base_url = "http://localhost", api_key = "k", secret_key = "s", transport = {
        send = function()
          close_files()
          return { status = 200, body = '{"tranId":"1","fromAccountType":"SPOT"}', headers = "" }
        end } })
      local value, err = client.wallet:get_transfer { tranId = "1" }
      assert(value == nil and tostring(err) ~= "")
      print(err.kind, err.outcome, err.message:match "cannot be loaded")
    ]]))
  end)
end)

describe("purser.preload", function()
  it("leaves nothing to be loaded by calls, errors, walks, waits, plans, hooks and a restricted client", function()
    assert.equal("all went\n", run(PRELUDE .. [[
      assert(purser.preload { "sim" })
      close_files()
      start()
      local function fails(_, err) assert(err and tostring(err) ~= "", "an error was expected") end
      assert(client.wallet:coins())
      assert(client.broker:list_sub_accounts {})
      fails(client.wallet:withdraw { coins = "USDT" })
      fails(client.wallet:deposit_addresses { coin = "US DT" })
      assert(not pcall(function() return client.wallet.withdrw end))
      fails(purser.new { base_ur = "x" })
      lose = "executed"
      fails(client.wallet:deposit_history { from = 3, to = 2 })
      lose = nil
      for _ in client:each("wallet.deposit_history", { from = sim:now() - 1000 }) do end
      assert(client.wallet:each_deposit { from = sim:now() - 1000 })
      local address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"
      assert(client.wallet:plan_withdraw { coin = "USDT", netWork = "TRX", address = address, amount = "20" })
      local sent = assert(client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = address, amount = "20" })
      fails(client.wallet:wait_withdrawal(sent, { deadline_ms = 1 }))
      assert(client.wallet:watch_deposits { coin = "USDT", from = sim:now() })
      assert(client:sync_clock())
      assert(purser.restricted(client, { "wallet.*" }))
      assert(purser.operations and purser.profiles and purser.decimal "1.5" and purser.client_id())
      assert(purser.rate_limit {} and purser.run(function() purser.sleep(0) return true end))
      local seen
      local hooked = assert(purser.new { base_url = "http://localhost", api_key = "k", secret_key = "s",
        transport = sim:transport(), hooks = { after = function() seen = true end } })
      hooked:ping()
      assert(seen)
      print "all went"
    ]]))
  end)

  for _, name in ipairs { "curl", "multi", "cosocket", "openresty", "journal", "payouts", "fleet" } do
    it(("loads the part %s, whose use then finds no module missing"):format(name), function()
      local uses = {
        curl = "assert(purser.transport.curl { base_url = 'http://127.0.0.1:1' }):close()",
        multi = "assert(purser.transport.multi()):close()",
        journal = [[local path = os.tmpname()
          os.remove(path)
          assert(purser.journal.open { sqlite = path }):close()
          os.remove(path)]],
        payouts = "assert(purser.payouts)", fleet = "assert(purser.fleet)",
        cosocket = "assert(purser.transport.cosocket)", openresty = "assert(purser.transport.openresty)",
      }
      assert.equal("used\n", run(PRELUDE .. ("assert(purser.preload { %q }) close_files() %s print 'used'"):format(name,
        uses[name])))
    end)
  end

  it("says which part does not exist, and which there are", function()
    local purser = require "purser"
    local ok, err = purser.preload { "journl" }
    assert.is_nil(ok)
    assert.equal("config", err.kind)
    assert.matches('no part "journl".*"journal".*curl, fleet, journal', err.message)
    assert.is_nil((purser.preload "journal"))
  end)

  it("returns an error where a module is missing", function()
    assert.matches("^config purser.preload: .*plan", run(PRELUDE .. [[
      package.loaded["purser.workflow.plan"] = nil
      package.preload["purser.workflow.plan"] = function() error("module plan is not here", 0) end
      local ok, err = purser.preload()
      print(err.kind, err.message)
    ]]):gsub("\t", " "))
  end)
end)
