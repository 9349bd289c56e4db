-- SPDX-License-Identifier: MIT
-- Purser in hosts that ship no Lua files: the bundle, and a C program that links libpurser.a and opens a Lua without
-- `package`, `require`, `io`, `os`, `debug` and `load`.

local lua = os.getenv "LUA" or "lua5.4"
local build = os.getenv "BUILD" or "build/" .. lua
-- Objects of the sanitizers are linked with their runtime alone, and what is made here has none.
if os.getenv "LD_PRELOAD" then build = build .. "/plain" end

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function output(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read "*a"
  pipe:close()
  return text
end

local function make(target)
  local clean = "env -u LD_PRELOAD -u LUA_PATH -u LUA_CPATH -u MAKEFLAGS"
  return output(("%s make -s LUA=%s BUILD=%s %s"):format(clean, lua, build, target))
end

-- 20 reads and a withdrawal against the simulator, a walk, a lost call reconciled, and libcurl itself.
local SCRIPT = [[
  local sim = purser.sim.new { seed = 11 }
  local account = assert(sim:account { name = "Acme", role = "main", email = "acme@mail.example",
    balances = { USDT = "1000" } })
  local service, lose = sim:transport(), false
  local transport = { sleep = function(_, ms) return service:sleep(ms) end, send = function(_, request)
    local response, failure = service:send(request)
    if not lose or request.method == "GET" then return response, failure end
    return nil, { kind = "transport", outcome = "unknown", phase = "receive", sends = 1, message = "lost" }
  end }
  local client = assert(purser.new { base_url = "http://localhost", api_key = account.api_key,
    secret_key = account.secret_key, transport = transport, clock = function() return sim:now() end })
  for _ = 1, 20 do assert(client.wallet:coins()) end
  local payment = { coin = "USDT", netWork = "TRX", address = "TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm", amount = "20" }
  assert(client.wallet:withdraw(payment))
  lose = true
  local _, err = client.wallet:withdraw(payment)
  assert(client:reconcile(err).outcome == "done")
  local count = 0
  for _ in client:each("wallet.withdrawal_history", {}) do count = count + 1 end
  assert(count == 2, count)
  local real = assert(purser.new { base_url = "http://127.0.0.1:1", api_key = "k", secret_key = "s", retry = false,
    transport = purser.transport.multi() })
  _, err = real.wallet:coins()
  assert(err.outcome == "not_sent", err)
  local _, no_journal = purser.journal.open { sqlite = "nowhere" }
  assert(no_journal or package)
  error("all went, " .. tostring(no_journal), 0)
]]

describe("a C program that links libpurser.a", function()
  it("works without any file, package, require, io, os, debug and load", function()
    assert.equal("", make(build .. "/spec/embed"))
    local host = output(("env -i %s/spec/embed %s"):format(build, quote(SCRIPT)))
    assert.matches("^all went, the journal \"nowhere\" cannot be opened: LuaDBI is missing; "
      .. "install it %(LuaRocks: luadbi%-sqlite3, Debian: lua%-dbi%-sqlite3%)[^;]*$", host)
  end)
end)

describe("the bundle", function()
  it("is one file that needs the C modules alone, and serves `require` for what it holds", function()
    assert.equal("", make "bundle")
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write('package.path = "" purser = dofile "build/bundle/purser.lua"\n', 'assert(require "purser.schedule")\n',
      "local ok, message = pcall(function() ", SCRIPT, " end) print(message)\n")
    file:close()
    local said = output(lua .. " " .. path)
    os.remove(path)
    assert.matches("^all went, ", said)
  end)

  it("takes the C modules it is given where a sandbox has left a part of `package`", function()
    make "bundle"
    local said = output(lua .. [[ -e 'local function c(name)
        return package.loadlib(("%s/purser/%s.so"):format(os.getenv "BUILD", name), "luaopen_purser_" .. name)
      end
      local given = { ["purser.core"] = c "core", ["purser.http"] = c "http" }
      local chunk = assert(loadfile "build/bundle/purser.lua")
      package, require = { searchpath = package.searchpath or print, path = package.path, cpath = package.cpath }, nil
      print(chunk(given).transport.multi())']])
    assert.matches("^purser%.transport%.multi", said)
  end)

  it("says which C module a host without `require` has to give it", function()
    make "bundle"
    local said = output(lua .. [[ -e 'local chunk = assert(loadfile "build/bundle/purser.lua")
      package, require = nil, nil local _, m = pcall(chunk) print(m)']])
    assert.matches("^purser: the C module purser.core is not on package.cpath", said)
  end)
end)

describe("a civil date", function()
  it("is the one that the system computes, for 20000 times of 4 centuries", function()
    local civil = require("purser.client.util.utc").civil
    for i = 0, 20000 do
      local seconds = -2208988800 + i * 631139 + i % 86400
      local date, expected = civil(seconds * 1000 + 999), os.date("!*t", seconds)
      for _, name in ipairs { "year", "month", "day", "hour", "min", "sec", "wday" } do
        if date[name] ~= expected[name] then assert.equal(expected[name], date[name], name .. " of " .. seconds) end
      end
    end
  end)
end)
