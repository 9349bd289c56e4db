-- SPDX-License-Identifier: MIT
-- The store in a dictionary of nginx, asked inside a real nginx. spec/hosts/limits_nginx_test.lua shares one between
-- workers.

local nginx = require "nginx"
local purser = require "purser"
local shared_dict = require "purser.limits.shared_dict"

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
      ngx.say(run(require "purser.limits.shared_dict"))
    }
  }
}
]]

-- What each program here begins with.
local HEAD = [[
  local shared_dict = ...
  local SPAN = 3600000
  ngx.shared.limits:flush_all()
  ngx.shared.limits:flush_expired()
  local store = assert(shared_dict.new { shared_dict = "limits" })
  local function takes(name) return { name, 1, 2, SPAN } end
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

  -- What a program says inside nginx.
  local function run(program)
    local response = assert(connection:send { method = "POST", target = "/run", headers = {}, body = HEAD .. program })
    assert(response.status == 200, server:errors())
    return (response.body:gsub("\n$", ""))
  end

  it("counts for all that name it, apart from those of another namespace", function()
    assert.equal("0 0 true 0 2", run [[
      local same = assert(shared_dict.new { shared_dict = "limits" })
      local other = assert(shared_dict.new { shared_dict = "limits", namespace = "other" })
      local first, second = store:reserve(takes "ip", 1, 0), same:reserve(takes "ip", 1, 0)
      local third, elsewhere = store:reserve(takes "ip", 1, 0), other:reserve(takes "ip", 1, 0)
      return table.concat({ first, second, tostring(third > 0), elsewhere, (store:pool("ip", SPAN)) }, " ")
    ]])
  end)

  it("that is full says so, and forgets nothing that counts", function()
    assert.equal("the dictionary is full: no memory 2", run [[
      for _ = 1, 2 do assert(store:reserve(takes "ip", 1, 0) == 0) end
      local ms, why
      for i = 1, 1000 do
        ms, why = store:reserve(takes("account" .. i), 1, 0)
        if not ms then break end
      end
      return why .. " " .. assert(store:pool("ip", SPAN))
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
      local ms, problem = store:reserve(takes "ip", 1, 0)
      return ms or problem
    ]])
  end)

  it("does not wait for the lock of a worker that died, and has it when its time is over", function()
    assert.equal("another worker has kept the lock for too long 0", run [[
      ngx.shared.limits:set("purser lock", "dead", 1)
      local _, why = store:reserve(takes "ip", 1, 0)
      while ngx.shared.limits:get "purser lock" do ngx.sleep(0.05) end
      return why .. " " .. store:reserve(takes "ip", 1, 0)
    ]])
  end)

  it("writes nothing where it has lost the lock meanwhile, and leaves the lock to its new owner", function()
    assert.equal("the lock was lost other nil", run [[
      local _, why = store:transact({}, function(kv)
        ngx.shared.limits:set("purser lock", "other")
        kv.put("ip", { 1 })
      end)
      local owner = ngx.shared.limits:get "purser lock"
      return why .. " " .. owner .. " " .. tostring(ngx.shared.limits:get "purser ip")
    ]])
  end)

  it("gives the lock back where the rule raises", function()
    assert.equal("boom nil", run [[
      local _, raised = pcall(store.transact, store, {}, function() error("boom", 0) end)
      return raised .. " " .. tostring(ngx.shared.limits:get "purser lock")
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
