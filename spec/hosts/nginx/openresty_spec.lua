-- SPDX-License-Identifier: MIT
-- The transport on libcurl for nginx, inside a real nginx.
-- (spec/hosts/openresty_test.lua and cosocket_test.lua have the check of a transport, and nginx's phases.)

local contract = require "nginx_transport_contract"
local openresty = require "purser.hosts.nginx.openresty"

local MODULE = "purser.hosts.nginx.openresty"

describe("a transport inside nginx, on libcurl,", function()
  local stage = contract.stage(MODULE)

  setup(stage.start)
  teardown(stage.stop)
  before_each(stage.reset)

  contract.of(it, MODULE, stage)

  it("gives each of many calls its own answer, and those that end together too", function()
    stage.peer:script "head body wait=20 ok"
    assert.equal("20", stage.inside:run([[
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
      return got]], { URL = stage.peer:url() }))
  end)

  it("is stepped by another call when nginx ends the one that stepped for all", function()
    stage.peer:script "head body wait=600 ok"
    local mark = stage.peer:count()
    assert.equal("200", stage.inside:run([[
      local function send()
        return transport:send { base_url = ${URL}, method = "GET", target = "/", timeout_ms = 20000 }
      end
      local steps = ngx.thread.spawn(send)
      local waits = ngx.thread.spawn(send)
      ngx.sleep(0.05)
      ngx.thread.kill(steps)
      local _, response = ngx.thread.wait(waits)
      return response.status]], { URL = stage.peer:url() }))
    assert.equal(2, stage.peer:count(mark).connections)
  end)

  it("sends nothing where nginx cannot wait", function()
    assert.equal("argument not_sent not here 0", stage.inside:run [[
      local phases = require "purser.hosts.nginx.phases"
      local kept = phases.no_wait
      phases.no_wait = function() return "not here" end
      local _, failure = transport:send { method = "GET", target = "/" }
      phases.no_wait = kept
      return table.concat({ failure.kind, failure.outcome, failure.message, failure.sends }, " ")]])
  end)

  it("rejects options that libcurl cannot use", function()
    assert.matches('^transport option "tiemout_ms" is not known; there are outside_tasks, .*, base_url, timeout_ms, ',
      stage.inside:run 'return select(2, require("purser.hosts.nginx.openresty").new { tiemout_ms = 1 })')
    assert.equal("the options are a number; give a table",
      stage.inside:run 'return select(2, require("purser.hosts.nginx.openresty").new(5))')
  end)
end)

describe("a transport for nginx on libcurl", function()
  it("is not made outside of nginx", function()
    assert.same({ nil, "this host is not nginx" }, { openresty.new {} })
  end)
end)
