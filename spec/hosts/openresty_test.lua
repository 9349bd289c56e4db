-- SPDX-License-Identifier: MIT
-- Purser inside nginx: reads of the gateway of examples/openresty, and the transport. gateway_test.lua has the payouts.
-- make test: 5 s, waits

local eventually = require "eventually"
local gateways = require "gateway"
local libcurl = require "purser.client.util.libcurl"
local nginx = require "nginx"
local phases = require "nginx_phases"
local service = require "service"

local sim, gateway, http

local function received(operation)
  local count = assert(sim.world:counts())[operation]
  return count and count.received or 0
end

setup(function()
  sim = service.start()
  gateway = gateways.start(sim, assert(sim.world:account { role = "main", balances = { USDT = "1000" } }), 1)
  http = assert(libcurl.easy {})
end)

teardown(function()
  if gateway then gateway:stop() end
  if sim then sim.stop() end
end)

describe("a reload of nginx", function()
  it("lets calls that wait end in the old worker, while the new one serves", function()
    assert(sim.world:fault { kind = "slow", delay_ms = 1000, operation = "wallet.deposit_history", times = 1 })
    local before = received "wallet.deposit_history"
    local multi = assert(libcurl.multi { http_version = "1.1" })
    multi:submit(gateway:request("GET", "/deposits"))
    repeat
      multi:wait(5)
      multi:step()
    until received "wallet.deposit_history" > before
    gateway.server:reload()
    assert.equal(200, (gateway:ask("GET", "/deposits")))
    local _, response, failure
    repeat
      multi:wait(1000)
      multi:step()
      _, response, failure = multi:next()
    until response or failure
    assert(response, failure and failure.message)
    assert.equal(200, response.status, response.body)
    multi:close()
  end)
end)

describe("purser.hosts.nginx.openresty", function()
  local CONF = [[
lua_package_path "${ROOT}/lua/?.lua;${ROOT}/lua/?/init.lua;;";
lua_package_cpath "${ROOT}/build/luajit/?.so;;";
init_worker_by_lua_block {
  transport = assert(require("purser").transport.openresty())
]] .. phases.NEW_CLIENT .. "}\n" .. phases.NOTES .. [[
server {
  listen 127.0.0.1:${PORT};
]] .. phases.LOCATIONS .. [[
  location /api/ {
    content_by_lua_block {
      ngx.shared.notes:set("asked", true)
      ngx.sleep(60)
    }
  }
  location = /closed {
    content_by_lua_block {
      local own = assert(require("purser.hosts.nginx.openresty").new())
      local client = new_client({ base_url = "http://127.0.0.1:${PORT}", transport = own })
      local thread = ngx.thread.spawn(function() return select(2, client.wallet:coins()) end)
      while not ngx.shared.notes:get "asked" do ngx.sleep(0.01) end
      own:close()
      local _, err = ngx.thread.wait(thread)
      local _, later = client.wallet:coins()
      ngx.print(err.kind, " ", err.outcome, ", ", later.kind, " ", later.outcome)
    }
  }
}
]]
  local server

  setup(function()
    local pipe = io.popen "pwd"
    server = nginx.start(CONF, { ROOT = pipe:read "*l", SIM = sim.url })
    pipe:close()
  end)

  teardown(function()
    local errors = server:errors()
    server:stop()
    assert.equal("", errors)
  end)

  local function get(target)
    return assert(http:send { method = "GET", base_url = server:url(), target = target }).body
  end

  phases.of(it, get)

  it("ends what waits when it is closed", function()
    assert.equal("closed unknown, closed not_sent", get "/closed")
  end)
end)

describe("the handler of docs/hosts/openresty.md for a client that leaves", function()
  local socket = require "socket"

  local function block_of(page, first)
    local file = assert(io.open(page))
    local text = file:read "*a"
    file:close()
    local at = assert(text:find("```nginx\n" .. first, 1, true))
    return text:sub(at + #"```nginx\n", assert(text:find("\n```", at, true)))
  end

  local server

  local function start()
    local account = assert(sim.world:account { role = "main", balances = { USDT = "1000" } })
    local root = io.popen("pwd"):read "*l"
    server = nginx.start([[
      lua_package_path "${ROOT}/lua/?.lua;${ROOT}/lua/?/init.lua;;";
      lua_package_cpath "${ROOT}/build/luajit/?.so;;";
      lua_shared_dict notes 1m;
      lua_max_running_timers 1;
      init_worker_by_lua_block {
        local purser = require "purser"
        wallet_client = assert(purser.new { base_url = "${SIM}", api_key = "${KEY}", secret_key = "${SECRET}",
          rate_limit = false, transport = assert(purser.transport.openresty()) })
        local log = ngx.log
        ngx.log = function(level, ...)
          ngx.shared.notes:set("logged", table.concat { ... })
          return log(level, ...)
        end
      }
      server {
        listen 127.0.0.1:${PORT};
        lua_check_client_abort on;
        location = /note { content_by_lua_block { ngx.print(ngx.shared.notes:get "logged" or "") } }
        location = /busy { content_by_lua_block { ngx.timer.at(0, function() ngx.sleep(1.5) end) } }
    ]] .. block_of("docs/hosts/openresty.md", "location = /pay {") .. "}\n", { ROOT = root, SIM = sim.url,
      KEY = account.api_key, SECRET = account.secret_key })
  end

  after_each(function() server:stop() end)

  it("makes the payment once, though nginx dropped its timer before", function()
    start()
    local before = received "wallet.withdraw"
    local function get(target)
      return assert(http:send { method = "GET", base_url = server:url(), target = target, timeout_ms = 60000 })
    end
    get "/busy"
    local response = get "/pay"
    assert.same({ 200, before + 1 }, { response.status, received "wallet.withdraw" })
    assert.matches("^%w+\n$", response.body)
    assert.matches("lua_max_running_timers are not enough", server:errors())
  end)

  it("makes the payment and says how it ended, though nginx ends the handler", function()
    start()
    assert(sim.world:fault { kind = "slow", delay_ms = 500, operation = "wallet.withdraw", times = 1 })
    local before = received "wallet.withdraw"
    local client = assert(socket.connect("127.0.0.1", server.port))
    assert(client:send "GET /pay HTTP/1.0\r\n\r\n")
    eventually(function() return received "wallet.withdraw" > before end)
    client:close()
    local note
    eventually(function()
      note = assert(http:send { method = "GET", base_url = server:url(), target = "/note", timeout_ms = 60000 }).body
      return note ~= ""
    end)
    assert.matches("^invoice%-1: %w+$", note)
    assert.equal(before + 1, received "wallet.withdraw")
  end)
end)

-- The last one: it sets the clock of the service ahead.
describe("the worker", function()
  local DELAY_MS, CALLS, PROBES = 60000, 200, 50

  -- Returns the median and the longest answer, in milliseconds, of a location that needs no service.
  local function probe()
    local times = {}
    for i = 1, PROBES do
      local status, _, response = gateway:ask("GET", "/health")
      assert.equal(200, status)
      times[i] = response.total_us / 1000
    end
    table.sort(times)
    return times[PROBES / 2], times[PROBES]
  end

  it("keeps answering while 200 calls wait for a slow service", function()
    local idle, idle_longest = probe()
    local before = received "wallet.deposit_history"
    assert(sim.world:fault { kind = "slow", delay_ms = DELAY_MS, operation = "wallet.deposit_history", times = CALLS })
    local multi = assert(libcurl.multi { max_in_flight = CALLS, http_version = "1.1" })
    for _ = 1, CALLS do
      multi:submit(gateway:request("GET", "/deposits"))
    end
    repeat
      multi:step()
      multi:wait(5)
    until received "wallet.deposit_history" >= before + CALLS
    local busy, busy_longest = probe()
    multi:step()
    assert.is_nil((multi:next())) -- all of them still wait: no call kept the worker to itself
    assert(sim.world:advance(DELAY_MS))
    local answered = 0
    while answered < CALLS do
      multi:wait(1000)
      multi:step()
      for _, response, failure in function() return multi:next() end do
        assert(response, failure and failure.message)
        assert.equal(200, response.status, response.body)
        answered = answered + 1
      end
    end
    multi:close()
    print(("# a plain location while %d calls wait: median %.2f ms, longest %.2f ms; idle %.2f and %.2f ms"):format(
      CALLS, busy, busy_longest, idle, idle_longest))
    assert.equal("", gateway.server:errors())
  end)
end)
