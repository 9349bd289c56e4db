-- SPDX-License-Identifier: MIT
-- The client itself: odd options, odd transports, and what happens to a call while the client changes under it.

local new = require("recorder").new
local private = require "purser.client.util.private"
local schedule = require "purser.schedule"

local WITHDRAWAL = { coin = "USDT", address = "an-address", amount = "1" }

describe("the options of a call", function()
  it("are a table; anything else is an argument error, and nothing is sent", function()
    for _, opts in ipairs { 5, "recv_window", true, function() end } do
      local client, transport = new()
      local result, err = client.wallet:withdraw(WITHDRAWAL, opts)
      assert.is_nil(result)
      assert.same({ "argument", "not_sent", "wallet.withdraw" }, { err.kind, err.outcome, err.operation })
      assert.matches("^options are given as a " .. type(opts), err.message)
      assert.equal(0, #transport.requests)
      assert.equal("argument", select(2, client:prepare("wallet.withdraw", WITHDRAWAL, opts)).kind)
    end
  end)

  it("count for ping and server_time, too", function()
    local client, transport = new(nil, function() return { status = 200, body = '{"serverTime":5}', headers = "" } end)
    assert(client:ping { timeout_ms = 77 })
    assert(client:server_time { timeout_ms = 78 })
    assert.same({ 77, 78 }, { transport.requests[1].timeout_ms, transport.requests[2].timeout_ms })
  end)

  it("takes a whole recv_window that Lua computed as a float", function()
    local client, transport = new { recv_window = 4e3 }
    assert(client.wallet:withdraw(WITHDRAWAL))
    assert(client.wallet:withdraw(WITHDRAWAL, { recv_window = 6e4 / 2 }))
    assert.matches("&recvWindow=4000&", transport.requests[1].target, 1, true)
    assert.matches("&recvWindow=30000&", transport.requests[2].target, 1, true)
  end)
end)

describe("extra parameters", function()
  local function rejected(options, extra, words)
    local client, transport = new(options)
    local result, err = client.wallet:withdraw(WITHDRAWAL, { extra_params = extra })
    assert.is_nil(result)
    assert.same({ "argument", "not_sent" }, { err.kind, err.outcome })
    assert.matches(words, tostring(err))
    assert.equal(0, #transport.requests)
  end

  it("cannot stand in for what Purser sets", function()
    rejected(nil, { timestamp = 1 }, "client's clock")
  end)

  it("keep their type in a JSON body: integers and booleans bare, texts as texts", function()
    local client, transport = new()
    assert(client.broker:withdraw({ coin = "USDT", network = "N", address = "A", amount = "1" },
      { extra_params = { count = 5, flag = true, text = "5" } }))
    assert.equal('{"coin":"USDT","network":"N","address":"A","amount":"1","count":5,"flag":true,"text":"5"}',
      transport.requests[1].body)
    rejected(nil, { x = 1.5 }, "float")
  end)

  it("have names in UTF-8", function()
    rejected(nil, { ["\255"] = "x" }, "by parameter name")
    local client = new()
    assert.equal("argument", select(2, client.broker:enable_futures({ subAccount = "a" },
      { extra_params = { ["\255"] = "x" } })).kind)
  end)

  it("have names of a sane length, and are not without number", function()
    local many = {}
    for i = 1, 33 do many["p" .. i] = i end
    rejected(nil, many, "more than 32")
    rejected(nil, { [("x"):rep(129)] = 1 }, "by parameter name")
    many.p33 = nil
    local client, transport = new()
    assert(client.wallet:withdraw(WITHDRAWAL, { extra_params = many }))
    assert.matches("&p32=32&", transport.requests[1].target, 1, true)
  end)
end)

describe("the clock", function()
  it("gives whole epoch milliseconds, or nothing is sent", function()
    for _, reading in ipairs { 1 / 0, -1 / 0, 0 / 0, -1, 0, 1.5, 2 ^ 60, 1700000000, "1700000000000", false } do
      local client, transport = new { clock = function() return reading end }
      local result, err = client.wallet:withdraw(WITHDRAWAL)
      assert.is_nil(result)
      assert.same({ "config", "not_sent" }, { err.kind, err.outcome })
      assert.matches("whole epoch milliseconds", tostring(err))
      assert.equal(0, #transport.requests)
    end
    local client, transport = new { clock = function() return 1.7e12 end }
    assert(client.wallet:withdraw(WITHDRAWAL))
    assert.matches("&timestamp=1700000000000&", transport.requests[1].target, 1, true)
  end)
end)

describe("the profile of a client", function()
  it("is made to be read when it is first asked for, and is the same from then on", function()
    local client = assert(new())
    assert.is_nil(rawget(client, "profile"))
    assert.equal("timestamp", client.profile.timestamp_name)
    assert.equal(client.profile, client.profile)
  end)
end)

describe("a profile given as a table", function()
  local function rejected(profile, words)
    local client, err = new { profile = profile }
    assert.is_nil(client)
    assert.same({ "config", "not_sent" }, { err.kind, err.outcome })
    assert.matches(words, tostring(err))
  end

  it("takes success codes by their text only, lest a success be read as a rejection", function()
    rejected({ success_codes = { 0, 200 } }, 'success_codes" has a wrong member; give a table by code as text')
    rejected({ success_codes = { [0] = true } }, 'success_codes" has a wrong member; give a table by code as text')
    rejected({ success_codes = { ["0"] = "yes" } }, 'success_codes" has a wrong member; give a table by code as text')
    local client = assert(new { profile = { success_codes = { ["7"] = true } } })
    assert.equal("made", client:parse("broker.create_sub_account", 200,
      '{"code":7,"data":[{"subAccount":"made"}]}').subAccount)
  end)

  it("names every convention by its type, none of them empty", function()
    rejected({ base_url = 5 }, 'base_url" is a number; it must be a string')
    rejected({ time_path = "" }, 'time_path" is empty')
    rejected({ max_recv_window = 0 }, 'max_recv_window" is 0; it must be a whole number from 1')
    rejected({ max_recv_window = 0 / 0 }, '; it must be a whole number from 1')
  end)

  it("has a base by name, never itself", function()
    local profile = {}
    profile.base = profile
    rejected(profile, 'base" is a table; it must be a string')
    rejected({ base = "mexcc" }, "did you mean")
  end)
end)

describe("a transport of the user's own", function()
  local function withdraw(failure)
    local client, transport = new(nil, function() return nil, failure end)
    local result, err = client.wallet:withdraw(WITHDRAWAL)
    assert.is_nil(result)
    assert.equal(1, #transport.requests)
    assert.is_string(tostring(err))
    return err
  end

  it("may fail in any form: what is not plainly not_sent is unknown, and says how to reconcile it", function()
    for _, failure in ipairs { false, "timeout", 5, {}, { outcome = "rejected" }, { outcome = "lost" },
      { kind = "odd", outcome = true }, { message = 5, code = 28 }, { code = {}, message = {} } } do
      local err = withdraw(failure)
      assert.same({ "transport", "unknown", false }, { err.kind, err.outcome, err.retryable })
      assert.is_string(err.message)
      assert.is_string(err.advice)
    end
    assert.equal("timeout", withdraw("timeout").message)
  end)

  it("may answer with what is no response", function()
    local client = new(nil, function() return true end)
    local result, err = client.wallet:withdraw(WITHDRAWAL)
    assert.is_nil(result)
    assert.same({ "transport", "unknown" }, { err.kind, err.outcome })
  end)

  it("is believed when it says that nothing was sent", function()
    local err = withdraw { outcome = "not_sent", message = "no route", kind = "transport" }
    assert.same({ "not_sent", true, "no route" }, { err.outcome, err.retryable, err.message })
    assert.is_nil(err.advice)
  end)
end)

-- Whatever is raised once a request may have left would take away the one thing that matters: the outcome.
describe("what is raised during a write call", function()
  local odd = setmetatable({}, { __tostring = function() error "no text" end })

  -- Returns what a withdrawal ends with whose transport raises `problem`, in a task after it has waited.
  local function raising(problem, in_task)
    local client, transport = new(nil, function()
      if in_task then schedule.sleep(1) end
      error(problem, 0)
    end)
    local result, err
    local function call() result, err = client.wallet:withdraw(WITHDRAWAL, { info = {} }) end
    if in_task then schedule.run(call) else call() end
    assert.is_nil(result)
    assert.equal(1, #transport.requests)
    return err
  end

  it("by its transport makes an outcome that nobody knows, and says how to reconcile it", function()
    for _, in_task in ipairs { false, true } do
      for _, problem in ipairs { "boom", odd, { "x" }, 5 } do
        local err = raising(problem, in_task)
        assert.same({ "transport", "unknown", "receive", false }, { err.kind, err.outcome, err.phase, err.retryable })
        assert.matches("so its outcome is unknown", err.message)
        assert.matches("client:reconcile", err.advice)
        assert.same({ "wallet.withdraw", "1" }, { err.intent.operation, err.intent.params.amount })
      end
      assert.matches("raised .* its outcome is unknown: boom$", raising("boom", in_task).message)
    end
  end)

  it("after its answer changes neither a result nor a rejection", function()
    local info = setmetatable({ attempts = 0 }, { __newindex = function(info, name, value)
      if name == "headers" and value then error "no room" end
      rawset(info, name, value)
    end })
    local answers = { { status = 200, body = '{"id":"1"}', headers = "A: 1\r\n" },
      { status = 400, body = '{"code":10101,"msg":"no funds"}', headers = "A: 1\r\n" } }
    local client = new(nil, function() return table.remove(answers, 1) end)
    assert.equal("1", assert(client.wallet:withdraw(WITHDRAWAL, { info = info })).id)
    local _, err = client.wallet:withdraw(WITHDRAWAL, { info = info })
    assert.same({ "rejected", "10101" }, { err.outcome, err.code })
  end)

  it("before its request leaves means that nothing was sent", function()
    local client, transport = new { clock = function() error "no clock" end }
    assert.error_matches(function() client.wallet:withdraw(WITHDRAWAL) end, "no clock")
    assert.equal(0, #transport.requests)
    client, transport = new()
    private.states[client]._hooks = setmetatable({}, { __index = function() error "no hooks" end })
    local _, err = client.wallet:withdraw(WITHDRAWAL)
    assert.same({ "transport", "not_sent", true }, { err.kind, err.outcome, err.retryable })
    assert.matches("^nothing was sent: .*no hooks$", err.message)
    assert.same({}, { err.advice, err.intent })
    assert.equal(0, #transport.requests)
  end)

  it("by a read's transport is raised: a read changes nothing", function()
    local client = new(nil, function() error("boom", 0) end)
    assert.has_error(function() client.wallet:coins() end, "boom")
  end)

  it("in a coroutine of somebody else's is raised by Lua 5.1 alone, which cannot wait in pcall", function()
    local client = new(nil, function()
      coroutine.yield "waits"
      error("boom", 0)
    end)
    local co = coroutine.create(function() return client.wallet:withdraw(WITHDRAWAL) end)
    assert.same({ true, "waits" }, { coroutine.resume(co) })
    local ok, result, err = coroutine.resume(co)
    if _VERSION == "Lua 5.1" and not rawget(_G, "jit") then
      assert.same({ false, "boom" }, { ok, result })
    else
      assert.is_nil(result)
      assert.equal("unknown", err.outcome)
    end
  end)
end)

describe("the credentials function", function()
  it("may give another secret under the same key", function()
    local secret = "first"
    local function clock() return 1700000000000 end
    local client = new { credentials = function() return "key", secret end, clock = clock }
    local function signature() return client:prepare("wallet.coins").url:match "signature=(%x+)" end
    local first = signature()
    assert.equal(first, signature())
    secret = "second"
    assert.are_not.equal(first, signature())
    secret = "first"
    assert.equal(first, signature())
  end)
end)

describe("a client closed during a call", function()
  local function ends_closed(client, transport, sends)
    local result, err = client.wallet:coins()
    assert.is_nil(result)
    assert.same({ "closed", "not_sent", "wallet.coins" }, { err.kind, err.outcome, err.operation })
    assert.equal(sends, #transport.requests)
  end

  it("sends nothing more: closed by the credentials function or the clock", function()
    local client, transport
    client, transport = new { credentials = function() client:close() return "key", "secret" end }
    ends_closed(client, transport, 0)
    client, transport = new { clock = function() client:close() return 1700000000000 end }
    ends_closed(client, transport, 0)
  end)

  it("sends nothing more: closed while the call waits for the rate limit", function()
    local now = 0
    local client, transport = new {
      rate_limit = { pools = { ip = { capacity = 10, window_ms = 1000 } }, now = function() return now end } }
    assert(client.wallet:withdraw(WITHDRAWAL))
    function transport:sleep(ms) -- luacheck: ignore self
      now = now + ms
      client:close()
    end
    ends_closed(client, transport, 1)
  end)

  it("sends nothing more: closed between two attempts, signed or not", function()
    for _, name in ipairs { "wallet.coins", "ping" } do
      local client, transport = new(nil, function() return { status = 503, body = "", headers = "" } end)
      function transport:sleep() client:close() end -- luacheck: ignore self
      local result, err = client:call(name)
      assert.is_nil(result)
      assert.equal("closed", err.kind)
      assert.equal(1, #transport.requests)
    end
  end)
end)

describe("opts.info", function()
  it("reports of this call alone, also when the table is used again", function()
    local answers = { { status = 200, body = "[]", headers = "X-A: 1\r\n" }, false }
    local client = new({ retry = false }, function() return table.remove(answers, 1) or nil end)
    local info = {}
    assert(client.wallet:coins(nil, { info = info }))
    assert.same({ 1, 200, "1" }, { info.attempts, info.http_status, info.headers["x-a"] })
    assert.is_nil(client.wallet:coins(nil, { info = info })) -- no answer
    assert.same({ attempts = 1 }, info)
    assert.is_nil(client.wallet:coins({ x = 1 }, { info = info })) -- nothing sent
    assert.same({ attempts = 0 }, info)
  end)

  it("is what makes a call ask the transport for more than the answer", function()
    local client, transport = new({}, function() return { status = 200, body = "[]", headers = "" } end)
    assert(client.wallet:coins())
    assert(client.wallet:coins(nil, { info = {} }))
    assert.same({ true, false }, { transport.requests[1].brief, transport.requests[2].brief })
  end)
end)

describe("a call that moves money", function()
  it("needs no file any more once it was sent: there may be no descriptor left to read one", function()
    for answer, outcome in pairs { lost = "unknown", ['{"id":"1"}'] = false,
      ['{"id":"1","coin":"USDT","network":"Tron(TRC20)","address":"an-address"}'] = "unknown" } do
      local path, loaded = package.path, {}
      for name in pairs(package.loaded) do
        if name:find "^purser" and name ~= "purser.core" then loaded[name] = package.loaded[name] end
      end
      for name in pairs(loaded) do package.loaded[name] = nil end
      local transport = { send = function()
        package.path = ""
        if answer == "lost" then return nil, { message = "gone", outcome = "unknown" } end
        return { status = 200, body = answer, headers = "" }
      end }
      local client = assert(require("purser").new {
        base_url = "https://service.example", api_key = "key", secret_key = "secret", transport = transport,
      })
      local ok, value, err = pcall(function()
        return client.wallet:withdraw { coin = "USDT", address = "an-address", amount = "1", netWork = "ETH" }
      end)
      package.path = path
      for name, module in pairs(loaded) do package.loaded[name] = module end
      assert(ok, value)
      assert.same({ not outcome, outcome }, { value ~= nil, err and err.outcome or false }, answer)
      assert.equal(outcome ~= false, err ~= nil and err.advice ~= nil)
    end
  end)
end)

describe("an operation called with a dot", function()
  it("says what to write instead", function()
    local client, transport = new()
    for _, self in ipairs { false, WITHDRAWAL, "x" } do
      assert.error_matches(function() client.wallet.withdraw(self) end, "client%.wallet:withdraw{%.%.%.}")
    end
    assert.equal(0, #transport.requests)
  end)
end)
