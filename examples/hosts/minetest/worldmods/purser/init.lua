-- SPDX-License-Identifier: MIT
local outside = assert(minetest.request_insecure_environment(), "purser: add it to secure.trusted_mods")
local folder = minetest.get_modpath "purser"

local function c_module(name)
  return assert(outside.package.loadlib(("%s/%s.so"):format(folder, name), "luaopen_purser_" .. name))
end

local purser, require = assert(outside.loadfile(folder .. "/purser.lua")) {
  ["purser.core"] = c_module "core", ["purser.http"] = c_module "http" }
local schedule = require "purser.schedule"
local client = assert(purser.new { base_url = outside.os.getenv "PURSER_BASE_URL",
  transport = assert(purser.transport.multi { outside_tasks = "reject" }), -- other calls would stop the server
  api_key = outside.os.getenv "PURSER_API_KEY", secret_key = outside.os.getenv "PURSER_SECRET_KEY" })
local left = 21

local function finish(result, err)
  if not result then minetest.log("error", tostring(err)) end
  left = left - 1
end

for _ = 1, 20 do purser.spawn(function() finish(client.wallet:deposit_history()) end) end
purser.spawn(function()
  finish(client.wallet:withdraw { coin = "USDT", netWork = "TRX", address = "TSampLeAddressThatNobodyHarzyqGjJi",
    amount = "12" })
end)

minetest.register_globalstep(function()
  local ok, problem = pcall(schedule.step, 2000) -- at most 2 milliseconds of a server step
  if not ok then minetest.log("error", tostring(problem)) end
end)
