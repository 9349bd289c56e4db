-- SPDX-License-Identifier: MIT
-- The transports inside a real nginx: the whole of transport_check for both, and what is nginx's own of
-- purser.transport.cosocket.
-- make test-all: 30 s, waits

local check = require "transport_check"
local libcurl = require "purser.client.util.libcurl"
local nginx = require "nginx"
local phases = require "nginx_phases"
local service = require "service"
local socket = require "socket"

local CONF = [[
lua_package_path "${ROOT}/lua/?.lua;${ROOT}/lua/?/init.lua;${ROOT}/spec/support/?.lua;;";
lua_package_cpath "${ROOT}/build/luajit/?.so;;";
lua_ssl_trusted_certificate ${CA};
lua_ssl_verify_depth 3;
lua_ssl_protocols TLSv1.2 TLSv1.3;
resolver 127.0.0.1:${NAMES} ipv6=off;
init_worker_by_lua_block {
  purser = require "purser"
  transport = assert(purser.transport.cosocket())
]] .. phases.NEW_CLIENT .. "}\n" .. phases.NOTES .. [[
server {
  listen 127.0.0.1:${PORT};
  location /check/ {
    content_by_lua_block {
      local kind = ngx.var.uri:match "%l+$"
      local report = require("transport_check").run({ url = "${CHECK}", tls = { ca_file = "${CA}",
        good = "${GOOD}", other_name = "${OTHER_NAME}", other_authority = "${OTHER_AUTHORITY}" } }, function(options)
          if kind == "cosocket" then options.ca_file = nil end -- nginx.conf names it
          return purser.transport[kind](options)
        end)
      ngx.print(tostring(report))
    }
  }
  location = /certificates {
    content_by_lua_block {
      for _, url in ipairs { "${OTHER_NAME}", "${OTHER_AUTHORITY}" } do
        local said = {}
        for i = 1, 20 do
          local _, failure = transport:send { method = i % 2 == 0 and "GET" or "POST", base_url = url,
            target = "/plain", at_most_once = i % 2 == 1, timeout_ms = 20000 }
          local words = failure and table.concat({ failure.outcome, failure.phase, failure.sends }, " ") or "answered"
          if failure and not failure.message:find "certificate" then words = failure.message end
          if not said[words] then
            said[words] = true
            ngx.say(words)
          end
        end
      end
    }
  }
  location = /cut {
    content_by_lua_block {
      for _, target in ipairs { "/plain", "/cut" } do
        local response, failure = transport:send { method = "GET", base_url = "${GOOD}", target = target,
          timeout_ms = 20000 }
        ngx.say(response and response.status or failure.outcome .. " " .. failure.message)
      end
    }
  }
  location = /calls {
    content_by_lua_block {
      local n
      for _ = 1, 200 do
        collectgarbage()
        n = 0
        for _ in pairs(transport.calls) do n = n + 1 end
        if n == 0 then break end
        ngx.sleep(0.01)
      end
      ngx.print(n)
    }
  }
  location = /ended {
    content_by_lua_block {
      for _ = 1, 10 do
        ngx.thread.spawn(transport.send, transport, { method = "GET", base_url = "${CHECK}", target = "/silent/ended",
          timeout_ms = 20000 })
      end
      local n = 0
      for _ in pairs(transport.calls) do n = n + 1 end
      ngx.print(n)
      ngx.exit(200)
    }
  }
]] .. phases.LOCATIONS .. [[
  location = /together {
    content_by_lua_block {
      local client, threads = new_client({ base_url = "${SIM}" }), {}
      for i = 1, 50 do threads[i] = ngx.thread.spawn(function() return client:server_time() end) end
      local got = 0
      for _, thread in ipairs(threads) do
        local ok, time = ngx.thread.wait(thread)
        if ok and time then got = got + 1 end
      end
      ngx.print(got)
    }
  }
  location = /reuse {
    content_by_lua_block {
      local function ask(once)
        local response = assert(transport:send { method = "GET", base_url = "${CHECK}", target = "/plain/reuse",
          timeout_ms = 20000, at_most_once = once })
        return response.reused and "kept" or "new"
      end
      local first, list = ask(false), {}
      for i = 1, 200 do list[i] = ask(false) end
      local kept = 0
      for _, word in ipairs(list) do kept = kept + (word == "kept" and 1 or 0) end
      ngx.print(first, " ", kept, " ", ask(true), " ", ask(true), " ", ask(false))
    }
  }
  location = /name_server {
    resolver 127.0.0.1:${DEAF} ipv6=off;
    content_by_lua_block {
      local started = require("purser.core").monotonic_ms()
      local _, failure = purser.transport.cosocket { allow_insecure = true }:send { method = "GET", target = "/",
        base_url = "http://slow.example:1", timeout_ms = 700, at_most_once = true }
      ngx.print(failure.outcome, " ", failure.phase, " ", require("purser.core").monotonic_ms() - started, " ",
        failure.message)
    }
  }
  location = /address {
    content_by_lua_block {
      local _, failure = transport:send { method = "GET", base_url = "https://127.0.0.1:1", target = "/" }
      ngx.print(failure.outcome, " ", failure.message)
    }
  }
  location = /clear {
    resolver 127.0.0.1:${DEAF} ipv6=off;
    content_by_lua_block {
      for _, kind in ipairs { "cosocket", "openresty" } do
        local own = assert(purser.transport[kind] {})
        for _, host in ipairs { "service.example", "192.0.2.1", "[2001:db8::1]", "127.0.0.256", "127.1",
          "127.0.0.1.example", "localhost.example", "0x7f.0.0.1", "[::ffff:127.0.0.1]" } do
          local _, failure = own:send { method = "GET", base_url = "http://" .. host .. ":1", target = "/",
            timeout_ms = 300 }
          ngx.say(kind, " ", host, " ", failure.kind, " ", failure.outcome, " ",
            failure.message:find("allow_insecure", 1, true) and "names the option" or failure.message)
        end
        local _, own_machine = own:send { method = "GET", base_url = "http://LocalHost:1", target = "/" }
        local is_refused = own_machine.message:find("refused", 1, true)
          or own_machine.message:find("Couldn't connect to server", 1, true)
        ngx.say(kind, " localhost ", own_machine.phase, " ", is_refused and "refused" or own_machine.message)
        own:close()
      end
    }
  }
  location = /closed {
    content_by_lua_block {
      local own = assert(purser.transport.cosocket())
      local thread = ngx.thread.spawn(function()
        return select(2, own:send { method = "POST", base_url = "${CHECK}", target = "/silent/closed",
          timeout_ms = 20000, at_most_once = true })
      end)
      local counted
      repeat
        counted = assert(transport:send { method = "GET", base_url = "${CHECK}", target = "/count/closed",
          timeout_ms = 20000 })
      until counted.body:sub(1, 1) == "1"
      own:close()
      local _, failure = ngx.thread.wait(thread)
      local _, later = own:send { method = "GET", base_url = "${CHECK}", target = "/plain/closed" }
      ngx.print(failure.kind, " ", failure.outcome, ", ", later.kind, " ", later.outcome, ", ", tostring(own))
    }
  }
}
]]

local ROOT
do
  local pipe = io.popen "pwd"
  ROOT = pipe:read "*l"
  pipe:close()
end

local hostile, sim, deaf, http

setup(function()
  hostile = assert(check.start())
  sim = service.start()
  deaf = assert(socket.udp())
  assert(deaf:setsockname("127.0.0.1", 0))
  http = assert(libcurl.easy {})
end)

teardown(function()
  if hostile then hostile:stop() end
  if sim then sim.stop() end
end)

local function start(values)
  local _, deaf_port = deaf:getsockname()
  values = values or {}
  return nginx.start(CONF, { ROOT = ROOT, SIM = sim.url, CHECK = hostile.url, CA = hostile.tls.ca_file,
    GOOD = hostile.tls.good, OTHER_NAME = hostile.tls.other_name, OTHER_AUTHORITY = hostile.tls.other_authority,
    NAMES = hostile.name_port, DEAF = deaf_port, WORKERS = values.WORKERS, EVENTS = values.EVENTS })
end

local function get(server, target)
  return assert(http:send { method = "GET", base_url = server:url(), target = target, timeout_ms = 120000 }).body
end

-- With the mutex nginx puts events off, also those that say that a kept connection is not quiet.
for _, values in ipairs { { WORKERS = 1, EVENTS = "" }, { WORKERS = 2, EVENTS = "accept_mutex on;" } } do
  describe(("nginx with %d workers"):format(values.WORKERS), function()
    local server

    setup(function() server = start(values) end)
    teardown(function() server:stop() end)

    it("passes the check of a transport, on its own sockets", function()
      local report = get(server, "/check/cosocket")
      assert.matches("\n36 passed, 0 failed$", report, 1, nil, report)
    end)
  end)
end

describe("purser.hosts.nginx.cosocket", function()
  local server

  setup(function() server = start() end)
  teardown(function()
    local errors = server:errors()
    server:stop()
    -- what nginx itself says of what the tests do
    for line in errors:gmatch "[^\n]+" do
      assert.is_truthy(line:find("could not be resolved", 1, true) or line:find("timed out", 1, true)
        or line:find("Connection refused", 1, true)
        or line:find("lua ssl certificate", 1, true) or line:find("closed socket", 1, true), line)
    end
  end)

  it("sends nothing where a certificate is not accepted, however quickly that is known", function()
    assert.equal("not_sent tls 0\nnot_sent tls 0\n", get(server, "/certificates"))
  end)

  it("takes no answer over TLS whose end is the end of the connection: anybody can cut it off", function()
    local file = assert(io.open(hostile.folder .. "/cut", "w"))
    file:write "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}"
    file:close()
    assert.equal("200\nunknown the answer has no length, and the end of a connection is no certain end\n",
      get(server, "/cut"))
  end)

  it("keeps nothing of a call whose coroutine nginx ended", function()
    assert.equal("10", get(server, "/ended"))
    assert.equal("0", get(server, "/calls"))
  end)

  phases.of(it, function(target) return get(server, target) end)

  it("makes calls of light threads side by side", function()
    assert.equal("50", get(server, "/together"))
  end)

  it("keeps connections for reads, and gives a write call one of its own", function()
    assert.equal("new 200 new new kept", get(server, "/reuse"))
  end)

  it("bounds the whole exchange, the search for the name included", function()
    local outcome, phase, ms, message = get(server, "/name_server"):match "^(%S+) (%S+) (%d+) (.*)$"
    assert.same({ "not_sent", "connect", "the time ran out (700 ms)" }, { outcome, phase, message })
    assert.is_true(tonumber(ms) < 15000) -- nginx itself gives a name server 30 seconds
  end)

  it("sends nothing in the clear to another machine, and neither does the other transport of nginx", function()
    local lines = {}
    for line in get(server, "/clear"):gmatch "[^\n]+" do lines[#lines + 1] = line end
    assert.equal(20, #lines)
    for i, line in ipairs(lines) do
      assert.matches(i % 10 == 0 and " localhost connect refused$" or " argument not_sent names the option$", line)
    end
  end)

  it("says that it sends nothing to an address over TLS", function()
    assert.matches("^not_sent .*address; use purser.transport.openresty", get(server, "/address"))
  end)

  it("ends what waits when it is closed", function()
    assert.equal("closed unknown, closed not_sent, purser.nginx.cosocket (closed)", get(server, "/closed"))
  end)
end)

describe("purser.hosts.nginx.openresty", function()
  it("passes the check of a transport", function()
    local server = start()
    local report = get(server, "/check/openresty")
    server:stop()
    assert.matches("\n36 passed, 0 failed$", report, 1, nil, report)
  end)
end)
