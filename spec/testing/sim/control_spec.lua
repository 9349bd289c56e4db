-- SPDX-License-Identifier: MIT
-- The simulator's own door over HTTP: who may enter, what each endpoint forwards, what it answers.

local control = require "purser.testing.sim.control"
local core = require "purser.core"

-- Notes what is called, so that a test can see that an endpoint forwards what it was given and nothing else.
local function recorder()
  local calls = {}
  local world = { calls = calls, clock = { mode = "virtual" }, time = 1000 }
  for _, name in ipairs { "account", "deposit", "rebate", "save_address", "freeze", "fault", "disarm" } do
    world[name] = function(_, body)
      if type(body) == "table" and body.name == "bad" then error("purser.sim: no such thing", 0) end
      if type(body) == "table" and body.name == "rejected" then return nil, "not now" end
      calls[#calls + 1] = { name, body }
      if name == "fault" or name == "disarm" then return true end
      return { uid = "1", balances = {} }
    end
  end
  function world.now(self) return self.time end
  function world.advance(self, ms) self.time = self.time + ms end
  function world.fail_transfer(_, id)
    calls[#calls + 1] = { "fail_transfer", id }
    return true
  end
  function world.faults() return {} end
  function world.armed_faults() return { { kind = "reset", left = 2 } } end
  function world.requests() return { { operation = "wallet.coins", status = 200 } } end
  function world.counts() return { ["wallet.coins"] = { received = 1, applied = 1 } } end
  function world.state() return { accounts = {} } end
  function world.verify(self)
    if self.broken then return nil, "USDT: 1 too many" end
    return true
  end
  return world
end

describe("the control endpoints", function()
  local world, handle, stopped

  before_each(function()
    world, stopped = recorder(), false
    handle = control.handler(world, function() stopped = true end)
  end)

  local function request(method, target, body, more)
    local headers = { host = "127.0.0.1:8080", ["content-type"] = method == "POST" and "application/json" or nil }
    local made = { method = method, target = target, headers = headers, body = body or "", ip = "127.0.0.1" }
    for name, value in pairs(more or {}) do
      if name == "ip" then made.ip = value else headers[name] = value or nil end
    end
    return handle(made)
  end

  local function answer(...)
    local response = request(...)
    return response.status .. " " .. response.body
  end

  it("name each member that a body may have where the body lacks all", function()
    assert.matches("the body lacks deposit or withdrawal", answer("POST", "/sim/states", '{"status":5}'), 1, true)
  end)

  it("are distinguished from the service's paths", function()
    assert.is_true(control.is_for { target = "/sim/state" })
    assert.is_true(control.is_for { target = "/sim" })
    assert.is_false(control.is_for { target = "/api/v3/sim/" })
    assert.is_false(control.is_for { target = "/simulate" })
  end)

  it("forward the body and answer with what came back", function()
    for path, name in pairs {
      accounts = "account", deposits = "deposit", rebates = "rebate", ["saved-addresses"] = "save_address",
    } do
      assert.equal('200 {"balances":{},"uid":"1"}',
        answer("POST", "/sim/" .. path, '{"name":"a","amount":"1.50","n":7}'))
      assert.same({ name, { name = "a", amount = "1.50", n = 7 } }, world.calls[#world.calls])
    end
    assert.equal('200 {"ok":true}', answer("POST", "/sim/faults", '{"kind":"reset","probability":"0.300000"}'))
    assert.same({ "fault", { kind = "reset", probability = "0.300000" } }, world.calls[#world.calls])
    assert.equal('200 {"ok":true}', answer("DELETE", "/sim/faults"))
    assert.equal("disarm", world.calls[#world.calls][1])
    assert.equal('200 {"ok":true}', answer("POST", "/sim/failures", '{"transfer":"13"}'))
    assert.same({ "fail_transfer", "13" }, world.calls[#world.calls])
    assert.matches("^400", answer("POST", "/sim/failures", "{}"))
  end)

  it("read the clock and move it", function()
    assert.equal('200 {"clock":"virtual","now":1000}', answer("GET", "/sim/clock"))
    assert.equal('200 {"now":4600}', answer("POST", "/sim/advance", '{"ms":3600}'))
    assert.equal('400 {"error":"ms is not a number of milliseconds from 0 on"}',
      answer("POST", "/sim/advance", '{"ms":-1}'))
    assert.matches("^400", answer("POST", "/sim/advance", '{"ms":1.5}'))
    assert.matches("^400", answer("POST", "/sim/advance", ""))
    assert.equal(4600, world.time)
  end)

  it("keep the clock where requests can hold its time", function()
    for _, ms in ipairs { "999999999999999", "4102444800000" } do
      assert.equal('400 {"error":"the clock cannot go past the year 2100; give fewer ms"}',
        answer("POST", "/sim/advance", '{"ms":"' .. ms .. '"}'))
    end
    assert.equal(1000, world.time)
  end)

  it("report what happened", function()
    assert.equal('200 [{"operation":"wallet.coins","status":200}]', answer("GET", "/sim/requests"))
    assert.equal("200 []", answer("GET", "/sim/faults"))
    assert.equal('200 [{"kind":"reset","left":2}]', answer("GET", "/sim/armed-faults"))
    assert.equal('200 {"wallet.coins":{"applied":1,"received":1}}', answer("GET", "/sim/counts"))
    assert.equal('200 {"accounts":{}}', answer("GET", "/sim/state?x=1"))
    assert.equal('200 {"ok":true}', answer("GET", "/sim/verify"))
    world.broken = true
    assert.equal('400 {"error":"USDT: 1 too many"}', answer("GET", "/sim/verify"))
  end)

  it("stop the server", function()
    assert.equal("405", answer("GET", "/sim/stop"):sub(1, 3))
    assert.is_false(stopped)
    assert.equal('200 {"ok":true}', answer("POST", "/sim/stop"))
    assert.is_true(stopped)
  end)

  it("say what is wrong", function()
    assert.equal('400 {"error":"purser.sim: no such thing"}', answer("POST", "/sim/faults", '{"name":"bad"}'))
    assert.error_matches(function() answer("POST", "/sim/accounts", '{"name":"bad"}') end, "no such thing") -- a bug
    assert.equal('400 {"error":"not now"}', answer("POST", "/sim/accounts", '{"name":"rejected"}'))
    assert.matches("the body is no JSON object: .* at byte 8", answer("POST", "/sim/accounts", '{"name":,}'))
    assert.matches("the body is no JSON object", answer("POST", "/sim/accounts", "7"))
    assert.equal('404 {"error":"unknown path /sim/nothing"}', answer("GET", "/sim/nothing"))
    assert.equal('404 {"error":"unknown path /sim/\\\\xFF\\\\x0A"}', answer("GET", "/sim/\255\n"))
    assert.equal('405 {"error":"/sim/faults takes DELETE, GET, POST"}', answer("PUT", "/sim/faults"))
    assert.equal(0, #world.calls)
  end)

  it("are closed to other machines and to web pages", function()
    assert.equal("403", answer("GET", "/sim/state", "", { ip = "192.0.2.7" }):sub(1, 3))
    assert.equal("403", answer("GET", "/sim/state", "", { host = "evil.example" }):sub(1, 3))
    assert.equal("403", answer("GET", "/sim/state", "", { host = "127.evil.example" }):sub(1, 3))
    assert.equal("403", answer("GET", "/sim/state", "", { host = "127......" }):sub(1, 3))
    assert.equal("403", answer("GET", "/sim/state", "", { host = false }):sub(1, 3))
    assert.equal("415", answer("POST", "/sim/stop", "", { ["content-type"] = "text/plain" }):sub(1, 3))
    assert.is_false(stopped)
    for _, host in ipairs { "localhost:8080", "[::1]:8080", "127.0.0.2" } do
      assert.equal("200", answer("GET", "/sim/state", "", { host = host, ip = "::1" }):sub(1, 3))
    end
  end)

  it("never ask a browser to keep an answer", function()
    local response = request("GET", "/sim/state")
    assert.same({ ["Content-Type"] = "application/json", ["Cache-Control"] = "no-store",
      ["X-Content-Type-Options"] = "nosniff" }, response.headers)
    assert.same({ accounts = {} }, core.decode(response.body))
  end)
end)
