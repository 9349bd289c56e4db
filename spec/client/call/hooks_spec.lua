-- SPDX-License-Identifier: MIT
-- The hooks: `after` is called once for each attempt, whatever becomes of it, and changes nothing.

local private = require "purser.client.util.private"
local new = require("recorder").new
local schedule = require "purser.schedule"

local WITHDRAWAL = { coin = "USDT", address = "an-address", amount = "1" }

describe("a hook", function()
  it("that raises changes nothing about the call, whatever it raises", function()
    local odd = setmetatable({}, { __tostring = function() error "no text" end })
    for _, name in ipairs { "before", "after" } do
      local client, transport = new { hooks = { [name] = function() error(odd) end } }
      local info = {}
      assert.equal("1", client.wallet:withdraw(WITHDRAWAL, { info = info }).id)
      assert.equal(1, #transport.requests)
      assert.equal("an error without a text", info.hook_error)
    end
  end)

  -- A client whose transport raises `problem`, after a wait or at once, and what its hooks were told.
  local function raising(problem, waits)
    local told = { before = 0 }
    local client = new({ hooks = {
      before = function() told.before = told.before + 1 end, after = function(event) told[#told + 1] = event end,
    } }, function()
      if waits then schedule.sleep(1) end
      error(problem, 0)
    end)
    return client, told
  end

  it("is called for a call whose transport raises, once, and of none of its parameters", function()
    for _, in_task in ipairs { false, true } do
      local client, told = raising("boom", in_task)
      local err
      local function call() err = select(2, client.wallet:withdraw(WITHDRAWAL)) end
      if in_task then schedule.run(call) else call() end
      assert.same({ 1, 1 }, { told.before, #told })
      local event = told[1]
      assert.same({ "wallet.withdraw", "unknown", 1 }, { event.operation, event.outcome, event.attempt })
      assert.same({ "transport", "unknown", "receive", err.message },
        { event.error.kind, event.error.outcome, event.error.phase, event.error.message })
      assert.same({}, { event.error.intent, event.error.advice })
      assert.is_number(event.duration_us)
      assert.is_string(err.advice)
    end
  end)

  it("is called for a read whose transport raises, which is raised all the same", function()
    for _, in_task in ipairs { false, true } do
      for _, problem in ipairs { "boom", { "x" }, setmetatable({}, { __tostring = function() error "no text" end }) } do
        local client, told = raising(problem, in_task)
        local raised
        local function call() client.wallet:coins() end
        if in_task then raised = select(2, pcall(schedule.run, call)) else raised = select(2, pcall(call)) end
        assert.equal(problem, raised)
        assert.same({ 1, 1, "unknown" }, { told.before, #told, told[1].outcome })
        assert.matches("^an error was raised: ", told[1].error.message)
      end
    end
  end)

  it("that is called is called once where something is raised after it", function()
    local told = 0
    local client = new { hooks = { after = function() told = told + 1 end } }
    private.states[client]._journal = { identify = function() return true end,
      begin = function() return true end, owners = function() return {} end,
      finish = function() error "no room" end }
    assert.equal("1", client.wallet:withdraw(WITHDRAWAL).id)
    assert.equal(1, told)
  end)

  it("hears nothing in a coroutine of somebody else's on Lua 5.1 alone, of a read that is raised", function()
    local client, told = raising "boom"
    local ok, raised = coroutine.resume(coroutine.create(function() return client.wallet:coins() end))
    assert.same({ false, "boom" }, { ok, raised })
    assert.equal(_VERSION == "Lua 5.1" and not rawget(_G, "jit") and 0 or 1, #told)
  end)
end)

describe("the time until the rate limit has room", function()
  it("is whole seconds, rounded up, and one at least", function()
    local hooks = require "purser.client.call.hooks"
    for ms, seconds in pairs { [0] = 1, [1] = 1, [1000] = 1, [1001] = 2, [60000] = 60 } do
      assert.equal(("the rate limit has room in %d s"):format(seconds), hooks.room_text(ms))
    end
  end)
end)

describe("the hook wait", function()
  local now, waits, client

  -- A client whose limit has room for one call in ten seconds; its waits move the clock.
  local function limited(wait, answer)
    local transport
    now, waits = 1000, {}
    client, transport = new({
      rate_limit = { pools = { ip = { capacity = 1, window_ms = 10000 } }, now = function() return now end },
      hooks = { wait = wait or function(event) waits[#waits + 1] = event end },
    }, answer)
    function transport.sleep(_, ms) now = now + ms end
    return transport
  end

  it("is called before each wait of a walk for the rate limit, with its length, and not for what fits", function()
    local page = 0
    limited(nil, function()
      page = page + 1
      local list = {}
      for i = 1, page <= 2 and 100 or 0 do
        list[i] = ('{"subAccount":"s%d","note":"","timestamp":"1"}'):format(page * 1000 + i)
      end
      return { status = 200, body = '{"code":"0","data":[' .. table.concat(list, ",") .. "]}", headers = "" }
    end)
    local walk = client:each "broker.list_sub_accounts"
    local count = 0
    while walk:next() do count = count + 1 end
    assert.equal(200, count)
    assert.equal(page - 1, #waits)
    for _, event in ipairs(waits) do
      assert.same({ "broker.list_sub_accounts", "GET", "/api/v3/broker/sub-account/list" },
        { event.operation, event.method, event.path })
      assert(event.wait_ms >= 10000 and event.wait_ms < 10400, event.wait_ms)
    end
  end)

  it("that raises changes nothing about the call, and is named in its info", function()
    local transport = limited(function() error("no screen", 0) end)
    assert(client.wallet:withdraw(WITHDRAWAL))
    local info = {}
    assert(client.wallet:withdraw(WITHDRAWAL, { info = info }))
    assert.equal(2, #transport.requests)
    assert.equal("no screen", info.hook_error)
  end)

  it("is called for a write call, and not where calls that do not fit are rejected", function()
    limited()
    assert(client.wallet:withdraw(WITHDRAWAL))
    assert(client.wallet:withdraw(WITHDRAWAL))
    assert.equal("wallet.withdraw", waits[1].operation)
    waits = {}
    client = new { rate_limit = { pools = { ip = { capacity = 1, window_ms = 10000 } }, when_full = "reject",
      now = function() return now end }, hooks = { wait = function(event) waits[#waits + 1] = event end } }
    assert(client.wallet:withdraw(WITHDRAWAL))
    assert.equal("throttled", select(2, client.wallet:withdraw(WITHDRAWAL)).kind)
    assert.same({}, waits)
  end)
end)
