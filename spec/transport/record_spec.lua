-- SPDX-License-Identifier: MIT
-- Recordings: every exchange is written, no secret of the run is in them, and a replay answers from them alone.

local check = require "purser.transport.check"
local command = require "command"
local core = require "purser.core"
local files = require "files"
local purser = require "purser"
local redaction = require "redaction"
local service = require "service"

local TYPES = { fromAccountType = "SPOT", toAccountType = "FUTURES" }

local sim, owner, secrets

-- A transport that notes what is secret of each request that passes.
local function noting(inner)
  return setmetatable({ send = function(_, request)
    secrets[#secrets + 1] = request.target:match "signature=([^&]+)"
    return inner:send(request)
  end }, { __index = inner })
end

local function client_of(transport, clock, more)
  local options = { base_url = "http://127.0.0.1:1", transport = transport, api_key = owner.api_key,
    secret_key = owner.secret_key, clock = clock, retry = false }
  for name, value in pairs(more or {}) do options[name] = value end
  return assert(purser.new(options))
end

local function texts_of(value, into)
  if type(value) ~= "table" then
    local text = tostring(value)
    local is_plain = text:find "^[%u_]+$" or text == "Tron(TRC20)" -- and counts, states, times
      or text:find "^%d%d?%d?%d?$" or text:find "^17%d+$" or #text < 6
    if not is_plain then into[#into + 1] = text end
    return
  end
  for _, inner in pairs(value) do texts_of(inner, into) end
end

-- Calls of every group; the results go into `secrets`, but for what is the service's own.
local function work(client)
  local function call(name, params)
    local result, err = client:call(name, params)
    texts_of(params or {}, secrets)
    if name ~= "wallet.coins" then texts_of(result or {}, secrets) end
    return result, err
  end
  call "wallet.coins"
  assert(call("sub_account.create_sub_account", { subAccount = "payroll0001", note = 'for "Anna" in Köln' }))
  assert(call("sub_account.create_api_key", { subAccount = "payroll0001", note = "anna's key",
    permissions = "SPOT_ACCOUNT_READ", ip = "203.0.113.77" }))
  assert(call("sub_account.transfer", { toAccount = "payroll0001", fromAccountType = "SPOT", toAccountType = "SPOT",
    asset = "USDT", amount = "77.123456" }))
  assert(call("wallet.transfer", { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
    amount = "66.654321" }))
  assert(call("wallet.internal_transfer", { toAccountType = "EMAIL", toAccount = "anna@koeln.example", asset = "USDT",
    amount = "55.654987" }))
  local address = assert(call("wallet.create_deposit_address", { coin = "USDT", network = "Tron(TRC20)" }))
  assert(sim:deposit { account = owner.uid, coin = "USDT", network = "Tron(TRC20)", amount = "1234.567891" })
  sim:advance(3600000)
  call("wallet.withdraw", { coin = "USDT", netWork = "TRX", address = address.address, amount = "44.123987",
    withdrawOrderId = "invoice-anna-17", remark = "rent of may" })
  call("broker.create_sub_account", { subAccount = "payroll0002", note = "bob's desk" })
  call("broker.create_api_key", { subAccount = "payroll0002", note = "bob's key", permissions = "SPOT_ACCOUNT_READ" })
  for _, name in ipairs { "wallet.deposit_history", "wallet.withdrawal_history", "wallet.internal_transfer_history",
    "sub_account.list_sub_accounts", "broker.list_sub_accounts", "wallet.convertible_balances" } do
    assert(call(name))
  end
  assert(call("wallet.transfer_history", TYPES))
  call("sub_account.balances", { subAccount = "nosuchname0001", accountType = "SPOT" })
  call("wallet.get_transfer", { tranId = "1234567890123456789" })
end

local function recording(variant)
  sim = purser.sim.new { seed = 41, variant = variant }
  owner = assert(sim:account { name = "Treasury01", role = "broker", email = "boss@corp.example",
    balances = { USDT = "98765.4321", MX = "123.456789" } })
  assert(sim:account { name = "Anna", role = "user", email = "anna@koeln.example" })
  secrets = { owner.api_key, owner.secret_key, "boss@corp.example", "Treasury01" }
  local lines = {}
  local recorder = assert(purser.transport.record(noting(sim:transport()), { write = function(line)
    lines[#lines + 1] = line
    return true
  end }))
  local client = client_of(recorder, function() return sim:now() end)
  work(client)
  return lines, recorder, client
end

describe("a recording", function()
  it("has a line of JSON for every exchange, and no secret of the run in any form", function()
    for _, variant in ipairs { "document", "live", "shuffled,bare_amounts,times_as_text,error_message" } do
      local lines, recorder = recording(variant)
      assert.equal(recorder.count, #lines)
      assert.equal(#sim:requests(), #lines)
      local text = table.concat(lines)
      assert.is_true(#secrets > 60)
      local leak = redaction.leak(text, secrets)
      assert(not leak, leak)
      for _, line in ipairs(lines) do
        assert.equal(1, core.decode(line).v)
        assert.equal("\n", line:sub(-1))
      end
    end
  end)

  it("finds a secret that is there: the search is not blind", function()
    local lines = recording "document"
    for _, secret in ipairs { owner.secret_key, "payroll0001", "boss@corp.example" } do
      local text = table.concat(lines) .. redaction.base64("x" .. secret .. "y")
      assert.equal(secret, redaction.leak(text, { secret }))
    end
  end)

  it("is a new file that only this user can read", function()
    local path = os.tmpname()
    local recorder, message = purser.transport.record(sim:transport(), { file = path })
    assert.is_nil(recorder)
    assert.matches("File exists; give the name of a new file", message, 1, true)
    os.remove(path)
    recorder = assert(purser.transport.record(sim:transport(), { file = path }))
    assert(client_of(recorder, function() return sim:now() end):ping())
    assert.is_true(recorder:close())
    assert.equal(tonumber("600", 8), core.file_mode(path) % 512)
    assert.equal("/api/v3/ping", core.decode(files.read(path)).target)
    os.remove(path)
  end)

  it("keeps a failure of the transport, without its words", function()
    local lines = {}
    local recorder = assert(purser.transport.record({ send = function()
      return nil, { kind = "transport", outcome = "not_sent", phase = "connect", code = "curl 7",
        message = "secret.proxy.example:8080 is closed" }
    end }, { write = function(line) lines[#lines + 1] = line return true end }))
    local _, err = client_of(recorder, function() return sim:now() end).wallet:coins()
    assert.equal("not_sent", err.outcome)
    assert.is_nil(lines[1]:find("proxy", 1, true))
    local replay = assert(purser.transport.replay(lines))
    _, err = client_of(replay, function() return replay:now() end).wallet:coins()
    assert.equal("not_sent connect curl 7", ("%s %s %s"):format(err.outcome, err.phase, err.code))
  end)

  it("that cannot be written changes no call, and says so at its end", function()
    for _, write in ipairs { function() error "disk" end, function() return nil, "disk full" end } do
      local recorder = assert(purser.transport.record(sim:transport(), { write = write }))
      local client = client_of(recorder, function() return sim:now() end)
      assert(client.wallet:coins())
      assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
        amount = "1" })
      local ok, message = recorder:close()
      assert.is_nil(ok)
      assert.matches("could not be written: .*disk", message)
      assert.equal(0, recorder.count)
    end
  end)

  it("takes nothing from what the transport inside promises", function()
    local hostile = assert(check.start())
    local report = check.run(hostile, function(options)
      local inner, message = purser.transport.curl(options)
      if not inner then return nil, message end
      return purser.transport.record(inner, { write = function() return true end })
    end)
    hostile:stop()
    assert.matches("\n%d%d+ passed, 0 failed", "\n" .. tostring(report))
  end)

  it("takes a transport and one place to write to, and nothing else", function()
    local record = purser.transport.record
    local inner = sim:transport()
    for _, case in ipairs { { {}, {}, "no method send" }, { inner, nil, "nowhere" }, { inner, {}, "nowhere" },
      { inner, { file = "a", write = print }, "nowhere" }, { inner, { fle = "a" }, '"file"' },
      { inner, { file = "/nonexistent/a" }, "cannot be made" } } do
      local made, message = record(case[1], case[2])
      assert.is_nil(made)
      assert.matches(case[3], message, 1, true)
    end
  end)
end)

describe("a replay", function()
  it("gives the results of the recorded run, with this run's values where they were sent", function()
    local lines = recording "live"
    local replay = assert(purser.transport.replay(lines))
    local client = client_of(replay, function() return replay:now() end)
    local recorded = sim
    sim = { deposit = function() return true end, advance = function() end }
    work(client)
    sim = recorded
    assert.equal(0, replay:left())
  end)

  it("puts the value of a request in the place of its token in every later answer, and nowhere else", function()
    local lines = recording "document"
    local replay = assert(purser.transport.replay(lines))
    local client = client_of(replay, function() return replay:now() end)
    local made = assert(client.sub_account:create_sub_account {
      subAccount = "payroll0001", note = 'for "Anna" in Köln',
    })
    assert.equal("payroll0001", made.subAccount)
    local names = {}
    for _, account in ipairs(assert(client.sub_account:list_sub_accounts {})) do names[account.subAccount] = true end
    assert.is_true(names.payroll0001)
    assert.is_nil(names.payroll0002) -- nobody sent it yet: the list shows its token
  end)

  it("answers no request that differs in its method, path, names, harmless values, length or kind", function()
    local lines = recording "document"
    local params = { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "66.654321" }
    local function outcome(change)
      local replay = assert(purser.transport.replay(lines))
      local sent = {}
      for name, value in pairs(params) do sent[name] = change[name] or value end
      local result, err = client_of(replay, function() return replay:now() end).wallet:transfer(sent)
      return result and "answered" or err.outcome .. " " .. err.kind
    end
    assert.equal("answered", outcome {})
    assert.equal("answered", outcome { amount = "11.654321" }) -- of the same length and kind
    for _, change in ipairs { { amount = "6.654321" }, { amount = "666543.21" }, { amount = "666543210" },
      { asset = "USDC" }, { fromAccountType = "FUTURES", toAccountType = "SPOT" } } do
      assert.equal("not_sent argument", outcome(change))
    end
  end)

  it("takes one value for one token throughout", function()
    local lines = recording "document"
    local replay = assert(purser.transport.replay(lines))
    local client = client_of(replay, function() return replay:now() end)
    assert(client.sub_account:create_sub_account { subAccount = "payroll0009", note = 'for "Anna" in Köln' })
    local key = { subAccount = "payroll0001", note = "anna's key", permissions = "SPOT_ACCOUNT_READ",
      ip = "203.0.113.77" }
    local _, err = client.sub_account:create_api_key(key)
    assert.equal("argument", err.kind)
    key.subAccount = "payroll0009"
    assert(client.sub_account:create_api_key(key))
  end)

  it("answers each exchange once, in the recorded order, unless `reuse` is given", function()
    local lines = recording "document"
    local replay = assert(purser.transport.replay(lines))
    local client = client_of(replay, function() return replay:now() end)
    assert(client.wallet:coins())
    local _, err = client.wallet:coins()
    assert.equal("not_sent", err.outcome)
    client = client_of(assert(purser.transport.replay(lines, { reuse = true })), function() return replay:now() end)
    for _ = 1, 3 do assert(client.wallet:coins()) end
  end)

  it("takes what is no recording for none", function()
    for _, case in ipairs { { "/nonexistent/file", "No such file" }, { { "{}" }, "line 1 is no exchange" },
      { { '{"v":2,"method":"GET","target":"/"}' }, "another version" },
      { { '{"v":1,"method":"GET","target":"/"}' }, "no answer" }, { 7, "a path" } } do
      local replay, message = purser.transport.replay(case[1])
      assert.is_nil(replay)
      assert.matches(case[2], message, 1, true)
    end
    local replay, message = purser.transport.replay({}, { reus = true })
    assert.is_nil(replay)
    assert.matches('did you mean "reuse"', message, 1, true)
  end)

  it("opens no socket: it loads no module that could, and the core calls nothing of the network", function()
    local script = os.tmpname()
    files.write(script, [[
      local before = {}
      for name in pairs(package.loaded) do before[name] = true end
      for _, name in ipairs { "purser.http", "purser.httpd", "purser.libcurl", "socket" } do
        package.preload[name] = function() error("a replay loaded " .. name) end
      end
      local purser = require "purser"
      local replay = assert(purser.transport.replay "spec/cassettes/coins.jsonl")
      local client = assert(purser.new { profile = "mexc", api_key = "mx0sample", secret_key = "sample",
        transport = replay, clock = function() return replay:now() end })
      assert(#assert(client.wallet:coins()) == 2)
      local _, err = client.wallet:coins()
      assert(err.outcome == "not_sent")
      client:close()
      for name in pairs(package.loaded) do
        if not before[name] and not name:find "^purser" then print("loaded " .. name) end
      end
      print "replayed"
    ]])
    local code, out = command.shell((os.getenv "LUA" or "lua5.4") .. " " .. script .. " 2>&1")
    assert.equal("replayed\n", out)
    assert.equal(0, code)
    os.remove(script)
    local build = os.getenv "BUILD" or "build/lua5.4"
    code, out = command.shell("nm -D --undefined-only " .. build .. "/purser/core.so")
    assert.equal(0, code)
    assert.matches("SHA256_Update", out, 1, true) -- it lists what the core calls
    for _, name in ipairs { "socket", "connect", "sendto", "recvfrom", "getaddrinfo", "BIO_new_connect", "SSL_" } do
      assert.is_nil(out:find(" " .. name, 1, true), name)
    end
  end)
end)

describe("purser record", function()
  local world
  local keys = { PURSER_API_KEY = "mx0DEMOdemoDEMOdemo0", PURSER_SECRET_KEY = "demosecretworthnothing0000000000" }

  setup(function()
    world = service.start { "--demo", "--seed", "3" }
    keys.PURSER_BASE_URL = world.url
  end)
  teardown(function() world.stop() end)

  it("runs a command as it is, and writes its exchanges", function()
    local path = os.tmpname()
    os.remove(path)
    local expected = { command.run({ "wallet", "deposit_history", "--format", "json" }, keys) }
    local code, out, err = command.run({ "record", "--file", path, "--", "wallet", "deposit_history", "--format",
      "json" }, keys)
    assert.equal(expected[1], code)
    assert.equal(expected[2], out)
    assert.matches("1 exchange was written to " .. path, err, 1, true)
    local text = files.read(path)
    assert.equal(tonumber("600", 8), core.file_mode(path) % 512)
    local deposit = core.decode(out)[1]
    local leak = redaction.leak(text, { keys.PURSER_API_KEY, keys.PURSER_SECRET_KEY, deposit.address, deposit.txId })
    assert(not leak, leak)

    local replay = assert(purser.transport.replay(path))
    local client = client_of(replay, function() return replay:now() end)
    assert.equal("USDT", assert(client.wallet:deposit_history())[1].coin)
    os.remove(path)
  end)

  it("ends with the command's exit code, and rejects what is none", function()
    local path = os.tmpname()
    os.remove(path)
    local code, _, err = command.run({ "record", "--file", path, "--", "wallet", "get_transfer", "--tranId", "17" },
      keys)
    assert.equal(1, code)
    assert.matches("1 exchange was written", err)
    code, _, err = command.run({ "record", "--file", path, "--", "purser", "wallet", "coins" }, keys)
    assert.equal(2, code)
    assert.matches("File exists; give the name of a new file", err, 1, true)
    os.remove(path)
    for _, words in ipairs { { "record" }, { "record", "wallet", "coins" }, { "record", "--" },
      { "record", "--", "record", "--", "wallet", "coins" }, { "record", "--", "wallet", "coinz" } } do
      assert.equal(2, (command.run(words, keys)))
    end
    assert.is_nil(io.open(path))
  end)
end)
