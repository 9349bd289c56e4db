-- SPDX-License-Identifier: MIT
-- The page of copas, with Debian's version of it on LuaJIT.
-- make test-all: 10 s, waits

local packaged_host = require "packaged_host"

-- The program's own loop is what is measured.
local BEFORE = [[
local finished, text = false, nil
local made = {}
local tick = require "host_ticks" {
  done = function() return finished end,
  check = function(options)
    local transport = require "purser.hosts.copas".new(options)
    made[#made + 1] = transport
    return transport
  end,
  spawn = function(fn) require("copas").addthread(fn) end,
  over = function(report) text = report end,
}
local step = require("copas").step
require("copas").step = function(timeout)
  tick()
  return step(timeout)
end
]]

local AFTER = [[
finished = true
while not text do
  copas.step(0.01)
  for _, one in ipairs(made) do one:step() end
end
local file = assert(io.open(os.getenv "HOST_REPORT", "w"))
file:write(text)
file:close()
]]

local host

setup(function() host = packaged_host.start() end)
teardown(function() if host then host:stop() end end)

describe("copas", function()
  it("turns while its coroutines wait for calls, and their transport passes the check", function()
    local shown, report = host:run("copas", { lua = "luajit", command = "luajit FOLDER/main.lua",
      prepended = { ["main.lua"] = BEFORE }, appended = { ["main.lua"] = AFTER } })
    host:measured("copas", shown, report, true)
  end)
end)
