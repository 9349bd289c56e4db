-- SPDX-License-Identifier: MIT
-- The rate limit inside nginx: the store in a shared dictionary, for all workers, and in Redis over nginx's own
-- sockets.
-- make test-all: 15 s, waits

local libcurl = require "purser.client.util.libcurl"
local nginx = require "nginx"
local redis_server = require "redis_server"
local service = require "service"
local windows = require "windows"

-- The limit has half of the service's capacity: what a worker counted and sent late, because the machine let it stand
-- still, meets what the others send.
local CAPACITY, SERVICE_CAPACITY, WINDOW_MS, CALLS, WORKERS = 10, 20, 1000, 30, 4

local sim, server, redis, account

local CONFIGURATION = [[
lua_shared_dict limits 1m;
lua_package_path "${LUA};;";
lua_package_cpath "${CPATH};;";
init_worker_by_lua_block {
  local purser = require "purser"
  clients, limits = {}, {}
  local stores = { dict = { shared_dict = "limits" }, redis = { redis = { port = ${REDIS} }, namespace = "nginx" } }
  for name, store in pairs(stores) do
    limits[name] = purser.rate_limit { store = store,
      pools = { ip = { capacity = ${CAPACITY}, window_ms = 2 * ${WINDOW} } } }
  end
  function call(name)
    clients[name] = clients[name] or assert(purser.new { base_url = "${SERVICE}", api_key = "${KEY}",
      secret_key = "${SECRET}", retry = false, rate_limit = limits[name],
      transport = assert(purser.transport.openresty { timeout_ms = 60000 }) })
    local result, err = clients[name].wallet:convertible_balances()
    ngx.say(result and "done " .. ngx.worker.pid() or tostring(err))
  end
  -- what the store let go, by its own clock
  function reserve(name)
    local row = { full_name = "wallet.coins", effect = "read", weight = 1 }
    local takes, at = limits[name]:acquire(row, "key", function(_, ms) ngx.sleep(ms / 1000) end)
    ngx.say(takes and "at " .. ("%d"):format(at) .. " " .. ngx.worker.pid() or at)
  end
  function block() ngx.say(limits.dict:block(60000)) end
}
server {
  listen 127.0.0.1:${PORT} reuseport;
  location /health { return 200; }
  location /call/dict { content_by_lua_block { call "dict" } }
  location /call/redis { content_by_lua_block { call "redis" } }
  location /reserve { content_by_lua_block { reserve "dict" } }
  location /block { content_by_lua_block { block() } }
}
]]

setup(function()
  sim = service.start { "--rate-limit", ("%d/%d"):format(SERVICE_CAPACITY, WINDOW_MS) }
  account = assert(sim.world:account { role = "main", balances = { USDT = "1000" } })
  redis = redis_server.start()
  local here = io.popen("pwd"):read "*l"
  server = nginx.start(CONFIGURATION, { WORKERS = WORKERS, LUA = here .. "/lua/?.lua;" .. here .. "/lua/?/init.lua",
    CPATH = here .. "/build/luajit/?.so", SERVICE = sim.url, KEY = account.api_key, SECRET = account.secret_key,
    CAPACITY = CAPACITY, WINDOW = WINDOW_MS, REDIS = redis.port })
end)

teardown(function()
  if server then server:stop() end
  if redis then redis:stop() end
  if sim then sim.stop() end
end)

-- Asks for a path many times at once, each on a connection of its own. Returns the bodies.
local function ask(path, count)
  local multi = assert(libcurl.multi { base_url = server:url(), http_version = "1.1", max_in_flight = count,
    timeout_ms = 60000, fresh_connect = true })
  for _ = 1, count do assert(multi:submit { method = "GET", target = path }) end
  local bodies = {}
  while #bodies < count do
    multi:wait(1000)
    multi:step()
    local id, response, failure = multi:next()
    while id do
      assert(response, failure and failure.message)
      bodies[#bodies + 1] = response.body
      id, response, failure = multi:next()
    end
  end
  multi:close()
  return bodies
end

local function all_done(path)
  local before = sim.world:rate_limit().pools["ip 127.0.0.1"]
  before = before and before.total or 0
  for _, body in ipairs(ask(path, CALLS)) do assert.matches("^done %d+\n$", body) end
  local pool = sim.world:rate_limit().pools["ip 127.0.0.1"]
  assert.same({ 0, CALLS }, { pool.rejected, pool.total - before })
  assert(pool.peak <= SERVICE_CAPACITY)
end

describe("workers of nginx that share a dictionary", function()
  it("let no window hold more than the capacity, by the dictionary's clock", function()
    local sent, workers, count = {}, {}, 0
    for _, body in ipairs(ask("/reserve", CALLS)) do
      local at, pid = body:match "^at (%d+) (%d+)\n$"
      assert(at, body)
      sent[#sent + 1] = { tonumber(at), 1 }
      if not workers[pid] then count = count + 1 end
      workers[pid] = true
    end
    assert(windows.peak(sent, WINDOW_MS) <= CAPACITY)
    assert(count > 1, "one worker took all of them")
  end)

  it("stay below the pool of a real service", function() all_done "/call/dict" end)

  it("keep a block over a reload, and send nothing", function()
    assert.same({ "60000\n" }, ask("/block", 1))
    server:reload()
    for _, body in ipairs(ask("/call/dict", 8)) do assert.matches("the service asked for a pause", body, 1, true) end
  end)
end)

describe("workers of nginx that share a Redis server", function()
  it("stay below the pool of a real service, and never wait in a blocking call", function() all_done "/call/redis" end)
end)
