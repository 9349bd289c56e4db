-- SPDX-License-Identifier: MIT
-- The store in a dictionary of nginx, asked inside a real nginx. spec/hosts/limits_nginx_test.lua shares one between
-- workers.
-- make test: 2 s, on lua5.4 and luajit

local nginx = require "nginx"
local property = require "store_property"
local purser = require "purser"
local shared_dict = require "purser.hosts.limits.shared_dict"

local CONFIGURATION = [[
lua_shared_dict limits 64k;
lua_package_path "${LUA};;";
lua_package_cpath "${CPATH};;";
server {
  listen 127.0.0.1:${PORT};
  location = /run {
    content_by_lua_block {
      ngx.req.read_body()
      local run = assert(loadstring(ngx.req.get_body_data()))
      ngx.say(run(require "purser.hosts.limits.shared_dict", require "purser"))
    }
  }
}
]]

-- The head of each program here.
local HEAD = [[
  local shared_dict, purser = ...
  ngx.shared.limits:flush_all()
  ngx.shared.limits:flush_expired()
  local store = assert(shared_dict.new { shared_dict = "limits" })
  local COINS = { full_name = "wallet.coins", effect = "read", weight = 1 }
  -- "0" where a call goes, else why it does not
  local function limit_of(namespace, pools, max_wait_ms)
    local limit = purser.rate_limit { store = { shared_dict = "limits", namespace = namespace },
      max_wait_ms = max_wait_ms, when_full = not max_wait_ms and "reject" or nil,
      pools = pools or { ip = { capacity = 2, window_ms = 3600000 } } }
    return function(key)
      local takes, why = limit:acquire(COINS, key or "key", error)
      return takes and "0" or why
    end, limit
  end
]]

describe("the store in a shared dictionary", function()
  local server, connection

  setup(function()
    local here = io.popen("pwd"):read "*l"
    server = nginx.start(CONFIGURATION, { LUA = here .. "/lua/?.lua;" .. here .. "/lua/?/init.lua",
      CPATH = here .. "/build/luajit/?.so" })
    connection = assert(purser.transport.curl { base_url = server:url(), timeout_ms = 60000 })
  end)

  teardown(function()
    if connection then connection:close() end
    if server then server:stop() end
  end)

  -- Returns what a program says inside nginx.
  local function run(program)
    local response = assert(connection:send { method = "POST", target = "/run", headers = {}, body = HEAD .. program })
    assert(response.status == 200, server:errors())
    return (response.body:gsub("\n$", ""))
  end

  it("counts for all that name it, apart from those of another namespace", function()
    assert.equal("0 0 the request weight is used up 0 2", run [[
      local first, limit = limit_of()
      local same, other = limit_of(), limit_of "other"
      return table.concat({ first(), same(), first(), other(), limit:status()[1].used }, " ")
    ]])
  end)

  it("that is full says so, and forgets nothing that counts", function()
    assert.equal("the rate limit's store (shared_dict) cannot be used: the dictionary is full: no memory 2", run [[
      local POOL = { capacity = 2, window_ms = 3600000 }
      local call, limit = limit_of(nil, { ip = POOL })
      for _ = 1, 2 do assert(call() == "0") end
      local own = limit_of(nil, { ip = false, account = { capacity = 2, window_ms = 3600000, scope = "account" } })
      local why
      for i = 1, 1000 do
        why = own("key" .. i)
        if why ~= "0" then break end
      end
      return why .. " " .. limit:status()[1].used
    ]])
  end)

  it("has room where nothing that is kept counts any more, whatever else is in it", function()
    assert.equal("0", run [[
      local dict, i, why = ngx.shared.limits, 0, nil
      local _
      dict:set("for ever", "x") -- the oldest, which stops nginx from looking for what is over
      repeat
        i = i + 1
        _, why = dict:safe_set("account" .. i, ("x"):rep(300), 0.001)
      until why
      ngx.sleep(0.05)
      return limit_of()()
    ]])
  end)

  it("waits for the lock of a worker that is slow or died, as long as the call may wait, and is not away then",
    function()
      assert.equal("0 0 0 the rate limit's store (shared_dict) cannot be used: another worker keeps its lock 0", run [[
        local dict, said = ngx.shared.limits, {}
        for i, ms in ipairs { 50, 300, 990 } do
          dict:set("purser lock", "slow", ms / 1000)
          said[i] = limit_of(nil, { ip = { capacity = 9, window_ms = 60000 } }, i == 1 and 60000 or nil)()
        end
        dict:set("purser lock", "slow")
        local call = limit_of(nil, { ip = { capacity = 9, window_ms = 60000 } }, 100)
        said[4] = call()
        dict:delete "purser lock"
        said[5] = call()
        return table.concat(said, " ")
      ]])
    end)

  it("writes nothing where it has lost the lock meanwhile, and leaves the lock to its new owner", function()
    assert.equal("its lock was lost other nil", run [[
      local _, why = store:transact({}, function(kv)
        ngx.shared.limits:set("purser lock", "other")
        kv.put("ip", { { 1 } }, 0)
      end, 100)
      local owner = ngx.shared.limits:get "purser lock"
      return why .. " " .. owner .. " " .. tostring(ngx.shared.limits:get "purser ip")
    ]])
  end)

  it("gives the lock back where the rule raises", function()
    assert.equal("what it keeps makes no sense: boom nil", run [[
      local _, why = store:transact({}, function() error("boom", 0) end, 100)
      return why .. " " .. tostring(ngx.shared.limits:get "purser lock")
    ]])
  end)

  it("is none where nginx has no such dictionary, or this is no nginx", function()
    assert.matches("there is no shared dictionary \"none\"; add `lua_shared_dict none 1m;`",
      run [[return (select(2, shared_dict.new { shared_dict = "none" }))]], 1, true)
    local store, problem = shared_dict.new { shared_dict = "limits" }
    assert.is_nil(store)
    assert.matches("lua_shared_dict limits 1m;", problem, 1, true)
  end)
end)

describe("the store in a shared dictionary, on a clock that only waits move", function()
  local core = require "purser.core"
  local monotonic_ms, before = core.monotonic_ms, rawget(_G, "ngx")

  after_each(function()
    core.monotonic_ms = monotonic_ms
    rawset(_G, "ngx", before)
  end)

  -- Returns a dictionary as nginx has one: what is kept ends at its time.
  local function dictionary(world)
    local dict, kept = {}, {}
    function dict.get(_, name)
      local entry = kept[name]
      return entry and entry.ends > world.now and entry.value or nil
    end
    function dict.safe_set(_, name, value, seconds)
      kept[name] = { value = value, ends = seconds > 0 and world.now + seconds * 1000 or math.huge }
      return true
    end
    function dict.safe_add(_, name, value, seconds)
      if dict:get(name) then return nil, "exists" end
      return dict:safe_set(name, value, seconds)
    end
    function dict.delete(_, name) kept[name] = nil end
    return dict
  end

  -- nginx runs LuaJIT; the coroutines of Lua 5.1 cannot wait inside of the store's protected call.
  if _VERSION == "Lua 5.1" and not rawget(_G, "jit") then return end

  property.of(it, function(world)
    local dict = dictionary(world)
    core.monotonic_ms = function() return world.now end
    rawset(_G, "ngx", { shared = { limits = dict }, worker = { pid = function() return 1 end },
      sleep = function(seconds) world:sleep(seconds * 1000) end })
    return { new = function() return assert(shared_dict.new { shared_dict = "limits" }) end, harms = {
      function() dict:safe_add("purser lock", "a worker that died", 1) end,
    } }
  end, 20)
end)
