-- SPDX-License-Identifier: MIT
-- Connections to Redis inside nginx, on an nginx that only notes: the phases with sockets, and the pool.

local resp = require "purser.hosts.limits.resp"

describe("a connection to Redis inside nginx", function()
  local before, phase, said, reused

  before_each(function()
    before, said, reused = rawget(_G, "ngx"), {}, 0
    local socket = { getreusedtimes = function() return reused end }
    function socket.settimeout(_, ms) said[#said + 1] = ms end
    function socket.connect(_, host, port, kept)
      said[#said + 1] = type(port) == "table" and ("%s %s"):format(host, port.pool)
        or ("%s %d %s"):format(host, port, kept.pool)
      return 1
    end
    function socket.setkeepalive(_, idle_ms, count) said[#said + 1] = ("kept %d %d"):format(idle_ms, count) end
    rawset(_G, "ngx", { socket = { tcp = function() return socket end }, get_phase = function() return phase end })
  end)
  after_each(function() rawset(_G, "ngx", before) end)

  it("is a socket of nginx in the phases that can wait for one, and else LuaSocket's", function()
    for each, is_nginx in pairs { rewrite = true, access = true, content = true, timer = true, log = false,
      init_worker = false, header_filter = false } do
      phase, said = each, {}
      local connection, why = resp.connect({ port = 1 }, 70, "pool")
      if is_nginx then
        assert.is_true(connection.in_nginx, each)
        assert.same({ 70, "127.0.0.1 1 pool" }, said, each)
      else
        assert.matches("no connection to 127.0.0.1:1: ", why, 1, true)
        assert.same({}, said, each)
      end
    end
  end)

  it("leads to this machine by an address, which nginx takes to no name server", function()
    phase = "content"
    for host, place in pairs { localhost = "127.0.0.1", LOCALHOST = "127.0.0.1", ["127.0.0.2"] = "127.0.0.2",
      ["::1"] = "[::1]", ["redis.example"] = "redis.example" } do
      said = {}
      assert(resp.connect({ host = host, port = 1 }, 70, "pool"))
      assert.same({ 70, place .. " 1 pool" }, said)
    end
  end)

  it("goes back to its pool, and was greeted where it comes from there", function()
    phase = "content"
    local connection = assert(resp.connect({ path = "/run/redis.sock" }, 70, "pool"))
    assert.is_false(connection:is_used())
    connection:rest()
    assert.same({ 70, "unix:/run/redis.sock pool", "kept 60000 32" }, said)
    reused = 1
    assert.is_true(connection:is_used())
  end)
end)
