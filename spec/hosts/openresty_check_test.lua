-- SPDX-License-Identifier: MIT
-- The transport for nginx inside a real nginx: the whole check of a transport, and nothing in the clear.
-- make test-all: 9 s, waits

local check = require "transport_check"
local files = require "files"
local libcurl = require "purser.util.libcurl"
local nginx = require "nginx"

local CONF = [[
lua_package_path "${ROOT}/lua/?.lua;${ROOT}/lua/?/init.lua;${ROOT}/spec/support/?.lua;;";
lua_package_cpath "${ROOT}/build/luajit/?.so;;";
init_worker_by_lua_block { purser = require "purser" }
server {
  listen 127.0.0.1:${PORT};
  location = /check {
    content_by_lua_block {
      local report = require("transport_check").run({ url = "${CHECK}", tls = { ca_file = "${CA}", good = "${GOOD}",
        other_name = "${OTHER_NAME}", other_authority = "${OTHER_AUTHORITY}" } }, purser.transport.openresty)
      ngx.print(tostring(report))
    }
  }
  location = /clear {
    content_by_lua_block {
      local own = assert(purser.transport.openresty {})
      for _, host in ipairs { "service.example", "192.0.2.1", "[2001:db8::1]", "127.0.0.256", "127.1",
        "127.0.0.1.example", "localhost.example", "0x7f.0.0.1", "[::ffff:127.0.0.1]" } do
        local _, failure = own:send { method = "GET", base_url = "http://" .. host .. ":1", target = "/",
          timeout_ms = 300 }
        ngx.say(host, " ", failure.kind, " ", failure.outcome, " ",
          failure.message:find("allow_insecure", 1, true) and "names the option" or failure.message)
      end
      local _, own_machine = own:send { method = "GET", base_url = "http://LocalHost:1", target = "/" }
      ngx.say("localhost ", own_machine.kind)
      own:close()
    }
  }
}
]]

describe("purser.nginx.openresty", function()
  local hostile, server, http

  setup(function()
    hostile = assert(check.start())
    http = assert(libcurl.easy {})
    server = nginx.start(CONF, { ROOT = files.output_of("pwd"):match "[^\n]+", CHECK = hostile.url,
      CA = hostile.tls.ca_file, GOOD = hostile.tls.good, OTHER_NAME = hostile.tls.other_name,
      OTHER_AUTHORITY = hostile.tls.other_authority })
  end)

  teardown(function()
    server:stop()
    hostile:stop()
  end)

  local function get(target)
    return assert(http:send { method = "GET", base_url = server:url(), target = target, timeout_ms = 120000 }).body
  end

  it("passes the check of a transport", function()
    local report = get "/check"
    assert.matches("\n35 passed, 0 failed$", report, 1, nil, report)
  end)

  it("sends nothing in the clear to another machine", function()
    local lines = {}
    for line in get("/clear"):gmatch "[^\n]+" do lines[#lines + 1] = line end
    assert.equal(10, #lines)
    for i, line in ipairs(lines) do
      assert.matches(i == 10 and "^localhost transport$" or " argument not_sent names the option$", line)
    end
  end)
end)
