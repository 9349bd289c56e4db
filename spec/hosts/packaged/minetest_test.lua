-- SPDX-License-Identifier: MIT
-- The page of Minetest: a server with mod security, whose mod has Purser as one file.
-- make test-all: 10 s, waits

local packaged_host = require "packaged_host"

local CONFIG = [[
secure.enable_security = true
secure.trusted_mods = purser
bind_address = 127.0.0.1
server_announce = false
]]

local WORLD = [[
gameid = devtest
load_mod_purser = true
backend = dummy
player_backend = dummy
auth_backend = files
]]

-- The mod's folder as the page says, and the server.
local START = [[
set -e
cp ROOT/build/bundle/purser.lua ROOT/build/luajit/purser/core.so ROOT/build/luajit/purser/http.so worldmods/purser/
echo 'name = purser' > worldmods/purser/mod.conf
PATH=$PATH:/usr/games
exec minetestserver --config FOLDER/minetest.conf --world FOLDER --gameid devtest --port PORT
]]

-- The modules of the test are not in the bundle.
local MEASURED = [[
local loaded = {}
local function test_require(name)
  local file = name == "host_ticks" and "spec/support/host_ticks"
    or name == "transport_check" and "spec/support/transport_check"
    or name:find "^transport_check%." and "spec/support/" .. name:gsub("%.", "/")
  if not file then return require(name) end
  if not loaded[name] then
    local environment = { require = loaded.require, os = outside.os, io = outside.io }
    local chunk = assert(outside.loadfile("ROOT/" .. file .. ".lua"))
    loaded[name] = setfenv(chunk, setmetatable(environment, { __index = _G }))(name)
  end
  return loaded[name]
end
loaded.require = test_require
local tick = test_require "host_ticks" {
  done = function() return left == 0 end,
  check = purser.transport.multi,
  spawn = purser.spawn,
  ends = function() minetest.request_shutdown "the test is over" end,
}
minetest.register_globalstep(tick)
]]

local host

setup(function() host = packaged_host.start() end)
teardown(function() if host then host:stop() end end)

describe("Minetest", function()
  it("makes server steps while tasks of a trusted mod wait, and their transport passes the check", function()
    local shown, report = host:run("minetest", { lua = "luajit", command = "sh FOLDER/start.sh",
      files = { ["minetest.conf"] = CONFIG, ["world.mt"] = WORLD, ["start.sh"] = START },
      values = { PORT = require "free_port"() }, appended = { ["worldmods/purser/init.lua"] = MEASURED } })
    host:measured("Minetest", shown, report, true)
  end)
end)
