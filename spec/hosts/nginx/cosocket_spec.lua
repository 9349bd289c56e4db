-- SPDX-License-Identifier: MIT
-- The transport on nginx's own sockets, inside a real nginx.
-- (spec/hosts/cosocket_test.lua has the check of a transport, and nginx's phases.)

local contract = require "nginx_transport_contract"
local cosocket = require "purser.hosts.nginx.cosocket"

local MODULE = "purser.hosts.nginx.cosocket"

describe("a transport inside nginx, on its own sockets,", function()
  local stage = contract.stage(MODULE)

  setup(stage.start)
  teardown(stage.stop)
  before_each(stage.reset)

  contract.of(it, MODULE, stage)

  it("gives a write call a connection of its own, and keeps one for reads", function()
    local mark = stage.peer:count()
    for _, request in ipairs { contract.ONCE, "", contract.ONCE, "", "" } do
      assert.equal("200 {}", stage.inside:exchange(stage.peer:url(), request))
    end
    assert.equal(3, stage.peer:count(mark).connections)
  end)

  it("repeats a read whose kept connection ended without an answer, and no write call", function()
    stage.peer:script "head body ok;head body close"
    local mark = stage.peer:count()
    assert.equal("200 {}", stage.inside:exchange(stage.peer:url(), ""))
    assert.equal("200 {}", stage.inside:exchange(stage.peer:url(), ""))
    assert.equal(3, stage.peer:count(mark).requests)
  end)

  it("takes each option up to its bounds, and has a default for each", function()
    for options, expected in pairs {
      ["{}"] = "timeout_ms 10000 connect_timeout_ms 3000 max_response_bytes 16777216 idle_ms 60000 max_idle 64 "
        .. "allow_insecure false",
      ["{ timeout_ms = 1, connect_timeout_ms = 1, max_response_bytes = 1, idle_ms = 1, max_idle = 1 }"] =
        "timeout_ms 1 connect_timeout_ms 1 max_response_bytes 1 idle_ms 1 max_idle 1 allow_insecure false",
      ["{ timeout_ms = 86400000, connect_timeout_ms = 86400000, max_response_bytes = 2 ^ 30, idle_ms = 86400000, "
        .. "max_idle = 10000, allow_insecure = true }"] = "timeout_ms 86400000 connect_timeout_ms 86400000 "
        .. "max_response_bytes 1073741824 idle_ms 86400000 max_idle 10000 allow_insecure true",
    } do
      assert.equal(expected, stage.inside:run(([[
        local made, words = assert(require("%s").new(%s)), {}
        local names = "timeout_ms connect_timeout_ms max_response_bytes idle_ms max_idle allow_insecure"
        for name in names:gmatch "%%S+" do
          words[#words + 1] = name .. " " .. tostring(made.options[name])
        end
        made:close()
        return table.concat(words, " ")]]):format(MODULE, options)))
    end
  end)

  it("rejects options that it cannot keep", function()
    for options, expected in pairs {
      ['{ proxy = "http://127.0.0.1:1" }'] =
        '"proxy" is not supported on nginx\'s sockets; use purser.transport.openresty',
      ['{ ca_file = "x" }'] = '"ca_file" is not supported',
      ["{ idle_mss = 1 }"] = '"idle_mss" is not known (did you mean "idle_ms"?)',
      ["{ timeout_ms = 0 }"] = '"timeout_ms" is 0; it must be a whole number',
      ["{ connect_timeout_ms = 86400001 }"] = '"connect_timeout_ms" is 86400001',
      ["{ max_response_bytes = 0 }"] = '"max_response_bytes" is 0', ["{ idle_ms = 0 }"] = '"idle_ms" is 0',
      ["{ idle_ms = 86400001 }"] = '"idle_ms" is 86400001', ["{ max_idle = 10001 }"] = '"max_idle" is 10001',
      ["{ allow_insecure = 1 }"] = '"allow_insecure" is a number',
      ["5"] = "transport options are given as a number; give a table",
    } do
      local message = stage.inside:run(('return select(2, require("%s").new(%s))'):format(MODULE, options))
      assert.is_truthy(message:find(expected, 1, true), message)
    end
  end)
end)

describe("a transport on nginx's own sockets", function()
  it("is not made outside of nginx", function()
    assert.same({ nil, "this host is not nginx" }, { cosocket.new {} })
  end)
end)
