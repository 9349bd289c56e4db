-- SPDX-License-Identifier: MIT
-- A host whose globals are strict (nmap) reports each global that is read and was not defined.

local files = require "files"

local PROGRAM = [[
local read = {}
setmetatable(_G, {
  __index = function(_, name) read[#read + 1] = tostring(name) end,
  __newindex = function(_, name) read[#read + 1] = "(written) " .. tostring(name) end,
})
local purser = require "purser"
local _ = purser.transport.multi, purser.transport.curl, purser.journal.open, purser.payouts.new, purser.fleet.new
local sim = purser.sim.new { seed = 1 }
local account = sim:account { name = "Test", role = "main", balances = { USDT = "100" } }
local client = assert(purser.new { base_url = "http://127.0.0.1:1", transport = sim:transport(),
  clock = function() return sim:now() end, api_key = account.api_key, secret_key = account.secret_key })
purser.run(function()
  assert(client.wallet:deposit_history())
  assert(client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "12",
    address = "TSampLeAddressThatNobodyHarzyqGjJi" })
end)
local _, err = client.wallet:withdraw { coin = "USDT" }
assert(tostring(err))
print("read: " .. table.concat(read, " "))
]]

describe("strict globals", function()
  it("are read nowhere: neither when modules are loaded nor in calls", function()
    local path = files.temporary(PROGRAM)
    local pipe = assert(io.popen(("%s %s 2>&1"):format(os.getenv "LUA" or "lua5.4", path)))
    local text = pipe:read "*a"
    pipe:close()
    os.remove(path)
    assert.equal("read: \n", text)
  end)
end)
