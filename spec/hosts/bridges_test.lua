-- SPDX-License-Identifier: MIT
-- The bridges of examples/hosts, each in its real host against a simulated service: 20 reads and a withdrawal at once
-- with slow answers, connections that are reset, and the check of a transport.

local check = require "purser.transport.check"
local files = require "files"
local service = require "service"

local sim, account, hostile

setup(function()
  sim = service.start()
  account = assert(sim.world:account { role = "main", balances = { USDT = "1000" } })
  hostile = assert(check.start())
end)

teardown(function()
  if hostile then hostile:stop() end
  if sim then sim.stop() end
end)

-- Runs a program of the host's; it prints what it did. `command` gets the program's file.
local function run(command, text)
  local path = os.tmpname()
  files.write(path, text)
  local environment = ("PURSER_BASE_URL=%s PURSER_API_KEY=%s PURSER_SECRET_KEY=%s CHECK=%s CA=%s GOOD=%s OTHER_NAME=%s "
    .. "OTHER_AUTHORITY=%s"):format(sim.url, account.api_key, account.secret_key, hostile.url, hostile.tls.ca_file,
    hostile.tls.good, hostile.tls.other_name, hostile.tls.other_authority)
  local pipe = assert(io.popen(("%s timeout 120 %s 2>&1"):format(environment, command:gsub("FILE", path))))
  local said = pipe:read "*a"
  pipe:close()
  os.remove(path)
  return said
end

local function applied()
  local counted = assert(sim.world:counts())["wallet.withdraw"]
  return counted and counted.applied or 0
end

local HEAD = [[
local purser = require "purser"
local env = os.getenv
local function new_client(transport)
  return assert(purser.new { base_url = env "PURSER_BASE_URL", api_key = env "PURSER_API_KEY", transport = transport,
    secret_key = env "PURSER_SECRET_KEY" })
end
local function withdraw(client)
  return assert(client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "12",
    address = "TSampLeAddressThatNobodyHas1234567" })
end
]]

local CQUEUES = HEAD .. [[
local cqueues = require "cqueues"
local loop = cqueues.new()
local transport = dofile "examples/hosts/cqueues.lua"(loop)
local client, done, ticks = new_client(transport), 0, 0
for _ = 1, 20 do
  loop:wrap(function()
    assert(client.wallet:deposit_history())
    done = done + 1
  end)
end
loop:wrap(function()
  withdraw(client)
  done = done + 1
end)
loop:wrap(function()
  while done < 21 do
    cqueues.sleep(0.01)
    ticks = ticks + 1
  end
end)
assert(loop:loop())
local report
loop:wrap(function()
  local function new(options) return dofile "examples/hosts/cqueues.lua"(loop, options) end
  report = require("purser.transport.check").run({ url = env "CHECK", tls = { ca_file = env "CA", good = env "GOOD",
    other_name = env "OTHER_NAME", other_authority = env "OTHER_AUTHORITY" } }, new)
end)
assert(loop:loop())
print(("%d calls, %d ticks"):format(done, ticks))
print(report)
]]

local NEOVIM = HEAD .. [[
local uv = vim.uv or vim.loop
local transport = assert(purser.transport.multi())
local client, done, ticks = new_client(transport), 0, 0
local turn = dofile "examples/hosts/luv.lua"(uv, transport)
local ticker = uv.new_timer()
ticker:start(10, 10, function() ticks = ticks + 1 end)
local function finish()
  done = done + 1
  if done < 21 then return end
  vim.schedule(function()
    io.stdout:write(("%d calls, %d ticks\n"):format(done, ticks))
    vim.cmd "qa!"
  end)
end
for _ = 1, 20 do
  purser.spawn(function()
    assert(client.wallet:deposit_history())
    finish()
  end)
end
purser.spawn(function()
  withdraw(client)
  finish()
end)
turn()
]]

local LUV = HEAD .. [[
local uv = require "luv"
local schedule = require "purser.schedule"
local transport = assert(purser.transport.multi())
local raised, woke = 0, 0
local turn = dofile "examples/hosts/luv.lua"(uv, transport, function() raised = raised + 1 end)
for i = 1, 3 do purser.spawn(function() error("task " .. i) end) end
purser.spawn(function() purser.sleep(30) woke = woke + 1 end)
turn()
uv.run()
print(("%d raised, %d woke, timeout %s"):format(raised, woke, tostring(schedule.timeout())))
]]

-- With slow answers, and some that are reset: the numbers of descriptors come back.
local function with_faults(fn)
  assert(sim.world:fault { kind = "slow", delay_ms = 300, probability = 1 })
  assert(sim.world:fault { kind = "reset", when = "before", operation = "wallet.deposit_history", times = 5 })
  local before = applied()
  local said = fn()
  assert(sim.world:disarm())
  return said, applied() - before
end

local lua = os.getenv "LUA" or "lua5.4"

describe("a bridge", function()
  it("to cqueues passes the check of a transport, and the loop goes on", function()
    local said, paid = with_faults(function() return run(lua .. " FILE", CQUEUES) end)
    local done, ticks = said:match "(%d+) calls, (%d+) ticks"
    assert.equal("21", done, said)
    assert.is_true(tonumber(ticks) >= 3, said)
    assert.equal(1, paid)
    assert.matches("\n35 passed, 0 failed\n$", said, 1, nil, said)
  end)

  it("to Neovim lets its loop go on, and Neovim ends", function()
    local path = 'LUA_PATH="lua/?.lua;lua/?/init.lua;;" LUA_CPATH="build/luajit/?.so;;" '
    local said, paid = with_faults(function()
      return run("env " .. path .. 'nvim --headless -u NONE -i NONE -c "luafile FILE"', NEOVIM)
    end)
    local done, ticks = said:match "(%d+) calls, (%d+) ticks"
    assert.equal("21", done, said)
    assert.is_true(tonumber(ticks) >= 3, said)
    assert.equal(1, paid)
  end)

  it("to libuv loses no error of a task, and goes on after each", function()
    assert.matches("3 raised, 1 woke", run(lua .. " FILE", LUV))
  end)
end)
