-- SPDX-License-Identifier: MIT
--- The contract of both transports for nginx, inside a real nginx; the spec of a transport calls it.
---
---     describe("a transport inside nginx", function()
---       local stage = contract.stage "purser.hosts.nginx.cosocket"
---       setup(stage.start) teardown(stage.stop) before_each(stage.reset)
---       contract.of(it, "purser.hosts.nginx.cosocket", stage)

local assert = require "luassert"
local inside_nginx = require "inside_nginx"
local patiently = require "patiently"
local peers = require "peer"

local M = {}

--- The members of a write call's request.
M.ONCE = 'method = "POST", target = "/w", body = "{}", at_most_once = true, '

--- A peer, and an nginx with that transport to it, once `start` has run: stage.peer, stage.inside.
function M.stage(module)
  local stage = {}

  function stage.start()
    stage.peer = peers.start()
    stage.inside = inside_nginx.start(('require("%s").new { max_response_bytes = 1000 }'):format(module))
  end

  function stage.stop()
    stage.inside:stop()
    stage.peer:stop()
  end

  function stage.reset()
    stage.peer:script "head body ok"
    stage.inside:renew()
  end

  return stage
end

function M.of(it, module, stage)
  it("is made in a worker, not before there are any", function()
    assert.equal("nil make the transport in a worker (init_worker_by_lua, or at its first use), not in init_by_lua",
      stage.inside:run "return tostring(in_init[1]), in_init[2]")
  end)

  it("says of each ending what is certain, and sends a write call once", function()
    for steps, expected in pairs {
      ["head body ok"] = "200 {}",
      ["head body close"] = "transport unknown receive 1",
      ["head body reset"] = "transport unknown receive 1",
      ["head body " .. peers.send "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}" .. " close"] =
        "transport unknown receive 1",
      ["head body " .. peers.send "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" .. " fill=1001"] =
        "decode unknown receive 1",
    } do
      stage.peer:script(steps)
      stage.inside:renew()
      local mark = stage.peer:count()
      assert.equal(expected, stage.inside:exchange(stage.peer:url(), M.ONCE), steps)
      assert.equal(1, stage.peer:count(mark).requests, steps)
    end
    assert.equal("transport not_sent connect 0", stage.inside:exchange("http://127.0.0.1:1", M.ONCE))
  end)

  it("bounds an exchange by timeout_ms", function()
    stage.peer:script "head body stall"
    assert.equal("transport unknown receive 1", patiently(300, function(timeout_ms)
      local said = stage.inside:exchange(stage.peer:url(), M.ONCE .. "timeout_ms = " .. timeout_ms)
      return not said:find "not_sent" and said or nil, { outcome = "not_sent" }
    end))
  end)

  it("sends nothing that has no form", function()
    local mark = stage.peer:count()
    assert.equal("argument not_sent", stage.inside:exchange(stage.peer:url(), 'target = "a b"'):match "^%S+ %S+")
    assert.equal("argument not_sent", stage.inside:exchange("http://192.0.2.1", ""):match "^%S+ %S+")
    assert.equal(0, stage.peer:count(mark).connections)
  end)

  it("sends no request on a connection whose answer was discarded", function()
    local mark = stage.peer:count()
    assert.equal("200 200 200", stage.inside:run([[
      local get = { base_url = ${URL}, method = "GET", target = "/", timeout_ms = 20000 }
      local first = assert(transport:send(get))
      local second = assert(transport:send(get))
      transport:discard(second)
      return first.status, second.status, assert(transport:send(get)).status]], { URL = stage.peer:url() }))
    local count = stage.peer:count(mark)
    assert.same({ 3, 2 }, { count.requests, count.connections })
  end)

  it("answers calls while nginx runs no other timer, and after that", function()
    assert.equal("200 200 200 200 200", stage.inside:run([[
      local done = require("ngx.semaphore").new(0)
      local get = { base_url = ${URL}, method = "GET", target = "/", timeout_ms = 20000 }
      local function status()
        local response, failure = transport:send(get)
        return response and response.status or failure.message
      end
      local first = status()
      assert(ngx.timer.at(0, function() done:wait(60) end))
      ngx.sleep(0.01)
      local second, third = status(), status()
      done:post(1)
      ngx.sleep(0.01)
      return first, second, third, status(), status()]], { URL = stage.peer:url() }))
  end)

  it("is closed twice, and sends nothing afterwards", function()
    assert.equal("closed not_sent 0 " .. module:gsub("%.hosts", "") .. " (closed)", stage.inside:run([[
      local own = assert(made())
      own:close()
      own:close()
      local _, failure = own:send { base_url = ${URL}, method = "GET", target = "/", timeout_ms = 1000 }
      return failure.kind, failure.outcome, failure.sends, tostring(own)]], { URL = stage.peer:url() }))
  end)
end

return M
