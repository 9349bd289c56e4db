-- SPDX-License-Identifier: MIT
-- The transport for nginx, inside a real nginx.
-- (spec/hosts/openresty_check_test.lua has the check of a transport, openresty_test.lua nginx's phases.)

local inside_nginx = require "inside_nginx"
local openresty = require "purser.nginx.openresty"
local peers = require "peer"

-- The members of a write call's request.
local ONCE = 'method = "POST", target = "/w", body = "{}", at_most_once = true, '

describe("a transport inside nginx", function()
  local peer, inside

  setup(function()
    peer = peers.start()
    inside = inside_nginx.start 'require("purser.nginx.openresty").new { max_response_bytes = 1000 }'
  end)
  teardown(function()
    inside:stop()
    peer:stop()
  end)
  before_each(function()
    peer:script "head body ok"
    inside:renew()
  end)

  it("is made in a worker, not before there are any", function()
    assert.equal("nil make the transport in a worker (init_worker_by_lua, or at its first use), not in init_by_lua",
      inside:run "return tostring(in_init[1]), in_init[2]")
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
      peer:script(steps)
      inside:renew()
      local mark = peer:count()
      assert.equal(expected, inside:exchange(peer:url(), ONCE), steps)
      assert.equal(1, peer:count(mark).requests, steps)
    end
    assert.equal("transport not_sent connect 0", inside:exchange("http://127.0.0.1:1", ONCE))
  end)

  it("bounds an exchange by timeout_ms", function()
    peer:script "head body stall"
    assert.equal("transport unknown receive 1", inside:exchange(peer:url(), ONCE .. "timeout_ms = 300"))
  end)

  it("sends nothing that has no form", function()
    local mark = peer:count()
    assert.equal("argument not_sent", inside:exchange(peer:url(), 'target = "a b"'):match "^%S+ %S+")
    assert.equal("argument not_sent", inside:exchange("http://192.0.2.1", ""):match "^%S+ %S+")
    assert.equal(0, peer:count(mark).connections)
  end)

  it("sends no request on a connection whose answer was discarded", function()
    local mark = peer:count()
    assert.equal("200 200 200", inside:run([[
      local get = { base_url = ${URL}, method = "GET", target = "/", timeout_ms = 20000 }
      local first = assert(transport:send(get))
      local second = assert(transport:send(get))
      transport:discard(second)
      return first.status, second.status, assert(transport:send(get)).status]], { URL = peer:url() }))
    local count = peer:count(mark)
    assert.same({ 3, 2 }, { count.requests, count.connections })
  end)

  it("is closed twice, and sends nothing afterwards", function()
    assert.equal("closed not_sent 0 purser.nginx.openresty (closed)", inside:run([[
      local own = assert(made())
      own:close()
      own:close()
      local _, failure = own:send { base_url = ${URL}, method = "GET", target = "/", timeout_ms = 1000 }
      return failure.kind, failure.outcome, failure.sends, tostring(own)]], { URL = peer:url() }))
  end)

  it("gives each of many calls its own answer, and those that end together too", function()
    peer:script "head body wait=20 ok"
    assert.equal("20", inside:run([[
      local threads, got = {}, 0
      for i = 1, 20 do
        threads[i] = ngx.thread.spawn(function()
          return transport:send { base_url = ${URL}, method = "GET", target = "/", timeout_ms = 20000 }
        end)
      end
      for _, thread in ipairs(threads) do
        local _, response = ngx.thread.wait(thread)
        if response and response.body == "{}" then got = got + 1 end
      end
      return got]], { URL = peer:url() }))
  end)

  it("rejects options that libcurl cannot use", function()
    assert.equal('transport option "tiemout_ms" is not known (did you mean "timeout_ms"?)',
      inside:run 'return select(2, require("purser.nginx.openresty").new { tiemout_ms = 1 })')
    assert.equal("the options are a number; give a table",
      inside:run 'return select(2, require("purser.nginx.openresty").new(5))')
  end)
end)

describe("a transport for nginx", function()
  it("is not made outside of nginx", function()
    assert.same({ nil, "this host is not nginx" }, { openresty.new {} })
  end)
end)
