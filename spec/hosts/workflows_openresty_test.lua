-- SPDX-License-Identifier: MIT
-- Walks and waits inside nginx: they go on to the end, and other requests are answered meanwhile.

local core = require "purser.core"
local libcurl = require "purser.client.util.libcurl"
local nginx = require "nginx"
local service = require "service"

local DAY = 86400000

describe("inside nginx", function()
  local sim, server, http

  setup(function()
    sim = service.start {}
    local account = assert(sim.world:account { role = "main", email = "a@example.org" })
    local pipe = io.popen "pwd"
    local root = pipe:read "*l"
    pipe:close()
    for i = 1, 1500 do
      assert(sim.world:deposit { account = account.uid, coin = "USDT", network = "TRX", amount = "5",
        time = core.now_ms() - 80 * DAY + i * 60000 })
    end
    server = nginx.start([[
      lua_package_path "${root}/lua/?.lua;${root}/lua/?/init.lua;;";
      lua_package_cpath "${root}/build/luajit/?.so;;";
      init_worker_by_lua_block {
        local purser = require "purser"
        client = assert(purser.new { base_url = "${url}", api_key = "${key}", secret_key = "${secret}",
          transport = assert(purser.transport.openresty()) })
      }
      server {
        listen 127.0.0.1:${PORT};
        location /walk { content_by_lua_block {
          local count = 0
          for _ in client.wallet:each_deposit {} do count = count + 1 end
          ngx.print(count)
        } }
        location /wait { content_by_lua_block {
          local started = ngx.now()
          local _, err = client.wallet:wait_withdrawal("none", { deadline_ms = 300, first_ms = 100 })
          ngx.print(err.outcome, " ", ngx.now() - started >= 0.29)
        } }
      }]], { root = root, url = sim.url, key = account.api_key, secret = account.secret_key })
    http = assert(libcurl.easy { base_url = server:url() })
  end)

  teardown(function()
    if http then http:close() end
    if server then server:stop() end
    sim.stop()
  end)

  local function get(target)
    local response = assert(http:send { method = "GET", base_url = server:url(), target = target, body = "",
      timeout_ms = 120000 })
    return response.body
  end

  it("nginx keeps its files in its own folder", function()
    local pipe = io.popen(("for file in /proc/$(cat %s/nginx.pid)/fd/*; do readlink $file; done"):format(server.folder))
    local own = 0
    for path in pipe:lines() do
      if path:sub(1, #server.folder) == server.folder then own = own + 1
      elseif path:sub(1, 1) == "/" then assert.matches("^/dev/", path) end
    end
    pipe:close()
    assert.is_true(own > 0)
  end)

  it("a walk delivers every record", function()
    assert.equal("1500", get "/walk")
    assert.equal("", server:errors())
  end)

  it("a wait ends at its deadline", function()
    assert.equal("unknown true", get "/wait")
  end)
end)
